"""Fixed tunings for the tests of what a rung does on instances, and the bounds of its proof written out for them.

The shipped certificates may be improved; these numbers stay. The formulas are those of the note on the smaller
constant, by hand in Arb, and share nothing with `constants.search.formulas`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from flint import arb, fmpq

import certify.release.mechanism
from constants.search.rung import RUNGS, Envelope, Tuning

PRECISION = 200

_CHOICES = {  # C, g, b, j
    "1": ("187", "0.145", "3.55", "0.002564"),
    "2": ("132", "0.145", "3.55", "0.005141"),
    "3": ("77", "0.143", "3.5", "0.0149"),
    "4": ("39.5", "0.23", "2.9", "0.0052"),
    "5": ("23.8", "0.235", "2.85", "0.01415"),
    "6": ("21.95", "0.2358", "2.845", "0.01668"),
    "7": ("11", "0.2", "2", "0.0667"),
    "8": ("9.35", "0.26", "1.7", "0.092"),
}


def _rational(text: str) -> fmpq:
    whole, _, digits = text.partition(".")
    return fmpq(int(whole + digits), 10 ** len(digits))


TUNINGS: Mapping[str, Tuning] = {
    name: Tuning(RUNGS[name], _rational(constant), (Envelope(2, _rational(g), _rational(b), _rational(j)),))
    for name, (constant, g, b, j) in _CHOICES.items()
}


SHORT = Tuning(RUNGS["3"], fmpq(77), (Envelope(2, fmpq(29, 200), fmpq(7, 2), fmpq(7, 5000)),))
"""Rung 3 with twelve rounds instead of 124, so that its law is small; its C is then not reached."""


@contextmanager
def fixed(tuning: Tuning) -> Iterator[None]:
    """Every tuned instance that is prepared meanwhile has this tuning."""
    with patch.object(certify.release.mechanism, "tuning_named", lambda name: tuning):
        yield


@dataclass(frozen=True)
class ByHand:
    """J, B, η, γ and the bounds of a tuning for T >= 2 elements, k queries, n rows and a rational ε, at 200 bits."""

    tuning: Tuning
    size: int
    queries: int
    rows: int
    epsilon: fmpq

    @property
    def choices(self) -> Envelope:
        (envelope,) = self.tuning.ranges
        assert isinstance(envelope, Envelope)
        return envelope

    @property
    def step(self) -> int:
        """The number of the rung."""
        return int(self.tuning.rung.name)

    @property
    def weight(self) -> fmpq:
        return self.epsilon * self.rows

    def tau(self) -> arb:
        return (arb(2 * self.size).log() * self.selections() / self.weight).sqrt()

    def selections(self) -> arb:
        """log 2k."""
        return arb(2 * self.queries).log()

    def rounds(self) -> int:
        exact = self.choices.j * self.weight / self.selections()
        found = int(exact.lower().fmpq().ceil())
        assert found == int(exact.upper().fmpq().ceil())
        return found

    def block(self) -> int:
        return int((self.choices.b / self.epsilon).ceil())

    def gamma(self) -> arb:
        return (2 * arb(self.size).log() / self.rounds()).sqrt()

    def growth(self) -> tuple[arb, arb, arb]:
        """The factors of the near and of the far exponent, and where far begins."""
        if self.step == 1:
            return arb(5), arb(5), arb(1)
        if self.step <= 5:
            return arb(fmpq(5, 2)), arb(fmpq(5, 2)), arb(fmpq(1, 2))
        if self.step <= 7:
            return 3 / arb(2).sqrt(), 3 / arb(2).sqrt(), 1 / arb(2).sqrt()
        return arb(2), arb(fmpq(3, 2)), arb(1)

    def entropy(self) -> arb:
        """L."""
        return 2 * arb(2 * self.size if self.step <= 5 else self.size).log()

    def eta(self) -> arb:
        near, _, _ = self.growth()
        return self.choices.g * self.weight / near / (2 * self.rounds() * self.entropy()).sqrt()

    def far_rate(self) -> arb:
        near, far, _ = self.growth()
        return self.choices.g * far / near

    def border(self) -> arb:
        """X: far are the blocks with εR > X."""
        near, _, begin = self.growth()
        return begin * near * self.entropy() / self.choices.g

    def near_sum(self) -> arb:
        """S."""
        g, b = self.choices.g, self.choices.b
        return (g * arb(b)).exp() / (1 - (-(fmpq(1, 2) - g) * arb(b)).exp())

    def far_sums(self) -> tuple[arb, arb]:
        """S_f and F."""
        p, b, x = fmpq(1, 2) - self.far_rate(), self.choices.b, self.border()
        assert p * x >= 1
        q = (-p * b).exp()
        edge = (arb(b) / 2 - p * x).exp()
        return edge / (1 - q), edge * (x / (1 - q) + b * q / (1 - q) / (1 - q))

    def threshold(self) -> arb:
        if self.step <= 3:
            return arb(0)
        return self.gamma() + (self.selections() / self.eta() if self.step >= 7 else 0)

    def error(self) -> arb:
        """The bound of BC-7."""
        s, (s_f, f) = self.near_sum(), self.far_sums()
        far, log_k, gap = 4 * f / self.weight, self.selections(), self.selections() / self.eta()
        if self.step >= 7:
            nu = (1 + 1 / arb(2 * self.queries).sqrt()) / 2
            power = (nu.log() * self.rounds() / 2).exp()
            correction = (4 * s * power + 2 * power * power * (1 + s_f)) / (arb(1).exp() * self.rounds() * log_k)
            return self.gamma() + gap * (1 + correction) + far
        mean, norm = {
            1: (4 * arb(4 * self.queries).log(),) * 2,
            2: (4 * arb(4 * self.queries).log(),) * 2,
            3: (log_k + 1, (log_k * log_k + 2 * log_k + 2).sqrt()),
            4: (log_k + 1, (log_k * log_k + 2 * log_k + 2).sqrt()),
            5: (log_k, fmpq(10028, 10000) * log_k),
            6: (log_k, fmpq(10028, 10000) * log_k),
        }[self.step]
        regret = self.gamma() * (1 + s) if self.step <= 3 else self.gamma()
        return regret + (mean + s * norm) / self.eta() + far

    def block_terms(self, rate: arb | fmpq, count: int) -> list[tuple[int, arb]]:
        """``(R_j, w_j e^{rate ε R_j})`` of the first blocks."""
        width, epsilon = self.block(), arb(self.epsilon)
        return [
            ((j + 1) * width, (rate * epsilon * (j + 1) * width - epsilon / 2 * (j * width + 1)).exp())
            for j in range(count)
        ]
