"""The index law of AboveThreshold with Laplace noise for many queries: float64 quadrature with a proved error.

In units of the query scale, with x the threshold noise, ``d_i = (f_i - τ_i)/scale`` and ``κ`` the ratio of query to
threshold scale, ``P(out=j) = int (κ/2) e^(-κ|x|) prod_{i<j} no_i(x) yes_j(x) dx`` with
``no_i = e^(x-d_i)/2`` for ``x <= d_i`` ("above") and ``1 - e^(d_i-x)/2`` otherwise ("below"). Every factor is positive,
so nothing cancels, and entire on each panel between breakpoints, so Gauss-Legendre converges geometrically.

Error of a panel [x0, x1] of width w = 2h. Let f be bounded by M on the ellipse with foci x0, x1 and parameter ρ. Its
Chebyshev coefficients are at most ``2 M ρ^-k``, so a polynomial of degree 2n-1 is within ``2 M ρ^(1-2n)/(ρ-1)``; the
rule is exact for it and has positive weights, hence ``|error| <= 2w * 2 M ρ^(1-2n)/(ρ-1)``. On the ellipse the real
part leaves [x0, x1] by at most ``δ = h((ρ+1/ρ)/2 - 1)`` and the imaginary part is at most ``v = h(ρ-1/ρ)/2``. The
density and the N above factors grow by ``e^((κ+N)δ)`` at most. With ``b = e^(d-x0+δ)/2 < 1`` a below factor is at most
``(1 - e^(d-x1)/2) exp(δ a/(1-a) + b v²/(2(1-b)²))``, ``a = e^(d-x0)/2``, from ``|1-be^(iv)|² <= (1-b)² + b v²``; the
yes factor grows by at most ``max(e^δ, 1 + e^δ/2) <= 2``. So ``M <= 2 F exp((κ+N+S)δ + V v²/2)``, where F multiplies
the largest values of the factors on the panel, ``S = sum a/(1-a)``, ``V = sum b/(1-b)²``. Error and integral are also
at most wF, which is what counts for pairs (panel, j) that are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from certify.arithmetic.elementary import exp_array
from certify.arithmetic.rounding import nearest_float
from certify.arithmetic.scalar import Undetermined

Floats = NDArray[np.float64]

NODES = 16
RHO = 4.0
STRETCH = (RHO + 1 / RHO) / 2 - 1
LIFT = (RHO - 1 / RHO) / 2
TRUNCATION = 4 * RHO ** (1 - 2 * NODES) / (RHO - 1) * 2 * 1.01

MAX_RANGE = 600.0
"""Points may span this many query scales; beyond, tables would leave the range of a double."""

WIDEST, STEEPNESS, MOST_ABOVE = 0.5, 14.0, 200
TAIL = 50.0
NEGLIGIBLE = 1e-19
SLACK = 1 + 1e-4
"""Covers every rounding in quantities that are only used as upper bounds."""

UNDERFLOW = 1e-280
"""More than everything that is lost where an exponential is clipped at e^-700 or a product is subnormal."""


class OutOfRange(Exception):
    """The points spread too far for float64; the closed forms take over."""


@dataclass(frozen=True)
class _Panel:
    start: float
    end: float
    below: NDArray[np.bool_]
    steepness: float
    """S of the module's text."""
    curvature: float
    """V of the module's text."""


def index_law(prefix: Sequence[fmpq], last: Sequence[fmpq], threshold_scale: fmpq, query_scale: fmpq) -> list[arb]:
    """Balls around ``P(no to prefix[:j], yes to last[j])`` for each j, then ``P(no to all)``; points are ``f - τ``.

    Raises `OutOfRange` where a gate of the float64 route fails, and ValueError without both noises.
    """
    if threshold_scale <= 0 or query_scale <= 0:
        raise ValueError("the quadrature needs both noises")
    kappa = query_scale / threshold_scale
    if not fmpq(1, 8) <= kappa <= 16:
        raise OutOfRange("the scales of the two noises differ by more than a factor 16")
    return _Sweep(_nearest(prefix, query_scale), _nearest(last, query_scale), float(int(kappa.p) / int(kappa.q))).run()


