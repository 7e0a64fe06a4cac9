"""certify.release.parameters: every scalar against the printed formula, exact where it is rational."""

from __future__ import annotations

import pytest
import reference_parameters as printed
from flint import arb, ctx, fmpq
from instances import explicit, instance, of_tiny, problem_of, with_alpha
from reference import PRECISION, databases, random_tiny

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined
from certify.release.parameters import Parameters
from certify.release.problem import ReleaseProblem

SEEDS = range(40)


def agree(value: Scalar | int | fmpq, expected: arb | fmpq | int) -> bool:
    """Rationals are equal; balls meet and are narrow."""
    if isinstance(value, int | fmpq) and isinstance(expected, int | fmpq):
        return bool(value == expected)
    with ctx.workprec(PRECISION):
        found, known = Enclosure.of(value), Enclosure.of(expected)
        width = found.width()
        assert width is not None and known.upper is not None
        return found.overlaps(known) and width <= (1 + abs(known.upper)) * fmpq(1, 2**100)


@pytest.mark.parametrize("seed", SEEDS)
def test_scalars_are_those_of_the_paper(seed: int) -> None:
    tiny = random_tiny(seed)
    p = problem_of(of_tiny(tiny, databases(tiny)[0])).parameters
    with ctx.workprec(160):
        assert agree(p.rho(), printed.rho(tiny)) and isinstance(p.rho(), fmpq)
        assert agree(p.kappa(), printed.kappa(tiny)) and isinstance(p.kappa(), fmpq)
        assert agree(p.code_entropy(), printed.code_logarithm(tiny))
        assert agree(p.code_size(), tiny.universe_size**2 + 1)
        assert agree(p.regret() * tiny.rounds, printed.hedge_budget(tiny))
        assert agree(p.alpha_0(), printed.alpha0(tiny))
        assert agree(p.tau(), printed.tau(tiny))
        assert agree(p.block_width, printed.block_width(tiny)) and isinstance(p.block_width, int)
        assert agree(p.theta(), printed.theta(tiny)) and isinstance(p.theta(), fmpq)
        assert agree(p.damping(), printed.damping(tiny))
        assert agree(p.penalty_rate(), tiny.epsilon / 2)
        assert p.epsilon_at_most_one == (tiny.epsilon <= 1)
        assert agree(p.log_universe(), arb(tiny.universe_size).log())
        assert agree(p.log_twice_universe(), arb(2 * tiny.universe_size).log())
        assert agree(p.log_twice_queries(), arb(2 * tiny.query_count).log())
        for radius in range(1, tiny.n + 1):
            assert agree(p.moment_scale(radius), printed.moment_scale(tiny, radius))
            assert agree(5 * p.root_growth(radius), printed.ball_growth_bound(tiny, radius))


@pytest.mark.parametrize("seed", SEEDS)
def test_radii_are_near_or_far_as_printed_with_their_orders_and_lengths(seed: int) -> None:
    tiny = random_tiny(seed)
    p = problem_of(of_tiny(tiny, databases(tiny)[0])).parameters
    near = [radius for radius in range(1, tiny.n + 1) if printed.is_near(tiny, radius)]
    assert list(p.near_radii) == near
    assert [*p.near_radii, *p.far_radii] == list(range(1, tiny.n + 1))
    for radius in p.near_radii:
        assert p.is_near(radius) and p.near_order(radius) == printed.moment_order(tiny, radius) >= 2
    for radius in p.far_radii:
        assert not p.is_near(radius) and p.far_length(radius) == printed.far_code_length(tiny, radius) >= 1


def at(n: int, eta: str, rounds: int = 1, epsilon: str = "1", size: int = 2) -> ReleaseProblem:
    values = [[1] + [0] * (size - 1)]
    return problem_of(instance(values, [n] + [0] * (size - 1), epsilon, explicit(rounds, eta, "1/2")))


@pytest.mark.parametrize("n", [1, 2, 50, 1000])
def test_the_last_near_radius_is_found_by_bisection(n: int) -> None:
    """With A_R = 2 (eta R/n)^2 and L = log 5, eta = c sqrt(L/2) n puts the border at R = 1/c."""
    for border in {1, 2, n // 2, n - 1, n} & set(range(1, n + 1)):
        p = at(n, f"sqrt(log(5)/2)*{n}/({border}+1/2)").parameters
        assert list(p.near_radii) == list(range(1, border + 1))
        assert list(p.far_radii) == list(range(border + 1, n + 1))
    assert list(at(n, "1/1000").parameters.near_radii) == list(range(1, n + 1))
    assert list(at(n, f"{10 * n}").parameters.near_radii) == []


def test_borders_that_cannot_be_told_are_undetermined() -> None:
    """A_1 = L exactly, by an irrational eta: neither near nor far, and no order."""
    p = at(2, "2*sqrt(log(5)/2)").parameters
    with pytest.raises(Undetermined, match="A_R cannot be separated from L at R = 1"):
        p.is_near(1)
    exact_order = at(2, "sqrt(log(5)/2)").parameters  # A_1 = L/4: the order is ceil(2) + 1
    with pytest.raises(Undetermined):
        exact_order.near_order(1)


@pytest.mark.parametrize(
    ("epsilon", "width", "small"),
    [("3", 1, False), ("1", 3, True), ("1/2", 6, True), ("3/7", 7, True), ("300", 1, False), ("1e-9", 3 * 10**9, True)],
)
def test_block_widths_at_exact_multiples(epsilon: str, width: int, small: bool) -> None:
    p = at(1, "1", epsilon=epsilon).parameters
    assert p.block_width == width and p.epsilon_at_most_one == small
    assert isinstance(p.damping(), fmpq) == small


def test_an_epsilon_that_equals_one_by_way_of_exp_is_undetermined() -> None:
    """Also its block width is, so that such an instance is refused before work begins."""
    with pytest.raises(Undetermined):
        at(1, "1", epsilon="exp(log(3)-log(3/1))")
    p = Parameters(
        at(1, "1").ledger,
        universe_size=2,
        query_count=1,
        rows=1,
        rounds=1,
        eta=lambda: fmpq(1),
        gamma=lambda: fmpq(1),
        epsilon=lambda: arb(2).sqrt() ** 2 / 2,
    )
    with pytest.raises(Undetermined, match="epsilon cannot be separated from 1"):
        _ = p.epsilon_at_most_one


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(1, 3), fmpq(9, 10)])
def test_the_choices_for_an_alpha_are_those_of_section_8(alpha: fmpq) -> None:
    problem = problem_of(instance([[1, 0, -1], [0, 1, 1]], [1, 1, 0], 1, with_alpha(alpha)))
    rounds, eta, gamma = printed.section_8_choice(3, 2, alpha)
    with ctx.workprec(160):
        assert problem.parameters.rounds == rounds
        assert agree(problem.parameters.eta(), eta)
        assert agree(problem.parameters.gamma(), gamma)


def test_a_changed_constant_changes_what_is_read_from_it() -> None:
    tiny = random_tiny(3)
    given = of_tiny(tiny, databases(tiny)[0])
    base, changed = problem_of(given).parameters, problem_of(given, {"rho": "16", "kappa": "1/2"}).parameters
    assert changed.rho() == 2 * base.rho() and changed.kappa() == base.kappa() / 4
    assert changed.alpha_0().overlaps(base.alpha_0())
