"""Exact output laws: closed forms, quadrature with a proved error, and finite trees."""
