"""Randomness for the rows of a database: random words are sent to it, or a key from which it derives them.

A database draws random numbers from a statistical generator. Its state can be recovered from enough output, and then
anyone could find the original order of shuffled rows.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sudare.core.randomness import BLOCK, Entropy
from sudare.engines.database.dialects import quoted

if TYPE_CHECKING:
    from sudare.engines.database.sql_tables import Session


def with_chance(session: Session, query: str, name: str, rows: int) -> str:
    """Return a query for the rows of another, ``rows`` of them, with an additional random column.

    If rows are sorted by it, all orders are equally likely, and nobody can reconstruct the original one.
    """
    table = quoted(f"sudare_chance_{secrets.token_hex(4)}")
    if session.dialect.name == "duckdb":
        # it runs in this process: words for all rows cost less than it takes to make some from a key
        schema = pa.schema([(name, pa.uint64())])
        session.load(table, pa.RecordBatchReader.from_batches(schema, _words(schema, rows)), temporary=True)
        return f"SELECT * FROM ({query}) AS asked POSITIONAL JOIN {table}"
    # A keyed digest of the place of each row, wherever it stood: as long as the key is secret it cannot be told from
    # chance. The key travels as data, so that it is in no log of statements, and goes with the session.
    session.load(table, pa.table({"secret": pa.array([os.urandom(32)], pa.binary())}), temporary=True)
    place = "pg_catalog.int8send(row_number() OVER ())"
    digest = f"pg_catalog.sha256((SELECT secret FROM {table}) || {place})"
    return f"SELECT *, {digest} AS {quoted(name)} FROM ({query}) AS asked"


def _words(schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    entropy = Entropy()
    for first in range(0, rows, BLOCK // 2):
        words = entropy.words(2 * min(BLOCK // 2, rows - first)).view(np.uint64)
        yield pa.record_batch([pa.array(words)], schema=schema)
