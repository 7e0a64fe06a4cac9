"""BC-2 to BC-5, the lemmas of the smaller constant: every number by brute force, false claims, hard instances."""

from __future__ import annotations

import random

import pytest
from better_sides import BEYOND, FAR_EXPONENT, LARGEST, LEFT, LOSS, MASS, NEAR_EXPONENT, Better
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st
from instances import Entry, enclosing, entries, evidence_of, instance, of_tiny, outcome, problem_of, run
from mutation import Mutation, assert_refuted
from reference import Database, Tiny, databases, dataset_target, random_tiny
from reference_better import nearest_orders, two_sided_code, two_sided_lists, two_sided_surrogates
from reference_codebook import distinct_codebook

from certify.arithmetic.expression import parse_expression
from certify.arithmetic.verdict import Verdict
from certify.release.ball_growth import BallGrowth
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance, TheoremMechanism, TunedMechanism
from certify.release.parameters import Parameters
from certify.release.problem import ReleaseProblem
from certify.release.statements import better_lemmas
from certify.release.statements.base import ZERO_BRANCH
from certify.release.statements.better_lemmas import BETTER_LEMMAS
from constants.ledger import default_ledger
from constants.search.rung import BETTER_OF_BOTH, PAPER, RUNGS, SHARP, TWO_SIDED, Growth

IDS = tuple(each.id for each in BETTER_LEMMAS)
BITS = (53, 128)
SEEDS = (0, 6, 7, 9, 10, 11, 16, 17, 19, 20, 23, 26, 48)
"""Instances of T = 2 and 3, k = 1 and 2, with small, moderate and large eta."""

SAMPLE = 10
WITNESS_SLACK = fmpq(1, 2**45)
"""Transcripts are chosen by float64 guides, so one that is nearly the largest may be shown for the largest."""

TWO = ((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1)))
NEAR = Tiny(TWO, 2, fmpq(1), 2, fmpq(1, 8), fmpq(1, 2))
"""A_1 = 1/64 and A_2 = 1/16 are below L = 2 log 2."""
FAR = Tiny(TWO, 2, fmpq(1), 2, fmpq(4), fmpq(1, 2))
"""A_1 = 16 and A_2 = 64 are above."""
LOUD = Tiny(((fmpq(1), fmpq(0), fmpq(-1)), (fmpq(1, 3), fmpq(-1), fmpq(1))), 2, fmpq(1), 2, fmpq(2), fmpq(1, 2))
QUIET = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 2, fmpq(1, 8), fmpq(1, 2))
"""One query of two signs: the moment is next to its bound."""
SHARP_STEPS = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 4, fmpq(40), fmpq(1))
"""log K/eta is so small that some losses are above t."""


def centre(seed: int) -> tuple[Tiny, Database]:
    """The random instance of a seed, and one of its databases."""
    tiny = random_tiny(seed)
    return tiny, random.Random(seed).choice(databases(tiny))


def proved_or_not_applicable(given: ReleaseInstance, options: CheckOptions | None = None) -> set[str]:
    """The lemmas proved on an instance; none may be refuted or left open."""
    found = run(given, *IDS, options=options).outcomes
    assert [each.statement.id for each in found] == list(IDS)
    for each in found:
        assert each.verdict in (Verdict.PROVED, None), (each.statement.id, each.verdict, each.reason, each.worst)
    return {each.statement.id for each in found if each.verdict is Verdict.PROVED}


# brute force


def test_the_two_sided_code_is_the_papers_set_of_targets() -> None:
    for seed in range(20):
        tiny, x = centre(seed)
        for radius in range(1, tiny.n + 1):
            for length in (1, 2):
                code = two_sided_code(tiny, x, radius, length)
                assert len(code) == tiny.universe_size ** (2 * length)
                assert set(code) == distinct_codebook(tiny, x, radius, length)


