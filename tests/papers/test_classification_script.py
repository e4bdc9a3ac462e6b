"""The script that evaluates tds: the study's example comes out, it runs, and its page is what it would write."""

from __future__ import annotations

import json
import math

import pytest

from papers.scripts import KEPT, check_page_is_kept, check_page_is_written_alone, check_page_needs_figures, load_script
from sudare.models import KAnonymity, Requirements

DRAWN = ["classification_k.svg", "classification_steps.svg", "classification_w.svg"]


pages = load_script("classification_page")
script = load_script("classification")


@pytest.fixture(scope="module")
def measured():
    """Figures of a few records, in the form that the script keeps."""
    data = {setting: script.adult(setting, 1500) for setting in script.SETTINGS}
    table, rows = data["alone"]
    store = script.Store(None, {})
    store.once(["example"], script.example)
    store.once(["run"], script.example_run)
    store.once(["optimum"], lambda: script.against_optimum(tables=2, rows=120, ks=(5,)))
    store.once(["table"], lambda: {"training": rows, "test": table.rows - rows})
    store.once(["steps", "Adult"], lambda: script.steps(table, Requirements(()), times=1))
    store.once(["steps", "claims"], lambda: script.steps(script.claims(2000), Requirements(()), times=1))
    for setting in script.SETTINGS:
        script.by_k(store, setting, data[setting], [5, 50], draws=2)
    script.by_weight(store, data["alone"], [20], weights=(0.5, 0.98, 1.0), folds=2)
    return store.found


def test_the_example_has_the_figures_of_the_study():
    found = {name: tuple(map(pages.cut_off, figures)) for name, figures in script.example().items()}
    assert list(found.values()) == list(pages.PUBLISHED.values())
    assert [name.split(" = ")[0] for name in found] == list(pages.PUBLISHED)


def test_the_example_is_run(measured):
    """The study's steps lead to its figures, and the method's own run is what the method returns."""
    run = measured["run"]
    published = [pages.PUBLISHED[name][2] for name in ("T1", "T2", "T3", "T4", "T5", "Tfinal")]
    assert [pages.cut_off(step["table_info"]) for step in run["study"]] == published
    assert pages.cut_off(run["study"][0]["score"]) == "0.3325"
    assert all(step["valid"] for step in run["study"])
    for one in run["runs"].values():
        scores = [step["score"] for step in one["steps"]]
        assert one["steps"][-1]["table_info"] == pytest.approx(one["end"]["table_info"], abs=1e-8)
        assert one["end"]["steps"] == len(scores)
        least = min(step["table_info"] for step in one["steps"])
        assert one["least"]["table_info"] == pytest.approx(least, abs=1e-8)
        assert one["optimum"]["table_info"] <= least + 1e-9


def test_the_optimum_is_that_of_all_cuts_in_plain_python():
    """All cuts of the example by the study's trees: one of each tree, counted from the records."""

    def cuts(tree):
        """Return the cuts of a tree, as the name of the node that shows each leaf."""
        if isinstance(tree, str):
            return [{tree: tree}]
        [(name, below)] = tree.items()
        children = list(below) if isinstance(below, list) else [{key: one} for key, one in below.items()]
        found = [{}]
        for child in children:
            found = [one | more for one in found for more in cuts(child)]
        return [dict.fromkeys(found[0], name), *found]

    def information(shown, w=0.98):
        groups = {}
        for cells, yes, no in shown:
            group = groups.setdefault(cells, [0, 0])
            group[0] += yes
            group[1] += no
        if min(map(sum, groups.values())) < script.EXAMPLE_K:
            return math.inf
        doubt = -sum(n / 34 * math.log2(n / sum(group)) for group in groups.values() for n in group if n)
        return w * doubt - (1 - w) * sum(sum(group) / 34 * math.log2(sum(group) / 34) for group in groups.values())

    trees = script.EXAMPLE_TREES
    least = min(
        information([((sexes[sex], jobs[job], pays[str(pay)]), yes, no) for sex, job, pay, yes, no in script.EXAMPLE])
        for sexes in cuts(trees["sex"])
        for jobs in cuts(trees["job"])
        for pays in cuts(trees["salary"])
    )
    table = script.example_table(grown=False)
    found = script.optimum(table, Requirements((KAnonymity(script.EXAMPLE_K),)), 0.98)
    assert found["table_info"] == pytest.approx(least, abs=1e-8)


def test_nothing_is_below_the_optimum(measured):
    for one in measured["optimum"]["settings"]:
        assert min(one["table_info"].values()) >= one["optimum"]["table_info"] - 1e-8
        assert one["table_info"]["tds, least"] <= one["table_info"]["tds"] + 1e-8
        assert one["table_info"]["tds, beam, least"] <= one["table_info"]["tds, least"] + 1e-8


def test_a_run_goes_on_where_it_ended(measured, tmp_path, monkeypatch):
    found = json.loads(json.dumps(measured))
    del found["alone"]["series"]["tds, least"]["50"]
    (tmp_path / script.KEPT).write_text(json.dumps(found), encoding="utf-8")
    adult = script.adult
    monkeypatch.setattr(script, "adult", lambda setting: adult(setting, 1500))
    monkeypatch.setattr(script, "all_steps", lambda: pytest.fail("these are kept"))
    monkeypatch.setattr(script, "by_weight", lambda *_: None)
    monkeypatch.setattr(script, "draw", lambda *_: None)
    script.main(["--resume", "--k", "5", "50", "--folder", str(tmp_path)])
    assert script.load(tmp_path) == measured


