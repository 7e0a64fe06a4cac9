"""The precisions at which an undecided question is asked again."""

from collections.abc import Iterator


def doubling(precision: int, max_precision: int) -> Iterator[int]:
    """`precision` bits, then its doubles, the last one cut to `max_precision`.

    Raises ValueError unless 2 <= precision <= max_precision (2 bits is Arb's least).
    """
    if not 2 <= precision <= max_precision:
        raise ValueError(f"need 2 <= precision <= max_precision, not {precision} and {max_precision}")
    while precision < max_precision:
        yield precision
        precision *= 2
    yield max_precision
