"""The shipped rungs on instances of realistic size: the exact expected error below the bound, every step proved."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from instances import instance, problem_of, run
from tunings import ByHand

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance, TunedMechanism
from certify.release.statements import BETTER_CATALOGUE
from certify.release.tuning import tuning_named
from constants.search.rung import Tuning

COIN = [[1, -1]]
ONE_ANSWER = [[1, "1/3", -1]]
BETTER = tuple(statement.id for statement in BETTER_CATALOGUE)
THEOREM = ("bc-1", "bc-6", "bc-7", "bc-8", "bc-thm")
FEW_HISTOGRAMS = 500
"""Up to these the lemmas about every ball and code take less than a second."""


def tuned(rung: str, epsilon: str | int, values: Any, database: Any, n: int | None = None) -> ReleaseInstance:
    return instance(values, database, epsilon, TunedMechanism(rung), n=n)


NEAR_THE_BORDER = {
    "8: 85 tosses": tuned("8", 1, COIN, [30, 55]),
    "8: small epsilon": tuned("8", "1/10", [["1/3", -1]], [800, 50]),
    "8: three elements": tuned("8", 25, [[1, 0, -1]], [2, 1, 1]),
    "8: six people": tuned("8", 20, ONE_ANSWER, [1, 2, 3]),
    "8: every database of four rows": tuned("8", 20, COIN, None, 4),
    "8: one row": tuned("8", 100, [[1, 0]], None, 1),
    "4: two queries": tuned("4", 1500, [[1, -1], [-1, 1]], [1, 1]),
    "6: a constant query": tuned("6", 470, [[1, 0], ["1/2", "1/2"]], [2, 0]),
    "7: 117 tosses": tuned("7", 1, COIN, [57, 60]),
    "7: small epsilon": tuned("7", "1/10", COIN, [1163, 0]),
    "7: three elements": tuned("7", 64, [[1, 0, 0]], [1, 0, 1]),
    "6: 24 tosses": tuned("6", 20, COIN, [10, 14]),
    "5: 28 tosses": tuned("5", 20, COIN, [28, 0]),
    "4: 15 tosses": tuned("4", 100, COIN, [8, 7]),
}
"""C τ at most 1 and above 4/5."""

BEYOND = {
    "8: five tosses": tuned("8", 20, COIN, [2, 3]),
    "7: two tosses": tuned("7", 61, COIN, [0, 2]),
}
"""C τ at most 4/5: each further row costs the enumeration a factor."""


@pytest.mark.parametrize("name", [*NEAR_THE_BORDER, *BEYOND])
def test_the_exact_error_is_below_the_certified_bound(name: str) -> None:
    given = NEAR_THE_BORDER.get(name) or BEYOND[name]
    few = problem_of(given).domain.histogram_count <= FEW_HISTOGRAMS
    result = run(given, *(BETTER if few else THEOREM))
    for found in result.outcomes:
        expected = None if found.statement.id.startswith("bc-10") else Verdict.PROVED
        assert found.verdict in (expected, None), (found.statement.id, found.reason)
    proved = {found.statement.id for found in result.outcomes if found.verdict is Verdict.PROVED}
    assert set(THEOREM) <= proved
    assert not few or ({"bc-2", "bc-3", "bc-5.moment"} <= proved and {"bc-4.near", "bc-4.far"} & proved)
    error, bound, scaled = (_finite(result.quantities[key]) for key in ("expected_error", "error_bound", "C_tau"))
    assert error[1] < bound[0] and bound[1] < scaled[0] and scaled[1] <= 1
    assert scaled[0] > fmpq(4, 5) if name in NEAR_THE_BORDER else scaled[1] < fmpq(9, 10)
    assert error[1] > 0


def _finite(value: Any) -> tuple[fmpq, fmpq]:
    assert isinstance(value, Enclosure) and value.lower is not None and value.upper is not None
    return value.lower, value.upper


@pytest.mark.parametrize("name", ["8: 85 tosses", "8: six people", "7: 117 tosses", "6: 24 tosses", "4: 15 tosses"])
def test_the_statements_of_the_paper_hold_for_tuned_parameters(name: str) -> None:
    """Those of sections 2 to 6 for any J, η and γ; those about (8.3) and its growth condition do not apply."""
    proved = set()
    for found in run(NEAR_THE_BORDER[name]).outcomes:
        assert found.verdict in (Verdict.PROVED, None), (found.statement.id, found.reason)
        if found.verdict is Verdict.PROVED:
            proved.add(found.statement.id)
    assert {"prop-3.1", "prop-3.2", "prop-4.1.transcript", "lemma-5.1", "lemma-6.1", "eq-6.2", "eq-7.block"} <= proved
    assert not {"eq-7.growth", "eq-7.error", "eq-8.choice", "eq-8.7", "thm-1.1"} & proved


@pytest.mark.parametrize("name", ["8: one row", "6: 24 tosses", "4: 15 tosses"])
def test_the_same_in_arb(name: str) -> None:
    for found in run(NEAR_THE_BORDER[name], *THEOREM, options=CheckOptions(precision=128)).outcomes:
        assert found.verdict is Verdict.PROVED, (found.statement.id, found.reason)


@pytest.mark.parametrize("rung", [str(number) for number in range(1, 9)])
def test_a_shipped_tuning_reaches_its_constant_at_the_border(rung: str) -> None:
    """The bound of BC-7 at the least ε for one row, written out by hand, is at most C τ <= 1."""
    shipped = tuning_named(rung)
    tuning = Tuning(shipped.rung, shipped.constant, (shipped.range_of(2),))
    epsilon = int((tuning.constant**2 * fmpq(961, 1000)).ceil())
    hand = ByHand(tuning, 2, 1, 1, fmpq(epsilon))
    problem = problem_of(tuned(rung, epsilon, COIN, [1, 0]))
    assert problem.has_transcripts and problem.rounds == hand.rounds()
    assert hand.error() <= tuning.constant * hand.tau() and tuning.constant * hand.tau() <= 1
