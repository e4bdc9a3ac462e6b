"""The report on a release, as one HTML file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare import engines
from sudare.core.errors import Problem, SudareError, TargetError
from sudare.core.operating_system import name_problems
from sudare.core.progress import Listener
from sudare.policy import Policy
from sudare.releases import certificate_path, check_folder, second_table
from sudare.reports import report_page
from sudare.reports.describe import describe
from sudare.reports.markup import rendered
from sudare.sources.opened_source import Data, held

RiskOf = Callable[[Data], Any]
"""What measures the risk of the data and of the release, and gives back something with ``to_dict``."""


@dataclass(frozen=True)
class Report:
    """A report about a release.

    Attributes:
        html: the page.
        figures: the figures of the page, blurred as they are there, in the types that JSON has.
        path: the file of the page, if it was written.
    """

    html: str
    figures: Mapping[str, Any] = field(repr=False)
    path: Path | None = None

    def save(self, path: str | Path) -> Path:
        """Write the page to a file. An existing file is replaced in one step."""
        target = Path(path)
        check_report(target)
        # a private name in the same folder: whoever looks sees the old file, or the whole new one
        part = target.with_name(f".{target.name[:80]}.{secrets.token_hex(8)}")
        try:
            with part.open("x", encoding="utf-8", newline="\n") as file:
                file.write(self.html)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        except OSError as error:
            raise TargetError(Problem(str(target), f"cannot be written: {error.strerror}.")) from None
        finally:
            part.unlink(missing_ok=True)
        return target

    def __repr__(self) -> str:
        held = sum(bool(one["holds"]) for one in self.figures["guarantees"])
        where = f" at {self.path}" if self.path else ""
        count = len(self.figures["warnings"])
        warned = f", {count} {'warning' if count == 1 else 'warnings'}" if count else ""
        promises = f"{held} of {len(self.figures['guarantees'])} promises hold{warned}"
        return f"<sudare.Report{where}: {promises}, {len(self.html)} bytes>"

    def _repr_html_(self) -> str:
        # in a frame of its own, so that its styles and those of the notebook leave each other alone
        return str(rendered("frame.html", page=self.html))


def check_report(target: Path) -> None:
    """Raise if a report cannot be written there, before there is any work that would be lost."""
    check_folder(target.parent)
    if problems := name_problems(target):
        raise TargetError(problems)
    if os.path.isdir(target):  # noqa: PTH112 - Path.is_dir raises where a name is too long
        raise TargetError(Problem(str(target), "is a folder.", "name a file, such as report.html."))


def report_of(
    release: Any,
    data: Data,
    policy: Policy,
    given: Any,
    *,
    out: str | Path | None = None,
    risk: RiskOf | None = None,
    signature: Callable[[], Mapping[str, Any] | None] = lambda: None,
    progress: Listener | None = None,
) -> Report:
    """Make the report; see :func:`sudare.api.report`.

    ``given`` is the origin of the policy. ``signature`` is that of the certificate.
    """
    target = None if out is None else Path(out)
    if target is not None:
        check_report(target)
        _check_apart(target, release, data, given)
    names = {"release": _name(release), "data": _name(data), "policy": _name(given)}
    known = {key: name for key, name in names.items() if name is not None}
    # what does not belong together is refused before any attack is tried
    table = held(data, policy)
    found = describe(
        release,
        table,
        policy,
        names=known,
        risk=None if risk is None else lambda: _measured(risk, table),
        progress=progress,
    )
    found = {**found, "certificate": {**found["certificate"], "signature": signature()}}
    made = Report(report_page(found), found)
    return made if target is None else Report(made.html, made.figures, made.save(target))


def _measured(risk: RiskOf, data: Data) -> Mapping[str, Any] | None:
    """Return the figures of a risk report; None if the risk of this release cannot be measured."""
    try:
        found: Mapping[str, Any] = risk(data).to_dict()
    except SudareError:
        return None
    return found


def _name(thing: Any) -> str | None:
    """Return what a file or a table is called, without its folder; None for what is in memory."""
    place = engines.find_place(thing)
    if place is not None:
        return str(place.shown).rpartition("#")[2] or None
    path = thing if isinstance(thing, str | Path) else getattr(thing, "path", None)
    return None if path is None else Path(path).name


def _check_apart(target: Path, release: Any, data: Any, given: Any) -> None:
    """Raise if the report would take the place of what it is about."""
    path = release if isinstance(release, str | Path) else getattr(release, "path", None)
    taken = [thing for thing in (path, data, given) if isinstance(thing, str | Path)]
    if path is not None:
        taken += [certificate_path(Path(path)), second_table(Path(path))]
    for thing in taken:
        if engines.find_place(thing) is None and Path(thing).exists() and target.exists() and target.samefile(thing):
            raise TargetError(Problem(str(target), "is an input of the report.", "choose another name for the report."))
