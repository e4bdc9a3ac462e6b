"""What a way comes to: the figures of its release and of its risk, stopping, failing, and that it is the same again."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.comparisons import Bench, Configuration, Result, RiskFigures, compare_configurations, measurement, show
from sudare.comparisons.comparison import with_frontier
from sudare.comparisons.run_costs import measured
from sudare.core.errors import ParameterError, UnsupportedError
from sudare.models import KAnonymity, Requirements
from sudare.table import Table, encode_column

ROWS = 400
POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "city": {"role": "quasi"},
        "sick": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 5}],
}


def people(**changed):
    draw = np.random.default_rng(0)
    columns = {
        "age": draw.integers(20, 80, ROWS),
        "city": draw.choice(["Oslo", "Rome", "Bern", "Graz"], ROWS),
        "sick": draw.choice(["flu", "pox", "ulcer", "cold"], ROWS, p=[0.4, 0.3, 0.2, 0.1]),
    }
    return pa.table(columns | changed)


def compared(data=None, policy=POLICY, **asked):
    return sudare.compare(people() if data is None else data, policy, **asked)


def test_figures_are_those_of_the_release_and_of_its_risk():
    found = compared(methods=["top-down", "mondrian"], sweep={"k": [4, 9]})
    assert [way.name for way in found.results] == ["top-down, k=4", "top-down, k=9", "mondrian, k=4", "mondrian, k=9"]
    for way in found.results:
        rules = POLICY | {"require": [{"model": "k-anonymity", **way.swept}], "method": {"name": way.method}}
        release = sudare.anonymize(people(), rules)
        for name in ("gcp", "arx", "entropy"):
            assert getattr(way, name) == pytest.approx(release.loss[name], abs=1e-8)
        assert way.classes == release.certificate["classes"]
        after = sudare.risk(people(), rules, release=release).after.records
        assert way.risk == RiskFigures(
            "records", after.mean_risk, after.largest_risk, {name: after.above[name] for name in ("0.09", "0.2")}
        )
        assert 0 < way.query_error < 1
        assert way.suppressed == 0
        assert way.seconds > 0
        assert way.memory is None or way.memory >= 0


def test_more_k_is_less_risk_and_more_loss():
    ways = compared(methods=["top-down"], sweep={"k": [2, 10, 50]}).results
    assert [way.risk.mean for way in ways] == sorted((way.risk.mean for way in ways), reverse=True)
    assert [way.gcp for way in ways] == sorted(way.gcp for way in ways)
    assert all(way.frontier for way in ways) or not all(ways[i].query_error < ways[i + 1].query_error for i in range(2))


def test_records_left_out_are_counted():
    odd = people(city=[*(f"Nowhere {number}" for number in range(6)), *people()["city"].to_pylist()[6:]])
    # else rare values are one, and nobody has to be left out
    rules = POLICY | {"suppression": {"limit": 0.05}, "method": {"name": "full-domain"}, "release": {"ranges": "tight"}}
    [way] = compared(odd, rules, methods=["full-domain"]).results
    assert 0 < way.suppressed <= 0.05
    masked = rules | {"suppression": {"limit": 0.05, "records": "masked"}}
    [same] = compared(odd, masked, methods=["full-domain"]).results
    assert same.risk == way.risk, "what shows nothing is nobody's risk"
    assert same.suppressed == way.suppressed


def test_people_count_where_the_policy_says_who_they_are():
    who = people(person=np.arange(ROWS) // 2)
    rules = POLICY | {
        "columns": POLICY["columns"] | {"person": {"role": "subject"}},
        "require": [{"model": "k-anonymity", "k": 4, "count": "subjects"}],
    }
    [way] = compared(who, rules, methods=["top-down"]).results
    assert way.risk.unit == "people"
    assert way.risk.largest <= 1 / 4


HIDDEN = POLICY | {"require": [{"model": "l-diversity", "l": 2, "column": "sick"}]}


def test_hidden_values_have_a_guarantee_and_no_risk_of_classes():
    found = {way.name: way for way in compared(policy=HIDDEN, sweep={"l": [2]}, methods=["dummies", "anatomy"]).results}
    for way in found.values():
        assert (way.guarantee, way.risk, way.gcp, way.classes) == (0.5, None, 0, None)
        assert not way.frontier
        assert "identities are not hidden" in way.notes[0]
        assert 0 < way.query_error < 1
    assert "dummies; anatomy" not in str(found)


def test_drawn_values_have_a_guarantee_and_no_loss():
    rules = POLICY | {"require": [{"model": "pk-anonymity", "k": 2}], "method": {"name": "pram"}}
    ways = compared(policy=rules, sweep={"k": [2, 4]}).results
    assert [way.guarantee for way in ways] == [0.5, 0.25]
    assert [(way.risk, way.gcp) for way in ways] == [(None, None)] * 2
    assert all(way.query_error > 0 for way in ways)


def test_drawn_by_strata_there_is_no_query_error_but_a_note():
    rules = POLICY | {
        "require": [{"model": "pk-anonymity", "k": 2}],
        "method": {"name": "pram", "strata": ["city"]},
    }
    [way] = compared(policy=rules).results
    assert way.query_error is None
    assert "strata" in way.notes[1]


def test_item_sets_are_compared_without_a_target():
    sets = people(drugs=[["a", "b"] if number % 3 else ["a"] for number in range(ROWS)])
    rules = POLICY | {"columns": POLICY["columns"] | {"drugs": {"role": "quasi", "kind": "items"}}}
    top, other = compared(sets, rules, methods=["top-down", "mondrian"]).results
    assert top.problem is None
    assert top.query_error is not None
    assert "item sets" in other.problem
    with pytest.raises(UnsupportedError, match="cannot learn from item sets"):
        compared(sets, rules, target="sick", folds=2)


def test_ways_that_fail_are_listed_with_the_reason():
    found = compared(methods=["top-down", "three-phase", "pram"], sweep={"k": [5, 1000]})
    reasons = {way.name: way.problem for way in found.results}
    assert reasons["top-down, k=5"] is None
    assert "even one class of all records falls short" in reasons["top-down, k=1000"]
    assert "needs a requirement of the model l-diversity" in reasons["three-phase, k=5"]
    assert "cannot keep k-anonymity" in reasons["pram, k=5"]
    assert found.finished == 1
    text = str(found)
    assert text.count("no release") == 5
    assert "three-phase, k=5; three-phase, k=1000: " in text


def test_running_out_of_memory_is_a_reason(monkeypatch):
    def refuse(self, *_):
        raise MemoryError

    monkeypatch.setattr(Configuration, "recode", refuse)
    [way] = compared(methods=["top-down"]).results
    assert way.problem == measurement.NO_MEMORY


def test_the_same_seed_gives_the_same_and_another_does_not():
    asked = {"policy": HIDDEN, "methods": ["top-down", "dummies"], "sweep": {"l": [2, 3]}, "queries": 20}
    first, again, other = (compared(seed=seed, **asked).to_dict() for seed in (1, 1, 2))
    assert first == again
    assert first != other
    json.dumps(first, allow_nan=False)
    assert "seconds" not in first["ways"][0]
    assert {"seconds", "memory"} <= set(compared(**asked).to_dict(costs=True)["ways"][0])


def test_without_queries_there_are_none():
    found = compared(methods=["top-down"], queries=0)
    assert (found.queries, found.results[0].query_error, found.notes) == (0, None, ())
    assert found.results[0].frontier


def test_few_queries_are_noted():
    # one city for all but one record, and everybody another age: nothing is between one record and nearly all
    odd = people(city=["Oslo"] * ROWS, age=list(range(ROWS)))
    found = compared(odd, methods=["top-down"], queries=20)
    assert found.queries <= 20
    assert bool(found.notes) == (found.queries < 20)


# -- stopping ----------------------------------------------------------------------------------------------------


def stopping(after):
    """A listener that stops the comparison once so many configurations are finished."""

    def listen(stage, done, total):
        if stage == "compare" and done >= after:
            raise KeyboardInterrupt

    return listen


def test_who_stops_it_gets_what_is_finished():
    found = compared(methods=["top-down"], sweep={"k": [2, 3, 4, 5]}, progress=stopping(2))
    assert [way.swept["k"] for way in found.results] == [2, 3]
    assert found.stopped == "stopped early: 2 of 4 configurations are finished."
    assert found.results == compared(methods=["top-down"], sweep={"k": [2, 3]}).results or found.finished == 2
    assert "note: stopped early" in str(found)


def test_who_stops_it_before_anything_is_finished_stops_it():
    with pytest.raises(KeyboardInterrupt):
        compared(methods=["top-down"], progress=stopping(0))


def test_stopped_while_classifiers_learn_a_way_has_all_or_nothing():
    # three baselines and one way of two folds each are 8 steps; it is stopped in the middle of the second way
    found = compared(methods=["top-down", "mondrian"], target="sick", folds=2, progress=stopping(9))
    assert [way.method for way in found.results] == ["top-down"]
    assert [outcome.name for outcome in found.outcomes[3:]] == ["top-down"]


def test_when_the_time_is_up_no_other_way_begins():
    found = compared(methods=["top-down"], sweep={"k": [2, 3, 4]}, time_limit=1e-9)
    assert found.results == ()
    assert found.stopped == "the time limit was reached: 0 of 3 configurations are finished."
    assert compared(methods=["top-down"], time_limit=1000).stopped is None


@pytest.mark.parametrize(
    ("asked", "where"),
    [({"queries": -1}, "queries"), ({"time_limit": 0}, "time_limit"), ({"time_limit": "5"}, "time_limit")],
)
def test_bad_numbers_are_refused(asked, where):
    with pytest.raises(ParameterError) as caught:
        compared(**asked)
    assert [problem.where for problem in caught.value.problems] == [where]


def test_progress_counts_the_ways():
    told = []
    compared(methods=["top-down"], sweep={"k": [2, 3]}, progress=lambda *step: told.append(step))
    assert [step[1:] for step in told if step[0] == "compare"] == [(0, 2), (1, 2), (2, 2)]


# -- frontier, costs, text ---------------------------------------------------------------------------------------


def result(risk, error, gcp=0.5):
    figures = None if risk is None else RiskFigures("records", risk, risk, {})
    return Result(f"{risk} {error}", "m", gcp=gcp, risk=figures, query_error=error)


def test_the_frontier_is_what_nobody_beats_in_both():
    given = [result(0.1, 0.1), result(0.2, 0.05), result(0.2, 0.2), result(0.05, 0.5), result(None, 0.0)]
    assert [each.frontier for each in with_frontier(given)] == [True, True, False, True, False]
    equal = with_frontier([result(0.1, 0.1), result(0.1, 0.1), result(0.1, 0.2)])
    assert [each.frontier for each in equal] == [True, True, False]
    by_loss = with_frontier([result(0.1, None, 0.2), result(0.1, None, 0.3), result(0.1, None, math.nan)])
    assert [each.frontier for each in by_loss][:2] == [True, False]


def test_memory_is_what_the_work_held_at_most():
    _, small = measured(lambda: 1)
    held, large = measured(lambda: np.ones(8_000_000).sum())  # 64 MB, given back at once
    assert held == 8_000_000
    if large.memory is not None:
        assert large.memory > 50e6
        assert small.memory < 20e6
    assert large.seconds > 0


def test_a_bench_of_a_table_alone():
    table = Table(6, {"age": encode_column("age", pa.array([1, 1, 2, 2, 3, 3]))})
    bench = Bench(table, Requirements((KAnonymity(2),)), [], lambda way: table, 0)
    found = compare_configurations(bench, [Configuration("mine", "mondrian")])
    [way] = found.results
    assert (way.name, way.gcp, way.classes, way.risk.mean) == ("mine", 0, 3, 0.5)


def test_the_text_is_a_table_that_fits():
    lines = show(compared(methods=["top-down", "l-clustering"], sweep={"k": [2, 100]}))
    assert lines[0] == "400 records, 4 configurations. 200 queries."
    assert lines[1].split()[:4] == ["configuration", "GCP", "ARX", "entropy"]
    assert max(map(len, lines[:6])) <= 120
    assert any(line.startswith("top-down, k=2 *") for line in lines) or "*" in "".join(lines)
