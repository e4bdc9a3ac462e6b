"""Cells are read as a policy says: numbers, dates, blanks, letters and missing ones; and what is not so is told."""

from __future__ import annotations

import datetime
import re

import hypothesis.strategies as st
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import sudare
from sudare import engines
from sudare.core.errors import DataError, PolicyError, SudareError
from sudare.policy import DateFormat, Policy
from sudare.sources.cell_cleaner import cleaned
from sudare.sources.encoded_table import encode
from sudare.sources.local_dates import parse_dates
from sudare.sources.local_numbers import LocalNumbers
from sudare.sources.opened_source import read as open_source
from sudare.table.value_spellings import fold


def policy(source, **columns):
    return Policy.parse({"columns": columns, "require": [{"model": "k-anonymity", "k": 2}], "source": source})


def clean(table, source, **columns):
    """Return a table as it is read by a policy about some columns; all are quasi-identifiers unless it says so."""
    table = pa.table(table)
    about = {name: {"role": "quasi"} for name in table.column_names} | columns
    return cleaned(engines.open_table(table), policy(source, **about)).table()


GERMAN = {"decimal": ",", "thousands": "."}
ENGLISH = {"thousands": ","}


@pytest.mark.parametrize(
    ("source", "texts", "read"),
    [
        (GERMAN, ["78,1", "1.234,5", "-1.234.567", "12", ",5", "1,"], ["78.1", "1234.5", "-1234567", "12", ".5", "1."]),
        (GERMAN, ["Meier, Hans", "1,2,3", "a,1", "1.2.2024"], ["Meier, Hans", "1,2,3", "a,1", "1.2.2024"]),
        ({"decimal": ","}, ["78,1", "1e5", "2,5E-3"], ["78.1", "1e5", "2.5E-3"]),
        (ENGLISH, ["1,234.5", "12,345", "7.25"], ["1234.5", "12345", "7.25"]),
        ({"decimal": ",", "thousands": " "}, ["1 234,5", "1\u00a0234", "1\u202f234,25"], ["1234.5", "1234", "1234.25"]),
        ({"decimal": ".", "thousands": "'"}, ["1'234.5", "1\u2019234"], ["1234.5", "1234"]),
    ],
)
def test_local_numbers(source, texts, read):
    assert clean({"x": texts}, source)["x"].to_pylist() == read


SPELLINGS = {
    "-2,5": ["\u20132,5", "\u22122,5", "\uff0d2,5", "\u208b2,5", "-\u20602,5", "-2,5\u200b",
             " -2,5\u00ad", "-2\uff0c5\ufe0f"],
    "2,5": ["+2,5", "\uff0b2,5", "\uff12,5", "2,5\x01", "\U0001d7d0,5", "2,5\u00a0",
            "\u3164\u200b2,5", "\uff12\uff0c\uff15"],
    "2,5e3": ["2,5\uff45\uff13", "+2,5e3", "2,5e\u200b3"],
    "1.234,5": ["+1.234,5", "1\uff0e\uff12\uff13\uff14,5", "1\u200b.234,5"],
}  # fmt: skip


@pytest.mark.parametrize(("usual", "spellings"), SPELLINGS.items())
def test_a_number_is_read_in_all_of_its_spellings(usual, spellings):
    number = usual.replace(".", "").replace(",", ".")
    assert clean({"x": [usual, *spellings, "n.d.", None]}, GERMAN)["x"].to_pylist() == [
        number, *[number] * len(spellings), "n.d.", None,
    ]  # fmt: skip
    for spelling in spellings:
        assert clean({"x": [spelling]}, GERMAN)["x"].to_pylist() == [number]


@pytest.mark.parametrize(
    ("thousands", "texts"),
    [(" ", ["1  234,5", "1\u3000234,5"]), ("'", ["1`234,5", "1\u2018234,5"]), (".", ["\uff11.\uff12\uff13\uff14,5"])],
)
def test_marks_between_thousands_have_spellings_too(thousands, texts):
    found = clean({"x": texts}, {"decimal": ",", "thousands": thousands})["x"].to_pylist()
    assert found == ["1234.5"] * len(texts)


