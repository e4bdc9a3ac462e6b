"""The first cases of every trial; ``make soak`` tries them all, and pages say what came of them."""

from __future__ import annotations

import json
import re

import pytest

from soak.__main__ import FIGURES, ROOT, trials

TRIALS = trials()


@pytest.mark.parametrize("name", TRIALS)
def test_the_first_cases_keep_the_promise(name):
    trial = TRIALS[name]
    assert 0 < trial.REDUCED <= trial.FULL
    for number in range(trial.REDUCED):
        # spread over all of them: neighbours are often of one kind
        trial.case(number * trial.FULL // trial.REDUCED)


def test_concepts_show_how_often_the_minimality_attack_succeeded():
    outcomes = json.loads(FIGURES.read_text(encoding="utf-8"))["minimality"]["outcomes"]
    text = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    table = text[text.index("| method | tables with more than 1/l |") :].split("\n\n")[0]
    counted = re.findall(r"(?m)^\| (`[^|]*) \| (\d+) of (\d+) \| (\d+) \|$", table)
    shown = {name: tuple(map(int, numbers)) for names, *numbers in counted for name in _methods(names)}
    found = {}
    for name in {outcome.split(":")[0] for outcome in outcomes if "blind" not in outcome}:
        above, certain, at_most = (outcomes.get(f"{name}: {end}", 0) for end in ("above 1/l", "certain", "1/l at most"))
        found[name] = (above + certain, above + certain + at_most, certain)
    assert shown == found


def _methods(cell: str) -> list[str]:
    """Return the methods that a cell names, as the trial calls them."""
    return [name.strip().replace("`", "").replace(" with polish", ", polished") for name in cell.split(", ")]
