"""The universal claims of the papers, decided under any ledger."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from certify.arithmetic.expression import ExpressionError
from certify.arithmetic.verdict import Verdict
from certify.claims.claim import Claim
from certify.claims.claim_file import parse_claims
from certify.claims.result import ClaimResult, decide_claim
from certify.instance_file import InstanceError
from constants.ledger import Ledger

FILES = {"release": ("certify.release", "claims.toml"), "selection": ("certify.selection", "claims.toml")}


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on one claim for all values of its parameters; `reason` is the counterexample where refuted."""

    id: str
    constants: tuple[str, ...]
    verdict: Verdict
    reason: str


def statement_of(claim_id: str, statements: Collection[str]) -> str:
    """The statement that a claim is a part of: `lemma-7.1.large` belongs to `lemma-7.1`; else its own id."""
    parts = claim_id.split(".")
    for length in range(len(parts), 0, -1):
        candidate = ".".join(parts[:length])
        if candidate in statements:
            return candidate
    return claim_id


def is_misprint(statement: str) -> bool:
    """Whether the statement is what a paper prints where that is wrong, so that it is expected to be refuted."""
    return statement.endswith(".printed")


def check_claims(ledger: Ledger, changed: Collection[str]) -> list[ClaimVerdict]:
    """The claims that use a changed constant, decided with the ledger's values: those that are expected to hold,
    and misprints.

    A proof may cite earlier claims. Those that use no changed constant say what they say under the shipped
    ledger, and are taken as proved: `python -m certify claims` proves them.
    """
    verdicts: list[ClaimVerdict] = []
    for paper_id in dict.fromkeys(ledger[each].paper_id for each in changed):
        text = claims_text(paper_id)
        if text is None:
            continue
        try:
            claims = parse_claims(text, ledger, FILES[paper_id][1])
        except InstanceError as error:
            reason = "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
            verdicts.append(ClaimVerdict(f"claims of the {paper_id} paper", tuple(changed), Verdict.UNDECIDED, reason))
            continue
        proved: dict[str, Claim] = {}
        for claim in claims:
            is_expected = claim.expect == Verdict.PROVED.value
            if not is_expected and not is_misprint(claim.id):
                continue
            if set(claim.constants) & set(changed):
                verdicts.append(_decided(claim, proved))
                is_expected &= verdicts[-1].verdict is Verdict.PROVED
            if is_expected:
                proved[claim.id] = claim
    return verdicts


@cache
def claims_text(paper_id: str) -> str | None:
    """The text of a paper's claim file; None where there is none."""
    package, name = FILES.get(paper_id, ("", ""))
    file = resources.files(package).joinpath(name) if package else None
    return file.read_text(encoding="utf-8") if file is not None and file.is_file() else None


def _decided(claim: Claim, proved: Mapping[str, Claim]) -> ClaimVerdict:
    try:
        result = decide_claim(claim, proved)
    except ExpressionError as error:
        return ClaimVerdict(claim.id, claim.constants, Verdict.UNDECIDED, str(error))
    reason = _point(result) if result.verdict is Verdict.REFUTED else result.reason
    return ClaimVerdict(claim.id, claim.constants, result.verdict, reason)


def _point(result: ClaimResult) -> str:
    values = (result.point or {}).get("variables", {})
    shown = ", ".join(f"{name} = {value}" for name, value in values.items())
    return f"fails at {shown}" if shown else "its numbers are false"
