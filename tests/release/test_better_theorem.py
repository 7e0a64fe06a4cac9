"""BC-1, BC-6, BC-7, BC-8 and the theorem of the smaller constant: by hand, by brute force, refuted when changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from instances import entries, evidence_of, explicit, instance, outcome, problem_of, run, statement, zero_branch
from reference import (
    Database,
    Tiny,
    Transcript,
    dataset_target,
    discrepancy,
    envelope,
    expected_error,
    largest,
    losses,
    signed_queries,
    total,
    transcripts,
)
from tunings import PRECISION, SHORT, TUNINGS, ByHand, fixed

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.engine.decide_statement import Precision, decide_statement
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance, TunedMechanism
from certify.release.statements.base import EXACT_BRANCH, HISTOGRAM_BRANCH, ZERO_BRANCH
from certify.release.statements.better_theorem import NOT_TUNED
from constants.ledger import default_ledger
from constants.search.rung import Histogram, Tuning

IDS = ("bc-1", "bc-6", "bc-7", "bc-8", "bc-thm")
BITS = (53, 128)
COIN = [[1, "-1/3"]]
BOTH_SIGNS = [[1, -1]]

Changes = Mapping[str, str] | None


def tuned(
    values: Any, database: Any, epsilon: str | int | fmpq, rung: str = "8", n: int | None = None
) -> ReleaseInstance:
    return instance(values, database, epsilon, TunedMechanism(rung), n=n)


def at_the_border(tuning: Tuning, rows: int = 2) -> fmpq:
    """An ε for T = 2, k = 1 at which C τ is about 1 - 1/1000."""
    with ctx.workprec(PRECISION):
        least = arb(4).log() * arb(2).log() * tuning.constant**2 / rows
        return fmpq(int((least * fmpq(1002, 1000) * 100).upper().fmpq().ceil()), 100)


# numbers of the mechanism and of the bounds, by hand


@pytest.mark.parametrize("rung", TUNINGS)
@pytest.mark.parametrize(("size", "queries", "rows", "stretch"), [(2, 1, 2, 1), (3, 1, 7, 1), (2, 2, 1, 3)])
def test_the_choices_and_bounds_by_hand(rung: str, size: int, queries: int, rows: int, stretch: int) -> None:
    epsilon = at_the_border(TUNINGS[rung], rows) * stretch * 4
    values = [[fmpq((d + q) % 3 - 1) for d in range(size)] for q in range(queries)]
    with fixed(TUNINGS[rung]):
        problem = problem_of(tuned(values, [rows] + [0] * (size - 1), epsilon, rung))
    assert problem.has_transcripts and problem.is_tuned
    found = problem.mechanism.tuned
    hand = ByHand(TUNINGS[rung], size, queries, rows, epsilon)
    assert (problem.rounds, found.block_width) == (hand.rounds(), hand.block())  # type: ignore[union-attr]
    with ctx.workprec(PRECISION):
        s_f, f = hand.far_sums()
        expected = {
            "eta": hand.eta(),
            "gamma": hand.gamma(),
            "regret_J": hand.gamma(),
            "L": hand.entropy(),
            "X": hand.border(),
            "S": hand.near_sum(),
            "S_f": s_f,
            "F": f,
            "far_rate": hand.far_rate(),
            "threshold": hand.threshold(),
            "error": hand.error(),
        }
        for name, value in expected.items():
            assert agree(found.evaluate(name), value), name  # type: ignore[union-attr]
        assert agree(problem.parameters.tau(), hand.tau()) and agree(problem.parameters.eta(), hand.eta())


def agree(value: Any, expected: arb) -> bool:
    """Two enclosures of one number, both narrow."""
    one = arb(value)
    return bool(one.overlaps(expected) and one.rad() < 2.0**-150 and expected.rad() < 2.0**-150)


@pytest.mark.parametrize("rung", TUNINGS)
@pytest.mark.parametrize("epsilon", [fmpq(1, 10), fmpq(1), fmpq(4, 3), fmpq(20), fmpq(1000)])
def test_the_block_sums_are_limits_of_their_partial_sums(rung: str, epsilon: fmpq) -> None:
    """Three hundred blocks leave less than 2^-60 of what is compared."""
    tuning = TUNINGS[rung]
    with ctx.workprec(PRECISION):
        rows = int((tuning.constant**2 * arb(4).log() * arb(2).log() / epsilon).upper().fmpq().ceil())
    hand = ByHand(tuning, 2, 1, rows, epsilon)
    with fixed(tuning):
        problem = problem_of(tuned(BOTH_SIGNS, [rows, 0], epsilon))
    cases = [entry for entry in entries(evidence_of(problem, 128, ["bc-6"]), "bc-6") if not entry.auxiliary]
    found = {entry.witness["quantity"]: entry for entry in cases}
    with ctx.workprec(PRECISION):
        border, width = hand.border(), hand.block()
        near = hand.block_terms(hand.choices.g, 300)
        far = [(radius, term) for radius, term in hand.block_terms(hand.far_rate(), 300) if epsilon * radius > border]
        s_f, f = hand.far_sums()
        sides = {
            "Σ w_j e^{gεR_j}": (total(term for _, term in near), hand.near_sum()),
            "Σ_far w_j e^{g_f εR_j}": (total(term for _, term in far), s_f),
            "Σ_far εR_j w_j e^{g_f εR_j}": (total(arb(epsilon) * radius * term for radius, term in far), f),
        }
        assert set(found) == set(sides)
        for quantity, (partial, bound) in sides.items():
            entry = found[quantity]
            slack = abs(partial) * arb(2) ** -60
            assert entry.lhs.overlaps(Enclosure.of(partial.union(partial + slack))), quantity
            assert entry.rhs.overlaps(Enclosure.of(bound)), quantity
            assert entry.witness["B"] == width
            assert partial <= bound


# the law, by brute force


@cache
def brute(tuning: Tuning, rows: int = 2) -> tuple[ByHand, Tiny]:
    """The tuned instance of two elements as the reference sees it, η and γ cut to 2^-190."""
    hand = ByHand(tuning, 2, 1, rows, at_the_border(tuning, rows))
    with ctx.workprec(PRECISION):
        eta, gamma = (value.mid().fmpq() for value in (hand.eta(), hand.gamma()))
    values = ((fmpq(1), fmpq(-1, 3)),)
    return hand, Tiny(values, rows, hand.epsilon, hand.rounds(), eta, gamma)


def mean_beyond(hand: ByHand, tiny: Tiny, x: Database) -> arb:
    threshold = hand.threshold()
    loss, law = losses(tiny, x), envelope(tiny, x)
    return total(weight * (loss[omega] - threshold).max(arb(0)) for omega, weight in law.items())


def path_regret(tiny: Tiny, x: Database) -> arb:
    """The largest average of ``D_t(s_t)``."""
    a = dataset_target(tiny, x)
    return largest(average_discrepancy(tiny, x, omega) for omega in transcripts(tiny)) if a else arb(0)


def average_discrepancy(tiny: Tiny, x: Database, omega: Transcript) -> arb:
    a = dataset_target(tiny, x)
    return total(discrepancy(tiny, a, s, omega[:t]) for t, s in enumerate(omega)) / tiny.rounds


@pytest.mark.parametrize("tuning", [SHORT, TUNINGS["4"], TUNINGS["8"]], ids=lambda tuning: tuning.rung.name)
@pytest.mark.parametrize("bits", BITS)
def test_error_threshold_step_and_regret_by_brute_force(tuning: Tuning, bits: int) -> None:
    """All three thresholds: nothing, the regret, the regret and the gap."""
    hand, tiny = brute(tuning)
    with fixed(tuning):
        problem = problem_of(tuned(COIN, [2, 0], hand.epsilon))
        evidence = evidence_of(problem, bits, IDS)
        found = {name: list(entries(evidence, name)) for name in ("bc-1", "bc-7", "bc-thm")}
    assert problem.rounds == tiny.rounds == 12
    x = (0, 0)
    with ctx.workprec(PRECISION):
        room = arb(0, arb(2) ** -150)  # for the η and γ that were cut
        error = expected_error(tiny, x) + room
        excess, path = found["bc-1"]
        assert overlap(excess.lhs, error)
        assert overlap(excess.rhs, hand.threshold() + mean_beyond(hand, tiny, x) + room)
        assert overlap(path.lhs, path_regret(tiny, x) + room) and overlap(path.rhs, hand.gamma())
        (bound,) = found["bc-7"]
        assert overlap(bound.lhs, error) and overlap(bound.rhs, hand.error())
        scaled = hand.tuning.constant * hand.tau()
        (theorem,) = found["bc-thm"]
        assert overlap(theorem.lhs, error) and overlap(theorem.rhs, scaled)
        assert mean_beyond(hand, tiny, x) > 0  # else the excess would be compared with nothing
        assert error < hand.error() and error < scaled
        for entry in (excess, path, bound, theorem):
            assert max(width(entry.lhs), width(entry.rhs)) < fmpq(1, 2**36)


def overlap(found: Enclosure, expected: arb) -> bool:
    return found.overlaps(Enclosure.of(expected))


def width(found: Enclosure) -> fmpq:
    value = found.width()
    assert value is not None
    return value


def test_every_transcript_has_its_loss_within_the_regret_and_the_gap() -> None:
    """What BC-1 concludes from the path: ``L_x - Gbar <= reg``, pathwise."""
    hand, tiny = brute(TUNINGS["8"])
    x = (0, 0)
    a = dataset_target(tiny, x)
    with ctx.workprec(PRECISION):
        for omega, loss in losses(tiny, x).items():
            gap = (
                total(
                    largest(discrepancy(tiny, a, s, omega[:t]) for s in signed_queries(tiny))
                    - discrepancy(tiny, a, omega[t], omega[:t])
                    for t in range(tiny.rounds)
                )
                / tiny.rounds
            )
            assert loss - gap < hand.gamma()


# verdicts


def border(rung: str, database: list[int] | None = None, n: int | None = None) -> ReleaseInstance:
    rows = n if database is None else sum(database)
    assert rows is not None
    return tuned(COIN, database, at_the_border(TUNINGS[rung], rows), rung, n=n)


@pytest.mark.parametrize("rung", ["1", "2", "3"])
@pytest.mark.parametrize("bits", BITS)
def test_the_parameters_of_the_first_rungs_are_proved_at_their_borders(rung: str, bits: int) -> None:
    """Their laws are out of reach: J is 124."""
    with fixed(TUNINGS[rung]):
        problem = problem_of(border(rung, [1, 1]))
        for name in ("bc-6", "bc-8"):
            level = Precision(bits)
            found = decide_statement(statement(name), problem.evidence_at(level, []), level, max_precision=4096)
            assert found.verdict is Verdict.PROVED, (name, found.reason)


@pytest.mark.parametrize("rung", ["4", "5", "6", "7", "8"])
@pytest.mark.parametrize("bits", BITS)
def test_every_rung_is_proved_at_its_border(rung: str, bits: int) -> None:
    with fixed(TUNINGS[rung]):
        for given in (border(rung, [1, 1]), border(rung, None, 2)):
            for found in run(given, *IDS, options=CheckOptions(precision=bits)).outcomes:
                assert found.verdict is Verdict.PROVED, (found.statement.id, found.reason)
                assert found.cases > 0


MUTATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("bc-1", "better-threshold", "1/1000", "E L_x"),
    ("bc-1", "better-regret", "1/100", "(1/J)ΣD_t(s_t)"),
    ("bc-6", "better-near-sum", "1/10^6", "Σ w_j e^{gεR_j}"),
    ("bc-6", "better-far-sum", "1/10^30", "Σ_far w_j e^{g_f εR_j}"),
    ("bc-6", "better-far-weighted-sum", "1/10^30", "Σ_far εR_j w_j e^{g_f εR_j}"),
    ("bc-7", "better-error", "1/1000", "E‖M(x)-F(x)‖_∞"),
    ("bc-8", "better-final", "1/2", "bound of BC-7"),
    ("bc-8", "better-rounds", "2", "j C² L_D ≤ J"),
    ("bc-8", "better-rate", "1/4", "γ"),
    ("bc-8", "better-moment-scale", "5/2", "near√(A_R L)/R"),
    ("bc-thm", "better-theorem", "1/1000", "E‖M(x)-F(x)‖_∞"),
)
OF_BRUTE: Mapping[str, Callable[[ByHand, Tiny, Database, arb], tuple[arb, arb]]] = {
    "better-threshold": lambda hand, tiny, x, c: (
        expected_error(tiny, x),
        c * hand.threshold() + mean_beyond(hand, tiny, x),
    ),
    "better-regret": lambda hand, tiny, x, c: (path_regret(tiny, x), c * hand.gamma()),
    "better-near-sum": lambda hand, tiny, x, c: (
        total(term for _, term in hand.block_terms(hand.choices.g, 300)),
        c * hand.near_sum(),
    ),
    "better-far-sum": lambda hand, tiny, x, c: (far_sum(hand, 0), c * hand.far_sums()[0]),
    "better-far-weighted-sum": lambda hand, tiny, x, c: (far_sum(hand, 1), c * hand.far_sums()[1]),
    "better-error": lambda hand, tiny, x, c: (expected_error(tiny, x), c * hand.error()),
    "better-final": lambda hand, tiny, x, c: (hand.error(), c * hand.tuning.constant * hand.tau()),
    "better-rounds": lambda hand, tiny, x, c: (
        c * hand.choices.j * hand.tuning.constant**2 * arb(4).log(),
        arb(hand.rounds()),
    ),
    "better-rate": lambda hand, tiny, x, c: (hand.gamma(), c),
    "better-moment-scale": lambda hand, tiny, x, c: (
        hand.growth()[0] * (c * hand.rounds() * hand.entropy()).sqrt() * hand.eta() / hand.rows,
        arb(hand.choices.g * hand.epsilon),
    ),
    "better-theorem": lambda hand, tiny, x, c: (expected_error(tiny, x), c * hand.tuning.constant * hand.tau()),
}


def far_sum(hand: ByHand, power: int) -> arb:
    """The partial sum over 300 blocks: less than the sum."""
    return total(
        (arb(hand.epsilon) * radius if power else arb(1)) * term
        for radius, term in hand.block_terms(hand.far_rate(), 300)
        if hand.epsilon * radius > hand.border()
    )


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize(("name", "constant", "value", "quantity"), MUTATIONS)
def test_a_changed_constant_is_refuted(name: str, constant: str, value: str, quantity: str, bits: int) -> None:
    hand, tiny = brute(TUNINGS["8"])
    with fixed(TUNINGS["8"]):
        given = tuned(COIN, [2, 0], hand.epsilon)
        options = CheckOptions(precision=bits)
        assert outcome(given, name, None, options).verdict is Verdict.PROVED
        found = outcome(given, name, {constant: value}, options)
    assert found.verdict is Verdict.REFUTED, found.reason
    assert found.worst is not None and found.worst.witness["quantity"] == quantity
    with ctx.workprec(PRECISION):
        changed = arb(default_ledger().replaced({constant: value}).rational(constant))
        left, right = OF_BRUTE[constant](hand, tiny, (0, 0), changed)
        assert left > right
        room = arb(0, arb(2) ** -60)
        assert overlap(found.worst.lhs, left + left * room) and overlap(found.worst.rhs, right + right * room)


def test_every_constant_of_these_statements_is_changed() -> None:
    ledger = default_ledger()
    used = {c.id for c in ledger.constants.values() if c.paper_id == "better" and set(c.used_by) & set(IDS)}
    assert {each for each in used if not each.startswith("better-histogram")} == {
        constant for _, constant, _, _ in MUTATIONS
    }
    for name, constant, _, _ in MUTATIONS:
        assert name in ledger[constant].used_by


@pytest.mark.parametrize(("wanted", "changes"), [(Verdict.PROVED, 1), (Verdict.REFUTED, -1)])
def test_what_float64_cannot_separate_is_decided_in_arb(wanted: Verdict, changes: int) -> None:
    """The multiple of the bound is put within 10^-18 of the error: above it or below it."""
    hand, tiny = brute(TUNINGS["8"])
    with ctx.workprec(PRECISION):
        share = (expected_error(tiny, (0, 0)) / hand.error()).mid().fmpq() + changes * fmpq(1, 10**18)
    with fixed(TUNINGS["8"]):
        given, change = tuned(COIN, [2, 0], hand.epsilon), {"better-error": f"{share.p}/{share.q}"}
        first = outcome(given, "bc-7", change, CheckOptions(max_precision=53))
        assert first.verdict is Verdict.UNDECIDED and first.reason
        found = outcome(given, "bc-7", change)
    assert found.verdict is wanted and found.precision_bits >= 128


def test_a_moment_scale_below_the_identity_is_compared() -> None:
    with fixed(TUNINGS["7"]):
        equal, below = border("7", [1, 1]), outcome(border("7", [1, 1]), "bc-8", {"better-moment-scale": "19/10"})
        assert below.verdict is Verdict.PROVED and not below.notes
        assert outcome(equal, "bc-8").notes == ("near√(A_R L) = gεR, an identity in g, ε, n, J and L",)


def test_block_sums_that_may_be_infinite_are_left_open() -> None:
    """No certificate has ``g >= 1/2``, and the reader of certificates refuses it."""
    steep = Tuning(TUNINGS["8"].rung, fmpq(9), (replace(TUNINGS["8"].ranges[0], g=fmpq(13, 25)),))
    with fixed(steep):
        found = outcome(border("8", [1, 1]), "bc-6")
    assert found.verdict is Verdict.UNDECIDED


# where they do not apply


def test_a_mechanism_that_is_not_tuned() -> None:
    for given in (instance(COIN, [1, 1], 1, explicit(2, 1, "1/2")), zero_branch()):
        for found in run(given, *IDS).outcomes:
            assert (found.verdict, found.reason, found.cases) == (None, NOT_TUNED, 0)


@pytest.mark.parametrize(
    ("given", "tuning", "reason"),
    [
        (tuned(COIN, [1, 1], 1), TUNINGS["8"], ZERO_BRANCH),
        (tuned([["1/2"]], [3], 1), TUNINGS["8"], EXACT_BRANCH),
        (tuned([["1/2"]], [3], 10**6), TUNINGS["8"], EXACT_BRANCH),
        (tuned(COIN, [50, 50], 1), Tuning(TUNINGS["8"].rung, fmpq(7), (Histogram(2),)), HISTOGRAM_BRANCH),
    ],
)
def test_branches_without_transcripts(given: ReleaseInstance, tuning: Tuning, reason: str) -> None:
    with fixed(tuning):
        outcomes = {found.statement.id: found for found in run(given, *IDS).outcomes}
    assert outcomes.pop("bc-thm").verdict is Verdict.PROVED
    for found in outcomes.values():
        assert (found.verdict, found.reason) == (None, reason)


def test_the_zero_branch_of_the_theorem_is_refuted_when_too_small() -> None:
    with fixed(TUNINGS["8"]):
        found = outcome(tuned(COIN, [2, 0], 1), "bc-thm", {"better-theorem": "1/20"})
    assert found.verdict is Verdict.REFUTED and found.worst is not None
    assert found.worst.witness == {"database": {"d0": 2}, "quantity": "‖F(x)‖_∞"}
    assert found.worst.lhs == Enclosure.of(fmpq(1))


def test_privacy_that_does_not_follow_leaves_the_theorem_open() -> None:
    with fixed(TUNINGS["8"]):
        assert outcome(border("8", [1, 1]), "bc-thm", {"privacy": "9/10"}).verdict is Verdict.UNDECIDED