def _nearest(points: Sequence[fmpq], scale: fmpq) -> Floats:
    """The nearest doubles of ``point/scale``; a point off by Δ moves every log P by at most Δ (`_rounding_bound`)."""
    scaled = [point / scale for point in points]
    if any(abs(value) > 10**6 for value in scaled):
        raise OutOfRange("a sum is too far from its threshold")
    return np.array([int(value.p) / int(value.q) for value in scaled], dtype=np.float64)


@cache
def _rule() -> tuple[Floats, Floats]:
    """Nodes in [0,1] and weights adding to 1, each within a few units of the true one."""
    with ctx.workprec(128):
        pairs = [arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES)]
        nodes = np.array([nearest_float((1 + node) / 2) for node, _ in pairs])
        weights = np.array([nearest_float(weight / 2) for _, weight in pairs])
    return nodes, weights


def _exp(values: Floats) -> Floats:
    """exp with the proved bound of `exp_array`; arguments below -700 are raised to it, which only enlarges bounds."""
    if values.size and float(np.max(values)) > 700:
        raise OutOfRange("an exponent leaves the range of a double")
    return exp_array(np.maximum(values, -700.0))


class _Sweep:
    def __init__(self, prefix: Floats, last: Floats, kappa: float) -> None:
        self.prefix, self.last, self.kappa = prefix, last, kappa
        self.count = len(prefix)
        self.breaks = np.unique(np.concatenate([prefix, last, [0.0]]))
        low, high = float(self.breaks[0]), float(self.breaks[-1])
        if high - low > MAX_RANGE:
            raise OutOfRange("the points span too many query scales")
        self.reach = TAIL / kappa + float(np.log(self.count + 1))
        self.start, self.end = low - self.reach, high + self.reach
        if (high - low) / 2 + self.reach > 690:
            raise OutOfRange("the noise reaches too many query scales")
        self.middle = (low + high) / 2
        with ctx.workprec(96):
            self.table = self._table(prefix)
            self.last_table = self._table(last)

    def _table(self, points: Floats) -> Floats:
        """``e^(d - middle)``, from Arb."""
        middle = arb(self.middle)
        return np.array([nearest_float((arb(float(d)) - middle).exp()) for d in points])

    def run(self) -> list[arb]:
        panels = self._panels()
        grid = _Grid(self, panels)
        shift = np.max(grid.guide, axis=0)  # any shift is right that keeps P_j in range
        base = _exp(grid.exponents - self.kappa * np.abs(grid.ends)[:, None] - shift)
        bounds = grid.peaks[:, None] * grid.products * base * grid.last_yes * SLACK
        relevant = (bounds > NEGLIGIBLE) & (grid.aboves <= MOST_ABOVE)
        total = np.zeros(self.count + 1)
        error = np.full(self.count + 1, UNDERFLOW)
        above, exponent = 0, 0.0
        for number, panel in enumerate(panels):
            chosen = np.flatnonzero(relevant[number])
            if not len(chosen):
                error += bounds[number]
                continue
            window = slice(int(chosen[0]), int(chosen[-1]) + 1)
            orders = grid.aboves[number, window]
            values = self._panel_values(panel, grid, number, window) * base[number, window]
            usable = orders <= MOST_ABOVE
            total[window] += np.where(usable, values, 0.0)
            share = np.ones(self.count + 1)
            share[window] = np.where(usable, np.minimum(1.0, self._growth(panel, orders)), 1.0)
            error += bounds[number] * share
            above = max(above, int(np.max(orders[usable], initial=0)))
            exponent = max(exponent, float(np.max(-grid.exponents[number, window][usable], initial=0.0)))
        error += self._tails(panels, shift)
        return self._balls(total, error * SLACK + UNDERFLOW, shift, len(panels), above, exponent)

    def _panels(self) -> list[_Panel]:
        panels = []
        ends = [*self.breaks.tolist(), self.end]
        x = self.start
        for end in ends:
            while x < end:
                below = self.prefix <= x
                a = np.minimum(0.5 * self.table[below] * (_exp_of(self.middle - x) * SLACK), 0.5)
                steepness = float(np.sum(a / (1 - a))) * SLACK
                above = min(self.count - len(a), 64)
                widest = min(WIDEST, 4 / self.kappa, STEEPNESS / (steepness + above + 1))
                pieces = max(1.0, np.ceil((end - x) / widest))
                stop = end if pieces == 1.0 else x + (end - x) / pieces
                if not x < stop:
                    raise OutOfRange("two breakpoints are too near for float64")
                b = a * (_exp_of((stop - x) / 2 * STRETCH) * SLACK)
                curvature = float(np.sum(b / (1 - b) ** 2)) * SLACK
                panels.append(_Panel(x, stop, below, steepness, curvature))
                x = stop
        return panels

    def _panel_values(self, panel: _Panel, grid: _Grid, number: int, window: slice) -> Floats:
        """The rule on one panel for the j of the window, without the factor e^(exponent - κ|end| - shift)."""
        _, weights = _rule()
        width = panel.end - panel.start
        stop = min(window.stop, self.count)
        decay, growth = grid.decay[number], grid.growth[number]
        factors = np.ones((NODES, stop + 1))
        # below factors only; the above ones are in the exponent and the powers
        np.multiply(decay[:, None], np.where(panel.below[:stop], self.table[:stop], 0.0), out=factors[:, 1:])
        np.subtract(1.0, factors[:, 1:], out=factors[:, 1:])
        products = np.cumprod(factors, axis=1)[:, window]
        orders = np.minimum(grid.aboves[number, window], MOST_ABOVE)
        steps = np.ones((NODES, int(orders.max()) + 1))
        steps[:, 0] = grid.slope[number]
        steps[:, 1:] = grid.step[number][:, None]
        values = products * np.cumprod(steps, axis=1)[:, orders]
        points = self.last[window.start : stop]
        table = self.last_table[window.start : stop]
        with np.errstate(over="ignore"):
            yes = np.where(points <= panel.start, table * decay[:, None], 1.0 - growth[:, None] / table)
        values[:, : stop - window.start] *= yes
        result: Floats = (width * self.kappa / 2) * (weights @ values)
        return result

    def _growth(self, panel: _Panel, above: NDArray[np.int64]) -> Floats:
        half = (panel.end - panel.start) / 2
        lift = half * LIFT
        exponent = (self.kappa + above + panel.steepness) * (half * STRETCH) + panel.curvature * lift * lift / 2
        return TRUNCATION * _exp(np.minimum(exponent, 600.0) + 1e-6)

    def _tails(self, panels: list[_Panel], shift: Floats) -> Floats:
        """Upper bounds of what lies left of the first panel and right of the last, divided by ``e^shift``."""
        first, end = panels[0], self.end
        left = _exp(np.concatenate([[0.0], np.cumsum(first.start - self.prefix)]) + self.kappa * first.start - shift)
        exponent = np.full(self.count + 1, -self.kappa * end)
        exponent[:-1] += np.minimum(self.last - end, 0.0)
        return (left + _exp(exponent - shift)) * SLACK

    def _balls(
        self, total: Floats, error: Floats, shift: Floats, panels: int, above: int, exponent: float
    ) -> list[arb]:
        relative = self._rounding_bound(panels, above, exponent)
        balls = []
        with ctx.workprec(96):
            for value, bound, exponent in zip(total.tolist(), error.tolist(), shift.tolist(), strict=True):
                if not np.isfinite(value) or not value > 0:
                    raise Undetermined("a probability is too small for the float64 quadrature")
                middle = arb(value)
                balls.append((middle + arb(0, arb(bound) + middle * relative)) * arb(exponent).exp())
        return balls

    def _rounding_bound(self, panels: int, above: float, exponent: float) -> arb:
        """Relative error of each P_j from roundings, in four parts, with u = 2^-53 and X the largest number in sight.

        Points rounded: each moves ``log P_j`` by at most uX, as ``|d log factor / d d_i| <= 1``: (K+1) uX. Nodes
        misplaced by 3uX, where the log of the integrand has slope at most K+κ+1. Tables: a is off by
        (X+16)u relative, and ``|d log(1-a)| <= a/(1-a) <= 1``; with the products K (X+20) u. Exponents: at most
        N above factors of (2X+20)u each, their sum N u |E|, and the final exponentials, whose arguments are sums of
        |E|, κX and a shift of at most |E| + (κ+1)X + 700; weights and sums another 60u and u for each panel.
        Doubled for the second order.
        """
        k, x = self.count, abs(self.start) + abs(self.end) + abs(self.middle) + 2
        units = (k + 1) * x + 3 * x * (k + self.kappa + 1) + k * (x + 20)
        units += above * (2 * x + 20) + (above + 6) * exponent + 4 * (self.kappa + 1) * x + 2900 + panels
        return arb(2 * units) * arb(2) ** -53


