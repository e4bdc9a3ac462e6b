"""The description of each column before and after: its shares, its changes and the remaining detail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem, SudareError
from sudare.core.progress import Listener
from sudare.estimates import answer, ask, needed
from sudare.releases.cell_reader import read_cells
from sudare.releases.pairing import HINT, Pair
from sudare.reports.describe.cell_shares import (
    GENERAL,
    HIDDEN,
    SINGLE,
    CellShares,
    nodes_of,
    read_generalized,
    read_untouched,
)
from sudare.reports.describe.chart_axes import Axis, kind_of, places_of
from sudare.reports.describe.disclosure_control import Crowd
from sudare.reports.describe.figure_types import Checked, ColumnFigures, Leads, Part
from sudare.reports.describe.losses import disclosed_share
from sudare.reports.describe.scales import MISSING, MOST_CATEGORIES, Scale, are_codes, before, is_free_text, scale_of
from sudare.reports.describe.transformation_figures import done_parts, notes_of
from sudare.reports.transformation_words import pseudonym_form
from sudare.table import Column, ItemSets, encode_like

Floats = NDArray[np.float64]
OLD = 89
"""Ages above this one are identifying by HIPAA's Safe Harbor."""
SMALL = 11
"""Cells of fewer records, but some, are too small to be shown by the rule of CMS."""


