"""The command `python -m certify`: instances in, reports out, and the answer in the exit status."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from certify.arithmetic.expression import ExpressionError
from certify.arithmetic.rounding import RoundingModeError, check_rounding
from certify.arithmetic.scalar import Undefined, Undetermined
from certify.exit_status import ExitStatus
from certify.instance_file import InputProblem, InstanceError, printable, quoted, read_instance_file
from certify.instance_node import suggestion
from certify.release.check import CheckOptions
from certify.report.environment import this_environment
from certify.report.model import InstanceIdentity, Report, StatementVerdict, report_on
from certify.report.output_file import problem_with, write_atomically
from certify.report.page import Output, OutputError
from certify.report.progress import progress
from certify.theory import RELEASE, SELECTION, Theory, TheoryPlan, theory_of
from constants.ledger import Ledger, default_ledger

MAX_PRECISION_BITS = 2**20
MAX_PAIRS = 10**15

VERBS = ("check", "schema", "select", "universal", "claims", "export")
MAX_DIGITS = 20

EPILOG = """\
verbs:
  check              check instances (the default: the word may be left out)
  universal          prove the papers' claims for all parameters
  claims             prove the inequalities of a claims file (TOML)
  export             write claims and reports as Coq lemmas
  select             run a selection algorithm of the second paper on real scores
  schema             print the JSON Schema of instance files

exit status:
  0    every applicable statement is proved
  1    a statement is refuted
  2    bad input or usage (found before any checking, for all instances at
       once), or an output that cannot be written
  3    nothing is refuted, but something is undecided
  70   out of memory, or a fault of this program (CERTIFY_DEBUG=1 shows the
       traceback)
  130  interrupted
Over several instances the gravest verdict counts: refuted, undecided, proved.
"""


class InvalidInput(Exception):
    """Everything wrong with the command line and the files, an InstanceError for each of them."""

    def __init__(self, errors: Iterable[InstanceError]) -> None:
        self.errors = tuple(errors)
        super().__init__(*self.errors)


def run(arguments: Sequence[str]) -> ExitStatus:
    """Carry out a command line. Raises SystemExit where argparse does, for usage, --help and --version."""
    output = Output(sys.stdout)
    verb, rest = ("check", arguments)
    if arguments and arguments[0] in VERBS:
        verb, rest = arguments[0], arguments[1:]
    try:
        return _carry_out(verb, rest, output)
    except InvalidInput as invalid:
        _complain("\n".join(str(error) for error in invalid.errors))
    except InstanceError as invalid_file:  # of the verbs that read other files
        _complain(str(invalid_file))
    except (OutputError, RoundingModeError) as error:
        _complain(f"error: {error}")
    return ExitStatus.INVALID


def _carry_out(verb: str, arguments: Sequence[str], output: Output) -> ExitStatus:
    """One verb; the modules of the less common ones are imported when they are asked for."""
    match verb:
        case "schema":
            return _schema(arguments, output)
        case "select":
            from certify.selection.select_command import main as select

            return ExitStatus(select(arguments))
        case "universal" | "claims" | "export":
            from certify.claims import command as claims

            verbs = {"universal": claims.run_universal, "claims": claims.run_claims, "export": claims.run_export}
            return verbs[verb](arguments, output)
        case _:
            return _check(arguments, output)


def _complain(text: str) -> None:
    with suppress(OutputError):
        Output(sys.stderr).write(f"{text}\n")


# verbs


def _schema(arguments: Sequence[str], output: Output) -> ExitStatus:
    parser = argparse.ArgumentParser(
        prog="certify schema", description="Print the JSON Schema of instance files.", allow_abbrev=False
    )
    parser.parse_args(arguments)
    from certify.schema import instance_schema

    output.write(json.dumps(instance_schema(), ensure_ascii=False, indent=2) + "\n")
    return ExitStatus.PROVED


def _check(arguments: Sequence[str], output: Output) -> ExitStatus:
    settings = _parser().parse_args(arguments)
    check_rounding()
    waiting = deque(_prepare_all(settings))
    reports = []
    while waiting:  # a problem is let go as soon as it is checked
        prepared = waiting.popleft()
        output.write(_heading(prepared, output, quiet=settings.quiet, alone=len(settings.instances) == 1))
        reports.append(_check_one(prepared, output, quiet=settings.quiet))
    if settings.json is not None:
        _write_json(settings.json, reports)
    summaries = [report.summary for report in reports]
    if len(summaries) > 1:
        from certify.report.text import overall_text

        output.write(overall_text(summaries, output.page))
    verdicts = {summary.verdict for summary in summaries}
    if StatementVerdict.REFUTED in verdicts:
        return ExitStatus.REFUTED
    return ExitStatus.UNDECIDED if StatementVerdict.UNDECIDED in verdicts else ExitStatus.PROVED


# from the command line to problems that can be checked


@dataclass(frozen=True, slots=True)
class _Copy:
    """A ledger from a file, with its path and what is said of it in reports."""

    path: str
    ledger: Ledger
    description: str

    def without_value(self, error: Exception) -> InstanceError:
        """The constants leave a statement without a value."""
        message = f"with these constants a statement has no value ({error}): choose others"
        return InstanceError([InputProblem("$", message)], self.path)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An instance that will be checked; `ledger` is None for the shipped one."""

    identity: InstanceIdentity
    theory: Theory
    problem: Any
    plan: TheoryPlan
    options: CheckOptions
    ledger: _Copy | None


