"""Words among numbers: a column of measurements stays one, and a column of codes stays one of codes."""

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sudare.drafts import draft_policy
from sudare.drafts.stray_words import find_numbers
from sudare.policy import Policy

WEIGHTS = [f"{50 + place / 10:.1f}" for place in range(300)]
COUNTS = [str(place) for place in range(120)]


def drafted(name, cells):
    """Return what a draft says of a column, and its text."""
    table = pa.table({"sex": ["f", "m"] * (len(cells) // 2) + ["f"] * (len(cells) % 2), name: cells})
    text = draft_policy(table)
    return Policy.parse(yaml.safe_load(text)).columns[name], text


@pytest.mark.parametrize(
    "odd",
    ["ca. 80", ">100", "< 0,5", "78 kg", "78kg", "12.5 mg/dl", "78,1", "1.234,5", "about 7 to 8", "80?"],
)
def test_a_word_among_measurements_leaves_them_numbers(odd):
    cells = [*WEIGHTS[:7], odd, *WEIGHTS[8:]]
    spec, text = drafted("weight", cells)
    assert (spec.role, spec.kind) == ("quasi", "numeric")
    assert "(record 8): correct them, or list their texts in source.missing" in text.replace("\n  # ", " ")
    assert odd not in text


@pytest.mark.parametrize("odd", [">100", "about 80", "17 kg", "3 days"])
def test_whole_numbers_have_stray_words_too(odd):
    assert find_numbers(pa.array([*COUNTS, odd])).to_pylist() == [True] * len(COUNTS) + [False]


def test_very_few_misspelt_numbers_are_stray_beside_fractions():
    assert find_numbers(pa.array([*WEIGHTS, "7o.5", "78.5.1"])).to_pylist()[-2:] == [False, False]
    assert find_numbers(pa.array([*COUNTS, "7o", "78--1"])) is None
    many = [f"7{place}..5" for place in range(10)]
    assert find_numbers(pa.array([*WEIGHTS, *many])) is None


@pytest.mark.parametrize("odd", ["V57", "E909", "V57.1", "E909.0", "B 12", "101A", "101 A", "10-B", "A-7"])
@pytest.mark.parametrize("numbers", [WEIGHTS, COUNTS, [f"{place}.{place % 90 + 10}" for place in range(250, 900)]])
def test_codes_stay_codes(numbers, odd):
    assert find_numbers(pa.array([*numbers, odd])) is None


def test_numbers_alone_have_no_stray_words():
    assert find_numbers(pa.array(WEIGHTS)) is None
    assert find_numbers(pa.array([], pa.large_string())) is None


def test_dates_have_stray_words_too():
    dates = [f"2024-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
    spec, text = drafted("admission_date", [*dates, "later"])
    assert spec.kind == "numeric"
    assert f"(record {len(dates) + 1})" in text


def test_postal_codes_with_a_place_behind_one_have_no_prefixes():
    codes = [str(10115 + 17 * (place % 40)) for place in range(400)]
    spec, text = drafted("plz", [*codes, "10115 Berlin"])
    assert spec.kind == "categorical"
    assert spec.hierarchy is None
    assert "(record 401)" in text


@given(st.lists(st.text("0123456789.,<>kgVE ca", min_size=1, max_size=6), unique=True, max_size=60))
def test_what_is_kept_reads_as_numbers_or_has_digits(odd):
    values = pa.array([*COUNTS, *(text for text in odd if text not in COUNTS)])
    numbers = find_numbers(values)
    if numbers is not None:
        kept, rest = values.filter(numbers).to_pylist(), sum(not each for each in numbers.to_pylist())
        assert set(COUNTS) <= set(kept)
        assert 0 < rest <= 0.1 * len(values)
