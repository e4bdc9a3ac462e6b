"""Transformations of item sets: each item by itself, and items that become the same are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.transformations.step import Findings, Place, Step, inner, is_text, plain, text_kind


@dataclass(frozen=True)
class OfItems:
    """Applies a step to the items of sets: of lists, or of texts that a separator joins."""

    step: Step
    separator: str

    @property
    def place(self) -> Place:
        """The place of the step."""
        return self.step.place

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that the step also reads: none, since items have no records of their own."""
        return ()

    @property
    def whole(self) -> bool:
        """Whether all sets are needed at once."""
        return self.step.whole

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        given = inner(given)
        if is_text(given):
            return text_kind(given)
        items = self.step.kind(given.value_type)
        return pa.large_list(items) if pa.types.is_large_list(given) else pa.list_(items)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the sets with their items transformed."""
        cells = plain(cells)
        kind = self.kind(cells.type)
        if is_text(cells.type):
            lists = pc.split_pattern(cells.cast(pa.large_string()), self.separator)
            found = self._transformed(lists, findings, trim=True)
            items = found.values
            within = pc.match_substring(items, self.separator)
            self._note(lists, within, found, "are sets with items in which the separator stands after it", findings)
            return pc.binary_join(found.cast(pa.list_(items.type)), pa.scalar(self.separator, items.type)).cast(kind)
        return self._transformed(cells, findings, trim=False).cast(kind)

    def _note(self, lists: pa.Array, bad: pa.Array, found: pa.Array, what: str, findings: Findings) -> None:
        """Note sets with bad items; ``found`` has the items that are marked."""
        lengths = pc.list_value_length(found).fill_null(0).to_numpy()
        owner = np.repeat(np.arange(len(lists)), lengths)
        mask = np.zeros(len(lists), np.bool_)
        mask[owner[np.asarray(bad.fill_null(False))]] = True
        findings.note(self.place, pa.array(mask), what, "use another separator, or other replacements.")

    def _transformed(self, lists: pa.Array, findings: Findings, *, trim: bool) -> pa.Array:
        """Return lists whose items are transformed, without missing ones and without repetitions."""
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
        items = lists.flatten()
        if trim:
            items = pc.utf8_trim_whitespace(items)
        owner = np.repeat(np.arange(len(lists)), lengths)
        own = Findings(checks=findings.checks)
        shown = self.step.apply(items, {}, own)
        if said := own.wrong():
            wrong = np.zeros(len(lists), np.bool_)
            wrong[owner[np.asarray(pc.and_(items.is_valid(), shown.is_null()))]] = True
            what, hint = said
            findings.note(self.place, pa.array(wrong), f"have items that {what}", hint)
        findings.figures.update(own.figures)
        coded = shown.dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
        size = len(coded.dictionary) + 1
        keys = owner.astype(np.int64) * size + codes
        _, first = np.unique(keys, return_index=True)
        kept = np.sort(first[codes[first] >= 0])
        ends = np.concatenate(([0], np.cumsum(np.bincount(owner[kept], minlength=len(lists)))))
        return pa.LargeListArray.from_arrays(
            pa.array(ends, pa.int64()), shown.take(pa.array(kept)), mask=lists.is_null() if lists.null_count else None
        )
