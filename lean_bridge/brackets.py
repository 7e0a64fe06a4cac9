"""One pass over all brackets of a blanked text: nesting depth anywhere, partner of every opening bracket.

Kinds are not compared: `(]` pairs. Lean rejects such text anyway, and a lone bracket of one command never
changes how the brackets of a later command pair among themselves.
"""

from bisect import bisect_left

import numpy as np

from lean_bridge.scan import CodePoints

OPENING = "([{⟨⦃⟪⟦‹"
CLOSING = ")]}⟩⦄⟫⟧›"

_STEP = np.zeros(0x3000, dtype=np.int8)  # greater code points are clipped to the last, a zero
_STEP[[ord(c) for c in OPENING]] = 1
_STEP[[ord(c) for c in CLOSING]] = -1


class Brackets:
    """`close[i]` is the offset of the bracket that closes the one at offset i, where there is one.

    `points` are the code points of the text, for whoever else wants to search them at once.
    """

    def __init__(self, points: CodePoints) -> None:
        self.points = points
        step = _STEP.take(points, mode="clip")
        where = np.flatnonzero(step)
        turn = step[where]
        after = np.cumsum(turn, dtype=np.int64)
        # Sorted by level, the two ends of a pair are neighbours: a walk that returns to a level by ±1 steps
        # alternates between opening and closing there.
        level = np.where(turn > 0, after, after + 1)
        order = np.argsort(level, kind="stable")
        first, second = order[:-1], order[1:]
        pair = (level[first] == level[second]) & (turn[first] > 0) & (turn[second] < 0)
        self.close: dict[int, int] = dict(zip(where[first[pair]].tolist(), where[second[pair]].tolist(), strict=True))
        self._where: list[int] = where.tolist()
        self._after: list[int] = after.tolist()
        self._size = len(points) + 1
        self._by_level = level[order] * self._size + where[order]

    def depth(self, at: int) -> int:
        """Number of brackets opened and not closed before offset `at` (negative after stray closing ones)."""
        i = bisect_left(self._where, at)
        return self._after[i - 1] if i else 0

    def enclosing_close(self, at: int) -> int | None:
        """Offset of the bracket that closes the innermost one open at `at`; None where nothing does."""
        level = self.depth(at)
        i = int(np.searchsorted(self._by_level, level * self._size + at))
        if i == len(self._by_level):
            return None
        found, where = divmod(int(self._by_level[i]), self._size)
        return where if found == level else None
