"""certify.engine.closed_cases: what is listed is proved, and what is not listed is counted with the reason."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.arrays import BallArray
from certify.arithmetic.expression import parse_expression
from certify.arithmetic.scalar import Scalar, logarithm, square_root
from certify.arithmetic.verdict import Verdict
from certify.engine.closed_cases import (
    FORMULA_OPEN,
    MAX_LISTED,
    MAX_LOOKED_AT,
    MEASURED,
    NO_FORMULA,
    NOT_PROVED,
    STRUCTURAL,
    TOO_MANY,
)
from certify.engine.decide_statement import FLOAT_BITS, Precision, decide_statement
from certify.engine.statement import ArrayCases, Cases, ClosedCases, ScalarCase, Statement, StructuralCase


class Claim(Statement[Any, Any]):
    """A statement whose evidence is its list of cases."""

    id: ClassVar[str] = "claim"
    title: ClassVar[str] = "Claim"
    source: ClassVar[str] = "nowhere"
    claim: ClassVar[str] = "lhs ≤ rhs"

    def cases(self, evidence: Any) -> Iterator[Cases]:
        yield from evidence


def closed(*cases: Cases, max_precision: int = 512) -> ClosedCases:
    outcome = decide_statement(
        Claim(), list(cases), Precision(FLOAT_BITS), max_precision=max_precision, closed_forms=True
    )
    assert outcome.closed is not None
    return outcome.closed


def log(n: int) -> Scalar:
    return logarithm(fmpq(n))


def texts(found: ClosedCases) -> list[str]:
    return [f"{e.lhs.text()} {'<' if e.strict else '<='} {e.rhs.text()}" for e in found.inequalities]


def test_they_are_there_only_where_asked_for() -> None:
    case = ScalarCase(lambda: fmpq(1), lambda: fmpq(2))
    assert decide_statement(Claim(), [case], Precision(FLOAT_BITS), max_precision=512).closed is None
    assert texts(closed(case)) == ["1 <= 2"]


def test_what_is_listed_has_formula_witness_and_count() -> None:
    found = closed(
        ScalarCase(lambda: log(2), lambda: square_root(fmpq(2)), {"R": 3}, count=7),
        ScalarCase(lambda: fmpq(1, 3), lambda: log(2), strict=True),
    )
    assert texts(found) == ["log(2) <= sqrt(2)", "1/3 < log(2)"]
    first, second = found.inequalities
    assert (first.witness, first.cases) == ({"R": 3}, 7)
    assert (second.witness, second.cases) == ({}, 1)
    assert found.left_out == {}


def test_one_inequality_is_listed_once_and_its_cases_add_up() -> None:
    found = closed(*(ScalarCase(lambda: log(2), lambda: fmpq(1), {"R": r}, count=r) for r in (1, 2, 3)))
    ((only,), left_out) = found.inequalities, found.left_out
    assert (only.cases, only.witness, left_out) == (6, {"R": 1}, {})


def test_every_other_case_is_counted_with_the_reason() -> None:
    balls = BallArray(np.array([arb(1), arb(2)], dtype=object))
    measured = arb(2).sqrt()
    found = closed(
        ArrayCases(balls, balls + BallArray(np.array([arb(1)], dtype=object)), lambda _: {}, 20),
        StructuralCase("a maximum is at least its members", 5),
        ScalarCase(lambda: measured, lambda: fmpq(2), count=3),
        ScalarCase(lambda: fmpq(3), lambda: fmpq(2), count=4),
        ScalarCase(lambda: log(4), lambda: log(2) + log(2)),
    )
    assert found.inequalities == ()
    assert found.left_out == {MEASURED: 20, STRUCTURAL: 5, NO_FORMULA: 3, NOT_PROVED: 5}


def test_a_proved_case_of_a_refuted_statement_is_still_one() -> None:
    cases = [ScalarCase(lambda: fmpq(1), lambda: fmpq(2)), ScalarCase(lambda: fmpq(3), lambda: fmpq(2))]
    outcome = decide_statement(Claim(), cases, Precision(FLOAT_BITS), max_precision=512, closed_forms=True)
    assert outcome.verdict is Verdict.REFUTED
    assert outcome.closed is not None
    assert (texts(outcome.closed), outcome.closed.left_out) == (["1 <= 2"], {NOT_PROVED: 1})


def test_a_formula_that_is_not_proved_by_itself_is_not_listed() -> None:
    """A side that is another number when it is asked again: no formula of it may be believed."""
    values = iter([fmpq(1), fmpq(5)])
    found = closed(ScalarCase(lambda: next(values), lambda: fmpq(2)))
    assert (texts(found), found.left_out) == ([], {FORMULA_OPEN: 1})


def test_there_are_limits_and_what_is_beyond_them_is_counted() -> None:
    def cases(count: int, *, different: bool) -> list[Cases]:
        return [
            ScalarCase(lambda i=i: fmpq(i if different else 0), lambda: fmpq(10**6), count=2)  # type: ignore[misc]
            for i in range(count)
        ]

    found = closed(*cases(MAX_LISTED + 5, different=True))
    assert (len(found.inequalities), found.left_out) == (MAX_LISTED, {TOO_MANY: 10})
    found = closed(*cases(MAX_LOOKED_AT + 3, different=False))
    assert [each.cases for each in found.inequalities] == [2 * MAX_LOOKED_AT]
    assert found.left_out == {TOO_MANY: 6}


def test_texts_are_read_back() -> None:
    (only,) = closed(ScalarCase(lambda: log(2) * log(2), lambda: square_root(fmpq(2)) / 2)).inequalities
    assert parse_expression(only.lhs.text()) == only.lhs
