"""Decisions about rows on many machines: for each kind of method, which rows go where, and what becomes of them there.

A decision is planned by the driver and carried out on executors. ``send`` says for each row of a shard to which bundle
it goes, and with what; ``make`` turns all rows of a bundle into rows of the release. A bundle is about a million rows.
What ``send`` says depends on the rows alone, so that a shard that is sent again is sent to the same places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.randomness import Entropy, Keyed
from sudare.core.sizes import MANY_ROWS
from sudare.metrics.partial_sums import Sums, sums_of
from sudare.pipeline.spark.shards import digest_of
from sudare.policy import Policy
from sudare.releases import Layout, render, render_untouched
from sudare.releases.render_unchanged import drawn_column, shown_values
from sudare.releases.row_blocks import Span
from sudare.releases.unchanged_columns import carried_columns
from sudare.table import SUPPRESSED, Column, Draw, ItemSets, Perturbation, Table

BUNDLE = MANY_ROWS
"""The rows that are solved and written in one place, about."""
BLOCK = 1 << 17
"""The rows of one batch."""

Ints = NDArray[np.int64]


class Wanted(NamedTuple):
    """What a release is to show: its columns, what subjects become, and a seed for tests."""

    names: tuple[str, ...]
    subjects: Literal["per-class", "linked"] | None
    seed: int | None
    linked: Ints | None = None

    def seed_of(self, bundle: int) -> int | None:
        """Return a seed for one bundle."""
        return None if self.seed is None else self.seed * 1_000_003 + bundle


def wanted(policy: Policy, seed: int | None, people: int) -> Wanted:
    """Return what a policy wants to be shown; numbers that link records are drawn once, for all."""
    subjects = policy.numbers_subjects
    linked = Entropy(seed).permutation(people) + 1 if subjects == "linked" else None
    return Wanted(tuple(policy.released), subjects, seed, linked)


class Decision(Protocol):
    """What is to become of rows."""

    @property
    def bundles(self) -> int:
        """How many bundles there are."""

    def send(self, shard: Table, body: bytes) -> tuple[Ints, NDArray[Any]]:
        """Return the bundle of each row, -1 if it goes nowhere, and a number that goes with it."""

    def make(self, table: Table, numbers: NDArray[Any], bundle: int) -> Iterator[tuple[pa.RecordBatch | None, Any]]:
        """Yield the rows of a bundle in batches, one of them with the figures of the bundle."""

    def schema(self, empty: Table) -> pa.Schema:
        """Return the columns that it makes."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes that executors make from bundles of rows, by a plan of the driver."""

    plan: Any
    of_part: NDArray[np.int32]
    bundles: int
    frequencies: Mapping[str, Ints]
    wanted: Wanted

    def send(self, shard: Table, body: bytes) -> tuple[Ints, NDArray[Any]]:
        """Send rows to the bundle of their part, with its number."""
        del body
        parts = self.plan.route(shard)
        return np.where(parts == SUPPRESSED, -1, self.of_part[parts]).astype(np.int64), parts

    def make(self, table: Table, numbers: NDArray[Any], bundle: int) -> Iterator[tuple[pa.RecordBatch | None, Sums]]:
        """Solve the parts of a bundle, and render them."""
        wanted = self.wanted
        layout = Layout(wanted.names, subjects=wanted.subjects, linked=wanted.linked)
        rows, shown = render(table, self.plan.solve(table, numbers), layout, seed=wanted.seed_of(bundle))
        told = sums_of(shown, self.frequencies)
        yield from _with_first(rows.batches(BLOCK), told, Sums())

    def schema(self, empty: Table) -> pa.Schema:
        """Return the columns of generalized rows."""
        return _generalized(empty, self.wanted)


