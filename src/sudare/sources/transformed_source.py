"""A table whose columns are transformed as a policy says, while it is read.

Most transformations go cell by cell, so batches pass through. Where what becomes of a cell depends on others, as for
swaps, the whole table is read first; with limited memory, what is read waits in a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from sudare import engines
from sudare.core.errors import DataError, Problem
from sudare.policy import Policy
from sudare.sources.cell_cleaner import CellProblemsError
from sudare.table import MEMORY, Storage
from sudare.table.unchanged_cells import Carried
from sudare.transformations.column_steps import columns_beside
from sudare.transformations.transformation_facts import facts
from sudare.transformations.transformed_columns import Transformed


def columns_to_read(policy: Policy, names: Sequence[str]) -> list[str]:
    """Return the columns to read for some that are wanted: also those that transformations go by."""
    return list(dict.fromkeys([*names, *columns_beside(policy, names)]))


def transformed(
    source: engines.Source,
    policy: Policy,
    names: Sequence[str],
    *,
    seed: int | None = None,
    spill: Path | None = None,
) -> engines.Source:
    """Return some columns of a table, transformed; ``source`` also has the columns that this goes by.

    ``spill`` is a private folder for what does not stay in memory.
    """
    if not policy.transforms:
        return source
    kinds = {each.name: each.type for each in source.schema}
    work = Transformed.of(policy, kinds, names, seed)
    schema = pa.schema([(name, work.kind(name, kinds[name])) for name in names])
    made = _Made(source, schema, work, MEMORY if spill is None else Storage(0, spill))
    return replace(
        source,
        schema=schema,
        rows=source.rows if policy.sample is None else None,
        likely=source.likely if policy.sample is None else int((source.rows or source.likely) * policy.sample.share),
        items={name: count for name, count in source.items.items() if name in names},
        batches=made.batches,
        facts=made.facts,
        held=source.held or work.whole,
    )


@dataclass
class _Made:
    """A table that is transformed while it is read. What is held in memory is transformed once, as noise is drawn."""

    raw: engines.Source
    schema: pa.Schema
    work: Transformed
    storage: Storage
    kept: list[pa.RecordBatch] | None = None
    rows: int = field(default=0, init=False)

    def facts(self) -> list[dict[str, object]]:
        """Return what a certificate says of the transformations, once the table has been read."""
        return facts(self.work)

    def batches(self, wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        """Yield the transformed batches, and raise what is wrong with cells after the last one."""
        if self.kept is not None:
            yield from self.kept
            return
        kept = []
        for batch in self._whole(wanted) if self.work.whole else self._through(wanted):
            if self.raw.held or self.work.whole:
                kept.append(batch)
            yield batch
        self.check()
        if self.raw.held or self.work.whole:
            self.kept = kept

    def check(self) -> None:
        """Raise what is wrong with cells, or that nobody is in the sample."""
        if problems := self.work.findings.problems():
            raise CellProblemsError(problems)
        if not self.rows and self.work.sample is not None:
            raise DataError(Problem("sample", "holds no records.", "sample a larger share."))

    def _raw(self, wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        for batch in self.raw.batches([name for name in wanted if name not in self.work.steps]):
            chosen = self.work.sampled(batch)
            self.rows += len(chosen)
            if len(chosen):
                yield chosen

    def _through(self, wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._raw(wanted):
            yield self._batch(self.work.columns(dict(zip(batch.schema.names, batch.columns, strict=True))))

    def _whole(self, wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        # text with dictionaries would need the same one in all batches of a file
        whole = Carried(pa.schema([(each.name, _plain(each.type)) for each in self.raw.schema]), self.storage)
        for batch in self._raw(()):
            whole.add(pa.RecordBatch.from_arrays(
                [cells.cast(kind.type) for cells, kind in zip(batch.columns, whole.schema, strict=True)],
                schema=whole.schema,
            ))  # fmt: skip
        table = whole.finish()
        if not table.num_rows:
            return
        used = [*self.work.steps, *columns_beside(self.work.policy, self.work.steps)]
        given = {name: _one(table.column(name)) for name in dict.fromkeys(used)}
        found = self.work.columns(given)
        del given
        columns = [
            pa.chunked_array([found[name]]) if name in self.work.steps else table.column(name)
            for name in self.schema.names
        ]
        cast = [cells.cast(kind.type) for cells, kind in zip(columns, self.schema, strict=True)]
        yield from pa.table(cast, schema=self.schema).to_batches(max_chunksize=engines.ROWS)

    def _batch(self, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        cells = [
            columns[each.name].cast(each.type) if each.name in self.work.steps else columns[each.name]
            for each in self.schema
        ]
        kinds = [(each.name, found.type) for each, found in zip(self.schema, cells, strict=True)]
        return pa.RecordBatch.from_arrays(cells, schema=pa.schema(kinds))


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _one(cells: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece; text of more than two gigabytes needs offsets of 64 bits."""
    if pa.types.is_string(cells.type):
        cells = cells.cast(pa.large_string())
    found = cells.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found
