"""The losses of a certificate, in the form that a report may show.

A suppressed record counts as a total loss. So an exact loss together with the release would reveal how many records
were suppressed, and how many items they hold. If these are fewer than the threshold, shares are rounded to multiples of
it, and sums are not shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.releases.certificate import Certificate
from sudare.reports.describe.disclosure_control import Crowd

SUMS = ("discernibility", "uncertainty")
"""Measures that add up something for each record."""
OF_THE_RELEASE = ("average_class_size",)
"""Measures that anyone can compute from the release."""


def published_losses(certificate: Certificate, crowd: Crowd) -> dict[str, Any]:
    """Return the losses of a release, by column too, and what became of the items of its sets."""
    few = 0 < int(certificate.suppressed) < crowd.least
    by_column = certificate.loss_by_column
    return {
        "loss": _told(certificate.loss, crowd, few),
        "loss_by_column": {name: _told(figures, crowd, few) for name, figures in by_column.items()},
        "item_sets": {name: published_items(figures, crowd, few) for name, figures in certificate.item_sets.items()},
    }


def _told(figures: Mapping[str, Any], crowd: Crowd, few: bool) -> dict[str, Any]:
    if not few:
        return dict(figures)
    return {
        name: value if name in OF_THE_RELEASE else crowd.nearby(value, crowd.rows)
        for name, value in figures.items()
        if name not in SUMS
    }


def published_items(figures: Mapping[str, Any], crowd: Crowd, few: bool) -> dict[str, Any]:
    """Return the figures of a certificate about the items of a column; anyone can count the shown ones."""
    return {
        name: value if name == "disclosed" or not few else crowd.nearby(value, crowd.rows)
        for name, value in figures.items()
    }


def disclosed_share(disclosed: int, items: int, crowd: Crowd) -> float:
    """Return the share of the data's items that a release shows, rounded like a count, because it reveals one."""
    return crowd.nearby(disclosed / items, items) if items else 0.0
