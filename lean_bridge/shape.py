"""Which sequences of terminals are commands: lark's LALR parser over lean.lark, one parse per sequence."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.lexer import Lexer

Shape = tuple[str, dict[str, int]]
"""The grammar rule and, for each terminal that occurs in it, the index of its first occurrence."""


class _GivenTerminals(Lexer):
    """Hands lark the terminals as they are: the text was cut by `lean_bridge.terminals`."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, terminals: tuple[str, ...]) -> Iterator[Token]:  # type: ignore[override]
        for index, terminal in enumerate(terminals):
            yield Token(terminal, terminal, start_pos=index)


@cache
def _parser() -> Lark:
    grammar = files("lean_bridge").joinpath("lean.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=_GivenTerminals)


@cache
def shape(terminals: tuple[str, ...]) -> Shape | None:
    """The command these terminals form, or None. The result depends on nothing else, so it is remembered."""
    try:
        tree: Any = _parser().parse(terminals)
    except UnexpectedInput:
        return None
    (command,) = tree.children
    first: dict[str, int] = {}
    for token in command.children:
        first.setdefault(token.type, token.start_pos)
    return str(command.data), first