class Described:
    """The columns of a pair, described one after the other; ``scales`` and ``shown`` are of use to others."""

    def __init__(self, pair: Pair, crowd: Crowd, listener: Listener) -> None:
        self.pair, self.crowd, self.listener = pair, crowd, listener
        self.scales: dict[str, Scale] = {}
        self.shown: dict[str, CellShares] = {}
        self.plain: list[ColumnFigures] = []
        for number, name in enumerate(pair.columns):
            listener("describe columns", number, len(pair.columns))
            self.plain.append(self._with_steps(self._described(name)))
        self.plain += [self._with_steps(self._undescribed(name)) for name in [*pair.odd, *pair.uncompared]]

    def _with_steps(self, about: ColumnFigures) -> ColumnFigures:
        """Add what was done to a column before; of pseudonyms none is shown."""
        pair, name = self.pair, about["name"]
        steps = pair.policy.transformed.get(name)
        if not steps:
            return about
        about["steps"] = [step.name for step in steps]
        if pair.policy.shows_pseudonym(name):
            spec = next(step for step in steps if step.name == "pseudonym")
            about["notes"] = [f"Pseudonyms: {pseudonym_form(spec.parameters())}. None of them is shown here."]
            about["parts"] = about["distance"] = None
            return about
        about["done"] = done_parts(pair, name, self.crowd)
        scale, shown = self.scales.get(name), self.shown.get(name)
        about["notes"] = [*about["notes"], *notes_of(pair, name, self.crowd, scale=scale, shown=shown)]
        return about

    def _undescribed(self, name: str) -> ColumnFigures:
        unknown = name in self.pair.uncompared
        return {
            "name": name,
            "role": self.pair.policy.columns[name].role,
            "treatment": self._treatment(name),
            "kind": "other",
            "notes": [] if unknown else ["Holds values of a kind that this report does not describe."],
            "parts": None,
            "distance": None,
            "shares": None,
            "finest": None,
            "old": "none",
            "rare": True,
            "width": None,
            "general": False,
            "exact": True,
            "unique": True,
            "own": True,
            "ends": False,
            "whole": False,
            "codes": False,
            "small": True,
        }

    def _described(self, name: str) -> ColumnFigures:
        column, spec = self.pair.columns[name], self.pair.policy.columns[name]
        if isinstance(column, ItemSets):
            return self._items(name, column)
        if column.sets is not None:
            leads: Leads = {**self._leads(name, column, None), "whole": False}
            return {
                **self._items(name, column.sets.shown.taken(column.codes.astype(np.int64))),
                **leads,
                "codes": False,
            }
        counts = np.bincount(column.codes, minlength=column.size).astype(np.int64)
        kind = kind_of(column)
        if kind == "category" and is_free_text(column, counts, self.crowd.rows):
            kind = "text"
        scale = None if kind == "text" else scale_of(column, counts, self.crowd, spec.order)
        shown = self._read(name, column, scale)
        checked: Checked = {}
        if shown is not None:
            self.shown[name] = shown
            checked = self._figures(name, kind, shown)
        about: ColumnFigures = {
            "name": name,
            "role": spec.role,
            "treatment": self._treatment(name),
            "notes": [],
            "kind": kind,
            "parts": None,
            "distance": None,
            "shares": self._shares(name, shown),
            **self._leads(name, column, shown),
            "codes": kind == "text" and are_codes(column),
            "steps": [],
            "done": None,
            **checked,
        }
        if (word := self._representative(name)) is not None:
            about["notes"].append(
                f"Aggregated: a record shows the {word} of its group in place of its own value, and counts where that "
                "stands."
            )
        if scale is None:
            about["notes"].append(self._why(kind, column))
            return about
        self.scales[name] = scale
        earlier = before(scale, column, self.crowd)
        later = self._later(name, column, scale, shown)
        about["parts"] = [
            {"label": label, "before": share, "after": None if later is None else later[place]}
            for place, (label, share) in enumerate(zip(scale.labels, earlier, strict=True))
        ]
        if later is None:
            about["notes"].append("The release shows nothing of this column from which shares could be read.")
        else:
            about["distance"] = round(sum(abs(a - b) for a, b in zip(earlier, later, strict=True)) / 2, 4)
        if column.missing and scale.missing < 0 and kind != "category":
            about["notes"].append(f"Fewer than {self.crowd.least} records miss this value; they are not shown.")
        if scale.few:
            about["notes"].append(
                f"Fewer than {self.crowd.least} records have any other value, or none; they are not shown."
            )
        return about

    def _treatment(self, name: str) -> str:
        pair, role = self.pair, self.pair.policy.columns[name].role
        if name in pair.opened.hidden:
            return pair.certificate.recoding if pair.certificate.recoding in ("drawn", "apart") else "sets"
        return "generalized" if role == "quasi" and pair.touched else "untouched"

    def _representative(self, name: str) -> str | None:
        """Return what an aggregated column shows of each group (its mean, for example); None for other columns."""
        told = self.pair.certificate.search.aggregated.get(name)
        word = told.get("representative") if isinstance(told, Mapping) else None
        return word if word in ("mean", "median", "mode", "medoid") else None

    def _read(self, name: str, column: Column, scale: Scale | None) -> CellShares | None:
        """Return what the release shows of a column; None where it stands elsewhere, or in sets."""
        treatment = self._treatment(name)
        if treatment in ("sets", "apart") or name not in self.pair.released.column_names:
            return None
        cells = self.pair.released.column(name)
        if treatment == "generalized":
            spec = self.pair.policy.columns[name]
            found = read_generalized(cells, column, scale, nodes_of(column, spec, self.pair.policy))
            if found.strange and spec.hierarchy is None and self.pair.covers(name):
                what = f"column '{name}' of the release shows values that the data does not have."
                raise DataError(Problem("release", what, HINT))
            return found
        if pa.types.is_nested(cells.type):
            return None
        return read_untouched(cells, column, scale, self.pair.missing)

    def _later(self, name: str, column: Column, scale: Scale, shown: CellShares | None) -> list[float] | None:
        """Return the shares that an analyst reads from the release."""
        if self._treatment(name) not in ("drawn", "sets", "apart"):
            return None if shown is None else shown.distribution(len(scale))
        opened, spec = self.pair.opened, self.pair.policy.columns[name]
        question = ask(name, (), None, opened.names, hidden=opened.sealed)
        found = answer(
            opened.read(needed(opened.certificate, question)),
            opened.certificate,
            question,
            second=opened.second(name),
            separator=spec.separator,
        )
        counts = np.nan_to_num(found.counts.sum(axis=0))
        told = pa.array([None if value is None else _text(value) for value in found.values], pa.large_string())
        try:
            again = encode_like(column, told)
        except SudareError:
            return None
        part = read_untouched(pa.chunked_array([told]), column, scale, ()).part
        if part is None:
            return None
        place = part[again.codes]
        held = np.bincount(place[place >= 0], np.maximum(counts, 0.0)[place >= 0], len(scale))
        return [round(share, 6) for share in (held / max(held.sum(), 1e-300)).tolist()]

    def _shares(self, name: str, shown: CellShares | None) -> dict[str, float] | None:
        """Return the share of the data's records whose cell is a value, is generalized, hidden, or not there."""
        if self.pair.policy.columns[name].role != "quasi":
            return None
        kept = self.pair.certificate.mechanism.calibration.get("retention", {}).get(name)
        if kept is not None:
            return {"drawn": round(1 - float(kept), 4), "single": round(float(kept), 4)}
        if shown is None:
            return None
        rows = self.pair.rows_in
        lost = rows - self.pair.released.num_rows
        whole = max(rows if lost >= self.crowd.least else self.pair.released.num_rows, 1)
        single, general, hidden = shown.forms()
        if self._representative(name) is not None:  # one value, and not that of the record
            single, general = 0, single + general
        forms = [round(count / whole, 4) for count in (single, general, hidden)]
        gone = replace(self.crowd, rows=rows).share(lost) or 0.0
        return dict(zip(("single", "generalized", "hidden"), forms, strict=True)) | {"left_out": gone}

    def _figures(self, name: str, kind: str, shown: CellShares) -> Checked:
        """Return what checklists ask for, all of it from the release.

        ``finest`` is the finest unit in which dates show; ``old`` whether ages above 89 show by themselves, in a range,
        or not at all; ``rare`` whether some released values are those of fewer records than the threshold, ``small``
        whether some are those of 1 to 10.
        """
        used = shown.records > 0
        there = used & np.isfinite(shown.low) & (shown.form != HIDDEN)
        finest = None
        if kind == "date" and there.any():
            finest = _finest(shown.low[there], shown.high[there])
        old = "none"
        if kind == "number" and bool(np.any(shown.high[there] > OLD)):
            alone = there & (shown.low > OLD) & (shown.form == SINGLE)
            old = "single" if bool(alone.any()) else "range"
        untouched = self._treatment(name) == "untouched"
        rare = bool(untouched and np.any(used & (shown.records < self.crowd.least)))
        small = bool(untouched and np.any(used & (shown.records < SMALL)))
        width = shown.mean_width()
        return {
            "finest": finest,
            "old": old,
            "rare": rare,
            "small": small,
            "width": None if width is None else float(f"{width:.3g}"),
            "general": bool(np.any(used & (shown.form == GENERAL))),
            "exact": bool(np.any(used & (shown.form == SINGLE))),
        }

    def _leads(self, name: str, column: Column, shown: CellShares | None) -> Leads:
        """Return whether released values may identify people, for any column name, as yes or no.

        ``unique`` says that most records hold values of their own or of few, and that the values leave in some form;
        ``ends`` that ranges begin or end at such a value. ``own`` says the first in whatever form values leave,
        ``whole`` that they are whole numbers, as ids are.
        """
        size = len(column.values)
        few = self.crowd.heads(column.codes, column.size)[:size] < self.crowd.least
        counts = np.bincount(column.codes, minlength=column.size)[:size]
        mostly = bool(2 * counts[few].sum() > counts.sum())
        whole = kind_of(column) == "number" and Axis.of(column).whole
        if self._treatment(name) != "generalized":
            return {"unique": mostly, "own": mostly, "ends": False, "whole": whole}
        ends = False
        if whole and mostly and shown is not None:
            used = (shown.records > 0) & (shown.form != HIDDEN)
            ends = bool(np.isin(np.append(shown.low[used], shown.high[used]), places_of(column)[few]).any())
        return {"unique": False, "own": mostly, "ends": ends, "whole": whole}

    def _why(self, kind: str, column: Column) -> str:
        if kind == "text":
            about = _about(len(column.values), self.crowd)
            return (
                f"{about[0].upper()}{about[1:]} different values. They are not shown because they are too many or too "
                "rare: a value that few records share may identify a person."
            )
        return "There are too few records to show a picture safely."

    # -- item sets ------------------------------------------------------------------------------------------------

    def _items(self, name: str, column: ItemSets) -> ColumnFigures:
        crowd, pair = self.crowd, self.pair
        record = np.repeat(np.arange(len(column)), np.diff(column.offsets))
        held = crowd.records(column.items, column.size)
        heads = crowd.heads_of_items(record, column.items, column.size)
        order = np.argsort(-held, kind="stable")
        top = [code for code in order.tolist() if heads[code] >= crowd.least][:MOST_CATEGORIES]
        texts = column.values.cast(pa.large_string()).to_pylist()
        released = max(pair.released.num_rows, 1)
        shown = _counted_items(pair.released.column(name), pair.policy.columns[name].separator)
        untouched = self._treatment(name) == "untouched"
        parts: list[Part] = [
            {
                "label": texts[code] if code < len(texts) else MISSING,
                "before": crowd.share(int(held[code])),
                "after": round(shown.get(texts[code] if code < len(texts) else None, 0) / released, 6),
            }
            for code in top
        ]
        return {
            "name": name,
            "role": pair.policy.columns[name].role,
            "treatment": self._treatment(name),
            "kind": "items",
            "parts": parts or None,
            "distance": None,
            "shares": self._item_shares(name, len(column.items)),
            "notes": [
                f"The most frequent items, of {_about(len(texts), crowd)}. A record may hold several."
                + ("" if untouched else " A record may have items that the release does not show.")
            ],
            "finest": None,
            "old": "none",
            "width": None,
            "general": not untouched,
            "exact": True,
            "rare": untouched and any(0 < count < crowd.least for count in shown.values()),
            "small": untouched and any(0 < count < SMALL for count in shown.values()),
        }

    def _item_shares(self, name: str, items: int) -> dict[str, float] | None:
        """Return the share of a quasi-identifier's items that the release shows, and that it does not."""
        told = self.pair.certificate.item_sets.get(name)
        if told is None or self.pair.sampled:  # nobody knows how many items the sampled records have
            return None
        disclosed = round(disclosed_share(int(told["disclosed"]), items, self.crowd), 4)
        return {"single": disclosed, "hidden": round(1 - disclosed, 4)}


