"""Loops of transformations: digests under a key, and texts in their normal form."""
