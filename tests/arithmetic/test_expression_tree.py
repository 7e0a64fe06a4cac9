"""certify.arithmetic.expression: properties of random trees, and their text."""

import dataclasses
import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import (
    Call,
    Expression,
    ExpressionError,
    Name,
    Negation,
    Number,
    Operation,
    Undetermined,
    parse_expression,
)
from certify.arithmetic.expression_parser import parse_tree
from certify.arithmetic.scalar import Scalar

EXACT: dict[str, Scalar] = {"n": fmpq(5), "epsilon": fmpq(1, 2), "T": fmpq(3), "_x1": fmpq(-2, 3)}

literals = st.sampled_from(["0", "1", "2", "3", "10", "0.5", "1.25", "1e-2", "2e1"]).map(Number)
leaves = literals | st.sampled_from(sorted(EXACT)).map(Name)


def branches(rational_only: bool):  # type: ignore[no-untyped-def]
    functions = ["abs", "ceil", "floor"] if rational_only else ["abs", "sqrt", "log", "exp"]

    def extend(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return (
            st.builds(Negation, inner)
            | st.builds(Operation, st.sampled_from("+-*/"), inner, inner)
            | st.builds(Operation, st.just("^"), inner, st.sampled_from(["0", "1", "2", "3"]).map(Number))
            | st.builds(lambda name, x: Call(name, (x,)), st.sampled_from(functions), inner)
            | st.builds(
                lambda name, xs: Call(name, tuple(xs)),
                st.sampled_from(["min", "max"]),
                st.lists(inner, min_size=1, max_size=3),
            )
        )

    return extend


rational_trees = st.recursive(leaves, branches(True), max_leaves=12)
real_trees = st.recursive(leaves, branches(False), max_leaves=10)


def reference(node: Expression) -> Fraction:
    """A second evaluation, in Python's own rationals."""
    operands = [reference(child) for child in node.children]
    match node:
        case Number():
            return Fraction(node.literal)
        case Name():
            value = EXACT[node.identifier]
            assert isinstance(value, fmpq)
            return Fraction(int(value.p), int(value.q))
        case Negation():
            return -operands[0]
        case Operation():
            x, y = operands
            match node.symbol:
                case "+":
                    return x + y
                case "-":
                    return x - y
                case "*":
                    return x * y
                case "/":
                    return x / y
                case "^":
                    return x ** int(y)
        case Call():
            functions = {"abs": abs, "ceil": math.ceil, "floor": math.floor}
            if node.function in functions:
                return Fraction(functions[node.function](operands[0]))
            return min(operands) if node.function == "min" else max(operands)
    raise AssertionError(node)


@given(rational_trees)
@example(parse_tree("-2^2 - -3/(1 - 4)"))
def test_rational_trees_agree_with_python(tree: Expression) -> None:
    try:
        expected = reference(tree)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="division by zero"):
            tree.value(EXACT)
        return
    value = tree.value(EXACT)
    assert isinstance(value, fmpq)
    assert (value.p, value.q) == (expected.numerator, expected.denominator)


@given(real_trees)
@example(parse_tree("log(exp(1))^3 - sqrt(2)*sqrt(2)"))
@example(parse_tree("exp(-2e1*2e1) - 1"))
def test_two_precisions_agree(tree: Expression) -> None:
    try:
        coarse, fine = tree.value(EXACT), None
        with ctx.workprec(500):
            fine = tree.value(EXACT)
    except (ExpressionError, Undetermined):
        assume(False)
        return
    assert Enclosure.of(coarse).overlaps(Enclosure.of(fine))
    if isinstance(coarse, fmpq) and isinstance(fine, fmpq):
        assert coarse == fine


@given(rational_trees, st.integers(0, 60))
@example(parse_tree("abs(n - 5)^3 - max(n, epsilon)"), 0)
def test_balls_for_the_names_enclose_the_value(tree: Expression, bits: int) -> None:
    balls = {name: arb(value, arb(fmpq(1, 2**bits))) for name, value in EXACT.items()}
    try:
        exact, enclosed = tree.value(EXACT), Enclosure.of(tree.value(balls))
    except (ExpressionError, Undetermined):
        assume(False)
        return
    assert isinstance(exact, fmpq)
    assert enclosed.contains(exact)


@given(rational_trees | real_trees)
@example(parse_tree("2^(-(3^2))"))
@example(parse_tree("-(-(1 - (2 - 3)))/(4/(5*6))^2^n"))
@example(parse_tree("(-2)^2"))
def test_text_is_read_back_to_the_same_tree(tree: Expression) -> None:
    assert parse_tree(tree.text()) == tree
    again = parse_expression(tree.text())
    assert again.names() == tree.names()
    assert again == tree or again == Number(tree.text())  # "-2" alone is read as one number


@pytest.mark.parametrize("inner", [*"+-*/^", "-x", "call"])
@pytest.mark.parametrize("outer", [*"+-*/^", "-x", "call"])
def test_brackets_are_kept_where_the_tree_needs_them(inner: str, outer: str) -> None:
    x, y = Name("n"), Number("2")

    def build(kind: str, left: Expression, right: Expression) -> Expression:
        if kind == "-x":
            return Negation(left)
        return Call("max", (left, right)) if kind == "call" else Operation(kind, left, right)

    for tree in (build(outer, build(inner, x, y), y), build(outer, y, build(inner, x, y))):
        assert parse_tree(tree.text()) == tree
        assert tree.text().count("(") <= 1 + tree.text().count("max")


@pytest.mark.parametrize("literal", ["-1", "1/3", "-1/3"])
def test_a_literal_with_an_operator_keeps_its_value_inside_a_larger_text(literal: str) -> None:
    number = Number(literal)
    for tree in (
        Operation("^", number, Number("2")),
        Operation("/", Number("2"), number),
        Operation("-", Number("2"), number),
        Negation(number),
        Operation("*", number, number),
    ):
        assert parse_expression(tree.text()).value({}) == tree.value({})


def test_names_and_immutability() -> None:
    tree = parse_expression("min(n, k^2) + log(epsilon)*n - 3")
    assert tree.names() == {"n", "k", "epsilon"}
    assert parse_expression("2").names() == frozenset()
    assert tree == parse_expression("min(n,k^2)+log(epsilon)*n-3")
    assert hash(tree) == hash(parse_expression(tree.text()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.left = Number("1")  # type: ignore[attr-defined]


def test_nodes_are_checked_when_they_are_built() -> None:
    with pytest.raises(ValueError, match="not a number"):
        Number("one")
    with pytest.raises(ExpressionError, match="unknown function 'sin'"):
        Call("sin", (Number("1"),))
    with pytest.raises(ExpressionError, match="max needs an argument"):
        Call("max", ())
    with pytest.raises(ExpressionError, match="floor takes one argument, not 0"):
        Call("floor", ())
    with pytest.raises(ExpressionError, match="unknown operation '%'"):
        Operation("%", Number("1"), Number("2"))
