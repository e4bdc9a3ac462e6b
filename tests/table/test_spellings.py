"""Spellings of one text are one value: what folds together, what stays apart, and what becomes of a column."""

from __future__ import annotations

import sys
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sudare.audits.value_spellings import same_text
from sudare.core.errors import DataError
from sudare.table.encode import encode_column, encode_like
from sudare.table.value_spellings import fold

ONE_VALUE = {
    "blanks at the ends": ["HIV", "HIV ", " HIV", "\tHIV\n"],
    "case": ["HIV", "hiv", "Hiv"],
    "blanks of any kind": ["type 2", "type  2", "type\u00a02", "type\u20092", "type\u30002", "type\n2"],
    "composed and decomposed": ["M\u00e9ni\u00e8re", "Me\u0301nie\u0300re", "ME\u0301NIE\u0300RE"],
    "compatible characters": ["ﬁbrosis 2", "fibrosis ２", "Fibrosis ②"],
    "what nobody sees": ["HIV", "H\u200bIV", "\ufeffHIV", "HI\u00adV", "HIV\ufe0f", "HIV\x00", "\u2067HIV\u2069"],
    "sharp s": ["Fuß", "FUSS", "fuss"],
    "dashes": ["co-infection", "co\u2013infection", "co\u2011infection", "co\u2014infection"],
    "quotation marks": ["Crohn's", "Crohn\u2019s", "Crohn\u02bcs", "Crohn`s"],
    "numbers": ["1", "1.0", "1.", "+1", "01", "1e0", "10e-1", "0.1E1", "1.0 ", "１"],
    "zero": ["0", "0.0", "-0", "-0.0", "0e5", "00"],
    "fractions": ["2.5", "2.50", "02.5", "25e-1", "\u22122.5e0".replace("\u2212", "+")],
    "negative numbers": ["-3", "\u22123", "-3.0", "-03"],
    "nothing": ["", " ", "\u00a0", "\u200b", "\u3164"],
}
APART = [
    "HIV", "HIV 2", "HIV2", "H I V", "1", "11", "1.1", "-1", "1e1", "1a", "a1", "1 0", "1,0", "é", "e", "inf", "nan",
    "I10", "1e9999999999", "1e99999999999", "0x1", "1_0", "٣", "+", "-", ".", "e5",
]  # fmt: skip


@pytest.mark.parametrize("spellings", ONE_VALUE.values(), ids=ONE_VALUE)
def test_spellings_of_one_value_fold_together_in_models_and_in_the_audit(spellings):
    assert len({fold(text) for text in spellings}) == 1
    assert len({same_text(text) for text in spellings}) == 1


def test_different_values_stay_apart_in_models_and_in_the_audit():
    assert len({fold(text) for text in APART}) == len(APART)
    assert len({same_text(text) for text in APART}) == len(APART)


def test_without_numbers_digits_are_text():
    assert len({fold(text, numbers=False) for text in ("1", "1.0", "01")}) == 3
    assert len({same_text(text, numbers=False) for text in ("1", "1.0", "01")}) == 3


def test_models_and_audit_agree_on_every_character():
    found, other = {}, {}
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) not in ("Cs", "Cn", "Co"):
            one, two = fold(f"a{chr(code)}") or None, same_text(f"a{chr(code)}")
            assert found.setdefault(one, two) == two, hex(code)
            assert other.setdefault(two, one) == one, hex(code)


pieces = st.text(
    st.sampled_from("aAßſbıİ 10.eE+-'`")
    | st.sampled_from("\u0301\u0345\u0327\u200b\u00a0\u1fb3\u212b\u00ad\u2019\u00a8²"),
    max_size=8,
) | st.text(max_size=6)


@settings(max_examples=400, deadline=None)
@given(one=pieces, two=pieces)
@example(one="\u1fb3\u0327", two="\u1fb3\u00ad\u0327")
def test_models_and_audit_find_the_same_texts_equal(one, two):
    assert (fold(one) == fold(two)) == (same_text(one) == same_text(two))
    assert fold(fold(one)) == fold(one)
    assert bool(fold(one)) == (same_text(one) is not None)


def test_a_column_has_one_code_for_all_spellings_and_shows_the_most_frequent():
    cells = pa.array(["hiv", "HIV", "HIV ", "HIV", "flu", None, "", "\u200b", "Flu"])
    column = encode_column("d", cells, merge=True)
    assert column.values.to_pylist() == ["Flu", "HIV"]  # of two that are as frequent the first by its text
    assert column.codes.tolist() == [1, 1, 1, 1, 0, 2, 2, 2, 0]
    assert column.missing
    assert column.merged == 5  # two of HIV, one of flu, two of missing


def test_an_empty_text_alone_is_missing_and_no_merged_spelling():
    column = encode_column("d", pa.array(["a", ""]), merge=True)
    assert (column.codes.tolist(), column.missing, column.merged) == ([0, 1], True, 0)


def test_numbers_in_text_are_merged_whether_or_not_all_cells_are_numbers():
    numbers = encode_column("d", pa.array(["1", "1.0", "2"]), merge=True)
    assert (numbers.kind, numbers.codes.tolist(), numbers.merged) == ("numeric", [0, 0, 1], 1)
    mixed = encode_column("d", pa.array(["10", "1.0", "2", "x", "1", "01"]), merge=True)
    assert (mixed.kind, mixed.codes.tolist(), mixed.merged) == ("categorical", [2, 0, 1, 3, 0, 0], 2)


def test_without_merging_a_column_is_as_it_was():
    column = encode_column("d", pa.array(["hiv", "HIV", "HIV ", "", None]))
    assert column.codes.tolist() == [3, 1, 2, 0, 4]
    assert (column.keys, column.merged) == (None, None)


def test_numbers_that_have_types_are_not_respelled():
    for cells in (pa.array([3, 1, 2, None]), pa.array([3.0, 1.5, -0.0, 0.0, float("nan"), None])):
        column = encode_column("d", cells, merge=True)
        assert column.values.equals(encode_column("d", cells).values)
        assert column.codes.tolist() == encode_column("d", cells).codes.tolist()


def test_an_order_is_met_by_any_spelling_and_names_no_value_twice():
    cells = pa.array(["Mild ", "severe", "mild"])
    column = encode_column("d", cells, order=["mild", "moderate", "SEVERE"], merge=True)
    assert column.codes.tolist() == [0, 1, 0]
    with pytest.raises(DataError, match=r"columns.d.order: names 1 values twice, in two spellings."):
        encode_column("d", cells, order=["mild", "Mild", "severe"], merge=True)


def test_cells_of_another_table_take_the_spellings_of_a_column():
    column = encode_column("d", pa.array(["HIV", "HIV", "hiv", "flu"]), merge=True)
    again = encode_like(column, pa.array(["hiv ", "FLU", "cold", "hiv"]))
    assert [again.values[code].as_py() for code in again.codes] == ["HIV", "flu", "cold", "HIV"]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_type_of_text_is_merged(kind):
    cells = pa.array(["HIV", "hiv", ""], pa.string()).cast(kind)
    assert encode_column("d", cells, merge=True).codes.tolist() == [0, 0, 1]
