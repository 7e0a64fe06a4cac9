"""Certificates as plain data: deterministic JSON with a digest of its own text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from certify.arithmetic.verdict import Verdict
from certify.claims.claim import Claim

FORMAT = "certify-claim/1"


def proof_certificate(claim: Claim, proof: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate that a claim is proved; the checker decides whether it shows that."""
    return _sealed(claim, {"verdict": Verdict.PROVED.value, "proof": proof})


def point_certificate(claim: Claim, point: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate that a claim fails at a point."""
    return _sealed(claim, {"verdict": Verdict.REFUTED.value, "point": point})


def certificate_text(certificate: Mapping[str, Any]) -> str:
    """The certificate as a file: the same bytes for the same certificate."""
    return json.dumps(certificate, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def digest(certificate: Mapping[str, Any]) -> str:
    """The SHA-256 of everything but the digest itself."""
    body = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _sealed(claim: Claim, content: Mapping[str, Any]) -> dict[str, Any]:
    certificate: dict[str, Any] = {"format": FORMAT, "statement": claim.statement(), **content}
    certificate["digest"] = digest(certificate)
    return certificate
