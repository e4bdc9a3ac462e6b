"""Text files in canonical form: what every reader reads alike is accepted, anything else is refused with its line."""

from __future__ import annotations

import csv
import io
import threading

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sudare.audits import audit_release, canonical_text
from sudare.audits.canonical_text import IrregularError, Layout, Tokens, count_records
from sudare.core.errors import DataError

from .tables import policy

PAIRS = policy({"model": "k-anonymity", "k": 2}, quasi=("zone", "job"), sensitive=())
SIX = policy({"model": "k-anonymity", "k": 6}, sensitive=())


def refusal(path, given=PAIRS):
    with pytest.raises(DataError) as error:
        audit_release(path, given)
    return str(error.value)


def test_blanks_after_a_closing_quote_do_not_make_a_class(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("zone\n" + "".join(f'"[20, 30]"{" " * blanks}\n' for blanks in range(6)))
    assert "line 3 has text after a closing quotation mark" in refusal(path, SIX)


FAULTS = {
    "text after a closing quote": (b'a,b\n"a"x,b\n', "line 3 has text after a closing quotation mark"),
    "a quote in a bare field": (b'a,b\na"x,b\n', "line 3 has a quotation mark inside a field"),
    "a blank before a quote": (b'a,b\n "a",b\n', "line 3 has a quotation mark inside a field"),
    "a bare carriage return": (b"a,b\na\rx,b\n", "line 3 ends differently from the first line"),
    "a carriage return at the end": (b"a,b\na,b\r", "line 3 ends differently from the first line"),
    "mixed line ends": (b"a,b\na,b\r\n", "line 3 ends differently from the first line"),
    "a NUL": (b"a,b\na\x00,b\n", "line 3 contains a control character"),
    "a quoted NUL": (b'a,b\n"a\x00",b\n', "line 3 contains a control character"),
    "an escape": (b"a,b\na,\x1b[31mb\n", "line 3 contains a control character"),
    "an end of file": (b"a,b\na,\x1ab\n", "line 3 contains a control character"),
    "a byte order mark": (b"a,b\n\xef\xbb\xbfa,b\n", "line 3 contains a byte order mark"),
    "too many fields": (b"a,b\na,b,c\n", "the number of fields in line 3"),
    "too few fields": (b"a,b\na\n", "the number of fields in line 3"),
    "an empty field too many": (b"a,b\na,b,\n", "the number of fields in line 3"),
    "a blank line": (b"a,b\n\na,b\n", "line 3 is blank"),
    "a line of blanks": (b"a,b\n  \t\na,b\n", "line 3 is blank"),
    "a blank line at the end": (b"a,b\na,b\n\n", "line 4 is blank"),
    "an open quote": (b'a,b\n"a,b\nc,d\n', "line 3 has a quotation mark that is not closed"),
    "an open quote at the end": (b'a,b\na,"b', "line 3 has a quotation mark that is not closed"),
    "two ways to write nothing": (b'a,\na,""\n', "line 3 has an empty field in quotation marks"),
    "nothing in quotes first": (b'"",b\n,b\n', "line 3 has an empty field in quotation marks"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_anything_else_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "release.csv"
    path.write_bytes(b"zone,job\n" + text)
    said = refusal(path)
    assert message in said
    assert "rewrite it with" in said


def test_a_record_over_several_lines_is_named_by_its_first(tmp_path):
    path = tmp_path / "release.csv"
    path.write_bytes(b'zone,job\n"a\n\n",b\n"a\n\n",b,c\n')
    assert "the number of fields in line 5 differs from the header" in refusal(path)


@pytest.mark.parametrize("line", [b"\n", b"  \n", b"\t\n"])
def test_in_one_column_a_blank_line_is_no_missing_cell(tmp_path, line):
    path = tmp_path / "release.csv"
    path.write_bytes(b"zone\n" + b"a\n" * 6 + line * 6)
    assert "line 8 is blank" in refusal(path, SIX)
    path.write_bytes(b"zone\n" + b"a\n" * 6 + b'""\n' * 6)
    report = audit_release(path, SIX)
    assert (report.passed, report.rows, report.classes) == (True, 12, 2)


ROWS = pd.DataFrame({"zone": ["a, b", "a, b", None, None], "job": ['say "x"', 'say "x"', "y\nz", "y\nz"]})
WRITTEN = {
    "pandas": lambda path: ROWS.to_csv(path, index=False),
    "pandas, all in quotes": lambda path: ROWS.to_csv(path, index=False, quoting=csv.QUOTE_ALL),
    "pandas, CR LF": lambda path: ROWS.to_csv(path, index=False, lineterminator="\r\n"),
    "pandas, with a mark": lambda path: ROWS.to_csv(path, index=False, encoding="utf-8-sig"),
    "pandas, semicolons": lambda path: ROWS.to_csv(path, index=False, sep=";"),
    "pandas, tabs": lambda path: ROWS.to_csv(path, index=False, sep="\t"),
    "Polars": lambda path: pl.from_pandas(ROWS).write_csv(path),
    "PyArrow": lambda path: pa.csv.write_csv(pa.Table.from_pandas(ROWS, preserve_index=False), path),
    "R": lambda path: path.write_text(
        '"zone","job"\n"a, b","say ""x"""\n"a, b","say ""x"""\nNA,"y\nz"\nNA,"y\nz"\n'
    ),
}  # fmt: skip


@pytest.mark.parametrize("writer", WRITTEN)
def test_files_of_other_tools_pass(tmp_path, writer):
    path = tmp_path / "release.csv"
    WRITTEN[writer](path)
    report = audit_release(path, PAIRS)
    assert (report.passed, report.rows, report.classes) == (True, 4, 2)


def test_a_quoted_field_may_hold_line_ends_of_any_kind(tmp_path):
    path = tmp_path / "release.csv"
    path.write_bytes(b'zone,job\r\n"a\n\r\nb\r",x\r\n"a\n\r\nb\r",x\r\n')
    assert audit_release(path, PAIRS).passed


# -- the two ways to look at a block, and readers --------------------------------------------------------------------

PIECES = [
    b'"', b'""', b",", b"\n", b"\r\n", b"\r", b" ", b"a", b"b,c", b'"a"', b'"a,b"', b'"\n"', b"\t", b"\x00", b",,",
    b"\xef\xbb\xbf", b"\x1c", b"\xc2\xa0", b"\x7f", b"a,b\n", b'"x\ny",z\n', b"a,b\r\n", b'"",x\n', b",x\n",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join)


def outcome(text, columns, cut, *, slow=False):
    """Return how many records there are, or what is wrong; ``cut`` says how large blocks are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical_text, "BLOCK", cut)
        if slow:
            patch.setattr(Tokens, "_surely_regular", lambda *_: False)
        tokens = Tokens(Layout(columns, ","))
        try:
            for block, last in canonical_text._blocks(io.BytesIO(text)):
                tokens.take(block, last=last)
        except IrregularError as error:
            return str(error)
        return tokens.records


@settings(max_examples=1500, deadline=None)
@given(text=texts, columns=st.integers(1, 3), cut=st.integers(4, 40))
@example(text=b'a\r\n"\r\n"\r', columns=1, cut=3)
def test_the_fast_way_says_what_the_slow_one_says_wherever_blocks_end(text, columns, cut):
    exact = outcome(text, columns, 1 << 20, slow=True)
    assert outcome(text, columns, 1 << 20) == exact
    assert outcome(text, columns, cut) == exact
    assert outcome(text, columns, cut, slow=True) == exact


fields = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"), max_size=4)
cells = st.one_of(fields, st.sampled_from(["", " ", '"', '""', ",", "a\nb", "a\r\nb", "\r", " x ", "NA", "#", "\\"]))


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=12), end=st.sampled_from(["\n", "\r\n"]))
def test_what_a_library_writes_is_accepted_and_read_alike(rows, end, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "release.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        # by itself the library quotes carriage returns only where lines end with them
        quoting = csv.QUOTE_ALL if any("\r" in cell for row in rows for cell in row) else csv.QUOTE_MINIMAL
        csv.writer(file, lineterminator=end, quoting=quoting).writerows([("zone", "job"), *rows])
    assert count_records(path, Layout(2, ","), threading.Event()) == len(rows)
    plain = {"dtype": str, "keep_default_na": False}
    for engine in ("c", "python"):
        frame = pd.read_csv(path, engine=engine, **plain)
        assert list(frame.itertuples(index=False, name=None)) == rows
    assert [(one or "", two or "") for one, two in pl.read_csv(path, infer_schema=False).rows()] == rows
    texts = dict.fromkeys(("zone", "job"), pa.string())
    arrow = pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types=texts),
    )
    assert [tuple(row.values()) for row in arrow.to_pylist()] == rows
