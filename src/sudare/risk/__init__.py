"""Risk: how exposed a table is, what a release leaves of that, and what attacks on the release achieve."""

from sudare.risk.classes import THRESHOLDS, Classes, Exposure, exposure, exposure_of_people, group_rows
from sudare.risk.inference import Guesses, Inference, Votes, check_installed
from sudare.risk.intervals import Success, wilson
from sudare.risk.linkage import Linkage
from sudare.risk.population import Journalist, expected_risk
from sudare.risk.risk import ReleaseView, Risk, Side, assess
from sudare.risk.showing import show
from sudare.risk.shown import Shown, read_shown
from sudare.risk.singling_out import MOST, SinglingOut, single_out
from sudare.risk.uniqueness import Uniqueness, uniqueness
from sudare.risk.votes import from_groups, from_sets, from_values

__all__ = [
    "MOST",
    "THRESHOLDS",
    "Classes",
    "Exposure",
    "Guesses",
    "Inference",
    "Journalist",
    "Linkage",
    "ReleaseView",
    "Risk",
    "Shown",
    "Side",
    "SinglingOut",
    "Success",
    "Uniqueness",
    "Votes",
    "assess",
    "check_installed",
    "expected_risk",
    "exposure",
    "exposure_of_people",
    "from_groups",
    "from_sets",
    "from_values",
    "group_rows",
    "read_shown",
    "show",
    "single_out",
    "uniqueness",
    "wilson",
]
