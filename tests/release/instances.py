"""Instances for the tests of statements, made without a file, and the ways in which the tests run them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from reference import Database, Tiny

from certify.arithmetic.decide import decide_le
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import parse_expression
from certify.engine.decide_statement import Precision
from certify.engine.statement import ArrayCases, Outcome, ScalarCase
from certify.instance_file import read_instance_file
from certify.quantity import Quantity
from certify.release.check import CheckOptions, CheckResult, check, prepare
from certify.release.instance import (
    AlphaMechanism,
    Amplification,
    ExplicitMechanism,
    Mechanism,
    ReleaseInstance,
    TheoremMechanism,
    parse_release_instance,
)
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements import ALL_STATEMENT_IDS, ALL_STATEMENTS, STATEMENT_IDS
from certify.release.statements.base import ReleaseStatement
from constants.ledger import default_ledger

EXAMPLES = Path(__file__).parents[2] / "examples"

Number = str | int | fmpq


def quantity(value: Number) -> Quantity:
    """A parameter from the text of an expression or an exact number."""
    return Quantity(parse_expression(str(value)), {})


def explicit(rounds: int, eta: Number, gamma: Number) -> ExplicitMechanism:
    """The envelope mechanism with J, eta and gamma as given."""
    return ExplicitMechanism(rounds, quantity(eta), quantity(gamma))


def with_alpha(alpha: Number) -> AlphaMechanism:
    """The envelope mechanism with the choices (8.3)."""
    return AlphaMechanism(quantity(alpha))


def instance(
    values: Sequence[Sequence[Number]],
    database: Sequence[int] | None,
    epsilon: Number,
    mechanism: Mechanism,
    *,
    n: int | None = None,
    code_lengths: tuple[int, ...] = (1, 2),
    amplify: tuple[int, Number] | None = None,
) -> ReleaseInstance:
    """Elements d0, d1, ... and queries q0, q1, ...; ``database`` a histogram, or None with ``n`` for all of them."""
    rows = sum(database) if database is not None else n
    assert rows is not None
    return ReleaseInstance(
        universe=tuple(f"d{d}" for d in range(len(values[0]))),
        query_names=tuple(f"q{q}" for q in range(len(values))),
        query_values=tuple(tuple(fmpq(*_ratio(value)) for value in row) for row in values),
        n=rows,
        database=None if database is None else tuple(database),
        epsilon=quantity(epsilon),
        mechanism=mechanism,
        code_lengths=code_lengths,
        amplify=None if amplify is None else Amplification(amplify[0], quantity(amplify[1])),
    )


def _ratio(value: Number) -> tuple[int, int]:
    exact = quantity(value).exact()
    assert exact is not None
    return int(exact.p), int(exact.q)


def of_tiny(tiny: Tiny, x: Database | None, *, code_lengths: tuple[int, ...] = (1, 2)) -> ReleaseInstance:
    """The instance of the brute-force reference, on one database (rows) or, with None, on all of them."""
    return instance(
        tiny.values,
        None if x is None else histogram(x, tiny.universe_size),
        tiny.epsilon,
        explicit(tiny.rounds, tiny.eta, tiny.gamma),
        n=tiny.n,
        code_lengths=code_lengths,
    )


def histogram(x: Database, size: int) -> tuple[int, ...]:
    """How many rows of x each of the elements has."""
    counts = Counter(x)
    return tuple(counts[d] for d in range(size))


def zero_branch() -> ReleaseInstance:
    """The proof's mechanism where 2048 tau > 1: it outputs zero."""
    return instance([[1, 0, -1]], [1, 2, 0], 1, TheoremMechanism())


def example(name: str) -> ReleaseInstance:
    """An instance of the examples folder."""
    return parse_release_instance(read_instance_file(str(EXAMPLES / f"{name}.json")), STATEMENT_IDS)


def problem_of(given: ReleaseInstance, changes: Mapping[str, str] | None = None) -> ReleaseProblem:
    """The instance prepared, with some constants of the ledger changed."""
    ledger = default_ledger()
    return prepare(given, ledger.replaced(changes) if changes else ledger)


def run(
    given: ReleaseInstance,
    *statements: str,
    changes: Mapping[str, str] | None = None,
    options: CheckOptions | None = None,
) -> CheckResult:
    """Check the given statements (all for none) of an instance."""
    chosen = replace(options or CheckOptions(), statements=statements or None)
    return check(problem_of(given, changes), chosen)


def outcome(
    given: ReleaseInstance,
    statement: str,
    changes: Mapping[str, str] | None = None,
    options: CheckOptions | None = None,
) -> Outcome:
    """What checking one statement of an instance finds."""
    (found,) = run(given, statement, changes=changes, options=options).outcomes
    return found


@dataclass(frozen=True)
class Entry:
    """One inequality of a statement on an instance: both sides enclosed, and the case it is about.

    ``auxiliary`` marks a step of an argument; ``shown`` the measured numbers of a case proved by structure.
    """

    lhs: Enclosure
    rhs: Enclosure
    witness: Mapping[str, Any]
    auxiliary: bool = False
    shown: bool = False


def statement(statement_id: str) -> ReleaseStatement:
    """The statement with this id."""
    return ALL_STATEMENTS[ALL_STATEMENT_IDS.index(statement_id)]


def evidence_of(problem: ReleaseProblem, bits: int, statements: Sequence[str]) -> Evidence:
    """The evidence of one level on a problem, for these statements."""
    return problem.evidence_at(Precision(bits), [statement(name) for name in statements])


def entries(evidence: Evidence, statement_id: str) -> Iterator[Entry]:
    """Every inequality of a statement on this evidence, one by one."""
    with ctx.workprec(max(evidence.precision.bits, 64)):
        for case in statement(statement_id).cases(evidence):
            if isinstance(case, ScalarCase):
                found = decide_le(case.lhs, case.rhs, precision=64, max_precision=512)
                yield Entry(found.lhs, found.rhs, case.witness, case.auxiliary)
            elif isinstance(case, ArrayCases):
                yield from _array_entries(case)
            elif case.shown is not None:
                yield Entry(case.shown.lhs, case.shown.rhs, case.shown.witness, shown=True)


def _array_entries(case: ArrayCases) -> Iterator[Entry]:
    shape = np.broadcast_shapes(case.lhs.shape, case.rhs.shape)
    for index in np.ndindex(*shape):
        sides = []
        for side in (case.lhs, case.rhs):
            own = index[len(index) - len(side.shape) :]
            sides.append(side.enclosure(tuple(0 if n == 1 else i for i, n in zip(own, side.shape, strict=True))))
        yield Entry(sides[0], sides[1], case.witness(index), case.auxiliary)


def enclosing(value: arb) -> Enclosure:
    """The enclosure of a ball of the reference."""
    return Enclosure.of(value)


def relative_width(value: Enclosure) -> fmpq:
    """Width over upper end."""
    width = value.width()
    assert width is not None and value.upper is not None and value.upper > 0
    return width / value.upper