def _prepare_all(settings: argparse.Namespace) -> list[_Prepared]:
    """Every instance, read and planned. Raises InvalidInput with all that is wrong with any of them."""
    options, problems = _options(settings)
    errors = [InstanceError(problems, "command line")] if problems else []
    ledger = None
    if settings.ledger is not None:
        try:
            ledger = _copy(settings.ledger)
        except InstanceError as error:
            errors.append(error)
    prepared = []
    for path in settings.instances:
        try:
            prepared.append(_prepare(path, options, ledger))
        except InstanceError as error:
            errors.append(error)
    if errors:
        raise InvalidInput(errors)
    return prepared


def _options(settings: argparse.Namespace) -> tuple[CheckOptions, list[InputProblem]]:
    """The options, and everything wrong with them: then the defaults stand in, so that reading can go on."""
    problems: list[InputProblem] = []
    default = CheckOptions()
    least = default.precision
    precision = _integer("--precision", settings.precision, default.precision, least, MAX_PRECISION_BITS, problems)
    most = _integer(
        "--max-precision", settings.max_precision, default.max_precision, least, MAX_PRECISION_BITS, problems
    )
    pairs = _integer("--max-pairs", settings.max_pairs, default.max_pairs, 1, MAX_PAIRS, problems)
    if precision > most:
        problems.append(InputProblem("--precision", f"{precision} is above --max-precision {most}: raise that as well"))
    statements = None
    if settings.statements is not None:
        statements = tuple(dict.fromkeys(settings.statements.split(",")))
    unknown = [name for name in statements or () if not any(name in t.statement_ids() for t in (RELEASE, SELECTION))]
    for name in unknown:
        known = [*RELEASE.statement_ids(), *SELECTION.statement_ids()]
        message = f"{quoted(name)} is not the id of a statement: {suggestion(name, known)}"
        problems.append(InputProblem("--statements", message))
    if unknown:
        statements = None
    if settings.json is not None and (problem := _problem_with_json(settings)):
        problems.append(InputProblem("--json", f"{quoted(settings.json)} {problem}"))
    return CheckOptions(statements, precision, most, pairs, closed_forms=settings.json is not None), problems


def _problem_with_json(settings: argparse.Namespace) -> str | None:
    if settings.ledger is not None and os.path.realpath(settings.json) == os.path.realpath(settings.ledger):
        return "is the ledger: give the report another path"
    return problem_with(settings.json, settings.instances)


def _integer(option: str, text: str | None, default: int, least: int, most: int, problems: list[InputProblem]) -> int:
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and least <= int(text) <= most:
        return int(text)
    problems.append(InputProblem(option, f"{quoted(text)} is not an integer from {least:,} to {most:,}: write one"))
    return default


def _copy(path: str) -> _Copy:
    """A ledger from a file. Raises InstanceError."""
    from constants.difference import described
    from constants.ledger_file import read_ledger

    text, ledger = read_ledger(path)
    return _Copy(path, ledger, described(path, text, ledger, default_ledger()))


