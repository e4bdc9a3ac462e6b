"""Conditions and bands in estimates from perturbed columns, over many draws; values of all kinds, and unknown ones."""

from datetime import time, timedelta

import numpy as np
import pyarrow as pa
import pytest
from tests.estimates.test_pram_counts import INCOME, certificate, counted, perturbed, released, show, skewed, truths

import sudare
from sudare.core.errors import DataError

ROWS, DRAWS = 1500, 80
WAYS = {"sex": 0.6, "age": 0.7, "income": skewed(4, 3)}


def unbiased(estimates, expected):
    """Say whether the mean of many estimates is what is expected, but for chance."""
    apart = (np.mean(estimates, axis=0) - expected).ravel()
    scale = np.std(estimates, axis=0, ddof=1).ravel() / np.sqrt(len(estimates))
    assert (np.abs(apart) < 4 * scale + 1e-9).all()
    assert np.abs(apart / np.maximum(scale, 1e-9)).mean() < 1.25


CASES = {
    "unperturbed": ("income", "sex", ["town=A,B"]),
    "perturbed": ("income", "town", ["age=22..26"]),
    "both": ("income", "town", ["sex=M", "age=..24", "town=B,C"]),
    "bands": ("sex", "age:5", ["income=low,high", "town=A"]),
    "a band that is cut": ("income", "age:5", ["age=22..31"]),
    "of what is not perturbed": ("town", (), ["sex=F"]),
}


def true_counts(truth, of, by, where):
    """Count as asked, by brute force, with all records known."""
    labels = {
        "sex": np.array(["F", "M"])[truth["sex"]],
        "age": 20 + truth["age"],
        "income": np.array([str(value) for value in INCOME])[truth["income"]],
        "town": np.array(["A", "B", "C"])[truth["town"]],
    }
    keep = np.ones(len(truth["sex"]), dtype=bool)
    for condition in where:
        name, _, wanted = condition.partition("=")
        low, dots, high = wanted.partition("..")
        if dots:
            keep &= (labels[name] >= int(low or 0)) & (labels[name] <= int(high or 99))
        else:
            keep &= np.isin(labels[name], wanted.split(","))

    def cell(record):
        if by == "age:5":
            start = labels["age"][record] // 5 * 5
            return f"[{start}, {start + 4}]"
        return str(labels[by][record]) if by else ""

    found = {}
    for record in np.flatnonzero(keep):
        key = cell(record), str(labels[of][record])
        found[key] = found.get(key, 0) + 1
    return found


