"""Methods side by side: what classifiers learn from the releases that each of them would make.

Nothing is released here: methods decide on some of the records, classifiers learn from what these would show, and are
asked about the others. scikit-learn is loaded when it is used.
"""

from sudare.compare.classification import CLASSIFIERS, Outcome, Score, check_installed, evaluate
from sudare.compare.comparison import Comparison, compare_ways, show
from sudare.compare.folds import stratified
from sudare.compare.ways import Way, check_asked, ways_for

__all__ = [
    "CLASSIFIERS",
    "Comparison",
    "Outcome",
    "Score",
    "Way",
    "check_asked",
    "check_installed",
    "compare_ways",
    "evaluate",
    "show",
    "stratified",
    "ways_for",
]
