"""Metrics: what a release costs its users."""

from sudare.metrics.class_entropy import Information, information
from sudare.metrics.level_losses import CellLoss, LevelLoss, level_losses
from sudare.metrics.loss import (
    METRICS,
    PUBLISHED,
    Loss,
    Weights,
    item_figures,
    published,
    relative_uncertainty,
    uncertainty,
)
from sudare.metrics.released_loss import as_released

__all__ = [
    "METRICS",
    "PUBLISHED",
    "CellLoss",
    "Information",
    "LevelLoss",
    "Loss",
    "Weights",
    "as_released",
    "information",
    "item_figures",
    "level_losses",
    "published",
    "relative_uncertainty",
    "uncertainty",
]
