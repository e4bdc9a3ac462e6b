"""The experiments of the paper behind the method dummies, with the methods that it is compared with.

    python papers/keep_qid.py --census FOLDER  # measures everything
    python papers/keep_qid.py                  # all but the census table; what is kept of that stays
    python papers/keep_qid.py --resume         # goes on where a run ended, or had fewer queries
    python papers/keep_qid.py --times          # measures the times alone; the rest stays as kept
    python papers/keep_qid.py --page           # the page and its figures anew, nothing is measured

1. The paper's workload, queries of one predicate: on Adult with each of its columns as the sensitive one, and on a
   census table with occupation (OCC) and with hourly wage (SAL) as the sensitive column; by d, g, l and s.
2. A harder workload, where each combination of the picked values is a question of its own (a cell): the same tables.
3. The examples of the paper, and the picture of one query on Adult: relationship by sex.
4. Time, on Adult and on a hundred copies of it.

FOLDER has the files ``census-income.data`` and ``census-income.test`` of *Census-Income (KDD)* (UCI Machine Learning
Repository), as they are or compressed (``.xz``). Everything is kept in ``keep_qid.json`` as it is found; the page
``keep_qid.md`` and its figures are made from it alone. Drawing needs matplotlib (dependency group ``bench``).
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import sudare
from figure_store import Store
from keep_qid_figures import draw
from keep_qid_page import page
from keep_qid_predicates import ClassAnswers, GroupAnswers, measured, predicate_of
from keep_qid_queries import (
    ESTIMATORS,
    OTHERS,
    Classes,
    Groups,
    Sets,
    Tally,
    answers,
    draw_query,
    own_shares,
    query_of,
    released,
    truth,
)
from page_parts import Figures
from sudare.api import load_policy
from sudare.sources.encoded_table import encode
from sudare.table import Column, Partition, Table

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "papers"
KEPT, PAGE = "keep_qid.json", "keep_qid.md"
METHODS = ("dummies", *OTHERS)
L, G, S = 10, 3, 0.07
"""The defaults of the paper."""
CENSUS = {
    "age": 0,
    "gender": 12,
    "marital": 7,
    "race": 10,
    "birth place": 34,
    "education": 4,
    "work class": 1,
    "occupation": 3,
    "wage": 5,
}
"""Where columns stand in the census files: the paper's quasi-identifiers in its order, and the sensitive columns.

Occupation is the detailed code, with 47 values; the major one has 15. Wage is per hour, and 0 if there is none.
"""
QUASI = [name for name in CENSUS if name not in ("occupation", "wage")]
NO_OCCUPATION, NO_WAGE = "0", "0"
BANDS = 50
"""Bands of wages: the paper's income has 50 values."""
MIDDLE = 5
"""The quasi-identifiers of the census table where l and s vary."""
MANY_VALUES = 1_000
"""Sensitive values from which on there are fewer queries, for time."""

Release = Sets | Groups | Classes | None


@dataclass(frozen=True)
class Plan:
    """How much is measured. A row of numbers is a row of settings, all else being the paper's default."""

    rows: int | None = None
    sensitive: tuple[str, ...] = ()
    ls: tuple[int, ...] = tuple(range(2, 11))
    queries: int = 20
    few: int = 5
    headline: int = 100
    gs: tuple[int, ...] = (1, 2, 3, 4, 5)
    census_ls: tuple[int, ...] = (2, 4, 6, 8, 10, 11, 15, 20)
    ss: tuple[float, ...] = (0.01, 0.03, 0.07, 0.15, 0.3)
    widths: tuple[int, ...] = (3, 4, 5, 6, 7)
    census_queries: int = 1_000
    sweep: int = 25
    copies: int = 100
    timed: int = 5
    predicates: int = 1_000
    few_predicates: int = 200
    paper_records: int = 600_000
    grid: Mapping[int, tuple[int, ...]] = field(default_factory=lambda: {d: tuple(range(1, d)) for d in (3, 5, 7)})
    predicate_ls: tuple[int, ...] = (2, 4, 6, 8, 10, 15)
    predicate_ss: tuple[float, ...] = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15)


