"""The brute-force reference against calculations done by hand: the law, the envelope, the statements."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq
from reference import (
    PRECISION,
    Tiny,
    ball_sums,
    databases,
    dataset_target,
    decode,
    envelope,
    envelope_error,
    envelope_mass,
    error_tail,
    expected_error,
    largest,
    loss,
    mass,
    masses,
    neighbours,
    normaliser,
    normaliser_excess,
    random_tiny,
    released_law,
    same,
    target_distance,
    total,
    transcripts,
    two_points,
    worst_expected_error,
)
from reference_parameters import (
    alpha0,
    ball_growth_bound,
    base_error,
    block_radius,
    block_weight,
    block_width,
    code_logarithm,
    damping,
    far_code_length,
    growth_share,
    hedge_budget,
    is_near,
    kappa,
    moment_order,
    moment_scale,
    rho,
    robust_utility_bound,
    section_8_choice,
    tau,
    theta,
)
from reference_statements import (
    answer_law,
    answer_log_ratio,
    block_bound_log_ratio,
    block_bound_sides,
    block_indices_hold,
    envelope_log_ratio,
    hedge_regret,
    kernel_kl,
    kernel_log_ratio,
    kernel_log_ratio_bound,
    kernel_renyi,
    l2_error,
    mean_error,
    normaliser_log_ratio,
    path_terms,
    privacy_log_ratio,
    renyi,
    renyi_infinity,
    renyi_maximum,
    softmax_gap_l2,
    softmax_gaps,
    softmax_tail,
    worst_hedge_regret,
    worst_kernel_kl,
    worst_kernel_renyi,
    worst_path_terms,
    worst_sensitivity,
    worst_softmax_gap_l2,
    worst_softmax_tail,
)
from reference_witness import block_witness

PLUS, MINUS = (0, 1), (0, -1)
SEEDS = range(12)


@pytest.fixture(autouse=True)
def _reference_precision():
    """Write the hand calculations at the reference's own precision."""
    with ctx.workprec(PRECISION):
        yield


def test_instances_outside_section_3_are_refused():
    for wrong in (
        {"values": ((fmpq(2),),)},
        {"values": ()},
        {"values": ((fmpq(1),), (fmpq(1), fmpq(0)))},
        {"n": 0},
        {"rounds": 0},
        {"epsilon": fmpq(0)},
        {"eta": fmpq(-1)},
        {"gamma": fmpq(3, 2)},
    ):
        fields = {
            "values": ((fmpq(1),),),
            "n": 1,
            "epsilon": fmpq(1),
            "rounds": 1,
            "eta": fmpq(1),
            "gamma": fmpq(1),
        }
        with pytest.raises(ValueError):
            Tiny(**{**fields, **wrong})


def test_random_instances_are_small_varied_and_reproducible():
    instances = [random_tiny(seed) for seed in range(200)]
    assert all(len(databases(t)) * len(transcripts(t)) < 20_000 for t in instances)
    assert instances[:5] == [random_tiny(seed) for seed in range(5)]
    shapes = {(t.universe_size, t.query_count, t.n, t.rounds) for t in instances}
    assert {shape[0] for shape in shapes} == {1, 2, 3}
    assert {shape[1] for shape in shapes} == {1, 2}
    assert any(len(set(row)) == 1 for t in instances if t.universe_size > 1 for row in t.values)
    assert any(t.query_count == 2 and t.values[0] == t.values[1] for t in instances)
    assert any(bool(growth_share(t) <= 1) for t in instances)
    assert any(bool(growth_share(t) > 1) for t in instances)


# One round on two points: mu_0 is uniform, q(mu_0) = 0 and p_(0)(+) = p_(1)(-) = e^eta/(2 cosh eta).


