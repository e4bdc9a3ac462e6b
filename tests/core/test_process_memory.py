"""The memory of a process, as this system reports it; and the sizes of what Windows would fill in."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from sudare.core import memory, process_memory
from sudare.core.sizes import MIB


def test_the_most_is_no_less_than_what_is_held():
    before = process_memory.peak()
    assert before is not None
    block = np.ones(64 * MIB, np.uint8)
    after = process_memory.peak()
    assert after >= (process_memory.held() or 0)
    assert after > 32 * MIB
    assert len(block) == 64 * MIB


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can")
def test_linux_forgets_what_is_given_back():
    block = np.ones(256 * MIB, np.uint8)
    assert process_memory.peak() > 256 * MIB
    del block
    assert process_memory.reset_peak()
    assert process_memory.peak() - process_memory.held() < 64 * MIB


def test_units_differ_by_system():
    assert process_memory.usage_bytes(3 * MIB, "darwin") == 3 * MIB
    assert process_memory.usage_bytes(3 * 1024, "linux") == 3 * MIB


WITHOUT_PROC = """
import sys
from pathlib import Path
from sudare.core import memory, process_memory
by_proc = process_memory.peak()
process_memory._STATUS = process_memory._REFERENCES = Path("/nowhere/at/all")
assert process_memory.held() is None
assert not process_memory.reset_peak()
by_usage = process_memory.peak()
assert by_proc * 3 // 4 < by_usage < 1 << 40, (by_usage, by_proc)  # Linux counts what its parent held when it began
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="compares two ways that only Linux has")
def test_where_there_is_no_proc_the_usage_is_asked_for():
    subprocess.run([sys.executable, "-c", WITHOUT_PROC], check=True, timeout=600)


@pytest.mark.skipif(sys.platform == "win32", reason="this is the other way")
def test_what_windows_has_free_is_not_asked_for_elsewhere():
    assert process_memory.available_on_windows() is None
    assert memory.available() > MIB


def test_what_windows_fills_in_is_as_long_as_its_manual_says():
    assert ctypes.sizeof(process_memory.MemoryStatus) == 64
    wide = ctypes.sizeof(ctypes.c_void_p) == 8
    assert ctypes.sizeof(process_memory.MemoryCounters) == (72 if wide else 40)
