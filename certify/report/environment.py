"""What the numbers of a report depend on besides the instance: the versions that computed them."""

import sys
from dataclasses import dataclass

import flint

from certify.version import VERSION


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions of this package, of Python, of python-flint and of the FLINT library behind it."""

    certify: str
    python: str
    python_flint: str
    flint: str

    def __str__(self) -> str:
        return f"certify {self.certify}, Python {self.python}, python-flint {self.python_flint}, FLINT {self.flint}"


def this_environment() -> Environment:
    """The environment of this process."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    return Environment(VERSION, python, flint.__version__, flint.__FLINT_VERSION__)
