"""The ledger of every constant of the papers, read by the statements."""
