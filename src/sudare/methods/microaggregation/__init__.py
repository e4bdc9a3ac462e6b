"""Microaggregation: groups of near records, and the representatives that stand for them."""
