"""Blanks syntax quotations `` `(theorem $n : True := …) ``: what stands in one declares nothing by itself."""

import re

from lean_bridge.brackets import Brackets
from lean_bridge.keywords import DECLARING, SCOPING
from lean_bridge.scan import blank

_QUOTATION = re.compile(r"`\(")
_COMMAND = re.compile(rf"^(?:{'|'.join([*DECLARING, *SCOPING, '@', '/--'])})", re.MULTILINE)


def blank_quotations(code: str, brackets: Brackets) -> str:
    """`code` with closed quotations blanked; one that reaches a command in column 0 is cut off there."""
    if "`(" not in code:
        return code
    parts: list[str] = []
    done = 0
    for match in _QUOTATION.finditer(code):
        start = match.end() - 1
        close = brackets.close.get(start)
        if start < done or close is None:
            continue
        command = _COMMAND.search(code, start, close)
        end = command.start() if command else close + 1
        parts += [code[done:start], blank(code[start:end])]
        done = end
    parts.append(code[done:])
    return "".join(parts)
