"""Kernels of the risk figures."""
