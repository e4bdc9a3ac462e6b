"""Metrics: what a release costs its users."""

from sudare.metrics.classification import Information, information
from sudare.metrics.levels import CellLoss, LevelLoss, level_losses
from sudare.metrics.loss import METRICS, Loss, item_figures

__all__ = [
    "METRICS",
    "CellLoss",
    "Information",
    "LevelLoss",
    "Loss",
    "information",
    "item_figures",
    "level_losses",
]
