"""What every method that makes classes has to keep about sensitive item sets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from test_item_sets import baskets
from test_methods import OF_SETS, canonical, decide, keeps, members, patients, required, ways_of

from sudare.core.errors import PolicyUnmetError
from sudare.methods import METHODS
from sudare.table.encode import encode_sets

ABLE = [name for name, method in METHODS.items() if method.sensitive_sets]
WAYS = [
    (name, options)
    for name, options in ways_of(ABLE, OF_SETS)
    if options.get("sensitive") != "blind" and options.get("variant") != "reference"
]
every_way = pytest.mark.parametrize(
    ("name", "options"), WAYS, ids=["-".join((name, *map(str, options.values()))) for name, options in WAYS]
)
NAMES = [f"i{number}" for number in range(12)]
ROWS = 240


def people(rows=ROWS, order=None, seed=0):
    """The patients of the other suite, with sensitive sets; and the sets themselves."""
    cells = baskets(np.random.default_rng(seed + 5), NAMES, rows)
    places = range(rows) if order is None else order
    table = patients(rows, seed, None if order is None else tuple(order))
    cells = [cells[place] for place in places]
    told = encode_sets("told", pa.array(cells, pa.list_(pa.string())))
    return replace(table, sensitive={**table.sensitive, "told": told}), cells


def share(rows, cells, harmless=()) -> float:
    """What an attacker who knows the class believes of the likeliest item."""
    held = Counter(item for row in rows for item in set(cells[row] or ()) if item not in harmless)
    return max(held.values(), default=0) / len(rows)


SETTINGS = [
    ({"l": 2, "harmless": NAMES[:1]}, ()),
    ({"l": 3, "harmless": NAMES[:2]}, (("k-anonymity", {"k": 4}),)),
    ({"l": 2, "harmless": NAMES[:1]}, (("t-closeness", {"t": 0.4, "column": "illness"}),)),
]


@every_way
@pytest.mark.parametrize(("setting", "others"), SETTINGS, ids=["alone", "with-k", "with-t"])
def test_no_item_is_believed_above_one_in_l(name, options, setting, others):
    table, cells = people()
    asked = ("l-diversity", {"column": "told", "variant": "frequency", **setting})
    partition = decide(name, options, table, required(asked, *others))
    classes = members(partition)
    assert sum(map(len, classes.values())) == table.rows
    for rows in classes.values():
        assert len(rows) >= setting["l"]
        assert share(rows, cells, setting["harmless"]) <= 1 / setting["l"] + 1e-12
    assert all(keeps(model, given, table, partition) for model, given in others)
    if name in ("top-down", "mondrian", "l-clustering") and len(others) == 0:
        assert len(classes) > 4  # which is not kept by doing nothing


@every_way
def test_the_order_of_records_makes_no_difference(name, options):
    order = np.random.default_rng(3).permutation(ROWS).tolist()
    asked = required(
        ("l-diversity", {"l": 2, "column": "told", "variant": "frequency", "harmless": NAMES[:1]}),
        ("k-anonymity", {"k": 3}),
    )
    first = decide(name, options, people()[0], asked)
    second = decide(name, options, people(order=order)[0], asked)
    assert canonical(first) == canonical(second, order)


@pytest.mark.parametrize("name", ABLE)
def test_an_item_that_too_many_hold_is_refused_and_not_named(name):
    table, _ = people()
    with pytest.raises(PolicyUnmetError) as error:
        decide(name, {}, table, required(("l-diversity", {"l": 9, "column": "told", "variant": "frequency"})))
    assert "largest l possible is 2" in str(error.value) or "no l is possible" in str(error.value)
    assert not any(item in str(error.value) for item in NAMES)


def test_suppression_keeps_it_among_what_is_left():
    table, cells = people()
    asked = required(
        ("l-diversity", {"l": 2, "column": "told", "variant": "frequency", "harmless": NAMES[:1]}),
        ("k-anonymity", {"k": 4}),
        limit=0.2,
    )
    for name in ("top-down", "full-domain"):
        partition = decide(name, {}, table, asked)
        for rows in members(partition).values():
            assert share(rows, cells, NAMES[:1]) <= 0.5