FULL = Plan()
QUICK = Plan(
    rows=1_500,
    sensitive=("age", "education", "sex"),
    ls=(2, 10),
    queries=2,
    few=2,
    headline=2,
    gs=(1, 3),
    census_ls=(4, 10),
    ss=(0.07, 0.3),
    widths=(3, 7),
    census_queries=3,
    sweep=2,
    copies=2,
    timed=1,
    predicates=9,
    few_predicates=2,
    paper_records=5_000,
    grid={3: (1, 2), 5: (3,)},
    predicate_ls=(4, 10),
    predicate_ss=(0.07, 0.3),
)


# Tables


def some(data: pa.Table, rows: int | None) -> pa.Table:
    """Return all records, or some of them that are drawn always alike."""
    if rows is None or rows >= data.num_rows:
        return data
    return data.take(np.sort(np.random.default_rng(1).permutation(data.num_rows)[:rows]))


def adult(rows: int | None = None) -> pa.Table:
    """Return the complete records of Adult, or some of them."""
    return some(sudare.datasets.adult("all", complete=True), rows)


def census(folder: Path, rows: int | None = None) -> pa.Table:
    """Read both files of the census table, and return the columns that are used."""
    parts = []
    for name in ("census-income.data", "census-income.test"):
        plain, packed = folder / name, folder / f"{name}.xz"
        if not plain.exists() and not packed.exists():
            sys.exit(f"{name} (or {name}.xz) is not in the folder that --census names.")
        content = plain.read_bytes() if plain.exists() else lzma.decompress(packed.read_bytes())
        read = pyarrow.csv.ReadOptions(autogenerate_column_names=True)
        types = {f"f{place}": pa.string() for place in range(42)}
        convert = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        parts.append(pyarrow.csv.read_csv(io.BytesIO(content), read_options=read, convert_options=convert))
    both = pa.concat_tables(parts)
    columns = {name: pc.utf8_trim_whitespace(both.column(f"f{place}")) for name, place in CENSUS.items()}
    columns["age"] = columns["age"].cast(pa.int64())
    return some(pa.table(columns), rows)


def encoded(data: pa.Table, sensitive: str, quasi: Sequence[str] | None = None) -> Table:
    """Encode a table: one column is sensitive, the others (or some of them) are quasi-identifiers.

    Numbers are numbers, everything else is a category without a hierarchy.
    """
    names = [name for name in data.schema.names if name != sensitive] if quasi is None else list(quasi)
    columns: Figures = {}
    for name in names:
        number = pa.types.is_integer(data.schema.field(name).type)
        columns[name] = {"role": "quasi", "kind": "numeric" if number else "categorical"}
    columns[sensitive] = {"role": "sensitive"}
    require = [{"model": "l-diversity", "l": 2, "column": sensitive}]
    return encode(data.select([*columns]), load_policy({"columns": columns, "require": require}))


def asked_of(table: Table, releases: Mapping[str, Release], queries: int, seed: int, g: int = G, s: float = S) -> Any:
    """Put random queries to some releases; return mean errors by way. A seed draws the same queries for every l."""
    generator, tally = np.random.default_rng(seed), Tally()
    for _ in range(queries):
        tally.add(table, draw_query(table, g, s, generator), releases)
    return tally.figures()


def all_released(table: Table, diverse: int) -> dict[str, Release]:
    """Make a release by each method; None for one that cannot."""
    return {way: released(way, table, diverse) for way in METHODS}


# 1. The paper's workload: queries of one predicate


def measure_predicates_on_adult(store: Store, plan: Plan, cores: int) -> None:
    """Take each column as the sensitive one in turn, and each l."""
    data = adult(plan.rows)
    for seed, name in enumerate(plan.sensitive or tuple(data.schema.names)):
        table = encoded(data, name)
        size = table.sensitive[name].size
        queries = plan.predicates if size < MANY_VALUES else plan.few_predicates
        for diverse in plan.ls:
            if diverse <= size:
                made = Releases(table, diverse)
                keys = ["predicates", "adult", name, str(diverse)]
                store.once(keys, partial(made.ask, queries, 300 + seed, cores), partial(_enough, queries))


