"""From a table and a policy to the encoded table: what is read, and how each column is encoded."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare import engines, hierarchies
from sudare.core.errors import (
    DataError,
    HierarchyError,
    PolicyError,
    Problem,
    SudareError,
)
from sudare.core.memory import Demand, available
from sudare.core.progress import Listener, silent
from sudare.models import named_codes
from sudare.policy import AlphaKAnonymitySpec, ColumnSpec, Policy, TClosenessSpec
from sudare.table import MEMORY, Column, ItemSets, Storage, Table, kind_name, looks_numeric
from sudare.table.encode import ColumnEncoder, ItemsEncoder
from sudare.table.rare_values import hide_rare
from sudare.table.unchanged_cells import Carried
from sudare.table.value_spellings import (
    TWICE,
    fold,
    folded_words,
    repeated,
)

Data = Any
"""A path, a table of a database by its address, a pandas or Polars DataFrame, an Arrow table, or a DuckDB relation.

Also a source of ours that is held in memory (:func:`held`).
"""

_WORKERS = 2
"""The threads that encode the columns of a batch."""


def read(
    data: Data,
    policy: Policy,
    *,
    only: Sequence[str] | None = None,
    stream: bool = False,
    database: engines.Database | None = None,
    described: bool = True,
) -> tuple[engines.Source, Callable[[pa.Table], Any]]:
    """Return the columns that the policy names (or ``only`` some), and how to give a table back in the kind that came.

    A text file is read as a whole unless it is large or to be a ``stream``, which is slower. A table of a database is
    read in the transaction of ``database``, or else in one of its own, which ends with the last batch. ``described``
    says that this is the table which the policy describes.
    """
    if isinstance(data, engines.Source):
        return data, lambda table: table
    names = list(only or (name for name, spec in policy.columns.items() if spec.role != "identifier"))
    place = engines.find_place(data)
    if described:
        check_source(data, policy)
    if place is not None:
        return _from_database(place, policy, names, database), lambda table: table
    if isinstance(data, str | Path):
        about = policy.source
        form = engines.TextForm(about.delimiter, about.encoding, tuple(about.missing))
        path = Path(data)
        # identifiers are not read, but a policy that names one which is not there is a mistake
        engines.check_columns(path.name, policy.columns, engines.file_columns(path, form))
        # what would take up most of the memory as text is better cut into pieces, slower as that is
        stream = stream or 3 * path.stat().st_size > (available() or math.inf)
        return engines.open_file(path, names, form, stream=stream), lambda table: table

    def wanted(there: list[str]) -> list[str]:
        engines.check_columns("the table", policy.columns, there)
        return names

    arrow, give_back = engines.adopt(data, wanted)
    return engines.open_table(arrow), give_back


def held(data: Data, policy: Policy) -> Data:
    """Return a table as several may read it one after the other: text that fits into memory is read only once.

    A table of a database, and files from which columns are read quickly, come back as they are.
    """
    path = isinstance(data, str | Path) and engines.find_place(data) is None
    if not path or engines.file_kind(Path(data)) != "text":
        return data
    source, _ = read(data, policy)
    return source if source.held else data


def check_source(data: Data, policy: Policy, *, spark: bool = False) -> None:
    """Raise if the policy says how text is written, and the table is none."""
    named = isinstance(data, str | Path) and not spark and engines.find_place(data) is None
    if named and engines.file_kind(Path(data)) == "text":
        return
    problems = [
        Problem(f"source.{key}", "has no effect: it is about text files, and the table is none.", "leave it out.")
        for key, value in (("delimiter", policy.source.delimiter), ("encoding", policy.source.encoding))
        if value not in (None, "utf-8")
    ]
    if problems:
        raise PolicyError(problems)


def _from_database(
    place: engines.Place, policy: Policy, names: list[str], database: engines.Database | None
) -> engines.Source:
    opened = database or engines.open_database(place)
    try:
        engines.check_columns(place.shown, policy.columns, opened.columns(place).names)
        source = opened.source(place, names)
    except BaseException:
        opened.close()
        raise
    if database is not None:
        return source

    def batches(wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        with opened:
            yield from source.batches(wanted)

    return replace(source, batches=batches)


def looked_at(policy: Policy, also: Collection[str] = ()) -> list[str]:
    """Return the columns that a method or a requirement looks at, in the policy's order."""
    return _encoded(policy, _target(policy), also)


