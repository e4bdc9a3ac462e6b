"""From the preset to the checklist: a release of hospital encounters is met by what its cells hold, until one tells."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
import yaml

import sudare
from sudare.reports.checklists import MET, UNMET, safe_harbor

ROWS = 3_000
PLANTED = {
    "call 212-555-0143": {4, 5}, "anna.berg@example.org": {6}, "a 95-year-old": {3}, "123-45-6789": {7},
    "since 2008-03-14": {3}, "lives at 12 Oak Street": {2}, "https://example.org/p/7": {14}, "192.168.17.4": {15},
}  # fmt: skip
"""What a cell holds, and the rules that are then not met."""


def encounters():
    """Return encounters of the Diabetes table with dates, places, ages and numbers of telephones."""
    table = sudare.datasets.diabetes().slice(0, ROWS)
    draw = np.random.default_rng(130)
    _, person = np.unique(table["patient"].to_numpy(), return_inverse=True)
    years = draw.integers(1, 103, person.max() + 1)[person]
    came = [datetime.date(2006, 1, 1) + datetime.timedelta(days=int(day)) for day in draw.integers(0, 1_000, ROWS)]
    stays = draw.integers(1, 15, ROWS)
    more = {
        "age": years,
        "birth_date": [datetime.date(2007 - int(age), 1 + int(who) % 12, 1 + int(who) % 28)
                       for age, who in zip(years, person, strict=True)],
        "admission_date": came,
        "discharge_date": [day + datetime.timedelta(days=int(stay)) for day, stay in zip(came, stays, strict=True)],
        "zip": np.array(["02134", "10001", "60614", "03601", "89301", "73301"])[person % 6],
        "phone": [f"212-555-{who % 10_000:04d}" for who in person],
    }  # fmt: skip
    table = table.drop_columns(["age"])
    for name, cells in more.items():
        table = table.append_column(name, pa.array(cells))
    return table


def planted(text, column="readmitted"):
    table = encounters()
    cells = table[column].to_pylist()
    cells[7] = [*cells[7], text] if isinstance(cells[7], list) else text
    return table.set_column(table.column_names.index(column), column, pa.array(cells))


def checked(table, policy):
    release = sudare.anonymize(table, policy, seed=1)
    return safe_harbor(sudare.report(release, table, policy).figures)


@pytest.fixture(scope="module")
def policy():
    return yaml.safe_load(sudare.draft(encounters(), preset="hipaa-safe-harbor"))


def test_a_release_under_the_preset_is_met_by_its_content(policy):
    found = checked(encounters(), policy)
    assert [item.verdict for item in found] == [MET] * 18
    assert all("cells in" in item.seen for item in found)


@pytest.mark.parametrize(("text", "rules"), PLANTED.items())
def test_one_cell_that_tells_is_not_met(policy, text, rules):
    found = checked(planted(text), policy)
    assert {number for number, item in enumerate(found, 1) if item.verdict == UNMET} == rules
    for number in rules:
        assert "readmitted holds" in found[number - 1].seen
        assert "in 1 record." in found[number - 1].seen
        assert text not in found[number - 1].seen


@pytest.mark.parametrize(("column", "rule"), [
    ("age", 3), ("birth_date", 3), ("admission_date", 3), ("zip", 2),
])  # fmt: skip
def test_each_transformation_is_needed(policy, column, rule):
    without = {key: value for key, value in policy["columns"][column].items() if key not in ("transform", "hierarchy")}
    changed = {**policy, "columns": {**policy["columns"], column: without}}
    found = checked(encounters(), changed)
    assert found[rule - 1].verdict == UNMET
    assert column in found[rule - 1].seen
