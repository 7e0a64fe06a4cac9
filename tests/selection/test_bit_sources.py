"""Sources of bits."""

import pytest
from bit_strings import Script

from certify.selection.bits import BitsExhausted, GivenBits, SeededBits, SystemBits


def test_only_the_system_is_private() -> None:
    assert SystemBits().private
    for source in (SeededBits(1), GivenBits(0, 1), Script([])):
        assert not source.private and "not private" in source.description


def test_system_bits_fill_their_range() -> None:
    source = SystemBits()
    for count in (1, 3, 8, 64, 100):
        drawn = [source.take(count) for _ in range(200)]
        assert all(0 <= each < 2**count for each in drawn)
        assert max(drawn) >= 2 ** (count - 1)  # fails with probability 2^-200
    words = source.words(1000)
    assert words.dtype.name == "uint64" and len(words) == 1000 and len(set(words.tolist())) == 1000


def test_seed_repeats() -> None:
    first, second = SeededBits(5), SeededBits(5)
    assert [first.take(7) for _ in range(9)] == [second.take(7) for _ in range(9)]
    assert SeededBits(5).words(3).tolist() == [SeededBits(5).take(64), *SeededBits(5).words(3).tolist()[1:]]
    assert SeededBits(5).take(0) == 0


def test_given_bits_come_highest_first_and_end() -> None:
    source = GivenBits(0b1011, 4)
    assert [source.take(1), source.take(2), source.left, source.take(1)] == [1, 0b01, 1, 1]
    with pytest.raises(BitsExhausted):
        source.take(1)
    with pytest.raises(ValueError, match="at most 3 bits"):
        GivenBits(8, 3)


def test_below_is_uniform_by_rejection() -> None:
    """Of the 8 strings of 3 bits, 5, 6 and 7 are rejected, and the others give 0, ..., 4."""
    for string in range(8):
        source = GivenBits(string << 3 | 0b001, 6)
        assert source.below(5) == (string if string < 5 else 1)
    assert SystemBits().below(1) == 0
    with pytest.raises(ValueError, match="at least 1"):
        SystemBits().below(0)
