"""The version of this package; `pyproject.toml` states the same, and a test compares the two."""

VERSION = "0.1.0"
