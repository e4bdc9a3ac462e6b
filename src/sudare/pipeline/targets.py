"""Targets of a release: where its rows are written, audited and placed.

A target is a file, a table of a database, or rows for the caller. All do the same three things: ``write`` under a
temporary name, ``audit`` the written rows, and ``place`` them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.audits import Alone, AuditReport, Elsewhere, audit_release
from sudare.engines import Database, Place
from sudare.engines.database.unique_records import rare_in, single_in
from sudare.pipeline.first_rows import FirstRows, first_of_text
from sudare.policy import Policy, TextLayout
from sudare.releases import Rows, check_rows, is_flat, is_text, place, second_table, telling, write_batches
from sudare.releases.certificate import Certificate
from sudare.releases.release_formats import release_ending, with_tabs


class FileTarget:
    """A file, written in a private folder beside its place; without a ``path`` it is read back from there.

    For a ``preview`` so many of its first rows are kept on the way.
    """

    def __init__(
        self,
        folder: Path,
        path: Path | None,
        *,
        keep_formulas: bool = False,
        layout: TextLayout | None = None,
        preview: int | None = None,
    ) -> None:
        self.path, self.folder, self.keep_formulas, self.layout = path, folder, keep_formulas, layout
        self.text = path is not None and is_text(path)
        self.flat = path is not None and is_flat(path)
        self.written = folder / f"release{release_ending(path) if path else '.parquet'}"
        self.beside: Path | None = None
        self.most = preview
        self.first: FirstRows | None = None
        self.first_beside: FirstRows | None = None

    @property
    def commas(self) -> bool:
        """Whether numbers are written with a decimal comma."""
        return self.layout is not None and self.layout.decimal == ","

    @property
    def noted_layout(self) -> TextLayout | None:
        """The layout as the certificate notes it; None if the file is laid out as usual."""
        usual = None if self.path is None or not self.text else TextLayout("\t" if with_tabs(self.path) else ",")
        return None if self.layout == usual else self.layout

    def write(
        self,
        rows: Rows,
        second: Rows | None,
        progress: Callable[[int], None],
        recoded: Collection[str] = (),
        numbers: tuple[str, ...] = (),
    ) -> None:
        """Write the rows, and a second table beside them; ``numbers`` are the columns that take a decimal comma."""
        if self.path is not None:
            check_rows(self.path, max(rows.count, 0 if second is None else second.count))
        if self.layout is not None:
            self.layout = replace(self.layout, numbers=numbers)
        if self.most is not None:
            self.first, self.first_beside = FirstRows(self.most), FirstRows(self.most)
        write = partial(write_batches, keep_formulas=self.keep_formulas, layout=self.layout)
        write(rows.schema, _kept(rows, self.first), self.written, progress=progress)
        if second is not None:
            self.beside = second_table(self.written)
            write(second.schema, _kept(second, self.first_beside), self.beside)

    def audit(self, policy: Policy, **how: Any) -> AuditReport:
        """Prove the file."""
        return audit_release(self.written, policy, scratch=self.folder, layout=self.layout, **how)

    def second_digest(self) -> str | None:
        """Return the digest of the second table, if there is one."""
        if self.beside is None:
            return None
        with self.beside.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def place(self, certificate: Certificate) -> None:
        """Rename the file, with its certificate beside it."""
        assert self.path is not None
        place(self.written, self.path, certificate.to_dict(), beside=self.beside)

    def preview(self) -> tuple[pa.Table, pa.Table | None]:
        """Return the first rows of the release as they are in the file, and those of its second table."""
        first = self._first(self.written, self.first)
        return first, None if self.beside is None else self._first(self.beside, self.first_beside)

    def _first(self, path: Path, kept: FirstRows | None) -> pa.Table:
        assert kept is not None
        assert self.most is not None
        rows = kept.table()
        layout = self.layout or TextLayout("\t" if with_tabs(path) else ",")
        return first_of_text(path, rows.column_names, layout, self.most) if self.text else rows

    def read(self) -> tuple[pa.Table, pa.Table | None]:
        """Read the release back, and its second table."""
        import pyarrow.parquet as pq

        return pq.read_table(self.written), None if self.beside is None else pq.read_table(self.beside)


class TableTarget:
    """A table of a database, made in a transaction; ``like`` is a table there that some columns came from.

    Cells of columns that are ``rewritten`` are of the same kind as there, but are not the same cells.
    """

    text = flat = commas = False
    noted_layout = None

    def __init__(self, database: Database, target: Place, like: Place | None, rewritten: Collection[str] = ()) -> None:
        self.database, self.target, self.like, self.rewritten = database, target, like, rewritten
        self.draft: Place | None = None

    def write(
        self,
        rows: Rows,
        second: Rows | None,
        progress: Callable[[int], None],
        recoded: Collection[str] = (),
        numbers: tuple[str, ...] = (),
    ) -> None:
        """Make a table of the rows."""
        assert second is None, "methods that make a second table were refused before"
        batches = telling(rows.batches(), progress)
        self.draft = self.database.write(
            self.target, rows.schema, batches, like=self.like, recoded=recoded, rewritten=self.rewritten
        )

    def audit(self, policy: Policy, **how: Any) -> AuditReport:
        """Prove the table, from what the database counts in it."""
        assert self.draft is not None
        return audit_release(counted(self.database, self.draft, self.target.shown), policy, **how)

    def second_digest(self) -> None:
        """Return nothing: there is no second table."""
        return

    def preview(self, most: int) -> pa.Table:
        """Return the first rows of the table."""
        assert self.draft is not None
        return self.database.first(self.draft, most)

    def place(self, certificate: Certificate) -> None:
        """Rename the table, with its certificate beside it, and commit."""
        assert self.draft is not None
        self.database.place(self.draft, self.target, certificate.to_dict())


def _kept(rows: Rows, first: FirstRows | None) -> Iterator[pa.RecordBatch]:
    """Return the batches of a release, of which the first rows are kept if anybody wants them."""
    return rows.batches() if first is None else first.passing(rows)


def counted(database: Database, place: Place, where: str) -> Elsewhere:
    """Return a table of a database as the audit reads it."""
    schema = database.columns(place)

    @cache
    def count(names: tuple[str, ...]) -> pa.Table:
        found = database.tally(place, names)
        return found.cells.append_column("\0", pa.array(found.counts)) if names else pa.table({"\0": found.counts})

    def single(sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        return [Alone(*found) for found in single_in(database, place, sets, of, within)]

    def rare(name: str, least: int, of: str | None, within: Sequence[str]) -> int:
        return rare_in(database, place, name, least, of, within)

    types = tuple(database.types(place))
    return Elsewhere(where, tuple(schema.names), types, lambda names: count(tuple(names)), single=single, rare=rare)
