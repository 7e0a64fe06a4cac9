"""Blanks what is not code: comments, docstrings, strings, characters. Offsets survive.

Every blanked character becomes a space and line breaks stay, so an offset means the same place before and
after. Three things leave a mark, because the parser must see that something stood there: a docstring keeps
its `/--`, a module docstring its `/-!`, and a string or character literal a quote at each end.

Each text position is visited a bounded number of times: nesting uses a counter or an explicit stack, and
a delimiter found to be unclosed once is not searched for again.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from lean_bridge.names import LETTER, REST

_CHARACTER = re.compile(rf"(?<![{REST}])'(?:[^\\'\n]|\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|.))'")
_QUOTED_NAME = re.compile(r"«[^«»\n]*»")
_COMMENT_EDGE = re.compile(r"/-|-/")
_STRING_EDGE = re.compile(r'[\\"]')
_TEXT_EDGE = re.compile(r'[\\"{]')
_CODE_EDGE = re.compile(rf"[{{}}\"]|(?<![{REST}])'(?:[^\\'\n]|\\.)'")
_BLANK = re.compile(r"\s*")
_IDENTIFIER_END = re.compile(rf"[{REST}.]")
_LETTER = re.compile(f"[{LETTER}]")
CodePoints = npt.NDArray[np.uint32]
_MARKS = np.zeros(0x100, dtype=np.bool_)  # greater code points are clipped to the last, which is unmarked
_MARKS[[ord(char) for char in "-/\"'«"]] = True
_IN_NAME = np.array([bool(re.match(f"[{REST}]", chr(point))) for point in range(0x2C80)])


@dataclass
class Scan:
    """The blanked text with what was blanked: docstrings by start, literals in order, stray delimiters.

    `points` are the code points of `code`.
    """

    text: str
    code: str = ""
    points: CodePoints = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    docs: dict[int, int] = field(default_factory=dict)
    literals: list[tuple[int, int]] = field(default_factory=list)
    stray: list[tuple[int, str]] = field(default_factory=list)

    def uncommented(self, start: int, end: int) -> str:
        """The source between two offsets with comments blanked and literals put back."""
        piece = self.code[start:end]
        if '"' not in piece:
            return piece
        parts, at = [], start
        first = bisect_left(self.literals, (start, 0))
        for i in range(first, bisect_right(self.literals, (end, 0))):
            left, right = self.literals[i]
            parts += [self.code[at:left], self.text[left:right]]
            at = right
        return "".join(parts) + self.code[at:end]


def blank(text: str) -> str:
    """Spaces of the same length, line breaks kept."""
    if "\n" not in text:
        return " " * len(text)
    return "\n".join(" " * len(line) for line in text.split("\n"))


def scan(text: str) -> Scan:
    """Blank `text`. Never fails: an unclosed comment runs to the end, an unclosed quote is a character."""
    points = code_points(text)
    found = Scan(text)
    strings = _Strings(text)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for start in _special(points):
        if start < at:
            continue
        char = text[start]
        if char == "-":
            at = text.find("\n", start)
            at = len(text) if at < 0 else at
            blanked = start
        elif char == "/":
            at = _comment_end(text, start)
            if at < 0:
                found.stray.append((start, "block comment is never closed"))
                at = len(text)
            third = text[start + 2 : start + 3]
            blanked = start + (3 if third in ("-", "!") else 0)
            if third == "-":
                found.docs[start] = at
        elif char == "«":
            name = _QUOTED_NAME.match(text, start)
            at = name.end() if name else start + 1
            continue
        else:
            at = _literal_end(text, start, strings)
            if at < 0:
                if char == '"':
                    found.stray.append((start, "string is never closed"))
                at = start + 1
                continue
            found.literals.append((start, at))
            blanked = start
        starts.append(min(blanked, at))
        ends.append(at)
    found.points = _blanked(points, starts, ends, found.literals)
    found.code = found.points.tobytes().decode("utf-32-le", "surrogatepass")
    return found


def code_points(text: str) -> CodePoints:
    """The text as an array, for searches of all positions at once."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _special(points: CodePoints) -> list[int]:
    """Offsets where a comment, literal or quoted name may begin."""
    where = np.flatnonzero(_MARKS.take(points, mode="clip"))
    here = points[where]
    after = np.append(points, np.uint32(0))[where + 1]
    before = np.insert(points, 0, 0)[where]
    dash = after == ord("-")
    fits = ((here == ord("-")) | (here == ord("/"))) & dash
    fits |= (here == ord("'")) & ~_IN_NAME.take(before, mode="clip")
    fits |= (here == ord('"')) | (here == ord("«"))
    offsets: list[int] = where[fits].tolist()
    return offsets


