"""A release together with its source: both are opened, and refused if they do not belong together.

Where the policy transforms columns, the data is transformed again as far as that can be done
(:mod:`sudare.sources.repeated_steps`), and each column is compared in the way that is left for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare import engines
from sudare.core.errors import DataError, Problem, SudareError
from sudare.core.progress import Listener
from sudare.policy import Policy
from sudare.releases import is_flat
from sudare.releases.certificate import Certificate
from sudare.releases.opened_release import Released, open_released
from sudare.sources.column_encoders import encoder
from sudare.sources.opened_source import Data, read
from sudare.sources.rare_value_limits import without_rare
from sudare.sources.repeated_steps import CHANGED, REPEATED, UNKNOWN, RepeatedSteps, Way, repeated_steps, untransformed
from sudare.table import Column, ItemSets, Table, encode_like

HINT = "give the source of this release, and the file of its policy."
SURELY = 6
"""Chance takes the size of a sample no more standard deviations away from what is expected."""


@dataclass(frozen=True, eq=False)
class Pair:
    """A release and its data: the columns of the data encoded, those of the release as written.

    ``missing`` are the texts for a missing cell in the release. ``odd`` are unchanged columns whose values have no
    distribution that could be shown.

    Columns are transformed as those of the release, as far as that can be repeated. ``ways`` says for each transformed
    one how it may be compared; one that cannot be compared at all is not among the ``columns``. ``raw`` has transformed
    columns as they were before, where that is of use, and ``transformed`` as they are then, rare values included.
    ``notes`` say which keys were not here.
    """

    policy: Policy
    opened: Released
    certificate: Certificate
    rows: int
    columns: Mapping[str, Column | ItemSets]
    people: NDArray[np.integer[Any]] | None
    released: pa.Table
    missing: Sequence[str]
    odd: Sequence[str] = ()
    ways: Mapping[str, Way] = field(default_factory=dict)
    raw: Mapping[str, Column | ItemSets] = field(default_factory=dict)
    transformed: Mapping[str, Column | ItemSets] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def sampled(self) -> bool:
        """Whether the release was made of a sample of the data."""
        return self.policy.sample is not None

    @property
    def rows_in(self) -> int:
        """The number of records that the release was made of: those of the data, or of the sample."""
        return self.certificate.rows_in

    @property
    def uncompared(self) -> list[str]:
        """The columns of the release that cannot be compared with the data."""
        return [name for name, way in self.ways.items() if way == UNKNOWN]

    def compares(self, name: str) -> bool:
        """Return whether a column of the release has the values of the data, be it in other records."""
        return self.ways.get(name) not in (CHANGED, UNKNOWN)

    def covers(self, name: str) -> bool:
        """Return whether generalized cells of a column cover values of the data, and name none that it lacks."""
        return self.ways.get(name, REPEATED) == REPEATED and not self.sampled

    @property
    def method(self) -> str:
        """The method that made the release."""
        return self.certificate.method_name

    @property
    def touched(self) -> bool:
        """Whether quasi-identifiers are generalized, and not unchanged or drawn."""
        return not self.certificate.mechanism


def open_under(release: Any, policy: Policy) -> Released:
    """Open a release, or raise if it was not made under this policy, or lacks quasi-identifiers."""
    opened = open_released(release)
    certificate = opened.certificate
    if certificate.policy_sha256 != policy.sha256:
        raise DataError(Problem("release", "was made under another policy than this one.", HINT))
    roles = certificate.columns
    if any(list(roles.get(role, ())) != policy.named(role) for role in ("quasi", "sensitive", "insensitive")):
        raise DataError(Problem("release", "has other columns than the policy.", HINT))
    absent = [name for name in policy.quasi if name not in opened.columns]
    if absent:
        raise DataError(Problem("release", f"lacks the columns {', '.join(absent)}.", "is the file complete?"))
    return opened


def in_text(release: Any) -> bool:
    """Return whether a release is text or a sheet of Excel, where an empty field is a missing cell."""
    path = release if isinstance(release, str | Path) else getattr(release, "path", None)
    return path is not None and engines.find_place(release) is None and is_flat(Path(path))


def check_rows(opened: Released, rows: int, share: float | None = None, people: Any = None) -> None:
    """Raise if a release was made of another number of records than the data has.

    A sample of a ``share`` has about this share of them, as far as chance allows; ``people`` has the person of each
    record if people were sampled.
    """
    made = opened.certificate.rows_in
    if share is not None:
        squares = rows if people is None else float((np.bincount(people).astype(np.float64) ** 2).sum())
        chance = SURELY * (share * (1 - share) * squares) ** 0.5 + 1
        if made > rows or abs(made - share * rows) > chance:
            what = f"was made of {made} sampled records, which are no share of {share:g} of the {rows} in the data."
            raise DataError(Problem("release", f"{what} It is not a release of this data.", HINT))
        return
    if rows != made:
        what = f"was made of {made} records, and the data has {rows}: it is not a release of this data."
        raise DataError(Problem("release", what, HINT))


def check_values(column: Column, codes: NDArray[np.integer[Any]]) -> None:
    """Raise if a column that is released unchanged shows other values than the data, or one of them more often.

    ``codes`` are those of the released cells in the column, -1 for a value that it does not have.
    """
    known = codes >= 0
    shown = np.bincount(codes[known], minlength=column.size)
    if not known.all() or np.any(shown > np.bincount(column.codes, minlength=column.size)):
        what = f"column '{column.name}' shows values that are not those of the data: it is not a release of this data."
        raise DataError(Problem("release", what, HINT))


def comparable(column: Column) -> bool:
    """Return whether values can be compared with released ones: text and whole numbers are the same in every format."""
    return bool(pa.types.is_large_string(column.values.type) or pa.types.is_integer(column.values.type))


def open_pair(release: Any, data: Data, policy: Policy, listener: Listener) -> Pair:
    """Open a release and its data, or raise one message that says why they do not belong together."""
    opened = open_under(release, policy)
    certificate = opened.certificate
    text = in_text(release)
    again = repeated_steps(policy, [entry.to_dict() for entry in certificate.transformations or ()])
    names = [
        name
        for name, spec in policy.columns.items()
        if spec.role in ("quasi", "sensitive", "insensitive") and again.ways.get(name) != UNKNOWN
    ]
    wanted = [*names, *([policy.subject] if policy.subject is not None else [])]
    tokens = [token for token in policy.source.missing_everywhere if token] + ([""] if text else [])
    columns, odd, rows = _encoded(data, again.policy, wanted, tokens, nulls=not text, listener=listener)
    people = columns.pop(policy.subject, None) if policy.subject is not None else None
    codes = people.codes if isinstance(people, Column) else None
    sample = policy.sample
    by_person = sample is not None and sample.per != "record"
    check_rows(opened, rows, None if sample is None else sample.share, codes if by_person else None)
    raw: dict[str, Column | ItemSets] = {}
    before = _shown_before(policy, again)
    if before:
        raw, _, _ = _encoded(data, untransformed(policy), before, tokens, nulls=not text, listener=listener, raw=True)
    transformed = {name: columns[name] for name in again.ways if name in columns}
    if not certificate.mechanism:
        # what is rare among sampled or drawn values may differ from what is rare in the data
        same = [name for name in columns if again.ways.get(name, REPEATED) == REPEATED and sample is None]
        columns |= _as_published({name: columns[name] for name in same}, people, policy, rows)
    listener("read the release", 0, 0)
    there = [name for name in opened.columns if name in policy.columns or name == "group"]
    pair = Pair(
        policy=policy,
        opened=opened,
        certificate=certificate,
        rows=rows,
        columns=columns,
        people=codes,
        released=opened.load(there),
        missing=tokens,
        odd=odd,
        ways=again.ways,
        raw=raw,
        transformed=transformed,
        notes=again.notes,
    )
    _check_values(pair)
    return pair


def _shown_before(policy: Policy, again: RepeatedSteps) -> list[str]:
    """Return the transformed columns that are also needed as they were: quasi-identifiers, and single values."""
    return [
        name
        for name in again.ways
        if policy.columns[name].role == "quasi"
        or (policy.columns[name].kind != "items" and not policy.shows_pseudonym(name))
    ]


def _encoded(
    data: Data,
    policy: Policy,
    wanted: Sequence[str],
    tokens: Sequence[str],
    *,
    nulls: bool,
    listener: Listener,
    raw: bool = False,
) -> tuple[dict[str, Column | ItemSets], list[str], int]:
    """Read some columns; return them encoded, those that cannot be, and the number of records.

    Quasi-identifiers have to be encoded, unless they are ``raw``: then all columns are as they were in the source.
    """
    source, _ = read(data, policy, only=wanted, transform=not raw)
    encoders = {name: encoder(name, policy.columns[name], source, tokens, nulls=nulls) for name in wanted}
    odd: list[str] = []

    def attempt(name: str, work: Callable[[], Any]) -> Any:
        try:
            return None if name in odd else work()
        except (SudareError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            if policy.columns[name].role not in ("sensitive", "insensitive"):
                raise
            odd.append(name)  # such a column is published unchanged

    rows = 0
    for batch in source.batches(wanted):
        for name, each in encoders.items():
            attempt(name, partial(each.add, batch.column(name)))
        rows += len(batch)
        listener("read the data", rows, source.rows or 0)
    ready = {name: attempt(name, each.finish) for name, each in encoders.items()}
    return {name: column for name, column in ready.items() if column is not None}, odd, rows


def _as_published(
    columns: Mapping[str, Column | ItemSets], people: Any, policy: Policy, rows: int
) -> dict[str, Column | ItemSets]:
    """Return quasi-identifiers with rare values as the release shows them."""
    open_ones = {
        name: columns[name]
        for name in policy.quasi
        if name in columns and policy.columns[name].hierarchy is None and isinstance(columns[name], Column)
    }
    subject = people if isinstance(people, Column) else None
    return dict(without_rare(Table(rows, open_ones, subject=subject), policy).quasi)


def _looks_at_all(policy: Policy, name: str) -> bool:
    """Return whether what a step shows depends on all cells of its column, so that those of a sample may differ."""
    return any(step.name == "band" for step in policy.columns[name].transform or ())


def _check_values(pair: Pair) -> None:
    """Raise if a column that is released unchanged shows other values than the data, or one of them more often."""
    drawn = set(pair.opened.hidden)
    roles = ("sensitive", "insensitive") if pair.touched else ("quasi", "sensitive", "insensitive")
    names = [name for name in pair.columns if pair.policy.columns[name].role in roles and name not in drawn]
    for name in names:
        if not pair.compares(name) or (pair.sampled and _looks_at_all(pair.policy, name)):
            continue
        column, cells = pair.columns[name], pair.released.column(name) if name in pair.released.column_names else None
        if cells is None:
            raise DataError(Problem("release", f"lacks the column '{name}'.", "is the file complete?"))
        if isinstance(column, ItemSets) or column.sets is not None or pa.types.is_nested(cells.type):
            continue
        if not comparable(column):
            continue
        plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
        again = encode_like(column, plain, pair.missing)
        if again.values.type != column.values.type and not pa.types.is_integer(again.values.type):
            continue
        place = pc.index_in(again.values.cast(column.values.type), column.values)
        known = np.asarray(place.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
        check_values(column, known[again.codes[again.codes < len(known)]])
