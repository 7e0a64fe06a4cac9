"""Brute-force reference: the parameters of the release paper (sections 3, 6, 7 and 8), each as printed."""

from __future__ import annotations

from flint import arb, fmpq
from reference import Tiny, at_reference_precision

GROWTH_CONSTANT = fmpq(1, 2**20)


def rho(tiny: Tiny) -> fmpq:
    """rho = 8 J eta^2 / n^2 (Proposition 3.1)."""
    return 8 * tiny.rounds * tiny.eta * tiny.eta / tiny.n**2


def kappa(tiny: Tiny) -> fmpq:
    """kappa = 2 J eta^2 / n^2 (section 6)."""
    return 2 * tiny.rounds * tiny.eta * tiny.eta / tiny.n**2


def moment_scale(tiny: Tiny, radius: int) -> fmpq:
    """A_R = kappa R^2 (section 6)."""
    return kappa(tiny) * radius**2


@at_reference_precision
def code_logarithm(tiny: Tiny) -> arb:
    """L = log(T^2 + 1) (section 6)."""
    return arb(tiny.universe_size**2 + 1).log()


@at_reference_precision
def hedge_budget(tiny: Tiny) -> arb:
    """log T / gamma + gamma J / 2 (Lemma A.2)."""
    return arb(tiny.universe_size).log() / tiny.gamma + tiny.gamma * tiny.rounds / 2


@at_reference_precision
def base_error(universe_size: int, query_count: int, rounds: int, eta: arb | fmpq, gamma: fmpq) -> arb:
    """alpha_0 = 2 (log T/(gamma J) + gamma/2) + 16 log(4k)/eta (section 3.3)."""
    hedge = arb(universe_size).log() / (gamma * rounds) + gamma / 2
    return 2 * hedge + 16 * arb(4 * query_count).log() / eta


@at_reference_precision
def alpha0(tiny: Tiny) -> arb:
    """alpha_0 of the instance (section 3.3)."""
    return base_error(tiny.universe_size, tiny.query_count, tiny.rounds, tiny.eta, tiny.gamma)


@at_reference_precision
def robust_utility_bound(tiny: Tiny, distance: fmpq) -> arb:
    """L_0/(gamma J) + gamma/2 + 4 L_S/eta + 4 d_*/n (Proposition 3.2)."""
    hedge = arb(tiny.universe_size).log() / (tiny.gamma * tiny.rounds) + tiny.gamma / 2
    return hedge + 4 * arb(4 * tiny.query_count).log() / tiny.eta + 4 * distance / tiny.n


@at_reference_precision
def growth_share(tiny: Tiny) -> arb:
    """kappa L / (2^-20 epsilon^2): the hypothesis of section 7 holds when this is at most 1 (eq-7.growth)."""
    return kappa(tiny) * code_logarithm(tiny) / (GROWTH_CONSTANT * tiny.epsilon * tiny.epsilon)


@at_reference_precision
def moment_order(tiny: Tiny, radius: int) -> int:
    """r_R = ceil(sqrt(L/A_R)) + 1, for A_R <= L (section 6.1)."""
    return _ceiling((code_logarithm(tiny) / moment_scale(tiny, radius)).sqrt()) + 1


@at_reference_precision
def far_code_length(tiny: Tiny, radius: int) -> int:
    """m_R = max(1, ceil(sqrt(A_R/L))), for A_R > L (section 6.2)."""
    return max(1, _ceiling((moment_scale(tiny, radius) / code_logarithm(tiny)).sqrt()))


@at_reference_precision
def is_near(tiny: Tiny, radius: int) -> bool:
    """Whether A_R <= L (section 6.1); L is irrational, so the comparison is never a tie."""
    scale, code = arb(moment_scale(tiny, radius)), code_logarithm(tiny)
    if scale < code:
        return True
    if scale > code:
        return False
    raise ValueError(f"A_R and log(T^2 + 1) cannot be separated at radius {radius}")


@at_reference_precision
def ball_growth_bound(tiny: Tiny, radius: int) -> arb:
    """5 sqrt(A_R L), the exponent of the boxed eq-6.2."""
    return 5 * (moment_scale(tiny, radius) * code_logarithm(tiny)).sqrt()


def block_width(tiny: Tiny) -> int:
    """B = max(1, ceil(3/epsilon)) (section 7)."""
    return max(1, int((fmpq(3) / tiny.epsilon).ceil()))


def theta(tiny: Tiny) -> fmpq:
    """theta = epsilon B (section 7)."""
    return tiny.epsilon * block_width(tiny)


def block_radius(tiny: Tiny, j: int) -> int:
    """R_j = (j + 1) B (section 7)."""
    return (j + 1) * block_width(tiny)


@at_reference_precision
def damping(tiny: Tiny) -> arb:
    """u_epsilon = 1 if epsilon <= 1, else e^{-epsilon/3} (section 7)."""
    return arb(1) if tiny.epsilon <= 1 else arb(-tiny.epsilon / 3).exp()


@at_reference_precision
def block_weight(tiny: Tiny, j: int) -> arb:
    """Phi_j = exp(-(epsilon/2)(jB + 1)) exp(theta (j+1)/100) (section 7)."""
    penalty = arb(-tiny.epsilon / 2 * (j * block_width(tiny) + 1)).exp()
    return penalty * arb(theta(tiny) * (j + 1) / 100).exp()


@at_reference_precision
def tau(tiny: Tiny) -> arb:
    """tau = sqrt(log(2T) log(2k) / (epsilon n)) (section 8)."""
    logarithms = arb(2 * tiny.universe_size).log() * arb(2 * tiny.query_count).log()
    return (logarithms / (tiny.epsilon * tiny.n)).sqrt()


@at_reference_precision
def section_8_choice(universe_size: int, query_count: int, alpha: fmpq) -> tuple[int, arb, fmpq]:
    """J = ceil(16 log(2T)/alpha^2), eta = 128 log(2k)/alpha, gamma = alpha/4 of (8.3)."""
    rounds = _ceiling(16 * arb(2 * universe_size).log() / (alpha * alpha))
    return rounds, 128 * arb(2 * query_count).log() / alpha, alpha / 4


def _ceiling(value: arb) -> int:
    """ceil of a real whose ball meets no integer; ValueError when the ball cannot be separated from one."""
    integer = value.ceil().unique_fmpz()
    if integer is None:
        raise ValueError(f"the ceiling of {value} is not decided at the reference precision")
    return int(integer)
