"""certify.arithmetic.decide: the precision doubles until the comparison is decided."""

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.decide import decide_le, decide_lt
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Undetermined, logarithm
from certify.arithmetic.verdict import Verdict

THIRD = fmpq(1, 3)
RAMANUJAN = fmpq(262537412640768744)

rationals = st.builds(fmpq, st.integers(), st.integers(1))


def ramanujan() -> arb:
    return (arb.pi() * arb(163).sqrt()).exp()


def square_of_root() -> arb:
    root = arb(2).sqrt()
    return root * root


@given(rationals, rationals)
@example(THIRD, THIRD)
def test_rationals_are_decided_at_once(x: fmpq, y: fmpq) -> None:
    decision = decide_le(lambda: x, lambda: y, precision=53, max_precision=4096)
    assert decision.verdict is (Verdict.PROVED if x <= y else Verdict.REFUTED)
    assert decision.precision_bits == 53
    assert (decision.lhs, decision.rhs) == (Enclosure(x, x), Enclosure(y, y))
    strict = decide_lt(lambda: x, lambda: y, precision=53, max_precision=4096)
    assert strict.verdict is (Verdict.PROVED if x < y else Verdict.REFUTED)


def test_a_near_tie_is_decided_with_more_bits_in_both_directions() -> None:
    decision = decide_le(ramanujan, lambda: RAMANUJAN, precision=53, max_precision=4096)
    assert decision.verdict is Verdict.PROVED
    assert decision.precision_bits == 106
    assert decision.reason == ""
    assert decision.lhs.upper is not None and RAMANUJAN - 1 < decision.lhs.upper < RAMANUJAN
    mutated = decide_le(lambda: RAMANUJAN, ramanujan, precision=53, max_precision=4096)
    assert mutated.verdict is Verdict.REFUTED
    assert mutated.lhs == Enclosure(RAMANUJAN, RAMANUJAN)
    smaller = decide_lt(ramanujan, lambda: RAMANUJAN - fmpq(1, 10**12), precision=53, max_precision=4096)
    assert smaller.verdict is Verdict.REFUTED


def test_the_cap_leaves_it_undecided_with_both_enclosures() -> None:
    decision = decide_le(ramanujan, lambda: RAMANUJAN, precision=53, max_precision=60)
    assert decision.verdict is Verdict.UNDECIDED
    assert decision.precision_bits == 60
    assert decision.reason == "the two sides cannot be separated at 60 bits"
    assert decision.lhs.overlaps(decision.rhs)


@pytest.mark.parametrize("decide", [decide_le, decide_lt])
def test_a_tie_between_balls_is_never_decided(decide) -> None:  # type: ignore[no-untyped-def]
    for lhs, rhs in [(square_of_root, lambda: fmpq(2)), (lambda: fmpq(2), square_of_root)]:
        decision = decide(lhs, rhs, precision=53, max_precision=1000)
        assert decision.verdict is Verdict.UNDECIDED
        assert decision.precision_bits == 1000
        assert decision.lhs.overlaps(decision.rhs)


def test_undetermined_is_undecided_until_precision_resolves_it() -> None:
    def log_of_tiny() -> fmpq | arb:
        return logarithm(square_of_root() - 2 + arb(fmpq(1, 2**100)))

    decision = decide_le(log_of_tiny, lambda: fmpq(-69), precision=53, max_precision=4096)
    assert decision.verdict is Verdict.PROVED
    assert decision.precision_bits == 106
    capped = decide_le(log_of_tiny, lambda: fmpq(-69), precision=53, max_precision=64)
    assert capped.verdict is Verdict.UNDECIDED
    assert capped.lhs == Enclosure(None, None)
    assert capped.rhs == Enclosure(fmpq(-69), fmpq(-69))
    assert "log cannot be separated from 0 at 64 bits" in capped.reason


def test_both_reasons_are_given() -> None:
    def fails(text: str) -> fmpq:
        raise Undetermined(text)

    decision = decide_lt(lambda: fails("left"), lambda: fails("right"), precision=53, max_precision=53)
    assert (decision.verdict, decision.reason) == (Verdict.UNDECIDED, "left; right")


@pytest.mark.parametrize("bad", [arb("nan"), arb("inf"), arb(0, "inf")], ids=lambda b: b.repr())
def test_what_is_not_finite_proves_nothing(bad: arb) -> None:
    for lhs, rhs in [(bad, fmpq(0)), (fmpq(0), bad), (bad, bad)]:
        decision = decide_le(lambda lhs=lhs: lhs, lambda rhs=rhs: rhs, precision=53, max_precision=106)
        assert decision.verdict is Verdict.UNDECIDED


def test_the_precision_is_restored_also_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        decide_le(lambda: fmpq(1) / 0, lambda: fmpq(1), precision=200, max_precision=400)
    assert ctx.prec == 53


def test_an_impossible_range_of_precisions_is_refused() -> None:
    with pytest.raises(ValueError, match="precision"):
        decide_le(lambda: fmpq(1), lambda: fmpq(1), precision=54, max_precision=53)
