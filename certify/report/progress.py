"""How far a check is: a bar on a terminal's stderr, now and then a line elsewhere, nothing when quiet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from certify.report.figures import count

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE = 0.5
"""Seconds before a bar appears: a check that ends sooner needs none, and rich need not be imported."""

LINE_INTERVAL = 10.0
"""Seconds between two lines."""

Advance = Callable[[int, int], None]


class _Display(Protocol):
    def update(self, done: int, total: int) -> None: ...
    def close(self) -> None: ...


@contextmanager
def progress(
    label: str, stream: TextIO | None, *, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """A function to call with (classes of transcripts done, classes in all); every pass starts at 0 again.

    A stream that cannot be written to any more is left alone: progress is never a reason to fail.
    """
    display: _Display = _Silent()
    if stream is not None and not quiet:
        display = _Bar(label, stream, clock) if stream.isatty() else _Lines(label, stream, clock)
    broken = False

    def advance(done: int, total: int) -> None:
        nonlocal broken
        if not broken:
            try:
                display.update(done, total)
            except OSError:
                broken = True

    try:
        yield advance
    finally:
        with suppress(OSError):
            display.close()


class _Silent:
    def update(self, done: int, total: int) -> None:
        pass

    def close(self) -> None:
        pass


class _Lines:
    def __init__(self, label: str, stream: TextIO, clock: Callable[[], float]) -> None:
        self._label, self._stream, self._clock = label, stream, clock
        self._last = clock()

    def update(self, done: int, total: int) -> None:
        now = self._clock()
        if now - self._last < LINE_INTERVAL:
            return
        self._last = now
        share = 100 * done // max(total, 1)
        self._stream.write(f"{self._label}: {count(done)} of {count(total)} transcript classes ({share}%)\n")
        self._stream.flush()

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self, label: str, stream: TextIO, clock: Callable[[], float]) -> None:
        self._label, self._stream, self._clock = label, stream, clock
        self._start = clock()
        self._progress: RichProgress | None = None
        self._task: TaskID | None = None

    def update(self, done: int, total: int) -> None:
        if self._progress is None or self._task is None:
            if self._clock() - self._start < PATIENCE:
                return
            self._progress, self._task = _rich_progress(self._label, self._stream)
        self._progress.update(self._task, completed=done, total=total)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()


def _rich_progress(label: str, stream: TextIO) -> tuple[RichProgress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    shown = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(file=stream, highlight=False),
        transient=True,
    )
    shown.start()
    return shown, shown.add_task(label, total=None)