@pytest.mark.parametrize("form", ["{}2,5", "2{},5", "2,{}5", "2,5{}", "{},5", "2{}5", "2,5{}3", "2,5e{}3", "2{}3,5"])
def test_every_character_that_folds_into_a_number_is_read_so(form):
    """Whatever text is a number once it is folded is read as this number, or told."""
    blocks = ((1, 0x3400), (0xA640, 0xAC00), (0xF900, 0x20000), (0xE0000, 0xE0200))  # all but letters of East Asia
    texts = [form.format(chr(code)) for first, last in blocks for code in range(first, last)]
    plain, foreign = LocalNumbers(",").plain_texts(pa.array(texts, pa.large_string()))
    number = re.compile(r"[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)(e[+-]?[0-9]+)?")
    seen = 0
    for text, read, told in zip(texts, plain.to_pylist(), foreign.to_pylist(), strict=True):
        folded = fold(text, numbers=False)
        if "," in folded and number.fullmatch(folded):
            seen += 1
            assert not told
            assert fold(read) == fold(folded.replace(",", "."))
    assert seen > 10


def test_a_plus_before_a_whole_number_may_belong_to_a_code():
    assert clean({"x": ["+49", "1,5", "2", "+1e5"]}, GERMAN)["x"].to_pylist() == ["+49", "1.5", "2", "+1e5"]


@pytest.mark.parametrize("values", [["-2,5", "\u20132,5"], ["2,5", "2,5\u200b"], ["\uff12,5", "2,5 "], ["2,5", "+2,5"]])
@pytest.mark.parametrize("release", [{}, {"excel": "de"}])
def test_spellings_of_one_number_are_no_diversity(tmp_path, values, release):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age;d", *(f"{20 + row // 10};{values[row % 2]}" for row in range(40))]))
    written = {
        "columns": {"age": {"role": "quasi"}, "d": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "d"}],
        "source": {"decimal": ","},
        "release": release,
    }
    with pytest.raises(SudareError, match="has 1 different value"):
        sudare.anonymize(path, written, out=tmp_path / "r.csv")


@pytest.mark.parametrize("keys", [{"kind": "categorical"}, {"kind": "items"}, {"order": ["1,5", "2,5"]}])
def test_codes_and_item_sets_keep_their_commas(keys):
    assert clean({"x": ["1,5", "2,5"]}, GERMAN, x={"role": "quasi", **keys})["x"].to_pylist() == ["1,5", "2,5"]


@pytest.mark.parametrize(
    ("source", "texts", "told"),
    [
        ({"decimal": ","}, ["78,1", "78.1", "1.234"], "2 cells have a decimal point where source.decimal is ','"),
        (GERMAN, ["78,1", "78.1"], "1 cell has a decimal point where source.decimal is ',' and source.thousands '.'"),
        (ENGLISH, ["1,5", "2,345"], "1 cell has a comma where source.decimal is '.' and source.thousands ','"),
        (GERMAN, ["1.234e2", "1.234,5e2", "-1.234E2", "1.234"], "3 cells have a decimal point"),
        (ENGLISH, ["1,234e2", "1,234.5e2", "1,234"], "2 cells have a comma"),
        ({"decimal": ",", "thousands": " "}, ["1 234e2", "1 234,5e2"], "2 cells have a decimal point"),
        ({"decimal": ","}, ["\uff12.5", "2.\u200b5", "\u20132.5"], "3 cells have a decimal point"),
        (
            {"decimal": ","},
            ["1.000,5", "1 000,5", "1'000,5", "1,000.5", "1\u00a0000,5"],
            "or another mark between thousands",
        ),
        (GERMAN, ["1.000,5", "1,000.5", "1 000,5"], "2 cells have a decimal point"),
    ],
)
def test_numbers_in_the_other_way_of_writing_are_told(source, texts, told):
    with pytest.raises(DataError) as raised:
        clean({"x": texts}, source)
    assert told in str(raised.value)
    assert not any(text in str(raised.value) for text in texts)


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1), st.sampled_from([(",", "."), (",", " "), (".", ",")])
)
def test_every_number_is_read_as_it_was_written(numbers, marks):
    decimal, thousands = marks
    written = [f"{each:,}".replace(",", "T").replace(".", decimal).replace("T", thousands) for each in numbers]
    plain, foreign = LocalNumbers(decimal, thousands).plain_texts(pa.array(written, pa.large_string()))
    assert [float(text) for text in plain.to_pylist()] == [float(each) for each in numbers]
    assert not any(foreign.to_pylist())


