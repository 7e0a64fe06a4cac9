"""Reads the constants in a Lean statement: the arithmetic subset, exactly, and nothing beyond it."""
