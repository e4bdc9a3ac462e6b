"""Hierarchies that come with sudare: the groups of codes and names, and which of them fits a column."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from sudare.core.errors import HierarchyError
from sudare.hierarchies import builtin, csv_text, fitting_builtin, from_csv, level_names, strange_values
from sudare.hierarchies.builtin import check_numbers
from sudare.hierarchies.code_systems import CODE_SYSTEMS
from sudare.policy import BUILTIN_NAMES
from sudare.policy.vocabulary import BAND_WIDTHS

CODES = {
    "icd-10": [
        "I21",
        "i21.0 ",
        "I210",
        "E11.-",
        "E11.90",
        "G63.2*",
        "E10.30+",
        "E10.30†",
        "U07.1!",
        "C7A.1",
        "S72.001A",
    ],
    "icd-9": ["250.83", "25083", "V57", "V57.89", "428", "E909", "E909.1", "8", "38", "745.2", "280.9"],
    "atc": ["A10BA02", "A10BA", "A10", "c09aa05", "N"],
    "iso-3166": ["DE", "deu", "Germany", "United-States", "U.S.", "Côte d’Ivoire", "TW", "AQ", "Antarctica"],
    "us-states": ["NY", "new york", "PR", "Washington, D.C.", "TX", "CA"],
    "us-zip": ["90210", "90210-1234", "902101234", "2134"],
    "de-plz": ["80331", "D-80331", "1067"],
    "jp-postal": ["100-0001", "1000001", "〒060-0001", "１００－０００２"],
    "nuts": ["DE212", "DE21", "de", "UKI31"],
}
"""Codes of every system, in several spellings."""


def above(name, value):
    """The groups of one value, from the nearest to the root."""
    return [column[0].as_py() for column in builtin(name, pa.array([value])).columns()][1:]


@pytest.mark.parametrize(
    ("name", "value", "groups"),
    [
        ("icd-10", "I21", ["I21.*", "I20-I25", "I00-I99", "*"]),
        ("icd-10", " i21.4\u00a0", ["I21.*", "I20-I25", "I00-I99", "*"]),
        ("icd-10", "C50.9", ["C50.*", "C50-C50", "C00-D49", "*"]),
        ("icd-10", "B20", ["B20.*", "B20-B24", "A00-B99", "*"]),
        ("icd-10", "X90", ["X90.*", "X85-Y09", "V00-Y99", "*"]),
        ("icd-10", "E10.30†", ["E10.*", "E08-E14", "E00-E90", "*"]),
        ("icd-10", "C4A.0", ["C4A.*", "C43-C44", "C00-D49", "*"]),
        ("icd-10", "Z3A.20", ["Z3A.*", "Z30-Z39", "Z00-Z99", "*"]),
        ("icd-9", "250.83", ["250.*", "249-259", "240-279", "*"]),
        ("icd-9", "V57", ["V57.*", "V50-V59", "V01-V91", "*"]),
        ("icd-9", "E909", ["E909.*", "E900-E909", "E000-E999", "*"]),
        ("icd-9", "8", ["008.*", "001-009", "001-139", "*"]),
        ("icd-9", "4280", ["428.*", "420-429", "390-459", "*"]),
        ("icd-9", "745", ["745.*", "740-759", "XIV: 740-759", "*"]),
        ("atc", "A10BA02", ["A10BA**", "A10B***", "A10****", "A******", "*"]),
        ("atc", "A10", ["A10", "A10", "A10****", "A******", "*"]),
        ("iso-3166", "Germany", ["Western Europe", "Europe", "*"]),
        ("iso-3166", "MEX", ["Central America", "Americas", "*"]),
        ("iso-3166", "Antarctica", ["Antarctica", "Antarctica", "*"]),
        ("us-states", "vt", ["New England", "Northeast", "*"]),
        ("us-states", "PR", ["PR", "PR", "*"]),
        ("us-zip", "90210", ["902**", "9****", "*"]),
        ("us-zip", "601", ["006**", "0****", "*"]),
        ("us-zip", "90210-1234", ["90210-****", "902**", "9****", "*"]),
        ("de-plz", "1067", ["010**", "01***", "0****", "*"]),
        ("jp-postal", "１００－０００１", ["100-00**", "100-****", "10*-****", "1**-****", "*"]),
        ("nuts", "DE212", ["DE21*", "DE2**", "DE***", "*"]),
    ],
)
def test_groups(name, value, groups):
    assert above(name, value) == groups


def test_numbers_have_fixed_bands():
    assert above("ages", 93) == ["[90, 94]", "[90, 99]", "[80, 99]", "*"]
    assert above("money", 12.5)[:3] == ["[10, 15)", "[10, 20)", "[0, 50)"]
    for widths in BAND_WIDTHS.values():
        assert all(wide % narrow == 0 for narrow, wide in pairwise(widths))


def test_every_name_is_known():
    assert {*CODE_SYSTEMS, *BAND_WIDTHS} == set(BUILTIN_NAMES)
    assert not any("." in name for name in BUILTIN_NAMES)


@pytest.mark.parametrize("name", CODES)
def test_a_file_has_the_same_levels(name, tmp_path):
    made = builtin(name, pa.array(CODES[name]))
    path = tmp_path / "codes.csv"
    path.write_text(csv_text(made), encoding="utf-8")
    read = from_csv(path)
    assert [column.to_pylist() for column in read.columns()] == [column.to_pylist() for column in made.columns()]
    assert len(level_names(made)) == made.depth + 1


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("icd-10", ["I2", "21.0", "I21.", "I21.*", "I20-I25", "E11.90123", "U", "C98"]),
        ("icd-9", ["000", "250.*", "V1", "E90", "250.834", "2508345", "V92"]),
        ("atc", ["E10BA02", "A1", "A10BA0", "A10****"]),
        ("iso-3166", ["Europe", "Western Europe", "XX", "Micronesia", "Atlantis"]),
        ("us-states", ["South", "Mountain", "ZZ"]),
        ("us-zip", ["9021x", "90", "902**", "90210-12", "9021-1234"]),
        ("de-plz", ["803", "803311", "803**", "F-80331"]),
        ("jp-postal", ["100-001", "10001", "100-****"]),
        ("nuts", ["GR1", "DE2121", "DE2**", "D"]),
    ],
)
def test_what_is_no_code_is_counted_and_not_named(name, wrong):
    with pytest.raises(HierarchyError) as caught:
        builtin(name, pa.array([*CODES[name], *wrong]), source="columns.diagnosis.hierarchy", column="diagnosis")
    message = str(caught.value)
    known = len(set(CODES[name]))
    assert f"{len(wrong):,} of the column's {known + len(wrong):,} distinct values" in message
    assert message.startswith("columns.diagnosis.hierarchy:")
    assert "--column diagnosis" in message
    assert not any(each in message for each in wrong if len(each) > 3)
    found = strange_values(name, pa.array([*CODES[name], *wrong]))
    assert np.flatnonzero(found).tolist() == list(range(len(CODES[name]), len(CODES[name]) + len(wrong)))


JOINED = [389, 380, 381, 4019, 4010]
"""Codes of ICD-9 without their dots, as numbers: the first three may be 038.9 to 038.1, or 389 to 381."""


@pytest.mark.parametrize(
    "values",
    [
        pa.array(JOINED),
        pa.array(JOINED, pa.uint16()),
        pa.array([*map(float, JOINED), None]),
        pa.array([*map(Decimal, JOINED)], pa.decimal128(5, 0)),
        pa.array(JOINED).dictionary_encode(),
        pa.chunked_array([JOINED[:3], JOINED[3:]]),
    ],
)
def test_codes_without_dots_are_no_numbers(values):
    with pytest.raises(HierarchyError) as caught:
        builtin("icd-9", values, source="columns.icd.hierarchy")
    [problem] = caught.value.problems
    assert problem.where == "columns.icd.hierarchy" and "give the codes as text" in problem.hint
    assert not any(str(each) in str(caught.value) for each in JOINED)
    with pytest.raises(HierarchyError, match="have lost their leading zeros"):
        check_numbers("icd-9", pa.array(map(str, JOINED)))  # which is what they are when they have been encoded


def test_codes_that_are_no_more_than_a_category_may_be_numbers():
    assert above("icd-9", 8) == above("icd-9", "008") == above("icd-9", 8.0)
    assert above("icd-9", 38.9) == above("icd-9", "038.9")
    assert above("icd-9", "0389") != above("icd-9", "389") == above("icd-9", 389)
    assert above("us-zip", 90210) == above("us-zip", "90210")
    assert builtin("icd-9", pa.array(["389", "0389", "4019"])).depth == 4
    assert builtin("icd-9", pa.array([None], pa.int64())).depth == 4


def test_no_values():
    for name in CODES:
        made = builtin(name, pa.array([], pa.large_string()))
        assert (len(made.leaves), made.root) == (0, "*")


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("code", ["I21.0", "I22.1", "E11.9", "E11", "J45.0"], "icd-10"),
        ("room", ["B15", "B16", "C14", "C11", "D10"], None),
        ("diag_1", ["B15", "B16", "C14", "C11", "D10"], "icd-10"),
        ("diag_1", ["250.83", "V57", "428", "E909", "8"], "icd-9"),
        ("amount", ["250.83", "428", "8"], None),
        ("drug", ["A10BA02", "C09AA05"], "atc"),
        ("x", ["A10BA02", "C09AA05", "N02BE01", "J01CA04", "B01AC06"], "atc"),
        ("zipCode", ["90210", "10115"], "us-zip"),
        ("number", ["90210", "10115"], None),
        ("PLZ", ["80331", "10115"], "de-plz"),
        ("postal_code", ["100-0001", "060-0001"], "jp-postal"),
        ("郵便番号", ["100-0001", "060-0001"], "jp-postal"),
        ("nuts3", ["DE212", "FR101"], "nuts"),
        ("smoker", ["NO", "YES"], None),
        ("answer", ["NO"], None),
        ("country", ["NO", "SE"], "iso-3166"),
        ("native", ["Germany", "Mexico", "United-States", "Cuba", "India"], "iso-3166"),
        ("x", ["NY", "CA", "TX", "OH", "WA"], "us-states"),
        ("state", ["CA", "DE"], "us-states"),
        ("age", [23, 45], "ages"),
        ("age", [23, 450], None),
        ("page", [23, 45], None),
        ("annual_income", [2300, 45], "money"),
        ("income", [-5, 3], None),
        ("id", [1, 2], None),
        ("name", ["Ada", "Bob"], None),
        ("empty", [], None),
    ],
)
def test_what_fits(name, values, found):
    kind = pa.int64() if values and isinstance(values[0], int) else pa.large_string()
    assert fitting_builtin(pa.array(values, kind), name) == found
    assert fitting_builtin(pa.array(values, kind), [name]) == found


def test_nearly_all_values_have_to_fit():
    codes = [f"I{number:02d}.0" for number in [*range(20, 26), *range(30, 53), *range(60, 80)]]
    assert fitting_builtin(pa.array([*codes, "?"]), "diagnosis") == "icd-10"
    assert fitting_builtin(pa.array([*codes, "?", "unknown"]), "diagnosis") is None
