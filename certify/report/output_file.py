"""Report files: whether one can be written, asked before work begins, and writing it whole or not at all."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def problem_with(path: str, inputs: Iterable[str]) -> str | None:
    """Why a report cannot go to ``path``, with the fix, or None; ``inputs`` must not be overwritten."""
    if not path or "\0" in path:
        return "is not a file name: give the path of the report to write"
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        return f"cannot be written ({error.strerror}): give another path"
    if mode is not None and stat.S_ISDIR(mode):
        return "is a directory: give the path of a file inside it"
    if mode is not None and not stat.S_ISREG(mode):
        return "is not a regular file: give the path of one"
    if any(_is_same_file(target, each) for each in inputs):
        return "is an instance to be checked: give the report another path"
    if not target.parent.is_dir():
        return "lies in a directory that does not exist: create it first"
    if not os.access(target.parent, os.W_OK | os.X_OK):
        return "lies in a directory that cannot be written to: give another path"
    return None


def write_atomically(path: str, text: str) -> None:
    """Write ``text`` as UTF-8 under a temporary name, then rename it; of a link, the target is replaced.

    Raises OSError, and then leaves no part of a file behind; an older report stays as it was.
    """
    import tempfile  # slow to import, and most runs write no report

    target = Path(os.path.realpath(path))
    descriptor, temporary = tempfile.mkstemp(prefix=".certify-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.chmod(temporary, 0o666 & ~_umask())
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _is_same_file(target: Path, other: str) -> bool:
    try:
        return target.samefile(other)
    except (OSError, ValueError):
        return False


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
