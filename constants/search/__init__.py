"""Smaller constants for Theorem 1.1 from the same construction: the search, its certificates, and what reads them."""
