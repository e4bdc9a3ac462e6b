"""What leaves by an untouched draft: of the numbers of patients and visits, none."""

import re

import pytest
import yaml

import sudare
from sudare.datasets import diabetes
from sudare.reports.checklists import MET, safe_harbor

NAMES = {
    "as the source calls them": ("encounter_id", "patient_nbr"),
    "as others do": ("case_no", "pat_no"),
    "without meaning": ("foo", "bar"),
    "misleading": ("weight_code", "value"),
}


def visits(names, rows=3_000):
    """Return visits of the Diabetes table, those of people with several first."""
    table = diabetes().drop_columns(["diagnoses", "drugs"])
    table = table.rename_columns([*names, *table.column_names[2:]])
    return table.slice(0, rows)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_no_number_of_a_patient_or_visit_leaves_by_an_untouched_draft(names, tmp_path):
    table = visits(names)
    draft = yaml.safe_load(sudare.draft(table))
    assert {draft["columns"][name]["role"] for name in names} == {"identifier", "subject"}
    assert draft["require"][0]["count"] == "subjects"
    sudare.anonymize(table, draft, out=tmp_path / "release.csv", seed=1)
    release = tmp_path / "release.csv"
    own = {str(number) for name in names for number in table[name].to_pylist() if number >= 10_000}
    assert len(own) > 4_000
    assert not own & set(re.findall(r"\d+", release.read_text()))
    assert not own & set(re.findall(r"\d+", release.with_name("release.csv.sudare.json").read_text()))
    page = sudare.report(release, table, draft)
    assert not own & set(re.findall(r"\d{5,}", page.html))
    assert safe_harbor(page.figures)[7].verdict == MET
