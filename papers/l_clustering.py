"""The experiments of the paper behind the method l-clustering, with both of its variants and with l-incognito.

    python papers/l_clustering.py           # measures everything on Adult, and the other models on Diabetes, too
    python papers/l_clustering.py --resume  # goes on where a run ended
    python papers/l_clustering.py --times   # measures the times alone; losses stay as kept
    python papers/l_clustering.py --page    # the page and its figures anew, nothing is measured

1. The paper's ten patients: the classes that are found, and what they lose.
2. Loss by the number of quasi-identifiers, for l = 2, 7 and 12.
3. Relative loss by l, with 2, 5 and 8 quasi-identifiers, and the levels that l-incognito takes.
4. How much the random choices of the published steps matter.
5. Other models than distinct l-diversity, against top-down.
6. Time by the number of quasi-identifiers, by l, and by the number of records.

Everything is kept in ``l_clustering.json``; the page ``l_clustering.md`` and its figures are made from it alone.
Drawing needs matplotlib, which is in the dependency group ``bench``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sudare
from figure_store import Store
from l_clustering_page import QUASI, SENSITIVE, WAYS, draw, page
from page_parts import Figures
from sudare.api import load_policy
from sudare.methods.clustering.l_clustering import l_clustering
from sudare.methods.lattice.full_domain import full_domain
from sudare.methods.topdown.top_down import top_down
from sudare.metrics import METRICS, relative_uncertainty, uncertainty
from sudare.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    Model,
    Requirements,
    TCloseness,
)
from sudare.sources.encoded_table import encode
from sudare.table import Partition, Table, generalize

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "papers"
KEPT, PAGE = "l_clustering.json", "l_clustering.md"
LS, ALL_LS, MIDDLE = (2, 7, 12), tuple(range(2, 15)), 7
TIMED_LS = (2, 4, 7, 10, 12, 14)
WIDTHS, SOME_WIDTHS = tuple(range(2, len(QUASI) + 1)), (2, 5, 8)
FEW, MANY = 3, 20
"""Seeds of the published steps, for means and for their spread."""
SIZES = (5_000, 10_000, 20_000, 30_000, 45_222)
RUNS = 3

Measure = Literal["L", "GCP"]

# 1. The ten patients

AGES = (51, 50, 51, 54, 54, 54, 55, 52, 52, 53)
ZIPS = (12562, 12552, 12532, 12555, 12555, 12555, 12532, 12561, 12533, 12553)
ILLNESSES = ("Heart", "Cancer", "Heart", "Cancer", "Heart", "Tracheitis", "Cancer", *["Tracheitis"] * 3)
PUBLISHED = ({1, 2, 8}, {3, 7, 9}, {4, 5, 6, 10})
ONLY_ANONYMOUS = ({1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10})
"""The paper's 3-anonymous table, whose last group has one illness."""


def patients(seeds: int = 200) -> Figures:
    """Return the classes of the paper's example that are found, and what they lose; patients count from 1."""
    columns: Figures = {name: {"role": "quasi", "kind": "numeric"} for name in ("age", "zip")}
    columns["illness"] = {"role": "sensitive"}
    require = [{"model": "l-diversity", "l": 3, "column": "illness"}]
    data = pa.table({"age": AGES, "zip": ZIPS, "illness": ILLNESSES})
    table = encode(data, load_policy({"columns": columns, "require": require}))
    asked = Requirements((LDiversity(3, "illness"),))
    found: dict[str, Partition] = {
        "full-domain": Partition(np.zeros(10, np.int32), 1),
        "the paper, 3-anonymous": _grouped(ONLY_ANONYMOUS),
        "the paper": _grouped(PUBLISHED),
        "fast, weights 1": l_clustering(table, asked, weights=1),
        "fast, weights domain": l_clustering(table, asked),
    }
    drawn = {}
    weights: Literal["domain", 1]
    for weights in (1, "domain"):
        made = [l_clustering(table, asked, variant="reference", weights=weights, seed=seed) for seed in range(seeds)]
        totals = [uncertainty(generalize(table, one)).total for one in made]
        drawn[str(weights)] = {"min": min(totals), "mean": float(np.mean(totals)), "max": max(totals)}
    return {
        "classes": {name: _described(table, one) for name, one in found.items()},
        "seeds": seeds,
        "reference": drawn,
    }


