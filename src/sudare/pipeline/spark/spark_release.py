"""A release of rows on a Spark cluster: the rows stay there, and the decision goes to them.

1. Executors encode their rows as shards. The values of the columns come to the driver, and a common dictionary goes
   back.
2. The method is planned. ``top-down`` and ``mondrian`` make the first splits from histograms of the shards
   (:mod:`sudare.methods.topdown.distributed.distributed_frame`). Methods of global recoding decide on atoms, as they do
   for databases. For methods that draw values, the mechanism follows from histograms.
3. Shards are redistributed, so that rows of one part are on one executor. The same kernels as elsewhere solve, render
   and measure each part, and the measures are added up.
4. Spark writes the rows, and they are read back and proven where they are
   (:mod:`sudare.pipeline.spark.spark_audit`).
"""

from __future__ import annotations

import os
import pickle
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sudare import engines
from sudare.audits import AuditorInput
from sudare.core.errors import DataError, Problem, TargetError, UnsupportedError
from sudare.core.randomness import Entropy
from sudare.engines import Tally
from sudare.engines.spark.spark import Parcel, Spark, keys_for, plain_type
from sudare.methods.topdown.distributed.distributed_frame import Shape
from sudare.metrics.partial_sums import Sums, losses
from sudare.pipeline.database import repeated
from sudare.pipeline.engine_support import check_spark
from sudare.pipeline.key_changes import check_keys
from sudare.pipeline.request import Request, Result
from sudare.pipeline.spark.distributed_methods import (
    BUNDLE,
    Classes,
    CodesOf,
    Decision,
    Drawn,
    Everywhere,
    Lookup,
    SetsOf,
    Wanted,
    wanted,
)
from sudare.pipeline.spark.shards import SHARD, Book, Cutting, Ints, histograms, make_book, merged_words
from sudare.pipeline.spark.spark_audit import prove
from sudare.pipeline.spark.spark_targets import FolderTarget, SparkTarget, target_of
from sudare.pipeline.spark.spark_transformations import turned
from sudare.pipeline.stages import check_proof, note_spellings, protect_rare_values
from sudare.policy import Policy
from sudare.releases import class_labels, write_batches
from sudare.releases.release_figures import Figures, added_up, measure, resized, untouched_figures
from sudare.sources.column_problems import lists_that_are_no_sets, misplaced_sets
from sudare.sources.rare_value_limits import rarity
from sudare.sources.used_columns import holds_sets, looked_at
from sudare.table import Partition, Perturbation, Table, published_classes, smallest
from sudare.table.rare_values import Counts, Holders, counted_people, hidden, hides
from sudare.transformations.column_steps import columns_beside

MOST_ATOMS = 4_000_000
"""The different combinations of values that a global recoding decides on: they come to the driver."""


def make_on_spark(request: Request) -> Result:
    """Make, prove and place a release on Spark."""
    refuse(request)
    policy = request.policy
    with ExitStack() as undo:
        spark = undo.enter_context(Spark.of(request.data, request.master))
        target = undo.enter_context(target_of(request, spark))
        undo.callback(spark.close)  # before stored rows go: what was kept of them is known by these
        with request.timed("read"):
            if (older := target.previous()) is not None:
                check_keys(request, older)
            spread = _read(request, spark, target)
        with request.timed("method"):
            decision, told = _decide(request, spread)
        with request.timed("render"):
            count = decision.bundles
            keys = [keys_for(count)[place] for place in Entropy(request.seed).permutation(count)]
            sent = spark.parcels(spread.shards, None, _Sending(spread.book, decision, tuple(keys)))
            schema = decision.schema(spread.book.table)
            in_files = isinstance(target, FolderTarget)
            make: Callable[[Iterator[Parcel]], Iterator[Parcel]] = _Making(spread.book, decision)
            if isinstance(target, FolderTarget):
                numbers = Entropy(request.seed).permutation(count).tolist()
                make = _Writing(make, _plain(schema), target.begin(), tuple(numbers))
            made = spark.parcels(spark.deal(sent, count), None, make, keep=not in_files)
            heads = [told for head in spark.heads(made) for told in pickle.loads(head)]
            spark.forget(spread.shards)
        with request.timed("write"):
            written = target.write(None if in_files else spark.rows(made, schema, _showing))
            spark.forget(made)
        figures = note_spellings(request, told(heads), spread.book.table)
        with request.timed("audit"):
            proven = prove(
                spark,
                written,
                target.where,
                policy,
                told=AuditorInput(method=str(request.method["name"]), transformed=request.transformations),
                mechanism=figures.mechanism.to_dict(),
                say=lambda step: request.listener(step, 0, 0),
            )
            hint = "does the source return different rows each time it is read?"
            check_proof(proven.report, figures, target.where, hint)
        if isinstance(decision, Classes):
            apart = sum(head.classes for head in heads)
            if decision.wanted.subjects == "per-class" and apart != proven.classes:
                # people are numbered from 1 where a class is made: a number may stand for two of them then
                what = "classes of different executors have equal cells, but each numbers its people separately."
                hint = "set subjects: linked, remove hierarchies, or run on one machine."
                raise UnsupportedError(Problem("release.subjects", what, hint))
            # parts of one class may have been made apart: how large classes are shows in the release
            figures = resized(figures, proven.classes, proven.squares)
        certificate = request.certificate(figures, proven.report)
        return Result(certificate, target.place(certificate))


