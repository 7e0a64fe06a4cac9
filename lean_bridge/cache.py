"""Results of earlier runs by content, so that an unchanged file is not read twice.

One file per Lean directory: for each source file the SHA-256 of its path and content with what was read
from it. It counts only for exactly this version of the reader (a hash over the package's own source); a
damaged or foreign file is ignored and written anew.
"""

import os
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import msgspec

from lean_bridge.writing import write_atomically


class _Stored(msgspec.Struct, array_like=True):
    version: str
    results: dict[str, bytes]


def default_directory() -> Path:
    """`$XDG_CACHE_HOME/lean_bridge`, or `~/.cache/lean_bridge`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lean_bridge"


def key(relative: str, content: bytes) -> str:
    """What identifies a source file's result."""
    return sha256(relative.encode("utf-8") + b"\0" + content).hexdigest()


@cache
def reader_version() -> str:
    """A hash over the package's source: any change to the reader makes old results void."""
    digest = sha256()
    for entry in sorted(files("lean_bridge").iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith((".py", ".lark")):
            digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    return digest.hexdigest()


def load(directory: Path, root: Path) -> dict[str, bytes]:
    """Stored results for a Lean directory; empty when there are none that count."""
    try:
        stored = msgspec.msgpack.decode(_file(directory, root).read_bytes(), type=_Stored)
    except (OSError, msgspec.MsgspecError):
        return {}
    return stored.results if stored.version == reader_version() else {}


def store(directory: Path, root: Path, results: Mapping[str, bytes]) -> None:
    """Replace the stored results; a directory that cannot be written is no error."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        content = msgspec.msgpack.encode(_Stored(reader_version(), dict(results)))
        write_atomically(_file(directory, root), content)
    except OSError:
        return


def _file(directory: Path, root: Path) -> Path:
    return directory / f"{sha256(os.fsencode(root.resolve())).hexdigest()[:32]}.msgpack"
