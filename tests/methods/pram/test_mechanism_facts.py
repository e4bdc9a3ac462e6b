"""What a release tells of how much was kept: few digits that keep the promises, and hardly more than shares tell."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import datasets
from sudare.methods.pram import (
    RUNGS,
    calibrate,
    cut,
    invariant_matrix,
    pk_figure,
    uniform_alpha,
    uniform_gamma,
    uniform_matrix,
    uniform_ratio,
)

from .naive import beliefs


def table_of(counts, rows_of_q=5):
    """A table with a sensitive column that has these counts."""
    ill = np.repeat([f"v{code}" for code in range(len(counts))], counts)
    return pa.table({"q": [f"q{row % rows_of_q}" for row in range(len(ill))], "ill": ill})


def policy(alpha, gamma, k=None, columns=None, **method):
    require = [{"model": "alpha-gamma", "column": "ill", "alpha": alpha, "gamma": gamma, "against": "column"}]
    require += [] if k is None else [{"model": "pk-anonymity", "k": k}]
    roles = {"q": {"role": "quasi"}, "ill": {"role": "sensitive"}} | (columns or {})
    return {"columns": roles, "require": require, "method": {"name": "pram", **method}}


def mechanism(counts, *args, **asked):
    return sudare.anonymize(table_of(counts), policy(*args, **asked)).certificate["mechanism"]


def digits(p):
    return len(Decimal(repr(p)).normalize().as_tuple().digits)


# ---- rounding


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.0, 0.0), (1.0, 1.0), (0.3, 0.3), (0.33435123, 0.3343), (0.99999, 0.9999), (1.23456e-7, 1.234e-7)],
)
def test_cutting_by_hand(p, expected):
    assert cut(p) == expected


@given(st.floats(0, 1), st.integers(1, 6))
def test_what_is_cut_is_never_more_and_nearly_as_much(p, some):
    found = cut(p, some)
    assert found <= p
    assert found >= p * (1 - 10.0 ** (1 - some))
    assert digits(found) <= some or found < 1e-300
    assert cut(found, some) == found


def test_the_rungs_fall_to_nothing():
    assert RUNGS[0] == 1
    assert RUNGS[-1] == 0
    assert (np.diff(RUNGS) < 0).all()


# ---- what is used and told


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 400), min_size=2, max_size=5), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_what_is_told_is_short_and_keeps_the_promises(counts, over, under, invariant):
    """For shares as they are and as they are told, however near the limits are to them."""
    total = sum(counts)
    exact = np.array(counts) / total
    told_shares = [float(f"{share:.3g}") for share in exact]
    most, least = max(*exact, *told_shares) + 1e-3, min(*exact, *told_shares) - 1e-3
    alpha, gamma = min(1.0, most + over * (1 - most)), max(0.0, least * under)
    found = mechanism(counts, alpha, gamma, kind="invariant" if invariant else "uniform")
    told = found["calibration"]
    assert digits(told["p"]) <= 4
    asked = policy(alpha, gamma, kind="invariant" if invariant else "uniform")
    assert told["p"] <= sudare.calibrate(asked, table_of(counts)).p + 1e-12
    assert all(bound is None or digits(bound) <= 4 for bound in told["bounds"].values())
    assert told["retention"] == dict.fromkeys(["q", "ill"], told["p"])
    assert told["calibrated"] == told["p"] <= min(told["bounds"]["alpha"], told["bounds"]["gamma"])
    part = found["columns"]["ill"]
    matrix = np.array(part["matrix"]["rows"]) if invariant else uniform_matrix(len(counts), told["p"])
    assert invariant or part["matrix"] == {"p": told["p"]}
    for shares in (exact, part["prior"]):
        assert beliefs(shares, matrix).diagonal().max() <= alpha + 1e-9
        assert beliefs(shares, matrix).min() >= gamma - 1e-9


@pytest.mark.parametrize(("alpha", "gamma"), [(0.8, 0.1), (0.77, 0.22), (0.762, 0.2)])
def test_all_counts_that_the_shares_allow_lead_to_few_answers(alpha, gamma):
    """Of Adult's income, p to four digits would tell the count, as the paper's figures show."""
    n, count = 32_561, 24_720
    shares = [0.759, 0.241]
    counts = [c for c in range(count - 60, count + 60) if [float(f"{x / n:.3g}") for x in (c, n - c)] == shares]
    assert len(counts) > 30
    rounded, used = set(), []
    for c in counts:
        limits = [(0, prior, alpha, gamma) for prior in (shares, [c / n, 1 - c / n])]
        rounded.add(cut(calibrate(n, [2], limits=limits).p))
        top = calibrate(n, [2], limits=limits[:1]).p
        kept = [
            p
            for p in (cut(top * rung) for rung in RUNGS)
            if uniform_alpha([c / n, 1 - c / n], p) <= alpha and uniform_gamma([c / n, 1 - c / n], p) >= gamma
        ]
        used.append(kept[0])
    found = sudare.anonymize(
        datasets.adult().select(["income", "race"]),
        {
            "columns": {"race": {"role": "quasi"}, "income": {"role": "sensitive"}},
            "require": [
                {"model": "alpha-gamma", "column": "income", "alpha": alpha, "gamma": gamma, "against": "column"}
            ],
            "method": {"name": "pram"},
        },
    ).certificate["mechanism"]["calibration"]
    assert found["p"] == used[counts.index(count)]
    assert found["bounds"]["alpha"] == cut(calibrate(n, [2], limits=[(0, shares, alpha, None)]).p)  # as all would tell
    assert len(rounded) > 10 > 5 >= len(set(used))
    assert used.count(found["p"]) >= 5
    # and little is given up for it
    assert found["p"] > 0.96 * calibrate(n, [2], limits=[(0, [count / n, 1 - count / n], alpha, gamma)]).p


def test_what_is_told_depends_on_told_shares_alone_where_these_bind():
    """Two tables whose shares are told alike, and that keep the promise with the same p."""
    first, second = (mechanism([a, 10_000 - a], 0.8, 0.1) for a in (7_500, 7_497))
    assert first["columns"]["ill"] == second["columns"]["ill"]
    assert first["calibration"] == second["calibration"]


def test_an_invariant_matrix_is_of_rounded_shares():
    """It tells shares to three digits, whatever the counts were."""
    found = [mechanism([a, 10_000 - a], 0.8, 0.1, kind="invariant") for a in (7_500, 7_497)]
    rows = [part["columns"]["ill"]["matrix"]["rows"] for part in found]
    assert rows[0] == rows[1] == invariant_matrix([0.75, 0.25], found[0]["calibration"]["p"]).tolist()


def test_the_custodian_sees_all_digits():
    counts = [7_497, 2_503]
    seen = sudare.calibrate(policy(0.8, 0.1, k=4), table_of(counts))
    told = mechanism(counts, 0.8, 0.1, k=4)["calibration"]
    assert digits(seen.p) > 10
    assert told["p"] <= seen.p
    assert told["p"] == cut(seen.p)


def test_where_the_shares_as_they_are_need_less_the_condition_is_named():
    counts = [7_504, 2_496]  # told as 0.75 and 0.25
    found = mechanism(counts, 0.7505, 0.01)["calibration"]
    assert found["binding"] == "alpha"
    assert 0 < found["p"] < found["bounds"]["alpha"]
    assert uniform_alpha(np.array(counts) / 10_000, found["p"]) <= 0.7505


def test_a_probability_for_each_column_is_cut_too():
    told = mechanism([600, 300, 100], 0.9, 0.01, k=3, p="per-column", weights={"ill": 3})["calibration"]
    assert all(digits(p) <= 4 for p in told["retention"].values())
    assert told["p"] is None
    assert pk_figure(1000, [uniform_ratio(5, told["retention"]["q"]), uniform_ratio(3, told["retention"]["ill"])]) >= 3


def test_what_the_policy_gives_is_used_as_it_is():
    told = mechanism([600, 300, 100], 0.9, 0.01, k=3, p=0.123456789)["calibration"]
    assert told["p"] == 0.123456789
    assert told["retention"] == {"q": 0.123456789, "ill": 0.123456789}
    assert digits(told["calibrated"]) <= 4
    assert told["calibrated"] > told["p"]


def test_where_all_matrices_are_given_there_is_no_p():
    own = {
        "q": {f"q{a}": {f"q{b}": 0.8 if a == b else 0.05 for b in range(5)} for a in range(5)},
        "ill": {"v0": {"v0": 0.7, "v1": 0.3}, "v1": {"v0": 0.3, "v1": 0.7}},
    }
    found = mechanism([600, 400], 0.9, 0.01, matrices=own)
    assert found["columns"]["ill"]["matrix"] == {"rows": [[0.7, 0.3], [0.3, 0.7]]}
    told = found["calibration"]
    assert (told["p"], told["calibrated"], told["retention"]) == (None, None, {})


# ---- strata of few records


@pytest.mark.parametrize(("sizes", "few"), [([10, 12], 0), ([9, 10], 1), ([2, 3, 40], 2)])
@pytest.mark.parametrize("k", [None, 2])
def test_strata_of_few_records_are_noted(sizes, few, k):
    zone = [f"z{number}" for number, size in enumerate(sizes) for _ in range(size)]
    rows = [row for size in sizes for row in range(size)]
    data = pa.table({"zone": zone, "q": [f"q{row % 2}" for row in rows], "ill": [f"v{row % 2}" for row in rows]})
    given = policy(0.9, 0.01, k=k, columns={"zone": {"role": "quasi"}}, strata=["zone"])
    notes = [note for note in sudare.anonymize(data, given).certificate["search"]["notes"] if "strata have" in note]
    assert len(notes) == bool(few)
    if few:
        assert notes[0].startswith(f"{few} of {len(sizes)} strata have fewer than 10 records, the least {min(sizes)}.")
        assert "z0" not in notes[0]
