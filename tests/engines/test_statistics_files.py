"""Files of SPSS, Stata and SAS: cells as these programs show them."""

from __future__ import annotations

import datetime
import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

import sudare
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


def test_weeks_of_stata_are_their_first_days(tmp_path):
    """Each year has 52 weeks. The first begins on 1 January, and the last has more than seven days."""
    frame = pd.DataFrame({"week": [0.0, 51.0, 52.0, 2600.0, -1.0, None]})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), variable_format={"week": "%tw"})
    assert read(tmp_path / "a.dta")["week"].to_pylist() == [
        datetime.date(1960, 1, 1), datetime.date(1960, 12, 23), datetime.date(1961, 1, 1),
        datetime.date(2010, 1, 1), datetime.date(1959, 12, 24), None,
    ]  # fmt: skip


def test_years_of_stata_are_numbers(tmp_path):
    frame = pd.DataFrame({"year": [1990.0, 2024.0]})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), variable_format={"year": "%ty"})
    assert read(tmp_path / "a.dta")["year"].to_pylist() == [1990, 2024]


@pytest.mark.parametrize("shown", ["DTDATE9.", "E8601DN10.", "B8601DN8.", "DTMONYY7.", "DTWKDATX29.", "DTYEAR4."])
def test_moments_that_sas_shows_as_days_are_cut(tmp_path, shown):
    noon = 12 * 3600.0
    frame = pd.DataFrame({"seen": [2e9, noon, noon - 86_400, None]})
    pyreadstat.write_xport(frame, str(tmp_path / "a.xpt"), variable_format={"seen": shown})
    seen = read(tmp_path / "a.xpt")["seen"]
    assert seen.type == pa.date32()
    assert seen.to_pylist() == [
        datetime.date(2023, 5, 18), datetime.date(1960, 1, 1), datetime.date(1959, 12, 31), None,
    ]  # fmt: skip


@pytest.mark.parametrize("shown", ["DATETIME20.", "E8601DT19.", "E8601DX26.", "E8601LX26.", "DEUDFDT15.", "NLDATM30."])
def test_moments_of_sas(tmp_path, shown):
    pyreadstat.write_xport(pd.DataFrame({"seen": [2e9]}), str(tmp_path / "a.xpt"), variable_format={"seen": shown})
    assert read(tmp_path / "a.xpt")["seen"].to_pylist() == [datetime.datetime(2023, 5, 18, 3, 33, 20)]


@pytest.mark.parametrize(
    "shown", ["DATE9.", "YYMON7.", "YYMMDDN8.", "DEUDFDD10.", "EURDFWKX37.", "E8601DA10.", "YYQR6.", "NLDATE20."]
)
def test_days_of_sas(tmp_path, shown):
    pyreadstat.write_xport(pd.DataFrame({"seen": [9000.0]}), str(tmp_path / "a.xpt"), variable_format={"seen": shown})
    assert read(tmp_path / "a.xpt")["seen"].to_pylist() == [datetime.date(1984, 8, 22)]


@pytest.mark.parametrize(
    ("ending", "shown", "told"),
    [
        (".xpt", "YEAR4.", "the format YEAR4 of SAS"),
        (".xpt", "MONNAME9.", "the format MONNAME9 of SAS"),
        (".xpt", "JULDAY3.", "the format JULDAY3 of SAS"),
        (".xpt", "QTR1.", "the format QTR1 of SAS"),
        (".xpt", "WEEKDAY1.", "the format WEEKDAY1 of SAS"),
        (".xpt", "NLTIMMN8.", "the format NLTIMMN8 of SAS"),
        (".xpt", "EURDFMN9.", "the format EURDFMN9 of SAS"),
        (".dta", "%tbnyse", "the format %tbnyse of Stata"),
    ],
)
def test_dates_in_a_format_that_is_not_read_are_told(tmp_path, ending, shown, told):
    """They would be released as numbers of days or seconds, which are finer than what the program shows."""
    write = {".xpt": pyreadstat.write_xport, ".dta": pyreadstat.write_dta}[ending]
    frame = pd.DataFrame({"age": [20.0, 21.0], "seen": [8765.0, 9876.0]})
    write(frame, str(tmp_path / f"a{ending}"), variable_format={"seen": shown})
    assert read(tmp_path / f"a{ending}", columns=["age"])["age"].to_pylist() == [20, 21]
    with pytest.raises(DataError) as raised:
        read(tmp_path / f"a{ending}")
    [problem] = raised.value.problems
    assert problem.where == "column 'seen'" and told in problem.what and "give the column the format" in problem.hint
    assert "8765" not in str(raised.value) and "9876" not in str(raised.value)


