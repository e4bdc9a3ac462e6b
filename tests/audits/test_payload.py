"""Files that hold more than their rows: whatever hides there is found, and nothing of it is told."""

from __future__ import annotations

import struct
import zlib

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.audits import audit_release, check_folder
from sudare.audits.thrift import MalformedError, read_struct
from sudare.core.errors import DataError

from .tables import policy

SECRET = "Qanna Zweighaupt"
GIVEN = policy({"model": "k-anonymity", "k": 2})
TABLE = pa.table({"zone": ["a", "a", "b", "b"], "illness": pa.array(["flu", "pox", "flu", None])})
UNUSED = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 1], pa.int8()), pa.array(["a", "b", SECRET]))


def refusal(path):
    with pytest.raises(DataError) as error:
        audit_release(path, GIVEN)
    said = str(error.value)
    assert SECRET not in said
    assert "write its rows again" in said
    return said


def spliced(path, at, more):
    """Put bytes into a Parquet file, before its footer or elsewhere."""
    whole = path.read_bytes()
    footer = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
    place = {"start": 0, "gap": footer, "end": len(whole)}[at]
    path.write_bytes(whole[:place] + more + whole[place:])
    return path


def parquet(tmp_path, table=TABLE, **how):
    path = tmp_path / "release.parquet"
    pq.write_table(table, path, **how)
    return path


def arrow(tmp_path, table=TABLE, opened=pa.ipc.new_file, **how):
    path = tmp_path / "release.arrow"
    with opened(str(path), table.schema, **how) as writer:
        writer.write_table(table)
    return path


# -- Parquet -----------------------------------------------------------------------------------------------------------


def test_notes_of_a_parquet_file(tmp_path):
    assert "key-value metadata" in refusal(parquet(tmp_path, TABLE.replace_schema_metadata({"note": SECRET})))
    noted = pa.field("zone", pa.string(), metadata={"note": SECRET})
    assert "metadata of fields" in refusal(
        parquet(tmp_path, TABLE.cast(pa.schema([noted, TABLE.schema.field("illness")])))
    )
    with pq.ParquetWriter(tmp_path / "release.parquet", TABLE.schema) as writer:
        writer.write_table(TABLE)
        writer.add_key_value_metadata({"note": SECRET})
    assert "key-value metadata" in refusal(tmp_path / "release.parquet")


@pytest.mark.parametrize("at", ["gap", "end", "start"])
def test_bytes_outside_of_the_pages(tmp_path, at):
    path = spliced(parquet(tmp_path), at, SECRET.encode())
    with pytest.raises(DataError) as error:
        audit_release(path, GIVEN)
    assert SECRET not in str(error.value)


def test_bytes_that_look_like_a_file_before_the_file(tmp_path):
    path = parquet(tmp_path)
    path.write_bytes(path.read_bytes() + b"PAR1")
    with pytest.raises(DataError):
        audit_release(path, GIVEN)


