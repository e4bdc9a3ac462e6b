"""Drafts of whole tables: patients, the census, Japanese names, all text, and what cannot be drafted."""

import datetime
import random
import re
from decimal import Decimal

import pyarrow as pa
import pytest
import yaml

from sudare.core.errors import DataError
from sudare.datasets import adult
from sudare.drafts import draft_policy
from sudare.hierarchies.builders import prefix
from sudare.policy import Policy
from sudare.table import encode_column, encode_items

ROWS = 300


def read(table, **options):
    return Policy.parse(yaml.safe_load(draft_policy(table, **options)))


def roles(table):
    return {name: spec.role for name, spec in read(table).columns.items()}


def reason(text, name):
    """Return the comment beside a column, or above it."""
    lines = text.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith(f"  {name}:"))
    above = []
    while lines[place - len(above) - 1].startswith("  # "):
        above.insert(0, lines[place - len(above) - 1].removeprefix("  # "))
    return lines[place].partition("  # ")[2] or " ".join(above).rstrip(":")


def patients():
    draw = random.Random(7)
    start = datetime.date(1930, 1, 1)
    return pa.table({
        "patient_id": [f"P{draw.randrange(90):04d}" for _ in range(ROWS)],
        "visit_id": draw.sample(range(10_000), ROWS),
        "Last Name": [draw.choice(["Abel", "Baker", "Clark"]) for _ in range(ROWS)],
        "contact": [f"q{draw.randrange(10**6)}@example.org" for _ in range(ROWS)],
        "reached_at": [f"+49 {draw.randrange(100, 999)} {draw.randrange(10**5, 10**6)}" for _ in range(ROWS)],
        "date_of_birth": [start + datetime.timedelta(draw.randrange(25_000)) for _ in range(ROWS)],
        "sex": [draw.choice([1, 2]) for _ in range(ROWS)],
        "zip": [f"{draw.randrange(100_000):05d}" for _ in range(ROWS)],
        "history": [";".join(draw.sample(["E11", "I10", "J45", "F32"], draw.randint(1, 4))) for _ in range(ROWS)],
        "drugs": [draw.sample(["aa", "bb", "cc"], 2) for _ in range(ROWS)],
        "remarks": ["ok"] * ROWS,
        "story": [f"On day {draw.random()} the patient came in and said that it hurts." for _ in range(ROWS)],
        "ward": [draw.choice(["A", "B", None]) for _ in range(ROWS)],
        "weird": [draw.choice("uvw") for _ in range(ROWS)],
        "year": [2024] * ROWS,
        "diagnosis": [draw.choice(["flu", "gout"]) for _ in range(ROWS)],
        "salary": [draw.randrange(10_000, 99_999) for _ in range(ROWS)],
    })  # fmt: skip


def test_patients():
    table = patients()
    policy = read(table)
    assert list(policy.columns) == table.column_names
    assert roles(table) == {
        "patient_id": "subject", "visit_id": "identifier", "Last Name": "identifier", "contact": "identifier",
        "reached_at": "identifier", "date_of_birth": "quasi", "sex": "quasi", "zip": "quasi", "history": "quasi",
        "drugs": "quasi", "remarks": "identifier", "story": "identifier", "ward": "quasi", "weird": "quasi",
        "year": "quasi", "diagnosis": "sensitive", "salary": "quasi",
    }  # fmt: skip
    kinds = {name: policy.columns[name].kind for name in policy.quasi + policy.sensitive}
    assert kinds == {
        "date_of_birth": "numeric", "sex": "categorical", "zip": "categorical", "history": "items", "drugs": "items",
        "ward": "categorical", "weird": "categorical", "year": "numeric", "diagnosis": "categorical",
        "salary": "numeric",
    }  # fmt: skip
    assert policy.columns["zip"].hierarchy.prefix == [5, 3, 2]
    assert policy.columns["history"].separator == ";"
    assert [spec.describe() for spec in policy.require] == [
        "k-anonymity (k = 5, count = subjects)",
        "l-diversity (l = 2, column = diagnosis, variant = distinct)",
    ]
    assert policy.method.name == "top-down"
    assert policy.suppression.limit == 0


def test_patients_fit_their_draft():
    table, policy = patients(), read(patients())
    for name in policy.quasi + policy.sensitive:
        spec = policy.columns[name]
        if spec.kind == "items":
            encode_items(name, table[name], separator=spec.separator, missing=policy.source.missing)
        else:
            column = encode_column(name, table[name], kind=spec.kind, missing=policy.source.missing)
            if spec.hierarchy:
                prefix(spec.hierarchy.prefix, column.values)


