"""Drafts of wide tables: few quasi-identifiers, a reason beside each column, and a release that is worth having."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from drafts.hospital import CONSTANT, DRUGS, IDENTIFIERS, hospital
from sudare.core.errors import DataError
from sudare.drafts import draft_policy
from sudare.drafts.clinical_values import looks_clinical
from sudare.drafts.column_name_matches import read_name
from sudare.drafts.duplicated_columns import find_duplicates
from sudare.drafts.proposals import MOST_QUASI, propose
from sudare.drafts.telling_values import TellingValues
from sudare.policy import Policy

TABLE = hospital()


def test_a_wide_table_has_few_quasi_identifiers_and_its_details_are_sensitive():
    found = propose(TABLE)
    quasi = found.named("quasi")
    assert {"race", "gender", "age", "admission_type_id", "time_in_hospital"} <= set(quasi)
    assert len(quasi) <= MOST_QUASI
    clinical = {*DRUGS, "diag_1", "A1Cresult", "max_serum", "num_procedures", "number_inpatient", "readmitted"}
    assert clinical <= set(found.named("sensitive"))
    assert {found.words[name] for name in CONSTANT} == {"drop"}
    assert found.words["age_group"] == "drop"
    assert "follows from 'age', which is released" in found.guesses["age_group"].why
    assert found.words["patient_nbr"] == "subject"


def test_the_header_says_what_an_intruder_may_do_with_unchanged_columns():
    text = " ".join(draft_policy(TABLE).replace("# ", "").split())
    assert "columns are released unchanged. Together they single out" in text
    assert "sudare risk DATA --policy POLICY --columns" in text


def test_the_draft_as_it_is_gives_a_release_with_little_loss(tmp_path):
    draft = yaml.safe_load(draft_policy(TABLE))
    assert draft["require"][0]["k"] == 5
    release = sudare.anonymize(TABLE, draft, out=tmp_path / "release.csv", seed=1)
    loss = [each["gcp"] for each in release.certificate["loss_by_column"].values()]
    assert sum(loss) / len(loss) <= 0.25
    assert max(loss) < 0.5  # each keeps most of its detail
    shown = (tmp_path / "release.csv").read_text()
    own = {str(number) for name in IDENTIFIERS for number in TABLE[name].to_pylist()}
    assert not own & set(shown.replace("\n", ",").split(","))
    assert all(each["holds"] for each in release.certificate["guarantees"])


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_unclear_column_that_gives_a_sensitive_one_away_is_not_released(wrong):
    """One record that disagrees is enough for two values in a group."""
    on_drugs = np.array(TABLE["diabetesMed"].to_pylist()) == "Yes"
    changed = on_drugs & (np.random.default_rng(4).random(len(on_drugs)) < 0.5)
    changed[np.flatnonzero(~on_drugs)[:wrong]] = True
    found = propose(TABLE.append_column("change", pa.array(np.where(changed, "Ch", "No"))))
    assert found.words["change"] == ("quasi" if wrong else "drop")
    if not wrong:
        assert "one of its values gives 'diabetesMed' away" in found.guesses["change"].why
    assert found.words["payer_code"] == "quasi"  # as unclear, but it gives nothing away


def test_telling_values_are_frequent_and_not_so_by_chance():
    draw = np.random.default_rng(5)
    secret = draw.integers(0, 2, 4_000)
    cells = {
        "by_chance": np.arange(4_000) // 12,  # groups too small to tell
        "rare": np.where((secret == 1) & (np.arange(4_000) < 200), "a", "b"),
        "telling": np.where((secret == 1) & (np.arange(4_000) < 600), "a", "b"),
        "all_alike": np.full(4_000, "a"),
        "secret": secret,
        "skewed": np.where(np.arange(4_000) < 600, 0, draw.integers(0, 20, 4_000) == 0),
        "sets": pa.array([["a"]] * 4_000),
    }
    table = pa.table({name: pa.array(values) for name, values in cells.items()})
    telling = TellingValues(table, [*list(cells)[:4], "sets"], ["secret", "skewed"])
    asked = ("by_chance", "rare", "telling", "all_alike", "sets")
    assert {name: telling.gives_away(name) for name in asked} == dict.fromkeys(asked) | {"telling": "secret"}


def test_a_constant_column_is_not_released_whatever_its_name():
    found = propose(TABLE.append_column("glipizide_dose", pa.array(["No"] * TABLE.num_rows)))
    assert found.words["glipizide_dose"] == "drop"
    assert "constant" in found.guesses["glipizide_dose"].why


def test_a_count_of_diagnoses_holds_no_codes():
    assert "codes" not in propose(TABLE).guesses["number_diagnoses"].why


def test_rare_values_have_a_promise_that_is_possible():
    promises = {each.column: each for each in Policy.parse(yaml.safe_load(draft_policy(TABLE))).require[1:]}
    assert promises["drug00"].model == "t-closeness"
    assert (promises["readmitted"].model, promises["readmitted"].l) == ("l-diversity", 2)
    assert (promises["diag_1"].model, promises["diag_1"].l) == ("l-diversity", 3)


def test_the_most_known_columns_stay_when_there_is_no_room():
    draw = np.random.default_rng(5)
    known = {"age": draw.integers(0, 100, 2_000), "sex": draw.choice(["f", "m"], 2_000)}
    others = {f"country_{number}": draw.integers(0, 4, 2_000) for number in range(20)}
    unclear = {f"item_{number}": draw.integers(0, 4, 2_000) for number in range(30)}
    found = propose(pa.table(unclear | others | known))
    assert {"age", "sex"} <= set(found.named("quasi"))
    assert len(found.named("quasi")) == MOST_QUASI
    assert not found.named("sensitive")  # nothing is released unchanged only because there is no room for it


def test_what_can_be_released_in_another_form_is_to_be_transformed():
    draw = np.random.default_rng(6)
    day = datetime.date(2020, 1, 1)
    table = pa.table({f"item_{number}": draw.integers(0, 4, 2_000) for number in range(12)} | {
        "age": draw.integers(0, 100, 2_000),
        "glucose": draw.normal(100, 20, 2_000).round(4),
        "seen": [day + datetime.timedelta(int(days)) for days in draw.integers(0, 900, 2_000)],
    })  # fmt: skip
    found = propose(table)
    assert found.words["glucose"] == found.words["seen"] == "transform"
    assert "round them, then {role: sensitive}" in found.guesses["glucose"].why
    policy = Policy.parse(yaml.safe_load(draft_policy(table)))
    assert policy.columns["glucose"].role == policy.columns["seen"].role == "identifier"


def test_constants_alone_still_give_a_policy():
    table = pa.table({f"item_{number}": ["x"] * 40 for number in range(20)})
    assert len(Policy.parse(yaml.safe_load(draft_policy(table))).quasi) == MOST_QUASI


def doubled(rows=3_000):
    draw = np.random.default_rng(9)
    code, days = draw.integers(0, 12, rows), draw.integers(0, 20_000, rows)
    wrong = np.where(draw.random(rows) < 0.005, (code + 1) % 12, code)
    inches = draw.normal(67, 4, rows)
    return pa.table({
        "code": code, "label": np.array(list("abcdefghijkl"))[wrong], "half": code // 2, "days": days,
        "years": days // 365, "inches": inches.round(2), "cm": (2.54 * inches).round(1),
        "other": draw.integers(0, 12, rows), "rare": np.arange(rows) == 7,
    })  # fmt: skip


def test_duplicated_columns():
    table = doubled()
    found = find_duplicates(table, table.column_names)
    links = {(name, each.of): each for name, others in found.items() for each in others}
    assert links["label", "code"].same and links["code", "label"].same
    assert not links["half", "code"].same
    assert links["years", "days"].words == "follows from 'days'"
    assert not links["cm", "inches"].exact
    assert not {name for pair in links for name in pair} & {"other", "rare"}


def test_of_two_columns_that_say_the_same_one_is_released():
    policy = Policy.parse(yaml.safe_load(draft_policy(doubled())))
    assert policy.columns["code"].role == "quasi"
    assert policy.columns["label"].role == "identifier"


def test_a_column_that_gives_a_sensitive_one_away_is_not_released():
    draw = np.random.default_rng(3)
    disease = draw.integers(0, 9, 2_000)
    table = pa.table({"age": draw.integers(0, 90, 2_000), "diagnosis": disease, "chapter": disease // 3})
    found = propose(table)
    assert (found.words["diagnosis"], found.words["chapter"]) == ("sensitive", "drop")
    assert "would give it away" in found.guesses["chapter"].why


def test_a_sensitive_column_that_undoes_ranges_is_not_released():
    age = np.random.default_rng(3).integers(0, 90, 2_000)
    found = propose(pa.table({"age": age, "score": age // 4}))
    assert (found.words["age"], found.words["score"]) == ("quasi", "transform")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (["No", "Steady", "Up", "Down"], "dose"),
        (["No", "Yes"], ""),
        (["Norm", ">7", ">8"], "test"),
        (["high", "low"], ""),
        ([f"{number:03d}.1" for number in range(250, 280)] + ["V57", "E909"], "ICD-9"),
        ([f"{number:03d}" for number in range(250, 280)], ""),
        ([f"E11.{number}" for number in range(30)], "ICD-10"),
        ([f"A{number}" for number in range(10, 60)], ""),
        ([f"A10BA{number:02d}" for number in range(30)], "ATC"),
        ([], ""),
    ],
)
def test_clinical_values(values, what):
    assert what in looks_clinical(values) if what else looks_clinical(values) == ""


@pytest.mark.parametrize(
    "name", ["A1Cresult", "HbA1c", "glucose_mg", "num_procedures", "serum", "Blutzucker", "血糖値"]
)
def test_clinical_names(name):
    assert read_name(name).clinical and read_name(name).sensitive


@pytest.mark.parametrize("name", ["labor_union", "age", "class1", "data1c", "gluten"])
def test_other_names(name):
    assert not read_name(name).clinical


def test_an_explanation_has_a_line_for_each_column_and_shows_no_value():
    found = sudare.explain(TABLE)
    assert found.policy == sudare.draft(TABLE)
    assert [each.column for each in found.columns] == TABLE.column_names
    by_name = {each.column: each for each in found.columns}
    assert by_name["encounter_id"].alone == 1 and by_name["encounter_id"].singles_out is None
    assert 0 < by_name["diag_1"].singles_out < 1
    assert sum(each.adds for each in found.columns if each.adds is not None) <= 1
    assert by_name["age_group"].repeats == ("follows from 'age'",)
    assert str(found).splitlines()[0].split()[:3] == ["column", "proposal", "distinct"]
    for text in (str(found), str(found.to_dict())):
        assert not [number for number in TABLE["patient_nbr"].to_pylist() if str(number) in text]


def test_a_draft_is_the_same_each_time():
    assert draft_policy(TABLE) == draft_policy(pa.table(TABLE.to_pydict(), schema=TABLE.schema))


@settings(max_examples=40, deadline=None)
@given(st.integers(13, 40), st.integers(1, 60), st.integers(1, 50), st.integers(0, 2**32))
def test_no_table_has_more_than_so_many(columns, rows, values, seed):
    draw = np.random.default_rng(seed)
    names = draw.permutation([f"{word}_{number}" for word in ("age", "item", "glucose") for number in range(14)])
    table = pa.table({name: draw.integers(0, values, rows) for name in names[:columns]})
    try:
        policy = Policy.parse(yaml.safe_load(draft_policy(table)))
    except DataError as error:
        assert "every column looks like an identifier" in str(error)
        return
    assert 1 <= len(policy.quasi) <= MOST_QUASI
    assert not policy.named("insensitive")
    assert list(policy.columns) == table.column_names
