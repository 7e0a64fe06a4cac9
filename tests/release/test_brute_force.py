"""The tool against brute force over D^n and S^J at 200 bits, on random tiny instances: every number it compares.

The tool lumps transcripts, merges histograms and walks a state graph; the reference does none of this. On every
instance float64, Arb at 128 and Arb at 256 bits have to agree with it, and with one another.
"""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from flint import arb, ctx, fmpq
from instances import (
    Entry,
    enclosing,
    entries,
    evidence_of,
    example,
    of_tiny,
    problem_of,
    relative_width,
    run,
    statement,
)
from reference import (
    Database,
    Tiny,
    at_reference_precision,
    ball_sums,
    databases,
    dataset_target,
    expected_error,
    largest,
    normaliser,
    random_tiny,
    worst_expected_error,
)
from reference_codebook import distinct_codebook
from reference_statements import (
    l2_error,
    mean_error,
    privacy_log_ratio,
    worst_hedge_regret,
    worst_softmax_gap_l2,
    worst_softmax_tail,
)
from witness_sides import LARGEST, LEFT, target

from certify.arithmetic.enclosure import Enclosure
from certify.release.check import CheckOptions
from certify.release.measurements import BallMass, EnvelopeMass, PrivacyRatio, TargetMoments
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.section3 import first_moment, second_moment

SEEDS = (0, 6, 7, 9, 10, 11, 16, 17, 19, 20, 23, 26, 48)
"""Instances of T = 2 and 3, k = 1 and 2, with small, moderate and large eta; 0, 10, 11 and 23 meet (7)."""

BITS = (53, 128, 256)
SAMPLE = 10
WITNESS_SLACK = fmpq(1, 2**45)
"""Transcripts are chosen by float64 guides, so one that is nearly the largest may be shown for the largest."""

COMPARED = tuple(name for name in LEFT if name not in ("eq-8.7", "thm-1.1"))
"""The statements on numbers of the law; the last two need the mechanism of the proof."""


def centre(seed: int) -> tuple[Tiny, Database]:
    """The random instance of a seed, and one of its databases."""
    tiny = random_tiny(seed)
    return tiny, random.Random(seed).choice(databases(tiny))


@pytest.fixture(params=SEEDS)
def seeded(request: pytest.FixtureRequest) -> tuple[Tiny, Database]:
    return centre(request.param)


def test_the_instances_are_varied() -> None:
    drawn = [centre(seed)[0] for seed in SEEDS]
    assert len(set(drawn)) >= 10
    assert {tiny.universe_size for tiny in drawn} >= {2, 3}
    assert {tiny.query_count for tiny in drawn} >= {1, 2}
    assert {tiny.rounds for tiny in drawn} >= {1, 2, 3}
    assert {tiny.n for tiny in drawn} >= {1, 2, 3}


# Z, the expected error, the worst DP ratio


@pytest.mark.parametrize("bits", BITS)
def test_normaliser_and_error_of_one_database(seeded: tuple[Tiny, Database], bits: int) -> None:
    tiny, x = seeded
    found = run(of_tiny(tiny, x), "eq-4.normaliser", options=CheckOptions(precision=bits)).quantities
    agree(found["Z"], normaliser(tiny, x))
    agree(found["expected_error"], expected_error(tiny, x))


@pytest.mark.parametrize("bits", BITS)
def test_normaliser_and_error_of_every_database(seeded: tuple[Tiny, Database], bits: int) -> None:
    tiny, _ = seeded
    found = run(of_tiny(tiny, None), "eq-4.normaliser", options=CheckOptions(precision=bits)).quantities
    agree(found["Z"], largest(normaliser(tiny, x) for x in databases(tiny)))
    agree(found["expected_error"], worst_expected_error(tiny))


def agree(found: Enclosure | int | str, expected: arb) -> None:
    """A quantity of the report is narrow and meets the reference's."""
    assert isinstance(found, Enclosure)
    assert found.overlaps(enclosing(expected))
    assert found.upper == 0 or relative_width(found) < fmpq(1, 10**9)


