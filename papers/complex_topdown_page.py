"""The page of ``complex_topdown.py``: what is said about what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from page_parts import Figures, Look, table, wrapped

SETS = ("diagnoses", "drugs")
QUASI = {
    "QI1": "born, sex, month",
    "QI2": "QI1 + beds, claim type, first day",
    "QI3": "diseases",
    "QI4": "drugs",
    "QI5": "diseases + drugs",
    "QI6": "born, sex, month, diseases",
}


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
    Series("objective: items", ("#56b4e9", "-", "x"), {"objective": "items"}),
    Series("order: global", ("#0072b2", "--", "s"), {"order": "global"}),
    Series("items: one-by-one", ("#d55e00", "-.", "^"), {"items": "one-by-one"}),
    Series("remainder: close", ("#009e73", ":", "D"), {"remainder": "close"}),
    Series("global and close", ("#cc79a7", (0, (1, 1)), "v"), {"order": "global", "remainder": "close"}),
    Series("item hierarchies", ("#e69f00", (0, (6, 2)), "P"), trees=True),
)
OBJECTIVES: dict[str, dict[str, str | bool]] = {
    "default": {},
    "order: global": {"order": "global"},
    "objective: items": {"objective": "items"},
    "objective: items, polish": {"objective": "items", "polish": True},
}


def page(disclosed: Figures, times: Figures) -> str:
    """Return the page, from the figures alone."""
    found = runs(times.get("end_to_end", {}))
    parts = [
        "# Experiment: item sets (top-down)",
        wrapped(
            "This page repeats the experiments of Takahashi, Sobataka, Takenouchi, Toyoda and Mori, *Efficient "
            "set-value recoding for anonymizing complex data*, with the method [top-down](../policy.md#method). "
            "It is written by `papers/complex_topdown.py` from two files of figures."
        ),
        "## What the paper measured",
        wrapped(
            "The method of the paper specializes single values and item sets from the top down. It lets every record "
            "choose the most frequent item it holds, and parts a cluster by these choices in one step. The method "
            "before it took one step per item."
        ),
        *_figures_part(disclosed, found, times),
        "## What we measured",
        *_example_part(disclosed.get("example", [])),
        *_disclosed_part(disclosed),
        *_objectives_part(disclosed.get("objectives", {})),
        *_times_part([run for run in found if run.worst], "The worst case", f"{WORST} {MADE}", "times.svg"),
        *_hundred_words([run for run in found if run.worst]),
        *_times_part([run for run in found if not run.worst], "With k = 10", USUAL),
        *_ways_part(times.get("ways", {})),
        *_postgres_part(times.get("postgres", {})),
        "## Run it again",
        "    pip install --group bench\n"
        "    python papers/complex_topdown.py --data FOLDER\n"
        "    python papers/complex_topdown.py --page",
        wrapped(
            "FOLDER has `diabetes130/diabetic_data.csv` (UCI Machine Learning Repository) and "
            "`transactions/bms-webview-1.dat` and `-2.dat` (KDD Cup 2000), as they are or compressed. Figures are kept "
            "as they are found, and a run that was stopped goes on from there. `--parts` measures one part alone. "
            "`--page` writes this page and its figures from what was kept, and measures nothing."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _figures_part(disclosed: Figures, found: Sequence[Run], times: Figures) -> list[str]:
    """Return the table that says of each figure and table of the paper what became of it."""
    ours = disclosed["series"]["default"]
    least, most = str(min(map(int, ours))), str(max(map(int, ours)))
    shown = " and ".join(
        f"{name} {ours[least]['item_sets'][name]['disclosed_share']:.1%} to "
        f"{ours[most]['item_sets'][name]['disclosed_share']:.1%}"
        for name in SETS
    )
    worst = [run for run in found if run.worst]
    lines = [
        [
            "example: nine patients, single values and two item sets",
            "reproduced",
            "[Nine patients](#nine-patients); step by step in `tests/papers/test_complex_topdown.py`",
        ],
        [
            "share of items disclosed by k, 4 million real claims; it falls with k",
            "differs: those claims are not public",
            f"the same trend on [public encounters](#items-disclosed): {shown} from k = {least} to {most}",
        ],
        [
            "time of the worst case, 1 to 150 million synthetic claims, QI1 to QI6; 1 to 10 hours for 100 million",
            "reproduced with our default order, not with that of the paper; the claims are our own"
            if worst
            else NOT_KEPT,
            _worst_words(worst),
        ],
        ["growth of that time: close to linear", *_growth_words(worst)],
        [
            "time on 1 million real claims in PostgreSQL: single values; these and diseases; these and drugs as well",
            "reproduced with k = 10; the claims are our own" if times.get("postgres") else NOT_KEPT,
            "[in a database](#in-postgresql)",
        ],
        [
            "PostgreSQL is at least 5 times slower than the warehouse appliance",
            "not possible: there is no such appliance to compare with",
            _database_words(found, times.get("postgres", {})),
        ],
        [
            "the earlier method: hours for 100 thousand records",
            "differs: here it shares the fast kernels",
            "[against one item at a time](#against-one-item-at-a-time)",
        ],
    ]
    return ["### Figure by figure", table(["in the paper", "here", "where, and what came out"], lines)]


NOT_KEPT = "not possible to say: no times are kept"
LINEAR = 1.5
"""Growth is close to linear if no size takes so many times as long per claim as 10 million."""


def steep(found: Sequence[Run]) -> list[Run]:
    """Return the runs that take far longer per claim than 10 million claims do; at a million, starting counts."""
    each = {(run.quasi, run.rows): run.figures["seconds"] / run.rows for run in found}
    least = {quasi: each[quasi, rows] for quasi, rows in each if rows == 10_000_000}
    return [
        run
        for run in found
        if run.quasi in least and run.rows > 10_000_000 and each[run.quasi, run.rows] > LINEAR * least[run.quasi]
    ]


def _growth_words(found: Sequence[Run]) -> tuple[str, str]:
    """Return what became of the growth of time, and where."""
    if not found:
        return NOT_KEPT, ""
    where = "[the table of growth](#the-worst-case)"
    beyond = steep(found)
    if not beyond:
        return "reproduced", where
    names = ", ".join(f"{size_of(run.rows)} claims with {run.quasi}" for run in beyond)
    limits = "; ".join(
        sorted({f"`--memory {run.memory}` makes them use files for larger arrays" for run in beyond if run.memory})
    )
    said = f"{where}; that takes more than {LINEAR:g} times as long per claim as 10M claims"
    return f"reproduced, but for {names}", f"{said}; {limits}" if limits else said


def _database_words(found: Sequence[Run], kept: Figures) -> str:
    files = {(run.rows, run.quasi): run.figures["seconds"] for run in found if not run.worst and not run.memory}
    ratios = {}
    for key, one in kept.items():
        rows, _, quasi = key.partition("-")
        if (int(rows), quasi) in files:
            ratios[quasi] = one["seconds"] / files[int(rows), quasi]
    if not ratios:
        return ""
    times = f"{min(ratios.values()):.1f} to {max(ratios.values()):.1f} times"
    return f"{' and '.join(ratios)}: from table to table it takes {times} as long as from file to file"


def _worst_words(found: Sequence[Run]) -> str:
    if not found:
        return ""
    rows = max(run.rows for run in found)
    spent = [run.figures["seconds"] / 60 for run in found if run.rows == rows]
    return f"[{size_of(rows)} claims](#the-worst-case): {min(spent):.1f} to {max(spent):.1f} minutes on two cores"


def _example_part(kept: Sequence[Figures]) -> list[str]:
    if not kept:
        return []
    names = list(kept[0])
    return [
        "### Nine patients",
        wrapped(
            "The example of the paper, by its own rules (`order: global`, `remainder: close`, every item is a "
            "candidate), with k = 2. What a record shows:"
        ),
        table(names, [[one[name] for name in names] for one in kept]),
    ]


def _disclosed_part(figures: Figures) -> list[str]:
    about, series = figures["table"], figures["series"]
    whole = "A sample" if about["sample"] else "The whole table"
    ks = ks_of(series)
    least, most = str(ks[0]), str(ks[-1])
    first = series["default"]
    parts = [
        "### Items disclosed",
        wrapped(
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
        "| item hierarchies | default, with ICD-9 chapters and classes of drugs over the items |\n"
        "| objective: items | single values are split only where no item can be shown; small clusters are split in "
        "several ways, and the one that shows most items is kept |",
        "![Two panels, one per item set: the share of items disclosed by k, a line per series](disclosed.svg)",
        wrapped(
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
        wrapped(f"The default shows {shares[0]}, and {shares[1]}."),
        "### Loss",
        "![GCP by k, a line per series](loss.svg)",
        wrapped("GCP is the mean loss over records and all six quasi-identifiers."),
        _series_table(series, ks, lambda one: f"{one['gcp']:.4f}"),
        wrapped(
            f"The least loss without hierarchies at k = {most} is that of {best}. `order: global` turns first to "
            f"the attribute that loses most over the whole table; at k = {most} it shows {shown[0]} and {shown[1]}, "
            f"at a GCP of {paper['gcp']:.4f} against {first[most]['gcp']:.4f} of the default. With hierarchies, an "
            "item that cannot be shown may appear as its category, which loses less than hiding it; so those figures "
            "are not to be compared with the others."
        ),
    ]


def _objectives_part(kept: Figures) -> list[str]:
    if not kept:
        return []
    lines, behind, settings = [], [], 0
    for name, ways in kept.items():
        for k in sorted(map(int, ways["order: global"])):
            if any(str(k) not in ways.get(way, {}) for way in OBJECTIVES):
                continue
            settings += 1
            shares = {way: all_items(ways[way][str(k)]) for way in OBJECTIVES}
            if shares["objective: items"] <= shares["order: global"]:
                behind.append(f"{name}, k = {k}")
            lines.append([name, str(k), *(f"{share:.2%}" for share in shares.values())])
    said = f"It does so in {settings - len(behind)} of {settings} settings."
    if behind:
        said += f" It does not in {len(behind)}: {'; '.join(behind)}."
    fewer = {way: fewer_in_one(kept, way) for way in OBJECTIVES if way.startswith("objective")}
    for way, some in fewer.items():
        if some:
            said += (
                f" With `{way}`, a column taken by itself shows fewer items than by the paper's order here: "
                f"{_by_column(some)}."
            )
    return [
        "### The most items, or the least loss",
        wrapped(
            "The paper judges a release by the items that it discloses. The default judges by the loss over all "
            "quasi-identifiers, and shows fewer items than the paper's order where single values are worth more. "
            "`objective: items` aims at items. Our goal is more of them than by the paper's order, on every table and "
            f"for every k. {said} [Benchmarks](../benchmarks.md#claims-with-item-sets) say how much longer it takes."
        ),
        wrapped(
            "Share of the items of all item sets that is disclosed; k counts rows. *Claims* are "
            "synthetic, *bms-webview* are baskets of pages that visitors of a web shop looked at."
        ),
        table(["table", "k", *OBJECTIVES], lines),
        wrapped("`polish` moves records between classes afterwards."),
        wrapped(
            "Take the default if researchers use the single values and the items alike, because it loses least over "
            "all. Take `objective: items` if the items are what the study is about: single values become coarser for "
            "it."
        ),
    ]


def fewer_in_one(kept: Figures, way: str) -> list[tuple[str, str, int]]:
    """Return the tables, columns and k for which fewer items of that column are shown than by the paper's order."""
    found = []
    for name, ways in kept.items():
        for k, paper in ways["order: global"].items():
            ours = ways.get(way, {}).get(k, paper)["item_sets"]
            behind = [
                column for column, one in paper["item_sets"].items() if ours[column]["disclosed"] < one["disclosed"]
            ]
            found += [(name, column, int(k)) for column in behind]
    return found


