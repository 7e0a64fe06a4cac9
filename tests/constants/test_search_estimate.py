"""The estimate in floats against certified arithmetic: the same (E), and a constant that certification reaches."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rung_certificates import envelopes, shipped, with_last

from certify.arithmetic.expression import Number
from certify.claims.calculus import expanded, substituted
from constants.search.estimate import INFINITE, LARGEST_CONSTANT, Universes, _Choice, estimate
from constants.search.final_inequality import final_claim
from constants.search.rung import RUNGS, Envelope, Histogram, Rung

ROUNDING = fmpq(1, 10**9)
"""Far above what some hundred float operations without cancellation can lose, far below a digit of C."""


def certified_value(rung: Rung, constant: fmpq, envelope: Envelope, log: fmpq) -> arb:
    """The left side of (E) at l as the claim has it, a ball at 200 bits."""
    claim = final_claim(rung, constant, envelope, None)
    goal = expanded(claim.conclusions[0].lhs, claim.definitions)
    value = substituted(goal, {"l": Number(str(log))}).value({})
    return value if isinstance(value, arb) else arb(value)


@settings(max_examples=60)
@given(
    st.sampled_from(list(RUNGS)),
    st.builds(fmpq, st.integers(500, 4900), st.just(10**4)),
    st.builds(fmpq, st.integers(50, 600), st.just(100)),
    st.builds(fmpq, st.integers(10, 3000), st.just(10**4)),
    st.builds(fmpq, st.integers(15, 2000), st.just(10)),
    st.builds(fmpq, st.integers(7, 400), st.just(10)) | st.sampled_from([fmpq(10**4), fmpq(10**9)]),
)
@example("9", fmpq(475, 1000), fmpq(18594, 10**4), fmpq(2086, 10**4), fmpq(6943, 1000), fmpq(10**9))
@example("1", fmpq(1453, 10**4), fmpq(34844, 10**4), fmpq(2569, 10**6), fmpq(932, 5), fmpq(7, 10))
def test_the_floats_agree_with_certified_arithmetic(
    name: str, g: fmpq, b: fmpq, j: fmpq, constant: fmpq, log: fmpq
) -> None:
    rung, envelope = RUNGS[name], Envelope(2, g, b, j)
    universes = Universes(rung, 2, None)
    found = universes._values(float(constant), float(g), float(b), float(j), np.array([float(log)]))["E"][0]
    assert math.isfinite(found)
    with ctx.workprec(200):
        exact = certified_value(rung, constant, envelope, fmpq(*float(log).as_integer_ratio()))
        assert abs(arb(float(found)) - exact) < exact * arb(ROUNDING)


def test_infinity_stands_for_the_limit() -> None:
    """At log T = 10^9 the terms that vanish are below a float's rounding: what is left is 2^(9/4) √(ratio/g), ..."""
    rung = RUNGS["8"]
    g = fmpq(1, 4)
    with ctx.workprec(200):
        j = g / fmpq(28284271247461903, 10**16)  # g/(2√2), where the main terms are equal
        exact = certified_value(rung, fmpq(10), Envelope(2, g, fmpq(2), j), fmpq(int(INFINITE)))
        limit = arb(2) ** (arb(9) / 4) / arb(g).sqrt()
        assert abs(exact - limit) < arb(fmpq(1, 10**7))


# with g up to 0.3 the far sum falls from X on (p_f X >= 1) even for T = 2, whatever the growth
CHOICES = st.builds(
    _Choice,
    st.floats(0.1, 0.3),
    st.floats(1.0, 4.0),
    st.floats(1.0, 2.0),
)


@settings(max_examples=25)
@given(st.sampled_from(["1", "4", "6", "7", "8"]), CHOICES, st.floats(5, 300))
def test_the_inequality_gets_easier_with_a_larger_constant(name: str, choice: _Choice, constant: float) -> None:
    """Else the bisection for the least constant would mean nothing."""
    universes = Universes(RUNGS[name], 2, None)
    j = universes._rounds(choice)
    small, large = (universes._values(c, choice.g, choice.b, j)["E"] for c in (constant, constant * 1.5))
    assert all(large <= small * (1 + float(ROUNDING)))


