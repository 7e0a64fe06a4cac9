import io
import os
from typing import Any

import pytest

from certify.report.page import DEFAULT_WIDTH, MIN_WIDTH, Output, OutputError, Page


class _Stream(io.TextIOWrapper):
    """A text stream in memory that can pretend to be a terminal or to fail."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = False, error: OSError | None = None) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")
        self._terminal, self._error = terminal, error

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        if self._error is not None:
            raise self._error
        return super().write(text)

    @property
    def written(self) -> bytes:
        self.flush()
        buffer: Any = self.buffer
        return bytes(buffer.getvalue())


def test_text_is_written_at_once() -> None:
    stream = _Stream()
    Output(stream).write("p ≤ 1\n")
    assert stream.buffer.getvalue() == "p ≤ 1\n".encode()  # type: ignore[attr-defined]


def test_what_an_encoding_lacks_is_replaced() -> None:
    for encoding, written in (("ascii", b"p <= 1 x 2 \\u03c9..."), ("latin-1", b"p <= 1 x 2 \\u03c9...")):
        stream = _Stream(encoding)
        Output(stream).write("p ≤ 1 × 2 ω…")
        assert stream.written == written
    stream = _Stream()
    Output(stream).write("\udcff")
    assert stream.written == b"\\udcff"


def test_a_reader_that_went_away_ends_the_text_in_silence() -> None:
    stream = _Stream(error=BrokenPipeError(32, "Broken pipe"))
    output = Output(stream)
    output.write("one")
    stream._error = OSError(28, "never reached")
    output.write("two")
    assert output.page.colour is False
    assert stream.written == b""


def test_a_real_pipe_without_reader_is_silent_to_the_last_flush() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        output = Output(stream)
        output.write("x" * 100_000)
        output.write("y")


def test_another_failure_is_named() -> None:
    with pytest.raises(OutputError, match="No space left on device"):
        Output(_Stream(error=OSError(28, "No space left on device"))).write("one")


def test_no_stream_at_all_is_fine() -> None:
    output = Output(None)
    output.write("text")
    assert output.page.colour is False


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("140", 140),
        ("80", 80),
        ("12", MIN_WIDTH),
        ("0", DEFAULT_WIDTH),
        ("", DEFAULT_WIDTH),
        ("x", DEFAULT_WIDTH),
    ],
)
def test_the_width_is_asked_for(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Output(_Stream()).page == Page(width, colour=False)


def test_colours_are_for_terminals() -> None:
    assert Output(_Stream(terminal=True)).page.colour is True
    assert Output(_Stream()).page.colour is False
