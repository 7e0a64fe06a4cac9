"""The noisy histogram of BC-10: its law against brute force, its statements on instances of rung 9."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from instances import explicit, instance, outcome, problem_of, quantity, relative_width, run

import certify.release.mechanism
from certify.arithmetic.scalar import Scalar, Undetermined, logarithm
from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions
from certify.release.domain import Domain
from certify.release.histogram import HistogramLaw, mean_noise
from certify.release.instance import ReleaseInstance, TunedMechanism
from certify.release.size import Plan
from certify.release.statements.better_histogram import largest_exponent, neighbour_pairs, privacy_loss
from constants.search.rung import RUNGS, Envelope, Histogram, Tuning

SEVEN = Tuning(RUNGS["9"], fmpq(7), (Histogram(2), Envelope(88, g=fmpq(463, 1000), b=fmpq(2), j=fmpq(1637, 10_000))))
HALF = fmpq(1, 2)
STATEMENTS = ("bc-10.privacy", "bc-10.noise", "bc-10.error", "bc-10", "bc-thm")

Values = Sequence[Sequence[int | fmpq]]


def domain_of(values: Values, n: int) -> Domain:
    size = len(values[0])
    names, queries = tuple(f"d{d}" for d in range(size)), tuple(f"q{q}" for q in range(len(values)))
    return Domain(names, queries, tuple(tuple(fmpq(v) for v in row) for row in values), n)


def random_values(seed: int, size: int, queries: int) -> list[list[fmpq]]:
    rng = random.Random(f"{seed} {size} {queries}")
    return [[fmpq(rng.randint(-6, 6), 6) for _ in range(size)] for _ in range(queries)]


def noise_mass(a: Any, k: int) -> Any:
    """``P(N = k)`` from the definition: proportional to ``a^|k|``, normalised by ``1 + 2(a + a^2 + ...)``."""
    return a ** abs(k) / (1 + 2 * a / (1 - a))


def clamped_mass(a: Any, count: int, output: int, n: int) -> Any:
    """``P(min(max(c + N, 0), n) = output)``; a tail is what symmetry leaves of one half."""

    def at_least(k: int) -> Any:
        below_zero = (1 - noise_mass(a, 0)) / 2
        return 1 - below_zero - sum(noise_mass(a, i) for i in range(k))

    if output == 0:
        return at_least(count)
    return at_least(n - count) if output == n else noise_mass(a, output - count)


def largest_move(values: Values, moves: Sequence[int]) -> fmpq:
    """``max_q |sum_d q(d) moves_d|``."""
    answers = [sum((fmpq(v) * m for v, m in zip(row, moves, strict=True)), fmpq(0)) for row in values]
    return max(abs(answer) for answer in answers)


def brute_error(a: Any, values: Values, counts: Sequence[int], n: int) -> Any:
    """The expected error, output by output."""
    total = 0 * a
    masses = [[clamped_mass(a, count, output, n) for output in range(n + 1)] for count in counts]
    for output in product(range(n + 1), repeat=len(counts)):
        moves = [o - c for o, c in zip(output, counts, strict=True)]
        loss = largest_move(values, moves) / n
        mass = a**0
        for table, o in zip(masses, output, strict=True):
            mass = mass * table[o]
        total = total + mass * loss
    return total


def log_two() -> Scalar:
    """The rate at which a is the rational 1/2, epsilon = 2 log 2."""
    return logarithm(fmpq(2))


SMALL = [(1, 1, 1), (1, 2, 3), (2, 1, 1), (2, 2, 1), (2, 3, 4), (2, 1, 7), (3, 1, 1), (3, 2, 2), (3, 3, 3), (4, 2, 1),
         (4, 3, 2)]  # fmt: skip


@pytest.mark.parametrize(("size", "queries", "n"), SMALL)
def test_the_expected_error_is_that_of_exact_enumeration_for_every_database(size: int, queries: int, n: int) -> None:
    values = random_values(n, size, queries)
    domain = domain_of(values, n)
    law = HistogramLaw(domain, log_two)
    for counts in map(tuple, domain.histograms.tolist()):
        exact = brute_error(HALF, values, counts, n)
        assert law.expected_error(counts, in_floats=True).contains(exact), counts
        with ctx.workprec(128):
            assert law.expected_error(counts, in_floats=False).contains(exact), counts
            assert arb(law.error_bound(counts)).upper().fmpq() >= exact


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_law_of_one_count_is_the_clamped_noise(n: int) -> None:
    law = HistogramLaw(domain_of([[1]], n), log_two)
    for count in range(n + 1):
        masses = [clamped_mass(HALF, count, output, n) for output in range(n + 1)]
        assert sum(masses) == 1
        assert all(law.probability(count, output).contains(mass) for output, mass in enumerate(masses))
        move = sum(mass * abs(output - count) for output, mass in enumerate(masses))
        assert arb(law.expected_move(count)).contains(move)


def test_the_mean_of_the_noise_is_its_sum() -> None:
    """``sum |k| P(N = k) = 4/3`` at a = 1/2, from partial sums and ``sum_{k > m} k a^k = (m + 2) a^m``."""
    partial = 2 * sum(k * noise_mass(HALF, k) for k in range(1, 60))
    assert partial + 2 * 61 * HALF**59 / 3 == fmpq(4, 3)
    assert arb(mean_noise(log_two())).contains(fmpq(4, 3))
    with pytest.raises(ArithmeticError):
        mean_noise(fmpq(0))


EXTREMES = [fmpq(1, 10**6), fmpq(1, 10), fmpq(3), fmpq(1000)]


@pytest.mark.parametrize("epsilon", EXTREMES, ids=str)
@pytest.mark.parametrize(("size", "queries", "n"), [(1, 1, 40), (2, 2, 12), (2, 1, 1), (3, 2, 5), (4, 1, 2)])
def test_the_expected_error_for_small_and_large_epsilon(epsilon: fmpq, size: int, queries: int, n: int) -> None:
    values = random_values(1, size, queries)
    domain = domain_of(values, n)
    law = HistogramLaw(domain, lambda: epsilon / 2)
    for counts in map(tuple, domain.histograms.tolist()[:: max(1, domain.histogram_count // 6)]):
        with ctx.workprec(40_000 if epsilon > 100 else 400):  # the reference's tails are differences
            truth = brute_error((-arb(epsilon) / 2).exp(), values, counts, n)
            low, high = truth.lower().fmpq(), truth.upper().fmpq()
        floats = law.expected_error(counts, in_floats=True)
        with ctx.workprec(128):
            balls = law.expected_error(counts, in_floats=False)
        for found in (floats, balls):
            assert found.lower is not None and found.upper is not None
            assert found.lower <= low and high <= found.upper, counts
        assert high == 0 or relative_width(balls) < fmpq(1, 10**30)
        assert epsilon > 100 or high == 0 or relative_width(floats) < fmpq(1, 10**12)


@pytest.mark.parametrize(("counts", "epsilon"), [((3, 6), 1), ((0, 5), 2), ((1, 0), 1), ((4, 1), "3/2")])
def test_the_expected_error_is_that_of_the_noise_before_clamping(counts: tuple[int, int], epsilon: str | int) -> None:
    """All pairs of noises up to 100 in size at 200 bits, each clamped; the rest has a small mass and a loss below 3."""
    values, n, limit, exact = random_values(7, 2, 2), sum(counts), 100, quantity(epsilon).exact()
    assert exact is not None
    with ctx.workprec(200):
        a = (-arb(exact) / 2).exp()
        mass = [noise_mass(a, k) for k in range(limit + 1)]
        total = arb(0)
        for noise in product(range(-limit, limit + 1), repeat=2):
            moves = [min(max(c + k, 0), n) - c for c, k in zip(counts, noise, strict=True)]
            total += mass[abs(noise[0])] * mass[abs(noise[1])] * arb(largest_move(values, moves) / n)
        missing = 2 * (1 - sum(mass) - sum(mass[1:]))
        low, high = total.lower().fmpq(), (total + 3 * missing).upper().fmpq()
    assert high - low < fmpq(1, 10**15)
    law = HistogramLaw(domain_of(values, n), lambda: exact / 2)
    for in_floats in (True, False):
        with ctx.workprec(128):
            found = law.expected_error(counts, in_floats=in_floats)
        assert found.lower is not None and found.upper is not None
        assert found.lower <= high and low <= found.upper
        assert found.upper - found.lower < fmpq(1, 10**13)


@settings(max_examples=60, deadline=None)
@example(seed=0, counts=[0, 0, 1], rate=fmpq(1, 10**9), queries=1)
@example(seed=0, counts=[150, 0], rate=fmpq(5), queries=2)
@example(seed=3, counts=[2, 0, 0], rate=fmpq(700), queries=1)
@given(
    seed=st.integers(0, 10**6),
    counts=st.lists(st.integers(0, 12), min_size=1, max_size=3).filter(any),
    rate=st.builds(lambda p, q: fmpq(p, q), st.integers(1, 300), st.integers(1, 300)),
    queries=st.integers(1, 3),
)
def test_float64_encloses_what_256_bits_find(seed: int, counts: list[int], rate: fmpq, queries: int) -> None:
    values = random_values(seed, len(counts), queries)
    law = HistogramLaw(domain_of(values, sum(counts)), lambda: rate)
    floats = law.expected_error(tuple(counts), in_floats=True)
    with ctx.workprec(256):
        truth = law.expected_error(tuple(counts), in_floats=False)
        bound = arb(law.error_bound(tuple(counts)))
    assert None not in (floats.lower, floats.upper, truth.lower, truth.upper)
    assert floats.lower <= truth.lower and truth.upper <= floats.upper  # type: ignore[operator]
    assert not bound < arb(truth.lower)


def test_blocks_and_rows_give_one_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    law = HistogramLaw(domain_of(random_values(5, 3, 2), 9), lambda: fmpq(1, 3))
    whole = law.expected_error((4, 0, 5), in_floats=True)
    for grid in (1, 10, 100):
        monkeypatch.setattr("certify.release.histogram.GRID", grid)
        piece = law.expected_error((4, 0, 5), in_floats=True)
        assert piece.overlaps(whole) and relative_width(piece) < fmpq(1, 10**12)


def test_losses_with_a_large_denominator_are_left_to_arb() -> None:
    law = HistogramLaw(domain_of([[fmpq(1, 3**40), 1]], 2), log_two)
    with pytest.raises(Undetermined, match="common denominator"):
        law.expected_error((1, 1), in_floats=True)
    with ctx.workprec(128):
        exact = brute_error(HALF, [[fmpq(1, 3**40), 1]], (1, 1), 2)
        assert law.expected_error((1, 1), in_floats=False).contains(exact)


# privacy


def test_the_exponents_of_neighbouring_counts_differ_by_at_most_one() -> None:
    for n in range(1, 8):
        for count, other in product(range(n + 1), repeat=2):
            brute = max(abs(output - other) - abs(output - count) for output in range(n + 1))
            assert largest_exponent(count, other, n) == brute <= abs(count - other)


@pytest.mark.parametrize(("size", "n"), [(2, 1), (2, 4), (3, 2), (4, 1)])
def test_the_privacy_loss_is_the_largest_ratio_over_all_outputs(size: int, n: int, nine: None) -> None:
    """At epsilon = 2 log 2 the ratio is rational, and its maximum over outputs and neighbours is exactly 4."""
    problem = problem_of(instance([[1] + [0] * (size - 1)], None, "2*log(2)", TunedMechanism("9"), n=n))
    largest = fmpq(0)
    for counts, other in neighbour_pairs(problem):
        for output in product(range(n + 1), repeat=size):
            ratio = fmpq(1)
            for c, o, v in zip(counts, other, output, strict=True):
                ratio *= clamped_mass(HALF, c, v, n) / clamped_mass(HALF, o, v, n)
            largest = max(largest, ratio)
    assert largest == 4
    assert privacy_loss(problem) == 1


# statements


@pytest.fixture
def nine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rung 9 with C = 7, whatever its certificate says."""
    with monkeypatch.context() as patch:
        patch.setattr(certify.release.mechanism, "tuning_named", lambda name: SEVEN)
        yield


