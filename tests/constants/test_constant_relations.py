"""Relations: proved with the shipped values, refuted with a constant moved, slack computed, ties decided exactly."""

from dataclasses import replace

import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.expression import parse_expression
from certify.arithmetic.verdict import Verdict
from certify.claims.relation import parse_relation
from constants.ledger import Constant, default_ledger
from constants.relations import Proof, as_printed, identical, prove, prove_all, prove_of, tightest

SHIPPED = prove_all(default_ledger())


def decided(text: str, **values: str) -> Proof:
    constant = default_ledger()["rho"]
    expressions = {name: parse_expression(value) for name, value in values.items()}
    return prove(constant, parse_relation(text), expressions)


def test_every_relation_of_the_shipped_ledger_is_proved() -> None:
    assert len(SHIPPED) >= 97
    assert [proof.relation.text() for proof in SHIPPED if proof.verdict is not Verdict.PROVED] == []


@pytest.mark.parametrize("proof", SHIPPED, ids=[f"{p.constant.id}: {p.relation.text()}"[:80] for p in SHIPPED])
def test_every_relation_can_fail(proof: Proof) -> None:
    ledger, constant = default_ledger(), proof.constant
    moved = []
    for factor in ("10^-8", "1/2", "2", "10^8"):
        changed = ledger.replaced({constant.id: f"{factor}*({constant.value.text()})"})
        moved.append(prove(constant, proof.relation, changed.expressions).verdict)
    assert Verdict.REFUTED in moved


@pytest.mark.parametrize(
    ("constant_id", "value", "owner"),
    [
        ("theorem-constant", "2^20*exp(1) - 10^-30", "theorem-constant"),
        ("theorem-threshold", "2047", "theorem-threshold"),
        ("final-error", "291*exp(1) - 1/10^9", "final-error"),
        ("growth-hypothesis", "1/250000 + 1/10^12", "growth-hypothesis"),
        ("growth-rate", "5/1024 - 1/10^12", "growth-hypothesis"),
        ("search-error", "383.999", "search-error"),
        ("search-accuracy", "32.001", "search-error"),
        ("svt-query-scale", "3.999", "svt-privacy"),
        ("sample-bound", "1/107", "sample-bound"),
    ],
)
def test_a_constant_moved_a_little_too_far_is_refuted(constant_id: str, value: str, owner: str) -> None:
    changed = default_ledger().replaced({constant_id: value})
    refuted = [proof.constant.id for proof in prove_all(changed) if proof.verdict is Verdict.REFUTED]
    assert owner in refuted


@pytest.mark.parametrize(
    ("constant_id", "value"),
    [("final-error", "291*exp(1)"), ("growth-rate", "5/1024"), ("base-selection", "4"), ("ball-loss", "4")],
)
def test_the_edge_itself_is_a_tie_and_proved(constant_id: str, value: str) -> None:
    ledger = default_ledger().replaced({constant_id: value})
    ties = [proof for proof in prove_all(ledger) if proof.tie and ledger[constant_id].name in proof.relation.names()]
    assert ties
    assert all(proof.verdict is Verdict.PROVED for proof in ties)


@pytest.mark.parametrize(
    ("text", "verdict", "tie"),
    [
        ("a <= b", Verdict.PROVED, True),
        ("a < b", Verdict.REFUTED, True),
        ("a <= b + 10^-300", Verdict.PROVED, False),
        ("a + 10^-300 <= b", Verdict.REFUTED, False),
        ("2*a <= a + b", Verdict.PROVED, True),
        ("a^2 <= b*exp(1)*3", Verdict.PROVED, True),
        ("log(a) <= 1 + log(3)", Verdict.UNDECIDED, False),
        ("1/(a - b) <= 1", Verdict.UNDECIDED, False),
        ("1/(a - a) <= 1", Verdict.UNDECIDED, False),
        ("log(a - 100) <= 1", Verdict.UNDECIDED, False),
    ],
)
def test_ties_of_irrational_sides_are_decided_by_identity_or_not_at_all(text: str, verdict: Verdict, tie: bool) -> None:
    proof = decided(text, a="3*exp(1)", b="exp(1) + 2*exp(1)")
    assert proof.verdict is verdict
    assert proof.tie is tie
    assert bool(proof.reason) is (verdict is Verdict.UNDECIDED)


def test_slack_is_computed_from_the_sides() -> None:
    assert decided("a <= b", a="1", b="4").slack.lower == fmpq(3, 4)
    assert decided("a <= b", a="5", b="4").slack.upper == fmpq(-1, 4)
    assert decided("a <= b", a="4", b="4").slack.is_exact
    wide = decided("a <= b", a="exp(1)", b="3").slack
    assert wide.lower is not None and wide.upper is not None
    assert fmpq(0) < wide.lower <= wide.upper < fmpq(1, 10)
    assert decided("a <= b", a="-2", b="-1").slack.lower is None
    assert decided("a <= b", a="-2", b="1").slack.lower == 3


@given(st.fractions(-20, 20), st.fractions(-20, 20))
@example(0, 0)
def test_rational_relations_agree_with_fractions(a: object, b: object) -> None:
    proof = decided("a <= b", a=f"({a})", b=f"({b})")
    left, right = fmpq(*_ratio(a)), fmpq(*_ratio(b))
    assert proof.verdict is (Verdict.PROVED if left <= right else Verdict.REFUTED)
    if right > 0:
        assert proof.slack.lower == proof.slack.upper == 1 - left / right


def _ratio(value: object) -> tuple[int, int]:
    numerator, _, denominator = str(value).partition("/")
    return int(numerator), int(denominator or 1)


def test_the_tightest_relation_is_the_one_that_leaves_least() -> None:
    ledger = default_ledger()
    proofs = prove_of([ledger["damping-width"]], ledger.expressions)
    best = tightest(proofs)
    assert best is not None and best.relation.text() == "theta_small_epsilon <= damping_width"
    assert best.slack.lower == fmpq(5, 9)
    assert tightest([]) is None


def test_identical_sees_through_the_writing_but_not_through_a_difference() -> None:
    def same(left: str, right: str) -> bool:
        return identical(parse_expression(left), parse_expression(right))

    assert same("2^20*exp(1)", "1048576*exp(1)")
    assert same("(exp(1) + 1)^2", "exp(1)^2 + 2*exp(1) + 1")
    assert not same("exp(1)", "exp(1) + 1/10^400")
    assert not same("exp(1)", "2.718281828")


def test_a_printed_value_that_breaks_nothing_is_not_called_refuted() -> None:
    ledger = default_ledger()
    harmless: Constant = replace(ledger["search-accuracy"], printed=parse_expression("31"))
    assert as_printed(harmless, ledger)[0] is Verdict.PROVED
    with pytest.raises(ValueError, match="printed as it stands"):
        as_printed(ledger["rho"], ledger)


def test_a_printed_value_that_fails_only_together_with_others_is_refuted() -> None:
    ledger = default_ledger()
    verdict, proof = as_printed(ledger["mwem-selection"], ledger)
    assert verdict is Verdict.REFUTED and proof is not None
    alone = {**ledger.expressions, "mwem_selection": parse_expression("1")}
    assert prove(proof.constant, proof.relation, alone).verdict is Verdict.PROVED
