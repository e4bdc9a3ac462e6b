"""What differs between operating systems: locks, names, and what stops a process; here by the code of this system.

The code for Windows is run by tests/cli/test_like_windows.py.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core import operating_system as system
from sudare.policy.policy import same_drive


@pytest.mark.parametrize(
    "name",
    ["CON", "con", "nul.csv", "Aux.tar.gz", "COM1", "com¹.csv", "lpt9.parquet", "CON .csv", "CONIN$", "a:b.csv",
     "a?.csv", 'a"b', "a|b", "a<b", "a\tb", "a*.csv", "release.", "release "],
)  # fmt: skip
def test_names_that_windows_does_not_have(name):
    assert system.windows_name_problem(name)


@pytest.mark.parametrize(
    "name",
    [
        "release.csv",
        "Auswertung März 2024.csv",
        "console.csv",
        "com10.csv",
        "com.csv",
        "lpt",
        ".sudare-lock",
        "二#1.csv",
    ],
)
def test_names_that_windows_has(name):
    assert not system.windows_name_problem(name)


@given(st.sampled_from(["con", "prn", "aux", "nul", "com3", "lpt0"]), st.text(max_size=5))
def test_a_device_has_any_ending(device, ending):
    assert system.windows_name_problem(f"{device}.{ending}")


@pytest.mark.skipif(os.sep == "\\", reason="these are names of devices here")
def test_other_systems_have_no_such_rule():
    assert system.name_problems(Path("con.csv")) == []
    assert system.backslash_is_letter()


def test_a_release_has_no_name_of_a_device(monkeypatch, tmp_path):
    import pyarrow as pa

    import sudare

    monkeypatch.setattr(system, "backslash_is_letter", lambda: False)
    table = pa.table({"age": [1, 1, 2, 2]})
    rules = {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(sudare.SudareError, match=r"nul\.csv: is the name of a device on Windows"):
        sudare.anonymize(table, rules, out=tmp_path / "nul.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_held_until_the_file_is_closed(tmp_path):
    path = tmp_path / "lock"
    one, other = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    try:
        system.lock(one, wait=False)
        with pytest.raises(BlockingIOError):
            system.lock(other, wait=False)
        os.close(one)
        one = -1
        system.lock(other, wait=False)
    finally:
        for each in (one, other):
            if each >= 0:
                os.close(each)


def test_a_folder_is_locked_by_one_at_a_time(tmp_path):
    inside, most = [0], [0]

    def work():
        for _ in range(20):
            with system.locked_folder(tmp_path) as flush:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                flush()
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(200)
    assert most == [1]
    assert list(tmp_path.iterdir()) == []


def test_full_disks_are_known_by_their_numbers():
    assert {errno.ENOSPC, errno.EFBIG} <= set(system.FULL_DISK)


def test_every_system_is_stopped_by_two_signals_at_least():
    assert {signal.SIGINT, signal.SIGTERM} <= set(system.STOPS)
    assert not set(system.STOPS) & set(system.ALARM)


@pytest.mark.parametrize(
    ("folder", "file", "same"),
    [
        (r"C:\data", "tree.csv", True),
        (r"C:\data", r"below\tree.csv", True),
        (r"C:\data", "below/tree.csv", True),
        (r"C:\data", r"c:\data\tree.csv", True),
        (r"C:\data", r"D:\data\tree.csv", False),
        (r"C:\data", "D:tree.csv", False),
        (r"C:\data", r"\\evil\share\tree.csv", False),
        (r"C:\data", "//evil/share/tree.csv", False),
        (r"C:\data", r"\\?\UNC\evil\share\tree.csv", False),
        (r"\\server\share\policies", "tree.csv", True),
        (r"\\server\share\policies", r"\\server\other\tree.csv", False),
        (r"C:\Meine Daten\März", "Bäume für alle.csv", True),
    ],
)
def test_a_hierarchy_is_on_the_drive_of_its_policy(folder, file, same):
    """Before anything is asked of the system: a share that a policy names would learn who asks."""
    assert same_drive(PureWindowsPath(folder), file) is same
