"""Risk: how exposed a table is, what a release leaves of that, and what attacks on the release achieve."""

from sudare.risks.class_risk import THRESHOLDS, Classes, Exposure, exposure, exposure_of_people, group_rows
from sudare.risks.inference import Guesses, Inference, Votes, check_installed
from sudare.risks.intervals import Success, wilson
from sudare.risks.linkage import Linkage
from sudare.risks.population_risk import Journalist, expected_risk
from sudare.risks.population_uniqueness import Uniqueness, uniqueness
from sudare.risks.released_codes import Shown, read_shown
from sudare.risks.released_sensitive import from_groups, from_sets, from_values
from sudare.risks.risk_report import ReleaseView, Risk, Side, assess
from sudare.risks.risk_text import show
from sudare.risks.singling_out import MOST, SinglingOut, single_out

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
