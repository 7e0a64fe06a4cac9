"""Certificates as Coq proofs: every rule of the checker becomes tactics, so that the kernel decides anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpq

from certify.arithmetic.exact import parse_rational
from certify.arithmetic.expression import Call, Expression, Name, Number, Operation, parse_expression
from certify.claims.calculus import expanded, substituted_relation
from certify.claims.claim import Claim
from certify.claims.context import Context, halves
from certify.claims.coq.elementary_tactics import exponential_tactics, logarithm_tactics, selection_tactics
from certify.claims.coq.range_tactics import ranges_and_definitions
from certify.claims.coq.terms import (
    NotInCoq,
    argument_in_coq,
    identifier,
    name_in_coq,
    number,
    polynomial_term,
    statement,
    term,
)
from certify.claims.normal_form import closed_value, normal_form
from certify.claims.polynomial import Polynomial, product
from certify.claims.relation import Relation, parse_relation, positive

INTERVAL = "(i_bisect {0}, i_autodiff {0}, i_depth 40)"

Node = Mapping[str, Any]


class Script:
    """The tactics for one conclusion of a claim."""

    def __init__(self, proved: Mapping[str, Claim]) -> None:
        self._proved = proved
        self._lines: list[str] = []
        self._depth = 1
        self._count = 0

    def text(self) -> str:
        """The tactics, one a line."""
        return "\n".join(self._lines)

    def continued(self) -> Script:
        """A script without lines whose new names are not among those of this one."""
        result = Script(self._proved)
        result._count = self._count
        return result

    def node(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        """Tactics that prove the goal; `names` are the hypotheses that hold the facts of the context."""
        handlers = {
            "have": self._have, "combination": self._combination, "evaluate": self._interval,
            "ranges": self._ranges, "mean value": self._interval, "cut": self._cut, "split": self._split,
            "integer": self._integer, "monotone": self._monotone, "absurd": self._absurd, "cite": self._cite,
        }  # fmt: skip
        handler = handlers.get(node["rule"], self._elementary)
        handler(node, context, names, goal)

    def steps(self, steps: Sequence[Node], context: Context, names: dict[str, str]) -> None:
        """Assert each fact and take it into the context."""
        for step in steps:
            fact = parse_relation(step["fact"])
            name = self._assert(statement(fact))
            self.node(step["by"], context.child(), dict(names), fact)
            self._close()
            context.add(fact)
            names[fact.text()] = name

    def _say(self, line: str) -> None:
        self._lines.append("  " * self._depth + line)

    def _say_all(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._say(line)

    def _fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _assert(self, proposition: str, letter: str = "H") -> str:
        name = self._fresh(letter)
        self._say(f"assert ({name} : {proposition}). {{")
        self._depth += 1
        return name

    def _close(self) -> None:
        self._depth -= 1
        self._say("}")

    def _shown(self, proposition: str, tactic: str, letter: str = "P") -> str:
        """A fact shown by one tactic."""
        name = self._fresh(letter)
        self._say(f"assert ({name} : {proposition}) by ({tactic}).")
        return name

    def _have(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        self.steps(node["steps"], context, names)
        self.node(node["then"], context, names, goal)

    # from relations to polynomials and back

    def _numerator(self, fact: Relation, context: Context, name: str) -> tuple[str, Polynomial]:
        """A hypothesis that says `0 <= N` (or <, or N = 0) for the numerator of a fact."""
        numerator = context.numerator(fact)
        shape = _shape(fact, polynomial_term(numerator))
        divisor = self._denominator(fact, context)
        if divisor is None:
            return self._shown(shape, f"clear - {name}; lra"), numerator
        _, text = divisor
        difference = term(fact.difference())
        holder = self._assert(shape, "P")
        self._say(f"replace ({polynomial_term(numerator)}) with ({difference} * {text}) by (field; nonzero).")
        if fact.is_equation:
            self._say(f"replace {difference} with 0 by (clear - {name}; lra). apply Rmult_0_l.")
        else:
            rule = "Rmult_lt_0_compat" if fact.strict else "Rmult_le_pos"
            self._say(f"apply {rule}; [ clear - {name}; lra | try (left; assumption); assumption ].")
        self._close()
        return holder, numerator

    def _denominator(self, relation: Relation, context: Context) -> tuple[str, str] | None:
        """A hypothesis that the denominator is positive, and the denominator; None when it has none."""
        form = normal_form(relation.difference())
        if not form.denominator:
            return None
        names = []
        for factor in form.denominator:
            if context.sign(factor) < 0:
                raise NotInCoq("a negative denominator")
            names.append(self._positive(factor))
        text = polynomial_term(product(f**e for f, e in form.denominator.items() if len(f.terms) == 1))
        rest = [(f, e) for f, e in form.denominator.items() if len(f.terms) != 1]
        for factor, exponent in rest:
            text = f"({text} * ({polynomial_term(factor)}) ^ {exponent})"
        return self._shown(f"0 < {text}", "positive"), text

    def _positive(self, polynomial: Polynomial) -> str:
        """A hypothesis that a polynomial, whose sign the facts give, is positive."""
        return self._shown(f"0 < {polynomial_term(polynomial)}", "first [ lra | positive ]")

    def _conclude(self, goal: Relation, context: Context, name: str) -> None:
        """From `0 <= N` for the goal's numerator to the goal."""
        divisor = self._denominator(goal, context)
        if divisor is None:
            self._say(f"clear - {name}; lra.")
            return
        positive_name, text = divisor
        numerator = polynomial_term(context.numerator(goal))
        difference = term(goal.difference())
        equal = self._shown(f"{difference} = ({numerator}) / ({text})", "field; nonzero")
        rule = "quotient_eq" if goal.is_equation else ("quotient_lt" if goal.strict else "quotient_le")
        signs = name if goal.is_equation else f"{positive_name} {name}"
        quotient = self._fresh("P")
        self._say(f"pose proof ({rule} ({numerator}) ({text}) {signs}) as {quotient}.")
        self._say(f"clear - {equal} {quotient}; lra.")

    # the rules

    def _combination(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        known: dict[str, tuple[str, Polynomial]] = {}
        used = [*node["multiplier"], *(text for t in node["terms"] for text in t["facts"])]
        for text in dict.fromkeys(used):
            known[text] = self._numerator(context.facts[text], context, names[text])
        terms = [self._term(entry, context, known) for entry in node["terms"]]
        kept = " ".join(dict.fromkeys(name for name in terms if name))
        if parse_rational(node["scale"]) == 0:
            self._say(f"exfalso; clear - {kept}; lra." if kept else "exfalso; lra.")
            return
        numerator = context.numerator(goal)
        clear = f"clear - {kept}; " if kept else ""
        whole = f"({polynomial_term(numerator)})"
        if node["multiplier"]:
            factor = " * ".join(f"({polynomial_term(known[text][1])})" for text in node["multiplier"])
            positive_name = self._shown(f"0 < {factor}", "positive")
            scaled = self._shown(_shape(goal, f"{whole} * ({factor})"), f"{clear}lra")
            rule = "cancel_lt" if goal.strict else "cancel_le"
            final = self._shown(_shape(goal, whole), f"apply ({rule} _ _ {positive_name} {scaled})")
        else:
            final = self._shown(_shape(goal, whole), f"{clear}lra")
        self._conclude(goal, context, final)

    def _term(self, entry: Node, context: Context, known: Mapping[str, tuple[str, Polynomial]]) -> str:
        """A hypothesis about a product of facts; empty for the constant 1."""
        texts = entry["facts"]
        if not texts:
            return ""
        facts = [context.facts[text] for text in texts]
        factors = [f"({polynomial_term(known[text][1])})" for text in texts]
        if any(fact.is_equation for fact in facts):
            index = next(i for i, fact in enumerate(facts) if fact.is_equation)
            times = term(parse_expression(entry["times"]))
            others = "".join(f" * {factor}" for i, factor in enumerate(factors) if i != index)
            name = known[texts[index]][0]
            return self._shown(f"({times}{others}) * {factors[index]} = 0", f"rewrite {name}; apply Rmult_0_r")
        if len(texts) == 1:
            return known[texts[0]][0]
        strict = all(fact.strict for fact in facts)
        name, so_far = known[texts[0]][0], factors[0]
        if not strict and facts[0].strict:
            name = self._shown(f"0 <= {so_far}", f"left; exact {name}")
        for text, fact, factor in zip(texts[1:], facts[1:], factors[1:], strict=True):
            other = known[text][0]
            if not strict and fact.strict:
                other = self._shown(f"0 <= {factor}", f"left; exact {other}")
            so_far = f"{so_far} * {factor}"
            rule = "Rmult_lt_0_compat" if strict else "Rmult_le_pos"
            name = self._shown(f"0 {'<' if strict else '<='} {so_far}", f"apply {rule}; assumption")
        return name

    def _interval(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        whole = expanded(goal.difference(), context.definitions)
        variables = sorted(whole.names())
        if len(variables) > 1:
            raise NotInCoq("an interval argument in several variables")
        if goal.is_equation:
            if closed_value(whole) != 0:
                raise NotInCoq("an equation by evaluation")
            self._say("lra.")
            return
        self._difference(goal)
        options = INTERVAL.format(name_in_coq(variables[0])) if variables else "(i_prec 128)"
        self._say(f"{self._rewrites(context, names)}interval with {options}.")

    def _difference(self, goal: Relation) -> None:
        """From `a <= b` (or <, >=, >) to `0 <= b - a`."""
        turned = {">=": "apply Rle_ge. ", ">": "apply Rlt_gt. "}.get(goal.symbol, "")
        self._say(f"{turned}apply {'less' if goal.strict else 'at_most'}_by_difference.")

    def _ranges(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        ranges, definitions = ranges_and_definitions(context, goal)
        kept = []
        for known in ranges:
            bounds = f"{names[known.lower.text()]} {names[known.upper.text()]}"
            kept.append(self._shown(known.statement(), f"clear - {bounds}; lra"))
        self._difference(goal)
        for definition in definitions:
            self._say(f"rewrite ?{names[definition.text()]}.")
        self._say(f"clear{' -' if kept else ''} {' '.join(kept)}. interval with (i_prec 128).")

    def _rewrites(self, context: Context, names: Mapping[str, str]) -> str:
        """Replace defined names in the goal by their definitions, later ones first."""
        tactics = ""
        for defined, definition in reversed(list(context.definitions.items())):
            name = names.get(Relation(Name(defined), "=", definition).text())
            if name is not None:
                tactics += f"rewrite ?{name}; "
        return tactics

    def _cut(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        variables = expanded(goal.difference(), context.definitions).names()
        if len(variables) == 1 and not _uses(node, "monotone") and not _uses(node, "combination"):
            self._interval(node, context, names, goal)
            return
        variable, at = context.variables[node["variable"]], parse_rational(node["at"])
        if variable.integer:
            raise NotInCoq("a cut of an integer range")
        name = name_in_coq(variable.name)
        self._say(f"destruct (Rle_or_lt {name} {number(str(at))}) as [{self._fresh('H')} | H{self._count}].")
        branch_name = f"H{self._count}"
        for side, part in zip(("below", "above"), halves(variable, at), strict=True):
            self._say("{")
            self._depth += 1
            inner, known = context.narrowed(part), dict(names)
            for bound in part.bounds():
                if bound.text() not in known:
                    known[bound.text()] = self._shown(statement(bound), f"clear - {branch_name}; lra", "H")
            self.node(node[side], inner, known, goal)
            self._close()

    def _split(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        relation = parse_relation(node["on"])
        left, right = (relation.lhs, relation.rhs)
        if relation.symbol in (">=", ">"):
            left, right = right, left
        rule = "Rlt_or_le" if relation.strict else "Rle_or_lt"
        name = self._fresh("H")
        self._say(f"destruct ({rule} ({term(left)}) ({term(right)})) as [{name} | {name}].")
        for side, fact in (("then", relation), ("else", relation.negation())):
            self._say("{")
            self._depth += 1
            inner, known = context.child(), dict(names)
            inner.add(fact)
            known[fact.text()] = self._shown(statement(fact), f"clear - {name}; lra", "H")
            self.node(node[side], inner, known, goal)
            self._close()

    def _integer(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        weaker = positive(Operation("+", goal.difference(), Number("1")))
        name = self._assert(statement(weaker))
        self.node(node["by"], context, dict(names), weaker)
        self._close()
        whole = polynomial_term(normal_form(goal.difference()).numerator)
        self._say(f"pose proof (int_nonneg ({whole}) ltac:(int_valued) ltac:(clear - {name}; lra)) as P{name}.")
        self._say(f"clear - P{name}; lra.")

    def _monotone(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        variable = context.variables[node["variable"]]
        end = variable.lower if node["end"] == "lower" else variable.upper
        whole = expanded(goal.difference(), context.definitions)
        at_end = closed_value(_at(whole, variable.name, end)) if end is not None else None
        if at_end == 0:
            raise NotInCoq(f"touches at {variable.name} = {end}, where interval arithmetic cannot decide")
        self._interval(node, context, names, goal)

    def _absurd(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        fact = context.facts[node["fact"]]
        self._say("exfalso.")
        name = self._assert(statement(fact.negation()))
        self.node(node["by"], context, dict(names), fact.negation())
        self._close()
        self._say(f"clear - {name} {names[node['fact']]}; lra.")

    def _cite(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        claim = self._proved[node["claim"]]
        values = {name: parse_expression(text) for name, text in node["values"].items()}
        whole = {name: expanded(Name(name), claim.definitions) for name in claim.definitions}

        def instance(relation: Relation) -> Relation:
            return substituted_relation(substituted_relation(relation, whole), values)

        needed = [*(b for v in claim.variables for b in v.bounds()), *claim.conditions]
        holders = []
        for relation, by in zip(needed, node["conditions"], strict=True):
            wanted = instance(relation)
            holders.append(self._assert(statement(wanted)))
            self.node(by, context.child(), dict(names), wanted)
            self._close()
        arguments = [term(value) for value in values.values()]
        cited = instance(claim.conclusions[node["conclusion"]])
        if _same_names(claim, context, values):  # the lemma's own text, which expanding would reorder
            arguments += [name_in_coq(name) for name in whole]
            cited = claim.conclusions[node["conclusion"]]
        else:
            arguments += [f"({term(substituted_relation(Relation(e, '=', e), values).lhs)})" for e in whole.values()]
        lemma = f"{identifier(claim.id)}_{node['conclusion'] + 1}"
        name = self._shown(
            statement(cited),
            f"apply ({lemma} {' '.join(arguments)}); first [ assumption | reflexivity | int_valued ]",
        )
        rewrites = self._rewrites(context, names)
        rewrites += rewrites.replace("; ", f" in {name}; ")
        rewritten = f"{rewrites}first [ exact {name} | clear - {name}; lra | same {name} ]"
        self._say(f"first [ exact {name} | {rewritten} ].")

    def _elementary(self, node: Node, context: Context, names: dict[str, str], goal: Relation) -> None:
        match node["rule"], goal.lhs, goal.rhs:
            case "definition", _, _:
                self._say("assumption.")
            case "known", _, _:
                self._known(context, names, goal)
            case "exp positive", Call(), _:
                self._say(f"pose proof (exp_pos {argument_in_coq(goal.lhs)}) as P; clear - P; lra.")
            case "tangent", Call("exp"), _:
                self._say(f"pose proof (exp_tangent {argument_in_coq(goal.lhs)}) as P; clear - P; lra.")
            case "tangent", Call("log"), _:
                self._say(f"pose proof (ln_tangent {argument_in_coq(goal.lhs)} ltac:(positive)) as P; clear - P; lra.")
            case "rounding", Call(function, _), _:
                near = "rceil_ge" if goal.symbol == ">=" else "rceil_lt"
                if function == "floor":
                    near = "rfloor_le" if goal.symbol == "<=" else "rfloor_gt"
                self._say(f"pose proof ({near} {argument_in_coq(goal.lhs)}) as P; clear - P; lra.")
            case "square root", Call(), _:
                tactic = "apply sqrt_lt_R0; positive" if goal.strict else "apply Rle_ge, sqrt_pos"
                self._say(f"{tactic}.")
            case "square root", _, _:
                base = goal.lhs.left if isinstance(goal.lhs, Operation) else goal.lhs
                self._say(f"transitivity {argument_in_coq(base)}; [ | clear; lra ].")
                self._say("apply pow2_sqrt; first [ assumption | lra | left; positive ].")
            case "increasing", Call(function, _), _:
                self._increasing(context, names, goal.upward(), function)
            case "selection", Call(function, arguments), chosen:
                self._say_all(selection_tactics(function, arguments, chosen))
            case "logarithm", Call(), _:
                self._say_all(logarithm_tactics(goal))
            case "exponential", _, _:
                self._say_all(exponential_tactics(goal))
            case rule, _, _:
                raise NotInCoq(f"no tactic for the rule {rule}")

    def _known(self, context: Context, names: dict[str, str], goal: Relation) -> None:
        if not goal.names():
            self._say("first [ lra | interval with (i_prec 128) ].")
            return
        if goal.text() in names:
            self._say(f"exact {names[goal.text()]}.")
            return
        numerator = context.numerator(goal)
        if numerator.is_zero():
            self._conclude(goal, context, self._shown(_shape(goal, f"({polynomial_term(numerator)})"), "lra"))
            return
        for text, fact in context.facts.items():
            same = not fact.is_equation and text in names and _multiple(context, fact, numerator)
            if same and (fact.strict or not goal.strict):
                name, _ = self._numerator(fact, context, names[text])
                shape = _shape(goal, f"({polynomial_term(numerator)})")
                self._conclude(goal, context, self._shown(shape, f"clear - {name}; lra"))
                return
        scale, monomial, rest = numerator.split_content()
        for atom, _ in monomial:
            self._positive(Polynomial.atom(atom))
        if rest.as_constant() is None:
            self._positive(rest)
        whole, factors = polynomial_term(numerator), polynomial_term(Polynomial({monomial: scale}))
        name = self._shown(
            f"0 < {whole}", f"replace ({whole}) with ({factors} * ({polynomial_term(rest)})) by field; positive"
        )
        if not goal.strict:
            name = self._shown(f"0 <= {whole}", f"left; exact {name}")
        self._conclude(goal, context, name)

    def _increasing(
        self,
        context: Context,
        names: dict[str, str],
        goal: Relation,
        function: str,
    ) -> None:
        if not isinstance(goal.lhs, Call) or not isinstance(goal.rhs, Call):
            raise NotInCoq("a monotone function in disguise")
        premise = Relation(goal.lhs.arguments[0], goal.symbol, goal.rhs.arguments[0])
        sides = f"{argument_in_coq(goal.lhs)} {goal.symbol} {argument_in_coq(goal.rhs)}"
        name = self._assert(statement(premise))
        self._known(context, names, premise)
        self._close()
        tidy = self._shown(sides, f"clear - {name}; lra")
        lemma = {
            ("exp", False): "exp_le", ("exp", True): "exp_increasing", ("log", False): "ln_le_ln",
            ("log", True): "ln_increasing", ("sqrt", False): "sqrt_le_1_alt", ("sqrt", True): "sqrt_lt_1_alt",
        }[function, goal.strict]  # fmt: skip
        f = _call(function)
        a, b = (f"{f} {argument_in_coq(side)}" for side in (goal.lhs, goal.rhs))
        whole = self._assert(f"{a} {goal.symbol} {b}")
        self._say(f"apply {lemma}; first [ exact {tidy} | positive | split; [ left; positive | exact {tidy} ] ].")
        self._close()
        self._say(f"rewrite ?ln_1, ?exp_0, ?sqrt_1 in {whole}. rewrite ?ln_1, ?exp_0, ?sqrt_1. clear - {whole}; lra.")


def _same_names(claim: Claim, context: Context, values: Mapping[str, Expression]) -> bool:
    """Whether the names of a cited claim mean the same here."""
    return all(value == Name(name) for name, value in values.items()) and all(
        context.definitions.get(name) == definition for name, definition in claim.definitions.items()
    )


def _shape(relation: Relation, text: str) -> str:
    if relation.is_equation:
        return f"{text} = 0"
    return f"0 {'<' if relation.strict else '<='} {text}"


def _call(function: str) -> str:
    return {"log": "ln"}.get(function, function)


def _uses(node: Any, rule: str) -> bool:
    if isinstance(node, Mapping):
        return node.get("rule") == rule or any(_uses(value, rule) for value in node.values())
    return isinstance(node, list) and any(_uses(value, rule) for value in node)


def _multiple(context: Context, fact: Relation, numerator: Polynomial) -> bool:
    """Whether the numerator of a fact is a positive multiple of another."""
    own = context.numerator(fact)
    if own.is_zero() or set(own.terms) != set(numerator.terms):
        return False
    first = min(own.terms)
    factor: fmpq = numerator.terms[first] / own.terms[first]
    return factor > 0 and own.scaled(factor) == numerator


def _at(expression: Expression, name: str, value: fmpq) -> Expression:
    from certify.claims.calculus import substituted

    return substituted(expression, {name: Number(str(value))})
