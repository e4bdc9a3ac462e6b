"""What an analyst can tell from a release: counts, estimated from what the records show instead of the truth."""

from sudare.estimate.sets import DEFAULT, ESTIMATORS, Estimates, from_sets

__all__ = ["DEFAULT", "ESTIMATORS", "Estimates", "from_sets"]