def _by_column(some: Sequence[tuple[str, str, int]]) -> str:
    ks: dict[tuple[str, str], list[int]] = {}
    for name, column, k in some:
        ks.setdefault((name, column), []).append(k)
    return "; ".join(
        f"{column} of {name} (k = {', '.join(map(str, sorted(each)))})" for (name, column), each in ks.items()
    )


def all_items(one: Figures) -> float:
    """Return the share of the items of all columns that a release discloses."""
    sets = one["item_sets"].values()
    return float(sum(each["disclosed"] for each in sets) / max(sum(each["items"] for each in sets), 1))


def _share_and_ncp(name: str, one: Figures) -> str:
    return f"{one['item_sets'][name]['disclosed_share']:.1%} ({one['item_sets'][name]['ncp']:.3f})"


def percent(name: str, one: Figures) -> float:
    """Return how many percent of the items of a column a release discloses."""
    return 100 * float(one["item_sets"][name]["disclosed_share"])


def _series_table(series: Figures, ks: Sequence[int], cell: Callable[[Figures], str]) -> str:
    """Return a table with a line per k and a column per series."""
    head = ["k", *series]
    lines = [[str(k), *(cell(one[str(k)]) for one in series.values())] for k in ks]
    return table(head, lines)


@dataclass(frozen=True)
class Run:
    """One release of claims that the benchmark made."""

    rows: int
    quasi: str
    worst: bool
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
        parts = re.fullmatch(r"(\d+)-(QI\d)(-worst)?(?:--memory(.+))?", key)
        if parts is None:
            raise SystemExit(f"'{key}' is not rows, quasi-identifiers and perhaps a limit of memory.")
        found.append(Run(int(parts[1]), parts[2], parts[3] is not None, parts[4] or "", figures))
    return sorted(found, key=lambda run: (run.quasi, run.memory, run.rows))