@dataclass(frozen=True, eq=False)
class Lookup:
    """The number of each combination of codes; all that will be looked up are there.

    Where a key would not fit into 64 bits, those of the first columns are numbered before others join.
    """

    sizes: tuple[int, ...]
    steps: Mapping[int, Ints]
    keys: Ints
    numbers: Ints

    @classmethod
    def of(cls, codes: Sequence[NDArray[Any]], sizes: Sequence[int], numbers: Ints) -> Lookup:
        """Return a lookup of combinations, which may be there several times with the same number."""
        steps: dict[int, Ints] = {}
        key = cls._key(codes, sizes, steps, make=True)
        keys, first = np.unique(key, return_index=True)
        return cls(tuple(sizes), steps, keys, numbers[first])

    def find(self, codes: Sequence[NDArray[Any]]) -> Ints:
        """Return the numbers of combinations."""
        key = self._key(codes, self.sizes, dict(self.steps), make=False)
        place = np.searchsorted(self.keys, key)
        assert len(key) == 0 or (self.keys[place] == key).all()
        return self.numbers[place]

    @staticmethod
    def _key(codes: Sequence[NDArray[Any]], sizes: Sequence[int], steps: dict[int, Ints], *, make: bool) -> Ints:
        key = np.zeros(len(codes[0]) if codes else 0, np.int64)
        span = 1
        for index, (column, size) in enumerate(zip(codes, sizes, strict=True)):
            if span * size >= 1 << 62:
                if make:
                    steps[index] = np.unique(key)
                key, span = np.searchsorted(steps[index], key), len(steps[index])
            key = key * size + column
            span *= size
        return key


@dataclass(frozen=True, eq=False)
class Everywhere:
    """Classes that the driver made: the class of each combination of codes, and what each class shows."""

    names: tuple[str, ...]
    lookup: Lookup
    labels: pa.Table
    of_class: NDArray[np.int32]
    bundles: int
    wanted: Wanted

    def send(self, shard: Table, body: bytes) -> tuple[Ints, NDArray[Any]]:
        """Send rows to the bundle of their class, with its number."""
        del body
        single = shard.single
        classes = self.lookup.find([single[name].codes for name in self.names])
        return np.where(classes == SUPPRESSED, -1, self.of_class[classes]).astype(np.int64), classes.astype(np.int32)

    def make(self, table: Table, numbers: NDArray[Any], bundle: int) -> Iterator[tuple[pa.RecordBatch | None, int]]:
        """Put the rows in the order of their classes, shuffled within each, and show what these show."""
        wanted = self.wanted
        entropy = Entropy(wanted.seed_of(bundle))
        shuffled = entropy.permutation(table.rows)
        order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
        schema = self.schema(table)
        carried = [name for name in schema.names if table.carried is not None and name in table.carried.column_names]
        makers = carried_columns(table, carried, {}) if carried else []
        people = self._people(table, numbers, order) if wanted.subjects is not None else None

        def batches() -> Iterator[pa.RecordBatch]:
            nothing = np.zeros(0, np.int64)
            for first in range(0, len(order), BLOCK):
                rows = order[first : first + BLOCK]
                taken = pa.array(numbers[rows])
                cells = {name: self.labels.column(name).combine_chunks().take(taken) for name in self.names}
                for maker in makers:
                    cells.update(maker.block(Span(nothing, nothing, rows, first)))
                if people is not None and table.subject is not None:
                    cells[table.subject.name] = pa.array(people[first : first + BLOCK], pa.int64())
                yield pa.record_batch([cells[name] for name in schema.names], names=schema.names)

        yield from _with_first(batches(), table.rows, 0)

    def _people(self, table: Table, numbers: NDArray[Any], order: Ints) -> Ints:
        from sudare.kernels.class_rows import number_people

        assert table.subject is not None
        if self.wanted.linked is not None:
            return np.asarray(self.wanted.linked[table.subject.codes[order]])
        of_row = numbers[order]
        start = np.concatenate(([0], np.flatnonzero(np.diff(of_row)) + 1, [len(order)])).astype(np.int64)
        return np.asarray(number_people(table.subject.codes.astype(np.uint32), order, start))

    def schema(self, empty: Table) -> pa.Schema:
        """Return the columns of generalized rows."""
        return _generalized(empty, self.wanted)


