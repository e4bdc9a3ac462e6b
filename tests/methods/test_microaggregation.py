"""Microaggregation: what groups show, against slow and obvious versions, and what is refused."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import DataError, PolicyError, PolicyUnmetError, UnsupportedError
from sudare.methods.microaggregation.microaggregation import microaggregation
from sudare.models import KAnonymity, LDiversity, Requirements
from sudare.table import Table, encode_column, generalize

K3 = [{"model": "k-anonymity", "k": 3}]
WORDS = ("mean", "median", "mode", "medoid")


def quasi(**columns) -> Table:
    return Table(
        len(next(iter(columns.values()))), {name: encode_column(name, pa.array(c)) for name, c in columns.items()}
    )


def shown(partition, name) -> list:
    """Return what each record shows."""
    found = partition.aggregated[name]
    values = found.values.to_pylist()
    return [values[found.of_class[group]] for group in partition.classes]


def groups(partition, cells) -> list[list]:
    found = defaultdict(list)
    for group, cell in zip(partition.classes.tolist(), cells, strict=True):
        found[group].append(cell)
    return [found[group] for group in range(partition.count)]


def policy(columns, method=None, require=K3, **parts):
    return {"columns": columns, "require": require, "method": {"name": "microaggregation", **(method or {})}, **parts}


def aggregated(cells, method=None, spec=None, **parts):
    table = pa.table({"x": cells if isinstance(cells, pa.Array) else pa.array(cells)})
    return sudare.anonymize(table, policy({"x": {"role": "quasi", **(spec or {})}}, method, **parts))


def people(rows=240, seed=0) -> pa.Table:
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, rows).astype(object)
    age[random.random(rows) < 0.05] = None
    return pa.table(
        {
            "age": pa.array(age.tolist(), pa.int64()),
            "pay": random.lognormal(8, 1, rows).round(2),
            "sex": random.choice(["f", "m"], rows).tolist(),
            "grade": random.choice(["low", "mid", "high"], rows).tolist(),
            "ill": random.choice(list("abcd"), rows).tolist(),
        }
    )


COLUMNS = {
    "age": {"role": "quasi"},
    "pay": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
    "ill": {"role": "sensitive"},
}
DIVERSE = [*K3, {"model": "l-diversity", "l": 2, "column": "ill"}]


# ---- what groups show


def test_a_toy_example_by_hand():
    release = aggregated([1, 2, 3, 7, 8, 9, 100, 101, 105])
    assert Counter(release.data["x"].to_pylist()) == {2.0: 3, 8.0: 3, 102.0: 3}
    found = release.certificate["search"]
    # 2 + 2 + 14 of the 16,990 (and 8 ninths) that lie around the mean
    around = sum((x - 336 / 9) ** 2 for x in (1, 2, 3, 7, 8, 9, 100, 101, 105))
    assert found["information_loss"] == round(100 * 18 / around, 4)
    assert found["aggregated"] == {
        "x": {"representative": "mean", "mean_kept": True, "variance_kept": round(1 - 18 / around, 4)}
    }
    assert found["group_size"] == 3


@pytest.mark.parametrize("word", WORDS)
def test_representatives_are_those_of_slow_versions(word):
    random = np.random.default_rng(3)
    cells = {"a": random.integers(0, 12, 80).tolist(), "b": random.normal(size=80).round(1).tolist()}
    partition = microaggregation(quasi(**cells), Requirements((KAnonymity(4),)), representative=word)
    records = list(zip(cells["a"], cells["b"], strict=True))
    spread = [statistics.pstdev(column) for column in cells.values()]
    for place, name in enumerate(cells):
        for group, several in zip(groups(partition, records), groups(partition, shown(partition, name)), strict=True):
            assert len(group) >= 4
            [value] = set(several)
            own = [record[place] for record in group]
            if word == "mean":
                assert value == pytest.approx(statistics.fmean(own), abs=1e-12)
            elif word == "median":
                assert value == statistics.median_low(own)
            elif word == "mode":
                often = Counter(own)
                assert value == min(each for each in own if often[each] == max(often.values()))
            else:

                def far(record, group=group):
                    return sum(
                        ((x - y) / sd) ** 2 for other in group for x, y, sd in zip(record, other, spread, strict=True)
                    )

                least = min(map(far, group))
                assert value in {record[place] for record in group if far(record) <= least + 1e-9}


def test_a_medoid_is_one_record_in_all_columns():
    table = people()
    release = sudare.anonymize(
        table, policy({k: COLUMNS[k] for k in ("age", "pay", "ill")}, {"representative": "medoid"})
    )
    source = set(zip(table["age"].to_pylist(), table["pay"].to_pylist(), strict=True))
    told = zip(release.data["age"].to_pylist(), release.data["pay"].to_pylist(), strict=True)
    assert {each for each in told if each[0] is not None} <= source


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.floats(-1e6, 1e6, allow_subnormal=False), st.sampled_from("xy")),
        min_size=3,
        max_size=40,
    ),
    st.integers(2, 3),
    st.randoms(use_true_random=False),
)
def test_groups_are_large_enough_means_are_kept_and_the_order_of_rows_does_not_matter(rows, k, random):
    def made(rows):
        a, b, c = map(list, zip(*rows, strict=True))
        table = quasi(a=a, b=b, c=c)
        return table, microaggregation(table, Requirements((KAnonymity(k),)))

    table, partition = made(rows)
    assert partition.sizes.min() >= k
    for place, name in enumerate("ab"):
        own = [row[place] for row in rows]
        told = shown(partition, name)
        most = max(map(abs, own)) or 1.0
        assert abs(statistics.fmean(told) - statistics.fmean(own)) <= 1e-12 * most
        for values, means in zip(groups(partition, own), groups(partition, told), strict=True):
            assert min(values) <= means[0] <= max(values)
    order = list(range(len(rows)))
    random.shuffle(order)
    _, mixed = made([rows[place] for place in order])
    # of equal records any may go to any of their groups
    once = Counter(zip(rows, shown(partition, "a"), shown(partition, "b"), strict=True))
    again = [rows[place] for place in order]
    assert Counter(zip(again, shown(mixed, "a"), shown(mixed, "b"), strict=True)) == once
    # what covers a class is measured as for any other method
    assert generalize(table, partition).covers["a"].share.max() <= 1.0


def test_groups_that_show_the_same_are_one_class():
    partition = microaggregation(quasi(a=[5] * 50, b=["x"] * 50), Requirements((KAnonymity(3),)))
    assert partition.count == 1
    assert shown(partition, "a") == [5.0] * 50


@pytest.mark.parametrize("k", [None, 5, 8])
def test_k_may_be_larger_than_what_is_required(k):
    partition = microaggregation(quasi(a=list(range(60))), Requirements((KAnonymity(5),)), k=k)
    assert partition.sizes.min() >= (k or 5)
    assert partition.facts["group_size"] == (k or 5)


def test_without_a_number_in_the_requirements_groups_have_three_records():
    release = sudare.anonymize(
        people(), policy(COLUMNS, require=[{"model": "t-closeness", "t": 0.45, "column": "ill"}])
    )
    assert release.certificate["search"]["group_size"] == 3
    counts = Counter(zip(*(release.data[name].to_pylist() for name in ("age", "pay", "sex", "grade")), strict=True))
    assert min(counts.values()) >= 3


@pytest.mark.parametrize("word", WORDS)
def test_all_promises_are_kept_beside_generalized_columns(word):
    table = people()
    require = [*DIVERSE, {"model": "t-closeness", "t": 0.5, "column": "ill"}]
    release = sudare.anonymize(table, policy(COLUMNS, {"representative": word}, require=require))
    assert all(one["holds"] for one in release.certificate["guarantees"])
    rows = zip(*(release.data[name].to_pylist() for name in ("age", "pay", "sex", "grade", "ill")), strict=True)
    ills = defaultdict(set)
    for *cells, ill in rows:
        ills[tuple(cells)].add(ill)
    assert all(len(each) >= 2 for each in ills.values())
    assert release.certificate["suppressed"] == 0


def test_people_are_counted_where_they_are_asked_for():
    table = people().append_column("who", [[f"p{i // 3}" for i in range(240)]])
    columns = {**COLUMNS, "who": {"role": "subject"}}
    require = [{"model": "k-anonymity", "k": 3, "count": "subjects"}]
    assert sudare.anonymize(table, policy(columns, require=require)).certificate["guarantees"][0]["achieved"] >= 3


def test_a_column_of_weight_zero_is_aggregated_and_decides_nothing():
    random = np.random.default_rng(1)
    near = list(range(30))
    noise = (random.normal(size=30) * 1e6).tolist()
    columns = {"a": {"role": "quasi"}, "b": {"role": "quasi", "weight": 0}}
    release = sudare.anonymize(pa.table({"a": near, "b": noise}), policy(columns))
    alone = sudare.anonymize(pa.table({"a": near}), policy({"a": {"role": "quasi"}}))
    assert sorted(release.data["a"].to_pylist()) == sorted(alone.data["a"].to_pylist())
    assert len(set(release.data["b"].to_pylist())) < 30


def test_groups_are_within_classes_of_the_generalized_columns():
    table = people()
    release = sudare.anonymize(table, policy({k: COLUMNS[k] for k in ("pay", "sex")}))
    # sex has two values only, so it needs no generalization, and means are those of one sex
    assert set(release.data["sex"].to_pylist()) == {"f", "m"}
    for sex in "fm":
        own = [pay for pay, each in zip(table["pay"].to_pylist(), table["sex"].to_pylist(), strict=True) if each == sex]
        told = [
            pay
            for pay, each in zip(release.data["pay"].to_pylist(), release.data["sex"].to_pylist(), strict=True)
            if each == sex
        ]
        assert statistics.fmean(told) == pytest.approx(statistics.fmean(own), rel=1e-12)


# ---- missing cells


def test_records_that_miss_the_same_cells_stay_together():
    release = aggregated([None] * 4 + [1.0, 2.0, 3.0, 4.0])
    assert Counter(release.data["x"].to_pylist()) == {None: 4, 2.5: 4}
    assert release.certificate["search"]["aggregated"]["x"]["mean_kept"] is True


def test_a_group_that_mixes_shows_nothing_in_that_column():
    cells = [None, *map(float, range(30))]
    table = pa.table({"x": cells, "y": list(range(31))})
    release = sudare.anonymize(table, policy({"x": {"role": "quasi"}, "y": {"role": "quasi"}}))
    told = release.data["x"].to_pylist()
    assert 3 <= told.count(None) <= 5  # only its own group, and not all
    assert None not in release.data["y"].to_pylist()
    assert release.certificate["search"]["aggregated"]["x"]["mean_kept"] is False
    assert "shows an empty cell" in release.certificate["missing"]


def test_a_column_of_nothing_but_missing_cells():
    release = aggregated(pa.nulls(9, pa.float64()))
    assert release.data["x"].to_pylist() == [None] * 9


# ---- kinds of columns


@pytest.mark.parametrize(
    ("cells", "word", "kind", "expected"),
    [
        (pa.array([1, 2, 4, 10, 20, 28], pa.uint8()), "median", pa.uint8(), [2, 20]),
        (pa.array([1, 2, 3, 2**60, 2**60 + 1, 2**60 + 2]), "median", pa.int64(), [2, 2**60 + 1]),
        (pa.array([0.1, 0.1, 0.3, 5.1, 5.2, 5.2], pa.float32()), "mode", pa.float32(), None),
        (pa.array([-0.0, -0.0, -0.0, 1, 2, 3]), "median", pa.float64(), [0.0, 2.0]),
        (pa.array([1, 2, 4, 10, 20, 28]).cast(pa.decimal128(21, 2)), "median", pa.decimal128(21, 2), [2, 20]),
        (pa.array([1, 2, 4, 10, 20, 28]).cast(pa.decimal128(21, 2)), "mean", pa.float64(), [7 / 3, 58 / 3]),
        (pa.array([1, 2, 4, 10, 20, 28], pa.int32()).cast(pa.date32()), "mean", pa.date32(), None),
        (pa.array([1, 2, 4, 1000, 2000, 2800], pa.timestamp("s")), "mean", pa.timestamp("us"), None),
        (pa.array([1, 2, 4, 1000, 2000, 2800], pa.duration("s")), "mean", pa.string(), ["PT1933S", "PT2S"]),
    ],
    ids=str,
)  # fmt: skip
def test_columns_keep_their_type(cells, word, kind, expected):
    release = aggregated(cells, {"representative": word})
    column = release.data["x"]
    assert column.type == kind
    assert len(set(column.to_pylist())) == 2
    if expected is not None:
        assert sorted(set(column.to_pylist())) == sorted(expected)


def test_means_of_dates_are_rounded_to_the_day_and_of_times_to_the_second():
    days = aggregated(pa.array([1, 2, 4, 100, 200, 280], pa.int32()).cast(pa.date32()))
    assert sorted({each.toordinal() - 719163 for each in days.data["x"].to_pylist()}) == [2, 193]
    times = aggregated(pa.array([1, 2, 4, 1000, 2000, 2800], pa.timestamp("s")))
    assert sorted({each.minute * 60 + each.second for each in times.data["x"].to_pylist()}) == [2, 1933]
    midnights = pa.array([0, 1, 2, 50, 51, 52], pa.int32()).cast(pa.date32()).cast(pa.timestamp("us"))
    assert aggregated(midnights).data["x"].type == pa.date32()


def test_ordered_categories_show_their_median_and_trees_their_mode():
    ordered = aggregated(list("aabbcccc"), spec={"order": ["c", "b", "a"]}, require=[{"model": "k-anonymity", "k": 4}])
    assert Counter(ordered.data["x"].to_pylist()) in ({"c": 4, "b": 4}, {"c": 4, "a": 4})
    assert ordered.certificate["search"]["aggregated"]["x"]["representative"] == "median"
    trees = aggregated(["a1", "a1", "a2", "b1", "b2", "b2"], {"columns": ["x"]}, spec={"hierarchy": {"prefix": [2, 1]}})
    assert Counter(trees.data["x"].to_pylist()) == {"a1": 3, "b2": 3}
    assert trees.certificate["search"]["aggregated"]["x"] == {"representative": "mode"}


def test_categories_that_look_like_cells_are_quoted():
    order = ["*", "[1, 2]"]
    release = aggregated(["[1, 2]"] * 3 + ["*"] * 3, spec={"order": order})
    assert set(release.data["x"].to_pylist()) == {'"*"', '"[1, 2]"'}


def test_numbers_as_large_and_as_small_as_floats_get():
    found = set(aggregated([1e308, 1.7e308, 1.6e308, -1e308, -1.7e308, -1.6e308]).data["x"].to_pylist())
    assert len(found) == 2
    assert max(found) == pytest.approx(1e308 / 3 + 1.7e308 / 3 + 1.6e308 / 3)
    assert min(found) == -max(found)
    tiny = aggregated([1e-320, 2e-320, 3e-320, 1.0, 1.0, 1.0]).data["x"].to_pylist()
    assert max(tiny) == 1.0


def test_infinite_numbers_are_refused():
    with pytest.raises(DataError, match="infinite"):
        aggregated([1.0, 2.0, float("inf")])


def test_item_sets_beside_numbers_are_generalized():
    sets = [["a", "b"], ["a"], ["a", "c"]] * 4
    columns = {"x": {"role": "quasi"}, "s": {"role": "quasi", "kind": "items"}}
    release = sudare.anonymize(pa.table({"x": list(range(12)), "s": sets}), policy(columns))
    assert pa.types.is_floating(release.data["x"].type)
    assert all(set(each) <= {"a", "b", "c"} for each in release.data["s"].to_pylist())
    assert release.certificate["item_sets"]["s"]["disclosed"] > 0


# ---- what is refused


def refused(error, match, **given):
    table = pa.table({"x": given.pop("cells", [1, 2, 3, 4, 5, 6]), "y": ["a"] * 6})
    columns = {"x": {"role": "quasi", **given.pop("spec", {})}, "y": {"role": "insensitive"}}
    with pytest.raises(error, match=match) as caught:
        sudare.anonymize(table, policy(columns, given.pop("method", None), given.pop("require", K3), **given))
    assert all(problem.hint for problem in caught.value.problems)


def test_what_cannot_be_aggregated_is_named_with_a_hint():
    refused(UnsupportedError, "no quasi-identifier holds numbers", cells=list("aabbcc"))
    refused(PolicyError, "without an order and without a hierarchy", cells=list("aabbcc"), method={"columns": ["x"]})
    refused(PolicyError, "item sets", cells=[["a"]] * 6, spec={"kind": "items"}, method={"columns": ["x"]})
    refused(PolicyError, "its hierarchy has no effect", spec={"hierarchy": {"bands": [2]}}, method={"columns": ["x"]})


def test_keys_without_effect_are_refused():
    refused(PolicyError, "the requirements ask for larger groups", method={"k": 2})
    refused(PolicyError, "all quasi-identifiers are aggregated", spec={"kind": "numeric"}, release={"ranges": "tight"})
    refused(PolicyError, "suppresses no records", suppression={"limit": 0.1})
    tree = {"hierarchy": {"prefix": [1]}}
    several = {"columns": ["x"], "representative": "median"}
    refused(PolicyError, "show their most frequent value", cells=list("aabbcc"), spec=tree, method=several)


def test_columns_have_to_be_quasi_identifiers():
    for columns in (["z"], ["y"], [["x"]], "x", []):
        with pytest.raises(PolicyError, match=r"method\.columns"):
            sudare.anonymize(
                pa.table({"x": [1, 2, 3], "y": [1, 2, 3]}),
                policy({"x": {"role": "quasi"}, "y": {"role": "insensitive"}}, {"columns": columns}),
            )


def test_more_records_than_there_are_cannot_be_a_group():
    refused(PolicyUnmetError, "groups of 7 records", method={"k": 7})
    refused(PolicyUnmetError, "6 records", require=[{"model": "k-anonymity", "k": 7}])


def test_requirements_that_all_records_together_break_are_named():
    table = Table(
        4, {"a": encode_column("a", pa.array([1, 2, 3, 4]))}, {"s": encode_column("s", pa.array(["x", "x", "x", "x"]))}
    )
    with pytest.raises(PolicyUnmetError):
        microaggregation(table, Requirements((LDiversity(2, "s"),)))
