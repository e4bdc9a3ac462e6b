"""Shards: parts of a table on many machines, encoded in place with the dictionaries of the whole table.

A shard has up to about a million rows. The executor makes it, with its own dictionary for each column. The driver
merges these dictionaries with the usual encoders, so values, hierarchies and missing cells mean the same as elsewhere.
It sends back only the values of each column and their codes.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.core.sizes import MANY_ROWS
from sudare.engines.invalid_cells import check_cells
from sudare.engines.spark.spark import Parcel
from sudare.policy import Policy
from sudare.sources.encoded_table import encode
from sudare.sources.unknown_values import UnknownValues
from sudare.table import Column, ItemSets, Table
from sudare.table.encode import ItemsEncoder
from sudare.table.encode_distinct import Cells
from sudare.table.encode_values import plain_cells
from sudare.table.value_spellings import most_frequent

SHARD = MANY_ROWS
"""The rows of a shard, at the most ..."""
SHARD_BYTES = 16 << 20
"""... and the bytes, about: a shard passes through the memory of Spark."""
MOST_VALUES = 5_000_000
"""The different values that a column may have: all of them come to the driver, and go to every executor."""

Ints = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Cutting:
    """The maker of shards from rows: ``single`` and ``sets`` are encoded, ``carried`` stay unchanged.

    The columns of a batch are in the order ``names``. ``sets`` has the separator of each item-set column. The limits of
    shards depend on the rows alone, not on their batches: when rows are read again after the loss of an executor,
    batches differ.
    """

    names: tuple[str, ...]
    single: tuple[str, ...]
    sets: Mapping[str, str | None]
    carried: tuple[str, ...]
    missing: tuple[str, ...]
    most: int = SHARD

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        """Yield a parcel for each shard: its words in the head, its cells in the body."""
        waiting: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in batches:
            sizes = np.cumsum(row_sizes(batch))
            start = 0
            while start < batch.num_rows:
                gone = int(sizes[start - 1]) if start else 0
                full = int(np.searchsorted(sizes, SHARD_BYTES - size + gone)) + 1
                end = min(full, start + self.most - rows, batch.num_rows)
                waiting.append(batch.slice(start, end - start))
                rows, size = rows + end - start, size + int(sizes[end - 1]) - gone
                if rows >= self.most or size >= SHARD_BYTES:
                    yield self._shard(waiting, rows)
                    waiting, rows, size = [], 0, 0
                start = end
        if rows:
            yield self._shard(waiting, rows)

    def _shard(self, batches: list[pa.RecordBatch], rows: int) -> Parcel:
        given = pa.Table.from_batches(batches).rename_columns(list(self.names))
        check_cells(given)
        words: dict[str, Any] = {}
        cells: dict[str, Any] = {}
        for name in self.single:
            encoder = Cells(expected=rows)
            for chunk in given.column(name).chunks:
                encoder.add(plain_cells(name, chunk))
            raw = encoder.finish()
            counts = np.bincount(raw.codes, minlength=len(raw.values) + 1)
            words[name] = raw.values, counts
            cells[name] = raw.codes
        for name, separator in self.sets.items():
            items = ItemsEncoder(name, separator=separator, missing=self.missing, expected=rows)
            for chunk in given.column(name).chunks:
                items.add(chunk)
            found = items.finish()
            counts = np.bincount(found.items, minlength=len(found.values) + 1)
            words[name] = found.values, np.append(counts[len(found.values) :].sum(), counts[: len(found.values)])
            cells[name] = found.offsets.astype(np.uint32), found.items
        carried = _packed(given.select(list(self.carried)), anew=True)
        body = pickle.dumps((rows, words_only(words), cells, carried), 5)
        return Parcel(0, pickle.dumps((rows, words, digest_of(body)), 5), body)


def row_sizes(batch: pa.RecordBatch) -> Ints:
    """Return the bytes of each row, about."""
    sizes = np.full(batch.num_rows, 8 * batch.num_columns, np.int64)
    for cells in batch.columns:
        kind = cells.type
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            sizes += 16 * pc.fill_null(pc.list_value_length(cells), 0).to_numpy()
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
            sizes += pc.fill_null(pc.binary_length(cells), 0).to_numpy()
    return sizes


def digest_of(body: Any) -> bytes:
    """Return a digest that distinguishes a shard from one made again from rows in another order."""
    return hashlib.blake2b(body, digest_size=16).digest()


def words_only(words: Mapping[str, Any]) -> dict[str, pa.Array]:
    """Return the words of a shard without how often they occur."""
    return {name: values for name, (values, _) in words.items()}


def _packed(table: pa.Table, *, anew: bool = False) -> bytes:
    """Return a table as bytes; ``anew`` copies its cells, so that the bytes do not show what they are slices of."""
    if anew:
        nothing = table.schema.empty_table()
        table = pa.concat_tables([nothing, table, nothing])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def unpacked(data: bytes) -> pa.Table:
    """Return carried columns that were packed."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


