"""Parses a Lean term of the arithmetic subset; anything else is `Outside`, with the reason."""

from functools import cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput

from lean_bridge.names import NAME

MAX_LENGTH = 5_000
MAX_DEPTH = 100

Term = Tree[Token]


class OutsideError(Exception):
    """The text is not in the arithmetic subset; the message says why."""


@cache
def _parser() -> Lark:
    grammar = files("lean_bridge.formula").joinpath("lean_term.lark").read_text(encoding="utf-8")
    grammar = grammar.replace("%declare NAME", f"NAME: /{NAME}/")
    return Lark(grammar, start="sum", parser="lalr")


def parse_term(text: str) -> Term:
    """The syntax tree of a Lean term. Raises OutsideError."""
    if len(text) > MAX_LENGTH:
        raise OutsideError(f"longer than {MAX_LENGTH} characters")
    try:
        tree = _parser().parse(text)
    except UnexpectedCharacters as error:
        raise OutsideError(f"{text[error.pos_in_stream :][:1]!r} is not in the arithmetic subset") from None
    except UnexpectedInput as error:
        at = getattr(error, "pos_in_stream", None)
        shown = text[at : at + 20] if isinstance(at, int) and at >= 0 else "the end"
        raise OutsideError(f"not an arithmetic term at {shown!r}") from None
    if depth(tree) > MAX_DEPTH:
        raise OutsideError(f"operations are more than {MAX_DEPTH} deep")
    return tree


def depth(tree: Term) -> int:
    """Greatest number of nodes from the root to a leaf."""
    deepest = 0
    pending = [(tree, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        pending += [(child, level + 1) for child in node.children if isinstance(child, Tree)]
    return deepest


def atom_text(tree: Term) -> str:
    """A name or application as text without casts, ascriptions and needless brackets, for comparison."""
    if tree.data in ("group", "ascription", "cast"):
        return atom_text(_only_tree(tree))
    if tree.data in ("name", "number"):
        return str(tree.children[0])
    if tree.data == "call":
        head, *arguments = tree.children
        parts = [str(head)]
        for argument in arguments:
            text = atom_text(argument) if isinstance(argument, Tree) else str(argument)
            parts.append(f"({text})" if " " in text else text)
        return " ".join(parts)
    raise OutsideError("an argument that is an operation")


def _only_tree(tree: Term) -> Term:
    child = tree.children[0]
    if not isinstance(child, Tree):
        raise OutsideError("a bracket without a term")
    return child
