"""The lemmas of the smaller constants: proved for all parameters, each with a twin refuted at an exact point."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from flint import fmpq

import constants.search
from certify.arithmetic.exact import parse_rational
from certify.arithmetic.expression import Name, Operation, parse_expression
from certify.arithmetic.verdict import Verdict
from certify.claims.calculus import expanded, substituted
from certify.claims.certificate import point_certificate
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.claim_file import parse_claims
from certify.claims.files import check_file, paper_claims, read_claims
from certify.claims.normal_form import normal_form
from certify.claims.rejection import Rejected
from certify.claims.relation import parse_relation
from certify.claims.result import ClaimResult, decide_claim
from certify.release.statements import ALL_STATEMENT_IDS
from constants.ledger import default_ledger
from constants.search.certificate import shipped_tuning
from constants.search.formulas import SOFTMAX_NORM, block_sums
from constants.search.rung import BETTER_OF_BOTH, RUNGS, SHARP, TWO_SIDED, Growth, Rung

WRITE_UP = Path(constants.search.__file__).parents[1] / "BETTER_CONSTANT.md"
LEMMAS = Path(constants.search.__file__).parent / "lemmas.toml"

BLOCK_WEIGHT = "exp(-epsilon/2*(j*B + 1))*exp(h*epsilon*(j + 1)*B)"
BALL = {"J": "1", "n": "1", "R": "1", "eta": "1"}
SCALE = ("g", "near", "from", "epsilon", "n", "R", "J", "l")
WIDE = {"epsilon": "1", "b": "1001/1000", "j": "0"}  # a block about as wide as it can be, b + epsilon
FAR = {"epsilon": "1/100", "b": "1", "h": "1/4", "X": "4999/1000", "j": "4"}

# claim: the number of the conclusion (None: the bound of a sum), what replaces it, and a point at which that fails
TWINS: dict[str, tuple[int | None, str, dict[str, str]]] = {
    "bc-0.step": (0, "J >= rate*C^2*(l + log(2)) + 1", {"l": "1", "Q": "1", "C": "2", "rate": "1", "W": "7"}),
    "bc-0.regret": (0, "l/(gamma*J) + gamma/2 <= 99/100*gamma", {"l": "1", "J": "2"}),
    "bc-2.two-sided": (0, "J*2*m*t^2*2^2/8 <= A/(201/100*m)", {**BALL, "m": "1"}),
    "bc-2.paired": (0, "J*m*t^2*4^2/8 <= A/(101/100*m)", {**BALL, "m": "1"}),
    "bc-2.labels": (1, "log(T^2 + 1) <= 2*log(T)", {"T": "1"}),
    "bc-3": (1, "J*second*((r - 1)/2 + (r - 1)^2/2) <= 99/100*A*r*(r - 1)", {**BALL, "r": "2"}),
    "bc-4.scale": (0, "near*a*l <= 99/100*g*epsilon*R", dict.fromkeys(SCALE, "1")),
    "bc-4.near.better": (1, "a^2 + l^2/r + a^2*r <= 249/100*a*l", {"a": "1", "l": "2"}),
    "bc-4.far.better": (1, "a^2/m + m*l^2 <= 249/100*a*l", {"a": "500001/1000000", "l": "1"}),
    "bc-4.near.sharp": (1, "a^2 + l^2/r + a^2*(r - 1) <= 212/100*a*l", {"a": "70710678/100000000", "l": "1"}),
    "bc-4.far.sharp": (1, "a^2/m + m*l^2 <= 212/100*a*l", {"a": "70710679/100000000", "l": "1"}),
    "bc-4.near.two-sided": (1, "a^2/2 + l^2/r + a^2*(r - 1) <= 199/100*a*l", {"a": "1", "l": "1"}),
    "bc-4.far.two-sided": (1, "a^2/(2*m) + m*l^2 <= 149/100*a*l", {"a": "1000001/1000000", "l": "1"}),
    "bc-5.exact": (0, "(l + 1)/l <= 244/100", {"K": "2"}),
    "bc-5.softmax.mean-dual": (0, "(x - lam)*exp(-x) <= 99/100*exp(-1 - lam)", {"x": "1", "lam": "0"}),
    "bc-5.softmax.mean": (0, "(K - 1)*exp(-1 - l) <= 1/4*l", {"K": "2"}),
    "bc-5.softmax.norm-dual": (0, "(x^2 - lam)*exp(-x) <= 99/100*2*g*exp(-g)", {"x": "2", "g": "2"}),
    "bc-5.softmax.norm-log": (
        0,
        "2*(exp(l) - 1)*(1 + sqrt(1 + (10024/10000*l)^2))*exp(-1 - sqrt(1 + (10024/10000*l)^2)) <= (10024/10000*l)^2",
        {"l": "693148/1000000"},
    ),
    "bc-5.softmax.norm": (3, "(K - 1)*2*g*exp(-g) <= 99/100*l^2", {"K": "2"}),
    "bc-5.tail": (0, "z <= 99/100*exp(lam*z)/(exp(1)*lam)", {"z": "1", "lam": "1"}),
    "bc-5.moment": (0, "(1 + U)/(1 + U^2/(K - 1)) <= 99/100*(1 + s)/2", {"K": "4", "U": "1"}),
    "bc-5.nu": (0, "nu <= 85/100", {"s": "1415/1000", "J": "1"}),
    "bc-6.width": (2, "theta < b + 99/100*epsilon", {"epsilon": "1", "b": "1001/1000"}),
    "bc-6.weight": (0, f"{BLOCK_WEIGHT} <= 99/100*exp(b/2 - (1/2 - h)*(j + 1)*theta)", {**WIDE, "h": "0"}),
    "bc-6.weight.near": (0, f"{BLOCK_WEIGHT} <= 99/100*exp(h*b - p*j*theta)", {**WIDE, "h": "499/1000"}),
    "bc-6.near": (None, "exp(h*b)/(1 - exp(-p*b))/2", {"epsilon": "1", "b": "1", "h": "1/4", "j": "0"}),
    "bc-6.near-few": (1, "j + 1 <= 99/100*X/b", {"epsilon": "1", "b": "1", "h": "1/2", "j": "0", "X": "1"}),
    "bc-6.far": (None, "9/10*exp(b/2 - p*X)/(1 - exp(-p*b))", FAR),
    "bc-6.far.weighted": (None, "9/10*exp(b/2)*exp(-p*X)*(X*k + b*Q*k^2)", FAR),
    "bc-7.regret": (
        0,
        "reg + mean*s + near*norm*s + far*mean*s + linear <= reg + (mean + 99/100*S*norm)*s + linear",
        {"reg": "0", "s": "1", "mean": "1", "norm": "1", "near": "1", "far": "0", "S": "1", "linear": "0"},
    ),
    "bc-7.moment": (
        0,
        "reg + log(K)/eta + S*4/(exp(1)*eta*J)*root + (1 + S_f)*2/(exp(1)*eta*J)*N + linear"
        " <= reg + (1 + 99/100*corr)*log(K)/eta + linear",
        {"reg": "0", "K": "2", "J": "1", "eta": "1", "S": "1", "S_f": "1", "N": "1", "root": "1", "linear": "0"},
    ),
    "bc-10.sinh": (0, "exp(w) - exp(-w) >= 201/100*w", {"w": "1/100"}),
    "bc-10.tanh": (0, "y*(exp(y) + exp(-y)) >= 101/100*(exp(y) - exp(-y))", {"y": "1/100"}),
    "bc-10.sinh.convex": (0, "exp(u*v) - exp(-u*v) <= 99/100*u*(exp(v) - exp(-v))", {"u": "1", "v": "1"}),
    "bc-10.mean": (0, "2*a/(1 - a^2) <= 199/100/epsilon", {"epsilon": "1/100"}),
    "bc-10.moment": (0, "(1 - a)^2/((1 - a*z)*(1 - a/z)) <= 99/100/(1 - u^2)", {"u": "1/2", "v": "1/100"}),
    "bc-10.log": (0, "log(1/(1 - a)) <= 2*a*69/100", {"a": "1/2"}),
    "bc-10.root": (
        0,
        "(Q + T*log(1/(1 - a)))/lam <= 399/100*f*h/epsilon",
        {"T": "1", "Q": "6931/10000", "epsilon": "1"},
    ),
    "bc-10.error": (
        0,
        "2*T/W <= 99/100*C*tau",
        {"T": "1", "D": "7214/10000", "Q": "6932/10000", "C": "2", "tau": "1/2"},
    ),
    "bc-10.root.error": (0, "4*f*h/W <= 99/100*C*tau", {"T": "2", "D": "2", "Q": "6932/10000", "C": "2", "tau": "1/2"}),
    "bc-10.root.many": (0, "2*T <= 1/2*C^2*log(2*T)*Q", {"T": "2", "Q": "1387/1000", "C": "2"}),
    "bc-10.cut": (0, "2*T <= 48*log(2*T)*log(2)", {"T": "87"}),
    "bc-10.root.cut": (0, "4*sqrt(2*T) < 43*log(2*T)", {"T": "5038"}),
}  # fmt: skip


@cache
def claims() -> dict[str, Claim]:
    return {claim.id: claim for claim in read_claims(LEMMAS, default_ledger())}


@cache
def results() -> dict[str, ClaimResult]:
    return {result.claim.id: result for result in check_file(LEMMAS, default_ledger())}


def test_every_lemma_is_proved_and_the_checker_agrees() -> None:
    proved: dict[str, Claim] = {}
    for claim_id, result in results().items():
        assert result.verdict is Verdict.PROVED, (claim_id, result.reason)
        assert result.as_expected, claim_id
        assert result.certificate is not None
        assert check(result.claim, result.certificate, proved) is Verdict.PROVED
        proved[claim_id] = result.claim


def test_every_lemma_has_a_twin() -> None:
    assert list(TWINS) == list(claims())


@pytest.mark.parametrize("claim_id", TWINS)
def test_twin_is_refuted_where_the_lemma_holds(claim_id: str) -> None:
    true_claim = claims()[claim_id]
    index, text, point = TWINS[claim_id]
    exact = {name: parse_expression(value) for name, value in point.items()}
    twin = replace(true_claim, example=exact, counterexample=exact, expect="refuted", slack=None)
    if index is None:
        assert twin.chain is not None
        twin = replace(twin, chain=replace(twin.chain, bound=parse_expression(text)))
    else:
        conclusions = list(twin.conclusions)
        conclusions[index] = parse_relation(text)
        twin = replace(twin, conclusions=tuple(conclusions))
    result = decide_claim(twin)
    assert result.verdict is Verdict.REFUTED, result.reason
    assert result.certificate is not None
    assert check(twin, result.certificate) is Verdict.REFUTED
    if index is not None:
        assert result.certificate["point"]["conclusion"] == index
        assert _exact(result.certificate["point"]["variables"]) == _exact(point)
    with pytest.raises(Rejected, match="not shown"):
        check(true_claim, point_certificate(true_claim, result.certificate["point"]))


def _exact(point: Mapping[str, str]) -> dict[str, fmpq]:
    return {name: parse_rational(text) for name, text in point.items()}


@pytest.mark.parametrize(
    ("claim_id", "proved", "refuted"),
    [
        ("bc-4.near.better", "5/2", "249/100"),
        ("bc-4.far.better", "5/2", "249/100"),
        ("bc-4.near.two-sided", "2", "199/100"),
        ("bc-4.far.two-sided", "3/2", "149/100"),
        ("bc-5.softmax.norm-log", "401/400", "1253/1250"),  # 1.0025 and 1.0024
        ("bc-10.cut", "87", "88"),
        ("bc-10.root.cut", "5038", "5039"),
    ],
)
def test_how_far_a_constant_can_be_lowered(claim_id: str, proved: str, refuted: str) -> None:
    slack = results()[claim_id].slack
    assert slack is not None and slack.holds
    assert (slack.proved_value, slack.refuted_value) == (proved, refuted)


@pytest.mark.parametrize(("growth", "suffix"), [(BETTER_OF_BOTH, "better"), (SHARP, "sharp"), (TWO_SIDED, "two-sided")])
def test_the_growths_of_the_rungs_are_those_of_the_lemmas(growth: Growth, suffix: str) -> None:
    """At a = l = 1 the last conclusion has the growth on its right, and the condition is `a <= far_from`."""
    one = {"a": parse_expression("1"), "l": parse_expression("1")}
    for side, rate, symbol in (("near", growth.near, "<="), ("far", growth.far, ">")):
        claim = claims()[f"bc-4.{side}.{suffix}"]
        (condition,) = claim.conditions
        assert condition.lhs == Name("a")
        assert condition.symbol == symbol
        assert _equal(substituted(claim.conclusions[-1].rhs, one).text(), rate)
        assert _equal(substituted(condition.rhs, one).text(), growth.far_from)
    assert _equal(f"{growth.far_from}*{growth.near}", growth.reach)
    assert _equal(f"{growth.near}^2", str(growth.near_square))
    assert not _equal(growth.near, f"{growth.far}*1000001/1000000")


def _equal(left: str, right: str) -> bool:
    """Whether two numbers are proved to be equal."""
    text = f'claim = ["{left} <= {right}", "{left} >= {right}"]\nproof.steps = ["sqrt(2)^2 = 2"]'
    (claim,) = parse_claims(f'[[claim]]\nid = "equal"\n{text}', default_ledger())
    return decide_claim(claim).verdict is Verdict.PROVED


def test_the_norm_of_the_softmax_gap_is_that_of_the_rungs() -> None:
    largest = claims()["bc-5.softmax.norm"].conclusions[-1].rhs
    own = parse_expression(f"({parse_rational(SOFTMAX_NORM)}*l)^2")
    assert normal_form(Operation("-", largest, own)).numerator.is_zero()


@pytest.mark.parametrize("rung", RUNGS.values(), ids=RUNGS)
def test_the_block_sums_of_the_rungs_are_those_of_the_lemmas(rung: Rung) -> None:
    """S, S_f and F as quotients of polynomials in b and names for the exponentials."""
    sums = {name: parse_expression(text) for name, text in block_sums(rung).items()}
    kept = ("q", "q_f", "X", "Y")
    whole = {name: text for name, text in sums.items() if name not in kept}
    for name, claim_id in (("S", "bc-6.near"), ("S_f", "bc-6.far"), ("F", "bc-6.far.weighted")):
        chain = claims()[claim_id].chain
        assert chain is not None
        text = expanded(chain.bound, {"k": parse_expression("1/(1 - Q)")}).text()
        for own, shared in EXPONENTIALS[name].items():
            assert own in text
            text = text.replace(own, shared)
        difference = Operation("-", expanded(sums[name], whole), parse_expression(text))
        assert normal_form(difference).numerator.is_zero()
    exponents = {"q": "-p*b", "q_f": "-p_f*b", "Y": "-p_f*X"}
    assert {name: sums[name] for name in exponents} == {
        name: parse_expression(f"exp({text})") for name, text in exponents.items()
    }
    assert sums["p"] == parse_expression("1/2 - g")
    assert sums["X"] == parse_expression(f"{rung.growth.reach}*L/g")


EXPONENTIALS = {
    "S": {"h": "g", "exp(-p*b)": "q"},
    "S_f": {"exp(b/2 - p*X)": "exp(b/2)*Y", "exp(-p*b)": "q_f"},
    "F": {"exp(-p*X)": "Y", "Q": "q_f"},
}
"""What in a lemma's bound is written otherwise in the formulas of the rungs, where p is p_f and h is the rate."""


def test_the_write_up_names_what_exists_and_the_constants_that_are_certified() -> None:
    text = WRITE_UP.read_text(encoding="utf-8")
    release = {claim.id for claim in paper_claims("release", default_ledger())}
    named = set(re.findall(r"`((?:bc|eq)-[a-z0-9.-]+)`", text))
    assert named <= set(claims()) | release | set(ALL_STATEMENT_IDS)
    assert set(claims()) <= named
    rows = dict(re.findall(r"^\| ([1-9]) \|.*\| ([0-9.]+) \|$", text, re.MULTILINE))
    assert {name: parse_rational(shown) for name, shown in rows.items()} == {
        name: shipped_tuning(name).constant for name in RUNGS
    }