def test_the_surrogates_are_code_words_with_the_mean_of_their_database() -> None:
    for seed in range(20):
        tiny, x = centre(seed)
        for y in databases(tiny):
            assert sorted(nearest_orders(x, y)[1]) == sorted(y)
            for spare in range(tiny.universe_size):
                values = two_sided_surrogates(tiny, x, y, tiny.n, 1, spare)
                mean = tuple(sum((v[q] for v in values), fmpq(0)) / len(values) for q in range(tiny.query_count))
                assert mean == dataset_target(tiny, y)
                assert set(values) <= set(two_sided_code(tiny, x, tiny.n, 1))
    with pytest.raises(ValueError, match="more than the radius 1"):
        two_sided_lists((0, 0), (1, 1), 1)


@pytest.mark.parametrize("everyone", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_number_compared(seed: int, everyone: bool) -> None:
    tiny, x = centre(seed)
    if everyone and len(databases(tiny)) > 9:
        tiny = Tiny(tiny.values, 2, tiny.epsilon, min(2, tiny.rounds), tiny.eta, tiny.gamma)
    problem = problem_of(of_tiny(tiny, None if everyone else x))
    applicable = [each.id for each in BETTER_LEMMAS if each.not_applicable(problem) is None]
    for bits in BITS:
        evidence = evidence_of(problem, bits, applicable)
        for name in applicable:
            found = list(entries(evidence, name))
            assert found
            for entry in random.Random(name).sample(found, min(SAMPLE, len(found))):
                assert_recomputed(tiny, name, entry)


def assert_recomputed(tiny: Tiny, name: str, entry: Entry) -> None:
    """Both sides meet those of the reference."""
    value = enclosing(LEFT[name](tiny, entry.witness))
    assert entry.rhs.overlaps(enclosing(Better().right(name)(tiny, entry.witness))), (name, entry)
    if name not in LARGEST:
        assert entry.lhs.overlaps(value), (name, entry, value)
        return
    assert entry.lhs.overlaps(enclosing(LARGEST[name](tiny, entry.witness))), (name, entry)
    assert entry.lhs.lower is not None and entry.lhs.upper is not None
    assert value.lower is not None and value.upper is not None
    slack = WITNESS_SLACK * (1 + abs(entry.lhs.upper))
    assert value.lower <= entry.lhs.upper and value.upper >= entry.lhs.lower - slack, (name, entry)


@pytest.mark.parametrize("tiny", [SHARP_STEPS, FAR, NEAR], ids=["sharp steps", "far", "near"])
@pytest.mark.parametrize("bits", BITS)
def test_every_ball_sum_and_excess(tiny: Tiny, bits: int) -> None:
    problem = problem_of(of_tiny(tiny, (0, 1)))
    names = [n for n in ("bc-4.near", "bc-4.far", "bc-5.excess") if statement_applies(n, problem)]
    evidence = evidence_of(problem, bits, names)
    for name in names:
        for entry in entries(evidence, name):
            assert_recomputed(tiny, name, entry)


def statement_applies(name: str, problem: ReleaseProblem) -> bool:
    return BETTER_LEMMAS[IDS.index(name)].not_applicable(problem) is None


def test_some_losses_are_above_the_threshold() -> None:
    evidence = evidence_of(problem_of(of_tiny(SHARP_STEPS, (0, 0))), 53, ["bc-4.far", "bc-5.excess"])
    for name, part in (("bc-4.far", BEYOND), ("bc-5.excess", "E η")):
        found = [e.lhs for e in entries(evidence, name) if e.witness["quantity"].startswith(part)]
        assert found and all(lhs.lower is not None for lhs in found)
        assert any(lhs.lower is not None and lhs.lower > 0 for lhs in found), name


def test_the_cases_of_the_sharp_moment_are_all_there() -> None:
    for seed in SEEDS:
        tiny, x = centre(seed)
        problem = problem_of(of_tiny(tiny, x))
        found = [e for e in entries(evidence_of(problem, 53, ["bc-3"]), "bc-3") if not e.auxiliary]
        targets = {dataset_target(tiny, y) for y in databases(tiny)}
        for radius in range(1, tiny.n + 1):
            targets |= {v for m in (1, 2) for v in two_sided_code(tiny, x, radius, m)}
        assert len(found) == 9 * (len(targets) - 1)


# false claims


def mutation(
    name: str, changes: dict[str, str], tiny: Tiny, changed: Better, *displays: str, x: Database | None = (0, 1)
) -> Mutation:
    return Mutation(name, changes, tiny, x, changed.right(name), changed.left(name), displays=displays)


SMALL, TINY = fmpq(1, 1000), fmpq(1, 10**40)
_TINY = "1/10^40"

MUTATIONS = (
    mutation("bc-2.mean", {"better-reach": "1/2"}, LOUD, Better(reach=fmpq(1, 2)), "d_*(v,a(x))/R"),
    mutation("bc-2.mean", {"better-label": "1/4"}, LOUD, Better(label=fmpq(1, 4)), "|V'|"),
    mutation("bc-2.jensen", {"better-maurey": "1/1000"}, LOUD, Better(maurey=SMALL)),
    mutation("bc-2", {"better-maurey": "1/10^6"}, LOUD, Better(maurey=fmpq(1, 10**6))),
    mutation("bc-2", {"better-maurey": "1/10^6"}, LOUD, Better(maurey=fmpq(1, 10**6)), x=None),
    mutation("bc-2", {"kappa": "1/10^6"}, LOUD, Better(kappa=fmpq(1, 10**6))),
    mutation("bc-3", {"better-moment": "9/10"}, QUIET, Better(moment=fmpq(9, 10))),
    mutation("bc-3", {"kappa": "1/10"}, LOUD, Better(kappa=fmpq(1, 10))),
    mutation("bc-3", {"better-moment": "9/10"}, QUIET, Better(moment=fmpq(9, 10)), x=None),
    mutation("bc-4.near", {"better-near": "1/100"}, NEAR, Better(near=fmpq(1, 100)), NEAR_EXPONENT, MASS),
    mutation(
        "bc-4.near",
        {"better-maurey": "-10", "better-moment": "-8"},
        NEAR,
        Better(maurey=-10, moment=-8),
        MASS,
        LOSS,
    ),
    mutation("bc-4.near", {"better-moment": "10"}, NEAR, Better(moment=10), NEAR_EXPONENT),
    mutation("bc-4.far", {"better-far": "1/1000"}, FAR, Better(far=SMALL), FAR_EXPONENT, MASS),
    mutation("bc-4.far", {"better-maurey": "10"}, FAR, Better(maurey=10), FAR_EXPONENT),
    mutation("bc-4.far", {"better-maurey": "-1"}, FAR, Better(maurey=-1), MASS, LOSS),
    mutation(
        "bc-4.far",
        {"better-loss": _TINY, "better-gap-excess": _TINY, "better-maurey": "1/10^6", "better-far": "1/10^6"},
        SHARP_STEPS,
        Better(loss=TINY, excess=TINY, maurey=fmpq(1, 10**6), far=fmpq(1, 10**6)),
        BEYOND,
        x=(0, 0),
    ),
    mutation(
        "bc-4.far",
        {"better-loss": _TINY, "better-gap-excess": "2", "better-gap-moment": _TINY, "better-far": "1/10^6"},
        SHARP_STEPS,
        Better(loss=TINY, exponential=TINY, far=fmpq(1, 10**6)),
        BEYOND,
        x=(0, 0),
    ),
    mutation("bc-4.far", {"better-gap-mean": "-40", "better-loss": _TINY}, FAR, Better(mean=-40, loss=TINY), LOSS),
    mutation("bc-5.softmax", {"better-gap-mean": "1/1000"}, LOUD, Better(mean=SMALL), "E ηG"),
    mutation("bc-5.softmax", {"better-gap-norm": "1/1000"}, LOUD, Better(norm=SMALL), "E(ηG)²"),
    mutation(
        "bc-5.moment",
        {"better-gap-moment": "2/5"},
        LOUD,
        Better(exponential=fmpq(2, 5)),
        "E e^{ηG/2}",
        "log E e^{(η/2)ΣG}",
    ),
    mutation("bc-5.excess", {"better-gap-excess": "1/10^6"}, SHARP_STEPS, Better(excess=fmpq(1, 10**6)), "E η(Ḡ-s)₊"),
    mutation(
        "bc-5.excess",
        {"better-gap-excess-norm": "1/10^6"},
        SHARP_STEPS,
        Better(excess_norm=fmpq(1, 10**6)),
        "E(η(Ḡ-s)₊)²",
    ),
    mutation("bc-5.excess", {"better-gap-moment": "1/1000"}, SHARP_STEPS, Better(exponential=SMALL), "E η(Ḡ-s)₊"),
)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)


