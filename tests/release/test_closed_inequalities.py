"""The closed inequalities of the release statements are those the statements claim: the same numbers, as formulas."""

from __future__ import annotations

from functools import cache

import pytest
from flint import ctx, fmpq
from instances import evidence_of, example, explicit, instance, problem_of, run, statement

from certify.arithmetic.closed_form import closed_form
from certify.arithmetic.decide import decide_le
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import parse_expression
from certify.engine.statement import ClosedCases, ScalarCase
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance
from certify.release.problem import Evidence

NEAR = (
    "eq-2.sensitivity", "lemma-5.1.mean", "lemma-6.1", "eq-6.near", "eq-7.growth", "eq-7.block-index", "lemma-7.1",
    "eq-7.damping", "eq-7.normaliser", "eq-7.error", "sec-9.radius-sum",
)  # fmt: skip
FAR = (
    "eq-6.far", "eq-7.growth", "lemma-7.1", "eq-7.damping", "eq-7.error", "eq-8.choice", "eq-8.growth", "eq-8.6",
    "eq-8.7",
)  # fmt: skip
ZERO = ("lemma-7.1", "eq-7.damping", "thm-1.1")
IRRATIONAL = ("eq-6.near", "lemma-7.1", "eq-7.damping", "sec-9.radius-sum")

TIGHT = fmpq(1, 2**80)


def irrational() -> ReleaseInstance:
    """Every parameter is irrational, one of them with a ceiling and a minimum."""
    return instance(
        [[1, 0, -1]], (2, 1, 1), "log(2)", explicit(3, "min(sqrt(2), 2)*ceil(log(3))/128", "exp(-1)"), n=None
    )


INSTANCES = {
    "growth": (lambda: example("growth"), NEAR),
    "theorem": (lambda: example("theorem"), FAR),
    "zero-branch": (lambda: example("zero-branch"), ZERO),
    "irrational": (irrational, IRRATIONAL),
}
PAIRS = [(name, each) for name, (_, statements) in INSTANCES.items() for each in statements]


@cache
def evidence(name: str) -> Evidence:
    make, statements = INSTANCES[name]
    return evidence_of(problem_of(make()), 53, statements)


@cache
def closed(name: str) -> dict[str, ClosedCases]:
    make, statements = INSTANCES[name]
    outcomes = run(make(), *statements, options=CheckOptions(closed_forms=True)).outcomes
    return {each.statement.id: each.closed for each in outcomes if each.closed is not None}


def is_tight(value: Enclosure) -> bool:
    """Whether other numbers would hardly overlap it."""
    width = value.width()
    return width is not None and value.upper is not None and bool(width <= TIGHT * abs(value.upper))


@pytest.mark.parametrize(("name", "statement_id"), PAIRS)
def test_each_side_is_the_number_that_the_statement_compares(name: str, statement_id: str) -> None:
    """The formula, read back from its text and evaluated on its own, encloses the number that was compared."""
    looked_at = 0
    with ctx.workprec(128):
        for case in statement(statement_id).cases(evidence(name)):
            if not isinstance(case, ScalarCase):
                continue
            for side in (case.lhs, case.rhs):
                form = closed_form(side)
                assert form is not None, case.witness
                formula = Enclosure.of(parse_expression(form.text()).value({}))
                number = Enclosure.of(side())
                assert formula.overlaps(number)
                assert is_tight(formula) and is_tight(number)
                looked_at += 1
    assert looked_at


@pytest.mark.parametrize(("name", "statement_id"), PAIRS)
def test_every_case_between_numbers_comes_out(name: str, statement_id: str) -> None:
    """The listed formulas are decided again, as a reader of the report would, and account for every scalar case."""
    found = closed(name)[statement_id]
    assert found.inequalities
    for each in found.inequalities:
        lhs, rhs = (parse_expression(side.text()) for side in (each.lhs, each.rhs))
        decision = decide_le(lambda e=lhs: e.value({}), lambda e=rhs: e.value({}), precision=64, max_precision=512)
        assert decision.verdict.value == "proved"
    scalars = [c for c in statement(statement_id).cases(evidence(name)) if isinstance(c, ScalarCase)]
    assert sum(each.cases for each in found.inequalities) == sum(case.count for case in scalars)


def test_formulas_are_those_of_the_paper() -> None:
    growth, theorem = closed("growth"), closed("theorem")
    assert [(e.lhs.text(), e.rhs.text()) for e in growth["eq-7.growth"].inequalities] == [
        ("5/1024", "1/100"),
        ("5*sqrt(3/13107200*log(10))", "1/100"),
    ]
    alpha = "2048*sqrt(log(4)*log(2)/4030336)"
    (linear,) = theorem["eq-8.6"].inequalities
    assert (linear.lhs.text(), linear.rhs.text()) == ("1/4030336", alpha)
    lower, upper, _ = theorem["eq-8.choice"].inequalities
    assert (lower.lhs.text(), lower.rhs.text()) == (f"16*log(4)/({alpha})^2", "23")
    assert (upper.lhs.text(), upper.rhs.text()) == ("23", f"32*log(4)/({alpha})^2")
    (_, branch) = closed("zero-branch")["thm-1.1"].inequalities
    assert branch.rhs.text() == "1048576*exp(1)*min(1, sqrt(log(6)*log(4)/10))"


def test_measured_inequalities_are_counted_not_listed() -> None:
    found = closed("theorem")["eq-8.7"]
    assert len(found.inequalities) == 1
    assert found.left_out == {"measured on the instance": 1}


def test_a_changed_constant_changes_the_formula() -> None:
    changed = run(
        example("growth"), "eq-7.growth", changes={"growth-rate": "1/50"}, options=CheckOptions(closed_forms=True)
    )
    (outcome,) = changed.outcomes
    assert outcome.closed is not None
    assert [each.rhs.text() for each in outcome.closed.inequalities] == ["1/50", "1/50"]


def test_asking_for_formulas_changes_no_verdict() -> None:
    with_formulas, without = (
        [
            (o.statement.id, o.verdict, o.cases, o.worst, o.precision_bits)
            for o in run(irrational(), *IRRATIONAL, options=CheckOptions(closed_forms=asked)).outcomes
        ]
        for asked in (True, False)
    )
    assert with_formulas == without
