"""The checker against certificates that were altered, forged, or never made sense."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from flint import fmpq
from one_claim import claim, decided
from paper_results import proved_before, results

from certify.arithmetic.exact import NUMBER
from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import digest, point_certificate, proof_certificate
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.rejection import Rejected

Node = dict[str, Any]
TAKEN = ("eq-6.near", "eq-8.7", "fact-b.3", "lemma-6.9", "thm-5.2.printed")


def sealed(certificate: Node) -> Node:
    """The certificate with the digest that belongs to it."""
    return {**certificate, "digest": digest(certificate)}


def numbers(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers in plain data."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from numbers(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from numbers(value, (*path, index))
    elif isinstance(node, int) or (isinstance(node, str) and NUMBER.fullmatch(node)):
        yield path


def altered(certificate: Node, path: tuple[Any, ...]) -> Node:
    """A copy with the number at a place made larger by one."""
    result = copy.deepcopy(certificate)
    target: Any = result
    for key in path[:-1]:
        target = target[key]
    value = target[path[-1]]
    target[path[-1]] = value + 1 if isinstance(value, int) else _plus_one(value)
    return result


def _plus_one(text: str) -> str:
    numerator, _, denominator = text.partition("/")
    return str(fmpq(int(numerator), int(denominator or "1")) + 1)


@pytest.mark.parametrize("claim_id", TAKEN)
def test_any_altered_number_is_noticed(claim_id: str) -> None:
    result = results()[claim_id]
    certificate = dict(result.certificate or {})
    places = list(numbers(certificate))
    assert places
    for path in places:
        with pytest.raises(Rejected, match="altered"):
            check(result.claim, altered(certificate, path), proved_before(claim_id))


@pytest.mark.parametrize("claim_id", TAKEN[:4])
def test_an_altered_coefficient_breaks_the_identity_even_under_a_new_digest(claim_id: str) -> None:
    result = results()[claim_id]
    certificate = dict(result.certificate or {})
    places = [path for path in numbers(certificate) if path[-1] in ("coefficient", "scale")]
    assert places
    for path in places:
        with pytest.raises(Rejected):
            check(result.claim, sealed(altered(certificate, path)), proved_before(claim_id))


def test_a_cut_moved_elsewhere_is_rejected_or_proves_the_same() -> None:
    """Another cut can be as good; no cut makes the checker accept a false claim."""
    good = decided('variables = { x = "[0, 1]" }\nclaim = "x*exp(-x) <= 2/5"')
    false = claim('variables = { x = "[0, 1]" }\nclaim = "x*exp(-x) <= 1/3"')
    assert good.verdict is Verdict.PROVED
    certificate = dict(good.certificate or {})
    forged = sealed({**certificate, "statement": false.statement()})
    with pytest.raises(Rejected):
        check(false, forged)


def forged(text: str, node: Node, defined: list[Node] | None = None, example: Node | None = None) -> tuple[Claim, Node]:
    """A claim with one conclusion, and a certificate with this node as its proof."""
    it = claim(text)
    proof = {"example": example or {"x": "1/2"}, "defined": defined or [], "conclusions": [node]}
    return it, proof_certificate(it, proof)


REAL = 'variables = { x = "[0, 1]" }\n'
UNBOUNDED = 'variables = { x = "real (-inf, inf)" }\n'


def combination(**changes: Any) -> Node:
    return {"rule": "combination", "scale": "1", "multiplier": [], "terms": [], **changes}


def term(coefficient: str, *facts: str, **more: str) -> Node:
    return {"coefficient": coefficient, "facts": list(facts), **more}


FORGED: dict[str, tuple[str, Node]] = {
    "a negative coefficient": (REAL + 'claim = "x <= 0"', combination(terms=[term("-1", "x >= 0")])),
    "no terms for a false claim": (REAL + 'claim = "x <= 0"', combination()),
    "a fact that is none": (REAL + 'claim = "x >= 1"', combination(terms=[term("1", "x >= 1")])),
    "a factor without an equation": (REAL + 'claim = "x <= 0"', combination(terms=[term("1", "x >= 0", times="-1")])),
    "scale 0 without a contradiction": (REAL + 'claim = "x >= 2"', combination(scale="0")),
    "scale 0 with a sum that is not strict": (
        REAL + 'claim = "x >= 2"',
        combination(scale="0", terms=[term("0", "x >= 0")]),
    ),
    "a negative scale": (REAL + 'claim = "x <= 0"', combination(scale="-1", terms=[term("1", "x >= 0")])),
    "a weak fact for a strict claim": (REAL + 'claim = "x > 0"', combination(terms=[term("1", "x >= 0")])),
    "a multiplier that may be 0": (
        REAL + 'where = "x*x >= x"\nclaim = "x >= 1"',
        combination(multiplier=["x >= 0"], terms=[term("1", "x*x >= x")]),
    ),
    "evaluation of a false claim": (REAL + 'claim = "x <= 1/2"', {"rule": "evaluate", "bits": 64}),
    "evaluation without bounds": (UNBOUNDED + 'claim = "x <= 1/2"', {"rule": "evaluate", "bits": 64}),
    "no bits": (REAL + 'claim = "x <= 2"', {"rule": "evaluate", "bits": True}),
    "too many bits": (REAL + 'claim = "x <= 2"', {"rule": "evaluate", "bits": 10**9}),
    "the mean value form of a false claim": (REAL + 'claim = "x <= 1/2"', {"rule": "mean value", "bits": 64}),
    "the mean value form across a kink": (
        REAL + 'claim = "abs(x - 1/2) >= 1/100"',
        {"rule": "mean value", "bits": 64},
    ),
    "a cut outside the range": (
        REAL + 'claim = "x <= 1/2"',
        {"rule": "cut", "variable": "x", "at": "-1", "below": {"rule": "known"}, "above": {"rule": "known"}},
    ),
    "a cut with one side": (
        REAL + 'claim = "x <= 1/2"',
        {"rule": "cut", "variable": "x", "at": "1/2", "below": {"rule": "known"}},
    ),
    "a split with one side": (
        REAL + 'claim = "x <= 1/2"',
        {"rule": "split", "on": "x <= 1/2", "then": {"rule": "known"}},
    ),
    "a split on an equation": (
        REAL + 'claim = "x <= 1/2"',
        {"rule": "split", "on": "x = 0", "then": {"rule": "known"}, "else": {"rule": "known"}},
    ),
    "integrality of a real": (
        REAL + 'where = "x > 0"\nclaim = "x >= 1"',
        {"rule": "integer", "by": combination(terms=[term("1", "x > 0")])},
    ),
    "integrality of a root": (
        REAL + 'where = "ceil(x)^(1/2) > 0"\nclaim = "ceil(x)^(1/2) >= 1"',
        {"rule": "integer", "by": combination(terms=[term("1", "ceil(x)^(1/2) > 0")])},
    ),
    "a rule of no kind": (REAL + 'claim = "x <= 2"', {"rule": "obviously"}),
    "a fact of the wrong direction": (REAL + 'claim = "x >= 1/2"', {"rule": "known"}),
    "an exponential below its tangent": (UNBOUNDED + 'claim = "exp(x) <= 1 + x"', {"rule": "tangent"}),
    "a ceiling below": (UNBOUNDED + 'claim = "ceil(x) <= x"', {"rule": "rounding"}),
    "a ceiling a little above": (UNBOUNDED + 'claim = "ceil(x) < x + 1/2"', {"rule": "rounding"}),
    "a monotone function without its premise": (UNBOUNDED + 'claim = "exp(2*x) <= exp(x)"', {"rule": "increasing"}),
    "a logarithm without a domain": (UNBOUNDED + 'claim = "log(x) <= x - 1"', {"rule": "tangent"}),
    "a definition that is another": (
        REAL + 'define = { y = "x" }\nclaim = "y <= 1/2"',
        {"rule": "definition"},
    ),
    "a monotone proof from the wrong end": (
        REAL + 'claim = "exp(x) <= 2"',
        {
            "rule": "monotone", "variable": "x", "end": "lower", "setup": [],
            "at end": {"rule": "evaluate", "bits": 64}, "derivative": {"rule": "evaluate", "bits": 64},
        },
    ),
    "a citation of nothing": (
        REAL + 'claim = "x <= 1/2"',
        {"rule": "cite", "claim": "it", "conclusion": 0, "values": {"x": "x"}, "conditions": []},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED)
def test_forged_proofs_are_rejected(case: str) -> None:
    it, certificate = forged(*FORGED[case])
    with pytest.raises(Rejected):
        check(it, certificate)


@pytest.mark.parametrize(
    "fact",
    ["exp(x)*exp(x) = exp(x)", "exp(2*log(x)) = x", "log(2*x) = 2*log(x)", "log(x^2) = 2*log(x)", "abs(x) = x",
     "min(x, 1) = 1", "max(x, 1) = x", "sqrt(x)^2 = x", "sqrt(x) > 0"],
)  # fmt: skip
@pytest.mark.parametrize("rule", ["exponential", "logarithm", "selection", "square root"])
def test_elementary_rules_do_not_give_what_is_false_somewhere(fact: str, rule: str) -> None:
    steps = [{"fact": fact, "by": {"rule": rule}}]
    it, certificate = forged(UNBOUNDED + 'claim = "x^2 >= 0"', {"rule": "evaluate", "bits": 64}, steps)
    with pytest.raises(Rejected, match="is not an instance of"):
        check(it, certificate)


def test_what_is_known_of_the_variable_is_set_aside_in_a_monotone_proof() -> None:
    """f = (x-1)(x-2) has a slope >= 0 at every x >= 3/2, but not at all points between 0 and that x."""
    node = {
        "rule": "monotone", "variable": "x", "end": "lower", "setup": [],
        "at end": {"rule": "known"},
        "derivative": combination(terms=[term("2", "x >= 3/2")]),
    }  # fmt: skip
    it = claim('variables = { x = "[0, 3]" }\nwhere = "x >= 3/2"\nclaim = "(x - 1)*(x - 2) >= 0"')
    proof = {"example": {"x": "2"}, "defined": [], "conclusions": [node]}
    with pytest.raises(Rejected):
        check(it, proof_certificate(it, proof))


def test_a_proof_without_definedness_is_rejected() -> None:
    it, certificate = forged(REAL + 'claim = "log(x) - log(x) >= 0"', combination())
    with pytest.raises(Rejected, match="may have no value"):
        check(it, certificate)


def test_a_proof_needs_a_point_of_the_claim() -> None:
    it, certificate = forged(REAL + 'claim = "x <= 2"', {"rule": "evaluate", "bits": 64}, example={"x": "3"})
    with pytest.raises(Rejected, match="not shown at the point"):
        check(it, certificate)


def test_citing_needs_the_conditions_of_the_cited_claim() -> None:
    lemma = claim('variables = { m = "integer [1, 3]" }\nclaim = "m*m <= 9"')
    node = {"rule": "cite", "claim": "lemma", "conclusion": 0, "conditions": [{"rule": "known"}] * 2}
    it, certificate = forged(REAL + 'claim = "x*x <= 9"', {**node, "values": {"m": "x"}})
    with pytest.raises(Rejected, match="not an integer"):
        check(it, certificate, {"lemma": lemma})
    it, certificate = forged(
        'variables = { x = "integer [1, 4]" }\nclaim = "x*x <= 9"', {**node, "values": {"m": "x"}}, example={"x": "1"}
    )
    with pytest.raises(Rejected):
        check(it, certificate, {"lemma": lemma})
    it, certificate = forged(
        'variables = { x = "integer [1, 3]" }\nclaim = "x*x <= 9"', {**node, "values": {"m": "x"}}, example={"x": "1"}
    )
    assert check(it, certificate, {"lemma": lemma}) is Verdict.PROVED


@pytest.mark.parametrize(
    "point",
    [{"x": "2"}, {"x": "1/2"}, {}, {"x": "1", "y": "1"}, {"x": "1e"}, {"x": "0.1"}],
)
def test_points_that_do_not_refute_are_rejected(point: Node) -> None:
    it = claim(REAL + 'where = "x > 1/4"\nclaim = "x <= 1/2"')
    with pytest.raises(Rejected):
        check(it, point_certificate(it, {"variables": point, "conclusion": 0}))


@pytest.mark.parametrize("states", [[], ["2"], ["1", "3"], ["1", "2", "3"], ["1", "2", "1/2"]])
def test_states_that_do_not_follow_the_recurrence_are_rejected(states: list[str]) -> None:
    chain = 'state = "t", next = "s", start = "t = 1", step = "s = 2*t"'
    sums = 'term = "t", at = "first", bound = "2", potential = "t"'
    it = claim(f'variables = {{ t = "integer [1, inf)" }}\nchain = {{ {chain}, {sums} }}')
    with pytest.raises(Rejected):
        check(it, point_certificate(it, {"variables": {}, "states": states}))
    assert check(it, point_certificate(it, {"variables": {}, "states": ["1", "2"]})) is Verdict.REFUTED


@pytest.mark.parametrize("certificate", [{}, {"format": 1}, {"format": "certify-claim/1", "digest": ""}])
def test_what_is_no_certificate_is_rejected(certificate: Node) -> None:
    with pytest.raises(Rejected):
        check(claim(REAL + 'claim = "x <= 2"'), certificate)
    with pytest.raises(Rejected):
        check(claim(REAL + 'claim = "x <= 2"'), sealed(certificate))


def test_deep_nesting_is_rejected_and_not_a_crash() -> None:
    node: Node = {"rule": "evaluate", "bits": 64}
    for _ in range(100_000):
        node = {"rule": "have", "steps": [], "then": node}
    it = claim(REAL + 'claim = "x <= 2"')
    certificate = {"format": "certify-claim/1", "statement": it.statement(), "verdict": "proved"}
    certificate["proof"] = {"example": {"x": "1"}, "defined": [], "conclusions": [node]}
    with pytest.raises(Rejected):
        check(it, {**certificate, "digest": "?"})