@pytest.mark.parametrize("shown", ["YEARGRP.", "DTYPE.", "MONTHS.", "BEST12.", "Z.", "DAYS5."])
def test_formats_that_users_make_are_none_of_dates(tmp_path, shown):
    pyreadstat.write_xport(
        pd.DataFrame({"group": [1.0, 2.0]}), str(tmp_path / "a.xpt"), variable_format={"group": shown}
    )
    assert read(tmp_path / "a.xpt")["group"].to_pylist() == [1, 2]


def test_times_of_day_are_seconds(tmp_path):
    frame = pd.DataFrame({"time": [3600.0, 90_000.0, None], "clock": [3600.0, 86_400 * 20_000 + 7200.0, None]})
    shown = {"time": "TIME8.", "clock": "TOD8."}
    pyreadstat.write_xport(frame, str(tmp_path / "a.xpt"), variable_format=shown)
    table = read(tmp_path / "a.xpt")
    assert table["time"].to_pylist() == [3600, 90_000, None]
    assert table["clock"].to_pylist() == [3600, 7200, None]  # which is all that the program shows of a moment


ZEROS = {".sav": "N5", ".zsav": "N5", ".dta": "%05.0f", ".xpt": "Z5."}


def write_shown(path, frame, shown, **more):
    if path.suffix == ".zsav":
        more["compress"] = True
    write = {".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}.get(path.suffix, pyreadstat.write_sav)
    write(frame, str(path), variable_format=shown, **more)


@pytest.mark.parametrize("ending", ZEROS)
def test_leading_zeros_that_the_program_shows(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    write_shown(path, pd.DataFrame({"zip": [501.0, 90210.0, None, 123456.0]}), {"zip": ZEROS[ending]})
    column = read(path)["zip"]
    assert pa.types.is_large_string(column.type)
    assert column.to_pylist() == ["00501", "90210", None, "123456"]


@pytest.mark.parametrize("ending", ZEROS)
@pytest.mark.parametrize("values", [[501.5, 2.0], [-501.0, 2.0]])
def test_other_numbers_have_no_leading_zeros(tmp_path, ending, values):
    path = tmp_path / f"a{ending}"
    write_shown(path, pd.DataFrame({"zip": values}), {"zip": ZEROS[ending]})
    assert read(path)["zip"].to_pylist() == values


def test_no_number_has_a_billion_zeros(tmp_path):
    path = tmp_path / "a.dta"
    write_shown(path, pd.DataFrame({"zip": [501.0]}), {"zip": "%0999999999.0f"})
    assert read(path)["zip"].to_pylist() == [501]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_codes_with_leading_zeros_have_labels(tmp_path, ending):
    path, labels = tmp_path / f"a{ending}", {"code": {1: "north", 2: "south"}}
    write_shown(path, pd.DataFrame({"code": [1.0, 2.0]}), {"code": ZEROS[ending]}, variable_value_labels=labels)
    assert read(path)["code"].to_pylist() == ["north", "south"]
    assert read(path, TextForm(labels=False))["code"].to_pylist() == ["00001", "00002"]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_label_for_missing_counts_where_codes_are_shown(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    frame = pd.DataFrame({"age": [-9.0, 58.0, 18.0], "weeks": [99.0, 0.0, 5.0], "day": [9.0, 20.0, 30.0]})
    labels = {"age": {-9: "keine Angabe", -8: ""}, "weeks": {99: "weiß nicht"}, "day": {9: "keine Angabe"}}
    days = {"day": "%td"} if ending == ".dta" else {}
    write_shown(path, frame, days, variable_value_labels=labels)
    table = read(path, TextForm(missing=["", "keine Angabe"]))
    assert table["age"].type == pa.int64()
    assert table["age"].to_pylist() == [None, 58, 18]
    assert table["weeks"].to_pylist() == [99, 0, 5]
    assert table["day"].null_count == 1
    assert read(path)["age"].to_pylist() == [-9, 58, 18]
    assert read(path, TextForm(missing=["keine Angabe"], labels=False))["age"].to_pylist() == [-9, 58, 18]


def test_a_label_for_missing_counts_among_texts(tmp_path):
    frame = pd.DataFrame({"job": ["nurse", "XX", "cook"]})
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels={"job": {"XX": "unknown"}})
    assert read(tmp_path / "a.sav", TextForm(missing=["unknown"]))["job"].to_pylist() == ["nurse", None, "cook"]


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-16", "does not contain ASCII"),
        ("utf-32", "does not contain ASCII"),
        ("cp037", "does not contain ASCII"),
        ("klingon", "is no encoding of text"),
        ("rot13", "is no encoding of text"),
        ("idna", "is not known to pyreadstat"),
    ],
)
def test_encodings_that_such_files_cannot_have(tmp_path, ending, encoding, told):
    path = tmp_path / f"people{ending}"
    WRITERS[ending](str(path))
    with pytest.raises(DataError, match=told) as raised:
        file_columns(path, TextForm(encoding=encoding))
    assert encoding in str(raised.value) and "Hint: " in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig", "latin-1", "cp1252", "shift_jis", "euc_jp"])
