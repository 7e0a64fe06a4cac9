"""Statements of both papers on the built-in instances, under any ledger.

What the instances decide is about them alone: a refutation is final, a proof is no proof for other instances. A
statement that a paper prints wrongly (`thm-5.2.printed`) is refuted by one under the shipped ledger already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from certify.arithmetic.expression import ExpressionError
from certify.arithmetic.scalar import Undefined, Undetermined
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Outcome
from certify.instance_file import InstanceTree, read_instance_file
from certify.release.check import CheckOptions
from certify.report.figures import comparison
from certify.report.model import StatementVerdict
from certify.theory import RELEASE, SELECTION, Theory
from constants.ledger import Ledger

INSTANCES = Path(__file__).with_name("instances")
OPTIONS = CheckOptions(max_pairs=5_000_000)
MAX_ROUNDS = 10_000
"""Rounds beyond which the count of transcripts, a number of that many digits, is not formed."""

THEORIES = (RELEASE, SELECTION)

Result = tuple[str, Verdict | None, str]
"""An instance's file or a statement's id; what was decided, None where it does not apply; and the reason."""


@dataclass(frozen=True)
class InstanceVerdict:
    """The verdict on a statement over all built-in instances to which it applies, and what decided it."""

    verdict: Verdict
    reason: str


@cache
def built_in_instances(theory: Theory) -> Mapping[str, InstanceTree]:
    """The instances of a theory by name."""
    return {path.stem: read_instance_file(path) for path in sorted((INSTANCES / theory.name).glob("*.json"))}


def check_on_instances(ledger: Ledger, statements: Iterable[str]) -> Mapping[str, InstanceVerdict]:
    """Each statement of a catalogue under the ledger: refuted where one instance refutes it."""
    chosen = set(statements)
    verdicts: dict[str, InstanceVerdict] = {}
    for theory in THEORIES:
        wanted = [each for each in theory.statement_ids() if each in chosen]
        found: dict[str, list[Result]] = {each: [] for each in wanted}
        for name, tree in built_in_instances(theory).items() if wanted else ():
            for statement, verdict, reason in _on_instance(ledger, theory, tree, wanted):
                found[statement].append((f"{name}.json", verdict, reason))
        verdicts |= {statement: _together(results) for statement, results in found.items()}
    return verdicts


def _on_instance(ledger: Ledger, theory: Theory, tree: InstanceTree, wanted: Collection[str]) -> list[Result]:
    """The wanted statements that the instance is for (all, where its file names none): id, verdict and reason."""
    own: Collection[str] = wanted
    try:
        instance = theory.parse(tree, ledger)
        own = tuple(each for each in wanted if instance.statements is None or each in instance.statements)
        if not own:
            return []
        problem = theory.prepare(instance, ledger)
        if theory is RELEASE and problem.rounds > MAX_ROUNDS:
            return [(each, Verdict.UNDECIDED, f"J is beyond {MAX_ROUNDS:,} rounds") for each in own]
        refusal = theory.plan(problem, OPTIONS).refusal
        if refusal is not None:
            return [(each, Verdict.UNDECIDED, refusal) for each in own]
        options = CheckOptions(statements=own, max_pairs=OPTIONS.max_pairs)
        outcomes = theory.check(problem, options, _silent).outcomes
    except (Undetermined, Undefined, ExpressionError) as error:
        return [(each, Verdict.UNDECIDED, str(error)) for each in own]
    return [(outcome.statement.id, outcome.verdict, _reason(outcome)) for outcome in outcomes]


def _silent(done: int, total: int) -> None:
    """No progress is shown: the instances are small."""


def _reason(outcome: Outcome) -> str:
    if outcome.verdict is Verdict.REFUTED and outcome.worst is not None:
        return comparison(StatementVerdict.REFUTED, outcome.worst)
    return outcome.reason or ""


def _together(results: Sequence[Result]) -> InstanceVerdict:
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED):
        for name, each, reason in results:
            if each is verdict:
                return InstanceVerdict(verdict, f"{name}: {reason}")
    proved = [name for name, each, _ in results if each is Verdict.PROVED]
    if not proved:
        return InstanceVerdict(Verdict.UNDECIDED, "its hypotheses hold on no built-in instance")
    return InstanceVerdict(Verdict.PROVED, f"proved on {', '.join(proved)}")
