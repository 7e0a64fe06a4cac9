"""Where to look for a small constant: the best free choices of a rung, in floats. An estimate, which proves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from certify.arithmetic.expression import Call, Expression, Name, Negation, Number, Operation, parse_expression
from constants.search.formulas import final_inequality
from constants.search.rung import Envelope, Gap, Histogram, Rung

Floats = NDArray[np.float64]

INFINITE = 1e9
"""log T that stands for an unbounded universe."""

LARGEST_CONSTANT = 1e6
BISECTIONS = 36
DECIMALS = 4
"""Of g and b; j has as many significant digits."""

GAIN = 1e-7
"""The relative gain for which a choice counts as better."""

SMALLEST_STEP = 1e-4
WORTH_A_RANGE = 0.999
"""The factor of gain that a further range of universes must bring."""

UNBOUNDED = "T → ∞"
ACTIVE = 0.999
"""The share of C from which on a universe counts as one that holds the constant back."""


@dataclass(frozen=True)
class Estimate:
    """Free choices in rationals, the least constant for them, and the universes that keep it from being less.

    `shares` are those of the terms of (E) at the first of these, in percent.
    """

    ranges: tuple[Histogram | Envelope, ...]
    constant: float
    active: tuple[str, ...]
    shares: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class _Choice:
    """g and b, and j as a multiple of what makes the two main terms equal at T -> infinity."""

    g: float
    b: float
    share: float


class Universes:
    """(E) over the universes from `first` to `last`, under one envelope."""

    def __init__(self, rung: Rung, first: int, last: int | None) -> None:
        self.rung, self.first, self.last = rung, first, last
        grid = [math.log(t) for t in range(first, min(first + 12, first + 12 if last is None else last + 1))]
        if last is None:
            grid += [*np.linspace(grid[-1], 60, 40).tolist(), 1e2, 1e3, 1e4, INFINITE]
        else:
            grid += np.linspace(grid[0], math.log(last), 20).tolist()
        self._logs: Floats = np.array(sorted(set(grid)))
        texts, goal = final_inequality(rung)
        self._definitions = {name: parse_expression(text) for name, text in texts.items()}
        self._goal = parse_expression(goal)

    def constant(self, choice: _Choice, beaten: float = LARGEST_CONSTANT) -> float:
        """The least C for which (E) holds on the grid; infinite where it is not below `beaten`, or not searched."""
        least_share = 1 if self.rung.gap is Gap.MOMENT else 0.2
        if not (0 < choice.g < 0.4999 and 0 < choice.b < 20 and choice.share >= least_share):
            return math.inf
        j = self._rounds(choice)

        def holds(constant: float) -> bool:
            values = self._values(constant, choice.g, choice.b, j)
            return bool(np.all(values["E"] <= constant) and np.all(values["p_f"] * values["X"] >= 1))

        low, high = 1.0, beaten * (1 - GAIN)
        if not holds(high):
            return math.inf
        for _ in range(BISECTIONS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high

    def envelope(self, choice: _Choice) -> Envelope:
        """The choice in rationals of few digits, j rounded up so that the gap's term stays the larger one."""
        g, b = (fmpq(round(value * 10**DECIMALS), 10**DECIMALS) for value in (choice.g, choice.b))
        j = self._rounds(replace(choice, g=float(g), b=float(b)))
        scale = 10 ** (DECIMALS - 1 - math.floor(math.log10(j)))
        return Envelope(self.first, g, b, fmpq(math.ceil(j * scale), scale))

    def of_envelope(self, envelope: Envelope) -> Estimate:
        """The least constant for an envelope, and what is active there."""
        g, b, j = (float(value) for value in (envelope.g, envelope.b, envelope.j))
        balanced = self._rounds(_Choice(g, b, 1.0))
        constant = self.constant(_Choice(g, b, j / balanced))
        if math.isinf(constant):
            return Estimate((envelope,), constant, ())
        values = self._values(constant, g, b, j)
        total = values["E"]
        active = np.flatnonzero(total >= ACTIVE * np.max(total))
        parts = {
            "regret": values["regret_share"],
            "gap": values["gap"] * values["rho"],
            "beyond the gap": (values["gap_factor_0"] - 1) * values["gap"] * values["rho"],
            "far databases": values["far"],
        }
        shares = tuple((name, float(part[active[0]] / total[active[0]] * 100)) for name, part in parts.items())
        names = tuple(dict.fromkeys(_name(log) for log in self._logs[active]))
        return Estimate((envelope,), constant, names, shares)

    def _rounds(self, choice: _Choice) -> float:
        """j: the main terms are ``regret √(2/j)`` and ``gap near/g √(4j)`` at T -> infinity."""
        values = self._values(1e3, choice.g, choice.b, 1.0, np.array([INFINITE]))
        regret, gap = (float(values[name][0]) for name in ("regret", "gap"))
        if self.rung.gap is not Gap.MOMENT:
            gap *= float(values["gap_factor_0"][0])
        return choice.share * regret / gap

    def _values(self, constant: float, g: float, b: float, j: float, logs: Floats | None = None) -> dict[str, Floats]:
        """Every definition of (E), and E itself, at the logarithms of the grid."""
        logs = self._logs if logs is None else logs
        names: dict[str, Any] = {"C": constant, "g": g, "b": b, "j": j, "l": logs}
        with np.errstate(all="ignore"):
            for name, expression in self._definitions.items():
                names[name] = _float_value(expression, names)
            names["E"] = np.nan_to_num(_float_value(self._goal, names), nan=math.inf)
        return {name: np.broadcast_to(value, logs.shape) for name, value in names.items()}


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log}
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
}


