"""A constant that is lowered: no proof of it is accepted, and an exact point refutes it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flint import fmpq
from rung_certificates import balanced_epsilon, envelopes, is_refuted, scaled, shipped, tuned_links, with_last

from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import digest
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.context import Context, holds_on_box
from certify.claims.prover.refutation import find_refutation
from certify.claims.rejection import Rejected
from certify.claims.relation import Relation
from constants.search import chain as chain_module
from constants.search import proof as proof_module
from constants.search.certificate import RungCertificate
from constants.search.estimate import UNBOUNDED, Universes
from constants.search.final_inequality import final_claim, prove_final
from constants.search.other_branches import histogram_claim
from constants.search.proof import NoProof, Steps
from constants.search.rung import RUNGS, Envelope, Histogram, Tuning

PERCENT = fmpq(99, 100)
HUGE = str(10**50)


def below(tuning: Tuning) -> Tuning:
    return scaled(tuning, PERCENT)


def small_and_large(claim: Claim) -> list[str]:
    """The smallest l of (E), and the largest one or a huge one."""
    (variable,) = claim.variables
    return [str(variable.lower), HUGE if variable.upper is None else str(variable.upper)]


def final_points(tuning: Tuning) -> list[str]:
    """The points at which (E) is refuted, over all ranges."""
    claims = [final_claim(tuning.rung, tuning.constant, each, last) for each, last in envelopes(tuning)]
    return [log for claim in claims for log in small_and_large(claim) if is_refuted(claim, {"l": log})]


@pytest.mark.parametrize("name", RUNGS)
def test_with_one_percent_less_an_exact_point_refutes_the_final_inequality(name: str) -> None:
    tuning = shipped(name).tuning
    assert final_points(tuning) == []
    refuting = final_points(below(tuning))
    assert refuting
    held_back_at_infinity = False
    for each, last in envelopes(tuning):
        found = Universes(tuning.rung, each.first, last).of_envelope(each)
        if found.constant > float(below(tuning).constant):
            held_back_at_infinity |= UNBOUNDED in found.active
    assert (HUGE in refuting) == held_back_at_infinity


@pytest.mark.parametrize("name", RUNGS)
def test_the_constant_is_within_a_fifth_of_a_percent_of_what_its_choices_allow(name: str) -> None:
    tuning = shipped(name).tuning
    assert final_points(scaled(tuning, fmpq(998, 1000)))


@pytest.mark.parametrize("name", ["4", "8"])
def test_the_search_for_a_refutation_finds_a_point(name: str) -> None:
    tuning = below(shipped(name).tuning)
    each, last = envelopes(tuning)[0]
    claim = final_claim(tuning.rung, tuning.constant, each, last)
    found = find_refutation(claim)
    assert found is not None
    assert is_refuted(claim, found["variables"], found["conclusion"])


@pytest.mark.parametrize("name", RUNGS)
def test_with_one_percent_less_the_final_inequality_is_not_proved(name: str) -> None:
    tuning = below(shipped(name).tuning)
    failing = 0
    for each, last in envelopes(tuning):
        claim = final_claim(tuning.rung, tuning.constant, each, last)
        if any(is_refuted(claim, {"l": log}) for log in small_and_large(claim)):
            failing += 1
            with pytest.raises(NoProof):
                prove_final(tuning.rung, claim)
    assert failing


@contextmanager
def forging() -> Iterator[None]:
    """The proof writer of a forger: where a step does not go through it says that evaluation shows it.

    A bisection ends at boxes that are small, whether evaluation shows anything there or not.
    """

    def forged_evaluation(context: Context, goal: Relation, bits: int) -> bool:
        if holds_on_box(context, goal, bits):
            return True
        return all(
            v.lower is not None and v.upper is not None and v.upper - v.lower <= v.lower / 12
            for v in context.variables.values()
        )

    honest = Steps.shown

    def forged_step(self: Steps, *arguments: Any) -> dict[str, Any]:
        try:
            return honest(self, *arguments)
        except NoProof:
            return {"rule": "ranges", "bits": 512}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proof_module, "holds_on_box", forged_evaluation)
        patch.setattr(Steps, "shown", forged_step)
        yield


@pytest.mark.parametrize("name", RUNGS)
def test_a_proof_of_the_lowered_final_inequality_that_is_forged_with_care_is_rejected(name: str) -> None:
    tuning = below(shipped(name).tuning)
    verdicts = []
    for each, last in envelopes(tuning):
        claim = final_claim(tuning.rung, tuning.constant, each, last)
        with forging():
            certificate = prove_final(tuning.rung, claim)
        assert certificate["statement"] == claim.statement()
        assert certificate["digest"] == digest(certificate)
        is_false = any(is_refuted(claim, {"l": log}) for log in small_and_large(claim))
        verdicts.append(is_false)
        if is_false:
            with pytest.raises(Rejected, match=r"evaluation does not show|the known ranges do not show"):
                check(claim, certificate)
        else:  # the other range of the universes still has room: there is nothing to forge
            assert check(claim, certificate) is Verdict.PROVED
    assert any(verdicts)


def test_a_whole_certificate_of_a_lowered_constant_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim that has the constant in it, proved anew where that goes and forged where not."""
    tuning = below(shipped("8").tuning)
    monkeypatch.setattr(chain_module, "_lemmas", lambda tuning: iter(()))
    claims: dict[str, Any] = {}
    proved: dict[str, Claim] = {}
    for link in chain_module.chain(tuning):
        with forging():
            claims[link.claim.id] = link.prove(proved)
        proved[link.claim.id] = link.claim
    reasons = {result.claim.id: result.reason for result in chain_module.check_chain(RungCertificate(tuning, claims))}
    rejected = {key for key, reason in reasons.items() if reason}
    assert {"bc-E.2", "bc-thm.2"} == rejected
    assert "does not show" in reasons["bc-E.2"] or "do not show" in reasons["bc-E.2"]
    assert "not among the claims proved before" in reasons["bc-thm.2"]


