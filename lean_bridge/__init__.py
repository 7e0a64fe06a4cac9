"""Reads Lean 4 source and cross-references its declarations with the items of the papers."""