def measure_predicates_on_census(store: Store, plan: Plan, folder: Path, cores: int) -> None:
    """Vary d, g, l and s, with occupation (OCC) and with the band of the wage (SAL) as the sensitive column."""
    everybody = census(folder, plan.rows)
    with_occupation = everybody.filter(pc.not_equal(everybody.column("occupation"), NO_OCCUPATION))
    paid = with_occupation.filter(pc.not_equal(with_occupation.column("wage"), NO_WAGE))
    found = {"OCC": (with_occupation, "occupation"), "SAL": (in_bands(paid), "wage")}
    for seed, (words, (data, sensitive)) in enumerate(found.items()):
        whole = encoded(data, sensitive, QUASI)
        about = {"records": data.num_rows, **_described(whole.sensitive[sensitive])}
        about["columns"] = {name: one.size for name, one in whole.single.items()}
        store.once(["predicates", words, "table"], partial(dict, about))
        for d, gs in plan.grid.items():
            made = Releases(whole.without(QUASI[d:]), L)
            for g in gs:
                keys = ["predicates", words, "grid", str(d), str(g)]
                make = partial(made.ask, plan.predicates, 400 + seed, cores, g)
                store.once(keys, make, partial(_enough, plan.predicates))
        usual = store.found["predicates"][words]["grid"][str(MIDDLE)][str(G)]  # which is in all three series
        middle = whole.without(QUASI[MIDDLE:])
        for diverse in plan.predicate_ls:
            ask = partial(Releases(middle, diverse).ask, plan.predicates, 400 + seed, cores)
            make = partial(dict, usual) if diverse == L else ask
            store.once(["predicates", words, "l", str(diverse)], make, partial(_enough, plan.predicates))
        made = Releases(middle, L)
        for s in plan.predicate_ss:
            ask = partial(made.ask, plan.predicates, 400 + seed, cores, s=s)
            make = partial(dict, usual) if s == S else ask
            store.once(["predicates", words, "s", str(s)], make, partial(_enough, plan.predicates))


def measure_predicates_beside(store: Store, plan: Plan, folder: Path, cores: int) -> None:
    """Measure what the paper does not have: a value that most people have, and wages of as many people as there."""
    everybody = census(folder, plan.rows)
    with_occupation = everybody.filter(pc.not_equal(everybody.column("occupation"), NO_OCCUPATION))
    paid = encoded(
        in_bands(with_occupation.filter(pc.not_equal(with_occupation.column("wage"), NO_WAGE))), "wage", QUASI[:MIDDLE]
    )
    copies = max(round(plan.paper_records / paid.rows), 1)
    table = _copied(paid, copies)
    store.once(["predicates", "SAL, copies", "table"], lambda: {"records": table.rows, "copies": copies})
    made = Releases(table, L, ("dummies", "anatomy"))
    store.once(["predicates", "SAL, copies", "default"], partial(made.ask, plan.predicates, 500, cores))
    for words, data, sensitive in (
        ("SAL, everybody", in_bands(with_occupation), "wage"),
        ("OCC, everybody", everybody, "occupation"),
    ):
        table = encoded(data, sensitive, QUASI[:MIDDLE])
        about = {"records": data.num_rows, **_described(table.sensitive[sensitive])}
        store.once(["predicates", words, "table"], partial(dict, about))
        made = Releases(table, L)
        store.once(["predicates", words, "default"], partial(made.ask, plan.predicates, 500, cores))


def _enough(queries: int, kept: Figures) -> bool:
    """Return whether figures are of as many queries as are wanted."""
    return bool(kept["queries"] >= queries)


class Releases:
    """Releases of a table by all methods, which are made when they are first asked."""

    def __init__(self, table: Table, diverse: int, ways: Sequence[str] = METHODS) -> None:
        self.table, self.diverse, self.ways = table, diverse, ways

    @cached_property
    def all(self) -> dict[str, Release]:
        """By method."""
        return {way: released(way, self.table, self.diverse) for way in self.ways}

    def ask(self, queries: int, seed: int, cores: int, g: int = G, s: float = S) -> Figures:
        """Put random queries of one predicate to all of them."""
        possible = [way for way, one in self.all.items() if one is not None]
        return {"possible": possible, **measured(self.table, self.all, queries, seed, g, s, cores)}