FORMATS = {
    "dd.mm.yyyy": "%d.%m.%Y",
    "mm/dd/yyyy": "%m/%d/%Y",
    "yyyy/mm/dd": "%Y/%m/%d",
    "ddmmyyyy": "%d%m%Y",
    "dd-mm-yyyy hh:mm:ss": "%d-%m-%Y %H:%M:%S",
    "yyyy-mm-ddThh:mm": "%Y-%m-%dT%H:%M",
    "dd mmm yyyy": "%d %b %Y",
}


@given(st.sampled_from(sorted(FORMATS)), st.lists(st.datetimes(datetime.datetime(1000, 1, 1)), min_size=1))
def test_every_date_is_read_as_it_was_written(form, moments):
    parsed = DateFormat.of(form)
    kept = "%S" in FORMATS[form], "%M" in FORMATS[form]
    moments = [each.replace(microsecond=0, second=each.second if kept[0] else 0) for each in moments]
    moments = [each if kept[1] else each.replace(hour=0, minute=0) for each in moments]
    if not parsed.timed:
        moments = [each.replace(second=0) for each in moments]
    texts = [each.strftime(FORMATS[form]) for each in moments]
    found, bad = parse_dates(pa.array(texts, pa.large_string()), [parsed])
    assert not any(bad.to_pylist())
    assert found.to_pylist() == (moments if parsed.timed else [each.date() for each in moments])


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("dd.mm.yyyy", "3.4.2024", datetime.date(2024, 4, 3)),
        ("mm.dd.yyyy", "3.4.2024", datetime.date(2024, 3, 4)),
        ("dd.mm.yy", "03.04.68", datetime.date(2068, 4, 3)),
        ("dd.mm.yy", "03.04.69", datetime.date(1969, 4, 3)),
        ("dd. mmm yyyy", "3. März 2024", datetime.date(2024, 3, 3)),
        ("dd mmm yyyy", "3 août 2024", datetime.date(2024, 8, 3)),
        ("dd-mmm-yy", "03-JUN-99", datetime.date(1999, 6, 3)),
        ("dd mmm yyyy", "3 juillet 2024", datetime.date(2024, 7, 3)),
        ("dd.mm.yyyy", "29.02.2024", datetime.date(2024, 2, 29)),
        ("dd.mm.yyyy", "30.02.2024", None),
        ("dd.mm.yyyy", "29.02.2023", None),
        ("dd.mm.yyyy", "00.01.2024", None),
        ("dd.mm.yyyy", "01.13.2024", None),
        ("dd.mm.yyyy", "01.01.2024 12:00", None),
        ("dd.mm.yyyy hh:mm", "01.01.2024 24:00", None),
        ("dd mmm yyyy", "3 foo 2024", None),
    ],
)
def test_dates_of_the_calendar_only(form, text, day):
    found, bad = parse_dates(pa.array([text, None], pa.large_string()), [DateFormat.of(form)])
    assert found.to_pylist() == [day, None] if not DateFormat.of(form).timed else found.null_count == 2
    assert bad.to_pylist() == [day is None, False]


@pytest.mark.parametrize(
    "form", ["", "dd.mm", "dd.mm.yyyy dd", "tt.mm.jjjj", "hh:mm", "dd.mm.yyyy :ss", "%d.%m.%Y", "yyyy mm dd yy"]
)
def test_what_is_no_format_is_told(form):
    with pytest.raises(PolicyError, match=r"source\.dates.*is not a format of dates"):
        policy({"dates": form}, x={"role": "quasi"})