def _about(count: int, crowd: Crowd) -> str:
    """Return the number of different values, in words that show no small number."""
    return f"about {crowd.rounded(count):,}" if count >= crowd.least else "a few"


def _counted_items(cells: pa.ChunkedArray, separator: str | None) -> Mapping[str | None, int]:
    """Return how many records show each item; None is a missing set."""
    if not pa.types.is_nested(cells.type):
        cells = pc.split_pattern(cells.cast(pa.large_string()), separator or ",")
    flat = pc.list_flatten(cells)
    found = read_cells(flat)
    counts = np.bincount(found.of_row, minlength=len(found)).tolist()
    return dict(zip(found.texts.to_pylist(), counts, strict=True)) | {None: int(cells.null_count)}


def _finest(low: Floats, high: Floats) -> str:
    """Return the finest unit in which some released date shows: a day, a month or a year."""
    first, last = np.floor(low).astype(np.int64), np.floor(high).astype(np.int64)
    begin = first.astype("datetime64[D]")
    starts = {unit: begin == begin.astype(f"datetime64[{unit}]").astype("datetime64[D]") for unit in ("M", "Y")}
    after = (last + 1).astype("datetime64[D]")
    ends = {unit: after == after.astype(f"datetime64[{unit}]").astype("datetime64[D]") for unit in ("M", "Y")}
    if np.all(starts["Y"] & ends["Y"]):
        return "year"
    return "month" if np.all(starts["M"] & ends["M"]) else "day"


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
