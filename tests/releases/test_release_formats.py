"""Every form of a release: made, audited, and read by estimates, risks and reports as any other form of it."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import random
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, PolicyError, TargetError
from sudare.releases.converted_files import converted_text
from sudare.releases.opened_release import open_released
from sudare.releases.placement import certificate_path, second_table
from sudare.releases.release_files import ReleaseFile
from sudare.releases.release_formats import ENDINGS, release_ending, release_format

ROWS = 120


def data():
    draw = random.Random(3)
    return pa.table(
        {
            "age": [draw.randint(18, 80) for _ in range(ROWS)],
            "height": [round(draw.uniform(150, 200), 1) for _ in range(ROWS)],
            "weight": [round(draw.uniform(50, 99), 1) for _ in range(ROWS)],
            "town": [draw.choice(["Köln", "Zürich", "Łódź", "a, b", None]) for _ in range(ROWS)],
            "born": [datetime.date(1950, 1, 1) + datetime.timedelta(draw.randint(0, 9999)) for _ in range(ROWS)],
            "drugs": [draw.sample(["aspirin", "b", "c"], draw.randint(0, 2)) for _ in range(ROWS)],
            "income": [round(draw.uniform(-10, 99), 2) for _ in range(ROWS)],
            "ill": [draw.choice(["flu", "cold", "=1+1", "x,y"]) for _ in range(ROWS)],
            "seen": [datetime.datetime(2020, 1, 1, 3, 4, 5) + datetime.timedelta(hours=i) for i in range(ROWS)],
            "dead": [index % 3 == 0 for index in range(ROWS)],
        }
    )


def rules(**release):
    roles = {name: {"role": "quasi"} for name in ("age", "height", "weight", "town", "born")}
    return {
        "columns": roles
        | {
            "height": {"role": "quasi", "hierarchy": {"bands": [2.5, 5, 10]}},
            "drugs": {"role": "quasi", "kind": "items", "separator": "|"},
            "income": {"role": "insensitive"},
            "ill": {"role": "sensitive"},
            "seen": {"role": "insensitive"},
            "dead": {"role": "insensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "ill"}],
        "release": release,
    }


FORMS = [
    ("r.csv", {}),
    ("r.csv", {"excel": "de"}),
    ("r.csv", {"excel": "us"}),
    ("r.csv", {"excel": "ch"}),
    ("r.tsv", {"excel": "pt-br"}),
    ("r.csv", {"decimal": ","}),
    ("r.csv", {"decimal": ",", "formulas": "keep", "delimiter": "|"}),
    ("r.csv", {"encoding": "iso8859-2", "delimiter": ";"}),
    ("r.csv", {"encoding": "gb18030", "decimal": ","}),
    ("r.csv.gz", {}),
    ("r.csv.zst", {"excel": "fr"}),
    ("r.tsv.gz", {"bom": True}),
    ("r.TSV.zst", {}),
    ("r.jsonl", {}),
    ("r.xlsx", {}),
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The figures of a release as Parquet, which all others have to agree with."""
    path = tmp_path_factory.mktemp("plain") / "r.parquet"
    sudare.anonymize(data(), rules(), out=path, seed=1)
    return figures(path, rules())


def figures(path, policy):
    """What estimates, risks and reports say of a release, and what its cells say."""
    counts = [(row["value"], row["estimate"]) for row in sudare.estimate(path, of="ill")]
    ages, weights = (
        [round(row["estimate"], 6) for row in sudare.estimate(path, of="ill", by=[name]) if row["cell"]]
        for name in ("age", "weight:20")
    )
    risk = sudare.risk(data(), policy, release=path).to_dict()
    for part in risk.values():  # how long it took, and where it was
        if isinstance(part, dict):
            part.pop("seconds", None)
    opened = open_released(path).read(["age", "height", "weight", "born", "town"])
    cells = [tuple(sudare.parse_cell(cell) for cell in row.values()) for row in opened.to_pylist()]
    assert sudare.report(path, data(), policy).html
    return counts, ages, weights, risk.get("release"), sorted(map(repr, cells))


