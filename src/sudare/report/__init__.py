"""Pictures and pages of what was found, as SVG and HTML text that needs nothing else.

The rooms that find things know nothing of pictures; a picture is made from the plain data that they give away.
"""

from sudare.report.calibration import calibration_picture
from sudare.report.estimates import estimate_picture
from sudare.report.frontier import frontier_picture
from sudare.report.lattice import lattice_picture
from sudare.report.page import report_page
from sudare.report.summary import release_summary

__all__ = [
    "calibration_picture",
    "estimate_picture",
    "frontier_picture",
    "lattice_picture",
    "release_summary",
    "report_page",
]
