"""Bit sources for tests, and the law of a sampler by running it on every string of bits."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import numpy as np

from certify.selection.bits import BitsExhausted, BitSource, GivenBits, Words

UNDECIDED = "undecided"


def enumerated_law(run: Callable[[BitSource], Hashable], length: int) -> dict[Hashable, Fraction]:
    """The mass of the strings of `length` bits that lead to each outcome, and of those that decide nothing.

    A run that ends after m bits stands for all strings that begin with them.
    """
    mass: Counter[Hashable] = Counter()
    string = 0
    while string < 2**length:
        source = GivenBits(string, length)
        try:
            outcome = run(source)
        except BitsExhausted:
            outcome, alike = UNDECIDED, 1
        else:
            alike = 2**source.left
        mass[outcome] += alike
        string += alike
    assert string == 2**length
    return {outcome: Fraction(count, 2**length) for outcome, count in mass.items()}


class Script(BitSource):
    """Given 64-bit words in order, whether asked for one by one or as an array; then BitsExhausted."""

    description = "a script, not private"

    def __init__(self, words: Sequence[int]) -> None:
        self.waiting = list(words)

    def take(self, count: int) -> int:
        assert count == 64
        if not self.waiting:
            raise BitsExhausted
        return self.waiting.pop(0)

    def words(self, count: int) -> Words:
        return np.array([self.take(64) for _ in range(count)], dtype=np.uint64)
