"""Opened files: the names of their columns, and how some of them are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sudare.engines.batches import Source, open_table


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """A file of a known format.

    ``names`` are its columns. ``read`` returns some of them as a table, and ``source`` some of them as a source, which
    may have to be a stream. A format that only can be read as a whole is read when it is opened, once. ``headed`` says
    that the names surely are names, and no cells of a first record, so that messages may show them.
    """

    names: Sequence[str]
    read: Callable[[list[str]], pa.Table]
    source: Callable[[list[str], bool], Source]
    headed: bool = True


def whole_table(table: pa.Table, *, headed: bool = True) -> OpenedFile:
    """Return a file that has been read as a whole."""
    return OpenedFile(table.column_names, table.select, lambda names, _: open_table(table.select(names)), headed)