def refuse(request: Request) -> None:
    """Raise if a method or an order of rows cannot be had on Spark."""
    name = str(request.method["name"])
    check_spark(name)
    if request.origin is not None:
        what = "Spark reads Parquet and its own tables, not databases."
        raise UnsupportedError(Problem(request.origin.shown, what, "remove --engine: the database does the work."))
    if request.entry.distributed == "cells" and request.preview is not None:
        what = f"Spark may compute rows more than once, but the random values of {name} must be stored."
        raise UnsupportedError(what, hint="make the dry run on one machine, with some of the records.")
    if request.entry.distributed == "cells" and request.target is None:
        # what Spark loses of a table in memory it makes again, and then draws again: whoever sees both knows more
        what = f"Spark may compute a DataFrame more than once, but the random values of {name} must be stored."
        raise UnsupportedError(what, hint="name a Parquet folder or a table with out=...")
    if request.policy.release.order == "keep":
        what = "rows have no fixed order on Spark, so it cannot be kept."
        raise UnsupportedError(Problem("release.order", what, "remove it, or run on one machine."))
    if request.policy.sensitive_sets:
        what = "sensitive item sets do not run on Spark: the different sets of the whole table are counted."
        hint = "run on one machine."
        raise UnsupportedError(Problem(f"columns.{request.policy.sensitive_sets[0]}", what, hint))
    together = [key for key in ("strata", "never", "joint") if request.method.get(key)]
    if request.entry.perturbs and together:
        why = "it looks at combinations of values of the whole table."
        what = f"{name} with {together[0]} does not run on Spark: {why}"
        raise UnsupportedError(what, hint="remove it, or run on one machine.")


@dataclass
class _Spread:
    """A table that was read: its shards, its dictionaries, and how often each code occurs.

    ``known`` are the digests of its shards, where values are drawn.
    """

    spark: Spark
    shards: Any
    book: Book
    rows: int
    frequencies: dict[str, Ints]
    known: frozenset[bytes] = frozenset()

    def gather(self, function: Callable[[Table], Any], merge: Callable[[Any, Any], Any]) -> list[Any]:
        """Run a function on every shard; what it returns is merged on the way."""
        return self.spark.gather(self.shards, _Asking(self.book, function, merge))


