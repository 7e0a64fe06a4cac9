"""What the command returns to the shell."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """The answer to one run; over several instances the gravest verdict counts: 1, then 3, then 0."""

    PROVED = 0
    """Every applicable statement is proved."""
    REFUTED = 1
    """A statement is refuted."""
    INVALID = 2
    """Bad input or usage, or an output that cannot be written."""
    UNDECIDED = 3
    """Nothing is refuted, but something is undecided."""
    INTERNAL_ERROR = 70
    """Out of memory, or a fault of this program (sysexits' EX_SOFTWARE)."""
    INTERRUPTED = 130
    """Stopped from the keyboard (128 + SIGINT)."""