def test_one_round_law_and_envelope():
    tiny = two_points(n=1, rounds=1)
    e = arb(1).exp()
    law = masses(tiny, dataset_target(tiny, (0,)))
    assert same(law[(PLUS,)], e / (e + 1 / e))
    assert same(law[(MINUS,)], 1 / (e * e + 1))
    # p~(-) = max(e^-1, e^{-1/2} e) / (2 cosh 1)
    weights = envelope(tiny, (0,))
    assert same(weights[(PLUS,)], e / (e + 1 / e))
    assert same(weights[(MINUS,)], e.sqrt() / (e + 1 / e))
    assert same(envelope_mass(tiny, (0,), (MINUS,)), e.sqrt() / (e + 1 / e))
    assert same(normaliser(tiny, (0,)), (e + e.sqrt()) / (e + 1 / e))
    assert same(normaliser_excess(tiny, (0,)), (e.sqrt() - 1 / e) / (e + 1 / e))
    assert same(released_law(tiny, (0,))[(PLUS,)], e / (e + e.sqrt()))
    # the answer is q(mu_0) = 0 whatever the transcript, the truth is 1
    assert same(expected_error(tiny, (0,)), 1)
    assert same(envelope_error(tiny, (0,)), normaliser(tiny, (0,)))
    assert same(worst_expected_error(tiny), 1)
    # an error of exactly 1 does not exceed 1
    assert error_tail(tiny, (0,), fmpq(1)).is_zero()
    assert same(error_tail(tiny, (0,), fmpq(99, 100)), 1)


def test_no_rival_exceeds_when_epsilon_is_huge():
    # log p spreads over 2 J eta (1 + |q|) at most, far less than epsilon/2: the envelope is the base law
    tiny = two_points(n=2, rounds=2, epsilon=fmpq(500_000), eta=fmpq(80))
    assert normaliser_excess(tiny, (0, 1)).is_zero()
    assert same(expected_error(tiny, (0, 1)), mean_error(tiny, (0, 1), (fmpq(0),)))


def test_one_round_privacy():
    tiny = two_points(n=1, rounds=1)
    assert len(neighbours(tiny)) == 2 and len(neighbours(two_points(n=2, rounds=1))) == 8
    # both databases have the same Z, so p^ and p~ have the same ratio e / e^{1/2}
    assert same(envelope_log_ratio(tiny), fmpq(1, 2))
    assert same(privacy_log_ratio(tiny), fmpq(1, 2))
    assert same(normaliser_log_ratio(tiny), 0)
    # every transcript decodes to the same answer: the grouped law has one atom
    assert len(answer_law(tiny, (0,))) == 1
    assert same(answer_log_ratio(tiny), 0)


def test_singleton_universe_has_no_neighbours():
    tiny = Tiny(((fmpq(1, 3),),), 2, fmpq(1), 2, fmpq(1), fmpq(1))
    assert neighbours(tiny) == []
    assert privacy_log_ratio(tiny) is None and envelope_log_ratio(tiny) is None
    assert normaliser_log_ratio(tiny) is None and answer_log_ratio(tiny) is None
    assert worst_sensitivity(tiny) is None
    assert same(normaliser(tiny, (0, 0)), 1)
    assert normaliser_excess(tiny, (0, 0)).is_zero()
    assert same(expected_error(tiny, (0, 0)), 0)
    assert same(worst_hedge_regret(tiny), 0)
    assert same(l2_error(tiny, (0, 0), (fmpq(5),)), 0)


# Two rounds: after "+", mu_1 = (e^{1/2}, e^{-1/2})/(2 cosh(1/2)), so q(mu_1) = tanh(1/2).


def test_two_round_law_and_decoding():
    tiny = two_points(n=1, rounds=2)
    shift = arb(fmpq(1, 2)).tanh()
    assert same(decode(tiny, (PLUS, MINUS))[0], shift / 2)
    assert same(decode(tiny, (MINUS, MINUS))[0], -shift / 2)
    assert same(loss(tiny, (0,), (PLUS, PLUS)), 1 - shift / 2)
    assert same(loss(tiny, (1,), (PLUS, PLUS)), 1 + shift / 2)
    first = 1 / (1 + arb(-2).exp())
    second = 1 / (1 + (-2 * (1 - shift)).exp())
    assert same(mass(tiny, (fmpq(1),), (PLUS, PLUS)), first * second)
    # a surrogate target outside [-1, 1]
    assert same(mass(tiny, (fmpq(3),), (PLUS,)), 1 / (1 + arb(-6).exp()))
    # the mean and the L2 norm of the loss depend on the first selection alone
    mean = first * (1 - shift / 2) + (1 - first) * (1 + shift / 2)
    square = first * (1 - shift / 2) * (1 - shift / 2) + (1 - first) * (1 + shift / 2) * (1 + shift / 2)
    assert same(mean_error(tiny, (0,), (fmpq(1),)), mean)
    assert same(l2_error(tiny, (0,), (fmpq(1),)), square.sqrt())


