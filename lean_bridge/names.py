"""Lean identifiers: what counts as one, how a name is split into components, how it is printed.

A name is a tuple of components and two names are equal when their components are: `«plain»` is `plain`,
and `«a.b»` is not `a.b`.
"""

import re

Name = tuple[str, ...]

# ASCII letters, `_`, Latin-1 and Extended-A, Greek without λ Π Σ, letter-like symbols, script and Fraktur.
LETTER = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f"
    "\u0391-\u039f\u03a1\u03a2\u03a4-\u03a9\u03b1-\u03ba\u03bc-\u03c9\u03ca-\u03fb"
    "\u1f00-\u1ffe\u2100-\u214f\U0001d49c-\U0001d59f"
)
REST = LETTER + "0-9'!?\u2080-\u2089\u2090-\u209c\u1d62-\u1d6a\u2c7c"
COMPONENT = f"(?:[{LETTER}][{REST}]*|«[^«»\\n]*»)"
NAME = rf"{COMPONENT}(?:\.{COMPONENT})*"

_COMPONENT = re.compile(f"«([^«»\n]*)»|([{LETTER}][{REST}]*)")
_PLAIN = re.compile(f"[{LETTER}][{REST}]*")
_NAME = re.compile(NAME)


def split_name(text: str) -> Name:
    """Components of a name that the scanner accepted; guillemets are dropped."""
    if "«" not in text:
        return tuple(text.split("."))
    return tuple(m[1] if m[1] is not None else m[2] for m in _COMPONENT.finditer(text))


def parse_name(text: str) -> Name | None:
    """Components of `text`, or None where it is not a Lean name (`???`, a path, an empty cell)."""
    return split_name(text) if _NAME.fullmatch(text) else None


def show_name(name: Name) -> str:
    """The name as Lean prints it: guillemets only around components that need them."""
    return ".".join(part if _PLAIN.fullmatch(part) else f"«{part}»" for part in name)