def _read(request: Request, spark: Spark, target: SparkTarget) -> _Spread:
    policy, view = request.policy, request.view.policy
    frame = spark.open(request.data)
    where = "the table" if not isinstance(request.data, str) else str(request.data)
    schema = spark.schema(frame, where)
    engines.check_columns(where, policy.columns, schema.names)
    odd = (schema.metadata or {}).get(b"odd", b"").decode().split("\0")
    unfit = [name for name in odd if name in (*policy.released, *columns_beside(policy, policy.released))]
    if unfit:
        what = "has a Spark type that a release cannot show."
        raise DataError([Problem(f"column '{name}'", what, "remove it, or convert it.") for name in unfit])
    rows = turned(request, spark, target, frame, schema, _used(request, view))
    schema, encoded = rows.schema, _encoded(request, view)
    sets = {
        name: view.columns[name].separator
        for name in encoded
        if holds_sets(view.columns[name], schema.field(name).type)
    }
    carried = tuple(view.carried)
    missing = tuple(text for text in view.source.missing_everywhere if text)
    cutting = Cutting(
        _used(request, view), tuple(name for name in encoded if name not in sets), sets, carried, missing, SHARD
    )
    wrong = [problem for each in lists_that_are_no_sets(sets, view, schema).values() for problem in each]
    wrong += misplaced_sets(sets, view)
    if wrong:
        raise DataError(wrong)
    shards = spark.parcels(rows.frame, rows.read, rows.cutting(cutting), keep=True)
    heads = rows.checked(spark.heads(shards, from_rows=True))
    count, words = merged_words(heads, encoded)
    if not count:
        raise DataError(Problem(where, "has no records."))
    kinds = pa.schema([schema.field(name) for name in carried])
    book = make_book(words, view, kinds, sets=sets, unknown=request.unknown, also=request.view.also)
    drawn = request.entry.distributed == "cells"
    known = frozenset(pickle.loads(head)[2] for head in heads) if drawn else frozenset()
    spread = _Spread(spark, shards, book, count, histograms(book, words), known)
    return _without_rare(request, spread) if request.makes_classes else spread


def _encoded(request: Request, view: Policy) -> list[str]:
    """Return the columns that become codes: who records are about matters if people are counted, or for draws."""
    unasked = view.named("subject") if request.makes_classes and not request.policy.counts_subjects else []
    return [name for name in looked_at(view, request.view.also) if name not in unasked]


def _used(request: Request, view: Policy) -> tuple[str, ...]:
    """Return the columns that shards have."""
    return tuple(dict.fromkeys([*_encoded(request, view), *view.carried]))


def _without_rare(request: Request, spread: _Spread) -> _Spread:
    """Let rare values show as the policy says; how many hold each is counted where they are."""
    policy, book = request.policy, spread.book
    rule = rarity(policy)
    if rule is None:
        return spread
    named = [name for name, column in book.table.single.items() if hides(column, name in rule.public)]
    held = {name: Counts(spread.frequencies[name], spread.frequencies[name]) for name in named}
    if rule.people and book.table.subject is not None and named:
        holders = Holders(tuple(named), rule.least)
        parts = spread.gather(holders, holders.merge)
        found = parts[0]
        for part in parts[1:]:
            found = holders.merge(found, part)
        held = {name: counted_people(found[name], book.table.single[name].size, rule.least) for name in named}
    frequencies, code = dict(spread.frequencies), dict(book.code)
    quasi = dict(book.table.quasi)
    for name in named:
        column, new = hidden(book.table.single[name], held[name], rule.least)
        quasi[name] = column
        if new is not None:
            code[name] = smallest(new[book.code[name]], column.size)
            frequencies[name] = np.bincount(
                new[: len(frequencies[name])], weights=frequencies[name], minlength=column.size
            ).astype(np.int64)
    book = replace(book, table=replace(book.table, quasi=quasi), code=code)
    return replace(spread, book=book, frequencies=frequencies)


FiguresOf = Callable[[list[Any]], Figures]


def _decide(request: Request, spread: _Spread) -> tuple[Decision, FiguresOf]:
    """Return the decision about the rows, and the function that computes figures from those of bundles."""
    distributed = request.entry.distributed
    subject = spread.book.table.subject
    people = 0 if subject is None else subject.size
    show = wanted(request.policy, request.seed, people)
    if distributed == "cells":
        return _drawn(request, spread, show)
    if distributed == "parts" and not request.method.get("applied"):
        return _split(request, spread, show)
    return _everywhere(request, spread, show)


