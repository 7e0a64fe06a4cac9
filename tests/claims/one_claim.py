"""One claim from TOML text, decided."""

from certify.claims.claim import Claim
from certify.claims.claim_file import parse_claims
from certify.claims.result import ClaimResult, decide_claim
from constants.ledger import default_ledger


def claim(text: str) -> Claim:
    """The claim of a file with one claim, whose id is added."""
    (result,) = parse_claims(f'[[claim]]\nid = "it"\n{text}', default_ledger())
    return result


def decided(text: str) -> ClaimResult:
    """The result on the claim."""
    return decide_claim(claim(text))
