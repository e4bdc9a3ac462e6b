"""A comparison as text: a table of what classifiers learn, and one of all other figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.comparisons.classifiers import CLASSIFIERS

_HEADS = ("tree", "logistic", "boosting")
_COLUMNS = (
    ("GCP", 6), ("ARX", 6), ("entropy", 8), ("left out", 9), ("classes", 8), ("mean risk", 10), ("largest", 8),
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
    accuracy, area = "".join(f"{name:>11}" for name in _HEADS), "".join(f"{name:>9}" for name in _HEADS)
    wide = _width(outcomes)
    yield f"{'':{wide}}  {'accuracy, %':>{len(accuracy)}}{'AUC':>{len(area)}}"
    yield f"{'method':{wide}}  {accuracy}{area}  {'records':>8}  {'class info':>10}  {'GCP':>5}"
    yield from (_outcome(outcome, wide) for outcome in outcomes)
    yield ""
    yield "± is the standard error over the folds. Class info: bits of doubt left within groups."
    yield from (f"{outcome['name']}: {outcome['problem']}" for outcome in outcomes if outcome["problem"])


def _outcome(outcome: Figures, wide: int) -> str:
    if outcome["problem"] is not None:
        return f"{outcome['name']:{wide}}  {'no release':>11}"
    scores = [outcome["scores"][name] for name in CLASSIFIERS]
    accuracy = "".join(f"{_with_error(score['accuracy'], score['accuracy_error']):>11}" for score in scores)
    area = "".join(f"{'-' if score['auc'] is None else format(score['auc'], '.3f'):>9}" for score in scores)
    return (
        f"{outcome['name']:{wide}}  {accuracy}{area}  {outcome['records'] or 0:>8,.0f}  "
        f"{outcome['class_info'] or 0:>10.3f}  {outcome['gcp'] or 0:>5.3f}"
    )


def _with_error(share: float, error: float | None) -> str:
    return f"{100 * share:.1f}" + ("" if error is None else f" ±{100 * error:.1f}")


def _measured(found: Figures) -> Iterator[str]:
    """A line per way: what its release loses, how exposed people are in it, how wrong queries are, what it costs."""
    ways = found["ways"]
    asked = f" {found['queries']} queries." if found["queries"] else ""
    yield f"{found['records']:,} records, {len(ways)} {'way' if len(ways) == 1 else 'ways'}.{asked}"
    if not ways:
        return
    wide = _width(ways)
    yield f"{'way':{wide}}  " + "".join(f"{head:>{room}}" for head, room in _COLUMNS)
    for way in ways:
        yield f"{way['name']:{wide}}{' *' if way['frontier'] else '  '}{_way(way)}"
    yield ""
    if any(way["frontier"] for way in ways):
        than = "smaller query errors" if found["queries"] else "a smaller GCP"
        yield f"* on the frontier: no other way has both less mean risk and {than}."
    told: dict[str, list[str]] = {}
    for way in ways:
        for text in [*way["notes"], *([way["problem"]] if way["problem"] else [])]:
            told.setdefault(text, []).append(way["name"])
    # of the same reason once, and of learning it was said above
    yield from (f"{'; '.join(names)}: {text}" for text, names in told.items())


def _way(way: Figures) -> str:
    if way["problem"] is not None:
        return f"{'no release':>13}"
    risk = way["risk"] or {"mean": None, "largest": None, "above": {}}
    bound = None if way["guarantee"] is None else f"≤{_percent(way['guarantee'], 1)}"
    memory = way.get("memory")
    cells = (
        _real(way["gcp"]),
        _real(way["arx"]),
        _real(way["entropy"]),
        _percent(way["suppressed"]),
        "-" if way["classes"] is None else f"{way['classes']:,}",
        _percent(risk["mean"]),
        bound or _percent(risk["largest"], 1),
        _percent(risk["above"].get("0.09"), 1),
        _percent(risk["above"].get("0.2"), 1),
        _percent(way["query_error"], 1),
        "-" if way.get("seconds") is None else f"{way['seconds']:.2f}",
        "-" if memory is None else f"{memory / 1e6:,.0f}",
    )
    return "".join(f"{cell:>{room}}" for cell, (_, room) in zip(cells, _COLUMNS, strict=True))


def _width(lines: Sequence[Figures]) -> int:
    return max((len(line["name"]) for line in lines), default=3)


def _real(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(share: float | None, digits: int = 2) -> str:
    return "-" if share is None else f"{100 * share:.{digits}f}%"