def test_encodings_have_the_names_of_python(tmp_path, encoding):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(FRAME.replace("Köchin", "cook"), path)
    assert read(path, TextForm(encoding=encoding))["job"].to_pylist() == ["nurse", None, "cook"]


def test_a_wrong_encoding_is_told(tmp_path):
    WRITERS[".sav"](str(tmp_path / "a.sav"))
    with pytest.raises(DataError, match="holds text that is not in ascii") as raised:
        read(tmp_path / "a.sav", TextForm(encoding="ascii"))
    assert "nurse" not in str(raised.value)


def test_a_label_for_missing_of_one_column(tmp_path):
    path, labels = tmp_path / "a.dta", {"age": {-9: "keine Angabe"}, "weeks": {-9: "keine Angabe"}}
    write_shown(path, pd.DataFrame({"age": [-9.0, 58.0], "weeks": [-9.0, 5.0]}), {}, variable_value_labels=labels)
    table = read(path, TextForm(missing_labels={"age": ["keine Angabe"]}))
    assert table["age"].to_pylist() == [None, 58]
    assert table["weeks"].to_pylist() == [-9, 5]


def test_a_policy_lists_a_label_for_missing(tmp_path):
    path, labels = tmp_path / "a.sav", {"age": {-9: "keine Angabe"}, "weeks": {99: "wei\u00df nicht"}}
    frame = pd.DataFrame({"age": [-9.0, 58.0, 58.0] * 5, "weeks": [99.0, 0.0, 0.0] * 5})
    write_shown(path, frame, {}, variable_value_labels=labels)
    rules = {
        "columns": {"age": {"role": "quasi"}, "weeks": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "source": {"missing": {"age": ["keine Angabe"], "weeks": ["wei\u00df nicht"]}},
    }
    sudare.anonymize(path, rules, out=tmp_path / "release.parquet", seed=1)
    released = pq.read_table(tmp_path / "release.parquet")
    assert "-9" not in map(str, released["age"].to_pylist())
    assert sorted(released["weeks"].drop_null().to_pylist()) == [0] * 10
    assert released["weeks"].null_count == 5