def test_two_round_answers_group_by_the_first_selection():
    tiny = two_points(n=1, rounds=2)
    law, grouped = released_law(tiny, (0,)), answer_law(tiny, (0,))
    assert len(grouped) == 2
    halves = [total(law[(s, u)] for u in (PLUS, MINUS)) for s in (PLUS, MINUS)]
    assert all(any(same(value, half) for value in grouped.values()) for half in halves)
    # queries that differ by a constant move mu alike: the first sign alone decides
    shifted = Tiny(((fmpq(1), fmpq(0)), (fmpq(0), fmpq(-1))), 1, fmpq(1), 2, fmpq(1), fmpq(1))
    assert len(transcripts(shifted)) == 16 and len(answer_law(shifted, (0,))) == 2
    tail = error_tail(tiny, (0,), fmpq(1))
    assert same(tail, halves[1])
    assert same(error_tail(tiny, (0,), fmpq(2)), 0)


def test_hedge_regret_and_path():
    tiny = two_points(n=1, rounds=2)
    shift = arb(fmpq(1, 2)).tanh()
    assert same(hedge_regret(tiny, (PLUS, PLUS), 0), 2 - shift)
    assert same(hedge_regret(tiny, (PLUS, PLUS), 1), -2 - shift)
    assert same(hedge_regret(tiny, (PLUS, MINUS), 1), shift)
    assert same(worst_hedge_regret(tiny), 2 - shift)
    assert same(hedge_budget(tiny), 2 * arb(2).log() + fmpq(1, 2))
    # a = 1, omega = (-, +): D_1 = (1, -1), then mu_1 = -tanh: D_2 = (1 + tanh, -1 - tanh)
    chosen, best, gap, final = path_terms(tiny, (fmpq(1),), (MINUS, PLUS))
    assert same(chosen, shift / 2)
    assert same(best, 1 + shift / 2)
    assert same(gap, 1)
    assert same(final, 1 + shift / 2)
    first, second, third = worst_path_terms(tiny, (fmpq(1),))
    assert same(first, 1 - shift / 2)
    assert same(second, 1 - shift / 2)
    assert same(third, 0)


def test_softmax_gap():
    tiny = two_points(n=1, rounds=1, eta=fmpq(3))
    gaps = softmax_gaps(tiny, (fmpq(1),), ())
    assert same(gaps[PLUS], 0) and same(gaps[MINUS], 2)
    minus = 1 / (1 + arb(6).exp())
    # at u = 2 the ratio is p(-) e^6 = p(+) < 1, at u = 0 it is 1
    assert same(softmax_tail(tiny, (fmpq(1),), ()), 1)
    assert same(softmax_gap_l2(tiny, (fmpq(1),), ()), (4 * minus).sqrt())
    # equal scores: both selections have gap 0, and the tail at 0 is the whole mass
    assert same(worst_softmax_tail(tiny, (fmpq(0),)), 1)
    # four selections with scores 2, 0, 0, -2: at u = 2 the tail holds three of them
    pair = Tiny(((fmpq(1),), (fmpq(0),)), 1, fmpq(1), 1, fmpq(1, 2), fmpq(1))
    weights = [arb(1).exp(), arb(1), arb(1), arb(-1).exp()]
    tail = arb(1).exp() * total(weights[1:]) / total(weights)
    assert same(softmax_tail(pair, (fmpq(3), fmpq(0)), ()), tail)


def test_kernel_divergences():
    tiny = two_points(n=1, rounds=1)
    plus, minus = 1 / (1 + arb(-2).exp()), 1 / (1 + arb(2).exp())
    one, other = (fmpq(1),), (fmpq(-1),)
    assert same(kernel_kl(tiny, one, other, ()), (plus - minus) * 2)
    assert same(kernel_log_ratio(tiny, one, other, ()), 2)
    assert kernel_log_ratio_bound(tiny, one, other) == 4
    second = plus * plus / minus + minus * minus / plus
    assert same(kernel_renyi(tiny, one, other, (), fmpq(2)), second.log())
    # one round: the transcript law is the kernel
    assert same(renyi(tiny, one, other, fmpq(2)), second.log())
    assert same(renyi_infinity(tiny, one, other), 2)
    half_order = (plus ** fmpq(3, 2) * minus ** fmpq(-1, 2) + minus ** fmpq(3, 2) * plus ** fmpq(-1, 2)).log()
    assert same(renyi(tiny, one, other, fmpq(3, 2)), 2 * half_order)
    assert target_distance(tiny, one, other) == 1
    assert rho(tiny) == 8


