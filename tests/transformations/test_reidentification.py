"""The way back: only with the key, only to a file of one's own, and only after the log is on the disk."""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, ParameterError, PolicyError, SudareError, TargetError
from sudare.core.operating_system import user_name
from sudare.policy import Policy
from sudare.transformations import reidentification
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.pseudonyms import pseudonyms
from sudare.transformations.secret_keys import load_key

IDS = ["P-1001", "P-1002", " P-1003 ", None, "P-1004", "P-1004"]


class Hospital:
    """A folder with a key, a policy and a table of patients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        sudare.new_secret_key(folder / "a.key")
        self.rules = {
            "columns": {
                "patient": {"role": "subject", "transform": {"pseudonym": {"key": {"file": "a.key"}}}},
                "age": {"role": "quasi"},
            },
            "require": [{"model": "k-anonymity", "k": 2}],
        }
        self.write()

    def write(self, **about) -> None:
        self.rules["columns"]["patient"]["transform"]["pseudonym"].update(about)
        (self.folder / "policy.json").write_text(json.dumps(self.rules), encoding="utf-8", newline="")

    @property
    def policy(self) -> Policy:
        return Policy.load(self.folder / "policy.json")

    def pseudonyms(self, *ids: str) -> list[str]:
        spec = self.policy.columns["patient"].transform[0].pseudonym
        key = load_key(spec.key, self.folder, "here")
        return pseudonyms(key, spec, normal_texts(pa.array(ids))).to_pylist()

    def ask(self, asked, *, ids=None, **more):
        given = {"column": "patient", "reason": "a test is positive", "out": self.folder / "out.csv"} | more
        table = pa.table({"patient": IDS}) if ids is None else ids
        return sudare.reidentify(self.folder / "policy.json", ids=table, pseudonyms=asked, **given)

    @property
    def rows(self) -> list[list[str]]:
        with (self.folder / "out.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    @property
    def log(self) -> list[dict]:
        text = (self.folder / reidentification.LOG).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def hospital(tmp_path):
    return Hospital(tmp_path)


@pytest.mark.parametrize(
    "about", [{}, {"form": "base32"}, {"form": "digits", "length": 12}, {"space": "lab"}, {"length": 64}]
)
def test_the_values_behind_pseudonyms(hospital, about):
    hospital.write(**about)
    third, first, nobody = hospital.pseudonyms("P-1003", "P-1001", "somebody else")
    found = hospital.ask([third, first.upper(), f" {third}\n", nobody])
    assert (found.asked, found.found, found.not_found) == (3, 2, 1)
    assert hospital.rows == [["pseudonym", "id"], [third, "P-1003"], [first, "P-1001"]]
    assert found.path == hospital.folder / "out.csv"
    assert os.name != "posix" or found.path.stat().st_mode & 0o777 == 0o600


def test_what_the_log_says(hospital):
    asked = hospital.pseudonyms("P-1001", "nobody")
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    found = hospital.ask(asked, reason="  call back:\tpositive\n test ")
    [entry] = hospital.log
    assert before <= dt.datetime.fromisoformat(entry.pop("time")) <= dt.datetime.now(dt.UTC)
    assert entry == {
        "user": user_name(),
        "reason": "call back: positive test",
        "column": "patient",
        "space": None,
        "key": found.fingerprint,
        "asked": 2,
        "found": 1,
        "not_found": 1,
        "sudare": sudare.__version__,
    }
    assert os.name != "posix" or found.log.stat().st_mode & 0o777 == 0o600
    hospital.ask(asked[1:], out=hospital.folder / "second.csv")
    assert [entry["found"] for entry in hospital.log] == [1, 0]


def test_the_user_is_whom_the_system_knows(hospital, monkeypatch):
    """What the environment says could be anybody."""
    pwd = pytest.importorskip("pwd")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    hospital.ask(hospital.pseudonyms("P-1001"))
    assert [entry["user"] for entry in hospital.log] == [pwd.getpwuid(os.getuid()).pw_name]


def test_nothing_found_is_logged_and_no_file_is_written(hospital):
    found = hospital.ask(hospital.pseudonyms("nobody"))
    assert found.path is None
    assert found.to_dict()["out"] is None
    assert not (hospital.folder / "out.csv").exists()
    assert [entry["not_found"] for entry in hospital.log] == [1]


def test_values_with_one_pseudonym_are_all_given(hospital):
    hospital.write(form="digits", length=7)
    ids = [f"P{number}" for number in range(20_000)]
    made = hospital.pseudonyms(*ids)
    shared = next(each for each in made if made.count(each) > 1)
    hospital.ask([shared], ids=pa.table({"patient": ids}))
    assert hospital.rows[1:] == [[shared, name] for name, each in zip(ids, made, strict=True) if each == shared]


def test_tables_of_ids_of_all_kinds(hospital, tmp_path):
    [asked] = hospital.pseudonyms("1002")
    for number, column in enumerate(([1001, 1002], [1001.0, 1002.0, None], ["1001", " 1002.0"])):
        hospital.ask([asked], ids=pa.table({"patient": column}), out=tmp_path / f"{number}.csv")
        assert f"{asked},1002\n" in (tmp_path / f"{number}.csv").read_text(encoding="utf-8")
    (tmp_path / "ids.csv").write_text("name;number\nX;1001\nY;1002\n", encoding="utf-8", newline="")
    hospital.rules["source"] = {"delimiter": ";"}
    hospital.write()
    hospital.ask([asked], ids=tmp_path / "ids.csv", id_column="number", out=tmp_path / "renamed.csv")
    (tmp_path / "only.csv").write_text("number\n1001\n1002\n", encoding="utf-8", newline="")
    hospital.ask([asked], ids=str(tmp_path / "only.csv"), out=tmp_path / "only-one.csv")
    texts = {(tmp_path / name).read_text(encoding="utf-8") for name in ("renamed.csv", "only-one.csv")}
    assert texts == {f"pseudonym,id\n{asked},1002\n"}


def test_ids_are_read_as_the_policy_says(hospital, tmp_path):
    """Case, blanks and texts for missing are those of the column, also in a column of another name."""
    hospital.rules["source"] = {"case": {"patient": "upper"}, "trim": True, "missing": ["", "NONE"]}
    hospital.write()
    [asked, none] = hospital.pseudonyms("P-1001", "NONE")
    (tmp_path / "ids.csv").write_text("nr,x\n p-1001,1\nNONE,2\n", encoding="utf-8", newline="")
    found = hospital.ask([asked, none], ids=tmp_path / "ids.csv", id_column="nr")
    assert (found.found, found.not_found) == (1, 1)
    assert hospital.rows[1:] == [[asked, "P-1001"]]


def test_a_database_of_ids(hospital, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "ids.duckdb")) as opened:
        opened.execute("create table people as select 'P-' || (1000 + i) as nr, i as age from range(10) t(i)")
    asked = hospital.pseudonyms("P-1007")
    hospital.ask(asked, ids=f"{tmp_path / 'ids.duckdb'}#people", id_column="nr")
    assert hospital.rows[1:] == [[asked[0], "P-1007"]]


def test_a_file_of_pseudonyms(hospital, tmp_path):
    asked = hospital.pseudonyms("P-1001", "P-1002")
    for head in ("", "patient\n", "pseudonym\r\n\r\n", "\ufeff"):
        path = tmp_path / "asked.txt"
        path.write_text(f'{head}{asked[0]}\n\n"{asked[1]}"\n', encoding="utf-8", newline="")
        (tmp_path / "out.csv").unlink(missing_ok=True)
        assert hospital.ask(path).found == 2
    (tmp_path / "empty.txt").write_text("patient\n", encoding="utf-8", newline="")
    for wrong, what in (("empty.txt", "there are none"), ("none.txt", "no such file"), (".", "directory")):
        with pytest.raises(ParameterError, match=what):
            hospital.ask(tmp_path / wrong, out=tmp_path / "more.csv")


def refused(hospital, kind, what, asked=None, **more):
    """The question is refused, and neither a result nor a line of the log is written, and nothing else is left."""
    asked = hospital.pseudonyms("P-1001") if asked is None else asked
    before = sorted(hospital.folder.rglob("*"))
    with pytest.raises(kind, match=what) as caught:
        hospital.ask(asked, **more)
    assert sorted(hospital.folder.rglob("*")) == before
    said = str(caught.value)
    assert not any(text and text.strip() in said for text in (*IDS, *hospital.pseudonyms("P-1001", "P-1002")))
    return caught.value


def test_malformed_pseudonyms_are_counted_and_not_shown(hospital):
    [good] = hospital.pseudonyms("P-1001")
    error = refused(hospital, ParameterError, "3 of 4 are no pseudonyms", [good, "P-1002", good[:-1], good + "0"])
    assert "16 characters from 0 to 9 and a to f" in str(error)
    refused(hospital, ParameterError, "there are none", [])
    refused(hospital, ParameterError, "1 of 1 is no pseudonym", "P-1002")


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\x1b[31mb"])
def test_a_reason_is_needed(hospital, reason):
    refused(hospital, ParameterError, "reason: must be a text of up to 500", reason=reason)


def test_a_reason_names_nobody(hospital):
    [asked] = hospital.pseudonyms("P-1001")
    refused(hospital, ParameterError, "names a pseudonym", [asked], reason=f"for ({asked.upper()})")
    refused(hospital, ParameterError, "names a value that was found", [asked], reason="call P-1001.")
    hospital.ask([asked], reason="call P-10011")


def test_all_problems_are_said_at_once(hospital):
    error = refused(hospital, ParameterError, "2 problems", ["x"], reason="")
    assert [problem.where for problem in error.problems] == ["pseudonyms", "reason"]


def test_columns_without_pseudonyms(hospital):
    refused(hospital, PolicyError, "Did you mean 'patient'", column="patiant")
    refused(hospital, PolicyError, "makes no pseudonyms.*patient", column="age")
    hospital.rules["columns"]["patient"] = {
        "role": "insensitive",
        "transform": [{"truncate": {"keep": 3}}, {"pseudonym": {"key": {"file": "a.key"}}}],
    }
    (hospital.folder / "policy.json").write_text(json.dumps(hospital.rules), encoding="utf-8", newline="")
    with pytest.raises(PolicyError, match="does not stand alone"):
        hospital.ask(["0" * 16])


def test_a_table_without_the_column(hospital):
    refused(hospital, DataError, "there is no column 'patient'.*id_column", ids=pa.table({"a": ["x"], "b": ["y"]}))
    refused(hospital, DataError, "Did you mean 'number'", ids=pa.table({"number": ["x"]}), id_column="numbr")


def test_a_key_that_is_missing(hospital):
    hospital.write(key={"env": "NO_SUCH_SUDARE_KEY"})
    with pytest.raises(PolicyError, match="NO_SUCH_SUDARE_KEY is not set"):
        hospital.ask(["0" * 16])


def test_the_result_is_never_written_over_anything(hospital, tmp_path):
    (tmp_path / "out.csv").write_text("mine", encoding="utf-8", newline="")
    refused(hospital, TargetError, "exists already")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "mine"
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    refused(hospital, TargetError, "exists already", out=tmp_path / "link.csv")
    refused(hospital, TargetError, "no|not a folder", out=tmp_path / "nowhere" / "out.csv")
    refused(hospital, TargetError, "is also the log", out=tmp_path / reidentification.LOG)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other devices")
def test_without_a_log_nothing_is_given(hospital, tmp_path):
    refused(hospital, TargetError, "not a regular file", log="/dev/null")
    refused(hospital, TargetError, "not a folder", log=tmp_path / "nowhere" / "log")
    (tmp_path / "folder").mkdir()
    refused(hospital, TargetError, "the log cannot be written", log=tmp_path / "folder")


def test_the_log_is_on_the_disk_before_the_result_is_there(hospital, monkeypatch):
    order = []
    real = reidentification.append
    place = Path.rename

    def append(log, entry):
        assert not (hospital.folder / "out.csv").exists()
        real(log, entry)
        order.append("log")

    def rename(self, target):
        assert hospital.log
        order.append(Path(target).name)
        return place(self, target)

    monkeypatch.setattr(reidentification, "append", append)
    monkeypatch.setattr(Path, "rename", rename)
    hospital.ask(hospital.pseudonyms("P-1001"))
    assert order == ["log", "out.csv"]


def test_a_full_disk_leaves_nothing_behind(hospital, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    asked = hospital.pseudonyms("P-1001")
    before = sorted(hospital.folder.rglob("*"))
    monkeypatch.setattr(reidentification.os, "fsync", full)
    with pytest.raises(TargetError, match="No space left"):
        hospital.ask(asked)
    assert sorted(hospital.folder.rglob("*")) == before


def test_a_log_whose_last_line_was_cut_off(hospital, tmp_path):
    (tmp_path / "log").write_text('{"time": "20', encoding="utf-8", newline="")
    hospital.ask(hospital.pseudonyms("P-1001"), log=tmp_path / "log")
    first, second = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert first == '{"time": "20'
    assert json.loads(second)["found"] == 1


class TestRelease:
    """A release tells by its certificate whether the key and the policy are those that it was made with."""

    @pytest.fixture
    def release(self, hospital):
        ids = [f"P-{1000 + number}" for number in range(8)]
        table = pa.table({"patient": ids, "age": [30, 31, 32, 33, 50, 51, 52, 53]})
        found = sudare.anonymize(table, hospital.folder / "policy.json", out=hospital.folder / "release.csv")
        return found.path

    def test_pseudonyms_of_a_release(self, hospital, release):
        with release.open(encoding="utf-8", newline="") as file:
            shown = [row["patient"] for row in csv.DictReader(file)]
        ids = pa.table({"patient": [f"P-{1000 + number}" for number in range(20)]})
        assert hospital.ask(shown, ids=ids, release=release).found == 8
        assert sorted(row[1] for row in hospital.rows[1:]) == [f"P-{1000 + number}" for number in range(8)]

    def test_another_key(self, hospital, release):
        sudare.new_secret_key(hospital.folder / "b.key")
        hospital.write(key={"file": "b.key"})
        error = refused(hospital, ParameterError, "the key has the fingerprint", release=release)
        assert "use the key that the release was made with" in str(error)

    @pytest.mark.parametrize(
        ("about", "what"), [({"form": "digits"}, "form"), ({"length": 20}, "length"), ({"space": "lab"}, "space")]
    )
    def test_another_policy(self, hospital, release, about, what):
        hospital.write(**about)
        refused(hospital, ParameterError, f"pseudonyms of another {what}", release=release)

    def test_a_release_without_pseudonyms(self, hospital, tmp_path):
        rules = {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}
        sudare.anonymize(pa.table({"age": [1, 2, 3]}), rules, out=tmp_path / "r.csv")
        refused(hospital, ParameterError, "has no pseudonyms in this release", release=tmp_path / "r.csv")
        refused(hospital, SudareError, "no such file", release=tmp_path / "none.csv")
