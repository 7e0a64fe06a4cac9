"""What a check is about to do, as label and value: the instance, the mechanism, what is enumerated, how."""

from __future__ import annotations

from certify.arithmetic.enclosure import Enclosure
from certify.instance_file import printable
from certify.quantity import Quantity
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance
from certify.release.mechanism import ExactOutput, NoisyHistogram, ZeroOutput
from certify.release.problem import ReleaseProblem
from certify.release.size import Plan
from certify.report.figures import count, duration, interval, memory, plural
from certify.report.model import InstanceIdentity

DIGITS = 6
MAX_EXPRESSION = 40


def release_facts(
    identity: InstanceIdentity, problem: ReleaseProblem, plan: Plan, options: CheckOptions
) -> list[tuple[str, str]]:
    """The heading of a check of one release instance."""
    instance = problem.instance
    facts = identity_facts(identity)
    if instance.description:
        facts.append(("shows", printable(instance.description)))
    return [
        *facts,
        ("model", _model(instance)),
        ("mechanism", _mechanism(problem)),
        ("enumerates", enumeration(plan)),
        ("arithmetic", _arithmetic(options)),
    ]


def identity_facts(identity: InstanceIdentity) -> list[tuple[str, str]]:
    """Which file is checked."""
    return [("instance", printable(identity.path)), ("sha256", identity.sha256)]


def enumeration(plan: Plan) -> str:
    """``66 histograms × 4,096 transcripts, 270,336 pairs, about 3 s and 140 MB``."""
    if not plan.transcripts:
        return f"{plural(plan.histograms, 'histogram', 'histograms')} and no transcript"
    return (
        f"{plural(plan.histograms, 'histogram', 'histograms')} × "
        f"{plural(plan.transcripts, 'transcript', 'transcripts')}, {plural(plan.pairs, 'pair', 'pairs')}, "
        f"{duration(plan.seconds)} and {memory(plan.memory_bytes)}"
    )


def _model(instance: ReleaseInstance) -> str:
    universe, queries = count(len(instance.universe)), count(len(instance.query_names))
    databases = "every database" if instance.database is None else "one database"
    epsilon = _parameter(instance.epsilon)
    return f"T = {universe}, k = {queries}, n = {count(instance.n)}, ε = {epsilon}; {databases}"


def _mechanism(problem: ReleaseProblem) -> str:
    mechanism = problem.mechanism
    rung = (
        ""
        if mechanism.tuned is None
        else f"; rung {mechanism.tuned.rung.name}, C = {_short(Enclosure.of(mechanism.tuned.constant))}"
    )
    match mechanism:
        case ZeroOutput():
            return f"zero output, the trivial branch of Theorem 1.1{rung}"
        case ExactOutput():
            return f"the exact answer, since T = 1{rung}"
        case NoisyHistogram():
            return f"noisy histogram{rung}"
    eta = _short(problem.quantity(mechanism.eta))
    gamma = _short(problem.quantity(mechanism.gamma))
    chosen = ""
    if mechanism.alpha is not None:
        origin = "the envelope branch of Theorem 1.1" if mechanism.from_theorem else "the choices (8.3)"
        chosen = f"; {origin} at α = {_short(problem.quantity(mechanism.alpha))}"
    return f"envelope with J = {count(mechanism.rounds)}, η = {eta}, γ = {gamma}{chosen}{rung}"


def _arithmetic(options: CheckOptions) -> str:
    if options.precision <= 53:
        return f"float64 with proved bounds; Arb up to {options.max_precision:,} bits where that is undecided"
    return f"Arb from {options.precision:,} up to {options.max_precision:,} bits"


def _short(value: Enclosure) -> str:
    return interval(value, DIGITS)


def _parameter(quantity: Quantity) -> str:
    text = quantity.text
    return text if len(text) <= MAX_EXPRESSION else f"{text[:MAX_EXPRESSION]}…"
