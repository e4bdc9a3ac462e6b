"""What the cells of a release hold: each identifier in several spellings, and what only looks like one."""

import datetime

import pyarrow as pa
import pytest

import sudare
from sudare.reports.checklists import HELD
from sudare.reports.content import scan
from sudare.reports.content.postal_areas import SMALL_AREAS
from sudare.reports.content.written_forms import FORMS

FILLER = ["asthma", "A01.1", "250.83", "V57", "3-5 days", "12.5 mg", "<=50K", "[20, 29]", "{a, b}", "Private"]


def found(cells, name="x", **more):
    """Return what is found in one column, by kind: in how many records, and whether it is sure."""
    given = scan([pa.table({name: cells})], **more)["found"]
    return {one["kind"]: (one["records"], one["sure"]) for one in given}


def kinds(text, name="x"):
    return set(found([*FILLER * 3, text], name))


SEEN = {
    "e-mail addresses": [
        "anna.berg@example.org", "write to a_b+c@mail.example.co.uk please", "anna (at) example.org",
        '{"mail": "a@b.de"}', "{a@b.de, none}", "ａｎｎａ＠example.jp",
    ],
    "telephone or fax numbers": [
        "212-555-0143", "(212) 555-0143", "1-800-555-0143", "+1 212 555 0143", "+49 30 1234567", "+44 (0)20 7946 0018",
        "030 / 1234567", "01 23 45 67 89", "03-1234-5678", "020 7946 0018", "０３-１２３４-５６７８", "138 0013 8000",
        "Fax: 5550143", "please call 555 0143 at night", "tel. 0301234567", "{212-555-0143, none}", '["212.555.0143"]',
    ],
    "web addresses": ["https://example.org/a", "see www.example.org", "example.com/people/7"],
    "IP addresses": ["192.168.17.4", "from 10.0.0.1, twice", "2001:db8::8a2e:370:7334"],
    "social security or identity numbers": [
        "123-45-6789", "SSN 123456789", "QQ 12 34 56 C".replace("QQ", "AB"), "756.1234.5678.97", "RSSMRA85T10A562S",
        "12345678Z",
    ],
    "numbers of patients or records": ["MRN 0012345", "patient no. 48213", "Fall-Nr: 2039481"],
    "numbers of health plans": ["1EG4-TE5-MK73", "policy number 8832711"],
    "numbers of accounts or cards": ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "4111 1111 1111 1111"],
    "numbers of licenses or passports": ["license no. D1234567", "passport C01X00T478"],
    "numbers of vehicles": ["1M8GDM9AXKP042788", "B-MW 1234", "AB-123-CD", "AB12 CDE"],
    "numbers of devices": ["00:1A:2B:3C:4D:5E", "serial no. AX-88213", "IMEI: 490154203237518"],
    "ids and digests": ["123e4567-e89b-12d3-a456-426614174000", "d41d8cd98f00b204e9800998ecf8427e"],
    "numbers of nine digits or more": ["seen as 4821300977 there", "482130097"],
    "images": ["scans/face_1.jpg", "data:image/png;base64,iVBORw0KGgo"],
    "sounds, films or sequences": ["voice.wav", "ACGT" * 10],
    "postal addresses": ["12 Main Street", "lives at 4711 N. Oak Grove Ave", "Lindenstraße 12", "P.O. Box 12",
                         "12 rue de Lyon"],
    "towns with their states": ["Springfield, IL", "IL 62704"],
    "counties": ["Cook County"],
    "postal codes of nine digits": ["62704-1234"],
    "coordinates": ["52.5200, 13.4050"],
    "dates with more than the year": [
        "2019-03-14", "14.03.2019", "3/14/2019", "3/14/19", "14 March 2019", "March 14, 2019", "since May 2019",
        "14 mars",
        "2019-03", "2019-Q2", "2019-W07", "2019年3月14日", "[2019-03-01, 2019-05-31]", "2019-03-14 10:30:00",
        '{"on": "2019-03-14"}',
    ],
    "ages above 89": ["95 years", "95-year-old", "aged 95", "a man of 101 years", "95歳", "95 Jahre", "96 y/o"],
    "what may be names of persons": ["Mrs. Berg", "seen by Dr. Zz", "Anna Berg", "Berg, Anna", "田中様"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SEEN.items() for text in texts])
