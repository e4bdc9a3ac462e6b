"""Recoding items for k^m-anonymity, worked out by hand, decision by decision; k = 2 and m = 2 throughout.

The method is that of Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (PVLDB 2008),
with hiding. The price of a step is the loss it adds, by the rare combinations it removes.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from sudare.hierarchies import build
from sudare.methods.lattice.apriori_items import HIDDEN, cut_items
from sudare.policy import HierarchySpec
from sudare.table import ItemSets, encode_items

PAIRED = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
"""Each inner node covers 2 of 4 leaves: an item shown as A loses 1/2."""

FOUR = {**PAIRED, "C": ["c1", "c2"], "D": ["d1", "d2"]}
"""Each inner node covers 2 of 8 leaves: an item shown as A loses 1/4."""


def encoded(records: list[str], tree=None) -> ItemSets:
    sets = encode_items("drugs", pa.array([record.split() for record in records], pa.list_(pa.string())))
    if tree is None:
        return sets
    hierarchy = build(HierarchySpec.model_validate({"tree": tree}), sets.values, folder=Path(), column="drugs")
    return sets.reordered(*hierarchy.taxonomy(sets.values, sets.missing))


def names(sets: ItemSets, nodes) -> dict[str, str | None]:
    labels = sets.values.to_pylist() if sets.taxonomy is None else sets.taxonomy.labels
    shown = [None if node == HIDDEN else labels[node] for node in nodes]
    return dict(zip(sets.values.to_pylist(), shown, strict=True))


def shown_sets(sets: ItemSets, nodes) -> tuple[np.ndarray, np.ndarray]:
    """The sets as shown: set ``i`` holds ``flat[offsets[i]:offsets[i + 1]]``, ascending, without what is hidden."""
    lists = [sorted({*nodes[sets.items[a:b]].tolist()} - {HIDDEN}) for a, b in pairwise(sets.offsets)]
    return np.cumsum([0, *map(len, lists)]), np.array([node for each in lists for node in each], dtype=np.int64)


def loss(sets: ItemSets, nodes) -> float:
    share = np.zeros(sets.size) if sets.taxonomy is None else sets.taxonomy.share
    each = np.where(nodes == HIDDEN, 1.0, share[nodes])
    return float(each[sets.items].sum())


def test_the_item_in_most_rare_pairs_per_occurrence_is_hidden():
    # d occurs once and is hidden. a, b and c occur 3 times each. Pairs: ab 2, ac 1, bc 1.
    # Prices: a 3/1, b 3/1, c 3/2. Without c nothing is rare.
    sets = encoded(["a b", "a b", "a c", "b c", "c", "d"])
    nodes = cut_items(sets, 2, 2)
    assert names(sets, nodes) == {"a": "a", "b": "b", "c": None, "d": None}
    assert loss(sets, nodes) == 4
    offsets, shown = shown_sets(sets, nodes)
    assert offsets.tolist() == [0, 2, 4, 5, 6, 6, 6]
    assert shown.tolist() == [0, 1, 0, 1, 0, 1]


def test_what_was_hidden_in_vain_is_shown_again():
    # Rare pairs: xa, xb, ap, bq. Occurrences: x 2, a 3, b 3, p 4, q 4.
    # Prices: x 2/2, a 3/2, b 3/2, p 4/1, q 4/1: x is hidden. Left are ap and bq: a 3/1, p 4/1, and b 3/1, q 4/1:
    # a is hidden, and b. Now x stands with nobody, occurs twice, and can be shown.
    sets = encoded(["x a", "x b", "a p", "b q", "a", "b", "p", "p", "p", "q", "q", "q"])
    shown = names(sets, cut_items(sets, 2, 2))
    assert shown == {"a": None, "b": None, "p": "p", "q": "q", "x": "x"}


def test_items_that_stand_with_the_same_others_become_one():
    # Rare pairs: a1b1, a2b1, a1c1, a2c1. Every item occurs twice and stands in two of them: to hide one costs 2/2.
    # A loses 1/4 in each of 4 occurrences and leaves Ab1 and Ac1, twice each: 1/4.
    # B removes a1b1 and a2b1 but makes a1B and a2B, which are as rare: no gain, as with C.
    sets = encoded(["a1 b1", "a2 b1", "a1 c1", "a2 c1"], FOUR)
    nodes = cut_items(sets, 2, 2)
    assert names(sets, nodes) == {"a1": "A", "a2": "A", "b1": "b1", "c1": "c1"}
    assert loss(sets, nodes) == 1
    offsets, shown = shown_sets(sets, nodes)
    labels = [[sets.taxonomy.labels[n] for n in shown[a:b]] for a, b in pairwise(offsets)]
    assert labels == [["A", "b1"], ["A", "b1"], ["A", "c1"], ["A", "c1"]]


def test_hiding_one_item_may_be_cheaper_than_generalizing_two():
    # Rare pairs: a1b1 and a1a2. To hide a1 costs 2/2. A loses 1/2 in each of 5 occurrences: 2.5/2. Who does not hide
    # takes A; with it the pairs Ab1 and Ab2 occur three times, b1b2 twice, and 2.5 are lost instead of 2.
    sets = encoded(["a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2"], PAIRED)
    nodes = cut_items(sets, 2, 2)
    assert names(sets, nodes) == {"a1": None, "a2": "a2", "b1": "b1", "b2": "b2"}
    assert loss(sets, nodes) == 2
    general = sets.taxonomy.path[:, -1].astype(np.int64)
    general[:2] = sets.taxonomy.labels.index("A")
    assert loss(sets, general) == 2.5
    offsets, shown = shown_sets(sets, general)
    pairs = Counter(c for a, b in pairwise(offsets) for size in (1, 2) for c in combinations(shown[a:b], size))
    assert min(pairs.values()) == 2


def test_rare_items_alone_become_one():
    # Size 1: a1 and a2 occur once each and are rare. To hide one costs 1/1. A loses 1/4 twice and removes both: 1/4.
    sets = encoded(["a1", "a2", "b1", "b1"], FOUR)
    assert names(sets, cut_items(sets, 2, 1)) == {"a1": "A", "a2": "A", "b1": "b1"}


def test_a_rare_item_is_hidden_where_that_is_cheaper():
    # Size 1: a2 occurs once. To hide it costs 1/1. A loses 1/2 in 5 occurrences: 2.5/1. So a2 is hidden.
    # Size 2: no pair of shown items is rare.
    sets = encoded(["a1 b1", "a1 b1", "a1", "a1", "a2"], PAIRED)
    assert names(sets, cut_items(sets, 2, 2)) == {"a1": "a1", "a2": None, "b1": "b1"}


def test_a_node_takes_in_what_was_hidden_below_it():
    # Size 1: a2 occurs once. To hide it costs 1/1. A loses 1/4 in 5 occurrences: 1.25/1. So a2 is hidden.
    # Size 2: a1b1 is rare. To hide a1 costs 4/1, b1 2/1. A loses 1.25 less the 1 that was lost with a2: 0.25/1. With it
    # a2 is shown, too, and Ab1 occurs twice.
    sets = encoded(["a1 b1", "a2 b1", "a1", "a1", "a1"], FOUR)
    nodes = cut_items(sets, 2, 2)
    assert names(sets, nodes) == {"a1": "A", "a2": "A", "b1": "b1"}
    assert loss(sets, nodes) == 1.25
