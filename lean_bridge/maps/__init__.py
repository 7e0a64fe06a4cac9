"""Where it is written which Lean declaration states which item of a paper."""
