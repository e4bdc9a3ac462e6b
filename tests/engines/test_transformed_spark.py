"""Transformations of rows on Spark: the same cells as on one machine, and random steps that are drawn once."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import SudareError, UnsupportedError

from .transformed_cases import COUNT, DIGITS, KEY, TABLE, by_id, policy

pytestmark = pytest.mark.usefixtures("key")


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY, DIGITS)


@pytest.fixture
def frame(spark, tmp_path):
    """The table as a DataFrame of several partitions."""
    folder = tmp_path / "given.parquet"
    folder.mkdir()
    for number in range(3):
        pq.write_table(TABLE.slice(number * 300, 300), folder / f"{number}.parquet")
    return spark.read.parquet(str(folder))


def facts_of(release):
    return [dict(entry) for entry in release.certificate["transformations"]]


def made_of(path):
    return by_id(pq.read_table(path))


def test_the_cells_are_those_of_one_machine(frame, tmp_path):
    here = sudare.anonymize(TABLE, policy(), seed=1)
    known = by_id(here.data)
    release = sudare.anonymize(frame, policy(), out=tmp_path / "made.parquet")
    made = made_of(tmp_path / "made.parquet")
    assert made["id"] == known["id"]
    for name in known:
        if name not in ("age", "zip", "sex"):
            assert made[name] == known[name], name
    assert sorted(made["age"]) == sorted(known["age"])
    assert facts_of(release) == facts_of(here)


def test_a_frame_goes_back_as_a_frame_with_the_same_cells(frame):
    known = by_id(sudare.anonymize(TABLE, policy(), seed=1).data)
    made = by_id(sudare.anonymize(frame, policy()).data.toArrow())
    for name in ("person", "patient", "seen", "moment", "code"):
        assert made[name] == known[name], name
    assert sudare.preview(frame, policy()).figures["transformations"]


def test_methods_of_global_recoding_take_transformed_columns(frame, tmp_path):
    asked = policy(method={"name": "full-domain"})
    sudare.anonymize(frame, asked, out=tmp_path / "made.parquet")
    known, made = by_id(sudare.anonymize(TABLE, asked).data), made_of(tmp_path / "made.parquet")
    assert (made["person"], made["age"], made["written"]) == (known["person"], known["age"], known["written"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"written": {"role": "insensitive", "transform": {"round": 5}}}, "are no numbers"),
        ({"code": {"role": "insensitive", "transform": {"replace": {"values": {"1": "one"}}}}}, "not in the list"),
        ({"age": {"role": "quasi", "transform": {"mask": {}}}}, "are no texts"),
        ({"at": {"role": "insensitive", "transform": {"shift": {"days": 9, "per": "name"}}}}, "but nobody in 'name'"),
    ],
)
def test_bad_cells_have_the_same_messages_but_for_their_places(frame, changed, said):
    with pytest.raises(SudareError) as there:
        sudare.anonymize(frame, policy(changed))
    with pytest.raises(SudareError) as here:
        sudare.anonymize(TABLE, policy(changed))
    [found], [known] = there.value.problems, here.value.problems
    assert said in found.what
    assert found.what == known.what.partition(" (record")[0] + "."
    assert (found.where, found.hint) == (known.where, known.hint)


def test_pseudonyms_that_stand_for_two_values_are_found_across_executors(spark):
    many = pa.table({"id": range(20_000), "sex": ["m", "f"] * 10_000, "patient": range(20_000)})
    columns = {
        "id": {"role": "insensitive"},
        "sex": {"role": "quasi"},
        "patient": {"role": "identifier", "transform": {"pseudonym": {"key": {"env": KEY}, "length": 5}}},
    }
    asked = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(SudareError, match="for different values") as there:
        sudare.anonymize(spark.createDataFrame(many).repartition(4), asked)
    with pytest.raises(SudareError) as here:
        sudare.anonymize(many, asked)
    assert str(there.value) == str(here.value)


RANDOM = {
    "age": {"role": "quasi", "transform": {"swap": 0.1}},
    "weight": {"role": "insensitive", "transform": {"noise": {"sd": 0.2}}},
    "births": {"role": "insensitive", "transform": {"noise": {"scale": 3, "kind": "laplace"}}},
    "zip": {"role": "insensitive", "transform": {"shuffle": ["sex"]}},
    "code": {"role": "insensitive", "transform": {"round": {"to": 2, "how": "random"}}},
    "name": {"role": "insensitive", "transform": [{"shuffle": {}}, {"mask": {"keep_first": 1}}]},
    "written": {"role": "insensitive", "transform": [{"shift": {"days": 90, "key": {"env": KEY}}}, {"shuffle": {}}]},
}


def _check_random(made, release):
    """Check what random steps keep, and the figures of the certificate."""
    known, before = by_id(sudare.anonymize(TABLE, policy()).data), by_id(TABLE)
    assert made["id"] == before["id"]
    assert made["person"] == known["person"]
    assert (made["seen"], made["patient"]) == (known["seen"], known["patient"])
    assert sorted(made["zip"]) == sorted(before["zip"])
    assert made["zip"] != before["zip"]
    for sex in "mf":
        within = [number for number, found in enumerate(before["sex"]) if found == sex]
        assert sorted(made["zip"][at] for at in within) == sorted(before["zip"][at] for at in within)
    assert sorted(map(str, made["name"])) != sorted(map(str, before["name"]))
    assert sorted(map(str, made["written"])) == sorted(map(str, known["written"]))
    assert set(made["code"]) <= {0, 2, 4}
    told = {(entry["column"], entry["transformation"]): entry["figures"] for entry in facts_of(release)}
    for name in ("weight", "births"):
        pairs = [(new, old) for new, old in zip(made[name], before[name], strict=True) if old is not None]
        errors = np.array([new - old for new, old in pairs])
        assert 0.6 < errors.var() / told[name, "noise"]["error_variance"] < 1.6
    assert told["age", "swap"]["largest_move"] <= 0.1
    assert told["zip", "shuffle"]["groups"] == 2


def test_random_steps_are_stored_once_beside_a_folder(frame, tmp_path):
    release = sudare.anonymize(frame, policy(RANDOM), out=tmp_path / "made.parquet")
    _check_random(made_of(tmp_path / "made.parquet"), release)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "given.parquet",
        "made.parquet",
        "made.parquet.sudare.json",
    ]


def test_random_steps_are_stored_once_beside_a_table(frame, spark):
    try:
        release = sudare.anonymize(frame, policy(RANDOM), out="transformed_release")
        _check_random(by_id(spark.table("transformed_release").toArrow()), release)
        left = {found.name for found in spark.catalog.listTables()}
        assert {name for name in left if "sudare_tmp" in name} == set()
    finally:
        spark.sql("DROP TABLE IF EXISTS transformed_release")
        spark.sql("DROP TABLE IF EXISTS transformed_release_sudare")


def test_nothing_is_left_if_cells_are_bad(frame, tmp_path):
    bad = {**RANDOM, "ill": {"role": "insensitive", "transform": {"noise": {"sd": 0.1}}}}
    with pytest.raises(SudareError, match="900 cells are no numbers"):
        sudare.anonymize(frame, policy(bad), out=tmp_path / "made.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["given.parquet"]


def test_samples(frame, tmp_path):
    asked = policy(sample={"share": 0.5, "per": "subject"}, suppression={"limit": 1.0})
    columns = {name: spec for name, spec in asked["columns"].items() if name not in ("age", "zip")}
    release = sudare.anonymize(frame, {**asked, "columns": columns}, out=tmp_path / "made.parquet")
    kept = set(made_of(tmp_path / "made.parquet")["id"])
    assert 90 < len({number % 300 for number in kept}) < 210
    assert all({number, (number + 300) % COUNT, (number + 600) % COUNT} <= kept for number in kept)
    assert facts_of(release)[-1]["parameters"] == {"share": 0.5, "per": "subject"}
    records = policy(sample={"share": 0.5, "per": "record"}, suppression={"limit": 1.0})
    sudare.anonymize(frame, {**records, "columns": columns}, out=tmp_path / "again.parquet")
    assert 300 < len(made_of(tmp_path / "again.parquet")["id"]) < 600


def test_what_is_random_needs_a_place_to_be_stored(frame):
    with pytest.raises(UnsupportedError, match="must be stored"):
        sudare.anonymize(frame, policy(RANDOM))
    with pytest.raises(UnsupportedError, match="must be stored"):
        sudare.preview(frame, policy(sample={"share": 0.5}))


def test_columns_that_are_too_long_for_the_driver_are_refused(frame, tmp_path, monkeypatch):
    from sudare.pipeline.spark import spark_transformations

    monkeypatch.setattr(spark_transformations, "MOST_GATHERED", 1000)
    with pytest.raises(UnsupportedError, match="the driver transforms this column as a whole"):
        sudare.anonymize(frame, policy(RANDOM), out=tmp_path / "made.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["given.parquet"]


def test_times_are_in_utc_whatever_the_session_says(frame, spark, tmp_path):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    columns = {"id": {"role": "insensitive"}, "sex": {"role": "quasi"},
               "moment": {"role": "insensitive", "transform": {"truncate": "month"}}}  # fmt: skip
    asked = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    try:
        made = by_id(sudare.anonymize(frame, asked).data.toArrow())
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert made["moment"] == by_id(sudare.anonymize(TABLE, asked).data)["moment"]
    assert made["moment"][0] == dt.datetime.strftime(TABLE["moment"][0].as_py(), "%Y-%m")


def test_no_key_is_in_a_plan(frame, tmp_path):
    release = sudare.anonymize(frame, policy(), out=tmp_path / "made.parquet")
    made = sudare.anonymize(frame, policy()).data
    text = made._jdf.queryExecution().toString() + str(release.certificate)
    assert DIGITS not in text
    assert bytes.fromhex(DIGITS).decode("latin-1") not in text


def test_item_sets_are_transformed_on_executors(spark, tmp_path):
    sets = [[f"A{number % 7}", f"B{number % 3}"] for number in range(600)]
    table = pa.table({"id": range(600), "sex": ["m", "f"] * 300, "codes": sets})
    columns = {
        "id": {"role": "insensitive"},
        "sex": {"role": "quasi"},
        "codes": {"role": "insensitive", "kind": "items", "transform": {"pseudonym": {"key": {"env": KEY}}}},
    }
    asked = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    sudare.anonymize(spark.createDataFrame(table), asked, out=tmp_path / "made.parquet")
    known = sudare.anonymize(table, asked).data.sort_by("id")
    assert made_of(tmp_path / "made.parquet")["codes"] == known["codes"].to_pylist()
    assert pc.count_distinct(known["codes"].combine_chunks().flatten()).as_py() == 10


def test_another_key_than_that_of_the_last_table_is_refused(frame, spark, monkeypatch):
    try:
        sudare.anonymize(frame, policy(), out="keyed_release")
        monkeypatch.setenv(KEY, DIGITS[::-1])
        with pytest.raises(SudareError, match="another key than that of the last release"):
            sudare.anonymize(frame, policy(), out="keyed_release")
        release = sudare.anonymize(frame, policy(), out="keyed_release", new_key=True)
        assert [warning["kind"] for warning in release.certificate["warnings"]].count("new-key") == 1
    finally:
        spark.sql("DROP TABLE IF EXISTS keyed_release")
        spark.sql("DROP TABLE IF EXISTS keyed_release_sudare")
