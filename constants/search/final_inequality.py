"""(E) for every universe of a range: the inequality in l = log T that a constant comes down to, and its proof."""

from __future__ import annotations

from typing import Any

from flint import arb, ctx, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import Expression, Number, parse_expression
from certify.claims.calculus import expanded, substituted
from certify.claims.claim import Claim, Variable
from certify.claims.context import Context, halves
from certify.claims.relation import Relation, parse_relation
from constants.search.formulas import final_inequality
from constants.search.proof import Steps, bisected, certified
from constants.search.rung import Envelope, Gap, Rung

LOG_DIGITS = 12
"""Decimals to which log T is rounded down for the range of l."""

TAIL = fmpq(2**14)
"""From here on (E) is proved by bounds on its terms, before by bisection."""


def log_below(integer: int) -> fmpq:
    """A rational just below log of an integer."""
    with ctx.workprec(128):
        lower = Enclosure.of(arb(integer).log()).lower
    assert lower is not None
    scale = 10**LOG_DIGITS
    return fmpq((lower * scale).floor(), scale)


def log_above(integer: int) -> fmpq:
    """A rational just above log of an integer."""
    return log_below(integer) + fmpq(2, 10**LOG_DIGITS)


def shown_range(first: int, last: int | None) -> str:
    """A range of T for a title."""
    return f"T >= {first}" if last is None else f"{first} <= T <= {last}"


def choices(constant: fmpq, envelope: Envelope) -> dict[str, Expression]:
    """The names of a tuning's numbers."""
    numbers = {"C": constant, "g": envelope.g, "b": envelope.b, "j": envelope.j}
    return {name: Number(str(value)) for name, value in numbers.items()}


def definitions(rung: Rung, numbers: dict[str, Expression]) -> tuple[dict[str, Expression], Expression]:
    """The definitions of (E) and its left side, with the numbers of a tuning put in."""
    texts, goal = final_inequality(rung)
    return (
        {name: substituted(parse_expression(text), numbers) for name, text in texts.items()},
        substituted(parse_expression(goal), numbers),
    )


def final_claim(rung: Rung, constant: fmpq, envelope: Envelope, last: int | None) -> Claim:
    """(E) for all T of the range, as a claim about every real l between their logarithms.

    Its second conclusion is what the bound F of BC-6 needs: ``z e^{-p_f z}`` falls from X on.
    """
    numbers = choices(constant, envelope)
    defined, goal = definitions(rung, numbers)
    return Claim(
        id=f"bc-E.{envelope.first}",
        variables=(Variable("l", False, log_below(envelope.first), None if last is None else log_above(last)),),
        definitions=defined,
        conditions=(),
        conclusions=(Relation(goal, "<=", numbers["C"]), parse_relation("p_f*X >= 1")),
        source="BC-9",
        title=f"The final inequality (E), {shown_range(envelope.first, last)}",
    )


def prove_final(rung: Rung, claim: Claim) -> dict[str, Any]:
    """The certificate of (E). Raises NoProof with the step that does not go through."""
    (goal, falling), (variable,) = claim.conclusions, claim.variables
    steps = Steps(Context.of(claim))
    least = f"l >= {variable.lower}"
    steps.define("L_D")
    steps.have("log(2) > 0")
    steps.have("l > 0", least)
    steps.have("L_D > 0", "L_D = l + log(2)", "log(2) > 0", "l > 0")
    show_defined(rung, steps)
    assert variable.lower is not None
    falls = _far_sum_falls(steps.context, falling, variable.lower)
    if variable.upper is not None:
        return certified(claim, steps, [bisected(steps.context, goal, variable.name), falls])
    below, above = halves(variable, TAIL)
    node = {
        "rule": "cut",
        "variable": variable.name,
        "at": str(TAIL),
        "below": bisected(steps.context.narrowed(below), goal, variable.name),
        "above": _tail(rung, steps.context.narrowed(above), goal),
    }
    return certified(claim, steps, [node, falls])


def show_defined(rung: Rung, steps: Steps) -> None:
    """What the definitions of (E) need to have values, where ``l > 0`` and ``L_D > 0`` are known."""
    steps.have("1 + log(2)/l > 0", "l > 0", "log(2) > 0")
    for name in final_inequality(rung)[0]:
        if name != "L_D":
            steps.define(name)
    steps.have("ratio*L_D = l", "ratio = 1/(1 + log(2)/l)", "L_D = l + log(2)")
    for name in ("q", "q_f"):
        steps.have(f"{name} < 1")
        steps.have(f"1 - {name} > 0", f"{name} < 1")
    steps.have("(1 - q_f)^2 > 0", "1 - q_f > 0")
    steps.have("ratio > 0", "ratio*L_D = l", "l > 0", times=["L_D > 0"])
    steps.have("J_0 > 0", f"J_0 = {steps.context.definitions['J_0'].text()}", "L_D > 0")
    if rung.gap is Gap.MOMENT:
        steps.have("nu_0 > 0")
    steps.have("v_0 > 0", "v_0 = 1/J_0", times=["J_0 > 0"])
    steps.have("1 + v_0 > 0", "v_0 > 0")
    steps.have("sqrt(1 + v_0) > 0")
    steps.have("rho > 0", "rho = sqrt(1 + v_0)", "sqrt(1 + v_0) > 0")


