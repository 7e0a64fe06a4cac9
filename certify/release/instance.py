"""An instance of the release paper: universe, queries, database, ε, mechanism, and what to check."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import lcm
from typing import NamedTuple, TypeVar

from flint import fmpq

from certify.arithmetic.expression import Number
from certify.instance_file import InstanceError, InstanceTree, JsonNumber, quoted
from certify.instance_node import Node, is_line, line_rule
from certify.quantity import Quantity
from certify.release.tuning import tuning_names

__all__ = [
    "AlphaMechanism", "Amplification", "ExplicitMechanism", "Mechanism", "Quantity", "ReleaseInstance",
    "TheoremMechanism", "TunedMechanism", "parse_release_instance",
]  # fmt: skip

MAX_NAME_LENGTH = 200
MAX_UNIVERSE = 10_000
MAX_QUERIES = 10_000
MAX_ROWS = 10**12
MAX_ROUNDS = 10**6
MAX_CODE_LENGTH = 4
MAX_COPIES = 10**5
MAX_DESCRIPTION_LENGTH = 1_000
MAX_DENOMINATOR_BITS = 1_024
MAX_STATEMENTS = 100

DEFAULT_CODE_LENGTHS = (1, 2)


@dataclass(frozen=True, slots=True)
class ExplicitMechanism:
    """The envelope mechanism with J = `rounds` ≥ 1, η = `eta` > 0 and 0 < γ = `gamma` ≤ 1."""

    rounds: int
    eta: Quantity
    gamma: Quantity


@dataclass(frozen=True, slots=True)
class AlphaMechanism:
    """The envelope mechanism with the choices (8.3) for 0 < α = `alpha` ≤ 1."""

    alpha: Quantity


@dataclass(frozen=True, slots=True)
class TheoremMechanism:
    """The mechanism in the proof of Theorem 1.1: the envelope at α = 2048τ if that is ≤ 1, else output 0."""


@dataclass(frozen=True, slots=True)
class TunedMechanism:
    """The mechanism in the proof of a smaller constant: its branch, J, η and γ from the tuning of `rung`."""

    rung: str


Mechanism = ExplicitMechanism | AlphaMechanism | TheoremMechanism | TunedMechanism


@dataclass(frozen=True, slots=True)
class Amplification:
    """`copies` ≥ 1 runs whose median must be within `error` > 0 (section 9)."""

    copies: int
    error: Quantity


@dataclass(frozen=True, slots=True)
class ReleaseInstance:
    """A checked instance.

    `universe` has T ≥ 1 distinct names, `query_values[q][d]` in [-1,1] is the value of query q at element d.
    `database` is the histogram over the universe, with sum `n` ≥ 1, or None for all databases of n rows.
    `statements` are the ids asked for, None for all.
    """

    universe: tuple[str, ...]
    query_names: tuple[str, ...]
    query_values: tuple[tuple[fmpq, ...], ...]
    n: int
    database: tuple[int, ...] | None
    epsilon: Quantity
    mechanism: Mechanism
    code_lengths: tuple[int, ...] = DEFAULT_CODE_LENGTHS
    statements: tuple[str, ...] | None = None
    amplify: Amplification | None = None
    description: str = ""


REQUIRED_FIELDS = {
    "schema": "write 1",
    "theory": 'write "release"',
    "universe": 'list the names of its elements, such as ["yes", "no"]',
    "queries": 'give by name one list of values in [-1,1] per query, such as {"is-yes": [1, 0]}',
    "database": 'give a list of rows, a histogram such as {"yes": 3, "no": 2}, or "all"',
    "epsilon": 'write a positive number or expression such as "1/2"',
    "mechanism": 'give {"rounds": …, "eta": …, "gamma": …}, {"alpha": …}, {"tuned": …} or "theorem"',
}
OPTIONAL_FIELDS = ("description", "n", "check")
EXPLICIT_FIELDS = {
    "rounds": "write an integer of at least 1",
    "eta": "write a positive number or expression",
    "gamma": "write a number or expression in (0,1]",
}
ALPHA_FIELDS = {"alpha": "write a number or expression in (0,1]"}
TUNED_FIELDS = {"tuned": 'name a rung of the smaller constant, such as "8"'}
CHECK_FIELDS = ("code_lengths", "statements", "amplify")
AMPLIFY_FIELDS = {
    "copies": "write an integer of at least 1",
    "error": "write a positive number or expression",
}

_Names = dict[str, Quantity | None]
_V = TypeVar("_V", int, str)


def parse_release_instance(tree: InstanceTree, known_statements: Collection[str]) -> ReleaseInstance:
    """The instance that `tree` describes; `known_statements` are the ids that `check.statements` may name.

    Raises InstanceError with every problem of the file. Bounds on ε, η, γ, α and the error are certified: an
    expression that 4,096 bits cannot separate from its bound is a problem, not a guess.
    """
    root = Node.root(tree)
    fields = root.fields(REQUIRED_FIELDS, OPTIONAL_FIELDS)
    description = _header(fields)
    universe = _universe(fields["universe"]) if "universe" in fields else {}
    size = fields["universe"].count if "universe" in fields else None
    queries = _queries(fields["queries"], size) if "queries" in fields else {}
    n, database = _database(root, fields, universe)
    sizes = {"n": n, "T": size, "k": len(queries) or None}
    names = {name: None if size is None else Quantity(Number(str(size)), {}) for name, size in sizes.items()}
    names["epsilon"] = epsilon = fields["epsilon"].quantity(names) if "epsilon" in fields else None
    mechanism = _mechanism(fields["mechanism"], names) if "mechanism" in fields else None
    if "mechanism" in fields and "alpha" in fields["mechanism"]:
        names["alpha"] = mechanism.alpha if isinstance(mechanism, AlphaMechanism) else None
    check = _check(fields["check"], names, known_statements) if "check" in fields else _Check()
    if root.problems:
        raise InstanceError(root.problems, tree.source)
    assert n is not None and epsilon is not None and mechanism is not None
    return ReleaseInstance(
        universe=tuple(universe),
        query_names=tuple(queries),
        query_values=tuple(queries.values()),
        n=n,
        database=database,
        epsilon=epsilon,
        mechanism=mechanism,
        code_lengths=check.code_lengths,
        statements=check.statements,
        amplify=check.amplify,
        description=description,
    )


def _header(fields: Mapping[str, Node]) -> str:
    """The description; checks schema and theory too."""
    schema, theory = fields.get("schema"), fields.get("theory")
    if schema and schema.value != JsonNumber("1"):
        schema.report(f"{schema.shown} is not a schema that this program reads: write 1")
    if theory and theory.value != "release":
        theory.report(f'{theory.shown} is not the theory of a release instance: write "release"')
    return (fields["description"].line(MAX_DESCRIPTION_LENGTH) or "") if "description" in fields else ""


def _universe(node: Node) -> dict[str, int]:
    """The position of each element."""
    positions: dict[str, int] = {}
    for element in node.elements(1, MAX_UNIVERSE, "elements"):
        name = element.line(MAX_NAME_LENGTH)
        if name in positions:
            element.report(f"{quoted(name)} is in the universe already: name each element once")
        elif name is not None:
            positions[name] = len(positions)
    return positions


def _queries(node: Node, universe_size: int | None) -> dict[str, tuple[fmpq, ...]]:
    queries = {}
    for name, values in node.entries(1, MAX_QUERIES, "queries").items():
        if not is_line(name, MAX_NAME_LENGTH):
            values.report(f"the query's name is not a printable text: {line_rule(MAX_NAME_LENGTH)}")
        queries[name] = _query(values, universe_size)
    if _common_denominator_is_large(value for values in queries.values() for value in values):
        node.report(
            f"the common denominator of all values has more than {MAX_DENOMINATOR_BITS:,} bits: "
            "round the values to fewer digits"
        )
    return queries


def _common_denominator_is_large(values: Iterable[fmpq]) -> bool:
    denominator = 1
    for value in values:
        denominator = lcm(denominator, int(value.q))
        if denominator.bit_length() > MAX_DENOMINATOR_BITS:
            return True
    return False


def _query(node: Node, universe_size: int | None) -> tuple[fmpq, ...]:
    values = []
    for element in (elements := node.elements(1, MAX_UNIVERSE, "values")):
        value = element.rational()
        if value is None:
            continue
        if not -1 <= value <= 1:
            element.report(f"{element.shown} is outside [-1,1]: scale the query so that its values lie in [-1,1]")
        values.append(value)
    if elements and universe_size is not None and len(elements) != universe_size:
        node.report(
            f"has {len(elements):,} {'value' if len(elements) == 1 else 'values'}, but the universe has "
            f"{universe_size:,} {'element' if universe_size == 1 else 'elements'}: "
            "give one value per element, in the order of the universe"
        )
    return tuple(values)


def _database(
    root: Node, fields: Mapping[str, Node], universe: Mapping[str, int]
) -> tuple[int | None, tuple[int, ...] | None]:
    """The number of rows and the histogram."""
    stated = fields["n"].integer(1, MAX_ROWS) if "n" in fields else None
    if "database" not in fields:
        return stated, None
    node = fields["database"]
    if node.value == "all":
        if "n" not in fields:
            root.report_missing("n", 'give the number of rows, since the database is "all"')
        return stated, None
    counts = _histogram(node, universe)
    if counts is None:
        return stated, None
    rows = sum(counts.values())
    if not 1 <= rows <= MAX_ROWS:
        node.report(f"has {rows:,} rows: give at least 1 and at most {MAX_ROWS:,}")
    elif stated is not None and stated != rows:
        fields["n"].report(f"{stated:,} is not the database's number of rows, {rows:,}: correct it or leave it out")
    return rows, tuple(counts.get(name, 0) for name in universe)


def _histogram(node: Node, universe: Mapping[str, int]) -> Mapping[str, int] | None:
    """The number of rows of each element that has any; None if there is a problem."""
    if isinstance(node.value, list):
        rows = node.elements(1, MAX_ROWS, "rows")
        names = [row.one_of(universe, _IN_UNIVERSE) if universe else row.string() for row in rows]
        known = [name for name in names if name is not None]
        return Counter(known) if known and len(known) == len(names) else None
    if not isinstance(node.value, dict):
        node.report(f"{node.shown} is not a database: {REQUIRED_FIELDS['database']}")
        return None
    counts = {}
    entries = node.entries(1, MAX_UNIVERSE, "elements")
    for name, entry in entries.items():
        count = entry.integer(0, MAX_ROWS)
        if universe and name not in universe:
            entry.report(f"{quoted(name)} is not {_IN_UNIVERSE}: {entry.suggestion(name, universe)}")
        elif count is not None:
            counts[name] = count
    return counts if entries and len(counts) == len(entries) else None


_IN_UNIVERSE = "an element of the universe"


def _mechanism(node: Node, names: _Names) -> Mechanism | None:
    if node.value == "theorem":
        return TheoremMechanism()
    if not isinstance(node.value, dict):
        node.report(f"{node.shown} is not a mechanism: {REQUIRED_FIELDS['mechanism']}")
        return None
    explicit = [name for name in EXPLICIT_FIELDS if name in node]
    if "tuned" in node:
        others = [name for name in (*ALPHA_FIELDS, *EXPLICIT_FIELDS) if name in node]
        if others:
            node.report(f"gives {' and '.join(['tuned', *others])}: keep tuned alone, or leave it out")
        rung = node.fields(TUNED_FIELDS, (*ALPHA_FIELDS, *EXPLICIT_FIELDS))["tuned"].one_of(tuning_names(), _RUNG)
        return None if rung is None else TunedMechanism(rung)
    if "alpha" in node:
        if explicit:
            node.report(f"gives {' and '.join(['alpha', *explicit])}: keep alpha alone, or rounds, eta and gamma")
        alpha = node.fields(ALPHA_FIELDS, EXPLICIT_FIELDS)["alpha"].quantity(names, at_most=1)
        return None if alpha is None else AlphaMechanism(alpha)
    fields = node.fields(EXPLICIT_FIELDS, ALPHA_FIELDS)
    rounds = fields["rounds"].integer(1, MAX_ROUNDS, _ROUNDS_REMEDY) if "rounds" in fields else None
    eta = fields["eta"].quantity(names) if "eta" in fields else None
    gamma = fields["gamma"].quantity(names, at_most=1) if "gamma" in fields else None
    if rounds is None or eta is None or gamma is None:
        return None
    return ExplicitMechanism(rounds, eta, gamma)


_RUNG = "a rung of the smaller constant"
_ROUNDS_REMEDY = ", since every round multiplies the transcripts by 2k and all of them are enumerated"


class _Check(NamedTuple):
    code_lengths: tuple[int, ...] = DEFAULT_CODE_LENGTHS
    statements: tuple[str, ...] | None = None
    amplify: Amplification | None = None


def _check(node: Node, names: _Names, known_statements: Collection[str]) -> _Check:
    fields = node.fields({}, CHECK_FIELDS)
    check = _Check()
    if "code_lengths" in fields:
        elements = fields["code_lengths"].elements(1, MAX_CODE_LENGTH, "code lengths")
        lengths = [(element, element.integer(1, MAX_CODE_LENGTH)) for element in elements]
        check = check._replace(code_lengths=_distinct(lengths))
    if "statements" in fields:
        elements = fields["statements"].elements(1, MAX_STATEMENTS, "statements")
        ids = [(element, element.one_of(known_statements, "the id of a statement")) for element in elements]
        check = check._replace(statements=_distinct(ids))
    if "amplify" in fields:
        check = check._replace(amplify=_amplification(fields["amplify"], names))
    return check


def _distinct(values: list[tuple[Node, _V | None]]) -> tuple[_V, ...]:
    """The values in order; one that comes again is reported at its node."""
    seen: dict[_V, None] = {}
    for node, value in values:
        if value is None:
            continue
        if value in seen:
            node.report(f"{node.shown} is listed already: remove it")
        seen[value] = None
    return tuple(seen)


def _amplification(node: Node, names: _Names) -> Amplification | None:
    fields = node.fields(AMPLIFY_FIELDS)
    copies = fields["copies"].integer(1, MAX_COPIES) if "copies" in fields else None
    error = fields["error"].quantity(names) if "error" in fields else None
    return None if copies is None or error is None else Amplification(copies, error)
