"""The branches of the tuned mechanism beside the envelope: the zero output, and the noisy histogram (BC-10)."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from certify.arithmetic.expression import parse_expression
from certify.claims.claim import Claim, Variable
from certify.claims.context import Context
from certify.claims.relation import parse_relation
from constants.search.final_inequality import shown_range
from constants.search.proof import Steps, bisected, certified
from constants.search.theorem import parameters


def zero_claim(constant: fmpq) -> Claim:
    """The zero output where ``C τ > 1``: an error of at most 1 is at most ``C min(1, τ)``."""
    variables, names = parameters()
    return Claim(
        id="bc-thm.zero",
        variables=(Variable("T", True, fmpq(2), None), *variables),
        definitions={name: parse_expression(text) for name, text in names.items()},
        conditions=(parse_relation(f"{constant}*tau > 1"),),
        conclusions=(parse_relation(f"1 <= {constant}*min(1, tau)"),),
        source="Theorem 1.1",
        title=f"The zero output with C = {constant}",
    )


def prove_zero(claim: Claim, constant: fmpq) -> dict[str, Any]:
    """The certificate of the trivial branch. Raises NoProof with the step that does not go through."""
    steps = Steps(Context.of(claim))
    _signs(steps)
    small = f"{constant}*tau > 1"
    (goal,) = claim.conclusions
    branches = {}
    for side, order, least in (("then", "1 <= tau", "1"), ("else", "1 > tau", "tau")):
        branch = steps.context.child()
        branch.add(parse_relation(order))
        inside = Steps(branch)
        inside.have(f"min(1, tau) = {least}")
        node = inside.shown(goal, (f"min(1, tau) = {least}", small), (), 1)
        branches[side] = {"rule": "have", "steps": inside.nodes, "then": node}
    return certified(claim, steps, [{"rule": "split", "on": "1 <= tau", **branches}])


def _signs(steps: Steps) -> None:
    """What the definitions need to have values."""
    have, definitions = steps.have, steps.context.definitions
    have("T > 0", "T >= 2")
    have("k > 0", "k >= 1")
    have("n > 0", "n >= 1")
    have("log(2) > 0")
    steps.define("L_Q", "W")
    for argument, variable in (("2*k", "k >= 1"), ("2*T", "T >= 2")):
        have(f"{argument} > 0")
        have(f"{argument} >= 2", variable)
        have(f"log({argument}) >= log(2)")
        have(f"log({argument}) > 0", f"log({argument}) >= log(2)", "log(2) > 0")
    have("epsilon*n > 0")
    have(f"{definitions['tau'].children[0].text()} > 0")
    steps.define("tau")


def histogram_claim(constant: fmpq, first: int, last: int) -> Claim:
    """The noisy histogram: its expected error, at most ``2T/W``, is at most ``C min(1, τ)`` wherever ``C τ <= 1``."""
    variables, names = parameters()
    return Claim(
        id=f"bc-10.{first}",
        variables=(Variable("T", True, fmpq(first), fmpq(last)), *variables),
        definitions={name: parse_expression(text) for name, text in names.items()},
        conditions=(parse_relation(f"{constant}*tau <= 1"),),
        conclusions=(parse_relation(f"2*T/W <= {constant}*min(1, tau)"),),
        source="BC-10",
        title=f"The noisy histogram with C = {constant}, {shown_range(first, last)}",
    )


def prove_histogram(claim: Claim, constant: fmpq) -> dict[str, Any]:
    """The certificate of the histogram branch. Raises NoProof with the step that does not go through."""
    steps = Steps(Context.of(claim))
    have = steps.have
    _signs(steps)
    root = claim.definitions["tau"].text()
    inside = root[5:-1]
    have(f"{root} > 0")
    have(f"{root}^2 = {inside}")
    have("tau > 0", f"tau = {root}", f"{root} > 0")
    have("tau^2*W = log(2*T)*log(2*k)", f"tau = {root}", "W = epsilon*n", f"{root}^2 = {inside}")
    small, c = f"{constant}*tau <= 1", f"({constant})"
    have("W > 0", "W = epsilon*n", "epsilon*n > 0")
    have("W*tau > 0")
    have(f"{c}*(log(2*T)*log(2*k)) <= W*tau", "tau^2*W = log(2*T)*log(2*k)", small, "W*tau > 0")
    have("log(2*T)*log(2) <= log(2*T)*log(2*k)", "log(2*k) >= log(2)", "log(2*T) > 0")
    cut = parse_relation(f"2*T <= {c}^2*log(2*T)*log(2)")
    steps.add(cut, bisected(steps.context, cut, "T"))
    have(
        f"2*T <= {c}*(W*tau)",
        cut.text(),
        f"{c}*(log(2*T)*log(2*k)) <= W*tau",
        "log(2*T)*log(2) <= log(2*T)*log(2*k)",
    )
    have(f"2*T/W <= {c}*tau", f"2*T <= {c}*(W*tau)")
    have("tau <= 1", small, "tau > 0")
    have("min(1, tau) = tau")
    (goal,) = claim.conclusions
    return certified(claim, steps, [steps.shown(goal, (f"2*T/W <= {c}*tau", "min(1, tau) = tau"), (), 1)])