def encode(
    source: engines.Source | pa.Table,
    policy: Policy,
    *,
    blanks_are_missing: bool = False,
    storage: Storage = MEMORY,
    progress: Listener = silent,
    unknown: UnknownValues | None = None,
    target: str | None = None,
    also: Collection[str] = (),
) -> Table:
    """Encode a table as the policy describes it; what is wrong with any of its columns is said at once.

    Values that a hierarchy lacks are wrong, too, unless there is an ``unknown`` to note them in: they are then missing.
    ``target`` is the class to predict, if it is not what the policy's method names. ``also`` are columns that are to be
    encoded although no requirement reads them: sensitive ones, and ones that leave as they came.
    """
    target = target or _target(policy)
    source = engines.open_table(source) if isinstance(source, pa.Table) else source
    columns = _Columns(source, policy, _encoded(policy, target, also), blanks_are_missing, storage)
    columns.read(progress)
    encoded = columns.finish(unknown)
    needed = _needed(policy) | set(also)
    sensitive = {name: column for name, column in _with_role(encoded, policy, "sensitive").items() if name in needed}
    known = {name: column for name, column in sensitive.items() if isinstance(column, Column)}
    sets = [name for name, column in encoded.items() if isinstance(column, ItemSets)]
    problems = [
        *columns.problems(),
        *misplaced_sets(sets, policy, perturbed=bool(also)),
        *columns.problems_of_types(),
        *_unknown_values(policy, known),
        *_unclear_orders(policy, known),
    ]
    if problems:
        raise DataError(problems)
    single = {name: column for name, column in encoded.items() if isinstance(column, Column)}
    return Table(
        columns.rows,
        _with_role(encoded, policy, "quasi"),
        known,
        next(iter(_with_role(single, policy, "subject").values()), None),
        columns.carried.finish(),
        storage,
        single.get(target or ""),
        {name: column for name, column in _with_role(single, policy, "insensitive").items() if name in also},
    )


class _Columns:
    """The columns of a table on their way to codes, and what is wrong with each of them.

    Every column is encoded on its own, so that one message can name all that are wrong.
    """

    def __init__(
        self, source: engines.Source, policy: Policy, names: Sequence[str], blanks_are_missing: bool, storage: Storage
    ) -> None:
        self.source, self.policy, self.rows = source, policy, 0
        tokens = [text for text in policy.source.missing if text] + ([""] if blanks_are_missing else [])
        nulls = not blanks_are_missing
        self.encoders = {
            name: encoder(name, policy.columns[name], source, tokens, nulls=nulls, storage=storage) for name in names
        }
        unchanged = [name for name, spec in policy.columns.items() if spec.role in ("sensitive", "insensitive")]
        self.types = {name: source.schema.field(name).type for name in unchanged}
        fields = [(name, kind) for name, kind in self.types.items() if _can_be_carried(kind)]
        self.carried = Carried(pa.schema(fields), storage)
        self.wrong: dict[str, Sequence[Problem]] = {}
        self.wrong |= lists_that_are_no_sets(names, policy, source.schema)

    def attempt(self, name: str, work: Callable[[], Any]) -> Any:
        """Do something with a column, unless something is wrong with it; what goes wrong is kept."""
        try:
            return None if name in self.wrong else work()
        except SudareError as error:
            self.wrong[name] = error.problems
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            kind, role = kind_name(self.source.schema.field(name).type), self.policy.columns[name].role
            self.wrong[name] = [Problem(f"column '{name}'", f"holds {kind}, which cannot be {role}.")]

    def read(self, progress: Listener) -> None:
        """Read all batches; columns are encoded side by side."""
        with ThreadPoolExecutor(_WORKERS) as workers:
            for batch in self.source.batches([name for name in self.encoders if name not in self.types]):
                parts = [
                    workers.submit(self.attempt, name, partial(each.add, batch.column(name)))
                    for name, each in self.encoders.items()
                ]
                self.carried.add(batch)
                for part in parts:
                    part.result()  # which raises what nobody foresaw
                self.rows += len(batch)
                progress("read", self.rows, self.source.rows or 0)

    def finish(self, unknown: UnknownValues | None) -> dict[str, Column | ItemSets | None]:
        """Return the encoded columns; None stands for a column that something is wrong with."""
        specs = self.policy.columns
        with ThreadPoolExecutor(_WORKERS) as workers:
            ends = {
                name: workers.submit(self.attempt, name, partial(_finished, each, specs[name], self.policy, unknown))
                for name, each in self.encoders.items()
            }
            return {name: end.result() for name, end in ends.items()}

    def problems(self) -> list[Problem]:
        """Return what is wrong with columns that are encoded."""
        return [problem for name in self.encoders for problem in self.wrong.get(name, ())]

    def problems_of_types(self) -> list[Problem]:
        """Return what is wrong with columns that are released unchanged."""
        return [
            Problem(f"column '{name}'", f"holds {kind_name(kind)}, which a release cannot show.", "leave it out.")
            for name, kind in self.types.items()
            if not _can_be_carried(kind)
        ]


