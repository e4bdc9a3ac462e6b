"""Losses of a release on many machines: sums of each part, and the metrics that follow from them.

Every metric of :mod:`sudare.metrics.loss` is a sum over records, or follows from such sums. Parts have the dictionaries
of the whole table, so that a cell loses in a part what it loses in the whole; frequencies are given to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sudare.metrics.loss import Loss, heights, leaves_lost, own_bits, widest, widths
from sudare.metrics.released_loss import Extent, extent_of
from sudare.table import Column, Cover, Generalized, ItemSets, SetCover

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass
class Sums:
    """The sums of a part of a release: its records, and for each column sums over those that show something.

    ``columns`` has, for a single-valued column, arx and bits, the records that show anything at all (``anything``), the
    ``width`` of the others' cells, and by how much these have ``grown``; with a taxonomy gcp and height, too; for item
    sets gcp and disclosed. ``extents`` are what columns without a taxonomy show.
    """

    rows: int = 0
    kept: int = 0
    masked: int = 0
    classes: int = 0
    squares: float = 0.0
    columns: dict[str, dict[str, float]] = field(default_factory=dict)
    extents: dict[str, Extent] = field(default_factory=dict)

    def add(self, other: Sums) -> None:
        """Add the sums of another part."""
        self.rows, self.kept, self.masked = self.rows + other.rows, self.kept + other.kept, self.masked + other.masked
        self.classes, self.squares = self.classes + other.classes, self.squares + other.squares
        for name, sums in other.columns.items():
            mine = self.columns.setdefault(name, {})
            for what, amount in sums.items():
                mine[what] = mine.get(what, 0.0) + amount
        for name, extent in other.extents.items():
            self.extents[name] = self.extents.get(name, Extent()).joined(extent)


def sums_of(given: Generalized, frequencies: Mapping[str, Ints]) -> Sums:
    """Return the sums of a part of a release; ``frequencies`` are those of all codes in the whole table."""
    kept = given.kept
    found = Sums(given.rows, int(kept.sum()), given.masked, len(kept), float((kept.astype(np.float64) ** 2).sum()), {})

    def total(by_class: NDArray[np.float64]) -> float:
        return float((kept * by_class[: len(kept)]).sum())

    for name, cover in given.covers.items():
        if isinstance(cover, SetCover):
            shown = int(cover.disclosed[: len(kept)].sum())
            found.columns[name] = {"gcp": total(cover.share), "disclosed": shown}
            continue
        found.columns[name] = _of_column(cover, frequencies[name], total)
        if cover.column.taxonomy is None:
            found.extents[name] = extent_of(cover, len(kept))
    return found


def _of_column(cover: Cover, frequency: Ints, total: Callable[[Reals], float]) -> dict[str, float]:
    bits = np.log2(np.maximum(cover.total(frequency.astype(np.float64)), 1.0))
    found = {"arx": total(leaves_lost(cover)), "bits": total(bits)}
    if cover.column.taxonomy is not None:
        grown, _ = widths(cover)
        return found | {"gcp": total(cover.share), "height": total(heights(cover)), "grown": total(grown)}
    single = cover.column.positions is None
    return found | {
        "anything": total(cover.everything.astype(np.float64)),
        "width": total(cover.width),
        "grown": total(np.maximum(cover.width - single, 0.0)),
    }


def losses(
    sums: Sums,
    rows: int,
    columns: Mapping[str, Column | ItemSets],
    frequencies: Mapping[str, Ints],
) -> dict[str, Loss]:
    """Return every published metric of a release of this many records, relative to the release.

    Records in no part are suppressed.
    """
    lost = rows - sums.kept
    gcp, arx, precision, entropy = {}, {}, {}, {}
    grown: dict[str, tuple[float, float]] = {}
    for name, column in columns.items():
        told = sums.columns[name]
        if isinstance(column, ItemSets):
            gcp[name] = (told["gcp"] + lost) / max(rows, 1)
            arx[name], precision[name] = gcp[name], 1.0 - gcp[name]
            continue
        domain = None if column.taxonomy is not None else sums.extents.get(name, Extent()).domain(column)
        anything, wide = told.get("anything", 0.0), told.get("width", 0.0) / (domain or 1.0)
        gcp[name] = (told.get("gcp", wide + anything) + lost) / max(rows, 1)
        leaves = column.different if column.taxonomy is None else max(column.taxonomy.size, 1)
        arx[name] = (told["arx"] + lost * (leaves > 1)) / max(rows, 1)
        precision[name] = 1.0 - (told.get("height", wide + anything) + lost) / max(rows, 1)
        own = own_bits(frequencies[name].astype(np.float64))
        most_bits = rows * np.log2(rows) - own
        bits = told["bits"] + lost * np.log2(rows)
        entropy[name] = float(max((bits - own) / most_bits, 0.0)) if most_bits > 0 else 0.0
        most = widest(column, domain)
        share = (told["grown"] / most + anything + lost) / max(rows, 1) if most else 0.0
        grown[name] = share, most
    largest = max((most for _, most in grown.values()), default=0.0)
    weight = {name: most / largest if largest else 0.0 for name, (_, most) in grown.items()}
    relative = sum(weight[name] * share for name, (share, _) in grown.items())
    return {
        "gcp": _mean(gcp),
        "arx": _mean(arx),
        "discernibility": Loss(sums.squares + float(lost) * rows),
        "average_class_size": Loss(sums.kept / sums.classes if sums.classes else 0.0),
        "precision": _mean(precision),
        "entropy": _mean(entropy),
        "relative_uncertainty": Loss(
            float(relative / sum(weight.values())) if largest else 0.0,
            {name: share for name, (share, _) in grown.items()},
        ),
    }


def _mean(attributes: dict[str, float]) -> Loss:
    return Loss(float(np.mean(list(attributes.values()))) if attributes else 0.0, attributes)
