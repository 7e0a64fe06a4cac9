import io
from collections.abc import Callable

import pytest

from certify.report.progress import LINE_INTERVAL, PATIENCE, progress


class _Stream(io.StringIO):
    def __init__(self, *, terminal: bool = False, broken: bool = False) -> None:
        super().__init__()
        self._terminal, self._broken = terminal, broken
        self.attempts = 0

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self.attempts += 1
        if self._broken:
            raise BrokenPipeError(32, "Broken pipe")
        return super().write(text)


def ticking(step: float) -> Callable[[], float]:
    """A clock that goes on by ``step`` seconds every time it is read."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += step
        return now

    return clock


def run(stream: _Stream, step: float, *, quiet: bool = False, label: str = "x.json") -> str:
    with progress(label, stream, quiet=quiet, clock=ticking(step)) as advance:
        for done in range(1, 5):
            advance(done * 1000, 4000)
    return stream.getvalue()


def test_lines_where_there_is_no_terminal() -> None:
    assert run(_Stream(), LINE_INTERVAL).splitlines() == [
        f"x.json: {done},000 of 4,000 transcript classes ({25 * done}%)" for done in (1, 2, 3, 4)
    ]


def test_a_line_now_and_then() -> None:
    assert len(run(_Stream(), LINE_INTERVAL / 2).splitlines()) == 2
    assert run(_Stream(), 0.1) == ""


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = run(_Stream(terminal=True), PATIENCE, label="[b]{x}.json")
    assert "[b]{x}.json" in shown
    assert shown.endswith("\x1b[2K"), "the bar is erased at the end"
    assert "\x1b[?25h" in shown, "the cursor is shown again"


def test_a_short_check_has_no_bar() -> None:
    assert run(_Stream(terminal=True), PATIENCE / 100) == ""


@pytest.mark.parametrize("terminal", [False, True])
def test_quiet_is_silent(terminal: bool) -> None:
    assert run(_Stream(terminal=terminal), 1000.0, quiet=True) == ""


def test_a_broken_stream_is_left_alone() -> None:
    stream = _Stream(broken=True)
    run(stream, LINE_INTERVAL)
    assert stream.attempts == 1


def test_no_stream_is_fine() -> None:
    with progress("x.json", None, quiet=False) as advance:
        advance(1, 2)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_failure_inside_gets_out_and_the_bar_is_gone(terminal: bool) -> None:
    stream = _Stream(terminal=terminal)
    with (
        pytest.raises(KeyboardInterrupt),
        progress("x.json", stream, quiet=False, clock=ticking(100.0)) as advance,
    ):
        advance(1, 2)
        raise KeyboardInterrupt
    if terminal:
        assert "\x1b[?25h" in stream.getvalue()
    else:
        assert stream.getvalue().splitlines() == ["x.json: 1 of 2 transcript classes (50%)"]
