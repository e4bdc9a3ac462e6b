"""Checklists: filled where the columns tell, open where somebody has to judge."""

import datetime

import pyarrow as pa
import pytest

import sudare
from sudare.reports.checklists import JUDGE, MET, UNMET, appi, cell_size, ema, safe_harbor
from sudare.reports.identifiers import IDENTIFIERS, hinted

from .people import POLICY, report_on, table


def figures(columns, require=({"model": "k-anonymity", "k": 5},), data=None, **more):
    data = table() if data is None else data
    return report_on({"columns": columns, "require": list(require), **more}, data).figures


def test_the_eighteen_identifiers_are_all_there():
    found = safe_harbor(report_on(POLICY, table()).figures)
    assert len(found) == len(IDENTIFIERS) == 18
    assert [item.rule.partition(".")[0] for item in found] == [str(number) for number in range(1, 19)]


def without_text():
    """Return the policy and the table without their column of free text."""
    columns = {name: spec for name, spec in POLICY["columns"].items() if name != "note"}
    return {**POLICY, "columns": columns}, table().drop_columns("note")


def test_a_name_that_is_kept_back_is_met():
    found = safe_harbor(report_on(*without_text()).figures)
    assert found[0].verdict == MET
    assert "Not released: name" in found[0].seen
    assert found[1].verdict == JUDGE  # a town is smaller than a state
    assert "town" in found[1].seen
    assert found[6].verdict == MET


@pytest.mark.parametrize(
    ("level", "verdict"), [("year", MET), ("month", UNMET), ("day", UNMET)], ids=["years", "months", "days"]
)
def test_dates_may_be_years(level, verdict):
    days = [datetime.date(1990 + n % 3, 1 + n % 2 * 6, 1 + n % 2) for n in range(120)]
    data = pa.table({"admitted": days, "x": ["a", "b"] * 60})
    columns = {"admitted": {"role": "quasi", "hierarchy": {"dates": [level]}}, "x": {"role": "insensitive"}}
    promise = [{"model": "k-anonymity", "k": 30 if level == "year" else 5}]
    found = safe_harbor(figures(columns, promise, data, method={"name": "full-domain"}))
    assert found[2].verdict == verdict


@pytest.mark.parametrize(("oldest", "verdict"), [(80, MET), (96, UNMET)])
def test_ages_above_89_are_found(oldest, verdict):
    data = pa.table({"age": [30, 50, oldest] * 40, "x": ["a", "b"] * 60})
    found = safe_harbor(figures({"age": {"role": "quasi"}, "x": {"role": "insensitive"}}, data=data))
    assert found[2].verdict == verdict


@pytest.mark.parametrize(("k", "verdict"), [(5, UNMET), (10, UNMET), (11, MET), (20, MET)])
def test_thresholds_are_those_of_groups_of_eleven(k, verdict):
    columns = {name: POLICY["columns"][name] for name in ("age", "disease")}
    data = pa.table({"age": [1] * k + [2] * 40, "disease": ["flu"] * (k + 40)})
    found = figures(columns, [{"model": "k-anonymity", "k": k}], data)
    assert found["smallest_class"] in (k, k + 40)
    if found["smallest_class"] == k:
        assert ema(found)[0].verdict == verdict
        assert cell_size(found)[0].verdict == verdict


def test_people_may_be_recognised_where_quasi_identifiers_are_as_they_were():
    data = sudare.datasets.adult("test").select(["age", "occupation"])
    columns = {"age": {"role": "quasi"}, "occupation": {"role": "sensitive"}}
    promise = [{"model": "l-diversity", "l": 3, "column": "occupation"}]
    found = figures(columns, promise, data, method={"name": "anatomy"})
    assert ema(found)[0].verdict == UNMET


def test_japan_leaves_the_organisation_to_people():
    found = appi(report_on(*without_text()).figures)
    assert len(found) == 10
    assert [item.verdict for item in found[:3]] == [MET, MET, MET]
    assert {item.verdict for item in found[5:]} == {JUDGE}
    assert "note" in appi(report_on(POLICY, table()).figures)[3].seen  # whose values are everybody's own


