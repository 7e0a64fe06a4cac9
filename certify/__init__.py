"""Verified arithmetic for pure-DP query release and for selection by the Sparse Vector Technique."""
