"""Ids beside names, and codes of diagnoses, under names that say little."""

import random

import pyarrow as pa
import pytest
import yaml

from sudare.drafts import draft_policy
from sudare.policy import Policy

CODES = ["I21.0", "E11.9", "J44.1", "C50.9", "I21.4", "E11.2", "K35", "M54.5", "F32.1", "N18.3"]


def roles(**columns):
    """Return the roles that a draft gives columns beside months and sexes."""
    rows = len(next(iter(columns.values())))
    table = pa.table({"month": [row % 12 for row in range(rows)], "sex": ["f", "m"] * (rows // 2), **columns})
    policy = Policy.parse(yaml.safe_load(draft_policy(table)))
    return {name: spec.role for name, spec in policy.columns.items() if name in columns}


def utilities(rows=3_000):
    draw = random.Random(4)
    return [draw.randrange(120) for _ in range(rows)]


@pytest.mark.parametrize("number", ["UTILITYID", "util", "foo"])
def test_an_id_and_the_name_beside_it_are_not_released(number):
    who = utilities()
    found = roles(**{number: [100 + 7 * each for each in who], "UTILNAME": [f"Power of Town {each}" for each in who]})
    assert set(found.values()) <= {"identifier", "subject"}


def test_names_that_do_not_stand_for_numbers_are_unclear_as_before():
    who, other = utilities(), utilities()[::-1]
    found = roles(util=[100 + 7 * each for each in other], maker=[f"Works {each}" for each in who])
    assert found["maker"] == "quasi"


@pytest.mark.parametrize("name", ["Hauptdiagnose", "Nebendiagnose", "Aufnahmediagnose", "foo"])
def test_codes_of_diagnoses_are_sensitive(name):
    draw = random.Random(3)
    assert roles(**{name: draw.choices(CODES, k=400)}) == {name: "sensitive"}


def test_codes_of_three_characters_are_known_by_the_name():
    draw = random.Random(3)
    assert roles(Hauptdiagnose=draw.choices(["I21", "E11", "J44", "C50"], k=400)) == {"Hauptdiagnose": "sensitive"}
    assert roles(foo=draw.choices(["I21", "E11", "J44", "C50"], k=400)) == {"foo": "quasi"}
