"""The verbs `universal`, `claims` and `export` of the command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import certificate_text
from certify.claims.files import PAPERS, check_file, universal
from certify.claims.result import ClaimResult
from certify.claims.text import results_text
from certify.exit_status import ExitStatus
from certify.instance_file import InputProblem, InstanceError, printable
from certify.report.figures import plural
from certify.report.output_file import problem_with, write_atomically
from certify.report.page import Output
from certify.report.reported_inequalities import read_report
from constants.ledger import Ledger, default_ledger

Verb = Callable[[Sequence[str], Output], ExitStatus]


def run_universal(arguments: Sequence[str], output: Output) -> ExitStatus:
    """`certify universal`: the papers' own claims, for all values of their parameters.

    Raises InstanceError for bad input, and SystemExit where argparse does.
    """
    parser = _parser("universal", "Prove the inequalities between the papers' parameters for all their values.")
    parser.add_argument("--paper", choices=PAPERS, help="this paper alone")
    _add_options(parser)
    settings = parser.parse_args(arguments)
    _check_outputs([settings.certificates], [settings.ledger])
    ledger = _ledger(settings.ledger)
    papers = PAPERS if settings.paper is None else (settings.paper,)
    return _report([r for paper in papers for r in universal(ledger, paper)], settings, output)


def run_claims(arguments: Sequence[str], output: Output) -> ExitStatus:
    """`certify claims FILE ...`: the claims of the user's own files.

    Raises InstanceError for bad input, and SystemExit where argparse does.
    """
    parser = _parser("claims", "Decide the claims of TOML files for all values of their variables.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a claim file (TOML)")
    _add_options(parser)
    settings = parser.parse_args(arguments)
    _check_outputs([settings.certificates], [settings.ledger, *settings.files])
    ledger = _ledger(settings.ledger)
    return _report([r for path in settings.files for r in check_file(path, ledger)], settings, output)


def run_export(arguments: Sequence[str], output: Output) -> ExitStatus:
    """`certify export --coq FILE.v [FILE ...]`: proved claims and the closed inequalities of reports as lemmas for
    Coq's kernel.

    Raises InstanceError for bad input, and SystemExit where argparse does.
    """
    parser = _parser("export", "Write a Coq file of proved claims, the papers' own where no file is given.")
    parser.add_argument("--coq", required=True, metavar="FILE.v", help="the Coq file to write")
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="a claim file (TOML), or a report of `certify INSTANCE --json` (.json)"
    )
    parser.add_argument("--ledger", metavar="FILE", help="constants from there, for claims")
    settings = parser.parse_args(arguments)
    _check_outputs([settings.coq], [settings.ledger, *settings.files])
    ledger = _ledger(settings.ledger)
    reports, results = [], []
    for path in settings.files:
        if path.endswith(".json"):
            reports += read_report(path)
        else:
            results += check_file(path, ledger)
    if not settings.files:
        results = [r for paper in PAPERS for r in universal(ledger, paper)]
    from certify.claims.coq.export import export

    exported = export(results, reports)
    _write(settings.coq, exported.text)
    output.write(f"{printable(settings.coq)}: {len(exported.lemmas)} lemmas\n")
    for name, reason in exported.left_out.items():
        output.write(f"  left out {printable(name)}: {printable(reason)}\n")
    if reports:
        others = sum(sum(s.left_out.values()) for report in reports for s in report.statements)
        output.write(f"  {plural(others, 'case is', 'cases are')} left out, without closed formulas: see the file\n")
    return _status(results)


VERBS: Mapping[str, Verb] = MappingProxyType({"universal": run_universal, "claims": run_claims, "export": run_export})
"""Each verb with its part of the command: the arguments after it, and where to write."""


def _parser(verb: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"certify {verb}", description=description, allow_abbrev=False)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="FILE", help="constants from there")
    parser.add_argument("--certificates", metavar="FILE", help="write all certificates there (JSON)")
    parser.add_argument("--quiet", action="store_true", help="print only what is not as expected")


def _ledger(path: str | None) -> Ledger:
    if path is None:
        return default_ledger()
    from constants.ledger_file import read_ledger

    return read_ledger(path)[1]


def _check_outputs(paths: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    given = [path for path in inputs if path is not None]
    for path in paths:
        if path is not None and (problem := problem_with(path, given)):
            raise InstanceError([InputProblem(path, printable(problem))], "command line")


def _write(path: str, text: str) -> None:
    try:
        write_atomically(path, text)
    except OSError as error:
        message = f"cannot be written ({error.strerror}): give another path"
        raise InstanceError([InputProblem(printable(path), message)], "command line") from None


def _report(results: Sequence[ClaimResult], settings: argparse.Namespace, output: Output) -> ExitStatus:
    output.write(results_text(results, quiet=settings.quiet))
    if settings.certificates is not None:
        certificates = {r.claim.id: r.certificate for r in results if r.certificate is not None}
        _write(settings.certificates, certificate_text(certificates))
    return _status(results)


def _status(results: Sequence[ClaimResult]) -> ExitStatus:
    """REFUTED when a claim came out otherwise than its file expects, UNDECIDED when one is open."""
    unexpected = [result for result in results if not result.as_expected]
    if any(result.verdict is not Verdict.UNDECIDED for result in unexpected):
        return ExitStatus.REFUTED
    return ExitStatus.UNDECIDED if unexpected else ExitStatus.PROVED
