"""Reports: self-contained pages and pictures of results, as HTML and SVG.

Other rooms know nothing of pictures; a picture is made from the plain data that they return.
"""

from sudare.reports.page import report_page
from sudare.reports.summary import release_summary
from sudare.reports.svg.calibration_chart import calibration_picture
from sudare.reports.svg.estimate_chart import estimate_picture
from sudare.reports.svg.frontier import frontier_picture
from sudare.reports.svg.lattice_chart import lattice_picture

__all__ = [
    "calibration_picture",
    "estimate_picture",
    "frontier_picture",
    "lattice_picture",
    "release_summary",
    "report_page",
]
