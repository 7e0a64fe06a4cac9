"""From the bytes of an instance file to a tree whose numbers are still text.

JSON is read strictly: UTF-8 without a byte order mark, no NaN or Infinity, no key twice, no lone surrogates,
shallow nesting. No number passes through `float` or `int`: `JsonNumber` holds the characters of the file.
Nothing here knows what an instance means; `certify.instance_node` reads the tree.
"""

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

MAX_FILE_BYTES = 1024 * 1024
MAX_DEPTH = 20
MAX_PROBLEMS_SHOWN = 100
MAX_SHOWN_CHARACTERS = 60


class InputProblem(NamedTuple):
    """One thing wrong with the input: the JSON path where it is, and a message that says how to mend it."""

    path: str
    message: str


class InstanceError(Exception):
    """The input cannot be read as an instance; `problems` holds everything found wrong with it.

    As text: `instance.json: 2 problems`, then one line each. `source` names the input.
    """

    def __init__(self, problems: Iterable[InputProblem], source: str = "instance") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__(self.problems, source)

    def __str__(self) -> str:
        count = len(self.problems)
        lines = [f"{printable(self.source)}: {count:,} {'problem' if count == 1 else 'problems'}"]
        lines += [f"  {path}: {message}" for path, message in self.problems[:MAX_PROBLEMS_SHOWN]]
        if count > MAX_PROBLEMS_SHOWN:
            lines.append(f"  and {count - MAX_PROBLEMS_SHOWN:,} more")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class JsonNumber:
    """A JSON number, exactly as the file writes it."""

    text: str


class Refused(Enum):
    """Stands in the tree for a value that is already among the tree's problems."""

    REFUSED = "refused"


REFUSED: Final = Refused.REFUSED

JsonValue: TypeAlias = "JsonNumber | Refused | str | bool | list[JsonValue] | dict[str, JsonValue] | None"


class InstanceTree(dict[str, JsonValue]):
    """The members of an instance's outermost object.

    `source` names the input in messages, `sha256` is the hash of the bytes that were read, `problems` are
    those that do not prevent reading on: the reader of the tree reports them together with its own.
    """

    def __init__(
        self, members: dict[str, JsonValue], source: str, sha256: str, problems: Sequence[InputProblem]
    ) -> None:
        super().__init__(members)
        self.source = source
        self.sha256 = sha256
        self.problems = tuple(problems)


def read_instance_file(path: str | os.PathLike[str]) -> InstanceTree:
    """The tree of the JSON object in the file at `path`, at most 1 MiB of it.

    Raises InstanceError when the file cannot be read or is not one JSON object. Problems inside the object
    (a key given twice, NaN, …) do not raise here but are kept in `InstanceTree.problems`.
    """
    source = os.fspath(path)
    try:
        content = _file_content(Path(source))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"cannot be read ({reason}): give the path of an instance file"
        raise InstanceError([InputProblem("$", message)], source) from None
    except _Unreadable as error:
        raise InstanceError([InputProblem("$", str(error))], source) from None
    return parse_instance_bytes(content, source)


class _Unreadable(Exception):
    """The input as a whole cannot be read; the message says why and what to do."""


def _file_content(path: Path) -> bytes:
    """At most MAX_FILE_BYTES + 1 bytes of a regular file; raises OSError or _Unreadable."""
    if "\0" in str(path):
        raise _Unreadable("a file name cannot contain a null character: give the path of an instance file")
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise _Unreadable("is a directory: give the path of an instance file inside it")
    if not stat.S_ISREG(mode):
        raise _Unreadable("is not a regular file: write the instance to a file first")
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def parse_instance_bytes(content: bytes, source: str = "instance") -> InstanceTree:
    """The tree of the JSON object that `content` is; `source` names it in messages. Raises InstanceError."""
    try:
        return _tree(content, source)
    except _Unreadable as error:
        raise InstanceError([InputProblem("$", str(error))], source) from None


def _tree(content: bytes, source: str) -> InstanceTree:
    text = _text(content)
    repeats: dict[int, _Repeats] = {}

    def members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeats[id(result)] = _Repeats(result, {name: n for name, n in counts.items() if n > 1})
        return result

    number = lru_cache(maxsize=None)(JsonNumber)  # most numbers of a large file are written alike
    decoder = json.JSONDecoder(
        object_pairs_hook=members, parse_int=number, parse_float=number, parse_constant=JsonNumber
    )
    try:
        value: JsonValue = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _Unreadable(_syntax_message(error)) from None
    except RecursionError:
        raise _Unreadable(_DEPTH_MESSAGE) from None
    if not isinstance(value, dict):
        raise _Unreadable(f"{shown(value)} is not an instance: write one JSON object, {{…}}")
    problems = _refuse_oddities(value, repeats)
    return InstanceTree(value, source, hashlib.sha256(content).hexdigest(), problems)


