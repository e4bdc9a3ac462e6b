"""Kernels of the top-down methods."""
