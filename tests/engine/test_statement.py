"""certify.engine.statement: the share of a bound that is used."""

import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Outcome, Statement, Worst, share

rationals = st.builds(fmpq, st.integers(-50, 50), st.integers(1, 9))


def ordered(x: fmpq, y: fmpq) -> Enclosure:
    return Enclosure(min(x, y), max(x, y))


enclosures = st.builds(ordered, rationals, rationals)


@given(enclosures, enclosures)
@example(Enclosure(fmpq(-1), fmpq(1)), Enclosure(fmpq(1), fmpq(2)))
@example(Enclosure(fmpq(-4), fmpq(-2)), Enclosure(fmpq(1), fmpq(2)))
@example(Enclosure(fmpq(0), fmpq(0)), Enclosure(fmpq(3), fmpq(3)))
def test_the_share_is_exactly_the_range_of_the_quotients(lhs: Enclosure, rhs: Enclosure) -> None:
    used = share(lhs, rhs)
    assert rhs.lower is not None
    if rhs.lower <= 0:
        assert used is None
        return
    assert used is not None
    quotients = [x / y for x in (lhs.lower, lhs.upper) for y in (rhs.lower, rhs.upper)]
    assert all(used.contains(q) for q in quotients)
    assert used.lower in quotients and used.upper in quotients


@pytest.mark.parametrize("unbounded", [Enclosure(None, None), Enclosure(fmpq(1), None), Enclosure(None, fmpq(1))])
def test_an_unbounded_side_has_no_share(unbounded: Enclosure) -> None:
    assert share(unbounded, Enclosure.of(2)) is None
    assert share(Enclosure.of(2), unbounded) is None


def test_an_outcome_without_a_worst_case_has_no_share() -> None:
    outcome = Outcome(Statement, Verdict.PROVED, 1, None, 53, 0.0)
    assert outcome.budget_used is None
    shown = Outcome(Statement, Verdict.PROVED, 1, Worst(Enclosure.of(1), Enclosure.of(3), {}), 53, 0.0)
    assert shown.budget_used == Enclosure.of(fmpq(1, 3))
