"""Relations between constants: each is proved again, and how much room it leaves is computed, not typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from certify.arithmetic.decide import decide_le, decide_lt
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import Expression, ExpressionError, Operation
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict
from certify.claims.calculus import substituted
from certify.claims.normal_form import normal_form
from certify.claims.relation import Relation
from certify.engine.statement import share
from constants.ledger import Constant, Ledger

FIRST_PRECISION = 64
MAX_PRECISION = 4096

UNKNOWN = Enclosure(None, None)


@dataclass(frozen=True)
class Proof:
    """The verdict on one relation of a constant, with enclosures of both sides.

    `tie` says that the sides are equal: as rational numbers, or by an identity of polynomials in what is not
    rational, which no enclosure could show.
    """

    constant: Constant
    relation: Relation
    verdict: Verdict
    lhs: Enclosure
    rhs: Enclosure
    tie: bool
    reason: str = ""

    @property
    def slack(self) -> Enclosure:
        """The share of the right side that is left, `1 - lhs/rhs`: 0 for a tie, negative where refuted.

        Unbounded where the right side is not certainly positive.
        """
        if self.tie:
            return Enclosure.of(0)
        used = share(self.lhs, self.rhs)
        if used is None or used.lower is None or used.upper is None:
            return UNKNOWN
        return Enclosure(1 - used.upper, 1 - used.lower)


def prove(constant: Constant, relation: Relation, values: Mapping[str, Expression]) -> Proof:
    """The relation of `constant` decided, where each name has the value that `values` gives it."""
    lhs, rhs = substituted(relation.lhs, values), substituted(relation.rhs, values)
    decide = decide_lt if relation.strict else decide_le
    try:
        decision = decide(_side(lhs), _side(rhs), precision=FIRST_PRECISION, max_precision=MAX_PRECISION)
    except ExpressionError as error:
        return Proof(constant, relation, Verdict.UNDECIDED, UNKNOWN, UNKNOWN, False, str(error))
    verdict, reason = decision.verdict, decision.reason
    tie = decision.lhs.is_exact and decision.lhs == decision.rhs
    if verdict is Verdict.UNDECIDED and _is_number(decision.lhs) and _is_number(decision.rhs) and identical(lhs, rhs):
        tie, reason = True, ""
        verdict = Verdict.REFUTED if relation.strict else Verdict.PROVED
    return Proof(constant, relation, verdict, decision.lhs, decision.rhs, tie, reason)


def prove_all(ledger: Ledger) -> list[Proof]:
    """Every relation of the ledger decided, in its order."""
    return prove_of(ledger.constants.values(), ledger.expressions)


def prove_of(constants: Iterable[Constant], values: Mapping[str, Expression]) -> list[Proof]:
    """Every relation of the constants decided."""
    return [prove(constant, relation, values) for constant in constants for relation in constant.relations]


def tightest(proofs: Iterable[Proof]) -> Proof | None:
    """The proof that leaves the least room; None where none leaves a known room."""
    known = [(least, proof) for proof in proofs if (least := proof.slack.lower) is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None


def identical(lhs: Expression, rhs: Expression) -> bool:
    """Whether two expressions, both defined, are equal by an identity of polynomials in their irrational parts."""
    try:
        return normal_form(Operation("-", lhs, rhs)).numerator.is_zero()
    except ExpressionError:
        return False


def _side(expression: Expression) -> Callable[[], Scalar]:
    return lambda: expression.value({})


def _is_number(enclosure: Enclosure) -> bool:
    """Whether the enclosure is bounded, so that the side it is of is defined."""
    return enclosure.lower is not None and enclosure.upper is not None


def as_printed(constant: Constant, ledger: Ledger) -> tuple[Verdict, Proof | None]:
    """What the relations say of the printed value of a constant, and the relation that refutes it.

    Every relation that mentions the constant is tried with its printed value; one that still holds is tried
    with all printed values that occur in it. PROVED when none fails. Raises ValueError for a constant whose
    printed value is the ledger's.
    """
    if constant.printed is None:
        raise ValueError(f"{constant.id} is printed as it stands in the ledger")
    alone = {**ledger.expressions, constant.name: constant.printed}
    together = dict(ledger.expressions)
    for other in ledger.constants.values():
        if other.printed is not None:
            together[other.name] = other.printed
    proofs = []
    for values in (alone, together):
        for owner in ledger.constants.values():
            for relation in owner.relations:
                if constant.name in relation.names():
                    proofs.append(prove(owner, relation, values))
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED):
        for proof in proofs:
            if proof.verdict is verdict:
                return verdict, proof
    return Verdict.PROVED, None