def in_bands(data: pa.Table, count: int = BANDS) -> pa.Table:
    """Replace wages by the number of their band; the bands have about equally many records, and 0 is one by itself."""
    wages = data.column("wage").cast(pa.int64()).to_numpy()
    values, place, records = np.unique(wages, return_inverse=True, return_counts=True)
    band, left = np.zeros(len(values), dtype=np.int64), int(records[values > 0].sum())
    number, held = 1, 0
    for at in np.flatnonzero(values > 0):
        band[at] = number
        held += int(records[at])
        if held * (count - number + 1) >= left and number < count:
            left, held, number = left - held, 0, number + 1
    texts = pa.array([f"{one:02d}" for one in band[place.reshape(-1)].tolist()])
    return data.set_column(data.schema.get_field_index("wage"), "wage", texts)


def examples() -> Figures:
    """Return what the paper's own small examples give."""
    people = [
        ("M", 25, "Cancer", 1), ("M", 29, "Cancer", 2), ("M", 54, "Cancer", 4), ("M", 78, "Cold", 3),
        ("F", 20, "Cold", 4), ("F", 55, "Cut", 1), ("F", 56, "Cut", 2), ("F", 59, "Cut", 3),
    ]  # fmt: skip
    sexes, ages, illnesses, groups = zip(*people, strict=True)
    data = pa.table({"sex": sexes, "age": ages, "illness": illnesses})
    table = encoded(data, "illness")
    women = predicate_of(table, {"sex": np.array([table.single["sex"].values.to_pylist().index("F")])})
    cancer = table.sensitive["illness"].values.to_pylist().index("Cancer")
    answers = GroupAnswers(Groups(table, np.array(groups) - 1))
    return {
        "anatomy": {"women": len(women.rows), "cancer": float(answers.counts([women])[0][cancer])},
        "generalized": share_of_an_age(),
    }


def share_of_an_age() -> Figures:
    """Return how much a record that shows ages 72 to 77 counts for the age 73."""
    table = encoded(pa.table({"age": [72, 73, 77], "illness": ["Cold"] * 3}), "illness")
    one_class = ClassAnswers(Classes(table, Partition(np.zeros(3, dtype=np.int64), 1)))
    asked = predicate_of(table, {"age": np.array([1])})
    return {"age": 73, "shown": [72, 77], "share": float(one_class.counts([asked])[0][0] / 3)}


# 2. The harder workload: every combination of picked values is a cell


def measure_adult(store: Store, plan: Plan) -> None:
    """Take each column as the sensitive one in turn."""
    data = adult(plan.rows)
    names = plan.sensitive or tuple(data.schema.names)
    store.once(["adult", "records"], lambda: data.num_rows)
    store.once(["adult", "ls"], lambda: list(plan.ls))
    for seed, name in enumerate(names):
        table = encoded(data, name)
        column = table.sensitive[name]
        store.once(["adult", "sets", name], partial(_described, column))
        queries = plan.queries if column.size < MANY_VALUES else plan.few
        for diverse in plan.ls:
            if diverse <= column.size:
                store.once(["adult", "grid", name, str(diverse)], partial(_measured, table, diverse, queries, seed))
    for seed, name in enumerate(names):
        table = encoded(data, name)
        size = table.sensitive[name].size
        # with sets of all values nothing can be learnt; where there are only two, there is no other l
        diverse = max(min(L, size - 1), 2)
        queries = plan.headline if size < MANY_VALUES else plan.few
        store.once(["adult", "headline", name], partial(_with_l, table, diverse, queries, 100 + seed))


def _described(column: Column) -> Figures:
    most = int(np.bincount(column.codes).max())
    return {"values": column.size, "most": round(most / max(len(column), 1), 6)}


