"""Post-randomization (PRAM): its matrices, their guarantees, and their calibration."""

from sudare.methods.pram.calibration import Calibration, Curve, calibrate
from sudare.methods.pram.calibration_request import Limit, unkept
from sudare.methods.pram.matrices import check_matrix, invariant_matrix, uniform_matrix
from sudare.methods.pram.matrix_bounds import least_ratio, pk_figure, uniform_alpha, uniform_gamma, uniform_ratio
from sudare.methods.pram.published_retention import RUNGS, cut

__all__ = [
    "RUNGS",
    "Calibration",
    "Curve",
    "Limit",
    "calibrate",
    "check_matrix",
    "cut",
    "invariant_matrix",
    "least_ratio",
    "pk_figure",
    "uniform_alpha",
    "uniform_gamma",
    "uniform_matrix",
    "uniform_ratio",
    "unkept",
]
