"""Metrics: what a release costs its users."""

from sudare.metrics.classification import Information, information
from sudare.metrics.levels import CellLoss, LevelLoss, level_losses
from sudare.metrics.loss import METRICS, Loss, Weights, item_figures, relative_uncertainty, uncertainty

__all__ = [
    "METRICS",
    "CellLoss",
    "Information",
    "LevelLoss",
    "Loss",
    "Weights",
    "information",
    "item_figures",
    "level_losses",
    "relative_uncertainty",
    "uncertainty",
]
