"""certify.release.decoding: losses against brute force, within the stated error, and zeros that are exact."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from instances import explicit, histogram, instance, problem_of
from reference import (
    ONE,
    PRECISION,
    Tiny,
    databases,
    dataset_target,
    decode,
    loss,
    random_tiny,
    signed_queries,
)
from small_models import BALL_PRECISION, domain_of, graph_of, number, table_of

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import TABLE_PRECISION
from certify.arithmetic.scalar import Undetermined
from certify.engine.decide_statement import FLOAT_BITS, Precision
from certify.release.check import CheckOptions, check
from certify.release.decoding import Decoder
from certify.release.measurements import EnvelopeMass
from certify.release.pmw import signed_answers
from certify.release.transcripts import TranscriptSpace

SEEDS = range(16)


class Decoding:
    """A decoder for every database of a small instance, and the reference's transcript of each class."""

    def __init__(self, tiny: Tiny, *, in_floats: bool) -> None:
        self.tiny, self.domain, graph = tiny, domain_of(tiny), graph_of(tiny)
        self.space = TranscriptSpace(graph)
        self.centres = list(range(self.domain.histogram_count))
        with ctx.workprec(TABLE_PRECISION if in_floats else BALL_PRECISION):
            answers = signed_answers(self.domain, graph, tiny.gamma)
            self.decoder = Decoder(
                self.domain, table_of(tiny, (1,)), self.space, answers, self.centres, in_floats=in_floats
            )
        self.signed = {number(tiny, s): s for s in signed_queries(tiny)}

    def omega(self, pair: tuple[int, int]) -> tuple[tuple[int, int], ...]:
        return tuple(self.signed[s] for s in self.space.transcript(*pair))

    def centre(self, x: tuple[int, ...]) -> int:
        return self.domain.histogram_index[histogram(x, self.tiny.universe_size)]