def _literal_end(text: str, start: int, strings: "_Strings") -> int:
    if text[start] == '"':
        return strings.end(start)
    character = _CHARACTER.match(text, start)
    return character.end() if character else -1


def _blanked(points: CodePoints, starts: list[int], ends: list[int], literals: list[tuple[int, int]]) -> CodePoints:
    """Spaces from each start to its end, line breaks kept, a quote at both ends of each literal."""
    step = np.zeros(len(points) + 1, dtype=np.int8)
    step[starts] += 1
    step[ends] -= 1
    inside = np.cumsum(step[:-1], dtype=np.int8).astype(np.bool_) & (points != 0x0A)
    blanked = np.where(inside, np.uint32(0x20), points)
    if literals:
        edges = np.array(literals, dtype=np.int64)
        blanked[edges[:, 0]] = ord('"')
        blanked[edges[:, 1] - 1] = ord('"')
    return blanked


def _comment_end(text: str, start: int) -> int:
    """Offset after the comment that opens at `start`, or -1. Comments nest.

    White space and whole comments after the token `/--` or `/-!` are skipped before its text begins: in
    `/-- -- x -/` the `-/` belongs to a line comment.
    """
    at = start + 2
    if text.startswith(("-", "!"), at):
        at += 1
        while True:
            blanks = _BLANK.match(text, at)
            at = blanks.end() if blanks else at
            if text.startswith("--", at):
                line_end = text.find("\n", at)
                if line_end < 0:
                    return -1
                at = line_end
            elif text.startswith("/-", at) and not text.startswith(("-", "!"), at + 2):
                at = _plain_comment_end(text, at + 2)
                if at < 0:
                    return -1
            else:
                break
    return _plain_comment_end(text, at)


def _plain_comment_end(text: str, at: int) -> int:
    depth = 1
    while edge := _COMMENT_EDGE.search(text, at):
        at = edge.end()
        depth += 1 if edge[0] == "/-" else -1
        if not depth:
            return at
    return -1


class _Strings:
    """Ends of string literals: plain, raw `r#"…"#`, interpolated `s!"…{code}…"`.

    A plain string that is never closed proves the same of every later quote (each of them is escaped in it),
    so the search is given up for the whole file.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain_closes = True
        self.interpolated_closes = True
        self.raw_open: set[int] = set()

    def end(self, quote: int) -> int:
        """Offset after the literal whose first quote is at `quote`, or -1."""
        text = self.text
        before = text[quote - 1 : quote] if quote else ""
        if before in ("#", "r"):
            hashes = 0
            while quote > hashes and text[quote - 1 - hashes] == "#":
                hashes += 1
            r = quote - 1 - hashes
            if r >= 0 and text[r] == "r" and not (r and _IDENTIFIER_END.match(text, r - 1)):
                return self._raw(quote, hashes)
        if before == "!" and self.interpolated_closes and quote > 1 and _LETTER.match(text, quote - 2):
            end = self._interpolated(quote)
            if end > 0:
                return end
            self.interpolated_closes = False
        return self._plain(quote)

    def _raw(self, quote: int, hashes: int) -> int:
        if hashes in self.raw_open:
            return -1
        end = self.text.find('"' + "#" * hashes, quote + 1)
        if end < 0:
            self.raw_open.add(hashes)
            return -1
        return end + 1 + hashes

    def _plain(self, quote: int) -> int:
        if not self.plain_closes:
            return -1
        end = self._closing_quote(quote + 1)
        if end < 0:
            self.plain_closes = False
        return end

    def _closing_quote(self, at: int) -> int:
        while edge := _STRING_EDGE.search(self.text, at):
            if edge[0] == '"':
                return edge.end()
            at = edge.end() + 1
        return -1

    def _interpolated(self, quote: int) -> int:
        text = self.text
        inside = ['"']
        at = quote + 1
        while inside:
            edge = (_TEXT_EDGE if inside[-1] == '"' else _CODE_EDGE).search(text, at)
            if not edge:
                return -1
            at = edge.end()
            char = edge[0]
            if inside[-1] == '"':
                if char == "\\":
                    at += 1
                elif char == '"':
                    inside.pop()
                else:
                    inside.append("{")
            elif char == "{":
                inside.append("{")
            elif char == "}":
                inside.pop()
            elif char == '"':
                if text[edge.start() - 1] == "!":
                    inside.append('"')
                else:
                    at = self._closing_quote(at)
                    if at < 0:
                        return -1
        return at