def test_impossible_dates_are_told_with_their_records():
    days = ["01.02.2024", "30.02.2024", "31.04.2024", "x", *["02.02.2024"] * 100, *["32.01.2024"] * 9]
    with pytest.raises(DataError) as raised:
        clean({"day": days}, {"dates": {"day": "dd.mm.yyyy"}})
    told = "column 'day': 12 cells are no date in the format dd.mm.yyyy (records 2, 3, 4, 105, 106 and more)."
    assert told in str(raised.value)
    assert "30.02" not in str(raised.value)


def test_dates_for_all_concern_columns_in_which_every_cell_is_one():
    table = {"day": ["01.02.2024", None, "28.02.2024"], "code": ["01.02.2024", "x", ""], "none": [None, None, ""]}
    found = clean(table, {"dates": "dd.mm.yyyy"})
    assert found["day"].to_pylist() == [datetime.date(2024, 2, 1), None, datetime.date(2024, 2, 28)]
    assert found["code"].to_pylist() == ["01.02.2024", "x", ""]
    assert found["none"].type == pa.string()


def test_the_first_format_that_a_text_has_counts():
    found = clean({"day": ["01.02.2024", "2024/02/03", "05.06.2024 07:08"]},
                  {"dates": ["dd.mm.yyyy", "yyyy/mm/dd", "dd.mm.yyyy hh:mm"]})  # fmt: skip
    assert found["day"].to_pylist() == [
        datetime.datetime(2024, 2, 1), datetime.datetime(2024, 2, 3), datetime.datetime(2024, 6, 5, 7, 8),
    ]  # fmt: skip


def test_blanks_letters_and_missing_texts():
    table = {"sex": ["m", " M ", "m\u00a0", " ", "k.A.", None], "job": [" Cook", "cook", "-9", "NA ", "", "NA"]}
    source = {"trim": True, "case": {"sex": "upper"}, "missing": {"*": ["", "NA"], "job": ["-9"], "sex": ["k.A."]}}
    found = clean(table, source)
    assert found["sex"].to_pylist() == ["M", "M", "M", None, None, None]
    assert found["job"].to_pylist() == ["Cook", "cook", None, None, None, None]


def test_blanks_of_one_column():
    assert clean({"a": [" x"], "b": [" x"]}, {"trim": {"a": True}}).to_pylist() == [{"a": "x", "b": " x"}]
    assert clean({"a": [" x"], "b": [" x"]}, {"trim": {"*": True, "a": False}}).to_pylist() == [{"a": " x", "b": "x"}]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(9, 2)])
def test_codes_for_missing_among_numbers(kind):
    found = clean({"age": pa.array([39, -9, None], pa.int8()).cast(kind)}, {"missing": {"age": ["-9", "x"]}})
    assert found["age"].is_null().to_pylist() == [False, True, True]
    assert found["age"].type == kind


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    """Cells that are not as the policy says, and what else is wrong with columns."""
    path = tmp_path / "people.csv"
    path.write_text("day;weight;height\n30.02.2024;78.1;tall\n01.02.2024;78,1;180\n01.02.2024;78,2;181\n")
    about = {name: {"role": "quasi", "kind": "numeric"} for name in ("day", "weight", "height")}
    source, _ = open_source(path, policy({"decimal": ",", "dates": {"day": "dd.mm.yyyy"}}, **about))
    with pytest.raises(DataError) as raised:
        encode(source, policy({"decimal": ",", "dates": {"day": "dd.mm.yyyy"}}, **about))
    told = str(raised.value)
    assert "column 'day': 1 cell is no date" in told
    assert "column 'weight': 1 cell has a decimal point" in told
    assert "column 'height': 1 of 3 cells are not numbers or dates (record 1)" in told


