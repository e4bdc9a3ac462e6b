"""What an analyst can tell from a release: counts, estimated from what the records show instead of the truth."""

from sudare.estimate.answering import FEW, Answer, answer
from sudare.estimate.questions import By, Question, Range, ask
from sudare.estimate.sets import DEFAULT, ESTIMATORS, Estimates, from_sets

__all__ = [
    "DEFAULT",
    "ESTIMATORS",
    "FEW",
    "Answer",
    "By",
    "Estimates",
    "Question",
    "Range",
    "answer",
    "ask",
    "from_sets",
]
