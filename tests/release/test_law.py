"""certify.release.law: the masses of every class under every target, in three arithmetics, against brute force."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from reference import PRECISION, Tiny, mass, random_tiny, two_points
from small_models import BALL_PRECISION, class_members, law_of

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import (
    LINEAR_LIMIT,
    BallArithmetic,
    LinearArithmetic,
    LogArithmetic,
    PositiveArithmetic,
)
from certify.arithmetic.scalar import Undetermined
from certify.release.law import Law, fits_linear, log_size_of_likelihoods

SEEDS = range(20)
Pair = tuple[int, int]


def rational(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def ends(ball: arb) -> tuple[fmpq, fmpq]:
    enclosure = Enclosure.of(ball)
    assert enclosure.lower is not None and enclosure.upper is not None
    return enclosure.lower, enclosure.upper


def masses_by_pair(law: Law) -> dict[Pair, Any]:
    """The raw column (one entry a target) of every class pair."""
    rows = np.arange(len(law.targets))
    found = {}
    for block in law.space.blocks(50):
        out = np.empty((len(rows), block.size), dtype=law.arithmetic.dtype)
        with ctx.workprec(BALL_PRECISION):
            law.fill(block, rows, out)
        found.update({block.pair(index): out[:, index] for index in range(block.size)})
    return found


def class_masses(law: Law, tiny: Tiny) -> dict[Pair, list[arb]]:
    """The mass of every class under every target: the sum of its transcripts' masses, from the reference."""
    targets = [law.targets.answers(row) for row in range(len(law.targets))]
    members = class_members(law.space, tiny)
    with ctx.workprec(PRECISION):
        return {
            pair: [sum((mass(tiny, a, w) for w in words), arb(0)) for a in targets] for pair, words in members.items()
        }


# ---- every entry


@pytest.mark.parametrize("seed", SEEDS)
def test_class_masses_are_the_sums_of_their_transcripts(seed: int) -> None:
    tiny = random_tiny(seed)
    law = law_of(tiny, BallArithmetic())
    expected = class_masses(law, tiny)
    found = masses_by_pair(law)
    assert found.keys() == expected.keys()
    for pair, column in found.items():
        for value, truth in zip(column, expected[pair], strict=True):
            assert value.overlaps(truth) and value.rad() < arb(2) ** -120 * value


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lumped", [True, False])
def test_every_float_mass_obeys_the_stated_bound(seed: int, lumped: bool) -> None:
    tiny = random_tiny(seed)
    truth = masses_by_pair(law_of(tiny, BallArithmetic(), lumped=lumped))
    linear, logs = LinearArithmetic(), LogArithmetic()
    linear_law, log_law = (law_of(tiny, arithmetic, lumped=lumped) for arithmetic in (linear, logs))
    log_masses = {pair: logs.masses(column) for pair, column in masses_by_pair(log_law).items()}
    log_raw = masses_by_pair(log_law)
    linear_bound, log_bound = linear.mass_bound(), logs.mass_bound()
    for pair, column in masses_by_pair(linear_law).items():
        for row, value in enumerate(column.tolist()):
            lower, upper = ends(truth[pair][row])
            assert rational(value) / linear_bound.factor <= lower and upper <= rational(value) * linear_bound.factor
            other = rational(log_masses[pair][row])
            assert other / log_bound.factor - log_bound.absolute <= lower
            assert upper <= other * log_bound.factor + log_bound.absolute
            low, high = ends(truth[pair][row].log())
            raw = rational(log_raw[pair][row])
            assert abs(raw - low) <= logs.units * fmpq(1, 2**53) and abs(raw - high) <= logs.units * fmpq(1, 2**53)


@pytest.mark.parametrize("seed", SEEDS)
def test_penalised_masses_obey_the_stated_bounds(seed: int) -> None:
    tiny = random_tiny(seed)
    balls = law_of(tiny, BallArithmetic())
    truth = masses_by_pair(balls)
    for arithmetic in (LinearArithmetic(), LogArithmetic()):
        law = law_of(tiny, arithmetic)
        law.allow_chained_penalties(tiny.n)
        bound = arithmetic.mass_bound()
        for pair, column in masses_by_pair(law).items():
            chained = column
            for d in range(tiny.n + 1):
                at_once = arithmetic.combine(column, law.penalties[d])
                for penalised in (at_once, chained):
                    for value, ball in zip(arithmetic.masses(penalised).tolist(), truth[pair], strict=True):
                        with ctx.workprec(BALL_PRECISION):
                            lower, upper = ends(ball * balls.penalties[d])
                        assert rational(value) / bound.factor - bound.absolute <= lower
                        assert upper <= rational(value) * bound.factor + bound.absolute
                chained = arithmetic.combine(chained, law.penalties[1])


