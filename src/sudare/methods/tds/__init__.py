"""Top-down specialization for classification."""
