"""`python -m certify select`: run a selection algorithm on the scores of an instance file, with fresh private noise."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.exit_status import ExitStatus
from certify.instance_file import InputProblem, InstanceError, printable, read_instance_file
from certify.report.output_file import problem_with, write_atomically
from certify.report.page import Output, OutputError
from certify.selection.accountant import Accountant
from certify.selection.binary_search import binary_search
from certify.selection.bits import BitSource, SeededBits, SystemBits
from certify.selection.geometric_search import ALPHA_FACTOR, default_rounds, geometric_search
from certify.selection.instance import parse_selection_instance
from certify.selection.instance_model import SelectionInstance, SelectionSpec
from certify.selection.linear_scan import linear_scan
from certify.selection.oracle import Usage
from certify.selection.sampling_filtering import bernoulli_sampler, sampling_filtering
from certify.selection.scores import ScoreTable
from certify.selection.statements import STATEMENT_IDS
from certify.selection.svt import SvtOracle

SCHEMA = "certify-select/1"
MAX_QUERIES = 10**9
MAX_SEED = 2**64
DECIMALS = 6
"""Figures of an interval's ends behind the point, for scores as large as n."""

NUMBERS = {
    "binary-search": "Algorithm 6",
    "linear-scan": "Algorithm 7",
    "geometric-binary-search": "Algorithm 8",
    "sampling-filtering": "Algorithm 9",
    "sum-estimate": "Corollary 6.8",
}


@dataclass(frozen=True, slots=True)
class Selected:
    """What one run gave away: the candidate (counted from 0), the interval that the algorithm ended with, if it has
    one, and what it used."""

    index: int
    interval: Enclosure | None
    usage: Usage
    budget: fmpq
    bits: BitSource


def add_verb(subparsers: Any) -> None:
    """Add `select` to what `ArgumentParser.add_subparsers` returned; `settings.run(settings)` carries it out."""
    parser = subparsers.add_parser(
        "select",
        help="run a selection algorithm on real scores",
        description="Choose a candidate whose score is about the greatest, with differential privacy.",
        allow_abbrev=False,
    )
    _add_arguments(parser)
    parser.set_defaults(run=run)


def main(arguments: Sequence[str]) -> ExitStatus:
    """Carry out the command line behind the word `select`. Raises SystemExit where argparse does."""
    parser = argparse.ArgumentParser(
        prog="certify select",
        description="Choose a candidate whose score is about the greatest, with differential privacy.",
        allow_abbrev=False,
    )
    _add_arguments(parser)
    return run(parser.parse_args(arguments))


def run(settings: argparse.Namespace) -> ExitStatus:
    """Exit status 0 when the algorithm ran, 2 for bad input, which is complained of on standard error."""
    try:
        instance, spec = _prepare(settings)
        selected = select(instance, spec, None if settings.seed is None else SeededBits(settings.seed))
        Output(sys.stdout).write(_text(settings.instance, instance, spec, selected))
        if settings.json is not None:
            write_atomically(settings.json, json.dumps(_document(spec, selected), indent=2) + "\n")
    except (InstanceError, OutputError) as error:
        return _complain(str(error))
    except OSError as error:
        name = printable(settings.json)
        return _complain(f'--json: "{name}" cannot be written ({error.strerror}): give another path')
    return ExitStatus.PROVED


def select(instance: SelectionInstance, spec: SelectionSpec, bits: BitSource | None = None) -> Selected:
    """One run of the instance's algorithm, its whole budget with one accountant; bits are the system's by default."""
    assert instance.level.epsilon is not None and instance.beta is not None
    epsilon, beta, n, d = instance.level.epsilon, instance.beta, spec.n, len(spec.scores.sums)
    bits = bits or SystemBits()
    accountant = Accountant(epsilon)
    oracle = SvtOracle(ScoreTable(spec.scores.sums), accountant, bits)
    interval = None
    match spec.algorithm:
        case "binary-search":
            searched = binary_search(oracle, d, n, epsilon, beta)
            index, usage = searched.index, searched.usage
        case "linear-scan":
            scanned = linear_scan(oracle, d, n, 0, epsilon)
            index, usage = scanned.index, scanned.usage
        case "sampling-filtering":
            filtered = sampling_filtering(oracle, d, n, epsilon, beta, sampler=bernoulli_sampler(bits))
            index, usage = filtered.index, filtered.usage
            interval = Enclosure(filtered.final.lower, filtered.final.upper)
        case _:
            rounds = spec.rounds or default_rounds(n)
            factor = fmpq(ALPHA_FACTOR) if spec.alpha_factor is None else spec.alpha_factor
            found = geometric_search(oracle, range(d), (0, n), 0, rounds, epsilon, beta, factor)
            index, usage, interval = found.index, found.usage, Enclosure(found.lower, found.upper)
    return Selected(index, interval, usage, epsilon, bits)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instance", metavar="INSTANCE", help="an instance file (JSON) with the field selection")
    parser.add_argument("--json", metavar="FILE", help="write the result there as well")
    parser.add_argument(
        "--seed", metavar="INTEGER", type=_seed, help="take the bits from this seed: reproducible, and NOT private"
    )


