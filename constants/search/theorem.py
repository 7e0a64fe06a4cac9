"""Theorem 1.1 with the constant of a tuning, for all T of a range, k, n and ε, as a claim."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from certify.arithmetic.expression import Expression, parse_expression
from certify.claims.calculus import substituted
from certify.claims.claim import Claim, Variable
from certify.claims.relation import parse_relation
from constants.search.final_inequality import choices, definitions, shown_range
from constants.search.formulas import ROUNDS
from constants.search.formulas import envelope as envelope_formulas
from constants.search.rung import Envelope, Rung

_ABOVE_ZERO = fmpq(0)


def parameters() -> tuple[tuple[Variable, ...], Mapping[str, str]]:
    """The variables k, n, ε, and the definitions of L_Q, W and τ (with T a variable)."""
    variables = (
        Variable("k", True, fmpq(1), None),
        Variable("n", True, fmpq(1), None),
        Variable("epsilon", False, _ABOVE_ZERO, None, lower_open=True),
    )
    return variables, {
        "L_Q": "log(2*k)",
        "W": "epsilon*n",
        "tau": "sqrt(log(2*T)*log(2*k)/(epsilon*n))",
    }


def theorem_claim(rung: Rung, constant: fmpq, envelope: Envelope, last: int | None) -> Claim:
    """``γ <= 1`` and the bound of BC-7 on the expected error is at most ``C min(1, τ)`` wherever ``C τ <= 1``."""
    numbers = choices(constant, envelope)
    shared, _ = definitions(rung, numbers)
    variables, names = parameters()
    own = {
        **names,
        "K": "2*k",
        "J": f"ceil({ROUNDS})",
        **envelope_formulas(rung),
        "u": "sqrt(J*L_Q/(j*W))",
    }
    defined: dict[str, Expression] = {"l": parse_expression("log(T)"), **shared}
    defined |= {name: substituted(parse_expression(text), numbers) for name, text in own.items()}
    return Claim(
        id=f"bc-thm.{envelope.first}",
        variables=(Variable("T", True, fmpq(envelope.first), None if last is None else fmpq(last)), *variables),
        definitions=defined,
        conditions=(parse_relation(f"{constant}*tau <= 1"),),
        conclusions=(
            parse_relation("gamma <= 1"),
            parse_relation(f"error <= {constant}*min(1, tau)"),
        ),
        source="Theorem 1.1, BC-0 to BC-9",
        title=f"The error with C = {constant}, {shown_range(envelope.first, last)}",
    )