def _prepare(path: str, options: CheckOptions, ledger: _Copy | None) -> _Prepared:
    """Raises InstanceError for an instance that is wrong, cannot be decided or is too large."""
    tree = read_instance_file(path)
    theory = theory_of(tree)
    constants = default_ledger() if ledger is None else ledger.ledger
    instance = theory.parse(tree, constants)
    options = _options_for(theory, options, path)
    try:
        problem = theory.prepare(instance, constants)
        plan = theory.plan(problem, options)
    except Undetermined as error:
        message = f"{error}: write exact numbers, or change the parameters slightly"
        raise InstanceError([InputProblem("$", message)], path) from None
    except (Undefined, ExpressionError) as error:
        if ledger is None:
            raise
        raise ledger.without_value(error) from None
    if plan.refusal is not None:
        raise InstanceError([InputProblem("$", plan.refusal)], path)
    identity = InstanceIdentity(_readable(path), tree.sha256, theory.name)
    return _Prepared(identity, theory, problem, plan, options, ledger)


def _options_for(theory: Theory, options: CheckOptions, path: str) -> CheckOptions:
    """The options with the statements of one theory alone. Raises InstanceError where none of them is of it."""
    if options.statements is None:
        return options
    known = set(theory.statement_ids())
    chosen = tuple(name for name in options.statements if name in known)
    if not chosen:
        message = f"none of the statements asked for is of the theory {quoted(theory.name)}: name some that are"
        raise InstanceError([InputProblem("--statements", message)], path)
    return replace(options, statements=chosen)


def _readable(path: str) -> str:
    """A path as text that can be written as UTF-8; bytes of its name that are not become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# checking


def _heading(prepared: _Prepared, output: Output, *, quiet: bool, alone: bool) -> str:
    """What will be checked; when quiet, only which instance it is, where there are several."""
    from certify.report.text import heading

    facts = prepared.theory.facts(prepared.identity, prepared.problem, prepared.plan, prepared.options)
    ledger = [] if prepared.ledger is None else [("ledger", prepared.ledger.description)]
    if quiet:
        shown = ledger if alone else [facts[0], *ledger]
        return heading(shown, output.page) if shown else ""
    return heading([*facts, *ledger, ("versions", str(this_environment()))], output.page)


def _check_one(prepared: _Prepared, output: Output, *, quiet: bool) -> Report:
    from certify.report.text import report_text

    with progress(printable(prepared.identity.path), sys.stderr, quiet=quiet) as advance:
        try:
            result = prepared.theory.check(prepared.problem, prepared.options, advance)
        except (Undefined, ExpressionError) as error:
            if prepared.ledger is None:
                raise
            raise InvalidInput([prepared.ledger.without_value(error)]) from None
    quantities = result.quantities
    if prepared.ledger is not None:
        quantities = {**quantities, "ledger": prepared.ledger.description}
    report = report_on(prepared.identity, this_environment(), quantities, result.outcomes)
    output.write(report_text(report, output.page, quiet=quiet))
    return report


def _write_json(path: str, reports: Sequence[Report]) -> None:
    from certify.report.json_report import json_text

    try:
        write_atomically(path, json_text(reports))
    except OSError as error:
        message = f"{quoted(path)} cannot be written ({error.strerror}): give another path"
        raise InvalidInput([InstanceError([InputProblem("--json", message)], "command line")]) from None


# the command line


def _parser() -> argparse.ArgumentParser:
    default = CheckOptions()
    parser = argparse.ArgumentParser(
        prog="certify",
        description="Decide every inequality of the paper on the instances given, with certified arithmetic.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("instances", nargs="+", metavar="INSTANCE", help="an instance file (JSON)")
    add("--json", metavar="FILE", help="write the report there; for several instances, the list of their reports")
    add("--statements", metavar="ID[,ID...]", help="check these alone, whatever the instance's own list names")
    add(
        "--precision",
        metavar="BITS",
        help=f"53 starts in float64 with proved bounds, more starts in Arb (default: {default.precision})",
    )
    add(
        "--max-precision",
        metavar="BITS",
        help=f"where an undecided comparison gives up (default: {default.max_precision})",
    )
    add(
        "--max-pairs",
        metavar="COUNT",
        help=f"refuse instances with more (target, transcript) pairs (default: {default.max_pairs})",
    )
    add("--ledger", metavar="FILE", help="a copy of constants/ledger.toml, with other values of constants")
    add("--quiet", action="store_true", help="print only what failed, and the verdict")
    add("--version", action="version", version=str(this_environment()), help="print the versions and exit")
    return parser
