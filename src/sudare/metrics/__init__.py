"""Metrics: what a release costs its users."""

from sudare.metrics.loss import METRICS, Loss

__all__ = ["METRICS", "Loss"]
