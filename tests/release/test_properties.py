"""What a change of the instance changes in the report, and what it leaves alone.

Rows, names, and the order of elements and of queries carry no meaning; nor does the sign of a query, since S holds
both copies. Duplicating every query splits each transcript into 2^J equally likely ones and changes nothing but k.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any

from flint import arb, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from instances import of_tiny, run
from reference import Database, Tiny, at_reference_precision, databases

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Worst
from certify.instance_file import read_instance_file
from certify.release.check import CheckResult
from certify.release.instance import ReleaseInstance, parse_release_instance
from certify.release.statements import STATEMENT_IDS
from certify.report.json_report import plain

VALUES = st.sampled_from([fmpq(1), fmpq(-1), fmpq(0), fmpq(1, 3), fmpq(-1, 2)])


@st.composite
def tinies(draw: st.DrawFn) -> tuple[Tiny, Database]:
    """T <= 3, k <= 2, n <= 2, J <= 2, and one database."""
    size, queries = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    values = tuple(tuple(draw(VALUES) for _ in range(size)) for _ in range(queries))
    epsilon = draw(st.sampled_from([fmpq(1, 10), fmpq(1), fmpq(4, 3), fmpq(7)]))
    eta = draw(st.sampled_from([fmpq(1, 2048), fmpq(1, 5), fmpq(2), fmpq(9), fmpq(400)]))
    gamma = draw(st.sampled_from([fmpq(1, 16), fmpq(2, 3), fmpq(1)]))
    tiny = Tiny(values, draw(st.integers(1, 2)), epsilon, draw(st.integers(1, 2)), eta, gamma)
    return tiny, draw(st.sampled_from(databases(tiny)))


LEVELS = Tiny(((fmpq(1), fmpq(0), fmpq(-1)), (fmpq(1, 3), fmpq(-1), fmpq(1))), 2, fmpq(1), 2, fmpq(2), fmpq(1, 2))
ALIKE = Tiny(((fmpq(1), fmpq(1), fmpq(-1)), (fmpq(1), fmpq(1), fmpq(-1))), 2, fmpq(1), 2, fmpq(400), fmpq(1))
CONSTANT = Tiny(((fmpq(1, 3), fmpq(1, 3)), (fmpq(1), fmpq(-1))), 2, fmpq(7), 2, fmpq(1, 5), fmpq(1, 16))
SINGLETON = Tiny(((fmpq(1, 2),),), 2, fmpq(1), 2, fmpq(1), fmpq(1, 2))


def property_of(test: Callable[..., None]) -> Callable[..., None]:
    """A property with its hard cases: unequal queries, equal ones with equal elements, a constant one, one element."""
    for tiny, x in ((LEVELS, (0, 2)), (ALIKE, (0, 2)), (CONSTANT, (0, 1)), (SINGLETON, (0, 0))):
        test = example(case=(tiny, x))(test)
    return settings(max_examples=6, derandomize=True)(given(case=tinies())(test))


# rows and names


def test_the_order_of_rows_is_not_in_the_instance(tmp_path: Path) -> None:
    rows = ["a", "b", "b", "c", "a", "b"]
    read = [_read(tmp_path, order) for order in (rows, rows[::-1], sorted(rows), {"a": 2, "b": 3, "c": 1})]
    assert all(other == read[0] for other in read)
    assert _read(tmp_path, [*rows[:-1], "a"]) != read[0]


def _read(folder: Path, database: Any) -> ReleaseInstance:
    path = folder / "instance.json"
    fields = {
        "schema": 1,
        "theory": "release",
        "universe": ["a", "b", "c"],
        "queries": {"q": [1, 0, -1]},
        "database": database,
        "epsilon": 1,
        "mechanism": {"rounds": 2, "eta": 1, "gamma": "1/2"},
    }
    path.write_text(json.dumps(fields), encoding="utf-8")
    return parse_release_instance(read_instance_file(str(path)), STATEMENT_IDS)


@property_of
def test_renaming_changes_names_alone(case: tuple[Tiny, Database]) -> None:
    """Every number of the report stays the same to the last bit; witnesses name the new elements and queries."""
    first = of_tiny(*case)
    elements = tuple(f"element-{name[1:]}" for name in first.universe)
    queries = tuple(f"query-{name[1:]}" for name in first.query_names)
    before, after = run(first), run(replace(first, universe=elements, query_names=queries))
    assert before.quantities == after.quantities
    for old, new in zip(before.outcomes, after.outcomes, strict=True):
        assert (old.verdict, old.cases, old.reason, old.notes) == (new.verdict, new.cases, new.reason, new.notes)
        assert (old.worst is None) == (new.worst is None)
        if old.worst is not None and new.worst is not None:
            assert (old.worst.lhs, old.worst.rhs) == (new.worst.lhs, new.worst.rhs)
            assert _renamed(old.worst) == json.dumps(plain(new.worst.witness))


def _renamed(worst: Worst) -> str:
    text = re.sub(r"\bd(\d)\b", r"element-\1", json.dumps(plain(worst.witness)))
    return re.sub(r"\bq(\d)\b", r"query-\1", text)


# order, sign and multiplicity


@property_of
def test_the_order_of_elements_changes_the_plan_of_jensens_step_alone(case: tuple[Tiny, Database]) -> None:
    """The surrogate V of Lemma 5.1 matches rows in universe order, so its gap may be another; all else stays."""
    tiny, x = case
    turned = replace(tiny, values=tuple(row[1:] + row[:1] for row in tiny.values))
    shift = {element: (element - 1) % tiny.universe_size for element in range(tiny.universe_size)}
    after = run(of_tiny(turned, tuple(shift[element] for element in x)))
    assert_same(run(of_tiny(tiny, x)), after, other_numbers={"lemma-5.1.jensen"})


@property_of
def test_the_order_of_queries_changes_nothing(case: tuple[Tiny, Database]) -> None:
    tiny, x = case
    assert_same(run(of_tiny(tiny, x)), run(of_tiny(replace(tiny, values=tiny.values[::-1]), x)))


@property_of
def test_the_sign_of_a_query_changes_nothing(case: tuple[Tiny, Database]) -> None:
    """q and -q have the same signed copies, with the names exchanged."""
    tiny, x = case
    negated = (tuple(-value for value in tiny.values[0]), *tiny.values[1:])
    assert_same(run(of_tiny(tiny, x)), run(of_tiny(replace(tiny, values=negated), x)))


WITH_QUERY_COUNT = {"lemma-a.3", "prop-3.2", "eq-3.3", "eq-6.near", "eq-6.far", "eq-6.2", "eq-7.error"}
"""Statements with log 4k or K = 2k in a bound, directly or by alpha_0."""


@property_of
def test_duplicating_every_query_changes_what_counts_queries_alone(case: tuple[Tiny, Database]) -> None:
    """The selection splits evenly between the copies: laws of the answers, distances, kappa and L stay."""
    tiny, x = case
    before, after = run(of_tiny(tiny, x)), run(of_tiny(replace(tiny, values=tiny.values * 2), x))
    changed = {"transcripts", "alpha_0", "tau"}
    assert_same(before, after, other_numbers=WITH_QUERY_COUNT, other_counts=True, other_quantities=changed)
    assert after.quantities["transcripts"] == (4 * tiny.query_count) ** tiny.rounds
    more = Enclosure.of(_added_base_error(tiny))
    assert _shifted(before.quantities["alpha_0"], more).overlaps(_shifted(after.quantities["alpha_0"], Enclosure.of(0)))


@at_reference_precision
def _added_base_error(tiny: Tiny) -> arb:
    """``16 (log 8k - log 4k)/eta``."""
    return 16 * arb(2).log() / tiny.eta


def _shifted(value: object, by: Enclosure) -> Enclosure:
    assert isinstance(value, Enclosure)
    assert value.lower is not None and value.upper is not None and by.lower is not None and by.upper is not None
    return Enclosure(value.lower + by.lower, value.upper + by.upper)


def assert_same(
    before: CheckResult,
    after: CheckResult,
    *,
    other_numbers: AbstractSet[str] = frozenset(),
    other_counts: bool = False,
    other_quantities: AbstractSet[str] = frozenset(),
) -> None:
    """Equal verdicts and counts, and meeting enclosures of every quantity and of every share of the budget.

    ``other_numbers`` are the statements whose share may be another, ``other_quantities`` the quantities.
    """
    assert set(before.quantities) == set(after.quantities)
    for name, value in before.quantities.items():
        if name not in other_quantities:
            _assert_meets(value, after.quantities[name], name)
    for old, new in zip(before.outcomes, after.outcomes, strict=True):
        name = old.statement.id
        assert old.verdict is not Verdict.REFUTED and old.verdict is not Verdict.UNDECIDED, name
        assert old.verdict is new.verdict, name
        assert other_counts or old.cases == new.cases, name
        if name not in other_numbers:
            assert (old.budget_used is None) == (new.budget_used is None), name
            if old.budget_used is not None and new.budget_used is not None:
                _assert_meets(old.budget_used, new.budget_used, name)


def _assert_meets(first: object, second: object, name: str) -> None:
    if isinstance(first, Enclosure) and isinstance(second, Enclosure):
        assert first.overlaps(second), name
    else:
        assert first == second, name


# every database against each


SAME_RANGE = (
    "eq-2.sensitivity", "prop-4.1.transcript", "eq-4.normaliser", "lemma-5.1.jensen", "lemma-5.1", "lemma-6.1",
    "eq-6.2", "eq-7.block",
)  # fmt: skip
"""Statements whose cases for all x are those of each x together."""


@settings(max_examples=4, derandomize=True)
@given(case=tinies())
@example(case=(LEVELS, (0, 2)))
@example(case=(SINGLETON, (0, 0)))
def test_all_databases_are_each_of_them(case: tuple[Tiny, Database]) -> None:
    tiny, _ = case
    everywhere = run(of_tiny(tiny, None), *SAME_RANGE)
    each = [run(of_tiny(tiny, x), *SAME_RANGE) for x in databases(tiny) if x == tuple(sorted(x))]
    for name in ("Z", "expected_error"):
        largest = _largest([result.quantities[name] for result in each])
        assert largest.overlaps(_largest([everywhere.quantities[name]]))
    for i, found in enumerate(everywhere.outcomes):
        assert found.verdict is Verdict.PROVED
        # a pair of neighbours is met from both of its databases
        times = 2 if found.statement.id == "prop-4.1.transcript" else 1
        assert sum(result.outcomes[i].cases for result in each) == times * found.cases, found.statement.id
        if found.budget_used is not None:
            largest = _largest([result.outcomes[i].budget_used for result in each])
            assert largest.overlaps(found.budget_used), found.statement.id


def _largest(values: Sequence[object]) -> Enclosure:
    lowers, uppers = [], []
    for value in values:
        assert isinstance(value, Enclosure) and value.lower is not None and value.upper is not None
        lowers.append(value.lower)
        uppers.append(value.upper)
    return Enclosure(max(lowers), max(uppers))
