"""What methods keep that hide sensitive values, whatever these are: numbers, dates, texts that break lists."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from test_hiding import ILLNESSES, check_truth, every_ending, every_method, read, second_of, small, two_columns

import sudare
from sudare.core.errors import DataError, PolicyError, PolicyUnmetError, UnsupportedError
from sudare.policy import Policy

KINDS = {
    "text": (ILLNESSES[:4], pa.string()),
    "large text": (ILLNESSES[:4], pa.large_string()),
    "unicode": (["日本", "é", "e\u0301", "😀", "ß", "\u200b"], pa.string()),
    "whole": ([10, 9, -3, 2**40], pa.int64()),
    "short": ([1, 2, 3, -4], pa.int8()),
    "unsigned": ([1, 2, 2**63 + 1], pa.uint64()),
    "float": ([0.5, 1e-9, 1e300, 2.0, -0.0], pa.float64()),
    "float32": ([0.5, 0.1, 3.0], pa.float32()),
    "decimal": ([Decimal("1.20"), Decimal("-3.40"), Decimal("2.00")], pa.decimal128(9, 2)),
    "truth": ([True, False], pa.bool_()),
    "date": ([date(2020, 1, day) for day in (1, 2, 3)], pa.date32()),
    "seconds": ([datetime(2020, 1, day, 5) for day in (1, 2, 3)], pa.timestamp("s")),
    "instant": ([datetime(2020, 1, day, 5, 6, 7, 8) for day in (1, 2, 3)], pa.timestamp("us")),
    "zone": ([datetime(2020, 1, day, 5) for day in (1, 2, 3)], pa.timestamp("us", "Asia/Tokyo")),
    "time": ([time(hour, 30) for hour in (1, 2, 3)], pa.time32("s")),
    "duration": ([timedelta(hours=hours) for hours in (1, 2, 3)], pa.duration("s")),
}
NOT_LIKE_PYTHON = ("zone", "time", "duration", "seconds", "instant", "float", "float32")  # in text


@every_method
@every_ending
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [False, True], ids=["all there", "some missing"])
def test_values_of_any_kind(name, ending, kind, missing, tmp_path):
    values, form = KINDS[kind]
    values = [*values, None] if missing else values
    data = two_columns(pa.array(values * 12, form))
    path = tmp_path / f"r{ending}"
    given = small(name, l=2, ill={"exact": True})  # some texts differ in their spelling alone
    given["release"] = {"formulas": "keep"}  # sets may begin with a sign
    release = sudare.anonymize(data, given, out=path)
    assert sudare.audit(path, given).passed
    told = release.certificate["mechanism"]["columns"]["ill"]["values"]
    assert len(told) == len(values)
    assert told.count(None) == missing
    if ending == ".csv":
        if kind not in NOT_LIKE_PYTHON:
            check_truth(data, *_both(path, data, name), 2, separator=",")
        return
    released, second = _both(path, data, name)
    check_truth(data.set_column(2, "ill", data["ill"].cast(_kept(form))), released, second, 2)
    shown = released.schema.field("ill").type.value_type if second is None else second.schema.field("ill").type
    assert shown == _kept(form)


def _both(path, data, name):
    return read(path, data.schema), read(second_of(path), data.schema) if name == "anatomy" else None


def _kept(form):
    """Parquet has no whole seconds."""
    return {pa.timestamp("s"): pa.timestamp("ms"), pa.time32("s"): pa.time32("ms")}.get(form, form)


@every_method
def test_numbers_that_are_one_are_one_value(name):
    data = two_columns(pa.array([0.0, -0.0, math.nan, None] * 6))
    with pytest.raises(PolicyUnmetError, match="column 'ill' has 2"):
        sudare.anonymize(data, small(name, l=3))
    release = sudare.anonymize(data, small(name, l=2))
    check_truth(data, release.data, release.second, 2)


@every_method
def test_codes_that_are_numbers(name, tmp_path):
    data, given = two_columns([10, 9, 8] * 6), small(name, ill={"kind": "categorical"})
    path = tmp_path / "r.parquet"
    sudare.anonymize(data, given, out=path)
    assert sudare.audit(path, given).passed
    check_truth(data, *_both(path, data, name), 3)


def test_missing_values_are_values_or_an_error(tmp_path):
    data = two_columns(["flu", "cold", None] * 5)
    with pytest.raises(DataError, match="column 'ill': is missing in 5 records"):
        sudare.anonymize(data, small("dummies", {"missing": "error"}, l=2), out=tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []
    release = sudare.anonymize(data, small("dummies", l=3))
    assert release.data.column("ill").to_pylist()[0] == ["cold", "flu", None]


@pytest.mark.parametrize("value", ["a,b", ",", " a", "a ", "a,"])
def test_values_that_a_set_in_text_cannot_show(value, tmp_path):
    data = two_columns([value, "c", "d"] * 4)
    with pytest.raises(UnsupportedError) as caught:
        sudare.anonymize(data, small("dummies"), out=tmp_path / "r.csv")
    assert "column 'ill'" in str(caught.value)
    assert "separator" in caught.value.problems[0].hint
    assert "Parquet" in caught.value.problems[0].hint
    assert list(tmp_path.iterdir()) == []
    sudare.anonymize(data, small("dummies"), out=tmp_path / "r.parquet")
    assert sudare.audit(tmp_path / "r.parquet", small("dummies")).passed


@pytest.mark.parametrize("separator", [";", "|", " / ", "::"])
def test_a_separator_of_a_sensitive_column(separator, tmp_path):
    data, given = two_columns(["a,b", "c,", ",", "d"] * 4), small("dummies", ill={"separator": separator})
    sudare.anonymize(data, given, out=tmp_path / "r.csv")
    assert sudare.audit(tmp_path / "r.csv", given).passed
    check_truth(data, read(tmp_path / "r.csv", data.schema), None, 3, separator=separator)
    with pytest.raises(UnsupportedError, match="separator"):
        sudare.anonymize(two_columns([f"a{separator}b", "c", "d"] * 4), given, out=tmp_path / "other.csv")
    with pytest.raises(PolicyError, match="separator belongs to"):
        Policy.parse({**given, "columns": {**given["columns"], "age": {"role": "quasi", "separator": ";"}}})


def test_a_table_apart_needs_no_separator(tmp_path):
    data, given = two_columns(["a,b", "c;", ' "', " d", "e\nf"] * 4), small("anatomy")
    sudare.anonymize(data, given, out=tmp_path / "r.csv")
    assert sudare.audit(tmp_path / "r.csv", given).passed
    check_truth(data, *_both(tmp_path / "r.csv", data, "anatomy"), 3, separator=",")