@pytest.mark.parametrize("bits", BITS)
def test_worst_privacy_loss_of_every_pair(seeded: tuple[Tiny, Database], bits: int) -> None:
    tiny, _ = seeded
    problem = problem_of(of_tiny(tiny, None))
    evidence = evidence_of(problem, bits, ["prop-4.1.transcript"])
    measurement = PrivacyRatio(tuple(problem.neighbour_pairs))
    losses = [_privacy_loss(evidence, measurement, i) for i in range(len(measurement.pairs))]
    expected = privacy_log_ratio(tiny)
    assert expected is not None
    assert _largest(losses).overlaps(enclosing(expected))


def _privacy_loss(evidence: Evidence, measurement: PrivacyRatio, pair: int) -> Enclosure:
    """The largest ``log p^_a/p^_b`` of one pair of neighbours."""
    with ctx.workprec(256):
        first, second = (evidence.normaliser(EnvelopeMass(), p).log() for p in measurement.pairs[pair])
        return enclosing(evidence.log_ratio(measurement, "ratio", (pair,)) - first + second)


def _largest(values: list[Enclosure]) -> Enclosure:
    lowers = [value.lower for value in values if value.lower is not None]
    uppers = [value.upper for value in values if value.upper is not None]
    assert len(lowers) == len(uppers) == len(values)
    return Enclosure(max(lowers), max(uppers))


# sums over transcripts


@pytest.mark.parametrize("bits", BITS)
def test_ball_sums_at_every_radius(seeded: tuple[Tiny, Database], bits: int) -> None:
    tiny, x = seeded
    evidence = evidence_of(problem_of(of_tiny(tiny, x)), bits, ["eq-6.2"])
    for radius in range(1, tiny.n + 1):
        mass, error = ball_sums(tiny, x, radius)
        with ctx.workprec(256):
            found = 1 + evidence.excess(BallMass(), (radius, 0))
            weighted = evidence.with_loss(BallMass(), "loss", (radius, 0), found, 0)
        assert enclosing(found).overlaps(enclosing(mass))
        assert enclosing(weighted).overlaps(enclosing(error))


@pytest.mark.parametrize("bits", BITS)
def test_moments_of_the_loss_under_every_target(seeded: tuple[Tiny, Database], bits: int) -> None:
    tiny, x = seeded
    evidence = evidence_of(problem_of(of_tiny(tiny, x)), bits, ["prop-3.2"])
    assert TargetMoments() in evidence.results
    for row in range(len(evidence.targets)):
        a = evidence.targets.answers(row)
        with ctx.workprec(256):
            first, second = first_moment(evidence, 0, row), second_moment(evidence, 0, row)
            norm = second.sqrt()
        assert enclosing(first).overlaps(enclosing(mean_error(tiny, x, a)))
        expected = l2_error(tiny, x, a)
        assert enclosing(norm).overlaps(enclosing(expected))
        with ctx.workprec(256):
            assert enclosing(second).overlaps(enclosing(expected * expected))


# the largest over everything


@pytest.mark.parametrize("bits", BITS)
def test_hedge_regret_and_softmax_gap(seeded: tuple[Tiny, Database], bits: int) -> None:
    tiny, x = seeded
    evidence = evidence_of(problem_of(of_tiny(tiny, x)), bits, [])
    regret = _largest([entry.lhs for entry in entries(evidence, "lemma-a.2")])
    assert regret.overlaps(enclosing(worst_hedge_regret(tiny)))
    tails, gaps = defaultdict(list), defaultdict(list)
    for entry in entries(evidence, "lemma-a.3"):
        kind = gaps if entry.witness["quantity"].startswith("E") else tails
        kind[target(tiny, entry.witness)].append(entry.lhs)
    assert set(tails) == set(gaps) == _targets(tiny, [x])
    for a, values in tails.items():
        assert _largest(values).overlaps(enclosing(worst_softmax_tail(tiny, a)))
        assert _largest(gaps[a]).overlaps(enclosing(_square(tiny.eta * worst_softmax_gap_l2(tiny, a))))


@at_reference_precision
def _square(value: arb) -> arb:
    return value * value


def _targets(tiny: Tiny, centres: list[Database]) -> set[tuple[fmpq, ...]]:
    """The targets of every database and of every code family of the centres."""
    datasets = {dataset_target(tiny, y) for y in databases(tiny)}
    codes = (distinct_codebook(tiny, x, radius, m) for x in centres for radius in range(1, tiny.n + 1) for m in (1, 2))
    return datasets.union(*codes)


