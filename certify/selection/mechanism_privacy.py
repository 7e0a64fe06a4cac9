"""Privacy of mechanisms beside the stream: the exponential mechanism, rounded Laplace noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product

from flint import fmpq

from certify.arithmetic.scalar import Scalar, divide, exponential
from certify.engine.statement import Cases, ScalarCase
from certify.selection.instance_model import Against, ExponentialSpec, PrivacyLevel, RoundedLaplaceSpec, Vector


def exponential_cases(spec: ExponentialSpec, level: PrivacyLevel, multiple: fmpq) -> Iterator[Cases]:
    """``P(out) <= e^(multiple ε) P'(out)`` in both directions.

    Against one vector: every sequence of draws. Over the box of radius ``sensitivity``: one draw of i is most
    likely where s_i is raised and the others lowered, so with repetition the worst sequence draws one i every
    time. Without it each draw's ratio is at most ``exp(2 weight sensitivity)``, whatever is left.
    """
    assert level.epsilon is not None
    epsilon = level.epsilon

    def bound() -> Scalar:
        return level.factor(multiple)

    if isinstance(spec.neighbours, Against):
        for drawn in sequences(spec):
            yield from _both_ways(spec, epsilon, drawn, spec.neighbours.values, bound)
        return
    for i in range(len(spec.scores)):
        others = (j for j in range(len(spec.scores)) if j != i)
        drawn = (i,) * spec.draws if spec.repeat else (i, *others)[: spec.draws]
        for sign in (1, -1):
            moved = tuple(s + (sign if j == i else -sign) * spec.sensitivity for j, s in enumerate(spec.scores))
            yield from _both_ways(spec, epsilon, drawn, moved, bound)
    if spec.draws > 1 and not spec.repeat:
        share = spec.draws * 2 * _weight(spec, epsilon) * spec.sensitivity / epsilon
        yield ScalarCase(
            lambda: share, lambda: multiple, {"quantity": "draws × bound of one draw, in units of ε"}, auxiliary=True
        )


def sequences(spec: ExponentialSpec) -> list[tuple[int, ...]]:
    """Every outcome, as indices from 0."""
    indices = range(len(spec.scores))
    if spec.repeat:
        return list(product(indices, repeat=spec.draws))
    return list(permutations(indices, spec.draws))


def sequence_probability(spec: ExponentialSpec, epsilon: fmpq, scores: Vector, drawn: Sequence[int]) -> Scalar:
    """The probability of a sequence of draws, at the current precision."""
    weight = _weight(spec, epsilon)
    remaining = set(range(len(scores)))
    result: Scalar = fmpq(1)
    for i in drawn:
        # relative to the drawn one, so that the number is exact where all scores are equal
        total: Scalar = fmpq(0)
        for j in sorted(remaining):
            total = total + exponential(weight * (scores[j] - scores[i]))
        result = divide(result, total)
        if not spec.repeat:
            remaining.discard(i)
    return result


def rounded_cases(spec: RoundedLaplaceSpec, level: PrivacyLevel, multiple: fmpq) -> Iterator[Cases]:
    """Every ratio ``P(k)/P(k')`` with ``|k - k'|`` at most the sensitivity s.

    P falls with |k|, by exactly ``e^(1/scale)`` a step from 1 on. So the worst ratios are ``e^(s/scale)`` between
    numbers other than 0, and ``P(0)/P(s)``.
    """
    exponent = fmpq(spec.sensitivity) / spec.scale
    yield ScalarCase(
        lambda: exponent,
        lambda: multiple * level.value(),
        {"quantity": "log P(k)/P(k+s), k ≥ 1", "s": spec.sensitivity},
    )
    yield ScalarCase(
        lambda: divide(rounded_probability(spec, 0), rounded_probability(spec, spec.sensitivity)),
        lambda: level.factor(multiple),
        {"quantity": "P(0)/P(s)", "s": spec.sensitivity},
    )


def rounded_probability(spec: RoundedLaplaceSpec, k: int) -> Scalar:
    """``P(round(Lap(scale)) = k)``."""
    rate = 1 / spec.scale
    if k == 0:
        return 1 - exponential(-rate / 2)
    return exponential(-rate * (abs(k) - fmpq(1, 2))) * (1 - exponential(-rate)) / 2


def geometric_probability(spec: RoundedLaplaceSpec, k: int) -> Scalar:
    """``P(k)`` of the two-sided geometric noise with the same scale."""
    ratio = exponential(-1 / spec.scale)
    return divide(1 - ratio, 1 + ratio) * exponential(-abs(k) / spec.scale)


def _weight(spec: ExponentialSpec, epsilon: fmpq) -> fmpq:
    return epsilon / (2 * spec.draws * spec.sensitivity)


def _both_ways(
    spec: ExponentialSpec, epsilon: fmpq, drawn: Sequence[int], other: Vector, bound: Callable[[], Scalar]
) -> Iterator[Cases]:

    def ratio(numerator: Vector, denominator: Vector) -> Scalar:
        return divide(
            sequence_probability(spec, epsilon, numerator, drawn),
            sequence_probability(spec, epsilon, denominator, drawn),
        )

    witness = {
        "output": [i + 1 for i in drawn] if spec.draws > 1 else drawn[0] + 1,
        "scores": list(spec.scores),
        "neighbour": list(other),
    }
    given = spec.scores
    yield ScalarCase(lambda: ratio(given, other), bound, {"quantity": "P(scores)/P(neighbour)", **witness})
    yield ScalarCase(lambda: ratio(other, given), bound, {"quantity": "P(neighbour)/P(scores)", **witness})
