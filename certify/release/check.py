"""Checking one instance: what it would enumerate, whether that is allowed, and every statement decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flint import ctx, fmpq

from certify.arithmetic.broadcasting import unbuffered_broadcasting
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.precision import doubling
from certify.arithmetic.scalar import Undetermined
from certify.engine.decide_statement import (
    FLOAT_BITS,
    Precision,
    hypothesis_of,
    not_applicable,
    run_levels,
    undecided,
)
from certify.engine.statement import Outcome
from certify.release.instance import ReleaseInstance
from certify.release.measurements import EnvelopeMass
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.size import Plan, statement_pairs
from certify.release.statements import CATALOGUE
from certify.release.statements.base import ReleaseStatement
from certify.release.statements.section7 import expected_error
from constants.ledger import Ledger

Progress = Callable[[int, int], None]

FIRST_BALLS = 128
"""Bits of the first level in Arb."""

ESCALATION_PAIRS = 3_000_000
"""(target, transcript) pairs up to which an undecided statement is redone in Arb without being asked for."""

RELATIVE_WIDTH = fmpq(1, 10**9)
"""Z and the expected error are shown at least this tightly, in Arb where float64 does not reach it."""


@dataclass(frozen=True)
class CheckOptions:
    """``statements`` None means all of the instance's; ``precision`` 53 starts in float64, more starts in Arb."""

    statements: tuple[str, ...] | None = None
    precision: int = FLOAT_BITS
    max_precision: int = 4096
    max_pairs: int = 2_000_000_000


@dataclass(frozen=True)
class CheckResult:
    """Quantities by name (an enclosure, a count, or a text such as the branch) and one outcome a statement."""

    quantities: dict[str, Enclosure | int | str]
    outcomes: Sequence[Outcome]


def prepare(instance: ReleaseInstance, ledger: Ledger) -> ReleaseProblem:
    """The instance with its mechanism resolved.

    Raises `Undetermined` where a ceiling (J or B) or the branch of Theorem 1.1 cannot be decided.
    """
    return ReleaseProblem(instance, ledger)


def plan(problem: ReleaseProblem, options: CheckOptions) -> Plan:
    """What checking the problem enumerates, and a refusal where that is too much."""
    return Plan.of(problem, options.max_pairs)


def check(problem: ReleaseProblem, options: CheckOptions, progress: Progress | None = None) -> CheckResult:
    """Every requested statement decided, in the order of the catalogue."""
    with unbuffered_broadcasting():
        return _check(problem, options, progress)


def _check(problem: ReleaseProblem, options: CheckOptions, progress: Progress | None) -> CheckResult:
    wanted = options.statements or problem.instance.statements
    chosen = [s for s in CATALOGUE if wanted is None or s.id in wanted]
    outcomes: dict[str, Outcome] = {}
    applicable: list[ReleaseStatement] = []
    for statement in chosen:
        fails, unknown = hypothesis_of(statement, problem)
        if fails is not None:
            outcomes[statement.id] = not_applicable(type(statement), fails)
        elif unknown is not None:
            outcomes[statement.id] = undecided(type(statement), unknown)
        else:
            applicable.append(statement)
    keep: list[Evidence] = []

    def evidence_at(level: Precision, statements: list[Any]) -> Evidence:
        first = not keep
        extra = () if problem.zero_output or not first else (EnvelopeMass(),)
        evidence = problem.evidence_at(level, statements, progress if first else None, extra)
        keep.append(evidence)
        return evidence

    def out_of_reach(level: Precision, statement: Any) -> str | None:
        if statement.needs_codebooks and statement.about_transcripts and problem.code_words is None:
            return "the code families V_{x,R,m} that it ranges over are too many to form"
        pairs = statement_pairs(problem, statement)
        if pairs > options.max_pairs:
            return f"it ranges over {pairs:,} target-transcript pairs, more than --max-pairs {options.max_pairs:,}"
        if level.in_floats or options.precision > FLOAT_BITS or pairs <= ESCALATION_PAIRS:
            return None
        return f"redoing it in Arb ({pairs:,} target-transcript pairs) is left to --precision {FIRST_BALLS}"

    outcomes |= run_levels(applicable, _levels(options), evidence_at, out_of_reach, max_precision=options.max_precision)
    for level in _levels(options):
        if keep or not (level.in_floats or options.precision > FLOAT_BITS or _law_pairs(problem) <= ESCALATION_PAIRS):
            break
        with suppress(Undetermined):
            evidence_at(level, [])
    quantities = _quantities(problem, keep[0] if keep else None, options)
    return CheckResult(quantities, [outcomes[s.id] for s in chosen])