@dataclass(frozen=True, eq=False)
class Words:
    """The different original cells of one column: ``values`` without null, and how often each occurs.

    ``counts`` begins with the number of nulls; of an item-set column these are null sets, and values are items.
    """

    values: pa.Array
    counts: Ints


def merged_words(heads: Iterable[bytes], names: Collection[str]) -> tuple[int, dict[str, Words]]:
    """Put the words of all shards together; returned with the number of rows."""
    rows, parts = 0, {name: list[tuple[pa.Array, Ints]]() for name in names}
    for head in heads:
        count, words, _ = pickle.loads(head)
        rows += count
        for name, part in words.items():
            parts[name].append(part)
    return rows, {name: _merged(name, given) for name, given in parts.items() if given}


def _merged(name: str, parts: Sequence[tuple[pa.Array, Ints]]) -> Words:
    # some shards may have made another type of what is all null there
    kind = next((values.type for values, _ in parts if len(values)), parts[0][0].type)
    joined = pa.concat_arrays([values if values.type == kind else values.cast(kind) for values, _ in parts])
    encoded = joined.dictionary_encode()
    if len(encoded.dictionary) > MOST_VALUES:
        what = f"has {len(encoded.dictionary):,} different values; at most {MOST_VALUES:,} are possible on Spark."
        hint = "remove the column, use coarser values, or run on one machine."
        raise UnsupportedError(Problem(f"column '{name}'", what, hint))
    counts = np.zeros(1 + len(encoded.dictionary), np.int64)
    counts[0] = sum(int(many[0]) for _, many in parts)
    if len(joined):
        np.add.at(counts, 1 + encoded.indices.to_numpy(), np.concatenate([many[1:] for _, many in parts]))
    return Words(encoded.dictionary, counts)


@dataclass(frozen=True, eq=False)
class Book:
    """The dictionaries of a table on many machines; they turn shards into tables.

    ``table`` has all columns in their roles, and no rows. ``raw`` are the different original cells of each column, and
    ``code`` has the code of each, that of null first.
    """

    table: Table
    raw: Mapping[str, pa.Array]
    code: Mapping[str, Codes]

    def shard(self, body: Any) -> Table:
        """Return the rows of a parcel."""
        rows, words, cells, carried = pickle.loads(body)
        return self._filled(rows, {name: self._column(name, words[name], cells[name]) for name in words}, carried)

    def raws(self, body: Any) -> dict[str, Ints]:
        """Return the rows of a parcel by the places of their cells among those of the whole table, null being 0."""
        _, words, cells, _ = pickle.loads(body)
        found = {}
        for name in words:
            if not isinstance(cells[name], tuple):
                found[name] = self._places(name, words[name])[cells[name]]
        return found

    def _places(self, name: str, words: pa.Array) -> Ints:
        """Return the place of each word of a shard among those of the whole table, and first of all that of null."""
        raw = self.raw[name]
        words = words if words.type == raw.type else words.cast(raw.type)
        places = pc.index_in(words, value_set=raw)
        if places.null_count:
            raise DataError(Problem(f"column '{name}'", "returned different values when it was read again."))
        return np.concatenate((np.zeros(1, np.int64), places.to_numpy().astype(np.int64) + 1))

    def _column(self, name: str, words: pa.Array, cells: Any) -> Column | ItemSets:
        lookup = self.code[name][self._places(name, words)]
        whole = self.columns[name]
        if isinstance(whole, Column):
            return replace(whole, codes=lookup[cells])
        from sudare.kernels.flat_sets import sort_within

        offsets, items = cells
        by_item = np.append(lookup[1:], lookup[:1])  # the item of a null set stands behind the others
        coded, ends = by_item[items], offsets.astype(np.int64)
        if len(by_item) > 2 and (np.diff(by_item[:-1].astype(np.int64)) < 0).any():
            sort_within(coded, ends)
        return replace(whole, offsets=ends, items=coded)

    @property
    def columns(self) -> dict[str, Column | ItemSets]:
        """All encoded columns."""
        table = self.table
        found: dict[str, Column | ItemSets] = {**table.quasi, **table.sensitive, **table.context}
        for column in (table.subject, table.target):
            if column is not None:
                found[column.name] = column
        return found

    def _filled(self, rows: int, columns: Mapping[str, Any], carried: bytes) -> Table:
        table = self.table
        return Table(
            rows=rows,
            quasi={name: columns[name] for name in table.quasi},
            sensitive={name: columns[name] for name in table.sensitive},
            subject=None if table.subject is None else columns[table.subject.name],
            carried=unpacked(carried),
            target=None if table.target is None else columns[table.target.name],
            context={name: columns[name] for name in table.context},
        )

    def pack(self, table: Table, rows: Ints, more: Any = None) -> bytes:
        """Return some rows of a shard as the body of a parcel, with additional data."""
        taken = table.taken(rows)
        cells: dict[str, Any] = {}
        for name, column in _columns(taken).items():
            cells[name] = column.codes if isinstance(column, Column) else (column.offsets, column.items)
        assert table.carried is not None
        carried = _packed(table.carried.take(pa.array(rows)))
        return pickle.dumps((len(rows), cells, carried, more), 5)

    def joined(self, bodies: Sequence[Any]) -> tuple[Table, list[Any]]:
        """Return the rows of parcels that were packed so as one table, and what went with them."""
        given = [pickle.loads(body) for body in bodies]
        columns: dict[str, Any] = {}
        for name, whole in self.columns.items():
            parts = [cells[name] for _, cells, _, _ in given]
            if isinstance(whole, Column):
                columns[name] = replace(whole, codes=np.concatenate(parts))
                continue
            lengths = np.concatenate([np.diff(offsets) for offsets, _ in parts])
            offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
            columns[name] = replace(whole, offsets=offsets, items=np.concatenate([items for _, items in parts]))
        rows = sum(count for count, _, _, _ in given)
        table = self._filled(rows, columns, given[0][2])
        carried = pa.concat_tables([unpacked(part) for _, _, part, _ in given])
        return replace(table, carried=carried), [more for _, _, _, more in given]


