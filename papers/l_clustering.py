"""The experiments of the paper behind the method l-clustering, with both of its variants and with l-incognito.

    python papers/l_clustering.py          # measures everything on Adult
    python papers/l_clustering.py --times  # measures the times alone; losses stay as kept
    python papers/l_clustering.py --page   # the page and its figures anew, nothing is measured

1. The paper's ten patients: the classes that are found, and what they lose.
2. Loss by the number of quasi-identifiers, for l = 2, 7 and 12.
3. Relative loss by l.
4. How much the random choices of the published steps matter.
5. Time by the number of quasi-identifiers, by l, and by the number of records.

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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sudare
from l_clustering_page import QUASI, SENSITIVE, WAYS, Figures, draw, page
from sudare.api import load_policy
from sudare.methods.clustering.l_clustering import l_clustering
from sudare.methods.lattice.full_domain import full_domain
from sudare.metrics import METRICS, relative_uncertainty, uncertainty
from sudare.models import LDiversity, Requirements
from sudare.sources.encoded_table import encode
from sudare.table import Partition, Table, generalize

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "papers"
KEPT, PAGE = "l_clustering.json", "l_clustering.md"
LS, ALL_LS, MIDDLE = (2, 7, 12), tuple(range(2, 15)), 7
WIDTHS = tuple(range(2, len(QUASI) + 1))
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


def patients(seeds: int = 200) -> Figures:
    """Return the classes of the paper's example that are found, and what they lose; patients count from 1."""
    columns: Figures = {name: {"role": "quasi", "kind": "numeric"} for name in ("age", "zip")}
    columns["illness"] = {"role": "sensitive"}
    require = [{"model": "l-diversity", "l": 3, "column": "illness"}]
    data = pa.table({"age": AGES, "zip": ZIPS, "illness": ILLNESSES})
    table = encode(data, load_policy({"columns": columns, "require": require}))
    asked = Requirements((LDiversity(3, "illness"),))
    paper = np.array([next(n for n, group in enumerate(PUBLISHED) if row in group) for row in range(1, 11)])
    found: dict[str, Partition] = {
        "full-domain": Partition(np.zeros(10, np.int32), 1),
        "the paper": Partition(paper, len(PUBLISHED)),
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


def _described(table: Table, partition: Partition) -> Figures:
    given = generalize(table, partition)
    members = sorted((np.flatnonzero(partition.classes == n) + 1).tolist() for n in range(partition.count))
    return {"classes": members, "L": uncertainty(given).total, "GCP": round(METRICS["gcp"](given).total, 6)}


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
    """Releases of Adult and what they lose; what was measured once is remembered."""

    def __init__(self, data: pa.Table) -> None:
        self.data = data
        self._tables: dict[int, Tables] = {}
        self._found: dict[tuple[object, ...], tuple[float, float]] = {}

    def lost(self, way: str, width: int, diverse: int, measure: Measure, seed: int = 0) -> tuple[float, float]:
        """Return the loss of a release that was made to lose little of this measure, and its RL."""
        key = (way, width, diverse, measure, seed)
        if key not in self._found:
            if width not in self._tables:
                self._tables[width] = tables(self.data, width)
            table, partition = release(way, self._tables[width], diverse, measure, seed)
            given = generalize(table, partition)
            total = uncertainty(given).total if measure == "L" else METRICS["gcp"](given).total
            self._found[key] = (round(total, 9), round(relative_uncertainty(given).total, 9))
            print(f"l = {diverse:2}  {width} columns  {measure:3} {way:12}", self._found[key], flush=True)
        return self._found[key]

    def drawn(self, width: int, diverse: int, measure: Measure, seeds: int) -> list[tuple[float, float]]:
        """Return the same for the published steps with several seeds."""
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


def relative(runs: Runs, width: int, ls: Iterable[int] = ALL_LS, seeds: int = FEW) -> Figures:
    """Return the relative losses by l."""
    return {str(need): runs.all_ways(width, need, "L", seeds, place=1) for need in ls}


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


# 5. Times


def times(
    widths: Iterable[int] = WIDTHS,
    ls: Iterable[int] = ALL_LS,
    sizes: Iterable[int] = SIZES,
    runs: int = RUNS,
    rows: int | None = None,
) -> Figures:
    """Return the seconds of each way, the least of some runs, from encoded columns to classes."""
    data = adult(rows)
    every = tables(data, len(QUASI))
    for way in WAYS:
        release(way, tables(adult(1_000), len(QUASI)), 2)  # compiles
    return {
        "runs": runs,
        "cores": os.cpu_count() or 1,
        "columns": {str(width): _seconds(tables(data, width), MIDDLE, runs) for width in widths},
        "l": {str(need): _seconds(every, need, runs) for need in ls},
        "records": {str(size): _seconds(tables(adult(size), len(QUASI)), MIDDLE, runs) for size in sizes},
    }


def _seconds(given: Tables, diverse: int, runs: int) -> Figures:
    found = {}
    for way in WAYS:
        spent = []
        for seed in range(runs):
            started = time.perf_counter()
            release(way, given, diverse, seed=seed)
            spent.append(time.perf_counter() - started)
        found[way] = round(min(spent), 4)
    print(f"l = {diverse:2}  {len(given.free.quasi)} columns  {given.free.rows:6,} records", found, flush=True)
    return found


def measure_losses() -> Figures:
    """Measure everything but times."""
    runs = Runs(adult())
    width = len(QUASI)
    return {
        "patients": patients(),
        "records": runs.data.num_rows,
        "rarest": rarest(runs.data),
        "seeds": FEW,
        "losses": losses(runs),
        "relative": relative(runs, width),
        "spread": spread(runs, width),
    }


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
    parser.add_argument("--times", action="store_true", help="measure the times alone; the rest stays as kept")
    parser.add_argument("--runs", type=int, default=RUNS, help="times are the least of so many runs; 3 if not given")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:
        found = load(given.folder) if given.times else measure_losses()
        found["times"] = times(runs=given.runs)
        (given.folder / KEPT).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = load(given.folder)
    (given.folder / PAGE).write_text(page(kept), encoding="utf-8")
    draw(kept, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
