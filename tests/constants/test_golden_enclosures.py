"""The recorded enclosures: as computed, right by a second route, and every change since is noticed."""

import json
from typing import Any

import pytest
from flint import fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.exact import parse_rational
from certify.arithmetic.expression import parse_expression
from certify.claims.normal_form import normal_form
from certify.instance_file import InstanceError
from certify.report.environment import this_environment
from constants.difference import Order, described, differences, order_of
from constants.golden import GOLDEN, PRODUCER, compare, golden_text, provenance, read_golden
from constants.ledger import default_ledger

TEXT = GOLDEN.read_text(encoding="utf-8")
E = "exp(1)"


def test_the_record_is_of_the_shipped_ledger_and_nothing_has_changed() -> None:
    ledger = default_ledger()
    comparisons = compare(ledger, read_golden(TEXT))
    advice = f"if this is meant, run {PRODUCER}"
    assert [each for each in comparisons if each.order is not Order.SAME] == [], advice
    printed = [constant for constant in ledger.constants.values() if constant.printed is not None]
    assert len(comparisons) == len(ledger.constants) + len(printed)


def test_the_record_says_who_wrote_it_with_what_and_when() -> None:
    record = provenance(TEXT)
    assert record["producer"] == PRODUCER
    assert len(record["date"]) == len("2026-11-30")
    assert all(record[name] for name in ("certify", "python-flint", "flint"))


def test_writing_it_again_gives_the_same_constants() -> None:
    again = json.loads(golden_text(default_ledger(), this_environment(), "2000-01-01"))
    assert again["constants"] == json.loads(TEXT)["constants"]


def _e_between() -> tuple[fmpq, fmpq]:
    """Rationals around e: the partial sum s of 1/k!, and s + 1/(n! n)."""
    term, total = fmpq(1), fmpq(1)
    for k in range(1, 61):
        term /= k
        total += term
    return total, total + term / 60


def _truth(text: str) -> tuple[fmpq, fmpq] | None:
    """Exact bounds of a value a + b e + c e² …, with nonnegative rational coefficients, without any ball."""
    form = normal_form(parse_expression(text))
    if form.denominator or not form.numerator.atoms() <= {E}:
        return None
    low, high = _e_between()
    ends = [fmpq(0), fmpq(0)]
    for monomial, coefficient in form.numerator.terms.items():
        power = dict(monomial).get(E, 0)
        assert coefficient >= 0
        ends = [ends[0] + coefficient * low**power, ends[1] + coefficient * high**power]
    return ends[0], ends[1]


def test_every_recorded_enclosure_holds_the_number_by_rational_arithmetic_alone() -> None:
    seen = 0
    for entry in _entries(json.loads(TEXT)["constants"]):
        truth = _truth(entry["value"])
        if truth is None:
            continue
        seen += 1
        lower, upper = parse_rational(entry["lower"]), parse_rational(entry["upper"])
        assert lower <= truth[0] and truth[1] <= upper, entry
        assert (upper - lower) * 10**38 <= abs(upper)
    assert seen >= 130


def _entries(constants: dict[str, Any]) -> list[dict[str, str]]:
    return [*constants.values(), *(entry["printed"] for entry in constants.values() if "printed" in entry)]


@pytest.mark.parametrize(
    ("constant_id", "value", "order"),
    [
        ("rho", "8.0", Order.SAME),
        ("theorem-constant", "1048576*exp(1)", Order.SAME),
        ("theorem-constant", "2^20*exp(1) + 10^-200", Order.LARGER),
        ("theorem-constant", "2^20*exp(1) - 10^-200", Order.SMALLER),
        ("final-error", "511*exp(1)", Order.SMALLER),
        ("maurey", "1/4 + 1/10^100", Order.LARGER),
        ("growth-rate", "0.0099", Order.SMALLER),
        ("block-peak", "exp(exp(exp(1)*0))", Order.SAME),
    ],
)
def test_a_change_is_noticed_however_small(constant_id: str, value: str, order: Order) -> None:
    changed = default_ledger().replaced({constant_id: value})
    found = {each.id: each for each in compare(changed, read_golden(TEXT))}
    assert found[constant_id].order is order
    assert {each.id for each in found.values() if each.order is not Order.SAME} <= {constant_id}
    assert {now.id for now, _ in differences(changed, default_ledger())} == (
        set() if order is Order.SAME else {constant_id}
    )


def test_numbers_that_cannot_be_told_apart_are_not_called_the_same() -> None:
    assert (
        order_of(parse_expression("log(exp(1) + exp(2))"), parse_expression("1 + log(1 + exp(1))")) is Order.UNDECIDED
    )


def test_an_enclosure_that_was_computed_otherwise_is_a_contradiction() -> None:
    document = json.loads(TEXT)
    document["constants"]["kappa"].update(lower="2.1", upper="2.2")
    found = {each.id: each.order for each in compare(default_ledger(), read_golden(json.dumps(document)))}
    assert found["kappa"] is Order.CONTRADICTED
    assert list(found.values()).count(Order.SAME) == len(found) - 1


def test_constants_that_were_added_or_removed_are_named() -> None:
    document = json.loads(TEXT)
    document["constants"]["ghost"] = document["constants"].pop("kappa")
    found = {each.id: each.order for each in compare(default_ledger(), read_golden(json.dumps(document)))}
    assert (found["kappa"], found["ghost"]) == (Order.NEW, Order.REMOVED)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", "[" * 100_000, '{"schema": "constants-golden/2", "constants": {}}']
    + [
        '{"schema": "constants-golden/1", "constants": {"rho": ' + entry + "}}"
        for entry in (
            "8",
            "{}",
            '{"value": 8, "lower": "8", "upper": "8"}',
            '{"value": "8", "lower": 8, "upper": "8"}',
            '{"value": "8", "lower": "9", "upper": "8"}',
            '{"value": "8)", "lower": "8", "upper": "8"}',
            '{"value": "8", "lower": "8", "upper": "eight"}',
        )
    ],
)
def test_a_damaged_record_is_reported_with_the_fix(text: str) -> None:
    with pytest.raises(InstanceError, match="python -m constants golden") as caught:
        read_golden(text)
    assert len(caught.value.problems) == 1


def test_a_ledger_is_described_by_what_it_changes() -> None:
    base = default_ledger()
    assert described("copy.toml", "x", base, base).startswith("copy.toml: the shipped values; SHA-256 ")
    changed = base.replaced({"rho": "9"})
    assert "rho = 9 (not 8)" in described("copy.toml", "x", changed, base)
    many = base.replaced(dict.fromkeys(list(base.constants)[:8], "12345"))
    assert "3 more" in described("copy.toml", "x", many, base)


def test_outward_decimals_contain_the_enclosure() -> None:
    for record in read_golden(TEXT).values():
        assert isinstance(record.enclosure, Enclosure) and record.enclosure.width() is not None
