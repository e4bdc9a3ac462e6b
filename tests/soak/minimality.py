"""Whether knowing the method tells who has which sensitive value (the minimality attack), by enumeration.

The intruder knows the method, the policy and everybody's quasi-identifiers, and sees the release. All assignments of
the sensitive values to the records, *worlds*, are equally likely before. The method is run in each of them. The worlds
that end in the same release, as an outsider sees it, are those that the intruder is left with; where the method draws,
each counts with the probability of the release in it. What is believed of a person is the share of these worlds.

Mostly the policy limits the share of any value in a class to 1/l, so that whoever takes classes as they are believes
1/l at most. A case is one method on one table, and tells how far it is off in its worst release. Methods that look at
sensitive values promise no more than classes show; ``sensitive: blind`` promises a bound, and breaks it or not. With
slack it hardly ever splits tables as small as these under that policy, so that it is tried with distinct l-diversity.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from sudare.methods import METHODS
from sudare.methods.topdown import blind_splits
from sudare.pipeline.request import requirements_of
from sudare.policy import Policy
from sudare.releases import Layout, render
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import read
from sudare.table import Partition, Table

TITLE = "how certain an intruder who knows the method can be of a value, over all possible assignments of the values"
TABLES = 60


@dataclass(frozen=True)
class Way:
    """A method with its options; ``slack`` is by how much it may raise beliefs, None if it promises nothing."""

    name: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    slack: Fraction | None = None


WAYS = [
    Way("top-down", "top-down"),
    Way("mondrian", "mondrian"),
    Way("mondrian, polished", "mondrian", {"polish": True}),
    Way("l-clustering", "l-clustering"),
    Way("three-phase", "three-phase"),
    Way("full-domain", "full-domain"),
    Way("tds", "tds", {"target": "ill"}),
    Way("top-down, blind, slack 0", "top-down", {"sensitive": "blind", "slack": 0}, Fraction(0)),
    Way("mondrian, blind, slack 0", "mondrian", {"sensitive": "blind", "slack": 0}, Fraction(0)),
    Way("top-down, blind, slack 1/4", "top-down", {"sensitive": "blind", "slack": 0.25}, Fraction(1, 4)),
    Way("mondrian, blind, slack 1/4", "mondrian", {"sensitive": "blind", "slack": 0.25}, Fraction(1, 4)),
]
FULL = TABLES * len(WAYS)
REDUCED = len(WAYS) + 2
"""Not a multiple of the ways, so that cases that are spread over all of them are of all of them."""


@dataclass(frozen=True)
class Worst:
    """The largest belief about anybody, and the most that one is above what the class shows."""

    belief: Fraction
    above_share: Fraction


def case(number: int) -> str:
    """Attack one table, made by one method."""
    way, table = WAYS[number % len(WAYS)], number // len(WAYS)
    people = population(table, way)
    found = worst(way, people)
    if way.slack is not None:
        told = f"{way.name} on table {table}: {float(found.above_share):.3f} more is believed than the class shows"
        assert found.above_share <= way.slack, told
        return f"{way.name}: {'within its slack' if found.above_share > 0 else 'nothing revealed'}"
    if found.belief == 1:
        return f"{way.name}: certain"
    return f"{way.name}: {'above 1/l' if found.belief > Fraction(1, people.l) else '1/l at most'}"


@dataclass(frozen=True)
class Population:
    """Quasi-identifiers of some people, the sensitive values that they have in some order, and l."""

    rows: dict[str, list[Any]]
    values: list[str]
    l: int  # noqa: E741 - the literature's letter


def population(number: int, way: Way) -> Population:
    """Return a small table, which depends on its number alone; everybody's values together keep 1/l."""
    rng = np.random.default_rng(number)
    if way.slack:
        # classes that show the same would be one to an outsider, who then knows the share in each of them no more
        ages = rng.choice(np.arange(20, 60), 8 + number % 2, replace=False).tolist()
        values = list("aaaaaabbbbbb"[6 - len(ages) // 2 :][: len(ages)])
        return Population({"age": ages}, values, 2)
    size = int(rng.integers(6, 8))
    rows: dict[str, list[Any]] = {"age": rng.integers(20, 30, size).tolist()}
    if rng.random() < 0.5:
        rows["job"] = rng.choice(["cook", "judge", "nurse"], size).tolist()
    # two kinds of values, or three; with l = 3 these are equally frequent
    kinds = {6: [(3, 3), (3, 2, 1), (2, 2, 2), (2, 2, 2)], 7: [(3, 3, 1), (3, 2, 2)]}[size]
    choice = int(rng.integers(len(kinds)))
    values = [name for name, times in zip("abc", kinds[choice], strict=False) for _ in range(times)]
    return Population(rows, values, 3 if size == 6 and choice == 3 else 2)


def rules(way: Way, people: Population) -> dict[str, Any]:
    """Return the policy of a release."""
    roles: dict[str, Any] = {name: {"role": "quasi"} for name in people.rows}
    if way.method in ("full-domain", "tds"):
        roles["age"]["hierarchy"] = {"bands": [2, 6]}
        if "job" in roles:
            roles["job"]["hierarchy"] = {"tree": {"court": ["judge"], "house": ["cook", "nurse"]}}
    required: list[dict[str, Any]] = [{"model": "l-diversity", "l": people.l, "column": "ill"}]
    if not way.slack:
        required.append({"model": "alpha-k-anonymity", "alpha": 1 / people.l + 1e-6, "k": 2, "column": "ill"})
    return {
        "columns": roles | {"ill": {"role": "sensitive"}},
        "require": required,
        "method": {"name": way.method, **way.options},
    }


def worlds(values: list[str]) -> Iterator[tuple[int, ...]]:
    """Give all different orders of the values, as codes: where the first two kinds stand, the others are the rest."""
    places = range(len(values))
    for zeros in combinations(places, values.count("a")):
        for ones in combinations([place for place in places if place not in zeros], values.count("b")):
            yield tuple(0 if place in zeros else 1 if place in ones else 2 for place in places)


def worst(way: Way, people: Population) -> Worst:
    """Return the worst over all releases that can be made of this table."""
    policy = Policy.parse(rules(way, people), methods=METHODS)
    data = pa.table(people.rows | {"ill": people.values})
    source, _ = read(data, policy)
    table, requirements = encode(source, policy), requirements_of(policy)
    decide = METHODS[way.method].load()
    weight: dict[Any, Fraction] = defaultdict(Fraction)
    having: dict[Any, Fraction] = defaultdict(Fraction)
    cells: dict[bytes, list[Any]] = {}
    places: dict[Any, list[Any]] = {}
    for world in worlds(people.values):
        placed = settled(table, world)
        for partition, chance in outcomes(lambda own=placed: decide(own, requirements, **way.options), way.slack):
            key = partition.classes.tobytes()
            if key not in cells:
                cells[key] = shown(placed, partition)
            # as an outsider sees it: rows in no order
            seen = tuple(sorted((cells[key][person], code) for person, code in enumerate(world)))
            places[seen] = cells[key]
            weight[seen] += chance
            for person, code in enumerate(world):
                having[seen, person, code] += chance
    beliefs = {key: found / weight[key[0]] for key, found in having.items()}
    above = (belief - share(seen, places[seen][person], code) for (seen, person, code), belief in beliefs.items())
    return Worst(max(beliefs.values()), max(above))


def share(seen: tuple[Any, ...], cell: Any, code: int) -> Fraction:
    """Return the share of a value among the rows that look alike."""
    alike = [own for shown, own in seen if shown == cell]
    return Fraction(alike.count(code), len(alike))


def settled(table: Table, world: tuple[int, ...]) -> Table:
    """Return the table in which the values are so."""
    column = replace(table.sensitive["ill"], codes=np.array(world, dtype=table.sensitive["ill"].codes.dtype))
    target = None if table.target is None else column
    return replace(table, sensitive={"ill": column}, target=target)


def outcomes(decide: Any, slack: Fraction | None) -> Iterator[tuple[Partition, Fraction]]:
    """Give what a method may decide, each with its probability: all ways that its coins may fall."""
    if not slack:
        yield decide(), Fraction(1)
        return
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        fallen = waiting.pop()
        tossed: list[bool] = []
        chances: list[Fraction] = []

        def toss(secret: Any, clusters: Any, against: Any, fallen: Any = fallen, tossed: Any = tossed) -> Any:
            del secret
            for each in against.tolist():
                tossed.append(fallen[len(tossed)] if len(tossed) < len(fallen) else False)
                chances.append(Fraction(1 - Fraction(each) if tossed[-1] else Fraction(each)))  # noqa: B023
            return np.array(tossed[len(tossed) - len(clusters) :], dtype=np.bool_)

        with mock.patch.object(blind_splits, "allowed", toss):
            partition = decide()
        # every coin beyond the given ones fell against a split; each of them may fall the other way
        waiting += [(*tossed[:place], True) for place in range(len(fallen), len(tossed))]
        yield partition, math.prod(chances, start=Fraction(1))


def shown(table: Table, partition: Partition) -> list[tuple[str, ...]]:
    """Return what each record shows of its quasi-identifiers."""
    carried = pa.table({"number": pa.array(np.arange(table.rows))})
    rows, _ = render(replace(table, carried=carried), partition, Layout([*table.quasi, "number"]), seed=0)
    lines = [row for batch in rows.batches() for row in batch.to_pylist()]
    assert len(lines) == table.rows  # nobody is left out here
    return [tuple(str(row[name]) for name in table.quasi) for row in sorted(lines, key=lambda row: row["number"])]
