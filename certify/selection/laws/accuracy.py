"""How often a stream's answers are inaccurate (Theorem 5.2), for given sums and for the worst ones.

An answer is α-accurate unless it is no where ``f >= τ + α`` or yes where ``f <= τ - α``. The worst sums for K queries
have ``f - τ = -α`` for the first K-1 and ``+α`` for the last. Given the threshold noise let S be the probability that
all answers are accurate, by recursion from the last query. A query with ``f - τ >= α`` must be a yes, which ends the
stream: ``S = q``, least at α. One with ``f - τ <= -α`` must be a no: S shrinks by ``1 - q``, least at -α. Any other
leaves ``S = q + (1-q) S' >= S'``. So dropping or lowering to ``-α`` all but the last makes S least. For the last,
the no at -α is the yes at +α with the noise's sign changed; the product of the other factors rises in the noise,
the yes probability falls, and by Chebyshev's inequality the expectation of the product is then the lesser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb, ctx, fmpq

from certify.arithmetic.scalar import Scalar, ball
from certify.selection.laws.exponential_sum import BallRing, Point
from certify.selection.laws.laplace import LaplaceLaw


def worst_failure(count: int, factor: fmpq, log: Scalar, threshold_scale: fmpq, query_scale: fmpq) -> arb:
    """The largest probability that K = ``count`` answers are not all α-accurate, ``α = factor * log``."""
    with ctx.extraprec(2 * count + 16):
        law = LaplaceLaw(BallRing(ball(log)), threshold_scale, query_scale, strict=True)
        points = [Point(fmpq(0), -factor)] * (count - 1) + [Point(fmpq(0), factor)]
        success: arb = law.answers_probability(points, "n" * (count - 1) + "y")
        return 1 - success


def inaccurate(points: Sequence[fmpq], factor: fmpq, log: Scalar) -> list[bool]:
    """Which outcomes of the index law (yes at j, and none last) are inaccurate; points are ``f - τ``.

    Raises Undetermined where a point cannot be told from ±α.
    """
    ring = BallRing(ball(log))
    found, missed = [], False
    for point in points:
        low = ring.sign(Point(point, factor)) <= 0
        found.append(missed or low)
        missed = missed or ring.sign(Point(point, -factor)) >= 0
    return [*found, missed]


def total(values: Sequence[Any]) -> Any:
    """Their sum, the rational 0 for none."""
    result: Any = fmpq(0)
    for value in values:
        result = result + value
    return result