def _with_role(columns: Mapping[str, Any], policy: Policy, role: str) -> dict[str, Any]:
    """Return the columns that have a role."""
    return {name: column for name, column in columns.items() if policy.columns[name].role == role}


def lists_that_are_no_sets(names: Iterable[str], policy: Policy, schema: pa.Schema) -> dict[str, list[Problem]]:
    """Return the problems of columns that hold lists, and are said to hold single values."""
    kinds = {name: policy.columns[name].kind for name in names}
    return {
        name: [Problem(f"column '{name}'", f"holds lists, which are not {kind}.", "say kind: items.")]
        for name, kind in kinds.items()
        if kind in ("numeric", "categorical") and pa.types.is_nested(schema.field(name).type)
    }


def misplaced_sets(sets: Iterable[str], policy: Policy, *, perturbed: bool = False) -> list[Problem]:
    """Return the problems of item sets that are not quasi-identifiers."""
    nor = ", nor perturbed" if perturbed else ""
    return [
        Problem(f"columns.{name}", f"an item set cannot be {policy.columns[name].role}{nor}.")
        for name in sets
        if policy.columns[name].role != "quasi"
    ]


class Rarity(NamedTuple):
    """Which values count as rare: those that fewer than ``least`` records, or ``people``, hold.

    The categories of ``public`` columns are known to everybody.
    """

    least: int
    people: bool
    public: frozenset[str]


def rarity(policy: Policy) -> Rarity | None:
    """Return which values a release must not name; None if the policy lets it name all."""
    if policy.release.ranges == "tight":
        return None
    least = max(
        2,
        *(math.ceil(getattr(spec, "k", 0)) for spec in policy.require),
        *(math.ceil(getattr(spec, "l", 0)) for spec in policy.require),
    )
    public = frozenset(name for name, spec in policy.columns.items() if spec.order is not None)
    return Rarity(least, policy.counts_subjects, public)


def without_rare(table: Table, policy: Policy) -> Table:
    """Return a table whose quasi-identifiers show rare values as the policy says."""
    rule = rarity(policy)
    return table if rule is None else hide_rare(table, rule.least, people=rule.people, public=rule.public)


def _encoded(policy: Policy, target: str | None, also: Collection[str]) -> list[str]:
    """Return the columns that a method or a requirement looks at; all others leave as they came, or stay."""
    needed = _needed(policy) | set(also)
    return [
        name
        for name, spec in policy.columns.items()
        if spec.role in ("quasi", "subject")
        or (spec.role == "sensitive" and name in needed)
        or name == target
        or name in also
    ]


def _needed(policy: Policy) -> set[str | None]:
    """Return the columns that requirements read."""
    return {getattr(spec, "column", None) for spec in policy.require}


def _target(policy: Policy) -> str | None:
    """Return the class that the release is to help predict, where the method asks for one."""
    name = policy.method.options.get("target")
    return name if name in policy.columns else None


