"""The two papers as the command sees them: how an instance of each is read, prepared, planned, checked and headed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from certify.engine.statement import Outcome
from certify.instance_file import InstanceTree
from certify.release.check import CheckOptions
from certify.report.model import InstanceIdentity, Quantity
from constants.ledger import Ledger


class TheoryPlan(Protocol):
    """What a check would evaluate; ``refusal`` is None, or why it is too much."""

    @property
    def refusal(self) -> str | None: ...


class TheoryResult(Protocol):
    """What a check found."""

    @property
    def quantities(self) -> Mapping[str, Quantity]: ...
    @property
    def outcomes(self) -> Sequence[Outcome]: ...


class Theory(ABC):
    """One paper. Modules are imported when an instance of it is met, so that each start pays only for its own."""

    name: str

    @abstractmethod
    def statement_ids(self) -> Sequence[str]:
        """The ids of its catalogue, in order."""

    @abstractmethod
    def parse(self, tree: InstanceTree, ledger: Ledger) -> Any:
        """An instance; what it leaves to the paper is as in the ledger. Raises InstanceError with every problem."""

    def prepare(self, instance: Any, ledger: Ledger) -> Any:
        """The problem. Raises `Undetermined` where a choice of the mechanism cannot be decided."""
        return self._module.prepare(instance, ledger)

    def plan(self, problem: Any, options: CheckOptions) -> TheoryPlan:
        """What a check would evaluate."""
        plan: TheoryPlan = self._module.plan(problem, options)
        return plan

    def check(self, problem: Any, options: CheckOptions, progress: Callable[[int, int], None]) -> TheoryResult:
        """Every statement decided."""
        result: TheoryResult = self._module.check(problem, options, progress)
        return result

    @property
    def _module(self) -> ModuleType:
        return import_module(f"certify.{self.name}.check")

    @abstractmethod
    def facts(
        self, identity: InstanceIdentity, problem: Any, plan: Any, options: CheckOptions
    ) -> list[tuple[str, str]]:
        """What is about to be done, as label and value."""


class ReleaseTheory(Theory):
    """Pure-DP statistical query release."""

    name = "release"

    def statement_ids(self) -> Sequence[str]:
        from certify.release.statements import ALL_STATEMENT_IDS

        return ALL_STATEMENT_IDS

    def parse(self, tree: InstanceTree, ledger: Ledger) -> Any:
        from certify.release.instance import parse_release_instance

        return parse_release_instance(tree, self.statement_ids())

    def facts(
        self, identity: InstanceIdentity, problem: Any, plan: Any, options: CheckOptions
    ) -> list[tuple[str, str]]:
        from certify.report.heading import release_facts

        return release_facts(identity, problem, plan, options)


class SelectionTheory(Theory):
    """Selection by the Sparse Vector Technique."""

    name = "selection"

    def statement_ids(self) -> Sequence[str]:
        from certify.selection.statements import STATEMENT_IDS

        return STATEMENT_IDS

    def parse(self, tree: InstanceTree, ledger: Ledger) -> Any:
        from certify.selection.instance import parse_selection_instance

        return parse_selection_instance(tree, self.statement_ids(), ledger)

    def facts(
        self, identity: InstanceIdentity, problem: Any, plan: Any, options: CheckOptions
    ) -> list[tuple[str, str]]:
        from certify.report.heading import identity_facts
        from certify.selection.facts import selection_facts

        return [*identity_facts(identity), *selection_facts(problem, plan)]


RELEASE = ReleaseTheory()
SELECTION = SelectionTheory()


def theory_of(tree: InstanceTree) -> Theory:
    """The theory an instance names; the release theory, whose reader says what is wrong, where it names none."""
    return SELECTION if tree.get("theory") == SELECTION.name else RELEASE
