"""Extreme instances: no crash, no statement of the paper refuted, nothing open without a reason, two routes agree.

Then what cannot be decided or enumerated: said, with the reason, and before any work where that can be known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from flint import fmpq
from instances import Number, explicit, instance, outcome, problem_of, relative_width, run, zero_branch
from test_statements_section8 import BY_ALPHA, SMALL

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions, CheckResult, check, plan
from certify.release.instance import ReleaseInstance
from certify.release.statements import STATEMENT_IDS

LEVELS: Sequence[Sequence[Number]] = ((1, 0, -1), ("1/3", -1, 1))
BIAS: Sequence[Sequence[Number]] = ((1, -1),)


def ordinary(
    values: Sequence[Sequence[Number]] = LEVELS,
    database: Sequence[int] | None = (1, 1, 0),
    *,
    epsilon: Number = 1,
    rounds: int = 2,
    eta: Number = 2,
    gamma: Number = "1/2",
    n: int = 1,
    amplify: tuple[int, Number] | None = (3, 1),
) -> ReleaseInstance:
    """An instance with nothing extreme about it but what the arguments say; n counts where every database is meant."""
    return instance(values, database, epsilon, explicit(rounds, eta, gamma), n=n, amplify=amplify)


EXTREMES = {
    "the data sit at the uniform mean": ordinary(BIAS, (1, 1)),
    "the same, slow and nearly certain": ordinary(BIAS, (1, 1), rounds=4, eta="1/100"),
    "one round without any loss": ordinary(BIAS, (1, 1), rounds=1),
    "an average that returns to a loss of zero": ordinary(BIAS, (1, 1), rounds=4, eta=3),
    "T = 1": ordinary([["1/2"]], (2,)),
    "T = 1, every database": ordinary([["1/2"], [-1]], None, n=3),
    "k = 1": ordinary([LEVELS[1]]),
    "n = 1": ordinary(database=(0, 1, 0)),
    "n = 1, every database": ordinary(database=None, n=1),
    "equal queries": ordinary([LEVELS[0], LEVELS[0]]),
    "opposite queries": ordinary([LEVELS[0], [-1, 0, 1]]),
    "constant queries": ordinary([[1, 1, 1], ["1/3", "1/3", "1/3"]]),
    "constant queries, every database": ordinary([[0, 0], [-1, -1]], None, n=2),
    "one query constant": ordinary([LEVELS[0], [1, 1, 1]]),
    "elements alike": ordinary([[1, 1, -1]]),
    "J = 1": ordinary(rounds=1),
    "J = 1, every database": ordinary(BIAS, None, rounds=1, n=2),
    "epsilon = 10^-12": ordinary(epsilon="1e-12"),
    "epsilon = 10^6": ordinary(epsilon="1e6"),
    "epsilon = 10^6, every database": ordinary(BIAS, None, epsilon="1e6", n=2),
    "epsilon = 10^30": ordinary(epsilon="1e30"),
    "epsilon = log 3": ordinary(epsilon="log(3)"),
    "epsilon = 1": ordinary(epsilon=1),
    "epsilon = 3": ordinary(epsilon=3),
    "eta = 10^-9": ordinary(BIAS, (1, 1), eta="1e-9"),
    "eta = 10^-9, every database": ordinary(BIAS, None, eta="1e-9", n=2),
    "eta = 10^-9, epsilon = 10^-12": ordinary(BIAS, (2, 0), eta="1e-9", epsilon="1e-12"),
    "eta = 10^-30": ordinary(BIAS, (2, 0), eta="1e-30", rounds=1),
    "eta = 10^3": ordinary(eta=1000),
    "eta = 10^3, every database": ordinary(eta=1000, database=None, n=2, amplify=None),
    "eta = 10^6": ordinary(eta="1e6"),
    "eta = 10^15": ordinary(eta="1e15"),
    "eta = 10^40": ordinary(eta="1e40"),
    "gamma = 1": ordinary(gamma=1),
    "gamma = 10^-12": ordinary(gamma="1e-12"),
    "gamma = 10^-40, the data at the mean": ordinary(BIAS, (1, 1), gamma="1e-40"),
    "everything at once": ordinary(BIAS, (2, 0), eta="1e6", epsilon="1e6", gamma="1e-12"),
    "log arithmetic beside tiny epsilon": ordinary(BIAS, (2, 0), eta="1e4", epsilon="1e-12"),
    "zero output": zero_branch(),
}

LOGARITHMIC = ("eta = 10^3", "eta = 10^6", "epsilon = 10^6", "everything at once", "log arithmetic beside tiny epsilon")


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_instance(name: str) -> None:
    in_floats, in_arb = (run(EXTREMES[name], options=CheckOptions(precision=bits)) for bits in (53, 128))
    for result in (in_floats, in_arb):
        assert_sound(result)
    for key in ("Z", "expected_error"):
        if key in in_floats.quantities:
            assert_same_number(in_floats.quantities[key], in_arb.quantities[key])
    for first, second in zip(in_floats.outcomes, in_arb.outcomes, strict=True):
        assert (first.statement, first.verdict, first.cases) == (second.statement, second.verdict, second.cases)
        if first.budget_used is not None and second.budget_used is not None:
            assert first.budget_used.overlaps(second.budget_used), first.statement.id


def assert_sound(result: CheckResult) -> None:
    """Nothing of the paper is refuted; nothing is open either, since the default precision reaches all of these."""
    for each in result.outcomes:
        assert each.verdict in (Verdict.PROVED, None), each
        assert (each.reason is None) == (each.verdict is Verdict.PROVED), each


def assert_same_number(first: object, second: object) -> None:
    for value in (first, second):
        assert isinstance(value, Enclosure)
        assert value.upper == 0 or relative_width(value) < fmpq(1, 10**9)
    assert isinstance(first, Enclosure) and isinstance(second, Enclosure) and first.overlaps(second)


@pytest.mark.parametrize("name", LOGARITHMIC)
def test_the_logarithmic_route_is_the_one_that_ran(name: str) -> None:
    found = run(EXTREMES[name], "eq-4.normaliser").quantities["arithmetic"]
    assert found == "float64 logarithms with one absolute bound"


# undecided


FINE = "(1+10^-30)"
HUGE_ETA, TINY_ETA = EXTREMES["eta = 10^40"], ordinary(BIAS, (2, 0), eta="1e-30", rounds=1)
CLOSE: tuple[tuple[str, ReleaseInstance, Mapping[str, str] | None, int], ...] = (
    *((name, HUGE_ETA, None, 128) for name in ("lemma-a.1", "lemma-a.3", "prop-3.1", "prop-3.2", "eq-3.3")),
    *((name, HUGE_ETA, None, 128) for name in ("lemma-5.1.jensen", "lemma-5.1", "lemma-6.1", "eq-6.far", "eq-6.2")),
    *((name, TINY_ETA, None, 128) for name in ("lemma-a.1", "prop-3.1", "lemma-6.1")),
    ("lemma-7.1", ordinary(), {"block-peak": f"exp(-47/100)*{FINE}"}, 64),
    ("eq-7.damping", ordinary(epsilon="3/2"), {"damping-one": f"exp(-1/2)*{FINE}"}, 64),
    ("sec-9.radius-sum", ordinary(), {"radius-sum-upper": f"{FINE}/(exp(49/100)-1)"}, 64),
    ("eq-8.choice", BY_ALPHA, {**SMALL, "rounds-upper": f"{FINE}/(2*log(4))", "target-error": "1000"}, 64),
)
"""Statements too close to call at the given precision, and decided at a higher one."""


@pytest.mark.parametrize(("name", "given", "changes", "bits"), CLOSE)
def test_what_a_low_precision_cannot_decide(
    name: str, given: ReleaseInstance, changes: Mapping[str, str] | None, bits: int
) -> None:
    low = outcome(given, name, changes, CheckOptions(max_precision=bits))
    assert low.verdict is Verdict.UNDECIDED
    assert low.reason is not None and low.reason.endswith(
        ("cannot be separated", f"cannot be separated at {bits} bits")
    )
    assert low.worst is not None
    assert low.worst.lhs.overlaps(low.worst.rhs)
    high = outcome(given, name, changes)
    assert high.verdict is Verdict.PROVED and high.reason is None


def test_an_exact_tie_of_irrational_numbers_stays_undecided() -> None:
    """log(e^-47/100) = -47/100 at every precision; the report does not call it proved."""
    found = outcome(ordinary(), "lemma-7.1", {"block-peak": "exp(-47/100)"}, CheckOptions(max_precision=1024))
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason == "the two sides cannot be separated at 1024 bits"


def test_a_large_instance_is_not_redone_in_arb_unasked() -> None:
    """Beyond three million pairs what float64 leaves open stays so, with the option that would decide it."""
    given = instance([[1, -1]], [3, 0], 1, explicit(18, "1e-12", "1/2"))
    found = outcome(given, "lemma-5.1")
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None and found.reason.endswith("target-transcript pairs) is left to --precision 128")


# too large


TOO_LARGE = {
    "too large to enumerate: about 10^": instance([[1] * 50], None, 1, explicit(1, 1, 1), n=10**6),
    "too large to enumerate: 3 histograms × ": instance([[1, -1]], [1, 1], 1, explicit(10**6, 1, 1)),
    "3 histograms × 1,099,511,627,776 transcripts = 3,298,534,883,328 pairs": instance(
        [[1, -1]], [1, 1], 1, explicit(40, 1, 1)
    ),
}


@pytest.mark.parametrize("words", TOO_LARGE)
def test_an_instance_too_large_is_refused_before_work_begins(words: str) -> None:
    problem = problem_of(TOO_LARGE[words])
    refused = plan(problem, CheckOptions())
    assert refused.refusal is not None and words in refused.refusal and "fewer rounds" in refused.refusal
    assert not {"graph", "space", "targets", "dataset_targets"} & set(vars(problem))
    assert "histograms" not in vars(problem.domain)


def test_a_table_too_large_for_memory_is_refused() -> None:
    given = instance([[1, -1]], [2000, 0], 1, explicit(36, 1, 1))
    refused = plan(problem_of(given), CheckOptions(max_pairs=10**15))
    assert refused.refusal is not None and "GiB of memory" in refused.refusal


def test_the_zero_output_enumerates_no_transcript() -> None:
    planned = plan(problem_of(zero_branch()), CheckOptions())
    assert (planned.histograms, planned.transcripts, planned.pairs, planned.refusal) == (10, 0, 0, None)


def test_a_statement_over_the_limit_is_undecided_with_the_reason() -> None:
    """Six histograms and 16 transcripts are within 100 pairs; with the code families they are not."""
    problem = problem_of(ordinary())
    options = CheckOptions(max_pairs=100)
    assert plan(problem, options).refusal is None
    found = {each.statement.id: each for each in check(problem, options).outcomes}
    for name in ("lemma-5.1", "prop-3.2", "eq-3.3"):
        assert found[name].verdict is Verdict.UNDECIDED
        reason = found[name].reason
        assert reason is not None and reason.startswith("it ranges over ")
        assert reason.endswith(" target-transcript pairs, more than --max-pairs 100")
    for name in ("eq-2.sensitivity", "prop-4.1.transcript", "eq-4.normaliser", "eq-6.far", "eq-6.2", "lemma-7.1"):
        assert found[name].verdict is Verdict.PROVED
    assert plan(problem, replace(options, max_pairs=95)).refusal is not None


def test_code_families_too_many_to_form_leave_the_rest_decided() -> None:
    """40 elements of 40 kinds: the 1,561^3 words of length 3 are not tried."""
    values = [[fmpq(d * d % 41, 41) for d in range(40)], [fmpq(d, 40) for d in range(40)]]
    given = instance(values, [1] + [0] * 39, 1, explicit(1, 1, 1), code_lengths=(1, 2, 3))
    problem = problem_of(given)
    assert problem.code_words is None
    found = {each.statement.id: each for each in check(problem, CheckOptions()).outcomes}
    reason = "the code families V_{x,R,m} that it ranges over are too many to form"
    assert (found["lemma-5.1"].verdict, found["lemma-5.1"].reason) == (Verdict.UNDECIDED, reason)
    assert (found["lemma-6.1"].verdict, found["lemma-6.1"].reason) == (Verdict.UNDECIDED, reason)
    assert found["lemma-a.2"].verdict is found["eq-6.2"].verdict is Verdict.PROVED
    assert "targets" not in vars(problem)
    assert tuple(found) == STATEMENT_IDS
