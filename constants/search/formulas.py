"""The bounds of a rung as expressions, written once: claims quantify over their names, an instance gives them values.

Names: `g`, `b`, `j`, `C` are the choices of a tuning; ``l = log T``, ``L_D = l + log 2``, ``L_Q = log K`` with
``K = 2k``, `J` is the number of rounds, ``W = εn``. See `constants/BETTER_CONSTANT.md` (BC-6 to BC-9).
"""

from __future__ import annotations

from collections.abc import Mapping

from constants.search.rung import Gap, Labels, Rung, Threshold

Definitions = Mapping[str, str]
"""Expression text by name, in an order in which each text uses earlier names and those of this module only."""

SOFTMAX_NORM = "1.0028"
"""The L2 norm of the largest softmax gap is at most this times log K (BC-5)."""

_GAPS = {
    Gap.PRINTED: ("4*(log(2) + {x})", "4*(log(2) + {x})"),
    Gap.EXACT: ("({x} + 1)", "sqrt({x}^2 + 2*{x} + 2)"),
    Gap.SOFTMAX: ("{x}", f"{SOFTMAX_NORM}*{{x}}"),
}
"""η times the bounds on the mean and on the L2 norm of the gap, where x is log K."""


def block_sums(rung: Rung) -> Definitions:
    """BC-6: the sums of the block weights times the growth of their balls: near (S), far (S_f), far times εR (F).

    Up to rung 7 both growths are the same and S is the sum over all blocks. It needs g < 1/2. Names: g, b, l, L_D.
    """
    growth = rung.growth
    return {
        "L": {Labels.DOUBLED: "2*L_D", Labels.PLAIN: "2*l"}[growth.labels],
        "p": "1/2 - g",
        "p_f": "1/2 - g" if growth.near == growth.far else f"1/2 - g*{growth.far}/{growth.near}",
        "q": "exp(-p*b)",
        "q_f": "exp(-p_f*b)",
        "X": f"{growth.reach}*L/g",
        "Y": "exp(-p_f*X)",
        "Z": "X*Y",
        "S": "exp(g*b)/(1 - q)",
        "S_f": "exp(b/2)*Y/(1 - q_f)",
        "F": "exp(b/2)*(Z/(1 - q_f) + Y*b*q_f/(1 - q_f)^2)",
    }


def gap_factor(
    rung: Rung, *, queries: str, log_queries: str, rounds: str, per_round: str, suffix: str = ""
) -> Definitions:
    """BC-7: what log K/η is multiplied by, `gap_factor` with the suffix; the texts say what K, log K, J and 1/J are.

    Names: those of `block_sums`, and those in the texts.
    """
    name = f"gap_factor{suffix}"
    if rung.gap is not Gap.MOMENT:
        mean, norm = (text.format(x=log_queries) for text in _GAPS[rung.gap])
        return {name: f"({mean} + S*{norm})/{log_queries}"}
    nu, power, excess = f"nu{suffix}", f"nu_power{suffix}", f"excess{suffix}"
    return {
        nu: f"(1 + 1/sqrt({queries}))/2",
        power: f"exp({rounds}/2*log({nu}))",
        excess: f"4*S*{power} + 2*{power}^2*(1 + S_f)",
        name: f"1 + {excess}*{per_round}/(exp(1)*{log_queries})",
    }


ROUNDS = "j*W/L_Q"
"""J is the least integer that is at least this. Names: j, W, L_Q."""

BLOCK_WIDTH = "b/epsilon"
"""B is the least integer that is at least this. Names: b, epsilon."""


def regret_factor(rung: Rung) -> str:
    """BC-7: what the regret is multiplied by. Names: S."""
    return "1 + S" if rung.threshold is Threshold.NOTHING else "1"


def envelope(rung: Rung) -> Definitions:
    """The mechanism's η and γ, and the bound `error` of BC-7 on its expected error.

    `regret_J` is Hedge's regret, `gap_J` is ``log K/η``. Names: those of `block_sums`, l, J, K, L_Q, W.
    """
    return {
        "root_J": "sqrt(2*J*L)",
        "eta": f"g*W/({rung.growth.near}*root_J)",
        "gamma": "sqrt(2*l/J)",
        "regret_J": "l/(gamma*J) + gamma/2",
        "gap_J": "L_Q/eta",
        **gap_factor(rung, queries="K", log_queries="L_Q", rounds="J", per_round="(1/J)"),
        "far_J": "4*F/W",
        "error": f"({regret_factor(rung)})*regret_J + gap_factor*gap_J + far_J",
    }


def final_inequality(rung: Rung) -> tuple[Definitions, str]:
    """(E): definitions, and what is to be at most C. Names: g, b, j, C, l.

    It is the bound of BC-7 over τ at ``K = 2`` and at the least number of rounds ``J_0 = j C² L_D``, with
    ``u = √(J L_Q/(jW))`` between 1 and ``rho``: the regret is ``τ regret/u`` and ``log K/η = τ gap u``. Where
    the gap's share is at least the regret's (with `Gap.MOMENT`), the sum is largest at ``u = rho``.
    """
    growth = rung.growth
    root = "sqrt(4*j)" if growth.labels is Labels.DOUBLED else "sqrt(4*j*ratio)"
    definitions = {
        "L_D": "l + log(2)",
        "ratio": "1/(1 + log(2)/l)",
        **block_sums(rung),
        "J_0": "j*C^2*L_D",
        "v_0": "1/J_0",
        **gap_factor(rung, queries="2", log_queries="log(2)", rounds="J_0", per_round="v_0", suffix="_0"),
        "w_0": "1/L_D",
        "rho": "sqrt(1 + v_0)",
        "regret_root": "sqrt(2*ratio/j)",
        "regret": f"({regret_factor(rung)})*regret_root",
        "gap_root": root,
        "gap": f"{growth.near}/g*gap_root",
        "regret_share": "regret/rho" if rung.gap is Gap.MOMENT else "regret",
        "far": "4*F*w_0/(C*log(2))",
    }
    return definitions, "regret_share + gap_factor_0*gap*rho + far"
