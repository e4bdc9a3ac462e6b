"""Keys without an effect: each key of a policy is refused where it stands, or it changes what comes out."""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import PolicyError, UnsupportedError
from sudare.methods import METHODS
from sudare.methods.option_effects import OPTIONS
from sudare.policy import Policy
from sudare.policy.effects import COLUMN_KEYS, HIERARCHY_KEYS, PART_KEYS
from sudare.policy.source_spec import CELL_KEYS, FILE_KEYS, SourceSpec
from sudare.policy.vocabulary import (
    LAYOUT_KEYS,
    ColumnSpec,
    HierarchySpec,
    ReleaseSpec,
    SuppressionSpec,
)

ROLES = {
    "name": "identifier", "who": "subject", "age": "quasi", "zip": "quasi", "job": "quasi",
    "ill": "sensitive", "pay": "sensitive", "sex": "insensitive", "note": "insensitive",
}  # fmt: skip
K, L = {"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "ill"}
JOBS = {"tree": {"u": ["a", "b"], "v": ["c", "d", "e"]}}


@functools.cache
def table() -> pa.Table:
    """People; most columns are text that looks like numbers."""
    pick = random.Random(17)
    rows = 300
    return pa.table(
        {
            "name": [f"p{row}" for row in range(rows)],
            "who": [str(pick.randrange(200)) for _ in range(rows)],
            "age": [str(pick.randrange(20, 24)) for _ in range(rows)],
            "zip": [f"{pick.choice('12')}{pick.choice('034')}5" for _ in range(rows)],
            "job": [pick.choice("abcde") for _ in range(rows)],
            "ill": [pick.choice("123456") for _ in range(rows)],
            "pay": [pick.choice(("10", "20", "30", "40")) for _ in range(rows)],
            "sex": [pick.choice(("1", "1.0", "2")) for _ in range(rows)],
            "note": [pick.choice(("1", "2")) for _ in range(rows)],
        }
    )


def policy(name: str, columns: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """A policy that a method can keep."""
    entry = METHODS[name]
    roles = {column: {"role": role} for column, role in ROLES.items()}
    require = [K, L]
    if entry.perturbs:
        require = [{"model": "pk-anonymity", "k": 3}]
    elif entry.leaves_quasi:
        require = [L, {**L, "column": "pay"}]
    if name == "anatomy":
        roles["pay"], require = {"role": "identifier"}, [L]
    more = {"target": "sex"} if "target" in entry.options else {}
    given = {"columns": {**roles, **(columns or {})}, "require": require, **parts}
    given["method"] = {"name": name, **more, **parts.get("method", {})}
    return given


def outcomes(given: dict[str, Any], folder: Path) -> Iterator[str]:
    """Everything that comes out but the echo of the policy: rows, also as text, certificates and audit."""
    out = folder / "release.csv"
    try:
        release = sudare.anonymize(table(), given, seed=3)
        second = None if release.second is None else release.second.to_pydict()
        shown = [str(release.data.schema.types), *release.data.to_pydict().values(), second]
        yield json.dumps([shown, facts(release.certificate)], default=str)
        certificate = sudare.anonymize(table(), given, seed=3, out=out).certificate
    except PolicyError:
        raise
    except sudare.SudareError as error:
        yield str(error)
        return
    yield json.dumps([facts(certificate), out.read_text()], default=str)
    proven = sudare.audit(out, given).to_dict()
    told = calibrated(given) if METHODS[given["method"]["name"]].perturbs else ""
    yield json.dumps([proven["guarantees"], proven["classes"], told], default=str)


def facts(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate without the echo of the policy."""
    echoed = ("policy_sha256", "release_sha256", "method", "seconds", "date")
    return {key: value for key, value in certificate.items() if key not in echoed}


def differs(given: dict[str, Any], base: list[str], folder: Path) -> bool:
    """Say whether something else comes out, without making what need not be looked at any more."""
    return any(one != other for one, other in zip_longest(outcomes(given, folder), base))


def calibrated(given: dict[str, Any]) -> str:
    """What the policy tells about the values of columns, without data."""
    with pytest.raises(sudare.SudareError) as error:
        sudare.calibrate(given, records=300)
    return str(error.value)


SAMPLES: dict[str, Any] = {
    "kind": lambda name: ["numeric", "categorical"],
    "hierarchy": lambda name: [JOBS if name == "job" else {"tree": sorted(set(table()[name].to_pylist()))}],
    "separator": lambda name: [";"],
    "order": lambda name: [sorted(set(table()[name].to_pylist()), key=lambda value: value[::-1] + "x")[::-1]],
    "weight": lambda name: [7, 0],
}


@pytest.mark.parametrize("method", [name for name in METHODS if "incognito" not in name])
@pytest.mark.parametrize("key", sorted(SAMPLES))
def test_every_key_of_a_column_is_refused_or_changes_what_comes_out(method, key, tmp_path):
    base = list(outcomes(policy(method), tmp_path))
    changed: dict[str, bool] = {}  # by role: whether a key that was let pass made a difference
    for name, role in ROLES.items():
        if method == "anatomy" and name == "pay":
            continue
        for value in SAMPLES[key](name):
            given = policy(method, {name: {"role": role, key: value}})
            try:
                changed[role] = differs(given, base, tmp_path) or changed.get(role, False)
            except PolicyError as error:
                assert [problem.where for problem in error.problems] == [f"columns.{name}.{key}"]
                assert all(problem.what.startswith("has no effect") and problem.hint for problem in error.problems)
    assert all(changed.values()), changed
    assert set(changed) <= set(COLUMN_KEYS[key])


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize(
    "parts",
    [
        {"suppression": {"limit": 0.4}},
        {"suppression": {"records": "masked"}},
        {"suppression": {"unseen": "suppress"}},
        {"release": {"subjects": "linked"}},
        {"release": {"ranges": "tight"}},
    ],
    ids=str,
)
def test_every_key_of_another_part_is_refused_where_it_changes_nothing(method, parts):
    ((part, keys),) = parts.items()
    ((key, _),) = keys.items()
    given = policy(method, **copy.deepcopy(parts))
    heeded = key == "limit" and "suppression" in METHODS[method].heeds
    heeded |= key == "ranges" and not METHODS[method].leaves_quasi
    if heeded:
        assert sudare.load_policy(given)
    else:
        with pytest.raises(PolicyError) as error:
            sudare.load_policy(given)
        assert [problem.where for problem in error.value.problems] == [f"{part}.{key}"]


def test_suppression_and_subjects_change_what_comes_out_where_they_are_let_pass(tmp_path):
    odd = [{"age": "20", "zip": "105", "job": "a"}] * 60 + [
        {"age": str(age), "zip": "x", "job": "e"} for age in range(6)
    ]
    data, asked = pa.Table.from_pylist(odd), {"columns": {name: {"role": "quasi"} for name in odd[0]}, "require": [K]}
    asked["method"] = {"name": "full-domain"}
    shown = [
        sudare.anonymize(data, {**asked, "suppression": way}, seed=1).data.to_pydict()
        for way in ({"limit": 0.0}, {"limit": 0.5}, {"limit": 0.5, "records": "masked"})
    ]
    assert shown[0] != shown[1] != shown[2] != shown[0]
    counted = {"require": [{**K, "count": "subjects"}]}
    ways = ({}, {"release": {"subjects": "linked"}})
    assert len({tuple(outcomes(policy("top-down", **counted, **way), tmp_path)) for way in ways}) == 2


@pytest.mark.parametrize(
    ("method", "options", "where"),
    [
        ("tds", {"width": 8}, "width"),
        ("top-down", {"slack": 0.3}, "slack"),
        ("top-down", {"order": "global", "objective": "items"}, "objective"),
        ("l-clustering", {"weights": 1, "loss": "arx"}, "loss"),
        ("l-clustering", {"variant": "reference", "loss": "arx"}, "loss"),
        ("pram", {"weights": {"ill": 2}}, "weights"),
    ],
)
def test_an_option_that_another_one_makes_void_is_refused(method, options, where):
    with pytest.raises(PolicyError) as error:
        sudare.load_policy(policy(method, method=options))
    assert [problem.where for problem in error.value.problems] == [f"method.{where}"]


@pytest.mark.parametrize(
    "option",
    [{"items": "one-by-one"}, {"remainder": "close"}, {"beta": 0.1}, {"objective": "items"}, {"rank": "information"}],
)
def test_options_about_item_sets_need_some(option):
    numbers = {name: {"role": "quasi", "kind": "categorical"} for name, role in ROLES.items() if role == "quasi"}
    with pytest.raises(PolicyError, match="has no effect: no quasi-identifier"):
        sudare.load_policy(policy("top-down", numbers, method=option))
    # a column without a kind may hold lists: that is seen when it is read
    assert sudare.load_policy(policy("top-down", method=option))
    with pytest.raises(PolicyError, match="has no effect on this table"):
        sudare.anonymize(table(), policy("top-down", method=option))


def test_polish_of_classes_with_item_sets_needs_small_ones():
    columns = {"age": {"role": "quasi"}, "tags": {"role": "quasi", "kind": "items"}}
    given = {"columns": columns, "require": [K], "method": {"name": "top-down", "polish": True}}
    data = pa.table({"age": list(range(600)), "tags": [["a"], ["b"]] * 300})
    assert sudare.anonymize(data, given).certificate["method"]["polish"] is True
    given["require"] = [{"model": "k-anonymity", "k": 257}]
    with pytest.raises(UnsupportedError, match="at most 256 records"):
        sudare.anonymize(data, given)


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"hierarchy": {"prefix": [3, 1]}, "kind": "numeric"}, "kind"),
        ({"hierarchy": {"tree": ["a"], "delimiter": ";"}}, "hierarchy.delimiter"),
        ({"hierarchy": {"file": "x.yaml", "delimiter": ";"}}, "hierarchy.delimiter"),
        ({"hierarchy": {"dates": ["year"], "origin": 3}}, "hierarchy.origin"),
        ({"separator": ";", "kind": "categorical"}, "separator"),
    ],
)
def test_keys_of_a_quasi_identifier_beside_each_other(spec, where):
    with pytest.raises(PolicyError) as error:
        sudare.load_policy(policy("top-down", {"zip": {"role": "quasi", **spec}}))
    assert [problem.where for problem in error.value.problems] == [f"columns.zip.{where}"]


def test_an_order_beside_a_hierarchy_or_a_kind():
    order = ["23", "22", "21", "20"]
    for more, where in (({"hierarchy": "flat"}, "order"), ({"kind": "numeric"}, "kind")):
        with pytest.raises(PolicyError) as error:
            sudare.load_policy(policy("mondrian", {"age": {"role": "quasi", "order": order, **more}}))
        assert [problem.where for problem in error.value.problems] == [f"columns.age.{where}"]


def test_sensitive_columns_may_be_described_as_far_as_promises_go():
    near = {"model": "t-closeness", "t": 0.5, "column": "pay"}
    tree = {"role": "sensitive", "hierarchy": {"tree": {"low": ["10", "20"], "high": ["30", "40"]}}}
    ranked = {"role": "sensitive", "order": ["40", "30", "20", "10"]}
    for spec, distance in ((tree, "hierarchical"), (ranked, "ordered")):
        given = policy("top-down", {"pay": spec}, require=[K, {**near, "distance": distance}])
        assert sudare.load_policy(given)
        for other in {"equal", "ordered", "hierarchical"} - {distance, "hierarchical"}:
            with pytest.raises(PolicyError, match=r"columns\.pay\.(hierarchy|order): has no effect"):
                sudare.load_policy(policy("top-down", {"pay": spec}, require=[K, {**near, "distance": other}]))


def test_a_value_that_is_the_default_anyway_passes():
    given = policy("mondrian", {"note": {"role": "insensitive", "weight": 1.0}}, suppression={"limit": 0.0})
    assert sudare.load_policy({**given, "release": {"subjects": "per-class"}})
    parsed = Policy.parse(given, methods=METHODS)
    assert Policy.parse(parsed.model_dump(exclude_none=True), methods=METHODS) == parsed


def test_all_of_them_are_told_at_once_and_beside_other_mistakes():
    given = policy("dummies", {"note": {"role": "insensitive", "hierarchy": "x.csv", "order": ["1"], "weight": 3}})
    given["columns"]["age"] = {"role": "quasi", "kin": 1, "hierarchy": {"bands": [5]}}
    given["suppression"] = {"limit": 0.5}
    with pytest.raises(PolicyError) as error:
        sudare.load_policy(given)
    assert {problem.where for problem in error.value.problems} == {
        "columns.age.kin", "columns.age.hierarchy", "columns.note.hierarchy", "columns.note.order",
        "columns.note.weight", "suppression.limit",
    }  # fmt: skip


@pytest.mark.parametrize("key", ["delimiter", "encoding"])
def test_a_table_that_is_no_text_has_no_delimiter_and_no_encoding(tmp_path, key):
    source = {"delimiter": ";"} if key == "delimiter" else {"encoding": "latin-1"}
    given = policy("top-down", source=source)
    verbs = [sudare.anonymize, sudare.risk, sudare.compare, sudare.api.explore]
    for verb in verbs:
        with pytest.raises(PolicyError, match=rf"source\.{key}: has no effect"):
            verb(table(), given)


def test_every_key_has_a_rule_or_an_effect_everywhere():
    """A new key needs a look: where does it have no effect?"""
    everywhere = {"role", "transform"}  # where the latter has none: policy.transformation_problems
    assert set(ColumnSpec.model_fields) - everywhere == set(COLUMN_KEYS)
    sources = {"file", "tree", "prefix", "bands", "dates", "flat", "builtin", "auto"}
    assert set(HierarchySpec.model_fields) == sources | set(HIERARCHY_KEYS)
    parts = {"suppression": SuppressionSpec, "release": ReleaseSpec}
    known = {(part, key) for part, spec in parts.items() for key in spec.model_fields}
    anywhere = {("release", "order"), ("release", "formulas")}  # the latter wherever a release is text
    anywhere |= {("release", key) for key in ("excel", *LAYOUT_KEYS)}  # the target decides: request_checks.check_layout
    assert known - anywhere == set(PART_KEYS)
    assert set(SourceSpec.model_fields) == {"missing"} | FILE_KEYS | CELL_KEYS  # see opened_source.check_source
    assert all(key in METHODS[method].options for method, key in OPTIONS)
