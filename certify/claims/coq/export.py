"""A Coq file from proved claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from certify.arithmetic.expression import Name
from certify.arithmetic.verdict import Verdict
from certify.claims.claim import Claim, obligations
from certify.claims.context import Context, SignUnknown
from certify.claims.coq.closed import ClosedLemmas
from certify.claims.coq.script import Script
from certify.claims.coq.terms import NotInCoq, identifier, in_comment, name_in_coq, statement
from certify.claims.relation import Relation
from certify.claims.result import ClaimResult
from certify.report.reported_inequalities import ReportedInstance

HEAD = """\
(* Written by `certify export`: what certify proved, for Coq's kernel to decide anew. *)
Require Import Reals Lra Lia ZArith.
From Interval Require Import Tactic.
Open Scope R_scope.
"""


@dataclass(frozen=True)
class Export:
    """The text of a Coq file, the lemmas it has, and what it has as comments only, with the reason."""

    text: str
    lemmas: tuple[str, ...]
    left_out: Mapping[str, str]


def export(results: Sequence[ClaimResult], reports: Sequence[ReportedInstance] = ()) -> Export:
    """The proved claims as lemmas, one a conclusion, then the closed inequalities of reports.

    What Coq cannot do is a comment with the reason.
    """
    parts = [HEAD]
    if results:
        parts.append(_shipped("preamble.v"))
    lemmas: list[str] = []
    left_out: dict[str, str] = {}
    proved = {r.claim.id: r.claim for r in results if r.verdict is Verdict.PROVED}
    exported: set[str] = set()
    for result in results:
        claim = result.claim
        parts.append(f"(* {in_comment(claim.id)}: {in_comment(claim.headline())} *)")
        if result.verdict is not Verdict.PROVED or result.certificate is None:
            left_out[claim.id] = f"{result.verdict.value}, so there is nothing to prove"
            parts.append(f"(* left out: {left_out[claim.id]} *)\n")
            continue
        proof = result.certificate["proof"]
        plain = [(claim, proof)]
        if claim.chain is not None:
            plain = [(part, proof["parts"][part.id]) for part in obligations(claim)]
            parts.append("(* the sum: by induction from the three lemmas that follow *)")
        for each, own in plain:
            text, reasons = _lemmas(each, own, proved, exported)
            parts.append(text)
            for index, conclusion in enumerate(each.conclusions):
                name = _name(each, index)
                if index in reasons:
                    left_out[name] = reasons[index]
                    stated = in_comment(conclusion.text())
                    parts.append(f"(* left out: {name}, {stated}: {in_comment(reasons[index])} *)\n")
                else:
                    lemmas.append(name)
                    exported.add(name)
    if reports:
        closed = ClosedLemmas()
        for report in reports:
            closed.add(report)
        parts += [_shipped("closed.v"), *closed.parts]
        lemmas += closed.lemmas
        left_out |= closed.left_out
    return Export("\n".join(parts) + "\n", tuple(lemmas), left_out)


def _lemmas(
    claim: Claim, certified: Mapping[str, Any], proved: Mapping[str, Claim], exported: set[str]
) -> tuple[str, Mapping[int, str]]:
    """Lemmas for the conclusions, and why some are left out, by their number.

    What several conclusions rest on is shown once, in a lemma about all of them.
    """
    context = Context.of(claim)
    names: dict[str, str] = {}
    hypotheses: dict[str, str] = {}

    def suppose(letters: str, proposition: str) -> str:
        name = f"{letters}{len(hypotheses)}"
        hypotheses[name] = proposition
        return name

    for variable in claim.variables:
        if variable.integer:
            suppose("HZ", f"is_int {name_in_coq(variable.name)}")
    bounds = [bound for variable in claim.variables for bound in variable.bounds()]
    for relation in (*bounds, *claim.conditions):
        names[relation.text()] = suppose("HC", statement(relation))
    for defined, definition in claim.definitions.items():
        equation = Relation(Name(defined), "=", definition)
        names[equation.text()] = suppose("HD", statement(equation))
    script, reasons = Script(proved), {}
    try:
        _require_cited(certified["defined"], exported)
        script.steps(certified["defined"], context, names)
    except (NotInCoq, SignUnknown) as reason:
        return "", dict.fromkeys(range(len(claim.conclusions)), str(reason))
    proofs = {}
    for index, (node, goal) in enumerate(zip(certified["conclusions"], claim.conclusions, strict=True)):
        own = script.continued()
        try:
            _require_cited(node, exported)
            own.node(node, context.child(), dict(names), goal)
            proofs[index] = own.text()
        except (NotInCoq, SignUnknown) as reason:
            reasons[index] = str(reason)
    variables = [name_in_coq(name) for name in (*(v.name for v in claim.variables), *claim.definitions)]
    introduced = " ".join([*variables, *hypotheses])
    quantified = f"forall {' '.join(variables)} : R,\n  " if variables else ""
    premises = quantified + "".join(f"{proposition} ->\n  " for proposition in hypotheses.values())
    intros = f"  intros {introduced}.\n" if introduced else ""

    def lemma(name: str, conclusion: str, *tactics: str) -> str:
        proof = "".join(f"{text}\n" for text in tactics if text)
        return f"Lemma {name} : {premises}{conclusion}.\nProof.\n{intros}{proof}Qed.\n"

    stated = {index: statement(claim.conclusions[index]) for index in proofs}
    if len(proofs) <= 1:
        texts = [lemma(_name(claim, i), stated[i], script.text(), tactics) for i, tactics in proofs.items()]
        return "\n".join(texts), reasons
    every = f"{identifier(claim.id)}_all"
    *first, last = proofs.values()
    blocks = [f"  split. {{\n{tactics}\n  }}" for tactics in first]
    texts = [lemma(every, " /\\\n  ".join(stated.values()), script.text(), *blocks, last)]
    part = f"({every} {introduced})".replace(" )", ")")
    for number, index in enumerate(proofs):
        whole = part if number == len(proofs) - 1 else f"(proj1 {part})"
        texts.append(lemma(_name(claim, index), stated[index], f"  exact {whole}."))
        part = f"(proj2 {part})"
    return "\n".join(texts), reasons


def _name(claim: Claim, index: int) -> str:
    """The name of the lemma for a conclusion."""
    return f"{identifier(claim.id)}_{index + 1}"


def _require_cited(proof: Any, exported: set[str]) -> None:
    """Raise NotInCoq when a lemma that the proof cites is itself left out."""
    if isinstance(proof, Mapping):
        if proof.get("rule") == "cite":
            name = f"{identifier(proof['claim'])}_{proof['conclusion'] + 1}"
            if name not in exported:
                raise NotInCoq(f"cites {name}, which is left out")
        for value in proof.values():
            _require_cited(value, exported)
    elif isinstance(proof, list):
        for value in proof:
            _require_cited(value, exported)


def _shipped(name: str) -> str:
    return files("certify.claims.coq").joinpath(name).read_text(encoding="utf-8")