def test_figures_are_cut_off_and_not_rounded():
    assert [pages.cut_off(figure) for figure in (0.93999, 0.94, 2.0, 0.00009)] == [
        "0.9399",
        "0.9400",
        "2.0000",
        "0.0000",
    ]


def test_every_series_is_measured(measured):
    assert measured["table"] == {"training": 1500, "test": 1500}
    for setting in script.SETTINGS:
        assert list(measured[setting]["series"]) == [one.name for one in script.SERIES]
        assert list(measured[setting]["baselines"]) == ["raw", "majority", "no quasi-identifiers"]
        for series in measured[setting]["series"].values():
            assert list(series) == ["5", "50"]
            assert all(0.5 < share <= 1 for one in series.values() for share in one["accuracy"])
    alone, others = (measured[setting]["baselines"] for setting in script.SETTINGS)
    assert alone["no quasi-identifiers"] == alone["majority"]
    assert others["no quasi-identifiers"]["auc"][2] > 0.6
    local = measured["alone"]["series"]["mondrian"]["5"]
    assert len(local["deviation"]) == 3, "values were drawn more than once"
    suppressed = measured["alone"]["series"]["full-domain, 5%"]["5"]["records"]
    assert 1425 <= suppressed <= 1500


def test_steps_say_what_they_touch(measured):
    for run in measured["steps"].values():
        assert run["steps"][0][:2] == [run["atoms"], 1], "the first step touches everything, in one group"
        assert all(1 <= atoms <= run["atoms"] and spent > 0 for atoms, _, spent in run["steps"])


def test_wins_are_counted():
    def one(accuracy):
        return {"5": {"accuracy": accuracy}}

    series = {"tds": one([0.8, 0.9, 0.7]), "mondrian": one([0.81, 0.9, 0.6])}
    assert pages.wins(series, "accuracy", ["tds", "mondrian"]) == {"tds": 2, "mondrian": 2}


def test_near_ones_are_counted():
    accuracies = {"tds": [[0.8, 0.7, 0.9]], "other": [[0.802, 0.71, 0.85]]}
    series = {name: {"5": {"accuracy": one}} for name, [one] in accuracies.items()}
    assert pages.near(series, 0.003, list(series)) == {"tds": 2, "other": 2}
    assert pages.near(series, 0.0, list(series)) == {"tds": 1, "other": 2}
    assert 0.003 < pages.standard_error(15_060) < 0.0032


def test_costs_are_found_again():
    made = pages.np.array(
        [[atoms, groups, 0.5 + 0.01 * atoms + 0.2 * groups] for atoms in (1, 50, 900) for groups in (1, 7)]
    )
    assert pages.costs(made) == pytest.approx([0.5, 0.01, 0.2])


def test_the_page_shows_the_figures(measured):
    text = pages.page(measured)
    figures = measured["alone"]["series"]["tds"]["50"]
    assert f"| 50 | {100 * figures['accuracy'][0]:.1f}% ({figures['auc'][0]:.3f}) |" in text
    assert "8 of 8 lines have the figures of the study" in text
    assert "1,500 to learn from, 1,500 to be asked about" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 120


def test_only_the_page_is_written_from_what_is_kept(measured, tmp_path):
    check_page_is_written_alone(script, {script.KEPT: measured}, pages.page(measured), DRAWN, tmp_path)


def test_a_page_needs_figures(tmp_path):
    check_page_needs_figures(script, tmp_path, "--page")


# ---- what is kept


@pytest.fixture(scope="module")
def kept():
    return script.load(KEPT)


def test_scores_are_in_this_order(kept):
    """Over every k: ours and plain gain first, then the gain by the loss of anonymity, the gain ratio last."""
    for place in range(3):
        mean = {
            name: sum(one["accuracy"][place] for one in by_k.values()) / len(by_k)
            for name, by_k in kept["alone"]["series"].items()
        }
        assert mean["tds"] > mean["tds, anony-loss"] > mean["tds, gain-ratio"]
        assert mean["tds"] > mean["tds, info-gain"] > mean["tds, anony-loss"]


def test_classifiers_learn_less_the_larger_k_is(kept):
    for name in ("tds", "tds, info-gain", "top-down"):
        by_k = kept["alone"]["series"][name]
        assert by_k["5"]["accuracy"][0] > by_k["500"]["accuracy"][0]


def test_least_is_nearest_to_the_optimum(kept):
    found = kept["optimum"]
    assert len(found["settings"]) == 60
    for w in (0.98, 0.8):
        mean = {way: sum(pages.above_optimum(found, way, w)) for way in found["settings"][0]["table_info"]}
        assert mean["tds, beam, least"] == pytest.approx(min(mean.values()), abs=1e-6)
        assert mean["tds, least"] < mean["tds"]
        assert max(mean["tds"], mean["tds, beam"]) < mean["tds, info-gain"]


def test_the_page_in_the_documentation_is_what_would_be_written_now():
    check_page_is_kept(script, pages.page(script.load(KEPT)), DRAWN)
