"""The bounds of a rung as expressions, written once: claims quantify over their names, an instance gives them values.

Names: `g`, `b`, `j`, `C` are the choices of a tuning; ``l = log T``, ``K = 2k``, `J` is the number of rounds (a
lower bound of it where a claim says so), `epsilon` and ``W = εn``. See `constants/BETTER_CONSTANT.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from constants.search.rung import Envelope, Gap, Labels, Rung, Threshold

Definitions = Mapping[str, str]
"""Expression text by name; a text uses names that are defined before it, and those of this module."""

SOFTMAX_NORM = "1.0028"
"""The L2 norm of the largest softmax gap, over log K."""

_GAPS = {
    Gap.PRINTED: ("4*log(2*K)", "4*log(2*K)"),
    Gap.EXACT: ("log(K) + 1", "sqrt(log(K)^2 + 2*log(K) + 2)"),
    Gap.SOFTMAX: ("log(K)", f"{SOFTMAX_NORM}*log(K)"),
    Gap.MOMENT: ("log(K)", "log(K)"),
}


def labels(rung: Rung) -> str:
    """L, in `l` and `L_D`."""
    return {Labels.DOUBLED: "2*L_D", Labels.PLAIN: "2*l"}[rung.growth.labels]


def near_is_summable(envelope: Envelope) -> bool:
    """Whether ``g < 1/2``: the near blocks sum to a bound that does not grow with T."""
    return bool(envelope.g < fmpq(1, 2))


def block_sums(rung: Rung, envelope: Envelope) -> Definitions:
    """BC-6: the sums of the block weights times the growth of their balls, near (S), far (S_f), and far times εR (F).

    Up to rung 6 both growths are the same and S is the sum over all blocks. Names: g, b, l, L_D.
    """
    near, far = rung.growth.near, rung.growth.far
    far_rate = "1/2 - g" if near == far else f"1/2 - g*({far})/({near})"
    return {
        "L": labels(rung),
        "p": "1/2 - g",
        "p_f": far_rate,
        "X": f"({rung.growth.far_from})*({near})*L/g",
        "S": "exp(g*b)/(1 - exp(-p*b))" if near_is_summable(envelope) else "X/b*exp(b/2 + (g - 1/2)*X)",
        "S_f": "exp(b/2 - p_f*X)/(1 - exp(-p_f*b))",
        "F": "exp(b/2)*exp(-p_f*X)*(X/(1 - exp(-p_f*b)) + b*exp(-p_f*b)/(1 - exp(-p_f*b))^2)",
    }


def gap_terms(rung: Rung, envelope: Envelope) -> Definitions:
    """The factors of BC-7: ``error <= regret_factor * regret + gap_factor * log K/η + 4F/W``.

    Names: those of `block_sums`, K, J.
    """
    mean, norm = _GAPS[rung.gap]
    if rung.gap is not Gap.MOMENT:
        multiplied = rung.threshold is Threshold.NOTHING
        return {
            "regret_factor": "1 + S" if multiplied else "1",
            "gap_factor": f"({mean} + S*({norm}))/log(K)",
        }
    near = "4*S*exp(J/2*log(nu))"
    if not near_is_summable(envelope):
        near = "4*X/b*exp(b/2 + (g - 1/2)*X + J/2*log(nu))"
    return {
        "nu": "(1 + 1/sqrt(K))/2",
        "corr": f"({near} + 2*exp(J*log(nu))*(1 + S_f))/(exp(1)*J*log(K))",
        "regret_factor": "1",
        "gap_factor": "1 + corr",
    }


def final_inequality(rung: Rung, envelope: Envelope) -> tuple[Definitions, str]:
    """(E): definitions, and what is to be at most C, in the name `l` alone (and g, b, j, C).

    It is the bound of BC-7 over τ at K = 2, at the least number of rounds ``J = j C² L_D``, and at the largest
    ``ρ² = J/(jW/L_Q)``.
    """
    definitions = {
        "L_D": "l + log(2)",
        **block_sums(rung, envelope),
        "K": "2",
        "J": "j*C^2*L_D",
        **gap_terms(rung, envelope),
        "rho": "sqrt(1 + 1/J)",
        "regret_term": "regret_factor*sqrt(2*l/(j*L_D))" + ("/rho" if rung.gap is Gap.MOMENT else ""),
        "gap_term": f"gap_factor*({rung.growth.near})/g*sqrt(2*j*L/L_D)*rho",
        "far_term": "4*F/(C*L_D*log(2))",
    }
    return definitions, "regret_term + gap_term + far_term"
