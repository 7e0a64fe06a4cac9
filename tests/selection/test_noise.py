"""The law of the sampler, by enumerating its bits; its corners; and how it is built."""

import ast
import inspect
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import pytest
from above_threshold_law import geometric_law, laplace_law
from bit_strings import UNDECIDED, Script, enumerated_law
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.selection import noise
from certify.selection.bits import BitsExhausted, BitSource, SeededBits
from certify.selection.noise import Geometric, InverseExponential, Laplace, Noise, ThresholdNoise, Uniform, exceeds

NONE = "none"
Run = Callable[[BitSource], Hashable]

ONE_QUERY = (20, Fraction(3, 1000))
TWO_QUERIES = (18, Fraction(15, 1000))


def stream(threshold: Noise, query: Noise, shifts: Sequence[fmpq | int], *, strict: bool = True) -> Run:
    """AboveThreshold on queries with these τ - f: the index of the first yes."""

    def run(source: BitSource) -> Hashable:
        gamma = ThresholdNoise(threshold, source)
        for j, shift in enumerate(shifts):
            if exceeds(query, gamma, fmpq(shift), source, strict=strict):
                return j
        return NONE

    return run


def redrawn_stream(threshold: Noise, query: Noise, shifts: Sequence[fmpq | int]) -> Run:
    """The mutant that draws the threshold noise anew for every query."""

    def run(source: BitSource) -> Hashable:
        for j, shift in enumerate(shifts):
            if exceeds(query, ThresholdNoise(threshold, source), fmpq(shift), source):
                return j
        return NONE

    return run


def objections(run: Run, upper_ends: Sequence[arb | Fraction], length: int, undecided: Fraction) -> list[str]:
    """Why the sampler's law is not the one with these certified probabilities (of index 0, 1, ..., none).

    The decided mass of an outcome is a part of its probability. As both sum to 1, the undecided mass bounds how
    far any of them can fall short.
    """
    mass = enumerated_law(run, length)
    found = [] if mass.get(UNDECIDED, Fraction(0)) <= undecided else [f"undecided: {float(mass[UNDECIDED])}"]
    for outcome, upper in zip([*range(len(upper_ends) - 1), NONE], upper_ends, strict=True):
        decided = mass.get(outcome, Fraction(0))
        exact = fmpq(decided.numerator, decided.denominator)
        if not (exact <= upper if isinstance(upper, arb) else decided <= upper):
            found.append(f"{outcome}: decided {float(decided)}")
    return found


def laplace_objections(run: Run, shifts: Sequence[fmpq | int], length: int, undecided: Fraction) -> list[str]:
    """Against Lap(2), Lap(4): Algorithm 2 with ε = 1."""
    law = laplace_law([fmpq(each) for each in shifts], fmpq(2), fmpq(4))
    return objections(run, [each.upper() for each in law], length, undecided)


