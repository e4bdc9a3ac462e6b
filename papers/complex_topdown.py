"""The experiments of "Efficient set-value recoding for anonymizing complex data", on the method top-down.

    python papers/complex_topdown.py                               # the shipped sample of Diabetes 130-US Hospitals
    python papers/complex_topdown.py --diabetes diabetic_data.csv  # the whole table, as UCI gives it out
    python papers/complex_topdown.py --page                        # the page and its figures anew, nothing is measured

1. Items disclosed and loss for k = 2 to 10, k counted in patients, with two item sets: measured here, and kept in
   ``disclosed.json``.
2. Times: measured by ``benchmarks/claims.py --save docs/papers/claims_times.json``, and only read here.

The page ``complex_topdown.md`` and its figures are made from these two files alone. Drawing needs matplotlib, which is
in the dependency group ``bench``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

import sudare
from sudare.datasets.preparation import make_diabetes

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "papers"
DISCLOSED, TIMES, PAGE = "disclosed.json", "claims_times.json", "complex_topdown.md"
SETS = ("diagnoses", "drugs")
QUASI = {
    "QI1": "born, sex, month",
    "QI2": "QI1 + beds, claim type, first day",
    "QI3": "diseases",
    "QI4": "drugs",
    "QI5": "diseases + drugs",
    "QI6": "born, sex, month, diseases",
}

Figures = dict[str, Any]
"""What a JSON file holds."""
Look = tuple[str, str | tuple[int, tuple[int, ...]], str]
"""How a line is drawn: its colour, style and marker; each of them tells it apart without the others."""


@dataclass(frozen=True)
class Series:
    """One way to make the releases: its name, the options of the method, and how its line is drawn."""

    name: str
    look: Look
    options: dict[str, str] = field(default_factory=dict)
    trees: bool = False


# The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
SERIES = (
    Series("default", ("#000000", "-", "o")),
    Series("order: global", ("#0072b2", "--", "s"), {"order": "global"}),
    Series("items: one-by-one", ("#d55e00", "-.", "^"), {"items": "one-by-one"}),
    Series("remainder: close", ("#009e73", ":", "D"), {"remainder": "close"}),
    Series("global and close", ("#cc79a7", (0, (1, 1)), "v"), {"order": "global", "remainder": "close"}),
    Series("item hierarchies", ("#e69f00", (0, (6, 2)), "P"), trees=True),
)


# Measuring


def policy(series: Series, k: int) -> Figures:
    """Return the policy that comes with the data, with this k and the options of a series."""
    asked: Figures = yaml.safe_load(sudare.datasets.diabetes_policy().read_text(encoding="utf-8"))
    asked["require"] = [{"model": "k-anonymity", "k": k, "count": "subjects"}]
    asked["method"] = {"name": "top-down", **series.options}
    if series.trees:
        for name, path in sudare.datasets.diabetes_hierarchies().items():
            asked["columns"][name]["hierarchy"] = str(path)
    return asked


def encounters(source: Path | None) -> pa.Table:
    """Return the whole table from its CSV file, or the sample that comes with sudare."""
    if source is None:
        return sudare.datasets.diabetes()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "diabetes.parquet"
        make_diabetes(source, made)
        return pq.read_table(made)


def measure(table: pa.Table, ks: Iterable[int], series: Sequence[Series] = SERIES, *, sample: bool) -> Figures:
    """Make a release for each k and series; return what each discloses and loses."""
    found: Figures = {
        "table": {
            "sample": sample,
            "encounters": table.num_rows,
            "patients": pc.count_distinct(table["patient"]).as_py(),
        },
        "series": {one.name: {} for one in series},
    }
    for k in ks:
        for one in series:
            certificate = sudare.anonymize(table, policy(one, k)).certificate
            figures = {
                "classes": certificate["classes"],
                "gcp": certificate["loss"]["gcp"],
                "item_sets": {name: _with_share(told, table[name]) for name, told in certificate["item_sets"].items()},
            }
            found["series"][one.name][str(k)] = figures
            shares = ", ".join(f"{name} {figures['item_sets'][name]['disclosed_share']:.1%}" for name in SETS)
            print(
                f"k = {k:2}  {one.name:18} {figures['classes']:7,} classes, GCP {figures['gcp']:.4f}; {shares}",
                flush=True,
            )
    return found


def _with_share(told: Figures, column: pa.ChunkedArray) -> Figures:
    """Return what a certificate tells of item sets, and the share disclosed, which only the owner can work out."""
    items = int(pc.sum(pc.list_value_length(column)).as_py() or 0)
    return {**told, "items": items, "disclosed_share": told["disclosed"] / max(items, 1)}


# The page


def page(disclosed: Figures, times: Figures) -> str:
    """Return the page, from the figures alone."""
    parts = [
        "# Experiment: item sets (top-down)",
        _wrap(
            "This page repeats the experiments of Takahashi, Sobataka, Takenouchi, Toyoda and Mori, *Efficient "
            "set-value recoding for anonymizing complex data*, with the method [top-down](../policy.md#method). "
            "It is written by `papers/complex_topdown.py` from two files of figures."
        ),
        "## What the paper measured",
        _wrap(
            "The method of the paper specializes single values and item sets from the top down. It lets every record "
            "choose the most frequent item it holds, and parts a cluster by these choices in one step. The method "
            "before it took one step per item."
        ),
        "- The share of items disclosed on 4 million real claims, for k = 2 to 10. It falls with k.\n"
        "- The time on 1 to 150 million synthetic claims. It grows nearly in proportion. 100 million take 1 to 10\n"
        "  hours on a data warehouse appliance, controlled by a server with 4 cores and 32 GB.",
        "## What we measured",
        *_disclosed_part(disclosed),
        *_times_part(times.get("end_to_end", {})),
        *_ways_part(times.get("ways", {})),
        "## Run it again",
        "    pip install --group bench\n"
        "    python papers/complex_topdown.py --diabetes diabetic_data.csv\n"
        "    python benchmarks/claims.py --rows 1000000 --save docs/papers/claims_times.json\n"
        "    python benchmarks/claims.py --one-by-one --save docs/papers/claims_times.json\n"
        "    python papers/complex_topdown.py --page",
        _wrap(
            "The first script measures what is disclosed and lost. Without `--diabetes` it takes the sample that comes "
            "with sudare. The benchmark measures times; run it with more `--rows` for larger tables. `--page` writes "
            "this page and its figures from what was kept, and measures nothing."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _disclosed_part(figures: Figures) -> list[str]:
    about, series = figures["table"], figures["series"]
    whole = "A sample" if about["sample"] else "The whole table"
    ks = _ks(series)
    least, most = str(ks[0]), str(ks[-1])
    first = series["default"]
    parts = [
        "### Items disclosed",
        _wrap(
            f"{whole} of *Diabetes 130-US Hospitals* (UCI Machine Learning Repository): {about['encounters']:,} "
            f"encounters of {about['patients']:,} patients. Quasi-identifiers are race, gender, age and admission "
            "type, and two item sets, diagnoses and drugs. k counts patients, not rows. Nothing is suppressed. Every "
            "release was audited."
        ),
        "| series | what it is |\n|---|---|\n"
        "| default | each cluster takes its own best attribute, and its records choose items (`order: per-cluster`, "
        "`items: rank-choose-split`, `remainder: join`) |\n"
        "| order: global | the order of the paper: one attribute at a time, in all clusters |\n"
        "| items: one-by-one | the earlier way: who holds an item against who does not |\n"
        "| remainder: close | a cluster whose remainder is too small is not split, as in the paper |\n"
        "| global and close | both choices of the paper |\n"
        "| item hierarchies | default, with ICD-9 chapters and classes of drugs over the items |",
        "![Two panels, one per item set: the share of items disclosed by k, a line per series](disclosed.svg)",
        _wrap(
            "Each cell is the share of all items in the source that the release shows as they are, and in brackets the "
            "NCP of the column: the mean share of a record's items that is lost. An item that is shown as a node of a "
            "hierarchy is not disclosed; it loses the share of the leaves below that node."
        ),
    ]
    for name in SETS:
        parts += [
            f"**{name.capitalize()}**",
            _series_table(series, ks, partial(_share_and_ncp, name)),
        ]
    shares = [
        f"{first[least]['item_sets'][name]['disclosed_share']:.1%} of the {name} at k = {least} and "
        f"{first[most]['item_sets'][name]['disclosed_share']:.1%} at k = {most}"
        for name in SETS
    ]
    paper = series["order: global"][most]
    shown = [f"{paper['item_sets'][name]['disclosed_share']:.1%} of the {name}" for name in SETS]
    plain = [one.name for one in SERIES if one.name in series and not one.trees]
    least_loss = min(float(series[name][most]["gcp"]) for name in plain)
    best = " and ".join(f"*{name}*" for name in plain if series[name][most]["gcp"] == least_loss)
    return [
        *parts,
        _wrap(f"The default shows {shares[0]}, and {shares[1]}."),
        "### Loss",
        "![GCP by k, a line per series](loss.svg)",
        _wrap("GCP is the mean loss over records and all six quasi-identifiers."),
        _series_table(series, ks, lambda one: f"{one['gcp']:.4f}"),
        _wrap(
            f"The least loss without hierarchies at k = {most} is that of {best}. `order: global` turns first to "
            f"the attribute that loses most over the whole table; at k = {most} it shows {shown[0]} and {shown[1]}, "
            f"at a GCP of {paper['gcp']:.4f} against {first[most]['gcp']:.4f} of the default. With hierarchies, an "
            "item that cannot be shown may appear as its category, which loses less than hiding it; so those figures "
            "are not to be compared with the others."
        ),
    ]


def _share_and_ncp(name: str, one: Figures) -> str:
    return f"{one['item_sets'][name]['disclosed_share']:.1%} ({one['item_sets'][name]['ncp']:.3f})"


def _percent(name: str, one: Figures) -> float:
    return 100 * float(one["item_sets"][name]["disclosed_share"])


def _series_table(series: Figures, ks: Sequence[int], cell: Callable[[Figures], str]) -> str:
    """Return a table with a line per k and a column per series."""
    head = ["k", *series]
    lines = [[str(k), *(cell(one[str(k)]) for one in series.values())] for k in ks]
    return _table(head, lines)


@dataclass(frozen=True)
class Run:
    """One release of claims that the benchmark made."""

    rows: int
    quasi: str
    memory: str
    figures: Figures

    @property
    def label(self) -> str:
        """What the run is called in tables: its quasi-identifiers, and the limit it was given."""
        return f"{self.quasi}, `--memory {self.memory}`" if self.memory else self.quasi


def runs(end_to_end: Figures) -> list[Run]:
    """Return the runs of a file of times, in the order of their tables."""
    found = []
    for key, figures in end_to_end.items():
        parts = re.fullmatch(r"(\d+)-(QI\d)(?:--memory(.+))?", key)
        if parts is None:
            sys.exit(f"{TIMES}: '{key}' is not rows, quasi-identifiers and perhaps a limit of memory.")
        found.append(Run(int(parts[1]), parts[2], parts[3] or "", figures))
    return sorted(found, key=lambda run: (run.quasi, run.memory, run.rows))


def _times_part(end_to_end: Figures) -> list[str]:
    found = runs(end_to_end)
    if not found:
        return ["### Time", "No times are kept yet."]
    sizes = sorted({run.rows for run in found})
    k = ", ".join(str(one) for one in sorted({run.figures["k"] for run in found}))
    parts = [
        "### Time",
        _wrap(
            f"Synthetic claims (`sudare generate claims`), k = {k} in rows, without suppression. A release is made by "
            "the command line in a process of its own: read from Parquet, decided, written to Parquet, audited and "
            "placed. The machine is that of [Benchmarks](../benchmarks.md)."
        ),
        _table(["", "quasi-identifiers"], [[name, QUASI[name]] for name in sorted({run.quasi for run in found})]),
    ]
    if len(sizes) > 1:
        parts.append("![Seconds by number of claims on logarithmic axes, a line per QI](times.svg)")
    parts += [
        "Seconds from start to end:",
        _size_table(found, sizes, lambda run: _seconds(run.figures["seconds"])),
        "The same as a multiple of a plain copy (DuckDB copies the same columns to Parquet, in the same run):",
        _size_table(found, sizes, lambda run: f"{run.figures['seconds'] / max(run.figures['copy'], 0.01):.1f} x"),
        "Peak memory in GiB:",
        _size_table(found, sizes, lambda run: f"{run.figures['peak_gib']:.2f}"),
    ]
    if len(sizes) > 1:
        parts += ["Growth, the time of the larger table by that of the smaller:", _growth_table(found, sizes)]
    largest = [run.figures["seconds"] for run in found if run.rows == sizes[-1]]
    said = f"{_size(sizes[-1])} claims took {_seconds(min(largest))} to {_seconds(max(largest))} seconds."
    if sizes[-1] == 100_000_000:
        said += " The paper reports 1 to 10 hours for as many, on other hardware and other claims."
    return [*parts, _wrap(said)]


def _size_table(found: Sequence[Run], sizes: Sequence[int], cell: Callable[[Run], str]) -> str:
    """Return a table with a line per kind of run and a column per number of claims."""
    cells = {(run.label, run.rows): cell(run) for run in found}
    lines = [[label, *(cells.get((label, size), "") for size in sizes)] for label in dict.fromkeys(_labels(found))]
    return _table(["", *map(_size, sizes)], lines)


def _growth_table(found: Sequence[Run], sizes: Sequence[int]) -> str:
    seconds = {(run.label, run.rows): run.figures["seconds"] for run in found}
    pairs = list(pairwise(sizes))
    lines = []
    for label in dict.fromkeys(_labels(found)):
        both = [(seconds.get((label, small)), seconds.get((label, large))) for small, large in pairs]
        lines.append([label, *(f"{large / small:.1f} x" if small and large else "" for small, large in both)])
    head = [f"{_size(small)} to {_size(large)} ({large / small:g} x the claims)" for small, large in pairs]
    return _table(["", *head], lines)


def _labels(found: Sequence[Run]) -> list[str]:
    return [run.label for run in found]


def _ways_part(ways: Figures) -> list[str]:
    new, old = "rank-choose-split", "one-by-one"
    sizes = sorted(int(key.removesuffix(f"-{new}")) for key in ways if key.endswith(new) and _other(key) in ways)
    if not sizes:
        return []
    lines, said = [], []
    for size in sizes:
        pair = {way: ways[f"{size}-{way}"] for way in (new, old)}
        names = list(pair[new]["item_sets"])
        for way, figures in pair.items():
            shares = [f"{figures['item_sets'][name]['disclosed_share']:.1%}" for name in names]
            spent, classes = _seconds(figures["method_seconds"]), f"{figures['classes']:,}"
            lines.append([_size(size), f"`{way}`", spent, classes, f"{figures['gcp']:.4f}", *shares])
        ratio = pair[old]["method_seconds"] / pair[new]["method_seconds"]
        said.append(f"On {_size(size)} claims `{old}` takes {ratio:.1f} x the time of `{new}`.")
    head = ["claims", "`items`", "seconds", "classes", "GCP", *(f"{name} disclosed" for name in names)]
    return [
        "### Against one item at a time",
        _wrap(
            f"The same claims, QI5, k = {pair[new]['k']}, by both ways to split item sets. The seconds are those of "
            "the method alone."
        ),
        _table(head, lines),
        _wrap(" ".join(said)),
    ]


def _other(key: str) -> str:
    return key.replace("rank-choose-split", "one-by-one")


def _ks(series: Figures) -> list[int]:
    return sorted(int(k) for k in next(iter(series.values())))


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def _size(rows: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if rows >= unit:
            return f"{rows / unit:g}{letter}"
    return str(rows)


def _seconds(spent: float) -> str:
    return f"{spent:,.0f}" if spent >= 100 else f"{spent:.3g}" if spent >= 10 else f"{spent:.2f}"


def _wrap(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


# The figures


def draw(disclosed: Figures, times: Figures, folder: Path) -> None:
    """Draw the figures as SVG; the same figures give the same files."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        sys.exit("Drawing needs matplotlib: pip install --group bench")
    matplotlib.use("svg")
    settings = {"svg.hashsalt": "sudare", "font.size": 10, "axes.grid": True, "grid.color": "#dddddd"}
    # a white ground of its own keeps a figure readable on a dark page
    with matplotlib.rc_context(settings | {"figure.facecolor": "white", "savefig.facecolor": "white"}):
        _draw_disclosed(disclosed, folder / "disclosed.svg")
        _draw_loss(disclosed, folder / "loss.svg")
        found = runs(times.get("end_to_end", {}))
        if len({run.rows for run in found}) > 1:
            _draw_times(found, folder / "times.svg")


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    figure.savefig(path, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    # matplotlib leaves blanks at the ends of some lines
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")


def _lines(axes: Any, series: Figures, figure_of: Callable[[Figures], float]) -> None:
    """Draw one line per series; markers are hollow, so that lines on top of each other can be told apart."""
    for turn, one in enumerate(SERIES):
        if one.name not in series:
            continue
        colour, style, marker = one.look
        points = sorted((int(k), figure_of(figures)) for k, figures in series[one.name].items())
        axes.plot(
            *zip(*points, strict=True),
            color=colour, linestyle=style, marker=marker, label=one.name,
            markerfacecolor="none", markersize=8 - turn / 2, linewidth=1.6,
        )  # fmt: skip
    axes.set_xlabel("k (patients)")
    axes.set_xticks(_ks(series))


def _draw_disclosed(figures: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(SETS), figsize=(9.5, 3.8), sharey=True, layout="constrained")
    for axes, name in zip(panels, SETS, strict=True):
        _lines(axes, figures["series"], partial(_percent, name))
        axes.set_title(name)
        axes.set_ylim(0, 100)
    panels[0].set_ylabel("items disclosed, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


def _draw_loss(figures: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 4.2), layout="constrained")
    _lines(axes, figures["series"], lambda one: float(one["gcp"]))
    axes.set_ylabel("GCP")
    axes.set_ylim(bottom=0)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


def _draw_times(found: Sequence[Run], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 4.6), layout="constrained")
    looks = {name: one.look for name, one in zip(QUASI, SERIES, strict=True)}
    for label in dict.fromkeys(_labels(found)):
        mine = [run for run in found if run.label == label]
        colour, style, marker = looks[mine[0].quasi]
        axes.plot(
            [run.rows for run in mine], [run.figures["seconds"] for run in mine],
            color=colour, linestyle=style, marker=marker, label=label.replace("`", ""),
            markerfacecolor=colour if mine[0].memory else "none", markersize=7, linewidth=1.6,
        )  # fmt: skip
    sizes = sorted({run.rows for run in found})
    lowest = min(run.figures["seconds"] for run in found if run.rows == sizes[0])
    in_proportion = [lowest * size / sizes[0] / 2 for size in sizes]
    axes.plot(sizes, in_proportion, color="#999999", linewidth=1, label="in proportion to the claims")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, labels=[_size(size) for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("claims")
    axes.set_ylabel("seconds")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


# The command


def load(folder: Path) -> tuple[Figures, Figures]:
    """Return the figures that are kept in a folder: what was disclosed, and the times (none if there is no file)."""
    disclosed, times = folder / DISCLOSED, folder / TIMES
    if not disclosed.exists():
        sys.exit(f"{disclosed.name} is not there yet; run this script without --page first.")
    kept = json.loads(times.read_text(encoding="utf-8")) if times.exists() else {}
    return json.loads(disclosed.read_text(encoding="utf-8")), kept


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, unless only the page is wanted, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diabetes", type=Path, metavar="FILE", help="the CSV file of the whole table, from UCI")
    parser.add_argument("--k", type=int, nargs="+", default=list(range(2, 11)), help="2 to 10 if not given")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:
        table = encounters(given.diabetes)
        print(f"{table.num_rows:,} encounters", flush=True)
        found = measure(table, given.k, sample=given.diabetes is None)
        (given.folder / DISCLOSED).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    disclosed, times = load(given.folder)
    (given.folder / PAGE).write_text(page(disclosed, times), encoding="utf-8")
    draw(disclosed, times, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