def _grouped(groups: Sequence[set[int]]) -> Partition:
    """Return the patients in groups, by their numbers."""
    classes = [next(n for n, group in enumerate(groups) if row in group) for row in range(1, len(AGES) + 1)]
    return Partition(np.array(classes), len(groups))


def _described(table: Table, partition: Partition) -> Figures:
    given = generalize(table, partition)
    members = sorted((np.flatnonzero(partition.classes == n) + 1).tolist() for n in range(partition.count))
    fewest = min(len({ILLNESSES[row - 1] for row in group}) for group in members)
    loss = {"L": uncertainty(given).total, "GCP": round(METRICS["gcp"](given).total, 6)}
    return {"classes": members, "illnesses": fewest, **loss}


# Adult


class Tables(NamedTuple):
    """The same records: without hierarchies, with them, and with them and weights that make ARX's loss that of L."""

    free: Table
    levels: Table
    weighted: Table


def adult(rows: int | None = None) -> pa.Table:
    """Return the complete records of Adult, or some of them that are drawn always alike."""
    data = sudare.datasets.adult("all", complete=True).select([*QUASI, SENSITIVE])
    if rows is None or rows >= data.num_rows:
        return data
    return data.take(np.random.default_rng(1).permutation(data.num_rows)[:rows])


def tables(data: pa.Table, width: int) -> Tables:
    """Encode the first so many quasi-identifiers.

    Hierarchies are those that come with sudare, without values that are not in the data (of ages: outside their range),
    so that the root counts as much as a cell that covers everything without them.
    """
    names = QUASI[:width]
    free: Figures = {n: {"role": "quasi", "kind": "numeric" if n == "age" else "categorical"} for n in names}
    levels: Figures = {}
    weighted: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / f"{name}.csv"
            leaves = _cut(name, data.column(name).to_pylist(), path)
            levels[name] = {"role": "quasi", "hierarchy": str(path)}
            # ARX counts (leaves below a node - 1) / (leaves - 1); times leaves - 1, that is L
            weighted[name] = levels[name] | {"weight": float(leaves - 1)}
        return Tables(*(_encoded(data, columns) for columns in (free, levels, weighted)))


def _cut(name: str, cells: Sequence[Any], path: Path) -> int:
    """Write a hierarchy without values that are not needed; return how many leaves it has."""
    with sudare.datasets.adult_hierarchies()[name].open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter=";"))
    values = set(map(str, range(min(cells), max(cells) + 1) if name == "age" else cells))
    kept = [line for line in lines if line[0] in values]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(kept)
    return len(kept)


def _encoded(data: pa.Table, columns: Figures) -> Table:
    require = [{"model": "l-diversity", "l": 2, "column": SENSITIVE}]
    policy = load_policy({"columns": columns | {SENSITIVE: {"role": "sensitive"}}, "require": require})
    return encode(data.select([*columns, SENSITIVE]), policy)


def rarest(data: pa.Table) -> int:
    """Return how many records have the rarest sensitive value."""
    return int(min(pc.value_counts(data.column(SENSITIVE)).field("counts").to_pylist()))


