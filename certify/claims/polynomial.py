"""Exact polynomials with rational coefficients in named atoms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flint import fmpq

from certify.arithmetic.expression import ExpressionError

MAX_PRODUCT_WORK = 20_000

Monomial = tuple[tuple[str, int], ...]
"""Atoms with their positive exponents, in alphabetical order; empty for 1."""


class Polynomial:
    """An immutable polynomial: a rational coefficient, never zero, for each of its monomials.

    Products of more than MAX_PRODUCT_WORK pairs of terms raise ExpressionError.
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, fmpq] | None = None) -> None:
        self.terms: dict[Monomial, fmpq] = {m: c for m, c in (terms or {}).items() if c != 0}
        self._hash: int | None = None

    @classmethod
    def constant(cls, value: fmpq | int) -> Polynomial:
        return cls({(): fmpq(value)})

    @classmethod
    def atom(cls, name: str) -> Polynomial:
        return cls({((name, 1),): fmpq(1)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Polynomial({self.terms})"

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            terms[monomial] = terms.get(monomial, fmpq(0)) + coefficient
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return self.scaled(fmpq(-1))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + (-other)

    def __mul__(self, other: Polynomial) -> Polynomial:
        if len(self.terms) * len(other.terms) > MAX_PRODUCT_WORK:
            raise ExpressionError("a polynomial has too many terms; write the inequality in smaller steps")
        terms: dict[Monomial, fmpq] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = _product(left, right)
                terms[monomial] = terms.get(monomial, fmpq(0)) + a * b
        return Polynomial(terms)

    def __pow__(self, exponent: int) -> Polynomial:
        result = Polynomial.constant(1)
        for _ in range(exponent):
            result = result * self
        return result

    def scaled(self, factor: fmpq) -> Polynomial:
        return Polynomial({m: factor * c for m, c in self.terms.items()})

    def is_zero(self) -> bool:
        return not self.terms

    def as_constant(self) -> fmpq | None:
        """The value of a constant polynomial, else None."""
        if self.is_zero():
            return fmpq(0)
        return self.terms.get(()) if set(self.terms) == {()} else None

    def atoms(self) -> frozenset[str]:
        return frozenset(name for monomial in self.terms for name, _ in monomial)

    def degree(self) -> int:
        """The total degree; 0 for constants, 0 included."""
        return max((sum(e for _, e in monomial) for monomial in self.terms), default=0)

    def split_content(self) -> tuple[fmpq, Monomial, Polynomial]:
        """A positive rational, a monomial and a polynomial whose product this is.

        The polynomial has no atom in all its terms, and its first coefficient (in the order of the monomials)
        is 1 or -1; so it is the same for all positive multiples. Raises ValueError for 0.
        """
        if self.is_zero():
            raise ValueError("0 has no content")
        common = dict(next(iter(self.terms)))
        for monomial in self.terms:
            exponents = dict(monomial)
            common = {name: min(e, exponents[name]) for name, e in common.items() if name in exponents}
        scale = abs(self.terms[min(self.terms)])
        rest = {_quotient(m, common): c / scale for m, c in self.terms.items()}
        return scale, tuple(sorted(common.items())), Polynomial(rest)


def product(factors: Iterable[Polynomial]) -> Polynomial:
    """The product of the factors; 1 for none."""
    result = Polynomial.constant(1)
    for factor in factors:
        result = result * factor
    return result


def _product(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    exponents = dict(left)
    for name, exponent in right:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted(exponents.items()))


def _quotient(monomial: Monomial, common: Mapping[str, int]) -> Monomial:
    return tuple((name, e - common.get(name, 0)) for name, e in monomial if e > common.get(name, 0))