def test_worst_state_is_found_after_an_update():
    # targets 1 and -1 with q(mu) in {0, tanh(1/2), -tanh(1/2)}: each state's kernel is explicit
    tiny = two_points(n=1, rounds=2)
    shift = arb(fmpq(1, 2)).tanh()
    divergences, moments, norms = [], [], []
    for answer in (arb(0), shift, -shift):
        plus, other = 1 / (1 + (-2 * (1 - answer)).exp()), 1 / (1 + (2 * (1 + answer)).exp())
        divergences.append(plus * (plus / other).log() + (1 - plus) * ((1 - plus) / (1 - other)).log())
        moments.append((plus * plus / other + (1 - plus) * (1 - plus) / (1 - other)).log())
        norms.append(2 * (1 - answer) * (1 - plus).sqrt())
    one, minus_one = (fmpq(1),), (fmpq(-1),)
    assert same(worst_kernel_kl(tiny, one, minus_one), largest(divergences))
    assert same(worst_kernel_renyi(tiny, one, minus_one, fmpq(2)), largest(moments))
    assert same(worst_softmax_gap_l2(tiny, one), largest(norms))
    # the first state is not the worst one, so looking at mu_0 alone would be noticed
    assert bool(divergences[0] < largest(divergences)) and bool(moments[0] < largest(moments))


def test_sensitivity_is_exact():
    assert worst_sensitivity(two_points(n=2, rounds=1)) == 1
    third = Tiny(((fmpq(1, 3), fmpq(0), fmpq(-1, 3)),), 2, fmpq(1), 1, fmpq(1), fmpq(1))
    assert worst_sensitivity(third) == fmpq(1, 3)


def test_ball_sums_by_hand():
    tiny = two_points(n=1, rounds=1)
    plus = 1 / (1 + arb(-2).exp())
    mass_sum, error_sum = ball_sums(tiny, (0,), 1)
    assert same(mass_sum, 2 * plus)
    assert same(error_sum, 2 * plus)
    assert same(ball_sums(tiny, (0,), 0)[0], 1)


def test_renyi_maximum_on_a_constant_query():
    # every target of V is the centre: left 1, right N^{1/a} with N = T^2 + 1 = 5 labels
    tiny = Tiny(((fmpq(1, 2), fmpq(1, 2)),), 1, fmpq(1), 1, fmpq(1), fmpq(1))
    left, right = renyi_maximum(tiny, (0,), 1, 3, weighted=False)
    assert same(left, 1)
    assert same(right, arb(5) ** fmpq(1, 3))
    # and the loss vanishes
    left, right = renyi_maximum(tiny, (0,), 1, 3, weighted=True)
    assert same(left, 0) and same(right, 0)


def test_renyi_maximum_by_hand():
    tiny = two_points(n=1, rounds=1)
    # x = (0), R = 1: targets 1, -1, 3; maxima are p_3(+) and p_-1(-); the loss is 1
    left, right = renyi_maximum(tiny, (0,), 1, 2, weighted=False)
    assert same(left, 1 / (1 + arb(-6).exp()) + 1 / (1 + arb(-2).exp()))
    second = renyi(tiny, (fmpq(-1),), (fmpq(1),), fmpq(2))
    assert same(right, (arb(5).log() / 2 + second / 2).exp())
    weighted = renyi_maximum(tiny, (0,), 1, 2, weighted=True)
    assert same(weighted[0], left) and same(weighted[1], right)


def test_renyi_maximum_takes_the_conjugate_norm():
    # the loss is 1 - tanh(1/2)/2 after "+" first, 1 + tanh(1/2)/2 after "-"; order 3 has conjugate 3/2
    tiny = two_points(n=1, rounds=2)
    half_shift, first = arb(fmpq(1, 2)).tanh() / 2, 1 / (1 + arb(-2).exp())
    mean = first * (1 - half_shift) ** fmpq(3, 2) + (1 - first) * (1 + half_shift) ** fmpq(3, 2)
    divergence = largest(renyi(tiny, (fmpq(v),), (fmpq(1),), fmpq(3)) for v in (-1, 3))
    right = (arb(5).log() / 3 + 2 * divergence / 3).exp() * mean ** fmpq(2, 3)
    assert same(renyi_maximum(tiny, (0,), 1, 3, weighted=True)[1], right)


