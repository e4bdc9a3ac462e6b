"""Risk before and after transformations: raw before, and after by the nearest record where cells were drawn."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.releases import Anything, Interval, parse_cell

from .every_step import KEY, NAMED, RULES, people, rules


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SUDARE_TEST_KEY", KEY)


NOISY = {
    "columns": {
        "visit": {"role": "identifier", "transform": {"pseudonym": {"key": NAMED}}},
        "sex": {"role": "quasi"},
        "age": {"role": "quasi", "kind": "numeric", "transform": {"noise": {"sd": 0.4}}},
        "weight": {"role": "quasi", "kind": "numeric", "transform": {"swap": 0.2}},
        "disease": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 3}],
}


def ends(cell):
    read = parse_cell(cell)
    if isinstance(read, Anything):
        return -np.inf, np.inf
    return (float(read.low), float(read.high)) if isinstance(read, Interval) else (float(read), float(read))


def naive(data, release, own):
    """Link everybody with the nearest records by plain loops; ``own`` is the row of each person in the release."""
    shown = release.data.to_pylist()
    right = []
    spread = {name: np.std(data[name].to_numpy()) for name in ("age", "weight")}
    for person, record in enumerate(data.to_pylist()):
        far = []
        for row in shown:
            sexes = parse_cell(row["sex"])
            fits = isinstance(sexes, Anything) or record["sex"] in getattr(sexes, "members", (sexes,))
            apart = 0.0
            for name in ("age", "weight"):
                low, high = ends(row[name])
                apart += (max(low - record[name], record[name] - high, 0.0) / spread[name]) ** 2
            far.append(apart if fits else np.inf)
        nearest = np.flatnonzero(np.asarray(far) <= min(far) + 1e-9)
        right.append((own[person] in nearest) / len(nearest))
    return float(np.mean(right))


def test_the_attack_takes_the_nearest_record_and_pseudonyms_say_which_one_is_right():
    """With the key, pseudonyms tell whose records are whose: then the measured success is the true one."""
    data = people(300).select(["visit", "sex", "age", "weight", "disease"])
    release = sudare.anonymize(data, NOISY, seed=2)
    again = sudare.anonymize(data, {**NOISY, "release": {"order": "keep"}}, seed=3).data["visit"].to_pylist()
    own = [release.data["visit"].to_pylist().index(each) for each in again]
    found = sudare.risk(data, NOISY, release=release)
    assert found.after.linkage.linked.success == pytest.approx(naive(data, release, own))
    assert found.after.linkage.linked.success < found.before.linkage.linked.success
    assert any("upper bounds" in note and "'age', 'weight'" in note for note in found.notes)
    assert found.inference[0].after.held_out is None


def test_without_pairs_the_success_is_an_upper_bound(monkeypatch):
    data = people(300).select(["visit", "sex", "age", "weight", "disease"])
    release = sudare.anonymize(data, NOISY, seed=2)
    known = sudare.risk(data, NOISY, release=release).after.linkage.linked.success
    monkeypatch.delenv("SUDARE_TEST_KEY")
    found = sudare.risk(data, NOISY, release=release)
    assert found.after.linkage.linked.success >= known
    assert any("the key of 'visit' is not here" in note for note in found.notes)


def test_much_noise_hides_more_than_little():
    data = people(400).select(["visit", "sex", "age", "weight", "disease"])
    success = []
    for sd in (0.01, 3.0):
        columns = {**NOISY["columns"], "age": {"role": "quasi", "transform": {"noise": {"sd": sd}}}}
        given = {**NOISY, "columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
        release = sudare.anonymize(data, given, seed=2)
        success.append(sudare.risk(data, given, release=release).after.linkage.linked.success)
    assert success[1] < success[0] / 2


def test_before_is_the_table_as_it_is():
    data = people(400)
    raw = {**RULES, "columns": {name: {"role": spec["role"]} for name, spec in RULES["columns"].items()}}
    plain, found = sudare.risk(data, raw), sudare.risk(data, RULES)
    assert found.before.records == plain.before.records
    assert found.before.linkage == plain.before.linkage
    assert found.after is None
    assert found.transformed["pay"] == ["top", "round"]
    assert any("figures before are those of the table before that" in note for note in found.notes)


def test_no_key_is_needed_to_measure_a_table(monkeypatch):
    monkeypatch.delenv("SUDARE_TEST_KEY")
    assert sudare.risk(people(200), RULES).before.records.units == 200


def test_with_values_that_can_be_repeated_the_attack_is_the_usual_one():
    """Limits and first characters: an intruder does the same to what is known, and finds at most one in k."""
    data = people(500)
    release = sudare.anonymize(data, RULES, seed=1)
    found = sudare.risk(data, RULES, release=release)
    assert found.after.records.smallest >= 4
    assert 0 < found.after.linkage.linked.success <= 1 / 4
    assert not any("upper bounds" in note for note in found.notes)
    assert json.loads(json.dumps(found.to_dict()))["transformed"]["age"] == ["top"]


@pytest.mark.parametrize("columns", [["sex", "height"], ["beds", "grade"], ["sex", "admitted"], ["weight", "town"]])
@pytest.mark.parametrize("with_key", [True, False])
def test_any_released_column_may_be_known(columns, with_key, monkeypatch):
    data = people(300)
    release = sudare.anonymize(data, RULES, seed=1)
    if not with_key:
        monkeypatch.delenv("SUDARE_TEST_KEY")
    found = sudare.risk(data, RULES, release=release, columns=columns)
    assert found.after.linkage is not None
    assert 0 <= found.after.linkage.linked.success <= 1
    told = {each for note in found.notes if "does not use" in note for each in note.split("'")}
    assert told.isdisjoint(columns) or columns == ["weight", "town"]
    assert str(found)


def test_what_is_shuffled_or_behind_a_key_is_not_used(monkeypatch):
    data = people(300)
    release = sudare.anonymize(data, RULES, seed=1)
    monkeypatch.delenv("SUDARE_TEST_KEY")
    found = sudare.risk(data, RULES, release=release, columns=["visit", "town"])
    assert found.after.linkage is None
    assert found.criteria["linkability"]["after"] is None
    assert any("'town': these values stand in other records" in note for note in found.notes)
    assert any("'visit': these cells cannot be compared" in note for note in found.notes)
    assert found.after.records.units == found.released


def test_what_cannot_be_guessed_is_said_and_not_called_safe():
    data = people(300)
    given = rules(
        disease={"role": "sensitive"},
        beds={"role": "sensitive", "transform": {"noise": {"sd": 0.2}}},
        note={"role": "sensitive", "transform": "redact"},
        town={"role": "sensitive", "transform": "shuffle"},
    )
    found = sudare.risk(data, given, release=sudare.anonymize(data, given, seed=1))
    after = {each.target: each.after for each in found.inference}
    assert after["beds"] is None
    assert after["note"] is None
    assert after["disease"].held_out is not None
    assert after["town"].held_out is None
    assert set(found.not_inferred) == {"beds", "note"}
    assert "changed at random" in found.not_inferred["beds"]


def test_a_sample_has_fewer_records_than_the_data():
    data, given = people(600), {**RULES, "sample": {"share": 0.4}}
    release = sudare.anonymize(data, given, seed=1)
    found = sudare.risk(data, given, release=release)
    assert found.released == release.certificate["rows_out"]
    assert found.rows == 600
    gone = 600 - release.certificate["rows_in"]
    assert any(f"{gone} records are not in the sample" in note for note in found.notes)
    assert any("the release is a sample" in note for note in found.notes)
    assert found.after.linkage.linked.success <= 1 / 4


def test_a_population_is_not_transformed():
    data = people(300)
    release = sudare.anonymize(data, RULES, seed=1)
    found = sudare.risk(data, RULES, release=release, population=people(900))
    assert found.before.journalist is not None
    assert found.after.journalist is None
    assert any("journalist risk after release is not measured" in note for note in found.notes)
    untouched = rules(age={"role": "quasi", "kind": "numeric"}, zip=None)
    release = sudare.anonymize(data, untouched, seed=1)
    found = sudare.risk(data, untouched, release=release, population=people(900), columns=["sex", "age"])
    assert found.after.journalist is not None


def test_a_subject_as_a_pseudonym_counts_people():
    given = {
        **rules(patient={"role": "subject", "transform": {"pseudonym": {"key": NAMED}}}),
        "require": [{"model": "k-anonymity", "k": 4, "count": "subjects"}],
    }
    data = people(500)
    release = sudare.anonymize(data, given, seed=1)
    found = sudare.risk(data, given, release=release)
    assert found.after.people.smallest >= 4
    assert not any("numbers people separately" in note for note in found.notes)


def test_pairs_of_numbers_and_dates_in_a_file(tmp_path):
    """Everything is text in CSV: numbers, dates and empty cells are read back."""
    import pyarrow.csv

    data = people(400)
    pyarrow.csv.write_csv(data.drop_columns(["drugs"]), tmp_path / "people.csv")
    given = rules(drugs=None)
    release = tmp_path / "release.csv"
    sudare.anonymize(tmp_path / "people.csv", given, out=release, seed=1)
    found = sudare.risk(tmp_path / "people.csv", given, release=release, columns=["age", "height", "admitted"])
    assert 0 < found.after.linkage.linked.success <= 1
    assert isinstance(data, pa.Table)