def test_every_constant_of_a_lemma_is_refuted_when_too_small() -> None:
    changed = {(constant, each.statement) for each in MUTATIONS for constant in each.changes}
    used = {(c.id, name) for c in default_ledger().constants.values() for name in c.used_by if name in IDS}
    assert used <= changed
    assert {name for _, name in used} == set(IDS)


def test_a_moment_that_only_the_measured_orders_support_is_left_open() -> None:
    """sum p_x (p_v/p_x)^r is far below the bound for these targets, but no argument covers every real order."""
    found = outcome(
        of_tiny(Tiny(TWO, 2, fmpq(1), 2, fmpq(40), fmpq(1, 2)), (0, 1)), "bc-3", {"better-moment": "99/100"}
    )
    assert found.verdict is Verdict.UNDECIDED and found.worst is not None
    assert found.worst.witness["r"] == "every real r ≥ 1"


# the excess of the gap without a sum over transcripts


@pytest.mark.parametrize("tiny", [SHARP_STEPS, LOUD, NEAR], ids=["sharp steps", "loud", "near"])
def test_the_excess_follows_from_the_moment_where_there_are_too_many_transcripts(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(better_lemmas, "ENUMERATED", 0)
    found = outcome(of_tiny(tiny, (0, 1)), "bc-5.excess")
    assert found.verdict is Verdict.PROVED and found.worst is None and found.cases > 0
    evidence = evidence_of(problem_of(of_tiny(tiny, (0, 1))), 128, ["bc-5.excess"])
    for entry in entries(evidence, "bc-5.excess"):
        assert entry.auxiliary
        assert_recomputed(tiny, "bc-5.excess", entry)
    for constant in ("better-gap-excess", "better-gap-excess-norm", "better-gap-moment"):
        assert outcome(of_tiny(tiny, (0, 1)), "bc-5.excess", {constant: "1/1000"}).verdict is Verdict.UNDECIDED


# hard instances


def test_what_is_proved_on_random_instances() -> None:
    proved: set[str] = set()
    for seed in range(100, 130):
        tiny, x = centre(seed)
        proved |= proved_or_not_applicable(of_tiny(tiny, x))
    assert proved == set(IDS)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("everyone", [False, True])
@pytest.mark.parametrize("tiny", [NEAR, FAR, LOUD], ids=["near", "far", "loud"])
def test_what_is_proved(tiny: Tiny, everyone: bool, bits: int) -> None:
    proved = proved_or_not_applicable(of_tiny(tiny, None if everyone else (0, 1)), CheckOptions(precision=bits))
    assert {"bc-2", "bc-3", "bc-5.moment"} <= proved


BOTH_SIGNS = (fmpq(1), fmpq(-1))
HARD = {
    "one element": Tiny(((fmpq(1, 3),),), 2, fmpq(1), 2, fmpq(1), fmpq(1, 2)),
    "one round": Tiny((BOTH_SIGNS,), 2, fmpq(1), 1, fmpq(1), fmpq(1, 2)),
    "one row": Tiny((BOTH_SIGNS,), 1, fmpq(1), 2, fmpq(3), fmpq(1)),
    "a constant query": Tiny(((fmpq(1, 2), fmpq(1, 2)),), 2, fmpq(1), 2, fmpq(1), fmpq(1, 2)),
    "constant and not": Tiny((BOTH_SIGNS, (fmpq(0), fmpq(0))), 2, fmpq(1), 2, fmpq(1), fmpq(1, 2)),
    "equal queries": Tiny((BOTH_SIGNS, BOTH_SIGNS), 2, fmpq(1), 2, fmpq(2), fmpq(1, 2)),
    "opposite queries": Tiny((BOTH_SIGNS, (fmpq(-1), fmpq(1))), 2, fmpq(1), 2, fmpq(2), fmpq(1, 2)),
    "equal elements": Tiny(((fmpq(1), fmpq(1), fmpq(-1)),), 2, fmpq(1), 2, fmpq(2), fmpq(1, 2)),
    "three queries": Tiny((BOTH_SIGNS, (fmpq(1), fmpq(0)), (fmpq(1, 3), fmpq(1))), 2, fmpq(1), 2, fmpq(3), fmpq(1, 2)),
    "no loss": Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 1, fmpq(1), fmpq(1, 2)),
    "tiny eta": Tiny(TWO, 2, fmpq(1), 2, fmpq(1, 10**12), fmpq(1, 2)),
    "huge eta": Tiny(TWO, 2, fmpq(1), 2, fmpq(400), fmpq(1, 2)),
    "beyond doubles": Tiny((BOTH_SIGNS,), 2, fmpq(1), 2, fmpq(10**6), fmpq(1, 2)),
    "tiny epsilon": Tiny(TWO, 2, fmpq(1, 10**9), 2, fmpq(1), fmpq(1, 2)),
    "huge epsilon": Tiny(TWO, 2, fmpq(10**9), 2, fmpq(1), fmpq(1, 2)),
}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", HARD)
def test_hard_instances(name: str, bits: int) -> None:
    tiny = HARD[name]
    database = (0,) * tiny.n if tiny.universe_size == 1 else (0, 1)[: tiny.n]
    proved = proved_or_not_applicable(of_tiny(tiny, database), CheckOptions(precision=bits))
    assert {"bc-2.mean", "bc-2.jensen", "bc-2", "bc-3", "bc-5.softmax", "bc-5.moment", "bc-5.excess"} <= proved
    assert bool(proved & {"bc-4.near", "bc-4.far"}) == (tiny.universe_size > 1)


