"""Every key of real certificates is forged: it goes, is of another type, has another value, or is not alone.

The audit refuses each of them, or the report lists the key among those that are only claimed. What stands at the top of
a certificate can neither go, nor come, nor change its type, whatever it is.

Figures are also changed by little, and those of a loss ``together``, in all columns and in their mean, so that they
still agree with each other. No loss that follows from the release may be forged in any way.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import sudare
from sudare.core.errors import AuditFailedError, DataError

TITLE = "forged certificates, key by key"
REDUCED = 72
ROWS = 60
WAYS = ("delete", "type", "value", "little", "together", "add")
LITTLE = 0.01
COLUMNS = {
    "age": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "ill": {"role": "sensitive"},
    "note": {"role": "insensitive"},
    "name": {"role": "identifier"},
}
BANDS = {"age": {"role": "quasi", "hierarchy": {"bands": [5, 10, 20]}}}
ITEMS = {"bought": {"role": "quasi", "kind": "items", "separator": "|"}}
K = {"model": "k-anonymity", "k": 3}
T = {"model": "t-closeness", "t": 0.6, "column": "ill"}
L = {"model": "l-diversity", "l": 2, "column": "ill"}
KINDS: dict[str, dict[str, Any]] = {
    "top-down": {"require": [K, T], "suppression": {"limit": 0.1}},
    "mondrian": {"require": [K, L], "method": {"name": "mondrian"}},
    "full-domain": {
        "columns": COLUMNS | BANDS, "require": [K], "method": {"name": "full-domain"}, "suppression": {"limit": 0.1},
    },
    "masked": {
        "columns": COLUMNS | BANDS, "require": [K], "method": {"name": "full-domain"},
        "suppression": {"limit": 0.2, "records": "masked"},
    },
    "tds": {"require": [K], "method": {"name": "tds", "target": "ill"}},
    "subjects": {
        "columns": {"age": {"role": "quasi"}, "who": {"role": "subject"}}, "require": [{**K, "count": "subjects"}],
    },
    "item sets": {"columns": {"age": {"role": "quasi"}, **ITEMS}, "require": [K]},
    "free sets": {
        "columns": {"age": {"role": "quasi"}, **ITEMS},
        "require": [{**K, "columns": ["age"]}, {"model": "km-anonymity", "k": 2, "m": 2, "column": "bought"}],
    },
    "signed": {"require": [K], "about": {"title": "a trial", "purpose": "to be forged"}},
    "dummies": {"require": [L], "method": {"name": "dummies"}},
    "anatomy": {"require": [L], "method": {"name": "anatomy"}},
    "pram": {
        "require": [
            {"model": "pk-anonymity", "k": 2}, {"model": "alpha-gamma", "column": "ill", "alpha": 0.6, "gamma": 0.05},
        ],
        "method": {"name": "pram"},
    },
}  # fmt: skip
RULED = ("full-domain", "masked")
"""The kinds with a hierarchy that a rule makes: its leaves are those of the source."""
MOST = 480
"""More ways to forge one certificate than there are; a test counts them."""
FULL = MOST * len(KINDS)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sudare-forged-")


@cache
def released(kind: str) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Return a release of a kind, its policy, and its certificate."""
    chance = random.Random(f"people for {kind}")
    draw = {
        "age": lambda: chance.randrange(20, 60), "sex": lambda: chance.choice("fm"), "note": lambda: "n",
        "ill": lambda: chance.choice("abcd"), "name": lambda: f"p{chance.random()}",
        "who": lambda: f"w{chance.randrange(40)}",
        "bought": lambda: "|".join(sorted(chance.sample("uvwxyz", chance.randrange(1, 4)))),
    }  # fmt: skip
    policy = {"columns": COLUMNS} | KINDS[kind]
    table = pa.table({name: [draw[name]() for _ in range(ROWS)] for name in policy["columns"]})
    path = Path(_folder().name) / f"{kind}.csv"
    sign = None
    if kind == "signed":
        sign = path.with_name("key")
        sudare.new_signing_key(sign, name="Somebody")
    made = sudare.anonymize(table, policy, out=path, sign=sign)
    assert audited(kind, path, policy).passed
    return path, policy, made.certificate