def test_dictionary_entries_that_no_row_shows(tmp_path):
    table = pa.table({"zone": UNUSED, "illness": TABLE["illness"]})
    assert "entries in a dictionary that no row shows" in refusal(parquet(tmp_path, table))
    # and beside a page that has no dictionary, in a column with more values
    words = pa.array([SECRET, *(f"c{n}" for n in range(2000))])
    longer = pa.DictionaryArray.from_arrays(pa.array([1 + n // 2 for n in range(4000)], pa.int32()), words)
    table = pa.table({"zone": longer, "illness": ["flu"] * 4000})
    path = parquet(tmp_path, table, dictionary_pagesize_limit=100, data_page_size=500, write_batch_size=50)
    assert "PLAIN" in pq.ParquetFile(path).metadata.row_group(0).column(0).encodings
    assert "entries in a dictionary that no row shows" in refusal(path)


def test_smallest_and_largest_values_that_no_row_has(tmp_path):
    long = pa.table({"zone": ["aaaaaaaaaa", "aaaaaaaaaa", "bbbbbbbbbb", "bbbbbbbbbb"], "illness": TABLE["illness"]})
    path = parquet(tmp_path, long, use_dictionary=False)
    whole = path.read_bytes()
    footer = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
    path.write_bytes(whole[:footer] + whole[footer:].replace(b"bbbbbbbbbb", b"bQannaZwei"))
    assert "notes a smallest or largest value that no row has" in refusal(path)
    numbers = pa.table({"zone": pa.array([7, 7, 9, 9], pa.int64()), "illness": TABLE["illness"]})
    path = parquet(tmp_path, numbers)
    whole = path.read_bytes()
    footer = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
    lie = whole[footer:].replace(struct.pack("<q", 9), struct.pack("<q", 1_234_567))
    assert lie != whole[footer:]
    path.write_bytes(whole[:footer] + lie)
    assert "notes a smallest or largest value that no row has" in refusal(path)


def test_bloom_filters_and_odd_writers(tmp_path):
    path = tmp_path / "release.parquet"
    with duckdb.connect() as database:
        database.register("rows", TABLE)
        database.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
    if pq.ParquetFile(path).metadata.row_group(0).column(0).bloom_filter_offset is not None:
        assert "bloom filters" in refusal(path)
    whole = parquet(tmp_path).read_bytes()
    at = whole.rindex(b"parquet-cpp-arrow")
    path.write_bytes(whole[:at] + b"\x00<Qanna;Zwei>\x01xx!"[:17] + whole[at + 17 :])
    assert "as the name of its writer" in refusal(path)


FEW = [1, 1, 2, None]
KINDS = [
    pa.int8(), pa.uint32(), pa.float32(), pa.timestamp("s"), pa.timestamp("ns"), pa.date32(), pa.time64("us"),
    pa.duration("ms"), pa.decimal128(21, 2),
]  # fmt: skip
TYPES = [
    *(pa.array(FEW).cast(kind) if pa.types.is_decimal(kind) else pa.array(FEW, kind) for kind in KINDS),
    pa.array([1.5, -0.0, float("nan"), None]),
    pa.array([True, False, None, None]),
    pa.array([["a", "b"], [], None, ["a"]]),
    pa.array([{"x": 1, "y": "a"}] * 4),
    pa.array(["a" * 200, "a" * 200 + "b", "c", None]),
    pa.array([b"\xff", b"", None, b"a"]),
    pa.array(["a", "b", "a", None]).dictionary_encode(),
]


@pytest.mark.parametrize("cells", TYPES, ids=lambda cells: str(cells.type))
@pytest.mark.parametrize("form", ["parquet", "indexed", "v2", "polars", "arrow", "stream", "lz4"])
def test_plain_files_of_every_type_hold_nothing_else(tmp_path, cells, form):
    if form == "polars" and pa.types.is_dictionary(cells.type):
        pytest.skip("Polars leaves notes at such columns")
    table = TABLE.append_column("more", cells)
    how = {"indexed": {"write_page_index": True}, "v2": {"data_page_version": "2.0", "compression": "gzip"}}
    if form in ("parquet", *how):
        path = parquet(tmp_path, table, **how.get(form, {}))
    elif form == "polars":
        path = tmp_path / "release.parquet"
        pl.from_arrow(table).write_parquet(path)
    else:
        opened = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
        options = pa.ipc.IpcWriteOptions(compression="lz4") if form == "lz4" else None
        path = arrow(tmp_path, table, opened, options=options)
    assert not audit_release(path, GIVEN).problems


def test_what_pandas_notes_of_its_columns_is_allowed(tmp_path):
    frame = TABLE.to_pandas()
    frame.to_parquet(tmp_path / "release.parquet", index=False)
    assert audit_release(tmp_path / "release.parquet", GIVEN).passed
    frame.to_parquet(tmp_path / "release.parquet")
    assert audit_release(tmp_path / "release.parquet", GIVEN).passed
    frame.to_feather(tmp_path / "release.feather")
    assert audit_release(tmp_path / "release.feather", GIVEN).passed
    frame.attrs["note"] = SECRET
    frame.to_parquet(tmp_path / "release.parquet")
    assert "pandas metadata" in refusal(tmp_path / "release.parquet")
    frame = TABLE.to_pandas().set_index(pd.RangeIndex(4, name=SECRET))
    frame.to_parquet(tmp_path / "release.parquet")
    assert "pandas metadata" in refusal(tmp_path / "release.parquet")


# -- Arrow -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened", [pa.ipc.new_file, pa.ipc.new_stream])
def test_notes_of_an_arrow_file(tmp_path, opened):
    assert "key-value metadata" in refusal(arrow(tmp_path, TABLE.replace_schema_metadata({"note": SECRET}), opened))
    noted = pa.schema([pa.field("zone", pa.string(), metadata={"n": SECRET}), TABLE.schema.field("illness")])
    assert "metadata of fields" in refusal(arrow(tmp_path, TABLE.cast(noted), opened))


@pytest.mark.parametrize("opened", [pa.ipc.new_file, pa.ipc.new_stream])
def test_bytes_behind_an_arrow_file_and_a_second_stream(tmp_path, opened):
    path = arrow(tmp_path, TABLE, opened)
    whole = path.read_bytes()
    if opened is pa.ipc.new_stream:
        path.write_bytes(whole + SECRET.encode())
        assert "does not belong to its rows" in refusal(path).replace("do not", "does not")
        other = arrow(tmp_path, pa.table({"name": [SECRET]}), opened).read_bytes()
        path.write_bytes(whole + other)
    else:  # between the last batch and the footer
        footer = len(whole) - 10 - struct.unpack("<i", whole[-10:-6])[0]
        path.write_bytes(whole[:footer] + SECRET.encode() + whole[footer:])
    assert "bytes that do not belong to its rows" in refusal(path)


def test_entries_and_cells_that_no_row_shows(tmp_path):
    table = pa.table({"zone": UNUSED, "illness": TABLE["illness"]})
    assert "entries in a dictionary" in refusal(arrow(tmp_path, table))
    behind = pa.Array.from_buffers(
        pa.string(), 4, [pa.py_buffer(b"\x07"), pa.array(["flu", "pox", "flu", SECRET]).buffers()[1],
                         pa.array(["flu", "pox", "flu", SECRET]).buffers()[2]],
    )  # fmt: skip
    assert behind.to_pylist() == ["flu", "pox", "flu", None]
    path = arrow(tmp_path, pa.table({"zone": TABLE["zone"], "illness": behind}))
    assert SECRET.encode() in path.read_bytes()
    assert "behind missing cells" in refusal(path)
    below = pa.StructArray.from_arrays([pa.array([SECRET] * 4)], ["x"], mask=pa.array([True] * 4))
    assert "behind missing cells" in refusal(arrow(tmp_path, TABLE.append_column("more", below)))
    numbers = pa.Array.from_buffers(pa.int64(), 4, [pa.py_buffer(b"\x07"), pa.array([1, 1, 2, 1_234_567]).buffers()[1]])
    assert "behind missing cells" in refusal(arrow(tmp_path, pa.table({"zone": TABLE["zone"], "illness": numbers})))


# -- our own -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".feather", ".ipc"])
def test_a_release_holds_nothing_else_whatever_its_source_held(tmp_path, ending):
    fields = [
        pa.field("zone", pa.string(), metadata={"n": SECRET}),
        pa.field("n", pa.int64()),
        pa.field("illness", pa.string()),
    ]
    source = pa.table(
        [["a"] * 8, [1, 2, None, 4] * 2, ["flu", "pox", None, ""] * 2], schema=pa.schema(fields, {"note": SECRET})
    )
    rules = {
        "columns": {"zone": {"role": "quasi"}, "n": {"role": "insensitive"}, "illness": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    path = tmp_path / f"release{ending}"
    sudare.anonymize(source, rules, out=path)
    assert sudare.audit(path, rules).passed
    assert SECRET.encode() not in path.read_bytes()


def test_a_struct_is_read_whole_or_not_at_all():
    assert read_struct(bytes([0x15, 0x02, 0x18, 0x01, 0x61, 0x00]), 0, 6) == ({1: 1, 2: b"a"}, 6)
    twice = bytes([0x15, 0x02, 0x05, 0x02, 0x04, 0x00])
    for broken in (b"", b"\x15", b"\x18\xff\x01a", b"\x19\xf5\xff\xff\xff\x0f", b"\x1b\x00\x00", twice, b"\x1c" * 99):
        with pytest.raises(MalformedError):
            read_struct(broken, 0, len(broken))


# -- folders -----------------------------------------------------------------------------------------------------------


def noted(path, notes):
    """Write a Parquet file with these notes and no other."""
    with pq.ParquetWriter(path, TABLE.schema, store_schema=False, write_page_index=True) as writer:
        writer.write_table(TABLE)
        writer.add_key_value_metadata(notes)
    return path


def spark_folder(tmp_path):
    """Write a folder as Spark does, with sums and a mark that it is whole."""
    folder = tmp_path / "release.parquet"
    folder.mkdir()
    typed = ",".join(
        f'{{"name":"{name}","type":"string","nullable":true,"metadata":{{}}}}' for name in TABLE.column_names
    )
    notes = {
        "org.apache.spark.version": "4.0.1",
        "org.apache.spark.sql.parquet.row.metadata": f'{{"type":"struct","fields":[{typed}]}}',
    }
    part = folder / "part-00000.parquet"
    noted(part, notes)
    whole = part.read_bytes()
    sums = [zlib.crc32(whole[at : at + 512]).to_bytes(4, "big") for at in range(0, len(whole), 512)]
    (folder / ".part-00000.parquet.crc").write_bytes(b"crc\x00\x00\x00\x02\x00" + b"".join(sums))
    (folder / "_SUCCESS").touch()
    return folder


def test_a_folder_holds_its_rows_and_what_follows_from_them(tmp_path):
    check_folder(spark_folder(tmp_path))


@pytest.mark.parametrize("name", ["_metadata", ".hidden", "notes.txt", "_SUCCESS", ".part-00000.parquet.crc", ".x.crc"])
def test_other_files_in_a_folder(tmp_path, name):
    folder = spark_folder(tmp_path)
    (folder / name).write_text(SECRET)
    with pytest.raises(DataError, match="is not part of its rows") as error:
        check_folder(folder)
    assert SECRET not in str(error.value)


def test_files_of_a_folder_are_looked_into(tmp_path):
    folder = spark_folder(tmp_path)
    pq.write_table(TABLE.replace_schema_metadata({"note": SECRET}), folder / "part-00001.parquet")
    with pytest.raises(DataError, match="key-value metadata"):
        check_folder(folder)
    (folder / "part-00001.parquet").unlink()
    (folder / "part-00001.parquet").symlink_to(folder / "part-00000.parquet")
    with pytest.raises(DataError, match="is a link"):
        check_folder(folder)
    (folder / "part-00001.parquet").unlink()
    (folder / SECRET).mkdir()
    with pytest.raises(DataError, match="is not part of its rows"):
        check_folder(folder)


@pytest.mark.parametrize(
    "note",
    [
        '{"type":"struct","fields":[{"name":"zone","type":"string","nullable":true,"metadata":{"comment":"Qanna"}}]}',
        '{"type":"struct","fields":[],"more":"Qanna"}',
        '{"type":"struct", "fields":[]}',
        "[]",
    ],
)
def test_what_spark_notes_is_the_columns_alone(tmp_path, note):
    notes = {"org.apache.spark.sql.parquet.row.metadata": note}
    assert "Spark metadata" in refusal(noted(tmp_path / "release.parquet", notes))
