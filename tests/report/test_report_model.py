from itertools import product

import pytest
from sample_report import GIVEN_UP, INAPPLICABLE, PROVED, REFUTED, STRUCTURAL, UNDECIDED, sample

from certify.engine.statement import Outcome
from certify.report.model import StatementVerdict, Summary


def test_every_outcome_keeps_its_verdict_and_texts() -> None:
    report = sample(PROVED, REFUTED, UNDECIDED, INAPPLICABLE)
    assert [s.verdict.value for s in report.statements] == [
        "proved",
        "refuted",
        "undecided",
        "not applicable",
    ]
    first = report.statements[0]
    assert (first.id, first.title, first.source, first.claim) == (
        "lemma-1",
        "A bound that holds",
        "§1, Lemma 1",
        "p ≤ q",
    )
    assert first.budget_used == PROVED.budget_used
    assert report.statements[3].reason == "the hypothesis κ ≤ 1 fails: κ ≥ 2"


@pytest.mark.parametrize("outcome", [PROVED, REFUTED, UNDECIDED, STRUCTURAL], ids=lambda o: o.statement.id)
def test_what_was_looked_at_is_exhaustive(outcome: Outcome) -> None:
    (statement,) = sample(outcome).statements
    assert statement.coverage == "exhaustive"
    assert statement.precision_bits == outcome.precision_bits


@pytest.mark.parametrize("outcome", [GIVEN_UP, INAPPLICABLE], ids=["given up", "not applicable"])
def test_what_was_never_looked_at_claims_no_coverage(outcome: Outcome) -> None:
    (statement,) = sample(outcome).statements
    assert statement.coverage is None
    assert statement.precision_bits is None


@pytest.mark.parametrize("counts", list(product((0, 2), repeat=4)))
def test_the_overall_verdict_is_the_gravest(counts: tuple[int, int, int, int]) -> None:
    proved, refuted, undecided, _ = counts
    verdict = Summary(*counts).verdict
    if refuted:
        assert verdict is StatementVerdict.REFUTED
    elif undecided:
        assert verdict is StatementVerdict.UNDECIDED
    else:
        assert verdict is (StatementVerdict.PROVED if proved else StatementVerdict.NOT_APPLICABLE)


def test_the_summary_counts() -> None:
    assert sample(PROVED, STRUCTURAL, REFUTED, GIVEN_UP, INAPPLICABLE).summary == Summary(2, 1, 1, 1)
    assert sample().summary.verdict is StatementVerdict.NOT_APPLICABLE
