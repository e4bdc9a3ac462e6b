"""Post-randomization (PRAM): matrices that values are drawn by, what they guarantee, and how to choose them."""

from sudare.pram.asking import Limit, unkept
from sudare.pram.bounds import (
    alpha_figure,
    beliefs,
    gamma_figure,
    least_ratio,
    pk_figure,
    uniform_alpha,
    uniform_gamma,
    uniform_ratio,
)
from sudare.pram.calibrating import Calibration, Curve, calibrate
from sudare.pram.matrices import check_matrix, invariant_matrix, joint_matrix, uniform_matrix, with_zeros
from sudare.pram.rounding import RUNGS, cut

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
