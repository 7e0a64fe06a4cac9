"""Certified envelope against plain numpy, a python-flint loop, and numpy's own roof, in one interleaved run.

The instance: T = 3, k = 2, n = 12, J = 9, so 91 histograms times 262,144 transcripts. Figures are ratios of medians of
CPU seconds over interleaved rounds; run ``python benchmarks/release_law.py`` (about a minute).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
from collections.abc import Callable
from time import process_time

import numpy as np
from flint import arb, ctx, fmpq

from certify.arithmetic.broadcasting import unbuffered_broadcasting
from certify.arithmetic.expression import Number
from certify.engine.decide_statement import Precision
from certify.quantity import Quantity
from certify.release.check import CheckOptions, check, prepare
from certify.release.instance import ExplicitMechanism, ReleaseInstance
from certify.release.measurements import EnvelopeMass
from certify.release.problem import ReleaseProblem
from certify.release.sweep import BlockView
from constants.ledger import default_ledger

STATEMENTS = ("eq-3.3", "eq-4.normaliser", "prop-4.1.transcript", "eq-6.2", "eq-7.error")
ROUNDS = 9
REPEATS = 9
ROOF_SIZE = 8192


def instance(rounds: int = ROUNDS) -> ReleaseInstance:
    return ReleaseInstance(
        universe=("a", "b", "c"),
        query_names=("first", "second"),
        query_values=((fmpq(1), fmpq(0), fmpq(0)), (fmpq(1), fmpq(1), fmpq(-1))),
        n=12,
        database=(5, 4, 3),
        epsilon=_number("1/2"),
        mechanism=ExplicitMechanism(rounds, _number("1/4"), _number("1/4")),
    )


def _number(text: str) -> Quantity:
    return Quantity(Number(text), {})


def fresh(rounds: int = ROUNDS) -> ReleaseProblem:
    return prepare(instance(rounds), default_ledger())


def whole_check() -> float:
    """Seconds of a whole certified check of `STATEMENTS`, tables and enumeration included."""
    start = process_time()
    check(fresh(), CheckOptions(statements=STATEMENTS))
    return process_time() - start


def certified_envelope() -> tuple[float, int, int]:
    """Seconds to sweep every block for the envelope of one x; (target, class) and (target, transcript) pairs."""
    problem = fresh()
    evidence = problem.evidence_at(Precision(53), [], None, (EnvelopeMass(),))
    sweep = evidence.sweep
    blocks = list(problem.space.blocks(sweep.block_size))
    sweep.penalised_prefix  # noqa: B018 - built once, outside the clock
    start = process_time()
    with unbuffered_broadcasting():
        for number, block in enumerate(blocks):
            BlockView(number, block, sweep).envelope  # noqa: B018
    seconds = process_time() - start
    targets = evidence.targets.dataset_count
    return seconds, targets * problem.space.class_count, targets * problem.space.transcript_count


def roof() -> float:
    """Pairs per second of one in-cache multiply and one maximum, which no envelope in numpy can pass."""
    a, b = np.random.default_rng(1).random((2, ROOF_SIZE))
    product, top = np.empty(ROOF_SIZE), np.zeros(ROOF_SIZE)
    count = 4000
    start = process_time()
    for _ in range(count):
        np.multiply(a, b, out=product)
        np.maximum(top, product, out=top)
    return count * ROOF_SIZE / (process_time() - start)


def flint_loop() -> float:
    """Pairs per second of the same envelope in python-flint scalars: one product and one maximum a pair."""
    problem = fresh(5)
    with ctx.workprec(64):
        evidence = problem.evidence_at(Precision(128), [], None, (EnvelopeMass(),))
        law = evidence.sweep.law
        prefix, suffix = evidence.sweep.penalised_prefix, law.suffix
        targets = evidence.targets.dataset_count
        block = next(iter(problem.space.blocks(4096)))
        pairs = [block.pair(i) for i in range(min(200, block.size))]
        start = process_time()
        for i, j in pairs:
            top = arb(0)
            for a in range(targets):
                top = top.max(prefix[a, i] * suffix[a, j])
        return len(pairs) * targets / (process_time() - start)


def plain_numpy() -> float:
    """Seconds of the same law and sums in float64 numpy, without any bound: what one would write to look at it."""
    start = process_time()
    queries = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, -1.0]])
    signed = np.concatenate([queries, -queries])
    eta, gamma, epsilon, n = 0.25, 0.25, 0.5, 12
    histograms = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    answers = histograms @ signed.T / n
    x = int(np.flatnonzero((histograms == (5, 4, 3)).all(axis=1))[0])
    net = np.zeros((1, 2))
    likelihood = np.ones((len(histograms), 1))
    average = np.zeros((1, 3))
    moves = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    for _ in range(ROUNDS):
        weights = np.exp(gamma * net @ queries)
        mu = weights / weights.sum(axis=1, keepdims=True)
        logits = eta * (answers[:, None, :] - (mu @ signed.T)[None])
        kernel = np.exp(logits)
        kernel /= kernel.sum(axis=2, keepdims=True)
        likelihood = (likelihood[:, :, None] * kernel).reshape(len(histograms), -1)
        average = np.repeat(average + mu, 4, axis=0)
        net = (net[:, None, :] + moves[None]).reshape(-1, 2)
    decoded = average / ROUNDS @ queries.T
    loss = np.abs(decoded - answers[x, :2]).max(axis=1)
    neighbours = np.flatnonzero(np.abs(histograms - histograms[x]).sum(axis=1) == 2)
    results = [likelihood @ loss, likelihood @ loss**2]
    envelopes = {}
    for point in (x, *neighbours.tolist()):
        distance = np.abs(histograms - histograms[point]).sum(axis=1) // 2
        envelopes[point] = (np.exp(-epsilon / 2 * distance)[:, None] * likelihood).max(axis=0)
    for point in neighbours.tolist():
        ratio = envelopes[x] / envelopes[point]
        results += [ratio.max(), ratio.min(), envelopes[point].sum()]
    results += [envelopes[x].sum(), envelopes[x] @ loss]
    distance = np.abs(histograms - histograms[x]).sum(axis=1) // 2
    top = np.zeros(likelihood.shape[1])
    for radius in range(n + 1):
        top = np.maximum(top, likelihood[distance == radius].max(axis=0, initial=0.0))
        results += [top.sum(), top @ loss]
    return process_time() - start


def median_of(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(REPEATS))


def main() -> None:
    rates: dict[str, list[float]] = {"certified": [], "covered": [], "roof": [], "flint": [], "whole": [], "plain": []}
    for _ in range(REPEATS):
        rates["roof"].append(roof())
        seconds, pairs, covered = certified_envelope()
        rates["certified"].append(pairs / seconds)
        rates["covered"].append(covered / seconds)
        rates["flint"].append(flint_loop())
        rates["plain"].append(plain_numpy())
        rates["whole"].append(whole_check())
    median = {name: statistics.median(values) for name, values in rates.items()}
    print(f"medians of {REPEATS} interleaved rounds, one thread")
    print(f"certified envelope / numpy roof            {median['certified'] / median['roof']:8.2f}")
    print(f"certified envelope / python-flint loop     {median['certified'] / median['flint']:8.0f}")
    print(f"the same, lumped classes as transcripts    {median['covered'] / median['flint']:8.0f}")
    print(f"whole check / plain numpy law              {median['whole'] / median['plain']:8.2f}")


if __name__ == "__main__":
    main()
