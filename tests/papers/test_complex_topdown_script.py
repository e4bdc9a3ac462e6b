"""The script that repeats the experiments of the paper on item sets: it runs, and its page is what it would write."""

from __future__ import annotations

import pytest

import sudare
from papers.scripts import KEPT, check_page_is_kept, check_page_is_written_alone, check_page_needs_figures, load_script

script = load_script("complex_topdown")
SHARES = {"diseases": {"disclosed_share": 0.5}, "drugs": {"disclosed_share": 0.25}}


def run_of(rows, quasi, seconds):
    return {"rows": rows, "k": 10, "quasi": quasi, "seconds": seconds, "copy": 2.0, "peak_gib": 1.5}


def way_of(rows, seconds, classes):
    return {"rows": rows, "k": 10, "method_seconds": seconds, "classes": classes, "gcp": 0.5, "item_sets": SHARES}


TIMES = {
    "end_to_end": {
        "1000000-QI1": run_of(1_000_000, "QI1", 4.0),
        "10000000-QI1": run_of(10_000_000, "QI1", 30.0),
        "100000000-QI1": run_of(100_000_000, "QI1", 480.0),
        "100000000-QI5--memory8GiB": run_of(100_000_000, "QI5", 1234.5),
        "1000000-QI5": run_of(1_000_000, "QI5", 8.0),
    },
    "ways": {
        "1000000-rank-choose-split": way_of(1_000_000, 2.0, 1200),
        "1000000-one-by-one": way_of(1_000_000, 9.0, 1100),
    },
}


@pytest.fixture(scope="module")
def measured():
    return script.measure(sudare.datasets.diabetes(), [5], sample=True)


def test_every_series_is_measured_on_the_sample(measured, capsys):
    assert measured["table"] == {"sample": True, "encounters": 8986, "patients": 6300}
    assert list(measured["series"]) == [one.name for one in script.SERIES]
    for series in measured["series"].values():
        figures = series["5"]
        assert figures["classes"] > 100
        assert 0 < figures["gcp"] < 1
        for name in script.SETS:
            shown = figures["item_sets"][name]
            assert shown["disclosed_share"] == pytest.approx(shown["disclosed"] / shown["items"])
            assert 0 < shown["ncp"] < 1


def test_series_differ_by_their_options_alone():
    asked = {one.name: script.policy(one, 7) for one in script.SERIES}
    assert all(
        policy["require"] == [{"model": "k-anonymity", "k": 7, "count": "subjects"}] for policy in asked.values()
    )
    assert asked["default"]["method"] == {"name": "top-down"}
    assert asked["order: global"]["method"] == {"name": "top-down", "order": "global"}
    with_tree = [name for name, policy in asked.items() if "hierarchy" in policy["columns"]["diagnoses"]]
    assert with_tree == ["item hierarchies"]
    assert all(sudare.load_policy(policy) for policy in asked.values())


def test_the_page_shows_the_figures(measured):
    text = script.page(measured, TIMES)
    figures = measured["series"]["default"]["5"]
    assert f"| 5 | {figures['gcp']:.4f} |" in text
    assert (
        f"{figures['item_sets']['drugs']['disclosed_share']:.1%} ({figures['item_sets']['drugs']['ncp']:.3f})" in text
    )
    assert "A sample of *Diabetes" in text
    assert "|  | 1M | 10M | 100M |" in text
    assert "| QI1 | 4.00 | 30 | 480 |" in text
    assert "| QI1 | 2.0 x | 15.0 x | 240.0 x |" in text
    assert "| QI5, `--memory 8GiB` |  |  | 1,234 |" in text
    assert "|  | 1M to 10M (10 x the claims) | 10M to 100M (10 x the claims) |" in text
    assert "| QI1 | 7.5 x | 16.0 x |" in text
    assert "| QI5 |  |  |" in text
    assert "| 1M | `one-by-one` | 9.00 | 1,100 | 0.5000 | 50.0% | 25.0% |" in text
    assert "`one-by-one` takes 4.5 x the time" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 120


def test_the_page_does_without_times(measured):
    text = script.page(measured, {})
    assert "No times are kept yet." in text
    assert "times.svg" not in text


def test_a_key_of_times_that_says_nothing_is_refused(measured):
    with pytest.raises(SystemExit, match="is not rows"):
        script.page(measured, {"end_to_end": {"many-QI1": {}}})


def test_only_the_page_is_written_from_what_is_kept(measured, tmp_path):
    kept, drawn = {script.DISCLOSED: measured, script.TIMES: TIMES}, ["disclosed.svg", "loss.svg", "times.svg"]
    check_page_is_written_alone(script, kept, script.page(measured, TIMES), drawn, tmp_path)


def test_a_page_needs_figures(tmp_path):
    check_page_needs_figures(script, tmp_path, "--page")


def test_the_page_in_the_documentation_is_what_would_be_written_now():
    check_page_is_kept(script, script.page(*script.load(KEPT)))


def test_no_path_of_a_machine_is_kept():
    for path in KEPT.iterdir():
        assert str(KEPT.parent.parent) not in path.read_text(encoding="utf-8")
