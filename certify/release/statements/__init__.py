"""One file per section of the release paper; `CATALOGUE` lists its statements in the order of the paper.

The files `better_*.py` hold the steps of the smaller constant, `BETTER_CATALOGUE` in their order: they are about
instances whose mechanism is tuned, and no others list them.
"""

from __future__ import annotations

from certify.release.statements.appendix import BoundedLikelihoodRatio, Hedge, RenyiMaximum, SoftmaxGap
from certify.release.statements.base import ReleaseStatement
from certify.release.statements.better_histogram import HistogramBound, HistogramError, HistogramPrivacy, NoiseMean
from certify.release.statements.better_lemmas import BETTER_LEMMAS
from certify.release.statements.better_theorem import (
    BetterBlockSums,
    BetterChoice,
    BetterError,
    BetterTheorem,
    ThresholdStep,
)
from certify.release.statements.section2 import Sensitivity
from certify.release.statements.section3 import BaseError, RobustUtility, TranscriptRenyi, UtilityPath
from certify.release.statements.section4 import AnswerPrivacy, Normaliser, TranscriptPrivacy
from certify.release.statements.section5 import JensenStep, MaureyBound, SurrogateMean
from certify.release.statements.section6 import BallBound, FarBalls, IntegerMoment, NearBalls
from certify.release.statements.section7 import (
    BlockBound,
    BlockIndex,
    BlockSummation,
    Damping,
    EnvelopeError,
    EnvelopeNormaliser,
    GrowthCondition,
)
from certify.release.statements.section8 import (
    FinalError,
    GrowthFromPremise,
    LinearTerm,
    MainTheorem,
    ParameterChoice,
)
from certify.release.statements.section9 import MedianAmplification, RadiusSum

CATALOGUE: tuple[ReleaseStatement, ...] = (
    Sensitivity(),
    BoundedLikelihoodRatio(),
    Hedge(),
    SoftmaxGap(),
    RenyiMaximum(),
    TranscriptRenyi(),
    UtilityPath(),
    RobustUtility(),
    BaseError(),
    TranscriptPrivacy(),
    AnswerPrivacy(),
    Normaliser(),
    SurrogateMean(),
    JensenStep(),
    MaureyBound(),
    IntegerMoment(),
    NearBalls(),
    FarBalls(),
    BallBound(),
    GrowthCondition(),
    BlockIndex(),
    BlockBound(),
    BlockSummation(),
    Damping(),
    EnvelopeNormaliser(),
    EnvelopeError(),
    ParameterChoice(),
    GrowthFromPremise(),
    LinearTerm(),
    FinalError(),
    MainTheorem(),
    RadiusSum(),
    MedianAmplification(),
)
"""Every statement of the release paper, in its order (the appendix where it is first used)."""

STATEMENT_IDS: tuple[str, ...] = tuple(statement.id for statement in CATALOGUE)
"""The ids of `CATALOGUE`."""

BETTER_CATALOGUE: tuple[ReleaseStatement, ...] = (
    ThresholdStep(),
    *BETTER_LEMMAS,
    BetterBlockSums(),
    BetterError(),
    BetterChoice(),
    HistogramPrivacy(),
    NoiseMean(),
    HistogramError(),
    HistogramBound(),
    BetterTheorem(),
)
"""The steps BC-1 to BC-10 of the smaller constant, in their order, and its theorem."""

ALL_STATEMENTS: tuple[ReleaseStatement, ...] = (*CATALOGUE, *BETTER_CATALOGUE)

ALL_STATEMENT_IDS: tuple[str, ...] = tuple(statement.id for statement in ALL_STATEMENTS)
"""What an instance or the command may ask for."""
