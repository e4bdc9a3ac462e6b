"""The memory that this process holds, and the most that it ever held, as each system reports it.

==========  ====================================================  ==========================================
system      the most so far                                       can it be set back to what is held now?
==========  ====================================================  ==========================================
Linux       ``VmHWM`` of ``/proc/self/status``                    yes, by ``/proc/self/clear_refs``
macOS, BSD  ``getrusage``, in bytes on macOS, else in KiB         no
Windows     ``PeakWorkingSetSize`` of ``GetProcessMemoryInfo``    no
==========  ====================================================  ==========================================
"""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

_STATUS, _REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


def held() -> int | None:
    """Return the bytes of memory that this process holds now, or None if the system does not report them."""
    return _status("VmRSS")


def peak() -> int | None:
    """Return the most bytes of memory that this process held so far, or None if the system does not report them."""
    found = _status("VmHWM")
    return _most_of_life() if found is None else found


def reset_peak() -> bool:
    """Forget the most that was held so far; return whether the system can do that."""
    try:
        _REFERENCES.write_text(_RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


def available_on_windows() -> int | None:
    """Return the bytes of memory that Windows has free, or None on other systems."""
    if sys.platform == "win32":
        found = MemoryStatus()
        found.dwLength = ctypes.sizeof(found)
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(found)):
            return int(found.ullAvailPhys)
    return None


class MemoryStatus(ctypes.Structure):
    """``MEMORYSTATUSEX`` of Windows: the memory of the machine."""

    _fields_ = (
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    )


class MemoryCounters(ctypes.Structure):
    """``PROCESS_MEMORY_COUNTERS`` of Windows: the memory of a process."""

    _fields_ = (
        ("cb", ctypes.c_uint32),
        ("PageFaultCount", ctypes.c_uint32),
        ("PeakWorkingSetSize", ctypes.c_size_t),
        ("WorkingSetSize", ctypes.c_size_t),
        ("QuotaPeakPagedPoolUsage", ctypes.c_size_t),
        ("QuotaPagedPoolUsage", ctypes.c_size_t),
        ("QuotaPeakNonPagedPoolUsage", ctypes.c_size_t),
        ("QuotaNonPagedPoolUsage", ctypes.c_size_t),
        ("PagefileUsage", ctypes.c_size_t),
        ("PeakPagefileUsage", ctypes.c_size_t),
    )


def _most_of_life() -> int | None:
    """Return the most that was held so far on systems without ``/proc``."""
    if sys.platform == "win32":
        system = ctypes.WinDLL("kernel32", use_last_error=True)
        system.GetCurrentProcess.restype = ctypes.c_void_p  # a handle, which is as wide as a pointer
        system.K32GetProcessMemoryInfo.argtypes = [ctypes.c_void_p, ctypes.POINTER(MemoryCounters), ctypes.c_uint32]
        found = MemoryCounters()
        found.cb = ctypes.sizeof(found)
        told = system.K32GetProcessMemoryInfo(system.GetCurrentProcess(), ctypes.byref(found), found.cb)
        return int(found.PeakWorkingSetSize) if told else None
    else:  # noqa: RET505 - a checker of types knows only this form
        import resource

        return usage_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sys.platform)


def usage_bytes(most: int, system: str) -> int:
    """Return how many bytes ``ru_maxrss`` stands for on a system: macOS counts bytes, all others KiB."""
    return most if system == "darwin" else 1024 * most


def _status(key: str) -> int | None:
    """Return a figure of ``/proc/self/status`` in bytes, or None where there is no such file."""
    try:
        found = re.search(rf"^{key}:\s+(\d+) kB$", _STATUS.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else 1024 * int(found[1])
