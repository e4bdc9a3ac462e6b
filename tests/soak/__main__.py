"""Run the trials in full: ``python tests/soak [NAME ...]``, or ``make soak``.

What was tried stands in ``out/soak/NAME.json``, so that a run that was stopped goes on where it was. Finished trials
write their figures into docs/reliability.md, between two marks.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / "out" / "soak"
FIGURES = ROOT / "docs" / "soak.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- soak: begin -->", "<!-- soak: end -->"
SAVED_EVERY = 5.0
"""Seconds after which what was tried is written down."""


def trials() -> dict[str, ModuleType]:
    """Return all trials by name."""
    names = [found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = {name: importlib.import_module(f"soak.{name}") for name in names if not name.startswith(("__", "test_"))}
    return {name: module for name, module in modules.items() if hasattr(module, "case")}


def run(name: str, trial: ModuleType, bar: Progress) -> dict[str, Any]:
    """Try all cases that were not tried, and return what came of all of them."""
    path = STATE / f"{name}.json"
    state: dict[str, Any] = {"next": 0, "outcomes": {}, "failures": [], "seconds": 0.0}
    if path.exists():
        state = json.loads(path.read_text(encoding="utf-8"))
    outcomes, task = Counter(state["outcomes"]), bar.add_task(name, total=trial.FULL, completed=state["next"])
    begun, saved = time.perf_counter() - state["seconds"], time.perf_counter()
    while state["next"] < trial.FULL:
        number = state["next"]
        try:
            outcomes[trial.case(number)] += 1
        except Exception as error:
            outcomes["BROKEN"] += 1
            state["failures"].append({"case": number, "why": f"{type(error).__name__}: {error}"[:500]})
            traceback.print_exc()
        state |= {"next": number + 1, "outcomes": dict(outcomes), "seconds": round(time.perf_counter() - begun, 1)}
        bar.advance(task)
        if time.perf_counter() - saved > SAVED_EVERY or state["next"] == trial.FULL:
            STATE.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(state, indent=1), encoding="utf-8")
            saved = time.perf_counter()
    return state


def table(figures: dict[str, Any]) -> str:
    """Return the figures of all trials as a table of the page."""
    lines = ["| trial | cases | outcomes | broken |", "|---|---|---|---|"]
    for name, found in figures.items():
        outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(found["outcomes"].items()))
        lines.append(f"| `{name}`: {found['title']} | {found['cases']:,} | {outcomes} | {found['broken']} |")
    return "\n".join(lines)


def publish(name: str, trial: ModuleType, state: dict[str, Any]) -> None:
    """Write the figures of a finished trial into the page."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    kept = {outcome: count for outcome, count in state["outcomes"].items() if outcome != "BROKEN"}
    figures[name] = {
        "title": trial.TITLE, "cases": state["next"], "outcomes": kept, "broken": len(state["failures"]),
    }  # fmt: skip
    figures = dict(sorted(figures.items()))
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if PAGE.exists():
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{table(figures)}\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Run the trials that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the trials to run; all if none is named")
    parser.add_argument("--again", action="store_true", help="forget what was tried before")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    known = trials()
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"there is no trial {unknown[0]}; there are: {', '.join(known)}")
    broken = 0
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        for name in given.names or known:
            if given.again:
                (STATE / f"{name}.json").unlink(missing_ok=True)
            state = run(name, known[name], bar)
            publish(name, known[name], state)
            broken += len(state["failures"])
    print(f"{broken} broken" if broken else "No promise was broken.")  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
