"""Every type of Arrow in every role, by every method, into every format: released rightly, or refused clearly.

A case is a small table with one column of the type beside plain ones, under a name that is hard on SQL, JSON and paths.
Of what is released, each record's cell is compared with the source's, digit by digit. A refusal has to be one of those
that are expected, and the message may not show a cell; anything but a release or a refusal is a crash.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import sudare
from sudare.core.errors import AuditFailedError, SudareError
from sudare.releases import Anything, Choice, Interval, parse_cell

from .arrow_columns import COLUMNS, ROWS, meaning, read_text
from .arrow_refusals import expected

TITLE = "every Arrow type, role, method and format: right, or a clear refusal"
ROLES = ("quasi", "sensitive", "insensitive", "subject")
METHODS = ("top-down", "mondrian", "full-domain", "tds", "l-clustering", "three-phase", "dummies", "anatomy", "pram")
FORMATS = ("frame", "csv", "parquet", "arrow")
NAMES = ("x", "a\\b", "q\"uo'te", "\\", "c:\\new\\table", "naïve; --", "%s{0}", "x.y/z", "$.a[0]\\n", "'\\''")
WHOLE = [(kind, role, method, form) for kind in COLUMNS for role in ROLES for method in METHODS for form in FORMATS]
FULL = len(WHOLE)
REDUCED = 60


def case(number: int) -> str:
    """Try one combination."""
    kind, role, method, form = WHOLE[number]
    name = NAMES[number % len(NAMES)]
    cells = COLUMNS[kind]()
    table = pa.table(
        {
            "age": pa.array([20 + row % 6 for row in range(ROWS)]),
            name: cells,
            "ill": pa.array(["flu", "pox", "cold", "gout"]).take(pa.array([row // 6 for row in range(ROWS)])),
            "row": pa.array(range(ROWS)),
        }
    )
    policy = policy_of(name, role, method)
    why = expected(kind, role, method, form)
    with tempfile.TemporaryDirectory() as folder:
        target = None if form == "frame" else Path(folder) / f"re\\lease 'n\".{form}"
        try:
            release = sudare.anonymize(table, policy, out=target)
        except AuditFailedError as error:
            raise AssertionError(f"{WHOLE[number]}: its own audit failed: {error}") from None
        except SudareError as error:
            assert why is not None, f"{WHOLE[number]}: refused although it is fine: {error}"
            check_message(str(error), name, cells)
            assert not list(Path(folder).iterdir()), f"{WHOLE[number]}: a refusal left something"
            return f"refused: {why}"
        assert why is None, f"{WHOLE[number]}: released, although it should be refused: {why}"
        if target is not None:
            report = sudare.audit(target, policy)
            assert report.passed, f"{WHOLE[number]}: audited again: {report.problems}"
        check_values(cells, name, role, method, release, target)
    return "released"


def policy_of(name: str, role: str, method: str) -> dict[str, Any]:
    """Return a policy that the method can keep, with the column in its role."""
    columns: dict[str, Any] = {
        "age": {"role": "quasi"},
        name: {"role": role},
        "ill": {"role": "sensitive" if role != "sensitive" else "insensitive"},
        "row": {"role": "insensitive"},
    }
    hidden = name if role == "sensitive" else "ill"
    diverse = {"model": "l-diversity", "l": 2, "column": hidden}
    require: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 3}, diverse]
    about: dict[str, Any] = {"name": method}
    if method == "tds":
        about["target"] = "ill"
    if method == "three-phase":
        require = [
            {**diverse, "variant": "distinct"},
            {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": hidden},
        ][:1]
    if method in ("dummies", "anatomy"):
        require = [diverse]
    if method == "pram":
        require = [{"model": "pk-anonymity", "k": 2}]
    if role == "subject" and method not in ("dummies", "anatomy", "pram"):
        require = [*require, {"model": "k-anonymity", "k": 2, "count": "subjects"}]
    return {"columns": columns, "require": require, "method": about, "release": {"formulas": "keep"}}


def check_message(text: str, name: str, cells: pa.Array) -> None:
    """A message tells the column, and no cell of it that could be told from other words."""
    assert "Traceback" not in text
    held = {str(cell) for cell in meaning(cells) if cell is not None and len(str(cell)) > 6}
    assert not [cell for cell in held if cell in text], f"a message quotes a cell of {name}"


def check_values(
    cells: pa.Array, name: str, role: str, method: str, release: sudare.Release, target: Path | None
) -> None:
    """Compare what is released with what was there."""
    truth, kind = meaning(cells), cells.type
    columns = read_release(release, target)
    rows = [int(row) for row in columns["row"]]
    assert sorted(rows) == list(range(ROWS)), "records were lost, or doubled"
    if role == "subject":
        return
    if method == "anatomy" and role == "sensitive":
        second = read_table(release.second, target) if target is None else read_table(release.second, release.second)
        shown = Counter(plain(cell, kind, target) for cell in spread(second, name))
        told = Counter(repr(required(value or None if isinstance(value, str) else value)) for value in truth)
        assert shown == told, f"{shown} in the second table"
        return
    domain = {repr(required(value)) for value in truth} | ({"None"} if "" in truth else set())
    for row, cell in zip(rows, columns[name], strict=True):
        value = required(truth[row]) if method == "pram" or role != "insensitive" else truth[row]
        if method == "pram" and role in ("quasi", "sensitive"):
            assert plain(cell, kind, target) in domain, f"{cell!r} is no value of the column"
        elif method == "dummies" and role == "sensitive":
            assert any(same(member, value, kind, target) for member in members(cell, kind)), (
                f"{cell!r}, and it is {value!r}"
            )
        elif role == "quasi" and method not in ("dummies", "anatomy"):
            assert covers(cell, value, kind), f"{cell!r} does not cover {value!r}"
        else:
            assert same(cell, value, kind, target) or same(cell, truth[row], kind, target), (
                f"{cell!r}, and it is {value!r}"
            )


def required(value: Any) -> Any:
    """Return what a value is for a method: not-a-number is missing, and minus zero is zero."""
    if value == "nan":
        return None
    if isinstance(value, Decimal):
        return Fraction(value)
    return value + 0.0 if isinstance(value, float) else value


def read_release(release: sudare.Release, target: Path | None) -> dict[str, list[Any]]:
    """Return the columns of a release: what cells mean, or their text in a text file."""
    return read_table(release.data, target)


def read_table(data: Any, target: Path | None) -> dict[str, list[Any]]:
    if target is not None and target.suffix == ".csv":
        with target.open(newline="", encoding="utf-8") as file:
            names, *lines = list(csv.reader(file))
        return {name: [line[at] or None for line in lines] for at, name in enumerate(names)}
    if target is None:
        table = data
    else:
        table = pq.read_table(target) if target.suffix == ".parquet" else pa.ipc.open_file(target).read_all()
    return {name: meaning(table.column(name)) for name in table.column_names}


def spread(second: dict[str, list[Any]], name: str) -> list[Any]:
    return [cell for cell, count in zip(second[name], second["count"], strict=True) for _ in range(int(count))]


def plain(cell: Any, kind: pa.DataType, target: Path | None) -> str:
    if cell is None or target is None or target.suffix != ".csv":
        return repr(required(str(cell) if kind == pa.string() and cell is not None else cell))
    return repr(required(read_text(cell, kind)))


def same(cell: Any, value: Any, kind: pa.DataType, target: Path | None) -> bool:
    """Say whether a cell means a value; a text file cannot tell an empty text from a missing one."""
    if target is None or target.suffix != ".csv" or cell is None or value is None:
        empty = cell is None and value in ("", b"", [])
        # numbers that came as text are numbers, with all of their digits
        return cell == value or empty or (kind == pa.string() and isinstance(cell, int) and str(cell) == value)
    if isinstance(value, list):
        return cell == ",".join(str(item) for item in value if item is not None)
    return bool(read_text(cell, kind) == value)


def members(cell: Any, kind: pa.DataType) -> list[Any]:
    return cell if isinstance(cell, list) else [part or None for part in cell.split(",")]


def covers(text: str | None, value: Any, kind: pa.DataType) -> bool:
    """Say whether a released cell of a quasi-identifier covers a value."""
    if isinstance(value, list) or isinstance(text, list):
        return True  # item sets have a trial of their own
    cell = parse_cell(text)
    if isinstance(cell, Anything):
        return True
    if isinstance(cell, Choice):
        return any(
            member is None if value is None else member is not None and read_text(member, kind) == value
            for member in cell.members
        )
    if value is None or cell is None:
        return cell is None and (value is None or value == "")
    if isinstance(cell, Interval):
        return bool(read_text(cell.low, kind) <= value <= read_text(cell.high, kind))
    return bool(read_text(cell, kind) == value)
