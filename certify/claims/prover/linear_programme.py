"""Exact linear feasibility: the simplex method over the rationals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from flint import fmpq

from certify.claims.polynomial import Monomial

MAX_PIVOTS = 3_000
MAX_WORK = 400_000
BLAND_AFTER = 400

Vector = dict[int, fmpq]


def solve(
    columns: Sequence[Mapping[Monomial, fmpq]],
    target: Mapping[Monomial, fmpq],
    free: Collection[int] = (),
) -> list[fmpq] | None:
    """Coefficients, >= 0 but for the columns in `free`, with which the columns add up to the target.

    Columns and target are polynomials, as sparse vectors over their monomials. None when there are no such
    coefficients, or when they were not found within MAX_PIVOTS pivots and MAX_WORK operations.
    """
    keep = _useful(columns, target, set(free))
    signed = [(j, fmpq(1)) for j in keep] + [(j, fmpq(-1)) for j in keep if j in free]
    keys = {key for j in keep for key in columns[j]} | set(target)
    if any(key not in {k for j in keep for k in columns[j]} for key in target):
        return None
    rows = _tableau(columns, target, signed, sorted(keys))
    found = _first_phase(rows, len(signed))
    if found is None:
        return None
    result = [fmpq(0)] * len(columns)
    for position, value in found.items():
        j, sign = signed[position]
        result[j] += sign * value
    return result


def _useful(columns: Sequence[Mapping[Monomial, fmpq]], target: Mapping[Monomial, fmpq], free: set[int]) -> list[int]:
    """The columns left when those go that have an entry which no other column can cancel."""
    alive = set(range(len(columns)))
    while True:
        signs: dict[Monomial, set[int]] = {}
        for j in alive:
            for key, value in columns[j].items():
                kinds = {1, -1} if j in free else {1 if value > 0 else -1}
                signs.setdefault(key, set()).update(kinds)
        users: dict[Monomial, int] = {}
        for j in alive:
            for key in columns[j]:
                users[key] = users.get(key, 0) + 1
        dead = {
            j for j in alive for key in columns[j] if key not in target and (len(signs[key]) == 1 or users[key] == 1)
        }
        if not dead:
            return sorted(alive)
        alive -= dead


def _tableau(
    columns: Sequence[Mapping[Monomial, fmpq]],
    target: Mapping[Monomial, fmpq],
    signed: Sequence[tuple[int, fmpq]],
    keys: Sequence[Monomial],
) -> list[Vector]:
    """One row for each key, with right-hand side >= 0 under the key -1."""
    index = {key: i for i, key in enumerate(keys)}
    rows: list[Vector] = [{} for _ in keys]
    for position, (j, sign) in enumerate(signed):
        for key, value in columns[j].items():
            rows[index[key]][position] = sign * value
    for key, value in target.items():
        rows[index[key]][-1] = value
    return [{k: -v for k, v in row.items()} if row.get(-1, 0) < 0 else row for row in rows]


def _first_phase(rows: list[Vector], width: int) -> dict[int, fmpq] | None:
    """Drive the artificial variables (one a row, not stored) to 0; the basic values, or None."""
    basis: list[int | None] = [None] * len(rows)
    cost: Vector = {}
    for row in rows:
        _add(cost, row, fmpq(1))
    work = 0
    for pivots in range(MAX_PIVOTS):
        if cost.get(-1, fmpq(0)) == 0:
            return {b: rows[i].get(-1, fmpq(0)) for i, b in enumerate(basis) if b is not None}
        rising = [j for j, value in cost.items() if j >= 0 and value > 0]
        if not rising:
            return None
        entering = min(rising) if pivots >= BLAND_AFTER else max(rising, key=lambda j: (cost[j], -j))
        leaving = _leaving(rows, basis, entering, width)
        if leaving is None:
            return None
        work += _pivot(rows, cost, leaving, entering)
        if work > MAX_WORK:
            return None
        basis[leaving] = entering
    return None


def _leaving(rows: list[Vector], basis: Sequence[int | None], entering: int, width: int) -> int | None:
    best: tuple[fmpq, int, int] | None = None
    for i, row in enumerate(rows):
        value = row.get(entering)
        if value is None or not value > 0:
            continue
        label = basis[i]
        key = (row.get(-1, fmpq(0)) / value, width if label is None else label, i)
        if best is None or key[0] < best[0] or (key[0] == best[0] and key[1:] < best[1:]):
            best = key
    return None if best is None else best[2]


def _pivot(rows: list[Vector], cost: Vector, leaving: int, entering: int) -> int:
    """Exchange the two; the number of operations that it took."""
    scale = 1 / rows[leaving][entering]
    pivot = {key: scale * value for key, value in rows[leaving].items()}
    rows[leaving] = pivot
    changed = 0
    for i, row in enumerate(rows):
        if i != leaving and entering in row:
            _add(row, pivot, -row[entering])
            changed += 1
    if entering in cost:
        _add(cost, pivot, -cost[entering])
    return (changed + 1) * len(pivot)


def _add(row: Vector, other: Vector, factor: fmpq) -> None:
    for key, value in other.items():
        total = row.get(key, fmpq(0)) + factor * value
        if total == 0:
            row.pop(key, None)
        else:
            row[key] = total
