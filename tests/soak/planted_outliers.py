"""Two tables that differ in one hidden value: nothing that is published may tell them apart.

A table gets one person with an extreme value, and a twin in which that value is another one, just as extreme. Where
both come to the same release, everything else that is published about it must be the same: certificate, report and
plan. An intruder then has nothing to solve for. Where the releases differ, neither value may stand anywhere in them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

import sudare
from sudare.core.errors import SudareError

TITLE = "two tables that differ in one extreme value: what is published must not show it"
FULL, REDUCED = 2_000, 12

METHODS = ("top-down", "mondrian", "full-domain", "l-clustering", "three-phase", "tds")
VOLATILE = ("seconds", "release_sha256", "policy_sha256", "made", "signature", "created", "date")
"""What differs between any two runs."""


def tables(random: np.random.Generator) -> tuple[list[pa.Table], tuple[int, int]]:
    """Return two tables, and the values in which they differ."""
    rows = int(random.integers(30, 120))
    pay = random.integers(100, 900, rows) * 100
    one = int(random.integers(1_000_000, 1_900_000))
    both = one, int(random.integers(1_000_000, 1_900_000))
    place = int(random.integers(rows))
    found = []
    cities = random.choice(["Bern", "Cork", "Graz", "Lund"], rows)
    illness = random.choice(["flu", "cold", "gout"], rows)
    for value in both:
        own = pay.copy()
        own[place] = value
        columns: dict[str, Any] = {"pay": own, "city": cities, "illness": illness}
        found.append(pa.table(columns))
    return found, both


def policy(random: np.random.Generator) -> dict[str, Any]:
    """Return a policy that may suppress the person, mask them, or hide their value in a range."""
    method = str(random.choice(METHODS))
    limit = float(random.choice([0.0, 0.05, 0.2]))
    k = int(random.integers(2, 7))
    made: dict[str, Any] = {
        "columns": {"pay": {"role": "quasi"}, "city": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": k}],
        "method": {"name": method},
    }
    if method in ("l-clustering", "three-phase") or random.random() < 0.4:
        made["require"].append({"model": "l-diversity", "l": 2, "column": "illness"})
    if method == "tds":
        made["method"]["target"] = "illness"
    elif limit and method != "three-phase":
        records = str(random.choice(["dropped", "masked"])) if method == "full-domain" else "dropped"
        made["suppression"] = {"limit": limit, "records": records}
    return made


def case(number: int) -> str:
    """Try one pair of tables."""
    random = np.random.default_rng(number)
    given, values = tables(random)
    asked = policy(random)
    made = []
    for table in given:
        try:
            release = sudare.anonymize(table, asked, seed=1)
        except SudareError as error:
            made.append((str(error), str(error), ""))
            continue
        rows = sorted(map(str, release.data.to_pylist()))
        page = sudare.report(release, table, asked).html
        plan = "" if release.plan is None else str(vars(release.plan))
        made.append(("\n".join(rows), str(_lasting(release.certificate)), plan + _still(page)))
    for rows, certificate, rest in made:
        for value in values:
            for spelling in (str(value), f"{value:,}"):
                where = [name for name, text in (("release", rows), ("certificate", certificate), ("report", rest))
                         if spelling in text]  # fmt: skip
                assert not where, f"the {where[0]} shows the value of one person"
    if made[0][0] != made[1][0]:
        return "the releases differ"
    assert made[0][1] == made[1][1], "the certificate depends on a value that the release does not show"
    assert made[0][2] == made[1][2], "the report or the plan depends on a value that the release does not show"
    return "release, certificate, report and plan are the same"


def _lasting(certificate: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in certificate.items() if key not in VOLATILE}


def _still(page: str) -> str:
    """Return a page without what differs between any two runs: digests, dates and seconds."""
    page = re.sub(r"[0-9a-f]{64}|[0-9a-f]{12,}", "#", page)
    page = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?", "@", page)
    return re.sub(r"[\d,]+\.\d+ s\b|[\d,]+(\.\d+)? seconds", "@", page)