def encoder(
    name: str,
    spec: ColumnSpec,
    source: engines.Source,
    missing: Sequence[str],
    *,
    nulls: bool = True,
    storage: Storage = MEMORY,
) -> ColumnEncoder | ItemsEncoder:
    """Return the encoder of a column, as the policy describes it."""
    rows = source.rows or 0
    if holds_sets(spec, source.schema.field(name).type):
        return ItemsEncoder(
            name,
            separator=spec.separator,
            missing=missing,
            nulls=nulls,
            weight=spec.weight,
            storage=storage,
            expected=rows,
            expected_items=source.items.get(name, 0),
        )
    return ColumnEncoder(
        name,
        kind=_kind(spec),
        missing=missing,
        order=spec.order,
        weight=spec.weight,
        tags=spec.role == "subject" and spec.hierarchy is None and spec.order is None,
        merge=spec.role == "sensitive" and not spec.exact,
        by_worth=spec.hierarchy is None or spec.hierarchy.prefix is None,  # prefixes are of text
        storage=storage,
        expected=rows,
    )


def _finished(
    each: ColumnEncoder | ItemsEncoder, spec: ColumnSpec, policy: Policy, unknown: UnknownValues | None
) -> Column | ItemSets:
    """Return an encoded column, with a taxonomy over its values or items if the policy gives it a hierarchy."""
    column = each.finish()
    if spec.hierarchy is None or (spec.role == "sensitive" and not _measured_by_tree(column.name, policy)):
        return column
    if unknown is not None and isinstance(column, Column) and spec.role == "quasi":
        column = unknown.noted(column, spec, policy.folder)
    values = as_in_tree(column, spec, policy.folder)
    tree = hierarchies.build(spec.hierarchy, values, folder=policy.folder, column=column.name)
    order, taxonomy = tree.taxonomy(values, column.missing)
    return column.reordered(order, taxonomy)


def as_in_tree(column: Column | ItemSets, spec: ColumnSpec, folder: Path) -> pa.Array:
    """Return the values of a column as its tree writes them, where their spellings are merged; else as they are."""
    if not isinstance(column, Column) or column.keys is None or spec.hierarchy is None:
        return column.values
    if spec.hierarchy.file is None and spec.hierarchy.tree is None:
        return column.keys
    try:
        tree = hierarchies.given(spec.hierarchy, folder)
    except HierarchyError:
        return column.values  # what is wrong with it is told where it is built
    parents: dict[str, set[int]] = {}
    for leaf, parent in zip(tree.leaves.to_pylist(), tree.parents[0].tolist(), strict=True):
        parents.setdefault(fold(leaf, numbers=column.by_worth), set()).add(parent)
    apart = sum(len(each) > 1 for each in parents.values())
    if apart:
        what = f"has {apart} values in two places, in two spellings."
        raise HierarchyError(Problem(f"columns.{column.name}.hierarchy", what, TWICE))
    words = folded_words(column.keys.to_pylist(), tree.leaves.to_pylist(), numbers=column.by_worth)
    return pa.array(words, pa.large_string())


