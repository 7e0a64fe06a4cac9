"""§7's remark on exact radii, and §9: amplification by the median."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
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
            law = _one_copy(evidence, measurement, c)
            median, one = law.median_failure(copies), law.failure()
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


def _one_copy(evidence: Evidence, measurement: ErrorPattern, centre: int) -> _OneCopy:
    queries = len(evidence.sweep.decoder.queries)
    normaliser = 1 + evidence.excess(measurement, (centre,))
    unclear = evidence.total(measurement, "unclear", (centre,)).nonnegative_part()
    patterns = {}
    for code, pattern in enumerate(product(range(3), repeat=queries)):
        mass = evidence.total(measurement, "mass", (centre, code)).nonnegative_part()
        if evidence.results[measurement]["mass"].value((centre, code)) == 0:
            unclear = unclear + mass  # not exactly 0 where float64 counts small masses as 0
        else:
            patterns[pattern] = mass / normaliser
    return _OneCopy(queries, patterns, unclear / normaliser)


@dataclass(frozen=True)
class _OneCopy:
    """The law of one copy: the probability of each pattern of errors, and of what no pattern was told for.

    ``unclear`` is exactly 0 where every transcript's pattern is known.
    """

    queries: int
    patterns: dict[tuple[int, ...], arb]
    unclear: arb

    def failure(self) -> arb:
        """``p = P(one copy errs by more than t)``: without what is unclear, up to with it."""
        beyond = sum((mass for pattern, mass in self.patterns.items() if any(side != 1 for side in pattern)), arb(0))
        return beyond if self.unclear.is_zero() else beyond.union(beyond + self.unclear)

    def median_failure(self, copies: int) -> arb:
        """``P(||median - F||_inf > t)``: from what is unclear being within t up to it being failures by itself."""
        highest = _median_failure(self.queries, self.patterns, copies)
        if self.unclear.is_zero():
            return highest
        within = (1,) * self.queries
        mildest = self.patterns | {within: self.patterns.get(within, arb(0)) + self.unclear}
        return highest.union(_median_failure(self.queries, mildest, copies))


def _median_failure(queries: int, law: dict[tuple[int, ...], arb], copies: int) -> arb:
    """``P(||median - F||_inf > t)`` from the law of one copy's pattern, by adding one copy at a time.

    What the law lacks to one counts as failing.
    """
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
