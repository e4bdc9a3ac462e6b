"""The script that repeats the paper on perturbation: it runs, its page is what it would write, and its claims hold."""

from __future__ import annotations

import numpy as np
import pytest

from papers.scripts import (
    KEPT,
    check_page_is_kept,
    check_page_is_written_alone,
    check_page_needs_figures,
    check_times_are_measured_alone,
    load_script,
)

DRAWN = ["pram_bounds.svg", "pram_utility.svg"]


pages = load_script("pram_page")
script = load_script("pram")


@pytest.fixture(scope="module")
def kept():
    return script.load(KEPT)


@pytest.fixture(scope="module")
def measured():
    """Figures of few draws, in the form that the script keeps."""
    return script.measure(ps=(0.9,), repeats=1) | {"times": script.times(runs=1, cells=20_000, values=20)}


def test_everything_is_measured(measured):
    assert measured["records"] == 32_561
    assert measured["sizes"] == {"income": 2, "marital-status": 7, "relationship": 6, "race": 5}
    assert list(measured["utility"]) == ["0.9", "0.2476", "0.2738", "0.2756", "0.3343"]
    assert all(list(lines) == list(measured["cells"]) for lines in measured["utility"].values())
    assert [name.count(", ") for name in measured["cells"]] == [0] * 4 + [1] * 6 + [2] * 4
    assert measured["cells"]["marital-status, relationship, race"] == 210
    assert set(measured["times"]) == {"runs", "cells", "values", "uniform", "matrix", "with randomness", "calibration"}
    pk = measured["curves"]["pk"]
    assert (pk["p"][0], pk["figure"][0], pk["figure"][-1]) == (0, 32_561, 1)


def test_every_figure_of_the_paper_comes_out(measured):
    assert pages.as_printed(measured) == 32


def test_errors_are_those_of_the_counts():
    given = script.columns(3_000)
    some = [given["income"], given["race"]]
    truth = {name: column.codes.astype(np.int64) for name, column in given.items()}
    drawn = script.perturbed(given, 0.6, 1)
    found = script.errors(truth, drawn, some, 0.6)
    true, seen = (script.counted(codes, some) for codes in (truth, drawn))
    whole = np.kron(*(script.uniform_matrix(column.size, 0.6) for column in some))
    assert found["raw"] == pytest.approx(np.mean((seen - true) ** 2))
    assert found["inversion"] == pytest.approx(np.mean((seen @ np.linalg.inv(whole) - true) ** 2))
    assert (true.sum(), seen.sum()) == (3_000, 3_000)
    assert script.errors(truth, truth, some, 1.0) == pytest.approx(
        {"raw": 0, "inversion": 0, "em": 0, "inside": 1}, abs=1e-6
    )


def test_the_page_shows_the_figures(measured):
    text = pages.page(measured)
    assert "| 1 | income | 3 | 0.8, 0.1 | **0.3343** | 0.4678 | 0.8113 | 0.3343 |" in text
    assert "32 of the 32 figures" in text
    error = np.sqrt(pages.by_width(measured, "0.9", "em", 2))
    assert f"{error:.1f} |" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 120


def test_means_are_over_cells():
    kept = {
        "cells": {"a": 2, "b": 8, "a, b": 16},
        "utility": {"0.5": {"a": {"em": 1.0}, "b": {"em": 6.0}, "a, b": {"em": 3.0, "inversion": 4.0}}},
    }
    assert pages.by_width(kept, "0.5", "em", 1) == 5
    assert pages.gained(kept, 2) == {("0.5", "a, b"): 0.75}


def test_only_the_page_is_written_from_what_is_kept(measured, tmp_path):
    check_page_is_written_alone(script, {script.KEPT: measured}, pages.page(measured), DRAWN, tmp_path)


def test_only_times_are_measured_again(measured, tmp_path, monkeypatch):
    check_times_are_measured_alone(script, measured, "measure", tmp_path, monkeypatch)


def test_a_page_needs_figures(tmp_path):
    check_page_needs_figures(script, tmp_path, "--page", "--times")


def test_the_page_in_the_documentation_is_what_would_be_written_now(kept):
    check_page_is_kept(script, pages.page(kept), DRAWN)


def test_what_is_kept_is_what_the_paper_printed(kept):
    assert pages.as_printed(kept) == 32
    assert kept["times"]["cells"] == 100_000_000
    assert kept["times"]["values"] == 1_000
