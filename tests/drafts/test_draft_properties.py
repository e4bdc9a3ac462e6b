"""What holds for every draft: it parses, names all columns, drops what is named as an identifier, and shows no cell."""

import datetime

import pyarrow as pa
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError
from sudare.drafts import draft_policy
from sudare.drafts.column_name_words import IDENTIFIERS, PERSON_NUMBERS
from sudare.policy import Policy
from sudare.table import encode_column, encode_items

AWKWARD = [
    "", " ", "yes", "no", "null", "~", "1", "1.5", "0x1f", "2020-01-01", "a: b", "# c", "'q'", '"', "\\", "- x", "? y",
    "<<", "=", "{a}", "[b]", "*x", "&y", "!t", "%d", "@at", "`", "y", "n", "on", "a\nb", "\t", "é", "年齢", "\ufeff",
    "\u2028", "\x00", "\x85", "😀", " lead", "trail ", "x" * 2000, "é\n" * 700, "...", "---", "a,b", "true", "none",
]  # fmt: skip
names = st.sampled_from(AWKWARD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

# Cells whose texts can come from nowhere but the data, in every shape a column may have.
secrets = st.integers(10**5, 10**6 - 1)
SHAPES = [
    secrets.map(lambda number: f"qz{number}zq"),
    secrets.map(lambda number: f"qz{number}@example.org"),
    secrets.map(lambda number: f"qzq, zq{number}, qzzq"),
    secrets.map(str),
    secrets.map(lambda number: 7_000_000 + number),
    secrets.map(lambda number: number + 0.12345),
    secrets.map(lambda number: datetime.date(1900, 1, 1) + datetime.timedelta(number // 30)),
    st.sampled_from(["?", "NA", "n/a", "", "unknown", "qzqzqz", "zqzqzq"]),
    st.booleans(),
    st.lists(secrets.map(lambda number: f"qz{number}"), max_size=3),
]
SPELLED = ["1", "2.5", "-", "1e999", "nan", "007", "2020-02-30", "2020-02-29", "12:30"]
FREE = [
    st.text(max_size=30), st.integers(-(2**62), 2**62), st.floats(allow_infinity=False), st.binary(max_size=5),
    st.none(), st.dates(), st.datetimes(), st.lists(st.text(max_size=4), max_size=3), st.sampled_from(SPELLED),
]  # fmt: skip


@st.composite
def tables(draw, shapes, columns=names):
    rows = draw(st.integers(1, 30))
    found = draw(st.lists(columns, min_size=1, max_size=5, unique=True))
    cells = [draw(st.lists(st.none() | draw(st.sampled_from(shapes)), min_size=rows, max_size=rows)) for _ in found]
    return pa.table([pa.array(column) for column in cells], names=found)


def drafted(table, name=""):
    try:
        return draft_policy(table, name=name)
    except DataError as error:
        assert "every column looks like an identifier" in str(error) or "looks like a record" in str(error)
        return None


@settings(max_examples=150, deadline=None)
@given(tables(FREE), st.text(st.characters(exclude_categories=["Cs"]), max_size=10))
def test_a_draft_parses_and_fits_its_table(table, name):
    text = drafted(table, name)
    if text is None:
        return
    policy = Policy.parse(yaml.safe_load(text))
    assert list(policy.columns) == table.column_names
    assert not policy.named("insensitive")
    for column in policy.quasi + policy.sensitive:
        spec = policy.columns[column]
        if spec.kind == "items":
            encode_items(column, table[column], separator=spec.separator, missing=policy.source.missing)
        else:
            encode_column(column, table[column], kind=spec.kind, missing=policy.source.missing)


@settings(max_examples=150, deadline=None)
@given(tables(SHAPES))
def test_no_cell_is_shown(table):
    text = drafted(table)
    if text is None:
        return
    body = text
    for name in sorted(table.column_names, key=len, reverse=True):
        body = body.replace(name, "") if name else body  # names may be anything, also what cells hold
    for column in table.columns:
        cells = column.to_pylist()
        flat = [item for cell in cells for item in (cell if isinstance(cell, list) else [cell])]
        shown = [cell for cell in flat if len(str(cell)) > 3 and cell not in (None, "unknown") and str(cell) in body]
        assert not [cell for cell in shown if not isinstance(cell, bool)]


@settings(max_examples=150, deadline=None)
@given(
    st.data(),
    st.sampled_from(sorted(IDENTIFIERS)),
    st.sampled_from(["{}", "patient_{}", "{} 1", "my {} age", "{}-salary", "old.{}"]),
    st.sampled_from([str, str.upper, str.capitalize]),
)
def test_what_is_named_as_an_identifier_is_one(data, word, form, case):
    single = len(word) == 1  # a word of one character speaks only for itself
    name = case(word) if single else form.format(case(word))
    table = data.draw(tables(SHAPES, st.just(name)))
    table = table.append_column("zz", pa.array([number % 2 for number in range(table.num_rows)]))
    policy = Policy.parse(yaml.safe_load(draft_policy(table)))
    assert policy.columns[name].role == "identifier"


@settings(max_examples=150, deadline=None)
@given(
    st.data(),
    st.sampled_from(sorted(PERSON_NUMBERS)),
    st.sampled_from(["{}", "patient_{}", "{} 1", "my {} age", "{}-salary", "old.{}"]),
    st.sampled_from([str, str.upper, str.capitalize]),
)
def test_what_is_named_as_a_number_of_people_is_not_released(data, word, form, case):
    name = form.format(case(word))
    table = data.draw(tables(SHAPES, st.just(name)))
    table = table.append_column("zz", pa.array([number % 2 for number in range(table.num_rows)]))
    policy = Policy.parse(yaml.safe_load(draft_policy(table)))
    assert policy.columns[name].role in ("identifier", "subject")


@settings(max_examples=30, deadline=None)
@given(tables(FREE))
def test_the_same_table_gives_the_same_text(table):
    assert drafted(table) == drafted(pa.table(table.to_pydict(), schema=table.schema))


def test_awkward_names_round_trip():
    table = pa.table([[1, 2]] * len(AWKWARD), names=AWKWARD)
    assert list(yaml.safe_load(draft_policy(table))["columns"]) == AWKWARD
    sensitive = [f"salary {name}" for name in AWKWARD]
    table = pa.table([[1, 2]] * (len(AWKWARD) + 1), names=["age", *sensitive])
    policy = Policy.parse(yaml.safe_load(draft_policy(table)))
    assert [spec.column for spec in policy.require[1:]] == policy.sensitive
