"""Loss metrics of a release."""

from sudare.metrics.class_entropy import Information, information
from sudare.metrics.level_losses import LevelLoss, level_losses, set_losses
from sudare.metrics.loss import (
    METRICS,
    PUBLISHED,
    Loss,
    item_figures,
    published,
    relative_uncertainty,
    uncertainty,
)
from sudare.metrics.released_loss import as_released

__all__ = [
    "METRICS",
    "PUBLISHED",
    "Information",
    "LevelLoss",
    "Loss",
    "as_released",
    "information",
    "item_figures",
    "level_losses",
    "published",
    "relative_uncertainty",
    "set_losses",
    "uncertainty",
]