@pytest.mark.parametrize("name", ["one row", "equal queries", "three queries", "huge eta", "tiny eta"])
def test_hard_instances_agree_with_brute_force(name: str) -> None:
    tiny = HARD[name]
    problem = problem_of(of_tiny(tiny, (0, 1)[: tiny.n]))
    applicable = [each.id for each in BETTER_LEMMAS if each.not_applicable(problem) is None]
    for bits in BITS:
        evidence = evidence_of(problem, bits, applicable)
        for lemma in applicable:
            found = list(entries(evidence, lemma))
            for entry in random.Random(lemma).sample(found, min(SAMPLE, len(found))):
                assert_recomputed(tiny, lemma, entry)


NO_NEAR, NO_FAR = "no radius is near, not even R = 1", "no radius is far up to R = n = 2"


@pytest.mark.parametrize(
    ("name", "tiny", "reason"),
    [
        ("bc-4.near", FAR, NO_NEAR),
        ("bc-4.far", NEAR, NO_FAR),
        ("bc-4.near", HARD["one element"], "T = 1: there is one database"),
        ("bc-4.far", HARD["one element"], "T = 1: there is one database"),
    ],
)
def test_where_a_hypothesis_fails(name: str, tiny: Tiny, reason: str) -> None:
    found = outcome(of_tiny(tiny, (0, tiny.universe_size - 1)), name)
    assert (found.verdict, found.reason) == (None, reason)


