"""§§2-3: the sensitivity of the signed answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from certify.engine.statement import Cases, StructuralCase
from certify.release.problem import Evidence
from certify.release.statements.base import ReleaseStatement, database_witness, exact_case


class Sensitivity(ReleaseStatement):
    """``d_*(a(x), a(y)) <= d_H(x, y)`` for every pair of databases, in exact rationals."""

    id: ClassVar[str] = "eq-2.sensitivity"
    title: ClassVar[str] = "Sensitivity of the answers"
    source: ClassVar[str] = "§3"
    claim: ClassVar[str] = "d_*(a(x),a(y)) ≤ d_H(x,y)"
    about_transcripts = False

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        domain, targets = problem.domain, problem.dataset_targets
        table = np.array(targets.numerators, dtype=object)[targets.of_histogram]
        factor = problem.ledger.rational("sensitivity")
        for centre in problem.centres:
            others = np.array([h for h in range(domain.histogram_count) if h != centre], dtype=np.int64)
            if not len(others):
                yield StructuralCase("T = 1: there is one database", 1)
                continue
            gaps = np.abs(table[others] - table[centre]).max(axis=1) * domain.rows
            distances = domain.distances_from(domain.histograms[centre])[others].astype(object) * (2 * targets.scale)

            def witness(i: int, centre: int = centre, others: Any = others) -> dict[str, Any]:
                return {
                    "database": database_witness(problem, centre),
                    "rival": database_witness(problem, int(others[i])),
                }

            yield exact_case(gaps, distances, 2 * targets.scale, factor, witness, len(others))
