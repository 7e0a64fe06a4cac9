"""The exact law of AboveThreshold: a thousand distinct thresholds in float64 quadrature, small streams in closed form.

Prints CPU seconds (medians of some rounds) and the widest relative radius; run ``python benchmarks/selection_law.py``
(about half a minute).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import random
import statistics
from collections.abc import Sequence
from time import process_time

from flint import arb, ctx, fmpq

from certify.selection.laws.exponential_sum import BallRing, Point
from certify.selection.laws.laplace import LaplaceLaw
from certify.selection.laws.quadrature import index_law

ROUNDS = 5
THRESHOLD_SCALE, QUERY_SCALE = fmpq(2), fmpq(4)

ORDERS = {
    "rising": [fmpq(i) for i in range(1000)],
    "falling": [fmpq(-i) for i in range(1000)],
    "mixed": [fmpq(i) for i in random.Random(1).sample(range(-500, 500), 1000)],
    "dense": [fmpq(i, 50) for i in range(1000)],
}


def quadrature(points: Sequence[fmpq]) -> tuple[float, list[arb]]:
    start = process_time()
    law = index_law(points, points, THRESHOLD_SCALE, QUERY_SCALE)
    return process_time() - start, law


def closed_form(count: int) -> float:
    points = [Point(fmpq(i)) for i in range(count)]
    start = process_time()
    with ctx.workprec(64 + 2 * count):
        LaplaceLaw(BallRing(), THRESHOLD_SCALE, QUERY_SCALE, strict=True).index_law(points, points)
    return process_time() - start


def main() -> None:
    for name, points in ORDERS.items():
        runs = [quadrature(points) for _ in range(ROUNDS)]
        seconds = statistics.median(each for each, _ in runs)
        width = max(float(ball.rad() / ball.mid()) for ball in runs[0][1])
        print(f"1,000 thresholds, {name:8} all 1,001 outcomes {seconds:7.3f} s, widest relative radius {width:.1e}")
    for count in (3, 10, 40):
        seconds = statistics.median(closed_form(count) for _ in range(ROUNDS))
        print(f"closed form, {count:2} queries, all outcomes {seconds * 1e3:9.2f} ms")


if __name__ == "__main__":
    main()
