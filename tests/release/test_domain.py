"""certify.release.domain: histograms and distances against rows and permutations."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.release.domain import Domain


def domain(size: int, rows: int, values: tuple[tuple[fmpq, ...], ...] | None = None) -> Domain:
    queries = values or (tuple(fmpq(d, max(size, 1)) for d in range(size)),)
    return Domain(tuple(f"d{d}" for d in range(size)), tuple(f"q{q}" for q in range(len(queries))), queries, rows)


def histogram(rows: tuple[int, ...], size: int) -> tuple[int, ...]:
    counts = Counter(rows)
    return tuple(counts[d] for d in range(size))


sizes = st.integers(1, 5)
row_counts = st.integers(1, 6)


@given(sizes, row_counts)
@example(1, 1)
@example(1, 6)
@example(5, 1)  # more elements than rows: listed by the places of the rows
@example(5, 4)
@example(3, 6)
def test_the_histograms_are_those_of_all_databases_in_order(size: int, n: int) -> None:
    found = [tuple(row) for row in domain(size, n).histograms.tolist()]
    # every nonnegative vector that adds to n is one: its elements written out are a database
    expected = [h for h in itertools.product(range(n + 1), repeat=size) if sum(h) == n]
    assert found == sorted(expected) and len(found) == domain(size, n).histogram_count
    assert domain(size, n).histogram_index == {row: i for i, row in enumerate(expected)}


@pytest.mark.parametrize(("size", "n"), [(40, 2), (2, 500), (200, 1), (4, 20)])
def test_larger_tables_are_complete_distinct_and_ordered(size: int, n: int) -> None:
    table = domain(size, n).histograms
    assert table.shape == (math.comb(n + size - 1, size - 1), size) and table.dtype == np.int64
    assert (table >= 0).all() and (table.sum(axis=1) == n).all()
    rows = [tuple(row) for row in table.tolist()]
    assert rows == sorted(set(rows))


@pytest.mark.parametrize(("size", "n"), [(1, 3), (2, 3), (3, 3), (4, 2)])
def test_the_distance_is_the_least_over_all_orders_of_the_rows(size: int, n: int) -> None:
    d = domain(size, n)
    databases = list(itertools.combinations_with_replacement(range(size), n))
    for x in databases:
        distances = d.distances_from(np.array(histogram(x, size)))
        for y in databases:
            least = min(sum(a != b for a, b in zip(x, order, strict=True)) for order in itertools.permutations(y))
            assert distances[d.histogram_index[histogram(y, size)]] == least


@given(sizes, row_counts)
@example(1, 2)
@example(3, 4)
def test_neighbours_are_at_distance_one(size: int, n: int) -> None:
    d = domain(size, n)
    for index in range(d.histogram_count):
        found = d.neighbours_of(index)
        expected = np.flatnonzero(d.distances_from(d.histograms[index]) == 1).tolist()
        assert sorted(found) == expected and len(set(found)) == len(found)


@pytest.mark.parametrize(("size", "n"), [(2, 5), (3, 4)])
def test_distances_are_a_metric_and_steps_change_them_by_one(size: int, n: int) -> None:
    d = domain(size, n)
    table = np.stack([d.distances_from(h) for h in d.histograms])
    assert (table == table.T).all() and (np.diag(table) == 0).all() and table.max() == n
    for a, b in itertools.product(range(len(table)), repeat=2):
        assert (table[a] <= table[a, b] + table[b]).all()
        if table[a, b] == 1:
            assert np.abs(table[a] - table[b]).max() <= 1


rationals = st.builds(fmpq, st.integers(-12, 12), st.just(12)) | st.builds(lambda p: fmpq(p, 7), st.integers(-7, 7))


@given(st.lists(st.lists(rationals, min_size=3, max_size=3), min_size=1, max_size=3))
@example([[fmpq(1, 3), fmpq(-1, 7), fmpq(0)], [fmpq(1), fmpq(1), fmpq(1)]])
@example([[fmpq(0), fmpq(0), fmpq(0)]])
def test_scaled_queries_are_the_queries(rows: list[list[fmpq]]) -> None:
    values = tuple(tuple(row) for row in rows)
    d = domain(3, 2, values)
    k = len(values)
    scaled = [[fmpq(v, d.denominator) for v in row] for row in d.scaled_signed_queries]
    assert scaled == [list(row) for row in values] + [[-v for v in row] for row in values]
    assert d.query_count == k and d.signed_count == 2 * k
    assert all(d.is_constant_query(q) == (len({str(v) for v in values[q]}) == 1) for q in range(k))
    assert [d.signed_name(s) for s in range(2 * k)] == [f"+q{q}" for q in range(k)] + [f"-q{q}" for q in range(k)]


def test_a_database_is_shown_by_its_counts() -> None:
    d = domain(3, 4)
    index = d.histogram_index[(3, 0, 1)]
    assert d.database(index) == {"d0": 3, "d2": 1}
