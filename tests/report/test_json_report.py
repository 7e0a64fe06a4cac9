import json

import numpy as np
import pytest
from flint import arb, fmpq, fmpz
from sample_report import (
    DATABASE,
    GIVEN_UP,
    IDENTITY,
    INAPPLICABLE,
    PROVED,
    REFUTED,
    STRUCTURAL,
    TRANSCRIPT,
    UNDECIDED,
    between,
    sample,
)

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import parse_expression
from certify.engine.statement import ClosedCases, ClosedInequality, Outcome, Worst
from certify.report.environment import Environment
from certify.report.json_report import canonical_json, json_text, plain, report_json
from certify.report.model import InstanceIdentity, report_on

EVERYTHING = sample(PROVED, REFUTED, UNDECIDED, INAPPLICABLE, STRUCTURAL, GIVEN_UP)


def test_the_report_is_that_of_the_design() -> None:
    written = json.loads(json_text([EVERYTHING]))
    assert list(written) == ["schema", "instance", "environment", "quantities", "summary", "statements"]
    assert written["schema"] == "certify-report/1"
    assert written["instance"] == {"path": IDENTITY.path, "sha256": IDENTITY.sha256, "theory": "release"}
    assert written["environment"] == {
        "certify": "0.0",
        "python": "3.11.0",
        "python-flint": "0.9.0",
        "flint": "3.6.0",
    }
    assert written["quantities"] == {
        "Z": {"lower": "1.06123", "upper": "1.06124"},
        "expected_error": {"lower": "0.333333333333", "upper": "0.333333333334"},
        "alpha_0": {"lower": "1.125", "upper": "1.125"},
        "branch": "explicit",
        "B": 6,
        "transcripts": 46656,
    }
    assert written["summary"] == {
        "verdict": "refuted",
        "proved": 2,
        "refuted": 1,
        "undecided": 2,
        "not_applicable": 1,
    }
    assert written["statements"][0] == {
        "id": "lemma-1",
        "title": "A bound that holds",
        "source": "§1, Lemma 1",
        "claim": "p ≤ q",
        "verdict": "proved",
        "coverage": "exhaustive",
        "cases": 1200,
        "budget_used": {"lower": "0.0137", "upper": "0.0138"},
        "worst": {
            "lhs": {"lower": "0.0137", "upper": "0.0138"},
            "rhs": {"lower": "1", "upper": "1"},
            "witness": {"database": DATABASE, "transcript": TRANSCRIPT, "R": 3, "quantity": "a ratio"},
        },
        "precision_bits": 53,
        "seconds": 0.25,
        "reason": None,
        "notes": [],
        "closed": None,
    }


def test_a_statement_that_does_not_apply_has_a_reason_and_no_numbers() -> None:
    statement = report_json(EVERYTHING)["statements"][3]
    assert statement["verdict"] == "not applicable"
    assert statement["reason"] == "the hypothesis κ ≤ 1 fails: κ ≥ 2"
    empty = ("coverage", "worst", "budget_used", "precision_bits")
    assert {name: statement[name] for name in empty} == dict.fromkeys(empty)


def test_a_structural_proof_names_its_route() -> None:
    statement = report_json(EVERYTHING)["statements"][4]
    assert (statement["worst"], statement["notes"]) == (None, ["a maximum is at least its members"])


def test_closed_inequalities_are_text_that_is_read_back() -> None:
    lhs, rhs = parse_expression("5*sqrt(2)"), parse_expression("(1 + log(3))^8")
    inequality = ClosedInequality(lhs, rhs, strict=True, witness={"R": fmpq(3)}, cases=4)
    closed = ClosedCases((inequality,), {"measured on the instance": 12})
    written = report_json(sample(Outcome(**{**vars(PROVED), "closed": closed})))["statements"][0]["closed"]
    assert written == {
        "inequalities": [
            {"lhs": "5*sqrt(2)", "rhs": "(1 + log(3))^8", "strict": True, "cases": 4, "witness": {"R": "3"}}
        ],
        "left_out": {"measured on the instance": 12},
    }


def test_one_instance_is_an_object_and_several_are_a_list() -> None:
    assert json.loads(json_text([EVERYTHING])) == report_json(EVERYTHING)
    assert json.loads(json_text([EVERYTHING, EVERYTHING])) == [report_json(EVERYTHING)] * 2


def test_the_canonical_part_has_neither_place_nor_time() -> None:
    elsewhere = report_on(
        InstanceIdentity("/another/place.json", IDENTITY.sha256, "release"),
        Environment("9", "9", "9", "9"),
        EVERYTHING.quantities,
        [Outcome(**{**vars(outcome), "seconds": 99.0}) for outcome in (PROVED, REFUTED)],
    )
    here = sample(PROVED, REFUTED)
    assert report_json(elsewhere) != report_json(here)
    assert canonical_json(elsewhere) == canonical_json(here)
    assert canonical_json(sample(PROVED, UNDECIDED)) != canonical_json(here)
    assert json_text([here]) == json_text([sample(PROVED, REFUTED)])


@pytest.mark.parametrize("outcome", [PROVED, REFUTED], ids=["proved", "refuted"])
def test_close_sides_get_the_digits_that_show_the_verdict(outcome: Outcome) -> None:
    low, high = Enclosure.of(fmpq(1, 3)), Enclosure.of(fmpq(1, 3) + fmpq(1, 10**40))
    worst = Worst(low, high, {}) if outcome is PROVED else Worst(high, low, {})
    changed = Outcome(**{**vars(outcome), "worst": worst})
    sides = report_json(sample(changed))["statements"][0]["worst"]
    smaller, larger = (sides["lhs"], sides["rhs"]) if outcome is PROVED else (sides["rhs"], sides["lhs"])
    # both start with 0.333…, so that texts of one length order as the numbers do
    assert len(smaller["upper"]) == len(larger["lower"]) == 50
    assert smaller["upper"] < larger["lower"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        ("text", "text"),
        (3, 3),
        (np.int64(3), 3),
        (fmpz(3), 3),
        (fmpq(1, 3), "1/3"),
        (fmpq(2), "2"),
        (arb(2), {"lower": "2", "upper": "2"}),
        (between("1/3", "2/3"), {"lower": "0.333333333333", "upper": "0.666666666667"}),
        (["a", (1, 2)], ["a", [1, 2]]),
        ({"a": {"b": fmpq(1, 2)}}, {"a": {"b": "1/2"}}),
    ],
)
def test_plain_values(value: object, written: object) -> None:
    result = plain(value)
    assert result == written
    assert type(result) is type(written)


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), float("nan"), 1j, object(), {"a": 0.5}, [np.zeros(2)]])
def test_no_float_gets_into_a_report(value: object) -> None:
    with pytest.raises(TypeError):
        plain(value)


def test_an_integer_that_json_readers_refuse_becomes_an_enclosure() -> None:
    number = 7**6000
    written = plain(number)
    assert set(written) == {"lower", "upper"}
    assert json.loads(json.dumps(plain(2**10_000 - 1))) == 2**10_000 - 1
