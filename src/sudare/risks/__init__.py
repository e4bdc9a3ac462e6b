"""Risks: how exposed the people of a table are, before and after a release, and what attacks achieve."""

from sudare.risks.class_risk import Classes, exposure, exposure_of_people, group_rows
from sudare.risks.inference import Votes, check_installed
from sudare.risks.population_risk import expected_risk
from sudare.risks.population_uniqueness import uniqueness
from sudare.risks.released_codes import ReleasedCodes, read_released_codes
from sudare.risks.released_sensitive import from_groups, from_sets, from_values
from sudare.risks.risk_report import ReleaseView, Risk, Transformed, assess
from sudare.risks.singling_out import MOST, single_out

__all__ = [
    "MOST",
    "Classes",
    "ReleaseView",
    "ReleasedCodes",
    "Risk",
    "Transformed",
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
    "read_released_codes",
    "single_out",
    "uniqueness",
]
