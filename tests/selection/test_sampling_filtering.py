"""Algorithm 9: its schedule, and every phase's invariants at n = 2^80 and 2^200 for every accurate oracle."""

from collections.abc import Callable, Sequence

import pytest
from answering_oracles import POLICIES, AccurateOracle
from flint import arb, ctx, fmpq

from certify.selection.accountant import Accountant
from certify.selection.bits import GivenBits, SeededBits
from certify.selection.parameters import log_upper
from certify.selection.sampling_filtering import (
    SamplingFilteringResult,
    Schedule,
    Variant,
    bernoulli_sampler,
    sampling_filtering,
    schedule,
)
from certify.selection.scores import ScoreTable
from certify.selection.svt import SvtOracle

SIZES = [2, 3, 4, 1000, 2**80, 2**200, 2**1000 + 1, 2**700_000, 2 ** (2**20) + 1]
LARGE = [2**80, 2**200, 2**200 + 987654321]
PRINTED_COUNT, PRINTED_STOP = Variant(count="printed"), Variant(stop="printed")


def scores_like(shape: str, d: int, n: int, a: int) -> list[int]:
    """Scores in [0, n] whose differences are of the order of a phase's accuracy a, where it is hard."""
    match shape:
        case "equal":
            return [n // 2] * d
        case "ladder":
            return [n // 3 + (7 * a * ((37 * j) % d)) // 10 for j in range(d)]
        case "one ahead":
            return [n - 1 if j == d // 2 else n - 200 * a - j for j in range(d)]
        case "zero":
            return [0] * d
    raise AssertionError(shape)


def accuracy(fixed: Schedule) -> Callable[[fmpq], fmpq]:
    """A stream of the filtering pass is accurate to a, one of Algorithm 8 to the least possible α_t, with |P| = 1."""
    filtering = {phase.epsilon: phase.a for phase in fixed.phases}
    log = log_upper(lambda: 128 / fixed.run_beta)
    return lambda epsilon: filtering.get(epsilon, 32 * log / epsilon)


def check_run(result: SamplingFilteringResult, oracle: AccurateOracle, d: int, n: int, epsilon: fmpq) -> None:
    """Lemmas 6.9 and 6.10, the query count of the run, and Theorem 6.12."""
    scores, fixed = oracle.scores, result.schedule
    best, alpha = max(scores), fixed.alpha
    lengths = [*(each.x for each in fixed.phases), fixed.final_x][1:]
    spent = fmpq(0)
    for phase, next_x in zip(result.phases, lengths, strict=True):
        t, a = phase.parameters.t, phase.parameters.a
        assert best <= phase.upper and scores[phase.witness] >= phase.lower
        assert phase.upper - phase.lower <= phase.parameters.x * alpha
        sampled_best = max(scores[j] for j in phase.sample)
        assert phase.witness in phase.sample
        assert scores[phase.sampled.index] >= phase.sampled.lower >= phase.lower
        assert phase.sampled.upper - phase.sampled.lower <= (phase.upper - phase.lower) / 2**t + 48 * a
        assert sampled_best <= phase.sampled.lower + 49 * a
        assert phase.threshold == phase.sampled.lower + 50 * a
        assert all(scores[j] > sampled_best and scores[j] > phase.threshold - a for j in phase.yes)
        above = sum(score > sampled_best for score in scores)
        assert not phase.stopped or above >= t**2
        assert phase.stopped == (len(phase.yes) == phase.parameters.stop)
        if phase.stopped:
            assert list(phase.candidates) == list(range(d))
        else:
            assert set(phase.candidates) == {*phase.yes, phase.sampled.index}
            assert all(scores[j] < phase.threshold + a for j in range(d) if j not in phase.candidates)
        searched = phase.searched
        assert scores[searched.index] >= searched.lower
        assert max(scores[j] for j in phase.candidates) <= searched.upper
        assert best <= phase.new_upper
        assert phase.new_upper - searched.lower <= 51 * a <= next_x * alpha
        streams = min(len(phase.yes) + 1, phase.parameters.stop)
        assert phase.sampled.usage.epsilon == searched.usage.epsilon == phase.parameters.epsilon
        spent += phase.parameters.epsilon * (2 + streams)
        assert phase.parameters.epsilon * (2 + streams) <= phase.parameters.budget <= 2 * epsilon / t
    assert all(type(end) is fmpq for end in (result.final.lower, result.final.upper))
    assert best - scores[result.index] <= 97 * alpha
    assert result.final.usage.epsilon == epsilon / 2
    assert result.usage.epsilon == sum(oracle.budgets, fmpq(0)) <= spent + epsilon / 2 <= fixed.budget <= epsilon
    assert result.usage.queries == oracle.queries and result.usage.streams == len(oracle.budgets)


class TestSchedule:
    @pytest.mark.parametrize("n", SIZES, ids=[f"{n.bit_length()} bits" for n in SIZES])
    @pytest.mark.parametrize("d", [1, 1000])
    def test_budget_and_counts(self, n: int, d: int) -> None:
        """Lemma 6.9 in exact rationals; 1 + Σ(t² + 2) <= N; equation (1)."""
        epsilon, beta = fmpq(1), fmpq(1, 1000)
        fixed = schedule(d, n, epsilon, beta)
        assert sum((phase.budget for phase in fixed.phases), fmpq(0)) <= epsilon / 16
        assert fixed.budget <= epsilon and fixed.final_epsilon == epsilon / 2
        assert 1 + sum(phase.t**2 + 2 for phase in fixed.phases) <= fixed.runs
        assert fixed.run_beta == beta / fixed.runs
        assert fixed.final_x < 2**64 and (fixed.phases or fixed.final_x == n / fixed.alpha)
        for early, late in zip(fixed.phases[:-1], fixed.phases[1:], strict=True):
            assert late.x == 64 * early.t**3 and 2 * late.t <= early.t
        for phase in fixed.phases:
            assert phase.x >= 2**64 and 2 ** (phase.t - 1) < phase.x <= 2**phase.t
            assert phase.a == phase.t**3 * fixed.alpha and phase.epsilon == epsilon / phase.t**3
            assert phase.stop == phase.t**2

    def test_two_phases_need_astronomic_n(self) -> None:
        assert len(schedule(10, 2**200, 1, fmpq(1, 10)).phases) == 1
        assert [phase.t for phase in schedule(10, 2 ** (2**20), 1, fmpq(1, 10)).phases] == [1048568, 66]

    @pytest.mark.parametrize("n", [2, 3, 1000, 2**200 + 1])
    def test_parameters_are_the_papers_rounded_up(self, n: int) -> None:
        d, epsilon, beta = 12, fmpq(2, 3), fmpq(1, 50)
        fixed = schedule(d, n, epsilon, beta)
        with ctx.workprec(400):
            log2 = arb(2 * n).log() / arb(2).log()
            runs, alpha = 3 * log2 * log2, 8 * (384 * d * log2**3 / arb(beta)).log() / arb(epsilon)
            assert (runs - arb("1e-50")) < fixed.runs < runs + 1
            assert alpha - arb("1e-50") < fixed.alpha < alpha + arb("1e-30")
            assert fixed.runs <= 3 * log2**3 + arb("1e-50")

    def test_printed_count_is_refuted_as_soon_as_a_phase_runs(self) -> None:
        printed = schedule(1000, 2**100, 1, fmpq(1, 1000), PRINTED_COUNT)
        assert printed.runs == 303
        assert 1 + sum(phase.t**2 + 2 for phase in printed.phases) == 8467

    def test_printed_stop_and_natural_logarithm(self) -> None:
        printed = schedule(10, 2**100, 1, fmpq(1, 10), PRINTED_STOP)
        assert [phase.stop for phase in printed.phases] == [phase.t for phase in printed.phases]
        assert printed.budget < schedule(10, 2**100, 1, fmpq(1, 10)).budget
        natural = schedule(10, 2**100, 1, fmpq(1, 10), Variant(logarithm="natural"))
        with ctx.workprec(200):
            expected = 8 * (3840 * arb(2**101).log() ** 3 / arb(fmpq(1, 10))).log()
            assert expected <= natural.alpha < expected + arb("1e-30")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((0, 2, 1, fmpq(1, 2)), "d is 0"),
            ((1, 1, 1, fmpq(1, 2)), "n is 1"),
            ((1, 2, 2, fmpq(1, 2)), "at most 1"),
            ((1, 2, 0, fmpq(1, 2)), "epsilon"),
            ((1, 2, 1, 1), "beta"),
        ],
    )
    def test_out_of_range(self, arguments: tuple[int, int, int, fmpq], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            schedule(*arguments)


class TestRuns:
    @pytest.mark.parametrize("n", LARGE)
    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize("shape", ["equal", "ladder", "one ahead", "zero"])
    def test_every_phase_keeps_its_invariants(self, shape: str, policy: str, n: int) -> None:
        d, epsilon, beta = 60, fmpq(1, 2), fmpq(1, 100)
        fixed = schedule(d, n, epsilon, beta)
        assert fixed.phases
        a = int(fixed.phases[0].a.floor())
        oracle = AccurateOracle(scores_like(shape, d, n, a), accuracy(fixed), POLICIES[policy](5))
        result = sampling_filtering(oracle, d, n, epsilon, beta, sampler=bernoulli_sampler(SeededBits(3)))
        assert result.schedule == fixed
        check_run(result, oracle, d, n, epsilon)

    @pytest.mark.parametrize("policy", ["always yes", "always no"])
    def test_invariants_fail_for_an_oracle_that_is_not_accurate(self, policy: str) -> None:
        """The checks are not vacuous: with 1000 times the error that is allowed some are broken."""
        d, n, epsilon, beta = 60, 2**80, fmpq(1, 2), fmpq(1, 100)
        fixed = schedule(d, n, epsilon, beta)
        accurate, a = accuracy(fixed), int(fixed.phases[0].a.floor())
        scores = scores_like("one ahead", d, n, a)
        oracle = AccurateOracle(scores, lambda each: 1000 * accurate(each), POLICIES[policy](5))
        result = sampling_filtering(oracle, d, n, epsilon, beta, sampler=bernoulli_sampler(SeededBits(3)))
        with pytest.raises(AssertionError):
            check_run(result, oracle, d, n, epsilon)

    @pytest.mark.parametrize("policy", ["noise", "always no"])
    def test_filtering_pass_that_stops(self, policy: str) -> None:
        """A sample that misses more than t² candidates far ahead: the pass stops at t² and searches all."""
        n, d, epsilon, beta = 2**80, 5500, fmpq(1), fmpq(1, 10**6)
        fixed = schedule(d, n, epsilon, beta)
        t, a = fixed.phases[0].t, int(fixed.phases[0].a.floor())
        assert d > t**2 + 1
        scores = [n // 4] + [n // 2 + 1000 * a] * (d - 1)
        oracle = AccurateOracle(scores, accuracy(fixed), POLICIES[policy](2))
        result = sampling_filtering(oracle, d, n, epsilon, beta, sampler=lambda d, t: [])
        assert result.phases[0].stopped and len(result.phases[0].yes) == t**2
        check_run(result, oracle, d, n, epsilon)

    def test_printed_stop_stops_at_t(self) -> None:
        n, d, epsilon, beta = 2**80, 200, fmpq(1), fmpq(1, 10**6)
        fixed = schedule(d, n, epsilon, beta, PRINTED_STOP)
        t = fixed.phases[0].t
        oracle = AccurateOracle([0] + [n // 2] * (d - 1), accuracy(fixed), POLICIES["random"](2))
        result = sampling_filtering(oracle, d, n, epsilon, beta, sampler=lambda d, t: [], variant=PRINTED_STOP)
        assert result.phases[0].stopped and len(result.phases[0].yes) == t
        assert result.usage.epsilon <= fixed.budget <= epsilon

    @pytest.mark.parametrize("n", [2**80, 2**200])
    def test_on_the_svt(self, n: int) -> None:
        d, epsilon, beta = 40, fmpq(1), fmpq(1, 1000)
        fixed = schedule(d, n, epsilon, beta)
        a = int(fixed.phases[0].a.floor())
        scores = scores_like("ladder", d, n, a)
        accountant, bits = Accountant(epsilon), SeededBits(17)
        oracle = SvtOracle(ScoreTable(tuple(scores)), accountant, bits)
        result = sampling_filtering(oracle, d, n, epsilon, beta, sampler=bernoulli_sampler(bits))
        assert max(scores) - scores[result.index] <= 97 * fixed.alpha
        assert accountant.spent[0] == result.usage.epsilon <= epsilon

    def test_small_n_is_algorithm_8_with_64_rounds(self) -> None:
        """`alg-9.reach`: below n/α = 2^64 no phase runs."""
        n, scores = 10**6, [0, 10**6, 5]
        fixed = schedule(3, n, 1, fmpq(1, 100))
        assert fixed.phases == () and fixed.budget == fmpq(1, 2)
        oracle = AccurateOracle(scores, accuracy(fixed), POLICIES["noise"](1))
        result = sampling_filtering(oracle, 3, n, 1, fmpq(1, 100))
        assert result.phases == () and len(result.final.steps) == 64 == result.usage.streams
        check_run(result, oracle, 3, n, fmpq(1))

    def test_query_mean_is_below_lemma_6_11(self) -> None:
        """Sampled, hence no proof: 10 runs at n = 2^80, β = 1/d."""
        n, d = 2**80, 100
        beta = fmpq(1, d)
        fixed = schedule(d, n, 1, beta)
        a = int(fixed.phases[0].a.floor())
        scores, total = scores_like("ladder", d, n, a), 0
        for seed in range(10):
            oracle = AccurateOracle(scores, accuracy(fixed), POLICIES["noise"](seed))
            sampler = bernoulli_sampler(SeededBits(seed))
            total += sampling_filtering(oracle, d, n, 1, beta, sampler=sampler).usage.queries
        assert total <= 10 * (3 * d * len(fixed.phases) + 2 * 81**3 + 64 * d)


class TestSampler:
    def test_is_exact(self) -> None:
        """t = 3: of the strings 00, 01, 10, 11 the first includes, two exclude, the last is drawn again."""
        outcomes = {string: list(bernoulli_sampler(GivenBits(string << 2, 4))(1, 3)) for string in range(4)}
        assert outcomes == {0: [0], 1: [], 2: [], 3: [0]}

    def test_every_candidate_has_its_own_draw(self) -> None:
        assert list(bernoulli_sampler(GivenBits(0b0110, 4))(4, 2)) == [0, 3]


def test_scores_are_integers_of_any_size() -> None:
    values: Sequence[int] = scores_like("ladder", 5, 2**200, 10**9)
    assert all(type(each) is int and 0 <= each <= 2**200 for each in values)