def _text(content: bytes) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise _Unreadable(
            f"is larger than {MAX_FILE_BYTES:,} bytes: give the database as a histogram instead of rows, "
            "or a smaller universe"
        )
    if content.startswith(b"\xef\xbb\xbf"):
        raise _Unreadable("starts with a byte order mark: save the file as UTF-8 without BOM")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _Unreadable("is UTF-16 text: save the file as UTF-8 without BOM")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Unreadable(f"is not UTF-8 text (byte {error.start}): save the file as UTF-8") from None
    if not text.strip():
        raise _Unreadable("is empty: write one JSON object, {…}; `python -m certify schema` describes it")
    return text


class _Repeats(NamedTuple):
    """An object that gives a key more than once. Holding the object keeps its id from being used again."""

    members: dict[str, JsonValue]
    counts: dict[str, int]


def _refuse_oddities(root: dict[str, JsonValue], repeats: dict[int, _Repeats]) -> list[InputProblem]:
    """What strict JSON for this program excludes and the decoder lets pass; such values become REFUSED."""
    problems: list[InputProblem] = []
    pending: list[tuple[dict[str, JsonValue] | list[JsonValue], str, int]] = [(root, "$", 1)]
    while pending:
        container, path, depth = pending.pop()
        if id(container) in repeats:
            problems += [
                InputProblem(member_path(path, name), f"is given {count} times: keep one")
                for name, count in repeats[id(container)].counts.items()
            ]
        inner = []
        for key, value in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(key, str) and _SURROGATE.search(key):
                problems.append(InputProblem(member_path(path, key), f"the name {_NOT_UNICODE}"))
            if isinstance(value, (dict, list)) and depth < MAX_DEPTH:
                inner.append((value, _path(path, key), depth + 1))
            elif oddity := _oddity(value):
                problems.append(InputProblem(_path(path, key), oddity))
                container[key] = REFUSED  # type: ignore[index]
        pending += reversed(inner)
    return problems


_DEPTH_MESSAGE = f"brackets are nested more than {MAX_DEPTH} deep: an instance is much flatter, remove them"
_NOT_UNICODE = "contains a lone surrogate, which is no character: write the character itself"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _oddity(value: JsonValue) -> str | None:
    """Why a leaf, or a container that lies too deep, is refused."""
    if isinstance(value, (dict, list)):
        return _DEPTH_MESSAGE
    if isinstance(value, str) and _SURROGATE.search(value):
        return f"{quoted(value)} {_NOT_UNICODE}"
    if isinstance(value, JsonNumber) and value.text in _NOT_NUMBERS:
        return f'{value.text} is not a number: write an exact number such as 0.5 or "1/3"'
    return None


_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")

_SYNTAX_FIXES = {
    "Expecting value": 'a value is needed here (text and expressions stand in double quotes, as in "1/3")',
    "Expecting property name": "a field name in double quotes is needed here (JSON has no comments)",
    "Expecting ',' delimiter": 'a comma or a closing bracket is needed here (expressions are quoted: "1/3")',
    "Expecting ':' delimiter": "a colon is needed here, between a field name and its value",
    "Illegal trailing comma": "remove the comma before the closing bracket",
    "Extra data": "remove what follows the end of the first value",
    "Unterminated string": "the string that starts here is never closed: add the double quote",
    "Invalid control character": "a line break or control character cannot stand in a string: write \\n",
    "Invalid \\": "a backslash in a string is written \\\\",
}


def _syntax_message(error: json.JSONDecodeError) -> str:
    fix = next((fix for start, fix in _SYNTAX_FIXES.items() if error.msg.startswith(start)), error.msg)
    return f"is not JSON at line {error.lineno}, column {error.colno}: {fix}"


_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def member_path(path: str, name: str) -> str:
    """The JSON path of a member of the object at `path`: `$.queries.q1`, `$.queries["is-setosa"]`."""
    return f"{path}.{name}" if _PLAIN_NAME.fullmatch(name) and len(name) <= 60 else f"{path}[{quoted(name)}]"


def _path(path: str, key: str | int) -> str:
    return member_path(path, key) if isinstance(key, str) else f"{path}[{key}]"


def shown(value: JsonValue) -> str:
    """`value` for a message, on one line and short: a number as the file writes it, a string in quotes."""
    match value:
        case JsonNumber(text):
            cut = f"{printable(text[:MAX_SHOWN_CHARACTERS])}… ({len(text):,} characters)"
            return cut if len(text) > MAX_SHOWN_CHARACTERS else printable(text)
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case list():
            return "a list"
        case dict():
            return "an object"
    return "null"


def quoted(text: str) -> str:
    """`text` in double quotes, printable and short enough for a message."""
    start = printable(text[:MAX_SHOWN_CHARACTERS].replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{start}"' if len(text) <= MAX_SHOWN_CHARACTERS else f'"{start}…" ({len(text):,} characters)'


def printable(text: str) -> str:
    """`text` with every character that could disturb a terminal or a line of output escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
