"""Claim files: read one, decide its claims; and the two papers' own."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from certify.claims.claim import Claim
from certify.claims.claim_file import MAX_FILE_CHARACTERS, parse_claims
from certify.claims.result import ClaimResult, decide_claims
from certify.instance_file import InputProblem, InstanceError
from constants.ledger import Ledger

PAPERS = ("release", "selection")


def read_claims(path: str | os.PathLike[str], ledger: Ledger) -> tuple[Claim, ...]:
    """The claims of a TOML file. Raises InstanceError when it cannot be read or anything in it is wrong."""
    source = os.fspath(path)
    try:
        if not Path(source).is_file():
            raise OSError(0, "it is no file")
        with open(source, encoding="utf-8", newline="") as file:
            text = file.read(MAX_FILE_CHARACTERS + 1)
    except UnicodeDecodeError:
        raise InstanceError([InputProblem("$", "is not UTF-8 text: save it as UTF-8")], source) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        message = f"cannot be read ({reason}): give the path of a claim file"
        raise InstanceError([InputProblem("$", message)], source) from None
    return parse_claims(text, ledger, source)


def check_file(path: str | os.PathLike[str], ledger: Ledger) -> list[ClaimResult]:
    """Every claim of a file decided, in its order; a later one may cite those proved before it.

    Raises InstanceError as `read_claims` does.
    """
    return decide_claims(read_claims(path, ledger))


def paper_claims(paper: str, ledger: Ledger) -> tuple[Claim, ...]:
    """The claims of a paper, `release` or `selection`, with the constants of the ledger."""
    text = files(f"certify.{paper}").joinpath("claims.toml").read_text(encoding="utf-8")
    return parse_claims(text, ledger, f"{paper}/claims.toml")


def universal(ledger: Ledger, paper: str) -> list[ClaimResult]:
    """The claims of a paper decided: its inequalities between parameters, for all their values."""
    return decide_claims(paper_claims(paper, ledger))
