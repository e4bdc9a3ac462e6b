"""Sizes of classes before and after a release, and the risks that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.policy import KAnonymitySpec, KmAnonymitySpec, Policy
from sudare.releases.cell_reader import read_cells
from sudare.reports.describe.disclosure_control import Crowd, different
from sudare.reports.describe.figure_types import Bin
from sudare.table import Column, ItemSets

Ints = NDArray[np.int64]
THRESHOLDS = (0.05, 0.09, 0.2)


def class_columns(policy: Policy) -> list[str]:
    """Return the quasi-identifiers that form classes: all except sets that only km-anonymity limits."""
    own = {spec.column for spec in policy.require if isinstance(spec, KmAnonymitySpec)}
    for spec in policy.require:
        if isinstance(spec, KAnonymitySpec):
            own -= set(policy.quasi if spec.columns is None else spec.columns)
    return [name for name in policy.quasi if name not in own]


def grouped(keys: Sequence[tuple[NDArray[Any], int]], rows: int) -> Ints:
    """Number the combinations of codes that occur; return that of each record."""
    found, room = np.zeros(rows, dtype=np.int64), 1
    for codes, size in keys:
        if room > 2**62 // max(size, 1):
            _, found = np.unique(found, return_inverse=True)
            room = int(found.max(initial=0)) + 1
        found = found * size + codes
        room *= max(size, 1)
    _, numbers = np.unique(found, return_inverse=True)
    return numbers.astype(np.int64)


def before_keys(columns: Mapping[str, Column | ItemSets], names: Sequence[str]) -> list[tuple[NDArray[Any], int]]:
    """Return the codes of the data's columns, and how many there are of each."""
    keys: list[tuple[NDArray[Any], int]] = []
    for name in names:
        column = columns[name]
        if isinstance(column, Column):
            keys.append((column.codes.astype(np.int64), column.size))
            continue
        keys.append(_set_keys(column.items, column.offsets))
    return keys


def _set_keys(items: NDArray[Any], offsets: NDArray[Any]) -> tuple[Ints, int]:
    """Number item sets, equal ones alike: they have equal sums of random words, and others as good as never do."""
    words = np.random.default_rng(0).integers(0, 2**64, int(items.max(initial=0)) + 1, dtype=np.uint64)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(words[items], dtype=np.uint64)))
    found, numbers = np.unique(sums[offsets[1:]] - sums[offsets[:-1]], return_inverse=True)
    return numbers.astype(np.int64), len(found)


def after_keys(released: pa.Table, names: Sequence[str]) -> list[tuple[NDArray[Any], int]]:
    """Return the cells of the release as numbers, and how many there are in each column."""
    keys: list[tuple[NDArray[Any], int]] = []
    for name in names:
        cells = released.column(name)
        if pa.types.is_nested(cells.type):
            flat = pa.chunked_array([chunk.flatten() for chunk in cells.chunks], cells.type.value_type)
            items = read_cells(flat).of_row
            length = pc.list_value_length(cells)
            missing = length.is_null().to_numpy()
            offsets = np.concatenate(([0], np.cumsum(length.fill_null(0).to_numpy())))
            numbers, count = _set_keys(items, offsets)
            keys.append((np.where(missing, count, numbers), count + 1))
            continue
        found = read_cells(cells)
        keys.append((found.of_row, len(found)))
    return keys


def sizes_of(classes: Ints, people: NDArray[Any] | None) -> tuple[Ints, Ints]:
    """Return the records of each class, and of how many people they are."""
    sizes = np.bincount(classes).astype(np.int64)
    if people is None:
        return sizes, sizes
    pairs = different(classes * (int(people.max(initial=0)) + 1) + people)
    return sizes, np.bincount(pairs // (int(people.max(initial=0)) + 1)).astype(np.int64)


def histogram(before: Ints, after: Ints | None, crowd: Crowd) -> list[Bin]:
    """Return the shares of records in classes of 1, 2 to 3, 4 to 7 and so on, blurred."""
    most = max(int(before.max(initial=1)), 1 if after is None else int(after.max(initial=1)))
    bins = int(np.floor(np.log2(most))) + 1
    held = np.bincount(np.floor(np.log2(before)).astype(np.int64), before, bins)
    total = max(float(held.sum()), 1.0)
    shown = None if after is None else np.bincount(np.floor(np.log2(after)).astype(np.int64), after, bins)
    released = 1.0 if shown is None else max(float(shown.sum()), 1.0)
    lines: list[Bin] = []
    for place in range(bins):
        low, high = 2**place, 2 ** (place + 1) - 1
        share = crowd.share(int(held[place]))
        lines.append(
            {
                "label": "1" if place == 0 else f"{low:,} to {high:,}",
                "before": 0.0 if share is None else min(share, total),
                "few": share is None,
                "after": None if shown is None else round(float(shown[place]) / released, 4),
            }
        )
    return lines


def exposure(sizes: Ints, people: Ints) -> dict[str, Any]:
    """Return how exposed records are, by the people of their class: exact figures, to be blurred."""
    records = max(int(sizes.sum()), 1)
    return {
        "largest": 1 / max(int(people.min(initial=2**62)), 1) if len(people) else 0.0,
        "smallest": int(people.min()) if len(people) else 0,
        "mean": float((sizes / np.maximum(people, 1)).sum()) / records,
        "above": {f"{limit:g}": int(sizes[1 / people > limit + 1e-3].sum()) for limit in THRESHOLDS},
        "unique": int(sizes[people == 1].sum()),
        "classes": len(sizes),
    }


def blurred_exposure(found: Mapping[str, Any], crowd: Crowd) -> dict[str, Any]:
    """Return the exposure of the data as it may be shown."""
    return {
        "largest": round(found["largest"], 4),
        "mean": float(f"{found['mean']:.3g}"),
        "above": {name: crowd.share(count) for name, count in found["above"].items()},
        "unique": crowd.share(found["unique"]),
    }


def plain_exposure(found: Mapping[str, Any], records: int) -> dict[str, Any]:
    """Return the exposure of the release, which anyone can count."""
    whole = max(records, 1)
    return {
        "largest": round(found["largest"], 4),
        "mean": float(f"{found['mean']:.3g}"),
        "above": {name: round(count / whole, 6) for name, count in found["above"].items()},
        "unique": round(found["unique"] / whole, 6),
    }
