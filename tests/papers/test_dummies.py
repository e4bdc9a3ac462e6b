"""Dummies: sets that hold the truth, people who show one set, what is told, and what is refused."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError, ParameterError, PolicyUnmetError, UnsupportedError
from sudare.core.randomness import Entropy
from sudare.kernels.random_cells import log_factors
from sudare.methods.hiding.dummies import dummies
from sudare.methods.random_columns import CodeDraw, SetDraw
from sudare.models import KAnonymity, LDiversity, Requirements, TCloseness
from sudare.table import Draw, Table, encode_column, encode_items

ILLNESS = ["flu", "cold", "sty", "ulcer", "fever", "cut"]


def column(name, cells, kind="categorical"):
    return encode_column(name, pa.array(cells), kind=kind)


def as_table(cells, people=None, **more) -> Table:
    quasi = {"age": column("age", list(range(len(cells))), "numeric")}
    sensitive = {"ill": column("ill", cells)} | {name: column(name, other) for name, other in more.items()}
    subject = None if people is None else column("who", people)
    return Table(len(cells), quasi, sensitive, subject)


def asked(l, name="ill", *more):  # noqa: E741 - the literature's letter
    return Requirements((LDiversity(l, name), *more))


def everything(draw):
    return draw.cells(np.arange(len(draw.column)))


def check_lines(draw, lines):
    codes = draw.column.codes
    assert lines.shape == (len(codes), draw.width)
    assert (lines[:, 1:] > lines[:, :-1]).all()
    assert (lines < draw.column.size).all()
    assert (lines == codes[:, None]).any(axis=1).all()


def test_sets_hold_the_truth_and_others():
    table = as_table(ILLNESS * 50 + [None] * 5)
    for options in ({}, {"frequencies": "observed"}):
        made = dummies(table, asked(3), **options)
        [draw] = made.draws.values()
        accepted: Draw = draw
        assert accepted.column is table.sensitive["ill"]
        assert draw.width == 3
        check_lines(draw, everything(draw))


def test_what_is_told():
    table = as_table(["a", "b", "b", None])
    made = dummies(table, asked(2))
    assert made.facts == {
        "columns": {"ill": {"l": 2, "values": ["a", "b", None], "frequencies": "uniform"}},
        "randomness": "the operating system's",
    }
    made = dummies(table, asked(3), frequencies="observed")
    assert made.facts["columns"]["ill"]["weights"] == [0.25, 0.5, 0.25]
    assert json.loads(json.dumps(made.facts)) == made.facts
    thirds = dummies(as_table(["a", "b", "b"]), asked(2), frequencies="observed")
    assert thirds.facts["columns"]["ill"]["weights"] == [0.333, 0.667]


def test_a_seed_is_not_told_but_that_there_was_one():
    made = dummies(as_table(ILLNESS), asked(2), seed=987654)
    assert "987654" not in json.dumps(made.facts)
    assert made.facts["randomness"] != "the operating system's"


def test_seeds_reproduce_and_without_one_runs_differ():
    table = as_table(ILLNESS * 100)
    one, same, other = (everything(dummies(table, asked(3), seed=seed).draws["ill"]) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()
    first, second = (everything(dummies(table, asked(3)).draws["ill"]) for _ in range(2))
    assert (first != second).any()


def test_columns_are_drawn_independently_with_the_largest_l():
    table = as_table(ILLNESS * 200, job=ILLNESS * 200)
    made = dummies(table, Requirements((LDiversity(2, "ill"), LDiversity(3, "job"), LDiversity(4, "ill"))), seed=3)
    assert {name: draw.width for name, draw in made.draws.items()} == {"ill": 4, "job": 3}
    assert {name: facts["l"] for name, facts in made.facts["columns"].items()} == {"ill": 4, "job": 3}
    for draw in made.draws.values():
        check_lines(draw, everything(draw))


def test_each_group_shows_a_value_one_time_in_l_at_most():
    table = as_table(["flu"] * 90 + ILLNESS)
    lines = everything(dummies(table, asked(4), seed=0).draws["ill"])
    for rows in (slice(0, 1), slice(0, 50), slice(None)):
        shown = np.bincount(lines[rows].ravel())
        assert shown.max() * 4 <= shown.sum()


def test_what_an_intruder_believes():
    # Bayes by counting: sets are drawn for the table's own frequencies, and who shows a set is counted
    cells = ["a"] * 80_000 + ["b"] * 60_000 + ["c"] * 40_000 + ["d"] * 20_000
    table = as_table(cells)
    codes = table.sensitive["ill"].codes
    prior = np.bincount(codes) / len(codes)
    for frequencies in ("uniform", "observed"):
        made = dummies(table, asked(2), frequencies=frequencies, seed=5)
        lines = everything(made.draws["ill"])
        weights = np.array(made.facts["columns"]["ill"].get("weights", [1.0] * 4))
        factors = np.exp(log_factors(weights, 2))
        for pair in combinations(range(4), 2):
            here = codes[(lines == pair).all(axis=1)]
            believed = prior[list(pair)] * factors[list(pair)]
            believed /= believed.sum()
            assert np.mean(here == pair[0]) == pytest.approx(believed[0], abs=0.02)
            if frequencies == "uniform":
                assert believed == pytest.approx(prior[list(pair)] / prior[list(pair)].sum())
            else:
                assert abs(believed[0] - 0.5) < abs(prior[pair[0]] / prior[list(pair)].sum() - 0.5)


# ---- people


def by_person(table, lines):
    seen = defaultdict(set)
    codes = zip(table.subject.codes.tolist(), table.sensitive["ill"].codes.tolist(), strict=True)
    for pair, line in zip(codes, map(tuple, lines.tolist()), strict=True):
        seen[pair].add(line)
    return seen


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(ILLNESS)), min_size=1, max_size=60), st.booleans())
def test_a_person_shows_one_set_for_one_value(records, weighed):
    # each of the last ones has a value of their own; with unequal frequencies nobody may have several
    own = [(f"{person}{illness if weighed else ''}", illness) for person, illness in records]
    people, cells = zip(*own, *((f"last{illness}", illness) for illness in ILLNESS), strict=True)
    table = as_table(list(cells), list(people))
    draw = dummies(table, asked(3), frequencies="observed" if weighed else "uniform").draws["ill"]
    blocks = [draw.cells(rows) for rows in np.array_split(np.arange(table.rows), 3)]
    lines = np.concatenate(blocks)
    check_lines(draw, lines)
    assert all(len(sets) == 1 for sets in by_person(table, lines).values())


def test_different_people_and_values_show_different_sets():
    table = as_table(ILLNESS * 200, [f"p{row // 12}" for row in range(1200)])
    lines = everything(dummies(table, asked(3), seed=1).draws["ill"])
    seen = by_person(table, lines)
    assert all(len(sets) == 1 for sets in seen.values())
    for code in range(6):
        assert len({next(iter(sets)) for (_, value), sets in seen.items() if value == code}) == 10  # of 5 over 2


def test_records_about_nobody_known_are_not_taken_for_one_person():
    table = as_table(ILLNESS * 100, [None] * 600)
    lines = everything(dummies(table, asked(3), seed=1).draws["ill"])
    assert all(len(sets) == 10 for sets in by_person(table, lines).values())


# ---- what is refused


@pytest.mark.parametrize("values", [1, 2, 4])
def test_more_values_than_there_are(values):
    table = as_table(ILLNESS[:values] * 3)
    with pytest.raises(PolicyUnmetError) as caught:
        dummies(table, asked(5))
    text = str(caught.value)
    assert f"requires 5 different values, but column 'ill' has {values}." in text
    assert (f"at most l = {values}." in text) == (values > 1)
    assert not any(illness in text for illness in ILLNESS)


def test_all_values_are_allowed_and_tell_nothing():
    for frequencies in ("uniform", "observed"):
        lines = everything(dummies(as_table(ILLNESS), asked(6), frequencies=frequencies).draws["ill"])
        assert lines.tolist() == [list(range(6))] * 6


@pytest.mark.parametrize(
    "model",
    [KAnonymity(2), TCloseness(0.2, "ill"), LDiversity(2, "ill", "entropy"), LDiversity(2, "ill", "recursive", 2.0)],
    ids=lambda model: getattr(model, "variant", model.name),
)
def test_other_promises_cannot_be_kept(model):
    with pytest.raises(PolicyUnmetError, match="keeps quasi-identifiers unchanged") as caught:
        dummies(as_table(ILLNESS), asked(2, "ill", model))
    [problem] = caught.value.problems
    assert model.name in problem.where
    assert "top-down" in problem.hint


def test_a_sensitive_column_that_nothing_is_asked_of():
    with pytest.raises(PolicyUnmetError, match=r"columns\.job: is sensitive, but no promise"):
        dummies(as_table(ILLNESS, job=ILLNESS), asked(2))
    with pytest.raises(UnsupportedError, match="needs a requirement"):
        dummies(Table(1, {"age": column("age", [1], "numeric")}), Requirements(()))


def test_everything_wrong_is_said_at_once():
    with pytest.raises(PolicyUnmetError) as caught:
        dummies(as_table(ILLNESS, job=ILLNESS), asked(9, "ill", KAnonymity(2)))
    assert len(caught.value.problems) == 3


def test_item_sets_are_refused():
    table = as_table(ILLNESS)
    items = encode_items("goods", pa.array([["a"]] * 6))
    with pytest.raises(UnsupportedError, match="'goods'"):
        dummies(Table(6, {"goods": items}, table.sensitive), asked(2))


def test_missing_cells_may_be_an_error():
    table = as_table(["flu", None, "cold", None])
    assert dummies(table, asked(2), missing="value").facts["columns"]["ill"]["values"][-1] is None
    with pytest.raises(DataError, match="column 'ill': is missing in 2 records") as caught:
        dummies(table, asked(2), missing="error")
    assert "flu" not in str(caught.value)
    assert dummies(as_table(ILLNESS), asked(2), missing="error")


# ---- the draws themselves


def test_large_blocks_are_drawn_piece_by_piece():
    # more words than are asked for at a time, and so several rounds of the kernel
    codes = np.random.default_rng(0).integers(0, 3000, 40_000)
    draw = SetDraw(encode_column("x", pa.array(codes), kind="numeric"), 60, Entropy(4))
    check_lines(draw, everything(draw))


def test_no_records_take_no_words():
    draw = SetDraw(column("x", ILLNESS), 3, Entropy())
    assert draw.cells(np.empty(0, np.int64)).shape == (0, 3)


@pytest.mark.parametrize("width", [0, 7])
def test_sets_that_cannot_be(width):
    with pytest.raises(ParameterError, match=f"sets of {width} values"):
        SetDraw(column("x", ILLNESS), width, Entropy())


@pytest.mark.parametrize("weights", [[1.0] * 5, [0.0] + [1.0] * 5, [np.nan] * 6, [np.inf] * 6])
def test_weights_that_cannot_be(weights):
    with pytest.raises(ParameterError, match="6 weights, all above 0"):
        SetDraw(column("x", ILLNESS), 2, Entropy(), weights=np.array(weights))


def test_tables_that_would_be_too_large(monkeypatch):
    monkeypatch.setattr("sudare.methods.random_columns.MOST_WEIGHED", 11)
    with pytest.raises(UnsupportedError, match="too large to be drawn with unequal frequencies"):
        SetDraw(column("x", ILLNESS), 2, Entropy(), weights=np.ones(6))
    monkeypatch.setattr("sudare.methods.random_columns.MOST_CELLS", 35)
    with pytest.raises(UnsupportedError, match="too large"):
        CodeDraw(column("x", ILLNESS), Entropy(), matrix=np.eye(6))


def test_codes_by_probability_and_by_matrix():
    cells = column("x", ILLNESS * 5000)
    rows = np.arange(len(cells))
    by_keep = CodeDraw(cells, Entropy(1), keep=0.4)
    assert by_keep.width is None
    kept = np.mean(by_keep.cells(rows) == cells.codes)
    assert kept == pytest.approx(0.4 + 0.6 / 6, abs=0.015)
    assert (CodeDraw(cells, Entropy(), keep=1).cells(rows) == cells.codes).all()
    matrix = np.roll(np.eye(6), 1, axis=1)
    assert (CodeDraw(cells, Entropy(), matrix=matrix).cells(rows) == (cells.codes + 1) % 6).all()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "either"),
        ({"keep": 0.5, "matrix": np.eye(6)}, "either"),
        ({"keep": 1.1}, "from 0 to 1"),
        ({"keep": float("nan")}, "from 0 to 1"),
        ({"matrix": np.eye(5)}, "there are 6 values"),
        ({"matrix": 2 * np.eye(6)}, "add up to 1"),
        ({"matrix": np.full((6, 6), np.nan)}, "add up to 1"),
        ({"matrix": 2 * np.eye(6) - np.roll(np.eye(6), 1, axis=1)}, "add up to 1"),
    ],
)
def test_draws_of_codes_that_cannot_be(options, what):
    with pytest.raises(ParameterError, match=what):
        CodeDraw(column("x", ILLNESS), Entropy(), **options)


def test_words():
    assert Entropy(3).words(5).tolist() == Entropy(3).words(5).tolist()
    found = Entropy().words(10_000)
    assert found.dtype == np.uint32
    assert found.flags.writeable
    assert len(np.unique(found)) > 9_990
    assert np.mean(np.unpackbits(found.view(np.uint8))) == pytest.approx(0.5, abs=0.01)


def test_permutations_are_equally_likely():
    entropy = Entropy(8)
    found = Counter(tuple(entropy.permutation(3).tolist()) for _ in range(6000))
    assert len(found) == 6
    assert all(abs(count - 1000) < 150 for count in found.values())
    assert sorted(Entropy().permutation(1000).tolist()) == list(range(1000))
    assert Entropy().permutation(0).tolist() == []
