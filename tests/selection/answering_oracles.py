"""Oracles that know the scores and answer as they like inside ±α, and truthfully outside."""

import random
from collections.abc import Callable, Sequence

from flint import fmpq

from certify.selection.oracle import SequentialStream, ThresholdStream

Policy = Callable[[fmpq, fmpq], bool]
"""(score - threshold, α) -> the answer when |score - threshold| < α."""


def always_yes(distance: fmpq, alpha: fmpq) -> bool:
    return True


def always_no(distance: fmpq, alpha: fmpq) -> bool:
    return False


def random_answers(seed: int) -> Policy:
    generator = random.Random(seed)
    return lambda distance, alpha: generator.random() < 0.5


def noisy_answers(seed: int) -> Policy:
    """The sign of the distance after uniform noise inside ±α."""
    generator = random.Random(seed)
    return lambda distance, alpha: distance + alpha * fmpq(generator.randint(-(10**6), 10**6), 10**6) > 0


POLICIES: dict[str, Callable[[int], Policy]] = {
    "noise": noisy_answers,
    "always yes": lambda seed: always_yes,
    "always no": lambda seed: always_no,
    "random": random_answers,
}


class AccurateOracle:
    """Every stream is α-accurate for `accuracy(its budget)`; all budgets are kept."""

    def __init__(self, scores: Sequence[int], accuracy: Callable[[fmpq], fmpq], policy: Policy) -> None:
        self.scores = scores
        self.accuracy = accuracy
        self.policy = policy
        self.budgets: list[fmpq] = []
        self.queries = 0

    def open_stream(self, epsilon: fmpq) -> ThresholdStream:
        self.budgets.append(epsilon)
        return _Stream(self, self.accuracy(epsilon))


class _Stream(SequentialStream):
    def __init__(self, oracle: AccurateOracle, alpha: fmpq) -> None:
        super().__init__()
        self._oracle = oracle
        self._alpha = alpha

    def answer(self, candidate: int, threshold: fmpq) -> bool:
        self._oracle.queries += 1
        distance = self._oracle.scores[candidate] - threshold
        if distance >= self._alpha:
            return True
        return False if distance <= -self._alpha else self._oracle.policy(distance, self._alpha)