def _seed(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < MAX_SEED:
        return int(text)
    raise argparse.ArgumentTypeError(f"write an integer from 0 to 2^64 - 1, not {printable(text[:60])!r}")


def _prepare(settings: argparse.Namespace) -> tuple[SelectionInstance, SelectionSpec]:
    """Raises InstanceError with everything that is wrong."""
    problems = []
    if settings.json is not None and (problem := problem_with(settings.json, [settings.instance])):
        problems.append(InputProblem("--json", f'"{printable(settings.json)}" {problem}'))
    try:
        tree = read_instance_file(settings.instance)
        instance = parse_selection_instance(tree, STATEMENT_IDS)
    except InstanceError as error:
        raise InstanceError([*problems, *error.problems], settings.instance) from None
    spec = instance.kind
    if isinstance(spec, SelectionSpec):
        problems += _refusals(instance, spec)
    else:
        problems.append(InputProblem("$", "has nothing to select: give the field selection"))
    if problems or not isinstance(spec, SelectionSpec):
        raise InstanceError(problems, settings.instance)
    return instance, spec


def _refusals(instance: SelectionInstance, spec: SelectionSpec) -> list[InputProblem]:
    """What an algorithm cannot run on, though it is an instance."""
    problems = []
    if spec.algorithm == "sampling-filtering":
        if instance.level.epsilon is not None and instance.level.epsilon > 1:
            problems.append(InputProblem("$.epsilon", "is above 1: sampling-filtering needs at most 1"))
        if spec.n < 2:
            problems.append(InputProblem("$.selection.n", "is 1: sampling-filtering needs at least 2 users"))
    if spec.algorithm == "linear-scan" and len(spec.scores.sums) * (spec.n + 1) > MAX_QUERIES:
        message = f"needs more than {MAX_QUERIES:,} queries of linear-scan: choose geometric-binary-search"
        problems.append(InputProblem("$.selection.n", message))
    return problems


def _text(path: str, instance: SelectionInstance, spec: SelectionSpec, selected: Selected) -> str:
    clipped = f", {spec.scores.clipped:,} values clipped to [0,1]" if spec.scores.clipped else ""
    private = "" if selected.bits.private else ": this run protects nobody"
    facts = [
        ("instance", printable(path)),
        ("algorithm", f"{spec.algorithm} ({NUMBERS[spec.algorithm]}), ε = {instance.level.text}, β = {instance.beta}"),
        ("candidates", f"{len(spec.scores.sums):,} with scores in [0, {spec.n}]{clipped}"),
        ("chosen", f"candidate {selected.index + 1} (the first is 1)"),
    ]
    if selected.interval is not None:
        ends = _ends(spec, selected.interval)
        facts.append(("interval", f"[{ends['lower']}, {ends['upper']}]"))
    facts += [
        ("used", f"{selected.usage.queries:,} queries, {selected.usage.streams:,} streams"),
        ("budget", f"ε = {selected.usage.epsilon} of {selected.budget}"),
        ("randomness", f"{selected.bits.description}{private}"),
    ]
    width = max(len(label) for label, _ in facts)
    return "".join(f"{label:<{width}}  {value}\n" for label, value in facts)


def _document(spec: SelectionSpec, selected: Selected) -> dict[str, Any]:
    """The result for `--json`: the index counts from 1, as in the paper; the interval's ends are rounded outward."""
    return {
        "schema": SCHEMA,
        "algorithm": spec.algorithm,
        "index": selected.index + 1,
        "interval": None if selected.interval is None else _ends(spec, selected.interval),
        "queries": selected.usage.queries,
        "streams": selected.usage.streams,
        "epsilon_used": str(selected.usage.epsilon),
        "epsilon": str(selected.budget),
        "clipped": spec.scores.clipped,
        "randomness": selected.bits.description,
        "private": selected.bits.private,
    }


def _ends(spec: SelectionSpec, interval: Enclosure) -> dict[str, str]:
    return interval.decimals(len(str(spec.n)) + DECIMALS)


def _complain(text: str) -> ExitStatus:
    with suppress(OutputError):
        Output(sys.stderr).write(f"{text}\n")
    return ExitStatus.INVALID
