"""Sensitive item sets in databases, and on Spark, which refuses them."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import UnsupportedError

from .cases import claims

POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "codes": {"role": "sensitive", "kind": "items"},
        "cost": {"role": "insensitive"},
    },
    "require": [{"model": "l-diversity", "l": 3, "column": "codes", "variant": "frequency"}],
}


@pytest.mark.parametrize("text", [False, True], ids=["lists", "text"])
def test_a_database_keeps_the_promise(home, text):
    table = claims().drop_columns(["person"])
    expected = Counter(tuple(cell) for cell in table["codes"].to_pylist())
    if text:
        cells = pa.array([",".join(cell) for cell in table["codes"].to_pylist()])
        table = table.set_column(2, "codes", cells)
    release = sudare.anonymize(home.load("claims", table), POLICY, out=home.address("release"))
    assert [each["holds"] for each in release.certificate["guarantees"]] == [True] * 3
    assert Counter(tuple(cell) for cell in home.read("release")["codes"].to_pylist()) == expected
    report = sudare.audit(home.address("release"), POLICY)
    assert report.passed
    assert report.guarantees[0].achieved >= 3


def test_spark_refuses_them(tmp_path):
    with pytest.raises(UnsupportedError, match="sensitive item sets do not run on Spark"):
        sudare.anonymize(str(tmp_path / "claims.parquet"), POLICY, engine="spark", out=tmp_path / "release")