def _columns(table: Table) -> dict[str, Any]:
    found: dict[str, Any] = {**table.quasi, **table.sensitive, **table.context}
    for column in (table.subject, table.target):
        if column is not None:
            found[column.name] = column
    return found


def make_book(
    words: Mapping[str, Words],
    policy: Policy,
    carried: pa.Schema,
    *,
    sets: Collection[str] = (),
    unknown: UnknownValues | None = None,
    also: Collection[str] = (),
) -> Book:
    """Encode the different cells of all columns as the policy describes them."""
    longest = max((len(each.values) + bool(each.counts[0]) for each in words.values()), default=0)
    given = {name: _cells_of(each, longest, sets=name in sets) for name, each in words.items()}
    kept = {name: spec for name, spec in policy.columns.items() if name in words}
    # items of sets stand in lists of one here, whatever they came in
    seen = policy.model_copy(update={"columns": kept})
    table = encode(pa.table(given), seen, unknown=unknown, also=also)
    raw, code, spelled = {}, {}, dict[str, Column]()
    for name, column in _columns(table).items():
        each = words[name]
        found = column.codes if isinstance(column, Column) else _only_items(column, longest)
        null = found[len(each.values)] if each.counts[0] else found.dtype.type(0)
        raw[name] = each.values
        code[name] = np.append(null, found[: len(each.values)]).astype(found.dtype)
        if isinstance(column, Column) and column.keys is not None and name in table.sensitive:
            spelled[name] = replace(column, values=_most_frequent(column, each, found))
    table = replace(table, sensitive={**table.sensitive, **spelled})
    nothing = replace(table.taken(np.zeros(0, np.int64)), carried=pa.table(carried.empty_table()))
    return Book(nothing, raw, code)


def _most_frequent(column: Column, words: Words, codes: Codes) -> pa.Array:
    """Return the values of a column in their most frequent spellings; in its dictionary each stands once."""
    if not column.merged:
        return column.values
    texts = words.values.cast(column.values.type)
    return most_frequent(texts, codes[: len(texts)], words.counts[1:], len(column.values))


def _cells_of(words: Words, length: int, *, sets: bool) -> pa.Array:
    """Return each different cell once, then a null if there is one, and then others again up to a length."""
    values = words.values
    if sets:
        ends = pa.array(np.arange(len(values) + 1), pa.int64())
        values = pa.LargeListArray.from_arrays(ends, values.cast(pa.large_string()))
    parts = [values] + ([pa.nulls(1, values.type)] if words.counts[0] else [])
    cells = pa.concat_arrays(parts)
    if not len(cells):
        return pa.array([[]] * length, values.type)
    more = length - len(cells)
    return pa.concat_arrays([cells, cells.take(pa.array(np.zeros(more, np.int64)))]) if more else cells


def _only_items(column: ItemSets, rows: int) -> Codes:
    """Return the item of each record, which holds one; 0 for one that holds none."""
    found = np.zeros(rows, column.items.dtype)
    held = np.diff(column.offsets) > 0
    found[held] = column.items[column.offsets[:-1][held]]
    return found


def histograms(book: Book, words: Mapping[str, Words]) -> dict[str, Ints]:
    """Return how often each code of each column occurs."""
    found = {}
    for name, column in book.columns.items():
        counts = np.zeros(column.size, np.int64)
        present = words[name].counts > 0
        np.add.at(counts, book.code[name][present], words[name].counts[present])
        found[name] = counts
    return found
