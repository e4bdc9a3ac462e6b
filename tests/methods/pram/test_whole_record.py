"""alpha-gamma against an intruder who uses all columns: by brute force, by hand, and on random tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import datasets
from sudare.core.errors import PolicyError, PolicyUnmetError, UnsupportedError
from sudare.methods.pram import uniform_alpha, uniform_gamma
from sudare.methods.pram.column_retention import Condition, calibrated_by, most_kept
from sudare.methods.pram.known_combinations import unit
from sudare.methods.pram.unseen_table import figures
from sudare.methods.pram.whole_record import Channel, Experiment, beliefs, one_value, told_apart

from .whole_record_attack import Attack, attack, draws_of, uniform

COLUMNS = ["income", "marital-status", "relationship", "race"]
PK = {"model": "pk-anonymity", "k": 3}
CASES = {2: ("income", 0.77, 0.22, 0.2476), 5: ("relationship", 0.5, 0.02, 0.3343),
         6: ("relationship", 0.47, 0.025, 0.2756)}  # fmt: skip
ROUNDING = 1e-9
"""What three digits of the published shares change in a figure; the promise itself is kept for both."""


def adult_records() -> list[tuple]:
    data = datasets.adult()
    return list(zip(*(data[name].to_pylist() for name in COLUMNS), strict=True))


def policy(column, alpha, gamma, *others, against=None, **options) -> dict:
    limit = {"model": "alpha-gamma", "column": column, "alpha": alpha, "gamma": gamma}
    limit |= {} if against is None else {"against": against}
    roles = {name: {"role": "sensitive" if name == column else "quasi"} for name in COLUMNS}
    return {"columns": roles, "require": [limit, *others], "method": {"name": "pram", **options}}


def attacked(release, columns, records, column) -> Attack:
    return attack(records, columns.index(column), draws_of(release.certificate["mechanism"], columns))


# ---- the paper's cases


@pytest.mark.parametrize(("case", "reached"), [(5, 0.564), (6, 0.523), (2, 0.7785)])
def test_what_the_papers_promise_leaves_to_an_intruder_who_uses_all_columns(case, reached):
    column, alpha, _, p = CASES[case]
    records = adult_records()
    draws = [uniform(sorted({record[at] for record in records}), p) for at in range(4)]
    found = attack(records, COLUMNS.index(column), draws)
    assert found.alpha == pytest.approx(reached, abs=0.0005)
    assert found.alpha > alpha


@pytest.mark.parametrize("p", ["calibrated", "per-column"])
@pytest.mark.parametrize("case", CASES)
def test_the_certified_alpha_holds_against_all_columns(case, p):
    """Case 5 and the others: brute force over all records that can be shown, with the p of the certificate."""
    column, alpha, gamma, _ = CASES[case]
    release = sudare.anonymize(datasets.adult(), policy(column, alpha, gamma, PK, p=p), seed=1)
    found = attacked(release, COLUMNS, adult_records(), column)
    assert found.alpha <= alpha
    assert found.gamma >= gamma
    [told, _, *_] = release.certificate["guarantees"]
    assert told["parameters"]["against"] == "all-columns"
    assert found.alpha <= told["achieved"]["alpha"] + ROUNDING
    assert found.gamma >= told["achieved"]["gamma"] - ROUNDING
    assert found.record <= told["achieved"]["one record"] + ROUNDING
    # what the bounds give away is little
    assert told["achieved"]["alpha"] - found.alpha < 0.01


def test_case_5_keeps_more_with_a_probability_for_each_column():
    column, alpha, gamma, _ = CASES[5]
    one = sudare.calibrate(policy(column, alpha, gamma, PK), datasets.adult())
    each = sudare.calibrate(policy(column, alpha, gamma, PK, p="per-column"), datasets.adult())
    assert 0.23 < one.p < 0.2405  # what the exact distribution would allow
    kept = np.array(list(each.retention.values()))
    assert np.exp(np.log(kept).mean()) > 1.3 * one.p
    assert kept.mean() > 0.33
    assert each.retention["race"] > 0.45  # which has little to do with it


def test_the_largest_belief_for_one_value_is_reported():
    """0.73 in case 5, at the paper's p."""
    column, alpha, gamma, _ = CASES[5]
    found = sudare.calibrate(policy(column, alpha, gamma, PK, against="column"), datasets.adult())
    assert found.beliefs[column]["value"] == pytest.approx(0.73, abs=0.005)
    assert "record" not in found.beliefs[column]
    release = sudare.anonymize(datasets.adult(), policy(column, alpha, gamma, PK, against="column"), seed=1)
    told = release.certificate["guarantees"][0]
    assert told["parameters"]["against"] == "column"
    assert told["achieved"]["one value"] == pytest.approx(0.73, abs=0.005)
    assert "together" not in release.certificate["mechanism"]