class Runs:
    """Releases of Adult and what they lose; what was measured once is remembered, in a store."""

    def __init__(self, data: pa.Table, store: Store | None = None) -> None:
        self.data = data
        self.store = store or Store(None, {})
        self._tables: dict[int, Tables] = {}

    def run(self, way: str, width: int, diverse: int, measure: Measure, seed: int = 0) -> Figures:
        """Return what a release loses that was made to lose little of this measure; of l-incognito also its levels."""
        keys, make = self._task(way, width, diverse, measure, seed)
        found: Figures = self.store.once(keys, make)
        return found

    def _task(
        self, way: str, width: int, diverse: int, measure: Measure, seed: int
    ) -> tuple[tuple[str, str], Callable[[], Figures]]:
        """Return where a release's figures are kept, and how they are measured."""
        keys = ("runs", f"{measure}, {width} columns, l = {diverse}, {way}, seed {seed}")
        return keys, partial(self._measured, way, width, diverse, measure, seed)

    def _given(self, width: int) -> Tables:
        if width not in self._tables:
            self._tables[width] = tables(self.data, width)
        return self._tables[width]

    def _measured(self, way: str, width: int, diverse: int, measure: Measure, seed: int) -> Figures:
        table, partition = release(way, self._given(width), diverse, measure, seed)
        given = generalize(table, partition)
        total = uncertainty(given).total if measure == "L" else METRICS["gcp"](given).total
        found: Figures = {"loss": round(total, 9)}
        if measure == "L":
            found["RL"] = round(relative_uncertainty(given).total, 9)
        return found | ({"levels": partition.facts["levels"]} if way == "l-incognito" else {})

    def lost(self, way: str, width: int, diverse: int, measure: Measure, seed: int = 0) -> tuple[float, float]:
        """Return the loss of a release, and its RL if the measure is L."""
        found = self.run(way, width, diverse, measure, seed)
        return found["loss"], found.get("RL", float("nan"))

    def drawn(self, width: int, diverse: int, measure: Measure, seeds: int) -> list[tuple[float, float]]:
        """Return the same for the published steps with several seeds, which are tried on all cores."""
        self._given(width)
        self.store.each(dict(self._task("reference", width, diverse, measure, seed) for seed in range(seeds)))
        return [self.lost("reference", width, diverse, measure, seed) for seed in range(seeds)]

    def all_ways(self, width: int, diverse: int, measure: Measure, seeds: int, place: int = 0) -> Figures:
        """Return the loss (or RL) of each way, of the published steps the mean over seeds."""
        found = {way: self.lost(way, width, diverse, measure)[place] for way in WAYS if way != "reference"}
        found["reference"] = float(np.mean([one[place] for one in self.drawn(width, diverse, measure, seeds)]))
        return {way: found[way] for way in WAYS}


def release(way: str, given: Tables, diverse: int, measure: Measure = "GCP", seed: int = 0) -> tuple[Table, Partition]:
    """Decide about a table, to lose little of a measure; returns the table that was decided about with it."""
    asked = Requirements((LDiversity(diverse, SENSITIVE),))
    if way == "l-incognito":
        table = given.weighted if measure == "L" else given.levels
        return table, full_domain(table, asked, loss="arx" if measure == "L" else "gcp")
    variant: Literal["fast", "reference"] = "fast" if way == "fast" else "reference"
    weights: Literal["domain", 1] = 1 if measure == "L" else "domain"
    return given.free, l_clustering(given.free, asked, variant=variant, weights=weights, seed=seed)


# 2. to 4. Losses


def losses(runs: Runs, widths: Iterable[int] = WIDTHS, ls: Iterable[int] = LS, seeds: int = FEW) -> Figures:
    """Return the losses by l and by the number of quasi-identifiers."""
    widths = list(widths)
    measures: tuple[Measure, ...] = ("L", "GCP")
    return {
        measure: {str(need): {str(d): runs.all_ways(d, need, measure, seeds) for d in widths} for need in ls}
        for measure in measures
    }


def relative(runs: Runs, widths: Iterable[int] = SOME_WIDTHS, ls: Iterable[int] = ALL_LS, seeds: int = FEW) -> Figures:
    """Return the relative losses by the number of quasi-identifiers and by l."""
    ls = list(ls)
    return {str(d): {str(need): runs.all_ways(d, need, "L", seeds, place=1) for need in ls} for d in widths}


def levels(runs: Runs, widths: Iterable[int] = SOME_WIDTHS, ls: Iterable[int] = ALL_LS) -> Figures:
    """Return the levels that l-incognito takes, in the order of the quasi-identifiers."""
    ls = list(ls)
    return {
        str(d): {
            str(need): [runs.run("l-incognito", d, need, "L")["levels"][name] for name in QUASI[:d]] for need in ls
        }
        for d in widths
    }


