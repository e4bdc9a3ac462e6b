"""Telling values: values of one column that give those of another one away.

Where all records with a value of one column agree in a sensitive one, no group may show the first value: the second
would be known of all its people. A release then hides the first column nearly everywhere, and nobody gains from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sudare.drafts.coded_columns import CodedColumns, coded, sampled
from sudare.drafts.rarity import SKEWED

_SAMPLE = 20_000
_FREQUENT = 0.05
"""The least share of the records that a value needs: a rare one is generalized anyway."""
_BY_CHANCE = 1e-6
"""The largest probability with which records may agree by chance."""


class TellingValues:
    """A sample of a table, in which sensitive columns that others give away are looked for."""

    def __init__(self, table: pa.Table, names: Sequence[str], sensitive: Sequence[str]) -> None:
        """``names`` may be asked about; ``sensitive`` are the columns that they may give away."""
        self._part: CodedColumns = coded(sampled(table.select([*names, *sensitive]), _SAMPLE), [*names, *sensitive])
        self._sensitive = [name for name in sensitive if name in self._part.codes]

    def gives_away(self, name: str) -> str | None:
        """Return a sensitive column that is the same in all records with a frequent value of another column."""
        if name not in self._part.codes:
            return None
        codes, rows = self._part.codes[name], self._part.rows
        sizes = np.bincount(codes, minlength=self._part.sizes[name])
        order = np.argsort(codes, kind="stable")
        begin = np.concatenate([[0], np.cumsum(sizes)])
        for value in np.flatnonzero((sizes >= _FREQUENT * rows) & (sizes < rows)):
            records = order[begin[value] : begin[value + 1]]
            for secret in self._sensitive:
                held = self._part.codes[secret]
                among = held[records]
                if np.all(among == among[0]):
                    share = np.count_nonzero(held == among[0]) / rows
                    if share <= SKEWED and share ** len(records) <= _BY_CHANCE:
                        return secret
        return None
