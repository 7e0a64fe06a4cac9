"""Where random bits come from: the operating system, or, for tests alone, a seed or a given string of bits."""

import os
import random
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

WORD = 64


class BitsExhausted(Exception):
    """A given string of bits has been used up."""


class BitSource(ABC):
    """Independent fair bits.

    `private` says whether noise from this source protects anybody. Lazy numbers draw `block` bits at a time;
    the law of what they decide does not depend on it.
    """

    private: bool = False
    description: str
    block: int = WORD

    @abstractmethod
    def take(self, count: int) -> int:
        """A uniform integer in [0, 2^count), made of the next `count` bits, the first one highest."""

    def words(self, count: int) -> Words:
        """`count` uniform 64-bit words, as `count` calls of `take(64)`."""
        return np.array([self.take(WORD) for _ in range(count)], dtype=np.uint64)

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound), exactly, by rejection. Raises ValueError unless bound >= 1."""
        if bound < 1:
            raise ValueError("the bound must be at least 1")
        width = (bound - 1).bit_length()
        while True:
            value = self.take(width)
            if value < bound:
                return value


class SystemBits(BitSource):
    """The operating system's cryptographic generator, asked anew every time: nothing is kept, and a forked
    process shares nothing with its parent."""

    private = True
    description = "operating system"

    def take(self, count: int) -> int:
        size = (count + 7) // 8
        return int.from_bytes(os.urandom(size), "big") >> (8 * size - count)

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SeededBits(BitSource):
    """Reproducible bits for tests and benchmarks. Whoever knows the seed knows the noise: not private."""

    def __init__(self, seed: int) -> None:
        self.description = f"seed {seed}, not private"
        self._generator = random.Random(seed)

    def take(self, count: int) -> int:
        return self._generator.getrandbits(count) if count else 0


class GivenBits(BitSource):
    """The `length` bits of the integer `string`, highest first, one at a time; then BitsExhausted.

    Running a sampler on all 2^length strings gives its law structurally, up to the strings that run out.
    """

    description = "a given string of bits, not private"
    block = 1

    def __init__(self, string: int, length: int) -> None:
        if not 0 <= string < 1 << length:
            raise ValueError(f"the string must have at most {length} bits")
        self._string = string
        self._left = length

    @property
    def left(self) -> int:
        """How many bits have not been drawn."""
        return self._left

    def take(self, count: int) -> int:
        if count > self._left:
            raise BitsExhausted
        self._left -= count
        return (self._string >> self._left) & ((1 << count) - 1)