def _float_value(expression: Expression, names: dict[str, Any]) -> Any:
    match expression:
        case Number():
            return float(expression.rational)
        case Name(identifier):
            return names[identifier]
        case Negation(operand):
            return -_float_value(operand, names)
        case Operation(symbol, left, right):
            return _OPERATIONS[symbol](_float_value(left, names), _float_value(right, names))
        case Call(function, (argument,)):
            return _FUNCTIONS[function](_float_value(argument, names))
    raise TypeError(f"{expression.text()} has no float value here")


def _name(log: float) -> str:
    if log >= 50:
        return UNBOUNDED
    return f"T = {round(math.exp(log)):,}" if log < 16 else f"log T = {log:.0f}"


def estimate(rung: Rung, seconds: float) -> Estimate:
    """The best free choices found, ranges of universes among them; the best so far where the time runs out.

    Deterministic where the time suffices.
    """
    deadline = monotonic() + seconds
    if rung.histogram:
        return _with_histogram(rung, deadline)
    return _in_ranges(rung, 2, deadline)


def _in_ranges(rung: Rung, first: int, deadline: float) -> Estimate:
    """One range for all universes, or the smallest one apart as long as that gains."""
    best = _minimised(Universes(rung, first, None), deadline)
    if first > 4 or monotonic() > deadline or best.active == (UNBOUNDED,):
        return best
    alone = _minimised(Universes(rung, first, first), deadline)
    if alone.constant >= best.constant * WORTH_A_RANGE:
        return best
    rest = _minimised(Universes(rung, first + 1, None), deadline)
    if rest.constant > alone.constant:
        rest = _in_ranges(rung, first + 1, deadline)
    worse = alone if alone.constant > rest.constant else rest
    if worse.constant >= best.constant * WORTH_A_RANGE:
        return best
    return replace(worse, ranges=(*alone.ranges, *rest.ranges))


def _with_histogram(rung: Rung, deadline: float) -> Estimate:
    """The histogram up to the last T for which ``2T <= C² L_D log 2`` allows the constant of the envelope beyond."""
    low, high = 2, 200  # the last T of the histogram: its constant grows with it, and that of the envelope falls
    found: dict[int, Estimate] = {}

    def at(last: int) -> Estimate:
        if last not in found:
            needed = max(math.sqrt(2 * t / (math.log(2 * t) * math.log(2))) for t in range(2, last + 1))
            beyond = _minimised(Universes(rung, last + 1, None), deadline)
            ranges = (Histogram(2), *beyond.ranges)
            found[last] = replace(beyond, ranges=ranges)
            if needed > beyond.constant:
                found[last] = Estimate(ranges, needed, (f"T = {last} (histogram)",))
        return found[last]

    while high - low > 1:
        middle = (low + high) // 2
        if at(middle).active == (f"T = {middle} (histogram)",):
            high = middle
        else:
            low = middle
    return min((at(low), at(high)), key=lambda each: each.constant)


def _minimised(universes: Universes, deadline: float) -> Estimate:
    """A pattern search from a grid of starts."""
    choice, value = _Choice(0.2, 2.0, 1.0), math.inf
    for start in (_Choice(g, b, share) for g in (0.15, 0.25, 0.4, 0.45) for b in (1.5, 3.0) for share in (1.0, 1.3)):
        found = universes.constant(start, min(value, LARGEST_CONSTANT))
        if found < value:
            choice, value = start, found
    steps = [0.05, 0.5, 0.1]
    while max(steps) > SMALLEST_STEP and monotonic() < deadline:
        moved = False
        for candidate in _around(choice, steps):
            found = universes.constant(candidate, value)
            if found < value:
                choice, value, moved = candidate, found, True
        if not moved:
            steps = [step / 2 for step in steps]
    return universes.of_envelope(universes.envelope(choice))


def _around(choice: _Choice, steps: Sequence[float]) -> list[_Choice]:
    dg, db, ds = steps
    moves = [(dg, 0, 0), (-dg, 0, 0), (0, db, 0), (0, -db, 0), (0, 0, ds), (0, 0, -ds), (dg, db, 0), (dg, -db, 0)]
    return [_Choice(choice.g + x, choice.b + y, choice.share + z) for x, y, z in moves]
