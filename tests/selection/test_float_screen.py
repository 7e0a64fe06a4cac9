"""The float screen of batches: its lemma, and that it never decides otherwise than Arb."""

from fractions import Fraction

import numpy as np
import pytest
from bit_strings import Script
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.elementary import exp_array
from certify.arithmetic.enclosure import Enclosure
from certify.selection.accountant import Accountant
from certify.selection.bits import SeededBits
from certify.selection.noise import Laplace, ThresholdNoise, Uniform, exceeds
from certify.selection.scores import ScoreTable
from certify.selection.screen import CHUNK, MARGIN, Screen, exp_float
from certify.selection.svt import SvtStream

LEMMA = arb((1, -41))


def true_probability(shift: fmpq, gamma: ThresholdNoise, law: Laplace) -> arb:
    """P(ν > shift + γ), the hull over what is known of γ."""
    least, greatest = law.tails(shift, *gamma.interval(), strict=True)
    return least.union(greatest)


def screened(law: Laplace, threshold_scale: fmpq, v: int) -> tuple[Screen | None, ThresholdNoise]:
    """The screen of a stream whose V begins with these 64 bits."""
    gamma = ThresholdNoise(Laplace(threshold_scale), Script([v, *([1 << 63] * 20)]))
    return Screen.of(law, gamma), gamma


class TestLemma:
    @given(
        v=st.integers(0, 2**64 - 1),
        sums=st.lists(st.integers(-(2**60), 2**60) | st.integers(-100, 100), min_size=1, max_size=10),
        threshold=st.fractions(-(2**61), 2**61) | st.fractions(-50, 50),
        epsilon=st.sampled_from([fmpq(1, 10**12), fmpq(1, 3), fmpq(1), fmpq(256)]),
    )
    @example(v=0, sums=[0], threshold=Fraction(0), epsilon=fmpq(1))
    @example(v=2**64 - 1, sums=[0], threshold=Fraction(0), epsilon=fmpq(256))
    @example(v=2**63, sums=[1], threshold=Fraction(10**30 - 1, 10**30), epsilon=fmpq(256))
    @example(v=1, sums=[2**60, -(2**60)], threshold=Fraction(-(10**30) + 1, 10**30), epsilon=fmpq(1))
    def test_probabilities_of_a_batch(self, v: int, sums: list[int], threshold: Fraction, epsilon: fmpq) -> None:
        exact = fmpq(threshold.numerator, threshold.denominator)
        law = Laplace(4 / epsilon)
        screen, gamma = screened(law, 2 / epsilon, v)
        assert screen is not None
        floats = screen.probabilities(exact, np.array(sums, dtype=np.int64))
        assert floats is not None
        with ctx.workprec(1500):
            for value, total in zip(floats, sums, strict=True):
                assert abs(true_probability(exact - total, gamma, law) - arb(float(value))) <= LEMMA

    @given(
        v=st.integers(0, 2**64 - 1),
        shift=st.fractions(-(2**300), 2**300) | st.fractions(-50, 50) | st.fractions(-1, 1),
        epsilon=st.sampled_from([fmpq(1, 10**12), fmpq(1, 3), fmpq(1), fmpq(10**4)]),
    )
    @example(v=2**63, shift=Fraction(10**30 - 1, 10**30), epsilon=fmpq(10**4))
    @example(v=2**62 + 1, shift=Fraction(1, 2**1080), epsilon=fmpq(10**4))
    @example(v=2**62 + 1, shift=Fraction(2**1023), epsilon=fmpq(10**4))
    def test_answers_of_one_query_are_true(self, v: int, shift: Fraction, epsilon: fmpq) -> None:
        """What the screen answers near the probability is what the real numbers say."""
        exact = fmpq(shift.numerator, shift.denominator)
        law = Laplace(4 / epsilon)
        screen, gamma = screened(law, 2 / epsilon, v)
        assert screen is not None
        with ctx.workprec(1500):
            p = true_probability(exact, gamma, law) * 2**64
            lower = Enclosure.of(p).lower  # `p.fmpq()` would write out e^-(2^1000)
            assert lower is not None
            middle = int(lower.floor())
            for offset in (*range(-3, 4), *(sign * 2**k for k in range(2, 40) for sign in (1, -1))):
                word = min(max(middle + offset, 0), 2**64 - 1)
                answer = screen.answer(exact, word)
                if answer is True:
                    assert arb(word + 1) <= p
                elif answer is False:
                    assert arb(word) >= p

    @pytest.mark.parametrize("shift", [fmpq(0), fmpq(5, 3), fmpq(-40), fmpq(2**200), fmpq(-(2**200))])
    def test_one_query_is_mostly_decided(self, shift: fmpq) -> None:
        """All but 2^-37 of the words, at any size of the scores."""
        law = Laplace(fmpq(4))
        screen, gamma = screened(law, fmpq(2), 0x6A09E667F3BCC908)
        assert screen is not None
        with ctx.workprec(1500):
            lower = Enclosure.of(true_probability(shift, gamma, law) * 2**64).lower
            assert lower is not None
            edge = int(lower.floor())
        for word, expected in ((edge - 2**26, True), (edge + 2**26, False)):
            if 0 <= word < 2**64:
                assert screen.answer(shift, word) is expected

    def test_bound_is_not_idle(self) -> None:
        """The floats are off by something: there is a bound to prove."""
        law = Laplace(fmpq(4))
        screen, gamma = screened(law, fmpq(2), 12345678901234567890)
        assert screen is not None
        floats = screen.probabilities(fmpq(1, 3), np.array([0]))
        assert floats is not None
        with ctx.workprec(300):
            error = abs(true_probability(fmpq(1, 3), gamma, law) - arb(float(floats[0])))
        assert arb((1, -60)) < error < LEMMA <= arb(MARGIN) / 2

    def test_exponential_of_one_float_is_that_of_arrays(self) -> None:
        """Bit by bit, so that the array's lemma is the float's."""
        generator = np.random.default_rng(1)
        points = np.concatenate(
            [generator.uniform(-700, 700, 20_000), generator.uniform(-2, 2, 20_000), [0.0, -700.0, 700.0]]
        )
        assert [exp_float(float(x)) for x in points] == exp_array(points).tolist()

    @pytest.mark.parametrize("threshold", [fmpq(2**63), fmpq(-(2**63))])
    def test_batch_refuses_large_thresholds(self, threshold: fmpq) -> None:
        screen, _ = screened(Laplace(fmpq(4)), fmpq(2), 2**63 + 17)
        assert screen is not None and screen.probabilities(threshold, np.array([0])) is None

    def test_batch_refuses_large_rates(self) -> None:
        screen, _ = screened(Laplace(fmpq(1, 65)), fmpq(1, 130), 2**63 + 17)
        assert screen is not None and screen.probabilities(fmpq(0), np.array([0])) is None

    def test_refuses_what_it_does_not_cover(self) -> None:
        for scale in (fmpq(2) ** 901, fmpq(1, 2**901)):
            assert screened(Laplace(scale), scale / 2, 2**63 + 17)[0] is None
        gamma = ThresholdNoise(Laplace(fmpq(1000)), Script([2**20, *([0] * 20)]))
        assert Screen.of(Laplace(fmpq(1)), gamma) is None

    def test_shift_beyond_the_floats_is_left_to_arb(self) -> None:
        screen, _ = screened(Laplace(fmpq(4)), fmpq(2), 2**63 + 17)
        assert screen is not None and screen.answer(fmpq(10) ** 400, 0) is None


