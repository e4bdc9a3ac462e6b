"""Estimates of counts, and of figures of numbers, from a release."""

from sudare.estimates.figure_answers import FigureAnswer, answer_figure, columns_needed
from sudare.estimates.figure_question import ASKED, ask_figure
from sudare.estimates.matrix_estimator import MATRIX_ESTIMATORS, from_matrix
from sudare.estimates.pram_counts import needed
from sudare.estimates.question import By, Range, ask
from sudare.estimates.run import Answer, answer
from sudare.estimates.set_counts import DEFAULT, ESTIMATORS, from_sets
from sudare.estimates.transformed_counts import with_notes

__all__ = [
    "ASKED",
    "DEFAULT",
    "ESTIMATORS",
    "MATRIX_ESTIMATORS",
    "Answer",
    "By",
    "FigureAnswer",
    "Range",
    "answer",
    "answer_figure",
    "ask",
    "ask_figure",
    "columns_needed",
    "from_matrix",
    "from_sets",
    "needed",
    "with_notes",
]