def _far_sum_falls(context: Context, goal: Relation, least: fmpq) -> dict[str, Any]:
    """``p_f X >= 1`` for l >= least: X grows with l."""
    steps = Steps(context)
    steps.have(f"L_D >= {least}", f"L_D = {context.definitions['L_D'].text()}", f"l >= {least}", "log(2) > 0")
    start = {"l": f"l >= {least}", "L_D": f"L_D >= {least}"}
    if "L_D" in context.definitions["L"].names():
        steps.have("log(2) >= 69/100")
        start["L_D"] = f"L_D >= {least + fmpq(69, 100)}"
        steps.have(start["L_D"], f"L_D = {context.definitions['L_D'].text()}", start["l"], "log(2) >= 69/100")
    reach = _lower(steps, "X", {"l": least, "L_D": least + fmpq(69, 100)})
    equations = [f"{name} = {context.definitions[name].text()}" for name in ("X", "L", "p_f")]
    steps.have(f"X >= {reach}", *equations[:2], *start.values())
    return {"rule": "have", "steps": steps.nodes, "then": steps.shown(goal, (equations[2], f"X >= {reach}"), (), 2)}


def _tail(rung: Rung, context: Context, goal: Relation) -> dict[str, Any]:
    """For l >= TAIL: every term of (E) at most a number, the exponentials by exp(u) >= 1 + u."""
    steps = Steps(context)
    start = f"l >= {TAIL}"
    defined = {name: expression.text() for name, expression in context.definitions.items()}

    def equation(name: str) -> str:
        return f"{name} = {defined[name]}"

    steps.have("ratio <= 1", "ratio*L_D = l", equation("L_D"), "log(2) > 0", times=["L_D > 0"])
    steps.have("log(2) < 1")
    steps.have("ratio >= 1/2", "ratio*L_D = l", equation("L_D"), "log(2) < 1", start, times=["L_D > 0"])
    steps.have(f"L_D >= {TAIL}", equation("L_D"), start, "log(2) > 0")
    steps.have(f"w_0 <= 1/{TAIL}", equation("w_0"), f"L_D >= {TAIL}", times=["L_D > 0"])
    steps.have("w_0 >= 0", equation("w_0"), times=["L_D > 0"])
    rounds = _lower(steps, "J_0", {"L_D": TAIL})
    steps.have(f"J_0 >= {rounds}", equation("J_0"), f"L_D >= {TAIL}")
    steps.have(f"v_0 <= {1 / rounds}", equation("v_0"), f"J_0 >= {rounds}", times=["J_0 > 0"])
    steps.have("v_0 >= 0", "v_0 > 0")
    reach = _lower(steps, "X", {"l": TAIL, "L_D": TAIL})
    steps.have(f"X >= {reach}", equation("X"), equation("L"), start, f"L_D >= {TAIL}")
    exponents = _lower(steps, "p_f", {}) * reach
    steps.have("p_f > 0")
    steps.have(f"p_f*X >= {exponents}", equation("p_f"), f"X >= {reach}")
    small = "exp(-p_f*X/2)"
    steps.have(f"{small} > 0")
    steps.have(f"-p_f*X/2 <= -{exponents / 2}", f"p_f*X >= {exponents}")
    steps.have(f"{small} <= exp(-{exponents / 2})")
    steps.have(f"exp(-p_f*X) = {small}^2")
    steps.have(f"Y = {small}^2", equation("Y"), f"exp(-p_f*X) = {small}^2")
    steps.have("exp(p_f*X/2) >= 1 + p_f*X/2")
    steps.have(f"exp(p_f*X/2)*{small} = 1")
    steps.have(f"X*{small} <= 2/p_f", f"{small} > 0", "exp(p_f*X/2) >= 1 + p_f*X/2", f"exp(p_f*X/2)*{small} = 1")
    bound = f"exp(-{exponents / 2})"
    steps.have(f"Y <= {bound}^2", f"Y = {small}^2", f"{small} <= {bound}", f"{small} > 0")
    steps.have("Y >= 0", f"Y = {small}^2", f"{small} > 0")
    steps.have(f"{small}*(X*{small}) <= 2/p_f*{small}", f"X*{small} <= 2/p_f", f"{small} > 0")
    steps.have(
        f"Z <= 2/p_f*{bound}",
        equation("Z"),
        f"Y = {small}^2",
        f"{small}*(X*{small}) <= 2/p_f*{small}",
        f"{small} <= {bound}",
    )
    largest = f"2/({defined['p_f']})*{bound}"
    steps.have(f"Z <= {largest}", f"Z <= 2/p_f*{bound}", equation("p_f"))
    steps.have("Z >= 0", equation("Z"), "Y >= 0", f"X >= {reach}")
    if rung.gap is Gap.MOMENT:
        steps.have("log(nu_0) < -1/10")
        steps.have(f"J_0/2*log(nu_0) <= -{rounds / 20}", f"J_0 >= {rounds}", "log(nu_0) < -1/10")
        steps.have(f"exp(J_0/2*log(nu_0)) <= exp(-{rounds / 20})")
        steps.have(
            f"nu_power_0 <= exp(-{rounds / 20})", equation("nu_power_0"), f"exp(J_0/2*log(nu_0)) <= exp(-{rounds / 20})"
        )
        steps.have("exp(J_0/2*log(nu_0)) > 0")
        steps.have("nu_power_0 >= 0", equation("nu_power_0"), "exp(J_0/2*log(nu_0)) > 0")
    return {"rule": "have", "steps": steps.nodes, "then": steps.shown(goal, (), (), 1)}


def _lower(steps: Steps, name: str, least: dict[str, fmpq]) -> fmpq:
    """A rational below a defined name that increases in the given names: a guide, which a step then proves."""
    whole = expanded(
        steps.context.definitions[name], {k: v for k, v in steps.context.definitions.items() if k not in least}
    )
    with ctx.workprec(128):
        lower = Enclosure.of(whole.value(least)).lower
    assert lower is not None
    return fmpq((lower * 10**LOG_DIGITS).floor(), 10**LOG_DIGITS)
