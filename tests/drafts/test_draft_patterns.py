"""What values look like."""

import pyarrow as pa
import pytest

from sudare.drafts.patterns import (
    find_separator,
    is_free_text,
    looks_like,
    looks_like_compact_dates,
    looks_like_dates,
    one_length,
)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (["ada@example.org", "grace@example.com"], "e-mail addresses"),
        (["write to ada@example.org", *["nothing"] * 5], "e-mail addresses"),
        (["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819"], "bank account numbers"),
        (["192.168.0.1", "2001:db8::1"], "internet addresses"),
        (["https://example.org/a", "www.example.org"], "internet addresses"),
        (["123e4567-e89b-12d3-a456-426614174000"], "technical ids"),
        (["9e107d9d372bb6826bd81d3542a419d6"], "technical ids"),
        (["+49 89 1234567", "(089) 123-4567", "090-1234-5678"], "telephone or identity numbers"),
        (["123-45-6789", "987-65-4321"], "telephone or identity numbers"),
        (["0123456789", "0987654321"], "telephone or identity numbers"),
        (["1234567890123456", "6543210987654321"], "long numbers such as those of cards and accounts"),
        (["2024-01-31", "1999-12-31"], ""),
        (["31.12.1999", "01/02/2003"], ""),
        (["12:30:00", "13:45:10"], ""),
        (["A1", "B2"], ""),
        ([], ""),
    ],
)
def test_of_a_person(values, what):
    assert looks_like(values, numeric=False)[0] == what


def test_numbers_are_no_telephones():
    assert looks_like(["12345678.5", "0.25"], numeric=True) == ("", False)
    assert looks_like(["123456789", "987654321"], numeric=True)[0].startswith("long numbers")


@pytest.mark.parametrize(
    "value", ["31.12.1999", "1999/12/31 12:30", "12-Jan-2020", "3 March 2021", "2020年1月5日", "20200131"]
)
def test_dates(value):
    assert looks_like_dates([value])


def test_compact_dates():
    assert looks_like_compact_dates(["20200131", "19991231"])
    assert not looks_like_compact_dates(["20201331"])
    assert not looks_like_compact_dates([])


@pytest.mark.parametrize(
    "value",
    [
        "20081331",
        "20080230",
        "20080001",
        "45-67-8901",
        "1234-56-78",
        "2023-12-45",
        "12 ABC 1234",
        "99.99.99",
        "21750101",
    ],
)
def test_numbers_of_records_are_no_dates(value):
    assert not looks_like_dates([value])
    assert not looks_like_compact_dates([value])


def test_running_numbers_that_begin_with_a_year_are_no_dates():
    assert not looks_like_compact_dates([str(20080101 + number) for number in range(300)])
    assert looks_like_compact_dates([str(20080101 + number) for number in range(31)])


def test_free_text():
    sentence = "She came on foot, complained about the weather and left again."
    assert is_free_text([sentence, sentence])
    assert not is_free_text(["Never-married", "Divorced"])
    assert not is_free_text(["x" * 100])
    assert not is_free_text([])


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_items(separator):
    cells = ["A B C", "A B", "B C D", "C", "A D", "B D", "A C D", "A B C D"]
    assert find_separator([cell.replace(" ", separator) for cell in cells]) == separator


@pytest.mark.parametrize(
    "values",
    [
        [],
        ["A", "B", "C"],
        [f"Surname{number % 9}, First{number % 7}" for number in range(60)],  # always two parts: a name
        [f"{number},{number % 10}" for number in range(50)],  # decimal commas
        [f"one {number}, two {number}" + ", three" * (number % 2) for number in range(50)],  # parts do not come back
    ],
)
def test_no_items(values):
    assert find_separator(values) == ""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["01234", "98765"], (5, 0)),
        (["123-4567", "765-4321"], (8, 3)),
        (["1234", "12345"], (0, 0)),
        (["12a45", "12345"], (0, 0)),
        (["12", "34"], (0, 0)),
        (["1-234", "12-34"], (0, 0)),
        ([], (0, 0)),
    ],
)
def test_codes(values, expected):
    assert one_length(pa.array(values, pa.large_string())) == expected
