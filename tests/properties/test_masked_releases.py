"""Masked records: they stay, show nothing, and are counted, whatever the table, the policy and the method."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError
from sudare.methods import METHODS

from .tables import drawn_tables, effective
from .test_releases import carried, many, plain, released

masked_tables = drawn_tables(limits=(0.1, 0.25, 0.5, 1.0), records=("masked",), orders=("keep",))


def nothing(drawn, row):
    """Whether no quasi-identifier of a released row tells anything."""
    return all(shows_nothing(drawn, name, row[name]) for name in drawn.named("quasi"))


def shows_nothing(drawn, name, cell):
    if cell == "*":
        return True
    # a column without any value has none to hide: its cells are as empty as they came
    return cell is None and all(drawn.value(name, row) is None for row in range(drawn.rows))


@many(max_examples=120)
@given(masked_tables)
def test_all_rows_stay_and_those_that_are_masked_show_nothing(drawn):
    release = released(drawn)
    if release is None:
        return
    facts, rows = release.certificate, release.data.to_pylist()
    event(f"{facts['method']['name']}: {'some' if facts['suppressed'] else 'none'} masked")
    assert len(rows) == facts["rows_in"] == facts["rows_out"] == drawn.rows
    assert facts["suppressed"] <= drawn.policy["suppression"]["limit"] * drawn.rows
    assert sudare.audit(release.data, drawn.policy).passed
    hidden = sum(nothing(drawn, row) for row in rows)
    assert hidden >= facts["suppressed"]
    # rows keep their place: each covers the record that stands there, and what leaves as it is is still its own
    for number, row in enumerate(rows):
        for name in drawn.named("quasi"):
            assert nothing(drawn, row) or drawn.covered(name, number, row[name])
        for name in (*drawn.named("sensitive"), *drawn.named("insensitive")):
            assert plain(row[name]) == carried(drawn, name, number)


@many(max_examples=80)
@given(masked_tables)
def test_masked_records_are_enough_for_a_class_of_their_own(drawn):
    """Rows that show nothing are the masked ones, and maybe those of a class that shows nothing anyway."""
    release = released(drawn)
    if release is None:
        return
    masked = release.certificate["suppressed"]
    others = sum(nothing(drawn, row) for row in release.data.to_pylist()) - masked
    rows = [spec["k"] for spec in drawn.policy["require"] if spec.get("count", "rows") == "rows" and "k" in spec]
    least = max(rows, default=1)
    assert masked == 0 or masked >= least
    assert others == 0 or others >= least


@many(max_examples=80)
@given(drawn=masked_tables, ending=st.sampled_from([".csv", ".parquet", ".arrow"]))
def test_in_a_file(drawn, ending, tmp_path):
    for old in tmp_path.iterdir():
        old.unlink()
    path = tmp_path / f"release{ending}"
    release = released(drawn, out=path)
    if release is None:
        assert list(tmp_path.iterdir()) == []
        return
    assert release.certificate["rows_out"] == drawn.rows
    report = sudare.audit(path, drawn.policy)
    assert report.passed
    assert report.rows == drawn.rows
    if ending == ".parquet":
        rows = pq.read_table(path).to_pylist()
        assert sum(nothing(drawn, row) for row in rows) >= release.certificate["suppressed"]


@many(max_examples=60)
@given(drawn_tables(limits=(0.0,), records=("masked",)))
def test_without_a_limit_nobody_is_masked(drawn):
    release = released(drawn)
    if release is None:
        return
    assert release.certificate["suppressed"] == 0
    assert release.certificate["rows_out"] == drawn.rows


# -- tables of which it is known who is masked ---------------------------------------------------------------------

LONELY = 4
COLUMNS = {
    "job": {"role": "quasi", "hierarchy": {"tree": {"all of them": {"care": ["nurse", "doctor"], "food": ["cook"]}}}},
    "zip": {"role": "quasi", "hierarchy": {"prefix": [3, 1]}},
    "club": {"role": "quasi"},
    "age": {"role": "quasi"},
    "void": {"role": "quasi"},
    "ill": {"role": "sensitive"},
    "id": {"role": "insensitive"},
}
METHOD_NAMES = sorted(name for name, method in METHODS.items() if not method.leaves_quasi)


def clear():
    """Two large groups, and four people who have nothing in common with them or each other."""
    kinds = [("nurse", "111", "a", 30)] * 40 + [("cook", "222", "b", 50)] * 40
    kinds += [
        ("doctor", "333", "c", 1),
        ("nurse", "444", "d", 99),
        ("cook", "555", "e", 150),
        ("doctor", "666", "f", 200),
    ]
    rows = [(*kind, None, f"ill{number % 3}", number) for number, kind in enumerate(kinds)]
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    return pa.table(columns | {"void": pa.array(columns["void"], pa.string())})


def rules(name, limit=0.05, **more):
    require = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "ill"}]
    suppression = {"limit": limit, "records": "masked"}
    given = {"columns": COLUMNS, "require": require, "method": method(name), "suppression": suppression, **more}
    return effective(given)


def method(name):
    """A method with whatever it cannot do without."""
    return {"name": name, **({"target": "ill"} if "target" in METHODS[name].options else {})}


@pytest.mark.parametrize("name", METHOD_NAMES)
@pytest.mark.parametrize("order", ["class", "keep"])
def test_who_fits_nowhere_is_masked(name, order):
    release = sudare.anonymize(clear(), rules(name, release={"order": order}))
    facts, rows = release.certificate, release.data.to_pylist()
    assert facts["rows_out"] == len(rows) == 84
    hidden = [row for row in rows if (row["job"], row["zip"]) == ("all of them", "*")]
    if facts["suppressed"]:  # a method may find classes for all of them instead
        assert facts["suppressed"] == LONELY == len(hidden)
        assert {(row["club"], row["age"]) for row in hidden} == {("*", "*")}
        assert {row["id"] for row in hidden} == {80, 81, 82, 83}
    assert {row["void"] for row in rows if row not in hidden} == {None}
    assert {row["void"] for row in hidden} <= {None, "*"}
    assert sorted(row["id"] for row in rows) == list(range(84))
    assert Counter(row["ill"] for row in rows) == Counter(clear()["ill"].to_pylist())
    assert all(row["ill"] == f"ill{row['id'] % 3}" for row in rows)


@pytest.mark.parametrize("name", [name for name in METHOD_NAMES if METHODS[name].recodes_globally])
def test_someone_is_masked_where_all_recode_alike(name):
    assert sudare.anonymize(clear(), rules(name)).certificate["suppressed"] == LONELY


def spread(ages, name, k=4, limit=0.06, records="masked"):
    """Release people of some ages, and nothing else about them."""
    columns = {"age": {"role": "quasi"}, "id": {"role": "insensitive"}, "ill": {"role": "sensitive"}}
    require = [{"model": "k-anonymity", "k": k}]
    if METHODS[name].needs == "l-diversity":
        require.append({"model": "l-diversity", "l": 2, "column": "ill"})
    policy = {
        "columns": columns,
        "require": require,
        "method": method(name),
        "suppression": {"limit": limit, "records": records},
    }
    ill = [f"ill{number % 3}" for number in range(len(ages))]  # of two, one could have more than half
    return sudare.anonymize(pa.table({"age": ages, "id": range(len(ages)), "ill": ill}), effective(policy))


@pytest.mark.parametrize(
    "name", [name for name in METHOD_NAMES if METHODS[name].recodes_globally or name == "top-down"]
)
def test_far_off_on_both_sides(name):
    """Two on each side are too few to be classes there, and enough to be one that shows nothing."""
    ages = [30] * 40 + [50] * 40 + [-1000, -2000, 3000, 4000]
    rows = spread(ages, name).data.to_pylist()
    assert {row["id"]: row["age"] for row in rows} == {
        number: str(age) if 0 < age < 100 else "*" for number, age in enumerate(ages)
    }


@pytest.mark.parametrize("name", METHOD_NAMES)
@many(max_examples=25)
@given(data=st.data(), k=st.integers(3, 5), limit=st.sampled_from([0.1, 0.2, 0.4]))
def test_far_off_anywhere(name, data, k, limit):
    """Fewer than k on each side, and k or more of them together."""
    sides = [data.draw(st.lists(st.integers(1000, 9000), min_size=(k + 1) // 2, max_size=k - 1)) for _ in "lr"]
    near = [30] * data.draw(st.integers(10, 40)) + [50] * data.draw(st.integers(10, 40))
    ages = near + [-age for age in sides[0]] + sides[1]
    release = spread(ages, name, k, limit)
    masked, rows = release.certificate["suppressed"], release.data.to_pylist()
    event(f"{name}: {'some' if masked else 'none'} masked")
    counts = Counter(row["age"] for row in rows)
    assert sum(counts.values()) == len(ages)
    assert min(counts.values()) >= k
    assert masked <= limit * len(ages)
    assert masked in (0, counts["*"])
    assert sorted(row["id"] for row in rows) == list(range(len(ages)))


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_masked_records_have_to_be_a_class_themselves(name):
    """Three people alone are too few for a class of four: whatever is done, nobody stands among fewer than four."""
    data = clear().slice(0, 83)
    release = sudare.anonymize(data, rules(name))
    rows = release.data.to_pylist()
    assert len(rows) == 83
    names = [column for column, spec in COLUMNS.items() if spec["role"] == "quasi"]
    assert min(Counter(tuple(row[column] for column in names) for row in rows).values()) >= 4
    assert release.certificate["suppressed"] == 0 or release.certificate["suppressed"] >= 4


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_the_loss_counts_them_as_lost(name):
    masked = sudare.anonymize(clear(), rules(name)).certificate
    dropped = sudare.anonymize(
        clear(), effective(rules(name) | {"suppression": {"limit": 0.05, "records": "dropped"}})
    ).certificate
    assert dropped["suppressed"] == masked["suppressed"]
    assert dropped["rows_out"] == masked["rows_out"] - masked["suppressed"]
    for figure in ("gcp", "arx", "entropy", "precision"):
        assert masked["loss"][figure] == pytest.approx(dropped["loss"][figure]), figure


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_what_cannot_be_kept_is_said(name):
    require = [{"model": "k-anonymity", "k": 85}, {"model": "l-diversity", "l": 2, "column": "ill"}]
    with pytest.raises(PolicyUnmetError, match="the table has 84 records"):
        sudare.anonymize(clear(), rules(name, require=require))
