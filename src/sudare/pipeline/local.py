"""A release of rows that sudare reads: encode, decide, render, write, audit, place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines
from sudare.audits import AuditReport
from sudare.core import memory as sizes
from sudare.engines import Place, Source
from sudare.pipeline.derived_columns import keeps_type
from sudare.pipeline.engine_support import check_database
from sudare.pipeline.request import Request, Result
from sudare.pipeline.request_checks import check_out, is_new_file
from sudare.pipeline.stages import certify, note_spellings, protect_rare_values
from sudare.pipeline.targets import FileTarget, TableTarget
from sudare.policy import Policy
from sudare.releases import Layout, Rows, check_rows, plain_type, private_folder, render, render_untouched, text_layout
from sudare.releases.certificate import Certificate
from sudare.releases.decimal_columns import number_columns
from sudare.releases.release_figures import Figures, measure, untouched_figures
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import Data, read
from sudare.sources.used_columns import needs
from sudare.table import MEMORY, Generalized, Partition, Recoding, Storage, Table


def make_locally(request: Request) -> Result:
    """Make, prove and place a release of rows that are read here."""
    path = request.target if isinstance(request.target, Path) else None
    check_place(request)
    with ExitStack() as undo:
        # a dry run does not touch the folder of its target
        beside = path.parent if path and request.preview is None else None
        folder = undo.enter_context(private_folder(beside))
        with request.timed("read"):
            ends = open_ends(request, folder, undo)
            table = encode_source(request, ends, folder)
        with request.timed("method"):
            recoding = request.decide(table)
        with request.timed("render"):
            rendered = render_release(request, table, recoding, ends.target)
        with request.timed("write"):
            write_release(request, rendered, ends.target)
            figures = measure_release(request, table, recoding, rendered)
            ends = ends.without_source()
            del table, recoding, rendered  # as large as the data, and the audit needs the room
        with request.timed("audit"):
            report = audit_release(request, figures, ends.target)
        return hand_over(request, figures, report, ends)


@dataclass(frozen=True, eq=False)
class Ends:
    """The source, the target, and the conversion of rows back to the kind of the input table."""

    source: Source | None
    target: FileTarget | TableTarget
    give_back: Callable[[pa.Table], Any]

    def without_source(self) -> Ends:
        """Return the ends without the source, which may hold the whole table."""
        return Ends(None, self.target, self.give_back)


@dataclass(frozen=True, eq=False)
class Rendered:
    """The rows of a release, the second table of those that have one, and what classes show, where there are any.

    ``numbers`` are the columns that take a decimal comma, if the target wants it.
    """

    rows: Rows
    second: Rows | None
    classes: Generalized | None
    numbers: tuple[str, ...] = ()


def check_place(request: Request) -> None:
    """Raise if the release cannot go where it is to go."""
    if isinstance(request.target, Path):
        check_out(request.target, request.data, request.policy_file, request.policy)
    elif request.target is not None:
        check_database(str(request.method["name"]))


def open_ends(request: Request, folder: Path, undo: ExitStack) -> Ends:
    """Open the source and the target; both may be in one database, and then share its transaction."""
    policy, place, dry_run = request.policy, request.target, request.preview is not None
    if dry_run and isinstance(place, Place) and is_new_file(place):
        place = None
    if not isinstance(place, Place):
        limited = request.memory is not None
        spill = folder if limited else None
        source, give_back = read(request.data, policy, stream=limited, seed=request.seed, spill=spill)
        path = place if isinstance(place, Path) else None
        keep, layout = policy.release.formulas == "keep", None if path is None else text_layout(path, policy)
        written = FileTarget(folder, path, keep_formulas=keep, layout=layout, preview=request.preview)
        return Ends(source, written, give_back)
    database = undo.enter_context(engines.open_database(place, create=not dry_run, dry_run=dry_run))
    origin = request.origin if place.shares_database(request.origin) else None
    database.check_target(place, policy.released, origin)
    held = None if origin is None else database
    source, give_back = read(request.data, policy, database=held, seed=request.seed)
    return Ends(source, TableTarget(database, place, origin, list(policy.transformed)), give_back)


def encode_source(request: Request, ends: Ends, folder: Path) -> Table:
    """Read the source into codes, as the method needs them."""
    assert ends.source is not None
    view = request.view
    table = encode(
        ends.source,
        view.policy,
        # in text and Excel an empty field is a missing cell, so empty texts cannot be told from missing ones there
        blanks_are_missing=ends.target.flat,
        storage=_storage(request, ends.source, folder),
        progress=request.listener,
        unknown=request.unknown,
        also=view.also,
    )
    request.transformations = list(ends.source.facts())
    if isinstance(request.target, Path):  # so many records are left at least
        check_rows(request.target, int(table.rows * (1 - request.policy.suppression.limit)))
    return protect_rare_values(request, table)


def render_release(request: Request, table: Table, recoding: Recoding, target: FileTarget | TableTarget) -> Rendered:
    """Return the rows that the decision makes of the table; nothing is made before it is written."""
    policy = request.policy
    separators = _separators(policy) if target.flat else None
    types = _typed(table, policy) if _is_text(request.data) and not target.text else None
    order, names = policy.release.order, policy.released
    if not isinstance(recoding, Partition):
        rows, second = render_untouched(
            table, recoding, names, order=order, separators=separators, types=types, seed=request.seed
        )
        numbers = number_columns(rows, second, table, policy) if target.commas else ()
        return Rendered(rows, second, None, numbers)
    subjects = policy.numbers_subjects
    rows, classes = render(
        table,
        recoding,
        Layout(names, order=order, subjects=subjects, separators=separators, types=types),
        seed=request.seed,
    )
    return Rendered(rows, None, classes, number_columns(rows, None, table, policy) if target.commas else ())


def write_release(request: Request, rendered: Rendered, target: FileTarget | TableTarget) -> None:
    """Write the rows under a name that nobody looks for."""
    total = rendered.rows.count
    recoded = () if rendered.classes is None else request.policy.quasi
    recoded = [*recoded, *(name for name in request.policy.transformed if not keeps_type(request.policy, name))]

    def progress(done: int) -> None:
        request.listener("write", done, total)

    target.write(rendered.rows, rendered.second, progress, recoded, rendered.numbers)


def measure_release(request: Request, table: Table, recoding: Recoding, rendered: Rendered) -> Figures:
    """Return the figures of the certificate."""
    classes = rendered.classes
    figures = measure(classes) if classes is not None else untouched_figures(table, recoding)
    return note_spellings(request, figures, table)


def audit_release(request: Request, figures: Figures, target: FileTarget | TableTarget) -> AuditReport:
    """Audit the written release; :func:`~sudare.pipeline.stages.certify` raises if this fails."""
    return target.audit(
        request.policy,
        method=str(request.method["name"]),
        mechanism=figures.mechanism.to_dict(),
        transformations=request.transformations,
        memory=request.memory and request.memory // 2,
    )


def hand_over(request: Request, figures: Figures, report: AuditReport, ends: Ends) -> Result:
    """Put the release in its place with its certificate, or return its rows."""
    target = ends.target
    digest = target.second_digest()
    if digest is not None:
        figures = replace(figures, mechanism=figures.mechanism.with_second(digest))
    hint = "did the file change while it was written?"
    certificate = certify(request, figures, report, "the release", hint, layout=target.noted_layout)
    if request.preview is not None:
        return _preview(certificate, ends, request.preview)
    if request.target is not None:
        target.place(certificate)
        return Result(certificate)
    assert isinstance(target, FileTarget)
    rows, second = target.read()
    return Result(certificate, ends.give_back(rows), None if second is None else ends.give_back(second))


def _preview(certificate: Certificate, ends: Ends, most: int) -> Result:
    """Return the first rows of a release that is not placed."""
    if isinstance(ends.target, TableTarget):
        return Result(certificate, ends.target.preview(most))
    rows, second = ends.target.preview()
    return Result(certificate, ends.give_back(rows), None if second is None else ends.give_back(second))


def _storage(request: Request, source: Source, folder: Path) -> Storage:
    """Return where the arrays of a table are kept, or raise if it cannot be worked on in the memory there is."""
    demand, limit = needs(source, request.view.policy, request.view.also), request.memory
    if limit is None:
        sizes.check_fits(demand, sizes.available())
        return MEMORY
    return Storage(sizes.storage_limit(demand, limit), folder)


def _is_text(data: Data) -> bool:
    if engines.find_place(data) is not None:
        return False
    return isinstance(data, str | Path) and engines.file_format(Path(data)).text


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
        if pa.types.is_string(cells.type)
        and name not in table.sensitive
        and policy.columns[name].kind != "categorical"
        and not policy.shows_text(name)
    }
