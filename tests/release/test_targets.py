"""certify.release.targets: answer vectors and code families against their definitions, exactly."""

import itertools

import pytest
from flint import fmpq
from instances import histogram
from reference import databases, dataset_target, random_tiny, target_distance
from reference_codebook import codebook, distinct_codebook
from small_models import domain_of, table_of

from certify.release.domain import Domain
from certify.release.targets import TargetTable, code_word_count, move_sums, single_moves

SEEDS = range(14)


@pytest.mark.parametrize("seed", SEEDS)
def test_dataset_targets_are_the_average_answers(seed: int) -> None:
    tiny = random_tiny(seed)
    table = table_of(tiny)
    for x in databases(tiny):
        row = table.of_histogram[table.domain.histogram_index[histogram(x, tiny.universe_size)]]
        assert table.answers(int(row)) == dataset_target(tiny, x)
        assert row < table.dataset_count


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lengths", [(1, 2), (1, 3), (2,)])
def test_code_families_are_those_of_the_definition(seed: int, lengths: tuple[int, ...]) -> None:
    tiny = random_tiny(seed)
    table = table_of(tiny, lengths)
    for x in databases(tiny)[:3]:
        centre = table.domain.histogram_index[histogram(x, tiny.universe_size)]
        for radius, m in itertools.product(range(1, tiny.n + 1), lengths):
            book = table.codebooks[(centre, radius, m)]
            assert (book.centre, book.radius, book.code_length) == (centre, radius, m)
            found = [table.answers(int(row)) for row in book.rows]
            assert len(found) == len(set(found))
            assert set(found) == distinct_codebook(tiny, x, radius, m)
            assert len(codebook(tiny, x, radius, m)) == (tiny.universe_size**2 + 1) ** m


@pytest.mark.parametrize("seed", SEEDS)
def test_equal_targets_are_one_row_and_distances_are_exact(seed: int) -> None:
    tiny = random_tiny(seed)
    table = table_of(tiny)
    rows = range(len(table))
    assert len({table.answers(row) for row in rows}) == len(table)
    assert all(table.row_of(table.numerators[row]) == row for row in rows)
    for a, b in itertools.product(rows[:8], rows[-8:]):
        assert table.distance(a, b) == target_distance(tiny, table.answers(a), table.answers(b))
    assert table.largest_answer() == max(abs(v) for row in rows for v in table.answers(row))


def test_an_unknown_target_has_no_row() -> None:
    with pytest.raises(KeyError):
        table_of(random_tiny(1)).row_of((10**9,) * random_tiny(1).query_count)


def test_databases_that_answer_alike_share_a_row() -> None:
    """Three elements, the third between the others: (1, 0, 1) and (0, 2, 0) have one answer."""
    domain = Domain(("a", "b", "c"), ("q",), ((fmpq(1), fmpq(0), fmpq(-1)),), 2)
    table = TargetTable(domain, [0], (1,), range(1, 3), with_codebooks=False)
    index = domain.histogram_index
    assert table.of_histogram[index[(1, 0, 1)]] == table.of_histogram[index[(0, 2, 0)]]
    assert table.dataset_count == len(table) == 5 and table.codebooks == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_are_all_pairs_and_sums_are_all_sums(seed: int) -> None:
    tiny = random_tiny(seed)
    labels = single_moves(domain_of(tiny))
    assert len(labels) == tiny.universe_size**2 + 1 and not any(labels[0])
    for m in (0, 1, 2, 3):
        expected = {
            tuple(sum(column) for column in zip(*word, strict=True)) if word else (0,) * tiny.query_count
            for word in itertools.product(set(labels), repeat=m)
        }
        assert move_sums(labels, m) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_the_count_of_code_words_is_a_bound(seed: int) -> None:
    tiny = random_tiny(seed)
    table = table_of(tiny)
    centres = table.domain.histogram_count
    bound = code_word_count(table.domain, (1, 2), centres)
    assert bound is not None
    assert len(table) - table.dataset_count <= bound
    assert bound == sum(len(book.rows) for book in table.codebooks.values())


def test_families_that_are_too_many_are_not_counted() -> None:
    size = 3000
    many = Domain(tuple(map(str, range(size))), ("q",), (tuple(fmpq(1, d + 1) for d in range(size)),), 1)
    assert code_word_count(many, (1,), 1) is None
    some = Domain(tuple(map(str, range(80))), ("q",), (tuple(fmpq(1, d + 1) for d in range(80)),), 1)
    assert code_word_count(some, (2,), 1) is None
    few = Domain(("a", "b"), ("q",), ((fmpq(1), fmpq(0)),), 10**9)
    assert code_word_count(few, (1,), 1) is None
