"""A release and its data belong together after transformations, too, and what does not is refused."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.core.progress import silent
from sudare.policy import Policy
from sudare.releases.pairing import open_pair
from sudare.sources.repeated_steps import repeated_steps, untransformed

from .every_step import KEY, NAMED, RULES, people, rules


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SUDARE_TEST_KEY", KEY)


def policy(given=RULES):
    return Policy.parse(given)


WAYS = {
    "visit": "repeated", "age": "repeated", "zip": "repeated", "height": "changed", "weight": "changed",
    "grade": "permuted", "town": "permuted", "admitted": "repeated", "born": "repeated", "pay": "repeated",
    "debt": "repeated", "beds": "permuted", "floor": "repeated", "ward": "repeated", "drugs": "repeated",
    "note": "repeated", "disease": "repeated",
}  # fmt: skip


def test_each_step_is_repeated_as_far_as_it_can_be():
    found = repeated_steps(policy())
    assert found.ways == WAYS
    assert found.notes == ()
    assert found.policy.columns["height"].transform is None
    assert [step.name for step in found.policy.columns["pay"].transform] == ["top", "round"]


def test_without_its_key_a_column_is_left_out_and_dates_are_as_they_were(monkeypatch):
    monkeypatch.delenv("SUDARE_TEST_KEY")
    found = repeated_steps(policy())
    assert {**found.ways} == {**WAYS, "visit": "unknown", "drugs": "unknown", "admitted": "changed"}
    assert found.policy.columns["admitted"].transform is None
    assert [note.split("'")[1] for note in found.notes] == ["visit", "admitted", "drugs"]


def test_another_key_is_no_key():
    entries = [{"column": "visit", "key": "00000000"}]
    found = repeated_steps(policy(), entries)
    assert found.ways["visit"] == "unknown"
    assert "is another one now" in found.notes[0]
    assert "(00000000)" in found.notes[0]
    assert KEY not in str(found.notes)


@pytest.mark.parametrize(
    ("steps", "way", "kept"),
    [
        ([{"swap": 0.1}, {"round": 5}], "permuted", ["round"]),
        ([{"round": 5}, {"swap": 0.1}, {"noise": 0.1}], "changed", ["round"]),
        ([{"noise": 0.1}, {"round": 5}, {"top": 9}], "changed", ["round", "top"]),
        ([{"round": {"to": 5, "how": "random"}}, {"replace": {"values": {"5": "a"}, "else": "keep"}}], "unknown", []),
        ([{"noise": 0.1}, {"pseudonym": {"key": NAMED}}], "unknown", []),
        ([{"swap": 0.1}, {"band": 10}], "permuted", ["band"]),
    ],
)
def test_steps_in_a_row(steps, way, kept):
    found = repeated_steps(policy(rules(beds={"role": "insensitive", "transform": steps})))
    assert found.ways["beds"] == way
    assert [step.name for step in found.policy.columns["beds"].transform or ()] == kept


def test_dates_that_moved_to_others_before_they_were_shifted_cannot_be_compared():
    steps = [{"swap": 0.1}, {"shift": {"days": 9, "key": NAMED}}]
    found = repeated_steps(policy(rules(admitted={"role": "insensitive", "transform": steps})))
    assert found.ways["admitted"] == "changed"


def test_a_limit_that_was_found_is_taken_from_the_certificate():
    entries = [{"column": "pay", "figures": {"limit": 50_000}}, {"column": "pay"}]
    found = repeated_steps(policy(), entries).policy.columns["pay"].transform
    assert (found[0].top.at, found[0].top.share) == (50_000, None)


def test_the_table_before_has_no_step_and_nothing_that_is_said_of_transformed_values():
    columns = {"zip": {"role": "quasi", "hierarchy": {"prefix": [2]}, "transform": {"truncate": {"keep": 3}}}}
    found = untransformed(policy(rules(**columns)))
    assert not found.transforms
    assert found.columns["zip"].hierarchy is None
    assert found.columns["zip"].role == "quasi"
    assert found.quasi == policy().quasi


# -- pairs ------------------------------------------------------------------------------------------------------------


def pair(release, data, given=RULES):
    return open_pair(release, data, policy(given), silent)


def test_release_and_data_are_paired_column_by_column():
    data = people()
    release = sudare.anonymize(data, RULES, seed=1)
    found = pair(release, data)
    assert found.ways == WAYS
    assert found.notes == ()
    # raw and transformed: the age as it was, and below the limit
    raw, done = found.raw["age"], found.transformed["age"]
    assert raw.values.to_pylist()[-1] == 99
    assert done.values.to_pylist()[-1] == 89
    assert not found.sampled
    assert found.rows_in == found.rows == 800


@pytest.mark.parametrize("name", ["town", "beds", "grade", "floor", "ward", "born", "visit", "debt"])
def test_values_that_the_data_does_not_have_are_refused(name):
    """Of a swapped or shuffled column, too: its values are those of the data."""
    data = people()
    release = sudare.anonymize(data, RULES, seed=1)
    place, rows = release.data.column_names.index(name), release.data.num_rows
    cells = release.data[name].to_pylist()
    other = [cells[0]] * rows  # one of them, and more often than the data has it
    forged = release.data.set_column(place, name, pa.array(other, release.data.schema.field(name).type))
    with pytest.raises(DataError, match=f"column '{name}' shows values that are not those of the data"):
        pair(sudare.Release(release.certificate, forged), data)


def test_noise_may_show_values_that_nobody_has():
    data = people()
    release = sudare.anonymize(data, RULES, seed=1)
    assert not set(release.data["height"].to_pylist()) <= set(data["height"].to_pylist())
    assert not pair(release, data).compares("height")


def test_the_number_of_sampled_records_is_that_of_a_sample():
    sampled = {**RULES, "sample": {"share": 0.5}}
    data = people()
    release = sudare.anonymize(data, sampled, seed=1)
    found = pair(release, data, sampled)
    assert found.sampled
    assert found.rows_in < found.rows == 800
    with pytest.raises(DataError, match=r"sampled records, which are no share of 0\.5 of the 200"):
        pair(release, data.slice(0, 200), sampled)
    with pytest.raises(DataError, match="which are no share of"):
        pair(release, pa.concat_tables([data] * 4), sampled)


def test_without_the_key_the_release_still_belongs_to_its_data(monkeypatch):
    data = people()
    release = sudare.anonymize(data, RULES, seed=1)
    monkeypatch.setenv("SUDARE_TEST_KEY", hashlib.sha256(b"another").hexdigest())
    found = pair(release, data)
    assert found.uncompared == ["visit", "drugs"]
    assert "visit" not in found.columns
    assert len(found.notes) == 3
