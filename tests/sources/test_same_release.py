"""The same table in every kind of file gives the same release, byte for byte."""

from __future__ import annotations

import datetime
import json

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import sudare
from sudare import datasets

RECORDS = 3000
FIRST = datetime.date(2023, 1, 1)
ITEMS = ("diagnoses", "drugs")
POLICY = {
    "columns": {
        "encounter": {"role": "identifier"},
        "patient": {"role": "subject"},
        "race": {"role": "quasi", "kind": "categorical"},
        "gender": {"role": "quasi", "kind": "categorical"},
        "admission_type": {"role": "quasi", "kind": "categorical"},
        "admitted": {"role": "quasi", "hierarchy": {"dates": ["day", "month", "year"]}},
        "weight": {"role": "quasi", "kind": "numeric"},
        "diagnoses": {"role": "quasi", "kind": "items", "separator": ","},
        "drugs": {"role": "insensitive"},
        "readmitted": {"role": "sensitive"},
        "time_in_hospital": {"role": "insensitive"},
        "seen": {"role": "insensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": 5, "count": "subjects"},
        {"model": "l-diversity", "l": 2, "column": "readmitted"},
    ],
}


@pytest.fixture(scope="module")
def frame():
    table = datasets.diabetes().slice(0, RECORDS)
    found = table.drop_columns(list(ITEMS)).to_pandas()
    for name in ITEMS:
        found[name] = [",".join(items) or None for items in table[name].to_pylist()]
    rows = range(len(found))
    found["admitted"] = [FIRST + datetime.timedelta(days=7 * row % 700) if row % 50 else None for row in rows]
    found["weight"] = [50 + row * 37 % 61 + row % 2 / 2 if row % 30 else None for row in rows]
    found["seen"] = [FIRST + datetime.timedelta(days=row % 90) for row in rows]
    return found


def text_of(cell):
    if cell is None or cell != cell:
        return ""
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def whole(frame):
    """Return the rows with plain cells: numbers that are whole are whole."""
    return [[None if text_of(cell) == "" else cell for cell in row] for row in frame.itertuples(index=False, name=None)]


def write_csv(frame, path):
    lines = [frame.columns, *([text_of(cell) for cell in row] for row in whole(frame))]
    quoted = [",".join(f'"{cell}"' if "," in cell else cell for cell in line) for line in lines]
    with pa.output_stream(str(path), compression="detect") as out:  # by the ending: plain, gzip or zstd
        out.write(("\n".join(quoted) + "\n").encode())


def write_german(frame, path):
    def german(cell):
        if isinstance(cell, datetime.date):
            return f" {cell:%d.%m.%Y} "
        return text_of(cell).replace(".", ",") if isinstance(cell, float) else text_of(cell)

    lines = ["A title; and more", ";".join(frame.columns) + ";"]
    lines += [";".join(map(german, row)) + ";" for row in whole(frame)]
    path.write_bytes("\r\n".join([*lines, ";" * len(frame.columns), "", ""]).encode("cp1252"))


def write_json(frame, path):
    lines = [json.dumps(dict(zip(frame.columns, row, strict=True)), default=str) for row in whole(frame)]
    with pa.output_stream(str(path), compression="detect") as out:
        out.write("\n".join(lines).encode())


def write_excel(frame, path):
    frame.to_excel(path, sheet_name="people", index=False, engine="xlsxwriter", engine_kwargs={"options": {}})


def labelled(frame):
    """Return a column as the codes and labels in which statistics programs keep it."""
    labels = dict(enumerate(sorted(frame["race"].dropna().unique()), 1))
    codes = {text: float(number) for number, text in labels.items()}
    return frame.assign(race=frame["race"].map(codes)), {"race": labels}


def write_spss(frame, path):
    codes, labels = labelled(frame)
    pyreadstat.write_sav(codes, str(path), variable_value_labels=labels)


def write_stata(frame, path):
    codes, labels = labelled(frame)
    pyreadstat.write_dta(codes, str(path), variable_value_labels=labels)


FILES = {
    "people.csv": write_csv,
    "people.csv.gz": write_csv,
    "people.csv.zst": write_csv,
    "people.parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "people.jsonl": write_json,
    "people.jsonl.gz": write_json,
    "people.xlsx": write_excel,
    "people.sav": write_spss,
    "people.dta": write_stata,
    "people.xpt": lambda frame, path: pyreadstat.write_xport(frame, str(path)),
}
GERMAN = {"skip_rows": 1, "encoding": "cp1252", "decimal": ",", "dates": "dd.mm.yyyy", "trim": True}


@pytest.fixture(scope="module")
def expected(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    write_csv(frame, folder / "people.csv")
    sudare.anonymize(folder / "people.csv", POLICY, out=folder / "release.csv", seed=7)
    return (folder / "release.csv").read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_the_release_is_the_same(frame, expected, name, tmp_path):
    FILES[name](frame, tmp_path / name)
    sudare.anonymize(tmp_path / name, POLICY, out=tmp_path / "release.csv", seed=7)
    assert (tmp_path / "release.csv").read_bytes() == expected


def test_the_release_of_a_german_export_is_the_same(frame, expected, tmp_path):
    write_german(frame, tmp_path / "people.csv")
    sudare.anonymize(tmp_path / "people.csv", {**POLICY, "source": GERMAN}, out=tmp_path / "release.csv", seed=7)
    assert (tmp_path / "release.csv").read_bytes() == expected


def test_the_table_says_something(frame, expected):
    """Dates, fractions, item sets and missing cells are in it, and the release shows them."""
    shown = pd.read_csv(pa.BufferReader(expected), dtype=str)
    assert shown["admitted"].nunique() > 2
    assert shown["weight"].nunique() > 2
    assert shown["diagnoses"].nunique() > 2
    assert frame[["race", "weight", "admitted", "drugs"]].isna().any().all()
