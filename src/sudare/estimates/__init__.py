"""What an analyst can tell from a release: counts, estimated from what the records show instead of the truth."""

from sudare.estimates.matrix_estimator import MATRIX_ESTIMATORS, from_matrix
from sudare.estimates.pram_counts import PERTURBED_ESTIMATORS, needed
from sudare.estimates.question import By, Question, Range, ask
from sudare.estimates.run import FEW, Answer, answer
from sudare.estimates.set_counts import DEFAULT, ESTIMATORS, Estimates, from_sets

__all__ = [
    "DEFAULT",
    "ESTIMATORS",
    "FEW",
    "MATRIX_ESTIMATORS",
    "PERTURBED_ESTIMATORS",
    "Answer",
    "By",
    "Estimates",
    "Question",
    "Range",
    "answer",
    "ask",
    "from_matrix",
    "from_sets",
    "needed",
]