def _with_l(table: Table, diverse: int, queries: int, seed: int) -> Figures:
    return {"l": diverse} | _measured(table, diverse, queries, seed)


def _measured(table: Table, diverse: int, queries: int, seed: int, g: int = G, s: float = S) -> Figures:
    releases = all_released(table, diverse)
    return {
        "possible": [way for way, one in releases.items() if one is not None],
        **asked_of(table, releases, queries, seed, g, s),
    }


def measure_census(store: Store, plan: Plan, folder: Path) -> None:
    """Measure by l and by the kind of query, of people with an occupation; and once of everybody."""
    everybody = census(folder, plan.rows)
    data = everybody.filter(pc.not_equal(everybody.column("occupation"), NO_OCCUPATION))
    table = encoded(data, "occupation", QUASI)
    store.once(["census", "records"], lambda: data.num_rows)
    store.once(["census", "all records"], lambda: everybody.num_rows)
    store.once(["census", "occupation"], lambda: _described(table.sensitive["occupation"]))
    store.once(["census", "columns"], lambda: {name: one.size for name, one in table.single.items()})
    headline = store.once(["census", "headline"], partial(_measured, table, L, plan.census_queries, 200))

    def vary(what: str, setting: float, usual: float, make: Callable[[], Figures]) -> None:
        store.once(["census", what, str(setting)], (lambda: headline) if setting == usual else make)

    for g in plan.gs:
        vary("g", g, G, partial(_measured, table, L, 2 * plan.sweep, 201, g))
    whole = encoded(everybody, "occupation", QUASI)
    store.once(["census", "everybody", "occupation"], partial(_described, whole.sensitive["occupation"]))
    store.once(["census", "everybody", "figures"], partial(_measured, whole, L, 2 * plan.sweep, 202))
    for diverse in plan.census_ls:
        vary("l", diverse, L, partial(_measured, table, diverse, plan.sweep, 203))
    for s in plan.ss:
        vary("s", s, S, partial(_measured, table, L, plan.sweep, 204, s=s))
    for width in plan.widths:
        narrow = table.without(QUASI[width:])
        vary("d", width, len(QUASI), partial(_measured, narrow, L, plan.sweep, 205))


# 3. A picture


def picture(rows: int | None = None, diverse: int = 2, ls: Sequence[int] = (2, 3, 4, 5)) -> Figures:
    """Return the distribution of relationships by sex: the truth, and what each release says of it."""
    table = encoded(adult(rows), "relationship")
    column, sexes = table.sensitive["relationship"], table.single["sex"]
    query = query_of(table, {"sex": np.arange(sexes.size)})
    true = truth(table, query)
    found = {"truth": true}
    for way, counts in answers(query, all_released(table, diverse), ("em-shrunk",)):
        found["dummies" if way == "em-shrunk" else way] = own_shares(true, counts)
    also = {}
    for other in ls:
        release = released("dummies", table, other)
        assert isinstance(release, Sets)
        also[str(other)] = _rounded(release.counts(query) / true.sum(axis=1)[:, None])
    return {
        "l": diverse,
        "sexes": sexes.values.to_pylist(),
        "relationships": column.values.to_pylist(),
        "shares": {way: _rounded(counts / true.sum(axis=1)[:, None]) for way, counts in found.items()},
        "dummies": also,
    }


def _rounded(shares: Any) -> list[list[float]]:
    return [[float(f"{share:.6g}") for share in line] for line in shares.tolist()]


# 4. Times


def times(plan: Plan = FULL, sensitive: str = "occupation", diverse: int = 7, runs: int = 3) -> Figures:
    """Return the seconds that releases and queries take, on Adult and, for dummies, on copies of it."""
    table = encoded(adult(plan.rows), sensitive)
    found: Figures = {"l": diverse, "sensitive": sensitive, "queries": plan.timed, "runs": runs, "cores": _cores()}
    found["values"] = table.sensitive[sensitive].size
    many = _copied(table, plan.copies)
    for given, ways in ((table, METHODS), (many, ("dummies",))):
        made, spent = {}, {}
        for way in ways:
            made[way] = released(way, given, diverse)  # compiles
            spent[way] = _least(partial(released, way, given, diverse), 1 if given is many else runs)
        found[str(given.rows)] = {"release": spent, "query": _query_times(given, made, plan.timed)}
    return found


