"""Compiled functions on plain arrays. They import nothing of ours; everything here is numba, and slow to import."""
