"""Top-down specialization for classification, with scores over the whole table.

Steps
    1. Every quasi-identifier has a tree: its hierarchy; everything and then each value, for a category without one; for
       a number a binary tree of intervals that grows as it is cut, each interval where that tells most about the class.
    2. The first cut holds the roots: all records show the same.
    3. A specialization replaces a node of the cut by its children, everywhere. It is *valid* if all requirements hold
       afterwards, each k-anonymity on its own columns; it is *beneficial* if the records of the node are not all of one
       class.
    4. ``table-info``: the valid and beneficial specialization is made that takes most off TableInfo = w ClassInfo +
       (1 - w) SplitInfo. ClassInfo is the doubt about the class that is left when the group of a record is known,
       SplitInfo that about the group, both in bits; all that are possible are scored anew after every step.
       Three older scores are about the records of the node alone. ``info-gain``: the greatest information gain.
       ``gain-ratio``: the greatest one by split information. ``anony-loss``: the greatest one by the records that
       the smallest group loses, in the mean over the sets of columns that requirements are about; where it loses none,
       the gain itself.
    5. This goes on until no specialization is valid and beneficial, also where the score falls below 0.
       ``stop: least`` then goes back to the cut on the way that had the least TableInfo, the first of equal ones.
    6. ``beam``: the ``width`` best cuts of each round go on instead of the best alone, each with its ``width`` best
       specializations; of the cuts that cannot be specialized further, the greedy one among them, that with the least
       TableInfo is taken. With ``stop: least``, all cuts on the way count.

Cost
    A step reads the atoms of the groups that show the node, once per attribute, and no others. A specialization that is
    not valid stays so, as the requirements are monotone: each is tested at most once before it is made or dropped.
    ``anony-loss`` reads the same atoms once more. ``stop: least`` makes the steps up to its cut twice. A beam costs
    about its width squared as much.

Guarantee
    All classes keep the requirements; no record is left out, whatever the policy allows. The result depends on the
    multiset of records alone; of equal scores the first quasi-identifier's is taken.

Deviations
    The printed formula of the split information gain has its sign reversed against the definition by difference; the
    difference is taken, which gives the paper's own figures. Missing numbers are cut off before the first threshold.

References
    The objective is that of a study that extends TDS and leaves its evaluation open; see docs/papers/classification.md.
    Fung, Wang, Yu: Top-down specialization for information and privacy preservation. ICDE 2005 (``anony-loss``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from sudare.core.errors import DataError, PolicyUnmetError, Problem, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.methods.class_counts import everybody, refuse_item_sets
from sudare.methods.tds.cuts import Candidate, Cut, Score
from sudare.metrics import Information, information
from sudare.models import Requirements
from sudare.table import Column, Partition, Table

MOST_CLASSES = 256
"""A class has a few values; with more than this it is a number, or a name."""
SAME = 1e-12
"""Information that differs by no more than this is equal: it is summed up in different orders."""


def tds(
    table: Table,
    requirements: Requirements,
    *,
    target: str | None = None,
    score: Score = "table-info",
    w: float = 0.98,
    stop: Literal["end", "least"] = "end",
    search: Literal["greedy", "beam"] = "greedy",
    width: int = 4,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Specialize from everything downwards, for the class ``target`` (see the module's description).

    ``w`` is the weight of the class information, ``stop`` says which cut on the way is taken. ``seed`` is there for the
    common signature: nothing is drawn.
    """
    del seed
    listener = progress or silent
    refuse_item_sets(table)
    chosen = checked_class(table.target, target)
    listener("prepare kernels", 0, 0)
    cut = Cut(table, requirements, float(w), score)
    unmet = requirements.unmet(everybody(table, requirements))
    if unmet:
        raise PolicyUnmetError(unmet)
    greedy, best = _searched(cut, width if search == "beam" else 0, stop == "least", listener)
    listener("decide", 1.0, 1.0)
    partition = best.partition()
    facts = _facts(best, information(partition.classes, chosen), chosen.name, w)
    if search == "beam":
        facts["greedy_table_info"] = round(greedy.information, 9)
    constant = [column.name for column in best.columns if column.size < 2]
    if constant:
        facts["notes"] = [
            f"quasi-identifier '{name}' has one value, and does not help predict the class" for name in constant
        ]
    return replace(partition, facts=facts)


