"""Wrong or disputed mechanisms that people published or shipped: the right verdict, and the digits of the ratio."""

import json

import pytest
from flint import arb, ctx, fmpq
from selection_checks import (
    EXAMPLES,
    PROVED,
    REFUTED,
    agrees,
    checked,
    checked_example,
    example,
    outcome,
)

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict

# example, verdict of "is it ε-DP all the same?", digits of the worst ratio (recomputed from the cases of the field)
CASES = [
    ("control-m1", PROVED, "3.93096674617651"),
    ("control-m8", PROVED, "15.9927292458324"),
    ("value-released-m4", REFUTED, "4.48168907033806"),  # e^(3/2)
    ("lee-clifton-m1", REFUTED, None),
    ("lee-clifton-m4", REFUTED, None),
    ("lee-clifton-right-constant", PROVED, None),
    ("no-cap-m1", PROVED, "3.33333333333"),
    ("no-cap-m2", REFUTED, "12.18264840"),
    ("query-noise-halved-m1", PROVED, "15.538"),
    ("query-noise-halved-m2", REFUTED, "43.754"),
    ("no-threshold-noise-m2", PROVED, "4"),
    ("no-threshold-noise-m3", REFUTED, "8"),
    ("exponential-understated", REFUTED, "4.19452804946"),  # (e^2+1)/2
    ("mwem-no-repeat", PROVED, None),
    ("exponential", PROVED, None),
    ("rounded-laplace", PROVED, None),
    ("fresh-noise", PROVED, None),
    ("fresh-noise-one-yes-scales-far", PROVED, None),
    ("fresh-noise-one-yes-scales-near", REFUTED, None),
]


@pytest.mark.parametrize(("name", "verdict", "digits"), CASES, ids=[case[0] for case in CASES])
def test_the_verdict_and_the_worst_ratio(name: str, verdict: Verdict, digits: str | None) -> None:
    found = outcome(checked_example(name), "thm-5.1.variants")
    assert found.verdict is verdict
    assert found.worst is not None
    if digits is not None:
        assert agrees(found.worst.lhs.lower, found.worst.lhs.upper, digits)
    if verdict is REFUTED:
        assert {"output", "neighbour"} <= set(found.worst.witness)


@pytest.mark.parametrize(
    ("name", "digits"),
    [("lee-clifton-m1", "1.1648439"), ("lee-clifton-m4", "1.7281672"), ("lee-clifton-right-constant", "1.7281672")],
)
def test_the_log_ratio_of_the_noise_of_lee_and_clifton(name: str, digits: str) -> None:
    loss = checked_example(name).quantities["epsilon"]
    assert isinstance(loss, Enclosure) and agrees(loss.lower, loss.upper, digits)


def test_every_row_says_what_it_shows() -> None:
    for name in (case[0] for case in CASES):
        assert len(example(name)["description"]) > 20


def test_the_released_value_holds_with_equality_at_three_and_is_settled_exactly() -> None:
    found = outcome(checked_example("value-released-m3"), "thm-5.1.variants")
    assert found.verdict is PROVED
    assert "the two sides are equal as sums of exponentials" in found.notes
    with ctx.workprec(100):
        assert found.worst is not None and found.worst.lhs.overlaps(Enclosure.of(arb(1).exp()))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6])
def test_the_density_ratio_of_a_released_value_is_a_power_of_e(m: int) -> None:
    data = example("value-released-m3")
    data["stream"] |= {"sums": [0] * m + [1], "neighbours": {"against": [1] * m + [0]}, "output": m + 1}
    result = checked(data, "thm-5.1.variants")
    assert outcome(result, "thm-5.1.variants").verdict is (PROVED if m <= 3 else REFUTED)
    loss = result.quantities["epsilon"]
    assert isinstance(loss, Enclosure) and loss.contains(fmpq(abs(m - 1), 2))


def test_no_query_noise_makes_an_outcome_possible_on_one_side_only() -> None:
    result = checked_example("no-query-noise")
    found = outcome(result, "thm-5.1.variants")
    assert found.verdict is REFUTED and found.worst is not None
    assert found.worst.lhs == Enclosure.of(fmpq(1, 6)) and found.worst.rhs == Enclosure.of(0)
    assert found.worst.witness["ratio"] == "infinity"
    assert result.quantities["epsilon"] == "infinity"
    assert found.worst.witness["neighbour"] == [fmpq(1), fmpq(0)]


@pytest.mark.parametrize(("m", "ratio"), [(1, fmpq(10, 3)), (2, fmpq(2668, 219))])
def test_geometric_ratios_without_a_cap_are_exact_rationals(m: int, ratio: fmpq) -> None:
    worst = outcome(checked_example(f"no-cap-m{m}"), "thm-5.1.variants").worst
    assert worst is not None and worst.lhs == Enclosure.of(ratio)


@pytest.mark.parametrize("m", range(1, 9))
def test_without_threshold_noise_the_ratio_is_exactly_a_power_of_two(m: int) -> None:
    data = example("no-threshold-noise-m2")
    data["stream"] |= {"sums": [0] * m, "neighbours": {"against": [1] * m}}
    worst = outcome(checked(data, "thm-5.1.variants"), "thm-5.1.variants").worst
    assert worst is not None and worst.lhs == Enclosure.of(2**m)


def test_the_control_stays_below_its_supremum() -> None:
    data = example("control-m1")
    m = 30
    data["stream"] |= {"sums": [0] * m + [-6], "neighbours": {"against": [1] * m + [-7]}, "output": m + 1}
    found = outcome(checked(data, "thm-5.1.variants"), "thm-5.1.variants")
    assert found.verdict is PROVED and found.worst is not None
    assert found.worst.lhs.lower is not None and fmpq(159, 10) < found.worst.lhs.lower < 16


def test_halved_query_noise_tends_to_64() -> None:
    data = example("query-noise-halved-m1")
    m = 30
    data["stream"] |= {"sums": [0] * m + [-6], "neighbours": {"against": [1] * m + [-7]}, "output": m + 1}
    worst = outcome(checked(data, "thm-5.1.variants"), "thm-5.1.variants").worst
    assert worst is not None and worst.lhs.lower is not None and fmpq(63) < worst.lhs.lower < 64


LAWS = {
    "above-threshold": ("0.343040532946515", "0.237273192652310", "0.165161780654431", "0.254524493746744"),
    "geometric-at-least": ("0.377540668798", "0.245821512077", "0.160493675177", "0.216144143948"),
    "geometric-above": ("0.306908619977", "0.226970970112", "0.169373609535", "0.296746800376"),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_three_sums(name: str) -> None:
    rows = checked_example(name).quantities["law"]
    assert isinstance(rows, tuple)
    assert [row["output"] for row in rows] == [1, 2, 3, "none"]
    for row, digits in zip(rows, LAWS[name], strict=True):
        assert agrees(row["probability"].lower, row["probability"].upper, digits)


def test_rounded_laplace_is_a_mismatch_of_laws_and_no_violation() -> None:
    result = checked_example("rounded-laplace")
    assert outcome(result, "thm-5.1.variants").verdict is PROVED
    rows = result.quantities["law"]
    assert isinstance(rows, tuple) and agrees(rows[0]["probability"].lower, rows[0]["probability"].upper, "0.39346934")
    assert "not the two-sided geometric law" in str(result.quantities["law_mismatch"])


def test_no_example_is_left_without_a_check() -> None:
    for file in sorted(EXAMPLES.glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        assert data["theory"] == "selection" and data["description"]
