"""Names and values that look like SQL, a small table to try them on, and a table that has to survive them all."""

from __future__ import annotations

import pyarrow as pa

ODD = [
    '"; DROP TABLE victim; --',
    "'; DROP TABLE victim; --",
    "a'b",
    'a"b',
    '""',
    "a;b",
    "a\\b",
    "\\",
    "/* a",
    "a -- b",
    "a\nb\tc",
    "100%",
    "%s %(x)s %",
    "$1",
    "$$",
    "{}",
    "{0}",
    ":x ?",
    "日本😀é",
    "a.b",
    " a ",
    "SELECT",
    "c0",
    "k0",
    "class_id",
    "given",
    "told",
    "labels",
    "own_part",
    "turn",
    "#",
    "*",
]
VICTIM = pa.table({"precious": [1, 2, 3]})
DIVERSE = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "ill"}]


def people(first="age", second="job", third="ill", fourth="note"):
    return pa.table(
        [[30, 31, 32, 33] * 6, ["cook", "judge", "nurse"] * 8, ["flu", "pox", "cold", "flu"] * 6, ["x", "y"] * 12],
        names=[first, second, third, fourth],
    )


def policy(table, **parts):
    roles = ("quasi", "quasi", "sensitive", "insensitive")
    columns = {name: {"role": role} for name, role in zip(table.column_names, roles, strict=True)}
    require = [DIVERSE[0], {**DIVERSE[1], "column": table.column_names[2]}]
    return {"columns": columns, "require": require, **parts}


def by_rows(rules, name):
    """Return a policy under which rows travel."""
    return {**rules, "columns": {**rules["columns"], name: {"role": "quasi", "kind": "items", "separator": "|"}}}
