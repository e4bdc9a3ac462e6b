"""Conversions of released rows to JSON: the cells are written as in releases of JSON lines."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pyarrow as pa
import pytest

from sudare.core.errors import TargetError
from sudare.releases.converted_files import converted_text, write_converted
from sudare.releases.json_lines_writer import write_json_lines

TABLE = pa.table(
    {
        "number": [0.1, float("nan"), None],
        "exact": pa.array([Decimal("1.50"), Decimal("-0.25"), None]),
        "text": pa.array(["ö\n", 'a"b', None]).dictionary_encode(),
        "items": [["a", "b"], [], None],
        "day": [datetime.date(2020, 2, 29), None, None],
        "moment": [datetime.datetime(2020, 2, 29, 1, 2, 3), None, None],
        "time": [datetime.time(1, 2), None, None],
        "true": [True, False, None],
    }
)


def refused(literal):
    raise ValueError(literal)


def test_cells_are_those_of_json(tmp_path):
    rows = json.loads("".join(converted_text(TABLE, "json")), parse_constant=refused, parse_float=str)
    assert [row["number"] for row in rows] == ["0.1", None, None]
    assert [row["exact"] for row in rows] == ["1.50", "-0.25", None]
    assert [row["items"] for row in rows] == [["a", "b"], [], None]
    lines = "".join(converted_text(TABLE, "jsonl"))
    assert [json.loads(line, parse_float=str) for line in lines.splitlines()] == rows
    write_json_lines(TABLE.schema, TABLE.to_batches(), tmp_path / "release.jsonl")
    assert (tmp_path / "release.jsonl").read_text(encoding="utf-8") == lines
    for form, text in (("json", "".join(converted_text(TABLE, "json"))), ("jsonl", lines)):
        write_converted(TABLE, form, tmp_path / f"c.{form}")
        assert (tmp_path / f"c.{form}").read_text(encoding="utf-8") == text


def test_no_rows():
    assert "".join(converted_text(TABLE.slice(0, 0), "jsonl")) == ""
    assert json.loads("".join(converted_text(TABLE.slice(0, 0), "json"))) == []


def test_endless_numbers_are_refused():
    with pytest.raises(TargetError, match="infinite"):
        list(converted_text(pa.table({"a": [float("inf")]}), "json"))
