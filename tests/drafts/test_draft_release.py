"""What leaves by an untouched draft: of the numbers of patients and visits, none."""

import re

import pyarrow as pa
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


def test_sensitive_sets_are_drafted_as_such_and_released():
    sets = [[f"d{row % 19}", f"e{row % 7}", *(["flu"] if row % 5 < 2 else [])] for row in range(100)]
    ages = [20 + row % 37 for row in range(100)]
    for cells, separator in ((pa.array(sets), None), (pa.array([";".join(each) for each in sets]), ";")):
        table = pa.table({"age": ages, "diagnoses": cells})
        text = sudare.draft(table)
        policy = sudare.load_policy(yaml.safe_load(text))
        spec = policy.columns["diagnoses"]
        assert (spec.role, spec.kind, spec.separator) == ("sensitive", "items", separator)
        assert "sensitive by its name" in text and "km-anonymity" not in text
        [promise] = [each for each in policy.require if each.model == "l-diversity"]
        assert (promise.variant, promise.l) == ("frequency", 2)  # 40 of 100 hold one item
        assert all(each["holds"] for each in sudare.anonymize(table, policy).certificate["guarantees"])


def test_sets_that_no_promise_fits_are_quasi_identifiers_with_the_true_reason():
    ages, most = list(range(20, 60)), [["flu", f"d{row % 7}"] for row in range(40)]
    text = sudare.draft(pa.table({"age": ages, "diagnoses": pa.array(most)}))
    assert "more than half of the records hold one item" in " ".join(text.replace("#", "").split())
    several = pa.table(
        {
            "patient_id": [row // 4 for row in range(40)],
            "age": [20 + row // 4 for row in range(40)],
            "diagnoses": pa.array([[f"d{row % 7}"] for row in range(40)]),
        }
    )
    told = sudare.draft(several)
    assert "counts records, and here people are counted" in " ".join(told.replace("#", "").split())
    for each in (text, told):
        assert yaml.safe_load(each)["columns"]["diagnoses"]["role"] == "quasi"
