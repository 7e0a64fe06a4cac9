"""Algorithms 6, 7 and 8 and the sum estimate: bounds for every oracle that is accurate, and runs on the SVT."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from answering_oracles import POLICIES, AccurateOracle
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from certify.selection import binary_search as binary
from certify.selection import geometric_search as geometric
from certify.selection import linear_scan as linear
from certify.selection.accountant import Accountant
from certify.selection.bits import SeededBits
from certify.selection.oracle import Meter, SequentialStream, StreamClosed, ThresholdStream
from certify.selection.scores import ScoreTable
from certify.selection.sum_estimate import sum_estimate
from certify.selection.svt import SvtOracle

POLICY = pytest.mark.parametrize("policy", POLICIES)
SIZE = pytest.mark.parametrize("n", [1, 2, 1000, 2**20, 2**80, 2**200 + 12345])
BETA = fmpq(1, 20)


def spread(d: int, n: int) -> list[int]:
    """Scores in [0, n], several of them close to the greatest."""
    return [n * j // d if j % 3 else max(n - n // 10 - j, 0) for j in range(d)]


class TestBinarySearch:
    @POLICY
    @SIZE
    def test_guarantees(self, policy: str, n: int) -> None:
        d, epsilon = 7, fmpq(1)
        fixed = binary.parameters(d, n, epsilon, BETA)
        for seed in range(3):
            oracle = AccurateOracle(spread(d, n), lambda _: fixed.alpha, POLICIES[policy](seed))
            result = binary.binary_search(oracle, d, n, epsilon, BETA)
            assert max(oracle.scores) - oracle.scores[result.index] <= 3 * fixed.alpha
            assert len(result.rounds) <= fixed.rounds
            assert result.usage.queries == oracle.queries <= d * fixed.rounds
            assert result.usage.streams == len(oracle.budgets) <= 2 * fixed.rounds
            assert result.usage.epsilon == sum(oracle.budgets, fmpq(0)) <= epsilon
            for each in result.rounds:
                assert each.lower <= max(oracle.scores) <= each.upper

    def test_parameters(self) -> None:
        """n = 8: R = 5; α is (80/ε) log(20 d/β), rounded up."""
        fixed = binary.parameters(3, 8, fmpq(1, 2), BETA)
        assert fixed.rounds == 5 and fixed.stream_epsilon == fmpq(1, 20)
        with ctx.workprec(200):
            true = 160 * arb(1200).log()
            assert true <= fixed.alpha < true + arb("1e-30")

    def test_alpha_is_at_least_1(self) -> None:
        """Without that R rounds do not always suffice: with ε = 10^4 the formula gives less."""
        fixed = binary.parameters(2, 2**20, 10**4, BETA)
        assert fixed.alpha == 1
        oracle = AccurateOracle([0, 0], lambda _: fixed.alpha, POLICIES["always yes"](0))
        assert len(binary.binary_search(oracle, 2, 2**20, 10**4, BETA).rounds) <= fixed.rounds

    def test_stops_at_the_only_yes(self) -> None:
        oracle = AccurateOracle([0, 1000, 0], lambda _: fmpq(1), POLICIES["always no"](0))
        result = binary.binary_search(oracle, 3, 1000, 100, BETA)
        assert result.index == 1 and len(result.rounds) == 1 and result.rounds[0].returned == (1,)
        assert result.usage.streams == 2 and result.usage.queries == 3

    def test_no_second_scan_behind_the_last_candidate(self) -> None:
        oracle = AccurateOracle([0, 0, 1000], lambda _: fmpq(1), POLICIES["always no"](0))
        result = binary.binary_search(oracle, 3, 1000, 100, BETA)
        assert result.index == 2 and result.usage.streams == 1 and result.usage.queries == 3


class TestLinearScan:
    @POLICY
    def test_guarantees(self, policy: str) -> None:
        d, n = 3, 400
        alpha = linear.accuracy(d, n, 1, BETA)
        oracle = AccurateOracle([10, 390, 200], lambda _: alpha, POLICIES[policy](1))
        result = linear.linear_scan(oracle, d, n, 0, 1)
        assert max(oracle.scores) - oracle.scores[result.index] <= 2 * alpha + 1
        assert result.usage.streams == 1 and result.usage.epsilon == 1
        assert result.usage.queries == oracle.queries <= d * (n + 1)

    def test_nothing_returned(self) -> None:
        oracle = AccurateOracle([0, 0], lambda _: fmpq(10), POLICIES["always no"](0))
        result = linear.linear_scan(oracle, 2, 5, 0, 1)
        assert result.threshold is None and result.index == 0 and result.usage.queries == 12

    def test_thresholds_fall_to_the_lower_limit(self) -> None:
        oracle = AccurateOracle([3, 3], lambda _: fmpq(1, 2), POLICIES["always no"](0))
        result = linear.linear_scan(oracle, 2, 9, 2, 1)
        assert (result.threshold, result.index, result.usage.queries) == (2, 0, 2 * 7 + 1)

    @pytest.mark.parametrize("limits", [(3, 4), (3, -1)])
    def test_limits(self, limits: tuple[int, int]) -> None:
        with pytest.raises(ValueError, match="limit"):
            linear.linear_scan(AccurateOracle([0], lambda _: fmpq(1), POLICIES["noise"](0)), 1, *limits, 1)


class TestGeometricSearch:
    @POLICY
    @SIZE
    @pytest.mark.parametrize("factor", [8, 32])
    def test_guarantees(self, policy: str, n: int, factor: int) -> None:
        """Lemmas 6.4 and 6.5 in every round, Theorem 6.6 at the end, for streams that are just accurate."""
        d, epsilon = 6, fmpq(1)
        rounds = geometric.default_rounds(n)
        accuracy = {each.epsilon: each.alpha for each in geometric.schedule(d, rounds, epsilon, BETA, factor)}
        oracle = AccurateOracle(spread(d, n), accuracy.__getitem__, POLICIES[policy](4))
        result = geometric.select(oracle, d, n, epsilon, BETA, factor)
        best = max(oracle.scores)
        states = [*(each.state for each in result.steps), geometric.State(result.index, result.lower, result.upper)]
        for before, after, step in zip(states[:-1], states[1:], result.steps, strict=True):
            assert oracle.scores[after.index] >= after.lower >= before.lower
            assert best <= after.upper <= before.upper
            assert after.upper - after.lower <= (before.upper - before.lower) / 2 + step.round.alpha
        assert result.usage.epsilon == sum(oracle.budgets, fmpq(0)) == epsilon
        assert result.usage.streams == rounds and result.usage.queries == oracle.queries <= d * rounds
        with ctx.workprec(4096):
            bound = arb(fmpq(n, 2**rounds)) + 12 * factor / arb(epsilon) * arb(2 * d * rounds / BETA).log()
            assert result.upper - result.lower <= bound

    @given(
        size=st.integers(1, 1000),
        rounds=st.integers(1, 120),
        epsilon=st.fractions(min_value="1/1000000", max_value=10000),
        beta=st.fractions(min_value="1/1000000", max_value="999/1000"),
    )
    def test_schedule(self, size: int, rounds: int, epsilon: fmpq, beta: fmpq) -> None:
        schedule = geometric.schedule(size, rounds, epsilon, beta)
        exact = fmpq(epsilon.numerator, epsilon.denominator)
        assert sum((each.epsilon for each in schedule), fmpq(0)) == exact
        for early, late in pairwise(schedule):
            assert early.epsilon == late.epsilon * fmpq(3, 4)
        with ctx.workprec(4096):
            log = arb(2 * size * rounds / fmpq(beta.numerator, beta.denominator)).log()
            total = sum((each.alpha / 2 ** (rounds - t) for t, each in enumerate(schedule, 1)), fmpq(0))
            assert total <= 384 / exact * log
            assert all(each.alpha >= 32 / each.epsilon * log for each in schedule)

    def test_advance_is_the_printed_step(self) -> None:
        state, round_ = geometric.State(5, fmpq(0), fmpq(100)), geometric.Round(fmpq(1), fmpq(10))
        assert geometric.advance(state, round_, None) == geometric.State(5, fmpq(0), fmpq(60))
        assert geometric.advance(state, round_, 2) == geometric.State(2, fmpq(40), fmpq(100))
        wide = geometric.Round(fmpq(1), fmpq(50))
        assert geometric.advance(state, wide, None) == state
        assert geometric.advance(state, wide, 2) == state  # m - α = ℓ is not above ℓ: the witness stays

    @pytest.mark.parametrize(("n", "rounds"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (2**80, 80), (2**80 + 1, 81)])
    def test_default_rounds(self, n: int, rounds: int) -> None:
        assert geometric.default_rounds(n) == rounds

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"candidates": ()}, "number of candidates"),
            ({"interval": (2, 1)}, "empty"),
            ({"rounds": 0}, "rounds"),
            ({"epsilon": 0}, "epsilon"),
            ({"beta": 1}, "beta"),
            ({"alpha_factor": 0}, "alpha_factor"),
            ({"witness": -1}, "witness"),
        ],
    )
    def test_parameters_out_of_range(self, change: dict[str, object], message: str) -> None:
        given_ = {"candidates": (0,), "interval": (0, 1), "witness": 0, "rounds": 1, "epsilon": 1, "beta": BETA}
        oracle = AccurateOracle([0], lambda _: fmpq(1), POLICIES["noise"](0))
        with pytest.raises(ValueError, match=message):
            geometric.geometric_search(oracle, **(given_ | change))  # type: ignore[arg-type]
        assert oracle.budgets == []


class TestOnTheSvt:
    """With the real primitive; the bits are seeded, so that nothing is left to chance."""

    def oracle(self, sums: Sequence[int], epsilon: int) -> tuple[SvtOracle, Accountant]:
        accountant = Accountant(epsilon)
        return SvtOracle(ScoreTable(tuple(sums)), accountant, SeededBits(11)), accountant

    def test_each_algorithm_finds_a_clear_winner_within_its_budget(self) -> None:
        n, sums = 2**20, [2**19, 0, 2**20 - 5, 100]
        for run in (
            lambda oracle: binary.binary_search(oracle, 4, n, 1, BETA),
            lambda oracle: geometric.select(oracle, 4, n, 1, BETA),
        ):
            oracle, accountant = self.oracle(sums, 1)
            result = run(oracle)
            assert result.index == 2
            assert accountant.spent[0] == result.usage.epsilon <= 1

    def test_linear_scan(self) -> None:
        oracle, accountant = self.oracle([500, 20, 990], 1)
        assert linear.linear_scan(oracle, 3, 1000, 0, 1).index == 2
        assert accountant.remaining[0] == 0

    def test_sum_estimate(self) -> None:
        n, total = 2**30, 123456789
        oracle, accountant = self.oracle([0, total], 1)
        result = sum_estimate(oracle, 1, n, 1, BETA)
        assert result.lower <= total <= result.upper and result.index == 1
        with ctx.workprec(300):
            assert result.upper - result.lower <= 1 + 384 * arb(60 / BETA).log()
        assert result.usage.queries == result.usage.streams == 30
        assert accountant.spent[0] == 1


class TestInterface:
    def test_sequential_stream_closes(self) -> None:
        class Yes(SequentialStream):
            def answer(self, candidate: int, threshold: fmpq) -> bool:
                return candidate == 1

        stream = Yes()
        assert stream.first_yes([0, 0, 1, 0], fmpq(0)) == 2
        with pytest.raises(StreamClosed):
            stream.query(0, fmpq(0))

    def test_meter_counts_what_is_answered(self) -> None:
        class Oracle:
            def open_stream(self, epsilon: fmpq) -> ThresholdStream:
                return AccurateOracle([5, 10], lambda _: fmpq(1), POLICIES["noise"](0)).open_stream(epsilon)

        meter = Meter(Oracle())
        stream = meter.open_stream(fmpq(1, 3))
        assert not stream.query(0, fmpq(7))
        assert stream.first_yes([0, 0, 1, 1], fmpq(8)) == 2
        with pytest.raises(StreamClosed):
            stream.query(0, fmpq(7))
        usage = meter.usage
        assert (usage.queries, usage.streams, usage.epsilon) == (4, 1, fmpq(1, 3))
