"""Reading files: every format, only the named columns, and what stands for a missing cell."""

from __future__ import annotations

import bz2
import gzip
from collections import Counter

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.engines import TextForm, file_columns, file_format, open_file, open_table, parquet_files, read_file

TABLE = pa.table({"age": ["34", "36", None, "47"], "job": ["nurse", "cook", "NA", ""], "note": ["a", "b", "c", "d"]})
TEXT = "age,job,note\n34,nurse,a\n36,cook,b\n,NA,c\n47,,d\n"


def write_stream(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def write_file(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "people.csv": lambda table, path: path.write_text(TEXT),
    "people.txt": lambda table, path: path.write_text(TEXT.replace(",", ";")),
    "people.tsv": lambda table, path: path.write_text(TEXT.replace(",", "\t")),
    "people.tab": lambda table, path: path.write_text(TEXT.replace(",", "|")),
    "people.v2.CSV": lambda table, path: path.write_text(TEXT),
    "people.csv.gz": lambda table, path: path.write_bytes(gzip.compress(TEXT.encode())),
    "people.csv.bz2": lambda table, path: path.write_bytes(bz2.compress(TEXT.encode())),
    "people.parquet": pq.write_table,
    "people.pq": pq.write_table,
    "people.arrow": write_file,
    "people.ipc": write_stream,
    "people.feather": pyarrow.feather.write_feather,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    assert file_columns(path, TextForm()) == ["age", "job", "note"]
    table = read_file(path, ["job", "age"], TextForm())
    assert sorted(table.schema.names) == ["age", "job"]
    assert table.column("age").to_pylist() == ["34", "36", None, "47"]
    empty = None if file_format(path).text else ""
    assert table.column("job").to_pylist() == ["nurse", "cook", "NA", empty]


@pytest.mark.parametrize("name", WRITERS)
def test_only_named_columns_matter(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    policy = {"columns": {"job": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 4}]}
    release = sudare.anonymize(path, policy, out=tmp_path / "release.csv")
    assert release.path.read_text().splitlines()[0] == "job"


def test_columns_that_cannot_be_read_do_not_matter(tmp_path):
    """A column that the policy does not name may hold anything."""
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE.append_column("extra", pa.array([{"a": {"b": [1]}}] * 4)), path)
    assert read_file(path, ["age"], TextForm()).schema.names == ["age"]


def test_no_columns_from_the_path(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    pq.write_table(TABLE, folder / "people.parquet")
    assert file_columns(folder / "people.parquet", TextForm()) == ["age", "job", "note"]
    assert read_file(folder / "people.parquet", ["age"], TextForm()).schema.names == ["age"]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ([""], ["nurse", "cook", "NA", None]),
        (["NA"], ["nurse", "cook", None, ""]),
        (["", "NA"], ["nurse", "cook", None, None]),
        ([], ["nurse", "cook", "NA", ""]),
    ],
)
def test_texts_for_missing(tmp_path, missing, expected):
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    assert read_file(path, ["job"], TextForm(missing=missing)).column("job").to_pylist() == expected


def test_texts_for_missing_are_in_typed_files_too(tmp_path):
    """The policy's texts for missing hold in Parquet as they do in text."""
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE, path)
    policy = {
        "columns": {"age": {"role": "quasi", "kind": "numeric"}, "job": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 4}],
        "source": {"missing": ["NA", "34"]},
    }
    release = sudare.anonymize(path, policy, out=tmp_path / "release.parquet")
    assert Counter(pq.read_table(release.path).column("age").to_pylist()) == {"*": 4}


def test_cells_stay_text(tmp_path):
    """Nothing is guessed from a file: zeros in front and a trailing point stay."""
    path = tmp_path / "people.csv"
    path.write_text("zip,code\n01234,1.0\n00007,true\n")
    table = read_file(path, ["zip", "code"], TextForm())
    assert table.to_pylist() == [{"zip": "01234", "code": "1.0"}, {"zip": "00007", "code": "true"}]


def test_one_column_with_an_empty_line(tmp_path):
    """There, an empty line is a record whose cell is missing."""
    path = tmp_path / "people.csv"
    path.write_text("job\nnurse\n\ncook\n")
    assert read_file(path, ["job"], TextForm()).column("job").to_pylist() == ["nurse", None, "cook"]


