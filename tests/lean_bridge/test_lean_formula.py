"""Constants in Lean statements: what is equal, what differs, what is outside the subset."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

from certify.arithmetic.decide import decide_lt
from certify.arithmetic.expression import Expression, ExpressionError, Name, parse_expression
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict
from lean_bridge.formula.compare import compare
from lean_bridge.formula.meaning import Definition, Meaning, Vocabulary, meaning
from lean_bridge.formula.normal_form import NormalForms, TooLargeError, Variable
from lean_bridge.formula.statement import bound_names, conclusion
from lean_bridge.formula.term import OutsideError

DATA: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data/constants-in-statements.json").read_text(encoding="utf-8")
)
TYPES = {"T": "nat", "k": "nat", "n": "nat", "eps": "real"}
VARIABLES = {name: Variable(type_ == "nat", True) for name, type_ in TYPES.items()}
ATOMS = {text: Meaning(Name(name), TYPES[name]) for text, name in DATA["symbols"].items()}
LEDGER = parse_expression("2^20*exp(1)*min(1, sqrt(log(2*T)*log(2*k)/(eps*n)))")


def vocabulary(open_real: bool = False, **definitions: Definition) -> Vocabulary:
    return Vocabulary(ATOMS, definitions.get, open_real)


def verdict(text: str, expected: Expression = LEDGER, words: Vocabulary | None = None) -> str:
    defined = {name: Definition((), "real", body) for name, body in DATA["defs"].items()}
    try:
        found = meaning(text, words or vocabulary(**defined))
    except OutsideError:
        return "outside"
    return compare(found, expected, VARIABLES).verdict


@pytest.mark.parametrize("case", DATA["tests"], ids=range(len(DATA["tests"])))
def test_every_statement_gets_its_verdict(case: dict[str, str]) -> None:
    assert verdict(case["lean"]) == case["expected"]


def test_the_ledger_line_of_the_test_data_is_the_expression_compared_with() -> None:
    symbols = {name: Meaning(Name(name), type_) for name, type_ in TYPES.items()}
    words = Vocabulary({**ATOMS, **symbols}, lambda _: None, open_real=True)
    assert compare(meaning(DATA["ledger"], words), LEDGER, VARIABLES).verdict == "equal"
    assert len(DATA["tests"]) == 17


@pytest.mark.parametrize(
    ("lean", "expected"),
    [
        # Casts: the division is one of reals outside ↑(…) and one of natural numbers inside.
        ("(n / 2 : ℝ)", "n/2"),
        ("Real.log (n / 2)", "log(n/2)"),
        ("ε * (n : ℝ) - 1", "eps*n - 1"),
        ("((n + 1 : ℕ) : ℝ)", "n+1"),
        ("(↑n)⁻¹ * ε", "eps/n"),
        ("ε ^ 2 * ε ^ (-2 : ℤ)", "1"),
        ("√ε ^ 2", "eps"),
        ("-ε ^ 2", "-(eps^2)"),
        ("2 ^ 3 ^ 2 * ε", "512*eps"),
        ("ε - 1 - 1", "eps - 2"),
        ("ε / 2 / 2", "eps/4"),
        ("Real.exp (Real.log ε + 1)", "exp(1)*eps"),
        ("Real.log (Real.exp 1 ^ 2)", "2"),
        ("Real.log 4", "2*log(2)"),
        ("√8", "2*sqrt(2)"),
        ("ε ⊓ 1 + 1", "min(eps, 1) + 1"),
        ("ε ⊔ 1 ⊓ 2", "max(eps, min(1, 2))"),
        ("|ε|", "eps"),
        ("⌈(n : ℝ)⌉", "n"),
        ("min ε 1", "min(1, eps)"),
        ("max 0 ε", "eps"),
        ("(ε + 1) ^ 2", "eps^2 + 2*eps + 1"),
        ("√(ε ^ 2 + 2 * ε + 1)", "sqrt((eps+1)^2)"),
        ("ε * (2 * ε + 2)⁻¹", "eps/(2*eps+2)"),
        ("1.5 * ε", "3/2*eps"),
    ],
)
def test_equal(lean: str, expected: str) -> None:
    assert verdict(lean, parse_expression(expected)) == "equal"


@pytest.mark.parametrize(
    ("lean", "other"),
    [
        ("ε ^ 2 ^ 3", "eps^6"),
        ("-ε ^ 2", "(-eps)^2"),
        ("√ε * 2", "sqrt(2*eps)"),
        ("Real.log 2 * T", "log(2*T)"),
        ("ε / 2 * 3", "eps/6"),
        ("2 ^ 19 * Real.exp 1", "2^20*exp(1)"),
        ("Real.exp (ε * 2)", "exp(eps)*2"),
        ("⌈ε⌉", "eps"),
        ("ε ⊓ 1 + 1", "min(eps, 2)"),
    ],
)
def test_different(lean: str, other: str) -> None:
    assert verdict(lean, parse_expression(other)) == "different"


@pytest.mark.parametrize(
    "lean",
    [
        "↑(n / 2) * ε",
        "↑(n - 1) * ε",
        "((n - 1 : ℕ) : ℝ) * ε",
        "min 1 (n / 2) * ε",
        "⌈n / 2⌉₊ * ε",
        "ε ^ (n / 2)",
        "ε ^ (1 / 2)",
        "ε ^ (-1)",
        "(n : ℝ≥0) * ε",
        "(ε : ℕ)",
        "exp 1",
        "log ε",
        "sqrt ε",
        "Real.exp",
        "Real.exp 1 2",
        "NNReal.sqrt ε",
        "∑ i, ε",
        "if ε then 1 else 2",
        "f ε",
        "ε.toNat",
        "(ε",
        "",
        "2ε",
        "n / 2",
        "n - 1",
        "n⁻¹",
        "-n",
        "2 / 3",
        "(" * 200 + "ε" + ")" * 200,
        "√" * 400 + "ε",
        "ε * " * 2000 + "ε",
    ],
)
def test_outside(lean: str) -> None:
    assert verdict(lean) == "outside"


def test_unqualified_functions_count_under_open_real() -> None:
    assert verdict("exp 1 * log ε", parse_expression("exp(1)*log(eps)"), vocabulary(open_real=True)) == "equal"


def test_definitions_are_unfolded_with_their_parameters() -> None:
    rate = Definition((("T", "nat"), ("e", "real")), "real", "√(Real.log (2 * T) / e)")
    words = vocabulary(rate=rate)
    assert verdict("rate (Fintype.card D) ε", parse_expression("sqrt(log(2*T)/eps)"), words) == "equal"
    assert verdict("rate ε ε", LEDGER, words) == "outside"
    assert verdict("rate ε", LEDGER, words) == "outside"
    assert verdict("C", LEDGER, vocabulary(C=Definition((), "real", "C + 1"))) == "outside"
    assert verdict("C", LEDGER, vocabulary(C=Definition((), "nat", "ε"))) == "outside"


@pytest.mark.parametrize(
    ("statement", "relations"),
    [
        ("x ≤ C", [("x", "≤", "C")]),
        ("0 < n → x ≤ C", [("x", "≤", "C")]),
        ("∀ x, 0 < x → f x ≤ C", [("f x", "≤", "C")]),
        ("∃ M, P M ∧ ∀ x, e x ≤ C", [("e x", "≤", "C")]),
        ("a ≤ b ∧ ∀ x, c → d ≤ e", [("a", "≤", "b"), ("d", "≤", "e")]),
        ("(a ≤ b) ∧ (c = d)", [("a", "≤", "b"), ("c", "=", "d")]),
        ("∀ (x : N) (h : 0 < x), a ≥ b", [("a", "≥", "b")]),
        ("a ≤ b ∨ c", []),
        ("a ≤ b ↔ c", []),
        ("P (a ≤ b)", []),
        ("let x := 1; a ≤ x", []),
        ("a ≤ b ≤ c", []),
        ("a ≠ b", []),
        ("f (fun x => x) = b", [("f (fun x => x)", "=", "b")]),
        ("∑ x ∈ s, f x ≤ C", [("∑ x ∈ s, f x", "≤", "C")]),
    ],
)
def test_only_the_conclusion_is_searched(statement: str, relations: list[tuple[str, str, str]]) -> None:
    assert [(r.left, r.sign, r.right) for r in conclusion(statement)] == relations


def test_a_statement_too_nested_is_outside() -> None:
    with pytest.raises(OutsideError):
        conclusion("∀ x, " * 300 + "a ≤ b")


def test_bound_names() -> None:
    assert bound_names("f (C : ℝ) {x y : N} [inst : P] : ∀ z, ∃ c > 0, ∑ i ∈ s, i ≤ C") >= {
        "C",
        "x",
        "y",
        "z",
        "c",
        "i",
    }


LEAVES = st.sampled_from(["T", "eps", "n", "1", "2", "3", "1/2", "8", "10"])


def grown(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda p: f"({p[0]}+{p[1]})"),
        pair.map(lambda p: f"({p[0]}-{p[1]})"),
        pair.map(lambda p: f"({p[0]}*{p[1]})"),
        pair.map(lambda p: f"({p[0]}/{p[1]})"),
        pair.map(lambda p: f"min({p[0]}, {p[1]})"),
        pair.map(lambda p: f"max({p[0]}, {p[1]})"),
        children.map(lambda c: f"sqrt({c})"),
        children.map(lambda c: f"log({c})"),
        children.map(lambda c: f"exp({c})"),
        children.map(lambda c: f"abs({c})"),
        children.map(lambda c: f"ceil({c})"),
        st.tuples(children, st.sampled_from(["2", "3", "-1", "1/2", "-1/2", "3/2"])).map(
            lambda p: f"({p[0]})^({p[1]})"
        ),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=6)
POINT: dict[str, Scalar] = {"T": fmpq(3), "eps": fmpq(2, 7), "n": fmpq(5)}


# Rewritings that hold only where the sign of x allows it: the form may use them there and nowhere else.
TEMPTING = [
    ("sqrt(({x})^2)", "{x}"),
    ("log(({x})^2)", "2*log({x})"),
    ("({x})/({x})", "1"),
    ("exp(log({x}))", "{x}"),
    ("abs({x})", "{x}"),
    ("max(0, {x})", "{x}"),
    ("ceil({x})", "{x}"),
    ("sqrt({x})*sqrt({y})", "sqrt(({x})*({y}))"),
    ("log({x})+log({y})", "log(({x})*({y}))"),
    ("({x})^2", "({x})*({x})"),
    ("(({x})^2)^(1/2)", "{x}"),
    ("min({x}, {y})", "min({y}, {x})"),
    ("exp({x})*exp({y})", "exp(({x})+({y}))"),
    ("{x}", "{y}"),
]


@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from(TEMPTING))
@example("1-eps", "1", TEMPTING[0])
@example("eps-1", "1", TEMPTING[1])
@example("eps-1", "1", TEMPTING[2])
@example("eps-3", "eps-2", TEMPTING[7])
@example("eps-3", "eps-2", TEMPTING[8])
@example("log(eps)", "1", TEMPTING[5])
@example("eps-3", "1", TEMPTING[10])
def test_equal_forms_mean_equal_values(x: str, y: str, rule: tuple[str, str]) -> None:
    """The normal form never joins two expressions that certified arithmetic separates at a point."""
    left, right = (parse_expression(f"({side.format(x=f'({x})', y=f'({y})')})") for side in rule)
    forms = NormalForms(VARIABLES)
    try:
        joined = forms.key(left) == forms.key(right)
    except TooLargeError:
        joined = False
    assert not (joined and separated(left, right))


@given(EXPRESSIONS, st.sampled_from(["{}+0", "1*{}", "{}/1", "({})^1", "2*{}/2", "{}+1-1"]))
def test_a_form_survives_rewriting(text: str, rewriting: str) -> None:
    forms = NormalForms(VARIABLES)
    expression, rewritten = parse_expression(text), parse_expression(rewriting.format(f"({text})"))
    try:
        assert forms.key(expression) == forms.key(rewritten)
    except TooLargeError:
        assume(False)


def separated(a: Expression, b: Expression) -> bool:
    for low, high in ((a, b), (b, a)):
        try:
            decision = decide_lt(at(low), at(high), precision=64, max_precision=256)
        except ExpressionError:
            return False
        if decision.verdict is Verdict.PROVED:
            return True
    return False


def at(expression: Expression) -> Callable[[], Scalar]:
    return lambda: expression.value(POINT)


@pytest.mark.parametrize("text", ["2^100000*T", "(T+eps+n+1)^60", "(1+T)^64*(1+eps)^64"])
def test_large_forms_are_given_up(text: str) -> None:
    with pytest.raises(TooLargeError):
        NormalForms(VARIABLES).key(parse_expression(text))


def test_a_variable_without_declaration_is_undecided() -> None:
    assert compare(parse_expression("x"), parse_expression("x"), {}).verdict == "undecided"


def test_without_positivity_the_rules_for_logarithms_are_not_used() -> None:
    unknown = {"x": Variable(), "y": Variable()}
    left, right = parse_expression("log(x*y)"), parse_expression("log(x)+log(y)")
    assert compare(left, right, unknown).verdict != "equal"
    positive = {"x": Variable(positive=True), "y": Variable(positive=True)}
    assert compare(left, right, positive).verdict == "equal"


def test_definitions_that_grow_without_end_are_outside() -> None:
    doubling = {f"d{i}": Definition((), "real", f"d{i + 1} * d{i + 1}") for i in range(30)}
    assert verdict("d0", LEDGER, vocabulary(**doubling, d30=Definition((), "real", "2"))) == "outside"
    deep = {f"d{i}": Definition((), "real", "(" * 90 + f"d{i + 1}" + ")" * 90) for i in range(15)}
    assert verdict("d0", LEDGER, vocabulary(**deep, d15=Definition((), "real", "2"))) == "outside"
    assert verdict("d0", LEDGER, vocabulary(d0=Definition((), "real", "d0"))) == "outside"


def test_nested_functions_are_read_once_each() -> None:
    assert verdict("√" * 60 + "ε", parse_expression("sqrt(" * 60 + "eps" + ")" * 60)) == "equal"
    assert verdict("Real.log (" * 20 + "ε" + ")" * 20, parse_expression("log(" * 20 + "eps" + ")" * 20)) == "equal"
