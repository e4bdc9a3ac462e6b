"""Policies, plans, hierarchies and data that anybody may have written: all end within bounds, with exit code 2."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from itertools import pairwise

import pytest
from typer.testing import CliRunner

import sudare
from sudare.cli import app
from sudare.core.errors import HierarchyError, PolicyError
from sudare.policy import Policy

PATIENCE = 600
POLICY = """
columns:
  age: {role: quasi}
  job: {role: quasi, hierarchy: %s}
  ill: {role: sensitive%s}
require: [{model: k-anonymity, k: 2}%s]
"""
SECRET = "TOPSECRET"


def aliases(first="[x, x, x, x, x, x, x, x, x]", line="&%s [%s]", times=9):
    """Nine levels of nine aliases each: some hundred bytes, and billions of nodes."""
    names = "abcdefghij"
    lines = [f"{name}: " + line % (name, ", ".join([f"*{below}"] * times)) for below, name in pairwise(names)]
    return "\n".join([f"a: &a {first}", *lines]) + "\n"


BOMBS = {
    "aliases": aliases(),
    "aliases-in-a-tree": aliases() + POLICY % ("{tree: *j}", "", ""),
    "aliases-of-mappings": aliases("{x: 1, y: 2}", "&%s {k: [%s]}"),
    "merges": aliases("{x: 1, y: 2}", "&%s {<<: [%s]}"),
    "aliases-as-a-chain": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 5000)),
    "itself": "&a [*a]\n",
    "itself-in-a-mapping": "columns: &a {x: *a}\n",
    "brackets": "[" * 100_000,
    "braces": "{a: " * 100_000,
    "dashes": "- " * 100_000,
    "closed-brackets": "[" * 100_000 + "]" * 100_000,
    "many-nodes": "columns: [" + "a," * 300_000 + "a]\n",
    "large": "#" * (3 << 20),
    "tag": "columns: !!python/object/apply:os.system ['touch pwned']\n",
    "tag-at-the-top": "!!python/object/new:os.system ['touch pwned']\n",
    "keys-twice": "columns:\n  age: {role: quasi}\n  age: {role: sensitive}\n",
    "two-documents": "a: 1\n---\nb: 2\n",
    "nothing": "",
    "long-number": "version: 1" + "0" * 100_000 + "\n",
    "nul": "columns: \0\n",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table, a hierarchy, and a pipe that nobody writes to; one is in it."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + row % 30},{'ab'[row % 2]},{'xyz'[row % 3]}\n" for row in range(60)]
    (tmp_path / "data.csv").write_text("age,job,ill\n" + "".join(rows))
    (tmp_path / "job.csv").write_text("a;*\nb;*\n")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    return tmp_path


def refused(*words):
    """Run a command that has to end with exit code 2, and return what it said."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    said = done.output + (str(done.exception) if isinstance(done.exception, sudare.SudareError) else "")
    assert done.exit_code == 2, said
    assert "Traceback" not in said
    assert "unexpected" not in said
    return said


def written(folder, text, name="policy.yaml"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_policy_is_refused(here, name):
    path = written(here, BOMBS[name])
    refused("anonymize", "data.csv", "--policy", path, "--out", "out.csv")
    assert not (here / "out.csv").exists()
    assert not (here / "pwned").exists()


@pytest.mark.parametrize("name", ["aliases-in-a-tree", "merges", "brackets", "many-nodes"])
def test_a_hostile_policy_takes_little_memory(here, name):
    """A process of its own, which may take no more than a gigabyte and a half of addresses."""
    path = written(here, BOMBS[name])
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))\n"
        "from sudare.policy import Policy\n"
        "from sudare.core.errors import PolicyError\n"
        "try:\n    Policy.load(sys.argv[1])\nexcept PolicyError:\n    sys.exit(2)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], timeout=PATIENCE, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(
    "text",
    [b"columns: {\xe9: {role: quasi}}\n", (POLICY % ("job.csv", "", "")).encode("utf-16"), b"\xff\xfe\x00"],
)
def test_text_that_is_not_utf8(here, text):
    assert "UTF-8" in refused("anonymize", "data.csv", "--policy", written(here, text), "--out", "out.csv")


