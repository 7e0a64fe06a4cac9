"""One file per part of the selection paper; `CATALOGUE` lists its statements in the order of the paper."""

from __future__ import annotations

from certify.selection.statements.base import SelectionStatement
from certify.selection.statements.compare import ComparisonPrivacyStatement
from certify.selection.statements.section4 import FromZeroConcentrated, LowerBoundConstants
from certify.selection.statements.section5 import Accuracy, PrintedAccuracy, StreamPrivacyTheorem, VariantPrivacy
from certify.selection.statements.section6_sampling import (
    PhaseBudget,
    PhaseInvariants,
    PhaseLengths,
    PrintedRunCount,
    PrintedStop,
    QueryCount,
    Reach,
    RunCount,
    SamplingTheorem,
)
from certify.selection.statements.section6_search import (
    BinarySearch,
    GeometricSearch,
    IntervalInvariant,
    IntervalLength,
    LinearScan,
    SearchQueries,
    SumEstimate,
)

CATALOGUE: tuple[SelectionStatement, ...] = (
    LowerBoundConstants(),
    FromZeroConcentrated(),
    StreamPrivacyTheorem(),
    VariantPrivacy(),
    PrintedAccuracy(),
    Accuracy(),
    ComparisonPrivacyStatement(),
    BinarySearch(),
    LinearScan(),
    IntervalInvariant(),
    IntervalLength(),
    GeometricSearch(),
    SearchQueries(),
    SumEstimate(),
    PhaseLengths(),
    PrintedRunCount(),
    RunCount(),
    PrintedStop(),
    PhaseBudget(),
    PhaseInvariants(),
    QueryCount(),
    SamplingTheorem(),
    Reach(),
)
"""Every statement of §§4-6, in the order of the paper."""

STATEMENT_IDS: tuple[str, ...] = tuple(statement.id for statement in CATALOGUE)
