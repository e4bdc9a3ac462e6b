"""What the figures of ``keep_qid.py`` say, and whether what was said beforehand came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from keep_qid_queries import LARGE, OTHERS
from page_parts import Figures

OURS, PAPER, EARLY = "em-shrunk", "bayes, converged", "bayes, eps 1"
METHODS = ("dummies", *OTHERS)
PROMISE = ("anatomy", "mondrian", "three-phase")
"""Methods that promise the same as dummies: no value has more than 1/l of a group."""
CLAIMED, NEVER = 0.8, 1.05
"""What the error of our estimator shall be by that of the paper's at most, on the census table and on every Adult."""
CLAIMED_GS = ("1", "2", "3", "4")
KINDS = {"mse": "all cells", "large": f"cells of {LARGE} and more records"}


# What the figures say


class Claim(NamedTuple):
    """Something that was said beforehand, whether it came out, and the numbers."""

    said: str
    holds: bool
    found: str


def possible(adult: Figures) -> dict[str, dict[int, int]]:
    """Count, for each method and each l, the columns of Adult that could be the sensitive one."""
    counts = {way: dict.fromkeys(adult["ls"], 0) for way in METHODS}
    for by_l in adult["grid"].values():
        for diverse, one in by_l.items():
            for way in one["possible"]:
                counts[way][int(diverse)] += 1
    return counts


def shared(adult: Figures) -> dict[tuple[str, str], Figures]:
    """Return the figures of those columns and l that all methods can do."""
    return {
        (name, diverse): one
        for name, by_l in adult["grid"].items()
        for diverse, one in by_l.items()
        if set(one["possible"]) == set(METHODS)
    }


def better(
    one: Figures, kind: str = "mse", way: str = OURS, *, own: bool = False, others: Sequence[str] = OTHERS
) -> list[str]:
    """Return the methods that have no more error than dummies in a setting.

    With ``own``, methods that generalize count with the better of their two errors: by the records that a cell has, and
    by those that it is estimated to have.
    """
    also = one[{"mse": "own", "large": "own large"}[kind]] if own else {}
    return [other for other in others if min(one[kind].get(other, np.inf), also.get(other, np.inf)) <= one[kind][way]]


def lowest(
    figures: Iterable[Figures],
    kind: str = "mse",
    way: str = OURS,
    *,
    own: bool = False,
    others: Sequence[str] = OTHERS,
) -> tuple[int, int]:
    """Count the settings in which dummies have the least error of all methods, or of some, and all settings."""
    counted = [better(one, kind, way, own=own, others=others) for one in figures if one[kind]]
    return counted.count([]), len(counted)


def ahead(settings: Mapping[str, Figures], way: str, others: Sequence[str] = OTHERS) -> str:
    """Tell which methods have no more error than dummies, and where."""
    found: dict[str, list[str]] = {}
    for words, one in settings.items():
        for other in better(one, "mse", way, others=others):
            found.setdefault(other, []).append(words)
    told = "; ".join(f"{other} has as little or less for {_shortened(where)}" for other, where in found.items())
    return f" ({told})" if told else ""


def _shortened(where: Sequence[str], most: int = 6) -> str:
    listed = ", ".join(where[:most])
    return listed if len(where) <= most else f"{listed} and {len(where) - most} more"


NEARLY = 0.9
"""The share of settings that is nearly all of them."""
NOISE, CLEAR = 1.15, 1.5
"""By how much a step may go against a trend by chance, and how far apart its ends have to be."""


def rises(errors: Sequence[float]) -> bool:
    """Return whether errors grow: the last is clearly above the first, and no step falls by more than chance."""
    steps = all(after * NOISE >= before for before, after in pairwise(errors))
    return steps and errors[-1] >= CLEAR * errors[0]


def sinks(errors: Sequence[float]) -> bool:
    """Return whether errors fall."""
    return rises(list(reversed(errors)))


def predicate_settings(predicates: Figures) -> Iterator[tuple[str, Figures]]:
    """Yield each setting of queries of one predicate on the census table once, with its name."""
    for name in ("OCC", "SAL"):
        if name not in predicates:
            continue
        found = predicates[name]
        for d, by_g in found["grid"].items():
            for g, one in by_g.items():
                yield f"{name}-{d} with g = {g}", one
        usual = [one for by_g in found["grid"].values() for one in by_g.values()]
        for key in ("l", "s"):
            for setting, one in ordered(found[key]).items():
                if one not in usual:
                    yield f"{name} with {key} = {setting}", one


def ordered(by_setting: Figures) -> dict[str, Figures]:
    """Return figures in the order of their settings: a run that was resumed may have kept them in another."""
    return dict(sorted(by_setting.items(), key=lambda item: float(item[0])))


def ratio(one: Figures, kind: str = "mse", above: str = OURS, below: str = PAPER) -> float:
    """Return the error of one estimator by that of another; 1 if both are 0, as where nothing can be learnt."""
    first, second = one[kind].get(above, 0.0), one[kind].get(below, 0.0)
    return float(first / second) if second > 0 else 1.0


def of_set(adult: Figures, name: str) -> float:
    """Return the error of our estimator by that of the paper's, in the mean over all l, for a sensitive column."""
    every = list(adult["grid"][name].values())
    sums = {way: sum(one["mse"][way] for one in every) for way in (OURS, PAPER)}
    return ratio({"mse": sums})