WORST = (
    "The paper times the worst case: k is so small that every quasi-identifier is specialized to its original values. "
    "Here each synthetic claim (`sudare generate claims`) stands in the table twice, and k = 2. So every record may "
    "show everything, and every release does: its loss is 0, and the audit finds all promises kept. There are as many "
    "classes as different claims, which is the most that a method can be asked for."
)
MADE = (
    "A release is made by the command line in a process of its own: read from Parquet, decided, written to Parquet, "
    "audited and placed. The machine is that of [Benchmarks](../benchmarks.md), with two cores. The quasi-identifiers "
    f"are {'; '.join(f'{name}: {columns}' for name, columns in QUASI.items())}."
)
USUAL = (
    "The same claims, each of them once, with k = 10 in rows and without suppression: how long a release takes that "
    "hides something. Times of 100 million claims come from `benchmarks/claims.py --rows 100000000 --save FILE`."
)


def _times_part(found: Sequence[Run], title: str, words: str, drawing: str = "") -> list[str]:
    if not found:
        return [f"### {title}", "No times are kept."]
    sizes = sorted({run.rows for run in found})
    limits = {run.memory for run in found}
    if len(limits) == 1:  # one limit for all need not stand in every line
        found = [replace(run, memory="") for run in found]
    said = f" Each has `--memory {min(limits)}`." if len(limits) == 1 and limits != {""} else ""
    parts = [f"### {title}", wrapped(words + said)]
    if drawing and len(sizes) > 1:
        parts.append(f"![Seconds by number of claims on logarithmic axes, a line per QI]({drawing})")
    parts += [
        "Seconds from start to end:",
        _size_table(found, sizes, lambda run: _seconds(run.figures["seconds"])),
        "The same as a multiple of a plain copy (DuckDB copies the same columns to Parquet, in the same run):",
        _size_table(found, sizes, lambda run: f"{run.figures['seconds'] / max(run.figures['copy'], 0.01):.1f} x"),
        "Peak memory in GiB, with pages of temporary files that the system may take back:"
        if limits != {""}
        else "Peak memory in GiB:",
        _size_table(found, sizes, lambda run: f"{run.figures['peak_gib']:.2f}"),
    ]
    if len(sizes) > 1:
        parts += ["Growth, the time of the larger table by that of the smaller:", _growth_table(found, sizes)]
    return parts


