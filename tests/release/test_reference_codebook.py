"""The brute-force reference against calculations done by hand: codebook, random surrogates, witnesses."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq
from reference import (
    PRECISION,
    Tiny,
    databases,
    dataset_target,
    envelope,
    hamming,
    random_tiny,
    same,
    two_points,
)
from reference_codebook import (
    codebook,
    codebook_log_moment,
    distinct_codebook,
    jensen_gap,
    log_moment,
    maurey_gap,
    row_plan,
    surrogate_mean,
    surrogates,
    universe_order_plan,
    worst_jensen_gap,
    worst_maurey_gap,
)
from reference_parameters import (
    kappa,
    moment_scale,
    rho,
)
from reference_witness import (
    best_code_targets,
    block_witness,
    database_from_counts,
    envelope_excess_witness,
    histogram_distance,
    jensen_witness,
    maurey_witness,
    privacy_witness,
    target_from_texts,
    target_log_ratio,
    transcript_from_names,
)

PLUS, MINUS = (0, 1), (0, -1)
SEEDS = range(12)


@pytest.fixture(autouse=True)
def _reference_precision():
    """Write the hand calculations at the reference's own precision."""
    with ctx.workprec(PRECISION):
        yield


def test_codebook_counts_and_members():
    tiny = two_points(n=2, rounds=1)
    assert dataset_target(tiny, (0, 0)) == (fmpq(1),)
    labels = codebook(tiny, (0, 0), 2, 1)
    # the labels 0, (0,0), (1,1) stay at 1; (0,1) moves by (2/2)(-2), (1,0) by +2
    assert sorted(labels, key=lambda v: v[0]) == [(fmpq(v),) for v in (-1, 1, 1, 1, 3)]
    assert len(codebook(tiny, (0, 0), 2, 2)) == 25
    assert distinct_codebook(tiny, (0, 0), 2, 2) == {(fmpq(v),) for v in (-1, 0, 1, 2, 3)}


def test_plans_of_row_moves():
    tiny = Tiny(((fmpq(1), fmpq(0), fmpq(-1)),), 4, fmpq(1), 1, fmpq(1), fmpq(1))
    assert universe_order_plan(tiny, (0, 0, 1, 1), (2, 2, 1, 1)) == [(0, 2), (0, 2)]
    assert universe_order_plan(tiny, (2, 0, 0, 2), (1, 1, 1, 1)) == [(0, 1), (0, 1), (2, 1), (2, 1)]
    assert universe_order_plan(tiny, (0, 1, 0, 1), (1, 2, 1, 2)) == [(0, 2), (0, 2)]
    assert row_plan(tiny, (0, 1, 0, 1), (1, 2, 1, 1)) == [(0, 1), (1, 2), (0, 1)]
    with pytest.raises(ValueError, match="more than the radius"):
        surrogates(tiny, (0, 0, 0, 0), (1, 1, 1, 1), 3, 1)


def test_jensen_gap_by_hand():
    tiny = two_points(n=2, rounds=1, eta=fmpq(3))
    # x = (0,0), y = (0,1), R = 2, m = 1: V is 1 or -1 with probability 1/2, a(y) = 0 and p_0 = 1/2,
    # so the gap is log(1/2) - (1/2) log(1/(2 cosh 3)^2) = log cosh 3 for either transcript
    assert sorted(surrogates(tiny, (0, 0), (0, 1), 2, 1)) == [(fmpq(-1),), (fmpq(1),)]
    assert same(jensen_gap(tiny, (0, 0), (0, 1), (PLUS,), 2, 1), arb(3).cosh().log())
    assert same(worst_jensen_gap(tiny, (0, 0), 2, 1), arb(3).cosh().log())
    # m = 2: V is 1, 0, 0, -1, so half of the gap
    assert same(jensen_gap(tiny, (0, 0), (0, 1), (MINUS,), 2, 2), arb(3).cosh().log() / 2)
    # every row moves: V = a(y) surely
    assert same(jensen_gap(tiny, (0, 0), (1, 1), (PLUS,), 2, 2), 0)
    # the printed bound rho R^2/(4m) = 8 eta^2/n^2 = 18 at m = 1
    assert rho(tiny) * 4 / 4 == 18


def test_maurey_gap_by_hand():
    tiny = two_points(n=2, rounds=1, eta=fmpq(3))
    # R = 2, m = 1, x = (0,0): targets 1, -1, 3. For y = x and "+", the best is v = 3.
    best = (1 + arb(-18).exp()) / (1 + arb(-6).exp())
    assert same(maurey_gap(tiny, (0, 0), (0, 0), (PLUS,), 2, 1), best.log())
    # for "-", a((1,1)) = -1 is in the codebook and is the best there: the worst case is a tie
    assert same(maurey_gap(tiny, (0, 0), (1, 1), (MINUS,), 2, 1), 0)
    assert same(worst_maurey_gap(tiny, (0, 0), 2, 1), 0)
    assert best_code_targets(tiny, (0, 0), (PLUS,), 2, 1) == [(fmpq(3),)]
    assert best_code_targets(tiny, (0, 0), (MINUS,), 2, 1) == [(fmpq(-1),)]


