"""Microaggregation on the reference data of CASC: MDAV loses what is published, and our search loses less."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.methods.microaggregation.mdav import information_loss, mdav, standardized
from sudare.methods.microaggregation.record_groups import group_records

DATA = Path(__file__).parent / "casc"
SHAPES = {"tarragona": (834, 13), "census": (1080, 13), "eia": (4092, 10)}
SIZES = (3, 4, 5, 10)
PUBLISHED = {
    "tarragona": (16.93, 19.55, 22.46, 33.19),
    "census": (5.69, 7.49, 9.09, 14.16),
    "eia": (0.59, 0.81, 1.59, 3.27),
}
"""What MDAV loses for each k, in percent of the sum of squares."""


@pytest.fixture(scope="module")
def tables():
    return {name: standardized(np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)) for name in SHAPES}


def test_the_tables_are_those_of_the_literature(tables):
    assert {name: points.shape for name, points in tables.items()} == SHAPES


@pytest.mark.parametrize("name", PUBLISHED)
def test_mdav_loses_what_is_published(tables, name):
    points = tables[name]
    found = [round(information_loss(points, mdav(points, k)), 2) for k in SIZES]
    assert tuple(found) == PUBLISHED[name]


def test_the_search_loses_less_in_every_setting(tables):
    ratios = []
    for points in tables.values():
        for k in SIZES:
            groups = group_records(points, k)
            assert np.bincount(groups).min() >= k
            ratios.append(information_loss(points, groups) / information_loss(points, mdav(points, k)))
    assert max(ratios) < 0.95
    assert np.mean(ratios) < 0.78