def tuned(
    values: Sequence[Sequence[int | str]], database: Sequence[int] | None, epsilon: str | int, n: int | None = None
) -> ReleaseInstance:
    return instance(values, database, epsilon, TunedMechanism("9"), n=n)


BORDER = {
    "T2": tuned([[1, -1]], [31, 17], 1),
    "T2-two-queries": tuned([[1, 0], ["-1/2", 1]], [60, 129], "1/2"),
    "T2-all": tuned([[1, -1]], None, 2, n=24),
    "T3": tuned([[1, 0, -1]], [61, 0, 0], 1),
    "T3-all": tuned([[1, "1/3", -1], [1, 1, 0]], None, 8, n=16),
}
"""Close to ``eps n = 49 L_D L_Q``: 47.08 and 94.16 for T = 2, 60.86 and 121.7 for T = 3."""


@pytest.mark.parametrize("name", BORDER)
def test_everything_is_proved_near_the_border_of_rung_nine(name: str, nine: None) -> None:
    given_instance = BORDER[name]
    result = run(given_instance, *STATEMENTS)
    assert result.quantities["branch"] == "noisy histogram"
    assert [(o.statement.id, o.verdict) for o in result.outcomes] == [(each, Verdict.PROVED) for each in STATEMENTS]
    error, bound = result.quantities["expected_error"], result.quantities["C_tau"]
    assert not isinstance(error, int | str) and not isinstance(bound, int | str)
    assert error.upper is not None and bound.lower is not None and bound.upper is not None
    assert fmpq(9, 10) < bound.lower and bound.upper <= 1
    epsilon, size = given_instance.epsilon.exact(), len(given_instance.universe)
    assert epsilon is not None and error.upper < 2 * size / (epsilon * given_instance.n) < bound.lower
    assert relative_width(error) < fmpq(1, 10**9)


