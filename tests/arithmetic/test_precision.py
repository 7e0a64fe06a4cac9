"""certify.arithmetic.precision."""

import pytest

from certify.arithmetic.precision import doubling


@pytest.mark.parametrize(
    ("precision", "greatest", "expected"),
    [
        (53, 53, [53]),
        (53, 106, [53, 106]),
        (53, 107, [53, 106, 107]),
        (2, 9, [2, 4, 8, 9]),
        (64, 128, [64, 128]),
    ],
)
def test_doubles_end_at_the_maximum(precision: int, greatest: int, expected: list[int]) -> None:
    assert list(doubling(precision, greatest)) == expected


@pytest.mark.parametrize(("precision", "greatest"), [(1, 53), (0, 0), (-5, 53), (54, 53)])
def test_a_range_without_precisions_is_refused(precision: int, greatest: int) -> None:
    with pytest.raises(ValueError, match="precision <= max_precision"):
        list(doubling(precision, greatest))
