"""The evaluation that the study behind the method tds leaves open: what classifiers learn from its releases.

    python papers/classification.py           # measures everything on Adult and on synthetic claims
    python papers/classification.py --resume  # goes on where a run ended
    python papers/classification.py --steps   # measures the time per step alone
    python papers/classification.py --page    # the page and its figures anew, nothing is measured

1. The worked example of the study: information of eight cuts, to its four digits; its steps and the method's own, run.
2. The exact optimum of the objective, on tables that are small enough to look at every cut.
3. Accuracy and AUC on Adult, for k = 5 to 500 and several methods and scores.
4. The weight w of the objective.
5. Time per step, against the records that it changes.

Everything is kept in ``classification.json``; the page ``classification.md`` and its figures are made from it alone.
Measuring needs scikit-learn, drawing needs matplotlib; both are in the dependency group ``bench``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import sudare
from classification_page import DRAWS, FOLDS, GLOBAL, K_OF_WEIGHTS, OTHERS, QUASI, SERIES, Series, draw, page
from figure_store import Store
from page_parts import Figures
from sudare.api import load_policy
from sudare.comparisons import (
    CLASSIFIERS,
    Configuration,
    Outcome,
    evaluate,
    stratified,
)
from sudare.methods.tds.cuts import Candidate, Cut
from sudare.methods.tds.top_down_specialization import tds
from sudare.methods.tds.trees import GivenTree
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


EXAMPLE_TREES: Figures = {
    "sex": {"ANY": ["Male", "Female"]},
    "job": {
        "ANY": {
            "Blue-collar": {"Non-Technical": ["Janitor", "Mover"], "Technical": ["Carpenter", "Technician"]},
            "White-collar": {"Manager": ["Manager"], "Professional": ["Accountant", "Lawyer"]},
        }
    },
    # all branches of a hierarchy have the same depth
    "salary": {
        "[1-99)": {"[1-37)": {"[1-35)": ["30", "32"], "[35-37)": ["35"]}, "[37-99)": {"37 to 44": ["37", "42", "44"]}}
    },
}
STUDY_STEPS = (
    ("salary", "[1-99)"),
    ("job", "ANY"),
    ("job", "Blue-collar"),
    ("salary", "[1-37)"),
    ("sex", "ANY"),
    ("job", "White-collar"),
)
"""What the study specializes, from one cut of its table to the next."""
EXAMPLE_K, W = 4, 0.98
"""The last cut of the study has groups of 4 to 9 records; it does not print its requirement."""


def example_table(grown: bool) -> Table:
    """Return the records of the example; the salary with the study's tree, or with one that grows."""
    people = [
        (sex, job, pay, cls) for sex, job, pay, *n in EXAMPLE for cls, m in zip("YN", n, strict=True) for _ in range(m)
    ]
    columns = dict(zip(("sex", "job", "salary", "class"), map(list, zip(*people, strict=True)), strict=True))
    policy: Figures = {name: {"role": "quasi", "hierarchy": {"tree": tree}} for name, tree in EXAMPLE_TREES.items()}
    policy["class"] = {"role": "insensitive"}
    if grown:
        policy["salary"] = {"role": "quasi", "kind": "numeric"}
    else:
        policy["salary"]["kind"] = "categorical"
        columns["salary"] = [str(pay) for pay in columns["salary"]]
    require = [{"model": "k-anonymity", "k": EXAMPLE_K}]
    method = {"name": "tds", "target": "class"}
    return encode(pa.table(columns), load_policy({"columns": policy, "require": require, "method": method}))


def example_run() -> Figures:
    """Run the method on the example: the steps of the study, and its own, by the study's tree and by a grown one."""
    asked = Requirements((KAnonymity(EXAMPLE_K),))
    cut = Cut(example_table(grown=False), asked, W)
    names = [column.name for column in cut.columns]
    theirs = []
    for column, node in STUDY_STEPS:
        taxonomy = cut.columns[names.index(column)].taxonomy
        assert taxonomy is not None
        candidate = (names.index(column), list(taxonomy.labels).index(node))
        best = next(cut.scored(one) for one in cut.ranked() if cut.valid(one))
        theirs.append({"best": round(best, 9), "valid": cut.valid(candidate)} | _step(cut, candidate))
    runs = {}
    for words, grown in (("the tree of the study", False), ("grown tree", True)):
        table = example_table(grown)
        cut = Cut(table, asked, W)
        steps = []
        while (chosen := next_step(cut)) is not None:
            steps.append(_step(cut, chosen))
        made = {stop: tds(table, asked, target="class", stop=stop) for stop in ("end", "least")}
        runs[words] = {"steps": steps} | {stop: made[stop].facts for stop in made}
        runs[words]["optimum"] = optimum(table, asked, W)
    return {"k": EXAMPLE_K, "study": theirs, "runs": runs}