# ---- random tables that correlate


def correlated(seed: int) -> tuple[pa.Table, float, float]:
    """Return a table whose columns follow a hidden one, and limits for its first column that can be kept."""
    random = np.random.default_rng(seed)
    rows, width = int(random.integers(60, 3000)), int(random.integers(2, 5))
    hidden = random.integers(0, 4, rows)
    cells = {}
    for at, size in enumerate(random.integers(2, 5, width)):
        noise = random.random(rows) < random.uniform(0, 0.6)
        codes = np.where(noise, random.integers(0, size, rows), random.integers(0, size, 4)[hidden])
        codes[:size] = np.arange(size)
        cells[f"c{at}"] = [f"v{code}" for code in codes]
    shares = np.array(list(Counter(cells["c0"]).values())) / rows
    alpha = shares.max() + (1 - shares.max()) * random.uniform(0.05, 0.5)
    return pa.table(cells), float(alpha), float(shares.min() * random.uniform(0.1, 0.9))


@pytest.mark.parametrize("seed", range(20))
def test_no_random_table_gives_more_away_than_is_certified(seed):
    data, alpha, gamma = correlated(seed)
    names = data.column_names
    options = [{}, {"p": "per-column"}, {"kind": "invariant"}][seed % 3]
    rules = {
        "columns": {name: {"role": "quasi"} for name in names} | {"c0": {"role": "sensitive"}},
        "require": [{"model": "alpha-gamma", "column": "c0", "alpha": alpha, "gamma": gamma}],
        "method": {"name": "pram", **options},
    }
    release = sudare.anonymize(data, rules, seed=1)
    records = list(zip(*(data[name].to_pylist() for name in names), strict=True))
    found = attacked(release, names, records, "c0")
    assert found.alpha <= alpha + 1e-9
    assert found.gamma >= gamma - 1e-9
    achieved = release.certificate["guarantees"][0]["achieved"]
    assert found.alpha <= achieved["alpha"] + 1e-9
    assert found.gamma >= achieved["gamma"] - 1e-9
    kept = release.certificate["mechanism"]["calibration"]["retention"].values()
    assert max(kept) > 0


# ---- the bounds


tables = st.integers(0, 10_000).map(np.random.default_rng)