@pytest.mark.parametrize("name", IDS)
def test_the_zero_branch_has_no_transcript(name: str) -> None:
    found = outcome(instance([[1, -1]], [1, 1], 1, TheoremMechanism()), name)
    assert (found.verdict, found.reason) == (None, ZERO_BRANCH)


@pytest.mark.parametrize(
    ("rung", "database", "epsilon", "growth"),
    [
        ("8", (20, 10), "3", TWO_SIDED),
        ("7", (20, 20), "3", SHARP),
        ("6", (60, 40), "24/5", SHARP),
        ("4", (100, 50), "52/5", BETTER_OF_BOTH),
    ],
)
def test_a_tuned_mechanism_has_the_growth_of_its_rung(
    rung: str, database: tuple[int, int], epsilon: str, growth: Growth
) -> None:
    given = instance([[1, -1]], database, epsilon, TunedMechanism(rung))
    assert BallGrowth.of(problem_of(given)).growth == growth
    assert proved_or_not_applicable(given) == set(IDS)


def test_a_paper_instance_lists_none_of_them() -> None:
    assert not {each.statement.id for each in run(of_tiny(NEAR, (0, 1))).outcomes} & set(IDS)


# the growth of every rung


def growth_of(growth: Growth, eta: fmpq, universe_size: int = 2) -> BallGrowth:
    """The growth at the radii up to 4, with J = 3."""
    parameters = Parameters(
        default_ledger(),
        universe_size=universe_size,
        query_count=1,
        rows=4,
        rounds=3,
        eta=lambda: eta,
        gamma=lambda: fmpq(1, 2),
        epsilon=lambda: fmpq(1),
    )
    return BallGrowth(parameters, growth)