def test_maurey_gap_can_be_positive():
    # x = (0,0), R = 2, m = 1 over queries (1,-1,0) and (1,0,-1); y = (1,2) is not a single-move target
    tiny = Tiny(((fmpq(1), fmpq(-1), fmpq(0)), (fmpq(1), fmpq(0), fmpq(-1))), 2, fmpq(1), 2, fmpq(4), fmpq(1, 2))
    assert dataset_target(tiny, (1, 2)) not in distinct_codebook(tiny, (0, 0), 2, 1)
    gap = maurey_gap(tiny, (0, 0), (1, 2), ((0, -1), (1, -1)), 2, 1)
    assert bool(gap > 0)
    assert bool(gap < arb(rho(tiny)))


def test_likelihood_moments_by_hand():
    tiny = two_points(n=2, rounds=1)
    # x = (0,1): p_x = 1/2; v = 1: sum p_v^2/p_x = 2 (e^2 + e^-2)/(2 cosh 1)^2 = cosh 2/cosh^2 1
    moment = arb(2).cosh() / (arb(1).cosh() * arb(1).cosh())
    assert same(log_moment(tiny, (0, 1), (fmpq(1),), 2), moment.log())
    assert same(log_moment(tiny, (0, 1), (fmpq(1),), 1), 0)
    # R = 1: distinct targets of V are 0, 1, -1
    assert same(codebook_log_moment(tiny, (0, 1), 1, 2), (1 + 2 * moment).log())
    assert moment_scale(tiny, 1) == kappa(tiny) == fmpq(1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_rows_does_not_matter(seed):
    tiny = random_tiny(seed)
    for x in databases(tiny):
        ordered = tuple(sorted(x))
        assert all(same(value, envelope(tiny, ordered)[omega]) for omega, value in envelope(tiny, x).items())
        for y in databases(tiny):
            plan = universe_order_plan(tiny, x, y)
            assert len(plan) == histogram_distance(x, y) <= hamming(x, y) == len(row_plan(tiny, x, y))


@pytest.mark.parametrize("seed", SEEDS)
def test_surrogates_have_the_mean_of_the_database_they_stand_for(seed):
    tiny = random_tiny(seed)
    x = databases(tiny)[0]
    for y in databases(tiny):
        for plan in (universe_order_plan, row_plan):
            assert surrogate_mean(tiny, x, y, tiny.n, 2, plan) == dataset_target(tiny, y)
            assert set(surrogates(tiny, x, y, tiny.n, 1, plan)) <= distinct_codebook(tiny, x, tiny.n, 1)


def test_names_of_a_report_are_translated():
    queries, universe = ["is-a", "-odd", "+"], ["a", "b", "c"]
    assert transcript_from_names(["+is-a", "--odd", "-+"], queries) == ((0, 1), (1, -1), (2, -1))
    assert database_from_counts({"c": 1, "a": 2}, universe) == (0, 0, 2)
    texts = {"+": "0.1", "is-a": "-1/3", "-odd": "2"}
    assert target_from_texts(texts, queries) == (fmpq(-1, 3), fmpq(2), fmpq(1, 10))
    for broken in (["is-a"], ["+b"], [""]):
        with pytest.raises(ValueError, match="not a signed query"):
            transcript_from_names(broken, queries)
    with pytest.raises(ValueError, match="not a histogram"):
        database_from_counts({"d": 1}, universe)
    with pytest.raises(ValueError, match="names every query"):
        target_from_texts({"is-a": "1"}, queries)


def test_witness_values_by_hand():
    tiny = two_points(n=2, rounds=1, eta=fmpq(3))
    assert same(jensen_witness(tiny, (0, 0), (0, 1), (PLUS,), 2, 1), arb(3).cosh().log())
    assert same(maurey_witness(tiny, (0, 0), (1, 1), (MINUS,), 2, 1), 0)
    assert same(target_log_ratio(tiny, (fmpq(1),), (fmpq(-1),), (PLUS,)), 6)
    # p~_(0,0)(+) = p_1(+) and p~_(0,1)(+) = max(1/2, e^{-1/2} p_1(+)) = e^{-1/2} p_1(+)
    weights, normalisers, released = privacy_witness(tiny, (0, 0), (0, 1), (PLUS,))
    assert same(weights, fmpq(1, 2))
    assert same(released, weights - normalisers)
    top = 1 / (1 + arb(-6).exp())
    assert same(normalisers, ((1 + arb(-1).exp()) / (2 * arb(fmpq(-1, 2)).exp())).log())
    assert same(envelope_excess_witness(tiny, (0, 0), (MINUS,)), arb(-1).exp() * top - (1 - top))


def test_false_witnesses_are_refused():
    tiny = two_points(n=2, rounds=1)
    with pytest.raises(ValueError, match="not neighbours"):
        privacy_witness(tiny, (0, 0), (1, 1), (PLUS,))
    with pytest.raises(ValueError, match="more than R"):
        maurey_witness(tiny, (0, 0), (1, 1), (PLUS,), 1, 1)
    with pytest.raises(ValueError, match="more than R"):
        jensen_witness(tiny, (0, 0), (1, 1), (PLUS,), 1, 1)
    with pytest.raises(ValueError, match="not a database"):
        envelope_excess_witness(tiny, (0, 2), (PLUS,))
    with pytest.raises(ValueError, match="not a database"):
        block_witness(tiny, (0,), (PLUS,))
