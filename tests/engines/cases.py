"""What is released in the tests of engines: some records of Adult, a policy for them, and tables with item sets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sudare import datasets

QUASI = ("age", "workclass", "education-num", "sex", "native-country")
_all = datasets.adult()
ADULT = _all.take(np.random.default_rng(5).choice(_all.num_rows, 400, replace=False)).select(
    [*QUASI, "income", "hours-per-week", "marital-status", "fnlwgt"]
)
"""Four hundred people; some cells are missing."""


def policy(columns=None, **parts):
    """Return a policy for them, with some parts replaced."""
    roles = {name: {"role": "quasi"} for name in QUASI} | {"income": {"role": "sensitive"}}
    roles |= {"hours-per-week": {"role": "insensitive"}}
    require = [{"model": "k-anonymity", "k": 5}]
    return {"columns": {**roles, **(columns or {})}, "require": require, **parts}


def coded(count=600, seed=3):
    """Return records with codes, and a policy with the hierarchies that come with sudare."""
    draw = np.random.default_rng(seed)
    codes = ["I21.0", "I21", "i22.1", "I63.3", "E11.9", "E11.-", "E10.30†", "J45.0", None]
    places = ["DE", "Germany", "FRA", "Mexico", "US", "Japan"]
    table = pa.table(
        {
            "code": [codes[place] for place in draw.integers(0, len(codes), count)],
            "country": [places[place] for place in draw.integers(0, len(places), count)],
            "age": pa.array(draw.integers(17, 91, count), pa.int64()),
            "pay": pa.array(np.round(draw.lognormal(9, 1, count), 2)),
            "short": [["E11.9", "E11", "E1", "I21"][place] for place in draw.integers(0, 4, count)],
            "ill": [f"ill {number}" for number in draw.integers(0, 4, count)],
        }
    )
    levels = {"code": "icd-10", "country": "iso-3166", "age": "ages", "pay": "auto", "short": {"prefix": [5, 3, 1]}}
    columns = {name: {"role": "quasi", "hierarchy": level} for name, level in levels.items()}
    require = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "ill"}]
    return table, {"columns": columns | {"ill": {"role": "sensitive"}}, "require": require}


def claims(count=300, seed=3):
    """Return records with item sets."""
    draw = np.random.default_rng(seed)
    codes = [f"D{number}" for number in range(12)]
    sets = [sorted(set(draw.choice(codes, draw.integers(0, 5)).tolist())) for _ in range(count)]
    return pa.table(
        {
            "age": pa.array(draw.integers(20, 60, count), pa.int32()),
            "sex": draw.choice(["F", "M"], count).tolist(),
            "codes": pa.array(sets, pa.list_(pa.string())),
            "cost": pa.array(draw.integers(0, 9, count), pa.int64()),
            "person": [f"p{number}" for number in draw.integers(0, count // 3, count)],
        }
    )
