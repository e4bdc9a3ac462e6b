"""Presets: the usual draft with transformations and promises for a purpose."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings

import sudare
from sudare.core.errors import ParameterError
from sudare.drafts import PRESETS, draft_policy, explain_policy, find_preset
from sudare.policy import Policy

from .hospital import hospital
from .test_draft_properties import FREE, SHAPES, drafted, tables

AREAS = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split()  # noqa: SIM905


def patients(rows=400):
    """Return stays with what the eighteen identifiers are about."""
    draw = np.random.default_rng(18)
    person = np.arange(rows) // 2
    born = [datetime.date(1925, 1, 1) + datetime.timedelta(days=int(who) * 7919 % 29_000) for who in person]
    came = [datetime.date(2019, 1, 1) + datetime.timedelta(days=int(days)) for days in draw.integers(0, 700, rows)]
    stays = draw.integers(1, 15, rows)
    return pa.table(
        {
            "patient_no": 100_003 + 37 * person,
            "birth_date": born,
            "admission_date": came,
            "discharge_date": [day + datetime.timedelta(days=int(stay)) for day, stay in zip(came, stays, strict=True)],
            "zip": np.array(["02134", "02139", "10001", "60614", "03601", "89301"])[person % 6],
            "city": np.array(["Boston", "Ely", "Keene"])[person % 3],
            "state": np.array(["MA", "NV", "NH"])[person % 3],
            "phone": [f"212-555-{who:04d}" for who in person],
            "age": [min(99, 2019 - day.year) for day in born],
            "diagnosis": draw.choice(["I10", "E11.9", "J45", "C50"], rows),
            "charge": draw.lognormal(9, 1, rows).round(2),
        }
    )


def preset(name, table):
    return Policy.parse(yaml.safe_load(draft_policy(table, preset=name)))


def steps(policy, column):
    return [{step.name: step.parameters()} for step in policy.columns[column].transform or ()]


def roles(policy):
    return {name: spec.role for name, spec in policy.columns.items()}


def test_safe_harbor():
    policy = preset("hipaa-safe-harbor", patients())
    assert roles(policy) == {
        "patient_no": "subject", "birth_date": "quasi", "admission_date": "quasi", "discharge_date": "quasi",
        "zip": "quasi", "city": "identifier", "state": "quasi", "phone": "identifier", "age": "quasi",
        "diagnosis": "sensitive", "charge": "quasi",
    }  # fmt: skip
    year = {"truncate": {"to": "year"}}
    assert steps(policy, "admission_date") == steps(policy, "discharge_date") == [year]
    # the last discharge is one of 2020; who was born before 1930 is older than 90 then
    assert steps(policy, "birth_date") == [year, {"bottom": {"at": 1930}}]
    assert steps(policy, "age") == [{"top": {"at": 89, "shows": 90}}]
    cut, small = steps(policy, "zip")
    assert cut == {"truncate": {"keep": 3}}
    assert small == {"replace": {"else": "keep"}}
    assert policy.columns["zip"].transform[1].step.values == dict.fromkeys(AREAS, "000")
    assert [(each.model, each.k, each.count) for each in policy.require] == [("k-anonymity", 3, "subjects")]
    text = draft_policy(patients(), preset="hipaa-safe-harbor")
    assert "Safe Harbor itself asks for no k" in text
    assert "90 means 90 or older" in text


def test_a_number_of_records_has_its_alternative_as_a_comment():
    table = patients().drop_columns(["patient_no"]).append_column("mrn", pa.array(np.arange(400) * 37 + 10**6))
    text = draft_policy(table, preset="hipaa-safe-harbor")
    assert "#   mrn: {role: identifier, transform: {pseudonym: {key: {env: SUDARE_KEY}}}}" in text
    assert "164.514(c)" in text
    assert roles(Policy.parse(yaml.safe_load(text)))["mrn"] == "identifier"


@pytest.mark.parametrize(
    ("codes", "role", "told"),
    [
        ([2134, 10001, 60614, 89301], "identifier", "have leading zeros been lost?"),
        (["2134", "10001", "60614", "89301"], "identifier", "have leading zeros been lost?"),
        ([12134, 10001, 60614, 89301], "quasi", "are codes with a leading zero missing?"),
        (["02134-1234", "10001-0001", "60614-2222", "89301-1111"], "quasi", "17 areas"),
        (["021", "100", "606", "893"], "quasi", "17 areas"),
        (["SW1A 1AA", "EC1A 1BB", "W1A 0AX", "M1 1AE"], "identifier", "no ZIP codes of five digits"),
    ],
)
def test_zip_codes_are_looked_at(codes, role, told):
    table = pa.table({"zip": [codes[row % 4] for row in range(80)], "age": [20 + row % 40 for row in range(80)]})
    text = draft_policy(table, preset="hipaa-safe-harbor")
    assert told in " ".join(text.replace("#", "").split())
    assert roles(Policy.parse(yaml.safe_load(text)))["zip"] == role


def test_years_and_texts():
    table = pa.table({
        "birth_year": [1925 + row % 60 for row in range(200)],
        "age_group": [["20-39", "40-59", "60-79", "80+"][row % 4] for row in range(200)],
        "visit_date": [datetime.date(2010, 1 + row % 12, 1 + row % 28) for row in range(200)],
    })  # fmt: skip
    text = draft_policy(table, preset="hipaa-safe-harbor")
    policy = Policy.parse(yaml.safe_load(text))
    assert steps(policy, "birth_year") == [{"bottom": {"at": 1920}}]
    assert "are all ages above 89 in one group" in " ".join(text.replace("#", "").split())


def test_survey():
    table = patients().append_column("pweight", pa.array(np.random.default_rng(1).uniform(200, 900, 400)))
    table = table.rename_columns(["survey_weight" if name == "pweight" else name for name in table.column_names])
    policy = preset("survey", table)
    assert [*steps(policy, "charge")] == [
        {"top": {"share": 0.005}}, {"bottom": {"share": 0.005}}, {"round": {"to": 100, "how": "nearest"}},
    ]  # fmt: skip
    assert policy.columns["survey_weight"].role == "insensitive"
    assert steps(policy, "survey_weight") == [{"round": {"to": 1, "how": "nearest"}}]
    assert policy.columns["age"].hierarchy.builtin == "ages"
    assert policy.require[0].k == 3
    assert "# sample: {share: 0.5, per: subject}" in draft_policy(table, preset="survey")


def test_research():
    policy = preset("gdpr-research", patients())
    assert steps(policy, "patient_no") == [{"pseudonym": {"form": "hex"}}]
    assert policy.columns["patient_no"].transform[0].step.key.env == "SUDARE_KEY"
    assert steps(policy, "admission_date") == [{"truncate": {"to": "month"}}]
    assert steps(policy, "birth_date") == [{"truncate": {"to": "year"}}]
    assert (policy.require[0].k, policy.require[0].count) == (5, "subjects")
    assert policy.require[1].model == "l-diversity"
    assert policy.about.purpose.startswith("To be filled in")
    assert policy.about.legal_basis.startswith("To be filled in")
    assert "phone" in policy.named("identifier")


def test_a_person_with_one_record_has_a_pseudonym_for_other_tables():
    table = patients().drop_columns(["patient_no"]).append_column("patient_id", pa.array(np.arange(400) * 37 + 10**6))
    written = yaml.safe_load(draft_policy(table, preset="gdpr-research"))
    assert written["columns"]["patient_id"]["role"] == "identifier"
    policy = preset("gdpr-research", table)
    assert steps(policy, "patient_id") == [{"pseudonym": {"form": "hex"}}]


@pytest.mark.parametrize("name", PRESETS)
def test_tables_that_are_known(name):
    for table in (sudare.datasets.adult("test"), sudare.datasets.diabetes(), hospital(1_000), patients()):
        assert list(preset(name, table).columns) == table.column_names
        assert max(map(len, draft_policy(table, preset=name).splitlines())) <= 120
        explained = explain_policy(table, preset=name)
        assert explained.policy == draft_policy(table, preset=name)
        assert {each.column: each.role for each in explained.columns} == roles(preset(name, table))


@pytest.mark.parametrize(("wrong", "near"), [
    ("hipa-safe-harbour", "hipaa-safe-harbor"), ("surveys", "survey"), ("gdpr", "gdpr-research"),
    ("hippa", "hipaa-safe-harbor"), ("", "use one of hipaa-safe-harbor, survey, gdpr-research"),
])  # fmt: skip
def test_a_wrong_name_is_told_with_the_nearest(wrong, near):
    with pytest.raises(ParameterError, match=near):
        find_preset(wrong)
    with pytest.raises(ParameterError, match="there is no preset"):
        sudare.draft(patients(), preset=wrong)


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=60, deadline=None)
@given(table=tables(FREE))
def test_a_preset_parses_and_releases_nothing_that_the_draft_does_not(name, table):
    plain = drafted(table)
    if plain is None:
        return
    policy = preset(name, table)
    assert list(policy.columns) == table.column_names
    for column, spec in Policy.parse(yaml.safe_load(plain)).columns.items():
        if spec.role in ("identifier", "subject") and name != "survey":
            # the number of a person may be released as a pseudonym, where no other column names people
            known = name == "gdpr-research" and policy.shows_pseudonym(column)
            assert known or policy.columns[column].role == spec.role


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=60, deadline=None)
@given(table=tables(SHAPES))
def test_a_preset_shows_no_cell(name, table):
    if drafted(table) is None:
        return
    body = draft_policy(table, preset=name)
    for column in sorted(table.column_names, key=len, reverse=True):
        body = body.replace(column, "") if column else body
    for cells in table.columns:
        flat = [item for cell in cells.to_pylist() for item in (cell if isinstance(cell, list) else [cell])]
        shown = [
            cell for cell in flat if len(str(cell)) > 4 and cell not in (None, "unknown", False) and str(cell) in body
        ]
        assert not shown


def asked(table, name="hipaa-safe-harbor"):
    return explain_policy(table, preset=name).questions


def test_questions_of_a_preset_are_counted_with_those_of_the_draft():
    table = pa.table({
        "zip": [["02134", "10001", "60614", "89301"][row % 4] for row in range(200)],
        "age_group": [["20-39", "40-59", "60-79", "80+"][row // 7 % 4] for row in range(200)],
    })  # fmt: skip
    first, second = asked(table)
    assert first.startswith("Column 'zip': are these ZIP codes? Postal codes of other countries")
    assert second.startswith("Column 'age_group': are all ages above 89 in one group")
    assert [explained.partition("Question: ")[2] for explained in
            (each.why for each in explain_policy(table, preset="hipaa-safe-harbor").columns)] == [
        first.partition(": ")[2], second.partition(": ")[2]]  # fmt: skip
    assert not asked(table, "survey")
    [about] = asked(table, "gdpr-research")
    assert about.startswith("What are the purpose")
    written = draft_policy(table, preset="gdpr-research")
    assert about[5:] in " ".join(written.replace("#", "").split())


@pytest.mark.parametrize("codes", [
    ["2139", "10001", "60614", "89301"], ["02139", "2139", "60614", "89301"], ["2139", "10001-1234", "60614", "89301"],
    ["501", "10001", "60614", "89301"], [2139, 10001, 60614, 89301], ["2139", "2134", "2115", "2116"],
])  # fmt: skip
def test_zip_codes_without_their_zeros_are_asked_about_and_not_cut(codes):
    table = pa.table({"zip": [codes[row % 4] for row in range(80)], "age": [20 + row % 40 for row in range(80)]})
    [question] = asked(table)
    assert question.startswith("Column 'zip': have leading zeros been lost?")
    assert ("Write them as 02134 in the file" in question) == isinstance(codes[0], str)
    policy = preset("hipaa-safe-harbor", table)
    assert roles(policy)["zip"] == "identifier"
    assert not policy.columns["zip"].transform


def test_areas_of_three_digits_may_be_zip_codes_without_two_zeros():
    table = pa.table({"zip": [["601", "602", "610", "725"][row % 4] for row in range(80)], "age": [40, 50] * 40})
    [question] = asked(table)
    assert question.startswith("Column 'zip': are these areas of three digits? 601 may be 00601")
