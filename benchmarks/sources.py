"""How long it takes to read what people have, beside a plain reader of the same file or table.

Prints, for each kind of file, the seconds until its columns are encoded, those of the other reader, and their ratio:

- Excel: 100,000 rows of 20 columns, beside pandas with the same library (``calamine``);
- SPSS, Stata and SAS: a million rows of 20 columns, beside pyreadstat's own data frame;
- text with decimal commas and German dates: three million rows, beside the same table in plain CSV, and DuckDB.

    python benchmarks/sources.py [--rows 1.0]

``--rows`` is a factor for all numbers of rows.
"""

from __future__ import annotations

import argparse
import datetime
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyreadstat
import xlsxwriter

from sudare.policy import Policy
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import read

SEED = 20
WORDS = np.array(["alpha", "beta", "gamma delta", "epsilon"])


def frame(rows: int) -> pd.DataFrame:
    """Return a table of 20 columns: whole numbers, fractions, words and days."""
    draw = np.random.default_rng(SEED)
    numbers = {f"n{place}": draw.integers(0, 100, rows).astype(float) for place in range(11)}
    fractions = {f"f{place}": np.round(draw.uniform(0, 1000, rows), 1) for place in range(2)}
    words = {f"w{place}": WORDS[draw.integers(0, len(WORDS), rows)] for place in range(6)}
    first = np.datetime64("2024-01-01")
    days = {"d0": (first + draw.integers(0, 365, rows).astype("timedelta64[D]")).astype(datetime.date)}
    return pd.DataFrame(numbers | fractions | words | days)


def policy(names: list[str], **source: Any) -> Policy:
    """Return a policy that makes each column a quasi-identifier."""
    columns = {name: {"role": "quasi"} for name in names}
    return Policy.parse({"columns": columns, "require": [{"model": "k-anonymity", "k": 5}], "source": source})


def seconds(work: Callable[[], Any]) -> float:
    """Return how long something takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def ours(path: Path, rules: Policy) -> float:
    """Return how long sudare takes from the file to encoded columns."""
    return seconds(lambda: encode(read(path, rules)[0], rules))


def show(what: str, own: float, other: float, name: str) -> None:
    """Print a line."""
    print(f"{what:<44} {own:7.1f} s   {name:<22} {other:7.1f} s   ratio {own / other:5.2f}", flush=True)


def excel(folder: Path, rows: int) -> None:
    """Measure a workbook."""
    table, path = frame(rows), folder / "people.xlsx"
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet, dated = book.add_worksheet("people"), book.add_format({"num_format": "dd.mm.yyyy"})
        sheet.write_row(0, 0, list(table.columns))
        for number, row in enumerate(table.itertuples(index=False, name=None), 1):
            for place, cell in enumerate(row):
                if isinstance(cell, datetime.date):
                    sheet.write_datetime(number, place, datetime.datetime.combine(cell, datetime.time()), dated)
                else:
                    sheet.write(number, place, cell)
    own = ours(path, policy(list(table.columns)))
    show(f"Excel, {rows:,} x 20", own, seconds(lambda: pd.read_excel(path, engine="calamine")), "pandas, calamine")


def statistics(folder: Path, rows: int) -> None:
    """Measure files of statistics programs."""
    table = frame(rows)
    labels: dict[str, dict[int | float, str]] = {"n0": {code: f"label {code}" for code in range(100)}}
    kinds: dict[str, tuple[str, Callable[[str], Any], Callable[[str], Any]]] = {
        ".sav": ("SPSS", lambda to: pyreadstat.write_sav(table, to, variable_value_labels=labels), pyreadstat.read_sav),
        ".dta": (
            "Stata",
            lambda to: pyreadstat.write_dta(table, to, variable_value_labels=labels),
            pyreadstat.read_dta,
        ),
        ".xpt": ("SAS transport", lambda to: pyreadstat.write_xport(table, to), pyreadstat.read_xport),
    }
    for ending, (name, write, reader) in kinds.items():
        path = folder / f"people{ending}"
        write(str(path))
        own = ours(path, policy(list(table.columns)))
        show(f"{name}, {rows:,} x 20", own, seconds(lambda r=reader, p=path: r(str(p))), "pyreadstat, pandas")  # type: ignore[misc]
        path.unlink()


def text(folder: Path, rows: int) -> None:
    """Measure text with decimal commas beside plain text of the same table."""
    draw = np.random.default_rng(SEED)
    days = np.datetime64("2024-01-01") + draw.integers(0, 365, rows).astype("timedelta64[D]")
    table = pd.DataFrame(
        {
            "age": draw.integers(18, 90, rows),
            "weight": np.round(draw.uniform(45, 120, rows), 1),
            "costs": np.round(draw.uniform(200, 90_000, rows), 2),
            "sex": np.array(["m", "w"])[draw.integers(0, 2, rows)],
            "word": WORDS[draw.integers(0, len(WORDS), rows)],
            "day": pd.Series(days).dt.strftime("%Y-%m-%d"),
        }
    )
    plain, german = folder / "plain.csv", folder / "german.csv"
    table.to_csv(plain, index=False)
    names = list(table.columns)
    base = ours(plain, policy(names))
    show(f"plain CSV, {rows:,} x 6", base, seconds(lambda: duckdb.read_csv(str(plain)).to_arrow_table()), "DuckDB")
    table.to_csv(german, index=False, sep=";", decimal=",")
    show("  with decimal commas", ours(german, policy(names, decimal=",")), base, "plain CSV")
    table.assign(day=pd.Series(days).dt.strftime("%d.%m.%Y"), sex=table["sex"] + " ").to_csv(
        german, index=False, sep=";", decimal=","
    )
    rules = policy(names, decimal=",", thousands=".", dates={"day": "dd.mm.yyyy"}, trim=True)
    show("  with commas, dates and a mark for thousands", ours(german, rules), base, "plain CSV")


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1.0)
    factor = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.csv"
        frame(100).to_csv(small, index=False)
        ours(small, policy(list(frame(1).columns)))  # so that nothing is compiled while it is measured
        excel(folder, int(100_000 * factor))
        statistics(folder, int(1_000_000 * factor))
        text(folder, int(3_000_000 * factor))


if __name__ == "__main__":
    main()