def test_reasons():
    text = draft_policy(patients(), name="visits")
    assert "read every line before you use it" in text
    assert 'Table "visits": 300 records, 17 columns.' in text
    assert reason(text, "visit_id") == "an id by its name; all values differ"
    assert "telephone" in reason(text, "reached_at")
    assert "free text" in reason(text, "story")
    assert "unclear, so treated as known to an intruder" in reason(text, "weird")
    assert "constant" in reason(text, "year")
    assert "{dates: [day, month, year]}" in reason(text, "date_of_birth")
    assert reason(text, "diagnosis") == "the name says so"
    assert "an exact one identifies" in reason(text, "salary")
    assert "{role: sensitive}" in reason(text, "salary")
    assert all(len(line) <= 120 for line in text.splitlines())


def test_every_column_has_a_reason():
    text = draft_policy(patients())
    assert all(reason(text, name if " " not in name else f'"{name}"') for name in patients().column_names)


def test_adult():
    policy = read(adult())
    assert policy.sensitive == ["income"]
    # education and education-num say the same, so one of them is enough: the one that has ranges
    assert policy.quasi == [name for name in adult().column_names if name not in ("income", "fnlwgt", "education")]
    numeric = [name for name in policy.quasi if policy.columns[name].kind == "numeric"]
    assert numeric == ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    assert [spec.model for spec in policy.require] == ["k-anonymity", "l-diversity"]


def test_weights_that_lead_to_people_are_dropped_and_the_draft_says_how_to_keep_them():
    text = draft_policy(adult())
    assert read(adult()).columns["fnlwgt"].role == "identifier"
    assert "90% of the records hold values that fewer than 5 records share" in reason(text, "fnlwgt")
    assert "{role: quasi, kind: numeric} releases ranges" in reason(text, "fnlwgt")


def test_the_same_from_text():
    """A CSV file is all text, with marks for missing cells."""
    typed = adult().slice(0, 3000)
    text = pa.table({name: typed[name].cast(pa.string()).fill_null(" ?") for name in typed.column_names})
    policy = read(text)
    assert policy.columns == read(typed).columns
    assert policy.source.missing == ["", " ?"]
    assert read(typed).source.missing == [""]


def test_missing_tokens_of_released_columns_only():
    table = pa.table({
        "email": ["N/A", "x", "y", "-"],
        "age": ["1", "NA", "3", ""],
        "job": ["cook", "null", "Unknown", "clerk"],
    })  # fmt: skip
    policy = read(table)
    assert policy.source.missing == ["", "NA", "Unknown", "null"]
    assert policy.columns["age"].kind == "numeric"