def _step(cut: Cut, candidate: Candidate) -> Figures:
    """Make a step, and say what it was: the column, the values by child, its score, and what it led to."""
    index, node = candidate
    column, tree = cut.columns[index], cut.trees[index]
    held = np.flatnonzero(tree.now == node)
    score = round(cut.scored(candidate), 9)
    cut.specialize(candidate)
    values, children = column.values.to_pylist(), [int(tree.now[code]) for code in held]
    by_child = [
        [str(values[code]) for code, child in zip(held, children, strict=True) if child == one]
        for one in dict.fromkeys(children)
    ]
    return {
        "column": column.name,
        "children": by_child,
        "score": score,
        "table_info": round(cut.information, 9),
        "groups": cut.groups.count,
    }


# 2. The optimum


def optimum(table: Table, requirements: Requirements, w: float) -> Figures:
    """Return the least TableInfo of all cuts that keep the requirements, and how many cuts that are.

    The requirements are monotone, so each of these cuts is reached from the first by steps between cuts that keep
    them. A node whose records are all of one class is never specialized: that cannot lower the sum.
    """
    first = Cut(table, requirements, w)
    seen, waiting, least = {_key(first)}, [first], first.information
    while waiting:
        cut = waiting.pop()
        least = min(least, cut.information)
        for candidate in list(cut.open):
            if cut.valid(candidate):
                part = cut.copy()
                part.specialize(candidate)
                if _key(part) not in seen:
                    seen.add(_key(part))
                    waiting.append(part)
    return {"table_info": round(float(least), 9), "cuts": len(seen)}


def _key(cut: Cut) -> bytes:
    """Return what tells a cut from others: also two that group alike, where a node has a single child."""
    return cut.identity() + b"".join(tree.now.tobytes() for tree in cut.trees if isinstance(tree, GivenTree))


SMALL_QUASI = ("marital-status", "workclass", "race", "sex")
SMALL_ROWS, SMALL_TABLES, SMALL_KS, SMALL_WEIGHTS = 300, 10, (3, 10, 30), (0.98, 0.8)
WAYS: dict[str, Figures] = {
    "tds": {},
    "tds, beam": {"search": "beam"},
    "tds, least": {"stop": "least"},
    "tds, beam, least": {"search": "beam", "stop": "least"},
    "tds, info-gain": {"score": "info-gain"},
    "tds, gain-ratio": {"score": "gain-ratio"},
    "tds, anony-loss": {"score": "anony-loss"},
}
"""What is compared with the optimum."""


