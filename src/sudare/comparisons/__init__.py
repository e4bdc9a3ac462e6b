"""Comparisons of configurations: their losses, risks, query errors and classifiers side by side.

Nothing is released here: methods decide on a table in memory, and the figures of that decision are measured. For
classifiers, methods decide on a training part of the records, and the others are for tests. scikit-learn is loaded only
when needed.
"""

from sudare.comparisons.classifiers import CLASSIFIERS, Outcome, check_installed, evaluate
from sudare.comparisons.comparison import Comparison, compare_configurations
from sudare.comparisons.comparison_text import show
from sudare.comparisons.configurations import Configuration, check_request
from sudare.comparisons.folds import stratified
from sudare.comparisons.measurement import Bench, Result, RiskFigures
from sudare.comparisons.queries import Query, draw_queries
from sudare.comparisons.sweeps import configurations_for, parse_sweep

__all__ = [
    "CLASSIFIERS",
    "Bench",
    "Comparison",
    "Configuration",
    "Outcome",
    "Query",
    "Result",
    "RiskFigures",
    "check_installed",
    "check_request",
    "compare_configurations",
    "configurations_for",
    "draw_queries",
    "evaluate",
    "parse_sweep",
    "show",
    "stratified",
]