def mixed(census: Figures, kind: str) -> float:
    """Return the error of our estimator by that of the paper's, both in the mean over the claimed g."""
    every = [census["g"][g] for g in CLAIMED_GS if g in census["g"] and census["g"][g][kind]]
    sums = {way: sum(one[kind][way] for one in every) for way in (OURS, PAPER)}
    return ratio({"mse": sums})


def claims(kept: Figures) -> list[Claim]:
    """Return what was said beforehand, and what came out."""
    adult, found = kept["adult"], []
    pairs = {way: sum(by_l.values()) for way, by_l in possible(adult).items()}
    others = max(count for way, count in pairs.items() if way in ("anatomy", "mondrian", "three-phase"))
    found.append(
        Claim(
            "dummies can anonymize more of Adult than the others at the same promise",
            pairs["dummies"] > others,
            f"{pairs['dummies']} against {others} at most, of {len(adult['sets']) * len(adult['ls'])} pairs",
        )
    )
    if "OCC" in kept["predicates"]:
        found += _predicate_claims(kept["predicates"])
    if "census" in kept:
        found += _census_claims(kept["census"])
    by_set = {name: ratio(one) for name, one in adult["headline"].items()}
    worst = max(by_set, key=lambda name: by_set[name])
    found.append(
        Claim(
            f"cells: our estimator is never above {NEVER} times the paper's on an Adult set, at one l",
            by_set[worst] <= NEVER,
            f"{by_set[worst]:.3f} times at most ({worst}), {np.median(list(by_set.values())):.2f} in the median",
        )
    )
    means = {name: of_set(adult, name) for name in adult["grid"]}
    worst = max(means, key=lambda name: means[name])
    found.append(
        Claim(
            f"cells: our estimator is never above {NEVER} times the paper's on an Adult set, over all l",
            means[worst] <= NEVER,
            f"{means[worst]:.3f} times at most ({worst}), {np.median(list(means.values())):.2f} in the median",
        )
    )
    return found


def _predicate_claims(predicates: Figures) -> list[Claim]:
    found = []
    for name in ("OCC", "SAL"):
        for key, said, test in (("s", "falls as s grows", sinks), ("l", "grows with l", rises)):
            errors = [one["mse"][EARLY] for one in ordered(predicates[name][key]).values()]
            told = f"from {errors[0]:.2g} to {errors[-1]:.2g}"
            found.append(
                Claim(f"one predicate, {name}-5: the error of the paper's estimator {said}", test(errors), told)
            )
    every = dict(predicate_settings(predicates))
    for name in ("OCC", "SAL"):
        own = {words: one for words, one in every.items() if words.startswith(name)}
        for way in (EARLY, OURS):
            won, settings = lowest(own.values(), way=way, others=PROMISE)
            said = f"one predicate, {name}: {way} has the least error at the same promise, in nearly all settings"
            found.append(Claim(said, won >= NEARLY * settings, f"in {won} of {settings}{ahead(own, way, PROMISE)}"))
    own = predicates["SAL, copies"]["default"]
    said = "one predicate, SAL with as many records as in the paper: dummies have less error than anatomy"
    told = f"{own['mse'][EARLY]:.2g} (eps 1) and {own['mse'][OURS]:.2g} (ours) against {own['mse']['anatomy']:.2g}"
    found.append(Claim(said, max(own["mse"][EARLY], own["mse"][OURS]) < own["mse"]["anatomy"], told))
    ten = sum(
        min((one["mse"][other] for other in PROMISE if other != "anatomy" and other in one["mse"]), default=np.inf)
        >= 10 * one["mse"][EARLY]
        for one in every.values()
    )
    said = "one predicate: often by an order of magnitude or more, against methods that generalize"
    found.append(Claim(said, ten > len(every) / 2, f"in {ten} of {len(every)}"))
    worst = max(ratio(one) for one in every.values())
    said = f"one predicate: our estimator has at most {CLAIMED} times the error of the paper's, census"
    found.append(Claim(said, worst <= CLAIMED, f"{worst:.2f} times at most"))
    return found


def _census_claims(census: Figures) -> list[Claim]:
    gs = [one for g, one in census["g"].items() if g in CLAIMED_GS]
    found = []
    for kind, words in KINDS.items():
        won, settings = lowest(gs, kind)
        fair, _ = lowest(gs, kind, own=True)
        others = sorted({other for one in gs if one[kind] for other in better(one, kind, own=True)})
        rest = f" (else {' or '.join(others)} has as little or less)" if others else ""
        said = f"cells: dummies have the least error of the four methods at g = 1 to 4, census, {words}"
        told = f"in {won} of {settings}; in {fair} if methods that generalize are divided by estimated records{rest}"
        found.append(Claim(said, 0 < settings == won, told))
    for words, share in (
        ("the paper's default", ratio(census["headline"], "large")),
        ("the mean of g = 1 to 4", mixed(census, "large")),
    ):
        said = f"cells: our estimator has at most {CLAIMED} times the error of the paper's, {KINDS['large']}, {words}"
        found.append(Claim(said, share <= CLAIMED, f"{share:.2f} times"))
    return found
