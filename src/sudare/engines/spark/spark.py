"""Spark: a DataFrame, a table or Parquet on any Spark from 4 on, be it local, a cluster or Connect.

Nothing here needs more than DataFrames: what executors have to know travels inside the functions that they run. Rows go
through Spark one by one only where they come from it and where they go to it. On the way between they are *parcels*: a
number, a head and a body, of which a body holds up to about a million rows as arrays. Spark keeps parcels, moves
them to where the others of their number are, and makes them anew if an executor is lost, at the cost of copying bytes.

==================  =============================================================================================
verb                what Spark does
==================  =============================================================================================
:meth:`open`        finds a table, by what it is or where it is
:meth:`schema`      tells its columns
:meth:`tally`       counts rows by some columns
:meth:`parcels`     makes parcels of rows, or of other parcels
:meth:`deal`        brings parcels of one number together
:meth:`heads`       gives the heads of parcels, which are small
:meth:`gather`      runs a function on all parcels, and gives what it returns, which is small
:meth:`rows`        makes rows of parcels; :meth:`changed` makes rows of rows
:meth:`write`       writes rows as Parquet; :meth:`save` makes a table of them, :meth:`rename` and :meth:`drop` go on
==================  =============================================================================================

Columns are known by their positions on the way, so that no name can be taken for anything else.
"""

from __future__ import annotations

import os
import pickle
import re
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.core.sizes import FEW_ROWS, WORDS
from sudare.engines.addresses import Place, find_place, find_remote
from sudare.engines.column_checks import check_names
from sudare.engines.database.sql_tables import Tally
from sudare.engines.file_formats import FORMATS
from sudare.engines.spark.sessions import PATIENCE, find_session
from sudare.engines.spark.spark_errors import shielded, speaking

ROWS_AT_A_TIME = FEW_ROWS
"""The rows that Spark passes to Python at a time; fewer would be slower."""
BYTES_AT_A_TIME = 32 << 20
"""The bytes of parcels that Spark passes to Python at a time, from its small memory outside the heap.
"""
PARCELS_AT_A_TIME = 2
"""The parcels that Spark passes to Python at a time if it has no limit of bytes (before 4.1)."""
TIMES = 3
"""How often a query is repeated that Spark gave up because executors were lost."""
_MOST_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_MOST_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_PARCEL = "key int, head binary, body binary"
_QUOTED = re.compile(r"`(?:[^`]|``)+`")
_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.\s;]+)")
_OTHER_FILES = tuple(ending for known in FORMATS if known.name != "parquet" for ending in known.endings)


class Parcel(NamedTuple):
    """Some rows in transit: those of one ``key`` can be collected; ``head`` is small, ``body`` is not."""

    key: int
    head: bytes
    body: bytes


Rows = Iterator[pa.RecordBatch]
Parcels = Iterable[Parcel]