@given(tables, st.integers(2, 4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_bounds_hold_whatever_is_unknown(random, size, others):
    """Some of the records are known by combinations, and some of the columns: all figures are on the safe side."""
    sizes = [size, *random.integers(2, 4, others)]
    counts = random.integers(0, 40, sizes) * (random.random(sizes) < 0.5)
    counts[np.arange(size), *(np.arange(size) % each for each in sizes[1:])] += 1
    records = [tuple(map(int, place)) for place in np.argwhere(counts) for _ in range(counts[tuple(place)])]
    ps = random.uniform(0, 1, len(sizes))
    exact = attack(records, 0, [uniform(list(range(m)), float(p)) for m, p in zip(sizes, ps, strict=True)])
    listed = int(random.integers(0, others + 1))
    summed = counts.sum(axis=tuple(range(1 + listed, len(sizes))))
    step = int(random.choice([1, 5, 20]))
    channels = [Channel(int(m), float(p)) for m, p in zip(sizes, ps, strict=True)]
    n = counts.sum()
    prior = counts.reshape(size, -1).sum(axis=1) / n
    shares = summed // step * step / n if listed else np.zeros(size)
    made = beliefs(prior, shares, np.arange(size), channels[0], channels[1 : 1 + listed], channels[1 + listed :])
    assert made.alpha >= exact.alpha - 1e-9
    assert made.gamma <= exact.gamma + 1e-9
    assert made.record >= exact.record - 1e-9
    if listed == others and step == 1:  # everything is known
        assert made == pytest.approx(exact_of(exact), abs=1e-9)
    column = uniform_alpha(prior, float(ps[0])), uniform_gamma(prior, float(ps[0]))
    assert made.alpha >= column[0] - 1e-9


def exact_of(found: Attack) -> tuple[float, float, float]:
    return found.alpha, found.gamma, found.record


def test_by_hand():
    """Two columns of two values that are always equal, p = 1/2 each, so that a value is shown with 3/4 and 1/4."""
    channel = Channel(2, 0.5)
    prior, shares = np.array([0.5, 0.5]), np.diag([0.5, 0.5])
    made = beliefs(prior, shares, np.arange(2), channel, [channel], [])
    # both right 9/16, both wrong 1/16, else 1/2: 9/16 * 9/10 + 1/16 * 1/10 + 6/16 * 1/2
    assert made.alpha == pytest.approx(0.7)
    assert made.gamma == pytest.approx(0.3)
    assert made.record == pytest.approx(0.9)
    # the worst of what is not known is the same table
    unknown = beliefs(prior, np.zeros(2), np.arange(2), channel, [], [channel])
    assert unknown.alpha == pytest.approx(0.7)
    assert one_value(prior, np.arange(2), channel) == pytest.approx(0.75)
    apart = beliefs(prior, np.full((2, 2), 0.25), np.arange(2), channel, [channel], [])
    assert apart.alpha == pytest.approx(uniform_alpha(prior, 0.5))  # columns that have nothing to do with each other


@given(st.lists(st.tuples(st.integers(2, 30), st.floats(0, 1)), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_a_grid_reveals_no_less(given_columns):
    channels = [Channel(m, p) for m, p in given_columns]
    made = told_apart(channels)
    assert len(made.true) <= 81
    assert (made.true.sum(), made.other.sum()) == pytest.approx((1, 1))
    if len(channels) > 6:
        return
    exact = Experiment(np.ones(1), np.ones(1))
    for channel in channels:
        exact = exact.times(channel.experiment)
    for share in (0.05, 0.3, 0.7):

        def believed(one, share=share):
            both = share * one.true + (1 - share) * one.other
            return (share * one.true**2 / np.where(both > 0, both, 1)).sum()

        assert believed(made) >= believed(exact) - 1e-12
        assert believed(made) <= believed(exact) + 0.02


@given(tables, st.integers(2, 3))
@settings(max_examples=30, deadline=None)
def test_less_retention_is_safe(random, others):
    size = 3
    shape = [size, *random.integers(2, 4, others)]
    counts = random.integers(1, 50, shape)
    prior = counts.reshape(size, -1).sum(axis=1) / counts.sum()
    shares = counts.sum(axis=-1) // 10 * 10 / counts.sum()

    def alpha(ps):
        channels = [Channel(int(m), float(p)) for m, p in zip(shape, ps, strict=True)]
        return beliefs(prior, shares, np.arange(size), channels[0], channels[1:-1], channels[-1:]).alpha

    ps = random.uniform(0, 1, len(shape))
    less = ps.copy()
    less[random.integers(len(shape))] *= random.uniform(0, 1)
    assert alpha(less) <= alpha(ps) + 1e-12


def test_before_there_is_a_table_the_worst_is_expected():
    rules = policy("income", 0.8, 0.1, PK)
    rules["require"][0]["prior"] = {"<=50K": 0.759, ">50K": 0.241}
    for name, values in (("marital-status", 7), ("relationship", 6), ("race", 5)):
        rules["columns"][name]["order"] = [f"v{value}" for value in range(values)]
    before = sudare.calibrate(rules, records=32_561)
    rules = policy("income", 0.8, 0.1, PK)
    after = sudare.calibrate(rules, datasets.adult())
    assert 0.17 < before.p < 0.18 < after.p
    assert before.binding == "alpha"
    assert before.beliefs["income"]["record"] > after.beliefs["income"]["value"]
    limit = (0, [0.759, 0.241], 0.8, 0.1)
    from sudare.methods.pram import Limit

    found = figures(Limit(*limit), [2, 7, 6, 5], [before.p] * 4, against_all=True)
    assert found["alpha"] == pytest.approx(0.8, abs=1e-6)
    curves = before.to_dict(curves=True)["curves"]
    alpha = next(curve for curve in curves if curve["condition"] == "alpha")
    assert alpha["figure"][0] == pytest.approx(0.759)
    assert all(one <= two + 1e-12 for one, two in zip(alpha["figure"], alpha["figure"][1:], strict=False))


def test_sizes_of_all_columns_are_needed_before_there_is_a_table():
    rules = policy("income", 0.8, 0.1)
    rules["require"][0]["prior"] = {"<=50K": 0.759, ">50K": 0.241}
    with pytest.raises(PolicyError, match=r"columns\.race: nothing gives the number of its values"):
        sudare.calibrate(rules)
    rules["require"][0]["against"] = "column"
    assert sudare.calibrate(rules).p == pytest.approx(0.4678, abs=1e-3)


# ---- what is published


def test_rare_combinations_are_not_published():
    release = sudare.anonymize(datasets.adult(), policy("relationship", 0.5, 0.02, PK), seed=1)
    [told] = release.certificate["mechanism"]["together"]
    order = [name for [name] in told["columns"]]
    assert sorted(order) == sorted(COLUMNS)
    assert told["unit"] == unit(32_561) == 10
    values = {name: release.certificate["mechanism"]["columns"][name]["values"] for name in COLUMNS}
    data = datasets.adult()
    exact = Counter(zip(*(data[name].to_pylist() for name in order), strict=True))
    for *places, count in told["combinations"]:
        there = exact[tuple(values[name][place] for name, place in zip(order, places, strict=True))]
        assert count >= 10
        assert count % 10 == 0
        assert count <= there < count + 10
    assert len(told["combinations"]) == sum(count >= 10 for count in exact.values())
    assert unit(1_000_000) == 100


def test_columns_that_would_be_too_many_are_taken_for_the_worst():
    random = np.random.default_rng(3)
    ill = random.integers(0, 3, 20_000)
    data = pa.table({
        "ill": [f"i{code}" for code in ill], "near": [f"n{code}" for code in (ill + (random.random(20_000) < 0.3)) % 3],
        "many": random.integers(0, 5_000, 20_000),
    })  # fmt: skip
    rules = {
        "columns": {"ill": {"role": "sensitive"}, "near": {"role": "quasi"}, "many": {"role": "quasi"}},
        "require": [{"model": "alpha-gamma", "column": "ill", "alpha": 0.5, "gamma": 0.1}],
        "method": {"name": "pram"},
    }
    release = sudare.anonymize(data, rules)
    [told] = release.certificate["mechanism"]["together"]
    assert told["columns"] == [["ill"], ["near"]]
    assert release.certificate["guarantees"][0]["achieved"]["alpha"] <= 0.5


def test_the_weaker_promise_says_what_it_leaves_out():
    notes = {}
    for against in ("column", "all-columns"):
        rules = policy("relationship", 0.6, 0.001, against=against)
        notes[against] = sudare.anonymize(datasets.adult(), rules, seed=1).certificate["search"]["notes"]
    [note] = [note for note in notes["column"] if "looks at 'relationship' alone" in note]
    assert "Other columns of the release that correlate with it reveal more" in note
    assert not [note for note in notes["all-columns"] if "alone" in note]


def test_unchanged_columns_are_named_as_not_included():
    rules = policy("relationship", 0.5, 0.02, PK)
    rules["columns"] |= {"sex": {"role": "insensitive"}}
    release = sudare.anonymize(datasets.adult(), rules, seed=1)
    [note] = [note for note in release.certificate["search"]["notes"] if "all-columns" in note]
    assert note.endswith("unknown: sex.")
    rules["method"]["strata"] = ["sex"]
    rules["require"][0] |= {"alpha": 0.9, "gamma": 1e-5}
    release = sudare.anonymize(datasets.adult(), rules, seed=1)
    [note] = [note for note in release.certificate["search"]["notes"] if "all-columns" in note]
    assert "unchanged" not in note
    cells = release.certificate["mechanism"]["strata"]["cells"]
    assert all(cell["together"][0]["columns"][0] == ["relationship"] for cell in cells)


def test_the_intruder_of_strata_knows_the_stratum():
    """By brute force in each stratum."""
    rules = policy("relationship", 0.7, 0.0, PK, strata=["sex"])
    rules["columns"] |= {"sex": {"role": "insensitive"}}
    release = sudare.anonymize(datasets.adult(), rules, seed=1)
    mechanism = release.certificate["mechanism"]
    data = datasets.adult()
    for cell in mechanism["strata"]["cells"]:
        mine = data.filter(pa.compute.equal(data["sex"], cell["cell"]["sex"]))
        records = list(zip(*(mine[name].to_pylist() for name in COLUMNS), strict=True))
        whole = {"columns": {name: {**mechanism["columns"][name], **cell["columns"][name]} for name in COLUMNS}}
        assert attack(records, 2, draws_of(whole, COLUMNS)).alpha <= 0.7


# ---- what is refused


def test_never_by_unchanged_columns_is_refused():
    rules = policy("income", 0.8, 0.1, never=[{"age": 17, "marital-status": "Widowed"}])
    rules["columns"] |= {"age": {"role": "insensitive"}}
    with pytest.raises(PolicyError, match=r"against.* `never` makes draws depend on .* Hint: use against: column"):
        sudare.anonymize(datasets.adult(), rules)
    rules["require"][0]["against"] = "column"
    assert sudare.anonymize(datasets.adult(), rules, seed=1).certificate["guarantees"][0]["holds"]


def test_a_column_of_very_many_values_is_refused():
    data = pa.table({"a": [f"v{row % 3}" for row in range(3000)], "many": list(range(1500)) * 2})
    rules = {
        "columns": {"a": {"role": "quasi"}, "many": {"role": "sensitive"}},
        "require": [{"model": "alpha-gamma", "column": "many", "alpha": 0.5, "gamma": 0.0}],
        "method": {"name": "pram"},
    }
    with pytest.raises(UnsupportedError, match=r"'many' has 1,500 values\. Allowed: up to 1,024"):
        sudare.anonymize(data, rules)


def test_another_intruder_is_no_word():
    with pytest.raises(PolicyError, match="against"):
        sudare.load_policy(policy("income", 0.8, 0.1, against="everybody"))


def test_a_p_of_the_policy_is_checked_against_all_columns():
    with pytest.raises(PolicyUnmetError, match=r"method\.p: does not keep .*alpha = 0\.56.* is 0\.233"):
        sudare.anonymize(datasets.adult(), policy("relationship", 0.5, 0.02, p=0.3343))
    kept = sudare.anonymize(datasets.adult(), policy("relationship", 0.5, 0.02, p=0.3343, against="column"), seed=1)
    assert kept.certificate["guarantees"][0]["holds"]


def test_one_perturbed_column_is_the_whole_record():
    rules = {
        "columns": {"income": {"role": "sensitive"}, "sex": {"role": "quasi"}},
        "require": [{"model": "alpha-gamma", "column": "income", "alpha": 0.92, "gamma": 0.05}],
        "method": {"name": "pram", "strata": ["sex"]},
    }
    both = [sudare.calibrate({**rules, "require": [{**rules["require"][0], "against": against}]}, datasets.adult())
            for against in ("all-columns", "column")]  # fmt: skip
    assert both[0].p == both[1].p
    assert sudare.anonymize(datasets.adult(), rules, seed=1).certificate["guarantees"][0]["holds"]


# ---- the search


def test_more_is_kept_of_columns_that_cost_less():
    """x + 4 y <= 1: the largest product is at x = 1/2, y = 1/8; with weights 3 to 1, at 3/4 and 1/16."""
    assert most_kept(lambda kept: kept[0] + 4 * kept[1] <= 1, [0.2, 0.2], [1, 1]) == pytest.approx([0.5, 0.125], 0.03)
    found = most_kept(lambda kept: kept[0] + 4 * kept[1] <= 1, [0.2, 0.2], [3, 1])
    assert found == pytest.approx([0.75, 0.0625], rel=0.06)
    assert most_kept(lambda kept: kept[0] <= 0.25, [0.25, 0.25], [1, 1]) == pytest.approx([0.25, 1.0], rel=1e-4)
    assert most_kept(lambda kept: False, [0.0, 0.0], [1, 1]) == [0.0, 0.0]


def test_a_column_is_held_by_what_it_cannot_buy():
    """x + y <= 1 is shared; x <= 0.3 is of the first column. All that y lacks, x has."""
    shared = Condition("pk", None, lambda kept: kept[0] + kept[1] <= 1)
    own = Condition("alpha", 0, lambda kept: kept[0] <= 0.3)
    found = calibrated_by([shared, own], 2, [5, 1])
    assert found.retention == pytest.approx((0.3, 0.7), rel=0.03)
    assert found.held_by == ("alpha", "pk")
    assert calibrated_by([shared], 2, [5, 1]).held_by == ("pk", "pk")
    assert calibrated_by([own], 2, [5, 1]).held_by == ("alpha", None)


def test_a_column_of_much_weight_is_held_by_its_alpha():
    rules = policy("income", 0.85, 0.1, PK, p="per-column", weights={"income": 5})
    found = sudare.calibrate(rules, datasets.adult())
    assert found.beliefs["income"]["alpha"] == pytest.approx(0.85, abs=0.002)
    assert found.held_by == {name: "alpha" if name == "income" else "pk" for name in COLUMNS}


def test_the_same_table_in_another_order_gives_the_same():
    data = datasets.adult()
    shuffled = data.take(pa.array(np.random.default_rng(0).permutation(data.num_rows)))
    rules = policy("relationship", 0.5, 0.02, PK, p="per-column")
    one, two = (sudare.anonymize(each, rules, seed=1).certificate["mechanism"] for each in (data, shuffled))
    assert one == two


def test_a_prior_of_the_policy_does_not_weaken_the_promise():
    rules = policy("relationship", 0.5, 0.02, PK)
    shares = Counter(datasets.adult()["relationship"].to_pylist())
    [(common, _), *others] = shares.most_common()
    prior = {value: round(count / 32_561, 3) for value, count in others}
    rules["require"][0]["prior"] = {common: 1 - sum(prior.values()), **prior}
    release = sudare.anonymize(datasets.adult(), rules, seed=1)
    assert attacked(release, COLUMNS, adult_records(), "relationship").alpha <= 0.5
    assert release.certificate["mechanism"]["calibration"]["p"] > 0.2


def test_estimates_know_the_probability_of_each_column():
    release = sudare.anonymize(datasets.adult(), policy("relationship", 0.5, 0.02, PK, p="per-column"), seed=1)
    kept = release.certificate["mechanism"]["calibration"]["retention"]
    assert len(set(kept.values())) > 1
    truth = Counter(datasets.adult()["income"].to_pylist())
    rows = list(sudare.estimate(release, of="income"))
    assert len(rows) == 2
    for row in rows:
        assert row["estimate"] == pytest.approx(truth[row["value"]], abs=1_000)
