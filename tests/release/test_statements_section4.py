"""Section 4: privacy of the envelope, and its normaliser."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb, fmpq
from instances import enclosing, explicit, instance, of_tiny, outcome, run
from mutation import Mutation, Side, assert_refuted
from reference import Tiny, normaliser
from witness_sides import LEFT, database

from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions

LOUD = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(4), fmpq(1, 2))
EXTREME = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(10) ** 6, 3, fmpq(1000), fmpq(1, 2))
"""Likelihoods down to e^-6000 and penalties of e^-500000: beyond the exponents of a double."""


def share(factor: fmpq) -> Side:
    return lambda tiny, _: arb(factor * tiny.epsilon)


ENVELOPE, NORMALISER, RELEASED = "p̃_x/p̃_x'", "Z_x/Z_x'", "p̂_x/p̂_x'"
TENTH, MILLIONTH = fmpq(1, 10), fmpq(1, 10**6)

MUTATIONS = (
    Mutation(
        "prop-4.1.transcript",
        {"envelope-ratio": "1/100"},
        LOUD,
        (0, 0),
        share(fmpq(1, 100)),
        displays=(ENVELOPE, NORMALISER),
    ),
    Mutation("prop-4.1.transcript", {"envelope-ratio": "1/10"}, LOUD, None, share(TENTH), displays=(ENVELOPE,)),
    Mutation("prop-4.1.transcript", {"privacy": "1/10"}, LOUD, (0, 1), share(TENTH), displays=(RELEASED,)),
    Mutation("prop-4.1.transcript", {"privacy": "1/10"}, LOUD, None, share(TENTH), displays=(RELEASED,)),
    Mutation(
        "prop-4.1.transcript",
        {"envelope-ratio": "1/10^6"},
        EXTREME,
        (0, 1),
        share(MILLIONTH),
        displays=(ENVELOPE,),
    ),
    Mutation("prop-4.1.answer", {"privacy": "1/10"}, LOUD, (0, 1), share(TENTH)),
    Mutation("prop-4.1.answer", {"privacy": "1/10"}, LOUD, None, share(TENTH)),
    Mutation("prop-4.1.answer", {"privacy": "1/10^6"}, EXTREME, (0, 1), share(MILLIONTH)),
    Mutation(
        "eq-4.normaliser",
        {"normaliser-least": "2"},
        LOUD,
        (0, 0),
        lambda tiny, witness: normaliser(tiny, database(tiny, witness)),
        left=lambda tiny, witness: arb(2),
    ),
    Mutation(
        "eq-4.normaliser",
        {"normaliser-least": "5/2"},
        LOUD,
        None,
        lambda tiny, witness: normaliser(tiny, database(tiny, witness)),
        left=lambda tiny, witness: arb(fmpq(5, 2)),
    ),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)


@pytest.mark.parametrize("bits", [53, 128])
def test_a_weaker_penalty_breaks_what_the_stronger_one_gives(bits: int) -> None:
    """With lambda = eps in place of eps/2 the envelopes of neighbours differ by up to eps: eps/2 is false."""
    given, options = of_tiny(LOUD, (0, 0)), CheckOptions(precision=bits)
    found = outcome(given, "prop-4.1.transcript", {"envelope-penalty": "1"}, options)
    assert found.verdict is Verdict.REFUTED
    assert found.worst is not None and found.worst.lhs.lower is not None
    assert LOUD.epsilon / 2 < found.worst.lhs.lower <= LOUD.epsilon


def test_a_stronger_penalty_gives_more_privacy() -> None:
    """lambda = eps/8 gives eps/4, in place of eps; eps/5 it does not give."""
    quarter = {"envelope-penalty": "1/8", "envelope-ratio": "1/8", "privacy": "1/4"}
    fifth = {"envelope-penalty": "1/8", "envelope-ratio": "1/20", "privacy": "1/20"}
    for name in ("prop-4.1.transcript", "prop-4.1.answer"):
        assert outcome(of_tiny(LOUD, None), name, quarter).verdict is Verdict.PROVED
        assert outcome(of_tiny(LOUD, None), name, fifth).verdict is Verdict.REFUTED


def test_the_envelope_of_the_report_is_the_one_of_the_ledger() -> None:
    """At the penalty eps/4 the normaliser is the reference's at eps/2."""
    halved = Tiny(LOUD.values, LOUD.n, LOUD.epsilon / 2, LOUD.rounds, LOUD.eta, LOUD.gamma)
    found: Any = run(of_tiny(LOUD, (0, 1)), "eq-4.normaliser", changes={"envelope-penalty": "1/4"}).quantities["Z"]
    with_reference = run(of_tiny(halved, (0, 1)), "eq-4.normaliser").quantities["Z"]
    assert found.overlaps(with_reference)


@pytest.mark.parametrize("name", ["prop-4.1.transcript", "prop-4.1.answer"])
def test_a_universe_of_one_element_has_no_neighbours(name: str) -> None:
    found = outcome(instance([["1/2"]], [3], 1, explicit(2, 1, "1/2")), name)
    assert found.verdict is Verdict.PROVED
    assert (found.cases, found.worst) == (0, None)
    assert found.notes == ("T = 1: there are no neighbouring databases",)


def test_the_shown_case_of_a_proof_is_attained() -> None:
    """The proof is by integers; the numbers beside it are measured ones, at a transcript where they are met."""
    found = outcome(of_tiny(LOUD, (0, 1)), "prop-4.1.transcript")
    assert found.verdict is Verdict.PROVED and found.worst is not None
    assert found.worst.lhs.overlaps(enclosing(LEFT["prop-4.1.transcript"](LOUD, found.worst.witness)))
