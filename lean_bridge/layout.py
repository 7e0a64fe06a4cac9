"""Where a piece of blanked text stands: blanks after it, text before it, first on its line."""

import re

_SPACE = re.compile(r"\s*")
_MARGIN = 256


def skip_blanks(code: str, at: int) -> int:
    """Offset of the first character at or after `at` that is not white space."""
    if code[at : at + 1] > " ":
        return at
    if code[at + 1 : at + 2] > " ":  # by far the most frequent: one blank
        return at + 1
    blanks = _SPACE.match(code, at)
    return blanks.end() if blanks else at


def text_before(code: str, at: int, start: int = 0) -> str:
    """Up to 64 characters before `at` without trailing white space, none from before `start`."""
    width = 64
    while True:
        piece = code[max(start, at - width) : at].rstrip()
        if piece or at - width <= start:
            return piece
        width *= 4


def first_on_line(code: str, at: int) -> bool:
    """Whether only blanks (at most 256) stand before `at` on its line."""
    piece = code[max(0, at - _MARGIN) : at].rstrip(" \t\r")
    return piece.endswith("\n") if piece else at <= _MARGIN
