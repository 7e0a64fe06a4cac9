"""Inequalities over real and integer ranges, proved for all values: universal mode."""
