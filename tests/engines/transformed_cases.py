"""Records with columns of every kind for the tests of transformations, and policies that transform them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

KEY = "SUDARE_TEST_KEY"
"""The environment variable that holds the key."""
DIGITS = "3f0c9a7be41d52868f7a6b1c0d9e2f435a6b7c8d9e0f1a2b3c4d5e6f708192a3"
COUNT = 900
_draw = np.random.default_rng(7)
_day = dt.date(2020, 1, 31)
_names = ["Ärger", " Bö\u0308r ", "NA", "", None, "plain", "x", "007"]


def _some(values, missing=0.05):
    """Return values of which some are missing."""
    return [None if gone else value for value, gone in zip(values, _draw.random(COUNT) < missing, strict=True)]


PERSONS = [f" p{number % 300}" if number % 2 else f"p{number % 300} " for number in range(COUNT)]
TABLE = pa.table(
    {
        "id": pa.array(range(COUNT), pa.int64()),
        "person": PERSONS,
        "patient": pa.array([number % 250 for number in range(COUNT)], pa.int32()),
        "age": pa.array(_draw.integers(0, 105, COUNT), pa.int32()),
        "weight": pa.array(_some(np.round(_draw.normal(75, 15, COUNT), 1)), pa.float64()),
        "births": pa.array(_some(_draw.integers(-20, 20, COUNT).tolist()), pa.int16()),
        "seen": pa.array(_some([_day + dt.timedelta(int(days)) for days in _draw.integers(0, 900, COUNT)])),
        "at": pa.array(
            _some([dt.datetime(2020, 2, 28, 23, 59, 59, 123456) + dt.timedelta(minutes=int(minutes))
                   for minutes in _draw.integers(0, 900_000, COUNT)]), pa.timestamp("us")),
        "moment": pa.array(
            [dt.datetime(2020, 10, 24, 22, 30, tzinfo=dt.UTC) + dt.timedelta(hours=int(hours))
             for hours in _draw.integers(0, 20_000, COUNT)], pa.timestamp("us", "UTC")),
        "written": _some([f"20{year}-0{month}-1{month}T10:00:00" for year, month in
                          zip(_draw.integers(10, 22, COUNT), _draw.integers(1, 10, COUNT), strict=True)]),
        "zip": [f"{number:05d}" for number in _draw.integers(1, 99_999, COUNT)],
        "name": [_names[place] for place in _draw.integers(0, len(_names), COUNT)],
        "sex": ["mf"[place] for place in _draw.integers(0, 2, COUNT)],
        "code": pa.array(_draw.integers(1, 4, COUNT), pa.int64()),
        "ill": [f"ill {number}" for number in _draw.integers(0, 5, COUNT)],
    }
)  # fmt: skip
"""Records about three hundred people; persons are spelled with blanks, which pseudonyms do not see."""

_KEY = {"env": KEY}
FIXED = {
    "id": {"role": "insensitive"},
    "person": {"role": "subject", "transform": {"pseudonym": {"key": _KEY}}},
    "patient": {"role": "identifier", "transform": {"pseudonym": {"key": _KEY, "form": "digits", "space": "ids"}}},
    "age": {"role": "quasi", "transform": [{"top": 89}, {"bottom": {"at": 10, "shows": 9}}, {"round": 5}]},
    "weight": {"role": "insensitive", "transform": {"round": {"to": 0.5, "how": "down"}}},
    "births": {"role": "insensitive", "transform": [{"round": {"to": 4, "how": "up"}}, {"band": 8}]},
    "seen": {"role": "insensitive", "transform": [{"shift": {"days": 90, "key": _KEY}}]},
    "at": {"role": "insensitive", "transform": [{"shift": {"days": 90, "key": _KEY}}, {"truncate": "week"}]},
    "moment": {"role": "insensitive", "transform": [{"shift": {"days": 90, "key": _KEY, "per": "patient"}}]},
    "written": {"role": "insensitive", "transform": [{"shift": {"days": 90, "key": _KEY}}]},
    "zip": {"role": "quasi", "transform": {"truncate": {"keep": 1}}},
    "name": {"role": "insensitive", "transform": {"mask": {"keep_first": 2, "keep_last": 1, "with": "#"}}},
    "sex": {"role": "quasi", "transform": {"replace": {"values": {"m": "1", "f": "2"}}}},
    "code": {"role": "insensitive", "transform": {"replace": {"values": {"1.0": "one", "2": None}, "else": "keep"}}},
    "ill": {"role": "sensitive", "transform": [{"replace": {"values": {"ill 4": "ill 3"}, "else": "keep"}}]},
}
"""Every transformation that is not random, as the policy of each column."""


def policy(columns=None, **parts):
    """Return a policy with every transformation that is not random, with some columns replaced or left out."""
    chosen = {name: spec for name, spec in {**FIXED, **(columns or {})}.items() if spec is not None}
    require = [{"model": "k-anonymity", "k": 3, "count": "subjects"}]
    return {"columns": chosen, "require": require, "suppression": {"limit": 0.2}, **parts}


def by_id(table: pa.Table) -> dict[str, list]:
    """Return the cells of each column in the order of the ids; moments are in UTC."""
    ordered = table.sort_by("id")
    found = {}
    for name, column in zip(ordered.column_names, ordered.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp("us", "UTC"))
        found[name] = column.to_pylist()
    return found
