"""The claims of a rung with choices for which they do not hold: refuted, or without a proof."""

import pytest
from flint import arb, ctx, fmpq
from rung_certificates import balanced_epsilon, envelopes, is_refuted, shipped

from certify.arithmetic.verdict import Verdict
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.context import Context
from certify.claims.definedness import require_defined
from certify.claims.point_check import require_point
from certify.claims.prover.refutation import find_refutation
from certify.claims.rejection import Rejected
from constants.search import chain as chain_module
from constants.search.final_inequality import final_claim, log_above, log_below, prove_final
from constants.search.other_branches import histogram_claim, prove_histogram, prove_zero, zero_claim
from constants.search.proof import NoProof
from constants.search.rung import RUNGS, Envelope, Gap
from constants.search.theorem import theorem_claim
from constants.search.theorem_proof import prove_theorem

RUNG_4 = Envelope(2, fmpq(23, 100), fmpq(29, 10), fmpq(13, 2500))
RUNG_8 = Envelope(2, fmpq(13, 50), fmpq(17, 10), fmpq(23, 250))
RUNG_9 = Envelope(88, fmpq(463, 1000), fmpq(2), fmpq(1637, 10000))


def proves_final(name: str, constant: fmpq, envelope: Envelope, last: int | None = None) -> bool:
    """Whether a proof of (E) is found; a proof that is found is accepted."""
    claim = final_claim(RUNGS[name], constant, envelope, last)
    try:
        certificate = prove_final(RUNGS[name], claim)
    except NoProof:
        return False
    assert check(claim, certificate) is Verdict.PROVED
    return True


def test_the_round_numbers_of_the_design_are_proved() -> None:
    assert proves_final("4", fmpq(79, 2), RUNG_4)
    assert proves_final("8", fmpq(187, 20), RUNG_8)
    assert proves_final("9", fmpq(7), RUNG_9)


@pytest.mark.parametrize(
    ("name", "constant", "envelope"),
    [
        ("4", fmpq(79, 2), Envelope(2, fmpq(49, 100), RUNG_4.b, RUNG_4.j)),  # g too large
        ("4", fmpq(79, 2), Envelope(2, fmpq(1, 100), RUNG_4.b, RUNG_4.j)),  # and too small
        ("4", fmpq(79, 2), Envelope(2, RUNG_4.g, fmpq(1, 10), RUNG_4.j)),
        ("4", fmpq(79, 2), Envelope(2, RUNG_4.g, fmpq(10), RUNG_4.j)),
        ("4", fmpq(79, 2), Envelope(2, RUNG_4.g, RUNG_4.b, RUNG_4.j / 2)),
        ("4", fmpq(79, 2), Envelope(2, RUNG_4.g, RUNG_4.b, RUNG_4.j * 2)),
        ("3", fmpq(79, 2), RUNG_4),  # a rung with fewer lemmas
        ("8", fmpq(187, 20), RUNG_4),
        ("7", fmpq(187, 20), RUNG_8),
        ("9", fmpq(7), Envelope(2, RUNG_9.g, RUNG_9.b, RUNG_9.j)),  # small universes need the histogram
        ("9", fmpq(13, 2), RUNG_9),  # below the limit 2^(9/4)/√g at T -> ∞
        ("8", fmpq(101, 100), RUNG_8),
    ],
)
def test_the_final_inequality_with_other_choices_is_refuted_and_not_proved(
    name: str, constant: fmpq, envelope: Envelope
) -> None:
    claim = final_claim(RUNGS[name], constant, envelope, None)
    points = [str(claim.variables[0].lower), str(10**50)]
    assert any(is_refuted(claim, {"l": point}) for point in points)
    assert not proves_final(name, constant, envelope)


@pytest.mark.parametrize("name", ["4", "7", "8", "9"])
@pytest.mark.parametrize("g", [fmpq(1, 2), fmpq(3, 5), fmpq(2, 3), fmpq(1)])
def test_g_of_a_half_or_more_has_no_proof(name: str, g: fmpq) -> None:
    """The near blocks' sum is then no geometric series: S of the formulas is not even positive."""
    assert not proves_final(name, fmpq(1000), Envelope(2, g, fmpq(2), fmpq(1, 10)))


def test_a_larger_constant_is_proved_with_the_same_choices() -> None:
    assert proves_final("8", fmpq(10**6), RUNG_8)
    assert proves_final("8", fmpq(935, 100), Envelope(5, RUNG_8.g, RUNG_8.b, RUNG_8.j), 9)
    assert proves_final("8", fmpq(935, 100), Envelope(7, RUNG_8.g, RUNG_8.b, RUNG_8.j), 7)


@pytest.mark.parametrize("universe", [2, 3, 86, 10**6])
def test_the_range_of_l_contains_the_logarithms(universe: int) -> None:
    claim = final_claim(RUNGS["8"], fmpq(10), RUNG_8, None)
    assert claim.variables[0].lower == log_below(2)
    low, high = log_below(universe), log_above(universe)
    with ctx.workprec(200):
        exact = arb(universe).log()
        assert arb(low) < exact < arb(high)
    assert high - low <= fmpq(1, 10**11)


