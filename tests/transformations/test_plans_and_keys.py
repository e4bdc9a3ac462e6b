"""Plans carry their lists and not their keys; a key that changed is noticed; no key is in any output."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyarrow import csv

import sudare
from sudare.core.errors import PolicyError

from .conftest import KEY

TABLE = pa.table(
    {
        "p": [f"p{each % 20}" for each in range(60)],
        "age": [20 + each % 30 for each in range(60)],
        "town": [f"t{each % 3}" for each in range(60)],
        "day": [f"2024-0{1 + each % 9}-11" for each in range(60)],
    }
)


def policy(key, **more):
    return {
        "columns": {
            "p": {"role": "identifier", "transform": {"pseudonym": {"key": key}}},
            "age": {"role": "quasi", "hierarchy": {"bands": [10]}, "transform": {"top": 45}},
            "town": {"role": "quasi", "hierarchy": "flat", "transform": {"replace": {"file": "towns.csv"}}},
            "day": {"role": "insensitive", "transform": {"shift": {"per": "p", "key": key}}},
        },
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "full-domain"},
        **more,
    }


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "towns.csv").write_text("from,to\nt0,north\nt1,north\nt2,south\n")
    (tmp_path / "study.key").write_text(KEY + "\n")
    (tmp_path / "study.key").chmod(0o600)
    (tmp_path / "policy.json").write_text(json.dumps(policy({"file": "study.key"})))
    csv.write_csv(TABLE, tmp_path / "data.csv")
    return tmp_path


def test_a_plan_transforms_other_records_in_the_same_way(folder):
    first = sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "one.csv")
    first.plan.save(folder / "plan.json")
    (folder / "towns.csv").unlink()  # the plan has it
    sudare.apply(folder / "plan.json", folder / "data.csv", out=folder / "two.csv")
    one, two = (
        csv.read_csv(folder / name).sort_by([("p", "ascending"), ("day", "ascending")])
        for name in ("one.csv", "two.csv")
    )
    assert one.equals(two)
    assert KEY not in (folder / "plan.json").read_text()


def test_a_key_that_changed_since_the_last_release_is_refused(folder):
    sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "january.csv")
    (folder / "study.key").write_text(KEY[::-1] + "\n")
    with pytest.raises(PolicyError, match="another key than that of the last release") as caught:
        sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "february.csv")
    assert len(caught.value.problems) == 2
    assert KEY[::-1] not in str(caught.value)
    assert not (folder / "february.csv").exists()
    release = sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "february.csv", new_key=True)
    assert "new-key" in [warning["kind"] for warning in release.certificate["warnings"]]
    sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "march.csv")


def test_lists_outside_of_the_folder_are_refused(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "towns.csv"
    elsewhere.write_text("from,to\nt0,north\n")
    given = policy({"file": "study.key"})
    given["columns"]["town"]["transform"] = {"replace": {"file": str(elsewhere)}}
    (folder / "policy.json").write_text(json.dumps(given))
    with pytest.raises(PolicyError, match="outside the folder of the policy"):
        sudare.load_policy(folder / "policy.json")
    sudare.load_policy(folder / "policy.json", allow_outside=True)


def test_a_policy_may_say_which_key_it_means(folder):
    (folder / "elsewhere").mkdir()
    first = sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "one.csv")
    known = first.certificate["transformations"][0]["key"]
    (folder / "policy.json").write_text(json.dumps(policy({"file": "study.key", "fingerprint": known})))
    sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "elsewhere" / "two.csv")
    (folder / "study.key").write_text(KEY[::-1] + "\n")
    with pytest.raises(PolicyError, match=f"is another key than the policy names.*not {known}") as caught:
        sudare.anonymize(folder / "data.csv", folder / "policy.json", out=folder / "elsewhere" / "three.csv")
    assert KEY[::-1] not in str(caught.value)


@pytest.mark.parametrize(
    "cells, lost",
    [(["2139", "10115", "601"], True), (["02139", "10115"], False), (["AB1", "C12"], False), (["12", "34"], False)],
)
def test_codes_that_lost_their_zeros_are_warned_of(cells, lost):
    table = pa.table({"zip": cells * 4, "q": ["a"] * 4 * len(cells)})
    given = {
        "columns": {"zip": {"role": "insensitive", "transform": {"truncate": 2}}, "q": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    kinds = [warning["kind"] for warning in sudare.anonymize(table, given).certificate["warnings"]]
    assert ("lost-zeros" in kinds) == lost
