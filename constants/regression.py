"""What `check` decides: every relation, every recorded enclosure, and on a change the statements that depend on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from certify.arithmetic.verdict import Verdict, conjunction
from constants.difference import Order
from constants.golden import Comparison, Recorded, compare
from constants.instance_checks import THEORIES, InstanceVerdict, check_on_instances
from constants.ledger import Ledger
from constants.relations import Proof, prove_all
from constants.universal_checks import ClaimVerdict, check_claims, is_misprint, statement_of

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Dependent:
    """A statement that depends on a changed constant, and whether it still holds.

    REFUTED when a built-in instance or a universal claim fails, or a relation of its constants: then the
    paper's proof no longer closes, whether or not the statement is true. PROVED only when universal claims of
    the statement speak of every changed constant that it uses, all of them are proved, and nothing else is undecided:
    instances alone prove nothing for all parameters. None for a misprint that is refuted, as it should be.
    """

    statement: str
    constants: tuple[str, ...]
    relations: tuple[Proof, ...]
    instances: InstanceVerdict | None
    claims: tuple[ClaimVerdict, ...]

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The changed constants of which no universal claim of the statement speaks."""
        return tuple(each for each in self.constants if not any(each in claim.constants for claim in self.claims))

    @property
    def is_refuted(self) -> bool:
        """Whether an instance or a universal claim refutes the statement itself, not only its proof."""
        on_instances = self.instances is not None and self.instances.verdict is Verdict.REFUTED
        return on_instances or any(claim.verdict is Verdict.REFUTED for claim in self.claims)

    @property
    def verdict(self) -> Verdict | None:
        if is_misprint(self.statement):
            return None if self.is_refuted else Verdict.UNDECIDED
        verdicts = [proof.verdict for proof in self.relations] + [claim.verdict for claim in self.claims]
        if self.instances is not None:
            verdicts.append(self.instances.verdict)
        together = conjunction(verdicts)
        return Verdict.UNDECIDED if together is Verdict.PROVED and self.uncovered else together

    @property
    def answer(self) -> str:
        """Whether the statement still holds, in words."""
        if is_misprint(self.statement):
            return "refuted, as before" if self.is_refuted else "undecided"
        if self.is_refuted:
            return "REFUTED"
        if self.verdict is Verdict.REFUTED:
            return "NOT PROVED: a relation fails"
        return "proved for all parameters" if self.verdict is Verdict.PROVED else "undecided"


@dataclass(frozen=True)
class Regression:
    """The result of a check. `shipped` says that the ledger is the package's own, which must be as recorded."""

    proofs: Sequence[Proof]
    comparisons: Sequence[Comparison]
    shipped: bool
    dependents: Sequence[Dependent] = field(default=())

    @property
    def changes(self) -> list[Comparison]:
        """The comparisons that did not come out the same."""
        return [each for each in self.comparisons if each.order is not Order.SAME]

    @property
    def verdict(self) -> Verdict:
        """REFUTED where anything fails, an unrecorded change of the shipped ledger included."""
        verdicts = [proof.verdict for proof in self.proofs]
        verdicts += [each.verdict for each in self.dependents if each.verdict is not None]
        verdicts += [_of_comparison(each, self.shipped) for each in self.changes]
        return conjunction(verdicts)


def _of_comparison(comparison: Comparison, shipped: bool) -> Verdict:
    if comparison.order is Order.CONTRADICTED or shipped:
        return Verdict.REFUTED
    return Verdict.UNDECIDED if comparison.order is Order.UNDECIDED else Verdict.PROVED


def check(ledger: Ledger, records: Mapping[str, Recorded], *, shipped: bool, progress: Progress) -> Regression:
    """Every relation and every enclosure, and where a constant changed, every statement that depends on it."""
    progress("relations and enclosures")
    proofs, comparisons = prove_all(ledger), compare(ledger, records)
    changed = [each.id for each in comparisons if each.order is not Order.SAME and each.id in ledger.constants]
    recorded = [each for each in changed if each in records]
    return Regression(proofs, comparisons, shipped, dependents(ledger, recorded, proofs, progress))


def dependents(
    ledger: Ledger, changed: Collection[str], proofs: Sequence[Proof], progress: Progress
) -> list[Dependent]:
    """The statements that use a changed constant, those whose claims do, and those that a failing relation is for."""
    if not changed:
        return []
    moved = [proof for proof in proofs if _ids(proof, ledger) & set(changed)]
    progress("universal claims")
    claims = check_claims(ledger, changed)
    known = {statement for constant in ledger.constants.values() for statement in constant.used_by}
    uses: dict[str, set[str]] = {}
    for constant_id in changed:
        for statement in ledger[constant_id].used_by:
            uses.setdefault(statement, set()).add(constant_id)
    for claim in claims:
        uses.setdefault(statement_of(claim.id, known), set()).update(set(claim.constants) & set(changed))
    for proof in moved:
        if proof.verdict is not Verdict.PROVED:
            for statement in proof.constant.used_by:
                uses.setdefault(statement, set()).update(_ids(proof, ledger) & set(changed))
    progress("built-in instances")
    on_instances = check_on_instances(ledger, uses)
    catalogues = [statement for theory in THEORIES for statement in theory.statement_ids()]
    order = {statement: index for index, statement in enumerate(catalogues)}
    return [
        Dependent(
            statement=statement,
            constants=tuple(each for each in changed if each in uses[statement]),
            relations=tuple(p for p in moved if statement in p.constant.used_by and not is_misprint(statement)),
            instances=on_instances.get(statement),
            claims=tuple(claim for claim in claims if statement_of(claim.id, known) == statement),
        )
        for statement in sorted(uses, key=lambda each: (order.get(each, len(order)), each))
    ]


def _ids(proof: Proof, ledger: Ledger) -> set[str]:
    return {ledger.named(name).id for name in proof.relation.names()}
