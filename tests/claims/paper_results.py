"""The papers' claims, decided once for all tests."""

from functools import cache

from certify.claims.claim import Claim
from certify.claims.files import PAPERS, paper_claims
from certify.claims.result import ClaimResult, decide_claims
from constants.ledger import default_ledger


@cache
def results() -> dict[str, ClaimResult]:
    """Results by claim id, over both papers."""
    decided = [r for paper in PAPERS for r in decide_claims(paper_claims(paper, default_ledger()))]
    return {result.claim.id: result for result in decided}


@cache
def claim_ids() -> list[str]:
    """The ids of all claims of both papers."""
    return [claim.id for paper in PAPERS for claim in paper_claims(paper, default_ledger())]


@cache
def paper_of(claim_id: str) -> str:
    """The paper that a claim belongs to."""
    return next(p for p in PAPERS if any(c.id == claim_id for c in paper_claims(p, default_ledger())))


@cache
def proved_before(claim_id: str) -> dict[str, Claim]:
    """The claims that the certificate of a claim may cite."""
    paper = paper_of(claim_id)
    found: dict[str, Claim] = {}
    for claim in paper_claims(paper, default_ledger()):
        if claim.id == claim_id:
            break
        if results()[claim.id].verdict.value == "proved":
            found[claim.id] = claim
    return found