def audited(kind: str, path: Path, policy: dict[str, Any]) -> sudare.AuditReport:
    """Audit a release; of one that is signed, that is asked for."""
    return sudare.audit(path, policy, signed_by=[path.with_name("key.pub")] if kind == "signed" else ())


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything in a certificate; of a long list the first, the second and the last entry."""
    keys: list[Any] = []
    if isinstance(part, dict):
        keys = list(part)
    elif isinstance(part, list):
        keys = sorted({*range(min(len(part), 2)), *([len(part) - 1] if part else [])})
    return [one for key in keys for one in ((*path, key), *places(part[key], (*path, key)))]


def ways(kind: str) -> list[tuple[tuple[Any, ...], str]]:
    """Return every way to forge the certificate of a kind."""
    _, _, paper = released(kind)
    everywhere = places(json.loads(json.dumps(paper)))
    found = [(path, way) for path in everywhere for way in WAYS[:3]]
    found += [(path, "little") for path in everywhere if isinstance(_at(paper, path), float)]
    found += [(("loss", name), "together") for name in paper["loss"] if name in _by_column(paper)]
    inside = [(), *(path for path in places(paper) if isinstance(_at(paper, path), dict | list))]
    return found + [(path, "add") for path in inside]


def forged(paper: dict[str, Any], path: tuple[Any, ...], way: str) -> dict[str, Any]:
    """Return a certificate with one thing changed."""
    changed = copy.deepcopy(json.loads(json.dumps(paper)))
    if way == "add":
        part = _at(changed, path)
        if isinstance(part, dict):
            part["forged"] = 1
        else:
            part.append(copy.deepcopy(part[0]) if part else "forged")
        return changed
    *above, key = path
    parent = _at(changed, tuple(above))
    if way == "together":
        columns = changed["loss_by_column"].values()
        before = [part[key] for part in columns if key in part]
        for name, part in changed["loss_by_column"].items():
            if key in part and name not in changed["item_sets"]:
                part[key] = _near(part[key])
        after = [part[key] for part in columns if key in part]
        parent[key] = round(parent[key] + (sum(after) - sum(before)) / len(before), 4)
    elif way == "delete":
        del parent[key]
    elif way == "little":
        parent[key] = _near(parent[key])
    else:
        parent[key] = _retyped(parent[key]) if way == "type" else _another(parent[key])
    return changed


def _at(part: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        part = part[key]
    return part


def _by_column(paper: dict[str, Any]) -> set[str]:
    """Return the losses that columns other than item sets have."""
    columns = paper["loss_by_column"]
    return {measure for name, part in columns.items() if name not in paper["item_sets"] for measure in part}


def follows(kind: str, measure: str) -> bool:
    """Whether a loss of columns other than item sets follows from the release, as the page on releases tells it."""
    return measure == "precision" or (measure in ("gcp", "relative_uncertainty") and kind not in RULED)


def _near(value: float) -> float:
    return round(value + LITTLE if value < 0.5 else value - LITTLE, 4)


def _retyped(value: Any) -> Any:
    if isinstance(value, dict):
        return [value]
    return {"forged": value} if isinstance(value, list | str) else str(value)


def _another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if value is None:
        return 7
    if isinstance(value, dict):
        return {} if value else {"forged": 1}
    return [] if value else ["forged"]


def case(number: int) -> str:
    """Forge one key of one certificate."""
    kind = list(KINDS)[number % len(KINDS)]
    every = ways(kind)
    assert len(every) <= MOST, f"{kind} has {len(every)} ways"
    if number // len(KINDS) >= len(every):
        return "no such key to forge"
    # spread over the certificate, so that the first cases are not all of its first keys
    path, way = every[number // len(KINDS) * 101 % len(every)] if len(every) % 101 else every[number // len(KINDS)]
    release, policy, paper = released(kind)
    release.with_name(release.name + ".sudare.json").write_text(json.dumps(forged(paper, path, way)))
    try:
        report = audited(kind, release, policy)
    except (AuditFailedError, DataError):
        return "refused"
    if not report.passed:
        return "refused"
    where = ".".join(map(str, path))
    if path[0] in ("loss", "loss_by_column"):
        # what does not follow has to agree with the other columns, but for a measure that is no mean of them
        assert way == "together" or path[-1] == "relative_uncertainty", f"{kind}: {way} {where} passes, and is a loss"
        assert not follows(kind, str(path[-1])), f"{kind}: {way} {where} passes, and follows from the release"
    claimed = [key for key in report.claimed if where == key or where.startswith(f"{key}.")]
    assert claimed and kind != "signed", f"{kind}: {way} {where} passes, and is not listed as claimed"
    assert len(path) > 1 or (way in ("value", "add") and path), (
        f"{kind}: {way} {where} passes at the top of a certificate"
    )
    return "claimed"
