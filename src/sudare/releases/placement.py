"""The placement of a release: the final name never refers to an incomplete file.

The release is written inside a private folder (mode 0700) beside its target, audited there, and renamed into
place. The certificate is placed first: a release under its final name always has its certificate beside it.
A folder that a killed process left behind is swept away by the next run; a lock tells it from one in use.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sudare.core.errors import AuditFailedError, Problem, SudareError, TargetError
from sudare.core.input_limits import certificate_text
from sudare.engines import read_certificate
from sudare.releases.certificate_parts import Mechanism

PREFIX = ".sudare-tmp-"
PAPER = ".sudare.json"
"""How the name of a certificate ends: it begins with that of the release."""
_LOCK = "lock"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def certificate_path(release: Path) -> Path:
    """Return where the certificate of a release stands: R.sudare.json for R."""
    return release.parent / (release.name + PAPER)  # which "." has, too


@contextlib.contextmanager
def private_folder(beside: Path | None = None) -> Iterator[Path]:
    """Yield a folder that only this user can read, in ``beside`` or among temporary files; remove it at the end."""
    parent = beside or Path(tempfile.gettempdir())
    check_folder(parent)
    _sweep(parent)
    with contextlib.ExitStack() as undo:
        try:
            while True:
                folder = parent / f"{PREFIX}{secrets.token_hex(8)}"
                undo.callback(_remove, folder)  # before it is there: a signal may come at any moment
                folder.mkdir(mode=0o700)
                with contextlib.suppress(FileNotFoundError, BlockingIOError):  # another run swept it away: once more
                    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
                    undo.callback(os.close, lock)
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.fstat(lock).st_nlink:
                        break
        except OSError as error:
            raise TargetError(Problem(str(parent), f"cannot be written to: {error.strerror}.")) from None
        try:
            yield folder
        except OSError as error:
            if error.errno in _FULL:
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
    return release.parent / f"{release.stem}.sensitive{release.suffix}"


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
    paper = written.with_name("certificate.json")
    paper.write_text(json.dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for path in (written, paper, *([beside] if beside is not None else [])):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # two runs with one target: release and certificate stay a pair
        target.unlink(missing_ok=True)  # an older release must not stand beside the new certificate
        if _had_second(target):
            second_table(target).unlink(missing_ok=True)
        paper.replace(certificate_path(target))
        if beside is not None:
            beside.replace(second_table(target))
        written.replace(target)
        os.fsync(folder)
    except OSError as error:
        raise TargetError(Problem(str(target), f"cannot be put in place: {error.strerror}.")) from None
    finally:
        if not target.exists():
            certificate_path(target).unlink(missing_ok=True)  # a certificate of nothing
            if beside is not None:
                second_table(target).unlink(missing_ok=True)
        os.close(folder)


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


def _sweep(folder: Path) -> None:
    """Remove what killed processes left: private folders whose lock nobody holds."""
    for stale in folder.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            about = stale.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue  # a link, or somebody else's: not ours to remove
            try:
                lock = os.open(stale / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError:
                stale.rmdir()  # which fails unless it is empty: only then was it never locked, or all but removed
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(stale)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a private folder, its lock last: if this is interrupted, the next run can remove the rest."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()
        shutil.rmtree(folder)


def place_folder(written: Path, target: Path, certificate: Mapping[str, Any]) -> None:
    """Move an audited release that is a folder of files into place, as :func:`place` does with a file.

    An older release of this name, a folder or a file, is moved to where the new one was, and goes with that.
    """
    paper = written.with_name("certificate.json")
    paper.write_text(json.dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for path in (paper, *(path for path in written.rglob("*") if path.is_file())):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            target.rename(written.with_name("older"))
        if _had_second(target):
            second_table(target).unlink(missing_ok=True)
        paper.replace(certificate_path(target))
        written.rename(target)
        os.fsync(folder)
    except OSError as error:
        raise TargetError(Problem(str(target), f"cannot be put in place: {error.strerror}.")) from None
    finally:
        os.close(folder)
