"""The budget: exact, atomic, never refunded."""

from threading import Thread
from typing import Any

import pytest
from flint import fmpq

from certify.selection.accountant import Accountant, BudgetExceeded


def test_spends_to_the_last_bit() -> None:
    accountant = Accountant(1)
    for _ in range(10):
        accountant.charge(fmpq(1, 10))
    assert accountant.remaining == (fmpq(0), fmpq(0)) and accountant.charges == 10
    with pytest.raises(BudgetExceeded):
        accountant.charge(fmpq(1, 2**200))


def test_refused_charge_takes_nothing() -> None:
    accountant = Accountant(1, fmpq(1, 100))
    with pytest.raises(BudgetExceeded, match="epsilon"):
        accountant.charge(2)
    with pytest.raises(BudgetExceeded, match="delta"):
        accountant.charge(fmpq(1, 2), fmpq(1, 50))
    assert accountant.spent == (fmpq(0), fmpq(0)) and accountant.charges == 0
    accountant.charge(1, fmpq(1, 100))
    assert accountant.remaining == (fmpq(0), fmpq(0))


def test_survives_exceptions_between_charges() -> None:
    accountant = Accountant(1)
    accountant.charge(fmpq(1, 4))
    for bad in (0, -1):
        with pytest.raises(ValueError, match="positive"):
            accountant.charge(bad)
    with pytest.raises(ValueError, match="not be negative"):
        accountant.charge(fmpq(1, 4), -1)
    assert accountant.spent[0] == fmpq(1, 4)
    accountant.charge(fmpq(3, 4))
    assert accountant.remaining[0] == 0


@pytest.mark.parametrize("bad", [0.5, float("nan"), float("inf"), True, "1", None])
def test_amounts_are_exact(bad: Any) -> None:
    with pytest.raises(TypeError, match="give an int"):
        Accountant(bad)
    with pytest.raises(TypeError, match="give an int"):
        Accountant(1).charge(bad)


def test_threads_do_not_overspend_together() -> None:
    accountant, refused = Accountant(1), []

    def spend() -> None:
        for _ in range(200):
            try:
                accountant.charge(fmpq(1, 500))
            except BudgetExceeded:
                refused.append(1)

    threads = [Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accountant.spent[0] == 1 and accountant.charges == 500 and len(refused) == 300