def test_a_mark_at_the_beginning_is_no_harm(here):
    path = written(here, b"\xef\xbb\xbf" + (POLICY % ("job.csv", "", "")).encode())
    assert Policy.load(path).quasi == ["age", "job"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"columns": {"job": {"role": "quasi", "hierarchy": {"tree": ' + "[" * 900 + '"x"' + "]" * 900 + "}}}}",
        '{"version": 1' + "0" * 100_000 + "}",
        '{"version": 1, "version": 1}',
        "\0",
    ],
    ids=["lists", "mappings", "tree", "number", "twice", "nul"],
)
def test_hostile_json(here, text):
    refused("anonymize", "data.csv", "--policy", written(here, text, "policy.json"), "--out", "out.csv")
    refused("apply", written(here, text, "plan.json"), "data.csv", "--out", "out.csv")


def test_a_long_text_is_not_repeated_in_the_message(here):
    path = written(here, "columns: " + "x" * (1 << 20) + "\n")
    said = refused("anonymize", "data.csv", "--policy", path, "--out", "out.csv")
    assert len(said) < 1000


def test_a_mapping_in_python_is_held_to_the_same(here):
    part: list = ["x"]
    for _ in range(40):
        part = [part, part]
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    loop: list = []
    loop.append(loop)
    for tree in (part, deep, loop):
        given = {"columns": {"job": {"role": "quasi", "hierarchy": {"tree": tree}}}, "require": []}
        with pytest.raises(PolicyError, match=r"nested deeper|repeats parts"):
            sudare.load_policy(given)


def test_a_few_aliases_are_welcome(here):
    text = "x: &x {role: quasi}\ncolumns: {age: *x, zip: *x}\nrequire: [{model: k-anonymity, k: 2}]\n"
    with pytest.raises(PolicyError, match="x: is not a key here"):  # and nothing else is wrong
        Policy.load(written(here, text))


# -- files that are named ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["/dev/zero", "pipe.csv", "zero.csv", ".", "/etc", "socket.csv", "none.csv"])
@pytest.mark.parametrize("outside", [[], ["--allow-outside"]], ids=["inside", "outside"])
def test_a_hierarchy_is_a_regular_file(here, file, outside):
    bound = socket.socket(socket.AF_UNIX)
    bound.bind("socket.csv")
    path = written(here, POLICY % (file, "", ""))
    refused("anonymize", "data.csv", "--policy", path, "--out", "out.csv", *outside)
    bound.close()


@pytest.mark.parametrize("file", ["../secret.csv", "/etc/passwd", "link.csv", "below/../../secret.csv"])
def test_a_hierarchy_lies_in_the_folder_of_the_policy(here, file):
    folder = here / "policies"
    folder.mkdir()
    (here / "secret.csv").write_text(f"{SECRET}1;{SECRET}2;*\n{SECRET}1;{SECRET}3;*\nq;x\n")
    (folder / "link.csv").symlink_to(here / "secret.csv")
    (folder / "below").mkdir()
    path = written(folder, POLICY % (file, "", ""))
    for words in (
        ["anonymize", "data.csv", "--out", "out.csv"],
        ["explore", "data.csv"],
        ["calibrate"],
        ["compare", "data.csv"],
        ["risk", "data.csv"],
        ["audit", "data.csv"],
        ["report", "data.csv", "--data", "data.csv", "--out", "report.html"],
        ["hierarchy", "gaps", "data.csv", "--column", "job", "--out", "gaps.txt"],
    ):
        said = refused(*words, "--policy", path)
        assert "is outside the folder of the policy" in said
        assert "--allow-outside" in said
        assert SECRET not in said
        assert "root:" not in said
    said = refused("anonymize", "data.csv", "--policy", path, "--out", "out.csv", "--allow-outside")
    assert "is outside" not in said
    assert SECRET not in said
    assert "root:" not in said


def test_what_lies_below_the_folder_and_links_within_are_welcome(here):
    (here / "below").mkdir()
    (here / "below" / "job.csv").write_text("a;*\nb;*\n")
    (here / "link.csv").symlink_to(here / "below" / "job.csv")
    for file in ("below/job.csv", "link.csv", str(here / "job.csv")):
        done = sudare.anonymize("data.csv", written(here, POLICY % (file, "", "")))
        assert done.certificate["rows_out"] == 60


def test_outside_is_allowed_by_the_flag_and_in_python(here):
    folder = here / "policies"
    folder.mkdir()
    path = written(folder, POLICY % ("../job.csv", "", ""))
    with pytest.raises(PolicyError, match="is outside"):
        sudare.load_policy(path)
    allowed = sudare.load_policy(path, allow_outside=True)
    assert sudare.anonymize("data.csv", allowed).certificate["rows_out"] == 60
    done = CliRunner().invoke(app, ["anonymize", "data.csv", "-p", str(path), "-o", "out.csv", "--allow-outside"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["audit", "out.csv", "-p", str(path), "--allow-outside"])
    assert done.exit_code == 0, done.output


def test_a_mapping_may_name_any_file_unless_it_is_told_not_to(here, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "job.csv"
    other.write_text("a;*\nb;*\n")
    columns = {
        "age": {"role": "quasi"},
        "job": {"role": "quasi", "hierarchy": str(other)},
        "ill": {"role": "sensitive"},
    }
    given = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    assert sudare.anonymize("data.csv", given).certificate["rows_out"] == 60
    with pytest.raises(PolicyError, match="is outside"):
        sudare.load_policy(given, allow_outside=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("h.csv", f"{SECRET}1;{SECRET}2;*\n{SECRET}1;{SECRET}3;*\n{SECRET}2;x;*\ny;{SECRET}4\n"),
        ("h.csv", f'"{SECRET}1;{SECRET}2;*\n'),
        ("h.yaml", f"{SECRET}1: [a]\n{SECRET}1: [b]\n"),
        ("h.yaml", f"{SECRET}1: {{{SECRET}2: []}}\n"),
        ("h.yaml", f"{SECRET}1: [{SECRET}2]\n{SECRET}3: [{SECRET}2, {{{SECRET}4: [x]}}]\n"),
        ("h.yaml", f"{SECRET}: [[{SECRET}]]\n"),
        ("h.yaml", f"{SECRET}: {SECRET}: x\n"),
        ("h.yaml", aliases()),
        ("h.json", "[" * 100_000),
    ],
)
def test_no_message_quotes_what_a_hierarchy_holds(here, name, text):
    """Neither the maker's reader nor the audit's own one."""
    written(here, text, name)
    path = written(here, POLICY % (name, "", ""))
    assert SECRET not in refused("anonymize", "data.csv", "--policy", path, "--out", "out.csv")
    assert SECRET not in refused("hierarchy", "show", name)
    near = ", {model: t-closeness, t: 1, column: ill, distance: hierarchical}"
    path = written(here, POLICY % ("job.csv", f", hierarchy: {name}", near))
    said = refused("audit", "data.csv", "--policy", path)
    assert SECRET not in said
    assert "hierarchy" in said


@pytest.mark.parametrize("file", ["/dev/zero", "pipe.csv", "zero.csv", "/etc", "../../../../../../../../etc/passwd"])
def test_the_audit_has_the_same_care_of_its_own(here, file):
    from sudare.audits.hierarchy import read_tree
    from sudare.policy import HierarchySpec

    with pytest.raises(HierarchyError):
        read_tree(HierarchySpec(file=file), here, "ill", [], anywhere=False)
    if file != "../../../../../../../../etc/passwd":
        with pytest.raises(HierarchyError):
            read_tree(HierarchySpec(file=file), here, "ill", [], anywhere=True)


@pytest.mark.parametrize("name", ["aliases", "merges", "aliases-as-a-chain", "itself", "brackets", "dashes"])
def test_the_audit_reads_no_hostile_yaml(here, name):
    from sudare.audits.hierarchy import read_tree
    from sudare.policy import HierarchySpec

    written(here, BOMBS[name], "tree.yaml")
    with pytest.raises(HierarchyError, match="not well formed"):
        read_tree(HierarchySpec(file="tree.yaml"), here, "ill", [])


@pytest.mark.parametrize("file", ["pipe.csv", "zero.csv", "/dev/zero", "/dev/stdin", "/dev/null", ".", "socket.csv"])
def test_data_releases_and_plans_are_regular_files(here, file):
    bound = socket.socket(socket.AF_UNIX)
    bound.bind("socket.csv")
    path = written(here, POLICY % ("job.csv", "", ""))
    for words in (
        ["anonymize", file, "--policy", path, "--out", "out.csv"],
        ["init", file],
        ["audit", file, "--policy", path],
        ["apply", file, "data.csv", "--out", "out.csv"],
        ["apply", "data.csv", file, "--out", "out.csv"],
        ["hierarchy", "show", file],
        ["estimate", file, "--of", "ill"],
        ["risk", file, "--policy", path],
        ["risk", "data.csv", "--policy", path, "--population", file],
        ["risk", "data.csv", "--policy", path, "--release", file],
        ["report", file, "--data", "data.csv", "--policy", path, "--out", "report.html"],
        ["anonymize", "data.csv", "--policy", file, "--out", "out.csv"],
    ):
        refused(*words)
    bound.close()


def test_a_certificate_is_a_regular_file(here):
    path = written(here, POLICY % ("job.csv", "", ""))
    sudare.anonymize("data.csv", path, out="out.csv")
    certificate = here / "out.csv.sudare.json"
    assert json.loads(certificate.read_text())["rows_out"] == 60
    certificate.unlink()
    os.mkfifo(certificate)
    assert CliRunner().invoke(app, ["audit", "out.csv", "-p", str(path)]).exit_code in (1, 2)
    refused("estimate", "out.csv", "--of", "ill")