class TestLaw:
    def test_reference_is_the_closed_form_of_one_query(self) -> None:
        for t in (0, 1, 4):
            law = laplace_law([fmpq(t)], fmpq(2), fmpq(4))
            expected = (16 * arb(fmpq(-t, 4)).exp() - 4 * arb(fmpq(-t, 2)).exp()) / 24
            assert law[0].overlaps(expected) and law[0].rad() < 1e-15
            assert (law[0] + law[1]).contains(1)

    def test_reference_has_the_recorded_digits(self) -> None:
        """f = (0, 1, 2), τ = 2, ε = 1: a row of the regression cases."""
        law = laplace_law([fmpq(2), fmpq(1), fmpq(0)], fmpq(2), fmpq(4))
        recorded = ["0.343040532946515", "0.237273192652310", "0.165161780654431", "0.254524493746744"]
        assert [each.str(15, radius=False) for each in law] == recorded

    @pytest.mark.parametrize("shift", [0, -3, fmpq(16, 3)])
    def test_one_query(self, shift: fmpq | int) -> None:
        run = stream(Laplace(fmpq(2)), Laplace(fmpq(4)), [shift])
        assert laplace_objections(run, [shift], *ONE_QUERY) == []

    @pytest.mark.parametrize("shifts", [(0, 0), (-3, 2), (8, 0)])
    def test_two_queries_share_one_threshold_noise(self, shifts: Sequence[fmpq | int]) -> None:
        run = stream(Laplace(fmpq(2)), Laplace(fmpq(4)), shifts)
        assert laplace_objections(run, shifts, *TWO_QUERIES) == []

    @pytest.mark.parametrize(("shift", "strict"), [(0, True), (0, False), (-2, True)])
    def test_geometric_query(self, shift: int, strict: bool) -> None:
        run = stream(Geometric(fmpq(1, 4)), Geometric(fmpq(1, 2)), [shift], strict=strict)
        law = geometric_law([shift], Fraction(1, 4), Fraction(1, 2), strict=strict)
        assert objections(run, [upper for _, upper in law], *ONE_QUERY) == []

    def test_geometric_queries(self) -> None:
        run = stream(Geometric(fmpq(1, 4)), Geometric(fmpq(1, 2)), [1, -1])
        law = geometric_law([1, -1], Fraction(1, 4), Fraction(1, 2), strict=True)
        assert objections(run, [upper for _, upper in law], *TWO_QUERIES) == []

    def test_geometric_ratio_whose_tails_are_dyadic(self) -> None:
        """r = 1/3: P(γ >= 1) = 1/4 exactly, a tie of every prefix 01000…"""
        run = stream(Geometric(fmpq(1, 3)), Geometric(fmpq(1, 3)), [0])
        law = geometric_law([0], Fraction(1, 3), Fraction(1, 3), strict=True)
        assert objections(run, [upper for _, upper in law], *ONE_QUERY) == []

    @pytest.mark.parametrize("strict", [True, False])
    def test_geometric_with_irrational_ratios(self, strict: bool) -> None:
        """r = e^(-1/2), e^(-1/4), f = (0, 1, 2), τ = 2: the recorded digits of the regression cases."""
        recorded = {
            False: ["0.377540668798", "0.245821512077", "0.160493675177", "0.216144143948"],
            True: ["0.306908619977", "0.226970970112", "0.169373609535", "0.296746800376"],
        }[strict]
        query = Geometric(InverseExponential(fmpq(1, 4)))
        run = stream(Geometric(InverseExponential(fmpq(1, 2))), query, [2, 1, 0], strict=strict)
        mass = enumerated_law(run, 14)
        for outcome, digits in zip([0, 1, 2, NONE], recorded, strict=True):
            assert mass[outcome] <= Fraction(digits) <= mass[outcome] + mass[UNDECIDED]


class TestMutants:
    @pytest.mark.parametrize("factor", [fmpq(15, 16), fmpq(17, 16)])
    def test_query_scale(self, factor: fmpq) -> None:
        run = stream(Laplace(fmpq(2)), Laplace(4 * factor), [5])
        assert laplace_objections(run, [5], *ONE_QUERY)

    @pytest.mark.parametrize("factor", [fmpq(15, 16), fmpq(17, 16)])
    def test_threshold_scale(self, factor: fmpq) -> None:
        run = stream(Laplace(2 * factor), Laplace(fmpq(4)), [4])
        assert laplace_objections(run, [4], *ONE_QUERY)

    def test_threshold_noise_redrawn_for_every_query(self) -> None:
        run = redrawn_stream(Laplace(fmpq(2)), Laplace(fmpq(4)), [0, 0])
        assert laplace_objections(run, [0, 0], *TWO_QUERIES)

    def test_at_least_for_above_in_the_geometric_case(self) -> None:
        run = stream(Geometric(fmpq(1, 4)), Geometric(fmpq(1, 2)), [0], strict=False)
        law = geometric_law([0], Fraction(1, 4), Fraction(1, 2), strict=True)
        assert objections(run, [upper for _, upper in law], *ONE_QUERY)

    @pytest.mark.parametrize("ratio", [fmpq(17, 32), fmpq(15, 32)])
    def test_geometric_ratio(self, ratio: fmpq) -> None:
        run = stream(Geometric(fmpq(1, 4)), Geometric(ratio), [0])
        law = geometric_law([0], Fraction(1, 4), Fraction(1, 2), strict=True)
        assert objections(run, [upper for _, upper in law], *ONE_QUERY)

    def test_a_sampler_that_never_decides(self) -> None:
        def run(source: BitSource) -> Hashable:
            while True:
                source.take(1)

        assert laplace_objections(run, [0], 8, ONE_QUERY[1]) == ["undecided: 1.0"]


