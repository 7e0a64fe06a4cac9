"""certify.release.size: what a plan promises before work begins covers what the work then does."""

from __future__ import annotations

import pytest
from flint import fmpq
from instances import EXAMPLES, example, explicit, instance, of_tiny, problem_of, with_alpha, zero_branch
from reference import databases, random_tiny

from certify.release.problem import ReleaseProblem
from certify.release.size import MAX_MEMORY, Plan, statement_pairs
from certify.release.statements import CATALOGUE

SEEDS = range(30)
LIMIT = 2_000_000_000


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_plan_counts_what_is_enumerated(seed: int, everywhere: bool) -> None:
    tiny = random_tiny(seed)
    problem = problem_of(of_tiny(tiny, None if everywhere else databases(tiny)[0]))
    plan = Plan.of(problem, LIMIT)
    assert plan.refusal is None
    assert plan.histograms == len(problem.domain.histograms)
    assert plan.transcripts == problem.space.transcript_count
    targets = problem.targets
    # a target that several families share is counted with each of them
    words = sum(len(book.rows) for book in targets.codebooks.values())
    assert len(targets) * plan.transcripts <= plan.pairs == (plan.histograms + words) * plan.transcripts
    tables = 8 * len(targets) * (len(problem.space.prefixes) + len(problem.space.suffixes))
    assert tables <= plan.memory_bytes
    assert plan.seconds > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_no_statement_ranges_over_more_than_the_plan(seed: int) -> None:
    tiny = random_tiny(seed)
    problem = problem_of(of_tiny(tiny, databases(tiny)[0]))
    plan = Plan.of(problem, LIMIT)
    pairs = {
        statement.id: statement_pairs(problem, statement) for statement in CATALOGUE if statement.id != "sec-9.median"
    }
    assert all(0 <= count <= plan.pairs for count in pairs.values())
    assert pairs["lemma-5.1"] == plan.pairs and pairs["thm-1.1"] == 0
    assert pairs["eq-4.normaliser"] == plan.histograms * plan.transcripts


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.json")))
def test_every_example_is_planned_and_none_refused(name: str) -> None:
    problem = problem_of(example(name))
    plan = Plan.of(problem, LIMIT)
    assert plan.refusal is None and plan.histograms >= 1
    assert (plan.transcripts == 0) != problem.has_transcripts


def large(rounds: int, n: int, *, size: int = 3, queries: int = 2) -> ReleaseProblem:
    values = [[fmpq((d * (q + 1)) % 7 - 3, 3) for d in range(size)] for q in range(queries)]
    return problem_of(instance(values, [n] + [0] * (size - 1), 1, explicit(rounds, 1, "1/2")))


@pytest.mark.parametrize(("rounds", "n"), [(20, 1), (3, 100_000), (1, 10**12), (1000, 10**12)])
def test_what_is_too_large_is_refused_with_numbers_and_a_way_out(rounds: int, n: int) -> None:
    """Known from binomials: nothing of that size is built first."""
    plan = Plan.of(large(rounds, n), LIMIT)
    assert plan.refusal is not None
    assert plan.pairs > LIMIT and plan.pairs == plan.histograms * plan.transcripts
    for part in ("histograms", "transcripts", "pairs", "--max-pairs 2,000,000,000", "fewer rounds"):
        assert part in plan.refusal
    assert len(plan.refusal) < 400


@pytest.mark.parametrize("rounds", [10**5, 10**6])
def test_a_power_that_is_too_long_to_write_is_refused_as_a_power(rounds: int) -> None:
    plan = Plan.of(large(rounds, 1), LIMIT)
    assert plan.refusal is not None
    assert f"4^{rounds} transcripts" in plan.refusal and "fewer rounds" in plan.refusal and len(plan.refusal) < 400


def test_the_limit_is_inclusive() -> None:
    problem = large(2, 3)
    pairs = problem.domain.histogram_count * problem.space.transcript_count
    assert Plan.of(problem, pairs).refusal is None
    assert Plan.of(problem, pairs - 1).refusal is not None


def test_tables_beyond_the_memory_are_refused() -> None:
    plan = Plan.of(large(2, 20_000), 10**15)
    assert plan.memory_bytes > MAX_MEMORY and plan.refusal is not None and "GiB" in plan.refusal


def test_families_that_are_too_many_to_form_are_not_planned() -> None:
    problem = large(1, 10**6, size=2, queries=1)
    assert problem.code_words is None
    plan = Plan.of(problem, LIMIT)
    assert plan.pairs == plan.histograms * plan.transcripts
    maurey = next(statement for statement in CATALOGUE if statement.id == "lemma-5.1")
    assert statement_pairs(problem, maurey) == plan.pairs


def test_the_zero_branch_has_no_transcripts() -> None:
    problem = problem_of(zero_branch())
    plan = Plan.of(problem, LIMIT)
    assert (plan.transcripts, plan.pairs, plan.refusal) == (0, 0, None)
    assert all(statement_pairs(problem, statement) == 0 for statement in CATALOGUE if statement.about_transcripts)
    refused = Plan.of(problem, plan.histograms - 1)
    assert refused.refusal is not None and "histograms" in refused.refusal


def test_the_rounds_of_a_small_alpha_are_too_many() -> None:
    plan = Plan.of(problem_of(instance([[1, 0]], [1, 0], 1, with_alpha("1/10"))), LIMIT)
    assert plan.refusal is not None and "10^" in plan.refusal
