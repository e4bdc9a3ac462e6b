"""The experiments of "Efficient set-value recoding for anonymizing complex data", on the method top-down.

    python papers/complex_topdown.py --data FOLDER        # everything; what is kept already is not measured again
    python papers/complex_topdown.py --parts disclosed    # one part, or several of those below
    python papers/complex_topdown.py --page               # the page and its figures anew, nothing is measured

- ``example``: the nine patients of the paper.
- ``disclosed``: items disclosed and loss for k = 2 to 10, k counted in patients, with two item sets.
- ``objectives``: items disclosed by ``objective: items`` and by the paper's order, on every table with item sets.
- ``worst``: times of the worst case, in which every value is specialized to its original, 1 to 150 million claims.
- ``usual``: times with k = 10, 1 and 10 million claims; ``benchmarks/claims.py`` has more.
- ``ways``: the paper's way to split item sets against the earlier one.
- ``postgres``: times in PostgreSQL. Without a server this part is left out, and the page says so.

FOLDER has ``diabetes130/diabetic_data.csv`` and ``transactions/bms-webview-1.dat`` and ``-2.dat`` (as they are, or
compressed by gzip or xz). Without it, the sample that comes with sudare stands for the first, and there are no baskets.

Figures are kept in ``disclosed.json`` and ``claims_times.json`` as they are found, and the page is made from these two
alone. Drawing needs matplotlib, which is in the dependency group ``bench``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

import sudare
from complex_topdown_figures import draw
from complex_topdown_page import OBJECTIVES, SERIES, SETS, Series, page
from figure_store import Store
from page_parts import Figures
from sudare.datasets.claims import claims_table
from sudare.datasets.preparation import make_diabetes

HERE = Path(__file__).resolve()
FOLDER = HERE.parents[1] / "docs" / "papers"
DISCLOSED, TIMES, PAGE = "disclosed.json", "claims_times.json", "complex_topdown.md"
PARTS = ("example", "disclosed", "objectives", "worst", "usual", "ways", "postgres")
KS = tuple(range(2, 11))
OBJECTIVE_KS = (2, 4, 6, 8, 10, 25, 50, 100)
SIZES = (1_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 150_000_000)
USUAL_SIZES = (1_000_000, 10_000_000)
CLAIMS = 100_000
"""Synthetic claims among the tables of ``objectives``."""
MEMORY = "12GiB"
"""What a release of claims may use, so that the largest fits into 16 GiB with everything that is not counted."""


# Tables


def opened(path: Path) -> Path | None:
    """Return the file of this name, perhaps with the ending of a compressed one, or nothing."""
    return next((one for ending in ("", ".gz", ".xz") if (one := path.with_name(path.name + ending)).exists()), None)


def content(path: Path) -> bytes:
    """Return what is in a file that may be compressed."""
    reader: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": lzma.decompress}
    return reader.get(path.suffix, bytes)(path.read_bytes())


def encounters(data: Path | None) -> tuple[pa.Table, bool]:
    """Return the table of encounters, and whether it is only the sample that comes with sudare."""
    source = opened(data / "diabetes130" / "diabetic_data.csv") if data else None
    if source is None:
        return sudare.datasets.diabetes(), True
    with tempfile.TemporaryDirectory() as name:
        plain, made = Path(name) / "diabetic_data.csv", Path(name) / "diabetes.parquet"
        plain.write_bytes(content(source))
        make_diabetes(plain, made)
        return pq.read_table(made), False


def baskets(data: Path | None) -> dict[str, pa.Table]:
    """Return the tables of baskets, one item set each, by name."""
    found = {}
    for name in ("bms-webview-1", "bms-webview-2"):
        path = opened(data / "transactions" / f"{name}.dat") if data else None
        if path is not None:
            lines = content(path).decode("ascii").splitlines()
            found[name] = pa.table({"basket": pa.array([sorted(set(line.split())) for line in lines if line.split()])})
    return found


NINE = {
    "patient": [1, 2, 3, 4, 5, 6, 7, 8, 9],
    "born": [1970, 1971, 1974, 1980, 1960, 1999, 1982, 2001, 1984],
    "sex": ["male", "male", "female", "male", "female", "female", "male", "female", "male"],
    "diseases": [list(cell) for cell in ("ABC", "ABC", "DE", "DE", "AD", "EF", "EF", "AD", "EF")],
    "drugs": [list(cell) for cell in ("abd", "afg", "adfyz", "abcfg", "bcf", "cex", "bex", "bc", "cex")],
}
"""The patients of the paper's example."""