@pytest.mark.parametrize("case", CASES)
def test_conditions_are_unbiased_over_many_draws(case):
    of, by, where = CASES[case]
    truth = truths(5, ROWS)
    paper, drawn, likely, inside = certificate(WAYS), [], [], []
    for seed in range(DRAWS):
        release = released(perturbed(truth, WAYS, seed), paper)
        drawn.append(sudare.estimate(release, of=of, by=by, where=where, estimator="inversion"))
        if seed < DRAWS // 4:
            likely.append(sudare.estimate(release, of=of, by=by, where=where))
    first = drawn[0]
    true = true_counts(truth, of, by, where)
    cells = [str(cell.get(by.partition(":")[0], "")) if by else "" for cell in first.cells]
    expected = np.array([[true.get((cell, str(value)), 0) for value in first.values] for cell in cells])
    assert sum(true.values()) == expected.sum()
    assert all(found.cells == first.cells for found in [*drawn, *likely])
    unbiased([found.counts for found in drawn], expected)
    inside = [(found.low - 1e-6 <= expected) & (expected <= found.high + 1e-6) for found in [*drawn, *likely]]
    assert 0.92 <= np.mean(inside) <= 0.99
    error = [np.mean([(found.counts - expected) ** 2 for found in some]) for some in (likely, drawn[: DRAWS // 4])]
    assert error[0] <= 1.05 * error[1]


def test_a_condition_on_one_of_two_columns_that_were_drawn_together():
    matrix, truth = skewed(8, 9), truths(0, ROWS)
    both = truth["sex"] * 4 + truth["income"]
    paper = certificate({"sex": None, "income": None}, joint=[{"columns": ["sex", "income"], "rows": matrix.tolist()}])
    estimates = []
    for seed in range(DRAWS):
        seen = show(both, matrix, np.random.default_rng(seed))
        release = released(truth | {"sex": seen // 4, "income": seen % 4}, paper)
        estimates.append(sudare.estimate(release, of="income", by="town", where="sex=M", estimator="inversion").counts)
    expected = counted(truth, ["town", "sex", "income"]).reshape(3, 2, 4)[:, 1]
    unbiased(estimates, expected)


@pytest.mark.parametrize(
    ("where", "unknown"),
    [
        ("sex=X", "X"), ("sex=M,X", "X"), ("town=A,b", "b"), ("income=low,none", "none"),
        ("age=twenty", "twenty"), ({"town": ["A", "D"]}, "D"), ({"age": [20, "x"]}, "x"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ways", [{"sex": 0.6, "age": 0.7, "income": 0.5}, {}], ids=["perturbed", "as it was"])
def test_unknown_values_are_refused(where, unknown, ways):
    release = released(perturbed(truths(0, 300), ways, 1), certificate(ways))
    of = "income" if "income" not in str(where) else "town"
    with pytest.raises(DataError, match=f"'{unknown}' is not a value of column") as caught:
        sudare.estimate(release, of=of, where=where)
    assert caught.value.exit_code == 2


def test_known_values_that_nobody_has_count_nothing():
    """A number is none that could be misspelt, and blanks and missing values are understood."""
    ways = {"age": 0.7}
    release = released(perturbed(truths(0, 300), ways, 1), certificate(ways))
    one, two = (sudare.estimate(release, of="town", where=f"age={ages}").counts for ages in ("20,21", "20, 21 ,99"))
    assert one == pytest.approx(two)
    with pytest.raises(DataError, match="no record"):
        sudare.estimate(release, of="town", where="age=99")
    some = sudare.estimate(release, of="town", where="income=low,")
    assert some.counts.sum() == np.isin(truths(0, 300)["income"], [1, 3]).sum()


KINDS = [pa.time32("s"), pa.time64("us"), pa.time64("ns"), pa.duration("s"), pa.duration("us")]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", None])
@pytest.mark.parametrize(
    "kind", [pa.time32("s"), pa.time64("us"), pa.time64("ns"), pa.duration("s"), pa.duration("us")]
)
def test_times_of_a_day_and_durations(kind, ending, tmp_path):
    """Certificates tell them as text, which Arrow does not read."""
    rng = np.random.default_rng(0)
    codes, ill = rng.choice(4, 1500, p=[0.4, 0.3, 0.2, 0.1]), rng.random(1500) < 0.3
    every = [time(8 + code, 30) if pa.types.is_time(kind) else timedelta(minutes=30 + code) for code in range(4)]
    cells = [None if row == 7 else every[code] for row, code in enumerate(codes.tolist())]
    policy = {
        "columns": {"stay": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [{"model": "alpha-gamma", "column": "ill", "alpha": 0.99, "gamma": 0.001}],
        "method": {"name": "pram", "p": 0.8},
    }
    path = None if ending is None else tmp_path / f"release.{ending}"
    release = sudare.anonymize(pa.table({"stay": pa.array(cells, kind), "ill": ill}), policy, out=path, seed=3)
    found = sudare.estimate(release if path is None else path, of="stay")
    assert len(found.values) == 5
    expected = [*np.bincount(np.delete(codes, 7), minlength=4), 1]
    assert (np.abs(found.counts[0] - expected) < 4 * found.se[0] + 1).all()
    by = sudare.estimate(release if path is None else path, of="ill", by="stay")
    assert len(by.cells) == 5
    assert by.counts.sum() == pytest.approx(1500)
