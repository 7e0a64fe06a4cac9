"""The two papers' claims: verdicts, certificates, and twins that are refuted."""

from dataclasses import replace

import pytest
from paper_results import claim_ids, paper_of, proved_before, results

from certify.arithmetic.expression import parse_expression
from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import certificate_text, point_certificate
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.files import paper_claims
from certify.claims.rejection import Rejected
from certify.claims.relation import parse_relation
from certify.claims.result import decide_claim
from constants.ledger import default_ledger

REFUTED = {
    "alg-9.count.printed", "thm-6.12.natural-log", "thm-5.2.printed", "lemma-7.4.printed", "cor-7.5.printed",
}  # fmt: skip
ABSTRACT = {
    "thm-5.1", "lemma-7.3", "lemma-7.6", "lemma-b.4", "lemma-7.4", "cor-7.5.one-round", "cor-7.5", "cor-7.5.all-rounds",
}  # fmt: skip

NEAR_ONE = {"a": "1", "l": "1000001/1000000"}
FAR_ONE = {"a": "1000001/1000000", "l": "1"}
SMALLEST = {"T": "1", "k": "1", "epsilon": "1"}

# claim: a constant made too small or too large, and where the claim then fails, if that has to be said
TWINS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "eq-7.growth": ({"ball-growth": "11"}, {}),
    "eq-7.damping.theta": ({"theta-small-epsilon": "39/10"}, {}),
    "eq-7.damping.theta-large": ({"damping-width": "2"}, {}),
    "lemma-7.1.exponent": ({"growth-rate": "1/2"}, {}),
    "lemma-7.1.exponent-large": ({"growth-rate": "1/2"}, {}),
    "lemma-7.1": ({"growth-rate": "1/2"}, {}),
    "lemma-7.1.large": ({"growth-rate": "1/2"}, {}),
    "lemma-7.1.sum": ({"block-mass": "1/2"}, {}),
    "lemma-7.1.weighted-sum": ({"block-weighted-mass": "1/2"}, {}),
    "lemma-7.1.sum-large": ({"block-mass": "1/2"}, {}),
    "lemma-7.1.weighted-sum-large": ({"block-weighted-mass": "1/2"}, {}),
    "eq-6.near": ({"ball-growth": "4"}, NEAR_ONE),
    "eq-6.near.supremum": ({"ball-growth": "49/10"}, NEAR_ONE),
    "eq-6.far": ({"far-growth": "2"}, FAR_ONE),
    "eq-8.logs": ({"codebook-label": "10"}, {}),
    "eq-8.choice": ({"selection-choice": "127"}, {}),
    "eq-8.growth": ({"growth-kappa": "2^18"}, {**SMALLEST, "n": "10000000", "alpha": "1"}),
    "eq-8.6": ({"premise": "1/4"}, {}),
    "eq-8.7": ({"final-error": "3*exp(1)"}, {**SMALLEST, "n": "10000000", "alpha": "1", "alpha0": "1"}),
    "thm-1.1.error": ({"theorem-constant": "6144*exp(1)"}, {**SMALLEST, "n": "2015166", "alpha": "1", "alpha0": "1"}),
    "thm-1.1.envelope": ({"theorem-constant": "1"}, {**SMALLEST, "n": "100000000", "alpha0": "1/8"}),
    "thm-1.1.zero": ({"theorem-constant": "2"}, {**SMALLEST, "n": "1000000"}),
    "sec-9.radius-sum": ({"radius-sum-lower": "1582/1000"}, {}),
    "lemma-a.1": ({"likelihood-ratio-moment": "49/100"}, {}),
    "lemma-a.3": ({"softmax-gap": "2"}, {}),
    "eq-6.(1).next": ({"phase-multiple": "2^40"}, {}),
    "eq-6.(1)": ({"reciprocal-bound": "1/65"}, {}),
    "lemma-6.9": ({"phases-budget": "1/65"}, {}),
    "lemma-6.9.total": ({"final-budget": "1"}, {}),
    "alg-9.count": ({"run-count-power": "1"}, {"n": "2^100", "d": "1000", "epsilon": "1", "beta": "1/1000", "t": "92"}),
    "thm-6.6.normaliser": ({"search-normaliser": "3"}, {}),
    "thm-6.6.sum": ({"search-sum": "2"}, {}),
    "thm-6.6": ({"search-error": "383"}, {}),
    "thm-6.12": ({"selection-error": "775"}, {}),
    "zcdp-to-dp": ({"zcdp-conversion": "5"}, {}),
    "thm-4.4.chain": (
        {"hellinger-gap": "1/17"},
        {"h": "2358/10000", "h2": "56/1000", "C": "1", "d": "1", "n": "10", "rho": "1", "I2": "1", "I": "1"},
    ),
    "thm-4.4.domination": ({"input-domination": "1"}, {}),
    "thm-5.1": ({"svt-query-scale": "39/10"}, {"epsilon": "1", "gamma": "2", "nu": "4"}),
    "thm-5.2": ({"svt-accuracy": "2"}, {"K": "1", "beta": "1/50"}),
    "lemma-7.3": ({"mwem-accuracy": "7"}, {}),
    "lemma-7.6": ({"mwem-noise": "3"}, {"T": "1", "epsilon": "1", "step": "1/2", "scale": "4"}),
    "lemma-b.4": ({"mwem-potential": "3"}, {"n": "1", "a": "0", "b": "1", "m": "1", "g": "1/4"}),
    "lemma-7.4": ({"mwem-regret": "1"}, {}),
    "cor-7.5.one-round": ({"mwem-rate": "1"}, {}),
    "cor-7.5": (
        {"mwem-rate": "10"},
        {"n": "1000", "D": "16", "Q": "4", "epsilon": "1", "beta": "1/10", "G": "316"},
    ),
    "cor-7.5.all-rounds": (
        {"mwem-rate": "2"},
        {"n": "1", "D": "3", "Q": "1", "epsilon": "1", "beta": "99/100", "G": "23/25"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("claim_id", claim_ids())
def test_verdict_is_the_expected_one_and_the_checker_agrees(claim_id: str) -> None:
    result = results()[claim_id]
    expected = Verdict.REFUTED if claim_id in REFUTED else Verdict.PROVED
    assert result.verdict is expected, result.reason
    assert result.as_expected
    assert result.certificate is not None
    assert check(result.claim, result.certificate, proved_before(claim_id)) is expected


def test_every_proved_claim_has_a_twin() -> None:
    assert set(TWINS) == set(claim_ids()) - REFUTED - {"fact-b.3"}


@pytest.mark.parametrize("claim_id", TWINS)
def test_twin_is_refuted_with_a_point_that_the_checker_confirms(claim_id: str) -> None:
    changes, point = TWINS[claim_id]
    twin = replace(_refuted_twin(claim_id, changes, point), abstract="")
    result = decide_claim(replace(twin, expect="refuted", slack=None))
    assert result.verdict is Verdict.REFUTED, result.reason
    assert result.certificate is not None
    assert check(twin, result.certificate) is Verdict.REFUTED
    true_claim = replace(results()[claim_id].claim, abstract="")  # at the same point it holds
    with pytest.raises(Rejected, match="not shown"):
        check(true_claim, point_certificate(true_claim, result.certificate["point"]))


def test_a_counterexample_to_an_abstract_form_refutes_nothing() -> None:
    assert {claim_id for claim_id in claim_ids() if results()[claim_id].claim.abstract} == ABSTRACT
    for claim_id in ("thm-5.1", "lemma-b.4", "cor-7.5.all-rounds"):
        twin = _refuted_twin(claim_id, *TWINS[claim_id])
        result = decide_claim(twin)
        assert result.verdict is Verdict.UNDECIDED
        assert result.reason.startswith("the abstract form fails at") and twin.abstract in result.reason


@pytest.mark.parametrize(
    ("value", "verdict"),
    [("500", "proved"), ("3.0002859", "proved"), ("3.0002858", "refuted"), ("3", "refuted")],
)
def test_the_final_error_is_proved_down_to_its_threshold(value: str, verdict: str) -> None:
    """``3e α_0 + 288e/(εn) <= c e α`` holds exactly for ``c >= 3 + 288/(2^21 log² 2)``, about 3.00028583."""
    claims = {c.id: c for c in paper_claims("release", default_ledger().replaced({"final-error": f"{value}*exp(1)"}))}
    found = decide_claim(claims["eq-8.7"], proved_before("eq-8.7"))
    assert found.verdict.value == verdict
    assert "final-error" not in claims["thm-1.1.envelope"].constants


def _refuted_twin(claim_id: str, changes: dict[str, str], point: dict[str, str]) -> Claim:
    claims = paper_claims(paper_of(claim_id), default_ledger().replaced(changes))
    twin = next(claim for claim in claims if claim.id == claim_id)
    exact = {name: parse_expression(text) for name, text in point.items()}
    return replace(twin, counterexample=exact, example=exact or twin.example)


def test_fact_b3_with_a_smaller_square_is_refuted() -> None:
    claim = results()["fact-b.3"].claim
    twin = replace(claim, conclusions=(parse_relation("exp(x) <= 1 + x + 49/100*x^2"),))
    result = decide_claim(twin)
    assert result.verdict is Verdict.REFUTED
    assert result.certificate is not None
    assert check(twin, result.certificate) is Verdict.REFUTED


@pytest.mark.parametrize("claim_id", ["eq-6.near", "eq-6.far", "thm-5.2"])
def test_slack_is_a_pair_of_a_proof_and_a_counterexample(claim_id: str) -> None:
    slack = results()[claim_id].slack
    assert slack is not None
    assert slack.holds
    assert slack.proved.certificate is not None
    assert slack.refuted.point is not None


def test_the_suprema_are_13_15_and_5_6_of_the_constants() -> None:
    near, far = results()["eq-6.near"].slack, results()["eq-6.far"].slack
    assert near is not None and far is not None
    assert (near.proved_value, near.value) == ("13/3", "5")
    assert (far.proved_value, far.value) == ("5/2", "3")


def test_printed_values_are_those_of_the_ledger() -> None:
    ledger = default_ledger()
    printed = {"run-count-power": "1", "svt-accuracy": "2", "alpha-log-base": "exp(1)", "mwem-rate": "1"}
    printed |= {"mwem-regret": "1", "mwem-selection": "1", "mwem-rest": "0"}
    for constant, value in printed.items():
        assert ledger[constant].printed == parse_expression(value)


def test_certificates_are_the_same_every_time() -> None:
    for claim_id in ("fact-b.3", "eq-6.near", "lemma-6.9.total", "thm-6.12.natural-log"):
        first = results()[claim_id]
        again = decide_claim(first.claim, proved_before(claim_id))
        assert first.certificate is not None and again.certificate is not None
        assert certificate_text(first.certificate) == certificate_text(again.certificate)


def test_the_printed_theorem_5_2_fails_at_the_point_of_the_errata() -> None:
    claim = results()["thm-5.2.printed"].claim
    certificate = point_certificate(claim, {"variables": {"beta": "1/50"}, "conclusion": 0})
    assert check(claim, certificate) is Verdict.REFUTED
    certificate = point_certificate(claim, {"variables": {"beta": "1/2"}, "conclusion": 0})
    with pytest.raises(Rejected, match="not shown at the point"):
        check(claim, certificate)


def test_the_rules_of_a_proof_are_named() -> None:
    assert {"monotone", "cut", "mean value"} <= set(results()["fact-b.3"].rules)
    assert {"integer", "rounding", "combination"} <= set(results()["eq-7.damping.theta-large"].rules)
    assert results()["thm-5.2.printed"].rules == ()
