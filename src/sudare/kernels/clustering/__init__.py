"""Kernels of clustering, polishing and three-phase."""
