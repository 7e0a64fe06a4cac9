"""How the constants of one ledger differ from those of another, or from their record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum

from certify.arithmetic.decide import decide_lt
from certify.arithmetic.expression import Expression, ExpressionError
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict
from certify.instance_file import printable
from constants.ledger import Constant, Ledger
from constants.relations import identical

MAX_PRECISION = 4096
MAX_SHOWN = 5


class Order(Enum):
    """How a constant compares with what it was."""

    SAME = "unchanged"
    LARGER = "larger"
    SMALLER = "smaller"
    UNDECIDED = "cannot be told apart"
    CONTRADICTED = "computed otherwise"
    """The value is the same number, but its enclosures, then and now, have no number in common."""
    NEW = "not recorded"
    REMOVED = "removed"


def order_of(value: Expression, before: Expression) -> Order:
    """Whether a number is the same as another, or certainly larger or smaller."""
    if value == before or identical(value, before):
        return Order.SAME
    for order, lhs, rhs in ((Order.LARGER, before, value), (Order.SMALLER, value, before)):
        try:
            decision = decide_lt(_side(lhs), _side(rhs), precision=64, max_precision=MAX_PRECISION)
        except ExpressionError:
            return Order.UNDECIDED
        if decision.verdict is Verdict.PROVED:
            return order
    return Order.UNDECIDED


def _side(expression: Expression) -> Callable[[], Scalar]:
    return lambda: expression.value({})


def differences(ledger: Ledger, base: Ledger) -> list[tuple[Constant, Constant]]:
    """The constants of both that differ in value, as (now, before); one that cannot be told apart differs."""
    return [
        (constant, base[constant.id])
        for constant in ledger.constants.values()
        if constant.id in base.constants and order_of(constant.value, base[constant.id].value) is not Order.SAME
    ]


def described(path: str, text: str, ledger: Ledger, base: Ledger) -> str:
    """A ledger file, of which `text` is the content, in one line: how its constants differ from those of `base`."""
    changed = [
        f"{now.id} = {now.value.text()} (not {before.value.text()})" for now, before in differences(ledger, base)
    ]
    if len(changed) > MAX_SHOWN:
        changed[MAX_SHOWN:] = [f"{len(changed) - MAX_SHOWN} more"]
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{printable(path)}: {', '.join(changed) or 'the shipped values'}; SHA-256 {digest}"
