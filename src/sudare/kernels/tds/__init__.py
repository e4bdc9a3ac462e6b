"""Kernels of top-down specialization for classification."""
