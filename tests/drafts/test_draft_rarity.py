"""Roles by values: what leads to a person is not released, whatever its column is called."""

import datetime
import random
import uuid

import numpy as np
import pyarrow as pa
import pytest
import yaml

from sudare.drafts import draft_policy
from sudare.drafts.rarity import rarity_of
from sudare.drafts.recurrence import come_back
from sudare.policy import Policy

PEOPLE, ROWS = 400, 1_000


def drafted(table):
    text = draft_policy(table)
    return Policy.parse(yaml.safe_load(text)), text


def visits(numbers, rows=ROWS, **more):
    """Return visits of people who have these numbers, and stay men or women, wherever they come back."""
    draw = random.Random(5)
    sex = {number: draw.choice(["f", "m"]) for number in numbers}
    who = [*numbers, *draw.choices(list(numbers), k=rows - len(numbers))]
    return pa.table({
        "foo": list(who),
        "bar": [sex[number] for number in who],
        "days": [draw.randrange(9) for _ in who],
        **more,
    })  # fmt: skip


def different(make, count=PEOPLE):
    draw = random.Random(11)
    found = {}
    while len(found) < count:
        found[make(draw)] = None
    return list(found)


NUMBERS = {
    "six digits": lambda draw: draw.randrange(10**5, 10**6),
    "eight digits": lambda draw: draw.randrange(10**7, 10**8),
    "long and close together": lambda draw: 40_000_000 + draw.randrange(900),
    "small": lambda draw: draw.randrange(1, 500),
    "codes": lambda draw: f"P{draw.randrange(10**4, 10**5)}",
    "hexadecimal": lambda draw: f"{draw.randrange(16**8):08x}",
    "uuids": lambda draw: str(uuid.UUID(int=draw.getrandbits(128))),
    "with a year": lambda draw: f"{draw.randrange(2015, 2024)}/{draw.randrange(10**4):04d}",
    "like a telephone's": lambda draw: f"0{draw.randrange(100, 999)} {draw.randrange(10**5, 10**6)}",
    "words": lambda draw: "".join(draw.choices("abcdefghij", k=7)),
    "floats without fractions": lambda draw: float(draw.randrange(10**5, 10**6)),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_that_come_back_with_a_person_are_the_subject(kind):
    policy, text = drafted(visits(different(NUMBERS[kind])))
    assert policy.columns["foo"].role == "subject"
    assert "as those of one person do" in " ".join(text.replace("# ", "").split())
    assert policy.require[0].count == "subjects"


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_that_differ_are_identifiers(kind):
    numbers = list(range(1, PEOPLE + 1)) if kind == "small" else different(NUMBERS[kind])
    policy, _ = drafted(visits(numbers, rows=PEOPLE))
    assert policy.columns["foo"].role == "identifier"


@pytest.mark.parametrize("kind", ["six digits", "codes", "hexadecimal"])
def test_people_with_many_records_are_found(kind):
    policy, _ = drafted(visits(different(NUMBERS[kind], 100), rows=1_500))
    assert policy.columns["foo"].role == "subject"


def test_long_numbers_are_dropped_however_often_they_come_back():
    numbers = different(NUMBERS["eight digits"], 100)
    draw = random.Random(3)
    table = pa.table({
        "foo": [draw.choice(numbers) for _ in range(10_000)],
        "bar": [draw.choice("fm") for _ in range(10_000)],
    })  # fmt: skip
    assert drafted(table)[0].columns["foo"].role == "identifier"


def test_few_values_that_many_share_stay():
    draw = random.Random(4)
    table = pa.table({
        "pressure": [draw.randrange(90, 160) for _ in range(ROWS)],
        "dose": [draw.choice([100, 250, 500, 1000]) for _ in range(ROWS)],
        "unit": [draw.choice([f"W{number}" for number in range(12)]) for _ in range(ROWS)],
        "sex": [draw.choice("fm") for _ in range(ROWS)],
    })  # fmt: skip
    policy, _ = drafted(table)
    assert {policy.columns[name].role for name in ("pressure", "dose", "unit", "sex")} == {"quasi"}


def test_measurements_are_not_dropped():
    draw = np.random.default_rng(6)
    day = datetime.date(2000, 1, 1)
    table = pa.table({
        "creatinine": draw.normal(1, 0.3, ROWS).round(4),
        "weight": draw.integers(40_000, 120_000, ROWS),
        "income": draw.integers(10_000, 900_000, ROWS),
        "lab_result": draw.normal(5, 1, ROWS),
        "seen": [day + datetime.timedelta(int(days)) for days in draw.integers(0, 9000, ROWS)],
        "seen_compact": [
            int((day + datetime.timedelta(int(days))).strftime("%Y%m%d")) for days in draw.integers(0, 9000, ROWS)
        ],
        "sex": draw.choice(["f", "m"], ROWS),
    })  # fmt: skip
    policy, text = drafted(table)
    assert {spec.role for spec in policy.columns.values()} == {"quasi"}
    assert {policy.columns[name].kind for name in table.column_names if name != "sex"} == {"numeric"}
    assert text.count("an exact one identifies") == 3  # what is sensitive would leave as it is: two, and a lab value


def test_equal_weights_of_different_people_are_no_person():
    draw = random.Random(8)
    weights = different(NUMBERS["six digits"])
    table = pa.table({
        "foo": [draw.choice(weights) for _ in range(ROWS)],
        "bar": [draw.choice("fm") for _ in range(ROWS)],
    })  # fmt: skip
    policy, text = drafted(table)
    assert policy.columns["foo"].role == "identifier"
    assert "if it measures something" in text


def test_a_case_belongs_to_a_person():
    """Of two columns that could say who, the one with fewer values is taken: a person has several cases."""
    people = visits(different(NUMBERS["six digits"], 150), rows=400)
    twice = pa.concat_tables([people.append_column("case", pa.array([f"C{number:06d}" for number in range(400)]))] * 2)
    policy, text = drafted(twice)
    assert policy.columns["foo"].role == "subject"
    assert policy.columns["case"].role == "identifier"
    assert "another column does so already" in text


@pytest.mark.parametrize(
    ("name", "role"),
    [("hospital_number", "subject"), ("case_no", "subject"), ("mrn", "subject"), ("nhs_number", "subject")],
)
def test_numbers_by_name_that_come_back(name, role):
    table = visits(different(NUMBERS["small"]))
    table = table.rename_columns([name, *table.column_names[1:]])
    assert drafted(table)[0].columns[name].role == role


@pytest.mark.parametrize("name", ["pat_no", "case_no", "fallnummer", "hospital_number", "num_dossier", "MRN"])
@pytest.mark.parametrize("rows", [3, 6, 15, 60])
def test_numbers_by_name_in_small_tables(name, rows):
    table = pa.table(
        {name: [90_017 + 31 * number for number in range(rows)], "age": [number % 3 for number in range(rows)]}
    )
    assert drafted(table)[0].columns[name].role == "identifier"


@pytest.mark.parametrize(
    ("values", "role"),
    [([4_711_001, 4_712_117, 4_713_229], "identifier"), (["A-17", "B-23"], "identifier"), ([1, 2, 3], "quasi")],
)
def test_the_number_of_a_case_stays_one_however_many_records_it_has(values, role):
    table = pa.table({"case_no": [values[number % len(values)] for number in range(60)], "age": [30, 40] * 30})
    assert drafted(table)[0].columns["case_no"].role == role


def test_hospital_numbers_of_five_hospitals_are_those_of_hospitals():
    table = pa.table({"hospital_number": [number % 5 for number in range(200)], "age": [30, 40] * 100})
    assert drafted(table)[0].columns["hospital_number"].role == "quasi"


def test_dates_written_as_numbers_are_told_from_running_numbers():
    day = datetime.date(2008, 1, 1)
    days = [int((day + datetime.timedelta(number)).strftime("%Y%m%d")) for number in range(300)]
    table = pa.table({
        "foo": [20080101 + 7 * number for number in range(300)],
        "bar": days,
        "age": [number % 7 for number in range(300)],
    })  # fmt: skip
    policy, text = drafted(table)
    assert policy.columns["foo"].role == "identifier"
    assert policy.columns["bar"].role == "quasi"
    assert text.count("looks like dates") == 1


def test_nothing_of_a_value_is_in_a_reason():
    numbers = different(NUMBERS["six digits"])
    _, text = drafted(visits(numbers))
    assert not [number for number in numbers if str(number) in text]


def test_rarity_counts_records():
    values, counts = pa.array([10_001, 20_003, 30_007]), pa.array([1, 4, 5])
    found = rarity_of(values, counts, [])
    assert found.exposed == 0.5
    assert found.whole
    assert found.apart
    assert found.long
    assert not rarity_of(pa.array([1.5, 2.0]), pa.array([1, 1]), []).whole
    assert not rarity_of(pa.array([40_000, 50_000, 60_000]), pa.array([1, 1, 1]), []).long


def test_whoever_comes_back_agrees_with_themselves():
    who = [number // 2 for number in range(200)]
    table = pa.table({
        "who": who,
        "sex": ["f" if number % 2 else "m" for number in who],
        "alike": ["x"] * 190 + ["y"] * 10,
    })  # fmt: skip
    distinct = {"who": 100, "sex": 2, "alike": 2}
    assert come_back(table, ["who"], distinct) == {"who"}
    assert come_back(table.drop_columns("sex"), ["who"], {"who": 100, "alike": 2}) == set()
    assert come_back(table, [], distinct) == set()
