"""Proved claims and inequalities as a Coq file, so that Coq's kernel decides anew what Arb and the checker found."""

from certify.claims.coq.export import Export, export

__all__ = ["Export", "export"]