def test_japanese():
    table = pa.table({
        "患者番号": [number % 30 for number in range(90)],
        "氏名": ["x"] * 90,
        "電話番号": [number % 4 for number in range(90)],
        "年齢": [20 + number % 40 for number in range(90)],
        "性別": ["男", "女", "不明"] * 30,
        "郵便番号": [f"{100 + number}-{2000 + number}" for number in range(90)],
        "病名": ["ア", "ア", "イ", "イ", "ウ", "ウ"] * 15,  # not the same for each sex, which would give it away
    })  # fmt: skip
    policy = read(table)
    assert [spec.role for spec in policy.columns.values()] == [
        "subject", "identifier", "identifier", "quasi", "quasi", "quasi", "sensitive",
    ]  # fmt: skip
    assert policy.columns["郵便番号"].hierarchy.prefix == [8, 3, 2]
    assert policy.source.missing == ["", "不明"]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("patient_id", list(range(50)), "identifier"),
        ("patient_id", [number // 2 for number in range(50)], "subject"),
        ("patient_id", [0, 0, *range(1, 49)], "subject"),  # one person with two records must not count as two
        ("id", [number // 2 for number in range(50)], "subject"),
        ("id", [0, 0, *range(1, 49)], "identifier"),
        ("customer", ["yes", "no"] * 25, "quasi"),
        ("customer", [f"c{number // 3}" for number in range(50)], "subject"),
        ("hospital_id", [number % 5 for number in range(50)], "quasi"),
        ("admission_id", random.Random(1).sample(range(999), 50), "identifier"),
        ("Unnamed: 0", list(range(50)), "identifier"),
        ("foo", list(range(50)), "identifier"),
        ("foo", [f"v{number}" for number in range(50)], "identifier"),
        ("foo", [f"v{number}" for number in range(20)], "quasi"),
        ("foo", [0.5 * number for number in range(50)], "quasi"),
        ("foo", [f"{number:02d}.01.1999" for number in range(1, 29)], "quasi"),
        ("foo", [f"{number}0000-{number}9999" for number in range(1, 10)] * 9, "quasi"),
        ("foo", [b"x"] * 50, "identifier"),
        ("foo", [{"a": 1}] * 50, "identifier"),
        ("foo", [[{"a": 1}]] * 50, "identifier"),
        ("foo", [["a@example.org"], ["b@example.org"]] * 20, "identifier"),
        ("foo", [None] * 50, "quasi"),
        ("foo", [True, False] * 25, "quasi"),
        ("foo", [datetime.timedelta(days=number % 9) for number in range(50)], "quasi"),
        ("foo", [datetime.time(number % 9) for number in range(50)], "quasi"),
        ("diagnosis", ["x"] * 50, "sensitive"),
        ("diagnosis_date", [datetime.date(2020, 1, 1 + number % 9) for number in range(50)], "quasi"),
        ("diagnosis", [f"v{number}" for number in range(50)], "identifier"),
    ],
)
def test_roles(name, values, role):
    table = pa.table({name: pa.array(values), "age": [number % 7 for number in range(len(values))]})
    assert roles(table)[name] == role


def test_one_subject():
    table = pa.table({
        "id": [number // 2 for number in range(60)],
        "member": [number // 3 for number in range(60)],
        "patient_id": [number // 4 for number in range(60)],
        "age": [number % 7 for number in range(60)],
    })  # fmt: skip
    assert roles(table) == {"id": "identifier", "member": "identifier", "patient_id": "subject", "age": "quasi"}


def test_infinite_numbers_are_spoken_of():
    table = pa.table({"dose": [1.0, float("inf"), 2.0], "level": ["1e999", "2", "3"], "size": [1.0, 2.0, None]})
    text = draft_policy(table)
    assert "infinite" in reason(text, "dose")
    assert "infinite" in reason(text, "level")
    assert "infinite" not in reason(text, "size")


def test_categories_in_numbers():
    table = pa.table({"zip": [12345.0, 54321.0, None], "sex": [1.0, 2.0, None], "plz": [1234, 12345, 54321]})
    policy = read(table)
    for name in table.column_names:
        assert policy.columns[name].kind == "categorical"
        encode_column(name, table[name], kind="categorical")


def test_minus_zero_is_no_second_value():
    assert "l-diversity" not in draft_policy(pa.table({"age": [1, 2], "score": [0.0, -0.0]}))


def test_few_records():
    policy = read(pa.table({"age": [30, 40]}))
    assert policy.require[0].k == 2
    text = draft_policy(pa.table({"age": [30, 40]}))
    assert "fewer than 5 records" in text
    assert "No column was guessed to be sensitive" in text


def test_constant_sensitive_column_asks_for_no_diversity():
    text = draft_policy(pa.table({"age": [1, 2, 3], "salary": [9, 9, 9]}))
    assert "l-diversity" not in text
    assert "fewer than two values" in text


def test_a_sensitive_column_becomes_quasi_where_there_is_no_other():
    table = pa.table({"name": ["x"] * 9, "salary": list(range(9)), "disease": ["a", "b", "c"] * 3})
    assert roles(table) == {"name": "identifier", "salary": "sensitive", "disease": "quasi"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({}), "no columns"),
        (pa.table({"age": pa.array([], pa.int64())}), "no records"),
        (pa.table([[1], [2], [3]], names=["a", "b", "a"]), "column 'a': 2 columns have this name"),
        (pa.table({"name": ["x"], "email": ["y"]}), "every column looks like an identifier"),
    ],
)
def test_not_to_be_drafted(table, message):
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        draft_policy(table)
    assert caught.value.problems[0].hint


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([Decimal("1.5"), Decimal(2)], pa.decimal128(5, 2)), "numeric"),
        (pa.array([Decimal("1.5"), Decimal(2)], pa.decimal256(50, 2)), "numeric"),
        (pa.array([1.5, 2.5], pa.float16()), "numeric"),
        (pa.array([2**63 + 1, 3], pa.uint64()), "numeric"),
        (pa.array([1, 2], pa.timestamp("ns", "UTC")), "numeric"),
        (pa.array([1, 2], pa.duration("s")), "numeric"),
        (pa.array([1, 2], pa.time32("s")), "numeric"),
        (pa.array(["a", "b"], pa.large_string()), "categorical"),
        (pa.array(["2020-01-01", "2020-01-02"]).dictionary_encode(), "numeric"),
        (pa.array([["a"], ["b", "a"]], pa.list_(pa.dictionary(pa.int32(), pa.string()))), "items"),
        (pa.array([[1], None], pa.large_list(pa.int8())), "items"),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)), None),
        (pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())), None),
        (pa.array([b"a", b"b"]).dictionary_encode(), None),
        (pa.array([(1, 2, 3), (1, 2, 4)], pa.month_day_nano_interval()), None),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_types(column, kind):
    policy = read(pa.table({"foo": column, "age": [1, 2]}))
    assert policy.columns["foo"].kind == kind
    assert policy.columns["foo"].role == ("quasi" if kind else "identifier")
    if kind == "items":
        encode_items("foo", column)
    elif kind:
        encode_column("foo", column, kind=kind)


def test_long_numbers_stored_as_floats_are_found():
    ids = [float(10**11 + 7919 * number) for number in range(49)] + [None]
    assert roles(pa.table({"foo": ids, "age": [1, 2] * 25}))["foo"] == "identifier"


def test_dictionary_and_chunked_columns():
    job = pa.chunked_array([pa.array(["cook", "clerk"]).dictionary_encode(), pa.array(["judge"]).dictionary_encode()])
    plain = pa.table({"job": ["cook", "clerk", "judge"]})
    assert draft_policy(pa.table({"job": job})) == draft_policy(plain)
