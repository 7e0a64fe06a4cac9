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
    applicable,
    run_levels,
)
from certify.engine.statement import Outcome
from certify.release.instance import ReleaseInstance
from certify.release.measurements import EnvelopeMass
from certify.release.mechanism import ExactOutput, NoisyHistogram, ZeroOutput
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.size import Plan, output_pairs, statement_pairs
from certify.release.statements import ALL_STATEMENTS, CATALOGUE
from certify.release.statements.section7 import expected_error
from certify.release.tuning import TunedEnvelope
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
    """``statements`` None means all of the instance's; ``precision`` 53 starts in float64, more starts in Arb.

    ``closed_forms`` asks for the proved inequalities between closed formulas with every outcome.
    """

    statements: tuple[str, ...] | None = None
    precision: int = FLOAT_BITS
    max_precision: int = 4096
    max_pairs: int = 2_000_000_000
    closed_forms: bool = False


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
    listed = CATALOGUE if wanted is None and not problem.is_tuned else ALL_STATEMENTS
    chosen = [s for s in listed if wanted is None or s.id in wanted]
    remaining, outcomes = applicable(chosen, problem)
    keep: list[Evidence] = []

    def evidence_at(level: Precision, statements: list[Any]) -> Evidence:
        first = not keep
        extra = (EnvelopeMass(),) if problem.has_transcripts and first else ()
        evidence = problem.evidence_at(level, statements, progress if first else None, extra)
        keep.append(evidence)
        return evidence

    def out_of_reach(level: Precision, statement: Any) -> str | None:
        if statement.needs_codebooks and statement.about_transcripts and problem.code_words is None:
            return "the code families V_{x,R,m} that it ranges over are too many to form"
        pairs = statement_pairs(problem, statement)
        kind = "database-output" if statement.needs_outputs else "target-transcript"
        if pairs > options.max_pairs:
            return f"it ranges over {pairs:,} {kind} pairs, more than --max-pairs {options.max_pairs:,}"
        if level.in_floats or options.precision > FLOAT_BITS or pairs <= ESCALATION_PAIRS:
            return None
        return f"redoing it in Arb ({pairs:,} {kind} pairs) is left to --precision {FIRST_BALLS}"

    outcomes |= run_levels(
        remaining,
        _levels(options),
        evidence_at,
        out_of_reach,
        max_precision=options.max_precision,
        closed_forms=options.closed_forms,
    )
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
    branch = _branch(problem)
    if branch is not None:
        quantities["branch"] = branch
    if problem.zero_output:
        quantities["expected_error"] = _zero_error(problem)
    elif isinstance(problem.mechanism, ExactOutput):
        quantities["expected_error"] = Enclosure.of(0)
    elif isinstance(problem.mechanism, NoisyHistogram):
        quantities |= _histogram_quantities(problem, evidence, options)
    if problem.is_tuned:
        quantities |= _tuned_quantities(problem)
    if problem.has_transcripts:
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


def _branch(problem: ReleaseProblem) -> str | None:
    """Which branch runs, where there is a choice of more than the envelope."""
    match problem.mechanism:
        case ZeroOutput():
            return "zero output"
        case ExactOutput():
            return "exact output"
        case NoisyHistogram():
            return "noisy histogram"
    return "envelope" if problem.is_tuned else None


def _tuned_quantities(problem: ReleaseProblem) -> dict[str, Enclosure | int | str]:
    """The rung, its constant, and the choices that its tuning made."""
    tuned = problem.mechanism.tuned
    assert tuned is not None
    quantities: dict[str, Enclosure | int | str] = {"rung": tuned.rung.name, "C": Enclosure.of(tuned.constant)}
    quantities["C_tau"] = problem.quantity(tuned.scaled_tau)
    if isinstance(tuned, TunedEnvelope):
        choices = tuned.choices
        quantities |= {"g": Enclosure.of(choices.g), "b": Enclosure.of(choices.b), "j": Enclosure.of(choices.j)}
        quantities["block_radii"] = tuned.block_width
        quantities["error_bound"] = problem.quantity(lambda: tuned.evaluate("error"))
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


def _histogram_quantities(
    problem: ReleaseProblem, evidence: Evidence | None, options: CheckOptions
) -> dict[str, Enclosure | int | str]:
    """The expected error of the instance's database, or the largest over all of them with its name.

    From 0 to the bound that needs no law where the outputs are more than --max-pairs.
    """
    pairs = output_pairs(problem)
    quantities: dict[str, Enclosure | int | str] = {"outputs": problem.histogram_law.output_count}
    if evidence is None or pairs > options.max_pairs:
        with ctx.workprec(FIRST_BALLS):
            bounds = [Enclosure.of(problem.histogram_law.error_bound(counts)) for counts in problem.centre_counts]
        return quantities | {"expected_error": Enclosure(fmpq(0), _largest(bounds)[0].upper)}
    value, centre = Enclosure(fmpq(0), None), 0
    for level in _levels(options):
        if not _is_wide(value) or not (level.bits <= options.precision or pairs <= ESCALATION_PAIRS):
            break
        if level.bits >= evidence.precision.bits:
            known = evidence if level == evidence.precision else problem.evidence_at(level, [])
            with suppress(Undetermined):
                value, centre = _largest(known.histogram_errors)
    quantities["expected_error"] = value
    if problem.all_databases:
        counts = problem.domain.database(centre)
        quantities["expected_error_database"] = ", ".join(f"{element}: {count}" for element, count in counts.items())
    return quantities


def _law_pairs(problem: ReleaseProblem) -> int:
    """(histogram, transcript class) pairs; 0 where there is no law to sweep."""
    return 0 if not problem.has_transcripts else problem.domain.histogram_count * problem.space.class_count


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
