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
from certify.claims.coq.script import Script
from certify.claims.coq.terms import NotInCoq, identifier, name_in_coq, statement, term
from certify.claims.relation import Relation
from certify.claims.result import ClaimResult


@dataclass(frozen=True)
class Export:
    """The text of a Coq file, the lemmas it has, and what it has as comments only, with the reason."""

    text: str
    lemmas: tuple[str, ...]
    left_out: Mapping[str, str]


def export(results: Sequence[ClaimResult]) -> Export:
    """The proved claims as lemmas, one a conclusion; what Coq cannot do as a comment with the reason."""
    parts = [_preamble()]
    lemmas: list[str] = []
    left_out: dict[str, str] = {}
    proved = {r.claim.id: r.claim for r in results if r.verdict is Verdict.PROVED}
    exported: set[str] = set()
    for result in results:
        claim = result.claim
        parts.append(f"(* {_comment(claim.id)}: {_comment(claim.headline())} *)")
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
            for index in range(len(each.conclusions)):
                name = f"{identifier(each.id)}_{index + 1}"
                try:
                    parts.append(_lemma(each, own, index, proved, exported))
                    lemmas.append(name)
                    exported.add(name)
                except (NotInCoq, SignUnknown) as reason:
                    left_out[name] = str(reason)
                    stated = _comment(each.conclusions[index].text())
                    parts.append(f"(* left out: {name}, {stated}: {_comment(str(reason))} *)\n")
    return Export("\n".join(parts) + "\n", tuple(lemmas), left_out)


def export_closed(inequalities: Mapping[str, Relation]) -> Export:
    """Inequalities between numbers, each as a lemma `0 <= rhs - lhs` for the tactic `interval`."""
    parts, lemmas = [_preamble()], []
    for name, relation in inequalities.items():
        if relation.names() or relation.is_equation:
            raise ValueError(f"{name} is not an inequality between numbers")
        symbol = "<" if relation.strict else "<="
        difference = term(relation.difference())
        parts.append(
            f"Lemma {identifier(name)} : 0 {symbol} {difference}.\n"
            "Proof. first [ lra | interval with (i_prec 128) ]. Qed.\n"
        )
        lemmas.append(identifier(name))
    return Export("\n".join(parts) + "\n", tuple(lemmas), {})


def _lemma(claim: Claim, proof: Mapping[str, Any], index: int, proved: Mapping[str, Claim], exported: set[str]) -> str:
    _require_cited(proof, exported)
    context = Context.of(claim)
    names: dict[str, str] = {}
    hypotheses: list[tuple[str, str]] = []

    def suppose(name: str, proposition: str) -> None:
        hypotheses.append((name, proposition))

    for variable in claim.variables:
        if variable.integer:
            suppose(f"HZ{len(hypotheses)}", f"is_int {name_in_coq(variable.name)}")
    bounds = [bound for variable in claim.variables for bound in variable.bounds()]
    for relation in (*bounds, *claim.conditions):
        name = f"HC{len(hypotheses)}"
        suppose(name, statement(relation))
        names[relation.text()] = name
    for defined, definition in claim.definitions.items():
        equation = Relation(Name(defined), "=", definition)
        name = f"HD{len(hypotheses)}"
        suppose(name, statement(equation))
        names[equation.text()] = name
    script = Script(proved)
    goal = claim.conclusions[index]
    script.steps(proof["defined"], context, names)
    script.node(proof["conclusions"][index], context, names, goal)
    variables = [name_in_coq(v.name) for v in claim.variables] + [name_in_coq(n) for n in claim.definitions]
    quantified = f"forall {' '.join(variables)} : R,\n  " if variables else ""
    premises = "".join(f"{proposition} ->\n  " for _, proposition in hypotheses)
    introduced = " ".join([*variables, *(name for name, _ in hypotheses)])
    intros = f"  intros {introduced}.\n" if introduced else ""
    name = f"{identifier(claim.id)}_{index + 1}"
    return f"Lemma {name} : {quantified}{premises}{statement(goal)}.\nProof.\n{intros}{script.text()}\nQed.\n"


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


def _preamble() -> str:
    return files("certify.claims.coq").joinpath("preamble.v").read_text(encoding="utf-8")


def _comment(text: str) -> str:
    """Text that can stand in a Coq comment."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