def _split(request: Request, spread: _Spread, show: Wanted) -> tuple[Decision, FiguresOf]:
    """Plan a method of local recoding."""
    table, frequencies = spread.book.table, spread.frequencies
    totals = {name: frequencies[name] for name in table.sensitive}
    people = 0 if table.subject is None else int(np.count_nonzero(frequencies[table.subject.name]))
    options = {key: value for key, value in request.method.items() if key != "name"}
    own = [name for name in table.sets if not request.requirements.free(name)]
    request.entry.check_table(options, bool(own))
    plan = request.entry.load_distributed()(
        Shape(table, spread.rows, totals, people),
        request.requirements,
        lambda task: spread.gather(task, task.merge),
        most=BUNDLE,
        progress=request.listener,
        **options,
    )
    of_part = plan.bundles(BUNDLE)
    count = int(of_part.max(initial=0)) + 1

    def told(heads: list[Any]) -> Figures:
        sums = Sums()
        for head in heads:
            sums.add(head)
        found = losses(sums, spread.rows, table.quasi, frequencies)
        return added_up(spread.rows, sums.kept, found, table.quasi, sums.columns)

    return Classes(plan, of_part, count, {name: frequencies[name] for name in table.single}, show), told


def _everywhere(request: Request, spread: _Spread, show: Wanted) -> tuple[Decision, FiguresOf]:
    """Decide on atoms, for methods of global recoding."""
    book = spread.book
    if book.table.sets:
        what = f"{request.method['name']} does not recode item sets on Spark; only top-down does."
        raise UnsupportedError(what, hint="use top-down, run on one machine, or remove the column.")
    atoms = _atoms(spread)
    table, owner = repeated(request, atoms)
    table = protect_rare_values(request, table)
    recoding = request.decide(table)
    assert isinstance(recoding, Partition)
    shown = published_classes(table, recoding)
    partition = shown.partition
    starts = np.concatenate(([0], np.cumsum(atoms.counts)))[:-1]
    classes = partition.classes.astype(np.int64)
    lowest, highest = (edge.reduceat(classes, starts) for edge in (np.minimum, np.maximum))
    if (lowest != highest).any():
        what = f"{request.method['name']} separates equal records, which does not run on Spark."
        raise UnsupportedError(what, hint="use top-down.")
    names = tuple(table.single)
    single = [table.single[name] for name in names]
    lookup = Lookup.of([column.codes[starts] for column in single], [column.size for column in single], lowest)
    sizes = partition.sizes
    order = Entropy(request.seed).permutation(partition.count)
    of_class = np.empty(partition.count, np.int32)
    of_class[order] = np.maximum(np.cumsum(sizes[order]) - 1, 0) // BUNDLE
    figures = measure(shown)
    labels = class_labels(shown, list(names))
    del owner
    bundles = int(of_class.max(initial=0)) + 1
    return Everywhere(names, lookup, labels, of_class, bundles, show), lambda _: figures


def _atoms(spread: _Spread) -> Tally:
    """Count records by all columns that the method uses."""
    book = spread.book
    parts = spread.spark.gather(spread.shards, partial(_count_atoms, book))
    names = list(book.columns)
    found = _added(pa.concat_tables(parts))
    if found.num_rows > MOST_ATOMS:
        what = f"{found.num_rows:,} different records are too many to decide on in one place ({MOST_ATOMS:,} at most)."
        raise UnsupportedError(what, hint="use top-down, or coarser values.")
    cells = {
        name: pa.concat_arrays([pa.nulls(1, book.raw[name].type), book.raw[name]]).take(
            found.column(at).combine_chunks()
        )
        for at, name in enumerate(names)
    }
    return Tally(pa.table(cells), found.column("n").to_numpy().astype(np.int64))


def _count_atoms(book: Book, parcels: Iterator[Parcel]) -> Iterator[pa.Table]:
    """Count the records of a partition; columns are called by their positions, and the last is ``n``."""
    tables = []
    for parcel in parcels:
        raws = book.raws(parcel.body)
        places = [pa.array(raws[name].astype(np.uint32)) for name in book.columns]
        once = pa.array(np.ones(len(places[0]), np.int64))
        tables.append(_added(pa.table([*places, once], names=[*(f"c{at}" for at in range(len(places))), "n"])))
    if tables:
        yield _added(pa.concat_tables(tables)).combine_chunks()


def _added(counted: pa.Table) -> pa.Table:
    """Return counted records, each once."""
    *keys, _ = counted.column_names
    return counted.group_by(keys).aggregate([("n", "sum")]).rename_columns([*keys, "n"])


