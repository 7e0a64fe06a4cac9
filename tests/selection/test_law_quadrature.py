"""certify.selection.laws.quadrature encloses the closed form, tightly, and refuses what float64 cannot carry."""

import random

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from certify.selection.laws import quadrature
from certify.selection.laws.exponential_sum import BallRing, Point
from certify.selection.laws.laplace import LaplaceLaw
from certify.selection.laws.quadrature import OutOfRange, index_law

WIDTH = fmpq(1, 10**9)


def closed_form(prefix: list[fmpq], last: list[fmpq], threshold: fmpq, query: fmpq) -> list[arb]:
    with ctx.workprec(300):
        law = LaplaceLaw(BallRing(), threshold, query, strict=True)
        return law.index_law([Point(c) for c in prefix], [Point(c) for c in last])


def assert_encloses(prefix: list[fmpq], last: list[fmpq], threshold: fmpq, query: fmpq) -> None:
    found, true = index_law(prefix, last, threshold, query), closed_form(prefix, last, threshold, query)
    with ctx.workprec(300):
        for ball, value in zip(found, true, strict=True):
            assert ball.contains(value)
            assert ball.rad() < ball.mid() * WIDTH


values = st.builds(fmpq, st.integers(-90, 90), st.sampled_from([1, 2, 3, 7]))


@given(
    prefix=st.lists(values, min_size=1, max_size=9),
    moves=st.lists(st.sampled_from([-1, 0, 1]), min_size=9, max_size=9),
    threshold=st.builds(fmpq, st.integers(1, 8), st.integers(1, 3)),
    ratio=st.sampled_from([fmpq(1, 3), fmpq(1), fmpq(2), fmpq(5)]),
)
@example(prefix=[fmpq(0)], moves=[0] * 9, threshold=fmpq(2), ratio=fmpq(2))
@example(prefix=[fmpq(5)] * 9, moves=[-1] * 9, threshold=fmpq(2), ratio=fmpq(2))  # equal points
@example(prefix=[fmpq(90), fmpq(-90), fmpq(90)], moves=[1] * 9, threshold=fmpq(1, 3), ratio=fmpq(1))  # far apart
@settings(max_examples=40)
def test_it_encloses_the_closed_form(prefix: list[fmpq], moves: list[int], threshold: fmpq, ratio: fmpq) -> None:
    last = [c + move for c, move in zip(prefix, moves, strict=False)]
    query = threshold * ratio
    spread = (max([*prefix, *last, fmpq(0)]) - min([*prefix, *last, fmpq(0)])) / query
    if spread > 400:
        return
    assert_encloses(prefix, last, threshold, query)


@pytest.mark.parametrize("order", ["rising", "falling", "mixed", "equal"])
def test_it_encloses_the_closed_form_of_sixty_queries(order: str) -> None:
    points = {
        "rising": [fmpq(i) for i in range(60)],
        "falling": [fmpq(-i, 3) for i in range(60)],
        "mixed": [fmpq(value, 7) for value in random.Random(5).sample(range(-200, 200), 60)],
        "equal": [fmpq(3)] * 60,
    }[order]
    assert_encloses(points, points, fmpq(2), fmpq(4))


def test_a_thousand_distinct_thresholds_are_certified_to_nine_digits() -> None:
    points = [fmpq(-i) for i in range(1000)]
    law = index_law(points, points, fmpq(2), fmpq(4))
    assert len(law) == 1001
    total = arb(0)
    for ball in law:
        assert ball > 0 and ball.rad() < ball.mid() * WIDTH
        total += ball
    assert total.overlaps(arb(1))


def test_the_bounds_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few nodes the error is real; the bound must grow with it, never leave the truth outside."""
    points = [fmpq(i, 2) for i in range(12)]
    true = closed_form(points, points, fmpq(2), fmpq(4))
    nodes = 3
    monkeypatch.setattr(quadrature, "NODES", nodes)
    monkeypatch.setattr(quadrature, "TRUNCATION", 4 * quadrature.RHO ** (1 - 2 * nodes) / (quadrature.RHO - 1) * 2.02)
    quadrature._rule.cache_clear()
    try:
        coarse = index_law(points, points, fmpq(2), fmpq(4))
    finally:
        quadrature._rule.cache_clear()
    with ctx.workprec(300):
        assert all(ball.contains(value) for ball, value in zip(coarse, true, strict=True))
        assert any(ball.rad() > ball.mid() * fmpq(1, 10**6) for ball in coarse)
        assert any(abs(ball.mid() - value) > value * fmpq(1, 10**12) for ball, value in zip(coarse, true, strict=True))


def test_the_rule_is_exact_for_polynomials() -> None:
    nodes, weights = quadrature._rule()
    assert len(nodes) == quadrature.NODES and bool(np.all(weights > 0))
    for degree in (0, 1, 7, 2 * quadrature.NODES - 1):
        assert abs(float(weights @ nodes**degree) - 1 / (degree + 1)) < 2**-45


@pytest.mark.parametrize(
    ("points", "threshold", "query", "words"),
    [
        ([fmpq(0), fmpq(10**4)], fmpq(2), fmpq(4), "span too many"),
        ([fmpq(10**8)], fmpq(2), fmpq(4), "too far from its threshold"),
        ([fmpq(0)], fmpq(100), fmpq(1), "more than a factor 16"),
        ([fmpq(0)] * 1000, fmpq(2), fmpq(4), "too many thresholds lie close together"),
    ],
)
def test_what_float64_cannot_carry_is_refused(points: list[fmpq], threshold: fmpq, query: fmpq, words: str) -> None:
    with pytest.raises(OutOfRange, match=words):
        index_law(points, points, threshold, query)


def test_a_missing_noise_is_no_quadrature() -> None:
    with pytest.raises(ValueError, match="both noises"):
        index_law([fmpq(0)], [fmpq(0)], fmpq(0), fmpq(1))
