"""Statements of the release paper on the built-in instances, under any ledger.

The instances together make every statement of the catalogue applicable. What they decide is about them alone:
a refutation is final, a proof is no proof for other instances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from certify.arithmetic.expression import ExpressionError
from certify.arithmetic.scalar import Undefined, Undetermined
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Outcome
from certify.instance_file import read_instance_file
from certify.release.check import CheckOptions, check, plan, prepare
from certify.release.instance import ReleaseInstance, parse_release_instance
from certify.release.statements import STATEMENT_IDS
from certify.report.figures import comparison
from certify.report.model import StatementVerdict
from constants.ledger import Ledger

INSTANCES = Path(__file__).with_name("instances")
OPTIONS = CheckOptions(max_pairs=5_000_000)
MAX_ROUNDS = 10_000


@dataclass(frozen=True)
class InstanceVerdict:
    """The verdict on a statement over all built-in instances to which it applies, and what decided it."""

    verdict: Verdict
    reason: str


def built_in_instances() -> dict[str, ReleaseInstance]:
    """The instances by name."""
    return {
        path.stem: parse_release_instance(read_instance_file(path), STATEMENT_IDS)
        for path in sorted(INSTANCES.glob("*.json"))
    }


def check_on_instances(ledger: Ledger, statements: Iterable[str]) -> Mapping[str, InstanceVerdict]:
    """Each release statement under the ledger: refuted where one instance refutes it."""
    wanted = tuple(each for each in STATEMENT_IDS if each in set(statements))
    if not wanted:
        return {}
    found: dict[str, list[tuple[str, Verdict | None, str]]] = {each: [] for each in wanted}
    for name, instance in built_in_instances().items():
        for statement, verdict, reason in _on_instance(ledger, instance, wanted):
            found[statement].append((name, verdict, reason))
    return {statement: _together(results) for statement, results in found.items()}


def _on_instance(
    ledger: Ledger, instance: ReleaseInstance, wanted: Sequence[str]
) -> list[tuple[str, Verdict | None, str]]:
    try:
        problem = prepare(instance, ledger)
        if problem.rounds > MAX_ROUNDS:  # the count of transcripts is a number of that many digits
            return [(each, Verdict.UNDECIDED, f"J is beyond {MAX_ROUNDS:,} rounds") for each in wanted]
        refusal = plan(problem, OPTIONS).refusal
        if refusal is not None:
            return [(each, Verdict.UNDECIDED, refusal) for each in wanted]
        options = CheckOptions(statements=tuple(wanted), max_pairs=OPTIONS.max_pairs)
        outcomes = check(problem, options).outcomes
    except (Undetermined, Undefined, ExpressionError) as error:
        return [(each, Verdict.UNDECIDED, str(error)) for each in wanted]
    return [(outcome.statement.id, outcome.verdict, _reason(outcome)) for outcome in outcomes]


def _reason(outcome: Outcome) -> str:
    if outcome.verdict is Verdict.REFUTED and outcome.worst is not None:
        return comparison(StatementVerdict.REFUTED, outcome.worst)
    return outcome.reason or ""


def _together(results: Sequence[tuple[str, Verdict | None, str]]) -> InstanceVerdict:
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED):
        for name, each, reason in results:
            if each is verdict:
                return InstanceVerdict(verdict, f"{name}.json: {reason}")
    proved = [name for name, each, _ in results if each is Verdict.PROVED]
    if not proved:
        return InstanceVerdict(Verdict.UNDECIDED, "its hypotheses hold on no built-in instance")
    return InstanceVerdict(Verdict.PROVED, f"proved on {', '.join(f'{name}.json' for name in proved)}")