SMALL_SEEDS = tuple(seed for seed in SEEDS if len(databases(centre(seed)[0])) <= 9)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_number_compared_for_one_database(seed: int) -> None:
    tiny, x = centre(seed)
    assert_every_number(tiny, problem_of(of_tiny(tiny, x)))


@pytest.mark.parametrize("seed", SMALL_SEEDS)
def test_every_number_compared_for_every_database(seed: int) -> None:
    tiny, _ = centre(seed)
    assert_every_number(tiny, problem_of(of_tiny(tiny, None)))


def assert_every_number(tiny: Tiny, problem: ReleaseProblem) -> None:
    """Left sides at the case that the witness names: Lemmas 5.1 and 6.1, moments, norms, divergences and all."""
    applicable = [name for name in COMPARED if statement(name).not_applicable(problem) is None]
    for bits in BITS[:2]:
        evidence = evidence_of(problem, bits, applicable)
        for name in applicable:
            found = list(entries(evidence, name))
            for entry in random.Random(name).sample(found, min(SAMPLE, len(found))):
                assert_recomputed(tiny, name, entry)


def assert_recomputed(tiny: Tiny, name: str, entry: Entry) -> None:
    value = enclosing(LEFT[name](tiny, entry.witness))
    if name not in LARGEST:
        assert entry.lhs.overlaps(value), (name, entry)
        return
    assert entry.lhs.overlaps(enclosing(LARGEST[name](tiny, entry.witness))), (name, entry)
    assert entry.lhs.lower is not None and entry.lhs.upper is not None
    assert value.lower is not None and value.upper is not None
    slack = WITNESS_SLACK * (1 + abs(entry.lhs.upper))
    assert value.lower <= entry.lhs.upper and value.upper >= entry.lhs.lower - slack, (name, entry)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cases_of_lemmas_5_1_and_6_1_are_all_there(seed: int) -> None:
    tiny, x = centre(seed)
    evidence = evidence_of(problem_of(of_tiny(tiny, x)), 53, ["lemma-5.1"])
    pairs = {(entry.witness["R"], entry.witness["m"]) for entry in entries(evidence, "lemma-5.1")}
    assert pairs == {(radius, m) for radius in range(1, tiny.n + 1) for m in (1, 2)}
    least: dict[tuple[fmpq, ...], int] = {}
    for radius, m in sorted(pairs, reverse=True):
        least |= dict.fromkeys(distinct_codebook(tiny, x, radius, m), radius)
    del least[dataset_target(tiny, x)]
    measured = {
        (target(tiny, entry.witness), entry.witness["R"], entry.witness["r"])
        for entry in entries(evidence, "lemma-6.1")
        if not entry.auxiliary
    }
    # each v once, at the smallest radius it belongs to, where the bound is least
    orders = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
    assert measured == {(v, radius, str(r)) for v, radius in least.items() for r in orders}


# widths


@pytest.mark.parametrize("name", ["growth", "singleton", "all-databases", "theorem", "berkeley", "titanic", "iris"])
def test_every_example_has_narrow_quantities(name: str) -> None:
    found = run(example(name), "eq-4.normaliser").quantities
    for key in ("Z", "expected_error"):
        value = found[key]
        assert isinstance(value, Enclosure)
        assert value.upper == 0 or relative_width(value) < fmpq(1, 10**9)


def test_routes_agree_beyond_the_reach_of_doubles() -> None:
    """eta = 10^40 is out of reach of float64 and of 128 bits: the quantities are asked for again at 256."""
    tiny = Tiny(((fmpq(1), fmpq(0), fmpq(-1)),), 2, fmpq(1), 2, fmpq(10) ** 40, fmpq(1, 2))
    found = [
        run(of_tiny(tiny, (0, 1)), "eq-4.normaliser", options=CheckOptions(precision=bits)).quantities
        for bits in (53, 128, 512)
    ]
    for key in ("Z", "expected_error"):
        values = [quantities[key] for quantities in found]
        for value in values:
            assert isinstance(value, Enclosure)
            assert relative_width(value) < fmpq(1, 10**9)
            assert isinstance(values[-1], Enclosure) and value.overlaps(values[-1])
