"""How large an instance is, known from binomials before anything is enumerated."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log10

from certify.release.domain import Domain
from certify.release.mechanism import NoisyHistogram
from certify.release.problem import ReleaseProblem
from certify.release.statements.base import ReleaseStatement
from certify.release.tuning import TunedEnvelope

PAIRS_PER_SECOND = 2.0e8
OUTPUTS_PER_SECOND = 1.0e7
KERNEL_ENTRIES_PER_SECOND = 5.0e5
PLAN_ENTRIES_PER_SECOND = 5.0e7
"""Cautious figures for one core; only estimates rest on them."""

MAX_COUNT_BITS = 2**16
"""A count of transcripts with more bits than this is written as a power and not computed."""

MAX_MEMORY = 8 * 2**30

HISTOGRAM_BYTES = 400
"""About what a histogram takes as a row of the table and as a key of the index."""


@dataclass(frozen=True)
class Plan:
    """What a check enumerates, known before work begins.

    ``pairs`` counts (target, transcript) pairs, transcripts unlumped, of the dataset targets and of the
    code families; ``seconds`` and ``memory_bytes`` are estimates from above. ``refusal`` is None, or why
    the instance is too large and what to do instead.
    """

    histograms: int
    transcripts: int
    pairs: int
    seconds: float
    memory_bytes: int
    refusal: str | None

    @classmethod
    def of(cls, problem: ReleaseProblem, max_pairs: int) -> Plan:
        domain = problem.domain
        histograms = domain.histogram_count
        if not problem.has_transcripts:
            outputs = output_pairs(problem)
            seconds = 0.0 if outputs > max_pairs else outputs / OUTPUTS_PER_SECOND
            memory = HISTOGRAM_BYTES * histograms
            refusal = _refuse_histograms(histograms, max_pairs) or _refuse_memory(memory, "rows or elements")
            return cls(histograms, 0, 0, seconds, memory, refusal)
        if problem.rounds * (domain.signed_count.bit_length() - 1) > MAX_COUNT_BITS:
            return cls(histograms, 0, 0, float("inf"), 0, _beyond_count(problem))
        transcripts = domain.signed_count**problem.rounds
        base = histograms * transcripts
        if base > max_pairs:
            seconds = _seconds(base)
            return cls(histograms, transcripts, base, seconds, 0, _refusal(problem, transcripts, base, max_pairs))
        words = problem.code_words or 0
        pairs = base + words * transcripts
        memory = 8 * (histograms + words) * _half_classes(domain, problem.rounds)
        memory += 24 * histograms * domain.universe_size
        refusal = _refuse_memory(memory, "rounds, rows, elements or queries")
        seconds = _seconds(min(pairs, max_pairs)) + _state_graph_seconds(problem, histograms + words)
        return cls(histograms, transcripts, pairs, seconds, memory, refusal)


def statement_pairs(problem: ReleaseProblem, statement: ReleaseStatement) -> int:
    """The (target, transcript) pairs that one statement ranges over; 0 for one about parameters or distances.

    For one about the outputs of the noisy histogram these are its `output_pairs`.
    """
    if statement.needs_outputs:
        return output_pairs(problem)
    if not problem.has_transcripts or not statement.about_transcripts:
        return 0
    rows = problem.domain.histogram_count + ((problem.code_words or 0) if statement.needs_codebooks else 0)
    if not statement.measurements(problem):
        return rows if statement.needs_codebooks else 0
    transcripts: int = problem.domain.signed_count**problem.rounds
    return rows * transcripts


def output_pairs(problem: ReleaseProblem) -> int:
    """The (database, clamped histogram) pairs of the noisy histogram; 0 for any other mechanism."""
    if not isinstance(problem.mechanism, NoisyHistogram):
        return 0
    domain = problem.domain
    databases = domain.histogram_count if problem.all_databases else 1
    outputs: int = (domain.rows + 1) ** domain.universe_size
    return databases * outputs


def _state_graph_seconds(problem: ReleaseProblem, targets: int) -> float:
    """Estimated seconds of the statements about kernels (every state, signed query and target) and of Jensen's step."""
    domain = problem.domain
    states = _net_selections(problem.rounds, domain.query_count)
    centres = domain.histogram_count if problem.all_databases else 1
    kernels = states * domain.signed_count * (targets + (centres * domain.histogram_count if centres > 1 else 0))
    plans = states * centres * domain.rows * domain.histogram_count * len(problem.instance.code_lengths)
    return float(min(kernels, 10**300) / KERNEL_ENTRIES_PER_SECOND + min(plans, 10**300) / PLAN_ENTRIES_PER_SECOND)


