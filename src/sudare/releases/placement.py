"""The placement of a release: the final name never refers to an incomplete file.

The release is written inside a private folder (mode 0700) beside its target, audited there, and renamed into
place. The certificate is placed first: a release under its final name always has its certificate beside it.
A folder that a killed process left behind is swept away by the next run; a lock tells it from one in use.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sudare.core.errors import AuditFailedError, Problem, SudareError, TargetError
from sudare.core.input_limits import certificate_text
from sudare.core.operating_system import FULL_DISK, flush_file, locked_folder
from sudare.core.private_folders import locked_private_folder
from sudare.engines import read_certificate
from sudare.releases.certificate_parts import Mechanism
from sudare.releases.release_formats import release_ending

PAPER = ".sudare.json"
"""How the name of a certificate ends: it begins with that of the release."""


def certificate_path(release: Path) -> Path:
    """Return where the certificate of a release stands: R.sudare.json for R."""
    return release.parent / (release.name + PAPER)  # which "." has, too


@contextlib.contextmanager
def private_folder(beside: Path | None = None) -> Iterator[Path]:
    """Yield a folder that only this user can read, in ``beside`` or among temporary files; remove it at the end."""
    parent = beside or Path(tempfile.gettempdir())
    check_folder(parent)
    with contextlib.ExitStack() as undo:
        try:
            folder = undo.enter_context(locked_private_folder(parent))
        except OSError as error:
            raise TargetError(Problem(str(parent), f"cannot be written to: {error.strerror}.")) from None
        try:
            yield folder
        except OSError as error:
            if error.errno in FULL_DISK:
                raise TargetError(
                    Problem(
                        str(parent),
                        "the disk is full, or the file is too large.",
                        "free some space, or choose another folder.",
                    )
                ) from None
            raise


def second_table(release: Path) -> Path:
    """Return where the second table of a release stands, where it has one: R.sensitive.csv for R.csv."""
    ending = release_ending(release)
    return release.parent / f"{release.name.removesuffix(ending)}.sensitive{ending}"


def place(written: Path, target: Path, certificate: Mapping[str, Any], *, beside: Path | None = None) -> None:
    """Move an audited release and its certificate into place, the certificate first.

    ``beside`` is a second table that belongs to the release, and comes before it. The second table of an older release
    of this name is removed, because it would seem to be a part of the new one. Its certificate shows whether it had
    one; another file with such a name is not removed.
    """
    if beside is not None and second_table(target).is_file() and not _had_second(target):
        what = "exists already, and does not belong to a release of this name."
        raise TargetError(Problem(str(second_table(target)), what, "move it, or choose another name for the release."))
    if beside is not None and second_table(target).is_dir():
        raise TargetError(Problem(str(second_table(target)), "is a folder.", "choose another name for the release."))
    paper = _written_paper(written, certificate)
    for path in (written, paper, *([beside] if beside is not None else [])):
        flush_file(path)
    try:
        # two runs with one target: release and certificate stay a pair
        with locked_folder(target.parent) as flush, _no_half_pair(target, beside):
            target.unlink(missing_ok=True)  # an older release must not stand beside the new certificate
            if _had_second(target):
                second_table(target).unlink(missing_ok=True)
            paper.replace(certificate_path(target))
            if beside is not None:
                beside.replace(second_table(target))
            written.replace(target)
            flush()
    except OSError as error:
        raise TargetError(Problem(str(target), f"cannot be put in place: {error.strerror}.")) from None


@contextlib.contextmanager
def _no_half_pair(target: Path, beside: Path | None) -> Iterator[None]:
    """Leave no certificate and no second table of a release that is not there."""
    try:
        yield
    finally:
        if not target.exists():
            certificate_path(target).unlink(missing_ok=True)
            if beside is not None:
                second_table(target).unlink(missing_ok=True)


def _written_paper(written: Path, certificate: Mapping[str, Any]) -> Path:
    """Write a certificate beside a release that is not in place yet."""
    paper = written.with_name("certificate.json")
    text = json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"
    paper.write_text(text, encoding="utf-8", newline="\n")
    return paper


def certificate_beside(release: Path, error: type[SudareError] = AuditFailedError) -> dict[str, Any] | None:
    """Return the certificate beside a release, None if there is none; raise an error if it cannot be read."""
    paper = certificate_path(release)
    try:
        text = certificate_text(paper)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        text = ""
    return read_certificate(text, paper.name, error)


def _had_second(release: Path) -> bool:
    """Return whether the release of this name, if there is one, had a second table, by its certificate."""
    try:
        found = certificate_beside(release)
    except AuditFailedError:
        return False
    return found is not None and Mechanism.from_dict(found.get("mechanism")).second_sha256 is not None


def check_folder(folder: Path) -> None:
    """Raise if nothing can be written in this folder."""
    if not folder.exists():
        raise TargetError(Problem(str(folder), "there is no such folder.", "create it first."))
    if not folder.is_dir():
        raise TargetError(Problem(str(folder), "is not a folder."))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise TargetError(Problem(str(folder), "you have no permission to write to it.", "choose another folder."))


def place_folder(written: Path, target: Path, certificate: Mapping[str, Any]) -> None:
    """Move an audited release that is a folder of files into place, as :func:`place` does with a file.

    An older release of this name, a folder or a file, is moved to where the new one was, and goes with that.
    """
    paper = _written_paper(written, certificate)
    for path in (paper, *(path for path in written.rglob("*") if path.is_file())):
        flush_file(path)
    try:
        with locked_folder(target.parent) as flush:
            with contextlib.suppress(FileNotFoundError):
                target.rename(written.with_name("older"))
            if _had_second(target):
                second_table(target).unlink(missing_ok=True)
            paper.replace(certificate_path(target))
            written.rename(target)
            flush()
    except OSError as error:
        raise TargetError(Problem(str(target), f"cannot be put in place: {error.strerror}.")) from None