def is_spark(data: Any) -> bool:
    """Return whether an object is a DataFrame of Spark, classic or Connect, without loading Spark."""
    return any(kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame" for kind in type(data).__mro__)


class Spark:
    """A session of Spark, and the data that it keeps: :meth:`close` releases them."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self._kept: list[Any] = []

    @classmethod
    def of(cls, data: Any, master: str | None = None) -> Spark:
        """Return the engine of a table: a DataFrame's own, otherwise the existing session, or a new one."""
        return cls(data.sparkSession if is_spark(data) else find_session(master))

    def __enter__(self) -> Spark:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all kept data."""
        for frame in self._kept:
            with suppress(Exception):  # a session that is gone keeps nothing
                frame.unpersist()
        self._kept.clear()

    def ask(self, question: Callable[[], Any]) -> Any:
        """Run a query on Spark that can be repeated.

        When an executor is lost after a shuffle, Spark computes its rows again, but gives up the job that had read some
        of them: it cannot know that they are the same in another order. They are, so the query is repeated with a new
        plan (by ``question``): Spark would give up the old one at once.
        """
        for _ in range(TIMES):
            try:
                return self._run(question)
            except Exception as error:
                if "indeterminate output" not in str(error):
                    raise
        return self._run(question)

    def _run(self, action: Callable[[], Any]) -> Any:
        """Run something on Spark in a separate thread; if this is interrupted, the job is cancelled.

        A wait for Spark in the main thread cannot be interrupted by a signal: its library then waits until the job is
        done.
        """
        from pyspark.util import inheritable_thread_target

        add, cancel, remove = self._tagging()
        tag = f"sudare-{secrets.token_hex(8)}"

        def work() -> Any:
            add(tag)
            try:
                return action()
            finally:
                with suppress(Exception):
                    remove(tag)

        pool = ThreadPoolExecutor(1)
        try:
            future = pool.submit(inheritable_thread_target(self.session)(work))
            try:
                return future.result()
            except BaseException:
                if not future.done():
                    with suppress(Exception):  # a session that is gone does nothing more
                        cancel(tag)
                    wait([future], PATIENCE)
                raise
        finally:
            pool.shutdown(wait=False)

    def _tagging(self) -> tuple[Callable[[str], Any], ...]:
        """Return how work is tagged, ended by its tag, and tagged no more."""
        session = self.session
        if ".connect." in type(session).__module__:
            return session.addTag, session.interruptTag, session.removeTag
        context = session.sparkContext
        return context.addJobTag, context.cancelJobsWithTag, context.removeJobTag

    # -- looking -------------------------------------------------------------------------------------------------

    def open(self, data: Any) -> Any:
        """Return a table as a DataFrame: a DataFrame itself, Parquet by its path, or a Spark table by its name."""
        if is_spark(data):
            return data
        text = str(data)
        place = (find_remote(text) or find_place(text)) if "://" in text else None
        if isinstance(place, Place):  # its address may have a password in it, and is not to be told
            what = "Spark reads Parquet and its own tables, not databases."
            raise UnsupportedError(Problem(place.shown, what, "remove --engine: the database does the work."))
        with speaking(text):
            if not is_path(text):
                return self.session.table(_quoted(text))
            if text.lower().endswith(_OTHER_FILES):
                what = "Spark reads Parquet and its own tables."
                raise UnsupportedError(Problem(text, what, "write it as Parquet, or remove --engine."))
            return self.session.read.parquet(_location(text))

    def schema(self, frame: Any, where: str = "the table") -> pa.Schema:
        """Return the columns of a table, with their types in Python."""
        from pyspark.sql.pandas.types import to_arrow_type

        check_names(where, frame.columns)
        fields, odd = [], []
        for column in frame.schema.fields:
            try:
                fields.append(pa.field(column.name, to_arrow_type(column.dataType, timezone="UTC")))
            except Exception:
                fields.append(pa.field(column.name, pa.null()))
                odd.append(column.name)
        return pa.schema(fields).with_metadata({"odd": "\0".join(odd)} if odd else None)

    def tally(self, frame: Any, names: Sequence[str]) -> Tally:
        """Count the rows of a table by some of its columns."""
        with speaking():
            if not names:
                return Tally(pa.table({}), np.array([self.ask(lambda: frame.count())]))
            given = self.positions(frame, names)
            found = self.ask(lambda: given.groupBy(*given.columns).count().toArrow())
        counts = np.asarray(found.column(len(names)).to_numpy(), dtype=np.int64)
        return Tally(found.select(range(len(names))).rename_columns(list(names)), counts)

    # -- making --------------------------------------------------------------------------------------------------

    def parcels(
        self,
        frame: Any,
        names: Sequence[str] | None,
        function: Callable[[Any], Parcels],
        *,
        keep: bool = False,
    ) -> Any:
        """Make parcels of rows, or of other parcels if ``names`` is None.

        ``function`` gets an iterator: of batches with the columns ``names``, in this order and named by their
        positions; or of parcels. With ``keep`` they are made once, and kept until :meth:`close`.
        """
        from_rows = names is not None
        with speaking():  # what is planned may be worked out at once
            given = self.positions(frame, names) if names is not None else frame
            found = _mapped(given, _Packing(function, from_rows), _PARCEL)
            if keep:
                found = found.persist()
                self._kept.append(found)
        return found

    def forget(self, frame: Any) -> None:
        """Release kept parcels."""
        self._kept = [kept for kept in self._kept if kept is not frame]
        with suppress(Exception):
            frame.unpersist()

    def heads(self, parcels: Any, *, from_rows: bool = False) -> list[bytes]:
        """Return the heads of all parcels; ``from_rows`` says that this makes them from rows."""
        with self._handing(from_rows), speaking():
            return [bytes(line[0]) for line in self.ask(lambda: parcels.select("head").collect())]

    def gather(self, parcels: Any, function: Callable[[Iterator[Parcel]], Iterable[Any]]) -> list[Any]:
        """Run a function on the parcels of each partition; return all that it yields."""
        with self._handing(False), speaking():
            told = self.ask(lambda: _mapped(parcels, _Answering(function), "answer binary").collect())
            return [pickle.loads(line[0]) for line in told]

    def deal(self, parcels: Any, count: int) -> Any:
        """Bring parcels together by their keys, which were made by :func:`keys_for` of this count."""
        return parcels.repartition(max(count, 1), "key")

    def rows(self, parcels: Any, schema: pa.Schema, function: Callable[[Iterator[Parcel]], Rows]) -> Any:
        """Make a DataFrame of parcels; the function gives batches of these columns, in their order."""
        from pyspark.sql.pandas.types import from_arrow_schema

        plain = pa.schema([pa.field(f"c{at}", plain_type(kind)) for at, kind in enumerate(schema.types)])
        found = _mapped(parcels, _Unpacking(function, plain), from_arrow_schema(plain))
        return found.toDF(*schema.names)

    def changed(self, frame: Any, names: Sequence[str], function: Callable[[Rows], Rows], schema: pa.Schema) -> Any:
        """Make rows of the rows of a table; the function gets batches as in :meth:`parcels`, and gives such columns."""
        from pyspark.sql.pandas.types import from_arrow_schema

        with speaking():
            given = self.positions(frame, names)
            return _mapped(given, _Changing(function, schema), from_arrow_schema(schema))

    def of_table(self, table: pa.Table) -> Any:
        """Return a table that is here as a DataFrame."""
        from pyspark.sql.pandas.types import from_arrow_schema

        with speaking():
            return self.session.createDataFrame(table, from_arrow_schema(table.schema))

    def fetch(self, frame: Any) -> pa.Table:
        """Return all rows of a DataFrame."""
        with self._handing(True), speaking():
            return self.ask(lambda: frame.toArrow())

    def first(self, frame: Any, most: int) -> pa.Table:
        """Return the first rows of a DataFrame."""
        with self._handing(False), speaking():
            return self.ask(lambda: frame.limit(most).toArrow())

    def keep(self, frame: Any) -> Any:
        """Compute the rows of a DataFrame now, and keep them for the caller."""
        kept = frame.persist()
        try:
            with self._handing(False), speaking():
                self.ask(lambda: kept.count())
        except BaseException:
            self.forget(kept)
            raise
        return kept

    def write(self, frame: Any, folder: Path) -> None:
        """Write a DataFrame as a folder of Parquet files."""
        with self._handing(False), speaking(str(folder.parent)):
            self._run(lambda: frame.write.parquet(folder.absolute().as_uri()))
        for path in folder.iterdir():  # what Spark notes down beside: sums of files, and that it is done
            if path.name.startswith((".", "_")):
                path.unlink()

    def write_to(self, frame: Any, address: str, where: str) -> None:
        """Write a DataFrame as a folder of Parquet files that is named by its address."""
        quiet = frame.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        with self._handing(False), speaking(where):
            self._run(lambda: quiet.parquet(address))

    # -- tables of Spark -----------------------------------------------------------------------------------------

    def exists(self, name: str) -> bool:
        """Return whether there is a table of this name."""
        with speaking(name):
            return bool(self.session.catalog.tableExists(_quoted(name)))

    def save(self, frame: Any, name: str) -> Any:
        """Make a table of a DataFrame; return it as read back."""
        with self._handing(False), speaking(name):
            self._run(lambda: frame.write.saveAsTable(_quoted(name)))
            return self.session.table(_quoted(name))

    def note(self, text: str, name: str) -> None:
        """Make a table of one cell, a text."""
        self.save(self.session.createDataFrame([(text,)], "certificate string"), name)

    def noted(self, name: str) -> str | None:
        """Return the text of such a table, or None if there is no table."""
        if not self.exists(name):
            return None
        with speaking(name):
            found = self.session.table(_quoted(name)).limit(2).collect()
        return str(found[0][0]) if len(found) == 1 else ""

    def rename(self, name: str, new: str) -> None:
        """Give a table another name, in the same database."""
        with speaking(new):
            # without what is before: it stays there, and Spark takes a catalog's name for that of a database
            last = table_parts(new)[-1].replace("`", "``")
            self.session.sql(f"ALTER TABLE {_quoted(name)} RENAME TO `{last}`")

    def drop(self, name: str) -> None:
        """Drop a table, if there is one."""
        with speaking(name):
            self.session.sql(f"DROP TABLE IF EXISTS {_quoted(name)}")

    def positions(self, frame: Any, names: Sequence[str]) -> Any:
        """Return some columns of a DataFrame, named by their positions.

        Spark passes the names of Parquet columns through its settings, which replace ${...}: cells of a column with
        such a name would silently become missing.
        """
        unsafe = [name for name in names if "${" in name]
        if unsafe:
            what = "Spark reads ${...} in a name as one of its settings, and then another column."
            raise DataError([Problem(f"column '{name}'", what, "give it another name.") for name in unsafe])
        there = list(frame.columns)
        numbered = frame.toDF(*(f"c{at}" for at in range(len(there))))
        chosen = numbered.select(*(f"c{there.index(name)}" for name in names))
        return chosen.toDF(*(f"c{at}" for at in range(len(names))))

    @contextmanager
    def _handing(self, rows: bool) -> Iterator[None]:
        """Set how much Spark passes to Python at a time: of rows, or of parcels.

        Lost data is computed again under the current setting, so rows may come in batches sized for parcels. These must
        not be tiny. Counting rows by bytes takes time, so it is only used for parcels.
        """
        conf = self.session.conf
        with speaking():
            wanted = {_MOST_ROWS: ROWS_AT_A_TIME}
            if not rows and conf.isModifiable(_MOST_BYTES):
                wanted[_MOST_BYTES] = BYTES_AT_A_TIME
            elif not rows:
                wanted[_MOST_ROWS] = PARCELS_AT_A_TIME
            before = {key: conf.get(key, None) for key in wanted}
            for key, value in wanted.items():
                conf.set(key, str(value))
        try:
            yield
        finally:
            with suppress(Exception):
                for key, was in before.items():
                    conf.unset(key) if was is None else conf.set(key, was)


def keys_for(count: int) -> list[int]:
    """Return a key for each of so many partitions, such that Spark deals each to a partition of its own.

    It deals by a hash of the key; with other keys some partitions would get several, and others none.
    """
    keys: dict[int, int] = {}
    number = 0
    while len(keys) < count:
        keys.setdefault(_hash(number) % count, number)
        number += 1
    return [keys[place] for place in range(count)]


def _hash(number: int, seed: int = 42) -> int:
    """Return Spark's hash of a whole number: Murmur3 of its four bytes. Only how even parts are rests on it."""
    mask = 0xFFFFFFFF

    def turned(value: int, by: int) -> int:
        return ((value << by) | (value >> (32 - by))) & mask

    mixed = turned(number * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
    found = (turned(seed ^ mixed, 13) * 5 + 0xE6546B64) & mask ^ 4
    found = (found ^ found >> 16) * 0x85EBCA6B & mask
    found = (found ^ found >> 13) * 0xC2B2AE35 & mask
    found ^= found >> 16
    return found - WORDS if found >> 31 else found


def partition() -> int:
    """Return the number of the partition that is worked on here, on an executor."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that Spark has for cells of a type."""
    small = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20)}
    if kind in small:
        return small[kind]
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    return pa.float32() if pa.types.is_float16(kind) else kind


