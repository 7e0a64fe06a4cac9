"""certify.release.sweep: three routes to the envelopes and ball maxima, each against brute force over D^n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from instances import histogram, of_tiny, problem_of
from reference import (
    PRECISION,
    Database,
    Tiny,
    ball_maximum,
    databases,
    dataset_target,
    envelope,
    envelope_error,
    largest,
    masses,
    normaliser_excess,
    random_tiny,
)
from small_models import BALL_PRECISION, class_members

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import (
    TABLE_PRECISION,
    BallArithmetic,
    LinearArithmetic,
    LogArithmetic,
    PositiveArithmetic,
)
from certify.engine.decide_statement import FLOAT_BITS, Precision
from certify.release.decoding import Decoder
from certify.release.law import Law
from certify.release.measurements import BallMass, EnvelopeMass, PrivacyRatio
from certify.release.pmw import signed_answers
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.section7 import weighted_loss
from certify.release.sweep import BlockView, Neighbourhood, Sweep
from certify.release.transcripts import TranscriptSpace

# the last two have databases farther from a neighbour than from the centre, and likelihoods that outweigh the penalty
INSTANCES = [
    *(random_tiny(seed) for seed in range(12)),
    Tiny(((fmpq(1), fmpq(0), fmpq(-1)), (fmpq(1, 2), fmpq(-1), fmpq(1))), 3, fmpq(1, 10), 2, fmpq(6), fmpq(1, 2)),
    Tiny(((fmpq(1), fmpq(-1, 3)),), 5, fmpq(1, 5), 3, fmpq(8), fmpq(2, 3)),
]
SEEDS = range(len(INSTANCES))
MAKE = [LinearArithmetic, LogArithmetic, BallArithmetic]
BLOCK = 7


def precision_of(arithmetic: PositiveArithmetic) -> int:
    return BALL_PRECISION if isinstance(arithmetic, BallArithmetic) else TABLE_PRECISION


def sweep_of(tiny: Tiny, x: Database | None, arithmetic: PositiveArithmetic, *, balls: bool, neighbours: bool) -> Sweep:
    """A sweep as a check makes it: for all databases, for one with its neighbours, or for one alone."""
    problem = problem_of(of_tiny(tiny, x))
    targets = problem.dataset_targets
    with ctx.workprec(precision_of(arithmetic)):
        answers = signed_answers(problem.domain, problem.graph, tiny.gamma)
        law = Law(problem.space, targets, arithmetic, eta=arb(tiny.eta), rate=arb(tiny.epsilon / 2), answers=answers)
        in_floats = not isinstance(arithmetic, BallArithmetic)
        decoder = Decoder(problem.domain, targets, problem.space, answers, problem.centres, in_floats=in_floats)
        points = problem.points if neighbours else problem.centres
        near = None if x is None else Neighbourhood(problem.domain, targets, points)
        return Sweep(law, decoder, points, near, needs_balls=balls, block_size=BLOCK)


def rival_truth(tiny: Tiny, x: Database) -> dict[Any, arb]:
    """max over the y that answer otherwise of e^{-eps d/2} p_y, for every transcript."""
    own = histogram(x, tiny.universe_size)
    with ctx.workprec(PRECISION):
        laws = []
        for y in databases(tiny):
            if dataset_target(tiny, y) != dataset_target(tiny, x):
                distance = tiny.n - sum(min(a, b) for a, b in zip(own, histogram(y, tiny.universe_size), strict=True))
                laws.append(((arb(-tiny.epsilon / 2) * distance).exp(), masses(tiny, dataset_target(tiny, y))))
        own_law = masses(tiny, dataset_target(tiny, x))
        return {w: largest(p * law[w] for p, law in laws) if laws else arb(0) for w in own_law}


class Truth:
    """Sums over the transcripts of each class of a quantity of the reference."""

    def __init__(self, tiny: Tiny, space: TranscriptSpace) -> None:
        self.members = class_members(space, tiny)

    def of(self, quantity: dict[Any, arb], pair: tuple[int, int]) -> arb:
        with ctx.workprec(PRECISION):
            return sum((quantity[word] for word in self.members[pair]), arb(0))


def ends(ball: arb) -> tuple[fmpq, fmpq]:
    enclosure = Enclosure.of(ball)
    assert enclosure.lower is not None and enclosure.upper is not None
    return enclosure.lower, enclosure.upper


def at_least(value: Any, truth: arb, arithmetic: PositiveArithmetic) -> bool:
    """Whether the number behind a mass can be at least the truth."""
    if isinstance(arithmetic, BallArithmetic):
        return not value < truth
    bound = arithmetic.mass_bound()
    exact = fmpq(*float(value).as_integer_ratio())
    return ends(truth)[0] <= exact * bound.factor + bound.absolute


def at_most(value: Any, truth: arb, arithmetic: PositiveArithmetic) -> bool:
    """Whether the number behind a mass can be at most the truth."""
    if isinstance(arithmetic, BallArithmetic):
        return not value > truth
    bound = arithmetic.mass_bound()
    exact = fmpq(*float(value).as_integer_ratio())
    return exact / bound.factor - bound.absolute <= ends(truth)[1]


def agrees(value: Any, truth: arb, arithmetic: PositiveArithmetic) -> bool:
    return at_least(value, truth, arithmetic) and at_most(value, truth, arithmetic)


def views(sweep: Sweep) -> list[BlockView]:
    return [BlockView(i, block, sweep) for i, block in enumerate(sweep.law.space.blocks(BLOCK))]


def databases_of(tiny: Tiny, sweep: Sweep) -> list[Database]:
    """One database for every point of the sweep."""
    by_histogram = {histogram(x, tiny.universe_size): x for x in databases(tiny)}
    return [by_histogram[tuple(sweep.domain.histograms[p].tolist())] for p in sweep.points]


ROUTES: dict[str, tuple[bool, bool, bool]] = {  # every database, balls, neighbours
    "direct": (False, False, False),
    "grouped": (False, True, True),
    "grouped without balls": (False, False, True),
    "grouped alone": (False, True, False),
    "everywhere": (True, True, True),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("route", ROUTES)
def test_envelopes_and_balls_are_those_of_brute_force(
    seed: int, make: Callable[[], PositiveArithmetic], route: str
) -> None:
    tiny, arithmetic = INSTANCES[seed], make()
    everywhere, balls, neighbours = ROUTES[route]
    x = databases(tiny)[-1 if seed % 2 and seed < 12 else len(databases(tiny)) // 3]
    sweep = sweep_of(tiny, None if everywhere else x, arithmetic, balls=balls, neighbours=neighbours)
    truth = Truth(tiny, sweep.law.space)
    points = databases_of(tiny, sweep)
    if not everywhere:
        assert histogram(points[0], tiny.universe_size) == histogram(x, tiny.universe_size)
    with ctx.workprec(precision_of(arithmetic)):
        for view in views(sweep):
            own, rival = arithmetic.masses(view.own), arithmetic.masses(view.rival)
            whole = arithmetic.masses(view.envelope)
            assert own.shape == rival.shape == whole.shape == (len(points), view.block.size)
            for p, point in enumerate(points):
                law, envelopes = masses(tiny, dataset_target(tiny, point)), envelope(tiny, point)
                rivals = rival_truth(tiny, point)
                for index in range(view.block.size):
                    pair = view.block.pair(index)
                    exact = truth.of(law, pair)
                    assert agrees(own[p, index], exact, arithmetic)
                    assert agrees(whole[p, index], truth.of(envelopes, pair), arithmetic)
                    # e^{-eps d/2} p_x with d >= 1 may be in it or not
                    least = truth.of(rivals, pair)
                    with ctx.workprec(PRECISION):
                        most = least.max(exact * arb(-tiny.epsilon / 2).exp())
                    assert at_least(rival[p, index], least, arithmetic)
                    assert at_most(rival[p, index], most, arithmetic)
            if balls:
                found = arithmetic.masses(view.balls)
                assert found.shape == (tiny.n + 1, sweep.centre_count, view.block.size)
                for c in range(sweep.centre_count):
                    for radius in range(tiny.n + 1):
                        tops = ball_maximum(tiny, points[c], radius)
                        for index in range(view.block.size):
                            exact = truth.of(tops, view.block.pair(index))
                            assert agrees(found[radius, c, index], exact, arithmetic)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_routes_agree_with_one_another_in_arb(seed: int) -> None:
    """Every database by the directional sweeps, each again as the one centre by the other two routes."""
    tiny = INSTANCES[seed]
    with ctx.workprec(BALL_PRECISION):
        every = sweep_of(tiny, None, BallArithmetic(), balls=True, neighbours=True)
        for p, x in enumerate(databases_of(tiny, every)):
            direct = sweep_of(tiny, x, BallArithmetic(), balls=False, neighbours=False)
            grouped = sweep_of(tiny, x, BallArithmetic(), balls=True, neighbours=True)
            for one, two, three in zip(views(every), views(direct), views(grouped), strict=True):
                for a, b in zip(one.envelope[p], two.envelope[0], strict=True):
                    assert a.overlaps(b) and a.rad() < arb(2) ** -100 * a
                for i, point in enumerate(grouped.points):  # x, then its neighbours
                    for a, c in zip(one.envelope[every.points.index(point)], three.envelope[i], strict=True):
                        assert a.overlaps(c) and c.rad() < arb(2) ** -100 * c
                for a, c in zip(one.balls[:, p].ravel(), three.balls[:, 0].ravel(), strict=True):
                    assert a.overlaps(c)


# ---- sums over all transcripts


def measured(problem: ReleaseProblem, bits: int, *, balls: bool) -> Evidence:
    pairs = PrivacyRatio(tuple(problem.neighbour_pairs))
    extra = (EnvelopeMass(), BallMass(), pairs) if balls and problem.neighbour_pairs else (EnvelopeMass(),)
    return problem.evidence_at(Precision(bits), [], None, extra)


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_are_those_of_brute_force_lumped_or_not_on_every_route(seed: int) -> None:
    tiny = INSTANCES[seed]
    x = databases(tiny)[-1]
    excess, error = normaliser_excess(tiny, x), envelope_error(tiny, x)
    widths = []
    for everywhere, lumped, bits, balls in (
        (False, True, FLOAT_BITS, False),
        (False, False, FLOAT_BITS, False),
        (False, True, FLOAT_BITS, True),
        (True, True, FLOAT_BITS, True),
        (True, False, FLOAT_BITS, False),
        (False, False, 200, True),
        (True, True, 200, False),
    ):
        problem = problem_of(of_tiny(tiny, None if everywhere else x))
        if not lumped:
            problem.__dict__["space"] = TranscriptSpace(problem.graph, lumped=False)
        centre = problem.centres.index(problem.domain.histogram_index[histogram(x, tiny.universe_size)])
        evidence = measured(problem, bits, balls=balls)
        with ctx.workprec(PRECISION):
            found = evidence.excess(EnvelopeMass(), (centre,))
            assert Enclosure.of(found).overlaps(Enclosure.of(excess))
            loss = weighted_loss(evidence, centre)
            assert Enclosure.of(loss).overlaps(Enclosure.of(error))
            widths.append(max(found.rad(), loss.rad()))
    assert all(width < fmpq(1, 10**9) for width in widths)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_the_size_of_blocks_changes_no_enclosure_materially(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = random_tiny(5)
    x = databases(tiny)[0]
    monkeypatch.setattr(Evidence, "_block_size", lambda self, points: size)
    evidence = measured(problem_of(of_tiny(tiny, x)), FLOAT_BITS, balls=True)
    assert evidence.sweep.block_size == size
    with ctx.workprec(PRECISION):
        assert Enclosure.of(evidence.excess(EnvelopeMass(), (0,))).overlaps(Enclosure.of(normaliser_excess(tiny, x)))
        assert Enclosure.of(weighted_loss(evidence, 0)).overlaps(Enclosure.of(envelope_error(tiny, x)))


def test_the_maximum_over_no_rival_is_nothing() -> None:
    """One element: there is no other database, the excess is exactly 0 and the normaliser exactly 1."""
    tiny = Tiny(((fmpq(1, 3),),), 2, fmpq(1), 2, fmpq(1), fmpq(1))
    for everywhere in (False, True):
        problem = problem_of(of_tiny(tiny, None if everywhere else (0, 0)))
        evidence = measured(problem, FLOAT_BITS, balls=False)
        assert evidence.excess(EnvelopeMass(), (0,)).is_zero()
        assert evidence.normaliser(EnvelopeMass(), 0) == 1


def test_an_excess_is_zero_exactly_only_where_every_rival_is_surely_below() -> None:
    """A huge penalty: no rival comes near. A tiny one: every rival does, and the excess is not said to vanish."""
    for epsilon, zero in ((fmpq(300), True), (fmpq(1, 10**6), False)):
        tiny = Tiny(((fmpq(1), fmpq(-1)),), 2, epsilon, 2, fmpq(2), fmpq(1, 2))
        evidence = measured(problem_of(of_tiny(tiny, (0, 1))), FLOAT_BITS, balls=False)
        assert bool(evidence.excess(EnvelopeMass(), (0,)).is_zero()) == zero
        assert normaliser_excess(tiny, (0, 1)).contains(0) == zero


def test_the_directions_reach_every_database_along_shortest_paths() -> None:
    for tiny in INSTANCES:
        sweep = sweep_of(tiny, None, LinearArithmetic(), balls=False, neighbours=False)
        assert len(sweep.directions) == tiny.universe_size * (tiny.universe_size - 1)
        count = sweep.domain.histogram_count
        reached = np.where(np.eye(count, dtype=bool), 0, 10**6)
        for direction in sweep.directions:
            for source, sink in direction:
                reached[:, sink] = np.minimum(reached[:, sink], reached[:, source] + 1)
        exact = np.stack([sweep.domain.distances_from(h) for h in sweep.domain.histograms])
        assert (reached == exact).all()
