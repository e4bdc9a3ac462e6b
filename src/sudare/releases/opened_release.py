"""An opened release: its columns, its certificate, and its second table if it has one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines, hierarchies
from sudare.core.errors import DataError, Problem, did_you_mean
from sudare.engines.file_errors import check_file
from sudare.policy import Policy, TextLayout
from sudare.releases import certificate_beside, certificate_path, second_table
from sudare.releases.certificate import Certificate
from sudare.releases.release_files import ReleaseFile
from sudare.releases.release_formats import JSON_LINES, TEXT, release_format
from sudare.releases.spreadsheet_formulas import is_text as is_text_type
from sudare.table import nearest_numbers, plain_numbers

GROUP = "group"


@dataclass(frozen=True, eq=False)
class Released:
    """An opened release; its columns are read on demand."""

    columns: list[str]
    paper: Mapping[str, Any]
    """The certificate of the release."""
    load: Callable[[Sequence[str]], pa.Table]
    load_second: Callable[[], pa.Table | None]
    text: bool = False
    """Whether dates, or all cells, of the file are text."""

    @cached_property
    def certificate(self) -> Certificate:
        """What the certificate says."""
        return Certificate.from_dict(self.paper)

    @property
    def hidden(self) -> list[str]:
        """The columns whose values are hidden."""
        return list(self.certificate.mechanism.columns)

    @property
    def sealed(self) -> list[str]:
        """The hidden columns that nothing can be counted by. Perturbed ones can: how they were drawn is known."""
        return [] if self.certificate.recoding == "drawn" else self.hidden

    @property
    def apart(self) -> list[str]:
        """The hidden columns that stand in a table of their own."""
        return [name for name in self.sealed if name not in self.columns]

    @property
    def names(self) -> list[str]:
        """The columns that a question may name."""
        return [*(name for name in self.columns if not (self.apart and name == GROUP)), *self.apart]

    def read(self, names: Sequence[str]) -> pa.Table:
        """Read some columns, and the groups where values stand in a table of their own."""
        wanted = [name for name in names if name in self.columns] + ([GROUP] if self.apart else [])
        return self.load(wanted or self.columns[:1])

    def rows(self, names: Sequence[str], *, nearest: bool = False) -> pa.Table:
        """Read some columns; unchanged ones of a text file in the type of the numbers and dates that they show.

        Numbers whose spelling a float does not keep stay text, unless the ``nearest`` ones will do.
        """
        table, typed = self.load(names), nearest_numbers if nearest else plain_numbers
        generalized = self.certificate.columns["quasi"] if self.certificate.recoding == "classes" else []
        for place, name in enumerate(table.column_names if self.text else ()):
            if name not in generalized and is_text_type(table.column(place).type):
                table = table.set_column(place, name, typed(name, table.column(place).combine_chunks()))
        return table

    def second(self, of: str) -> pa.Table | None:
        """Read the second table of the release, if a column stands there."""
        if of not in self.apart:
            return None
        found = self.load_second()
        if found is None:
            what = "its second table, with the sensitive values by group, is missing."
            raise DataError(Problem("release", what, "keep all files of a release together."))
        return found


def open_released(release: Any) -> Released:
    """Open a release by its path, or from a result in Python; raise if its certificate is missing or wrong.

    Estimates need the facts of the certificate.
    """
    place = engines.find_place(release)
    if place is not None:
        return _from_database(place)
    if isinstance(release, str | Path):
        return _from_file(Path(release))
    certificate, data = getattr(release, "certificate", None), getattr(release, "data", None)
    if not isinstance(certificate, Mapping):
        what = f"a release must be a path, or a result of `sudare.anonymize`; got {type(release).__name__}."
        raise DataError(Problem("release", what, "the certificate is needed, too."))
    if data is None and isinstance(getattr(release, "place", None), engines.Remote):
        what = "can only be read by Spark."
        raise DataError(
            Problem(release.place.shown, what, "copy the folder and its certificate to a local disk first.")
        )
    if data is None and getattr(release, "place", None) is not None:
        return _from_database(release.place)
    if data is None and getattr(release, "path", None) is None:
        raise DataError(Problem("release", "has neither rows nor a path."))
    if data is None:
        return _from_file(Path(release.path))
    check_certificate(certificate, "release.certificate")
    table, _ = engines.adopt(data)
    beside = getattr(release, "second", None)
    return Released(
        table.column_names,
        certificate,
        lambda names: table.select(list(names)),
        lambda: None if beside is None else engines.adopt(beside)[0],
    )


def _from_database(place: engines.Place) -> Released:
    with engines.open_database(place) as database:
        names = database.columns(place).names
        certificate = database.certificate(place)
    paper = place.beside(engines.CERTIFICATE).shown
    if certificate is None:
        hint = "keep both tables together: the certificate says how to read the release."
        raise DataError(Problem(paper, "the certificate of this release is missing.", hint))
    check_certificate(certificate, paper)

    def load(columns: Sequence[str]) -> pa.Table:
        with engines.open_database(place) as database:
            return database.source(place, list(columns)).table()

    return Released(list(names), certificate, load, lambda: None)


def _from_file(path: Path) -> Released:
    check_file(path)
    paper = _load_certificate(path)
    try:
        certificate = Certificate.from_dict(paper)
    except (AttributeError, KeyError, TypeError, ValueError):  # anyone may have written it
        raise DataError(Problem(certificate_path(path).name, "is not in the form of a certificate.")) from None
    layout = text_layout(certificate, certificate_path(path).name)
    file = ReleaseFile(path, layout, certificate.rows_out)
    names = file.names()
    _check_digest(path, certificate.release_sha256)
    beside = second_table(path)

    def second() -> pa.Table | None:
        if not beside.exists():
            return None
        _check_digest(beside, certificate.mechanism.second_sha256)
        groups = ReleaseFile(beside, layout)
        return groups.read(groups.names())

    return Released(names, paper, file.read, second, release_format(path) in (TEXT, JSON_LINES))


def text_layout(certificate: Certificate, name: str) -> TextLayout | None:
    """Return how the text file of a certificate is laid out, if it says so."""
    if certificate.layout is None:
        return None
    found = TextLayout.from_dict(certificate.layout)
    if found is None:
        raise DataError(Problem(name, "does not say in its form how the file is laid out (layout)."))
    return found


def chosen(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return some columns of a table; raise if one is not there."""
    there = table.column_names
    problems = [
        Problem("columns", f"the release has no column '{name}'.", did_you_mean(str(name), there))
        for name in names
        if name not in there
    ]
    if problems:
        raise DataError(problems)
    return table.select(list(dict.fromkeys(names)))


