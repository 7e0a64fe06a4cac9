"""Hard claims, each with its right answer: proved, refuted, or undecided with the reason."""

import pytest
from one_claim import claim, decided

from certify.arithmetic.verdict import Verdict
from certify.claims.checker import check

PROVED = {
    "touches at an interior point": 'variables = { x = "[-1, 1]" }\nclaim = "exp(x) >= 1 + x"',
    "touches inside, to the fourth order": 'variables = { x = "[-1, 2]" }\nclaim = "(x - 1)^4 >= 0"',
    "touches at an end": 'variables = { x = "[0, 1]" }\nclaim = "log(1 + x) <= x"',
    "touches at an open end, strictly": 'variables = { x = "(0, 1]" }\nclaim = "exp(x) > 1 + x + x^2/2"',
    "touches at the upper end": 'variables = { x = "[0, 1]" }\nclaim = "x*exp(1 - x) <= 1"',
    "touches at infinity": 'variables = { x = "real [1, inf)" }\nclaim = "x/(x + 1) < 1"',
    "touches at infinity, with logarithms": 'variables = { x = "real [1, inf)" }\nclaim = "log(x + 1) > log(x)"',
    "touches at infinity, both sides unbounded": 'variables = { x = "real [0, inf)" }\nclaim = "sqrt(x^2 + 1) >= x"',
    "equal everywhere": 'variables = { x = "real (0, inf)" }\nclaim = "log(4*x^2) <= 2*log(2) + 2*log(x)"',
    "needs integrality": 'variables = { m = "integer (0, inf)" }\nwhere = "2*m < 7"\nclaim = "m <= 3"',
    "an integer range that reals leave": 'variables = { m = "integer [0, 3]" }\nclaim = "m*(m - 1) >= 0"',
    "in two variables": 'variables = { x = "[0, 1]", y = "[0, 1]" }\nclaim = "x*y + exp(-x - y) > 1/10"',
    "an absolute value": 'variables = { x = "[-1, 1]" }\nclaim = "abs(x) <= 1"',
    "a maximum that touches": 'variables = { x = "[0, 1]" }\nclaim = "max(x, 1/2) <= 1"',
    "closed": 'claim = "exp(1) < 2.7182818284590453"',
    "a closed tie": 'claim = "sqrt(2)^2 <= 2"',
}

REFUTED = {
    "true but near one point": 'variables = { x = "[0, 1]" }\nclaim = "abs(x - 1/3) >= 1/100000"',
    "true but near one point, smooth": 'variables = { x = "[-1, 1]" }\nclaim = "(x - 1/7)^2 >= 1/100000000"',
    "true but at one end": 'variables = { x = "[0, 1]" }\nclaim = "x^2 < 1"',
    "true but far out": 'variables = { x = "real [0, inf)" }\nclaim = "x/(x + 1) <= 1 - 1/1000000000000"',
    "false by a ceiling's jump alone": 'variables = { e = "(0, 1]" }\nclaim = "e*ceil(3/e) <= 4 - 1/1000"',
    "true for small integers": 'variables = { n = "integer [1, inf)" }\nclaim = "n^2 <= 10000"',
    "too small at the second order": 'variables = { x = "[0, 1]" }\nclaim = "exp(x) <= 1 + x + x^2/2"',
    "closed": 'claim = "exp(1) < 2.718281828459045"',
}


@pytest.mark.parametrize("case", PROVED)
def test_proved(case: str) -> None:
    result = decided(PROVED[case])
    assert result.verdict is Verdict.PROVED, result.reason
    assert result.certificate is not None
    assert check(result.claim, result.certificate) is Verdict.PROVED


@pytest.mark.parametrize("case", REFUTED)
def test_refuted(case: str) -> None:
    result = decided(REFUTED[case])
    assert result.verdict is Verdict.REFUTED, result.reason
    assert result.certificate is not None
    assert check(result.claim, result.certificate) is Verdict.REFUTED


def test_the_sharp_bound_at_a_jump_is_proved() -> None:
    """θ < 4 is true and its supremum is at a jump; 4 - 1/1000 above is refuted there."""
    steps = 'proof.steps = ["e*ceil(3/e) < 3 + e"]'
    result = decided(f'variables = {{ e = "(0, 1]" }}\nclaim = "e*ceil(3/e) < 4"\n{steps}')
    assert result.verdict is Verdict.PROVED, result.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('variables = { x = "[0, 1]" }\nclaim = "1/(2*x - 1) <= 1000"', "the denominator 2*x - 1 may be 0"),
        ('variables = { x = "[0, 1]" }\nclaim = "1/(2*x - 1)^2 >= 0"', "may be 0"),
        ('variables = { x = "[0, 1]" }\nclaim = "log(x) <= 0"', "log(x) may have no value"),
        ('variables = { x = "[-1, 1]" }\nclaim = "sqrt(x) <= 1"', "sqrt(x) may have no value"),
        ('variables = { x = "[-1, 1]" }\nclaim = "x^(1/2) <= 1"', "the base x may not be positive"),
        ('variables = { x = "[0, 1]" }\nclaim = "x/x <= 2"', "the denominator x may be 0"),
    ],
)
def test_a_pole_in_the_box_is_undecided(text: str, reason: str) -> None:
    result = decided(text)
    assert result.verdict is Verdict.UNDECIDED
    assert "not known to be defined everywhere" in result.reason
    assert reason in result.reason


