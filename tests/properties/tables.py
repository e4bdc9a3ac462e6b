"""Random tables with random policies, and what a released cell covers, told without the package's own rendering."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sudare.methods import METHODS, Flag, Seconds, Share, Weight, Whole
from sudare.policy.effects import idle
from sudare.releases import Anything, Choice, Interval, parse_cell

NASTY = [
    "", " ", "x", "*", "null", "NULL", "None", "nan", "NaN", "0", "01", "1", "1.0", "-1", "a, b", "a,b", ", ", ",",
    "[", "]", "[1, 2]", "[a, b]", "{", "}", "{a, b}", "{null}", '"', '""', '"x"', 'say "hi"', "it's", "\\", "\\n",
    "\n", "a\nb", "a\r\nb", "\t", " lead", "trail ", "a;b", "a|b", "#c", "日本", "é", "e\u0301", "😀", "\u2028",
    "\u200b", "\ufeffbom", "ß", "=1+1", "TRUE", "true", "2020-02-30", "inf", "0x1F", "NA",
]  # fmt: skip
NAMES = ["a", "b c", 'q"t', "x,y", "ü", "new\nline", "[1]", "{z}", "select", "0", "who?", "*", "null", "k;l"]

TEXT_ENDINGS = (".csv", ".tsv")
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")


def unwritable(values: Iterable[Any]) -> bool:
    """Say whether any of these cannot stand in a text file that all readers read alike."""
    return any(isinstance(value, str) and _UNWRITABLE.search(value) for value in values)


_POOLS: dict[str, tuple[st.SearchStrategy[Any], pa.DataType]] = {
    "integer": (st.one_of(st.integers(-5, 60), st.sampled_from([2**62, -(2**62), 10**9])), pa.int64()),
    "float": (
        st.sampled_from([0.0, -0.0, math.nan, 0.1, 0.2, 0.30000000000000004, 1.0, -2.5, 1e15, 1e300, 1e-9, 39.0]),
        pa.float64(),
    ),
    "date": (st.dates(date(1999, 1, 1), date(2001, 1, 1)), pa.date32()),
    "time": (st.datetimes(datetime(2000, 1, 1), datetime(2000, 1, 3)), pa.timestamp("us")),
    "duration": (st.timedeltas(timedelta(0), timedelta(days=40)), pa.duration("us")),
    "decimal": (st.decimals(-10, 10, places=2), pa.decimal128(9, 2)),
    "text": (st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec="utf-8"), max_size=3)), pa.string()),
    "truth": (st.booleans(), pa.bool_()),
}


class Drawn:
    """A table as lists of Python values, its types, and a policy for it."""

    def __init__(self, columns: dict[str, list[Any]], types: dict[str, str], policy: dict[str, Any]) -> None:
        self.columns, self.types, self.policy = columns, types, policy

    def __repr__(self) -> str:
        return f"Drawn({self.columns!r}, {self.types!r}, {self.policy!r})"

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def arrow(self) -> pa.Table:
        return pa.table({name: pa.array(cells, _POOLS[self.types[name]][1]) for name, cells in self.columns.items()})

    def named(self, role: str) -> list[str]:
        return [name for name, spec in self.policy["columns"].items() if spec["role"] == role]

    def value(self, name: str, row: int) -> Any:
        """The cell as sudare understands it: not-a-number is missing."""
        cell = self.columns[name][row]
        return None if isinstance(cell, float) and math.isnan(cell) else cell

    def is_number(self, name: str) -> bool:
        spec = self.policy["columns"][name]
        return self.types[name] not in ("text", "truth") and spec.get("kind") != "categorical" and not self.flat(name)

    def flat(self, name: str) -> bool:
        return "hierarchy" in self.policy["columns"][name]

    def covered(self, name: str, row: int, released: str | None) -> bool:
        """Say whether a released cell of a quasi-identifier covers the cell of a record."""
        value = self.value(name, row)
        if self.flat(name):  # a leaf as it is, or quoted as in JSON, or the root
            text = None if value is None else as_text(value)
            return released in ("*", text) or (text is not None and released == json.dumps(text, ensure_ascii=False))
        cell = parse_cell(released)
        if METHODS[self.policy["method"]["name"]].aggregates and self.is_number(name):
            # one value for all records of a class, or none if one of them has none
            return cell is None or (isinstance(cell, str) and value is not None)
        if isinstance(cell, Anything):
            return True
        if value is None:
            return cell is None or (isinstance(cell, Choice) and None in cell.members)
        if isinstance(cell, Interval):
            return self.is_number(name) and read(cell.low, value) <= value <= read(cell.high, value)
        if isinstance(cell, Choice):
            return not self.is_number(name) and (
                as_text(value) in cell.members or self.other(name, value, cell.members)
            )
        if self.is_number(name):
            return cell is not None and read(cell, value) == value
        return cell == as_text(value) or self.other(name, value, (cell,))

    def other(self, name: str, value: Any, members: Iterable[str | None]) -> bool:
        """Say whether these members stand for a value that few records hold, or few people where they are counted."""
        least = max([2, *(spec.get("k", 0) for spec in self.policy["require"]),
                     *(math.ceil(spec.get("l", 0)) for spec in self.policy["require"])])  # fmt: skip
        cells = enumerate(self.columns[name])
        holders = [row for row, cell in cells if cell is not None and as_text(cell) == as_text(value)]
        if any(spec.get("count") == "subjects" for spec in self.policy["require"]):
            [who] = self.named("subject")
            holders = list({self.value(who, row) for row in holders})
        return "other" in members and len(holders) < least


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        seconds = Decimal(value // timedelta(microseconds=1)).scaleb(-6).normalize()
        return f"PT{seconds:f}S"
    return str(value)


def read(text: str, like: Any) -> Any:
    """Read one end of an interval as a value of the same kind."""
    if isinstance(like, timedelta):
        return timedelta(microseconds=int(Decimal(text.removeprefix("PT").removesuffix("S")).scaleb(6)))
    if isinstance(like, date):  # datetimes are dates
        return type(like).fromisoformat(text)
    return type(like)(text)


@st.composite
def drawn_tables(
    draw, *, limits=(0.0, 0.1, 0.4), orders=("class", "keep"), subjects=True, records=("dropped",)
) -> Drawn:
    rows = draw(st.integers(1, 24))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    columns: dict[str, list[Any]] = {}
    types: dict[str, str] = {}
    specs: dict[str, dict[str, Any]] = {}
    for index, name in enumerate(names):
        roles = ["quasi", "quasi", "sensitive", "insensitive", "identifier", *(["subject"] if subjects else [])]
        role = "quasi" if index == 0 else draw(st.sampled_from(roles))
        if role == "subject" and any(spec["role"] == "subject" for spec in specs.values()):
            role = "sensitive"
        kind = draw(st.sampled_from(sorted(_POOLS)))
        pool = draw(st.lists(_POOLS[kind][0], min_size=1, max_size=rows if role == "subject" else 5))
        cell = st.sampled_from([*pool, None]) if draw(st.booleans()) else st.sampled_from(pool)
        columns[name] = draw(st.lists(cell, min_size=rows, max_size=rows))
        types[name] = kind
        specs[name] = {"role": role, **draw(_details(kind, role, columns[name]))}
    require = draw(_requirements(specs))
    models = [spec["model"] for spec in require]
    classes = [name for name, spec in specs.items() if fit_for_class(spec["role"], columns[name])]
    methods = [m for m in _METHODS if METHODS[m["name"]].needs in (None, *models)]
    on_axis = any(_has_axis(types[name], spec) for name, spec in specs.items() if spec["role"] == "quasi")
    methods = [m for m in methods if on_axis or not METHODS[m["name"]].aggregates]
    method = draw(st.sampled_from([m for m in methods if classes or "target" not in METHODS[m["name"]].options]))
    if "target" in METHODS[method["name"]].options:
        method = {**method, "target": draw(st.sampled_from(classes))}
    policy = {
        "columns": specs,
        "require": require,
        "method": method,
        "suppression": {"limit": draw(st.sampled_from(limits)), "records": draw(st.sampled_from(records))},
        "release": {
            "order": draw(st.sampled_from(orders)),
            "subjects": draw(st.sampled_from(["per-class", "linked"])),
        },
    }
    return Drawn(columns, types, effective(policy))


def _has_axis(kind: str, spec: dict[str, Any]) -> bool:
    """Say whether a column holds numbers or dates that can be aggregated."""
    return kind not in ("text", "truth") and spec.get("kind") != "categorical" and "hierarchy" not in spec


def effective(policy: dict[str, Any]) -> dict[str, Any]:
    """Return a policy without the keys that have no effect in it, which would be errors."""
    found = {problem.where for problem in idle(policy, METHODS)}
    columns = {
        name: {key: value for key, value in spec.items() if f"columns.{name}.{key}" not in found}
        for name, spec in policy["columns"].items()
    }
    usual = {
        "suppression": {"limit": 0.0, "records": "dropped", "unseen": "reject"},
        "release": {"subjects": "per-class"},
    }
    parts = {
        part: {key: usual[part][key] if f"{part}.{key}" in found else value for key, value in policy[part].items()}
        for part in usual
        if part in policy
    }
    method = {key: value for key, value in policy["method"].items() if f"method.{key}" not in found}
    less = {**policy, "columns": columns, "method": method, **parts}
    return less if less == policy else effective(less)


def _some(allowed: Any) -> tuple[Any, ...]:
    """Some values of an option."""
    if isinstance(allowed, tuple):
        return allowed
    some = {Seconds: (60.0,), Share: (0.1, 0.5), Weight: (0.5, 1), Whole: (2,), Flag: (True,)}
    return some.get(type(allowed), ())  # others name columns


def fit_for_class(role: str, cells: list[Any]) -> bool:
    """Say whether a column can be the class of a method that asks for one."""
    known = [cell for cell in cells if cell is not None and cell == cell and cell != ""]
    return role in ("sensitive", "insensitive") and len(known) == len(cells) and len(set(known)) > 1


# those that make classes; what leaves quasi-identifiers as they are is told apart in tests/conformance/test_hiding.py
_CLASSES = {name: method for name, method in METHODS.items() if not method.leaves_quasi}
_METHODS = [
    *({"name": name} for name in _CLASSES),
    *(
        {"name": name, key: value}
        for name, method in _CLASSES.items()
        for key, allowed in method.options.items()
        # of item sets, and of blind decisions
        if key not in ("objective", "items", "remainder", "beta", "rank", "sensitive", "slack")
        for value in _some(allowed)
    ),
]


@st.composite
def _details(draw, kind: str, role: str, cells: list[Any]) -> dict[str, Any]:
    # text of which all cells look like numbers would become numbers, which another test is about
    details: dict[str, Any] = {} if kind != "text" or "x" in cells else {"kind": "categorical"}
    if role == "quasi":
        if kind in ("integer", "date", "decimal") and draw(st.booleans()):
            details["kind"] = draw(st.sampled_from(["numeric", "categorical"]))
        if kind in ("text", "integer", "date") and "*" not in cells and draw(st.integers(0, 3)) == 0:
            details["hierarchy"] = "flat"
        details["weight"] = draw(st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.0]))
    return details


@st.composite
def _requirements(draw, specs: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    sensitive = [name for name, spec in specs.items() if spec["role"] == "sensitive"]
    choices: list[Any] = [st.fixed_dictionaries({"model": st.just("k-anonymity"), "k": st.integers(2, 4)})]
    if any(spec["role"] == "subject" for spec in specs.values()):
        counted = {"model": st.just("k-anonymity"), "k": st.integers(2, 3), "count": st.just("subjects")}
        choices += [st.fixed_dictionaries(counted)] * 2
    if sensitive:
        column = st.sampled_from(sensitive)

        def model(name, **parameters):
            return st.fixed_dictionaries({"model": st.just(name), "column": column, **parameters})

        choices += [
            model("l-diversity", l=st.integers(2, 3)),
            model("l-diversity", l=st.sampled_from([1.5, 2.0]), variant=st.just("entropy")),
            model("l-diversity", l=st.integers(2, 3), variant=st.just("recursive"), c=st.sampled_from([1.0, 3.0])),
            model("t-closeness", t=st.sampled_from([0.0, 0.2, 0.5]), distance=st.sampled_from(["equal", "ordered"])),
            model("alpha-k-anonymity", alpha=st.sampled_from([0.5, 0.8]), k=st.just(2)),
            model("beta-likeness", beta=st.sampled_from([0.5, 2.0]), variant=st.sampled_from(["basic", "enhanced"])),
            model("delta-disclosure", delta=st.sampled_from([0.5, 1.5])),
        ]
    return draw(st.lists(st.one_of(choices), min_size=1, max_size=3))