@settings(max_examples=10)
@given(st.sampled_from(["1", "4", "6", "7", "8"]), CHOICES)
def test_the_least_constant_is_monotone_in_what_it_is_for(name: str, choice: _Choice) -> None:
    rung = RUNGS[name]
    universes, smallest = Universes(rung, 2, None), Universes(rung, 2, 2)
    constant = universes.constant(choice)
    assert 1 < constant < LARGEST_CONSTANT
    slack = 1 + 1e-6
    assert smallest.constant(choice) <= constant * slack  # fewer universes
    assert universes.constant(choice, constant * 0.99) == math.inf  # not below what is to be beaten
    before = list(RUNGS)[list(RUNGS).index(name) - 1] if name != "1" else "1"
    if RUNGS[before].gap == rung.gap and RUNGS[before].growth.near == rung.growth.near:
        assert constant <= Universes(RUNGS[before], 2, None).constant(choice) * slack
    values = universes._values(constant, choice.g, choice.b, universes._rounds(choice))
    assert max(values["E"]) <= constant * (1 + 1e-9)


def test_a_far_sum_that_does_not_fall_has_no_constant() -> None:
    """F bounds z e^{-p_f z} by its value at X, which needs p_f X >= 1: for T = 2 that fails at g = 0.4."""
    for name in ("6", "7"):
        choice = _Choice(0.4, 2.0, 1.0)
        assert Universes(RUNGS[name], 2, None).constant(choice) == math.inf
        assert Universes(RUNGS[name], 50, None).constant(choice) < LARGEST_CONSTANT


@pytest.mark.parametrize(
    "choice",
    [
        _Choice(0.0, 2, 1), _Choice(0.5, 2, 1), _Choice(-1, 2, 1), _Choice(0.2, 0, 1), _Choice(0.2, 50, 1),
        _Choice(0.2, 2, 0.99), _Choice(math.nan, 2, 1), _Choice(0.2, math.nan, 1),
    ],
)  # fmt: skip
def test_choices_outside_the_search_have_no_constant(choice: _Choice) -> None:
    assert Universes(RUNGS["8"], 2, None).constant(choice) == math.inf


@pytest.mark.parametrize("name", RUNGS)
def test_the_certified_constant_is_hardly_above_the_estimate_for_its_choices(name: str) -> None:
    tuning = shipped(name).tuning
    certified = float(tuning.constant)
    estimates = [
        Universes(tuning.rung, each.first, last).of_envelope(each).constant for each, last in envelopes(tuning)
    ]
    for each, last in with_last(tuning):
        if isinstance(each, Histogram) and last is not None:
            estimates.append(math.sqrt(2 * last / (math.log(2 * last) * math.log(2))))
    assert max(estimates) <= certified * (1 + float(ROUNDING))
    assert certified <= max(estimates) * 1.002


def test_the_search_is_deterministic_and_not_beaten_by_a_grid() -> None:
    found = estimate(RUNGS["4"], 60)
    assert found == estimate(RUNGS["4"], 60)
    universes = Universes(RUNGS["4"], 2, None)
    grid = [_Choice(g, b, share) for g in (0.14, 0.2, 0.23, 0.3) for b in (2.0, 2.8, 3.5) for share in (0.8, 1.0, 1.25)]
    assert all(universes.constant(choice, found.constant) == math.inf for choice in grid)
    assert 99.9 < sum(share for _, share in found.shares) < 100.1


def test_an_estimate_without_time_is_worse_and_still_one_of_its_choices() -> None:
    hasty, patient = estimate(RUNGS["4"], 1e-9), estimate(RUNGS["4"], 60)
    assert patient.constant < hasty.constant < patient.constant * 1.1
    (envelope,) = hasty.ranges
    assert isinstance(envelope, Envelope)
    assert Universes(RUNGS["4"], 2, None).of_envelope(envelope) == hasty


@settings(max_examples=25)
@given(st.sampled_from(["4", "7", "8"]), CHOICES)
def test_the_envelope_of_a_choice_has_few_digits_and_rounds_j_up(name: str, choice: _Choice) -> None:
    """With the moment, j below the balance of the two main terms has no proof."""
    rung = RUNGS[name]
    universes = Universes(rung, 2, None)
    envelope = universes.envelope(replace(choice, share=1.0))
    assert 10**4 % int(envelope.g.q) == 0 and 10**4 % int(envelope.b.q) == 0
    if name != "4":
        # near²/g² 4j >= 2/j, exactly
        assert rung.growth.near_square * 4 * envelope.j / envelope.g**2 >= 2 / envelope.j
