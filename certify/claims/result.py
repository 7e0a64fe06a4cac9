"""Deciding claims: proof or counterexample, each confirmed by the checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from certify.arithmetic.exact import NumberError
from certify.arithmetic.expression import ExpressionError, Undetermined
from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import point_certificate, proof_certificate
from certify.claims.checker import check
from certify.claims.claim import Claim, obligations
from certify.claims.prover.prover import Prover
from certify.claims.prover.refutation import find_example, find_refutation
from certify.claims.rejection import Rejected


@dataclass(frozen=True)
class SlackResult:
    """The verdicts on a claim with other values of one of its constants."""

    constant: str
    value: str
    proved: ClaimResult
    proved_value: str
    refuted: ClaimResult
    refuted_value: str

    @property
    def holds(self) -> bool:
        """Whether the pair came out as given: proved with the one value, refuted with the other."""
        return self.proved.verdict is Verdict.PROVED and self.refuted.verdict is Verdict.REFUTED


@dataclass(frozen=True)
class ClaimResult:
    """What was found on one claim.

    `certificate` is None when undecided; otherwise the checker has confirmed it. `rules` are those that the
    proof uses.
    """

    claim: Claim
    verdict: Verdict
    reason: str
    certificate: Mapping[str, Any] | None
    seconds: float
    slack: SlackResult | None = field(default=None)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the claim file expects, and the slack pair holds."""
        return self.verdict.value == self.claim.expect and (self.slack is None or self.slack.holds)

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of the proof, in alphabetical order; empty for anything but a proof."""
        if self.certificate is None or "proof" not in self.certificate:
            return ()
        return tuple(sorted(_rules(self.certificate["proof"])))

    @property
    def point(self) -> Mapping[str, Any] | None:
        """The point of a refutation."""
        return None if self.certificate is None else self.certificate.get("point")


def decide_claims(claims: Sequence[Claim]) -> list[ClaimResult]:
    """Every claim in order; a later one may cite those proved before it."""
    proved: dict[str, Claim] = {}
    results = []
    for claim in claims:
        result = decide_claim(claim, proved)
        if result.verdict is Verdict.PROVED:
            proved[claim.id] = claim
        results.append(result)
    return results


def decide_claim(claim: Claim, proved: Mapping[str, Claim] | None = None) -> ClaimResult:
    """PROVED or REFUTED when the checker accepts the certificate that was found, else UNDECIDED with a reason.

    `proved` holds the claims that a proof may cite.
    """
    start = perf_counter()
    try:
        verdict, reason, certificate = _decide(claim, proved or {})
    except (ExpressionError, NumberError, Undetermined) as error:  # too large to treat
        verdict, reason, certificate = Verdict.UNDECIDED, str(error), None
    slack = None
    if claim.slack is not None:
        given = claim.slack
        slack = SlackResult(
            constant=given.constant,
            value=str(given.value),
            proved=decide_claim(given.proved, proved),
            proved_value=str(given.proved_value),
            refuted=decide_claim(given.refuted, proved),
            refuted_value=str(given.refuted_value),
        )
    return ClaimResult(claim, verdict, reason, certificate, perf_counter() - start, slack)


_Decision = tuple[Verdict, str, Mapping[str, Any] | None]


def _decide(claim: Claim, proved: Mapping[str, Claim]) -> _Decision:
    example = find_example(claim)
    prover = Prover(proved)
    if example is None:
        if claim.chain is None and prover.contradiction(claim):
            return Verdict.UNDECIDED, "vacuous: the ranges and conditions contradict each other", None
        reason = "no point that satisfies the conditions was found: give one as example"
        return Verdict.UNDECIDED, reason, None
    if claim.chain is None and (undefined := prover.undefined(claim)):
        return Verdict.UNDECIDED, f"not known to be defined everywhere: {undefined}", None
    if claim.expect != Verdict.PROVED.value:  # look for what is expected first
        refuted = _refuted(claim)
        if refuted is not None:
            return refuted
    reason = ""
    try:
        proof = _proof(claim, prover)
        if proof is not None:
            certificate = proof_certificate(claim, {"example": example, **proof})
            if check(claim, certificate, proved) is Verdict.PROVED:
                return Verdict.PROVED, "", certificate
    except (Rejected, ExpressionError) as error:
        reason = str(error)
    refuted = _refuted(claim)
    if refuted is not None:
        return refuted
    if claim.abstract and (point := find_refutation(replace(claim, abstract=""))):
        values = ", ".join(f"{name} = {value}" for name, value in point["variables"].items())
        reason = f"the abstract form fails at {values}, which refutes nothing: {claim.abstract}"
        return Verdict.UNDECIDED, reason, None
    return Verdict.UNDECIDED, reason or "; ".join(dict.fromkeys(prover.missing)) or "no proof was found", None


def _proof(claim: Claim, prover: Prover) -> dict[str, Any] | None:
    if claim.chain is None:
        return prover.plain(claim)
    parts = {}
    for part in obligations(claim):
        proof = prover.plain(part)
        if proof is None:
            return None
        parts[part.id] = proof
    return {"parts": parts}


def _refuted(claim: Claim) -> _Decision | None:
    point = find_refutation(claim)
    if point is None:
        return None
    certificate = point_certificate(claim, point)
    try:
        check(claim, certificate)
    except Rejected as error:
        return Verdict.UNDECIDED, str(error), None
    return Verdict.REFUTED, "", certificate


def _rules(node: Any) -> set[str]:
    if isinstance(node, Mapping):
        own = {node["rule"]} if isinstance(node.get("rule"), str) else set()
        return own.union(*(_rules(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(_rules(value) for value in node))
    return set()
