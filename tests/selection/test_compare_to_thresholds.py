"""Algorithms 4 and 5."""

from fractions import Fraction
from typing import Any

import pytest
from above_threshold_law import laplace_law
from bit_strings import UNDECIDED, Script, enumerated_law
from flint import arb, fmpq

from certify.selection.accountant import Accountant, BudgetExceeded
from certify.selection.bits import BitSource, SystemBits
from certify.selection.compare_thresholds import Answer, ComparisonStream, NarrowGap, gap
from certify.selection.oracle import StreamClosed
from certify.selection.scores import ScoreTable

EPSILON, DELTA = fmpq(1, 2), fmpq(1, 1000)
WIDTH = 262
"""The gap for these is 24 (log 20 + log 1000 + 1) = 261.68…"""
FAR = 10**6


def comparisons(sums: tuple[int, ...], bits: BitSource | None = None) -> ComparisonStream[int]:
    return ComparisonStream(ScoreTable(sums), EPSILON, DELTA, Accountant(1, fmpq(1, 2)), bits)


def as_rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def tail_of_sum(t: fmpq) -> arb:
    """P(ν + γ > t), t >= 0, for Lap(6/ε) and Lap(2/ε)."""
    a, b = 2 / EPSILON, 6 / EPSILON
    return (b * b * arb(-t / b).exp() - a * a * arb(-t / a).exp()) / (2 * (b * b - a * a))


class TestAnswers:
    def test_low_high_close(self) -> None:
        stream = comparisons((0,))
        assert stream.query(0, FAR, 2 * FAR) is Answer.LOW
        assert stream.query(0, -2 * FAR, -FAR) is Answer.HIGH
        assert stream.query(0, FAR, 2 * FAR) is Answer.LOW
        assert not stream.closed
        assert stream.query(0, -FAR, FAR) is Answer.CLOSE
        assert stream.closed
        with pytest.raises(StreamClosed):
            stream.query(0, FAR, 2 * FAR)

    def test_high_is_tested_first(self) -> None:
        """With γ larger than half the gap both tests hold; Algorithm 5 asks for High first."""
        stream = comparisons((0,), Script([1, 2**63, 2**63, 2**63]))  # γ near 43·4, ν = 0
        assert stream.query(0, -131, 131) is Answer.HIGH

    @pytest.mark.parametrize("shift", [0, 4, 20])
    def test_law_of_one_query(self, shift: int) -> None:
        """f = low - shift: Low has probability P(ν - γ < shift) less at most P(High) < 10^-8."""
        mass = enumerated_law(lambda bits: comparisons((-shift,), bits).query(0, 0, WIDTH), 18)
        close = tail_of_sum(fmpq(shift))
        assert mass[UNDECIDED] <= Fraction(8, 1000)
        assert as_rational(mass[Answer.CLOSE]) <= close.upper()
        assert as_rational(mass[Answer.LOW]) <= (1 - close).upper()
        assert as_rational(mass[Answer.LOW] + mass[UNDECIDED]) >= (1 - close - arb("1e-8")).upper()
        assert Answer.HIGH not in mass

    def test_one_noise_serves_both_thresholds_with_opposite_signs(self) -> None:
        """f at the high, then at the low threshold: P(High, Low) exceeds 1/4, as γ favours both or neither."""

        def run(bits: BitSource) -> tuple[Answer, ...]:
            stream = comparisons((WIDTH, 0), bits)
            first = stream.query(0, 0, WIDTH)
            return (first,) if stream.closed else (first, stream.query(1, 0, WIDTH))

        mass = enumerated_law(run, 17)
        # By symmetry: P(ν1 > γ, ν2 > γ) = P(ν2 > γ) - P(ν1 <= γ, ν2 > γ).
        joint = arb(fmpq(1, 2)) - laplace_law([fmpq(0), fmpq(0)], 2 / EPSILON, 6 / EPSILON)[1]
        assert joint > fmpq(27, 100)
        both = mass[Answer.HIGH, Answer.LOW]
        assert as_rational(both) <= joint.upper()
        assert as_rational(both + mass[UNDECIDED]) >= (joint - arb("1e-8")).upper()
        assert mass[UNDECIDED] < Fraction(30, 1000)


class TestGap:
    def test_value(self) -> None:
        enclosure = gap(EPSILON, DELTA)
        assert isinstance(enclosure, arb)
        assert enclosure.str(12, radius=False) == "261.683701261"

    def test_narrower_is_refused_and_leaves_the_stream_open(self) -> None:
        bits = Script([2**63] * 3)
        stream = comparisons((0,), bits)
        left = len(bits.waiting)
        with pytest.raises(NarrowGap, match=r"at least 261\.684"):
            stream.query(0, 0, 261)
        with pytest.raises(NarrowGap):
            stream.query(0, 5, -FAR)
        assert not stream.closed and len(bits.waiting) == left
        assert stream.query(0, -1, fmpq(260684, 1000)) is Answer.CLOSE

    def test_a_width_once_accepted_is_not_asked_again_and_a_narrower_one_is(self) -> None:
        stream = comparisons((0,))
        assert stream.query(0, FAR, FAR + 262) is Answer.LOW
        assert stream.query(0, FAR, FAR + 300) is Answer.LOW
        with pytest.raises(NarrowGap):
            stream.query(0, FAR, FAR + 261)

    @pytest.mark.parametrize(("epsilon", "delta"), [(1, DELTA), (0, DELTA), (EPSILON, 1), (EPSILON, 0), (2, DELTA)])
    def test_parameters_lie_between_0_and_1(self, epsilon: fmpq | int, delta: fmpq | int) -> None:
        accountant = Accountant(5, fmpq(1, 2))
        with pytest.raises(ValueError, match="must be"):
            ComparisonStream(ScoreTable((0,)), epsilon, delta, accountant)
        assert accountant.charges == 0

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1.0, True])
    def test_thresholds_are_exact(self, bad: Any) -> None:
        with pytest.raises(TypeError, match="threshold"):
            comparisons((0,)).query(0, bad, FAR)
        with pytest.raises(TypeError, match="threshold"):
            comparisons((0,)).query(0, 0, bad)


class TestCharging:
    def test_epsilon_and_delta_are_charged_at_init(self) -> None:
        accountant = Accountant(1, DELTA)
        ComparisonStream(ScoreTable((0,)), EPSILON, DELTA, accountant)
        assert accountant.spent == (EPSILON, DELTA)
        with pytest.raises(BudgetExceeded, match="delta"):
            ComparisonStream(ScoreTable((0,)), EPSILON, DELTA, accountant)
        assert accountant.spent == (EPSILON, DELTA)

    def test_bits_are_the_systems_by_default(self) -> None:
        assert isinstance(comparisons((0,))._bits, SystemBits)
