"""Numbers in workbooks: which are written as they are, which are rounded, and which are refused."""

from __future__ import annotations

import tempfile
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import TargetError
from sudare.releases.opened_release import open_released

POLICY = {
    "columns": {"age": {"role": "quasi"}, "more": {"role": "insensitive"}},
    "require": [{"model": "k-anonymity", "k": 2}],
    "release": {"order": "keep"},
}


def read_back(cells, folder):
    """What a workbook has in a column of these cells, once its audit has passed."""
    path = Path(folder) / "r.xlsx"
    sudare.anonymize(pa.table({"age": [1] * len(cells), "more": cells}), POLICY, out=path)
    assert sudare.audit(path, POLICY).passed
    return open_released(path).read(["more"])["more"].to_pylist()


@pytest.mark.parametrize("text", ["8.20", "0.69", "8.21", "9.95", "-8.20", "5.00", "0.00", "1234567890.12345"])
def test_decimals_of_databases_are_written(tmp_path, text):
    cells = pa.array([Decimal(text), None], pa.decimal128(20, len(text.partition(".")[2])))
    assert read_back(cells, tmp_path) == [float(text), None]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-(10**15) + 1, 10**15 - 1), min_size=2, max_size=30), st.integers(0, 15))
def test_every_decimal_of_fifteen_digits_is_written(digits, scale):
    given_cells = [Decimal(number).scaleb(-scale) for number in digits]
    with tempfile.TemporaryDirectory() as folder:
        found = read_back(pa.array(given_cells, pa.decimal128(38, scale)), folder)
    assert [Decimal(repr(number)) for number in found] == given_cells


@pytest.mark.parametrize("text", ["0.30000000000000004", "8.1999999999999999", "8.199999999999999", "9007199254740993"])
def test_decimals_that_would_become_others_are_refused(tmp_path, text):
    cells = pa.array([Decimal(text), None], pa.decimal128(38, len(text.partition(".")[2])))
    with pytest.raises(TargetError, match=r"column 'more': numbers are too long, or infinite, for Excel: 1\."):
        read_back(cells, tmp_path)


def test_fractions_are_rounded_to_sixteen_digits(tmp_path):
    assert read_back([0.1 + 0.2, 8.2, 1 / 3, 1e300, 5e-324, 1.5], tmp_path) == [
        0.3, 8.2, 0.3333333333333333, 1e300, 5e-324, 1.5,
    ]  # fmt: skip


@pytest.mark.parametrize("cells", [[1e19, None], [2.0**63, -1.0], [-1e20, 5.0], [1e19, 2.5]])
def test_whole_numbers_of_more_than_64_bits_are_floats(tmp_path, cells):
    assert read_back(pa.array(cells, pa.float64()), tmp_path) == cells


PARTS = {
    "struct": pa.array([{"y": 1}, None], pa.struct([("y", pa.int64())])),
    "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    "lists": pa.array([[[1]], []], pa.list_(pa.list_(pa.int64()))),
    "structs": pa.array([[{"y": 1}], []], pa.list_(pa.struct([("y", pa.int64())]))),
    "bytes": pa.array([[b"\xff"], []], pa.list_(pa.binary())),
}


@pytest.mark.parametrize("kind", PARTS)
def test_cells_with_parts_that_a_sheet_cannot_show_are_refused(tmp_path, kind):
    with pytest.raises(TargetError, match=r"column 'more': holds .*, which a sheet cannot show\."):
        read_back(PARTS[kind], tmp_path)


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 2)])
def test_lists_of_plain_values_are_joined(tmp_path, kind):
    assert read_back(pa.array([[1, 2], None], kind), tmp_path) == ["1,2", None]


@pytest.mark.parametrize("number", [12345678901234568.0, -12345678901234568.0, 2**53 + 1, -(2**53) - 1])
def test_whole_numbers_are_never_rounded(tmp_path, number):
    with pytest.raises(TargetError, match=r"column 'more': numbers are too long, or infinite, for Excel: 1\."):
        read_back(pa.array([number, None]), tmp_path)


def test_a_numeric_column_of_a_database(tmp_path):
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE paid AS SELECT 1 AS age, CAST(c.cents / 100.0 AS DECIMAL(9, 2)) AS more "
            "FROM range(1000) AS c(cents)"
        )
    path = tmp_path / "r.xlsx"
    sudare.anonymize(f"{tmp_path / 'd.duckdb'}#paid", POLICY, out=path)
    assert sudare.audit(path, POLICY).passed
    assert sorted(sudare.numeric(path)["more"].to_pylist()) == [cents / 100 for cents in range(1000)]


@pytest.mark.parametrize("names", [("age", ""), ("", "more")])
def test_a_column_without_a_name_is_refused_before_anything_is_written(tmp_path, names):
    policy = POLICY | {"columns": {names[0]: {"role": "quasi"}, names[1]: {"role": "insensitive"}}}
    table = pa.table([[1, 1], [1, 2]], names=list(names))
    with pytest.raises(TargetError, match="column '': has no name") as error:
        sudare.anonymize(table, policy, out=tmp_path / "r.xlsx")
    assert str(tmp_path) not in str(error.value)
    assert list(tmp_path.iterdir()) == []