GROWTHS = {"PAPER": PAPER, "BETTER_OF_BOTH": BETTER_OF_BOTH, "SHARP": SHARP, "TWO_SIDED": TWO_SIDED}


@pytest.mark.parametrize("name", GROWTHS)
@given(numerator=st.integers(1, 10**6), exponent=st.integers(0, 9), size=st.integers(2, 9))
@example(numerator=1, exponent=0, size=2)
@example(numerator=96, exponent=2, size=2)  # x is close to 1 at R = 4
@example(numerator=10**6, exponent=0, size=2)
def test_the_exponents_of_every_growth(name: str, numerator: int, exponent: int, size: int) -> None:
    growth = growth_of(GROWTHS[name], fmpq(numerator, 10**exponent), size)
    assert [*growth.near_radii, *growth.far_radii] == [1, 2, 3, 4]
    with ctx.workprec(128):
        limit = {"PAPER": arb(1), "BETTER_OF_BOTH": arb(1) / 2, "SHARP": 1 / arb(2).sqrt(), "TWO_SIDED": arb(1)}[name]
        for radius in growth.near_radii:
            order = growth.near_order(radius)
            assert order >= 2 and arb(growth.ratio(radius)) < limit
            assert arb(growth.near_exponent(radius, order)) < growth.near_bound(radius)
        for radius in growth.far_radii:
            length = growth.far_length(radius)
            assert length >= 1 and arb(growth.ratio(radius)) > limit
            assert arb(growth.far_exponent(radius, length)) < growth.far_bound(radius)


def test_every_rung_has_a_growth_and_its_formulas() -> None:
    formulas = {
        name: (growth_of(g, fmpq(1)).near_formula, growth_of(g, fmpq(1)).far_formula) for name, g in GROWTHS.items()
    }
    assert formulas == {
        "PAPER": ("A+L/r+A r", "A/m+mL"),
        "BETTER_OF_BOTH": ("A+L/r+A r", "A/m+mL"),
        "SHARP": ("A+L/r+A(r-1)", "A/m+mL"),
        "TWO_SIDED": (NEAR_EXPONENT, FAR_EXPONENT),
    }
    assert {rung.growth for rung in RUNGS.values()} == set(GROWTHS.values())


def test_the_ledger_has_the_growth_of_the_two_sided_code() -> None:
    ledger = default_ledger()
    for constant, text in (("better-near", TWO_SIDED.near), ("better-far", TWO_SIDED.far)):
        assert ledger.rational(constant) == parse_expression(text).value({})


def test_without_a_rung_the_growth_is_the_two_sided_one() -> None:
    assert BallGrowth.of(problem_of(of_tiny(NEAR, (0, 1)))).growth == TWO_SIDED
