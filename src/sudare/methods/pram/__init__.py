"""Post-randomization (PRAM): matrices that values are drawn by, what they guarantee, and how to choose them."""

from sudare.methods.pram.calibration import Calibration, Curve, calibrate
from sudare.methods.pram.calibration_request import Limit, unkept
from sudare.methods.pram.matrices import check_matrix, invariant_matrix, joint_matrix, uniform_matrix, with_zeros
from sudare.methods.pram.matrix_bounds import (
    alpha_figure,
    beliefs,
    gamma_figure,
    least_ratio,
    pk_figure,
    uniform_alpha,
    uniform_gamma,
    uniform_ratio,
)
from sudare.methods.pram.published_retention import RUNGS, cut

__all__ = [
    "RUNGS",
    "Calibration",
    "Curve",
    "Limit",
    "alpha_figure",
    "beliefs",
    "calibrate",
    "check_matrix",
    "cut",
    "gamma_figure",
    "invariant_matrix",
    "joint_matrix",
    "least_ratio",
    "pk_figure",
    "uniform_alpha",
    "uniform_gamma",
    "uniform_matrix",
    "uniform_ratio",
    "unkept",
    "with_zeros",
]