def is_path(text: str) -> bool:
    """Return whether a text is a path rather than the name of a table."""
    text = _QUOTED.sub("", text)  # what is in quotes is the name of a table
    return "/" in text or os.sep in text or text.lower().endswith((".parquet", ".pq", *_OTHER_FILES))


def beside(name: str, ending: str) -> str:
    """Return the name of another table of the same database; with nothing before, it is a longer one."""
    *before, last = table_parts(name)
    parts = [*before, last + ending if not ending.startswith("=") else ending[1:]]
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def table_parts(name: str) -> list[str]:
    """Return the parts of a table's name, each of which may be quoted as in SQL of Spark; raise if it is none."""
    found = [quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(name)]
    whole = ".".join(match.group(0) for match in _PART.finditer(name))
    if not name or whole != name or len(found) > 3:
        hint = "name a table as in database.table, or Parquet by a path that ends in .parquet."
        raise DataError(Problem(name, "is not the name of a Spark table.", hint))
    return found


def _quoted(name: str) -> str:
    return beside(name, "")


def _location(text: str) -> str:
    """Return where Spark is to look for a path; it would take some characters of a name for patterns."""
    if "://" in text:
        return text
    path = Path(text).absolute()
    if not path.exists():
        raise DataError(Problem(text, "there is no such file."))
    plain = "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in str(path))
    return f"file://{plain}" if "%" not in plain else plain