@dataclass
class UnknownValues:
    """Values that the hierarchies of a plan do not have: how many there are of each column, and in which records."""

    values: dict[str, int] = field(default_factory=dict)
    records: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def noted(self, column: Column, spec: ColumnSpec, folder: Path) -> Column:
        """Return the column with such values missing."""
        where = spec.hierarchy
        if where is None or (where.file is None and where.tree is None):
            return column  # the other hierarchies follow from the values
        tree = hierarchies.given(where, folder)
        absent = tree.find(column.values) < 0
        if not absent.any():
            return column
        self.values[column.name] = int(np.count_nonzero(absent))
        self.records[column.name] = np.append(absent, False)[column.codes]
        return column.forgetting(absent)

    @property
    def rows(self) -> NDArray[np.bool_] | None:
        """Which records hold such a value; None if there are none."""
        return np.logical_or.reduce(list(self.records.values())) if self.records else None

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return the numbers by column."""
        return {
            name: {"values": self.values[name], "records": int(np.count_nonzero(rows))}
            for name, rows in sorted(self.records.items())
        }


def holds_sets(spec: ColumnSpec, kind: pa.DataType) -> bool:
    """Say whether a column is one of item sets: the policy says so, or it holds lists."""
    return spec.kind == "items" or bool(pa.types.is_nested(kind))


def needs(source: engines.Source, policy: Policy, also: Collection[str] = ()) -> Demand:
    """Return what encoding a table and working on it takes up, as far as that can be told before."""
    names = _encoded(policy, _target(policy), also)
    sets = [name for name in names if holds_sets(policy.columns[name], source.schema.field(name).type)]
    return Demand(
        rows=source.rows or source.likely,
        single=len(names) - len(sets),
        tallied=sum(policy.columns[name].role != "quasi" for name in names),
        items=[source.items.get(name) for name in sets],
        carried=sum(_width(field.type) for field in source.schema if field.name not in names),
    )


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a cell; text, and whatever else has no fixed length, is taken to have some twenty."""
    try:
        return int(kind.bit_width + 7) // 8
    except ValueError:
        return 24


def _can_be_carried(kind: pa.DataType) -> bool:
    """Say whether all formats of a release can hold a type, inside others too."""
    if pa.types.is_union(kind) or pa.types.is_run_end_encoded(kind) or pa.types.is_interval(kind):
        return False
    if pa.types.is_decimal(kind):
        return bool(kind.scale >= 0)
    inner = [kind.field(place) for place in range(kind.num_fields)]
    if pa.types.is_struct(kind) and len({field.name for field in inner}) < len(inner):
        return False
    return all(_can_be_carried(field.type) for field in inner)


def _unknown_values(policy: Policy, sensitive: Mapping[str, Column]) -> list[Problem]:
    """Find values that a promise names and the data does not have: misspelled, it would promise nothing."""
    problems = []
    for number, spec in enumerate(policy.require):
        if isinstance(spec, AlphaKAnonymitySpec) and spec.values and spec.column in sensitive:
            column = sensitive[spec.column]
            absent = named_codes(column, spec.values).count(-1)
            twice = 0 if column.keys is None else repeated(dict.fromkeys(spec.values), numbers=column.by_worth)
            if twice:
                what = f"names {twice} values twice, in two spellings."
                problems.append(Problem(f"require.{number}.values", what, TWICE))
            if absent:
                what = f"names {absent} values that column '{spec.column}' does not have."
                problems.append(Problem(f"require.{number}.values", what, "write them as they are in the data."))
    return problems


def _unclear_orders(policy: Policy, sensitive: Mapping[str, Column]) -> list[Problem]:
    """Find ordered columns whose order a reader of the release could not tell from the release alone."""
    problems = []
    for number, spec in enumerate(policy.require):
        if not isinstance(spec, TClosenessSpec) or spec.distance != "ordered" or spec.column not in sensitive:
            continue
        column, given = sensitive[spec.column], policy.columns[spec.column]
        if pa.types.is_duration(column.values.type):
            what = f"column '{spec.column}' holds durations, whose text has another order."
            problems.append(Problem(f"require.{number}", what, "give them as numbers."))
        elif (
            column.kind == "categorical"
            and (given.kind, given.order) == (None, None)
            and policy.suppression.limit > 0
            and looks_numeric(column.values)
        ):
            what = f"some values of '{spec.column}' look like numbers or dates, so that its order is unclear."
            problems.append(Problem(f"require.{number}", what, "say kind: categorical, or give its order."))
    return problems


def _measured_by_tree(name: str, policy: Policy) -> bool:
    """Say whether a sensitive column needs its tree; without, its values stay in their own order."""
    return any(
        isinstance(spec, TClosenessSpec) and spec.column == name and spec.distance == "hierarchical"
        for spec in policy.require
    )


def _kind(spec: ColumnSpec) -> Any:
    """Return the kind to encode as: a subject is a name tag whatever it looks like, prefixes are of text."""
    if spec.role == "subject" or (spec.hierarchy is not None and spec.hierarchy.prefix is not None):
        return "categorical"
    return spec.kind
