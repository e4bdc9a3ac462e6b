"""Releases as numbers: `sudare.numeric` and `Release.to_numeric`."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import datasets
from sudare.core.errors import DataError, ParameterError
from sudare.releases import Choice, Interval, parse_cell

ROWS = pa.table(
    {
        "age": [17, 42, 39, 39, 60, 61],
        "sex": ["F", "M", "F", "F", "M", "M"],
        "job": ["cook", "nurse", "nurse", "nurse", None, None],
        "income": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    }
)
PAPER = {
    "certificate": 1,
    "method": {"name": "top-down"},
    "columns": {"quasi": ["age", "sex", "job", "born", "items"], "sensitive": ["income"], "subject": ["who"]},
}


def released(**columns):
    return pa.table(columns)


def paper(rows, **more):
    """The certificate of a release with these columns."""
    roles = {role: [name for name in names if name in rows.column_names] for role, names in PAPER["columns"].items()}
    named = {name for names in roles.values() for name in names}
    roles["insensitive"] = [name for name in rows.column_names if name not in named]
    return PAPER | {"columns": roles} | more


def test_each_cell_becomes_numbers():
    rows = released(
        age=["[17, 42]", "39", "*", None],
        sex=["{F, M}", "F", "M", "*"],
        job=["{cook, null}", "cook", None, "nurse"],
        income=["x", "y", "z", "z"],
    )
    found = sudare.numeric(rows, paper(rows))
    assert found.to_pydict() == {
        "age": [29.5, 39.0, 28.0 + 1.5, None],
        "sex=F": [0.5, 1.0, 0.0, 0.5],
        "sex=M": [0.5, 0.0, 1.0, 0.5],
        "job=cook": [0.5, 1.0, None, 0.0],
        "job=nurse": [0.0, 0.0, None, 1.0],
        "income": ["x", "y", "z", "z"],
    }


def test_ranges_become_two_ends():
    rows = released(age=["[17, 42]", "39", "*"], born=["2020-Q1", "2020-01-05", "*"], income=[1, 2, 3])
    found = sudare.numeric(rows, paper(rows), ranges="ends", everything="missing")
    assert found.column_names == ["age_low", "age_high", "born_low", "born_high", "income"]
    assert found["age_low"].to_pylist() == [17, 39, None]
    assert found["age_low"].type == pa.int64()
    first = datetime.date(2020, 1, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
    assert found["born_low"].to_pylist() == [first, first + 4, None]
    assert found["born_high"].to_pylist() == [first + 90, first + 4, None]


def test_numbers_are_drawn_within_their_cells_and_stay_whole():
    rows = released(age=["[17, 42]", "39", "*"] * 2000)
    found = sudare.numeric(rows, ranges="draw", seed=3)["age"]
    assert found.type == pa.int64()
    drawn = found.to_numpy().reshape(-1, 3)
    assert set(drawn[:, 0]) == set(range(17, 43))
    assert set(drawn[:, 1]) == {39}
    assert drawn[:, 2].min() == 17
    assert drawn[:, 2].max() == 42
    assert abs(drawn[:, 0].mean() - 29.5) < 1
    assert sudare.numeric(rows, ranges="draw", seed=3)["age"].equals(found)
    assert not sudare.numeric(rows, ranges="draw", seed=4)["age"].equals(found)
    parts = sudare.numeric(released(age=["[0.5, 1)"] * 1000), ranges="draw", seed=0)["age"].to_numpy()
    assert ((parts >= 0.5) & (parts < 1)).all()
    assert len(np.unique(parts)) > 900


def test_labels_are_divided_among_their_leaves():
    employee = {"Private": ["Private"], "Government": ["State-gov", "Local-gov"]}
    tree = {"Employee": employee, "None": {"None": ["Never-worked"]}}
    policy = {
        "columns": {"job": {"role": "quasi", "hierarchy": {"tree": {"Anything": tree}}}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    rows = released(job=["Government", "Employee", "Private", "Anything", "Never-worked"])
    found = sudare.numeric(rows, paper(rows), policy=policy).to_pydict()
    names = ["job=Local-gov", "job=Never-worked", "job=Private", "job=State-gov"]
    assert list(found) == names
    third = 1 / 3
    assert list(zip(*found.values(), strict=True)) == [
        (0.5, 0, 0, 0.5), (third, 0, third, third), (0, 0, 1, 0), (0.25, 0.25, 0.25, 0.25), (0, 1, 0, 0),
    ]  # fmt: skip
    hidden = sudare.numeric(rows, paper(rows), policy=policy, everything="missing")
    assert hidden["job=Private"].to_pylist() == [0, third, 1, None, 0]
    # nobody knows what is below a label without the policy
    assert "job=Government" in sudare.numeric(rows, paper(rows)).column_names


def test_labels_of_numbers_reach_over_their_leaves(tmp_path):
    (tmp_path / "age.csv").write_text("".join(f"{age};{'young' if age < 18 else 'old'};*\n" for age in range(100)))
    policy = tmp_path / "policy.json"
    columns = {"age": {"role": "quasi", "kind": "numeric", "hierarchy": {"file": "age.csv"}}}
    policy.write_text(json.dumps({"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}))
    rows = released(age=["young", "old", "39", "*"])
    found = sudare.numeric(rows, paper(rows), policy=policy, ranges="ends")
    assert found.to_pydict() == {"age_low": [0, 18, 39, 0], "age_high": [17, 99, 39, 99]}


def test_item_sets_become_indicators():
    tree = {"*": {"pain": ["aspirin", "ibuprofen"], "other": ["insulin"]}}
    policy = {
        "columns": {"items": {"role": "quasi", "kind": "items", "hierarchy": {"tree": tree}}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    rows = released(items=[["aspirin", "insulin"], ["pain"], [], None, ["pain", "aspirin"]])
    found = sudare.numeric(rows, paper(rows), policy=policy).to_pydict()
    assert found == {
        "items=aspirin": [1, 0.5, 0, None, 1],
        "items=ibuprofen": [0, 0.5, 0, None, 0.5],
        "items=insulin": [1, 0, 0, None, 0],
    }


def test_masked_records_are_missing():
    rows = released(
        age=["[1, 5]", "*", "*"], sex=["F", "*", "M"], items=[["a"], [], []], income=[1, 2, 3], who=[1, 2, 3]
    )
    masked = sudare.numeric(rows, paper(rows, suppressed=1))
    assert masked["sex=F"].to_pylist() == [1, None, 0]
    assert masked["age"].to_pylist() == [3, None, 3]
    assert masked["items=a"].to_pylist() == [1, None, 0]
    assert masked["income"].to_pylist() == [1, 2, 3]
    assert masked["who"].to_pylist() == [1, 2, 3]
    # a class that shows nothing, where nobody is masked
    assert sudare.numeric(rows, paper(rows))["sex=F"].to_pylist() == [1, 0.5, 0]
    # a record is masked by all of its columns, and not by those that were asked for
    assert sudare.numeric(rows, paper(rows, suppressed=1), columns=["age"])["age"].to_pylist() == [3, None, 3]


def test_other_columns_are_kept_or_encoded():
    rows = released(age=["1", "2"], income=["*", "{a, b}"], paid=[True, None], day=[datetime.date(1970, 1, 3)] * 2)
    kept = sudare.numeric(rows, paper(rows))
    assert kept.select(["income", "paid", "day"]).equals(rows.select(["income", "paid", "day"]))
    encoded = sudare.numeric(rows, paper(rows), unchanged="encode", ranges="ends")
    assert encoded.to_pydict() == {
        "age_low": [1, 2], "age_high": [1, 2],
        "income=*": [1, 0], "income={a, b}": [0, 1],  # these are values, and no cells
        "paid": [1, None], "day": [2, 2],
    }  # fmt: skip


def test_values_that_dummies_hide_count_for_their_share():
    rules = {
        "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "disease"}],
        "method": {"name": "dummies"},
    }
    data = pa.table({"age": [25, 29, 54, 78], "disease": ["cancer", "cold", "ulcer", "cold"]})
    found = sudare.anonymize(data, rules).to_numeric()
    assert sorted(found["age"].to_pylist()) == [25, 29, 54, 78]
    names = [name for name in found.column_names if name.startswith("disease=")]
    shares = np.array([found[name].to_numpy() for name in names])
    assert set(shares.ravel()) <= {0, 0.5}
    assert (shares.sum(axis=0) == 1).all()


def test_the_kind_of_table_stays():
    rules = {
        "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    frame = ROWS.select(["age", "sex"])
    arrow = sudare.anonymize(frame, rules, seed=1)
    wanted = arrow.to_numeric()
    assert isinstance(wanted, pa.Table)
    pandas = sudare.anonymize(frame.to_pandas(), rules, seed=1)
    assert isinstance(pandas.to_numeric(), pd.DataFrame)
    assert pa.Table.from_pandas(pandas.to_numeric()).to_pydict() == wanted.to_pydict()
    polars = sudare.anonymize(pl.from_arrow(frame), rules, seed=1)
    assert isinstance(polars.to_numeric(), pl.DataFrame)
    assert polars.to_numeric().to_arrow().to_pydict() == wanted.to_pydict()
    indexed = pandas.data.set_axis(list("abcdef"), axis=0)
    assert list(sudare.numeric(indexed, pandas.certificate).index) == list("abcdef")


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_file_gives_the_same_numbers_as_rows(tmp_path, ending):
    data, rules = datasets.adult("test").slice(0, 2000), datasets.adult_policy()
    rows = sudare.anonymize(data, rules, seed=5)
    file = tmp_path / f"release.{ending}"
    written = sudare.anonymize(data, rules, seed=5, out=file)
    wanted = rows.to_numeric()
    for found in (sudare.numeric(file), sudare.numeric(str(file)), written.to_numeric()):
        assert isinstance(found, pa.Table)
        assert found.to_pydict() == wanted.to_pydict()
    assert pa.types.is_integer(sudare.numeric(file)["hours-per-week"].type)
    by_file = sudare.numeric(rows.data, f"{file}.sudare.json")
    assert by_file.equals(wanted)


def test_a_released_file_needs_its_certificate_and_no_data(tmp_path):
    sudare.anonymize(ROWS, {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]},
                     out=tmp_path / "r.parquet")  # fmt: skip
    (tmp_path / "r.parquet.sudare.json").rename(tmp_path / "other.json")
    with pytest.raises(DataError, match="the certificate of this release is missing"):
        sudare.numeric(tmp_path / "r.parquet")
    (tmp_path / "other.json").rename(tmp_path / "r.parquet.sudare.json")
    pq.write_table(pa.table({"age": ["1"]}), tmp_path / "r.parquet")
    with pytest.raises(DataError, match="is not the file of its certificate"):
        sudare.numeric(tmp_path / "r.parquet")


SHARES = st.lists(st.sampled_from(["a", "b", "c", "{a, b}", "{a, b, c}", "{b, null}", "*", None]), min_size=1)


@settings(max_examples=100)
@given(SHARES)
def test_shares_add_up_to_what_is_known(cells):
    rows = pa.table({"x": pa.array(cells, pa.string())})
    if {cell for cell in cells if cell != "*"} <= {None}:
        with pytest.raises(DataError, match="nothing can become a number"):
            sudare.numeric(rows, kinds={"x": "categorical"})
        return
    found = sudare.numeric(rows, kinds={"x": "categorical"})
    assert found.num_rows == len(cells)
    sums = np.sum([column.to_numpy() for column in found.columns], axis=0)
    for cell, total in zip(cells, sums.tolist(), strict=True):
        if cell is None:
            assert np.isnan(total)
        else:
            assert total == pytest.approx(0.5 if "null" in cell else 1)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 90), st.sampled_from("FMX")), min_size=4, max_size=40), st.integers(2, 4))
def test_the_numbers_of_a_release_are_those_of_its_cells(people, k):
    data = pa.table({"age": [age for age, _ in people], "sex": [sex for _, sex in people]})
    rules = {"columns": {"age": {"role": "quasi", "kind": "numeric"}, "sex": {"role": "quasi"}},
             "require": [{"model": "k-anonymity", "k": k}]}  # fmt: skip
    release = sudare.anonymize(data, rules, seed=0)
    found = release.to_numeric(ranges="ends", everything="missing").to_pylist()
    for cells, numbers in zip(release.data.to_pylist(), found, strict=True):
        age, sex = parse_cell(cells["age"]), parse_cell(cells["sex"])
        if isinstance(age, Interval):
            assert (numbers["age_low"], numbers["age_high"]) == (int(age.low), int(age.high))
        elif isinstance(age, str):
            assert numbers["age_low"] == numbers["age_high"] == int(age)
        members = sex.members if isinstance(sex, Choice) else (sex,)
        if all(isinstance(member, str) for member in members):
            shares = {name[4:]: share for name, share in numbers.items() if name.startswith("sex=") and share}
            assert shares == pytest.approx({member: 1 / len(members) for member in members})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": "mean"}, "ranges: got 'mean'. Allowed: middle, ends, draw."),
        ({"everything": "all"}, "everything: got 'all'"),
        ({"unchanged": "drop"}, "unchanged: got 'drop'"),
        ({"most_categories": 0}, "most_categories: must be a whole number from 1"),
        ({"seed": -1}, "seed: must be a whole number from 0"),
        ({"kinds": {"sex": "word"}}, "kinds.sex: got 'word'"),
        ({"kinds": "categorical"}, "kinds: must say what columns hold"),
    ],
)
def test_wrong_words_are_refused(options, message):
    with pytest.raises(ParameterError) as error:
        sudare.numeric(released(sex=["F"]), PAPER, **options)
    assert message in str(error.value)


def test_all_problems_are_told_at_once():
    with pytest.raises(ParameterError, match="3 problems"):
        sudare.numeric(released(sex=["F"]), ranges="x", everything="y", unchanged="z")
    rows = released(a=[f"v{number}" for number in range(300)], b=[f"w{number}" for number in range(300)])
    with pytest.raises(DataError) as error:
        sudare.numeric(rows)
    assert str(error.value).count("has 300 categories; at most 256 become columns. Hint: allow them with most_cat") == 2
    assert sudare.numeric(rows, most_categories=300).num_columns == 600


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ({"age": ["1"]}, {"columns": ["aeg"]}, "the release has no column 'aeg'. Did you mean 'age'?"),
        ({"age": ["1"]}, {"kinds": {"sex": "numeric"}}, "has no column 'sex'"),
        ({"age": ["one", "2"]}, {"kinds": {"age": "numeric"}}, "has cells that are no numbers, dates or times"),
        ({"sex": ["F"], "sex=F": ["1"]}, {}, "would be the name of two new columns"),
    ],
)
def test_columns_that_do_not_fit_are_refused(rows, options, message):
    with pytest.raises(DataError) as error:
        sudare.numeric(released(**rows), **options)
    assert message in str(error.value)
    assert "one" not in str(error.value).split()


@pytest.mark.parametrize("certificate", [{}, {"method": {"name": "x"}}, 7])
def test_what_is_no_certificate_is_refused(certificate):
    with pytest.raises(DataError):
        sudare.numeric(released(sex=["F"]), certificate)


def test_a_release_has_its_certificate_already():
    release = sudare.anonymize(
        ROWS, {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}
    )
    with pytest.raises(ParameterError, match="the release has one already"):
        sudare.numeric(release, release.certificate)


def test_codes_are_categories_where_this_is_said():
    rows = released(zip=["10115", "10117"])
    assert sudare.numeric(rows).column_names == ["zip"]
    assert sudare.numeric(rows, kinds={"zip": "categorical"}).column_names == ["zip=10115", "zip=10117"]
    assert sudare.numeric(released(zip=["01115", "10117"])).column_names == ["zip=01115", "zip=10117"]


def test_a_column_that_shows_nothing():
    rows = released(a=["*", "*", None], b=["1", "2", "3"])
    assert sudare.numeric(rows).column_names == ["b"]
    assert sudare.numeric(rows, kinds={"a": "numeric"})["a"].to_pylist() == [None, None, None]


HIDDEN = {"age": ["*", "*", "*"], "job": ["*", None, "*"], "items": [[], [], []]}


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("options", [{}, {"everything": "missing"}, {"ranges": "ends"}, {"unchanged": "encode"}])
def test_no_table_without_columns_loses_its_rows(kind, options):
    with pytest.raises(DataError) as error:
        sudare.numeric(kind(HIDDEN), **options)
    assert str(error.value).startswith(
        "columns: nothing can become a number. All cells of 'age', 'job', 'items' are hidden (*), missing or empty. "
    )
    assert error.value.exit_code == 2
    with pytest.raises(DataError, match="All cells of 'job' are"):
        sudare.numeric(kind(HIDDEN | {"zip": ["1", "2", "3"]}), columns=["job"], **options)
    assert sudare.numeric(kind(HIDDEN), kinds={"age": "numeric"}, **options).shape[0] == 3


def test_a_release_that_shows_nothing_in_the_chosen_columns():
    rules = {
        "columns": {name: {"role": "quasi", "hierarchy": "flat"} for name in ("age", "job")}
        | {"paid": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 6}],
        "method": {"name": "full-domain"},
    }
    data = pd.DataFrame({"age": [1, 2, 3, 4, 5, 6], "job": list("abcdef"), "paid": range(6)})
    release = sudare.anonymize(data, rules)
    assert set(release.data["age"]) == set(release.data["job"]) == {"*"}
    with pytest.raises(DataError, match="All cells of 'age', 'job' are hidden"):
        release.to_numeric(columns=["age", "job"])
    assert release.to_numeric().shape == (6, 1)
    found = release.to_numeric(columns=["age", "job"], kinds={"age": "numeric"})
    assert found.shape == (6, 1)
    assert found["age"].isna().all()
    with pytest.raises(DataError, match="columns: names no column"):
        release.to_numeric(columns=[])


def day(text):
    """The number of a day, from 1970."""
    return datetime.date.fromisoformat(text).toordinal() - datetime.date(1970, 1, 1).toordinal()


BORN = {"columns": {"born": {"role": "quasi", "hierarchy": {"dates": ["year"]}}},
        "require": [{"model": "k-anonymity", "k": 2}]}  # fmt: skip


@pytest.mark.parametrize("more", [{"policy": BORN}, {"kinds": {"born": "dates"}}])
def test_years_of_dates_are_ranges_of_days(more):
    rows = released(born=["1972", "1905", "*", None])
    found = sudare.numeric(rows, ranges="ends", **more)
    assert found["born_low"].to_pylist() == [day("1972-01-01"), day("1905-01-01"), day("1905-01-01"), None]
    assert found["born_high"].to_pylist() == [day("1972-12-31"), day("1905-12-31"), day("1972-12-31"), None]
    # nobody knows otherwise, and these may be anything that is counted
    assert sudare.numeric(rows)["born"].to_pylist() == [1972, 1905, (1972 + 1905) / 2, None]
    # a program that reads a text file takes years for numbers
    for years in (pa.array([1972, 1905], pa.int64()), pa.array([1972, 1905, None], pa.float64())):
        found = sudare.numeric(released(born=years), ranges="ends", **more)
        assert found["born_low"].to_pylist()[:2] == [day("1972-01-01"), day("1905-01-01")]
        assert found["born_high"].to_pylist()[2:] == [None] * years.null_count


@pytest.mark.parametrize("levels", [["year"], ["month", "quarter", "year"]])
def test_a_release_that_shows_years_is_one_of_dates(tmp_path, levels):
    born = {"role": "quasi", "kind": "numeric", "hierarchy": {"dates": levels}}
    rules = BORN | {"columns": {"born": born}, "require": [{"model": "k-anonymity", "k": 6}],
                    "method": {"name": "full-domain"}}  # fmt: skip
    dates = [datetime.date(1970 + number % 3, 1 + number % 12, 5) for number in range(36)]
    release = sudare.anonymize(pd.DataFrame({"born": dates}), rules, out=tmp_path / "r.csv")
    shown = pd.read_csv(tmp_path / "r.csv")
    assert set(shown["born"]) == {1970, 1971, 1972}
    wanted = {day("1970-07-02"), day("1971-07-02"), day("1972-07-01") + 0.5}
    assert set(release.to_numeric(policy=rules)["born"].to_pylist()) == wanted
    assert set(sudare.numeric(shown, release.certificate, policy=rules)["born"]) == wanted


def test_a_policy_says_by_its_leaves_and_formats_that_a_column_holds_dates():
    tree = {"*": {"1972": ["1972-02-03", "1972-11-28"], "1905": ["1905-05-05"]}}
    rows = released(born=["1972", "1905"])
    for said in (
        {"columns": {"born": {"role": "quasi", "hierarchy": {"tree": tree}}}},
        {"columns": {"born": {"role": "quasi"}}, "source": {"dates": {"born": "dd.mm.yyyy"}}},
    ):
        found = sudare.numeric(rows, policy=BORN | said, ranges="ends")
        assert found["born_high"].to_pylist() == [day("1972-12-31"), day("1905-12-31")]
    numbers = {"columns": {"born": {"role": "quasi", "hierarchy": {"tree": {"*": {"old": ["1905"], "new": ["1972"]}}}}}}
    assert sudare.numeric(rows, policy=BORN | numbers)["born"].to_pylist() == [1972, 1905]


def test_what_is_no_date_stays_what_it_is():
    for cells in (["1972", "unknown"], ["1972", "12"]):
        rows = released(born=cells)
        assert sudare.numeric(rows, policy=BORN).equals(sudare.numeric(rows))  # is it the policy of this release?
        with pytest.raises(DataError, match="has cells that are no dates"):
            sudare.numeric(rows, kinds={"born": "dates"})
    assert sudare.numeric(released(born=[12, 1972]), policy=BORN)["born"].to_pylist() == [12, 1972]
    with pytest.raises(DataError, match="has cells that are no dates"):
        sudare.numeric(released(born=[12, 1972]), kinds={"born": "dates"})
    names = sudare.numeric(released(born=["1972"]), policy=BORN, kinds={"born": "categorical"}).column_names
    assert names == ["born=1972"]
    assert sudare.numeric(released(born=["*", None]), policy=BORN)["born"].to_pylist() == [None, None]
    assert sudare.numeric(released(born=["{1972, 1974}"]), policy=BORN, ranges="ends").to_pydict() == {
        "born_low": [day("1972-01-01")], "born_high": [day("1974-12-31")],
    }  # fmt: skip


def test_bands_of_a_source_are_ranges():
    rows = released(age=["[60-70)", "{[0-10), [10-20)}", "*"])
    assert sudare.numeric(rows, ranges="ends").to_pydict() == {"age_low": [60, 0, 0], "age_high": [70, 20, 70]}


@pytest.mark.parametrize(
    ("cells", "number"),
    [
        (pa.array([36 * 3600], pa.timestamp("s")), 1.5),
        (pa.array([36 * 3600 * 10**9], pa.timestamp("ns")), 1.5),
        (pa.array([36 * 3600 * 10**3], pa.timestamp("ms", "Europe/Berlin")), 1.5),
        (pa.array([3], pa.date32()), 3),
        (pa.array([3 * 86_400_000], pa.date64()), 3),
        (pa.array([90], pa.time32("s")), 90),
        (pa.array([90 * 10**6], pa.time64("us")), 90),
        (pa.array([90 * 10**3], pa.duration("ms")), 90),
        (pa.array([True]), 1),
        (pa.array([1.5], pa.float32()), 1.5),
        (pa.array([7], pa.uint8()).dictionary_encode(), 7),
    ],
)
def test_columns_that_are_no_text(cells, number):
    assert sudare.numeric(pa.table({"x": cells}), ranges="ends")["x"].to_pylist() == [number]


def test_in_text_an_empty_set_is_an_empty_field():
    rows = released(age=["*", "*", "[1, 5]"], items=[None, "a;b", None])
    sets = {"items": {"disclosed": 2, "ncp": 0.5}}
    policy = {
        "columns": {"age": {"role": "quasi"}, "items": {"role": "quasi", "kind": "items", "separator": ";"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    found = sudare.numeric(rows, paper(rows, suppressed=1, item_sets=sets), policy=policy)
    assert found.to_pydict() == {"age": [None, 3, 3], "items=a": [None, 1, 0], "items=b": [None, 1, 0]}


def test_masked_records_of_a_real_release_are_missing(tmp_path):
    rules = {
        "columns": {name: {"role": "quasi", "hierarchy": {"bands": [10, 20]}} for name in ("age", "height")}
        | {"note": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "suppression": {"limit": 0.3, "records": "masked"},
        "method": {"name": "full-domain"},
    }
    data = pa.table({"age": [1, 2, 1, 2, 1, 2, 50, 190], "height": [1] * 6 + [120, 7], "note": list("stuvwxyz")})
    for ending in ("parquet", "csv"):
        release = sudare.anonymize(data, rules, out=tmp_path / f"r.{ending}")
        assert release.certificate["suppressed"] == 2
        found = {row["note"]: (row["age"], row["height"]) for row in release.to_numeric().to_pylist()}
        assert found["y"] == found["z"] == (None, None)
        assert all(None not in found[note] for note in "stuvwx")


def test_some_columns_with_the_kinds_of_a_policy():
    policy = {
        "columns": {"age": {"role": "quasi", "kind": "numeric"}, "zip": {"role": "quasi", "kind": "categorical"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    rows = released(age=["1", "*"], zip=["10115", "*"])
    assert sudare.numeric(rows, policy=policy, columns=["age"]).column_names == ["age"]
    assert sudare.numeric(rows, policy=policy, columns=["zip"]).column_names == ["zip=10115"]
    numbers = sudare.numeric(rows, policy=policy, kinds={"zip": "numeric"}, columns=["zip"])
    assert numbers["zip"].to_pylist() == [10115, 10115]


def test_bands_that_were_values_are_ranges():
    ages = ["[10-20)"] * 4 + ["[20-30)"] * 4 + ["[30-40)"] * 4
    rules = {"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 4}]}
    release = sudare.anonymize(pa.table({"age": ages}), rules)
    assert "[10-20)" in release.data["age"].to_pylist()
    assert sorted(release.to_numeric()["age"].to_pylist()) == [15] * 4 + [25] * 4 + [35] * 4
