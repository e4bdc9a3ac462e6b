"""What only some systems have is used in one place; texts are opened with an encoding and with the same line ends.

``make static-checks`` also lets mypy look at the code as on Windows and on macOS; it knows what their libraries lack.
"""

from __future__ import annotations

import ast

import pytest

from .test_imports import imported, modules, nodes

PLACES = ("core/operating_system.py", "core/process_memory.py")
"""The only files that may use what some systems do not have."""
SOME_MODULES = {
    "fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "crypt", "spwd", "nis",
    "msvcrt", "winreg", "winsound", "_winapi", "nt",
}  # fmt: skip
SOME_NAMES = {
    "os": {
        "fork", "forkpty", "geteuid", "getuid", "getegid", "getgid", "getpgid", "killpg", "setsid", "chown", "lchown",
        "fchmod", "fchown", "umask", "mkfifo", "mknod", "openpty", "uname", "sysconf", "getloadavg", "nice", "pipe2",
        "statvfs", "sched_getaffinity", "posix_fallocate", "posix_spawn", "wait", "waitpid", "WNOHANG", "O_NONBLOCK",
        "O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_DIRECTORY", "O_SYNC", "O_DSYNC", "O_TMPFILE", "O_BINARY", "fchdir",
        "link", "EX_OK", "EX_USAGE", "startfile",
    },
    "signal": {
        "SIGHUP", "SIGALRM", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGBREAK", "setitimer",
        "ITIMER_REAL", "alarm", "pause", "pthread_kill", "pthread_sigmask", "sigwait", "siginterrupt",
    },
    "errno": {"EDQUOT"},
    "time": {"tzset"},
    "select": {"poll", "epoll", "kqueue"},
}  # fmt: skip
ASKED_FIRST = {
    # what is used only where there is such a thing, and why
    ("core/memory.py", "os.sysconf"): "macOS",
    ("table/array_storage.py", "os.posix_fallocate"): "elsewhere the file is only made longer",
    ("pipeline/spark/spark_release.py", "os.link"): "Windows has it, too; on one file system",
}


def only_some_have(path: str, tree: list[ast.AST]) -> set[str]:
    """The names in a syntax tree that some systems do not have, without those that are asked for first."""
    found = set()
    for node in tree:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in SOME_NAMES.get(node.value.id, ()):
                found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module in SOME_NAMES:
            found |= {f"{node.module}.{each.name}" for each in node.names if each.name in SOME_NAMES[node.module]}
        if isinstance(node, ast.keyword) and node.arg in ("dir_fd", "src_dir_fd", "preexec_fn", "start_new_session"):
            found.add(node.arg)
    return {name for name in found if (path, name) not in ASKED_FIRST}


@pytest.mark.parametrize("path", modules())
def test_what_only_some_systems_have_is_used_in_one_place(path):
    if path in PLACES:
        return
    assert not SOME_MODULES & {name.split(".")[0] for name in imported(path)}
    assert not only_some_have(path, nodes(path))


@pytest.mark.parametrize("path", modules())
def test_texts_have_an_encoding_and_line_ends(path):
    """What the system would take otherwise differs from country to country, and from system to system."""
    for node in nodes(path):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        given = {each.arg for each in node.keywords}
        if node.func.attr in ("read_text", "write_text") and isinstance(node.func.value, ast.Name | ast.Call):
            assert "encoding" in given or len(node.args) > 1, f"{path}:{node.lineno}"
        if node.func.attr == "write_text" and path not in PLACES:
            assert "newline" in given, f"{path}:{node.lineno}"
        modes = [each.value for each in node.keywords if each.arg == "mode"] or node.args[:1]
        mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else None
        if node.func.attr == "open" and mode in ("r", "w", "x", "a", "rt", "wt"):
            assert "encoding" in given, f"{path}:{node.lineno}"
            assert mode.startswith("r") or "newline" in given, f"{path}:{node.lineno}"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import os\nos.geteuid()", {"os.geteuid"}),
        ("from signal import SIGALRM, SIGINT", {"signal.SIGALRM"}),
        ("import os\nos.unlink('x', dir_fd=3)", {"dir_fd"}),
        ("import os\nos.replace('x', 'y')", set()),
    ],
)
def test_such_a_name_is_noticed(code, names):
    assert only_some_have("any.py", list(ast.walk(ast.parse(code)))) == names


def test_what_is_asked_for_first_is_still_there():
    for path, name in ASKED_FIRST:
        assert name in only_some_have("", list(nodes(path))), f"{path} does not use {name}"