def test_a_law_whose_bound_is_charged_too_little_is_found_out() -> None:
    """The bound can fail: with a tenth of the roundings charged some entry leaves it."""
    outside = 0
    for seed in SEEDS:
        tiny = random_tiny(seed)
        truth = masses_by_pair(law_of(tiny, BallArithmetic()))
        linear = LinearArithmetic()
        law = law_of(tiny, linear)
        linear.roundings //= 60
        factor = linear.mass_bound().factor
        for pair, column in masses_by_pair(law).items():
            for value, ball in zip(column.tolist(), truth[pair], strict=True):
                lower, upper = ends(ball)
                outside += not (rational(value) / factor <= lower and upper <= rational(value) * factor)
    assert outside > 0


class Counting(LogArithmetic):
    """Logarithms that count the roundings charged, whatever their size."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = 0

    def charge(self, raw: Any, roundings: int) -> None:
        super().charge(raw, roundings)
        self.counted += roundings


@pytest.mark.parametrize("seed", SEEDS)
def test_every_rounding_of_a_penalised_likelihood_is_counted(seed: int) -> None:
    """Round for round as the law is made, so that a step without its charge is found.

    A round: a selection's entry (4) and its product (1), a reciprocal (linear: two entries, a product, a sum of 2k
    terms, an inverse; logarithms: an entry) and its product (1). A half: the weight's entry and its product. Then the
    product of the halves (charged with each), a penalty's entry and product, a quotient of two penalties and its
    product.
    """
    tiny = random_tiny(seed)
    linear, logs = LinearArithmetic(), Counting()
    law_of(tiny, linear)
    law_of(tiny, logs)
    penalties = (4 + 1) + (4 + 4 + 1 + 1)
    reciprocal = 4 + 4 + 1 + (2 * tiny.query_count - 1) + 1
    assert linear.roundings == tiny.rounds * (4 + 1 + reciprocal + 1) + 2 * (4 + 1) + 2 + penalties
    assert logs.counted == tiny.rounds * (4 + 1 + 4 + 1) + 2 * (4 + 1) + 2
    assert logs.penalty_roundings == penalties


# ---- sums


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [LinearArithmetic, LogArithmetic, BallArithmetic])
@pytest.mark.parametrize("lumped", [True, False])
def test_the_masses_of_every_target_sum_to_one(seed: int, make: Callable[[], PositiveArithmetic], lumped: bool) -> None:
    arithmetic = make()
    law = law_of(random_tiny(seed), arithmetic, lumped=lumped)
    columns = [arithmetic.masses(column) for column in masses_by_pair(law).values()]
    for row in range(len(law.targets)):
        if isinstance(arithmetic, BallArithmetic):
            with ctx.workprec(BALL_PRECISION):
                total = sum((column[row] for column in columns), arb(0))
                assert total.overlaps(arb(1)) and total.rad() < arb(2) ** -120
        else:
            bound = arithmetic.mass_bound().after(0, terms=len(columns))
            exact = sum((rational(column[row]) for column in columns), fmpq(0))
            assert exact / bound.factor - bound.absolute <= 1 <= exact * bound.factor + bound.absolute
            assert bound.factor < 1 + fmpq(1, 10**10)


# ---- the gate


class Recording(BallArithmetic):
    """Balls that remember the largest |log| of everything that is charged."""

    def __init__(self) -> None:
        self.largest = arb(0)

    def record(self, raw: Any) -> None:
        for ball in np.ravel(np.asarray(raw, dtype=object)):
            self.largest = self.largest.max(abs(ball.log()))

    def reciprocal_dot(self, a: Any, b: Any) -> tuple[Any, int]:
        for table in (a, b):
            self.record(table)
        values, roundings = super().reciprocal_dot(a, b)
        self.record(values)
        return values, roundings

    def charge(self, raw: Any, roundings: int) -> None:
        self.record(raw)

    def charge_penalties(self, penalties: Any, roundings: int) -> None:
        self.record(penalties)


def size_of(tiny: Tiny, law: Law) -> arb:
    return log_size_of_likelihoods(
        tiny.rounds, tiny.query_count, arb(tiny.eta), law.targets.largest_answer(), arb(tiny.epsilon / 2), tiny.n
    )


@pytest.mark.parametrize("seed", range(24))
def test_the_gate_bounds_every_intermediate(seed: int) -> None:
    tiny = random_tiny(seed)
    recording = Recording()
    with ctx.workprec(BALL_PRECISION):
        law = law_of(tiny, recording)
        bound = size_of(tiny, law)
        assert recording.largest <= bound
        for column in masses_by_pair(law).values():
            for ball in column:
                for penalty in law.penalties:
                    assert abs((ball * penalty).log()) <= bound


def test_the_gates_bound_is_within_a_small_factor_of_what_happens() -> None:
    tiny = two_points(3, 3, eta=fmpq(100))
    recording = Recording()
    with ctx.workprec(BALL_PRECISION):
        law = law_of(tiny, recording)
        for column in masses_by_pair(law).values():
            recording.record(column * law.penalties[-1])
        assert recording.largest * 3 > size_of(tiny, law)


def at_size(size: fmpq) -> Tiny:
    """Two rounds on two points, one row, epsilon 1, with eta such that the gate's bound is that number."""
    with ctx.workprec(PRECISION):
        # 2 (2 eta (A + 1) + log 2) + eps n / 2 with A = 3 over the code families (a(x) = 1 moved by 2)
        eta = ((arb(size) - fmpq(1, 2)) / 2 - arb(2).log()) / 8
        return two_points(1, 2, eta=Enclosure.of(eta).lower)


