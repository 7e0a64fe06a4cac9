"""Attributes `@[a, b x, to_additive (attr := simp) foo "doc"]`: split at commas, read for names."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lean_bridge.names import NAME, REST

_COMMA = re.compile(r"[(\[{⟨⦃]|,")
_LITERAL = re.compile(r'"[^"]*"')
_WORD = re.compile(NAME)
_HEAD = re.compile(rf"\s*(?:(?:local|scoped|-)\s*)?([{REST}.]+)")


class Attribute(NamedTuple):
    """One attribute: its name, its arguments with literals blanked, and as they stand in the source."""

    name: str
    code: str
    text: str


def attributes(code: str, spans: list[tuple[int, int]], close: dict[int, int]) -> Iterator[tuple[str, int, int]]:
    """Each attribute as (name, start and end of its arguments)."""
    for start, end in spans:
        at = left = start
        while True:
            edge = _COMMA.search(code, at, end)
            if edge and edge[0] != ",":
                at = close.get(edge.start(), edge.start()) + 1
                continue
            right = edge.start() if edge else end
            head = _HEAD.match(code, left, right)
            if head:
                yield head[1], head.end(), right
            if not edge:
                break
            at = left = edge.end()


def plain_words(arguments: str) -> list[str]:
    """Names among attribute arguments, outside brackets and literals."""
    depth = 0
    plain = []
    for char in _LITERAL.sub(" ", arguments):
        if char in "([{⟨⦃":
            depth += 1
        elif char in ")]}⟩⦄":
            depth -= 1
        elif depth == 0:
            plain.append(char)
    return _WORD.findall("".join(plain))
