"""Metrics: what a release costs its users."""

from sudare.metrics.loss import METRICS, Loss, item_figures

__all__ = ["METRICS", "Loss", "item_figures"]
