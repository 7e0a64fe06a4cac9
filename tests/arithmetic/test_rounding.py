"""certify.arithmetic.rounding: the float64 model is checked, and counts of roundings bound what they count."""

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from float_truth import PRECISION, UNIT, ends, rational, steps
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.rounding import (
    ENTRY_ROUNDINGS,
    RoundingModeError,
    check_rounding,
    growth_factor,
    nearest_float,
)
from certify.arithmetic.scalar import Undetermined

# fesetround's arguments for downward, upward and toward zero, by processor
MODES = {"x86_64": (0x400, 0x800, 0xC00), "aarch64": (0x800000, 0x400000, 0xC00000)}
# bit by which the processor's state (as words of 32 bits, from fegetenv) flushes subnormal results
FLUSH = {"x86_64": (7, 0x8000), "aarch64": (0, 0x1000000)}
DENORMALS_ARE_ZERO = {"x86_64": (7, 0x40)}


def libm() -> ctypes.CDLL:
    if not sys.platform.startswith("linux") or platform.machine() not in MODES:
        pytest.skip("the processor's modes are switched through glibc on x86-64 and AArch64")
    return ctypes.CDLL("libm.so.6")


@contextmanager
def rounding_mode(mode: int) -> Iterator[None]:
    library = libm()
    assert library.fesetround(mode) == 0
    try:
        yield
    finally:
        library.fesetround(0)


@contextmanager
def processor_bit(bits: dict[str, tuple[int, int]]) -> Iterator[None]:
    library = libm()
    if platform.machine() not in bits:
        pytest.skip("this processor has no such mode")
    word, bit = bits[platform.machine()]
    state = (ctypes.c_uint32 * 64)()
    library.fegetenv(state)
    normal = state[word]
    state[word] = normal | bit
    library.fesetenv(state)
    try:
        yield
    finally:
        state[word] = normal
        library.fesetenv(state)


# ---- the mode


def test_this_processor_passes() -> None:
    check_rounding()


@pytest.mark.parametrize("which", range(3), ids=["down", "up", "toward zero"])
def test_every_directed_mode_is_refused(which: int) -> None:
    libm()
    refused = False
    with rounding_mode(MODES[platform.machine()][which]):
        try:
            check_rounding()
        except RoundingModeError as error:
            refused = "round to nearest" in str(error)
    assert refused
    check_rounding()


@pytest.mark.parametrize("bits", [FLUSH, DENORMALS_ARE_ZERO], ids=["results", "operands"])
def test_flushing_subnormal_numbers_is_refused(bits: dict[str, tuple[int, int]]) -> None:
    refused = False
    with processor_bit(bits):
        try:
            check_rounding()
        except RoundingModeError as error:
            refused = "subnormal" in str(error)
    assert refused
    check_rounding()


# ---- growth_factor


@given(st.integers(0, 300))
@example(0)
@example(1)
def test_the_growth_factor_covers_its_roundings_exactly(n: int) -> None:
    factor = growth_factor(n)
    down, up = (1 - UNIT) ** n, (1 + UNIT) ** n
    assert 1 / down <= factor and up <= factor
    assert 1 / factor <= down and 1 / factor <= 1 / up


@given(st.integers(2, 2**25))
@example(2**25)
def test_the_growth_factor_is_sharp_to_one_rounding(n: int) -> None:
    """One rounding fewer would not cover (1-u)^-n: the lemma can fail."""
    with ctx.workprec(300):
        needed = (-(arb(1 - UNIT).log()) * n).exp()
        assert bool(arb(growth_factor(n - 1)) < needed) and bool(needed <= arb(growth_factor(n)))


@given(st.integers(2, 2**52 - 1))
@example(2**52 - 1)
@example(2**40)
def test_many_roundings_are_covered(n: int) -> None:
    with ctx.workprec(300):
        needed = (-(arb(1 - UNIT).log()) * n).exp()
        assert bool(needed <= arb(growth_factor(n)))
        # Bernoulli loses at most the square: 1/(1-x) - 1 <= 2x for x <= 1/2
        assert growth_factor(n) - 1 <= 2 * n * UNIT


@pytest.mark.parametrize("roundings", [-1, 2**52, 2**52 + 1, 2**60])
def test_counts_without_a_bound_are_refused(roundings: int) -> None:
    with pytest.raises(ValueError, match="carry no bound"):
        growth_factor(roundings)


# ---- nearest_float


def entry_holds(value: float, ball: arb, roundings: int) -> bool:
    """Whether every number of the ball lies within that many roundings of the value."""
    lower, upper = (abs(end) for end in ends(ball))
    factor = (1 - UNIT) ** roundings
    return all(abs(rational(value)) * factor <= x <= abs(rational(value)) / factor for x in (lower, upper))


mantissas = st.integers(2**52, 2**53 - 1)
exponents = st.integers(-1073, 969)


@given(mantissas, exponents, st.integers(-(2**30), 2**30), st.booleans())
@example(2**53 - 1, 0, 2**30, False)  # a tie between two doubles, with the widest ball
@example(2**52, 0, -(2**30) + 1, True)
@example(2**52, -1074 + 1, 0, False)  # 2^-1021
@example(2**53 - 1, 969, 1, False)
def test_an_entry_is_off_by_four_roundings_at_most(mantissa: int, exponent: int, part: int, negative: bool) -> None:
    """Midpoints between doubles, a radius of almost 2^-61 of the value."""
    with ctx.workprec(PRECISION):
        middle = fmpq(mantissa * 2**31 + part, 2**31) * fmpq(2) ** exponent
        centre = arb(-middle if negative else middle)
        ball = centre + arb(0, abs(centre) * fmpq(1, 2**62) * fmpq(99, 100))
        if ball.rel_accuracy_bits() < 61:
            return
        value = nearest_float(ball)
        assert entry_holds(value, ball, ENTRY_ROUNDINGS)
        assert np.isfinite(value) and abs(value) >= np.finfo(np.float64).tiny


def test_the_entry_bound_is_not_vacuous() -> None:
    """Just above a power of two a tie is off by almost one whole rounding: no roundings would not do."""
    with ctx.workprec(PRECISION):
        ball = arb(1 + fmpq(1, 2**53))
        assert not entry_holds(nearest_float(ball), ball, 0)
        assert entry_holds(nearest_float(ball), ball, 1)


@pytest.mark.parametrize(
    "ball",
    [
        arb(0),
        arb("nan"),
        arb("inf"),
        arb(0, 1),
        arb(1, fmpq(1, 2**58)),
        arb(1, fmpq(1, 2**60)),
        arb(2) ** 1024,
        arb(2) ** -1023,
        -(arb(2) ** -1074),
        arb(10**25).exp(),
    ],
    ids=["zero", "nan", "infinite", "about 0", "2^-58", "2^-60", "too large", "subnormal", "least", "huge"],
)
def test_balls_without_an_entry_are_refused(ball: arb) -> None:
    with pytest.raises(Undetermined, match=r"61 good bits|range of float64"):
        nearest_float(ball)


def test_entries_reach_almost_to_the_ends_of_the_range() -> None:
    for value in (2.3e-308, 1.7e308, -2.3e-308, -1.7e308):
        inside = steps(value, 1 if (value > 0) == (abs(value) < 1) else -1)
        assert nearest_float(arb(inside)) == inside
        with pytest.raises(Undetermined):
            nearest_float(arb(value))