def _query_times(table: Table, made: Mapping[str, Release], queries: int) -> Figures:
    """Return the mean seconds that a query takes, the finding of its cells included."""
    spent: Figures = {}
    drawing = 0.0
    generator = np.random.default_rng(5)
    for number in range(queries + 1):  # the first one compiles
        started = time.perf_counter()
        query = draw_query(table, G, S, generator)
        drawing += (time.perf_counter() - started) * bool(number)
        for way, release in made.items():
            for one in ESTIMATORS if way == "dummies" else (way,):
                started = time.perf_counter()
                answers(query, {way: release}, (one,))
                spent[one] = spent.get(one, 0.0) + (time.perf_counter() - started) * bool(number)
    return {way: float(f"{(total + drawing) / queries:.4g}") for way, total in spent.items()}


def _least(work: Callable[[], Any], runs: int) -> float:
    spent = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return float(f"{min(spent):.4g}")


def _copied(table: Table, copies: int) -> Table:
    """Return a table that has every record so many times."""

    def copied(columns: Mapping[str, Column]) -> dict[str, Column]:
        return {name: replace(one, codes=np.tile(one.codes, copies)) for name, one in columns.items()}

    return Table(table.rows * copies, copied(table.single), copied(table.sensitive))


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# The command


def load(folder: Path) -> Figures:
    """Return the figures that are kept in a folder."""
    path = folder / KEPT
    if not path.exists():
        sys.exit(f"{path.name} is not there yet; run this script without --page and --times first.")
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def measure(
    store: Store, plan: Plan, folder: Path | None, *, resume: bool, only_times: bool, cores: int | None = None
) -> None:
    """Measure what is asked for; the rest stays as it is kept."""
    if not resume:
        _forget(store.found, only_times, folder is not None)
    store.once(["times"], lambda: times(plan))
    if only_times:
        return
    store.once(["examples"], examples)
    store.once(["picture"], lambda: picture(plan.rows))
    if folder:
        measure_predicates_on_census(store, plan, folder, cores or _cores())
        measure_predicates_beside(store, plan, folder, cores or _cores())
    measure_predicates_on_adult(store, plan, cores or _cores())
    measure_adult(store, plan)
    if folder:
        measure_census(store, plan, folder)


def _forget(found: Figures, only_times: bool, with_census: bool) -> None:
    """Remove what is measured again."""
    found.pop("times", None)
    if only_times:
        return
    for part in ("examples", "picture", "adult", *(["census"] if with_census else [])):
        found.pop(part, None)
    predicates = found.get("predicates", {})
    for part in list(predicates):
        if part == "adult" or with_census:
            del predicates[part]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, unless only the page is wanted, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--census", type=Path, metavar="FOLDER", help="where the files of the census table are")
    parser.add_argument("--times", action="store_true", help="measure the times alone; the rest stays as kept")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--resume", action="store_true", help="measure only what is not kept yet")
    parser.add_argument("--cores", type=int, help="answer queries on so many cores; all if not given")
    parser.add_argument("--queries", type=int, help="queries of one predicate for each setting; 1,000 if not given")
    parser.add_argument("--quick", action="store_true", help="measure little, to try the script; give a --folder")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    if given.quick and given.folder == FOLDER:
        parser.error("--quick would overwrite the figures of the full run; give another --folder.")
    given.folder.mkdir(parents=True, exist_ok=True)
    path = given.folder / KEPT
    if not given.page:
        store = Store(path, load(given.folder) if path.exists() or given.times else {})
        plan = QUICK if given.quick else FULL
        plan = replace(plan, predicates=given.queries) if given.queries else plan
        measure(store, plan, given.census, resume=given.resume, only_times=given.times, cores=given.cores)
    kept = load(given.folder)
    (given.folder / PAGE).write_text(page(kept), encoding="utf-8")
    draw(kept, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