@pytest.mark.parametrize(("n", "branch"), [(47, "zero output"), (48, "noisy histogram")])
def test_the_histogram_begins_where_the_constant_is_reached(n: int, branch: str, nine: None) -> None:
    assert run(tuned([[1, -1]], [n, 0], 1), "bc-thm").quantities["branch"] == branch


def test_the_linear_bound_meets_seven_tau_up_to_87_elements() -> None:
    """At the border, ``2T <= C^2 L_D log 2``; beyond 87 elements the envelope has to run."""
    for size in range(2, 200):
        needed, given_size = arb(2 * size), 49 * arb(2 * size).log() * arb(2).log()
        assert needed <= given_size if size <= 87 else needed > given_size


def test_a_larger_universe_has_a_bound_without_the_law(nine: None) -> None:
    law = HistogramLaw(domain_of([[(-1) ** d for d in range(10)]], 250), lambda: HALF)
    bound = arb(law.error_bound((25,) * 10))
    assert bound < arb(10) * mean_noise(HALF) / 250 < arb(20) / 250
    with ctx.workprec(64):
        one = law.expected_move(25)
    assert (bound - 10 * arb(one) / 250).contains(0)


def test_a_law_beyond_max_pairs_is_refused_and_the_bound_still_holds(nine: None) -> None:
    given_instance = tuned([[1, 0, -1]], [20, 20, 21], 1)
    problem = problem_of(given_instance)
    assert Plan.of(problem, 10_000).refusal is None
    assert Plan.of(problem, 1_000).refusal is not None  # 1,953 histograms
    many_rows = problem_of(tuned([[1, -1]], [3 * 10**7, 2 * 10**7], "1/1000000"))
    assert "GiB of memory" in (Plan.of(many_rows, 2 * 10**9).refusal or "")
    result = run(given_instance, *STATEMENTS, options=CheckOptions(max_pairs=10_000))
    verdicts = {o.statement.id: o.verdict for o in result.outcomes}
    assert verdicts == dict.fromkeys(STATEMENTS, Verdict.PROVED) | {"bc-10.error": Verdict.UNDECIDED}
    (refused,) = [o for o in result.outcomes if o.statement.id == "bc-10.error"]
    assert refused.reason == "it ranges over 238,328 database-output pairs, more than --max-pairs 10,000"
    known: Any = run(given_instance, "bc-10.noise").quantities["expected_error"]
    shown: Any = result.quantities["expected_error"]
    assert shown.lower == 0 and shown.upper > known.upper