@pytest.mark.parametrize(("name", "release"), FORMS, ids=str)
def test_every_form_is_audited_and_read_like_any_other(tmp_path, plain, name, release):
    path = tmp_path / name
    policy = rules(**release)
    made = sudare.anonymize(data(), policy, out=path, seed=1)
    report = sudare.audit(path, policy)
    assert (report.passed, report.rows) == (True, ROWS)
    assert report.classes == made.certificate["classes"]
    layout = made.certificate.get("layout")
    assert (layout is None) == (set(release) <= {"formulas"})
    if layout is not None:
        assert "layout" in report.verified
        commas = ["age", "height", "weight", "born", "income"]
        assert layout["numbers"] == (commas if layout["decimal"] == "," else [])
    found = figures(path, policy)
    assert found[:3] == plain[:3]
    assert found[4] == plain[4]


def test_the_same_rows_make_the_same_bytes(tmp_path):
    for name in ("r.csv.gz", "r.csv.zst", "r.xlsx", "r.jsonl"):
        written = []
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir(exist_ok=True)
            sudare.anonymize(data(), rules(), out=tmp_path / folder / name, seed=1)
            written.append((tmp_path / folder / name).read_bytes())
        assert written[0] == written[1], name


def test_a_german_file_is_what_excel_expects(tmp_path):
    sudare.anonymize(data(), rules(excel="de"), out=tmp_path / "r.csv", seed=1)
    raw = (tmp_path / "r.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(raw.decode("utf-8-sig").splitlines(), delimiter=";"))
    assert len(rows) == ROWS
    assert {row["income"].count(",") for row in rows} == {1}
    assert not any("." in row[name] for row in rows for name in ("age", "height", "weight", "income"))
    assert any(row["weight"].startswith("[") and "; " in row["weight"] for row in rows)
    assert any(row["height"].endswith(")") and "; " in row["height"] for row in rows)


def test_a_workbook_has_cells_of_their_types(tmp_path):
    sudare.anonymize(data(), rules(), out=tmp_path / "r.xlsx", seed=1)
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    [sheet] = book.worksheets
    assert (sheet.title, sheet.freeze_panes, sheet.max_row) == ("release", "A2", ROWS + 1)
    assert all(cell.font.b for cell in sheet[1])
    kinds = {name.value: {cell.data_type for cell in column} - {"n"} for name, *column in sheet.columns}
    assert kinds["age"] == kinds["height"] == kinds["born"] == {"s"}
    assert kinds["seen"] == {"d"}
    assert kinds["dead"] == {"b"}
    assert kinds["income"] == set()
    assert {cell.value for cell in sheet["H"][1:]} == {"flu", "cold", "=1+1", "x,y"}
    assert {cell.data_type for cell in sheet["H"]} == {"s"}
    assert not book.properties.creator


def test_json_lines_have_lists_and_nulls(tmp_path):
    sudare.anonymize(data(), rules(), out=tmp_path / "r.jsonl", seed=1)
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == ROWS
    assert all(isinstance(row["drugs"], list) and isinstance(row["income"], float) for row in rows)
    assert list(rows[0]) == data().column_names


SECRET = {
    "columns": {"age": {"role": "quasi"}, "gain": {"role": "sensitive"}},
    "require": [{"model": "l-diversity", "l": 2, "column": "gain"}],
}
GAINS = pa.table({"age": [30 + index % 7 for index in range(60)], "gain": [0.5 + index % 5 for index in range(60)]})


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".jsonl", ".xlsx", ".csv"])
@pytest.mark.parametrize("method", ["anatomy", "dummies"])
def test_hidden_values_in_every_form(tmp_path, method, ending):
    policy = SECRET | {"method": {"name": method}}
    if ending == ".csv":
        policy |= {"release": {"excel": "de"}}
    path = tmp_path / f"r{ending}"
    release = sudare.anonymize(GAINS, policy, out=path)
    assert sudare.audit(path, policy).passed
    assert {float(row["value"]) for row in sudare.estimate(path, of="gain")} == {0.5, 1.5, 2.5, 3.5, 4.5}
    assert (release.second == tmp_path / f"r.sensitive{ending}") == (method == "anatomy")


@pytest.mark.parametrize("ending", [".csv.gz", ".jsonl", ".xlsx", ".csv"])
def test_drawn_values_in_every_form(tmp_path, ending):
    policy = SECRET | {"require": [{"model": "pk-anonymity", "k": 2}], "method": {"name": "pram"}}
    if ending == ".csv":
        policy |= {"release": {"excel": "it"}}
    path = tmp_path / f"r{ending}"
    sudare.anonymize(GAINS, policy, out=path)
    assert sudare.audit(path, policy).passed
    assert {float(row["value"]) for row in sudare.estimate(path, of="gain")} == {0.5, 1.5, 2.5, 3.5, 4.5}


