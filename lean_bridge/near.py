"""Names that resemble a missing one: same up to case, longer by a suffix, similar by edits."""

from collections.abc import Iterable
from difflib import SequenceMatcher

import numpy as np

from lean_bridge.names import Name, show_name

_LIKE = 0.75
_MOST = 3
_BUCKETS = 64


class NearNames:
    """Looks for near names; asks the slow similarity only where an upper bound allows it."""

    def __init__(self, names: Iterable[Name]) -> None:
        by_last: dict[str, list[Name]] = {}
        for name in names:
            by_last.setdefault(name[-1], []).append(name)
        self._by_last = by_last
        self._lasts = sorted(by_last)
        self._folded: dict[str, list[str]] = {}
        for last in self._lasts:
            self._folded.setdefault(last.casefold(), []).append(last)
        self._counts = np.array([_letters(last) for last in self._lasts], dtype=np.int32).reshape(-1, _BUCKETS)
        self._lengths = np.array([len(last) for last in self._lasts], dtype=np.int32)

    def near(self, name: Name) -> tuple[str, ...]:
        """At most three names in a fixed order: equal up to case, extending `name`, at least 0.75 similar."""
        last = name[-1]
        found: list[str] = list(self._folded.get(last.casefold(), ()))
        extending = [other for other in self._lasts if other.casefold().startswith(last.casefold())]
        found += sorted(extending, key=lambda other: (len(other), other))
        found += [other for _, other in self._similar(last)]
        shown: list[str] = []
        for other in dict.fromkeys(found):
            if other == last and len(self._by_last[other]) == 1 and self._by_last[other][0] == name:
                continue
            shown += sorted(show_name(full) for full in self._by_last[other])
            if len(shown) >= _MOST:
                break
        return tuple(shown[:_MOST])

    def _similar(self, last: str) -> list[tuple[float, str]]:
        if not self._lasts:
            return []
        shared = np.minimum(self._counts, np.array(_letters(last), dtype=np.int32)).sum(axis=1)
        bound = 2.0 * shared / (self._lengths + len(last))
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(last)
        similar = []
        for i in np.flatnonzero(bound >= _LIKE).tolist():
            matcher.set_seq1(self._lasts[i])
            if matcher.quick_ratio() >= _LIKE and (ratio := matcher.ratio()) >= _LIKE:
                similar.append((ratio, self._lasts[i]))
        return sorted(similar, key=lambda pair: (-pair[0], pair[1]))


def _letters(text: str) -> list[int]:
    """How often each letter occurs, letters hashed to a fixed number of buckets."""
    counts = [0] * _BUCKETS
    for char in text:
        counts[ord(char) % _BUCKETS] += 1
    return counts