def _searched(cut: Cut, width: int, least: bool, listener: Listener) -> tuple[Cut, Cut]:
    """Specialize a cut greedily; return the result, and the same or a better one that a beam of some width finds.

    Without a width there is no beam. With ``least``, cuts on the way count as results.
    """
    first = cut.copy() if width or least else cut
    greedy, furthest = first.copy() if least else cut, 0.0
    made: list[Candidate] = []
    lowest, needed = cut.information, 0
    for candidate in _greedily(cut):
        made.append(candidate)
        if cut.information < lowest - SAME:
            lowest, needed = cut.information, len(made)
        furthest = max(furthest, cut.steps / (cut.steps + len(cut.open) + 1) / (width + 1))
        listener("decide", furthest, 1.0)
    if least:
        for candidate in made[:needed]:  # nodes have the same numbers as before, for the steps are the same
            greedy.specialize(candidate)
    best = greedy
    for found, last in _beam(first, width) if width else ():
        if (last or least) and found.information < best.information - SAME:
            best = found
        furthest = max(furthest, found.steps / (found.steps + len(found.open) + 1))
        listener("decide", furthest, 1.0)
    return greedy, best


def _facts(cut: Cut, info: Information, target: str, w: float) -> dict[str, Any]:
    """Return what the certificate says of a cut."""
    return {
        "target": target,
        "w": w,
        "class_info": round(info.class_info, 9),
        "split_info": round(info.split_info, 9),
        "table_info": round(info.table_info(w), 9),
        "steps": cut.steps,
        "cut": {column.name: len(np.unique(tree.now)) for column, tree in zip(cut.columns, cut.trees, strict=True)},
    }


def _greedily(cut: Cut) -> Iterator[Candidate]:
    """Make the best valid specialization, until there is none; yields each when it is made."""
    while (candidate := _best(cut)) is not None:
        cut.specialize(candidate)
        yield candidate


def _best(cut: Cut) -> Candidate | None:
    """Return the best specialization that is valid; better ones that are not are dropped."""
    for candidate in cut.ranked():
        if cut.valid(candidate):
            return candidate
        cut.drop(candidate)
    return None


def _beam(first: Cut, width: int) -> Iterator[tuple[Cut, bool]]:
    """Let the best cuts of each round go on; yields each one, and whether it cannot be specialized further."""
    cuts = [first]
    while cuts:
        grown: dict[bytes, Cut] = {}
        for cut in cuts:
            valid: list[Candidate] = []
            for candidate in cut.ranked():
                if len(valid) == width:
                    break
                if cut.valid(candidate):
                    valid.append(candidate)
                else:
                    cut.drop(candidate)
            yield cut, not valid
            for candidate in valid:
                part = cut.copy()
                part.specialize(candidate)
                grown.setdefault(part.identity(), part)
        cuts = sorted(grown.values(), key=lambda cut: (round(cut.information, 12), cut.identity()))[:width]


def checked_class(target: Column | None, name: str | None) -> Column:
    """Return the class, or raise what keeps it from being one."""
    if target is None or target.name != name:
        raise UnsupportedError("this method needs a class to predict.", hint="name its column as method.target.")
    where = f"column '{target.name}'"
    missing = int(np.count_nonzero(target.codes == target.missing_code)) if target.missing else 0
    problems = []
    if missing:
        hint = "remove these records, or give them a value of their own."
        problems.append(Problem(where, f"is the class, but is missing in {missing:,} records.", hint))
    if len(target.values) < 2:
        problems.append(Problem(where, "is the class, but has only one value: there is nothing to predict."))
    if len(target.values) > MOST_CLASSES:
        what = f"is the class, but has {len(target.values):,} values; at most {MOST_CLASSES} are possible."
        problems.append(Problem(where, what, "put them into bands first."))
    if problems:
        raise DataError(problems)
    return target