def _hundred_words(found: Sequence[Run]) -> list[str]:
    """Return how long 100 million claims took in the worst case, beside what the paper says."""
    hundred = [run.figures["seconds"] for run in found if run.rows == 100_000_000]
    if not hundred:
        return []
    said = f"100M claims took {_seconds(min(hundred))} to {_seconds(max(hundred))} seconds."
    return [
        wrapped(
            f"{said} The paper reports 1 to 10 hours for as many, on other hardware and other claims. These are times "
            "of the default order. The order of the paper, `order: global`, was timed with k = 10 only: "
            "[Benchmarks](../benchmarks.md#claims-with-item-sets) has both orders side by side. On Spark that order "
            "has a limit of classes ([Engines](../engines.md))."
        )
    ]


def _size_table(found: Sequence[Run], sizes: Sequence[int], cell: Callable[[Run], str]) -> str:
    """Return a table with a line per kind of run and a column per number of claims."""
    cells = {(run.label, run.rows): cell(run) for run in found}
    lines = [[label, *(cells.get((label, size), "") for size in sizes)] for label in dict.fromkeys(labels_of(found))]
    return table(["", *map(size_of, sizes)], lines)


def _growth_table(found: Sequence[Run], sizes: Sequence[int]) -> str:
    seconds = {(run.label, run.rows): run.figures["seconds"] for run in found}
    pairs = list(pairwise(sizes))
    lines = []
    for label in dict.fromkeys(labels_of(found)):
        both = [(seconds.get((label, small)), seconds.get((label, large))) for small, large in pairs]
        lines.append([label, *(f"{large / small:.1f} x" if small and large else "" for small, large in both)])
    head = [f"{size_of(small)} to {size_of(large)} ({large / small:g} x the claims)" for small, large in pairs]
    return table(["", *head], lines)