def test_one_cell_among_others_is_found(kind, text):
    assert kind in kinds(text)


UNSEEN = [
    "250.01", "E11.9", "12.5 mg", "1.2.3", "10-20", "[60-70)", "[0.5, 12.25]", "{2019, 2020}", "2019", "[1990, 1999]",
    "[2019-01-01, 2019-12-31]", "12:30", "12:30:45", "3.1415926535", "1,234,567", "1234567.891", "-0.000123456789",
    "1e-10", "12345", "99999999", "Married-civ-spouse", "Holand-Netherlands", "Trinadad&Tobago", "A1C >8", "B12",
    "Virginia Beach", "may be late", "march past", "90 years or older", "over 89", "age 89", "3 x 500 mg", "T2N0M0",
    "120/80 mmHg", "95 % of it", "90+", "L5-S1", "HLA-B 27", "AB-12", "10 mg/ml", "Self-emp-not-inc",
    "version 1.2.3.4.5",
    "covid-19", "6-MP", "2 of 3", "(0.12, 0.34)", "5'-ATTGC-3'", "0.05 - 0.10", "123 456", "12 34 56",
]  # fmt: skip


@pytest.mark.parametrize("text", UNSEEN)
def test_what_only_looks_like_an_identifier_is_none(text):
    assert kinds(text) == set()


def test_samples_of_tables_hold_nothing_that_they_do_not():
    adult = scan([sudare.datasets.adult("all")], year=1996)
    assert adult["found"] == []
    assert (adult["cells"], adult["columns"], adult["beyond"]) == (726_165, 15, ["hours-per-week"])
    hospital = scan([sudare.datasets.diabetes()], year=2008)
    assert {(one["column"], one["kind"], one["sure"]) for one in hospital["found"]} == {
        (name, "numbers of nine digits or more", False) for name in ("encounter", "patient")
    }


def test_records_are_counted_once():
    cells = [["a@b.org", "c@d.org"], ["a@b.org"], ["none"], None]
    assert found(pa.array(cells)) == {"e-mail addresses": (2, True)}
    assert found(["a@b.org", "a@b.org", "none", None]) == {"e-mail addresses": (2, True)}
    assert found([{"mail": "a@b.org"}, {"mail": "none"}]) == {"e-mail addresses": (1, True)}
    assert found(pa.array(["a@b.org", "no"]).dictionary_encode()) == {"e-mail addresses": (1, True)}


def test_items_in_a_text_are_looked_at_one_by_one():
    assert "dates with more than the year" in found(["2019-03|x", "y|z"], separators={"x": "|"})


@pytest.mark.parametrize(
    ("cells", "old"),
    [
        ([30, 89, 90], 0), ([30, 95], 1), ([30, 90, 95, 95], 2), ([95], 1), ([30.0, 91.5], 1),
        (["[60, 90]", "[20, 59]"], 0), (["[60, 95]", "[20, 59]"], 1), (["{30, 95}", "40"], 1),
        (["[80-90)", "[90-100)"], 0), (["[80-90)", "[90-95)", "[95-100)"], 2), (["90+", "80-89"], 0),
        ([">89", "80-89"], 0), (["95+", "80-89"], 1), (["90 or older", "80"], 0), (["over 89", "*"], 0),
        (["85-94", "75-84"], 1), ([None, 40], 0),
    ],
)  # fmt: skip
def test_ages_above_89_are_one_category(cells, old):
    given = found(cells, "age")
    assert given.get("ages above 89", (0, True)) == (old, True)


@pytest.mark.parametrize(
    ("cells", "old"),
    [
        (["[60, 90]", "[71, 100]"], 0), (["[60, 89]", "[71, 100]"], 1), (["[60, 90]", "[71, 95]"], 1),
        (["[60, 90]", "[91, 100]"], 1), (["[60, 90]", "100"], 1), (["[60, 90]", "[71, 100]", "95"], 1),
    ],
)  # fmt: skip
def test_ends_of_ranges_that_moved_outward_tell_no_age(cells, old):
    assert found(cells, "age", rounded=True).get("ages above 89", (0, True)) == (old, True)
    assert found(["[60, 90]", "[71, 100]"], "age") == {"ages above 89": (1, True)}


