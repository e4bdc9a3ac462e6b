"""What an analyst can tell from a release: counts, estimated from what the records show instead of the truth."""

from sudare.estimate.answering import FEW, Answer, answer
from sudare.estimate.matrix import MATRIX_ESTIMATORS, from_matrix
from sudare.estimate.questions import By, Question, Range, ask
from sudare.estimate.randomized import PERTURBED_ESTIMATORS, needed
from sudare.estimate.sets import DEFAULT, ESTIMATORS, Estimates, from_sets

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
