"""§7's remark on exact radii, and §9: amplification by the median."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from flint import arb, fmpz

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined, ball, divide, exponential, multiply
from certify.engine.statement import Cases, ScalarCase, StructuralCase, Worst
from certify.release.measurements import ErrorPattern, Measurement
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import ReleaseStatement, database_witness, measured_cases, same_witness
from certify.release.statements.section4 import distances_change_by_at_most_one

MAX_MEDIAN_STEPS = 300_000
"""Steps up to which the exact law of the median is computed."""


class RadiusSum(ReleaseStatement):
    """``eps sum_{R>=1} e^{-49 eps R/100}`` and ``eps^2 n sum (R/n) e^{-49 eps R/100}`` for 0 < eps <= 1, closed forms.

    With ``y = 49 eps/100`` the sums are ``1/(e^y - 1)`` and ``e^y/(e^y - 1)^2``.
    """

    id: ClassVar[str] = "sec-9.radius-sum"
    title: ClassVar[str] = "Sums over exact radii"
    source: ClassVar[str] = "§7, radius-by-radius summation"
    claim: ClassVar[str] = "εΣe^{-49εR/100} ∈ [1.5814, 100/49); ε²nΣ(R/n)e^{-49εR/100} ∈ [4.082, (100/49)²)"
    about_transcripts = False

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        if problem.parameters.epsilon_at_most_one:
            return None
        return "the remark is for 0 < ε ≤ 1"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p = evidence.parameters

        def decay() -> Scalar:
            return multiply(p.constant("radius-rate"), p.epsilon())

        def sum_of_weights() -> Scalar:
            return divide(p.epsilon(), ball(decay()).expm1())

        def weighted() -> Scalar:
            root = sum_of_weights()
            return multiply(multiply(root, root), exponential(decay()))

        yield from self._between(
            "ε Σ e^{-yR}", sum_of_weights, p.constant("radius-sum-lower"), p.constant("radius-sum-upper")
        )
        low, high = p.constant("radius-weighted-lower"), p.constant("radius-weighted-upper")
        yield from self._between("ε² Σ R e^{-yR}", weighted, low, high)

    def _between(self, name: str, value: Callable[[], Scalar], low: Scalar, high: Scalar) -> Iterator[Cases]:
        yield ScalarCase(lambda: low, value, {"quantity": f"{name}, lower"})
        yield ScalarCase(value, lambda: high, {"quantity": f"{name}, upper"}, strict=True)


class MedianAmplification(ReleaseStatement):
    """N copies at eps/N each and the coordinatewise median: eps-DP, and
    ``P(||median - F||_inf > t) <= P(Bin(N, p) >= N/2)``, p the probability that one copy errs by more than t.

    If the median (for even N the lower one) errs by more than t in a coordinate, at least half of the
    copies err there on the same side. Both sides are computed from the exact law of one copy at eps/N.
    """

    id: ClassVar[str] = "sec-9.median"
    title: ClassVar[str] = "Amplification by the median"
    source: ClassVar[str] = "§9"
    claim: ClassVar[str] = "N copies at ε/N: ε-DP; P(‖median-F‖_∞ > t) ≤ P(Bin(N,p) ≥ N/2)"

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and problem.instance.amplify is None:
            return 'no amplification is asked for; write "check": {"amplify": {"copies": N, "error": t}}'
        return reason

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (_pattern(problem),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        measurement = _pattern(problem)
        copies = measurement.copies
        penalty, privacy = problem.ledger.rational("envelope-penalty"), problem.ledger.rational("privacy")
        yield ScalarCase(
            lambda: copies * (2 * penalty / copies),
            lambda: privacy,
            {"copies": copies, "quantity": "privacy loss in units of ε"},
            auxiliary=True,
        )
        if not distances_change_by_at_most_one(problem):
            raise Undetermined("neighbouring databases at distance more than one")
        majority = problem.ledger.rational("median-majority")
        needed = int((majority * copies).ceil())
        for c, centre in enumerate(problem.centres):
            patterns = _pattern_law(evidence, measurement, c)
            median, one = _median_failure(patterns, copies), _failure(evidence, measurement, patterns, c)
            binomial = _binomial_tail(copies, one, needed)
            witness = {
                "database": database_witness(problem, centre),
                "copies": copies,
                "error": measurement.threshold_text,
                "p": Enclosure.of(one).decimals(9),
            }
            if majority * copies <= -(-copies // 2):
                shown = Worst(Enclosure.of(median), Enclosure.of(binomial), witness)
                yield StructuralCase("a median that errs has at least half of the copies on its side", 1, shown)
            else:
                yield measured_cases([median], [binomial], partial(same_witness, witness), 1)


def _pattern(problem: ReleaseProblem) -> ErrorPattern:
    amplify = problem.instance.amplify
    assert amplify is not None
    return ErrorPattern(amplify.copies, amplify.error.text, amplify.error.value)


def _pattern_law(evidence: Evidence, measurement: ErrorPattern, centre: int) -> dict[tuple[int, ...], arb]:
    """Probability of each pattern of errors of one copy; patterns of mass exactly 0 left out."""
    queries = len(evidence.sweep.decoder.queries)
    normaliser = 1 + evidence.excess(measurement, (centre,))
    law = {}
    for code in range(3**queries):
        if evidence.results[measurement]["mass"].value((centre, code)) == 0:
            continue
        digits, rest = [], code
        for _ in range(queries):
            rest, digit = divmod(rest, 3)
            digits.append(digit)
        law[tuple(reversed(digits))] = evidence.total(measurement, "mass", (centre, code)) / normaliser
    return law


def _failure(evidence: Evidence, measurement: ErrorPattern, law: dict[tuple[int, ...], arb], centre: int) -> arb:
    """``p = P(one copy errs by more than t)``: what is not clearly within t, up to what is clearly beyond."""
    beyond = sum((mass for pattern, mass in law.items() if any(side != 1 for side in pattern)), arb(0))
    unclear = evidence.results[measurement]["unclear"].value((centre,))
    if not isinstance(unclear, arb) and unclear == 0:
        return beyond
    normaliser = 1 + evidence.excess(measurement, (centre,))
    return beyond.union(beyond + evidence.total(measurement, "unclear", (centre,)) / normaliser)


def _median_failure(law: dict[tuple[int, ...], arb], copies: int) -> arb:
    """``P(||median - F||_inf > t)`` from the law of one copy's pattern, by adding one copy at a time.

    Copies that cannot be told from the threshold count as failing: the result is then an upper bound.
    """
    queries = len(next(iter(law), ()))
    if (copies + 1) ** (2 * queries) * len(law) * copies > MAX_MEDIAN_STEPS:
        raise Undetermined(f"the law of the median of {copies} copies over {len(law)} error patterns is too large")
    states: dict[tuple[int, ...], arb] = {(0,) * (2 * queries): arb(1)}
    for _ in range(copies):
        following: dict[tuple[int, ...], arb] = {}
        for counts, mass in states.items():
            for pattern, probability in law.items():
                moved = list(counts)
                for q, side in enumerate(pattern):
                    if side != 1:
                        moved[2 * q + (side == 2)] += 1
                key = tuple(moved)
                following[key] = following.get(key, arb(0)) + mass * probability
        states = following
    below, above = -(-copies // 2), copies // 2 + 1
    fine = arb(0)
    for counts, mass in states.items():
        if all(counts[2 * q] < below and counts[2 * q + 1] < above for q in range(queries)):
            fine = fine + mass
    return (1 - fine).nonnegative_part()


def _binomial_tail(copies: int, p: arb, needed: int) -> arb:
    """``P(Bin(N, p) >= needed)``, which does not decrease in p."""
    low, high = p.lower().nonnegative_part(), p.upper().min(arb(1))
    return _tail_at(copies, low, needed).union(_tail_at(copies, high, needed))


def _tail_at(copies: int, p: arb, needed: int) -> arb:
    total = arb(0)
    for count in range(needed, copies + 1):
        total = total + arb(fmpz.bin_uiui(copies, count)) * _power(p, count) * _power(1 - p, copies - count)
    return total


def _power(base: arb, exponent: int) -> arb:
    result = arb(1)
    for _ in range(exponent):
        result = result * base
    return result