@pytest.mark.parametrize("ending", [".csv.zst", ".xlsx", ".jsonl", ".csv"])
def test_a_table_of_a_database_goes_to_every_form(tmp_path, ending):
    import duckdb

    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.register("given", data().drop_columns(["drugs"]))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    policy = rules(**({"excel": "nl"} if ending == ".csv" else {}))
    del policy["columns"]["drugs"]
    sudare.anonymize(f"{tmp_path / 'd.duckdb'}#people", policy, out=tmp_path / f"r{ending}")
    assert sudare.audit(tmp_path / f"r{ending}", policy).passed


def test_cells_that_an_encoding_does_not_have_are_counted(tmp_path):
    with pytest.raises(
        TargetError, match=r"column 'town': cells have characters that iso8859-1 does not have: \d+\."
    ) as error:
        sudare.anonymize(data(), rules(encoding="latin-1", ranges="tight"), out=tmp_path / "r.csv")
    assert "Łódź" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_texts_that_look_like_numbers_are_refused_under_a_decimal_comma(tmp_path):
    table = pa.table({"age": [1, 1, 2, 2], "code": ["1,5", "2", "x", "1.234,5"]})
    policy = {
        "columns": {"age": {"role": "quasi"}, "code": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "release": {"decimal": ","},
    }
    with pytest.raises(TargetError, match=r"column 'code': .* decimal comma: 2\."):
        sudare.anonymize(table, policy, out=tmp_path / "r.csv")


def test_numbers_among_words_have_the_decimal_comma_of_their_source(tmp_path):
    """A column of numbers and words is text: its numbers come out as they went in, and are read back everywhere."""
    values = ["1,5", "n.d.", "<0,1", "-2,25", "3", "1e5", "", "17,5"]
    lines = [f"{20 + index % 5};{index % 2};{values[index % 8]};{values[index % 6]}" for index in range(48)]
    source, path = tmp_path / "in.csv", tmp_path / "r.csv"
    source.write_text("\n".join(["age;sex;crp;lab", *lines]) + "\n", encoding="utf-8")
    policy = {
        "columns": {
            "age": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "crp": {"role": "insensitive"},
            "lab": {"role": "sensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "lab"}],
        "source": {"delimiter": ";", "decimal": ","},
        "release": {"decimal": ","},
    }
    made = sudare.anonymize(source, policy, out=path)
    assert made.certificate["layout"]["numbers"] == ["age", "sex", "crp", "lab"]
    assert sudare.audit(path, policy).passed
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    expected = sorted(values[index % 8] for index in range(48))
    assert sorted(row["crp"] for row in rows) == expected
    plain = {"1,5": "1.5", "-2,25": "-2.25", "17,5": "17.5", "": None}
    read = open_released(path).read(["crp"]).column("crp").to_pylist()
    assert sorted(map(str, read)) == sorted(str(plain.get(cell, cell)) for cell in expected)
    assert {row["value"] for row in sudare.estimate(path, of="lab")} >= {"1.5", "-2.25", "n.d.", "<0,1"}
    assert sudare.risk(source, policy, release=path).to_dict()
    assert sudare.report(path, source, policy).html
    raw = path.read_text(encoding="utf-8")
    path.write_text(raw.replace("17,5", "17.5", 1), encoding="utf-8", newline="")
    certificate_path(path).unlink()
    with pytest.raises(DataError, match="not written with a decimal comma"):
        sudare.audit(path, policy)


@pytest.mark.parametrize("odd", ["[x]", "[1; 2]", "[1, 2]"])
def test_words_that_look_like_ranges_keep_a_column_as_it_is(tmp_path, odd):
    table = pa.table({"age": [1, 1, 2, 2], "crp": ["1,5", "2", odd, "n.d."]})
    policy = {
        "columns": {"age": {"role": "quasi"}, "crp": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "source": {"decimal": ","},
        "release": {"decimal": ","},
    }
    made = sudare.anonymize(table, policy, out=tmp_path / "r.csv")
    assert made.certificate["layout"]["numbers"] == ["age"]
    assert sudare.audit(tmp_path / "r.csv", policy).passed
    assert sorted(open_released(tmp_path / "r.csv").read(["crp"]).column("crp").to_pylist()) == sorted(
        ["1.5", "2", odd, "n.d."]
    )


@pytest.mark.parametrize("name", ["sep=;", "sep=,"])
@pytest.mark.parametrize("release", [{}, {"excel": "de"}])
def test_a_column_may_have_the_name_of_a_setting(tmp_path, name, release):
    """In a release, `sep=;` is a name: Excel's own line above a header is read in sources alone."""
    policy = {"columns": {name: {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}], "release": release}
    sudare.anonymize(pa.table({name: ["a", "a", "b", "b"]}), policy, out=tmp_path / "r.csv")
    assert sudare.audit(tmp_path / "r.csv", policy).passed
    assert open_released(tmp_path / "r.csv").read([name]).column(name).to_pylist() == ["a", "a", "b", "b"]


LONG = {
    "uint64": pa.array([2**64 - 1, 0, None, 7], pa.uint64()),
    "int64": pa.array([2**63 - 1, -(2**63), None, 7]),
    "whole": pa.array([Decimal(10**30), Decimal(-1), None, Decimal(7)], pa.decimal128(38, 0)),
    "money": pa.array([Decimal("1234567890123.4567"), Decimal("0.5000"), None, Decimal(7)], pa.decimal128(20, 4)),
    "float": pa.array([1e19, 5e-324, None, 0.1 + 0.2]),
}


@pytest.mark.parametrize("name", LONG)
def test_long_numbers_in_json_lines_are_read_as_they_are(tmp_path, name):
    policy = {
        "columns": {"age": {"role": "quasi"}, "more": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "release": {"order": "keep"},
    }
    path, table = tmp_path / "r.jsonl", pa.table({"age": [1] * 4, "more": LONG[name]})
    sudare.anonymize(table, policy, out=path)
    assert sudare.audit(path, policy).passed
    assert open_released(path).read(["more"])["more"].to_pylist() == LONG[name].to_pylist()
    assert sudare.report(path, table, policy).html
    assert "".join(converted_text(open_released(path).read(["more"]), "jsonl")) == "".join(
        converted_text(pa.table({"more": LONG[name]}), "jsonl")
    )
    sudare.anonymize(table, policy, out=tmp_path / "r.parquet")
    assert sudare.numeric(path).column_names == sudare.numeric(tmp_path / "r.parquet").column_names


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        ("1.50 1.5 null", pa.decimal128(3, 2), [Decimal("1.50"), Decimal("1.50"), None]),
        ("1.25 2 null", pa.float64(), [1.25, 2.0, None]),
        ("9007199254740993 0.5", pa.decimal128(17, 1), [Decimal("9007199254740993.0"), Decimal("0.5")]),
        ("9223372036854775808 -1", pa.decimal128(19, 0), [Decimal(2**63), Decimal(-1)]),
        ("1E5 0.25", pa.decimal128(8, 2), [Decimal("100000.00"), Decimal("0.25")]),
        ("1E300 0.5", pa.float64(), [1e300, 0.5]),
        ("1e400 0.5", pa.string(), ["1E+400", "0.5"]),
        ("1" + "0" * 40 + "1", pa.string(), ["1" + "0" * 40 + "1"]),
        ("1" + "0" * 40 + ".25 0.5", pa.string(), ["1" + "0" * 40 + ".25", "0.5"]),
        ("[18446744073709551615,null] [] null", pa.list_(pa.uint64()), [[2**64 - 1, None], [], None]),
        ("[1.50] null [2]", pa.list_(pa.decimal128(3, 2)), [[Decimal("1.50")], None, [Decimal("2.00")]]),
        ("0.00", pa.decimal128(2, 2), [Decimal("0.00")]),
        ("null true", pa.bool_(), [None, True]),
    ],
)
def test_numbers_by_other_writers_of_json_lines(tmp_path, cells, kind, values):
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f'{{"a":{cell}}}\n' for cell in cells.split(" ")), encoding="utf-8")
    found = ReleaseFile(path).read(["a"])["a"]
    assert (found.type, found.to_pylist()) == (kind, values)


@pytest.mark.parametrize("cells", ['"x" 18446744073709551616', "1.50 true", "1e99999999999999999999", '1.50 "x"'])
def test_numbers_among_other_cells_of_json_lines_are_damaged(tmp_path, cells):
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f'{{"a":{cell}}}\n' for cell in cells.split(" ")), encoding="utf-8")
    with pytest.raises(DataError, match="damaged"):
        ReleaseFile(path).read(["a"])


