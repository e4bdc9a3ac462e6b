"""The run of `numeric`: from a release and its certificate to a table of numbers, in the kind of table given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sudare import engines
from sudare.core.errors import DataError, ParameterError, Problem, did_you_mean
from sudare.core.input_limits import certificate_text
from sudare.policy import Policy
from sudare.releases.cell_values import day_span, is_written_number
from sudare.releases.certificate import Certificate
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.numeric_table import ColumnRoles, layout_of, masked_rows
from sudare.releases.numeric.shown_column import Leaves
from sudare.releases.opened_release import check_certificate, chosen, leaves_of, open_released, text_layout

PaperLike = Mapping[str, Any] | str | Path | None


def numeric_release(
    release: Any,
    certificate: PaperLike,
    *,
    columns: Sequence[str] | None,
    policy: Policy | None,
    seed: int | None,
    **given: Any,
) -> Any:
    """Return a release as numbers; see :func:`sudare.api.numeric`."""
    generator = generator_of(seed)
    table, paper, back = _opened(release, certificate)
    roles = roles_of(paper, policy, table.column_names)
    options = options_of(given, policy, table.column_names)
    wanted = (table if columns is None else chosen(table, columns)).column_names
    shown = roles.shown(table)
    if certificate is not None:
        roles.check_release(shown)
    layout = layout_of({name: shown[name] for name in wanted}, roles, options)
    if not layout.names():
        raise _no_number(layout.silent())
    made = back(layout.encode(shown, generator, masked=masked_rows(shown, roles)))
    index = getattr(release if getattr(release, "data", None) is None else release.data, "index", None)
    return made.set_index(index) if index is not None and hasattr(made, "set_index") else made


def _no_number(silent: Sequence[str]) -> DataError:
    """Return what to raise where no column is left: a table without columns would lose its rows."""
    if not silent:
        return DataError(Problem("columns", "names no column.", "name some, or leave it out for all."))
    named = ", ".join(f"'{name}'" for name in silent)
    what = f"nothing can become a number. All cells of {named} are hidden (*), missing or empty."
    hint = (
        "choose a column that shows something, too. With the policy, columns of kind: numeric become missing numbers."
    )
    return DataError(Problem("columns", what, hint))


def roles_of(certificate: Certificate | None, policy: Policy | None, names: list[str]) -> ColumnRoles:
    """Return what a certificate and a policy say about columns."""
    specs = {} if policy is None else policy.columns
    separators = {name: spec.separator for name, spec in specs.items() if spec.separator is not None}
    layout = None if certificate is None else text_layout(certificate, "certificate")
    commas = layout.numbers if layout is not None and layout.decimal == "," else ()
    leaves = leaves_of(policy, names)
    dates = () if policy is None else _dates(policy, leaves)
    return ColumnRoles.of(certificate, leaves=leaves, separators=separators, commas=commas, dates=dates)


def _dates(policy: Policy, leaves: Mapping[str, Leaves]) -> list[str]:
    """Return the columns that a policy says to hold dates: by their levels, their formats, or the leaves themselves."""
    found = [name for name, spec in policy.columns.items() if spec.hierarchy is not None and spec.hierarchy.dates]
    for name, below in leaves.items():
        values = {leaf for each in below.values() for leaf in each}
        if all(map(day_span, values)) and not all(map(is_written_number, values)):  # years alone may be numbers
            found.append(name)
    return [*found, *policy.source.dates]


def options_of(
    given: Mapping[str, Any], policy: Policy | None, names: list[str], called: Mapping[str, str] | None = None
) -> NumericOptions:
    """Return the choices of a user, with the kinds of columns that a policy says where the user says none.

    ``names`` are the columns that are there, ``called`` what the user calls the choices.
    """
    specs = {} if policy is None else policy.columns
    said = {name: spec.kind for name, spec in specs.items() if spec.kind is not None and name in names}
    found = NumericOptions.checked(names=called, **given)
    problems = [
        Problem(f"kinds.{name}", f"the table has no column '{name}'.", did_you_mean(str(name), names))
        for name in found.kinds
        if name not in names
    ]
    if problems:
        raise DataError(problems)
    return replace(found, kinds=said | dict(found.kinds))


def generator_of(seed: int | None) -> np.random.Generator:
    """Return what numbers within cells are drawn by: it releases nothing, and may be repeated."""
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        raise ParameterError(Problem("seed", f"must be a whole number from 0; got {seed!r}."))
    return np.random.default_rng(seed)


def certificate_of(given: PaperLike) -> Certificate | None:
    """Return a certificate from a mapping or a file; None if there is none."""
    if given is None:
        return None
    if isinstance(given, str | Path):
        path = Path(given)
        try:
            text = certificate_text(path)
        except (OSError, ValueError):
            raise DataError(Problem(path.name, "cannot be read as a certificate.")) from None
        given = engines.read_certificate(text, path.name, DataError)
    check_certificate(given, "certificate")
    assert given is not None
    return Certificate.from_dict(given)


def _opened(release: Any, certificate: PaperLike) -> tuple[pa.Table, Certificate | None, Any]:
    """Return the rows of a release, its certificate, and what turns Arrow into the kind of table that was given."""
    stored = engines.find_place(release) is not None or isinstance(release, str | Path)
    if stored or hasattr(release, "certificate"):
        if certificate is not None:
            hint = "give the release alone, or its rows with a certificate."
            raise ParameterError(Problem("certificate", "the release has one already.", hint))
        opened = open_released(release)
        data = None if stored else getattr(release, "data", None)
        back = (lambda table: table) if data is None else engines.adopt(data)[1]
        return opened.rows(opened.columns, nearest=True), opened.certificate, back
    table, back = engines.adopt(release)
    return table, certificate_of(certificate), back