# Measuring


def example() -> list[dict[str, str]]:
    """Return what a release of the nine patients by the paper's rules shows, by patient; k = 2."""
    items = {"role": "quasi", "kind": "items"}
    asked = {
        "columns": {
            "patient": {"role": "insensitive"},
            "born": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "diseases": items,
            "drugs": items,
        },
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "top-down", "order": "global", "remainder": "close", "beta": 0},
        "release": {"ranges": "tight"},
    }
    rows = sudare.anonymize(pa.table(NINE), asked).data.to_pylist()
    return [
        {name: _as_text(cell) for name, cell in row.items()} for row in sorted(rows, key=lambda row: row["patient"])
    ]


def _as_text(cell: object) -> str:
    return ", ".join(sorted(map(str, cell))) if isinstance(cell, list) else str(cell)


def policy(series: Series, k: int) -> Figures:
    """Return the policy that comes with the encounters, with this k and the options of a series."""
    asked: Figures = yaml.safe_load(sudare.datasets.diabetes_policy().read_text(encoding="utf-8"))
    asked["require"] = [{"model": "k-anonymity", "k": k, "count": "subjects"}]
    asked["method"] = {"name": "top-down", **series.options}
    if series.trees:
        for name, path in sudare.datasets.diabetes_hierarchies().items():
            asked["columns"][name]["hierarchy"] = str(path)
    return asked


def about(table: pa.Table, sample: bool) -> Figures:
    """Return what the page says about the table of encounters."""
    patients = pc.count_distinct(table["patient"]).as_py()
    return {"sample": sample, "encounters": table.num_rows, "patients": patients}


def disclosure(table: pa.Table, asked: Figures, sets: Sequence[str]) -> Figures:
    """Make a release; return what it discloses and loses."""
    certificate = sudare.anonymize(table, asked).certificate
    figures = {
        "classes": certificate["classes"],
        "gcp": certificate["loss"]["gcp"],
        "item_sets": {name: _with_share(certificate["item_sets"][name], table[name]) for name in sets},
    }
    shares = ", ".join(f"{name} {figures['item_sets'][name]['disclosed_share']:.1%}" for name in sets)
    print(f"  {figures['classes']:7,} classes, GCP {figures['gcp']:.4f}; {shares}", flush=True)
    return figures


def _with_share(told: Figures, column: pa.ChunkedArray) -> Figures:
    """Return what a certificate tells of item sets, and the share disclosed, which only the owner can work out."""
    items = int(pc.sum(pc.list_value_length(column)).as_py() or 0)
    return {**told, "items": items, "disclosed_share": told["disclosed"] / max(items, 1)}


def measure_disclosed(store: Store, table: pa.Table, ks: Sequence[int], *, sample: bool) -> None:
    """Make a release of the encounters for each k and series."""
    store.once(["table"], lambda: about(table, sample))
    for k in ks:
        for one in SERIES:
            store.once(["series", one.name, str(k)], lambda one=one, k=k: disclosure(table, policy(one, k), SETS))  # type: ignore[misc]