def against_optimum(tables: int = SMALL_TABLES, rows: int = SMALL_ROWS, ks: Sequence[int] = SMALL_KS) -> Figures:
    """Compare TableInfo with its exact optimum, on random records of Adult with four quasi-identifiers."""
    found: Figures = {"rows": rows, "tables": tables, "quasi": list(SMALL_QUASI), "settings": []}
    trees, data = sudare.datasets.adult_hierarchies(), sudare.datasets.adult("train", complete=True)
    columns: Figures = {name: {"role": "quasi", "hierarchy": str(trees[name])} for name in SMALL_QUASI}
    columns["income"] = {"role": "sensitive"}
    policy = load_policy({"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]})
    for seed in range(tables):
        chosen = np.sort(np.random.default_rng(seed).permutation(data.num_rows)[:rows])
        table = encode(data.take(chosen).select(list(columns)), policy, target="income")
        for k in ks:
            asked = Requirements((KAnonymity(k),))
            for w in SMALL_WEIGHTS:
                made = {way: tds(table, asked, target="income", w=w, **more) for way, more in WAYS.items()}
                told = {way: one.facts["table_info"] for way, one in made.items()}
                found["settings"].append({"k": k, "w": w, "optimum": optimum(table, asked, w), "table_info": told})
    return found


# 3. and 4. Adult


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


def by_k(store: Store, setting: str, data: Published, ks: Iterable[int], draws: int = DRAWS) -> None:
    """Measure baselines and every series for each k, on the published test records."""
    table, rows = data
    splits = [(np.arange(rows), np.arange(rows, table.rows))]

    def baselines() -> Figures:
        return {one.name: brief(one) for one in evaluate(table, Requirements((KAnonymity(2),)), (), splits)}

    def measured(one: Series, k: int) -> Figures:
        asked = Requirements((KAnonymity(k),), one.limit)
        seeds = range(1 if one.name in GLOBAL else draws)
        runs = [evaluate(table, asked, [one.way], splits, baselines=False, seed=seed)[0] for seed in seeds]
        return averaged([brief(run) for run in runs])

    store.once([setting, "baselines"], baselines)
    store.each({(setting, "series", one.name, str(k)): partial(measured, one, k) for one in SERIES for k in ks})


def averaged(runs: Sequence[Figures]) -> Figures:
    """Return the means of several draws, and how much the accuracies of single draws differ."""
    found: Figures = {key: np.round(np.mean([run[key] for run in runs], axis=0), 6).tolist() for key in runs[0]}
    if len(runs) > 1:
        found["deviation"] = np.round(np.std([run["accuracy"] for run in runs], axis=0, ddof=1), 6).tolist()
    return found


def by_weight(
    store: Store, data: Published, ks: Iterable[int], weights: Sequence[float] = WEIGHTS, folds: int = FOLDS
) -> None:
    """Measure each weight: on the test records for one k, and within the training records, in folds, for every k."""
    table, rows = data
    training = table.taken(np.arange(rows))
    ways = [
        Configuration(f"{search} {w}", "tds", {"target": "income", "search": search, "w": w})
        for search in ("greedy", "beam")
        for w in weights
    ]
    stopped = [Configuration(f"least {w}", "tds", {"target": "income", "stop": "least", "w": w}) for w in weights]
    published = [(np.arange(rows), np.arange(rows, table.rows))]
    asked = Requirements((KAnonymity(K_OF_WEIGHTS),))

    def tested(some: Sequence[Configuration]) -> Figures:
        return {one.name: brief(one) for one in evaluate(table, asked, some, published, baselines=False)}

    def in_folds(k: int) -> Figures:
        required = Requirements((KAnonymity(k),))
        outcomes = evaluate(training, required, ways, stratified(training, folds), baselines=False)
        return {one.name: brief(one) for one in outcomes}

    store.once(["weights", "test"], lambda: tested(ways))
    store.once(["weights", "least"], lambda: tested(stopped))
    store.once(["weights", "shown"], lambda: {way.name: shown(way, training, asked) for way in ways})
    store.each({("weights", "folds", str(k)): partial(in_folds, k) for k in ks})


def shown(way: Configuration, table: Table, requirements: Requirements) -> Figures:
    """Return the columns of which a release shows something, and how many cells there are of each."""
    cells: Figures = way.decide(table, requirements).facts["cut"]
    return {name: count for name, count in cells.items() if count > 1}


# 5. Steps


def steps(table: Table, requirements: Requirements, times: int = 3) -> Figures:
    """Return for each step how many atoms the groups have that it changes, how many groups, and the least time of some.

    An atom is a combination of values with its number of records. Finding the next valid step is not in the time.
    """
    runs = []
    for _ in range(times):
        cut = Cut(table, requirements, 0.98)
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


def measure(store: Store, ks: Sequence[int]) -> None:
    """Measure everything that is not kept yet."""
    data = {setting: adult(setting) for setting in SETTINGS}
    table, rows = data["alone"]
    store.once(["example"], example)
    store.once(["run"], example_run)
    store.once(["optimum"], against_optimum)
    store.once(["table"], lambda: {"training": rows, "test": table.rows - rows})
    store.once(["steps"], all_steps)
    for setting in SETTINGS:
        by_k(store, setting, data[setting], ks)
    by_weight(store, data["alone"], ks)


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
    parser.add_argument("--resume", action="store_true", help="measure only what is not kept yet")
    parser.add_argument("--steps", action="store_true", help="measure the time per step alone; the rest stays as kept")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:
        path = given.folder / KEPT
        store = Store(path, load(given.folder) if given.steps or (given.resume and path.exists()) else {})
        if given.steps:
            store.found.pop("steps", None)
            store.once(["steps"], all_steps)
        else:
            measure(store, given.k)
    kept = load(given.folder)
    (given.folder / PAGE).write_text(page(kept), encoding="utf-8")
    draw(kept, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
