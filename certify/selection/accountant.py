"""A privacy budget under basic composition: charged before any noise is drawn, never overspent, never refunded."""

from threading import Lock

from flint import fmpq

from certify.selection.parameters import Exact, positive, rational, shown


class BudgetExceeded(Exception):
    """A charge would take the total above the budget. Nothing was charged."""


class Accountant:
    """The budget (epsilon, delta) of one data set.

    `charge` either takes the whole amount or raises and takes nothing; what was taken stays taken, whatever
    becomes of the stream that it was taken for. Threads may share an accountant.
    """

    def __init__(self, epsilon: Exact, delta: Exact = 0) -> None:
        self._epsilon = positive(epsilon, "epsilon")
        self._delta = _not_negative(delta, "delta")
        self._spent_epsilon = fmpq(0)
        self._spent_delta = fmpq(0)
        self._charges = 0
        self._lock = Lock()

    def charge(self, epsilon: Exact, delta: Exact = 0) -> None:
        """Take (epsilon, delta) from the budget. Raises BudgetExceeded when it is not there."""
        epsilon = positive(epsilon, "epsilon")
        delta = _not_negative(delta, "delta")
        with self._lock:
            for name, amount, left in (
                ("epsilon", epsilon, self._epsilon - self._spent_epsilon),
                ("delta", delta, self._delta - self._spent_delta),
            ):
                if amount > left:
                    raise BudgetExceeded(f"a charge of {name} = {shown(amount)} exceeds the {shown(left)} left")
            self._spent_epsilon, self._spent_delta = self._spent_epsilon + epsilon, self._spent_delta + delta
            self._charges += 1

    @property
    def spent(self) -> tuple[fmpq, fmpq]:
        """(epsilon, delta) charged so far."""
        with self._lock:
            return self._spent_epsilon, self._spent_delta

    @property
    def remaining(self) -> tuple[fmpq, fmpq]:
        """(epsilon, delta) that can still be charged."""
        with self._lock:
            return self._epsilon - self._spent_epsilon, self._delta - self._spent_delta

    @property
    def charges(self) -> int:
        """How many charges were made."""
        return self._charges


def _not_negative(value: Exact, name: str) -> fmpq:
    exact = rational(value, name)
    if exact.p < 0:
        raise ValueError(f"{name} is {shown(exact)}: it must not be negative")
    return exact