@pytest.mark.parametrize(
    "line", ['{"age":' + "[" * 100_000, '{"age":' + "[" * 900 + "]" * 900 + "}", '{"age":[[1]]}', '{"age":"\\ud800"}']
)
def test_lines_with_lists_in_lists_are_damaged(tmp_path, line):
    path = tmp_path / "r.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="damaged"):
        ReleaseFile(path).read(["age"])


def test_a_sheet_with_a_name_twice_is_damaged(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["age", "age"])
    book.active.append([1, 2])
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(DataError, match="damaged"):
        ReleaseFile(tmp_path / "r.xlsx").read(["age"])


@pytest.mark.parametrize("warnings", [[{"columns": 3.0}], [{"figures": "x"}], [{"figures": 1}]])
def test_a_certificate_in_another_form_is_refused(tmp_path, warnings):
    path = tmp_path / "r.jsonl"
    sudare.anonymize(data(), rules(), out=path)
    facts = json.loads(certificate_path(path).read_text(encoding="utf-8"))
    certificate_path(path).write_text(json.dumps(facts | {"warnings": warnings}), encoding="utf-8")
    with pytest.raises(DataError, match="not in the form of a certificate"):
        open_released(path)


@pytest.mark.parametrize("name", ["r.parquet", "r.jsonl", "r.xlsx", None])
def test_a_layout_without_a_text_file_has_no_effect(tmp_path, name):
    with pytest.raises(PolicyError, match=r"release\.excel: has no effect"):
        sudare.anonymize(data(), rules(excel="de"), out=None if name is None else tmp_path / name)


