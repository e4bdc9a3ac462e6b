"""Files of SPSS, Stata and SAS: cells as these programs show them."""

from __future__ import annotations

import datetime
import io

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from sudare.core.errors import DataError
from sudare.engines import TextForm, file_columns, read_file

DAYS = [datetime.date(2024, 2, 29), None, datetime.date(1899, 12, 31)]
MOMENTS = [datetime.datetime(2024, 2, 29, 12, 30, 15), None, datetime.datetime(1960, 1, 1)]
FRAME = pd.DataFrame(
    {
        "age": [39.0, 99.0, 41.0],
        "weight": [78.5, None, 80.0],
        "sex": [1.0, 2.0, 1.0],
        "job": ["nurse", "", "Köchin"],
        "day": DAYS,
        "moment": pd.to_datetime(MOMENTS).astype("datetime64[us]"),
    }
)
LABELS = {"sex": {1: "female", 2: "male", 3: "diverse"}, "age": {99: "refused"}}
WRITERS = {
    ".sav": lambda path, **more: pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, **more),
    ".zsav": lambda path: pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, compress=True),
    ".por": lambda path: pyreadstat.write_por(FRAME.rename(columns=str.upper).replace("Köchin", "cook"), path),
    ".dta": lambda path: pyreadstat.write_dta(FRAME, path, variable_value_labels=LABELS),
    ".xpt": lambda path: pyreadstat.write_xport(FRAME, path),
}


def read(path, form=None, columns=None):
    return read_file(path, columns or file_columns(path, form or TextForm()), form or TextForm())


@pytest.fixture(params=WRITERS)
def path(request, tmp_path):
    found = tmp_path / f"people{request.param}"
    WRITERS[request.param](str(found))
    return found


def test_cells_are_what_the_program_shows(path):
    table = read(path)
    table = table.rename_columns([name.lower() for name in table.column_names])
    assert table.column_names == list(FRAME.columns)
    assert table["age"].to_pylist() == [39, 99, 41]
    assert table["weight"].to_pylist() == [78.5, None, 80.0]
    assert table["job"].to_pylist() == ["nurse", None, "cook" if path.suffix == ".por" else "Köchin"]
    assert table["day"].type == pa.date32()
    assert table["day"].to_pylist() == DAYS
    assert table["moment"].to_pylist() == MOMENTS
    labelled = path.suffix in (".sav", ".zsav", ".dta")
    assert table["sex"].to_pylist() == (["female", "male", "female"] if labelled else [1, 2, 1])


def test_only_named_columns_are_read(path):
    names = file_columns(path, TextForm())
    assert read(path, columns=[names[3], names[0]]).column_names == [names[3], names[0]]


def test_codes_instead_of_labels(tmp_path):
    WRITERS[".sav"](str(tmp_path / "a.sav"))
    assert read(tmp_path / "a.sav", TextForm(labels=False))["sex"].to_pylist() == [1, 2, 1]


def test_missing_codes_are_missing(tmp_path):
    WRITERS[".sav"](str(tmp_path / "a.sav"), missing_ranges={"age": [99], "job": ["nurse"]})
    table = read(tmp_path / "a.sav")
    assert table["age"].to_pylist() == [39, None, 41]
    assert table["job"].to_pylist() == [None, None, "Köchin"]


def test_codes_with_the_same_label_are_told(tmp_path):
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(FRAME, path, variable_value_labels={"sex": {1: "person", 2: "person"}})
    with pytest.raises(DataError) as raised:
        read(path)
    assert "column 'sex': has 2 codes, but only 1 different labels" in str(raised.value)
    assert "person" not in str(raised.value)
    assert read(path, TextForm(labels=False))["sex"].to_pylist() == [1, 2, 1]


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt", ".sas7bdat", ".por"])
def test_what_is_no_such_file_is_told(tmp_path, ending):
    path = tmp_path / f"people{ending}"
    path.write_bytes(b"age,job\n39,nurse\n" * 50)
    with pytest.raises(DataError, match="it is damaged, or its format does not match its ending") as raised:
        file_columns(path, TextForm())
    assert "nurse" not in str(raised.value)


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_cut_files_are_told(tmp_path, ending):
    whole = tmp_path / f"whole{ending}"
    WRITERS[ending](str(whole))
    content, path = whole.read_bytes(), tmp_path / f"people{ending}"
    for size in range(10, len(content) - 10, max(len(content) // 15, 1)):
        path.write_bytes(content[:size])
        with pytest.raises(DataError) as raised:
            read(path)
        assert "nurse" not in str(raised.value)


def test_a_file_without_records_is_told(tmp_path):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(FRAME.head(0), path)
    with pytest.raises(DataError, match="no records"):
        read(path)


def test_a_sas_file_of_another_program(tmp_path):
    """No program but SAS writes .sas7bdat; pandas reads the transport format, and agrees with us."""
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(FRAME, path, file_format_version=5)
    other = pd.read_sas(io.BytesIO(path.read_bytes()), format="xport", encoding="utf-8")
    ours = read(path)
    assert [name.lower() for name in ours.column_names] == [name.lower() for name in other.columns]
    assert ours[ours.column_names[1]].to_pylist() == [78.5, None, 80.0]
    assert other[other.columns[1]].fillna(-1).tolist() == [78.5, -1, 80.0]


def test_periods_of_stata_are_their_first_days(tmp_path):
    path = str(tmp_path / "a.dta")
    frame = pd.DataFrame({"month": [-720.0, 769.0, None], "quarter": [0.0, 256.0, 1.0]})
    pyreadstat.write_dta(frame, path, variable_format={"month": "%tm", "quarter": "%tq"})
    table = read(tmp_path / "a.dta")
    assert table["month"].to_pylist() == [datetime.date(1900, 1, 1), datetime.date(2024, 2, 1), None]
    assert table["quarter"].to_pylist() == [
        datetime.date(1960, 1, 1), datetime.date(2024, 1, 1), datetime.date(1960, 4, 1),
    ]  # fmt: skip
