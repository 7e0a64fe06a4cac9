"""Mutated claims: a constant of the ledger changed until the claim is false, which the tool has to find out.

A refutation is checked independently of the tool: both sides are recomputed from the witness, by brute force or
from the paper's formula with the changed constant, and have to be on the wrong sides of each other at 200 bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb
from instances import Entry, enclosing, entries, evidence_of, of_tiny, outcome, problem_of
from reference import Database, Tiny, at_reference_precision
from witness_sides import LEFT

from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance

Witness = Mapping[str, Any]
Side = Callable[[Tiny, Witness], arb]
SAMPLE = 8
SCALAR_BITS = 64
"""What a comparison of parameters starts at, whatever the level of the evidence."""


@dataclass(frozen=True)
class Mutation:
    """One changed claim on one instance.

    ``right`` recomputes the right side with the changed constants, ``left`` the left side where they change it.
    ``displays`` are quantities that the refuted cases have to name.
    ``given`` is the instance where `of_tiny` does not make it; then the unchanged claim is not run on it, since the
    changed constants may be what makes it small.
    """

    statement: str
    changes: Mapping[str, str]
    tiny: Tiny
    x: Database | None
    right: Side
    left: Side | None = None
    displays: tuple[str, ...] = ()
    given: ReleaseInstance | None = None
    strict: bool = False
    """Whether the claim is ``<``, so that equality refutes it."""

    def __str__(self) -> str:
        changed = ", ".join(f"{constant}={value}" for constant, value in self.changes.items())
        return f"{self.statement}: {changed}"

    @property
    def instance(self) -> ReleaseInstance:
        return of_tiny(self.tiny, self.x) if self.given is None else self.given

    def sides(self, witness: Witness) -> tuple[arb, arb]:
        """Both sides at the witness's case, at 200 bits."""
        left = LEFT[self.statement] if self.left is None else self.left
        return at_reference_precision(left)(self.tiny, witness), at_reference_precision(self.right)(self.tiny, witness)


def assert_refuted(mutation: Mutation, bits: int) -> None:
    """The changed claim is refuted, at a case that does refute it, as the other refuted cases do; the claim is not."""
    options = CheckOptions(precision=bits)
    found = outcome(mutation.instance, mutation.statement, mutation.changes, options)
    assert found.verdict is Verdict.REFUTED, (found.verdict, found.reason)
    assert found.worst is not None
    worst = Entry(found.worst.lhs, found.worst.rhs, found.worst.witness)
    assert_wrong(mutation, worst)
    level = found.precision_bits if found.precision_bits > SCALAR_BITS else bits
    evidence = evidence_of(problem_of(mutation.instance, mutation.changes), level, [mutation.statement])
    refuted = [entry for entry in entries(evidence, mutation.statement) if not entry.auxiliary and is_refuted(entry)]
    for entry in random.Random(str(mutation)).sample(refuted, min(SAMPLE, len(refuted))):
        assert_wrong(mutation, entry)
    for display in mutation.displays:
        named = [entry for entry in refuted if entry.witness["quantity"] == display]
        assert named, f"no case about {display} is refuted"
        assert_wrong(mutation, named[0])
    if mutation.given is not None:
        return
    unchanged = outcome(mutation.instance, mutation.statement, None, options)
    assert unchanged.verdict in (Verdict.PROVED, None), (unchanged.verdict, unchanged.reason)


def is_refuted(entry: Entry) -> bool:
    """Whether the left side is certainly above the right."""
    return entry.lhs.lower is not None and entry.rhs.upper is not None and entry.lhs.lower > entry.rhs.upper


def assert_wrong(mutation: Mutation, entry: Entry) -> None:
    """The recomputed sides agree with the reported ones, and they refute the claim."""
    left, right = mutation.sides(entry.witness)
    assert left >= right if mutation.strict else left > right, (entry, left, right)
    assert entry.lhs.overlaps(enclosing(left)), (entry, left)
    assert entry.rhs.overlaps(enclosing(right)), (entry, right)