@pytest.mark.parametrize("stream", [False, True])
def test_a_stream_is_cleaned_as_a_table_is(tmp_path, stream):
    path = tmp_path / "people.csv"
    rows = [f"{row % 28 + 1:02d}.03.2024;{row % 90},5; m" for row in range(3000)]
    path.write_text("\n".join(["day;weight;sex", *rows]))
    about = {name: {"role": "quasi"} for name in ("day", "weight", "sex")}
    source, _ = open_source(path, policy({"decimal": ",", "dates": "dd.mm.yyyy", "trim": True}, **about), stream=stream)
    assert source.schema.field("day").type == pa.date32()
    table = source.table()
    assert table["day"][0].as_py() == datetime.date(2024, 3, 1)
    assert table["weight"][1].as_py() == "1.5"
    assert set(table["sex"].to_pylist()) == {"m"}
    assert source.table().equals(table)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_in_python_are_cleaned_too(kind):
    frame = kind({"age": ["1.039,5", "1.040,5"] * 5, "day": ["01.02.2024"] * 10})
    about = {"age": {"role": "quasi"}, "day": {"role": "insensitive"}}
    written = {"columns": about, "require": [{"model": "k-anonymity", "k": 2}],
               "source": {**GERMAN, "dates": "dd.mm.yyyy"}}  # fmt: skip
    release = sudare.anonymize(frame, written, seed=1)
    assert sudare.audit(release, written).passed
    shown = pa.table(release.data) if kind is not pd.DataFrame else pa.Table.from_pandas(release.data)
    assert set(shown["day"].to_pylist()) == {datetime.date(2024, 2, 1)}
    assert set(map(float, shown["age"].to_pylist())) == {1039.5, 1040.5}


def test_keys_that_do_nothing_are_told(tmp_path):
    path = tmp_path / "people.parquet"
    pl.DataFrame({"x": ["a"]}).write_parquet(path)
    for key, value in {"sheet": "a", "skip_rows": 1, "labels": False, "delimiter": ";", "encoding": "cp1252"}.items():
        with pytest.raises(PolicyError, match=rf"source\.{key}: has no effect: it is for"):
            open_source(path, policy({key: value}, x={"role": "quasi"}))
    with pytest.raises(PolicyError, match=r"source\.trim: 'y' is not a column of this policy"):
        policy({"trim": {"y": True}}, x={"role": "quasi"})
    with pytest.raises(PolicyError, match=r"source\.dates\.y: has no effect: a column with role: identifier"):
        policy({"dates": {"y": "dd.mm.yyyy"}}, x={"role": "quasi"}, y={"role": "identifier"})
    with pytest.raises(PolicyError, match="thousands and decimal cannot be the same mark"):
        policy({"thousands": "."}, x={"role": "quasi"})


@pytest.mark.parametrize("key", ["decimal", "thousands", "dates", "trim", "case", "missing"])
def test_a_database_is_read_as_it_is(tmp_path, key):
    import duckdb

    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' AS x")
    value = {"decimal": ",", "thousands": ",", "dates": "dd.mm.yyyy", "trim": True, "case": "lower",
             "missing": {"x": ["NA"]}}[key]  # fmt: skip
    with pytest.raises(SudareError, match=rf"source\.{key}: has no effect: cells of databases"):
        open_source(f"{path}#people", policy({key: value}, x={"role": "quasi"}))


def test_older_policies_keep_their_digests():
    """A policy that does not use the newer keys is the same policy as before."""
    digest = policy({"missing": ["", "?"]}, x={"role": "quasi"}).model_dump(exclude_none=True)["source"]
    assert digest == {"encoding": "utf-8", "missing": ["", "?"]}


@pytest.mark.parametrize("texts", [["0.123", "0.456"], ["1234.567", "5.678"]])
def test_groups_do_not_begin_with_zero_and_have_three_digits(texts):
    with pytest.raises(DataError, match=r"ha(ve|s) a decimal point"):
        clean({"x": texts}, GERMAN)


def test_typographic_numbers():
    texts = ["\u22123,5", "\xa02,5", "-1,5 "]
    assert clean({"x": texts}, {"decimal": ","})["x"].to_pylist() == ["-3.5", "2.5", "-1.5"]


@pytest.mark.parametrize("text", ["07 Sepsis 2024", "08 Mayor 2024", "01 Ju 2024", "01 x 2024"])
def test_words_that_are_no_months(text):
    assert parse_dates(pa.array([text], pa.large_string()), [DateFormat.of("dd mmm yyyy")])[1].to_pylist() == [True]