def test_what_text_holds_is_for_people_to_judge():
    figures = report_on(POLICY, table()).figures
    assert {item.verdict for item in safe_harbor(figures)} <= {JUDGE, UNMET}
    assert all("note" in item.seen for item in safe_harbor(figures)[3:])
    assert {item.verdict for item in appi(figures)[:3]} == {JUDGE}


def test_safe_harbor_has_a_second_condition():
    page = report_on(*without_text()).html
    assert "164.514(b)(2)(ii)" in page.partition('id="checklists"')[2]


@pytest.mark.parametrize(("first", "verdict"), [(1990, MET), (1900, UNMET)])
def test_years_of_birth_may_tell_an_age_above_89(first, verdict):
    days = [datetime.date(first + n % 3, 1 + n % 2 * 6, 1 + n % 2) for n in range(120)]
    data = pa.table({"birth_date": days, "x": ["a", "b"] * 60})
    columns = {"birth_date": {"role": "quasi", "hierarchy": {"dates": ["year"]}}, "x": {"role": "insensitive"}}
    promise = [{"model": "k-anonymity", "k": 30}]
    found = figures(columns, promise, data, method={"name": "full-domain"})
    assert found["columns"][0]["finest"] == "year"
    assert safe_harbor(found)[2].verdict == verdict


@pytest.mark.parametrize("method", ["anatomy", "dummies"])
def test_dates_that_are_hidden_among_others_are_dates(method):
    days = [datetime.date(1990, 1 + n % 9, 1 + n % 7) for n in range(126)]
    data = pa.table({"job": ["a", "b", "c"] * 42, "visited": days})
    columns = {"job": {"role": "quasi"}, "visited": {"role": "sensitive"}}
    promise = [{"model": "l-diversity", "l": 3, "column": "visited"}]
    found = figures(columns, promise, data, method={"name": method})
    assert safe_harbor(found)[2].verdict == UNMET
    assert cell_size(found)[1].verdict == JUDGE
    assert appi(found)[3].verdict == JUDGE


def test_sets_that_only_km_anonymity_limits_leave_the_largest_risk_open():
    columns = {"age": {"role": "quasi"}, "drugs": {"role": "quasi", "kind": "items"}}
    promise = [{"model": "k-anonymity", "k": 15, "columns": ["age"]},
               {"model": "km-anonymity", "k": 15, "m": 1, "column": "drugs"}]  # fmt: skip
    found = figures(columns, promise, suppression={"limit": 0.05})
    assert found["smallest_class"] >= 11
    assert found["classes"]["outside"] == ["drugs"]
    assert ema(found)[0].verdict == cell_size(found)[0].verdict == JUDGE
    assert "drugs" in ema(found)[0].seen
    whole = figures({"age": columns["age"]}, [{"model": "k-anonymity", "k": 15}])
    assert ema(whole)[0].verdict == cell_size(whole)[0].verdict == MET


@pytest.mark.parametrize(
    ("name", "place", "verdict"),
    [("region", 1, JUDGE), ("county_state", 1, JUDGE), ("country", 1, MET), ("state", 1, MET)],
)
def test_places_are_told_from_states(name, place, verdict):
    data = pa.table({"age": [30, 40] * 60, name: ["a", "b"] * 60})
    found = figures({"age": {"role": "quasi"}, name: {"role": "insensitive"}}, data=data)
    assert safe_harbor(found)[place].verdict == verdict


@pytest.mark.parametrize(
    ("name", "place"), [("pension_no", 1), ("insurance_id", 1), ("record_id", 2), ("email", 0), ("home_address", 0)]
)
def test_columns_that_leave_as_they_came_may_be_what_japan_forbids(name, place):
    data = pa.table({"name": [f"n{n}" for n in range(120)], "age": [30, 40] * 60, name: ["a", "b"] * 60})
    columns = {"name": {"role": "identifier"}, "age": {"role": "quasi"}, name: {"role": "insensitive"}}
    found = appi(figures(columns, data=data))
    assert found[place].verdict == JUDGE
    assert name in found[place].seen