@pytest.mark.parametrize("mechanism", [explicit(1, 1, HALF), TunedMechanism("9")], ids=["envelope", "zero"])
def test_the_statements_do_not_apply_elsewhere(mechanism: Any, nine: None) -> None:
    given_instance = instance([[1, -1]], [2, 1], 1, mechanism)
    for name in STATEMENTS[:-1]:
        assert outcome(given_instance, name).verdict is None


# mutations: each constant changed until the claim is false


def brute_pair_ratio(witness: Mapping[str, Any], epsilon: int, rate: fmpq) -> arb:
    """``log P(ĉ)/P(ĉ')`` at the output of the witness, at 200 bits."""
    with ctx.workprec(200):
        a = (-arb(epsilon) * rate).exp()
        n = sum(witness["database"].values())
        total = arb(0)
        for name, output in witness["output"].items():
            counts = (witness[role].get(name, 0) for role in ("database", "neighbour"))
            top, bottom = (clamped_mass(a, count, output, n) for count in counts)
            total += (top / bottom).log()
        return total


@pytest.mark.parametrize("precision", [53, 128])
@pytest.mark.parametrize("database", [[31, 17], None], ids=["one", "all"])
@pytest.mark.parametrize(
    ("constant", "value", "rate", "allowed"),
    [
        ("better-histogram-noise-rate", "1", fmpq(1), fmpq(1)),
        ("better-histogram-noise-rate", "1001/2000", fmpq(1001, 2000), fmpq(1)),
        ("better-histogram-privacy", "99/100", HALF, fmpq(99, 100)),
    ],
)
def test_too_little_noise_is_not_private(
    constant: str, value: str, rate: fmpq, allowed: fmpq, database: list[int] | None, precision: int, nine: None
) -> None:
    given_instance, options = tuned([[1, -1]], database, 1, n=48), CheckOptions(precision=precision)
    found = outcome(given_instance, "bc-10.privacy", {constant: value}, options)
    assert found.verdict is Verdict.REFUTED and found.worst is not None
    ratio = brute_pair_ratio(found.worst.witness, 1, rate)
    assert ratio > allowed
    lhs, rhs = found.worst.lhs, found.worst.rhs
    assert lhs.lower is not None and rhs.upper is not None and lhs.lower > rhs.upper
    assert lhs.ball().overlaps(ratio) and rhs.contains(allowed)
    assert outcome(given_instance, "bc-thm", {constant: value}, options).verdict is Verdict.REFUTED
    assert outcome(given_instance, "bc-10.privacy", None, options).verdict is Verdict.PROVED


