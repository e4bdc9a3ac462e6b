"""Counts of the items of sensitive sets: a record counts for each item that it holds, once.

The sets are released unchanged, so that an item is counted exactly wherever the cells of a question are unchanged, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.estimates.generalized_counts import LARGEST, Counted, Shares, counted
from sudare.estimates.partition import too_many
from sudare.releases.certificate import Certificate

Ints = NDArray[np.int64]
SEVERAL = "A record may hold several items, or none, so the shares do not add up to 1."


def set_columns(certificate: Certificate) -> list[str]:
    """Return the sensitive columns of item sets, which are those that a promise by frequency is about."""
    told = [each.parameters for each in certificate.guarantees if each.model == "l-diversity"]
    return [str(each["column"]) for each in told if each.get("variant") == "frequency" and "column" in each]


def count_items(
    cells: pa.ChunkedArray, name: str, shares: Shares, separator: str | None
) -> tuple[Counted, list[str | None]]:
    """Return how many records of each cell hold each item, and the items; a missing list is an item of its own, None.

    ``separator`` joins the items in text.
    """
    record, item, labels = _held(cells, name, separator)
    if not labels:
        raise DataError(Problem("of", f"no record of the release holds an item of column '{name}'."))
    if len(shares.labels) * len(labels) > LARGEST:
        raise too_many()
    everybody = counted(shares, np.zeros(len(cells), dtype=np.int64), 1)
    found = counted(replace(shares, kind=shares.kind[record]), item, len(labels))
    return replace(found, records=everybody.records), labels


def _held(cells: pa.ChunkedArray, name: str, separator: str | None) -> tuple[Ints, Ints, list[str | None]]:
    """Return pairs of a record and an item that it holds, each once, and the items in order."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if kind != cells.type:
        cells = cells.cast(kind)
    lists = cells.combine_chunks()
    lists = pa.concat_arrays(lists.chunks) if isinstance(lists, pa.ChunkedArray) else lists
    if not pa.types.is_nested(kind):
        if separator is None:
            what = f"column '{name}' holds item sets in text, and only the policy says what separates the items."
            raise DataError(Problem("of", what, "also give the policy (--policy)."))
        lists = pc.split_pattern(lists.cast(pa.large_string()).fill_null(""), separator)
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise DataError(Problem("of", f"column '{name}' holds structures, which cannot be counted."))
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
    record = np.repeat(np.arange(len(lists)), lengths)
    text = pc.utf8_trim_whitespace(lists.flatten().cast(pa.large_string()))
    there = np.asarray(pc.fill_null(pc.not_equal(text, ""), False))
    coded = text.filter(pa.array(there)).dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary).to_numpy()
    place = np.zeros(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    labels: list[Any] = coded.dictionary.take(pa.array(order)).to_pylist()
    record, item = record[there], place[coded.indices.to_numpy()]
    if lists.null_count:
        missing = np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))
        record, item = np.append(record, missing), np.append(item, np.full(len(missing), len(labels)))
        labels.append(None)
    pairs = np.unique(record * max(len(labels), 1) + item)
    return pairs // max(len(labels), 1), pairs % max(len(labels), 1), labels