@pytest.mark.parametrize("name", ["7", "8"])
def test_rounds_below_the_balance_have_no_proof_where_the_moment_counts(name: str) -> None:
    """The sum of the two main terms is largest at u = ρ only where the gap's is the larger one: near²/g² 4j >= 2/j.

    The proofs that come with the package are of j just above that.
    """
    tuning = shipped(name).tuning
    rung, constant = tuning.rung, fmpq(100)
    assert rung.gap is Gap.MOMENT
    for each, last in envelopes(tuning):
        square = rung.growth.near_square * 4 / each.g**2
        assert square * each.j >= 2 / each.j
        low = balance = each.j
        while square * balance >= 2 / balance:
            low, balance = balance, balance * fmpq(999, 1000)
        assert square * low >= 2 / low
        envelope = Envelope(each.first, each.g, each.b, balance)
        theorem = theorem_claim(rung, constant, envelope, last)
        with pytest.raises(NoProof, match=r"ratio >= .*ratio"):
            prove_theorem(rung, theorem, final_claim(rung, constant, envelope, last), constant, envelope, last)


def test_too_few_rounds_for_gamma_have_no_proof() -> None:
    """γ <= 1 needs 2l <= J_0 = j C² L_D."""
    envelope = Envelope(2, RUNG_8.g, RUNG_8.b, fmpq(1, 10**6))
    rung, constant = RUNGS["8"], fmpq(10)
    final = final_claim(rung, constant, envelope, None)
    with pytest.raises(NoProof, match="2\\*l <= J"):
        prove_theorem(rung, theorem_claim(rung, constant, envelope, None), final, constant, envelope, None)


def test_the_theorem_is_refuted_at_an_instance_when_the_constant_is_far_too_small() -> None:
    claim = theorem_claim(RUNGS["8"], fmpq(2), RUNG_8, None)
    point = {"T": "2", "k": "1", "n": "1", "epsilon": balanced_epsilon(fmpq(2), 2)}
    assert is_refuted(claim, point, 1)
    whole = theorem_claim(RUNGS["8"], fmpq(187, 20), RUNG_8, None)
    point = {"T": "2", "k": "1", "n": "1", "epsilon": balanced_epsilon(fmpq(187, 20), 2)}
    require_point(whole, point)
    assert not is_refuted(whole, point, 0) and not is_refuted(whole, point, 1)


def proves_histogram(constant: fmpq, first: int, last: int) -> bool:
    claim = histogram_claim(constant, first, last)
    try:
        certificate = prove_histogram(claim, constant)
    except NoProof:
        return False
    assert check(claim, certificate) is Verdict.PROVED
    return True


def test_the_histogram_goes_as_far_as_its_inequality() -> None:
    """2T <= 49 log(2T) log 2 for T <= 87 and not for T = 88; BETTER_CONSTANT.md says 86 to be safe."""
    assert proves_histogram(fmpq(7), 2, 87)
    assert not proves_histogram(fmpq(7), 2, 88)
    claim = histogram_claim(fmpq(7), 2, 88)
    assert is_refuted(claim, {"T": "88", "k": "1", "n": "1", "epsilon": balanced_epsilon(fmpq(7), 88)})
    assert not is_refuted(claim, {"T": "87", "k": "1", "n": "1", "epsilon": balanced_epsilon(fmpq(7), 87)})
    assert not proves_histogram(fmpq(2), 2, 3)
    assert not proves_histogram(fmpq(3, 2), 2, 2)


def test_the_zero_output_needs_a_constant_of_at_least_one() -> None:
    for constant in (fmpq(1), fmpq(7), fmpq(10**6)):
        claim = zero_claim(constant)
        assert check(claim, prove_zero(claim, constant)) is Verdict.PROVED
    claim = zero_claim(fmpq(99, 100))
    with pytest.raises(NoProof):
        prove_zero(claim, fmpq(99, 100))
    found = find_refutation(claim)
    assert found is not None and is_refuted(claim, found["variables"], found["conclusion"])


def test_a_final_inequality_of_another_range_does_not_prove_a_theorem() -> None:
    """(E) for T >= 3 says nothing about T = 2."""
    rung, constant = RUNGS["8"], fmpq(187, 20)
    later = Envelope(3, RUNG_8.g, RUNG_8.b, RUNG_8.j)
    final = final_claim(rung, constant, later, None)
    with pytest.raises(NoProof, match="l >="):
        prove_theorem(rung, theorem_claim(rung, constant, RUNG_8, None), final, constant, RUNG_8, None)


def test_what_the_claims_define_is_what_they_need() -> None:
    """Without the steps that show it, their expressions may have no value."""
    claim: Claim = final_claim(RUNGS["8"], fmpq(187, 20), RUNG_8, None)
    with pytest.raises(Rejected, match=r"may be 0|may have no value"):
        for expression in claim.definitions.values():
            require_defined(expression, Context.of(claim))


@pytest.mark.parametrize(
    "wanted",
    sorted(
        {
            *chain_module._ALWAYS,
            *(each for ids in chain_module._OF_GROWTH.values() for each in ids),
            *(each for ids in chain_module._OF_GAP.values() for each in ids),
            *chain_module._OF_HISTOGRAM,
        }
    ),
)
def test_every_lemma_that_a_chain_names_exists(wanted: str) -> None:
    """A misspelt id would leave the lemma out of the chain without a word."""
    ids = [claim.id for claim in chain_module._all_lemmas()]
    assert any(each == wanted or (wanted.endswith(".") and each.startswith(wanted)) for each in ids)