class _Packing:
    """What an executor runs to make parcels."""

    def __init__(self, function: Callable[[Any], Parcels], from_rows: bool) -> None:
        self.function, self.from_rows = function, from_rows

    def __call__(self, batches: Rows) -> Rows:
        with shielded():
            for parcel in self.function(batches if self.from_rows else _opened(batches)):
                yield _wrapped([parcel])


class _Answering:
    """What an executor runs to answer."""

    def __init__(self, function: Callable[[Iterator[Parcel]], Iterable[Any]]) -> None:
        self.function = function

    def __call__(self, batches: Rows) -> Rows:
        with shielded():
            for answer in self.function(_opened(batches)):
                yield pa.record_batch([pa.array([pickle.dumps(answer, 5)], pa.binary())], names=["answer"])


class _Unpacking:
    """What an executor runs to make rows."""

    def __init__(self, function: Callable[[Iterator[Parcel]], Rows], schema: pa.Schema) -> None:
        self.function, self.schema = function, schema

    def __call__(self, batches: Rows) -> Rows:
        with shielded():
            for batch in self.function(_opened(batches)):
                cells = [_plain(array, kind.type) for array, kind in zip(batch.columns, self.schema, strict=True)]
                yield pa.RecordBatch.from_arrays(cells, schema=self.schema)