def test_a_vacuous_claim_is_reported_as_such_and_not_as_proved() -> None:
    result = decided('variables = { x = "[0, 1]" }\nwhere = ["x > 1/2", "x < 1/4"]\nclaim = "x > 5"')
    assert result.verdict is Verdict.UNDECIDED
    assert result.reason.startswith("vacuous")


def test_conditions_that_no_point_was_found_for_prove_nothing() -> None:
    text = 'variables = { x = "real (-inf, inf)" }\nwhere = "(x - 355/113)^2 < 1/10^40"\nclaim = "x > 3"'
    result = decided(text)
    assert result.verdict is Verdict.UNDECIDED
    assert "give one as example" in result.reason
    with_example = decided(f'{text}\nexample = {{ x = "355/113" }}\nproof.split = ["x > 3"]')
    assert with_example.verdict is not Verdict.REFUTED


def test_an_abstract_counterexample_does_not_refute_the_paper() -> None:
    text = 'variables = { theta = "[3, 5]" }\nclaim = "theta <= 4"'
    assert decided(text).verdict is Verdict.REFUTED
    result = decided(f'{text}\nabstract = "theta stands for ε⌈3/ε⌉ with 0 < ε <= 1"')
    assert result.verdict is Verdict.UNDECIDED
    assert "abstract" in result.reason
    assert "theta" in result.reason
    assert result.certificate is None


def test_a_definition_kept_abstract_in_a_failed_proof_refutes_nothing() -> None:
    """The prover cannot know that ceil(x) - x < 1 here, but only points of x itself may refute."""
    result = decided('variables = { x = "[0, 1]" }\ndefine = { y = "exp(x)*exp(-x)" }\nclaim = "y^7 <= 1 + 1/10^30"')
    assert result.verdict is not Verdict.REFUTED


@pytest.mark.parametrize(
    "text",
    [
        'variables = { x = "[0, 1]", y = "[0, 1]", z = "[0, 1]", w = "[0, 1]" }\nclaim = "(x + y + z + w + 1)^30 >= 0"',
        'variables = { x = "[0, 1]" }\nclaim = "x <= 1e9999"',
        'claim = "2^(2^(2^100)) <= 1"',
        'claim = "1/0 <= 1"',
    ],
)
def test_what_is_too_large_or_undefined_is_undecided_with_a_reason(text: str) -> None:
    result = decided(text)
    assert result.verdict is Verdict.UNDECIDED
    assert result.reason


def test_false_hints_do_no_harm() -> None:
    text = 'variables = { x = "[0, 1]" }\nclaim = "x^2 <= 1/2"\nproof.steps = ["x <= 1/2", "1 <= 0"]'
    assert decided(text).verdict is Verdict.REFUTED


def test_a_condition_holds_where_it_has_a_value() -> None:
    """Where log(x) has no value the condition does not hold, so the claim does not speak of that x."""
    result = decided('variables = { x = "real (0, inf)" }\nwhere = "log(x) >= 0"\nclaim = "log(x)^2 >= 0"')
    assert result.verdict is Verdict.PROVED, result.reason


CHAIN = """
variables = {{ t = "integer [1, inf)" }}

[claim.chain]
state = "t"
next = "s"
start = "t = 1"
step = "s = 2*t"
term = "1/t"
at = "first"
bound = "{}"
potential = "2/t"
"""


def test_a_sum_along_a_recurrence() -> None:
    assert decided(CHAIN.format("2")).verdict is Verdict.PROVED
    result = decided(CHAIN.format("19/10"))
    assert result.verdict is Verdict.REFUTED
    assert result.point is not None
    assert result.point["states"][:3] == ["1", "2", "4"]


def test_a_potential_that_does_not_decrease_proves_nothing() -> None:
    text = CHAIN.format("2").replace('potential = "2/t"', 'potential = "1/t"')
    assert decided(text).verdict is Verdict.UNDECIDED


def test_the_headline_reads_like_the_claim() -> None:
    text = 'variables = { x = "[0, 1]" }\nwhere = "x < 1"\nclaim = "x^2 <= x"'
    assert claim(text).headline() == "for all x in real [0, 1] with x < 1: x^2 <= x"
