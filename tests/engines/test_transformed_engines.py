"""Transformations where the rows are: the same cells, pseudonyms and offsets in files, frames, databases and Spark."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import AuditFailedError, SudareError
from sudare.pipeline import route

from .transformed_cases import COUNT, DIGITS, KEY, TABLE, by_id, policy

pytestmark = pytest.mark.usefixtures("key")


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY, DIGITS)


@pytest.fixture
def expected():
    """The cells as one machine has them, from a table in memory."""
    return by_id(sudare.anonymize(TABLE, policy(), seed=1).data)


@pytest.fixture
def in_place(monkeypatch):
    """Fail if rows of a database travel."""
    locally = route.make_locally

    def travelling(request):
        assert request.origin is None, "the rows travelled"
        return locally(request)

    monkeypatch.setattr(route, "make_locally", travelling)


def facts_of(release):
    return [dict(entry) for entry in release.certificate["transformations"]]


def test_files_and_frames_have_the_same_cells(expected, tmp_path):
    pq.write_table(TABLE, tmp_path / "given.parquet")
    sudare.anonymize(tmp_path / "given.parquet", policy(), out=tmp_path / "made.parquet", seed=1)
    assert by_id(pq.read_table(tmp_path / "made.parquet")) == expected
    frame = sudare.anonymize(TABLE.to_pandas(), policy(), seed=1).data
    pseudonyms = dict(zip(frame["id"], frame["person"], strict=True))
    assert [pseudonyms[number] for number in expected["id"]] == expected["person"]
    pyarrow.csv.write_csv(TABLE, tmp_path / "given.csv")
    sudare.anonymize(tmp_path / "given.csv", policy({"moment": None}), out=tmp_path / "made.csv", seed=1)
    kinds = pyarrow.csv.ConvertOptions(column_types={"person": pa.string(), "patient": pa.string()})
    read = by_id(pyarrow.csv.read_csv(tmp_path / "made.csv", convert_options=kinds))
    for name in ("person", "patient", "seen", "births", "age"):
        assert [cell or None for cell in read[name]] == expected[name], name


def test_databases_have_the_same_cells_without_rows_travelling(home, expected, in_place):
    given = home.load("given", TABLE)
    release = sudare.anonymize(given, policy(), out=home.address("made"), seed=1)
    made = by_id(home.read("made"))
    if home.name == "postgres":  # numbers of 64 bits there, of 16 before
        assert home.types("made")["moment"] == "timestamp with time zone"
    assert made == expected
    assert home.types("made")["seen"].lower() == "date"
    assert home.tables() == ["given", "made", "made_sudare"]
    assert facts_of(release) == facts_of(sudare.anonymize(TABLE, policy(), seed=1))


def test_rows_that_travel_have_the_same_cells_too(home, expected, tmp_path):
    given = home.load("given", TABLE)
    sudare.anonymize(given, policy(), out=tmp_path / "made.parquet", seed=1)
    assert by_id(pq.read_table(tmp_path / "made.parquet")) == expected


def test_a_dry_run_leaves_nothing_in_a_database(home, in_place):
    given = home.load("given", TABLE)
    preview = sudare.preview(given, policy(), out=home.address("made"), seed=1)
    assert preview.figures["transformations"]
    assert home.tables() == ["given"]


def test_offsets_without_a_key_are_one_for_all_dates_of_a_person(home, in_place):
    shift = {"role": "insensitive", "transform": {"shift": {"days": 365}}}
    given = home.load("given", TABLE)
    sudare.anonymize(given, policy({"seen": shift, "at": shift}), out=home.address("made"))
    made, before = by_id(home.read("made")), by_id(TABLE)
    moved = {}
    for name in ("seen", "at"):
        for person, old, new in zip(before["person"], before[name], made[name], strict=True):
            if old is not None:
                moved.setdefault(person.strip(), set()).add((new - old) / dt.timedelta(1))
    assert all(len(days) == 1 for days in moved.values())
    assert all(1 <= abs(min(days)) <= 365 for days in moved.values())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"written": {"role": "insensitive", "transform": {"round": 5}}}, "cells are no numbers"),
        ({"code": {"role": "insensitive", "transform": {"replace": {"values": {"1": "one"}}}}}, "not in the list"),
        ({"age": {"role": "quasi", "transform": {"mask": {}}}}, "are no texts"),
        ({"person": {"role": "subject", "transform": {"pseudonym": {"key": {"env": KEY}, "form": "digits",
                                                                    "length": 7}}}}, None),
    ],
)  # fmt: skip
def test_bad_cells_have_the_same_messages_but_for_their_places(home, in_place, changed, said):
    asked = policy(changed)
    given = home.load("given", TABLE)
    if said is None:
        sudare.anonymize(given, asked, out=home.address("made"))
        return
    with pytest.raises(SudareError) as there:
        sudare.anonymize(given, asked, out=home.address("made"))
    with pytest.raises(SudareError) as here:
        sudare.anonymize(TABLE, asked)
    [found] = there.value.problems
    [known] = here.value.problems
    assert said in found.what
    assert (found.where, found.hint) == (known.where, known.hint)
    assert found.what == known.what.partition(" (record")[0] + "."
    assert home.tables() == ["given"]


def test_dates_without_a_person_or_out_of_the_calendar_are_counted(home, in_place):
    rows = TABLE.slice(0, 60)
    persons = [None if number < 4 else person for number, person in enumerate(rows["person"].to_pylist())]
    seen = [dt.date(9999, 12, 31) if number in (5, 6, 7) else dt.date(2020, 1, 1) for number in range(60)]
    rows = rows.set_column(1, "person", pa.array(persons)).set_column(6, "seen", pa.array(seen))
    columns = {
        "id": {"role": "insensitive"},
        "person": {"role": "subject"},
        "sex": {"role": "quasi"},
        "seen": {"role": "insensitive", "transform": {"shift": {"days": 10, "key": {"env": KEY}}}},
    }
    asked = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    given = home.load("given", rows)
    with pytest.raises(SudareError) as there:
        sudare.anonymize(given, asked, out=home.address("made"))
    with pytest.raises(SudareError) as here:
        sudare.anonymize(rows, asked)
    assert {problem.what for problem in there.value.problems} == {
        problem.what.partition(" (record")[0] + "." for problem in here.value.problems
    }
    assert "4 cells have a date but nobody" in str(there.value)


def test_pseudonyms_that_stand_for_two_values_are_refused_everywhere(home, in_place):
    numbers = TABLE.set_column(2, "patient", pa.array(range(COUNT), pa.int64()))
    short = {"role": "identifier", "transform": {"pseudonym": {"key": {"env": KEY}, "length": 5}}}
    asked = policy({"patient": short})
    many = pa.concat_tables([numbers.set_column(2, "patient", pa.array(range(at, at + COUNT))) for at in
                             range(0, 20 * COUNT, COUNT)])  # fmt: skip
    given = home.load("given", many)
    with pytest.raises(SudareError, match="for different values") as there:
        sudare.anonymize(given, asked, out=home.address("made"))
    with pytest.raises(SudareError) as here:
        sudare.anonymize(many, asked)
    assert str(there.value) == str(here.value)
    assert home.tables() == ["given"]


def test_an_audit_that_fails_leaves_nothing(home, in_place, monkeypatch):
    from sudare.pipeline import database

    def failing(*_, **__):
        raise AuditFailedError("it is not so.")

    monkeypatch.setattr(database, "audit_release", failing)
    given = home.load("given", TABLE)
    with pytest.raises(AuditFailedError):
        sudare.anonymize(given, policy(), out=home.address("made"))
    assert home.tables() == ["given"]


def test_random_steps_let_rows_travel(home):
    given = home.load("given", TABLE)
    age = {"role": "quasi", "transform": {"swap": 0.1}}
    weight = {"role": "insensitive", "transform": {"noise": 0.1}}
    release = sudare.anonymize(given, policy({"age": age, "weight": weight}), out=home.address("made"))
    noise = next(entry for entry in facts_of(release) if entry["transformation"] == "noise")
    made, before = by_id(home.read("made")), by_id(TABLE)
    errors = [new - old for new, old in zip(made["weight"], before["weight"], strict=True) if old is not None]
    variance = sum(error**2 for error in errors) / len(errors)
    assert 0.7 < variance / noise["figures"]["error_variance"] < 1.4


def test_a_sample_is_of_people(home):
    given = home.load("given", TABLE)
    asked = policy(sample={"share": 0.5, "per": "subject"})
    release = sudare.anonymize(given, asked, out=home.address("made"))
    kept = set(by_id(home.read("made"))["id"])
    assert facts_of(release)[-1]["transformation"] == "sample"
    people = {}
    for number, person in enumerate(TABLE["person"].to_pylist()):
        people.setdefault(person.strip(), []).append(number)
    split = sum(0 < len(kept & set(numbers)) < len(numbers) for numbers in people.values())
    assert 90 < len({number % 300 for number in kept}) < 210
    assert split <= release.certificate["rows_in"] - release.certificate["rows_out"]


def test_types_that_only_databases_have(duck_home, in_place):
    duck_home.load("plain", TABLE)
    duck_home.run(
        "CREATE TYPE sexes AS ENUM ('m', 'f')",
        "CREATE TABLE given AS SELECT id, CAST(sex AS sexes) AS sex, CAST(age AS DECIMAL(9, 2)) AS age,"
        " uuid() AS ticket, CAST(births AS HUGEINT) AS births, zip,"
        " CAST(\"at\" AS TIMESTAMP_NS) AS seen, CAST(weight AS FLOAT) AS weight, 'CaSe' || (id % 3) AS name FROM plain",
    )
    columns = {
        "id": {"role": "insensitive"},
        "sex": {"role": "quasi", "transform": {"replace": {"values": {"m": "1", "f": "2"}}}},
        "age": {"role": "insensitive", "transform": {"round": 10}},
        "ticket": {"role": "identifier", "transform": {"pseudonym": {"key": {"env": KEY}}}},
        "births": {"role": "insensitive", "transform": {"round": 10}},
        "zip": {"role": "insensitive", "transform": {"mask": {"keep_first": 1}}},
        "seen": {"role": "insensitive", "transform": {"truncate": "month"}},
        "weight": {"role": "insensitive", "transform": {"band": 10}},
        "name": {"role": "insensitive", "transform": {"redact": {}}},
    }
    asked = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    sudare.anonymize(duck_home.address("given"), asked, out=duck_home.address("made"))
    here = sudare.anonymize(duck_home.read("given"), asked).data
    made, known = by_id(duck_home.read("made")), by_id(here)
    assert [float(cell) for cell in made.pop("age")] == [float(cell) for cell in known.pop("age")]
    births = [None if cell is None else float(cell) for cell in made.pop("births")]
    assert births == [None if cell is None else float(cell) for cell in known.pop("births")]
    assert made == known


def test_types_that_only_postgres_has(postgres_home, in_place):
    postgres_home.load("plain", TABLE)
    postgres_home.run(
        "CREATE TYPE sexes AS ENUM ('m', 'f')",
        "CREATE TABLE given AS SELECT id, CAST(sex AS sexes) AS sex, CAST(age AS numeric(4, 1)) AS age,"
        " gen_random_uuid() AS ticket, CAST(zip AS char(7)) AS zip, CAST(left(zip, 2) AS varchar(2)) AS top,"
        " CAST(zip AS varchar(5)) AS name FROM plain",
    )
    columns = {
        "id": {"role": "insensitive"},
        "sex": {"role": "quasi", "transform": {"replace": {"values": {"m": "1", "f": "2"}}}},
        "age": {"role": "insensitive", "transform": {"round": {"to": 1000, "how": "up"}}},
        "ticket": {"role": "identifier", "transform": {"pseudonym": {"key": {"env": KEY}}}},
        "zip": {"role": "insensitive", "transform": {"truncate": {"keep": 3}}},
        "top": {"role": "insensitive", "transform": {"top": {"at": 50, "shows": "51 and more"}}},
        "name": {"role": "identifier", "transform": {"pseudonym": {"key": {"env": KEY}}}},
    }
    asked = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    sudare.anonymize(postgres_home.address("given"), asked, out=postgres_home.address("made"))
    made = by_id(postgres_home.query("SELECT *, CAST(age AS float8) AS old FROM made"))
    assert set(made["old"]) <= {0.0, 1000.0}
    assert postgres_home.types("made")["age"] == "numeric"
    assert "51 and more" in made["top"]
    assert {len(cell) for cell in made["name"]} == {16}
