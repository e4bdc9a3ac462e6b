"""A comparison as text: one table for classifiers, and one for all other figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.comparisons.classifiers import CLASSIFIERS
from sudare.core.text_tables import TextColumn, padded, text_table, text_width

_HEADS = ("tree", "logistic", "boosting")
_COLUMNS = (
    ("GCP", 6), ("ARX", 6), ("entropy", 8), ("suppressed", 11), ("classes", 8), ("mean risk", 10), ("largest", 8),
    (">0.09", 7), (">0.2", 7), ("queries", 8), ("s", 7), ("MB", 6),
)  # fmt: skip
Figures = Mapping[str, Any]


def show(found: Any) -> list[str]:
    """Return tables for the terminal, of a comparison or of what its ``to_dict`` gives."""
    found = found if isinstance(found, Mapping) else found.to_dict(costs=True)
    lines = [] if found["target"] is None else [*_learnt(found), ""]
    lines += _measured(found)
    if found["stopped"]:
        lines.append(f"note: {found['stopped']}")
    return [*lines, *(f"note: {note}" for note in found["notes"])]


def _learnt(found: Figures) -> Iterator[str]:
    """A line per method, baselines first; why some have no figures comes below."""
    outcomes = found["outcomes"]
    yield (
        f"Predicting '{found['target']}', {found['classes']} classes, from {found['records']:,} records "
        f"in {found['folds']} folds."
    )
    yield ""
    scores = [TextColumn(least=room, gap=0) for room in (11, 11, 11, 9, 9, 9)]
    columns = [
        TextColumn(right=False, gap=0),
        TextColumn(gap=0, least=2),
        *scores,
        TextColumn(least=8),
        TextColumn(least=10),
        TextColumn(least=5),
    ]
    above = ["", "", "", "", "accuracy, %", "", "", "AUC", "", "", ""]
    head = ["method", "", *_HEADS, *_HEADS, "records", "class info", "GCP"]
    yield from text_table(columns, [above, head, *(_outcome(outcome) for outcome in outcomes)])
    yield ""
    yield "± is the standard error over the folds. Class info: bits of uncertainty left within groups."
    yield from (f"{outcome['name']}: {outcome['problem']}" for outcome in outcomes if outcome["problem"])


def _outcome(outcome: Figures) -> list[str]:
    if outcome["problem"] is not None:
        return [outcome["name"], "", "no release", *[""] * 8]
    scores = [outcome["scores"][name] for name in CLASSIFIERS]
    return [
        outcome["name"],
        "",
        *(_with_error(score["accuracy"], score["accuracy_error"]) for score in scores),
        *("-" if score["auc"] is None else format(score["auc"], ".3f") for score in scores),
        f"{outcome['records'] or 0:,.0f}",
        f"{outcome['class_info'] or 0:.3f}",
        f"{outcome['gcp'] or 0:.3f}",
    ]


def _with_error(share: float, error: float | None) -> str:
    return f"{100 * share:.1f}" + ("" if error is None else f" ±{100 * error:.1f}")


def _measured(found: Figures) -> Iterator[str]:
    """A line per configuration: loss, risk, query errors, time and memory."""
    configs = found["ways"]
    asked = f" {found['queries']} queries." if found["queries"] else ""
    noun = "configuration" if len(configs) == 1 else "configurations"
    yield f"{found['records']:,} records, {len(configs)} {noun}.{asked}"
    if not configs:
        return
    columns = [TextColumn(right=False, gap=0), TextColumn(gap=0, least=2)]
    columns += [TextColumn(gap=0, least=room) for _, room in _COLUMNS]
    head = ["configuration", "", *(name for name, _ in _COLUMNS)]
    rows = [[config["name"], "*" if config["frontier"] else "", *_figures_of(config)] for config in configs]
    lines = text_table(columns, [head, *rows])
    wide = max(text_width(config["name"]) for config in [*configs, {"name": "configuration"}])
    yield lines[0]
    for config, line in zip(configs, lines[1:], strict=True):
        # the reason is printed below; these words cover several columns
        yield line if config["problem"] is None else f"{padded(config['name'], wide)}{'no release':>15}"
    yield ""
    if any(config["frontier"] for config in configs):
        than = "smaller query errors" if found["queries"] else "a smaller GCP"
        yield f"* on the frontier: no other configuration has both less mean risk and {than}."
    told: dict[str, list[str]] = {}
    for config in configs:
        for text in [*config["notes"], *([config["problem"]] if config["problem"] else [])]:
            told.setdefault(text, []).append(config["name"])
    # of the same reason once, and of learning it was said above
    yield from (f"{'; '.join(names)}: {text}" for text, names in told.items())


def _figures_of(config: Figures) -> Sequence[str]:
    if config["problem"] is not None:
        return [""] * len(_COLUMNS)
    risk = config["risk"] or {"mean": None, "largest": None, "above": {}}
    bound = None if config["guarantee"] is None else f"≤{_percent(config['guarantee'], 1)}"
    memory = config.get("memory")
    return (
        _real(config["gcp"]),
        _real(config["arx"]),
        _real(config["entropy"]),
        _percent(config["suppressed"]),
        "-" if config["classes"] is None else f"{config['classes']:,}",
        _percent(risk["mean"]),
        bound or _percent(risk["largest"], 1),
        _percent(risk["above"].get("0.09"), 1),
        _percent(risk["above"].get("0.2"), 1),
        _percent(config["query_error"], 1),
        "-" if config.get("seconds") is None else f"{config['seconds']:.2f}",
        "-" if memory is None else f"{memory / 1e6:,.0f}",
    )


def _real(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(share: float | None, digits: int = 2) -> str:
    return "-" if share is None else f"{100 * share:.{digits}f}%"
