"""A table and a policy with every transformation there is, and their keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

KEY = "5b" * 4 + "0c1d2e3f" * 4 + "a1b2c3d4" * 3
"""A key of 64 digits, for tests alone."""
NAMED = {"env": "SUDARE_TEST_KEY"}


def people(rows: int = 800, seed: int = 5) -> pa.Table:
    """Return visits of people, several of some, with numbers, dates, texts, codes and sets."""
    draw = np.random.default_rng(seed)
    who = draw.integers(0, rows // 2, rows)
    first = np.datetime64("2001-01-01")
    sets = [sorted(draw.choice(["aspirin", "statin", "zinc"], 2, replace=False).tolist()) for _ in range(rows)]
    return pa.table(
        {
            "visit": [f"Visit-{place:05d}" for place in range(rows)],
            "patient": [f"Patient-{each:04d}" for each in who.tolist()],
            "sex": draw.choice(["f", "m"], rows).tolist(),
            "age": draw.integers(18, 100, rows),
            "zip": [f"{each:05d}" for each in draw.integers(10000, 10400, rows).tolist()],
            "height": np.round(draw.normal(170, 10, rows), 1),
            "weight": draw.integers(40, 120, rows),
            "grade": draw.choice(["low", "mid", "high"], rows).tolist(),
            "town": draw.choice(["Aburg", "Bstadt", "Cdorf"], rows).tolist(),
            "admitted": pa.array(first + draw.integers(0, 3000, rows)),
            "born": pa.array(first - draw.integers(6000, 30000, rows)),
            "pay": np.round(draw.lognormal(10, 0.5, rows), 2),
            "debt": draw.integers(0, 5000, rows),
            "beds": draw.integers(0, 200, rows),
            "floor": draw.integers(-2, 40, rows),
            "ward": [f"W{each}" for each in draw.integers(0, 900, rows).tolist()],
            "drugs": sets,
            "note": [f"Secretnote {place}" for place in range(rows)],
            "disease": draw.choice(["flu", "pox", "gout", "cold"], rows).tolist(),
        }
    )


COLUMNS: dict[str, Any] = {
    "visit": {"role": "identifier", "transform": {"pseudonym": {"key": NAMED}}},
    "patient": {"role": "subject"},
    "sex": {"role": "quasi"},
    "age": {"role": "quasi", "kind": "numeric", "transform": {"top": {"at": 89}}},
    "zip": {"role": "quasi", "kind": "categorical", "transform": {"truncate": {"keep": 3}}},
    "height": {"role": "insensitive", "transform": {"noise": {"sd": 0.2}}},
    "weight": {"role": "insensitive", "transform": {"round": {"to": 5, "how": "random"}}},
    "grade": {"role": "insensitive", "order": ["low", "mid", "high"], "transform": {"swap": {"within": 0.3}}},
    "town": {"role": "insensitive", "transform": {"shuffle": ["sex"]}},
    "admitted": {"role": "insensitive", "transform": {"shift": {"days": 60, "key": NAMED}}},
    "born": {"role": "insensitive", "transform": {"truncate": "year"}},
    "pay": {"role": "insensitive", "transform": [{"top": {"share": 0.05}}, {"round": 1000}]},
    "debt": {"role": "insensitive", "transform": {"band": {"edges": [100, 1000, 3000]}}},
    "beds": {"role": "insensitive", "transform": {"swap": 0.05}},
    "floor": {"role": "insensitive", "transform": {"bottom": {"at": 0}}},
    "ward": {"role": "insensitive", "transform": {"mask": {"keep_first": 2}}},
    "drugs": {"role": "insensitive", "kind": "items", "transform": {"pseudonym": {"key": NAMED, "space": "drugs"}}},
    "note": {"role": "insensitive", "transform": "redact"},
    "disease": {"role": "sensitive", "transform": {"replace": {"values": {"flu": "cold"}, "else": "keep"}}},
}
RULES: dict[str, Any] = {
    "columns": COLUMNS,
    "require": [{"model": "k-anonymity", "k": 4}],
    "suppression": {"limit": 0.05},
}
"""A policy with every transformation of a column."""


def rules(**changed: Any) -> dict[str, Any]:
    """Return the policy with some columns changed; None leaves one out."""
    columns = {name: spec for name, spec in {**COLUMNS, **changed}.items() if spec is not None}
    return {**RULES, "columns": columns}