@pytest.mark.parametrize("below", [fmpq(1, 10**6), fmpq(1), fmpq(300)])
def test_just_below_the_limit_everything_is_a_normal_double(below: fmpq) -> None:
    tiny = at_size(LINEAR_LIMIT - below)
    linear = LinearArithmetic()
    law = law_of(tiny, linear)
    assert law.targets.largest_answer() == 3
    size = size_of(tiny, law)
    assert abs(size - arb(LINEAR_LIMIT - below)) < fmpq(1, 10**9)
    assert fits_linear(2, 1, arb(tiny.eta), law.targets.largest_answer(), arb(tiny.epsilon / 2), 1)
    for column in masses_by_pair(law).values():
        for penalty in law.penalties:
            assert (column * penalty > np.finfo(np.float64).tiny).all()


def test_just_above_the_limit_the_gate_is_closed() -> None:
    for above in (fmpq(1, 10**6), fmpq(1), fmpq(10**6)):
        tiny = at_size(LINEAR_LIMIT + above)
        assert not fits_linear(2, 1, arb(tiny.eta), fmpq(3), arb(tiny.epsilon / 2), 1)


@pytest.mark.parametrize("eta", [10, 40, 43, 44, 80, 100, 130, 200, 400, 10**6])
def test_where_linear_tables_cannot_be_made_the_gate_is_closed(eta: int) -> None:
    tiny = two_points(1, 2, eta=fmpq(eta))
    with ctx.workprec(BALL_PRECISION):
        answer = law_of(tiny, BallArithmetic()).targets.largest_answer()
    opened = fits_linear(2, 1, arb(eta), answer, arb(tiny.epsilon / 2), 1)
    try:
        law = law_of(tiny, LinearArithmetic())
    except Undetermined:
        assert not opened
        return
    if opened:
        assert all((column > 0).all() for column in masses_by_pair(law).values())
    if eta >= 400:
        pytest.fail("the tables of this instance cannot be doubles")


@pytest.mark.parametrize("bits", [53, 64, 95])
def test_float_tables_need_their_precision(bits: int) -> None:
    law = law_of(random_tiny(1), LinearArithmetic())
    with ctx.workprec(bits), pytest.raises(ValueError, match="96 bits"):
        Law(law.space, law.targets, LinearArithmetic(), eta=arb(1), rate=arb(1), answers=np.empty((0, 0), dtype=object))


def test_parameters_that_are_not_known_well_enough_are_undetermined() -> None:
    tiny = two_points(1, 2)
    law = law_of(tiny, BallArithmetic())
    answers = np.full((law.space.graph.state_count, 2 * tiny.query_count), arb(0), dtype=object)
    for eta in (arb(1, fmpq(1, 2**40)), arb("nan"), arb(0, 1)):
        for arithmetic in (LinearArithmetic(), LogArithmetic()):
            with ctx.workprec(128), pytest.raises(Undetermined):
                Law(law.space, law.targets, arithmetic, eta=eta, rate=arb(1), answers=answers)
