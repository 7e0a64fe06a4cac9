"""A report made by hand: one statement for each thing that a report can say."""

from collections.abc import Iterator
from typing import Any, ClassVar

from flint import fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, Outcome, Statement, Worst
from certify.report.environment import Environment
from certify.report.model import InstanceIdentity, Report, report_on

IDENTITY = InstanceIdentity("some/instance.json", "0123456789abcdef" * 4, "release")
ENVIRONMENT = Environment("0.0", "3.11.0", "0.9.0", "3.6.0")
TRANSCRIPT = ["+first", "+first", "-second"]
DATABASE = {"yes": 3, "no": 0, "maybe": 2}
WITNESS = {"database": DATABASE, "transcript": TRANSCRIPT, "R": 3, "quantity": "a ratio"}
QUANTITIES: dict[str, Enclosure | int | str] = {
    "Z": Enclosure(fmpq(106123, 100000), fmpq(106124, 100000)),
    "expected_error": Enclosure(fmpq(1, 3), fmpq(1, 3)),
    "alpha_0": Enclosure.of(fmpq(9, 8)),
    "branch": "explicit",
    "B": 6,
    "transcripts": 46656,
}


class _Statement(Statement[Any, Any]):
    def cases(self, evidence: Any) -> Iterator[Cases]:
        return iter(())


class Proved(_Statement):
    id: ClassVar[str] = "lemma-1"
    title: ClassVar[str] = "A bound that holds"
    source: ClassVar[str] = "§1, Lemma 1"
    claim: ClassVar[str] = "p ≤ q"


class Refuted(_Statement):
    id: ClassVar[str] = "lemma-2"
    title: ClassVar[str] = "A bound that fails"
    source: ClassVar[str] = "§2, Lemma 2"
    claim: ClassVar[str] = "p ≤ r"


class Undecided(_Statement):
    id: ClassVar[str] = "lemma-3"
    title: ClassVar[str] = "A bound that nobody knows"
    source: ClassVar[str] = "§3, Lemma 3"
    claim: ClassVar[str] = "p ≤ s"


class Inapplicable(_Statement):
    id: ClassVar[str] = "eq-4"
    title: ClassVar[str] = "A bound with a hypothesis"
    source: ClassVar[str] = "§4, (4)"
    claim: ClassVar[str] = "p ≤ t"


class Structural(_Statement):
    id: ClassVar[str] = "eq-5"
    title: ClassVar[str] = "A maximum is at least its members"
    source: ClassVar[str] = "§5, (5)"
    claim: ClassVar[str] = "p ≤ max p"


def between(lower: str, upper: str) -> Enclosure:
    """An enclosure from two fractions as text."""
    ends = [fmpq(*(int(part) for part in end.split("/"))) for end in (lower, upper)]
    return Enclosure(*ends)


PROVED = Outcome(
    Proved, Verdict.PROVED, 1200, Worst(between("137/10000", "138/10000"), Enclosure.of(1), WITNESS), 53, 0.25
)
REFUTED = Outcome(
    Refuted, Verdict.REFUTED, 77, Worst(between("5/4", "6/4"), between("11/10", "12/10"), WITNESS), 128, 0.5
)
UNDECIDED = Outcome(
    Undecided,
    Verdict.UNDECIDED,
    78,
    Worst(between("9/10", "11/10"), Enclosure.of(1), WITNESS),
    53,
    0.5,
    "1 of 3 comparisons cannot be separated",
)
GIVEN_UP = Outcome(Undecided, Verdict.UNDECIDED, 0, None, 53, 0.0, "it ranges over too many pairs")
INAPPLICABLE = Outcome(Inapplicable, None, 0, None, 53, 0.0, "the hypothesis κ ≤ 1 fails: κ ≥ 2")
STRUCTURAL = Outcome(Structural, Verdict.PROVED, 9, None, 53, 0.0, None, ("a maximum is at least its members",))


def sample(*outcomes: Outcome) -> Report:
    """The report of these outcomes."""
    return report_on(IDENTITY, ENVIRONMENT, QUANTITIES, outcomes)