class _Changing:
    """What an executor runs to make rows of rows."""

    def __init__(self, function: Callable[[Rows], Rows], schema: pa.Schema) -> None:
        self.function, self.schema = function, schema

    def __call__(self, batches: Rows) -> Rows:
        with shielded():
            for batch in self.function(batches):
                cells = [_plain(array, kind.type) for array, kind in zip(batch.columns, self.schema, strict=True)]
                yield pa.RecordBatch.from_arrays(cells, schema=self.schema)


def _plain(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    return cells if cells.type == kind else cells.cast(kind)


def _wrapped(parcels: Sequence[Parcel]) -> pa.RecordBatch:
    keys, heads, bodies = zip(*parcels, strict=True)
    arrays = [pa.array(keys, pa.int32()), pa.array(heads, pa.binary()), pa.array(bodies, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["key", "head", "body"])


def _opened(batches: Rows) -> Iterator[Parcel]:
    for batch in batches:
        for at in range(batch.num_rows):
            key, head, body = (batch.column(place)[at] for place in range(3))
            yield Parcel(key.as_py(), bytes(head.as_buffer()), body.as_buffer())


def _mapped(frame: Any, function: Callable[[Rows], Rows], schema: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about pandas, which nothing here uses
        return frame.mapInArrow(function, schema)
