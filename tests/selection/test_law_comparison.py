"""certify.selection.laws.comparison: the law of CompareToThresholds, its mirror image, and its extremes over a box."""

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from certify.selection.instance_model import ComparisonQuery, ComparisonSpec
from certify.selection.laws.comparison import (
    LEAST,
    MOST,
    ComparisonLaw,
    ComparisonPrivacy,
    comparison_outcomes,
)


def spec(*queries: tuple[int, int, int, int], high_first: bool = True, output: str | None = None) -> ComparisonSpec:
    asked = tuple(ComparisonQuery(fmpq(f), fmpq(low), fmpq(high), count) for f, low, high, count in queries)
    return ComparisonSpec(asked, fmpq(4), fmpq(12), high_first, True, output)


SPECS = [
    spec((3, 0, 10, 1)),
    spec((3, 0, 10, 1), high_first=False),
    spec((3, 0, 10, 3)),
    spec((3, 0, 10, 2), (9, 4, 5, 1)),
    spec((0, 7, 7, 2), (50, 0, 60, 2), high_first=False),
]


@pytest.mark.parametrize("described", SPECS)
def test_all_sequences_add_up_to_one(described: ComparisonSpec) -> None:
    with ctx.workprec(128):
        law = ComparisonLaw(described)
        total = arb(0)
        for outcome in comparison_outcomes(described):
            probability = law.probability(outcome, (0, 0, 0))
            assert probability >= 0 or probability.overlaps(arb(0))
            total += outcome.multiplicity * probability
        assert total.overlaps(arb(1)) and total.rel_accuracy_bits() > 60


@pytest.mark.parametrize("described", SPECS)
def test_the_mirror_image_exchanges_high_and_low(described: ComparisonSpec) -> None:
    """``f -> -f`` with thresholds exchanged maps u to -u: High becomes Low, and the first test the other."""
    mirrored = ComparisonSpec(
        tuple(ComparisonQuery(-q.sum, -q.high, -q.low, q.count) for q in described.queries),
        described.threshold_scale,
        described.query_scale,
        not described.high_first,
        described.check_gap,
        None,
    )
    with ctx.workprec(128):
        ours, theirs = ComparisonLaw(described), ComparisonLaw(mirrored)
        image = {(o.counts, o.close): o for o in comparison_outcomes(mirrored)}
        for outcome in comparison_outcomes(described):
            swapped = image[tuple((low, high) for high, low in outcome.counts), outcome.close]
            assert ours.probability(outcome, (0, 0, 0)).overlaps(theirs.probability(swapped, (0, 0, 0)))


def test_one_query_far_from_both_thresholds_is_close() -> None:
    described = spec((500, 0, 1000, 1))
    close = next(o for o in comparison_outcomes(described) if o.close)
    with ctx.workprec(128):
        assert ComparisonLaw(described).probability(close, (0, 0, 0)) > fmpq(999, 1000)
    assert close.label == "C"


def test_one_query_by_its_own_integral() -> None:
    """``P(High) = P(u + n > τH - f)``, a sum of two Laplace variables of scales 12 and 4 (Algorithm 5, High first)."""
    described = spec((3, 0, 10, 1))
    with ctx.workprec(128):
        x, a, b = arb(7), arb(12), arb(4)
        tail = (a * a * (-x / a).exp() - b * b * (-x / b).exp()) / (2 * (a * a - b * b))
        high = next(o for o in comparison_outcomes(described) if o.counts == ((1, 0),) and not o.close)
        assert ComparisonLaw(described).probability(high, (0, 0, 0)).overlaps(tail)


@given(shift=st.builds(fmpq, st.integers(-8, 8), st.just(8)), which=st.integers(0, len(SPECS) - 1))
@settings(max_examples=30)
def test_no_neighbour_in_the_box_leaves_the_extremes(shift: fmpq, which: int) -> None:
    described = SPECS[which]
    moved = ComparisonSpec(
        tuple(ComparisonQuery(q.sum + shift, q.low, q.high, q.count) for q in described.queries),
        described.threshold_scale,
        described.query_scale,
        described.high_first,
        described.check_gap,
        None,
    )
    with ctx.workprec(128):
        privacy = ComparisonPrivacy(described)
        other = ComparisonLaw(moved)
        for outcome, least, most in zip(privacy.outcomes, privacy.laws(LEAST), privacy.laws(MOST), strict=True):
            probability = other.probability(outcome, (0, 0, 0))
            assert not probability < least and not probability > most


def test_the_divergence_of_a_law_from_itself_is_zero() -> None:
    privacy = ComparisonPrivacy(SPECS[3])
    with ctx.workprec(128):
        assert privacy.excess(privacy.laws(0), privacy.laws(0), arb(1).exp()).is_zero()
        assert privacy.excess(privacy.laws(0), privacy.laws(1), arb(1)) > 0


def test_a_fixed_outcome_is_read_group_by_group() -> None:
    (outcome,) = comparison_outcomes(spec((3, 0, 10, 2), (9, 4, 5, 2), output="HLLC"))
    assert outcome.counts == ((1, 1), (0, 1)) and outcome.close and outcome.multiplicity == 1
    assert outcome.label == "H×1 L×1 L×1 C"