def rational(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def miss(value: float, truth: arb) -> fmpq:
    """The largest distance of a double from a number of the ball."""
    enclosure = Enclosure.of(truth)
    assert enclosure.lower is not None and enclosure.upper is not None
    return max(abs(rational(value) - end) for end in (enclosure.lower, enclosure.upper))


@pytest.mark.parametrize("seed", SEEDS)
def test_float_losses_are_within_the_stated_error(seed: int) -> None:
    tiny = random_tiny(seed)
    model = Decoding(tiny, in_floats=True)
    for x in databases(tiny)[:6]:
        centre = model.centre(x)
        for block in model.space.blocks(20):
            values = model.decoder.loss(block, centre)
            assert values.shape == (block.size,) and (values >= 0).all()
            for index, value in enumerate(values.tolist()):
                truth = loss(tiny, x, model.omega(block.pair(index)))
                assert miss(value, truth) <= model.decoder.error[centre] + fmpq(1, 2**150)
                if model.decoder.is_exactly_zero(centre):
                    assert value == 0 and truth.overlaps(arb(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_ball_losses_enclose_the_loss(seed: int) -> None:
    tiny = random_tiny(seed)
    model = Decoding(tiny, in_floats=False)
    assert not any(model.decoder.error)
    with ctx.workprec(PRECISION):
        for x in databases(tiny)[:6]:
            for block in model.space.blocks(20):
                for index, ball in enumerate(model.decoder.loss(block, model.centre(x))):
                    assert ball.overlaps(loss(tiny, x, model.omega(block.pair(index))))
                    assert ball.rad() < arb(2) ** -150


@pytest.mark.parametrize("seed", SEEDS)
def test_deviations_are_signed_and_leave_out_constant_queries(seed: int) -> None:
    tiny = random_tiny(seed)
    model = Decoding(tiny, in_floats=True)
    queries = model.decoder.queries
    assert queries == [q for q, values in enumerate(tiny.values) if any(v != values[0] for v in values)]
    x = databases(tiny)[-1]
    centre, exact = model.centre(x), dataset_target(tiny, x)
    for block in model.space.blocks(50):
        deviations = model.decoder.deviations(block, centre)
        assert deviations.shape == (len(queries), block.size)
        for index in range(block.size):
            answers = decode(tiny, model.omega(block.pair(index)))
            for i, q in enumerate(queries):
                with ctx.workprec(PRECISION):
                    truth = answers[q] - exact[q]
                assert miss(float(deviations[i, index]), truth) <= fmpq(tiny.rounds + 8, 2**52)


def long_runs(rounds: int, n: int) -> Tiny:
    """One query on two points, many rounds: answers near 1/3 of which no double knows any."""
    return Tiny(((fmpq(1), fmpq(-1, 3)),), n, ONE, rounds, ONE, fmpq(2, 3))


@pytest.mark.parametrize("rounds", [2, 9, 12])
def test_the_error_of_long_runs_holds_and_is_within_a_small_factor_of_what_happens(rounds: int) -> None:
    tiny = long_runs(rounds, 7)
    model, fine = Decoding(tiny, in_floats=True), Decoding(tiny, in_floats=False)
    worst = fmpq(0)
    with ctx.workprec(BALL_PRECISION):
        for centre in model.centres:
            for block in model.space.blocks(10**4):
                values, balls = model.decoder.loss(block, centre), fine.decoder.loss(block, centre)
                worst = max(worst, *(miss(v, b) for v, b in zip(values.tolist(), balls, strict=True)))
    error = model.decoder.error[0]
    assert error == fmpq(rounds + 8, 2**52)
    assert worst < error < 80 * worst


def test_a_smaller_error_would_be_passed() -> None:
    """The lemma can fail: not even correctly rounded losses are all within 2^-56 of the truth."""
    model, fine = Decoding(long_runs(9, 7), in_floats=True), Decoding(long_runs(9, 7), in_floats=False)
    block = next(iter(model.space.blocks(10**4)))
    with ctx.workprec(BALL_PRECISION):
        pairs = zip(model.decoder.loss(block, 0).tolist(), fine.decoder.loss(block, 0), strict=True)
        assert any(miss(value, ball) > fmpq(1, 2**56) for value, ball in pairs)


# ---- exact zeros


def zeros(tiny: Tiny) -> list[bool]:
    model = Decoding(tiny, in_floats=True)
    found = [model.decoder.is_exactly_zero(c) for c in model.centres]
    for centre, zero in enumerate(found):
        assert (model.decoder.error[centre] == 0) == zero
        losses = np.concatenate([model.decoder.loss(block, centre) for block in model.space.blocks(100)])
        assert not zero or not losses.any()
    return found


def test_one_round_answers_a_uniform_database_exactly() -> None:
    tiny = Tiny(((fmpq(1, 3), fmpq(-1, 7)),), 2, ONE, 1, ONE, ONE)
    assert zeros(tiny) == [False, True, False]


def test_two_rounds_do_not() -> None:
    assert zeros(Tiny(((fmpq(1, 3), fmpq(-1, 7)),), 2, ONE, 2, ONE, ONE)) == [False] * 3


def test_constant_queries_are_answered_exactly() -> None:
    assert zeros(Tiny(((fmpq(1, 3),) * 2, (fmpq(-1),) * 2), 2, ONE, 2, ONE, ONE)) == [True] * 3
    assert zeros(Tiny(((fmpq(1, 3),),), 4, ONE, 3, ONE, ONE)) == [True]


def test_a_constant_query_beside_another_does_not_make_the_loss_zero() -> None:
    assert zeros(Tiny(((fmpq(1, 3),) * 2, (fmpq(1), fmpq(0))), 1, ONE, 2, ONE, ONE)) == [False, False]


# ---- answers that the tables do not know


@pytest.mark.parametrize("radius", [fmpq(1, 2**59), fmpq(1, 2**30), fmpq(1)])
def test_answers_that_are_not_known_are_no_table_entries(radius: fmpq) -> None:
    """A midpoint is not an answer: with a wide ball the float loss would be off by more than its error."""
    tiny = long_runs(2, 2)
    domain, graph = domain_of(tiny), graph_of(tiny)
    with ctx.workprec(TABLE_PRECISION):
        answers = signed_answers(domain, graph, tiny.gamma)
        for wrong in (answers + arb(0, radius), answers * arb("nan")):
            with pytest.raises(Undetermined, match=r"2\^-60"):
                Decoder(domain, table_of(tiny, (1,)), TranscriptSpace(graph), wrong, [0], in_floats=True)
        narrow = answers + arb(0, fmpq(1, 2**61))
        Decoder(domain, table_of(tiny, (1,)), TranscriptSpace(graph), narrow, [0], in_floats=True)


def test_a_gamma_that_cancels_is_left_to_more_precision() -> None:
    """At 96 bits this gamma is known to seven digits, and with so small an eta no likelihood notices."""
    cancelling = instance([[1, 0]], [1, 1], "1/2", explicit(2, "1e-20", "(exp(1e-22)-1)*1e21"))
    plain = instance([[1, 0]], [1, 1], "1/2", explicit(2, "1e-20", "1/10"))  # gamma is 1/10 up to 5e-24
    with pytest.raises(Undetermined):
        problem_of(cancelling).evidence_at(Precision(FLOAT_BITS), [], None, (EnvelopeMass(),))
    found, expected = (
        check(problem_of(given), CheckOptions(statements=("eq-3.3",))).quantities["expected_error"]
        for given in (cancelling, plain)
    )
    assert isinstance(found, Enclosure) and isinstance(expected, Enclosure)
    assert found.overlaps(expected)
    assert found.width() < fmpq(1, 10**12) and expected.width() < fmpq(1, 10**12)
