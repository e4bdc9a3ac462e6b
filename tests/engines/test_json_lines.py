"""JSON lines: keys name the columns, and text stays text."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

import sudare
from sudare import api
from sudare.core.errors import DataError
from sudare.engines import TextForm, file_columns, read_file


def read(path, text):
    path.write_text(text, encoding="utf-8")
    return read_file(path, file_columns(path, TextForm()), TextForm())


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson"])
def test_objects_are_records(tmp_path, ending):
    text = '{"age": 39, "job": "nurse"}\n{"job": null, "age": 40}\n\n{"age": 41, "late": true}\n'
    table = read(tmp_path / f"people{ending}", text)
    assert table.to_pylist() == [
        {"age": 39, "job": "nurse", "late": None},
        {"age": 40, "job": None, "late": None},
        {"age": 41, "job": None, "late": True},
    ]


def test_a_column_may_begin_late(tmp_path):
    lines = ['{"age": 1}'] * 100_000 + ['{"age": 2, "job": "cook"}']
    table = read(tmp_path / "people.jsonl", "\n".join(lines))
    assert table.column_names == ["age", "job"]
    assert table["job"].null_count == 100_000


def test_dates_in_text_stay_text(tmp_path):
    table = read(tmp_path / "people.jsonl", '{"day": "2024-02-29", "days": ["2024-02-29"], "age": 1}\n')
    assert table["day"].to_pylist() == ["2024-02-29"]
    assert table["days"].to_pylist() == [["2024-02-29"]]


def test_lists_are_item_sets(tmp_path):
    table = read(tmp_path / "people.jsonl", '{"drugs": ["a", "b"]}\n{"drugs": []}\n{"drugs": null}\n')
    assert pa.types.is_list(table["drugs"].type)
    assert table["drugs"].to_pylist() == [["a", "b"], [], None]


def test_compressed_lines(tmp_path):
    path = tmp_path / "people.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"age": 39}\n'))
    assert read_file(path, ["age"], TextForm()).to_pylist() == [{"age": 39}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"age": 39}\n{"age": "x7"}\n', "column 'age': mixes numbers (first in line 1) and text (first in line 2)"),
        ('{"age": 39, "b": 1}\n{"age": [1], "b": true}\n', "column 'b': mixes numbers (first in line 1) and truth"),
        ('{"home": {"zip": "x7"}}\n', "column 'home': holds objects"),
        ('{"age": 39}\n["x7"]\n\n"x7"\n', "lines 2 and 4 are not an object of JSON"),
        ('{"age": 39\n', "line 1 is not an object of JSON"),
        ('{"age": 39, "age": 40}\n{"age": "x7"}', "an object has the key 'age' twice"),
        ("age,x7\n39,x7\n", "lines 1 and 2 are not an object of JSON"),
        ('{"id": 12345678901234567890}\n', "column 'id': holds numbers of more than 15 digits"),
        ('{"id": 9007199254740993}\n{"id": 0.5}\n', "column 'id': holds numbers of more than 15 digits"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n", "has lists inside lists in line 1, too deep"),
        ("\n\n", "has columns but no records"),
        ("{}\n", "has columns but no records"),
    ],
)
def test_what_is_wrong_is_told_without_cells(tmp_path, text, told):
    with pytest.raises(DataError) as raised:
        read(tmp_path / "people.jsonl", text)
    assert told in str(raised.value)
    assert "x7" not in str(raised.value)


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize(
    "record", ['{"name": "Jörg", "age": 40}', '{"größe": 2, "age": 40}', '{"n": ["Jörg"], "age": 40}']
)
def test_another_encoding_is_told_when_the_file_is_opened(tmp_path, ending, record):
    path = tmp_path / f"people{ending}"
    text = f'{{"age": 39}}\n{record}\n'
    for encoding, line in (("latin-1", 2), ("utf-16", 1)):
        content = text.encode(encoding)
        path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
        with pytest.raises(DataError) as raised:
            file_columns(path, TextForm())
        [problem] = raised.value.problems
        assert f"is not UTF-8 (line {line}), and JSON lines have no other encoding" in problem.what
        assert problem.hint == "save it as UTF-8."
    content = text.encode("utf-8")
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    assert "age" in file_columns(path, TextForm())


def test_every_verb_tells_another_encoding(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_bytes(
        "".join(f'{{"name": "Jörg", "age": {age}, "rooms": {age}}}\n' for age in range(40)).encode("cp1252")
    )
    policy = {
        "columns": {"age": {"role": "quasi"}, "rooms": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    verbs = {
        "draft": lambda: sudare.draft(path),
        "explain": lambda: sudare.explain(path),
        "make": lambda: api.make_hierarchy(path, "age", "auto"),
        "anonymize": lambda: sudare.anonymize(path, policy),
        "preview": lambda: sudare.preview(path, policy),
        "risk": lambda: sudare.risk(path, policy),
    }
    for name, verb in verbs.items():
        with pytest.raises(DataError) as raised:
            verb()
        assert "is not UTF-8 (line 1)" in str(raised.value), name
        assert "Hint: save it as UTF-8." in str(raised.value), name
        assert raised.value.exit_code == 2


@pytest.mark.parametrize("record", ['{"name": "\\ud800"}', '{"\\udfff": 1}'])
def test_half_a_letter_is_told(tmp_path, record):
    with pytest.raises(DataError):
        read(tmp_path / "people.jsonl", f"{record}\n")


def test_one_json_document_is_to_be_saved_as_lines(tmp_path):
    (tmp_path / "people.json").write_text("[]")
    with pytest.raises(DataError, match="save it as JSON lines"):
        file_columns(tmp_path / "people.json", TextForm())


def test_only_named_columns_are_judged(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_text('{"age": 39, "home": {"zip": 1}, "id": 12345678901234567890}\n')
    assert read_file(path, ["age"], TextForm()).to_pylist() == [{"age": 39}]
