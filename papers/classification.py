"""The evaluation that the study behind the method tds leaves open: what classifiers learn from its releases.

    python papers/classification.py          # measures everything on Adult and on synthetic claims
    python papers/classification.py --steps  # measures the time per step alone
    python papers/classification.py --page   # the page and its figures anew, nothing is measured

1. The worked example of the study: information of eight cuts, to its four digits.
2. Accuracy and AUC on Adult, for k = 5 to 500 and several methods.
3. The weight w of the objective.
4. Time per step, against the records that it changes.

Everything is kept in ``classification.json``; the page ``classification.md`` and its figures are made from it alone.
Measuring needs scikit-learn, drawing needs matplotlib; both are in the dependency group ``bench``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import sudare
from classification_page import DRAWS, FOLDS, GLOBAL, K_OF_WEIGHTS, OTHERS, QUASI, SERIES, Figures, draw, page
from sudare.api import load_policy
from sudare.comparisons import (
    CLASSIFIERS,
    Configuration,
    Outcome,
    evaluate,
    stratified,
)
from sudare.methods.tds.cuts import Candidate, Cut
from sudare.metrics import information
from sudare.models import KAnonymity, Requirements
from sudare.sources.encoded_table import encode
from sudare.table import Table, encode_column

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "papers"
KEPT, PAGE = "classification.json", "classification.md"
KS = (5, 10, 25, 50, 100, 200, 500)
WEIGHTS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
SETTINGS = ("alone", "others")
"""The quasi-identifiers alone are released, or other columns with them."""
CLAIMS, CLAIMS_QUASI, CLAIMS_CLASS = 1_000_000, ("born", "sex", "month", "beds", "first_day"), "claim_type"

# 1. The worked example

EXAMPLE = (
    ("Male", "Janitor", 30, 0, 3),
    ("Male", "Mover", 32, 0, 4),
    ("Male", "Carpenter", 35, 2, 3),
    ("Female", "Technician", 37, 3, 1),
    ("Female", "Manager", 42, 4, 2),
    ("Female", "Manager", 44, 3, 0),
    ("Male", "Accountant", 44, 3, 0),
    ("Female", "Accountant", 44, 3, 0),
    ("Male", "Lawyer", 44, 2, 0),
    ("Female", "Lawyer", 44, 1, 0),
)
"""Sex, job, salary, and how many such records are of class Y and N."""
PATHS = {
    "Janitor": ("Blue-collar", "Non-Technical"),
    "Mover": ("Blue-collar", "Non-Technical"),
    "Carpenter": ("Blue-collar", "Technical"),
    "Technician": ("Blue-collar", "Technical"),
    "Manager": ("White-collar", "Manager"),
    "Accountant": ("White-collar", "Professional"),
    "Lawyer": ("White-collar", "Professional"),
}
STEPS = (
    ("ANY; ANY; [1-99)", ()),
    ("T1 = ANY; ANY; [1-37), [37-99)", ("[1-37)", "[37-99)")),
    ("T2 = T1 + Blue-collar, White-collar", ("Blue-collar", "White-collar")),
    ("T3 = T2 + Non-Technical, Technical", ("Non-Technical", "Technical")),
    ("T4 = T3 + [1-35), [35-37)", ("[1-35)", "[35-37)")),
    ("T5 = T4 + Male, Female", ("Male", "Female")),
    ("Tfinal = T5 + Manager, Professional", ("Manager", "Professional")),
)


def example() -> Figures:
    """Return class, split and table information of each cut of the example, for w = 0.98."""
    people = [
        (sex, job, pay, cls) for sex, job, pay, *n in EXAMPLE for cls, m in zip("YN", n, strict=True) for _ in range(m)
    ]
    target = encode_column("class", pa.array([person[3] for person in people]))

    def told(cells: Iterable[object]) -> list[float]:
        names = list(map(str, cells))
        found = information(np.unique(names, return_inverse=True)[1], target)
        return [round(figure, 9) for figure in (found.class_info, found.split_info, found.table_info(0.98))]

    rows = {"raw values": told(person[:3] for person in people)}
    shown: set[str] = set()
    for name, more in STEPS:
        shown |= set(more)
        rows[name] = told([[node for node in path(person) if node in shown] for person in people])
    return rows


def path(person: tuple[str, str, int, str]) -> list[str]:
    """Return all nodes above a person's values, but the roots; those of a cut tell which group it is in."""
    sex, job, pay, _ = person
    pays = ["[37-99)"] if pay >= 37 else ["[1-37)", "[1-35)" if pay < 35 else "[35-37)"]
    return [sex, *PATHS[job], *pays]


