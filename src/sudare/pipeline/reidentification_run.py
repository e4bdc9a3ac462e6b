"""The way back from pseudonyms, from a table of the values that may be meant, read as the policy says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines
from sudare.core.errors import DataError, ParameterError, Problem, did_you_mean
from sudare.policy import Policy
from sudare.policy.transformation_spec import FORMS
from sudare.releases.opened_release import open_released
from sudare.sources.cell_cleaner import cleaned_as
from sudare.sources.opened_source import Data, text_form
from sudare.transformations.reidentification import Question, Reidentification


def reidentify_from(
    policy: Policy,
    column: str,
    ids: Data,
    asked: str | Path | Sequence[str],
    *,
    reason: str,
    out: str | Path,
    id_column: str | None = None,
    log: str | Path | None = None,
    release: Any = None,
) -> Reidentification:
    """Find the values behind pseudonyms; see :func:`sudare.api.reidentify`."""
    question = Question.of(policy, column, asked, reason=reason, out=out, log=log)
    if release is not None:
        _check_release(release, question)
    return question.answer(_cells(policy, column, ids, id_column))


def _check_release(release: Any, question: Question) -> None:
    """Raise if a release does not have the pseudonyms that would be computed."""
    entries = open_released(release).certificate.transformations or ()
    found = [each for each in entries if each.column == question.column and each.transformation == "pseudonym"]
    where = f"column '{question.column}'"
    if not found:
        what = "has no pseudonyms in this release, as its certificate says."
        raise ParameterError(Problem(where, what, "name another column, or another release."))
    [entry] = found
    if entry.key != question.key.fingerprint:
        what = f"the key has the fingerprint {question.key.fingerprint}, but that of the release has {entry.key}."
        raise ParameterError(Problem(where, what, "use the key that the release was made with."))
    spec = question.spec
    ours = {"form": spec.form, "length": spec.characters, "space": spec.space}
    usual = {"form": "hex", "length": FORMS[spec.form][2], "space": None}
    differing = [name for name, value in ours.items() if entry.parameters.get(name, usual[name]) != value]
    if differing:
        what = f"the policy makes pseudonyms of another {' and '.join(differing)} than those of the release."
        raise ParameterError(Problem(where, what, "use the policy that the release was made with."))


def _cells(policy: Policy, column: str, ids: Data, named: str | None) -> Iterator[pa.Array]:
    """Yield the cells with the values, cleaned as those of the column."""
    place = engines.find_place(ids)
    if place is not None:
        with engines.open_database(place) as opened:
            name = _chosen(opened.columns(place).names, column, named, place.shown)
            yield from _cleaned(opened.source(place, [name]), policy, column)
        return
    if isinstance(ids, str | Path):
        path = Path(ids)
        file = engines.open_path(path, text_form(policy.source))
        name = _chosen(file.names, column, named, path.name, headed=file.headed)
        yield from _cleaned(file.source([name], True), policy, column)
        return
    table, _ = engines.adopt(ids, lambda names: [_chosen(names, column, named, "the table of ids")])
    yield from _cleaned(engines.open_table(table), policy, column)


def _chosen(names: Sequence[str], column: str, named: str | None, where: str, *, headed: bool = True) -> str:
    """Return the column with the values: the one that is named, or that is called like the column, or the only one."""
    wanted = column if named is None else named
    if wanted in names:
        return wanted
    if named is None and len(names) == 1 and headed:
        return names[0]
    shown = did_you_mean(wanted, names) or f"its columns: {', '.join(names[:40])}."
    hint = shown if headed else "the first line must name the columns."
    if named is None:
        hint = f"say which column has the ids (id_column, or --id-column); {hint}"
    raise DataError(Problem(where, f"there is no column '{wanted}'.", hint))


def _cleaned(source: engines.Source, policy: Policy, column: str) -> Iterator[pa.Array]:
    """Yield the cells of the only column, cleaned as if it were called like the column of the policy."""

    def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
        return (batch.rename_columns([column]) for batch in source.batches(()))

    schema = pa.schema([pa.field(column, source.schema.field(0).type)])
    renamed = replace(source, schema=schema, batches=batches)
    for batch in cleaned_as(renamed, policy.source, policy.columns).batches(()):
        yield batch.column(0)
