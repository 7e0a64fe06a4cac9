"""Polynomials, normal forms, derivatives and linear programmes against independent evaluation."""

import pytest
from flint import ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import Expression, ExpressionError, Number, Operation, parse_expression
from certify.arithmetic.scalar import ball, multiply, subtract
from certify.claims.calculus import NotSmooth, derivative, expanded, substituted
from certify.claims.normal_form import expression_of, normal_form
from certify.claims.polynomial import Polynomial
from certify.claims.prover.linear_programme import solve

LEAVES = st.sampled_from(["x", "y", "2", "-3", "1/7", "0", "1"])
RATIONAL = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "-2", "0"])).map(lambda t: f"({t[0]})^({t[1]})"),
    ),
    max_leaves=8,
)
VALUES = st.fractions(min_value=-3, max_value=3, max_denominator=9)


@given(RATIONAL, VALUES, VALUES)
@example("1/(1 + 1/x)", 2, 1)
@example("x/x", 3, 1)
@example("(x - y)/(x^2 - y^2)", 2, 1)
def test_normal_form_has_the_value_of_the_expression(text: str, x: object, y: object) -> None:
    expression = parse_expression(text)
    environment = {"x": fmpq(*x.as_integer_ratio()), "y": fmpq(*y.as_integer_ratio())}  # type: ignore[attr-defined]
    try:
        value = expression.value(environment)
        form = normal_form(expression)
    except ExpressionError:  # a division by 0
        return
    assert expression_of(form).value(environment) == value


@given(st.dictionaries(st.sampled_from([(), (("a", 1),), (("a", 1), ("b", 2))]), st.integers(-9, 9).map(fmpq)))
def test_split_content_multiplies_back(terms: dict[tuple[tuple[str, int], ...], fmpq]) -> None:
    polynomial = Polynomial(terms)
    if polynomial.is_zero():
        with pytest.raises(ValueError, match="content"):
            polynomial.split_content()
        return
    scale, monomial, rest = polynomial.split_content()
    assert scale > 0
    assert Polynomial({monomial: scale}) * rest == polynomial
    assert polynomial.scaled(fmpq(7, 3)).split_content()[1:] == (monomial, rest)


SMOOTH = ["exp(x)*x", "log(x)/x", "sqrt(x + 1)", "x^(1/3)", "x^x", "1/(1 + exp(-x))", "(x + 1)^-2", "exp(2*log(x))"]


@pytest.mark.parametrize("text", SMOOTH)
@pytest.mark.parametrize("ends", [("1/2", "3/4"), ("1", "1001/1000"), ("2", "5/2")])
def test_the_mean_value_theorem_holds_for_derivatives(text: str, ends: tuple[str, str]) -> None:
    f = parse_expression(text)
    a, b = (parse_expression(end) for end in ends)
    with ctx.workprec(128):
        low, high = (fmpq(*map(int, f"{end}/1".split("/")[:2])) for end in ends)
        difference = subtract(_at(f, b), _at(f, a))
        slope = derivative(f, "x").value({"x": Enclosure(low, high).ball()})
        assert ball(difference).overlaps(ball(multiply(slope, high - low)))
        tight = derivative(f, "x").value({"x": low})
        secant = ball(subtract(_at(f, parse_expression(f"{low} + 1/10^18")), _at(f, Number(str(low))))) * 10**18
        assert abs(secant - ball(tight)) < ball(fmpq(1, 10**12))


def _at(expression: Expression, value: Expression) -> object:
    return substituted(expression, {"x": value}).value({})


@pytest.mark.parametrize("text", ["abs(x)", "ceil(x)", "min(x, 1)", "exp(floor(x))"])
def test_what_has_no_derivative_is_refused(text: str) -> None:
    with pytest.raises(NotSmooth):
        derivative(parse_expression(text), "x")
    elsewhere = substituted(parse_expression(text), {"x": parse_expression("y")})
    assert derivative(Operation("+", parse_expression("x"), elsewhere), "x").value({}) == 1


def test_definitions_expand_in_their_order() -> None:
    definitions = {"a": parse_expression("x + 1"), "b": parse_expression("a*a")}
    assert expanded(parse_expression("b - a"), definitions).text() == "(x + 1)*(x + 1) - (x + 1)"


@given(
    st.lists(st.dictionaries(st.integers(0, 3), st.integers(-3, 3), max_size=3), min_size=1, max_size=6),
    st.lists(st.integers(0, 4), min_size=6, max_size=6),
)
def test_a_feasible_programme_is_solved_exactly(columns: list[dict[int, int]], weights: list[int]) -> None:
    keys = {k: ((f"a{k}", 1),) for k in range(4)}
    vectors = [{keys[k]: fmpq(v) for k, v in column.items() if v} for column in columns]
    target: dict[tuple[tuple[str, int], ...], fmpq] = {}
    for vector, weight in zip(vectors, weights, strict=False):
        for key, value in vector.items():
            target[key] = target.get(key, fmpq(0)) + weight * value
    target = {key: value for key, value in target.items() if value != 0}
    found = solve(vectors, target)
    assert found is not None
    assert all(c >= 0 for c in found)
    for key in keys.values():
        total = sum((c * v.get(key, fmpq(0)) for c, v in zip(found, vectors, strict=True)), fmpq(0))
        assert total == target.get(key, fmpq(0))


def test_an_infeasible_programme_has_no_solution() -> None:
    x = (("x", 1),)
    assert solve([{x: fmpq(1)}], {x: fmpq(-1)}) is None
    assert solve([{x: fmpq(1)}], {x: fmpq(-1)}, free=[0]) == [fmpq(-1)]
    assert solve([{x: fmpq(1), (): fmpq(1)}, {x: fmpq(-1)}], {(): fmpq(2)}) == [fmpq(2), fmpq(2)]