def known_noise(law: Noise, prefix: int, bits: int) -> ThresholdNoise:
    """Threshold noise of which these bits are known, and no more can be drawn."""
    gamma = ThresholdNoise(law, Script([0]))
    gamma.uniform = Uniform(Script([]), bits, prefix)
    return gamma


class TestConstruction:
    """Mironov's attack on textbook Laplace: there the possible outputs for two data sets differ, since the float
    that is drawn and the float that is returned have holes. Here nothing is returned but comparisons, and a
    comparison flips exactly where the real numbers say, to any number of bits."""

    BITS = 240

    @pytest.mark.parametrize("shift", [fmpq(0), fmpq(1, 3), fmpq(1, 3) + fmpq(1, 2**80), fmpq(-7, 5), fmpq(40)])
    @pytest.mark.parametrize("v", [1, 2**239 - 1, 2**239 + 12345, 3 * 2**237 + 1, 2**240 - 2])
    def test_answer_flips_at_the_real_probability(self, shift: fmpq, v: int) -> None:
        law, query = Laplace(fmpq(2)), Laplace(fmpq(4))
        with ctx.workprec(4 * self.BITS):
            least, greatest = (
                _tail(shift / 4 + _quantile(fmpq(end, 2**self.BITS)) / 2) * 2**self.BITS for end in (v, v + 1)
            )
            # V's interval leaves the answer open for the few U between.
            surely_yes, surely_no = int(least.lower().fmpq().floor()) - 1, int(greatest.upper().fmpq().ceil())
        assert surely_no - surely_yes < 2 ** (self.BITS // 2 + 20)
        for u, expected in ((surely_yes, True), (surely_no, False)):
            if 0 <= u < 2**self.BITS:
                known = Uniform(Script([]), self.BITS, u)
                assert exceeds(query, known_noise(law, v, self.BITS), shift, Script([]), uniform=known) is expected

    def test_no_floating_point_in_the_comparison(self) -> None:
        tree = ast.parse(inspect.getsource(noise))
        imported = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([node.module] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
        }
        assert not imported & {"math", "random", "numpy", "certify.arithmetic.elementary"}
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, float)]
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "float"]

    def test_two_shifts_closer_than_floats_are_told_apart(self) -> None:
        """1/3 and 1/3 + 2^-80 are the same float; the answers to them differ for some pair of uniform numbers."""
        law, query, v = Laplace(fmpq(2)), Laplace(fmpq(4)), 3 * 2**238 + 1
        near, far = fmpq(1, 3), fmpq(1, 3) + fmpq(1, 2**80)
        with ctx.workprec(4 * self.BITS):
            gamma = _quantile(fmpq(v, 2**self.BITS)) / 2
            between = (_tail(near / 4 + gamma) + _tail(far / 4 + gamma)) / 2 * 2**self.BITS
            u = int(between.mid().fmpq().floor())
        answers = [
            exceeds(query, known_noise(law, v, self.BITS), shift, Script([]), uniform=Uniform(Script([]), self.BITS, u))
            for shift in (near, far)
        ]
        assert answers == [True, False]


def _quantile(v: fmpq) -> arb:
    """The standard Laplace number whose upper tail is v."""
    return -arb(2 * v).log() if v <= fmpq(1, 2) else arb(2 * (1 - v)).log()


def _tail(x: arb) -> arb:
    """The standard Laplace tail."""
    return (-x).exp() / 2 if x >= 0 else 1 - x.exp() / 2