def _levels(options: CheckOptions) -> Iterator[Precision]:
    start = options.precision
    if start <= FLOAT_BITS:
        yield Precision(FLOAT_BITS)
        start = FIRST_BALLS
    for bits in doubling(min(start, options.max_precision), options.max_precision):
        yield Precision(bits)


def _quantities(
    problem: ReleaseProblem, evidence: Evidence | None, options: CheckOptions
) -> dict[str, Enclosure | int | str]:
    """All that can be told; without evidence (parameters that no precision tried could separate) no law."""
    p = problem.parameters
    quantities: dict[str, Enclosure | int | str] = {}
    if problem.zero_output:
        quantities["branch"] = "zero output"
        quantities["expected_error"] = _zero_error(problem)
    else:
        if evidence is not None:
            quantities |= _law_quantities(problem, evidence, options)
        quantities["J"] = p.rounds
        quantities["eta"] = problem.quantity(p.eta)
        quantities["gamma"] = problem.quantity(p.gamma)
        for name, evaluate in (("alpha_0", p.alpha_0), ("rho", p.rho), ("kappa", p.kappa)):
            quantities[name] = problem.quantity(evaluate)
        quantities["transcripts"] = problem.space.transcript_count
        quantities["transcript_classes"] = problem.space.class_count
        quantities["states"] = problem.graph.state_count
        if evidence is not None:
            quantities["arithmetic"] = evidence.arithmetic.name
    quantities["tau"] = problem.quantity(p.tau)
    quantities["L"] = problem.quantity(p.code_entropy)
    quantities["epsilon"] = problem.quantity(p.epsilon)
    quantities["B"] = p.block_width
    quantities["histograms"] = problem.domain.histogram_count
    return quantities


def _law_quantities(
    problem: ReleaseProblem, evidence: Evidence, options: CheckOptions
) -> dict[str, Enclosure | int | str]:
    """Z and the expected error of the instance's database, or the largest over all of them with its name."""
    found = _law(problem, evidence)
    if _law_pairs(problem) <= ESCALATION_PAIRS:
        for level in _levels(options):
            if not any(_is_wide(value) for value, _ in found.values()):
                break
            if level.bits > evidence.precision.bits:
                found = _law(problem, problem.evidence_at(level, [], None, (EnvelopeMass(),)))
    quantities: dict[str, Enclosure | int | str] = {}
    for name, (value, centre) in found.items():
        quantities[name] = value
        if problem.all_databases:
            counts = problem.domain.database(problem.centres[centre])
            quantities[f"{name}_database"] = ", ".join(f"{element}: {count}" for element, count in counts.items())
    return quantities


def _law_pairs(problem: ReleaseProblem) -> int:
    """(histogram, transcript class) pairs; 0 on the zero branch, which has no law to sweep."""
    return 0 if problem.zero_output else problem.domain.histogram_count * problem.space.class_count


def _law(problem: ReleaseProblem, evidence: Evidence) -> dict[str, tuple[Enclosure, int]]:
    centres = range(len(problem.centres))
    with ctx.workprec(max(FIRST_BALLS, evidence.precision.bits)):
        normalisers = [Enclosure.of(evidence.excess(EnvelopeMass(), (c,))) for c in centres]
        errors = [Enclosure.of(expected_error(evidence, c)) for c in centres]
    z_values = [Enclosure(_plus_one(e.lower, floor=True), _plus_one(e.upper, floor=False)) for e in normalisers]
    return {"Z": _largest(z_values), "expected_error": _largest(errors)}


def _plus_one(value: fmpq | None, *, floor: bool) -> fmpq | None:
    """``1 + excess``, the excess known to be at least 0."""
    if value is None:
        return fmpq(1) if floor else None
    return 1 + (max(value, fmpq(0)) if floor else value)


def _largest(values: list[Enclosure]) -> tuple[Enclosure, int]:
    """An enclosure of the largest of the numbers, and where the largest upper end is."""
    uppers = [value.upper for value in values]
    lowers = [value.lower for value in values if value.lower is not None]
    bounded = [upper for upper in uppers if upper is not None]
    index = uppers.index(None) if len(bounded) < len(uppers) else uppers.index(max(bounded))
    return Enclosure(max(lowers) if lowers else None, uppers[index]), index


def _is_wide(value: Enclosure) -> bool:
    width = value.width()
    if width is None or value.upper is None:
        return True
    return bool(width > RELATIVE_WIDTH * abs(value.upper))


def _zero_error(problem: ReleaseProblem) -> Enclosure:
    """``||F(x)||_inf`` of the zero output, the largest over the centres, exact."""
    targets = problem.dataset_targets
    rows = [int(targets.of_histogram[c]) for c in problem.centres]
    return Enclosure.of(fmpq(max(abs(v) for row in rows for v in targets.numerators[row]), targets.scale))
