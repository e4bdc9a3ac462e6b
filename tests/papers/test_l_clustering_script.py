"""The script that repeats the paper on clustering: it runs, its page is what it would write, and its claims hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from papers.scripts import (
    KEPT,
    check_page_is_kept,
    check_page_is_written_alone,
    check_page_needs_figures,
    load_script,
)
from sudare.methods.lattice.full_domain import at_levels
from sudare.metrics import uncertainty
from sudare.models import LDiversity, Requirements
from sudare.table import generalize

DRAWN = [f"l_clustering_{name}.svg" for name in ("loss", "relative", "spread", "times")]


pages = load_script("l_clustering_page")
script = load_script("l_clustering")
Store = script.Store


@pytest.fixture(scope="module")
def kept():
    return script.load(KEPT)


@pytest.fixture(scope="module")
def measured():
    """Figures of a few records, in the form that the script keeps."""
    runs = script.Runs(script.adult(1500))
    return {
        "patients": script.patients(seeds=5),
        "records": runs.data.num_rows,
        "rarest": script.rarest(runs.data),
        "seeds": 2,
        "losses": script.losses(runs, widths=(2, 4), ls=(2, 7), seeds=2),
        "relative": script.relative(runs, (2, 4), ls=(2, 7), seeds=2),
        "levels": script.levels(runs, (2, 4), ls=(2, 7)),
        "spread": script.spread(runs, 4, ls=(2, 7), seeds=3),
        "models": script.models(Store(None, {}), rows=400, asked=("entropy, l = 5", "distinct, l = 5")),
        "times": script.times(
            widths=(2,), ls=(2,), sizes=(500, 1000), runs=1, rows=1500, some=((2, 7), (2, 4)), store=Store(None, {})
        ),
    }


def test_every_way_is_measured(measured):
    for by_l in measured["losses"].values():
        assert {need: list(by_width) for need, by_width in by_l.items()} == {"2": ["2", "4"], "7": ["2", "4"]}
        assert all(tuple(one) == script.WAYS for by_width in by_l.values() for one in by_width.values())
    drawn = measured["spread"]["L"]["7"]["reference"]
    assert len(drawn) == 3
    assert measured["losses"]["L"]["7"]["4"]["reference"] == pytest.approx(np.mean(drawn[:2]))
    assert measured["losses"]["L"]["7"]["4"]["fast"] == measured["spread"]["L"]["7"]["fast"]
    assert {key: list(one) for key, one in measured["times"].items() if key not in ("runs", "cores")} == {
        "columns": ["2", "7"],
        "l": ["2", "4"],
        "records": ["500", "1000"],
    }
    assert measured["times"]["columns"]["7"].keys() == {"2"} and measured["times"]["l"]["4"].keys() == {"2"}
    assert measured["levels"].keys() == {"2", "4"} and len(measured["levels"]["4"]["7"]) == 4


def test_relative_loss_is_by_showing_everything(measured):
    given = script.tables(script.adult(1500), 4)
    most = sum(column.domain - (name != "age") for name, column in given.free.quasi.items())
    for need, one in measured["relative"]["4"].items():
        for way in script.WAYS:
            assert one[way] * 1500 * most == pytest.approx(measured["losses"]["L"][need]["4"][way], abs=1)


def test_l_incognito_has_the_least_l_of_all_levels():
    given = script.tables(script.adult(1500), 2)
    asked = Requirements((LDiversity(3, script.SENSITIVE),))
    table, partition = script.release("l-incognito", given, 3, "L")
    found = []
    for levels in ({"age": age, "sex": sex} for age in range(5) for sex in range(2)):
        try:
            found.append(uncertainty(generalize(given.levels, at_levels(given.levels, asked, levels))).total)
        except script.sudare.SudareError:
            continue
    assert len(found) > 1
    assert uncertainty(generalize(table, partition)).total == min(found)


def test_the_ten_patients_have_the_classes_of_the_paper():
    found = script.patients(seeds=2)["classes"]
    assert found["the paper"]["L"] == 63
    assert found["full-domain"]["L"] == 350
    for weights in ("1", "domain"):
        assert found[f"fast, weights {weights}"]["L"] <= 63


def test_the_page_shows_the_figures(measured):
    text = pages.page(measured)
    fast = measured["losses"]["L"]["7"]
    assert f"| fast | {fast['2']['fast']:,.0f} | {fast['4']['fast']:,.0f} |" in text
    assert "1,500 complete records" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 120


def test_settings_are_counted():
    losses = {"L": {"2": {"2": {"a": 3, "b": 2}, "3": {"a": 1, "b": 1}}}, "GCP": {"2": {"2": {"a": 0.2, "b": 0.1}}}}
    assert pages.above(losses, "a", "b") == (2, 3)
    assert pages.shares_of_mean({"2": {"fast": 3.0, "reference": [4.0, 6.0]}}) == {"2": 0.6}


def test_only_the_page_is_written_from_what_is_kept(measured, tmp_path):
    check_page_is_written_alone(script, {script.KEPT: measured}, pages.page(measured), DRAWN, tmp_path)


def test_only_times_are_measured_again(measured, tmp_path, monkeypatch):
    times = measured["times"]
    monkeypatch.setattr(script, "measure_losses", lambda _: pytest.fail("all else is kept"))
    monkeypatch.setattr(script, "times", lambda runs, store: times | {"runs": runs})
    (tmp_path / script.KEPT).write_text(json.dumps(measured), encoding="utf-8")
    script.main(["--times", "--runs", "5", "--folder", str(tmp_path)])
    assert script.load(tmp_path) == measured | {"times": times | {"runs": 5}}


def test_what_is_kept_is_not_measured_again(tmp_path, monkeypatch):
    store = Store(tmp_path / script.KEPT, {})
    first = script.Runs(script.adult(300), store).lost("fast", 2, 2, "L")
    monkeypatch.setattr(script, "release", lambda *_: pytest.fail("it is kept"))
    again = Store(None, json.loads((tmp_path / script.KEPT).read_text(encoding="utf-8")))
    assert script.Runs(script.adult(300), again).lost("fast", 2, 2, "L") == first


def test_l_clustering_loses_no_more_than_top_down_with_polish(kept, measured):
    """30 pairs of a model and a table at least, of real data."""
    below, pairs = pages.pairs_below(kept["models"])
    assert below == pairs >= 30
    assert kept["models"]["records"] == 20_000
    one = kept["models"]["Adult, 8 columns"]["recursive, c = 1, l = 5"]
    assert one["l-clustering"]["GCP"] < 0.7 * one["top-down"]["GCP"]
    assert pages.pairs_below(measured["models"]) == (8, 8)


def test_losses_grow_with_quasi_identifiers(kept):
    for by_width in kept["losses"]["L"].values():
        for way in script.WAYS:
            losses = [one[way] for one in by_width.values()]
            assert losses == sorted(losses)


def test_losses_grow_with_l_and_l_incognito_in_steps(kept):
    assert list(kept["relative"]) == list(kept["levels"]) == ["2", "5", "8"]
    for width, by_l in kept["relative"].items():
        assert list(by_l) == [str(need) for need in range(2, 15)]
        assert all(pages.grows(by_l, way) for way in script.WAYS)
        assert all(one["l-incognito"] > one["fast"] for one in by_l.values())
        # far fewer choices of levels than values of l
        assert len({tuple(levels) for levels in kept["levels"][width].values()}) < 10
    for panels, keys in (("columns", "2 7 12"), ("l", "2 5 8")):
        assert list(kept["times"][panels]) == keys.split()


def test_every_figure_of_the_paper_is_in_the_table(kept):
    text = pages.page(kept)
    overview = text[text.index("## The paper and this page") : text.index("## What we measured")]
    lines = [line for line in overview.splitlines() if line.startswith("| ")][2:]
    assert len(lines) == 11
    assert " | differs in part: with `weights: domain`" in lines[0]  # weights 1, those of the paper, never find it
    assert all(line.split(" | ")[1].startswith(("reproduced", "differs", "not possible")) for line in lines)


def test_the_power_of_a_time_is_that_of_its_ends():
    times = {"100": {"fast": 1.0, "slow": 1.0}, "200": {"fast": 9.0, "slow": 9.0}, "400": {"fast": 4.0, "slow": 16.0}}
    assert [pages.exponent(times, way) for way in ("fast", "slow")] == pytest.approx([1.0, 2.0])


def test_a_page_needs_figures(tmp_path):
    check_page_needs_figures(script, tmp_path, "--page", "--times")


def test_the_page_in_the_documentation_is_what_would_be_written_now(kept):
    check_page_is_kept(script, pages.page(kept), DRAWN)


def test_l_incognito_loses_more_in_every_setting(kept):
    assert kept["records"] == 45_222
    assert list(kept["losses"]["L"]) == list(kept["losses"]["GCP"]) == ["2", "7", "12"]
    assert all(list(by_width) == list("2345678") for by_l in kept["losses"].values() for by_width in by_l.values())
    for way in ("fast", "reference"):  # the second has the steps of the paper
        assert pages.above(kept["losses"], "l-incognito", way) == (42, 42)
        assert all(one["l-incognito"] > one[way] for by_l in kept["relative"].values() for one in by_l.values())


def test_chance_decides_little(kept):
    for by_l in kept["spread"].values():
        for one in by_l.values():
            drawn = np.array(one["reference"])
            assert drawn.std(ddof=1) < 0.03 * drawn.mean()


def test_time_grows_with_columns_and_less_than_with_the_square_of_the_records(kept):
    for by_width in kept["times"]["columns"].values():
        assert by_width["8"]["fast"] > by_width["2"]["fast"]
        assert by_width["8"]["reference"] > by_width["2"]["reference"]
    assert pages.exponent(kept["times"]["records"], "fast") < 1.5
    assert pages.exponent(kept["times"]["records"], "reference") < 2


def test_fast_loses_a_tenth_less_than_the_steps_of_the_paper(kept):
    found = pages.shares_of_mean(kept["spread"]["GCP"])
    assert list(found) == ["2", "7", "12"]
    assert max(found.values()) <= 0.9
    assert all(len(one["reference"]) == 20 for by_l in kept["spread"].values() for one in by_l.values())