@pytest.mark.parametrize(
    ("name", "hints", "found"),
    [
        ("patientId", "patientid", True), ("PATIENT_ID", "id", True), ("first name", "firstname", True),
        ("患者の住所", "住所", True), ("ship", "ip", False), ("ip_address", "ip", True), ("average", "age", False),
    ],
)  # fmt: skip
def test_names_are_read_word_by_word(name, hints, found):
    assert hinted(name, hints) is found


def test_open_rules_have_a_line_to_sign():
    report = report_on(POLICY, table())
    part = report.html.partition('id="checklists"')[2]
    assert part.count('class="verdict judge"') + 4 == part.count('class="sign"')


def numbered(name, numbers, role="insensitive", **more):
    """Return what a report knows of a release of visits with a number each."""
    data = pa.table({"age": [20 + n % 40 for n in range(len(numbers))], name: numbers})
    columns = {"age": {"role": "quasi"}, name: {"role": role, **({"kind": "numeric"} if role == "quasi" else {})}}
    return figures(columns, data=data, **more)


IDS = [7_000_003 + 1_117 * n for n in range(400)]


@pytest.mark.parametrize("name", ["patient_nbr", "pat_no", "case_no", "fallnummer", "hospital_number", "encounter"])
def test_numbers_of_records_that_are_released_are_not_met(name):
    item = safe_harbor(numbered(name, IDS))[7]
    assert item.rule == "8. Medical record numbers"
    assert item.verdict == UNMET
    assert name in item.seen


@pytest.mark.parametrize("name", ["foo", "wert", "x1"])
def test_numbers_that_few_share_are_looked_at_whatever_their_name(name):
    found = safe_harbor(numbered(name, IDS))
    for place in (6, 7, 8, 9, 17):
        assert found[place].verdict == JUDGE
        assert f"{name}: released unchanged, and few records share a value of it" in found[place].seen
    assert name in appi(numbered(name, IDS))[2].seen
    assert appi(numbered(name, IDS))[2].verdict == JUDGE


@pytest.mark.parametrize(("ends", "verdict"), [(True, UNMET), (False, JUDGE)])
def test_ends_of_ranges_that_are_somebodys_number_are_not_met(ends, verdict):
    found = numbered("patient_nbr", IDS, "quasi")
    column = next(column for column in found["columns"] if column["name"] == "patient_nbr")
    column["ends"] = ends
    assert safe_harbor(found)[7].verdict == verdict


def test_numbers_that_many_share_are_met():
    found = numbered("stage", [1 + n % 4 for n in range(400)])
    assert safe_harbor(found)[7].verdict == MET
    told = "No cell holds numbers of patients or records. 800 cells in 2 columns were read."
    assert safe_harbor(found)[7].seen == told