def test_years_of_birth_that_moved_outward_tell_no_age():
    columns = {"birth_year": ["[1930, 1950]", "[1900, 1940]"], "admission_date": ["2020", "[2018, 2030]"]}
    assert scan([pa.table(columns)], rounded=True)["found"] == []
    assert [one["records"] for one in scan([pa.table(columns)])["found"]] == [2]
    columns["birth_year"][1] = "[1911, 1940]"
    assert [one["records"] for one in scan([pa.table(columns)], rounded=True)["found"]] == [1]


def test_numbers_that_are_not_called_ages_are_none_but_named():
    given = scan([pa.table({"hours": [10, 95], "age": [10, 80]})])
    assert given["found"] == []
    assert given["beyond"] == ["hours"]


@pytest.mark.parametrize(("born", "records"), [(1936, 0), (1935, 1), (1910, 1), (1990, 0)])
def test_years_of_birth_are_told_by_the_newest_year(born, records):
    given = scan([pa.table({"birth_year": [1990, born], "admission_date": [2020, 2026]})], year=2040)
    assert sum(one["records"] for one in given["found"]) == records
    assert given["understood"] == {"birth_year": "years", "admission_date": "years"}
    alone = scan([pa.table({"birth_year": [1990, born]})], year=2026)
    assert sum(one["records"] for one in alone["found"]) == records


@pytest.mark.parametrize("cells", [
    [datetime.date(2019, 3, 14)], [datetime.datetime(2019, 1, 1)], [20190314, 20190401, 20200229, 20181201],
    ["January", "February", "May"], ["[20190314, 20190401]"] * 2 + ["20190501", "20190601"],
])  # fmt: skip
def test_dates_in_other_types_are_dates(cells):
    assert found(cells)["dates with more than the year"] == (len(cells), True)


def test_numbers_are_days_only_if_nearly_all_are():
    assert found([20190314, 20190401, 48213345, 20190401, 99887766]) == {}


LONG, SMALL = "postal codes of more than three digits", "postal areas of 20,000 people or fewer"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["10115", "20095"], LONG), ([10115, 20095], LONG), (["1011*", "2009*"], LONG), (["[10115, 10243]"], LONG),
        (["SW1A 1AA"], LONG), (["036", "101"], SMALL), (["{036, 101}"], SMALL), (["893**", "101**"], SMALL),
    ],
)  # fmt: skip
def test_postal_codes_have_three_digits(cells, kind):
    assert kind in found(cells, "zip")


def test_areas_of_three_digits_are_met():
    given = scan([pa.table({"zip": ["101", "000", "{101, 102}".replace("102", "104"), "10*", "*"]})])
    assert given["found"] == []
    assert given["understood"] == {"zip": "areas of at most three digits"}
    assert len(SMALL_AREAS) == 17


def test_five_digits_may_be_zip_codes_whatever_they_are_called():
    codes = [f"{area}{rest:02d}" for area in (100, 104, 606, 900) for rest in range(1, 12)]
    assert found(codes) == {"numbers of five digits, as ZIP codes are": (44, False)}
    assert found([str(10_000 + 917 * number) for number in range(90)]) == {}  # prices, some of areas that do not exist
    assert found([str(10_000 + 1_000 * number) for number in range(80)]) == {}


def test_columns_of_names_are_sure():
    whole = ["Anna Berg", "Peter Falk", "Maria Dorn", "John Smith", "Mary Jones", "Linda Cole"]
    assert found(whole)["names of persons"] == (6, True)
    assert found([name.split()[0] for name in whole])["names of persons"] == (6, True)


def test_cities_are_told_by_two_of_them():
    assert found(["Chicago", "Houston", "other"])["names of cities"] == (2, False)
    assert "names of cities" not in found(["Phoenix", "Mobile", "Orange"])


def test_bytes_are_images_or_unknown():
    assert found(pa.array([b"\xff\xd8\xff\xe0", b"abc", None])) == {"images": (1, True), "binary data": (1, False)}


def test_every_kind_belongs_to_a_rule():
    known = {kind for kinds in HELD.values() for kind in kinds}
    assert {form.kind for form in FORMS} <= known
    assert set(SEEN) <= known
    assert set(HELD) == set(range(1, 19))
