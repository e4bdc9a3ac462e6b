"""Placing: private folders, who may sweep them, and the order in which files come into place."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from pathlib import Path

import pytest

from sudare.core.errors import TargetError
from sudare.core.private_folders import PREFIX
from sudare.releases.placement import certificate_path, place, private_folder

fcntl = pytest.importorskip("fcntl", reason="on Windows tests/cli/test_like_windows.py says how it is there")


def folders(parent):
    return sorted(path for path in parent.iterdir() if path.name.startswith(PREFIX))


@pytest.fixture
def abandoned(tmp_path):
    """Return a way to make a folder as a killed process leaves it."""

    def make(*names, lock=True):
        folder = tmp_path / f"{PREFIX}{len(folders(tmp_path))}"
        folder.mkdir(mode=0o700)
        for name in (*names, *(["lock"] if lock else [])):
            (folder / name).write_text("x")
        return folder

    return make


class TestFolder:
    def test_only_its_owner_can_read_it(self, tmp_path):
        mask = os.umask(0)
        try:
            with private_folder(tmp_path) as folder:
                assert folder.parent == tmp_path
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700
                assert stat.S_IMODE((folder / "lock").stat().st_mode) == 0o600
        finally:
            os.umask(mask)
        assert list(tmp_path.iterdir()) == []

    def test_content_goes_with_it(self, tmp_path):
        with private_folder(tmp_path) as folder:
            (folder / "release.csv").write_text("x")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_gone_after_errors(self, tmp_path, error):
        with pytest.raises(error), private_folder(tmp_path) as folder:
            (folder / "release.csv").write_text("x")
            raise error
        assert list(tmp_path.iterdir()) == []

    def test_among_temporary_files(self, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with private_folder() as folder:
            assert folder.parent == tmp_path
        assert list(tmp_path.iterdir()) == []

    def test_two_at_once(self, tmp_path):
        with private_folder(tmp_path) as one, private_folder(tmp_path) as other:
            assert one != other
            assert folders(tmp_path) == sorted([one, other])

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT])
    def test_full_disk(self, tmp_path, number):
        with pytest.raises(TargetError, match="the disk is full"), private_folder(tmp_path):
            raise OSError(number, os.strerror(number))
        assert list(tmp_path.iterdir()) == []

    def test_other_errors_of_the_system_pass(self, tmp_path):
        with pytest.raises(PermissionError), private_folder(tmp_path):
            raise PermissionError(errno.EACCES, "no")

    def test_no_such_folder(self, tmp_path):
        with pytest.raises(TargetError, match="there is no such folder"), private_folder(tmp_path / "none"):
            pass

    def test_a_file(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(TargetError, match="is not a folder"), private_folder(tmp_path / "file"):
            pass

    def test_cannot_be_made(self, tmp_path, monkeypatch):
        def refuse(*_, **__):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "mkdir", refuse)
        with pytest.raises(TargetError, match="cannot be written to: No space left"), private_folder(tmp_path):
            pass


class TestSweep:
    def test_what_a_killed_process_left(self, tmp_path, abandoned):
        abandoned("release.csv", "certificate.json")
        abandoned()
        abandoned(lock=False)  # killed before it had its lock, or while it tidied up
        with private_folder(tmp_path) as folder:
            assert folders(tmp_path) == [folder]

    def test_not_what_is_in_use(self, tmp_path, abandoned):
        used = abandoned("release.csv")
        descriptor = os.open(used / "lock", os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with private_folder(tmp_path):
                assert (used / "release.csv").exists()
        finally:
            os.close(descriptor)
        with private_folder(tmp_path) as folder:
            assert folders(tmp_path) == [folder]

    def test_not_what_was_never_ours(self, tmp_path, abandoned):
        strange = abandoned("precious", lock=False)
        (tmp_path / "other").mkdir()
        (tmp_path / f"{PREFIX}file").touch()
        with private_folder(tmp_path):
            pass
        assert (strange / "precious").exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([strange.name, f"{PREFIX}file", "other"])

    def test_the_lock_goes_last(self, tmp_path, monkeypatch):
        """Killed while it removes a folder, a process leaves what the next one can still sweep."""
        removed = []
        unlink = Path.unlink
        monkeypatch.setattr(Path, "unlink", lambda path, **how: (removed.append(path.name), unlink(path, **how)))
        with private_folder(tmp_path) as folder:
            for name in ("a", "zz"):
                (folder / name).touch()
        assert sorted(removed) == ["a", "zz"]  # the lock goes with the folder itself, afterwards

    @pytest.mark.parametrize("moment", ["before the lock is made", "before it is taken", "while another holds it"])
    def test_swept_by_another_run_at_birth(self, tmp_path, monkeypatch, moment):
        """Another run may take a folder that is not locked yet for an abandoned one: a new one is made."""
        lost, held = [], []
        take, make = fcntl.flock, os.open

        def sweep(folder):
            if not lost:
                lost.append(folder)
                if (folder / "lock").exists():
                    (folder / "lock").unlink()
                folder.rmdir()

        def open_late(path, *how, **named):
            if moment == "before the lock is made" and Path(path).name == "lock":
                sweep(Path(path).parent)
            return make(path, *how, **named)

        def take_late(descriptor, how):
            if moment == "before it is taken":
                sweep(folders(tmp_path)[0]) if not lost else None
            elif moment == "while another holds it" and not held:
                held.append(make(folders(tmp_path)[0] / "lock", os.O_RDWR))
                take(held[0], fcntl.LOCK_EX)
            return take(descriptor, how)

        monkeypatch.setattr(os, "open", open_late)
        monkeypatch.setattr(fcntl, "flock", take_late)
        with private_folder(tmp_path) as folder:
            assert folder.exists()
            assert folder not in lost
            assert (folder / "lock").exists()
        assert lost or held
        for descriptor in held:
            os.close(descriptor)
        monkeypatch.undo()
        with private_folder(tmp_path):
            pass
        assert list(tmp_path.iterdir()) == []


class TestPlace:
    @pytest.fixture
    def written(self, tmp_path):
        folder = tmp_path / "private"
        folder.mkdir()
        (folder / "release.csv").write_text("new")
        return folder / "release.csv"

    def test_both(self, tmp_path, written):
        target = tmp_path / "release.csv"
        place(written, target, {"größe": 1})
        assert target.read_text() == "new"
        assert json.loads(certificate_path(target).read_text(encoding="utf-8")) == {"größe": 1}
        assert list(written.parent.iterdir()) == []

    def test_name_of_the_certificate(self):
        assert certificate_path(Path("a/b.csv")) == Path("a/b.csv.sudare.json")

    def test_order(self, tmp_path, written, monkeypatch):
        """The old release goes, the new certificate comes, the new release comes: at no time a wrong pair."""
        target = tmp_path / "release.csv"
        target.write_text("old")
        certificate_path(target).write_text("old")
        steps = []
        replace, unlink = Path.replace, Path.unlink

        def note(action, path):
            names = (target, certificate_path(target))
            steps.append((action, path.name, *(name.read_text()[:3] if name.exists() else "" for name in names)))

        monkeypatch.setattr(Path, "replace", lambda path, to: (note("place", to), replace(path, to)))
        monkeypatch.setattr(Path, "unlink", lambda path, **how: (note("remove", path), unlink(path, **how)))
        place(written, target, {})
        assert steps == [
            ("remove", "release.csv", "old", "old"),
            ("place", "release.csv.sudare.json", "", "old"),
            ("place", "release.csv", "", "{}\n"),
        ]

    @pytest.mark.parametrize("failing", ["release.csv", "release.csv.sudare.json"])
    @pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
    def test_nothing_is_left_where_it_fails(self, tmp_path, written, monkeypatch, failing, error):
        target = tmp_path / "release.csv"
        replace = Path.replace

        def fail(path, to):
            if to.name == failing:
                raise error
            return replace(path, to)

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(TargetError if isinstance(error, OSError) else KeyboardInterrupt):
            place(written, target, {})
        assert [path.name for path in tmp_path.iterdir()] == ["private"]

    def test_old_pair_stays_where_the_old_release_cannot_be_removed(self, tmp_path, written, monkeypatch):
        target = tmp_path / "release.csv"
        target.write_text("old")
        certificate_path(target).write_text("old")

        def refuse(*_, **__):
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(Path, "unlink", refuse)
        with pytest.raises(TargetError, match="cannot be put in place: Operation not permitted"):
            place(written, target, {})
        assert (target.read_text(), certificate_path(target).read_text()) == ("old", "old")


def test_the_sweep_follows_no_links_and_leaves_other_folders_alone(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    for name in ("lock", "important.txt"):
        (victim / name).write_text("keep")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / f"{PREFIX}evil").symlink_to(victim)
    with private_folder(shared):
        pass
    assert sorted(path.name for path in victim.iterdir()) == ["important.txt", "lock"]


def test_the_sweep_removes_folders_within(tmp_path):
    stale = tmp_path / f"{PREFIX}stale"
    (stale / "inner" / "deeper").mkdir(parents=True)
    (stale / "inner" / "spilled").write_text("cells")
    (stale / "lock").touch()
    with private_folder(tmp_path):
        assert not stale.exists()
