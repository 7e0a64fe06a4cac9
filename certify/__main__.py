"""`python -m certify` and the console script `certify`."""

import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from certify.exit_status import ExitStatus

THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def main() -> int:
    """Run `certify` on `sys.argv` and return its exit status."""
    return guarded("certify.command")


def guarded(command: str) -> int:
    """Call `run` of the module `command` on `sys.argv` and return its exit status.

    No exception gets out: an unexpected one becomes one line on stderr and status 70, unless CERTIFY_DEBUG
    is 1.
    """
    for name in THREAD_LIMITS:  # numpy reads them when it is imported; its threads would only compete with ours
        os.environ.setdefault(name, "1")
    try:
        return int(import_module(command).run(sys.argv[1:]))
    except KeyboardInterrupt:
        return _stop("interrupted: no verdict", ExitStatus.INTERRUPTED)
    except SystemExit as stop:  # argparse: --help, --version, usage
        return stop.code if isinstance(stop.code, int) else ExitStatus.INVALID
    except Exception as error:
        if os.environ.get("CERTIFY_DEBUG") == "1":
            raise
        return _stop(_fault(error), ExitStatus.INTERNAL_ERROR)
    finally:
        _flush()


def _fault(error: Exception) -> str:
    """One line on an exception that nobody expected: what, and the innermost place in this program."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if "certify" in file.parts or "constants" in file.parts:
            place = f" at {file.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    if isinstance(error, MemoryError):
        return f"error: out of memory{place}; take fewer rounds, rows or queries, or ask for fewer --statements"
    advice = "please report it with the instance (CERTIFY_DEBUG=1 shows the traceback)"
    return f"internal error: {type(error).__name__}: {str(error)[:300]}{place}; {advice}"


def _stop(message: str, status: ExitStatus) -> ExitStatus:
    with suppress(OSError, ValueError):
        print(message.encode("unicode_escape").decode("ascii"), file=sys.stderr, flush=True)
    return status


def _flush() -> None:
    """Flush what argparse and others printed while a reader that went away can still be ignored."""
    from certify.report.page import silence

    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            silence(stream)


if __name__ == "__main__":
    sys.exit(main())