def objective_tables(data: Path | None) -> dict[str, tuple[pa.Table, Figures]]:
    """Return every table with item sets that there is, and its columns as a policy names them."""
    patients, sample = encounters(data)
    asked: Figures = yaml.safe_load(sudare.datasets.diabetes_policy().read_text(encoding="utf-8"))
    items = {"role": "quasi", "kind": "items"}
    single = {name: {"role": "quasi"} for name in ("born", "sex", "month")}
    claims = claims_table(CLAIMS)
    both = {"diseases": items, "drugs": items}
    found: dict[str, tuple[pa.Table, Figures]] = {
        "encounters (sample)" if sample else "encounters": (patients, asked["columns"]),
        "claims QI3": (claims.select(["diseases"]), {"diseases": items}),
        "claims QI4": (claims.select(["drugs"]), {"drugs": items}),
        "claims QI5": (claims.select(list(both)), both),
        "claims QI6": (claims.select([*single, "diseases"]), single | {"diseases": items}),
        "claims QI6 + drugs": (claims.select([*single, *both]), single | both),
    }
    return found | {name: (table, {"basket": items}) for name, table in baskets(data).items()}


def measure_objectives(store: Store, data: Path | None, ks: Sequence[int]) -> None:
    """Disclose the items of every table, by the paper's order and by the objective."""
    for name, (table, columns) in objective_tables(data).items():
        sets = [column for column, told in columns.items() if told.get("kind") == "items"]
        for k in ks:
            for way, options in OBJECTIVES.items():
                asked = {"version": 1, "columns": columns, "require": [{"model": "k-anonymity", "k": k}]}
                asked["method"] = {"name": "top-down", **options}
                store.once(
                    ["objectives", name, way, str(k)],
                    lambda table=table, asked=asked, sets=sets: disclosure(table, asked, sets),  # type: ignore[misc]
                )


def measure_times(parts: Sequence[str], sizes: Sequence[int], save: Path) -> None:
    """Measure times by the benchmarks, which keep them."""
    sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
    import claims
    import postgres_items

    with tempfile.TemporaryDirectory(prefix="sudare-papers-") as name:
        folder = Path(name)
        claims.compile_kernels(folder)
        if "ways" in parts and f"{sizes[0]}-one-by-one" not in claims.kept(save).get("ways", {}):
            claims.both_ways(sizes[0], 10, folder, save)
        for rows in [size for size in USUAL_SIZES if size <= max(sizes)] if "usual" in parts else ():
            claims.measure_all([claims.Setting(rows, quasi) for quasi in claims.QUASI], folder, save)
        if "postgres" in parts:
            try:
                postgres_items.measure_all(sizes[0], folder, save)
            except SystemExit as reason:
                print(f"The part about PostgreSQL is left out. {reason}", flush=True)
        for rows in sizes if "worst" in parts else ():
            settings = [claims.Setting(rows, quasi, worst=True, memory=MEMORY) for quasi in claims.QUASI]
            claims.measure_all(settings, folder, save)
            for made in folder.glob("claims-*.parquet"):
                made.unlink()  # the next size is made anew, and the largest take gigabytes


# The command


def kept(path: Path) -> Figures:
    """Return the figures of a file, none if there is no such file."""
    found: Figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def load(folder: Path) -> tuple[Figures, Figures]:
    """Return the figures that are kept in a folder: what was disclosed, and the times (none if there is no file)."""
    if not (folder / DISCLOSED).exists():
        sys.exit(f"{DISCLOSED} is not there yet; run this script without --page first.")
    return kept(folder / DISCLOSED), kept(folder / TIMES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, unless only the page is wanted, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the tables are that do not come with sudare")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="all if not given")
    parser.add_argument("--k", type=int, nargs="+", help="2 to 10 if not given, and up to 100 for objectives")
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES), help="how many claims are timed")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:
        store = Store(given.folder / DISCLOSED, kept(given.folder / DISCLOSED))
        if "example" in given.parts:
            store.once(["example"], example)
        if "disclosed" in given.parts:
            table, sample = encounters(given.data)
            measure_disclosed(store, table, given.k or KS, sample=sample)
        if "objectives" in given.parts:
            measure_objectives(store, given.data, given.k or OBJECTIVE_KS)
        if {"worst", "usual", "ways", "postgres"} & set(given.parts):
            measure_times(given.parts, given.rows, given.folder / TIMES)
    disclosed, times = load(given.folder)
    (given.folder / PAGE).write_text(page(disclosed, times), encoding="utf-8")
    draw(disclosed, times, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