class _Grid:
    """What the panels share, computed together; rows are panels, columns j or nodes.

    ``exponents`` is the log of the above factors at the panel's end, ``products`` multiplies the below factors there,
    ``aboves`` counts the former; all over the prefix of j, shape (panels, K+1). ``last_yes`` bounds the yes factor.
    ``decay`` and ``growth`` are ``e^(middle - x)/2`` and ``e^(x - middle)/2`` at the nodes x, ``step`` is
    ``e^-(end - x)`` and ``slope`` the density at x relative to that at the end; shape (panels, nodes).
    """

    def __init__(self, sweep: _Sweep, panels: list[_Panel]) -> None:
        starts = np.array([panel.start for panel in panels])
        self.ends = np.array([panel.end for panel in panels])
        widths = self.ends - starts
        nearest = np.minimum(np.abs(starts), np.abs(self.ends))
        self.peaks = widths * (sweep.kappa / 2) * _exp(sweep.kappa * (np.abs(self.ends) - nearest))
        shape = (len(panels), sweep.count + 1)
        self.exponents, self.products, self.last_yes = np.zeros(shape), np.ones(shape), np.ones(shape)
        self.aboves = np.zeros(shape, dtype=np.int64)
        at_end, at_start = 0.5 * _exp(sweep.middle - self.ends), 0.5 * _exp(sweep.middle - starts)
        for rows in (slice(i, i + 64) for i in range(0, len(panels), 64)):
            below = np.stack([panel.below for panel in panels[rows]])
            tails = np.where(below, sweep.table * at_end[rows, None], 0.0)
            self.products[rows, 1:] = np.cumprod(1.0 - tails, axis=1)
            self.exponents[rows, 1:] = np.cumsum(
                np.where(below, 0.0, self.ends[rows, None] - sweep.prefix - _LOG2), axis=1
            )
            self.aboves[rows, 1:] = np.cumsum(~below, axis=1)
            said = sweep.last <= starts[rows, None]
            self.last_yes[rows, :-1] = np.where(said, sweep.last_table * at_start[rows, None], 1.0)
        if float(np.min(self.products)) < 1e-290:
            raise OutOfRange("too many thresholds lie close together for float64")
        self.guide = self.exponents - sweep.kappa * np.abs(self.ends)[:, None]
        self.guide += np.log(self.products) + np.log(self.last_yes)
        nodes, _ = _rule()
        back = widths[:, None] * (1.0 - nodes)
        x = self.ends[:, None] - back
        self.decay, self.growth = 0.5 * _exp(sweep.middle - x), 0.5 * _exp(x - sweep.middle)
        self.step = _exp(-back)
        # below 0 the density falls with the distance from the end, above it rises
        self.slope = _exp(back * np.where(self.ends > 0, sweep.kappa, -sweep.kappa)[:, None])


def _exp_of(x: float) -> float:
    """The double nearest e^x, or one next to it."""
    return float(arb(x).exp())


_LOG2 = float(arb(2).log())  # within one unit in the last place