def labels_of(found: Sequence[Run]) -> list[str]:
    """Return what runs are called in tables."""
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
            lines.append([size_of(size), f"`{way}`", spent, classes, f"{figures['gcp']:.4f}", *shares])
        ratio = pair[old]["method_seconds"] / pair[new]["method_seconds"]
        said.append(f"On {size_of(size)} claims `{old}` takes {ratio:.1f} x the time of `{new}`.")
    head = ["claims", "`items`", "seconds", "classes", "GCP", *(f"{name} disclosed" for name in names)]
    return [
        "### Against one item at a time",
        wrapped(
            f"The same claims, QI5, k = {pair[new]['k']}, by both ways to split item sets. The seconds are those of "
            "the method alone."
        ),
        table(head, lines),
        wrapped(" ".join(said)),
    ]


def _other(key: str) -> str:
    return key.replace("rank-choose-split", "one-by-one")


def ks_of(series: Figures) -> list[int]:
    """Return the k of all releases of a series."""
    return sorted(int(k) for k in next(iter(series.values())))


def size_of(rows: int) -> str:
    """Return a number of claims as it is written in tables."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if rows >= unit:
            return f"{rows / unit:g}{letter}"
    return str(rows)


def _seconds(spent: float) -> str:
    return f"{spent:,.0f}" if spent >= 100 else f"{spent:.3g}" if spent >= 10 else f"{spent:.2f}"


def _postgres_part(kept: Figures) -> list[str]:
    if not kept:
        return ["### In PostgreSQL", "No times are kept."]
    lines = []
    for key, one in kept.items():
        rows, _, name = key.partition("-")
        steps = [_seconds(one[step]) for step in ("seconds", "copy", "fetch")]
        count = _seconds(one["count"]) if one["count"] else "-"
        lines.append([size_of(int(rows)), name, *steps, count, f"{one['classes']:,}"])
    return [
        "### In PostgreSQL",
        wrapped(
            "From table to table in PostgreSQL, k = 10. Single values are counted in the database. Rows with item sets "
            "travel to us once, and the release travels back. *Copy* is `CREATE TABLE AS` with the same columns. "
            "*Fetch* is the time in which all rows arrive. *Count* is the time in which the database counts once who "
            "holds which item, by year of birth. One such count takes longer than fetching everything. The method "
            "needs one for every level of clusters, so items are not counted in the database."
        ),
        table(["claims", "quasi-identifiers", "release, seconds", "copy", "fetch", "one count", "classes"], lines),
    ]