def spread(runs: Runs, width: int, ls: Iterable[int] = LS, seeds: int = MANY) -> Figures:
    """Return the losses of the published steps with several seeds, beside that of the fast variant."""
    measures: tuple[Measure, ...] = ("L", "GCP")
    return {
        measure: {
            str(need): {
                "fast": runs.lost("fast", width, need, measure)[0],
                "reference": [one[0] for one in runs.drawn(width, need, measure, seeds)],
            }
            for need in ls
        }
        for measure in measures
    }


# 5. Other models


MODELS: dict[str, tuple[Model, ...]] = {
    "entropy, l = 5": (KAnonymity(5), LDiversity(5, SENSITIVE, "entropy")),
    "recursive, c = 1, l = 5": (LDiversity(5, SENSITIVE, "recursive", 1.0),),
    "recursive, c = 3, l = 3": (KAnonymity(5), LDiversity(3, SENSITIVE, "recursive", 3.0)),
    "t-closeness, t = 0.3": (KAnonymity(5), TCloseness(0.3, SENSITIVE)),
    "t-closeness, t = 0.15": (KAnonymity(5), TCloseness(0.15, SENSITIVE)),
    "beta-likeness, beta = 2": (BetaLikeness(2.0, SENSITIVE),),
    "delta-disclosure, delta = 2": (DeltaDisclosure(2.0, SENSITIVE),),
    "alpha = 0.3, k = 5": (AlphaKAnonymity(0.3, 5, SENSITIVE),),
    "distinct, l = 5": (LDiversity(5, SENSITIVE),),
    "k-anonymity, k = 5": (KAnonymity(5),),
}


def people(rows: int) -> dict[str, Callable[[], Table]]:
    """Return how to make the tables that models are compared on; their sensitive column has one name in all."""
    return {
        "Adult, 8 columns": lambda: tables(adult(rows), len(QUASI)).free,
        "Adult, 3 columns": lambda: tables(adult(rows), 3).free,
        "Adult, 8 hierarchies": lambda: tables(adult(rows), len(QUASI)).levels,
        "Diabetes, 4 columns": lambda: _patients_with_diabetes(rows),
    }


def _patients_with_diabetes(rows: int) -> Table:
    """Encode hospital encounters; the days in hospital are sensitive."""
    names = ("race", "gender", "age", "admission_type")
    data = sudare.datasets.diabetes()
    data = data.take(np.random.default_rng(1).permutation(data.num_rows)[:rows])
    given = data.select([*names, "time_in_hospital"]).rename_columns([*names, SENSITIVE])
    return _encoded(given, {name: {"role": "quasi", "kind": "categorical"} for name in names})


def models(store: Store, rows: int = 20_000, asked: Iterable[str] = tuple(MODELS)) -> Figures:
    """Return the GCP and the seconds of l-clustering, and of top-down with and without polish, under each model."""
    asked = list(asked)
    for name, make in people(rows).items():
        table = None
        for model in asked:
            if model not in store.found.get("models", {}).get(name, {}):
                table = table or make()
                store.once(["models", name, model], partial(_compared, table, Requirements(MODELS[model])))
    store.once(["models", "records"], lambda: rows)
    found: Figures = store.found["models"]
    return found


def _compared(table: Table, asked: Requirements) -> Figures:
    found: Figures = {}
    for way, decide in (
        ("l-clustering", partial(l_clustering, table, asked)),
        ("top-down, polish", partial(top_down, table, asked, polish=True)),
        ("top-down", partial(top_down, table, asked)),
    ):
        started = time.perf_counter()
        made = decide()
        seconds = time.perf_counter() - started
        loss = METRICS["gcp"](generalize(table, made)).total
        found[way] = {"GCP": round(loss, 9), "seconds": round(seconds, 2), "classes": made.count}
        if "classes_by" in made.facts:
            found["classes_by"] = made.facts["classes_by"]
    return found


# 6. Times


