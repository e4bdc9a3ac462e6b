"""The losses of certificates, as the audit finds them in the release: the same figures, for any table and method."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import DataError, PolicyUnmetError
from sudare.methods import METHODS

from .tables import Drawn, drawn_tables, effective
from .test_complex_releases import TREE as ITEM_TREE
from .test_releases import many, released

FOLLOW = ("gcp", "precision", "relative_uncertainty")
TREES = [
    {"tree": {"any": {"left": ["a", "b", "c"], "right": {"far": ["d"], "near": ["e", "f"]}}}},
    {"tree": {"left": ["a", "b", "c"], "rest": ["d", "e", "f", "g", "h"]}},
    {"tree": {"all of them": {"a": ["a"], "b": ["b"], "more": ["c", "d", "e", "f"]}}},
]
DATES = [f"2001-{month:02d}-{day:02d}" for month in (1, 2, 5) for day in (1, 9)] + ["2003-05-01"]
TIMES = [f"{day} {hour}:30:00" for day in DATES[:4] for hour in ("10", "17")]
RULED = {
    "age": (st.integers(0, 60), st.sampled_from([{"bands": [5, 10, 20]}, {"bands": [1, 10]}, {"bands": [0.5, 5]}])),
    "income": (st.sampled_from([0.5, 1.25, 7.0, 7.5, 22.0]), st.sampled_from([{"bands": [0.5, 5]}, {"bands": [1]}])),
    "zip": (st.sampled_from(["9021", "9022", "9100", "1111", "1112"]), st.sampled_from([{"prefix": [4, 3, 1]}])),
    "when": (
        st.sampled_from(DATES),
        st.sampled_from([{"dates": ["day", "month", "year"]}, {"dates": ["month", "quarter", "year"]}]),
    ),
    "then": (st.sampled_from(TIMES), st.sampled_from([{"dates": ["day", "year"]}, {"dates": ["month"]}])),
    "job": (st.sampled_from("abc"), st.just("flat")),
}


def audited(path: Path, policy, **changes):
    """Audit a release, with some figures of its certificate changed."""
    paper = path.with_name(path.name + ".sudare.json")
    said = json.loads(paper.read_text())
    for key, figure in changes.items():
        part = said
        *above, last = key.split("/")
        for name in above:
            part = part[name]
        part[last] = figure
    paper.write_text(json.dumps(said))
    return sudare.audit(path, policy)


def check(path: Path, policy, facts) -> set[str]:
    """See that all figures are those that the audit finds; return which of them it finds, and not only believes."""
    report = audited(path, policy)
    assert report.passed, [str(problem) for problem in report.problems]
    assert not set(report.verified) & set(report.claimed)
    told = set(report.verified) | set(report.claimed)
    assert {f"loss.{name}" for name in facts["loss"]} <= told
    for name, part in facts["loss_by_column"].items():
        assert {f"loss_by_column.{name}.{measure}" for measure in part} <= told
    return set(report.verified)


def is_forged(path: Path, policy, facts, name: str, by: float) -> None:
    told = facts["loss"][name]
    assert not audited(path, policy, **{f"loss/{name}": told + by if told < 0.5 else told - by}).passed


@many(max_examples=80)
@given(drawn_tables(records=("dropped", "masked")), st.sampled_from([".parquet", ".csv"]))
def test_losses_of_any_release_are_found_again(tmp_path_factory, drawn: Drawn, ending: str):
    path = tmp_path_factory.mktemp("losses") / f"release{ending}"
    release = released(drawn, out=path)
    if release is None:
        return
    facts = release.certificate
    event(facts["method"]["name"])
    verified = check(path, drawn.policy, facts)
    if facts["search"].get("aggregated"):
        return  # what means stand for does not follow from them
    assert {"loss.gcp", "loss.precision"} <= verified
    for name in drawn.named("quasi"):
        assert {f"loss_by_column.{name}.{measure}" for measure in FOLLOW} <= verified
    is_forged(path, drawn.policy, facts, "gcp", 0.0002)


@many(max_examples=80)
@given(st.data())
def test_losses_under_hierarchies_are_found_again(tmp_path_factory, data):
    rows = data.draw(st.integers(4, 40))
    ruled = data.draw(st.lists(st.sampled_from(sorted(RULED)), max_size=2, unique=True))
    columns: dict[str, list] = {}
    specs: dict[str, dict] = {}

    def draw(name, cell, spec):
        cell = st.one_of(cell, cell, cell, st.none()) if data.draw(st.booleans()) else cell
        columns[name] = data.draw(st.lists(cell, min_size=rows, max_size=rows))
        specs[name] = {"role": "quasi", "hierarchy": spec, "weight": data.draw(st.sampled_from([1.0, 1.0, 0.5]))}

    for name in ruled:
        draw(name, RULED[name][0], data.draw(RULED[name][1]))
    for name in ("written", "again")[: data.draw(st.integers(0 if ruled else 1, 2))]:
        draw(name, st.sampled_from("abcdef"), data.draw(st.sampled_from(TREES)))
    columns["ill"] = data.draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows))
    specs["ill"] = {"role": "sensitive"}
    able = sorted(n for n, each in METHODS.items() if not (each.leaves_quasi or each.aggregates))
    method = data.draw(st.sampled_from(able))
    assume(method != "tds" or len(set(columns["ill"])) > 1)
    asked = [{"model": "k-anonymity", "k": data.draw(st.integers(2, 4))}]
    if METHODS[method].needs == "l-diversity":
        asked = [{"model": "l-diversity", "l": 2, "column": "ill"}]
    policy = effective({
        "columns": specs, "require": asked,
        "method": {"name": method} | ({"target": "ill"} if method == "tds" else {}),
        "suppression": {
            "limit": data.draw(st.sampled_from([0.0, 0.2])),
            "records": data.draw(st.sampled_from(["dropped", "masked"])),
        },
        "release": {"subjects": "per-class"},
    })  # fmt: skip
    path = tmp_path_factory.mktemp("losses") / data.draw(st.sampled_from(["release.csv", "release.parquet"]))
    try:
        facts = sudare.anonymize(pa.table(columns), policy, out=path).certificate
    except (PolicyUnmetError, DataError) as error:
        event(f"no release: {type(error).__name__}")
        return
    event(f"{method}: {'ruled' if ruled else 'written'}")
    verified = check(path, policy, facts)
    for name in specs:
        if name in ("written", "again"):
            measures = (*FOLLOW, "arx")
        else:
            measures = ("gcp", "precision") if specs[name].get("hierarchy") == "flat" else ()
        assert {f"loss_by_column.{name}.{measure}" for measure in measures} <= verified
    if not ruled:
        assert {f"loss.{measure}" for measure in (*FOLLOW, "arx")} <= verified
    # what is only claimed has to agree with the columns
    for measure in ("gcp", "arx", "precision", "entropy"):
        is_forged(path, policy, facts, measure, 0.0004)
        audited(path, policy, **{f"loss/{measure}": facts["loss"][measure]})


@many(max_examples=40)
@given(st.data())
def test_items_that_are_shown_are_counted_again(tmp_path_factory, data):
    rows = data.draw(st.integers(4, 30))
    cell = st.lists(st.sampled_from(["a", "b", "c", "d", "é"]), max_size=4, unique=True)
    cell = st.one_of(cell, cell, st.none()) if data.draw(st.booleans()) else cell
    sets = data.draw(st.lists(cell, min_size=rows, max_size=rows))
    ages = data.draw(st.lists(st.integers(20, 29), min_size=rows, max_size=rows))
    bought = {"role": "quasi", "kind": "items", "separator": "|"}
    if data.draw(st.booleans()):
        bought |= {"hierarchy": {"tree": ITEM_TREE}}
    free = data.draw(st.booleans())
    asked = [{"model": "k-anonymity", "k": 2} | ({"columns": ["age"]} if free else {})]
    if free:
        asked.append({"model": "km-anonymity", "k": 2, "m": 2, "column": "bought"})
    policy = {"columns": {"age": {"role": "quasi"}, "bought": bought}, "require": asked}
    path = tmp_path_factory.mktemp("losses") / data.draw(st.sampled_from(["release.csv", "release.parquet"]))
    table = pa.table({"age": ages, "bought": pa.array(sets, pa.list_(pa.string()))})
    if path.suffix == ".parquet":
        del bought["separator"]
    try:
        facts = sudare.anonymize(table, policy, out=path).certificate
    except PolicyUnmetError:
        return
    verified = check(path, policy, facts)
    shown = facts["item_sets"]["bought"]["disclosed"]
    if path.suffix == ".parquet":
        assert "item_sets.bought.disclosed" in verified
    else:
        event("in text an empty set looks like a missing one")
    if "item_sets.bought.disclosed" in verified:
        assert not audited(path, policy, **{"item_sets/bought/disclosed": shown + 1}).passed


@pytest.mark.parametrize("method", sorted(name for name, each in METHODS.items() if not each.leaves_quasi))
def test_every_method_that_makes_classes_is_looked_at(method, tmp_path):
    ages, zones = [20 + i * 7 % 31 for i in range(60)], ["abcdef"[i * i % 6] for i in range(60)]
    table = pa.table({"age": ages, "zone": zones, "ill": ["xyz"[i % 3] for i in range(60)]})
    asked = {"model": "k-anonymity", "k": 3}
    if METHODS[method].needs == "l-diversity":
        asked = {"model": "l-diversity", "l": 2, "column": "ill"}
    policy = {
        "columns": {"age": {"role": "quasi"}, "zone": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [asked],
        "method": {"name": method} | ({"target": "ill"} if method == "tds" else {}),
    }
    path = tmp_path / "release.csv"
    facts = sudare.anonymize(table, policy, out=path).certificate
    if METHODS[method].aggregates:
        # what means stand for does not follow from them; of the other column it does
        verified, claimed = check(path, policy, facts), audited(path, policy).claimed
        assert {"loss.gcp", "loss_by_column.age.gcp"} <= set(claimed)
        assert "loss_by_column.zone.gcp" in verified
        is_forged(path, policy, facts, "gcp", 0.2)
        return
    assert {f"loss.{name}" for name in FOLLOW} <= check(path, policy, facts)
    for name in FOLLOW:
        is_forged(path, policy, facts, name, 0.0002)
        audited(path, policy, **{f"loss/{name}": facts["loss"][name]})
