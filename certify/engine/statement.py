"""What a statement of a paper is to the engine: when it applies, what it measures, which inequalities it claims.

A statement never decides anything itself. It yields `Cases`, families of inequalities ``lhs <= rhs``;
comparison, refinement of precision, choice of the worst case and counting are done once, in
`certify.engine.decide_statement`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from flint import fmpq

from certify.arithmetic.arrays import CertifiedArray
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import Expression
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict

Witness = dict[str, Any]
ProblemT = TypeVar("ProblemT")
EvidenceT = TypeVar("EvidenceT")


@dataclass(frozen=True)
class ScalarCase:
    """One inequality between two numbers that can be evaluated at any precision.

    ``lhs`` and ``rhs`` are called at the current precision; two rationals are compared exactly. ``count``
    says for how many cases of the claim it stands, ``strict`` asks for ``<``. An ``auxiliary`` inequality
    is a step that would prove further cases (a grid that closes): where it fails, the claim is undecided,
    not refuted, and it is never shown as the worst case of a proof.
    """

    lhs: Callable[[], Scalar]
    rhs: Callable[[], Scalar]
    witness: Witness = field(default_factory=dict)
    count: int = 1
    strict: bool = False
    auxiliary: bool = False


@dataclass(frozen=True)
class ArrayCases:
    """``lhs <= rhs`` entrywise, at the precision of the evidence they came from.

    ``witness(index)`` describes one entry (index into the broadcast shape); ``count`` is the number of
    cases that all entries stand for.
    """

    lhs: CertifiedArray
    rhs: CertifiedArray
    witness: Callable[[tuple[int, ...]], Witness]
    count: int
    strict: bool = False
    auxiliary: bool = False


@dataclass(frozen=True)
class Worst:
    """The case nearest to failing (or the counterexample): both sides and where it is."""

    lhs: Enclosure
    rhs: Enclosure
    witness: Witness


@dataclass(frozen=True)
class StructuralCase:
    """Cases that hold for a reason that needs no number, such as a maximum being at least its members.

    ``shown`` gives the measured numbers of the worst of them, for the report.
    """

    reason: str
    count: int
    shown: Worst | None = None


Cases = ScalarCase | ArrayCases | StructuralCase


@dataclass(frozen=True, slots=True)
class ClosedInequality:
    """``lhs <= rhs`` (``<`` if strict), proved by Arb for these very expressions, which have no names.

    It stands for ``cases`` cases of the statement; the witness is that of the first.
    """

    lhs: Expression
    rhs: Expression
    strict: bool
    witness: Witness
    cases: int


@dataclass(frozen=True, slots=True)
class ClosedCases:
    """The closed inequalities of a statement, and how many of its cases are none, by reason."""

    inequalities: tuple[ClosedInequality, ...]
    left_out: Mapping[str, int]


class Statement(ABC, Generic[ProblemT, EvidenceT]):
    """One item of a paper. Subclasses set the four texts and say what they claim."""

    id: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    claim: ClassVar[str]

    def not_applicable(self, problem: ProblemT) -> str | None:
        """The hypothesis that fails on this problem, with the measured values, or None where the item applies.

        Raises `Undetermined` where the hypothesis cannot be decided.
        """
        return None

    def measurements(self, problem: ProblemT) -> tuple[Any, ...]:
        """The block measurements that `cases` will read."""
        return ()

    @abstractmethod
    def cases(self, evidence: EvidenceT) -> Iterator[Cases]:
        """The inequalities of the item on this problem, all of them."""


@dataclass(frozen=True)
class Outcome:
    """What the engine found on one statement.

    ``verdict`` is None where the item is not applicable. ``budget_used`` is lhs/rhs of the worst case where
    rhs > 0. ``notes`` name the routes by which cases without a number were proved. ``closed`` holds the proved
    inequalities between closed formulas, where they were asked for.
    """

    statement: type[Statement[Any, Any]]
    verdict: Verdict | None
    cases: int
    worst: Worst | None
    precision_bits: int
    seconds: float
    reason: str | None = None
    notes: tuple[str, ...] = ()
    closed: ClosedCases | None = None

    @property
    def budget_used(self) -> Enclosure | None:
        if self.worst is None:
            return None
        return share(self.worst.lhs, self.worst.rhs)


def share(lhs: Enclosure, rhs: Enclosure) -> Enclosure | None:
    """``lhs / rhs`` for a positive rhs, else None."""
    if lhs.lower is None or lhs.upper is None or rhs.lower is None or rhs.upper is None or rhs.lower <= 0:
        return None
    corners = [lhs.lower / rhs.lower, lhs.lower / rhs.upper, lhs.upper / rhs.lower, lhs.upper / rhs.upper]
    return Enclosure(_least(corners), -_least([-c for c in corners]))


def _least(values: list[fmpq]) -> fmpq:
    result = values[0]
    for value in values[1:]:
        result = min(result, value)
    return result
