"""All claims that a rung's constant rests on, from the lemmas to the theorem: proving them, and checking a certificate.

What is not a claim about numbers (Hedge's regret, convexity of log-partition functions, Hölder, ...) has its proof in
`constants/BETTER_CONSTANT.md` and is decided on instances by the statements `bc-…`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from certify.arithmetic.verdict import Verdict
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.claim_file import parse_claims
from certify.claims.files import paper_claims
from certify.claims.rejection import Rejected
from certify.claims.result import decide_claim
from constants.ledger import default_ledger
from constants.search.certificate import RungCertificate
from constants.search.final_inequality import final_claim, prove_final
from constants.search.other_branches import histogram_claim, prove_histogram, prove_zero, zero_claim
from constants.search.proof import NoProof
from constants.search.rung import BETTER_OF_BOTH, PAPER, SHARP, TWO_SIDED, Envelope, Gap, Growth, Histogram, Tuning
from constants.search.theorem import theorem_claim
from constants.search.theorem_proof import prove_theorem

_ALWAYS = ("bc-0.", "bc-2.labels", "bc-4.scale", "bc-6.", "bc-7.regret")
_OF_GROWTH: Mapping[Growth, tuple[str, ...]] = {
    PAPER: ("eq-6.near", "eq-6.far"),
    BETTER_OF_BOTH: ("bc-4.near.better", "bc-4.far.better"),
    SHARP: ("bc-3", "bc-4.near.sharp", "bc-4.far.sharp"),
    TWO_SIDED: ("bc-2.two-sided", "bc-3", "bc-4.near.two-sided", "bc-4.far.two-sided"),
}
_OF_GAP: Mapping[Gap, tuple[str, ...]] = {
    Gap.PRINTED: ("lemma-a.3",),
    Gap.EXACT: ("bc-5.exact",),
    Gap.SOFTMAX: ("bc-5.softmax.",),
    Gap.MOMENT: ("bc-5.tail", "bc-5.moment", "bc-5.nu", "bc-7.moment"),
}
_OF_HISTOGRAM = ("bc-10.sinh", "bc-10.mean", "bc-10.error")
"""Ids of lemmas, or what they begin with where it ends in a full stop."""


@dataclass(frozen=True)
class Link:
    """One claim of the chain, and how its certificate is made from the claims before it."""

    claim: Claim
    prove: Callable[[Mapping[str, Claim]], dict[str, Any]]


def chain(tuning: Tuning) -> Iterator[Link]:
    """The claims for a tuning, in an order in which each cites earlier ones only."""
    for claim in _lemmas(tuning):
        yield Link(claim, _searched(claim))
    for each, last in _with_last(tuning):
        yield from _range(tuning, each, last)
    zero = zero_claim(tuning.constant)
    yield Link(zero, lambda _: prove_zero(zero, tuning.constant))


def _range(tuning: Tuning, each: Histogram | Envelope, last: int | None) -> Iterator[Link]:
    rung, constant = tuning.rung, tuning.constant
    if isinstance(each, Histogram):
        assert last is not None
        histogram = histogram_claim(constant, each.first, last)
        yield Link(histogram, lambda _: prove_histogram(histogram, constant))
        return
    final = final_claim(rung, constant, each, last)
    theorem = theorem_claim(rung, constant, each, last)
    yield Link(final, lambda _: prove_final(rung, final))
    yield Link(theorem, lambda _: prove_theorem(rung, theorem, final, constant, each, last))


def _with_last(tuning: Tuning) -> Iterator[tuple[Histogram | Envelope, int | None]]:
    """Each range with its largest T, None for the last range."""
    for each, following in zip(tuning.ranges, [*tuning.ranges[1:], None], strict=True):
        yield each, None if following is None else following.first - 1


def _lemmas(tuning: Tuning) -> Iterator[Claim]:
    """The lemmas of the chain that the rung uses."""
    wanted = [*_ALWAYS, *_OF_GROWTH[tuning.rung.growth], *_OF_GAP[tuning.rung.gap]]
    if any(isinstance(each, Histogram) for each in tuning.ranges):
        wanted += _OF_HISTOGRAM
    for claim in _all_lemmas():
        if any(claim.id == each or (each.endswith(".") and claim.id.startswith(each)) for each in wanted):
            yield claim


@cache
def _all_lemmas() -> tuple[Claim, ...]:
    text = files("constants.search").joinpath("lemmas.toml").read_text(encoding="utf-8")
    ledger = default_ledger()
    return (*parse_claims(text, ledger, "search/lemmas.toml"), *paper_claims("release", ledger))


class LemmaOpen(NoProof):
    """A lemma that is not proved; no other constant changes that."""


_FOUND: dict[str, dict[str, Any]] = {}
"""Certificates of lemmas by id: the same for every rung."""


def _searched(claim: Claim) -> Callable[[Mapping[str, Claim]], dict[str, Any]]:
    def prove(proved: Mapping[str, Claim]) -> dict[str, Any]:
        if claim.id not in _FOUND:
            result = decide_claim(claim, proved)
            if result.verdict is not Verdict.PROVED or result.certificate is None:
                raise LemmaOpen(f"{claim.id}: {result.verdict.value} {result.reason}")
            _FOUND[claim.id] = dict(result.certificate)
        return _FOUND[claim.id]

    return prove


def prove_chain(tuning: Tuning, progress: Callable[[str], None] = lambda step: None) -> RungCertificate:
    """The certificate of a tuning, every claim of which the checker has accepted.

    Raises NoProof with the claim and the step that does not go through.
    """
    proved: dict[str, Claim] = {}
    certificates: dict[str, Any] = {}
    for link in chain(tuning):
        progress(link.claim.id)
        certificate = link.prove(proved)
        try:
            check(link.claim, certificate, proved)
        except Rejected as error:
            raise NoProof(f"{link.claim.id}: the checker rejects the proof: {error}") from None
        proved[link.claim.id] = link.claim
        certificates[link.claim.id] = certificate
    return RungCertificate(tuning, certificates)


@dataclass(frozen=True)
class ClaimCheck:
    """What the checker said of one claim; the reason is empty where it accepts the certificate."""

    claim: Claim
    reason: str


def check_chain(certificate: RungCertificate) -> list[ClaimCheck]:
    """Every claim that the tuning's constant rests on, checked without any search.

    The claims are made anew from the tuning: the certificate only says how each is shown.
    """
    proved: dict[str, Claim] = {}
    results = []
    for link in chain(certificate.tuning):
        claim = link.claim
        reason = ""
        try:
            if claim.id not in certificate.claims:
                raise Rejected("the certificate has no proof of it")
            verdict = check(claim, certificate.claims[claim.id], proved)
            if verdict is not Verdict.PROVED:
                raise Rejected(f"the certificate shows that it is {verdict.value}")
            proved[claim.id] = claim
        except Rejected as error:
            reason = str(error)
        results.append(ClaimCheck(claim, reason))
    return results