def times(
    widths: Iterable[int] = WIDTHS,
    ls: Iterable[int] = TIMED_LS,
    sizes: Iterable[int] = SIZES,
    runs: int = RUNS,
    rows: int | None = None,
    some: tuple[Iterable[int], Iterable[int]] = (LS, SOME_WIDTHS),
    store: Store | None = None,
) -> Figures:
    """Return the seconds of each way, the least of some runs, from encoded columns to classes.

    They are by the number of columns, for some l; by l, for some numbers of columns; and by the number of records.
    """
    data, kept = adult(rows), store or Store(None, {})
    for way in WAYS:
        release(way, tables(adult(1_000), len(QUASI)), 2)  # compiles
    kept.once(["times", "runs"], lambda: runs)
    kept.once(["times", "cores"], lambda: os.cpu_count() or 1)
    settings: dict[tuple[int, int | None], list[tuple[list[str], int]]] = {}
    some_ls, some_widths = map(list, some)
    for width in widths:
        settings.setdefault((width, None), []).extend((["columns", str(need), str(width)], need) for need in some_ls)
    for width in some_widths:
        settings.setdefault((width, None), []).extend((["l", str(width), str(need)], need) for need in ls)
    for size in sizes:
        settings.setdefault((len(QUASI), size), []).append((["records", str(size)], MIDDLE))
    for (width, count), asked in settings.items():
        given = tables(data if count is None else adult(count), width)
        for keys, need in asked:
            # what is in two panels is measured once
            known = kept.found["times"].get("columns", {}).get(str(need), {}).get(str(width)) if count is None else None
            kept.once(["times", *keys], partial(_seconds, given, need, runs) if known is None else partial(dict, known))
    found: Figures = {
        key: value if not isinstance(value, dict) else _in_order(value) for key, value in kept.found["times"].items()
    }
    return found


def _in_order(found: Figures) -> Figures:
    """Return figures with the keys in the order of their numbers, however they were found."""
    by_key = sorted(found.items(), key=lambda item: (not item[0].isdigit(), int(item[0]) if item[0].isdigit() else 0))
    return {key: _in_order(value) if isinstance(value, dict) else value for key, value in by_key}


def _seconds(given: Tables, diverse: int, runs: int) -> Figures:
    found = {}
    for way in WAYS:
        spent = []
        for seed in range(runs):
            started = time.perf_counter()
            release(way, given, diverse, seed=seed)
            spent.append(time.perf_counter() - started)
        found[way] = round(min(spent), 4)
    return found


def measure_losses(store: Store | None = None) -> Figures:
    """Measure everything but times; what is in the store is not measured again."""
    store = store or Store(None, {})
    runs = Runs(adult(), store)
    store.once(["patients"], patients)
    store.found.update(
        {
            "records": runs.data.num_rows,
            "rarest": rarest(runs.data),
            "seeds": FEW,
            "losses": losses(runs),
            "relative": relative(runs),
            "levels": levels(runs),
            "spread": spread(runs, len(QUASI)),
            "models": models(store),
        }
    )
    store.save()
    return store.found


# The command


def load(folder: Path) -> Figures:
    """Return the figures that are kept in a folder."""
    path = folder / KEPT
    if not path.exists():
        sys.exit(f"{path.name} is not there yet; run this script without --page and --times first.")
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, unless only the page is wanted, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resume", action="store_true", help="measure only what is not kept yet")
    parser.add_argument("--times", action="store_true", help="measure the times alone; the rest stays as kept")
    parser.add_argument("--runs", type=int, default=RUNS, help="times are the least of so many runs; 3 if not given")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:
        path = given.folder / KEPT
        store = Store(path, load(given.folder) if given.times or (given.resume and path.exists()) else {})
        if not given.resume:
            store.found.pop("times", None)
        if not given.times:
            measure_losses(store)
        store.found["times"] = times(runs=given.runs, store=store)
        store.save()
    kept = load(given.folder)
    (given.folder / PAGE).write_text(page(kept), encoding="utf-8")
    draw(kept, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
