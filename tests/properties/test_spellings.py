"""Tables with random spellings of few values give the classes and figures of the same tables, cleaned."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import SudareError

VALUES = ("HIV", "Ménière's", "type 2", "7", None)
SPELLINGS = {
    "HIV": ["HIV", "hiv", " HIV", "HIV\u00a0", "H\u200bIV"],
    "Ménière's": ["Ménière's", "MÉNIÈRE’S", unicodedata.normalize("NFD", "Ménière's")],
    "type 2": ["type 2", "Type  2", "type\t2 "],
    "7": ["7", "7.0", "07", "7e0"],
    None: [None, "", "  "],
}
METHODS = ("top-down", "mondrian", "l-clustering", "three-phase", "full-domain", "tds")


@st.composite
def tables(draw):
    """A table, and the same with its sensitive values spelled in any way."""
    size = draw(st.integers(12, 40))
    clean = draw(st.lists(st.sampled_from(VALUES), min_size=size, max_size=size))
    ages = draw(st.lists(st.integers(20, 40), min_size=size, max_size=size))
    sex = draw(st.lists(st.sampled_from("fm"), min_size=size, max_size=size))
    spelled = [draw(st.sampled_from(SPELLINGS[value])) for value in clean]
    rest = {"age": ages, "sex": sex}
    return tuple(pa.table({**rest, "illness": pa.array(column, pa.string())}) for column in (clean, spelled))


def policy(method, *require, **about):
    return {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"bands": [5, 10]}},
            "sex": {"role": "quasi", "hierarchy": "flat"},
            "illness": {"role": "sensitive", **about},
        },
        "require": list(require),
        "method": {"name": method, **({"target": "sex"} if method == "tds" else {})},
    }


def made(table, wanted):
    try:
        return sudare.anonymize(table, wanted, seed=1)
    except SudareError as error:
        return str(error)


def told(release):
    certificate = release.certificate
    return rounded({key: certificate[key] for key in ("rows_out", "classes", "loss", "loss_by_column", "guarantees")})


def rounded(figure):
    """Sums in another order differ in their last digits."""
    if isinstance(figure, dict):
        return {key: rounded(value) for key, value in figure.items()}
    if isinstance(figure, list):
        return [rounded(value) for value in figure]
    return round(figure, 9) if isinstance(figure, float) else figure


def assert_same(clean, spelled, wanted, table):
    if isinstance(clean, str) or isinstance(spelled, str):
        assert clean == spelled
        return
    assert told(clean) == told(spelled)
    one, other = (
        Counter(zip(*(each.data.column(name).to_pylist() for name in ("age", "sex")), strict=True))
        for each in (clean, spelled)
    )
    assert one == other
    # what is released keeps its spelling, but for what is missing
    blank = Counter(cell if cell and cell.strip() else None for cell in table.column("illness").to_pylist())
    assert Counter(spelled.data.column("illness").to_pylist()) == blank
    report = sudare.audit(spelled.data, wanted)
    assert report.passed
    assert rounded(report.to_dict()["guarantees"]) == told(clean)["guarantees"]


@settings(max_examples=8, deadline=None)
@pytest.mark.parametrize("method", METHODS)
@given(both=tables())
def test_spellings_change_nothing_but_themselves(method, both):
    clean, spelled = both
    require = [{"model": "l-diversity", "l": 2, "column": "illness"}]
    if method == "tds":
        require.append({"model": "k-anonymity", "k": 2})
    wanted = policy(method, *require)
    wanted["columns"]["sex"]["role"] = "insensitive" if method == "tds" else "quasi"
    if method == "tds":
        del wanted["columns"]["sex"]["hierarchy"]
    assert_same(made(clean, wanted), made(spelled, wanted), wanted, spelled)


MODELS = [
    {"model": "l-diversity", "l": 1.3, "variant": "entropy", "column": "illness"},
    {"model": "l-diversity", "l": 2, "c": 3.0, "variant": "recursive", "column": "illness"},
    {"model": "t-closeness", "t": 0.5, "column": "illness"},
    {"model": "t-closeness", "t": 0.4, "column": "illness", "distance": "ordered"},
    {"model": "alpha-k-anonymity", "alpha": 0.6, "k": 2, "column": "illness"},
    {"model": "beta-likeness", "beta": 2.0, "column": "illness"},
    {"model": "delta-disclosure", "delta": 2.0, "column": "illness"},
]


@settings(max_examples=8, deadline=None)
@pytest.mark.parametrize("spec", MODELS, ids=[f"{spec['model']}-{number}" for number, spec in enumerate(MODELS)])
@given(both=tables())
def test_every_model_counts_spellings_as_the_audit_does(spec, both):
    clean, spelled = both
    wanted = policy("top-down", spec)
    assert_same(made(clean, wanted), made(spelled, wanted), wanted, spelled)


@settings(max_examples=8, deadline=None)
@given(both=tables())
def test_exact_counts_what_is_written(both):
    _, spelled = both
    wanted = policy("top-down", {"model": "l-diversity", "l": 2, "column": "illness"}, exact=True)
    release = made(spelled, wanted)
    if isinstance(release, str):
        assert len(set(spelled.column("illness").to_pylist())) < 2
        return
    assert release.certificate["spellings"] == {}
    values = {}
    for age, sex, illness in zip(*release.data.to_pydict().values(), strict=True):
        values.setdefault((age, sex), set()).add(illness)
    assert release.certificate["guarantees"][0]["achieved"] == min(map(len, values.values()))
    assert Counter(release.data.column("illness").to_pylist()) == Counter(spelled.column("illness").to_pylist())
