"""Kernels of microaggregation: groups of near records, and the local search that improves them."""
