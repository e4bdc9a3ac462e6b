"""Losses of a release that is never in one place: sums that each part can tell, and what the metrics make of them.

Every metric of :mod:`sudare.metrics.loss` is a sum over records, or follows from such sums. Parts have the dictionaries
of the whole table, so that a cell loses in a part what it loses in the whole; frequencies are given to them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sudare.metrics.loss import Loss, heights, leaves_lost, own_bits, widths
from sudare.table import Column, Cover, Generalized, ItemSets, SetCover

Ints = NDArray[np.int64]


@dataclass
class Sums:
    """What a part of a release tells: its records, and for each column sums over those that show something.

    ``columns`` has, by metric, gcp, arx, height, bits, grown (and by the most that a record can have of it, share) for
    a single-valued column; gcp, items and disclosed for item sets.
    """

    rows: int = 0
    kept: int = 0
    masked: int = 0
    classes: int = 0
    squares: float = 0.0
    columns: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, other: Sums) -> None:
        """Take in what another part tells."""
        self.rows, self.kept, self.masked = self.rows + other.rows, self.kept + other.kept, self.masked + other.masked
        self.classes, self.squares = self.classes + other.classes, self.squares + other.squares
        for name, sums in other.columns.items():
            mine = self.columns.setdefault(name, {})
            for what, amount in sums.items():
                mine[what] = mine.get(what, 0.0) + amount


def sums_of(given: Generalized, frequencies: Mapping[str, Ints]) -> Sums:
    """Return what a part of a release tells; ``frequencies`` are those of all codes in the whole table."""
    kept = given.kept
    found = Sums(given.rows, int(kept.sum()), given.masked, len(kept), float((kept.astype(np.float64) ** 2).sum()), {})

    def total(by_class: NDArray[np.float64]) -> float:
        return float((kept * by_class[: len(kept)]).sum())

    for name, cover in given.covers.items():
        if isinstance(cover, SetCover):
            shown = int(cover.disclosed[: len(kept)].sum())
            found.columns[name] = {"gcp": total(cover.share), "items": len(cover.column.items), "disclosed": shown}
            continue
        found.columns[name] = _of_column(cover, frequencies[name], total)
    return found


def _of_column(cover: Cover, frequency: Ints, total: object) -> dict[str, float]:
    assert callable(total)
    grown, most = widths(cover)
    bits = np.log2(np.maximum(cover.total(frequency.astype(np.float64)), 1.0))
    with np.errstate(over="ignore"):
        return {
            "gcp": total(cover.share),
            "arx": total(leaves_lost(cover)),
            "height": total(heights(cover)),
            "bits": total(bits),
            "grown": min(total(grown), sys.float_info.max),
            "share": total(grown / most) if most else 0.0,
        }


def losses(
    sums: Sums,
    rows: int,
    columns: Mapping[str, Column | ItemSets],
    frequencies: Mapping[str, Ints],
    items: Mapping[str, int],
) -> dict[str, Loss]:
    """Return every metric of a release of so many records; ``items`` is how many items each set column has in all.

    Records that no part speaks of are left out.
    """
    lost = rows - sums.kept
    gcp, arx, precision, entropy = {}, {}, {}, {}
    grown: dict[str, tuple[float, float, float]] = {}
    for name, column in columns.items():
        told = sums.columns[name]
        gcp[name] = (told["gcp"] + lost) / max(rows, 1)
        if isinstance(column, ItemSets):
            arx[name], precision[name] = gcp[name], 1.0 - gcp[name]
            hidden = items[name] - told["disclosed"]
            grown[name] = float(hidden), hidden / max(items[name], 1), items[name] / max(rows, 1)
            continue
        leaves = column.size if column.taxonomy is None else max(column.taxonomy.size, 1)
        arx[name] = (told["arx"] + lost * (leaves > 1)) / max(rows, 1)
        precision[name] = 1.0 - (told["height"] + lost) / max(rows, 1)
        own = own_bits(frequencies[name].astype(np.float64))
        most_bits = rows * np.log2(rows) - own
        bits = told["bits"] + lost * np.log2(rows)
        entropy[name] = float(max((bits - own) / most_bits, 0.0)) if most_bits > 0 else 0.0
        most = _most(column)
        grown[name] = (
            min(told["grown"] + lost * most, sys.float_info.max),
            (told["share"] + lost) / max(rows, 1) if most else 0.0,
            most,
        )
    widest = max((most for _, _, most in grown.values()), default=0.0)
    weight = {name: most / widest if widest else 0.0 for name, (_, _, most) in grown.items()}
    relative = sum(weight[name] * share for name, (_, share, _) in grown.items())
    return {
        "gcp": _mean(gcp),
        "arx": _mean(arx),
        "discernibility": Loss(sums.squares + float(lost) * rows),
        "average_class_size": Loss(sums.kept / sums.classes if sums.classes else 0.0),
        "precision": _mean(precision),
        "entropy": _mean(entropy),
        "uncertainty": Loss(
            min(float(sum(total for total, _, _ in grown.values())), sys.float_info.max),
            {name: total for name, (total, _, _) in grown.items()},
        ),
        "relative_uncertainty": Loss(
            float(relative / sum(weight.values())) if widest else 0.0,
            {name: share for name, (_, share, _) in grown.items()},
        ),
    }


def _most(column: Column) -> float:
    """Return by how much a cell that shows everything is wider than one value."""
    if column.taxonomy is not None:
        return float(max(column.taxonomy.size - 1 + column.missing, 0))
    if column.size < 2:
        return 0.0
    return float(column.size - 1) if column.positions is None else column.domain or 1.0


def _mean(attributes: dict[str, float]) -> Loss:
    return Loss(float(np.mean(list(attributes.values()))) if attributes else 0.0, attributes)