class TestDecisions:
    """A batch and a stream that is asked one by one, with the same words, answer the same."""

    @given(
        seed=st.integers(0, 2**32),
        threshold=st.integers(-20, 60),
        epsilon=st.sampled_from([fmpq(1, 50), fmpq(1), fmpq(7, 3)]),
    )
    @example(seed=0, threshold=1000, epsilon=fmpq(1))
    def test_same_as_one_by_one(self, seed: int, threshold: int, epsilon: fmpq) -> None:
        generator = np.random.default_rng(seed)
        sums = tuple(int(each) for each in generator.integers(-10, 30, size=40))
        words = [int(each) for each in generator.integers(0, 2**64, size=200, dtype=np.uint64)]
        table = ScoreTable(sums)
        batch = SvtStream(table, epsilon, Accountant(epsilon), Script(words)).first_yes(range(40), threshold)
        single = SvtStream(table, epsilon, Accountant(epsilon), Script(words))
        one_by_one = next((j for j in range(40) if single.query(j, threshold)), None)
        assert batch == one_by_one

    @pytest.mark.parametrize("offset", [0, 1, -1, 2**11, -(2**11), 2**23, -(2**23), 2**25, -(2**25)])
    @pytest.mark.parametrize("sum_", [0, 3, -5])
    def test_words_at_the_very_edge(self, offset: int, sum_: int) -> None:
        """Uniform numbers whose first 64 bits are those of the probability, and near it: float cannot tell these."""
        v, law = 0x6A09E667F3BCC908, Laplace(fmpq(4))
        gamma = ThresholdNoise(Laplace(fmpq(2)), Script([v]))
        with ctx.workprec(256):
            edge = int((true_probability(fmpq(1) - sum_, gamma, law) * 2**64).mid().fmpq().floor())
        word, rest = edge + offset, [0x0123456789ABCDEF, 0xFEDCBA9876543210] * 8
        source = Script([v, word, *rest])
        one = ThresholdNoise(Laplace(fmpq(2)), source)
        expected = exceeds(law, one, fmpq(1) - sum_, source)
        table = ScoreTable((sum_, *([-(10**6)] * 39)))
        fillers = [1 << 63] * 39
        stream = SvtStream(table, 1, Accountant(1), Script([v, word, *fillers, *rest]))
        assert stream.first_yes(range(40), 1) == (0 if expected else None)
        assert SvtStream(table, 1, Accountant(1), Script([v, word, *rest])).query(0, 1) is expected
        if abs(offset) > 2**20:
            assert expected is (offset < 0)

    def test_without_its_margin_the_screen_would_err(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The words at the edge need Arb: a screen that trusts its floats answers some of them wrongly."""
        monkeypatch.setattr("certify.selection.screen.MARGIN", -(2.0**-52))
        with pytest.raises(AssertionError):
            for sum_ in (0, 3, -5):
                for offset in (0, 1, -1, 2**9, -(2**9), 2**10, -(2**10), 2**11, -(2**11)):
                    self.test_words_at_the_very_edge(offset, sum_)

    def test_more_than_one_chunk(self) -> None:
        d = 2 * CHUNK + 100
        table = ScoreTable(tuple([0] * (d - 1) + [10**6]))
        stream = SvtStream(table, 1, Accountant(1), SeededBits(1))
        assert stream.first_yes(range(d), 5 * 10**5) == d - 1
        assert stream.closed

    def test_the_ambiguous_continue_with_their_own_bits(self) -> None:
        """`uniform` continues a number: the 64 bits that the batch drew are its first."""
        known = Uniform(Script([2**63]), 64, 2**63)
        known.refine()
        assert (known.bits, known.prefix) == (128, (2**63 << 64) | 2**63)
