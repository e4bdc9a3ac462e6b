"""From a table and a policy to the encoded table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from sudare import engines
from sudare.core.errors import DataError, Problem, SudareError
from sudare.core.progress import Listener, silent
from sudare.policy import Policy
from sudare.sources.cell_cleaner import CellProblemsError
from sudare.sources.column_encoders import encoder, finished_column
from sudare.sources.column_problems import (
    absent_values,
    can_be_carried,
    lists_that_are_no_sets,
    misplaced_sets,
    unclear_orders,
)
from sudare.sources.unknown_values import UnknownValues
from sudare.sources.used_columns import encoded_columns, required_columns, target_of
from sudare.table import MEMORY, Column, ItemSets, Storage, Table, kind_name
from sudare.table.encode import ItemsEncoder, SetsEncoder
from sudare.table.unchanged_cells import Carried

_WORKERS = 2
"""The threads that encode the columns of a batch."""


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
    """Encode a table as the policy describes it; the problems of all columns are reported at once.

    Values that a hierarchy lacks are wrong, too, unless there is an ``unknown`` to note them in: they are then missing.
    ``target`` is the class to predict, if it is not what the policy's method names. ``also`` are columns that are to be
    encoded although no requirement reads them: sensitive ones, and unchanged ones.
    """
    target = target or target_of(policy)
    source = engines.open_table(source) if isinstance(source, pa.Table) else source
    columns = _Columns(source, policy, encoded_columns(policy, target, also), blanks_are_missing, storage)
    columns.read(progress)
    encoded = columns.finish(unknown)
    needed = required_columns(policy) | set(also)
    sensitive = {name: column for name, column in _with_role(encoded, policy, "sensitive").items() if name in needed}
    known = {name: column for name, column in sensitive.items() if isinstance(column, Column)}
    sets = [name for name, column in encoded.items() if isinstance(column, ItemSets)]
    problems = [
        *columns.problems(),
        *misplaced_sets(sets, policy, perturbed=bool(also)),
        *columns.problems_of_types(),
        *_sets_to_predict(known, target),
        *absent_values(policy, known),
        *unclear_orders(policy, known),
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


def _sets_to_predict(sensitive: Mapping[str, Column], target: str | None) -> list[Problem]:
    if target is None or target not in sensitive or sensitive[target].sets is None:
        return []
    return [Problem("target", f"'{target}' holds item sets, and no single values to predict.", "name another column.")]


class _Columns:
    """The columns of a table while they are encoded, and their problems.

    Every column is encoded separately, so that one message can list all problems.
    """

    def __init__(
        self, source: engines.Source, policy: Policy, names: Sequence[str], blanks_are_missing: bool, storage: Storage
    ) -> None:
        self.source, self.policy, self.rows = source, policy, 0
        self.cells: list[Problem] = []
        tokens = [text for text in policy.source.missing_everywhere if text] + ([""] if blanks_are_missing else [])
        nulls = not blanks_are_missing
        self.encoders = {
            name: encoder(name, policy.columns[name], source, tokens, nulls=nulls, storage=storage) for name in names
        }
        self.types = {name: source.schema.field(name).type for name in policy.carried}
        fields = [(name, kind) for name, kind in self.types.items() if can_be_carried(kind)]
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
        with ThreadPoolExecutor(_WORKERS) as workers, self._noting_cells():
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

    @contextmanager
    def _noting_cells(self) -> Iterator[None]:
        """Keep what is wrong with cells, which is raised after the last batch, so that other problems are found too."""
        try:
            yield
        except CellProblemsError as error:
            self.cells = list(error.problems)

    def finish(self, unknown: UnknownValues | None) -> dict[str, Column | ItemSets | None]:
        """Return the encoded columns; None stands for a column that something is wrong with."""
        specs = self.policy.columns
        for name, each in self.encoders.items():
            if isinstance(each, ItemsEncoder | SetsEncoder):
                self.attempt(name, each.check_separator)
        with ThreadPoolExecutor(_WORKERS) as workers:
            ends = {
                name: workers.submit(
                    self.attempt,
                    name,
                    partial(
                        finished_column, each, specs[name], self.policy, unknown, self.source.schema.field(name).type
                    ),
                )
                for name, each in self.encoders.items()
            }
            return {name: end.result() for name, end in ends.items()}

    def problems(self) -> list[Problem]:
        """Return what is wrong with columns that are encoded."""
        return self.cells + [problem for name in self.encoders for problem in self.wrong.get(name, ())]

    def problems_of_types(self) -> list[Problem]:
        """Return what is wrong with columns that are released unchanged."""
        return [
            Problem(f"column '{name}'", f"holds {kind_name(kind)}, which a release cannot show.", "remove it.")
            for name, kind in self.types.items()
            if not can_be_carried(kind)
        ]


def _with_role(columns: Mapping[str, Any], policy: Policy, role: str) -> dict[str, Any]:
    """Return the columns that have a role."""
    return {name: column for name, column in columns.items() if policy.columns[name].role == role}
