"""Kernels of the methods that hide sensitive values."""
