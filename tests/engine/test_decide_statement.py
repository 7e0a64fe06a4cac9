"""certify.engine.decide_statement: verdicts come from proved comparisons and from nothing else."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.arrays import BallArray, CertifiedArray, IntervalArray
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined
from certify.arithmetic.verdict import Verdict
from certify.engine.decide_statement import (
    FLOAT_BITS,
    Precision,
    applicable,
    decide_statement,
    not_applicable,
    run_levels,
    undecided,
)
from certify.engine.statement import (
    ArrayCases,
    Cases,
    Outcome,
    ScalarCase,
    Statement,
    StructuralCase,
    Worst,
)

INF, NAN = math.inf, math.nan
PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED
FLOATS, BALLS = Precision(FLOAT_BITS), Precision(128)


class Claim(Statement[Any, Any]):
    """A statement whose evidence is its list of cases."""

    id: ClassVar[str] = "claim"
    title: ClassVar[str] = "Claim"
    source: ClassVar[str] = "nowhere"
    claim: ClassVar[str] = "lhs ≤ rhs"

    def cases(self, evidence: Any) -> Iterator[Cases]:
        yield from evidence() if callable(evidence) else evidence


def decide(*cases: Cases, precision: Precision = FLOATS, max_precision: int = 512) -> Outcome:
    return decide_statement(Claim(), list(cases), precision, max_precision=max_precision)


def case(lhs: Scalar | int, rhs: Scalar | int, **options: Any) -> ScalarCase:
    left, right = (fmpq(v) if isinstance(v, int) else v for v in (lhs, rhs))
    return ScalarCase(lambda: left, lambda: right, **options)


Interval = tuple[float, float]


def floats(*pairs: Interval) -> IntervalArray:
    return IntervalArray(np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs]))


def balls(*values: arb | fmpq | int) -> BallArray:
    found = np.empty(len(values), dtype=object)
    found[:] = [arb(value) for value in values]
    return BallArray(found)


def entries(lhs: CertifiedArray, rhs: CertifiedArray, count: int = 1, **options: Any) -> ArrayCases:
    return ArrayCases(lhs, rhs, lambda index: {"index": index}, count, **options)


# ---- one array


@pytest.mark.parametrize(
    ("lhs", "rhs", "weak", "strict"),
    [
        ((1.0, 1.0), (2.0, 2.0), PROVED, PROVED),
        ((1.0, 1.0), (1.0, 1.0), PROVED, REFUTED),
        ((0.0, 1.0), (1.0, 2.0), PROVED, UNDECIDED),
        ((1.0, 2.0), (0.0, 1.0), UNDECIDED, REFUTED),
        ((2.0, 3.0), (0.0, 1.0), REFUTED, REFUTED),
        ((0.0, 2.0), (1.0, 3.0), UNDECIDED, UNDECIDED),
        ((-0.0, -0.0), (0.0, 0.0), PROVED, REFUTED),
    ],
)
def test_an_entry_is_decided_by_its_ends(lhs: Interval, rhs: Interval, weak: Verdict, strict: Verdict) -> None:
    assert decide(entries(floats(lhs), floats(rhs))).verdict is weak
    assert decide(entries(floats(lhs), floats(rhs), strict=True)).verdict is strict
    to_ball = [balls(arb(fmpq(*((a + b) / 2).as_integer_ratio()), (b - a) / 2)) for a, b in (lhs, rhs)]
    if lhs[0] == lhs[1] and rhs[0] == rhs[1]:  # a ball's ends are rounded outward unless it is exact
        assert decide(entries(*to_ball), precision=BALLS).verdict is weak
        assert decide(entries(*to_ball, strict=True), precision=BALLS).verdict is strict


NOTHING = [(NAN, NAN), (-INF, INF), (INF, INF), (-INF, -INF)]  # no operation makes the last two


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("auxiliary", [False, True])
def test_a_verdict_never_comes_from_nan_or_infinity(strict: bool, auxiliary: bool) -> None:
    options = {"strict": strict, "auxiliary": auxiliary}
    for pair in NOTHING:
        for lhs, rhs in ((pair, (2.0, 2.0)), ((2.0, 2.0), pair), (pair, pair)):
            assert decide(entries(floats(lhs), floats(rhs), **options)).verdict is UNDECIDED
    for ball in (arb("nan"), arb("inf"), arb("-inf"), arb(0, "inf")):
        for left, right in ((balls(ball), balls(2)), (balls(2), balls(ball)), (balls(ball), balls(ball))):
            assert decide(entries(left, right, **options), precision=BALLS).verdict is UNDECIDED
        for low, high in ((ball, fmpq(2)), (fmpq(2), ball), (ball, ball)):
            assert decide(case(low, high, **options)).verdict is UNDECIDED


@pytest.mark.parametrize("unknown", [NAN, INF])
def test_an_interval_known_on_one_side_decides_from_that_side_alone(unknown: float) -> None:
    above, below = floats((1.0, unknown)), floats((-unknown, 1.0))
    two, half = floats((2.0, 2.0)), floats((0.5, 0.5))
    assert decide(entries(above, half)).verdict is decide(entries(two, below)).verdict is REFUTED
    assert decide(entries(half, above)).verdict is decide(entries(below, two)).verdict is PROVED
    for lhs, rhs in ((above, two), (two, above), (below, half), (half, below), (above, above), (below, below)):
        assert decide(entries(lhs, rhs)).verdict is UNDECIDED


@pytest.mark.parametrize("bad", [arb("nan"), arb(0, "inf")])
def test_one_nan_among_proved_entries_leaves_the_statement_undecided(bad: arb) -> None:
    outcome = decide(entries(balls(1, bad, 1), balls(2, 2, 2)), precision=BALLS)
    assert outcome.verdict is UNDECIDED
    assert outcome.worst is not None and outcome.worst.witness == {"index": (1,)}
    assert outcome.reason == "1 of 3 comparisons cannot be separated"


def test_an_entry_that_is_not_known_at_all_is_shown_before_one_that_is_close() -> None:
    outcome = decide(entries(floats((0.0, 9.0), (1.0, 1.0), (NAN, NAN)), floats(*[(2.0, 2.0)] * 3)))
    assert outcome.verdict is UNDECIDED
    assert outcome.worst is not None and outcome.worst.witness == {"index": (2,)}
    assert outcome.worst.lhs == Enclosure(None, None)


def test_a_refuted_entry_wins_over_undecided_ones_and_is_shown() -> None:
    outcome = decide(entries(floats((NAN, NAN), (3.0, 3.0), (0.0, 9.0), (5.0, 5.0)), floats(*[(2.0, 2.0)] * 4)))
    assert outcome.verdict is REFUTED
    assert outcome.worst is not None and outcome.worst.witness == {"index": (3,)}
    assert (outcome.worst.lhs, outcome.worst.rhs) == (Enclosure.of(5), Enclosure.of(2))


def test_the_entry_nearest_to_failing_is_shown() -> None:
    outcome = decide(
        entries(floats((1.0, 1.0), (9.0, 9.0), (2.0, 2.0)), floats((2.0, 2.0), (100.0, 100.0), (2.5, 2.5)))
    )
    assert outcome.verdict is PROVED and outcome.worst is not None
    assert outcome.worst.witness == {"index": (2,)}
    assert outcome.budget_used == Enclosure.of(fmpq(4, 5))


def test_a_bound_that_is_not_positive_has_no_share_but_a_worst_case() -> None:
    outcome = decide(entries(floats((-2.0, -2.0), (-1.0, -1.0)), floats((0.0, 0.0), (-1.0, -1.0))))
    assert outcome.verdict is PROVED and outcome.worst is not None and outcome.budget_used is None
    refuted = decide(entries(floats((-2.0, -2.0), (1.0, 1.0)), floats((0.0, 0.0), (-1.0, -1.0))))
    assert refuted.verdict is REFUTED
    assert refuted.worst is not None and refuted.worst.witness == {"index": (1,)}


def test_operands_broadcast_and_the_witness_names_the_broadcast_place() -> None:
    lhs = IntervalArray(np.array([[1.0], [4.0]]), np.array([[1.0], [4.0]]))
    rhs = floats((5.0, 5.0), (4.5, 4.5), (9.0, 9.0))
    outcome = decide(entries(lhs, rhs, count=6))
    assert outcome.verdict is PROVED and outcome.cases == 6 and outcome.worst is not None
    assert outcome.worst.witness == {"index": (1, 1)}
    assert outcome.worst.rhs == Enclosure.of(fmpq(9, 2))
    scalar = IntervalArray.constant(3)
    assert decide(entries(lhs, scalar)).verdict is REFUTED
    assert decide(entries(scalar, scalar)).verdict is PROVED


numbers = st.sampled_from([-INF, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, INF]) | st.floats(-3, 3)


def ordered(x: float, y: float) -> Interval:
    return (y, x) if y < x else (x, y)


@given(
    st.lists(st.tuples(st.builds(ordered, numbers, numbers), st.builds(ordered, numbers, numbers)), min_size=1),
    st.booleans(),
)
@example([((0.0, 1.0), (1.0, 2.0)), ((1.0, 1.0), (1.0, 1.0))], True)
@example([((INF, INF), (INF, INF))], False)
def test_proved_and_refuted_hold_for_every_choice_of_numbers(
    pairs: list[tuple[Interval, Interval]], strict: bool
) -> None:
    """Whatever finite numbers the intervals stand for, the verdict is true of them."""
    lhs, rhs = floats(*(a for a, _ in pairs)), floats(*(b for _, b in pairs))
    verdict = decide(entries(lhs, rhs, strict=strict)).verdict
    holds = [[x < y if strict else x <= y for x, y in itertools.product(inside(a), inside(b))] for a, b in pairs]
    if verdict is PROVED:
        assert all(all(choices) for choices in holds)
    if verdict is REFUTED:
        assert any(not any(choices) for choices in holds if choices)


def inside(pair: Interval) -> list[float]:
    """A few finite numbers of an interval, its ends first."""
    low, high = max(pair[0], -1e6), min(pair[1], 1e6)
    return [low, (low + high) / 2, high] if low <= high else []


# ---- scalars, several cases, counts


def test_rationals_are_compared_exactly_whatever_the_precision() -> None:
    tie, above = fmpq(1, 3), fmpq(1, 3) + fmpq(1, 10**40)
    assert decide(case(tie, tie)).verdict is PROVED
    assert decide(case(tie, tie, strict=True)).verdict is REFUTED
    assert decide(case(above, tie)).verdict is REFUTED
    assert decide(case(tie, above)).verdict is PROVED


def test_precision_is_doubled_up_to_the_cap_and_no_further() -> None:
    seen: list[int] = []

    def near() -> Scalar:
        seen.append(ctx.prec)
        return arb(2).sqrt() * arb(2).sqrt() + arb(2) ** -300

    assert decide(ScalarCase(near, lambda: fmpq(2)), max_precision=1024).verdict is REFUTED
    assert seen == [64, 128, 256, 512]
    seen.clear()
    outcome = decide(ScalarCase(near, lambda: fmpq(2)), max_precision=200)
    assert outcome.verdict is UNDECIDED and seen == [64, 128, 200] and outcome.precision_bits == 200
    assert outcome.reason is not None and "200 bits" in outcome.reason
    assert ctx.prec == 53


def test_cases_are_added_up_and_one_failure_decides() -> None:
    good = [case(1, 2, count=5), entries(floats((1.0, 1.0)), floats((2.0, 2.0)), count=7), StructuralCase("why", 11)]
    outcome = decide(*good)
    assert outcome.verdict is PROVED and outcome.cases == 23 and outcome.notes == ("why",)
    open_case = entries(floats((0.0, 3.0)), floats((2.0, 2.0)), count=1)
    assert decide(*good, open_case).verdict is UNDECIDED
    assert decide(*good, open_case, case(3, 2)).verdict is REFUTED
    assert decide(case(3, 2), *good, open_case).cases == 25


def test_the_worst_of_several_cases_is_the_one_with_the_largest_share() -> None:
    outcome = decide(
        case(1, 2, witness={"name": "half"}),
        case(9, 10, witness={"name": "nine tenths"}),
        entries(floats((1.0, 1.0)), floats((4.0, 4.0))),
        case(-5, -1, witness={"name": "negative"}),
        case(0, 0, witness={"name": "tie at zero"}),
    )
    assert outcome.verdict is PROVED and outcome.worst is not None
    assert outcome.worst.witness == {"name": "nine tenths"}


def test_the_worst_refuted_case_is_the_counterexample() -> None:
    outcome = decide(case(9, 10), case(3, 2, witness={"name": "first"}), case(30, 2, witness={"name": "worse"}))
    assert outcome.verdict is REFUTED and outcome.worst is not None
    assert outcome.worst.witness == {"name": "worse"}


def test_numbers_beyond_doubles_can_be_the_worst_case() -> None:
    outcome = decide(case(fmpq(10) ** 400, fmpq(1), witness={"name": "huge"}), case(3, 2))
    assert outcome.worst is not None and outcome.worst.witness == {"name": "huge"}
    tiny = decide(case(fmpq(10) ** -400, fmpq(1), witness={"name": "tiny"}), case(1, 2, witness={"name": "half"}))
    assert tiny.worst is not None and tiny.worst.witness == {"name": "half"}


def test_a_structural_case_shows_its_measured_numbers() -> None:
    shown = Worst(Enclosure.of(1), Enclosure.of(4), {"name": "shown"})
    outcome = decide(StructuralCase("because", 3, shown), StructuralCase("because", 4), StructuralCase("too", 1))
    assert (outcome.verdict, outcome.cases, outcome.worst) == (PROVED, 8, shown)
    assert outcome.notes == ("because", "too") and outcome.budget_used == Enclosure.of(fmpq(1, 4))


def test_an_empty_family_is_proved_beside_others_but_no_case_at_all_proves_nothing() -> None:
    empty = entries(floats(), floats(), count=0)
    assert decide(empty, case(1, 2)).verdict is PROVED
    nothing = decide()
    assert nothing.verdict is UNDECIDED and nothing.reason is not None and "no case" in nothing.reason


# ---- auxiliary steps


@pytest.mark.parametrize("rhs", [1, 2, 3])
@pytest.mark.parametrize("strict", [False, True])
def test_a_step_that_fails_refutes_nothing(rhs: int, strict: bool) -> None:
    step = decide(case(2, rhs, auxiliary=True, strict=strict))
    block = decide(entries(floats((2.0, 2.0)), IntervalArray.exact([rhs]), auxiliary=True, strict=strict))
    holds = rhs > 2 or (rhs == 2 and not strict)
    assert step.verdict is block.verdict is (PROVED if holds else UNDECIDED)
    if not holds:
        assert step.reason == block.reason == "a step of the argument does not close"


def test_a_step_is_never_the_worst_case_of_a_proof() -> None:
    outcome = decide(case(1, 2, witness={"name": "claim"}), case(99, 100, auxiliary=True, count=0))
    assert outcome.verdict is PROVED and outcome.worst is not None
    assert outcome.worst.witness == {"name": "claim"} and outcome.cases == 1
    only = decide(case(99, 100, auxiliary=True))
    assert only.verdict is PROVED and only.worst is None and only.budget_used is None


def test_a_refuted_claim_stays_refuted_beside_a_failing_step() -> None:
    assert decide(case(3, 1, auxiliary=True), case(2, 1)).verdict is REFUTED
    assert decide(case(3, 1, auxiliary=True), case(1, 1)).verdict is UNDECIDED


# ---- what cannot be measured


def test_what_is_undetermined_while_cases_are_formed_is_undecided() -> None:
    def cases() -> Iterator[Cases]:
        yield case(3, 2)  # even after a counterexample: the statement asks again with more precision
        raise Undetermined("not at this precision")

    outcome = decide_statement(Claim(), cases, BALLS, max_precision=256)
    assert outcome.verdict is UNDECIDED and outcome.reason == "not at this precision"
    assert outcome.precision_bits == 128 and ctx.prec == 53


def test_a_side_that_is_undetermined_is_undecided() -> None:
    def fails() -> Scalar:
        raise Undetermined("a ceiling is open")

    outcome = decide(ScalarCase(fails, lambda: fmpq(1)))
    assert outcome.verdict is UNDECIDED and outcome.worst is not None
    assert outcome.reason == "a ceiling is open" and outcome.worst.lhs == Enclosure(None, None)


def test_hypotheses_that_fail_or_cannot_be_told() -> None:
    class Conditional(Claim):
        def __init__(self, hypothesis: Callable[[], str | None], measures: Callable[[], tuple[Any, ...]]) -> None:
            self.hypothesis, self.measures = hypothesis, measures

        def not_applicable(self, problem: Any) -> str | None:
            return self.hypothesis()

        def measurements(self, problem: Any) -> tuple[Any, ...]:
            return self.measures()

    def open_question() -> Any:
        raise Undetermined("1 against 1")

    given = [
        Conditional(lambda: None, tuple),
        Conditional(lambda: "n is odd", open_question),
        Conditional(open_question, tuple),
        Conditional(lambda: None, open_question),
    ]
    for name, statement in zip("abcd", given, strict=True):
        statement.id = name  # type: ignore[misc]
    remaining, outcomes = applicable(given, None)
    assert remaining == given[:1]
    assert {name: (found.verdict, found.reason) for name, found in outcomes.items()} == {
        "b": (None, "n is odd"),
        "c": (UNDECIDED, "its hypothesis cannot be decided: 1 against 1"),
        "d": (UNDECIDED, "what it measures cannot be decided: 1 against 1"),
    }


def test_outcomes_without_a_case() -> None:
    outcome = not_applicable(Claim, "n is odd")
    assert outcome.verdict is None and outcome.cases == 0 and outcome.reason == "n is odd" and outcome.worst is None
    assert undecided(Claim, "too large").verdict is UNDECIDED


# ---- levels of precision


class At(Claim):
    """A claim that is decided at one level and open below it."""

    def __init__(self, name: str, bits: int, verdict: Verdict = PROVED) -> None:
        self.name, self.bits, self.final = name, bits, verdict

    @property
    def id(self) -> str:  # type: ignore[override]
        return self.name

    def cases(self, evidence: Any) -> Iterator[Cases]:
        if evidence < self.bits:
            yield entries(floats((0.0, 3.0)), floats((2.0, 2.0)))
        else:
            yield case(1 if self.final is PROVED else 3, 2)


LEVELS = [FLOATS, Precision(128), Precision(256), Precision(512)]


def always(level: Precision, statement: Any) -> str | None:
    return None


def run(statements: list[At], out_of_reach: Callable[[Precision, Any], str | None] = always) -> tuple[Any, list[Any]]:
    asked: list[tuple[int, list[str]]] = []

    def evidence_at(level: Precision, open_statements: list[Any]) -> int:
        asked.append((level.bits, [s.id for s in open_statements]))
        return level.bits

    return run_levels(statements, iter(LEVELS), evidence_at, out_of_reach, max_precision=512), asked


def test_only_the_undecided_are_asked_again_and_it_stops_when_none_is_left() -> None:
    outcomes, asked = run([At("a", 53), At("b", 200), At("c", 128, REFUTED)])
    assert asked == [(53, ["a", "b", "c"]), (128, ["b", "c"]), (256, ["b"])]
    assert {name: o.verdict for name, o in outcomes.items()} == {"a": PROVED, "b": PROVED, "c": REFUTED}


def test_after_the_last_level_what_is_open_is_undecided() -> None:
    outcomes, asked = run([At("a", 10_000)])
    assert [bits for bits, _ in asked] == [53, 128, 256, 512]
    assert outcomes["a"].verdict is UNDECIDED and outcomes["a"].precision_bits == 512


def test_a_level_out_of_reach_adds_its_reason_and_ends_the_statement() -> None:
    outcomes, asked = run(
        [At("a", 200), At("b", 200)], lambda level, s: "too large" if s.id == "a" and level.bits > 53 else None
    )
    assert asked == [(53, ["a", "b"]), (128, ["b"]), (256, ["b"])]
    assert outcomes["a"].verdict is UNDECIDED and outcomes["a"].worst is not None
    assert outcomes["a"].reason == "1 of 1 comparisons cannot be separated; too large"
    assert outcomes["b"].verdict is PROVED


def test_a_statement_out_of_reach_from_the_start_is_undecided_and_nothing_is_measured() -> None:
    outcomes, asked = run([At("a", 53)], lambda level, s: "too large")
    assert asked == [] and outcomes["a"].verdict is UNDECIDED and outcomes["a"].reason == "too large"


def test_evidence_that_a_level_cannot_give_is_asked_of_the_next() -> None:
    asked: list[int] = []

    def evidence_at(level: Precision, statements: list[Any]) -> int:
        asked.append(level.bits)
        if level.bits < 200:
            raise Undetermined(f"the tables are not known at {level.bits} bits")
        return level.bits

    outcomes = run_levels([At("a", 53)], iter(LEVELS), evidence_at, always, max_precision=512)
    assert asked == [53, 128, 256] and outcomes["a"].verdict is PROVED
    outcomes = run_levels([At("a", 53)], iter(LEVELS[:2]), evidence_at, always, max_precision=512)
    assert outcomes["a"].verdict is UNDECIDED
    assert outcomes["a"].reason == "the tables are not known at 128 bits"


def test_no_statement_no_evidence() -> None:
    assert run([]) == ({}, [])
