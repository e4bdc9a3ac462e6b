"""What a release shows of values that few hold, on every way to a release."""

from __future__ import annotations

import re

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sudare
from sudare.methods import METHODS

OUTLIER = 1_234_567
K5 = [{"model": "k-anonymity", "k": 5}]


def people(rows=400, seed=0):
    random = np.random.default_rng(seed)
    pay = random.integers(100, 900, rows) * 100
    pay[7] = OUTLIER
    town = random.choice(["Bern", "Cork", "Graz"], rows).astype(object)
    town[7], town[9] = "Ys", "Atlantis"
    return pa.table({"pay": pay, "town": town.tolist(), "ill": ["flu", "gout"] * (rows // 2)})


def policy(**more):
    columns = {"pay": {"role": "quasi"}, "town": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    return {"columns": columns, "require": K5, **more}


def ends(cells):
    return {int(number) for cell in cells if cell for number in re.findall(r"-?\d+", cell)}


def classes_of_methods():
    return [name for name, method in METHODS.items() if not method.leaves_quasi and name not in ("tds",)]


@pytest.mark.parametrize("method", classes_of_methods())
def test_no_method_shows_a_value_that_fewer_than_k_hold(method):
    table = people()
    require = [*K5, {"model": "l-diversity", "l": 2, "column": "ill"}]
    release = sudare.anonymize(table, policy(require=require, method={"name": method}))
    counts = {row["values"]: row["counts"] for row in pc.value_counts(table["pay"]).to_pylist()}
    shown_pay = release.data["pay"].to_pylist()
    for number in () if METHODS[method].aggregates else ends(shown_pay):
        assert counts.get(number, 0) >= 5 or number % 2 == 0 or number % 5 == 0
    shown = " ".join(map(str, release.data.to_pylist()))
    assert str(OUTLIER) not in shown
    assert "Ys" not in shown
    assert "Atlantis" not in shown
    if METHODS[method].aggregates:
        assert max(shown_pay) < OUTLIER  # a mean of five


def test_rare_categories_are_one_and_the_certificate_says_of_how_many():
    release = sudare.anonymize(people(), policy())
    assert release.certificate["other"] == {"town": 2}
    assert any("other" in cell for cell in release.data["town"].to_pylist() if cell)


def test_rare_categories_join_a_category_of_that_name():
    table = people()
    town = ["other" if each == "Bern" else each for each in table["town"].to_pylist()]
    release = sudare.anonymize(table.set_column(1, "town", [town]), policy())
    assert release.certificate["other"] == {"town": 3}


TREE = {"land": ["Bern", "Cork", "Graz"], "sea": ["Ys", "Atlantis"]}


@pytest.mark.parametrize(
    "declared", [{"order": ["Atlantis", "Bern", "Cork", "Graz", "Ys"]}, {"hierarchy": {"tree": TREE}}]
)
def test_categories_that_the_policy_declares_may_be_listed(declared):
    given = policy()
    given["columns"]["town"] |= declared
    release = sudare.anonymize(people(), given)
    assert release.certificate["other"] == {}
    assert "other" not in " ".join(map(str, release.data["town"].to_pylist()))


def test_tight_ranges_show_rare_values_and_the_certificate_warns():
    release = sudare.anonymize(people(), policy(release={"ranges": "tight"}))
    assert OUTLIER in ends(release.data["pay"].to_pylist())
    assert [warning["kind"] for warning in release.certificate["warnings"]].count("tight-ranges") == 1
    safe = sudare.anonymize(people(), policy())
    assert "tight-ranges" not in [warning["kind"] for warning in safe.certificate["warnings"]]


def test_people_are_counted_where_the_policy_counts_them():
    table = people()
    # one person with six records of one pay: many records hold it, and one person does
    who = [f"p{number}" for number in range(400)]
    pay = table["pay"].to_pylist()
    for place in (7, 20, 21, 22, 23, 24):
        who[place], pay[place] = "p7", OUTLIER
    table = table.set_column(0, "pay", [pay]).append_column("who", [who])
    given = policy(require=[{"model": "k-anonymity", "k": 5, "count": "subjects"}])
    given["columns"]["who"] = {"role": "subject"}
    assert OUTLIER not in ends(sudare.anonymize(table, given).data["pay"].to_pylist())
    # without that they would do as five records
    assert OUTLIER in ends(sudare.anonymize(table, policy()).data["pay"].to_pylist())


def test_a_database_shows_the_same_as_a_file(tmp_path):
    place = tmp_path / "people.duckdb"
    table = people()
    with duckdb.connect(str(place)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    made = sudare.anonymize(f"{place}#people", policy(), out=f"{place}#released")
    with duckdb.connect(str(place)) as connection:
        there = connection.execute("SELECT pay, town, ill FROM released").fetchall()
    here = sudare.anonymize(table, policy())
    assert sorted(map(str, there)) == sorted(str(tuple(row.values())) for row in here.data.to_pylist())
    assert made.certificate["loss"] == here.certificate["loss"]
    assert made.certificate["other"] == here.certificate["other"]


def test_loss_on_adult_hardly_grows():
    census = sudare.datasets.adult()
    names = ("age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country")
    given = {"columns": {name: {"role": "quasi"} for name in names}, "require": [{"model": "k-anonymity", "k": 10}]}
    whole = census.filter(pc.and_(pc.is_valid(census["workclass"]), pc.and_(
        pc.is_valid(census["occupation"]), pc.is_valid(census["native-country"]))))  # fmt: skip
    for name in ("workclass", "occupation", "native-country"):
        whole = whole.filter(pc.not_equal(whole[name], "?"))
    assert whole.num_rows == 30_162
    safe = sudare.anonymize(whole, given).loss["gcp"]
    tight = sudare.anonymize(whole, given | {"release": {"ranges": "tight"}}).loss["gcp"]
    assert safe < 0.0520
    assert safe <= 1.02 * tight
