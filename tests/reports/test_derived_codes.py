"""Pseudonyms in a report: no checklist takes them for new numbers, and no column is called unchanged that is not."""

import datetime
import re
import secrets

import pyarrow as pa
import pytest

import sudare
from sudare.reports.checklists import JUDGE, MET, UNMET, appi, safe_harbor
from sudare.reports.explanations import usage

ROWS = 400
IDS = [7_000_003 + 1_117 * (n // 2) for n in range(ROWS)]
FORMS = [{"form": "hex"}, {"form": "base32"}, {"form": "digits"}, {"form": "digits", "length": 16}]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SUDARE_KEY", secrets.token_hex(32))


def released(role="subject", form=None, name="patient_nbr", values=None, **more):
    """Return what a report knows of visits with pseudonyms, shifted dates and rounded costs, and its page."""
    steps = {"pseudonym": {"key": {"env": "SUDARE_KEY"}, **(form or {})}}
    per = {} if role == "subject" else {"per": name}
    columns = {
        "age": {"role": "quasi"},
        name: {"role": role, "transform": steps},
        "admitted": {"role": "insensitive", "transform": {"shift": {"days": 30, "key": {"env": "SUDARE_KEY"}, **per}}},
        "cost": {"role": "insensitive", "transform": [{"top": {"at": 900}}, {"round": 100}]},
        **more,
    }
    table = pa.table({
        "age": [20 + n % 40 for n in range(ROWS)],
        name: IDS if values is None else values,
        "admitted": [datetime.date(2020, 1, 1) + datetime.timedelta(days=n % 300) for n in range(ROWS)],
        "cost": [float(n % 97) * 11 for n in range(ROWS)],
        "ward": ["a", "b", "c", "d"] * (ROWS // 4),
    })  # fmt: skip
    count = {"count": "subjects"} if role == "subject" else {}
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 5, **count}]}
    table = table.select(list(columns))
    report = sudare.report(sudare.anonymize(table, rules, seed=1), table, rules)
    return report.figures, report.html


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form.values())))
@pytest.mark.parametrize("role", ["subject", "identifier"])
def test_a_pseudonym_is_a_derived_code_in_any_form(role, form):
    found = safe_harbor(released(role, form)[0])
    record, account, other = found[7], found[9], found[17]
    assert record.verdict == other.verdict == UNMET
    assert account.verdict == JUDGE
    for item in (record, account, other):
        assert "patient_nbr shows pseudonyms" in item.seen
        assert "new numbers" not in item.seen
        assert "released unchanged" not in item.seen
    assert "164.514(c)" in other.seen
    assert found[3].verdict == found[5].verdict == MET


@pytest.mark.parametrize("role", ["subject", "identifier"])
def test_any_name_of_a_pseudonym_is_looked_at(role):
    found = safe_harbor(released(role, name="foo")[0])
    assert found[17].verdict == UNMET
    assert found[7].verdict == (UNMET if role == "subject" else JUDGE)


def test_a_pseudonym_that_many_share_may_be_one_of_no_person():
    values = [f"hospital {n % 4}" for n in range(ROWS)]
    found = safe_harbor(released("identifier", name="site", values=values)[0])
    assert found[17].verdict == JUDGE
    assert found[7].verdict == MET
    assert "site" not in found[7].seen


def test_a_pseudonym_of_a_name_is_derived_from_a_name():
    values = [f"Person {n}" for n in range(ROWS)]
    found = safe_harbor(released("identifier", name="surname", values=values)[0])
    assert found[0].verdict == UNMET
    assert "surname shows pseudonyms" in found[0].seen


@pytest.mark.parametrize("role", ["subject", "identifier"])
def test_japan_sees_pseudonyms(role):
    named, _, links, unusual, other, _, kinds, *_ = appi(released(role)[0])
    assert "The policy names no identifier" not in named.seen
    assert "Released as pseudonyms, which the holder of the key can connect: patient_nbr." in named.seen
    assert links.verdict == JUDGE
    assert "Released as pseudonyms: patient_nbr." in links.seen
    assert "subject" not in links.seen
    assert "admitted (shift)" in unusual.seen
    assert "Released unchanged" not in unusual.seen
    assert {"patient_nbr", "admitted", "cost"} <= set(re.findall(r"\w+", other.seen))
    assert "patient_nbr (pseudonyms)" in kinds.seen


def test_japan_sees_new_numbers_of_people():
    table = pa.table({"age": [20 + n % 40 for n in range(ROWS)], "patient_nbr": IDS})
    rules = {
        "columns": {"age": {"role": "quasi"}, "patient_nbr": {"role": "subject"}},
        "require": [{"model": "k-anonymity", "k": 5, "count": "subjects"}],
    }
    found = appi(sudare.report(sudare.anonymize(table, rules, seed=1), table, rules).figures)
    assert "Released as new numbers: patient_nbr." in found[0].seen
    assert "numbered separately" in found[2].seen
    assert found[2].verdict == MET
    assert "patient_nbr (new numbers)" in found[6].seen


@pytest.mark.parametrize("role", ["subject", "identifier"])
def test_no_transformed_column_is_called_unchanged(role):
    page = released(role)[1]
    assert "released unchanged" not in page.lower()
    assert "admitted: released transformed (shift" in page


@pytest.mark.parametrize("role", ["subject", "identifier"])
def test_usage_counts_no_pseudonym_and_no_shifted_date(role):
    lines = [str(line) for line in usage(released(role)[0])]
    assert not any("--of" in line for line in lines)
    assert sum("--mean cost" in line for line in lines) == 1
    assert any("pseudonyms: patient_nbr" in line for line in lines)
    assert any("Extreme values of cost show a limit" in line for line in lines)
    assert any("Numbers in cost are rounded" in line for line in lines)
    lines = [str(line) for line in usage(released(role, ward={"role": "insensitive"})[0])]
    assert sum("--of ward --by age" in line for line in lines) == 1


@pytest.mark.parametrize(("how", "units"), [("nearest", 0.5), ("up", 1), ("down", 1), ("random", 1)])
def test_what_a_report_says_of_rounding_is_true(how, units):
    numbers = [float(n) for n in range(ROWS)]
    table = pa.table({"age": [20 + n % 40 for n in range(ROWS)], "cost": numbers})
    columns = {
        "age": {"role": "quasi"},
        "cost": {"role": "insensitive", "transform": {"round": {"to": 10, "how": how}}},
    }
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 5}], "release": {"order": "keep"}}
    release = sudare.anonymize(table, rules, seed=1)
    farthest = max(abs(a - b) for a, b in zip(release.data["cost"].to_pylist(), numbers, strict=True))
    assert 10 * (units - 0.1) <= farthest <= 10 * units
    [step] = sudare.report(release, table, rules).figures["transformations"]
    assert "half a unit if it went to the nearest" in step["does_not"]
    assert "one unit if it went up, down" in step["does_not"]
