"""Tables whose rare values would be noticed anywhere, and releases of them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

import sudare

SECRETS = ("Xyzzyville", "Quuxitis", "Plughalone", "Fnordcode", "Zorkmid", "Grueitem", "Wumpusage", "Hapaxtext")
"""Values that one or two records have; none may be in a report."""
ODD_NUMBERS = ("98765432", "1234567.891", "1911-02-28", "2099-11-23")
"""Numbers and dates far outside; neither they nor what they look like in an edge may be in a report."""


def table(rows: int = 600, seed: int = 3) -> pa.Table:
    """Return people with ages, towns, diseases and the like, some of them easily recognised."""
    draw = np.random.default_rng(seed)
    first = datetime.date(1940, 1, 1)
    town = draw.choice(["Aburg", "Bstadt", "Cdorf", None], rows).tolist()
    disease = draw.choice(["flu", "pox", "cold"], rows, p=[0.5, 0.3, 0.2]).tolist()
    pay = draw.normal(30000, 8000, rows).round(2).tolist()
    born = [first + datetime.timedelta(days=int(day)) for day in draw.integers(0, 20000, rows)]
    items = [draw.choice(["aspirin", "statin", "insulin", "zinc"], 2, replace=False).tolist() for _ in range(rows)]
    town[5] = town[6] = "Xyzzyville"
    disease[7], disease[8] = "Quuxitis", "Plughalone"
    pay[9], pay[10] = 98765432.0, 1234567.891
    born[11], born[12] = datetime.date(1911, 2, 28), datetime.date(2099, 11, 23)
    items[13] = ["aspirin", "Grueitem"]
    return pa.table(
        {
            "name": [f"Person {place}" for place in range(rows)],
            "age": draw.integers(18, 80, rows),
            "town": town,
            "born": born,
            "drugs": items,
            "disease": disease,
            "pay": pay,
            "note": [f"Hapaxtext {place}" for place in range(rows)],
            "grade": ["Fnordcode", "Zorkmid", *("ab"[place % 2] for place in range(rows - 2))],
        }
    )  # fmt: skip


POLICY: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric"},
        "town": {"role": "quasi"},
        "born": {"role": "quasi", "hierarchy": {"dates": ["year"]}},
        "drugs": {"role": "quasi", "kind": "items"},
        "disease": {"role": "sensitive"},
        "pay": {"role": "insensitive"},
        "note": {"role": "insensitive"},
        "grade": {"role": "insensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 5}],
    "suppression": {"limit": 0.02},
}


def report_on(rules: dict[str, Any], data: pa.Table, **more: Any) -> sudare.Report:
    """Make a release in memory, and the report on it."""
    return sudare.report(sudare.anonymize(data, rules, seed=1), data, rules, **more)
