"""An instance of the selection paper: one stream, selection run or other mechanism, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from flint import fmpq

from certify.instance_file import InstanceError, InstanceTree, JsonNumber
from certify.instance_node import Node
from certify.selection.instance_mechanisms import (
    read_comparison,
    read_exponential,
    read_rounded_laplace,
    read_selection,
)
from certify.selection.instance_model import (
    ComparisonSpec,
    Kind,
    PrivacyLevel,
    SelectionInstance,
    SelectionSpec,
)
from certify.selection.instance_stream import read_stream
from constants.ledger import Ledger, default_ledger

__all__ = ["SelectionInstance", "parse_selection_instance"]

MAX_DESCRIPTION_LENGTH = 1_000
MAX_STATEMENTS = 100
LEAST_EPSILON, GREATEST_EPSILON = fmpq(1, 10**30), fmpq(10**6)

REQUIRED_FIELDS = {"schema": "write 1", "theory": 'write "selection"'}
KINDS: dict[str, Callable[[Node, PrivacyLevel | None, Ledger], Kind | None]] = {
    "stream": read_stream,
    "selection": lambda node, level, _: read_selection(node, level),
    "exponential": lambda node, level, _: read_exponential(node, level),
    "rounded-laplace": lambda node, level, _: read_rounded_laplace(node, level),
    "compare-to-thresholds": read_comparison,
}
OPTIONAL_FIELDS = ("description", "epsilon", "exp_epsilon", "beta", "delta", "check")
CHECK_FIELDS = ("statements",)


def parse_selection_instance(
    tree: InstanceTree, known_statements: Collection[str], ledger: Ledger | None = None
) -> SelectionInstance:
    """The instance that `tree` describes; `known_statements` are the ids that `check.statements` may name.

    Scales that it leaves out are the paper's, as in the ledger (the shipped one, if none is given).

    Raises InstanceError with every problem of the file.
    """
    root = Node.root(tree)
    fields = root.fields(REQUIRED_FIELDS, (*OPTIONAL_FIELDS, *KINDS))
    description = _header(fields)
    level = _level(root, fields)
    beta = _probability(fields, "beta")
    delta = _probability(fields, "delta")
    statements = _statements(fields["check"], known_statements) if "check" in fields else None
    named = [name for name in KINDS if name in fields]
    kind = None
    if len(named) == 1:
        kind = KINDS[named[0]](fields[named[0]], level, ledger or default_ledger())
    else:
        root.report(f"needs exactly one of {', '.join(KINDS)}: it gives {' and '.join(named) or 'none'}")
    if isinstance(kind, SelectionSpec) and "beta" not in fields:
        root.report_missing("beta", "give the failure probability, a number in (0,1)")
    if isinstance(kind, ComparisonSpec) and "delta" not in fields:
        root.report_missing("delta", "give the δ of (ε,δ)-differential privacy, a number in (0,1)")
    if root.problems:
        raise InstanceError(root.problems, tree.source)
    assert kind is not None and level is not None
    return SelectionInstance(level, beta, delta, kind, statements, description)


def _header(fields: Mapping[str, Node]) -> str:
    schema, theory = fields.get("schema"), fields.get("theory")
    if schema and schema.value != JsonNumber("1"):
        schema.report(f"{schema.shown} is not a schema that this program reads: write 1")
    if theory and theory.value != "selection":
        theory.report(f'{theory.shown} is not the theory of a selection instance: write "selection"')
    return (fields["description"].line(MAX_DESCRIPTION_LENGTH) or "") if "description" in fields else ""


def _level(root: Node, fields: Mapping[str, Node]) -> PrivacyLevel | None:
    given = [name for name in ("epsilon", "exp_epsilon") if name in fields]
    if len(given) != 1:
        root.report('needs epsilon, a rational such as "1/2", or else exp_epsilon, the rational e^epsilon: give one')
        return None
    node = fields[given[0]]
    value = node.rational()
    if value is None:
        return None
    if given[0] == "epsilon":
        if not LEAST_EPSILON <= value <= GREATEST_EPSILON:
            node.report(f"{node.shown} is outside [10^-30, 10^6]: write a positive rational in that range")
            return None
        return PrivacyLevel(epsilon=value)
    if value <= 1:
        node.report(f"{node.shown} is not above 1: e^epsilon of a positive epsilon is")
        return None
    return PrivacyLevel(exp_epsilon=value)


def _probability(fields: Mapping[str, Node], name: str) -> fmpq | None:
    if name not in fields:
        return None
    value = fields[name].rational()
    if value is not None and not 0 < value < 1:
        fields[name].report(f"{fields[name].shown} is outside (0,1): write a probability such as 0.05")
    return value


def _statements(node: Node, known: Collection[str]) -> tuple[str, ...] | None:
    fields = node.fields({}, CHECK_FIELDS)
    if "statements" not in fields:
        return None
    seen: dict[str, None] = {}
    for element in fields["statements"].elements(1, MAX_STATEMENTS, "statements"):
        name = element.one_of(known, "the id of a statement")
        if name is not None and name in seen:
            element.report(f"{element.shown} is listed already: remove it")
        elif name is not None:
            seen[name] = None
    return tuple(seen)