def _net_selections(rounds: int, queries: int) -> int:
    """Integer points of the l1 ball of radius J in k dimensions: at least the number of states."""
    return sum(2**i * comb(queries, i) * comb(rounds, i) for i in range(min(queries, rounds) + 1))


def _half_classes(domain: Domain, rounds: int) -> int:
    """Prefix classes and suffix classes at most: ``(2k)^{J/2}``, and that from every middle state."""
    split = rounds // 2
    prefixes = domain.signed_count**split
    states = min(prefixes, _net_selections(split, domain.query_count))
    total: int = prefixes + states * domain.signed_count ** (rounds - split)
    return total


def _seconds(pairs: int) -> float:
    return float("inf") if pairs > 10**300 else pairs / PAIRS_PER_SECOND


def _refusal(problem: ReleaseProblem, transcripts: int, pairs: int, max_pairs: int) -> str:
    remedy = _fewer_tuned_rounds(problem) or "Take fewer rounds, rows, elements or queries"
    return (
        f"too large to enumerate: {_count(problem.domain.histogram_count)} histograms × {_count(transcripts)} "
        f"transcripts = {_count(pairs)} pairs, about {_duration(pairs)}; the limit is --max-pairs {max_pairs:,}. "
        f"{remedy}, or raise --max-pairs"
    )


def _beyond_count(problem: ReleaseProblem) -> str:
    remedy = _fewer_tuned_rounds(problem) or (
        "Take far fewer rounds (for alpha or the theorem's own mechanism: a larger alpha)"
    )
    domain = problem.domain
    return (
        f"too large to enumerate: {_count(domain.histogram_count)} histograms × "
        f"{domain.signed_count}^{problem.rounds} transcripts. {remedy}"
    )


def _fewer_tuned_rounds(problem: ReleaseProblem) -> str | None:
    """What to do where a rung's tuning sets J; None where the instance does."""
    tuned = problem.mechanism.tuned
    if not isinstance(tuned, TunedEnvelope):
        return None
    return (
        f"Rung {tuned.rung.name} has {tuned.rounds:,} rounds here, and at least {tuned.least_rounds:,} wherever its "
        "output is not zero: take a smaller εn, fewer elements or queries, or another rung"
    )


def _refuse_histograms(histograms: int, max_pairs: int) -> str | None:
    if histograms <= max_pairs:
        return None
    return f"too large to enumerate: {_count(histograms)} histograms; the limit is --max-pairs {max_pairs:,}"


def _refuse_memory(memory: int, fewer: str) -> str | None:
    if memory <= MAX_MEMORY:
        return None
    return (
        f"its tables may take {memory / 2**30:,.0f} GiB of memory, more than {MAX_MEMORY // 2**30}: take fewer {fewer}"
    )


def _count(value: int) -> str:
    if value < 10**15:
        return f"{value:,}"
    return f"about 10^{int(value.bit_length() * log10(2))}"


def _duration(pairs: int) -> str:
    seconds = _seconds(pairs)
    if seconds == float("inf"):
        return f"10^{int(pairs.bit_length() * log10(2) - log10(PAIRS_PER_SECOND * 31_557_600.0))} years"
    for unit, length in (("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            amount = seconds / length
            return f"{amount:,.0f} {unit}" if amount < 10**6 else f"10^{log10(amount):.0f} {unit}"
    return f"{seconds:.0f} seconds"
