"""The verbs `search`, `check CERTIFICATE` and `export` of `python -m constants`."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence

from flint import fmpq

from certify.exit_status import ExitStatus
from certify.instance_file import InputProblem, InstanceError, printable
from certify.report.figures import plural
from certify.report.output_file import problem_with, write_atomically
from certify.report.page import Output
from constants.search.certificate import RungCertificate, certificate_text, read_certificate
from constants.search.chain import ClaimCheck, LemmaOpen, check_chain, prove_chain
from constants.search.estimate import Estimate, estimate
from constants.search.proof import NoProof
from constants.search.rung import RUNGS, Envelope, Histogram, Rung, Tuning

DIGITS = 4
"""Significant digits of a certified constant."""

ATTEMPTS = 8
"""Constants that are tried, each a unit of the last digit above the one before it."""

SECONDS = 60.0
MAX_REASON = 300


def search(arguments: Sequence[str], output: Output, progress: Callable[[str], None]) -> ExitStatus:
    """Look for the smallest constant of each rung, certify it for all parameters, and write the certificates.

    Raises InstanceError where a certificate cannot be written, and SystemExit where argparse does.
    """
    parser = argparse.ArgumentParser(
        prog="constants search",
        description="Minimise the constant of Theorem 1.1 over the free choices of a proof, and certify what is found.",
        allow_abbrev=False,
    )
    parser.add_argument("--rung", action="append", choices=list(RUNGS), help="this rung (again for more; default: all)")
    parser.add_argument("--time", type=_seconds, default=SECONDS, metavar="S", help="seconds of search a rung (60)")
    parser.add_argument("--output", default=".", metavar="DIR", help="where the certificates go (default: here)")
    settings = parser.parse_args(arguments)
    rungs = [RUNGS[name] for name in settings.rung or RUNGS]
    paths = [os.path.join(settings.output, f"rung-{rung.name}.json") for rung in rungs]
    problems = [InputProblem("--output", printable(problem)) for path in paths if (problem := problem_with(path, ()))]
    if problems:
        raise InstanceError(problems, "command line")
    uncertified = 0
    for rung, path in zip(rungs, paths, strict=True):
        progress(f"rung {rung.name}: searching")
        found = estimate(rung, settings.time)
        output.write(_estimate_text(rung, found))
        certificate = _certified(rung, found, progress)
        if isinstance(certificate, str):
            output.write(f"  not certified  {certificate}\n")
            uncertified += 1
            continue
        try:
            write_atomically(path, certificate_text(certificate))
        except OSError as error:
            message = f"cannot be written ({error.strerror}): give another directory"
            raise InstanceError([InputProblem("--output", message)], "command line") from None
        output.write(f"  certified      {_statement(certificate.tuning)}\n")
        output.write(f"                 {len(certificate.claims)} claims, in {printable(path)}\n")
    count = len(rungs) - uncertified
    output.write(f"certified: {count} of {len(rungs)} constants\n")
    return ExitStatus.UNDECIDED if uncertified else ExitStatus.PROVED


def check_certificate(path: str, output: Output) -> ExitStatus:
    """Decide again, without any search, every claim that the constant of a certificate rests on.

    Raises InstanceError where the file is no certificate of a rung.
    """
    certificate = read_certificate(path)
    results = check_chain(certificate)
    idle = _idle(certificate, results)
    width = max(len(result.claim.id) for result in results)
    for result in results:
        verdict = "accepted" if not result.reason else "REJECTED"
        shown = printable(result.reason[:MAX_REASON]) or result.claim.title
        output.write(f"{verdict}  {result.claim.id:<{width}}  {shown}\n")
    for key in idle:
        output.write(f"REJECTED  {key:<{width}}  C does not rest on such a claim\n")
    rejected = len(idle) + sum(1 for result in results if result.reason)
    if rejected:
        output.write(f"rejected: {rejected} of {len(idle) + len(results)} claims, so nothing is shown about C\n")
        return ExitStatus.REFUTED
    output.write(f"accepted: all {len(results)} claims; with the proofs in BETTER_CONSTANT.md,\n")
    output.write(f"{_statement(certificate.tuning)}\n")
    return ExitStatus.PROVED


def export_certificate(arguments: Sequence[str], output: Output) -> ExitStatus:
    """Write the claims that the constant of a certificate rests on as Coq lemmas, after checking them.

    Nothing is written where one is rejected. Raises InstanceError where the file is no certificate of a rung or the
    Coq file cannot be written, and SystemExit where argparse does.
    """
    parser = argparse.ArgumentParser(
        prog="constants export",
        description="Write the claims that a smaller constant rests on as lemmas for Coq's kernel.",
        allow_abbrev=False,
    )
    parser.add_argument("--coq", required=True, metavar="FILE.v", help="the Coq file to write")
    parser.add_argument("certificate", metavar="CERTIFICATE", help="a file of search")
    settings = parser.parse_args(arguments)
    if problem := problem_with(settings.coq, [settings.certificate]):
        raise InstanceError([InputProblem("--coq", printable(problem))], "command line")
    certificate = read_certificate(settings.certificate)
    results = check_chain(certificate)
    rejected = [(result.claim.id, result.reason) for result in results if result.reason]
    rejected += [(key, "C does not rest on such a claim") for key in _idle(certificate, results)]
    if rejected:
        for name, reason in rejected:
            output.write(f"REJECTED  {name}  {printable(reason[:MAX_REASON])}\n")
        output.write(f"rejected: {plural(len(rejected), 'claim', 'claims')}, so nothing is exported\n")
        return ExitStatus.REFUTED
    from constants.search.coq_export import export_chain

    exported = export_chain(certificate, results)
    try:
        write_atomically(settings.coq, exported.text)
    except OSError as error:
        message = f"cannot be written ({error.strerror}): give another path"
        raise InstanceError([InputProblem("--coq", message)], "command line") from None
    output.write(f"{printable(settings.coq)}: {len(exported.lemmas)} lemmas of {len(results)} claims\n")
    for name, reason in exported.left_out.items():
        output.write(f"  left out {printable(name)}: {printable(reason)}\n")
    return ExitStatus.PROVED


def _idle(certificate: RungCertificate, results: Sequence[ClaimCheck]) -> list[str]:
    """Ids in a certificate that its constant does not rest on."""
    needed = {result.claim.id for result in results}
    return [printable(key[:MAX_REASON]) for key in certificate.claims if key not in needed]


def _certified(rung: Rung, found: Estimate, progress: Callable[[str], None]) -> RungCertificate | str:
    """The certificate with the least constant of `DIGITS` digits that is proved, or why none is."""
    if not math.isfinite(found.constant):
        return "the search found no choice for which (E) holds"
    scale = 10 ** (DIGITS - 1 - math.floor(math.log10(found.constant)))
    first = math.ceil(found.constant * scale)
    reason = ""
    for unit in range(ATTEMPTS):
        constant = fmpq(first + unit, scale)
        try:
            return prove_chain(Tuning(rung, constant, found.ranges), progress)
        except LemmaOpen as error:
            return str(error)
        except NoProof as error:
            reason = f"with C = {_decimal(constant)}: {error}"
    return reason


def _estimate_text(rung: Rung, found: Estimate) -> str:
    lines = [f"rung {rung.name}: {rung.title}", f"  estimate       C = {found.constant:.5f}"]
    shares = ", ".join(f"{name} {share:.1f} %" for name, share in found.shares if share >= 0.05)
    lines.append(f"  held back by   {', '.join(found.active)}{f' ({shares})' if shares else ''}")
    for each, following in zip(found.ranges, [*found.ranges[1:], None], strict=True):
        lines.append(f"  {_universes(each.first, following)}".ljust(17) + _choices(each))
    return "\n".join(lines) + "\n"


def _universes(first: int, following: Histogram | Envelope | None) -> str:
    if following is None:
        return f"T ≥ {first}"
    return f"T = {first}" if following.first == first + 1 else f"T = {first}..{following.first - 1}"


def _choices(each: Histogram | Envelope) -> str:
    if isinstance(each, Histogram):
        return "noisy histogram"
    return f"g = {_decimal(each.g)}, b = {_decimal(each.b)}, j = {_decimal(each.j)}"


def _statement(tuning: Tuning) -> str:
    return (
        f"for all T, k, n ≥ 1 and ε > 0 there is an ε-DP mechanism with expected error "
        f"at most {_decimal(tuning.constant)} min(1, τ)"
    )


def _decimal(value: fmpq) -> str:
    """The decimal expansion where it ends, as it does for what the search writes, else the fraction."""
    for places in range(13):
        scaled = value * 10**places
        if scaled.q == 1:
            text = f"{int(scaled.p):0{places + 1}d}"
            return text if places == 0 else f"{text[:-places]}.{text[-places:]}"
    return str(value)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError("a number of seconds above 0") from None
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError("a number of seconds above 0")
    return value
