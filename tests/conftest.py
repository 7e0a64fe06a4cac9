"""Settings for every test: versions in the header, Arb's process-global precision guarded, no deadlines."""

from collections.abc import Iterator

import flint
import numpy
import pytest
from flint import ctx
from hypothesis import settings

DEFAULT_PRECISION = 53

settings.register_profile("certify", deadline=None)
settings.load_profile("certify")


def pytest_report_header() -> str:
    return f"python-flint {flint.__version__}, FLINT {flint.__FLINT_VERSION__}, numpy {numpy.__version__}"


@pytest.fixture(autouse=True)
def default_precision() -> Iterator[None]:
    """Start at 53 bits, and fail the test that leaves another precision behind for its successors."""
    ctx.prec = DEFAULT_PRECISION
    yield
    left = ctx.prec
    ctx.prec = DEFAULT_PRECISION
    assert left == DEFAULT_PRECISION, f"the test left flint.ctx.prec at {left}"