def test_dates_for_all_know_what_is_missing_in_a_column_and_leave_codes_alone():
    table = {"born": ["01.02.2024", "unbekannt"], "code": ["01.02.2024", "02.02.2024"], "set": ["01.02.2024", ""]}
    source = {"dates": "dd.mm.yyyy", "missing": {"born": ["unbekannt"]}}
    kinds = {"code": {"role": "quasi", "kind": "categorical"}, "set": {"role": "quasi", "kind": "items"}}
    found = clean(table, source, **kinds)
    assert found["born"].to_pylist() == [datetime.date(2024, 2, 1), None]
    assert found["code"].type == found["set"].type == pa.string()


def test_a_stream_that_begins_with_missing_cells_has_the_same_types(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;day\n" + "1;\n" * 5_000_000 + "2;01.02.2024\n")
    about = {name: {"role": "quasi"} for name in ("age", "day")}
    for stream in (False, True):
        source, _ = open_source(path, policy({"dates": "dd.mm.yyyy"}, **about), stream=stream)
        assert source.schema.field("day").type == pa.date32()


def test_dates_written_as_numbers():
    found = clean({"day": pa.array([20240229, 0, None])}, {"dates": {"day": "yyyymmdd"}, "missing": {"day": ["0"]}})
    assert found["day"].to_pylist() == [datetime.date(2024, 2, 29), None, None]


def test_marks_for_missing_among_dates_and_truth_values():
    table = {"day": [datetime.date(1900, 1, 1), datetime.date(2024, 1, 1)], "sick": [True, False]}
    found = clean(table, {"missing": {"day": ["1900-01-01"], "sick": ["true"]}})
    assert found["day"].to_pylist() == [None, datetime.date(2024, 1, 1)]
    assert found["sick"].to_pylist() == [None, False]


def test_blanks_stay_blank_where_no_text_is_missing():
    assert clean({"x": ["", " ", " a"]}, {"trim": True, "missing": ["NA"]})["x"].to_pylist() == ["", "", "a"]


@pytest.mark.parametrize("source", [{"trim": True}, {"case": "lower"}, {"dates": "dd.mm.yyyy"}, GERMAN])
def test_categories_of_data_frames(source):
    """Columns with a dictionary: their clean texts have none."""
    frame = pd.DataFrame({"c": pd.Categorical(["m", "M", "f "] * 20), "d": pd.Categorical(["1,5", "2,5", "x"] * 20)})
    written = {"columns": {name: {"role": "quasi"} for name in frame}, "require": [{"model": "k-anonymity", "k": 2}]}
    assert len(sudare.anonymize(frame, {**written, "source": source}).data) == 60
    polars = pl.from_pandas(frame)
    assert len(sudare.anonymize(polars, {**written, "source": source}).data) == 60
    assert "columns:" in sudare.draft(frame)


def test_a_population_is_read_as_the_data_is(tmp_path):
    """With the kinds of the policy: codes with points are no numbers there either."""
    rows = [f"{10 + row % 2}.115;{row % 4}" for row in range(40)]
    data, population = tmp_path / "data.csv", tmp_path / "population.csv"
    data.write_text("\n".join(["zip;sex", *rows]))
    population.write_text("\n".join(["zip;sex", *rows * 5]))
    written = {
        "columns": {"zip": {"role": "quasi", "kind": "categorical"}, "sex": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "source": GERMAN,
    }
    found = sudare.risk(data, written, population=population).to_dict()
    alone = sudare.risk(data, written).to_dict()
    assert found != alone
    assert "10115" not in str(found)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"missing": {"x": [999]}}, "source.missing: a text of 'x' is not in quotation marks"),
        ({"missing": "NA"}, "source.missing: the texts must be a list"),
        ({"dates": {"x": 3}}, "source.dates: formats are texts"),
        ({"dates": "TT.MM.JJJJ"}, "source.dates: 'TT.MM.JJJJ' is not a format of dates"),
    ],
)
def test_messages_about_keys_name_no_types(source, told):
    with pytest.raises(PolicyError) as raised:
        policy(source, x={"role": "quasi"})
    assert told in str(raised.value)
    assert "str" not in str(raised.value).replace("string", "")
