"""The claims that a rung's constant rests on as Coq lemmas, so that Coq's kernel decides them anew."""

from __future__ import annotations

from collections.abc import Sequence

from certify.arithmetic.verdict import Verdict
from certify.claims.coq.export import Export, export
from certify.claims.result import ClaimResult
from constants.search.certificate import RungCertificate
from constants.search.chain import ClaimCheck


def export_chain(certificate: RungCertificate, checks: Sequence[ClaimCheck]) -> Export:
    """The lemmas for what `check_chain` accepts of a certificate.

    What it rejects, and what Coq cannot do, are comments with the reason. The lemmas are about the claims that follow
    from the tuning; the certificate only says how each is shown.
    """
    return export(claim_results(certificate, checks))


def claim_results(certificate: RungCertificate, checks: Sequence[ClaimCheck]) -> list[ClaimResult]:
    """What was found on the claims, with the certificates of those that are accepted."""
    return [
        ClaimResult(
            claim=check.claim,
            verdict=Verdict.UNDECIDED if check.reason else Verdict.PROVED,
            reason=check.reason,
            certificate=None if check.reason else certificate.claims[check.claim.id],
            seconds=0.0,
        )
        for check in checks
    ]