def test_a_delimiter_contradicts_tabs(tmp_path):
    with pytest.raises(PolicyError, match=r"release\.delimiter: contradicts the name"):
        sudare.anonymize(data(), rules(delimiter=";"), out=tmp_path / "r.tsv")


def test_what_a_sheet_cannot_hold_is_refused(tmp_path):
    def made(**columns):
        table = pa.table({"age": [1] * 4} | columns)
        roles = {"age": {"role": "quasi"}} | {name: {"role": "insensitive"} for name in columns}
        policy = {"columns": roles, "require": [{"model": "k-anonymity", "k": 2}]}
        sudare.anonymize(table, policy, out=tmp_path / "r.xlsx")
        return sudare.audit(tmp_path / "r.xlsx", policy).passed

    for cell in (2**53 + 1, float("inf"), "x" * 32_768, "\x01", "a_x0041_b", "😀" * 16_384, "a\rb"):
        with pytest.raises(TargetError, match=r"column 'more': .*: 1\."):
            made(more=pa.array([cell, None, None, None]))
    with pytest.raises(TargetError, match="holds 16,384"):
        made(**{f"c{at}": [1] * 4 for at in range(16_384)})
    with pytest.raises(TargetError, match="holds 1,048,575"):
        policy = {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}
        sudare.anonymize(pa.table({"age": [1] * 1_048_576}), policy, out=tmp_path / "r.xlsx")
    odd = [
        datetime.datetime(2020, 1, 1, 0, 0, 0, 5),
        datetime.datetime(1900, 1, 1),
        datetime.datetime(2020, 1, 1),
        None,
    ]
    assert made(
        one=["x" * 32_767, " a ", "\n", "<&>\t"], two=odd, three=[None] * 4, four=[0.1 + 0.2, 1e300, -0.0, 5e-324]
    )


def test_rows_that_show_nothing_are_rows(tmp_path):
    table = pa.table({"age": pa.array([1, 1, None, None, None])})
    policy = {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}
    for name in ("r.xlsx", "r.jsonl", "r.csv.gz"):
        sudare.anonymize(table, policy, out=tmp_path / name)
        assert sudare.audit(tmp_path / name, policy).rows == 5
        assert open_released(tmp_path / name).read(["age"]).num_rows == 5


def test_endings():
    for ending in ENDINGS:
        assert release_ending(Path(f"a.b{ending}")) == ending
        assert release_format(Path(f"a.b{ending}")) is not None
        assert second_table(Path(f"a.b{ending}")).name == f"a.b.sensitive{ending}"


def test_gzip_tells_neither_time_nor_name(tmp_path):
    sudare.anonymize(data(), rules(), out=tmp_path / "r.csv.gz")
    raw = (tmp_path / "r.csv.gz").read_bytes()
    assert raw[3:8] == bytes(5)
    assert gzip.decompress(raw).startswith(b"age,")