def test_block_bound_by_hand():
    # epsilon = 1: B = 3, one block: p_x + e^{-1/2} max(p_x, p_y) = (1 + e^{-1/2}) p_x on "+"
    tiny = two_points(n=1, rounds=1)
    e, cosh = arb(1).exp(), 2 * arb(1).cosh()
    sides = block_bound_sides(tiny, (0,))
    assert same(sides[(PLUS,)][1], (1 + 1 / e.sqrt()) * e / cosh)
    assert same(sides[(MINUS,)][0], e.sqrt() / cosh)
    assert same(sides[(MINUS,)][1], (1 / e + e.sqrt()) / cosh)
    worst = (e.sqrt() / (1 / e + e.sqrt())).log()
    assert same(block_bound_log_ratio(tiny, (0,)), worst)
    assert same(block_witness(tiny, (0,), (MINUS,)), worst)


def test_block_parameters():
    half, large = two_points(n=5, rounds=1, epsilon=fmpq(1, 2)), two_points(n=5, rounds=1, epsilon=fmpq(5))
    between = two_points(n=5, rounds=1, epsilon=fmpq(3, 2))
    assert [block_width(t) for t in (half, large, between)] == [6, 1, 2]
    assert [theta(t) for t in (half, large, between)] == [3, 5, 3]
    assert block_radius(half, 2) == 18 and block_radius(between, 0) == 2
    assert all(block_indices_hold(t) for t in (half, large, between))
    assert same(damping(half), 1)
    assert same(damping(large), arb(fmpq(-5, 3)).exp())
    assert same(block_weight(half, 1), arb(fmpq(-7, 4) + fmpq(6, 100)).exp())
    assert same(block_weight(large, 0), arb(fmpq(-5, 2) + fmpq(5, 100)).exp())


def test_parameters():
    tiny = two_points(n=2, rounds=3, epsilon=fmpq(1, 2), eta=fmpq(1, 3))
    assert rho(tiny) == fmpq(2, 3) and kappa(tiny) == fmpq(1, 6)
    assert moment_scale(tiny, 2) == fmpq(2, 3)
    assert same(code_logarithm(tiny), arb(5).log())
    assert same(alpha0(tiny), 4 * arb(2).log() / 3 + fmpq(1, 2) + 48 * arb(4).log())
    assert same(robust_utility_bound(tiny, fmpq(1, 2)), 2 * arb(2).log() / 3 + fmpq(1, 4) + 12 * arb(4).log() + 1)
    assert same(ball_growth_bound(tiny, 2), 5 * (2 * arb(5).log() / 3).sqrt())
    assert same(tau(tiny), arb(2).sqrt() * arb(2).log())
    assert same(growth_share(tiny), arb(5).log() * 2**22 / 6)
    # A_1 = 1/6 <= log 5: sqrt(6 log 5) = 3.1, so r = 5; A_2 = 2/3: sqrt(2.41) = 1.6, so r = 3
    assert is_near(tiny, 1) and moment_order(tiny, 1) == 5
    assert is_near(tiny, 2) and moment_order(tiny, 2) == 3
    steep = two_points(n=2, rounds=3, eta=fmpq(3))
    # A_2 = 54 > log 5: sqrt(54/1.609) = 5.79
    assert not is_near(steep, 2) and far_code_length(steep, 2) == 6


def test_section_8_choice():
    rounds, eta, gamma = section_8_choice(2, 1, fmpq(1))
    assert rounds == 23 and gamma == fmpq(1, 4)
    assert same(eta, 128 * arb(2).log())
    assert bool(base_error(2, 1, rounds, eta, gamma) <= 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_laws_are_laws(seed):
    tiny = random_tiny(seed)
    for x in databases(tiny):
        assert same(total(masses(tiny, dataset_target(tiny, x)).values()), 1)
        assert same(total(released_law(tiny, x).values()), 1)
        assert same(total(answer_law(tiny, x).values()), 1)
        assert same(normaliser(tiny, x), 1 + normaliser_excess(tiny, x))
