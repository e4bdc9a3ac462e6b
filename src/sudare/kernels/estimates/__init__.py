"""Kernels of estimation from sets."""
