"""Transformations: what a policy has done to the cells of a column beside generalizing them."""
