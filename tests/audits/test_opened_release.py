"""Every way in which a release can fail to be read, and every form in which it can be."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits import audit_release
from sudare.audits.opened_release import open_release
from sudare.core.errors import DataError
from sudare.policy import Policy

from .tables import policy, required, write

SECRET = "Zweig"
ROWS = [["a", SECRET], ["a", "flu"], ["b", "ulcer"], ["b", SECRET]]
PROMISE = policy({"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "illness"})
TABLE = pa.table({"zone": list("aabb"), "illness": [SECRET, "flu", "ulcer", SECRET]})


def refused(release, given=PROMISE):
    """Return the message, after making sure that it holds nothing of the data."""
    with pytest.raises(DataError) as error:
        audit_release(release, given)
    assert error.value.exit_code == 2
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return str(error.value)


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.arrow", "none.xyz"])
def test_no_such_file(tmp_path, name):
    assert "there is no such file" in refused(tmp_path / name)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "parquet", "arrow", "feather", "ipc"])
def test_empty_file(tmp_path, suffix):
    path = tmp_path / f"release.{suffix}"
    path.touch()
    assert "is empty" in refused(path)


@pytest.mark.parametrize("content", [b"zone,illness", b"zone,illness\n", b"zone,illness\r\n"])
def test_header_only(tmp_path, content):
    path = tmp_path / "release.csv"
    path.write_bytes(content)
    assert "has no rows" in refused(path)


def test_no_rows_in_other_forms(tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "release.parquet")
    assert "has no rows" in refused(tmp_path / "release.parquet")
    assert "has no rows" in refused(TABLE.slice(0, 0))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"a,{SECRET},c", "the number of fields in line 3 differs from the header"),
        (SECRET, "the number of fields in line 3 differs from the header"),
        (f"a,{SECRET},", "the number of fields in line 3 differs from the header"),
        (f"a,{SECRET},,", "the number of fields in line 3 differs from the header"),
    ],
    ids=["long", "short", "an empty field too many", "two empty fields too many"],
)
def test_ragged_rows(tmp_path, line, message):
    path = tmp_path / "release.csv"
    path.write_text(f"zone,illness\na,flu\n{line}\nb,flu\n")
    assert message in refused(path)


@pytest.mark.parametrize(
    "text", [f'a,"{SECRET}\nb,flu\n', f'"a\nb,flu\nb,flu\n"a,{SECRET}\n'], ids=["to the end", "to another"]
)
def test_open_quotes_do_not_swallow_rows(tmp_path, text):
    path = tmp_path / "release.csv"
    path.write_text(f"zone,illness\na,flu\n{text}")
    assert "quotation mark" in refused(path)


def test_columns_named_twice():
    twice = pa.table([TABLE["zone"], TABLE["illness"], TABLE["zone"]], names=["zone", "illness", "zone"])
    assert "zone: is the name of more than one column" in refused(twice)


def test_names_that_may_be_cells_are_not_shown(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(f"{SECRET},{SECRET},zone,illness\n1,2,3,4\n")
    assert "column names that occur more than once: 1." in refused(path)


@pytest.mark.parametrize(
    "content",
    [
        "zone,illness\na,flü\n".encode("latin-1"),
        "zone,illness\na,flü\n".encode("utf-16"),
        b"zone,illness,other\na,flu,\xff\n",
        b"zone,illn\xe9ss\na,flu\n",
        "zone,illness\na,flü".encode()[:-1],
    ],
)
def test_not_utf_8(tmp_path, content):
    path = tmp_path / "release.csv"
    path.write_bytes(content)
    assert "is not UTF-8 text" in refused(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather", "ipc"])
@pytest.mark.parametrize("damage", ["garbage", "cut", "csv"])
def test_damaged_files(tmp_path, suffix, damage):
    path = tmp_path / f"release.{suffix}"
    if suffix == "parquet":
        pq.write_table(TABLE, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    whole = path.read_bytes()
    path.write_bytes({"garbage": b"\x00\x01" * 500, "cut": whole[: len(whole) // 3], "csv": b"zone,illness\n"}[damage])
    refused(path)


def test_damaged_pages_of_a_parquet_file(tmp_path):
    path = tmp_path / "release.parquet"
    pq.write_table(TABLE, path, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[4:60] = b"\xff" * 56  # the first pages; the footer stays as it is
    path.write_bytes(bytes(whole))
    refused(path)


def test_columns_that_are_not_there_are_listed_at_once(tmp_path):
    path = write(tmp_path / "release.csv", ["Zone", "ilness", "age"], [[*row, "1"] for row in ROWS])
    message = refused(path, policy({"model": "k-anonymity", "k": 2}, quasi=("zone", "age")))
    assert "2 problems" in message
    assert "zone: is not a column of the release. Did you mean 'Zone'?" in message
    assert "illness: is not a column of the release. Did you mean 'ilness'?" in message


def test_a_first_row_in_place_of_a_header_gives_no_hints(tmp_path):
    path = write(tmp_path / "release.csv", ["zonal", SECRET], ROWS)
    assert "Did you mean" not in refused(path)


def test_the_subject_is_needed_only_where_people_are_counted():
    subject = {"who": {"role": "subject"}}
    assert audit_release(TABLE, policy({"model": "k-anonymity", "k": 2}, **subject)).passed
    assert "who: is not a column" in refused(
        TABLE, policy({"model": "k-anonymity", "k": 2, "count": "subjects"}, **subject)
    )


def test_insensitive_columns_are_not_needed_and_may_be_of_any_type():
    given = policy({"model": "k-anonymity", "k": 2}, visits={"role": "insensitive"})
    assert audit_release(TABLE, given).passed
    half = pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()).cast(pa.float16())  # a type DuckDB does not know
    assert audit_release(TABLE.append_column("visits", half), given).passed


def test_a_type_that_cannot_be_compared():
    half = pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()).cast(pa.float16())
    message = refused(TABLE.set_column(0, "zone", half))
    assert message == "release: has a column of a type that cannot be audited."


def test_what_is_no_release(tmp_path):
    assert "is a folder" in refused(tmp_path)
    book = tmp_path / "release.xlsx"
    book.write_text("x")
    assert "is no workbook of Excel, or is damaged" in refused(book)
    other = tmp_path / "release.ods"
    other.write_text("x")
    allowed = ".csv, .tsv, .txt, .parquet, .arrow, .feather, .ipc, .jsonl, .xlsx; and text with .gz or .zst behind it."
    assert f"Allowed: {allowed}" in refused(other)
    assert "got int" in refused(5)


def test_no_header(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("\nzone,illness\na,flu\n")
    assert "has no header" in refused(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_told_from_the_header(tmp_path, suffix, delimiter):
    path = write(tmp_path / f"release.{suffix}", ["zone", "illness"], ROWS, delimiter)
    report = audit_release(path, PROMISE)
    assert (report.passed, report.rows, report.classes) == (True, 4, 2)


@pytest.mark.parametrize("delimiter", [",", ";", "^"])
def test_the_sources_delimiter_may_or_may_not_be_the_releases(tmp_path, delimiter):
    given = Policy.parse(PROMISE.model_dump(exclude_none=True) | {"source": {"delimiter": "^"}})
    path = write(tmp_path / "release.csv", ["zone", "illness"], ROWS, delimiter)
    assert audit_release(path, given).passed


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_byte_order_marks_and_quoted_newlines(tmp_path, prefix, end):
    path = tmp_path / "release.csv"
    lines = ["zone,illness", '"a\n1","x,""y"', '"a\n1",z', "b,x", "b,z"]
    path.write_bytes(prefix + end.join(lines).encode())
    report = audit_release(str(path), PROMISE)
    assert (report.passed, report.rows, report.classes) == (True, 4, 2)


@pytest.mark.parametrize("name", ["a*.csv", "[ab].csv", "a?.csv", "it's.csv", "{a,b}.csv", "a b;--.csv"])
def test_a_path_is_not_a_pattern(tmp_path, name):
    for decoy in ("ab.csv", "a.csv", "b.csv"):
        write(tmp_path / decoy, ["zone", "illness"], [["decoy", "x"]] * 9)
    path = write(tmp_path / name, ["zone", "illness"], ROWS)
    assert audit_release(path, PROMISE).rows == 4


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream", "table", "dictionary"])
def test_other_forms(tmp_path, form):
    path = tmp_path / "release.arrow"
    release: object = path
    if form == "parquet":
        release = tmp_path / "release.parquet"
        pq.write_table(TABLE, release)
    elif form in ("arrow", "stream"):
        opened = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as sink, opened(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    else:
        encode = form == "dictionary"
        release = pa.table({n: TABLE[n].dictionary_encode() if encode else TABLE[n] for n in TABLE.column_names})
    report = audit_release(release, PROMISE)
    assert (report.passed, report.rows, report.classes) == (True, 4, 2)
    assert required(report).achieved == 2


def test_a_file_that_changes_underneath_is_refused(tmp_path):
    path = write(tmp_path / "release.csv", ["zone", "illness"], ROWS)
    opened = open_release(path, PROMISE)
    write(path, ["zone", "illness"], ROWS[:2])
    with pytest.raises(DataError, match="changed while it was read"):
        opened.check_read(2)


def test_rows_that_readers_count_differently_are_refused(tmp_path):
    path = write(tmp_path / "release.csv", ["zone", "illness"], ROWS)
    with pytest.raises(DataError, match="two programs read different rows"):
        open_release(path, PROMISE).check_read(3)


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = write(tmp_path / "release.csv", ["zone", "illness"], ROWS)
    audit_release(path, PROMISE)
    assert os.listdir(tmp_path) == ["release.csv"]  # noqa: PTH208


def test_progress_is_told_in_words(tmp_path):
    heard: list[str] = []
    audit_release(TABLE, PROMISE, progress=heard.append)
    assert heard == ["reading the release", "proving k-anonymity", "proving l-diversity", "counting what is unique"]


def test_the_room_imports_nothing_of_the_methods():
    room = Path(sys.modules["sudare.audits"].__file__).parent
    allowed = {"sudare.audits", "sudare.core", "sudare.policy"}
    lines = [
        line.split()[1]
        for file in room.glob("*.py")
        for line in file.read_text().splitlines()
        if line.startswith(("import ", "from "))
    ]
    ours = {name for name in lines if name.startswith("sudare")}
    assert all(any(name == room or name.startswith(room + ".") for room in allowed) for name in ours)
    assert not {"numba", "pandas"} & {name.split(".")[0] for name in lines}
