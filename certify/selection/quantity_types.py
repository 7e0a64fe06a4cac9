"""How a report's numbers are evaluated and shown: enclosures tight enough, laws as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import ctx, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.precision import doubling
from certify.arithmetic.scalar import Scalar, Undetermined

LawRow = Mapping[str, Any]
Quantities = dict[str, "Enclosure | int | str | tuple[LawRow, ...]"]

RELATIVE_WIDTH = fmpq(1, 10**9)
FIRST_BITS = 64

_ZERO = fmpq(0)


def tight(evaluate: Callable[[], Scalar], max_precision: int, absolute: fmpq = _ZERO) -> Enclosure:
    """The number at the first precision that gives it to 10^-9 or within ``absolute``, else the last enclosure."""
    best, last_width = Enclosure(None, None), None
    for bits in doubling(min(FIRST_BITS, max_precision), max_precision):
        try:
            with ctx.workprec(bits):
                best = Enclosure.of(evaluate())
        except Undetermined:
            continue
        width = best.width()
        if width is None or best.upper is None or best.lower is None:
            continue
        if width <= max(RELATIVE_WIDTH * max(abs(best.upper), abs(best.lower)), absolute):
            break
        if last_width is not None and 2 * width > last_width:
            break  # what is missing is not precision: a quadrature, or branches that were left out
        last_width = width
    return best


def law_row(output: Any, probability: Enclosure) -> LawRow:
    """One outcome with its probability; an exact 0 says so."""
    row = {"output": output, "probability": probability}
    if probability.is_exact and probability.lower == 0:
        row["exact"] = "impossible"
    return row
