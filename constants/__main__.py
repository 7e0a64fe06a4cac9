"""`python -m constants`."""

import sys

from certify.__main__ import guarded

if __name__ == "__main__":
    sys.exit(guarded("constants.command"))
