"""The search for proofs and counterexamples. Nothing here is trusted: the checker decides."""
