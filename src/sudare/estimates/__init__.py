"""Estimates of counts from a release."""

from sudare.estimates.matrix_estimator import MATRIX_ESTIMATORS, from_matrix
from sudare.estimates.pram_counts import needed
from sudare.estimates.question import By, Range, ask
from sudare.estimates.run import Answer, answer
from sudare.estimates.set_counts import DEFAULT, ESTIMATORS, from_sets

__all__ = [
    "DEFAULT",
    "ESTIMATORS",
    "MATRIX_ESTIMATORS",
    "Answer",
    "By",
    "Range",
    "answer",
    "ask",
    "from_matrix",
    "from_sets",
    "needed",
]
