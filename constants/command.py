"""The command `python -m constants`: the ledger as a table, its check, and the recorded enclosures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from certify.arithmetic.verdict import Verdict
from certify.exit_status import ExitStatus
from certify.instance_file import InputProblem, InstanceError, quoted
from certify.report.environment import this_environment
from certify.report.output_file import problem_with, write_atomically
from certify.report.page import Output, OutputError
from constants.golden import GOLDEN, golden_text, provenance, read_golden
from constants.ledger import Ledger, default_ledger
from constants.ledger_file import read_ledger

VERBS = ("table", "check", "golden", "search", "export")

EPILOG = """\
verbs:
  table              print every constant (the default: the word may be left out)
  check              prove every relation again, compare every enclosure with
                     golden.json, and decide what a changed constant carries away
  check CERTIFICATE  decide again every claim that a smaller constant of
                     Theorem 1.1 rests on, as a file of search shows it
  golden             write golden.json anew, after a change that is meant
  search             look for smaller constants of Theorem 1.1 from the same
                     construction, certify them, and write the certificates
  export CERTIFICATE write the claims of such a file as lemmas for Coq's kernel

exit status of check:
  0    every relation is proved, and either nothing changed or every dependent
       statement is proved for all parameters
  1    a relation, an instance or a universal claim is refuted, or the shipped
       ledger is not as recorded
  2    bad input or usage, or an output that cannot be written
  3    nothing is refuted, but something is undecided
  70   a fault of this program (CERTIFY_DEBUG=1 shows the traceback)
  130  interrupted
"""

_STATUS = {
    Verdict.PROVED: ExitStatus.PROVED,
    Verdict.REFUTED: ExitStatus.REFUTED,
    Verdict.UNDECIDED: ExitStatus.UNDECIDED,
}


def run(arguments: Sequence[str]) -> ExitStatus:
    """Carry out a command line. Raises SystemExit where argparse does, for usage and --help."""
    verb, rest = ("table", arguments)
    if arguments and arguments[0] in VERBS:
        verb, rest = arguments[0], arguments[1:]
    output = Output(sys.stdout)
    try:
        match verb:
            case "check":
                return _check(rest, output)
            case "golden":
                return _golden(rest, output)
            case "search":
                from constants.search.command import search

                return search(rest, output, _progress)
            case "export":
                from constants.search.command import export_certificate

                return export_certificate(rest, output)
        return _table(rest, output)
    except InstanceError as error:
        _complain(str(error))
    except OutputError as error:
        _complain(f"error: {error}")
    return ExitStatus.INVALID


def _table(arguments: Sequence[str], output: Output) -> ExitStatus:
    parser = _parser("constants", "Print every constant of the papers: exact value, certified decimals, slack, uses.")
    parser.epilog = EPILOG
    parser.add_argument("--json", metavar="FILE", help="write the ledger with all relations there as well")
    settings = parser.parse_args(arguments)
    ledger = _ledger(settings.ledger)
    if settings.json is not None:
        from constants.ledger_json import ledger_json

        _write(settings.json, ledger_json(ledger, this_environment()), "--json", settings.ledger)
    from constants.table import ledger_text

    output.write(ledger_text(ledger, output.page))
    return ExitStatus.PROVED


def _check(arguments: Sequence[str], output: Output) -> ExitStatus:
    parser = _parser("constants check", "Prove every relation again and compare with golden.json.")
    parser.add_argument("certificate", nargs="?", metavar="CERTIFICATE", help="check this file of search instead")
    settings = parser.parse_args(arguments)
    if settings.certificate is not None:
        if settings.ledger is not None:
            parser.error("a certificate has its own numbers: give it or --ledger, not both")
        from constants.search.command import check_certificate

        return check_certificate(settings.certificate, output)
    ledger = _ledger(settings.ledger)
    text = _recorded()
    records = read_golden(text)
    from constants.regression import check
    from constants.table import check_text

    result = check(ledger, records, shipped=settings.ledger is None, progress=_progress)
    output.write(check_text(result, provenance(text), output.page))
    return _STATUS[result.verdict]


def _golden(arguments: Sequence[str], output: Output) -> ExitStatus:
    parser = _parser("constants golden", "Write golden.json anew from the ledger.")
    parser.add_argument("--output", metavar="FILE", default=str(GOLDEN), help="(default: golden.json of the package)")
    settings = parser.parse_args(arguments)
    date = datetime.now(UTC).date().isoformat()
    _write(
        settings.output, golden_text(_ledger(settings.ledger), this_environment(), date), "--output", settings.ledger
    )
    output.write(f"wrote {settings.output}\n")
    return ExitStatus.PROVED


def _parser(program: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--ledger", metavar="FILE", help="a copy of the ledger, with other values")
    return parser


def _ledger(path: str | None) -> Ledger:
    return default_ledger() if path is None else read_ledger(path)[1]


def _recorded() -> str:
    try:
        return GOLDEN.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        message = "cannot be read: write it anew with python -m constants golden"
        raise InstanceError([InputProblem("$", message)], GOLDEN.name) from None


def _write(path: str, text: str, option: str, ledger: str | None) -> None:
    problem = problem_with(path, ())
    if ledger is not None and os.path.realpath(path) == os.path.realpath(ledger):
        problem = "is the ledger itself: give another path"
    if problem is None:
        try:
            write_atomically(path, text)
            return
        except OSError as error:
            problem = f"cannot be written ({error.strerror}): give another path"
    raise InstanceError([InputProblem(option, f"{quoted(path)} {problem}")], "command line")


def _progress(step: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        Output(sys.stderr).write(f"{step} …\n")


def _complain(text: str) -> None:
    with suppress(OutputError):
        Output(sys.stderr).write(f"{text}\n")
