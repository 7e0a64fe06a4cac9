"""What the reader finds in one Lean file. Plain immutable data; positions are those of the source text.

Lines count from 1 by LF, columns from 0 in code points, ends are exclusive.
"""

import msgspec

Position = tuple[int, int]


class Declaration(msgspec.Struct, frozen=True, array_like=True):
    """One name that a piece of source text declares, or may declare (kinds `generated`, `export`, `local`).

    `signature` is everything between the keyword and the body with white space normalised and comments
    removed; `digest` is the SHA-256 of what the declaration states: the signature of a theorem, axiom or
    opaque constant, signature and body of anything that is itself a definition. `context` is the SHA-256
    of the `variable`, `open`, `universe`, `include` and notation commands in force, on which the meaning of
    the signature silently depends. `parent` is the declaration a member or candidate belongs to, or for an
    anonymous instance its namespace; `target` what an alias or export stands for. `opens` are
    the namespaces opened around it, one that is opened in part with a trailing `*`.
    """

    name: str
    kind: str
    file: str
    keyword: Position
    at: Position
    start: Position
    end: Position
    flags: tuple[str, ...] = ()
    doc: str | None = None
    attributes: tuple[str, ...] = ()
    signature: str = ""
    type: str = ""
    digest: str = ""
    context: str = ""
    parent: str | None = None
    target: str | None = None
    reason: str | None = None
    opens: tuple[str, ...] = ()


class Unparsed(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of source that could not be placed; reading went on at the next command."""

    file: str
    start: Position
    end: Position
    excerpt: str
    reason: str


class Diagnostic(msgspec.Struct, frozen=True, array_like=True):
    """Something Lean would complain about, or an auditor should know, at one place of one file."""

    file: str
    at: Position
    message: str


class SourceFile(msgspec.Struct, frozen=True, array_like=True):
    """Everything read from one file."""

    path: str
    lines: int
    module: bool
    imports: tuple[str, ...]
    declarations: tuple[Declaration, ...]
    unparsed: tuple[Unparsed, ...]
    diagnostics: tuple[Diagnostic, ...]
