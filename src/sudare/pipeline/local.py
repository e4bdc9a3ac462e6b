"""Making a release of rows that come to us: encode, decide, render, write, audit, place."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

from sudare import engines
from sudare.core import memory as sizes
from sudare.engines import Place
from sudare.pipeline.checks import check_out
from sudare.pipeline.request import Asked, Made
from sudare.pipeline.support import check_database
from sudare.pipeline.targets import FileTarget, TableTarget
from sudare.policy import Policy
from sudare.releases import (
    plain_type,
    private_folder,
    render,
    render_untouched,
)
from sudare.releases.certificate import (
    measure,
    merged_spellings,
    untouched_figures,
)
from sudare.releases.warnings import about_spellings
from sudare.sources.encoded_table import (
    Data,
    encode,
    needs,
    read,
    without_rare,
)
from sudare.table import MEMORY, Partition, Storage, Table


def make_from_rows(asked: Asked) -> Made:
    """Make, prove and place a release of rows that are read here, by whatever decides."""
    checked, seen, listener, limit = asked.policy, asked.seen, asked.listener, asked.memory
    path = asked.target if isinstance(asked.target, Path) else None
    if path is not None:
        check_out(path, asked.data, asked.given, checked)
    elif asked.target is not None:
        check_database(str(asked.method["name"]))
    with ExitStack() as undo:
        folder = undo.enter_context(private_folder(path.parent if path else None))
        with asked.timed("read"):
            keep = checked.release.formulas == "keep"
            target: FileTarget | TableTarget = FileTarget(folder, path, keep_formulas=keep)
            if isinstance(asked.target, Place):
                database = undo.enter_context(engines.open_database(asked.target, create=True))
                same = asked.target.shares_database(asked.origin)
                database.check_target(asked.target, checked.released, asked.origin if same else None)
                source, give_back = read(asked.data, checked, database=database if same else None)
                target = TableTarget(database, asked.target, asked.origin if same else None)
            else:
                source, give_back = read(asked.data, checked, stream=limit is not None)
            storage = _storage(source, seen.policy, limit, folder, seen.also)
            # in a text file an empty field is a missing cell, so empty texts cannot be told from missing ones there
            table = encode(
                source, seen.policy, blanks_are_missing=target.text, storage=storage, progress=listener,
                unseen=asked.unseen, also=seen.also,
            )  # fmt: skip
            if asked.makes_classes:
                table = without_rare(table, checked)
            requirements = asked.requirements
        with asked.timed("method"):
            recoding = asked.decide(table, requirements)
        with asked.timed("render"):
            separators = _separators(checked) if target.text else None
            types = _typed(table, checked) if _is_text(asked.data) and not target.text else None
            order, names = checked.release.order, checked.released
            shown, second = None, None
            if isinstance(recoding, Partition):
                subjects = checked.release.subjects if requirements.counts_subjects else None
                rows, shown = render(
                    table, recoding, names, order=order, subjects=subjects, separators=separators, types=types,
                    seed=asked.seed,
                )  # fmt: skip
            else:
                rows, second = render_untouched(
                    table, recoding, names, order=order, separators=separators, types=types, seed=asked.seed
                )
        with asked.timed("write"):
            total = rows.count
            recoded = () if shown is None else checked.quasi
            target.write(rows, second, lambda done: listener("write", done, total), recoded)
            figures = measure(shown) if shown is not None else untouched_figures(table, recoding)
            figures.spellings.update(merged_spellings(table))
            asked.warnings += about_spellings(table)
            del table, recoding, rows, shown, second, source  # as large as the data, and the audit needs room
        with asked.timed("audit"):
            name = str(asked.method["name"])
            report = target.audit(checked, method=name, mechanism=figures.mechanism, memory=limit and limit // 2)
            report.raise_if_failed()
        digest = target.second_digest()
        if digest is not None:
            figures.mechanism["second_sha256"] = digest
        certificate = asked.certificate(figures, report)
        if asked.target is not None:
            target.place(certificate)
            return Made(certificate)
        assert isinstance(target, FileTarget)
        found, apart = target.read()
        return Made(certificate, give_back(found), None if apart is None else give_back(apart))


def _storage(source: engines.Source, policy: Policy, limit: int | None, folder: Path, also: Collection[str]) -> Storage:
    """Return where the arrays of a table are to be kept, or raise if it cannot be worked on in the memory there is."""
    demand = needs(source, policy, also)
    if limit is None:
        sizes.check_fits(demand, sizes.available())
        return MEMORY
    return Storage(sizes.storage_limit(demand, limit), folder)


def _is_text(data: Data) -> bool:
    if engines.find_place(data) is not None:
        return False
    return isinstance(data, str | Path) and engines.file_kind(Path(data)) == "text"


def _separators(policy: Policy) -> dict[str, str]:
    """Return what joins the items of each item set in a release in text, which the audit splits them by."""
    return {name: spec.separator or "," for name, spec in policy.columns.items()}


def _typed(table: Table, policy: Policy) -> dict[str, pa.DataType]:
    """Return the types that carried columns in text look like, for formats that have types.

    Not those that a promise was decided on: they are rendered as the values that were counted.
    """
    if table.carried is None:
        return {}
    return {
        name: plain_type(name, cells)
        for name, cells in zip(table.carried.column_names, table.carried.columns, strict=True)
        if pa.types.is_string(cells.type) and name not in table.sensitive and policy.columns[name].kind != "categorical"
    }
