"""The rule "ranges" of the checker, that facts give names a range; and that a citation says what is cited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given, settings, target
from hypothesis import strategies as st
from one_claim import claim

from certify.arithmetic.expression import parse_expression
from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import proof_certificate
from certify.claims.checker import check
from certify.claims.claim import Claim, Variable
from certify.claims.context import Context, holds_on_ranges
from certify.claims.rejection import Rejected
from certify.claims.relation import parse_relation

Node = dict[str, Any]

RANGES: Node = {"rule": "ranges", "bits": 64}
FREE = 'variables = { x = "real (-inf, inf)", y = "real (-inf, inf)" }\n'
POINT = {"x": "1", "y": "1"}


def certified(text: str, node: Node, defined: list[Node] | None = None, point: Node = POINT) -> tuple[Claim, Node]:
    """A claim with one conclusion, and a certificate with the node as its proof."""
    it = claim(text)
    return it, proof_certificate(it, {"example": point, "defined": defined or [], "conclusions": [node]})


def accepts(text: str, node: Node = RANGES, defined: list[Node] | None = None, point: Node = POINT) -> bool:
    """Whether the checker accepts the node as a proof of the claim."""
    try:
        return check(*certified(text, node, defined, point)) is Verdict.PROVED
    except Rejected:
        return False


def where(*facts: str, goal: str, define: str = "") -> str:
    quoted = ", ".join(f'"{fact}"' for fact in facts)
    return f'{FREE}{f"define = {{ {define} }}" if define else ""}\nwhere = [{quoted}]\nclaim = "{goal}"'


SHOWN = {
    "closed facts": where("x >= 0", "x <= 2", goal="x^2 <= 41/10"),
    "open facts": where("x > 0", "x < 2", goal="x^2 < 41/10"),
    "facts with closed expressions": where("x >= log(2)", "x <= sqrt(2)", goal="exp(x) <= 5"),
    "an expression that closes at one number": where("x >= 1/3 + 2/3", "x <= sqrt(1)", goal="x*x <= 1"),
    "the intersection of several facts": where("x >= 0", "x >= 1/2", "x <= 9", "x <= 2", goal="(x - 5/4)^2 <= 3/5"),
    "facts beside others that give no range": where(
        "x >= 0", "x <= y", "y >= x", "2*x <= 9", "x <= 2", goal="x <= 21/10"
    ),
    "two names": where("x >= 0", "x <= 1", "y >= 1", "y <= 3", goal="x - y <= 1/100"),
    "facts about a defined name": where("z >= 1", "z <= 2", goal="z*z <= 41/10", define='z = "x + y"'),
    "a definition without facts": where("x >= 0", "x <= 1", goal="z <= 21/10", define='z = "x + 1"'),
    "a definition by way of another": where("x >= 0", "x <= 1", goal="w <= 41/10", define='z = "x + 1", w = "z^2"'),
    "a definition by way of one with facts": where(
        "z >= 0", "z <= 2", goal="w <= 41/10", define='z = "x + y", w = "z^2"'
    ),
    "a definition with a fact on one side": where(
        "x >= 0", "x <= 1", "z >= 0", goal="z <= 21/10", define='z = "x + 1"'
    ),
    "a closed goal": where("x >= 0", goal="exp(1) > 2"),
    "0 times what is bounded": where("x >= 0", "x <= 1", goal="0*x <= 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", SHOWN)
def test_what_the_known_ranges_show_is_accepted(case: str) -> None:
    assert accepts(SHOWN[case])


NOT_SHOWN = {
    "a goal that fails inside": where("x >= 0", "x <= 2", goal="x^2 <= 3"),
    "a goal that fails at an end": where("x >= 0", "x <= 2", goal="x < 2"),
    "a strict goal at an end that an open fact leaves out": where("x >= 0", "x < 2", goal="x < 2"),
    "one fact alone": where("x <= 2", goal="x <= 2"),
    "no fact": where("x >= y", goal="x - y >= 0"),
    "a fact with a name on the right": where("x >= 0", "x <= y", "y <= 2", goal="x <= 2"),
    "a fact written the other way round": where("0 <= x", "2 >= x", goal="x <= 2"),
    "a fact about a multiple": where("2*x >= 0", "2*x <= 4", goal="x <= 2"),
    "a fact about a part": where("x/2 >= 0", "x/2 <= 1", goal="x <= 3/2"),
    "an equation": where("x >= 1", "x <= 1", goal="x <= 0"),
    "facts that contradict each other": where("x >= 2", "x <= 1", goal="x <= 0"),
    "a pole inside": where("x >= -1", "x <= 2", goal="1/x <= 1000"),
    "a pole that cancels": where("x >= -1", "x <= 2", goal="x/x <= 2"),
    "a pole at an end": where("x >= 0", "x <= 2", goal="1/x >= 0"),
    "a logarithm out of its domain": where("x >= -1", "x <= 2", goal="log(x) <= 1"),
    "a logarithm at the end of its domain": where("x > 0", "x <= 2", goal="log(x) <= 1"),
    "a root out of its domain": where("x >= -1", "x <= 2", goal="sqrt(x) <= 2"),
    "a root that is multiplied by 0": where("x >= -1", "x <= 2", goal="0*sqrt(x) <= 0"),
    "a power of a base that may be negative": where("x >= -1", "x <= 2", goal="x^(1/2) <= 2"),
    "a definition out of its domain": where("x >= -1", "x <= 2", goal="z <= 1", define='z = "log(x)"'),
    "a definition of what is not bounded": where("x >= 0", goal="z >= -1", define='z = "x + y"'),
    "a range that follows from the definition only": where("z >= 0", "z <= 1", goal="x <= 1", define='z = "x"'),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_SHOWN)
def test_what_the_known_ranges_do_not_show_is_rejected(case: str) -> None:
    with pytest.raises(Rejected):
        check(*certified(NOT_SHOWN[case], RANGES))


@pytest.mark.parametrize("case", NOT_SHOWN)
def test_and_so_for_each_of_these_at_any_precision(case: str) -> None:
    it = claim(NOT_SHOWN[case])
    for bits in (2, 53, 512, 4096):
        assert not holds_on_ranges(Context.of(it), it.conclusions[0], bits)


@pytest.mark.parametrize(
    ("range_text", "goal", "shown"),
    [
        ("real [0, 2]", "x^2 < 41/10", True),
        ("real (0, 2)", "x^2 < 4", False),
        ("integer [0, 2]", "x^2 < 41/10", True),
        ("integer [0, 2]", "x*(x - 1) >= 0", False),  # true, but not of the reals between
        ("real [0, inf)", "x >= 0", False),
        ("real (-inf, inf)", "x*0 <= 0", False),
        ("integer [5, 5]", "x^2 <= 25", True),
    ],
)
def test_the_range_of_a_variable_counts_as_its_facts(range_text: str, goal: str, shown: bool) -> None:
    text = f'variables = {{ x = "{range_text}" }}\nclaim = "{goal}"'
    point = {"x": "1" if "5" not in range_text else "5"}
    assert accepts(text, point=point) is shown


def test_a_fact_that_a_branch_adds_holds_in_that_branch_only() -> None:
    text = where("x >= 0", "x <= 9", goal="x*(9 - x) <= 60")
    node = {"rule": "split", "on": "x <= 3", "then": RANGES, "else": RANGES}
    assert accepts(text, node)
    assert not accepts(text)
    assert not accepts(text.replace("<= 60", "<= 50"), node)
    inside = {"rule": "split", "on": "x <= 3", "then": {"rule": "known"}, "else": {"rule": "known"}}
    steps = [{"fact": "x <= 3", "by": inside}]  # what holds in a branch is no fact beyond it
    assert not accepts(text, RANGES, steps)


def test_a_step_may_use_only_facts_shown_before_it() -> None:
    text = where("x >= 0", "x <= 2", goal="z <= 5", define='z = "exp(x) - y^2"')
    low, high = {"fact": "z >= 0", "by": RANGES}, {"fact": "z <= 5", "by": RANGES}
    assert not accepts(text, RANGES, [low, high])
    # a fact cannot be taken from a certificate: it needs a proof of its own
    with pytest.raises(Rejected, match="the known ranges do not show z >= 0"):
        check(*certified(text, RANGES, [low, high]))
    text = where("x >= 1", "x <= 2", "y <= 7", "w <= 3", goal="w - y >= -1", define='w = "x^2"')
    above = {"fact": "y >= 0", "by": {"rule": "combination", "scale": "1", "multiplier": [], "terms": []}}
    assert not accepts(text, RANGES, [above])
    text = where("x >= 1", "x <= 2", goal="log(w) <= 14/10", define='w = "x^2"')
    assert accepts(text, RANGES, [{"fact": "w > 0", "by": RANGES}, {"fact": "x > 0", "by": RANGES}])


def test_a_cut_narrows_what_the_ranges_show_and_covers_both_sides() -> None:
    text = 'variables = { x = "[0, 1]" }\nclaim = "x*(1 - x) <= 13/50"'
    point = {"x": "1/2"}

    def halved(low: fmpq, high: fmpq, levels: int) -> Node:
        if levels == 0:
            return RANGES
        at = (low + high) / 2
        sides = {"below": halved(low, at, levels - 1), "above": halved(at, high, levels - 1)}
        return {"rule": "cut", "variable": "x", "at": str(at), **sides}

    assert not accepts(text, RANGES, point=point)
    assert accepts(text, halved(fmpq(0), fmpq(1), 7), point=point)
    false = text.replace("13/50", "6/25")
    assert not accepts(false, halved(fmpq(0), fmpq(1), 7), point=point)


def test_the_value_at_infinity_of_a_monotone_proof_does_not_keep_the_facts_of_its_variable() -> None:
    """Facts about names that depend on the variable are set aside with those about itself."""
    node = {
        "rule": "monotone", "variable": "x", "end": "lower", "setup": [],
        "at end": RANGES, "derivative": {"rule": "ranges", "bits": 64},
    }  # fmt: skip
    text = (
        'variables = { x = "[0, 3]" }\ndefine = { z = "(x - 1)*(x - 2)", s = "2*x - 3" }\n'
        'where = ["s >= 0", "s <= 3"]\nclaim = "z >= 0"'
    )
    assert not accepts(text, node, point={"x": "2"})


@pytest.mark.parametrize("bits", [None, True, "64", 64.0, 1, 0, -64, 4097, 10**9, [64], {}])
def test_bits_out_of_range_are_rejected(bits: Any) -> None:
    with pytest.raises(Rejected):
        check(*certified(SHOWN["closed facts"], {"rule": "ranges", "bits": bits}))
    with pytest.raises(Rejected):
        check(*certified(SHOWN["closed facts"], {"rule": "ranges"}))


@pytest.mark.parametrize("bits", [2, 53, 4096])
def test_few_bits_make_the_enclosure_wide_and_not_wrong(bits: int) -> None:
    node = {"rule": "ranges", "bits": bits}
    assert accepts(SHOWN["facts with closed expressions"], node) is (bits > 2)
    assert not accepts(where("x >= 0", "x <= log(2)", goal="exp(x) < 2"), node, point={"x": "0", "y": "0"})


def test_a_definition_in_terms_of_itself_shows_nothing() -> None:
    """The reader of claims admits none; a checker that is handed one does not take it for a range."""
    with pytest.raises(Exception, match="unknown name"):
        claim(where("x >= 0", goal="z <= 1", define='z = "z/2"'))
    it = claim(where("x >= 0", goal="z <= 1", define='z = "x/2"'))
    circular = Claim(it.id, it.variables, {"z": parse_expression("z/2")}, it.conditions, it.conclusions)
    proof = {"example": POINT, "defined": [], "conclusions": [RANGES]}
    with pytest.raises(Rejected):
        check(circular, proof_certificate(circular, proof))


# An evaluator of its own for what a point says: it shares no code with expressions.

Real = arb | None
"""A ball at 200 bits, or None where the expression has no value, or it is not certain that it has one."""


@dataclass(frozen=True)
class Term:
    """An expression as text, and its value at a point."""

    text: str
    value: Callable[[Mapping[str, arb]], Real]


def _ceiling(x: arb) -> Real:
    ball = x.ceil()
    return ball if ball.is_exact() else None


_FUNCTIONS: dict[str, Callable[[arb], Real]] = {
    "exp": lambda x: x.exp() if abs(x) < 10**6 else None,
    "log": lambda x: x.log() if x > 0 else None,
    "sqrt": lambda x: x.sqrt() if x >= 0 else None,
    "abs": lambda x: abs(x),
    "ceil": _ceiling,
    "floor": lambda x: None if (up := _ceiling(-x)) is None else -up,
}
_OPERATIONS: dict[str, Callable[[arb, arb], Real]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y if y > 0 or y < 0 else None,
}


def _name(name: str) -> Term:
    return Term(name, lambda point: point.get(name))


def _number(value: fmpq) -> Term:
    return Term(f"({value})", lambda point: arb(value))


def _call(function: str, operand: Term) -> Term:
    def value(point: Mapping[str, arb]) -> Real:
        x = operand.value(point)
        return None if x is None else _FUNCTIONS[function](x)

    return Term(f"{function}({operand.text})", value)


def _square(operand: Term) -> Term:
    def value(point: Mapping[str, arb]) -> Real:
        x = operand.value(point)
        return None if x is None else x * x

    return Term(f"({operand.text})^2", value)


def _operation(symbol: str, left: Term, right: Term) -> Term:
    def value(point: Mapping[str, arb]) -> Real:
        x, y = left.value(point), right.value(point)
        return None if x is None or y is None else _OPERATIONS[symbol](x, y)

    return Term(f"({left.text} {symbol} {right.text})", value)


rationals = st.builds(fmpq, st.integers(-12, 12), st.integers(1, 6))


def terms(*names: str) -> st.SearchStrategy[Term]:
    leaves = st.sampled_from(names).map(_name) | rationals.map(_number)
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(_operation, st.sampled_from(sorted(_OPERATIONS)), inner, inner)
            | st.builds(_call, st.sampled_from(sorted(_FUNCTIONS)), inner)
            | st.builds(_square, inner)
        ),
        max_leaves=5,
    )


@dataclass(frozen=True)
class Setting:
    """Definitions, facts that hold at the first of the points, and a goal ``term symbol bound``."""

    definitions: Mapping[str, Term]
    facts: tuple[tuple[str, str, fmpq], ...]
    points: tuple[Mapping[str, fmpq], ...]
    goal: Term
    symbol: str
    bound: fmpq


def _values(definitions: Mapping[str, Term], point: Mapping[str, fmpq]) -> dict[str, arb]:
    """The values of all names at a point, without those that are not certain."""
    values = {name: arb(value) for name, value in point.items()}
    for name, term in definitions.items():
        value = term.value(values)
        if value is not None and value.is_finite():
            values[name] = value
    return values


@st.composite
def settings_of_the_rule(draw: st.DrawFn) -> Setting:
    definitions = {"z": draw(terms("x", "y")), "w": draw(terms("x", "z"))}
    point = {"x": draw(rationals), "y": draw(rationals)}
    facts = []
    with ctx.workprec(200):
        values = _values(definitions, point)
        for name in [*draw(st.lists(st.sampled_from(["x", "x", "y", "z", "w"]), max_size=3)), "x", "y"]:
            if name not in values or not abs(values[name]) < 10**6:
                continue
            below, above = values[name].lower().fmpq(), values[name].upper().fmpq()
            low, high = draw(st.tuples(*[st.sampled_from([fmpq(0), fmpq(1, 100), fmpq(1), fmpq(10)])] * 2))
            if draw(st.integers(0, 9)):
                facts.append((name, ">=" if low == 0 or draw(st.booleans()) else ">", below - low))
            if draw(st.integers(0, 9)):
                facts.append((name, "<=" if high == 0 or draw(st.booleans()) else "<", above + high))
        goal = draw(terms("x", "y", "z", "w"))
        here = goal.value(values)
        assume(here is not None and here.is_finite() and abs(here) < 10**6)
        assert here is not None
        room = draw(st.sampled_from([fmpq(0), fmpq(1, 50), fmpq(1), fmpq(20), fmpq(1000)]))
        symbol = draw(st.sampled_from(["<=", "<", ">=", ">"]))
        bound = here.upper().fmpq() + room if symbol in ("<=", "<") else here.lower().fmpq() - room
    others = draw(st.lists(st.fixed_dictionaries({"x": rationals, "y": rationals}), max_size=4))
    steps = draw(st.lists(st.tuples(*[st.sampled_from([fmpq(0), fmpq(1, 100), fmpq(-1), fmpq(5)])] * 2), max_size=6))
    near = [{"x": point["x"] + dx, "y": point["y"] + dy} for dx, dy in steps]
    return Setting(definitions, tuple(facts), (point, *near, *others), goal, symbol, bound)


def _agrees(value: arb, symbol: str, bound: fmpq) -> bool | None:
    """Whether ``value symbol bound`` holds, None where the ball does not tell."""
    if symbol in (">=", ">"):
        value, bound, symbol = -value, -bound, symbol.replace(">", "<")
    difference = value - arb(bound)
    if symbol == "<":
        return True if difference < 0 else False if difference >= 0 else None
    return True if difference <= 0 else False if difference > 0 else None


def _broken(setting: Setting) -> list[Mapping[str, fmpq]]:
    """The points that certainly satisfy the facts, and at which the goal is certainly false or has no value."""
    broken = []
    for point in setting.points:
        values = _values(setting.definitions, point)
        if all(name in values and _agrees(values[name], symbol, c) is True for name, symbol, c in setting.facts):
            value = setting.goal.value(values)
            if value is not None and _agrees(value, setting.symbol, setting.bound) is False:
                broken.append(point)
    return broken


def _accepted(setting: Setting, bits: int) -> bool:
    variables = {name: Variable(name, False, None, None) for name in ("x", "y")}
    context = Context(variables, {name: parse_expression(term.text) for name, term in setting.definitions.items()})
    for name, symbol, bound in setting.facts:
        context.add(parse_relation(f"{name} {symbol} {bound}"))
    goal = parse_relation(f"{setting.goal.text} {setting.symbol} {setting.bound}")
    return holds_on_ranges(context, goal, bits)


X, Z, ONE = _name("x"), _name("z"), _number(fmpq(1))
UNIT = (("x", ">=", fmpq(-1)), ("x", "<=", fmpq(1)))
QUARTER = (("z", ">=", fmpq(0)), ("z", "<=", fmpq(1, 4)))
AROUND: tuple[Mapping[str, fmpq], ...] = tuple({"x": fmpq(k, 4), "y": fmpq(0)} for k in range(-4, 5))
IDENTITY = {"z": X, "w": X}


@settings(max_examples=50)
@given(settings_of_the_rule(), st.sampled_from([2, 24, 64, 300]))
@example(Setting(IDENTITY, UNIT, AROUND, _square(X), "<=", fmpq(1, 2)), 64)
@example(Setting(IDENTITY, UNIT, AROUND, _operation("/", ONE, X), ">=", fmpq(-1000)), 64)
@example(Setting(IDENTITY, UNIT, AROUND, _call("ceil", X), "<=", fmpq(0)), 64)
@example(Setting({"z": _call("sqrt", X), "w": X}, UNIT, AROUND, Z, ">=", fmpq(0)), 64)
@example(
    Setting({"z": _square(X), "w": X}, (("z", ">=", fmpq(0)), ("z", "<=", fmpq(1, 4))), AROUND, X, "<=", fmpq(0)), 64
)
def test_what_the_rule_accepts_holds_wherever_the_facts_do(setting: Setting, bits: int) -> None:
    accepted = _accepted(setting, bits)
    target(float(accepted))
    with ctx.workprec(200):
        assert not (accepted and _broken(setting))


def test_the_property_test_finds_a_rule_that_is_wrong() -> None:
    """The first example above is one that a rule which looked at the middle of the ranges alone would accept."""
    with ctx.workprec(200):
        wrong = Setting(IDENTITY, UNIT, AROUND, _square(X), "<=", fmpq(1, 2))
        assert len(_broken(wrong)) == 4
        right = Setting(IDENTITY, UNIT, AROUND, _square(X), "<=", fmpq(11, 10))
        assert not _broken(right)
    assert not _accepted(wrong, 64)
    assert _accepted(right, 64)


# Citations: the text of the cited conclusion is compared first.

LEMMA = 'variables = { m = "integer [1, 3]", p = "real (0, inf)" }\nclaim = ["m*m <= 9", "m/p < 4/p"]'
HERE = 'variables = { x = "integer [1, 3]", y = "real [1, 2]" }\n'


def _cited(goal: str, conclusion: int = 0, signs: bool = True, **values: str) -> tuple[Claim, Node]:
    node = {
        "rule": "cite", "claim": "lemma", "conclusion": conclusion, "values": {"m": "x", "p": "y", **values},
        "conditions": [{"rule": "known"}, {"rule": "known"}, RANGES],
    }  # fmt: skip
    known = [{"fact": "y > 0", "by": RANGES}] if signs else []
    steps = [*known, {"fact": goal, "by": node}]
    trivial = {"rule": "combination", "scale": "1", "multiplier": [], "terms": []}
    return certified(f'{HERE}claim = "x <= x"', trivial, steps)


@pytest.mark.parametrize(
    ("goal", "conclusion"),
    [
        ("x*x <= 9", 0), ("9 >= x*x", 0), ("x^2 <= 9", 0), ("x^2 - 9 <= 0", 0),
        ("x/y < 4/y", 1), ("x/y <= 4/y", 1), ("4/y > x/y", 1), ("x < 4", 1),
    ],
)  # fmt: skip
def test_a_citation_says_what_is_cited_in_any_words(goal: str, conclusion: int) -> None:
    assert check(*_cited(goal, conclusion), {"lemma": claim(LEMMA)}) is Verdict.PROVED


def test_in_the_same_words_no_sign_of_a_denominator_is_needed() -> None:
    assert check(*_cited("x/y < 4/y", 1, signs=False), {"lemma": claim(LEMMA)}) is Verdict.PROVED
    for other in ("4/y > x/y", "x/y <= 4/y"):
        with pytest.raises(Rejected, match="the sign of the denominator y is not known"):
            check(*_cited(other, 1, signs=False), {"lemma": claim(LEMMA)})


@pytest.mark.parametrize(
    ("goal", "conclusion"),
    [
        ("x*x < 9", 0), ("9 <= x*x", 0), ("x*x >= 9", 0), ("x*x <= 8", 0), ("y*y <= 9", 0), ("x*x = 9", 0),
        ("9 = x*x", 0), ("x*x <= 9", 1), ("4/y < x/y", 1), ("x/y > 4/y", 1), ("x/y = 4/y", 1), ("x/y < 3/y", 1),
    ],
)  # fmt: skip
def test_a_citation_says_nothing_else(goal: str, conclusion: int) -> None:
    with pytest.raises(Rejected, match="does not say"):
        check(*_cited(goal, conclusion), {"lemma": claim(LEMMA)})


def test_a_citation_is_compared_at_the_values_it_is_cited_at() -> None:
    with pytest.raises(Rejected, match="not an integer"):
        check(*_cited("y*y <= 9", m="y"), {"lemma": claim(LEMMA)})
    with pytest.raises(Rejected):
        check(*_cited("x*x <= 9", m="x + 1"), {"lemma": claim(LEMMA)})
    with pytest.raises(Rejected):
        check(*_cited("x/y < 4/y", 1, p="-y"), {"lemma": claim(LEMMA)})
    with pytest.raises(Rejected, match="not among the claims proved before"):
        check(*_cited("x*x <= 9"), {})


def test_a_value_that_bears_the_name_of_another_variable_is_not_put_in_twice() -> None:
    lemma = claim('variables = { x = "real [0, 1]", y = "real [2, 3]" }\nclaim = "x < y"')
    values = {"x": "y", "y": "x"}
    node = {"rule": "cite", "claim": "lemma", "conclusion": 0, "values": values, "conditions": [{"rule": "known"}] * 4}
    text = 'variables = { x = "real [2, 3]", y = "real [0, 1]" }\nclaim = '
    point = {"x": "2", "y": "1"}
    assert check(*certified(f'{text}"y < x"', node, point=point), {"lemma": lemma}) is Verdict.PROVED
    with pytest.raises(Rejected):
        check(*certified(f'{text}"x < y"', node, point=point), {"lemma": lemma})
    with pytest.raises(Rejected):
        check(*certified(f'{text}"x < x"', node, point=point), {"lemma": lemma})