def _drawn(request: Request, spread: _Spread, show: Wanted) -> tuple[Decision, FiguresOf]:
    """Fix the mechanism by which values are drawn, from how often each occurs, alone or with others."""
    against_all = any(getattr(model, "against", None) == "all-columns" for model in request.requirements.models)
    table = _as_combined(spread) if against_all else _as_counted(spread)
    # whether sets of several records are one draw shows where these come together
    recoding = request.decide(replace(table, subject=None) if request.entry.recoding == "sets" else table)
    assert isinstance(recoding, Perturbation)
    told = recoding.facts["columns"]
    draws: dict[str, SetsOf | CodesOf] = {}
    for name in recoding.draws:
        about = told[name]
        if "l" in about:
            weights = about.get("weights")
            draws[name] = SetsOf(about["l"], None if weights is None else np.array(weights))
        else:
            matrix = about["matrix"]
            draws[name] = CodesOf(matrix.get("p"), np.array(matrix["rows"]) if "rows" in matrix else None)
    bundles = max(-(-spread.rows // BUNDLE), 1)
    decision = Drawn(draws, bundles, show, secrets.token_bytes(32), spread.known)

    def figures(heads: list[Any]) -> Figures:
        from sudare.methods.hiding.dummies import REPEATED

        facts = dict(recoding.facts)
        again = [name for name in draws if any(head.get(name) for head in heads)]
        for name in again:
            facts["columns"] = {**facts["columns"], name: {**facts["columns"][name], "repeated": True}}
        if again:
            facts["notes"] = [REPEATED, *facts.get("notes", [])]
        return untouched_figures(table, Perturbation({}, facts))

    return decision, figures


def _as_counted(spread: _Spread) -> Table:
    """Return a table with as many records of each value as there are, but no two columns belong together."""

    def column(given: Any) -> Any:
        codes = np.arange(given.size, dtype=given.codes.dtype)
        return replace(given, codes=np.repeat(codes, spread.frequencies[given.name]))

    empty = spread.book.table
    return Table(
        rows=spread.rows,
        quasi={name: column(each) for name, each in empty.single.items()},
        sensitive={name: column(each) for name, each in empty.sensitive.items()},
        subject=None if empty.subject is None else column(empty.subject),
        carried=empty.carried,
        context={name: column(each) for name, each in empty.context.items()},
    )


def _as_combined(spread: _Spread) -> Table:
    """Return a table with as many records of each combination of drawn values as there are."""
    empty = spread.book.table
    names = [*empty.single, *empty.sensitive]
    parts = spread.gather(partial(_combined_codes, tuple(names)), _merged_codes)
    if not parts:
        return _as_counted(spread)
    found = _merged_codes(pa.concat_tables(parts), None)
    if found.num_rows > MOST_ATOMS:
        what = f"{found.num_rows:,} different records are too many to decide on in one place ({MOST_ATOMS:,} at most)."
        raise UnsupportedError(what, hint="use alpha-gamma with against: column, or coarser values.")
    found = found.sort_by([(key, "ascending") for key in found.column_names[:-1]])
    counts = found.column("n").to_numpy()
    codes = {name: np.repeat(found.column(at).to_numpy(), counts) for at, name in enumerate(names)}
    return replace(
        _as_counted(spread),
        quasi={name: replace(each, codes=codes[name].astype(each.codes.dtype)) for name, each in empty.single.items()},
        sensitive={
            name: replace(each, codes=codes[name].astype(each.codes.dtype)) for name, each in empty.sensitive.items()
        },
    )


def _combined_codes(names: tuple[str, ...], shard: Table) -> pa.Table:
    """Count the combinations of codes of a shard; columns are called by their positions, and the last is ``n``."""
    columns = {**shard.single, **shard.sensitive}
    keys = [pa.array(columns[name].codes.astype(np.uint32)) for name in names]
    once = pa.array(np.ones(shard.rows, np.int64))
    return _added(pa.table([*keys, once], names=[*(f"c{at}" for at in range(len(keys))), "n"])).combine_chunks()


def _merged_codes(one: pa.Table, other: pa.Table | None) -> pa.Table:
    """Merge the counts of two shards."""
    return _added(one if other is None else pa.concat_tables([one, other])).combine_chunks()


# -- what executors run


@dataclass(frozen=True, eq=False)
class _Asking:
    """Runs a function on shards, and merges what it returns."""

    book: Book
    function: Callable[[Table], Any]
    merge: Callable[[Any, Any], Any]

    def __call__(self, parcels: Iterator[Parcel]) -> Iterator[Any]:
        found = None
        for parcel in parcels:
            answer = self.function(self.book.shard(parcel.body))
            found = answer if found is None else self.merge(found, answer)
        if found is not None:
            yield found


@dataclass(frozen=True, eq=False)
class _Sending:
    """Sends the rows of shards to their bundles."""

    book: Book
    decision: Decision
    keys: tuple[int, ...]

    def __call__(self, parcels: Iterator[Parcel]) -> Iterator[Parcel]:
        for parcel in parcels:
            shard = self.book.shard(parcel.body)
            bundles, numbers = self.decision.send(shard, bytes(parcel.body))
            order = np.argsort(bundles, kind="stable")
            ends = np.searchsorted(bundles[order], np.arange(len(self.keys) + 1))
            for bundle, key in enumerate(self.keys):
                rows = order[ends[bundle] : ends[bundle + 1]]
                if len(rows):
                    yield Parcel(key, b"", self.book.pack(shard, rows, (bundle, numbers[rows])))


@dataclass(frozen=True, eq=False)
class _Making:
    """Makes the rows of bundles."""

    book: Book
    decision: Decision

    def __call__(self, parcels: Iterator[Parcel]) -> Iterator[Parcel]:
        bodies: dict[int, list[Any]] = {}
        for parcel in parcels:
            bundle = pickle.loads(parcel.body)[3][0]
            bodies.setdefault(bundle, []).append(parcel.body)
        for bundle in sorted(bodies):
            table, sent = self.book.joined(bodies.pop(bundle))
            numbers = np.concatenate([each for _, each in sent])
            for batch, told in self.decision.make(table, numbers, bundle):
                yield Parcel(bundle, pickle.dumps([told]), b"" if batch is None else _packed(batch))


@dataclass(frozen=True, eq=False)
class _Writing:
    """Writes the rows of each bundle to a file, in a folder that all executors see.

    A file appears under its name when it is whole, and once: a task that is run again finds it, and leaves it there.
    """

    make: Callable[[Iterator[Parcel]], Iterator[Parcel]]
    schema: pa.Schema
    folder: Path
    numbers: tuple[int, ...]

    def __call__(self, parcels: Iterator[Parcel]) -> Iterator[Parcel]:
        for bundle, made in groupby(self.make(parcels), key=lambda parcel: parcel.key):
            if not self.folder.is_dir():
                what = "is not visible to the executors of Spark."
                raise TargetError(Problem(str(self.folder.parent), what, "use a folder that they share, or a table."))
            told: list[Any] = []
            draft = self.folder / f".{bundle}-{secrets.token_hex(8)}.parquet"
            try:
                write_batches(self.schema, self._batches(made, told), draft)
                with suppress(FileExistsError):
                    os.link(draft, self.folder / f"part-{self.numbers[bundle]:05d}.parquet")
            finally:
                draft.unlink(missing_ok=True)
            yield Parcel(0, pickle.dumps(told), b"")

    def _batches(self, made: Iterator[Parcel], told: list[Any]) -> Iterator[pa.RecordBatch]:
        for parcel in made:
            told += pickle.loads(parcel.head)
            for batch in _showing(iter([parcel])):
                cells = [_fitting(cells, kind.type) for cells, kind in zip(batch.columns, self.schema, strict=True)]
                yield pa.RecordBatch.from_arrays(cells, names=self.schema.names)


def _plain(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, plain_type(field.type)) for field in schema])


def _fitting(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return cells in a type that Spark reads; texts may keep their dictionaries."""
    return cells if plain_type(cells.type) == kind and not pa.types.is_timestamp(kind) else cells.cast(kind)


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _showing(parcels: Iterator[Parcel]) -> Iterator[pa.RecordBatch]:
    for parcel in parcels:
        if len(parcel.body):
            yield from pa.ipc.open_stream(pa.py_buffer(parcel.body))