# 2. and 3. Adult


Published = tuple[Table, int]
"""Records to learn from and then those to be asked about, in one table, and how many there are of the first."""


def adult(setting: str, most: int | None = None) -> Published:
    """Return both published parts of Adult, complete records only, or at most some of each."""
    parts = [sudare.datasets.adult(part, complete=True).slice(0, most) for part in ("train", "test")]
    trees = sudare.datasets.adult_hierarchies()
    columns: Figures = {name: {"role": "quasi", "hierarchy": str(trees[name])} for name in QUASI}
    columns["age"] = {"role": "quasi"}  # its intervals are the method's choice
    columns |= {name: {"role": "insensitive"} for name in OTHERS} if setting == "others" else {}
    columns["income"] = {"role": "sensitive"}
    policy = load_policy({"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]})
    return encode(pa.concat_tables(parts).select(list(columns)), policy, target="income"), parts[0].num_rows


def brief(outcome: Outcome) -> Figures:
    """Return what is kept of an outcome."""
    if outcome.problem is not None:
        sys.exit(f"{outcome.name}: {outcome.problem}")
    scores = [outcome.scores[name] for name in CLASSIFIERS]
    found = {"accuracy": [score.accuracy for score in scores], "auc": [score.auc or 0.0 for score in scores]}
    told = {name: getattr(outcome, name) for name in ("records", "class_info", "split_info", "table_info", "gcp")}
    return {key: np.round(figures, 6).tolist() for key, figures in (found | told).items()}


def by_k(data: Published, ks: Iterable[int], draws: int = DRAWS) -> Figures:
    """Measure baselines and every series for each k, on the published test records."""
    table, rows = data
    splits = [(np.arange(rows), np.arange(rows, table.rows))]
    first = evaluate(table, Requirements((KAnonymity(2),)), (), splits)
    found: Figures = {"baselines": {one.name: brief(one) for one in first}, "series": {one.name: {} for one in SERIES}}
    for k in ks:
        for one in SERIES:
            asked = Requirements((KAnonymity(k),), one.limit)
            seeds = range(1 if one.name in GLOBAL else draws)
            runs = [evaluate(table, asked, [one.way], splits, baselines=False, seed=seed)[0] for seed in seeds]
            found["series"][one.name][str(k)] = averaged([brief(run) for run in runs])
            print(f"k = {k:3}  {one.name:16}", *found["series"][one.name][str(k)]["accuracy"], flush=True)
    return found


def averaged(runs: Sequence[Figures]) -> Figures:
    """Return the means of several draws, and how much the accuracies of single draws differ."""
    found: Figures = {key: np.round(np.mean([run[key] for run in runs], axis=0), 6).tolist() for key in runs[0]}
    if len(runs) > 1:
        found["deviation"] = np.round(np.std([run["accuracy"] for run in runs], axis=0, ddof=1), 6).tolist()
    return found


def by_weight(data: Published, ks: Iterable[int], weights: Iterable[float] = WEIGHTS, folds: int = FOLDS) -> Figures:
    """Measure each weight: on the test records for one k, and within the training records, in folds, for every k."""
    table, rows = data
    training = table.taken(np.arange(rows))
    ways = [
        Configuration(f"{search} {w}", "tds", {"target": "income", "search": search, "w": w})
        for search in ("greedy", "beam")
        for w in weights
    ]
    published = [(np.arange(rows), np.arange(rows, table.rows))]
    asked = Requirements((KAnonymity(K_OF_WEIGHTS),))
    found: Figures = {
        "test": {one.name: brief(one) for one in evaluate(table, asked, ways, published, baselines=False)},
        "shown": {way.name: shown(way, training, asked) for way in ways},
        "folds": {},
    }
    for k in ks:
        asked = Requirements((KAnonymity(k),))
        outcomes = evaluate(training, asked, ways, stratified(training, folds), baselines=False)
        found["folds"][str(k)] = {one.name: brief(one) for one in outcomes}
        print(f"weights  k = {k}", flush=True)
    return found


def shown(way: Configuration, table: Table, requirements: Requirements) -> Figures:
    """Return the columns of which a release shows something, and how many cells there are of each."""
    cells: Figures = way.decide(table, requirements).facts["cut"]
    return {name: count for name, count in cells.items() if count > 1}


# 4. Steps


def steps(table: Table, requirements: Requirements, times: int = 3) -> Figures:
    """Return for each step how many atoms the groups have that it changes, how many groups, and the least time of some.

    An atom is a combination of values with its number of records. Finding the next valid step is not in the time.
    """
    runs = []
    for _ in range(times):
        cut = Cut(table, requirements, 0.98, ratio=False)
        made = []
        while True:
            found = next_step(cut)
            if found is None:
                break
            groups = cut.groups.members(found)
            atoms = int((cut.groups.end[groups] - cut.groups.start[groups]).sum())
            started = time.perf_counter()
            cut.specialize(found)
            made.append((atoms, len(groups), time.perf_counter() - started))
        runs.append(made)
    least = [[each[0][0], each[0][1], round(1000 * min(one[2] for one in each), 4)] for each in zip(*runs, strict=True)]
    return {"records": table.rows, "atoms": len(cut.groups.atoms), "steps": least}


def next_step(cut: Cut) -> Candidate | None:
    """Return the best specialization that is valid, as the method chooses it."""
    for candidate in cut.ranked():
        if cut.valid(candidate):
            return candidate
        cut.drop(candidate)
    return None


def claims(rows: int = CLAIMS) -> Table:
    """Return synthetic claims, with their type as the class."""
    columns = {name: {"role": "quasi"} for name in CLAIMS_QUASI} | {CLAIMS_CLASS: {"role": "sensitive"}}
    policy = load_policy({"columns": columns, "require": [{"model": "k-anonymity", "k": 10}]})
    return encode(sudare.datasets.claims(rows).select(list(columns)), policy, target=CLAIMS_CLASS)


def all_steps() -> Figures:
    """Measure the steps on both tables."""
    table, rows = adult("alone")
    return {
        "Adult": steps(table.taken(np.arange(rows)), Requirements(())),
        "claims": steps(claims(), Requirements((KAnonymity(10),))),
    }


def measure(ks: Sequence[int]) -> Figures:
    """Measure everything."""
    data = {setting: adult(setting) for setting in SETTINGS}
    table, rows = data["alone"]
    found: Figures = {"example": example(), "table": {"training": rows, "test": table.rows - rows}}
    found["steps"] = all_steps()
    found |= {setting: by_k(data[setting], ks) for setting in SETTINGS}
    return found | {"weights": by_weight(data["alone"], ks)}


# The command


def load(folder: Path) -> Figures:
    """Return the figures that are kept in a folder."""
    path = folder / KEPT
    if not path.exists():
        sys.exit(f"{path.name} is not there yet; run this script without --page first.")
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, unless only the page is wanted, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=list(KS), help="5 to 500 if not given")
    parser.add_argument("--steps", action="store_true", help="measure the time per step alone; the rest stays as kept")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:
        found = load(given.folder) | {"steps": all_steps()} if given.steps else measure(given.k)
        (given.folder / KEPT).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = load(given.folder)
    (given.folder / PAGE).write_text(page(kept), encoding="utf-8")
    draw(kept, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
