"""Ways to make a release side by side: what each loses, how exposed people are in it, how wrong queries are, and what
classifiers learn from it.

Nothing is released here: methods decide on a table in memory, and what their decision would show is measured. For
classifiers they decide on some of the records, and the others are asked about. scikit-learn is loaded when it is used.
"""

from sudare.comparisons.classifiers import CLASSIFIERS, Outcome, check_installed, evaluate
from sudare.comparisons.comparison import Comparison, compare_ways
from sudare.comparisons.comparison_text import show
from sudare.comparisons.configurations import Way, check_asked
from sudare.comparisons.folds import stratified
from sudare.comparisons.measurement import Bench, Result, RiskFigures
from sudare.comparisons.queries import Query, draw_queries
from sudare.comparisons.sweeps import parse_sweep, ways_for

__all__ = [
    "CLASSIFIERS",
    "Bench",
    "Comparison",
    "Outcome",
    "Query",
    "Result",
    "RiskFigures",
    "Way",
    "check_asked",
    "check_installed",
    "compare_ways",
    "draw_queries",
    "evaluate",
    "parse_sweep",
    "show",
    "stratified",
    "ways_for",
]
