"""Where text goes: how wide it may be and whether it may have colours."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT_WIDTH = 100
MIN_WIDTH = 80
"""On a narrower page lines run over rather than lose digits."""

_ASCII = str.maketrans({"≤": "<=", "×": "x", "─": "-", "…": "..."})


@dataclass(frozen=True, slots=True)
class Page:
    """The width in columns, and whether the reader is a terminal, which may be shown colours."""

    width: int
    colour: bool

    def render(self, *parts: RenderableType) -> str:
        """The parts as text, without spaces at the ends of lines."""
        from rich.console import Console

        console = Console(
            file=io.StringIO(),
            width=self.width,
            force_terminal=self.colour,
            color_system="auto" if self.colour else None,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
        )
        with console.capture() as capture:
            for part in parts:
                console.print(part)
        return "\n".join(line.rstrip(" ") for line in capture.get().split("\n"))


class OutputError(Exception):
    """Standard output cannot be written to, for another reason than a reader that went away."""


class Output:
    """A standard stream that never fails for its reader's sake.

    A reader that goes away (``| head``) ends the text in silence, and the command goes on to its exit
    status and its report files. Characters that the encoding lacks are replaced, not refused. Other
    failures raise OutputError.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"

    @property
    def page(self) -> Page:
        """The page that the stream is."""
        colour = self._stream is not None and self._stream.isatty()
        return Page(max(MIN_WIDTH, self._width()), colour)

    def write(self, text: str) -> None:
        """Write and flush."""
        if self._stream is None:
            return
        if not self._encoding.lower().startswith("utf"):
            text = text.translate(_ASCII)
        text = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            silence(self._stream)
            self._stream = None
        except OSError as error:
            silence(self._stream)
            raise OutputError(f"the output cannot be written: {error.strerror}") from None

    def _width(self) -> int:
        """What ``COLUMNS`` says, else the terminal's width, else `DEFAULT_WIDTH`."""
        asked = os.environ.get("COLUMNS", "")
        if asked.isascii() and asked.isdigit() and 0 < len(asked) <= 4 and int(asked):
            return int(asked)
        try:
            return os.get_terminal_size(self._stream.fileno()).columns if self._stream else DEFAULT_WIDTH
        except (OSError, ValueError):
            return DEFAULT_WIDTH


def silence(stream: TextIO) -> None:
    """Point a stream at nothing, so that the interpreter's last flush of it succeeds as well."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
