"""The script that evaluates tds: the study's example comes out, it runs, and its page is what it would write."""

from __future__ import annotations

import pytest

from papers.scripts import KEPT, check_page_is_kept, check_page_is_written_alone, check_page_needs_figures, load_script
from sudare.models import Requirements

DRAWN = ["classification_k.svg", "classification_steps.svg", "classification_w.svg"]


pages = load_script("classification_page")
script = load_script("classification")


@pytest.fixture(scope="module")
def measured():
    """Figures of a few records, in the form that the script keeps."""
    data = {setting: script.adult(setting, 1500) for setting in script.SETTINGS}
    table, rows = data["alone"]
    return {
        "example": script.example(),
        "table": {"training": rows, "test": table.rows - rows},
        "steps": {
            "Adult": script.steps(table, Requirements(()), times=1),
            "claims": script.steps(script.claims(2000), Requirements(()), times=1),
        },
        **{setting: script.by_k(data[setting], [5, 50], draws=2) for setting in script.SETTINGS},
        "weights": script.by_weight(data["alone"], [20], weights=(0.5, 0.98, 1.0), folds=2),
    }


def test_the_example_has_the_figures_of_the_study():
    found = {name: tuple(map(pages.cut_off, figures)) for name, figures in script.example().items()}
    assert list(found.values()) == list(pages.PUBLISHED.values())
    assert [name.split(" = ")[0] for name in found] == list(pages.PUBLISHED)


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


def test_the_page_in_the_documentation_is_what_would_be_written_now():
    check_page_is_kept(script, pages.page(script.load(KEPT)), DRAWN)
