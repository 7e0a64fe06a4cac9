"""numpy's iteration buffers, kept out of the way of broadcast products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

SMALL_BUFFER = 256


@contextmanager
def unbuffered_broadcasting() -> Iterator[None]:
    """Run numpy with small iteration buffers; the values computed are the same.

    From numpy 2.3 on, a ufunc first copies broadcast operands into its buffers where the innermost axis is shorter than
    a quarter of the buffer (8192 entries by default), which makes an outer product of short rows several times slower.
    """
    before = np.setbufsize(SMALL_BUFFER)
    try:
        yield
    finally:
        np.setbufsize(before)
