"""Kernels of global recoding: groups at a level of generalization, combinations of items."""