@pytest.mark.parametrize("name", RUNGS)
def test_the_shipped_proof_with_another_statement_is_rejected(name: str) -> None:
    """The statement, the digest, and the constant wherever it stands alone are the forger's."""
    tuning = below(shipped(name).tuning)
    before, after = str(shipped(name).tuning.constant), str(tuning.constant)
    for link in tuned_links(tuning):
        if not link.claim.id.startswith("bc-E."):
            continue
        proof = _with_texts(shipped(name).claims[link.claim.id]["proof"], before, after)
        forged = {
            "format": "certify-claim/1", "statement": link.claim.statement(), "verdict": "proved", "proof": proof,
        }  # fmt: skip
        with pytest.raises(Rejected):
            check(link.claim, {**forged, "digest": digest(forged)})


def _with_texts(node: Any, before: str, after: str) -> Any:
    if isinstance(node, dict):
        return {key: _with_texts(value, before, after) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_texts(value, before, after) for value in node]
    return node.replace(before, after) if isinstance(node, str) else node


def test_the_histogram_is_refuted_where_its_universes_are_too_large() -> None:
    """At C τ = 1, k = 1, the error bound 2T/W is above C τ: with the shipped constant from one universe on."""
    tuning = shipped("9").tuning
    ranges = [(each, last) for each, last in with_last(tuning) if isinstance(each, Histogram)]
    assert len(ranges) == 1
    (histogram, last) = ranges[0]
    assert last is not None
    assert isinstance(tuning.ranges[1], Envelope)
    for more in (0, 2):
        claim = histogram_claim(tuning.constant, histogram.first, last + more)
        point = {"T": str(last + more), "k": "1", "n": "1", "epsilon": balanced_epsilon(tuning.constant, last + more)}
        assert is_refuted(claim, point) is (more > 0)
