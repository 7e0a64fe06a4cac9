"""All Lean files of a directory, read in one or several processes, unchanged ones taken from the cache."""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import msgspec

from lean_bridge import cache
from lean_bridge.model import Declaration, Diagnostic, SourceFile, Unparsed
from lean_bridge.reader import read_source
from lean_bridge.source_files import Problem, lean_files, read_text

# Below this many bytes a second process costs more than it saves.
_WORTH_A_PROCESS = 4_000_000
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SourceFile).decode


class ProjectError(Exception):
    """The directory cannot be audited at all; the message says why and what to do."""


@dataclass(frozen=True)
class Project:
    """What was read from a directory."""

    root: Path
    files: tuple[SourceFile, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """All declarations, by file and position."""
        return tuple(declaration for file in self.files for declaration in file.declarations)

    @property
    def unparsed(self) -> Iterator[Unparsed]:
        """All stretches that could not be placed."""
        return (span for file in self.files for span in file.unparsed)

    @property
    def diagnostics(self) -> Iterator[Diagnostic]:
        """All diagnostics."""
        return (diagnostic for file in self.files for diagnostic in file.diagnostics)

    @property
    def lines(self) -> int:
        """Number of source lines."""
        return sum(file.lines for file in self.files)


def read_project(root: Path, *, jobs: int | None = 1, cache_directory: Path | None = None) -> Project:
    """Read every Lean file below `root`.

    `jobs` is the number of processes (None: as many as pay off), `cache_directory` where results of
    earlier runs are kept (None: nowhere). Raises ProjectError where there is no directory, no Lean file, or
    no declaration in any: a scan that read nothing must not pass for an audit.
    """
    if not root.is_dir():
        raise ProjectError(f"{root}: not a directory; give the directory that holds the Lean sources")
    paths, problems = lean_files(root)
    known = cache.load(cache_directory, root) if cache_directory else {}
    results: dict[str, bytes] = {}
    todo: list[tuple[str, str, bytes]] = []
    order: list[str] = []
    for path in paths:
        content, problem = read_text(root, path)
        if problem:
            problems.append(problem)
            continue
        key = cache.key(path, content) if cache_directory else path
        order.append(key)
        if key in known:
            results[key] = known[key]
        else:
            todo.append((key, path, content))
    results.update(_read_all(todo, jobs))
    if cache_directory and (todo or len(known) != len(results)):
        cache.store(cache_directory, root, results)
    with _without_collector():
        files = tuple(_decode(results[key]) for key in order)
    if not any(file.declarations for file in files):
        raise ProjectError(_nothing_read(root, len(paths), problems))
    return Project(root, files, tuple(problems))


def _nothing_read(root: Path, count: int, problems: list[Problem]) -> str:
    if not count:
        reason = "there is no .lean file"
    else:
        reason = f"no declaration in {count} .lean file{'s' if count > 1 else ''}"
    listed = "".join(f"\n  {problem.path}: {problem.message}" for problem in problems)
    return f"{root}: {reason}; give the directory that holds the Lean sources{listed}"


def _read_all(todo: list[tuple[str, str, bytes]], jobs: int | None) -> dict[str, bytes]:
    if jobs is None:
        total = sum(len(content) for _, _, content in todo)
        jobs = min(os.cpu_count() or 1, 1 + total // _WORTH_A_PROCESS)
    if jobs <= 1 or len(todo) < 2:
        return _read_some(todo)
    # Largest first into the lightest share: shares of equal size whatever the sizes of the files.
    shares: list[list[tuple[str, str, bytes]]] = [[] for _ in range(jobs * 8)]
    weights = [0] * len(shares)
    for item in sorted(todo, key=lambda item: (-len(item[2]), item[1])):
        lightest = weights.index(min(weights))
        weights[lightest] += len(item[2])
        shares[lightest].append(item)
    results: dict[str, bytes] = {}
    with ProcessPoolExecutor(jobs - 1, mp_context=get_context(_start_method())) as pool:
        futures = [pool.submit(_read_some, share) for share in shares]
        # This process is one of the jobs: it takes what the others have not begun, from the other end.
        for future, share in zip(reversed(futures), reversed(shares), strict=True):
            if future.cancel():
                results.update(_read_some(share))
        for future in futures:
            if not future.cancelled():
                results.update(future.result())
    return results


def _start_method() -> str:
    """Forking starts a process without importing everything again; it is safe while there is one thread."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def _read_some(todo: list[tuple[str, str, bytes]]) -> dict[str, bytes]:
    with _without_collector():
        return {key: _encode(read_source(path, content.decode("utf-8"))) for key, path, content in todo}


@contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of small immutable objects and no cycles: the cyclic collector only costs time here."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
