"""Labels under a decimal comma: whatever sudare writes reads back as it was, here and in the audit."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.audits.decimal_commas import number_columns, with_points
from sudare.core.errors import DataError
from sudare.releases.decimal_commas import (
    LIKE_A_NUMBER,
    numbers_among_words,
    read_without_commas,
    with_commas,
    without_commas,
)

SHOWN = {
    "17.5": "17,5",
    "-1.5e-07": "-1,5e-07",
    "1e-05": "1e-05",
    "39": "39",
    "*": "*",
    "[17.5, 42]": "[17,5; 42]",
    "[-3, -0.25]": "[-3; -0,25]",
    "[0.5, 1)": "[0,5; 1)",
    "[2020-01-01, 2021-01-01]": "[2020-01-01; 2021-01-01]",
    "[10:00:00.5, 11:00:00]": "[10:00:00.5; 11:00:00]",
    "[PT0.5S, PT2S]": "[PT0.5S; PT2S]",
    "nan": "nan",
}
number = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda found: f"{found:f}"),
)
label = st.one_of(
    number,
    st.tuples(number, number, st.sampled_from("])")).map(lambda ends: f"[{ends[0]}, {ends[1]}{ends[2]}"),
    st.just("*"),
)


@pytest.mark.parametrize(("text", "shown"), SHOWN.items())
def test_what_is_shown(text, shown):
    for cells in (pa.array([text, None]), pa.array([text, None], pa.large_string()).dictionary_encode()):
        assert with_commas(cells).to_pylist() == [shown, None]
        assert without_commas(with_commas(cells)).to_pylist() == [text, None]
    assert read_without_commas(pa.table({"a": [shown], "b": [shown]}), ["a"]).to_pylist() == [{"a": text, "b": shown}]


def audited(cells):
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"c0": pa.array(cells, pa.string())}))
        assert number_columns(connection, "given", ["c"], ["c"], "release") == ("c",)
        return [cell for (cell,) in connection.execute(f"SELECT {with_points('c0')} FROM given").fetchall()]


@given(st.lists(label, min_size=1))
def test_every_label_reads_back_as_it_was(labels):
    shown = with_commas(pa.array(labels)).to_pylist()
    assert not any("." in cell for cell in shown)
    assert without_commas(pa.array(shown)).to_pylist() == labels
    assert audited(shown) == labels


@given(st.lists(label, unique=True, min_size=1))
def test_labels_that_differ_are_written_differently(labels):
    assert len(set(with_commas(pa.array(labels)).to_pylist())) == len(labels)


@pytest.mark.parametrize("cell", ["1.5", "[1, 2]", "[1.5; 2]", "[1,5, 2]", "-0.5e3", "[1,5; 2.5)"])
def test_the_audit_finds_cells_in_another_form(cell):
    with pytest.raises(DataError, match="1 cells that are not written with a decimal comma"):
        audited(["17,5", cell])


SPELLINGS = [
    "+1,5", "1,5 ", " 1,5", "1,", "1.000,5", "1 000,5", "1'000,5", "1.000.000", "1 000", "1,000.5", "'+1,5", "+1,5e3",
    "\u20131,5", "\u22121,5", "\uff11,5", "1\uff0c5", "1,5\u200b", "1,5\u00a0", "1,\u00ad5", "\uff0b1,5",
    "\U0001d7cf,5", "1\u00a0000,5", "1\u2019000,5", "+1.5", "1.5 ", "\uff11.5", "1,5\uff453",
]  # fmt: skip


@pytest.mark.parametrize("cell", SPELLINGS)
def test_numbers_have_one_spelling(cell):
    """The audit takes no other one in a column of numbers; and no column with another one is written so."""
    with pytest.raises(DataError, match="column 'c' has 2 cells with numbers that are not spelled as they have to be"):
        audited(["17,5", cell, "39", cell])
    plain = cell if "." in cell or "," not in cell else cell.replace(",", ".")
    for text in {cell, plain}:
        told = number_told(text)
        assert told is not numbers_among_words(pa.chunked_array([["17.5", text, "n.d."]])), text


def number_told(text):
    """Return whether the audit refuses what a column of numbers shows of a text of the source."""
    try:
        audited(with_commas(pa.array(["17.5", text, "n.d."])).to_pylist())
    except DataError:
        return True
    return False


def test_words_and_whole_numbers_may_stand_among_numbers():
    words = ["n.d.", "1, 2", "12.5 kg", "2020-01-01", "31.12.2024", "10:00:00.5", "\u6771\u4eac1,5", "-", "+12", " 12",
             "1.", "\uff11", "1,5,2", "1,5;", "\u00bd", "+49 1512"]  # fmt: skip
    assert audited(["17,5", *words]) == ["17.5", *words]
    assert numbers_among_words(pa.chunked_array([["17.5", *words]]))


@pytest.mark.parametrize("cell", ["+2,5", "\uff12,5", "2,5\u200b", "\u20132,5", "2,5 ", "1.000,5\u200b"])
def test_a_number_in_any_spelling_makes_a_column_one_of_numbers(cell):
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"c0": ["a", cell]}))
        with pytest.raises(DataError, match="1 cells with numbers that are not spelled"):
            number_columns(connection, "given", ["c"], None, "release")


@pytest.mark.parametrize("cell", ["+2,5", "2,5 ", " 2,5", "-1.000,5"])
def test_what_readers_take_for_numbers_is_told(cell):
    """Programs read such cells as numbers, too."""
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"c0": ["a", cell]}))
        with pytest.raises(DataError, match="1 cells with a decimal comma, and is not told"):
            number_columns(connection, "given", ["c"], [], "release")
    assert pc.match_substring_regex(pa.array([cell]), LIKE_A_NUMBER).to_pylist() == [True]


def test_columns_of_numbers_have_to_be_told():
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"c0": ["1,5", "2"], "c1": ["[1; 2]", "3"], "c2": ["a", "1.5"]}))
        names = ["a", "b", "c"]
        assert number_columns(connection, "given", names, None, "release") == ("a", "b")
        with pytest.raises(DataError, match="column 'a' has 1 cells with a decimal comma"):
            number_columns(connection, "given", names, ["b"], "release")
        with pytest.raises(DataError, match="1 columns"):
            number_columns(connection, "given", names, ["a", "b", "x"], "release")