@dataclass(frozen=True, eq=False)
class SetsOf:
    """How a column of sets is drawn."""

    width: int
    weights: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class CodesOf:
    """How a column of single values is drawn."""

    keep: float | None = None
    matrix: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Drawn:
    """Cells that executors draw for bundles of rows; rows are bundled at random, or by person.

    Randomness depends on the shard, because the content of a row must not decide where it goes. A lost shard that is
    made again from rows in another order would send some rows twice and others not at all, so only ``known`` shards are
    sent.
    """

    draws: Mapping[str, SetsOf | CodesOf]
    bundles: int
    wanted: Wanted
    secret: bytes = field(repr=False)
    known: frozenset[bytes] = frozenset()

    def send(self, shard: Table, body: bytes) -> tuple[Ints, NDArray[Any]]:
        """Send rows anywhere; records of one person go together, since what they show is drawn at once."""
        if digest_of(body) not in self.known:
            what = "returned different rows, or another order, when Spark read it again after a loss."
            raise DataError(Problem("the table", what, "run it again, or write the table as Parquet first."))
        key = hashlib.blake2b(body, key=self.secret, digest_size=32).digest()
        found = Keyed(key).below(self.bundles, shard.rows)
        if shard.subject is not None:
            people = Keyed(self.secret).below(self.bundles, shard.subject.size)
            known = shard.subject.codes != shard.subject.missing_code
            found = np.where(known, people[shard.subject.codes], found)
        return found, np.zeros(shard.rows, np.uint8)

    def make(self, table: Table, numbers: NDArray[Any], bundle: int) -> Iterator[tuple[pa.RecordBatch | None, Any]]:
        """Draw the cells of a bundle, and shuffle its rows."""
        del numbers
        draws = self._bound(table, bundle)
        rows, _ = render_untouched(table, Perturbation(draws), self.wanted.names, seed=self.wanted.seed_of(bundle))
        told = {name: getattr(draw, "repeats", False) for name, draw in draws.items()}
        yield from _with_first(rows.batches(BLOCK), told, {})

    def _bound(self, table: Table, bundle: int) -> dict[str, Draw]:
        from sudare.methods.random_columns import CodeDraw, SetDraw

        seed = self.wanted.seed_of(bundle)
        entropy = Entropy(None if seed is None else seed + 1)
        columns: dict[str, Any] = {**table.single, **table.sensitive}
        draws: dict[str, Draw] = {}
        for name, how in self.draws.items():
            if isinstance(how, SetsOf):
                draws[name] = SetDraw(columns[name], how.width, entropy, weights=how.weights, same=table.subject)
            else:
                draws[name] = CodeDraw(columns[name], entropy, keep=how.keep, matrix=how.matrix)
        return draws

    def schema(self, empty: Table) -> pa.Schema:
        """Return the columns unchanged, except for those that are drawn."""
        assert empty.carried is not None
        carried = [n for n in self.wanted.names if n in empty.carried.column_names and n not in self.draws]
        types = {name: kind for maker in carried_columns(empty, carried, {}) for name, kind in maker.types.items()}
        for draw in self._bound(replace(empty, subject=None), 0).values():
            types |= drawn_column(draw, shown_values(empty, draw.column), None).types
        return pa.schema([(name, types[name]) for name in self.wanted.names if name in types])


def _with_first(batches: Iterator[pa.RecordBatch], told: Any, nothing: Any) -> Iterator[tuple[Any, Any]]:
    """Yield batches with the figures in the first of them, or the figures alone if there is no batch."""
    first = next(batches, None)
    yield first, told
    for batch in batches:
        yield batch, nothing


def _generalized(empty: Table, wanted: Wanted) -> pa.Schema:
    types: dict[str, pa.DataType] = {
        name: pa.list_(pa.string()) if isinstance(column, ItemSets) else pa.string()
        for name, column in empty.quasi.items()
    }
    assert empty.carried is not None
    carried = [name for name in wanted.names if name in empty.carried.column_names]
    if carried:
        nothing = replace(empty, carried=empty.carried.slice(0, 0))
        for maker in carried_columns(nothing, carried, {}):
            types |= maker.types
    subject: Column | None = empty.subject
    if subject is not None and wanted.subjects is not None:
        types[subject.name] = pa.int64()
    return pa.schema([(name, types[name]) for name in wanted.names if name in types])