def leaves_of(policy: Policy | None, columns: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Return the leaves below each label of the hierarchies that a policy gives some columns, from files and trees.

    Those of bands, prefixes and dates follow from the values, and their labels say what they are.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for name in columns:
        spec = None if policy is None else policy.columns.get(name)
        where = None if spec is None else spec.hierarchy
        if policy is None or where is None or (where.file is None and where.tree is None):
            continue
        levels = [level.to_pylist() for level in hierarchies.given(where, policy.folder).columns()]
        below: dict[str, dict[str, None]] = {}
        for labels in levels:
            for leaf, label in zip(levels[0], labels, strict=True):
                below.setdefault(label, {})[leaf] = None
        found[name] = {label: list(leaves) for label, leaves in below.items()}
    return found


def _load_certificate(release: Path) -> Mapping[str, Any]:
    """Return the certificate beside a release, or raise DataError."""
    name = certificate_path(release).name
    found = certificate_beside(release, DataError)
    if found is None:
        hint = "keep both files together: the certificate says how to read the release."
        raise DataError(Problem(name, "the certificate of this release is missing.", hint))
    check_certificate(found, name)
    return found


def check_certificate(certificate: Any, place: str) -> None:
    """Raise if a certificate does not say, in its form, how its release was made."""
    whole = isinstance(certificate, Mapping)
    method = certificate.get("method") if whole else None
    if not isinstance(method, Mapping) or not isinstance(method.get("name"), str):
        raise DataError(Problem(place, "is not a certificate."))
    roles, told, sets = (certificate.get(key) or {} for key in ("columns", "mechanism", "item_sets"))
    lists = isinstance(roles, Mapping) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in roles.values()
    )
    if not lists or "quasi" not in roles or not isinstance(told, Mapping) or not isinstance(sets, Mapping):
        raise DataError(Problem(place, "does not state how the columns were changed.", "is the certificate complete?"))


def _check_digest(path: Path, told: Any) -> None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(Problem(path.name, f"cannot be read: {error.strerror}.")) from None
    if digest != told:
        raise DataError(Problem(path.name, "is not the file of its certificate."))
