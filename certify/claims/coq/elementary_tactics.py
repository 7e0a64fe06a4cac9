"""Tactics for equations between elementary functions."""

from __future__ import annotations

from certify.arithmetic.expression import Call, Expression
from certify.claims.coq.terms import NotInCoq, argument_in_coq, term
from certify.claims.normal_form import atom_expression, normal_form
from certify.claims.relation import Relation


def selection_tactics(function: str, arguments: tuple[Expression, ...], chosen: Expression) -> list[str]:
    """min, max or abs is one of its values, where the order is known."""
    if function == "abs":
        return ["apply Rabs_right; lra." if chosen == arguments[0] else "apply Rabs_left1; lra."]
    if len(arguments) != 2:
        raise NotInCoq("min or max of more than two")
    side = "left" if chosen.text() == arguments[0].text() else "right"
    return [f"apply {'Rmin' if function == 'min' else 'Rmax'}_{side}; lra."]


def logarithm_tactics(goal: Relation) -> list[str]:
    """log(A) = sum of k log(B): A as a product of powers, and the logarithm of each."""
    pieces = []
    for monomial, coefficient in normal_form(goal.rhs).numerator.terms.items():
        base = atom_expression(monomial[0][0])
        assert isinstance(base, Call)
        pieces.append((term(base.arguments[0]), int(coefficient.p)))
    if not isinstance(goal.lhs, Call):
        raise NotInCoq("a logarithm in disguise")
    product = " * ".join(f"{u} ^ {k}" if k > 0 else f"/ ({u} ^ {-k})" for u, k in pieces)
    return [
        *(f"assert (0 < {u}) by positive." for u, _ in pieces),
        f"replace {argument_in_coq(goal.lhs)} with ({product}) by (field; nonzero).",
        "repeat rewrite ln_mult by positive. repeat rewrite ln_inverse by positive.",
        "repeat rewrite ln_pow_nat by positive. simpl INR. lra.",
    ]


def exponential_tactics(goal: Relation) -> list[str]:
    """exp(a) exp(b) = exp(a + b), or exp(k log(u)) = u^k."""
    exponentials = [
        call
        for side in (goal.lhs, goal.rhs)
        for atom in sorted(normal_form(side).numerator.atoms())
        if isinstance(call := atom_expression(atom), Call) and call.function == "exp"
    ]
    powers = [power for call in exponentials for power in _powers(call.arguments[0])]
    if not powers:
        by_zero = "transitivity (exp 0); [ f_equal; lra | apply exp_0 ]"
        return [
            "cbn [pow]. rewrite ?Rmult_1_r. repeat rewrite <- exp_plus.",
            f"first [ f_equal; lra | f_equal; field; nonzero | {by_zero} ].",
        ]
    if len(exponentials) != 1 or len(powers) != 1 or not isinstance(goal.lhs, Call):
        raise NotInCoq("a product of powers of exponentials of logarithms")
    ((u, k),) = powers
    sign = "" if k > 0 else "- "
    exponent = f"{sign}(INR {abs(k)} * ln {u})"
    return [
        f"assert (0 < {u}) by positive.",
        f"replace {argument_in_coq(goal.lhs)} with ({exponent}) by (simpl INR; lra).",
        *([] if k > 0 else ["rewrite exp_Ropp."]),
        f"rewrite (exp_ln_pow {u} {abs(k)}) by positive. field; nonzero.",
    ]


def _powers(exponent: Expression) -> list[tuple[str, int]]:
    """u and k for the terms k log(u) of an exponent."""
    found = []
    for monomial, coefficient in normal_form(exponent).numerator.terms.items():
        call = atom_expression(monomial[0][0]) if len(monomial) == 1 else None
        if isinstance(call, Call) and call.function == "log":
            if coefficient.q != 1:
                raise NotInCoq("a power that is no integer")
            found.append((term(call.arguments[0]), int(coefficient.p)))
    return found