def test_names_with_delimiters_and_line_breaks(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('"a;b;c;d","e\nf"\n1,2\n')
    assert file_columns(path, TextForm()) == ["a;b;c;d", "e\nf"]
    assert read_file(path, ["e\nf"], TextForm()).to_pylist() == [{"e\nf": "2"}]


def test_delimiter_that_is_given_wins(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b;c,d\n1;2\n")
    assert file_columns(path, TextForm(delimiter=";")) == ["a,b", "c,d"]


def test_quote_in_the_header_that_never_ends(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('"age,job\n' + "34,nurse\n" * 1000)
    with pytest.raises(DataError):
        read_file(path, ["age"], TextForm())


@pytest.mark.parametrize("name", ["people", "people.xls", "people.json", "people.gz"])
def test_unknown_ending(tmp_path, name):
    with pytest.raises(DataError, match="is not a supported kind of file"):
        file_format(tmp_path / name)


def test_no_records_in_parquet(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE.slice(0, 0), path)
    with pytest.raises(DataError, match="has columns but no records"):
        read_file(path, ["age"], TextForm())


def test_parquet_with_a_name_twice(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"]), path)
    with pytest.raises(DataError, match="columns 1 and 2 have the same name"):
        file_columns(path, TextForm())


def test_absent_column(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    with pytest.raises(DataError, match="Did you mean 'note'"):
        read_file(path, ["age", "notes"], TextForm())


def test_absent_column_unlike_any(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    with pytest.raises(DataError, match="its columns: age, job, note"):
        read_file(path, ["age", "weight"], TextForm())


def test_names_in_other_letters_still_show_that_there_is_a_header(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT.replace("age", "Age "))
    with pytest.raises(DataError, match="its columns: Age , job, note"):
        read_file(path, ["age"], TextForm())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_batches_hold_what_the_file_holds(tmp_path, name, stream):
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    source = open_file(path, ["job", "age"], TextForm(), stream=stream)
    expected = read_file(path, ["job", "age"], TextForm()).select(["job", "age"])
    assert source.schema.names == ["job", "age"]
    assert source.rows in (4, None)
    assert source.table().equals(expected)
    assert source.rows or not file_format(path).text or source.likely > 0


@pytest.mark.parametrize("small", [0, 1000], ids=["by row groups", "across row groups"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.list_(pa.string()), pa.large_list(pa.string())])
def test_texts_of_parquet_come_with_dictionaries(tmp_path, monkeypatch, kind, small):
    monkeypatch.setattr(parquet_files, "SMALL_GROUP", small)
    cells = [["a", "b"], None, [], ["a"]] if pa.types.is_nested(kind) else ["a", None, "", "b"]
    table = pa.table({"x": pa.array(cells * 50, kind), "x.y": pa.array(["p"] * 200)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=30)
    source = open_file(tmp_path / "a.parquet", ["x"], TextForm())
    found = list(source.batches(["x"]))
    assert {tuple(batch.schema.names) for batch in found} == {("x",)}
    inner = found[0].column(0).type.value_type if pa.types.is_nested(kind) else found[0].column(0).type
    assert pa.types.is_dictionary(inner) == (not small or not pa.types.is_nested(kind))
    assert [cell for batch in found for cell in batch.column(0).to_pylist()] == cells * 50
    assert source.table().column("x").to_pylist() == cells * 50
    assert source.rows == 200
    assert source.items.get("x", 250) == 250  # a null or empty list counts as one


def test_dictionaries_that_overflow(tmp_path):
    """Beyond some size a file goes on without a dictionary, in the middle of a column."""
    cells = [[f"{number:06d}", f"{number % 7}"] for number in range(70_000)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": cells}), path, dictionary_pagesize_limit=10_000, data_page_size=5_000)
    found = list(open_file(path, ["x"], TextForm()).batches(["x"]))
    assert pa.types.is_dictionary(found[0].column(0).type.value_type)
    assert [cell for batch in found for cell in batch.column(0).to_pylist()] == cells


def test_views_and_half_floats_become_plain():
    lists = pa.array([["a"], None], pa.list_view(pa.string()))
    table = pa.table(
        {"a": pa.array(["x", None], pa.string_view()), "b": pa.array([1.5, None], pa.float16()), "c": lists}
    )
    source = open_table(table)
    assert source.schema.types == [pa.large_string(), pa.float32(), pa.large_list(pa.string())]
    assert source.table().to_pylist() == table.to_pylist()


@pytest.mark.parametrize("content", [b"age\n\xff\n" * 9, b"age,job\n1,2\n3\n", b'"age\n' + b"1\n" * 99])
def test_a_stream_tells_the_same_as_a_whole(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    said = []
    for stream in (False, True):
        with pytest.raises(DataError) as caught:
            open_file(path, ["age"], TextForm(), stream=stream).table()
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("end", ["\n", "\n\n\n"])
def test_no_records_in_text(tmp_path, end, stream):
    path = tmp_path / "people.csv"
    path.write_text("age,job" + end)
    with pytest.raises(DataError, match="has columns but no records"):
        open_file(path, ["age"], TextForm(), stream=stream).table()


def test_damage_in_the_middle_is_told(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(
        pa.table({"age": [f"{number * 7919 % 99991}" for number in range(50_000)]}), path, compression="gzip"
    )
    content = bytearray(path.read_bytes())
    content[2000:60_000] = b"Q" * 58_000
    path.write_bytes(content)
    with pytest.raises(DataError, match="it is damaged"):
        open_file(path, ["age"], TextForm()).table()
