"""Claim files: what is wrong is said with its path, all at once."""

import pytest

from certify.claims.claim_file import parse_claims
from certify.instance_file import InstanceError
from constants.ledger import default_ledger

CHAIN = 'state = "t", next = "s", step = "s = t", term = "t", at = "first", bound = "1", potential = "t"'

WRONG = {
    'id = "a"\nclaim = "y <= 1"': ("$.claim[0].claim", "unknown name"),
    'id = "a"\nclaim = "1 + <= 1"': ("$.claim[0].claim", "column"),
    'id = "a"\nclaim = "1 + 1"': ("$.claim[0].claim", "has no <=, <, >=, > or ="),
    'id = "a"\nclaim = "1 = 1"': ("$.claim[0]", "write both directions"),
    'id = "a"': ("$.claim[0]", "write either claim"),
    'claim = "1 <= 1"': ("$.claim[0]", "needs an id"),
    'id = "a"\nclaim = []': ("$.claim[0]", "the claim is empty"),
    'id = "a"\nclaim = 1': ("$.claim[0]", "list"),
    'id = "a"\nclaims = "1 <= 1"': ("$.claim[0]", "did you mean"),
    'id = "a"\nvariables = { x = "0 to 1" }\nclaim = "x <= 1"': ("$.claim[0].variables.x", "is not a range"),
    'id = "a"\nvariables = { x = "[1, 0]" }\nclaim = "x <= 1"': ("$.claim[0].variables.x", "the range is empty"),
    'id = "a"\nvariables = { x = "(1, 1]" }\nclaim = "x <= 1"': ("$.claim[0].variables.x", "the range is empty"),
    'id = "a"\nvariables = { x = "[0, inf]" }\nclaim = "x <= 1"': (
        "$.claim[0].variables.x",
        "an unbounded end is open",
    ),
    'id = "a"\nvariables = { x = "[0, log(2)]" }\nclaim = "x <= 1"': ("$.claim[0].variables.x", "is not rational"),
    'id = "a"\nvariables = { x = 1.5 }\nclaim = "x <= 1"': (
        "$.claim[0].variables.x",
        "no number passes through a float",
    ),
    'id = "a"\nvariables = { exp = "[0, 1]" }\nclaim = "1 <= 1"': ("$.claim[0].variables.exp", "function"),
    'id = "a"\nvariables = { x = "[0, 1]" }\ndefine = { x = "1" }\nclaim = "x <= 1"': (
        "$.claim[0].define.x",
        "choose another",
    ),
    'id = "a"\ndefine = { u = "v", v = "1" }\nclaim = "u <= 1"': ("$.claim[0].define.u", "unknown name"),
    'id = "a"\nclaim = "1 <= 1"\nexpect = "maybe"': ("$.claim[0]", "expect is"),
    'id = "a"\nclaim = "1 <= 1"\nproof.cut = ["x > 1"]': ("$.claim[0]", "unknown name|a cut is written"),
    'id = "a"\nclaim = "1 <= 1"\nproof.degree = 99': ("$.claim[0]", "degree is an integer"),
    'id = "a"\nclaim = "1 <= 1"\nprinted = { nothing = "1" }': ("$.claim[0].printed.nothing", "unknown constant"),
    'id = "a"\nclaim = "1 <= 1"\nexample = { x = "1" }': ("$.claim[0].example.x", "no variable"),
    'id = "a"\nvariables = { t = "[1, 2]" }\nchain = { state = "t" }': ("$.claim[0]", "chain needs"),
    f'id = "a"\nvariables = {{ t = "[1, 2]" }}\nwhere = "t < 2"\nchain = {{ {CHAIN} }}': (
        "$.claim[0].where",
        "is the state of the chain",
    ),
}


@pytest.mark.parametrize("entry", WRONG)
def test_what_is_wrong_is_said_with_its_path(entry: str) -> None:
    path, message = WRONG[entry]
    with pytest.raises(InstanceError) as caught:
        parse_claims(f"[[claim]]\n{entry}", default_ledger(), "mine.toml")
    problems = caught.value.problems
    assert any(problem.path.startswith(path) for problem in problems), problems
    assert any(part in problem.message for problem in problems for part in message.split("|")), problems


@pytest.mark.parametrize("text", ["", "[", "claim = 3", "[[claim]]\nid = 1", "a = " + "[" * 5000, "x" * 1_000_001])
def test_what_is_no_claim_file_is_an_input_error(text: str) -> None:
    with pytest.raises(InstanceError):
        parse_claims(text, default_ledger())


def test_all_problems_are_reported_at_once() -> None:
    text = "".join(f'[[claim]]\nid = "{name}"\nclaim = "{name} <= 1"\n' for name in "uv")
    with pytest.raises(InstanceError) as caught:
        parse_claims(text, default_ledger())
    assert [problem.path for problem in caught.value.problems] == ["$.claim[0].claim", "$.claim[1].claim"]


def test_constants_come_from_the_ledger_and_are_named() -> None:
    text = '[[claim]]\nid = "a"\nclaim = "growth_rate <= 1/100"'
    (claim,) = parse_claims(text, default_ledger())
    assert claim.constants == ("growth-rate",)
    assert claim.conclusions[0].text() == "1/100 <= 1/100"
    (changed,) = parse_claims(text, default_ledger().replaced({"growth-rate": "1/10"}))
    assert changed.conclusions[0].text() == "1/10 <= 1/100"


def test_a_file_may_have_constants_of_its_own_but_not_replace_the_ledgers() -> None:
    text = '[constants]\nc = "1/3"\nd = "2*c"\n[[claim]]\nid = "a"\nclaim = "d < 1"'
    (claim,) = parse_claims(text, default_ledger())
    assert claim.conclusions[0].text() == "2*(1/3) < 1"
    with pytest.raises(InstanceError, match="the ledger has a constant of this name"):
        parse_claims(text.replace("c =", "growth_rate ="), default_ledger())


def test_chains_of_relations_are_read_as_neighbours() -> None:
    (claim,) = parse_claims('[[claim]]\nid = "a"\nclaim = "1 < 2 <= 3"', default_ledger())
    assert [relation.text() for relation in claim.conclusions] == ["1 < 2", "2 <= 3"]