class TestCorners:
    @pytest.mark.parametrize("epsilon", [fmpq(1, 10**12), fmpq(10**4)])
    def test_extreme_epsilon(self, epsilon: fmpq) -> None:
        """The law depends on ε (τ - f) alone, so the same bits give the same answers."""
        shift = 3 / epsilon
        run = stream(Laplace(2 / epsilon), Laplace(4 / epsilon), [shift])
        assert laplace_objections(run, [3], *ONE_QUERY) == []

    @pytest.mark.parametrize("shift", [10**6, 2**200])
    def test_threshold_far_away(self, shift: int) -> None:
        """Probabilities near e^-250000 and e^-(2^198): decided by the first bits, in every one of these streams."""
        for seed in range(20):
            source = SeededBits(seed)
            gamma = ThresholdNoise(Laplace(fmpq(2)), source)
            assert not exceeds(Laplace(fmpq(4)), gamma, fmpq(shift), source)
            assert exceeds(Laplace(fmpq(4)), gamma, fmpq(-shift), source)

    def test_the_improbable_side_is_reached(self) -> None:
        """U below e^-250000/2 needs about 360,000 zero bits; then the answer is yes."""
        zeros = Uniform(Script([]), 400_000, 0)
        gamma = known_noise(Laplace(fmpq(2)), 2**63, 64)
        assert exceeds(Laplace(fmpq(4)), gamma, fmpq(10**6), Script([]), uniform=zeros)
        not_enough = Uniform(Script([]), 300_000, 1)
        assert not exceeds(Laplace(fmpq(4)), gamma, fmpq(10**6), Script([]), uniform=not_enough)

    @given(v=st.integers(0, 2**64 - 1), u=st.integers(0, 2**64 - 1), shift=st.fractions(-100, 100))
    @example(v=0, u=0, shift=Fraction(0))
    @example(v=2**64 - 1, u=2**64 - 1, shift=Fraction(0))
    @example(v=2**63, u=2**63, shift=Fraction(0))
    @example(v=2**63 - 1, u=2**63, shift=Fraction(0))
    def test_answers_fall_in_the_shift(self, v: int, u: int, shift: Fraction) -> None:
        """With the same bits, a query that is answered no is answered no at every higher threshold."""
        query, rest = Laplace(fmpq(4)), [1 << 63] * 50
        answers = []
        for step in range(4):
            source = Script(rest)
            gamma = known_noise(Laplace(fmpq(2)), v, 64)
            gamma.uniform = Uniform(source, 64, v)
            exact = fmpq(shift.numerator, shift.denominator) + step
            answers.append(exceeds(query, gamma, exact, source, uniform=Uniform(source, 64, u)))
        assert answers == sorted(answers, reverse=True)

    def test_geometric_ratio_that_53_bits_take_for_1(self) -> None:
        """r = 1 - 2^-200: the noise is of the order of 2^200, and no precision below that knows anything of it."""
        law = Geometric(1 - fmpq(1, 2**200))
        answers = []
        for seed in range(60):
            source = SeededBits(seed)
            answers.append(exceeds(law, ThresholdNoise(law, source), fmpq(0), source))
        assert 10 < sum(answers) < 50
        assert not exceeds(law, ThresholdNoise(law, SeededBits(1)), fmpq(2**210), SeededBits(1))

    @pytest.mark.parametrize("scale", [fmpq(0), fmpq(-1)])
    def test_scale_must_be_positive(self, scale: fmpq) -> None:
        with pytest.raises(ValueError, match="scale"):
            Laplace(scale)

    @pytest.mark.parametrize("ratio", [fmpq(0), fmpq(1), fmpq(-1, 2), fmpq(2)])
    def test_ratio_must_lie_between_0_and_1(self, ratio: fmpq) -> None:
        with pytest.raises(ValueError, match="ratio"):
            Geometric(ratio)

    def test_precision_is_restored_when_the_bits_run_out(self) -> None:
        with pytest.raises(BitsExhausted):
            exceeds(Laplace(fmpq(4)), known_noise(Laplace(fmpq(2)), 1, 1), fmpq(0), Script([]))
        assert ctx.prec == 53