def test_new_numbers_of_people_are_met_and_said():
    data = pa.table({"age": [20 + n % 40 for n in range(400)], "patient_nbr": [IDS[n // 2] for n in range(400)]})
    columns = {"age": {"role": "quasi"}, "patient_nbr": {"role": "subject"}}
    found = safe_harbor(figures(columns, [{"model": "k-anonymity", "k": 5, "count": "subjects"}], data))
    assert found[7].verdict == MET
    assert "as new numbers: patient_nbr" in found[7].seen


@pytest.mark.parametrize("name", ["admission_type_id", "discharge_disposition_id", "admission_source_id", "death_code"])
def test_an_id_is_not_called_a_date(name):
    found = numbered(name, [1 + n % 4 for n in range(400)])
    assert name not in safe_harbor(found)[2].seen


@pytest.mark.parametrize("role", ["insensitive", "quasi"])
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
def test_whether_an_id_is_one_of_a_person_is_told_by_its_values(role, text):
    names = ["admission_type_id", "discharge_disposition_id", "record_id"]
    kinds = [1 + n % 4 for n in range(400)]
    data = pa.table({"age": [20 + n % 40 for n in range(400)], **{
        name: [f"v{number}" for number in numbers] if text else numbers
        for name, numbers in zip(names, [kinds, kinds, IDS], strict=True)}})  # fmt: skip
    columns = {"age": {"role": "quasi"}, **{name: {"role": role} for name in names}}
    item = safe_harbor(figures(columns, data=data))[17]
    assert "admission_type_id" not in item.seen
    assert "discharge_disposition_id" not in item.seen
    # rare categories of a quasi-identifier become one, which shows nobody
    assert ("record_id" in item.seen) == (not text or role == "insensitive")


def coded(diagnoses):
    data = pa.table({"age": [20 + n % 40 for n in range(len(diagnoses))], "diag_1": diagnoses})
    return figures({"age": {"role": "quasi"}, "diag_1": {"role": "sensitive"}}, data=data)


ICD = [
    ["250.83", "V27", "E909", "8", "?"][n % 5] if n % 5 == 4 or n < 3000 else f"{n % 700}.{n % 7}" for n in range(6000)
]


def test_short_codes_that_many_share_are_no_free_text():
    found = coded(ICD)
    [column] = [column for column in found["columns"] if column["name"] == "diag_1"]
    assert column["kind"] == "text"
    assert column["rare"]
    assert {item.verdict for item in safe_harbor(found)[3:]} == {MET}
    assert appi(found)[1].verdict == MET


@pytest.mark.parametrize("odd", ["patient of Dr. Zz", "Mueller-Luedenscheidt"])
def test_codes_with_a_word_more_among_them_are_text(odd):
    found = safe_harbor(coded([odd, *ICD[1:]]))
    assert all("text of diag_1" in item.seen for item in found[3:])


def test_codes_that_few_share_may_be_anything():
    found = safe_harbor(coded([f"A{n}-{n % 7}" for n in range(600)]))
    assert all("text of diag_1" in item.seen for item in found[3:6])


@pytest.mark.parametrize(("k", "verdict"), [(3, UNMET), (10, UNMET), (11, MET), (12, MET)])
def test_cells_are_counted_up_to_ten_whatever_k_is(k, verdict):
    """Whether a value is that of 1 to 10 records does not depend on the policy."""
    data = pa.table({"age": [1] * 30 + [2] * 40, "disease": ["pox"] * k + ["flu"] * (70 - k)})
    for asked in (3, 20):
        found = figures({"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
                        [{"model": "k-anonymity", "k": asked}], data)  # fmt: skip
        assert found["smallest_class"] >= 11
        assert cell_size(found)[1].verdict == verdict
    small = pa.table({"age": [1] * 10 + [2] * 60, "disease": ["pox", "flu"] * 35})
    found = figures({"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, data=small)
    assert found["smallest_class"] == 10
    assert [item.verdict for item in cell_size(found)] == [UNMET, MET, UNMET, JUDGE]


@pytest.mark.parametrize("name", ["admission_date", "age_group", "birth_code", "admitted", "day_of_death"])
def test_what_may_be_a_date_or_an_age_is(name):
    found = numbered(name, [f"{1 + n % 4}." for n in range(400)])
    assert name in safe_harbor(found)[2].seen


@pytest.mark.parametrize(("ranges", "verdict"), [("tight", UNMET), ("safe", JUDGE)])
def test_ranges_that_end_in_somebodys_number_are_found_by_their_ends(ranges, verdict):
    found = numbered("patient_nbr", IDS, "quasi", release={"ranges": ranges})
    column = next(column for column in found["columns"] if column["name"] == "patient_nbr")
    assert column["ends"] == (ranges == "tight")
    assert safe_harbor(found)[7].verdict == verdict