def test_more_noise_is_more_private(nine: None) -> None:
    given_instance = tuned([[1, -1]], [31, 17], 1)
    quarter = {"better-histogram-noise-rate": "1/8", "better-histogram-privacy": "1/4"}
    assert outcome(given_instance, "bc-10.privacy", quarter).verdict is Verdict.PROVED


def test_a_changed_row_moves_two_counts(nine: None) -> None:
    found = outcome(tuned([[1, -1]], [31, 17], 1), "bc-10.privacy", {"better-histogram-sensitivity": "1"})
    assert found.verdict is Verdict.REFUTED and found.worst is not None
    witness = found.worst.witness
    assert found.worst.lhs.contains(fmpq(2)) and witness["quantity"] == "‖c-c'‖₁"
    assert sum(abs(witness["database"][d] - witness["neighbour"][d]) for d in ("d0", "d1")) == 2


@pytest.mark.parametrize(
    ("statement", "constant", "value"),
    [
        ("bc-10.noise", "better-histogram-noise-mean", "19/10"),
        ("bc-10.noise", "better-histogram-noise-rate", "1/4"),
        ("bc-10", "better-histogram-noise-mean", "19/10"),
        ("bc-10", "better-histogram-noise-rate", "1/4"),
        ("bc-10", "better-histogram-error", "1/20"),
        ("bc-10.error", "better-histogram-error", "1/20"),
        ("bc-10.error", "better-histogram-noise-rate", "1/100"),
        ("bc-thm", "better-histogram-noise-rate", "1/100"),
        ("bc-thm", "better-theorem", "1/20"),
    ],
)
@pytest.mark.parametrize("database", [[31, 17], None], ids=["one", "all"])
def test_a_false_bound_is_refuted(
    statement: str, constant: str, value: str, database: list[int] | None, nine: None
) -> None:
    """At eps n = 48: 1/sinh(1/2) = 1.919, the linear bound is 1/12, the error near 0.06 and 7 tau = 0.990."""
    low_target = {"better-histogram-error": "1/20", "better-theorem": "1/20"} if value == "1/100" else {}
    changes = {constant: value, **low_target}
    found = outcome(tuned([[1, -1]], database, 1, n=48), statement, changes)
    assert found.verdict is Verdict.REFUTED and found.worst is not None
    lhs, rhs = found.worst.lhs, found.worst.rhs
    assert lhs.lower is not None and rhs.upper is not None and lhs.lower > rhs.upper
    if found.worst.witness["quantity"] in ("E max_q |F̂_q-F_q(x)|", "E‖M(x)-F(x)‖_∞"):
        counts = [found.worst.witness["database"].get(d, 0) for d in ("d0", "d1")]
        rate = quantity(value).exact() if constant.endswith("rate") else HALF
        with ctx.workprec(200):
            truth = brute_error((-arb(rate)).exp(), [[1, -1]], counts, 48)
            assert truth > fmpq(1, 20) * 7 * (arb(4).log() * arb(2).log() / 48).sqrt()
        assert lhs.ball().overlaps(truth)


@pytest.mark.parametrize("constant", [fmpq(1, 10), fmpq(1, 4)])
def test_a_lowered_constant_of_the_rung_is_refuted(constant: fmpq, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = Tuning(SEVEN.rung, constant, SEVEN.ranges)
    monkeypatch.setattr(certify.release.mechanism, "tuning_named", lambda name: lowered)
    given_instance = tuned([[1, -1]], [31, 17], 1)
    for name in ("bc-10.error", "bc-10", "bc-thm"):
        assert outcome(given_instance, name).verdict is Verdict.REFUTED, name


def test_a_theorem_that_needs_a_law_too_large_to_sum_is_undecided(nine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certify.release.statements.better_histogram.MAX_OUTPUTS", 100)
    found = outcome(tuned([[1, -1]], [31, 17], 1), "bc-thm", {"better-theorem": "1/20"})
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None and "2,401 database-output pairs" in found.reason
