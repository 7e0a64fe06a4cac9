"""The closed inequalities of the selection statements are those the statements claim."""

import pytest
from flint import ctx, fmpq
from selection_checks import checked, example, parsed

from certify.arithmetic.closed_form import closed_form
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import parse_expression
from certify.engine.statement import ClosedCases, ScalarCase
from certify.release.check import CheckOptions
from certify.selection.check import check, prepare
from certify.selection.statements import CATALOGUE
from constants.ledger import default_ledger

TIGHT = fmpq(1, 2**60)

WITH_FORMULAS = {
    "sampling-filtering-2-80": ("eq-6.(1)", "alg-9.count", "lemma-6.9", "lemma-6.10", "lemma-6.11", "thm-6.12"),
    "compare-to-thresholds": ("zcdp-to-dp",),
    "mwem-no-repeat": ("thm-5.1.variants",),
    "exponential": ("thm-5.1.variants",),
    "geometric-search-01": ("lemma-6.4", "thm-6.6", "cor-6.7"),
    "control-m8": ("thm-5.1.variants",),
}
PAIRS = [(name, statement) for name, statements in WITH_FORMULAS.items() for statement in statements]


def closed(name: str, statement: str) -> ClosedCases:
    problem = prepare(parsed(example(name)), default_ledger())
    (outcome,) = check(problem, CheckOptions(statements=(statement,), closed_forms=True)).outcomes
    assert outcome.closed is not None
    return outcome.closed


@pytest.mark.parametrize(("name", "statement_id"), PAIRS)
def test_a_side_that_has_a_formula_is_the_number_that_is_compared(name: str, statement_id: str) -> None:
    problem = prepare(parsed(example(name)), default_ledger())
    (statement,) = [each for each in CATALOGUE if each.id == statement_id]
    looked_at = 0
    with ctx.workprec(128):
        for case in statement.cases(problem):
            if not isinstance(case, ScalarCase):
                continue
            for side in (case.lhs, case.rhs):
                form = closed_form(side)
                if form is None:
                    continue
                formula = Enclosure.of(parse_expression(form.text()).value({}))
                width = formula.width()
                assert formula.overlaps(Enclosure.of(side()))
                assert width is not None and formula.upper is not None
                assert width <= TIGHT * abs(formula.upper)
                looked_at += 1
    assert looked_at
    assert closed(name, statement_id).inequalities


def test_the_conversion_from_zcdp_is_a_formula() -> None:
    (only,) = closed("compare-to-thresholds", "zcdp-to-dp").inequalities
    assert only.lhs.text() == "(sqrt(sqrt(log(1000))^2 + 1/2) - sqrt(log(1000)))^2"
    assert closed("compare-to-thresholds", "zcdp-to-dp").left_out == {}


def test_without_being_asked_for_there_are_none() -> None:
    assert all(outcome.closed is None for outcome in checked(example("compare-to-thresholds")).outcomes)
