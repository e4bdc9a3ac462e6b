"""From releases of every method, in memory and in files, to estimated counts."""

import json
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, ParameterError, SudareError, UnsupportedError
from sudare.estimates import ESTIMATORS, ask
from sudare.estimates.run import FEW, answer
from sudare.releases.certificate import Certificate
from sudare.releases.certificate_parts import Mechanism

KEYS = {"cell", "value", "estimate", "share", "se", "low", "high", "records", "few"}
HIDING = ("dummies", "anatomy")
GENERALIZING = ("top-down", "mondrian", "l-clustering", "three-phase", "full-domain")
FILES = ("r.csv", "r.tsv", "r.parquet", "r.arrow")
ROWS = 240


def people(values=("ache", "cold", "flü", "簾", "zoster"), rows=ROWS, **more):
    """People whose sensitive value is drawn evenly, independently of all else."""
    rng = np.random.default_rng(5)
    years = rng.integers(1950, 2000, rows)
    columns = {
        "age": rng.integers(18, 78, rows),
        "sex": [None if place % 40 == 7 else "FM"[place % 2] for place in range(rows)],
        "born": [date(int(year), 1 + place % 12, 1 + place % 28) for place, year in enumerate(years)],
        "pay": np.round(rng.random(rows) * 100, 2),
        "disease": [values[place % len(values)] for place in rng.permutation(rows)],
        "ward": ["NESW"[place % 4] for place in range(rows)],
    }
    return pa.table(columns | more)


def policy(method, least=2, columns=None, **options):
    given = {name: {"role": "quasi"} for name in ("age", "sex", "born", "pay")}
    given |= {"disease": {"role": "sensitive"}, "ward": {"role": "insensitive"}}
    if method == "full-domain":  # with more columns, nothing would be left of age
        given |= {"age": {"role": "quasi", "hierarchy": {"bands": [20, 40]}}}
        given |= {name: {"role": "insensitive"} for name in ("sex", "born", "pay")}
    return {
        "columns": given | (columns or {}),
        "require": [{"model": "l-diversity", "l": least, "column": "disease"}],
        "method": {"name": method, **options},
    }


def released(method, kind="table", folder=None, data=None, **more):
    """A release, as somebody has it: an object, or a path."""
    data = people() if data is None else data
    if kind == "pandas":
        return sudare.anonymize(data.to_pandas(), policy(method, **more), seed=1)
    if kind == "polars":
        polars = pytest.importorskip("polars")
        return sudare.anonymize(polars.from_arrow(data), policy(method, **more), seed=1)
    out = None if kind == "table" else folder / kind
    release = sudare.anonymize(data, policy(method, **more), out=out, seed=1)
    return release if kind == "table" else str(out)


def told(found):
    """What is printed as JSON, which knows no endless numbers."""
    return json.loads(json.dumps(found.to_dict(), allow_nan=False))


@pytest.mark.parametrize("kind", ["table", "pandas", "polars", *FILES])
@pytest.mark.parametrize("method", [*HIDING, *GENERALIZING])
def test_every_method_in_every_form(method, kind, tmp_path):
    release = released(method, kind, tmp_path)
    found = sudare.estimate(release, of="disease", by="sex,age:20")
    answer = told(found)
    assert answer["of"] == "disease" and answer["by"] == ["sex", "age"] and answer["method"] == method
    assert all(set(row) == KEYS for row in answer["rows"])
    assert len(found) == len(answer["rows"]) == len(found.cells) * 5
    assert found.to_dict(3)["rows"] == answer["rows"][:3]
    assert found.values == ["ache", "cold", "flü", "zoster", "簾"]
    assert found.records.sum() == pytest.approx(ROWS)
    assert found.counts.sum(axis=1) == pytest.approx(found.records)
    assert np.all(found.low <= found.counts + 1e-9) and np.all(found.counts <= found.high + 1e-9)
    # how many records of a generalized release are in a cell is an estimate by itself
    assert np.all(found.low >= 0) and np.all(found.high <= (found.records[:, None] if method in HIDING else ROWS))
    table = found.to_arrow()
    assert table.num_rows == len(found)
    assert table.column_names == ["sex", "age", "value", "estimate", "share", "se", "low", "high", "records", "few"]
    if method in HIDING:
        seen = people()
        cells = Counter(zip(seen["sex"].to_pylist(), [age // 20 * 20 for age in seen["age"].to_pylist()], strict=True))
        assert {
            (cell["sex"], int(cell["age"][1:].split(",")[0])): n
            for cell, n in zip(found.cells, found.records, strict=True)
        } == (pytest.approx(cells))


@pytest.mark.parametrize("method", [*HIDING, *GENERALIZING])
def test_memory_and_files_give_the_same(method, tmp_path):
    """The same release, written down in every format, tells the same."""
    release = released(method)
    wanted = sudare.estimate(release, of="disease", by="sex", where="age=30..49")
    from sudare.releases import place, second_table, write_batches

    for name in FILES:
        if method == "dummies" and name.endswith("sv"):
            continue  # lists are not written as text
        folder = tmp_path / name.replace(".", "")
        folder.mkdir()
        written, beside = tmp_path / name, None
        write_batches(release.data.schema, release.data.to_batches(), written)
        if release.second is not None:
            beside = second_table(written)
            write_batches(release.second.schema, release.second.to_batches(), beside)
        mechanism = dict(release.certificate["mechanism"])
        if beside is not None:
            mechanism["second_sha256"] = digest(beside)
        certificate = release.certificate | {"mechanism": mechanism, "release_sha256": digest(written)}
        place(written, folder / name, certificate, beside=beside)
        found = sudare.estimate(folder / name, of="disease", by="sex", where="age=30..49")
        assert found.cells == wanted.cells
        assert found.counts == pytest.approx(wanted.counts, abs=1e-6)
        assert found.low == pytest.approx(wanted.low, abs=1e-6)


def digest(path):
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 2, 3, 40], [1, 2, 3, 40]),
        ([1, 2, 3, None], [1, 2, 3, None]),
        ([0.5, 1.0, 2.25, None], [0.5, 1, 2.25, None]),
        ([True, False, None], ["false", "true", None]),
        (["b", "a", None], ["a", "b", None]),
        ([Decimal("1.50"), Decimal("2.25"), Decimal("3.00")], ["1.50", "2.25", "3.00"]),
        ([date(2020, 1, 1), date(2020, 1, 2), None], ["2020-01-01", "2020-01-02", None]),
    ],
)
@pytest.mark.parametrize("kind", ["table", "pandas", *FILES])
@pytest.mark.parametrize("method", HIDING)
def test_hidden_values_of_many_types(method, kind, values, shown, tmp_path):
    found = sudare.estimate(released(method, kind, tmp_path, people(values)), of="disease", by="ward")
    assert found.values == shown
    assert found.records.tolist() == [ROWS / 4] * 4
    truth = Counter(people(values)["disease"].to_pylist())
    if method == "anatomy":  # all records together are known exactly
        whole = sudare.estimate(released(method, kind, tmp_path, people(values)), of="disease")
        assert sorted(whole.counts[0].tolist()) == pytest.approx(sorted(truth.values()))
        assert whole.se.max() == 0 and whole.high == pytest.approx(whole.low)


@pytest.mark.parametrize("kind", ["table", "pandas", *FILES])
@pytest.mark.parametrize("method", HIDING)
def test_hidden_times(method, kind, tmp_path):
    values = [datetime(2020, 1, 1, hour) for hour in range(4)]
    found = sudare.estimate(released(method, kind, tmp_path, people(values)), of="disease", by="ward")
    assert [value[:13] for value in found.values] == [f"2020-01-01 0{hour}" for hour in range(4)]
    assert found.records.tolist() == [ROWS / 4] * 4


@pytest.mark.parametrize("method", [*HIDING, *GENERALIZING])
def test_columns_that_stand_as_they_were_are_counted_exactly(method):
    data = people()
    found = sudare.estimate(released(method, data=data), of="ward")
    assert found.cells == [{}] and found.values == ["E", "N", "S", "W"]
    assert found.counts.tolist() == [[60, 60, 60, 60]]
    assert found.se.max() == 0 and (found.low == found.high).all() and not found.notes
    if method in HIDING:
        by = sudare.estimate(released(method, data=data), of="ward", by="sex,born:year", where="pay=..50")
        truth = Counter(
            (sex, str(born.year), ward)
            for sex, born, pay, ward in zip(
                *(data[name].to_pylist() for name in ("sex", "born", "pay", "ward")), strict=True
            )
            if pay <= 50
        )
        assert {(*row["cell"].values(), row["value"]): row["estimate"] for row in by if row["estimate"]} == truth


def by_anatomy(values: list[str]) -> Certificate:
    """The certificate of a release by anatomy that hides diseases."""
    mechanism = Mechanism({"columns": {"disease": {"l": 2, "values": values}}})
    return Certificate(method={"name": "anatomy"}, columns={"quasi": ["sex"]}, mechanism=mechanism)


def test_the_example_of_the_papers():
    """Eight people in the four groups that the paper makes: 3/8 of the women seem to have cancer, and none has."""
    people = [
        *(("M", 1, "Cancer"), ("F", 1, "Cut"), ("M", 2, "Cancer"), ("F", 2, "Cut")),
        *(("M", 3, "Cold"), ("F", 3, "Cut"), ("M", 4, "Cancer"), ("F", 4, "Cold")),
    ]
    table = pa.table({"sex": [sex for sex, _, _ in people], "group": [group for _, group, _ in people]})
    second = pa.table(
        {
            "group": [group for _, group, _ in people],
            "disease": [value for _, _, value in people],
            "count": [1] * len(people),
        }
    )
    certificate = by_anatomy(["Cancer", "Cold", "Cut"])
    question = ask("disease", "sex", None, ["sex", "disease"], hidden=["disease"])
    found = answer(table, certificate, question, second=second)
    women = {row["value"]: row for row in found if row["cell"] == {"sex": "F"}}
    assert women["Cancer"]["share"] == 3 / 8 and women["Cold"]["share"] == 2 / 8 and women["Cut"]["share"] == 3 / 8
    # in three groups a woman may have it or not
    assert women["Cancer"]["se"] is None and women["Cancer"]["low"] == 0 and women["Cancer"]["high"] == 3
    everybody = answer(table, certificate, ask("disease", (), None, ["sex", "disease"]), second=second)
    assert everybody.counts.tolist() == [[3, 2, 3]] and everybody.se.max() == 0 and not everybody.notes


def test_limits_hold_what_is_certain():
    """Two of a group of three, which has a value twice: one of them has it at least."""
    table = pa.table({"sex": ["F", "F", "M"], "group": [1, 1, 1]})
    second = pa.table({"group": [1, 1], "disease": ["a", "b"], "count": [2, 1]})
    certificate = by_anatomy(["a", "b"])
    found = answer(table, certificate, ask("disease", "sex", None, ["sex", "disease"]), second=second)
    rows = {(row["cell"]["sex"], row["value"]): (row["low"], row["high"]) for row in found}
    assert rows == {("F", "a"): (1, 2), ("F", "b"): (0, 1), ("M", "a"): (0, 1), ("M", "b"): (0, 1)}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_can_be_chosen(estimator):
    release = released("dummies")
    found = sudare.estimate(release, of="disease", by="ward", estimator=estimator)
    assert found.estimator == estimator and told(found)["estimator"] == estimator
    if estimator == "bayes":
        sharp = sudare.estimate(release, of="disease", by="ward", estimator=estimator, eps=1e-6)
        assert not (sharp.counts == found.counts).all()
    if estimator == "em-shrunk":
        assert (sudare.estimate(release, of="disease", by="ward").counts == found.counts).all()


@pytest.mark.parametrize(
    ("method", "more", "says"),
    [
        (
            "dummies",
            {"estimator": "emm"},
            "estimator: 'emm' is not an estimator for this release. Allowed: em-shrunk, em, ",
        ),
        ("dummies", {"estimator": "em", "eps": 0.1}, "eps: applies only to the estimator bayes."),
        ("dummies", {"eps": 0.1}, "eps: applies only to the estimator bayes."),
        ("dummies", {"estimator": "bayes", "eps": 0}, "eps is 0; it must be a number above 0."),
        ("dummies", {"estimator": "bayes", "eps": "x"}, "eps is 'x'; it must be a number above 0."),
        ("dummies", {"estimator": "bayes", "eps": True}, "eps is True; it must be a number above 0."),
        ("anatomy", {"estimator": "em"}, "'em' is not an estimator for this release. Allowed: groups."),
        ("mondrian", {"estimator": "em"}, "'em' is not an estimator for this release. Allowed: spread."),
        ("dummies", {"level": 1}, "level: must be a number between 0 and 1; got 1."),
        ("anatomy", {"level": 0.0}, "level: must be a number between 0 and 1; got 0.0."),
        ("mondrian", {"level": "high"}, "level: must be a number between 0 and 1; got 'high'."),
        ("mondrian", {"level": float("nan")}, "level: must be a number between 0 and 1; got nan."),
    ],
)
def test_what_is_no_way_to_estimate(method, more, says):
    with pytest.raises(ParameterError) as caught:
        sudare.estimate(released(method), of="disease", by="ward", **more)
    assert says in str(caught.value)


def test_dummies_by_frequency():
    rng = np.random.default_rng(2)
    data = people(rows=6000, disease=rng.choice(["a", "b", "c", "d", "e"], 6000, p=[0.6, 0.2, 0.1, 0.05, 0.05]))
    release = released("dummies", data=data, least=3, frequencies="observed")
    found = sudare.estimate(release, of="disease", by="sex")
    truth = Counter(zip(data["sex"].to_pylist(), data["disease"].to_pylist(), strict=True))
    for row in found:
        assert abs(row["estimate"] - truth[row["cell"]["sex"], row["value"]]) < 5 * row["se"] + 1
    with pytest.raises(UnsupportedError, match="were drawn with weights"):
        sudare.estimate(release, of="disease", by="sex", estimator="closed-form")


def test_sets_of_the_whole_domain_tell_nothing():
    found = sudare.estimate(released("dummies", least=5), of="disease", by="ward")
    assert "nothing can be estimated" in found.notes[0]
    for row in told(found)["rows"]:
        assert row["se"] is None and (row["low"], row["high"]) == (0, 60) and row["estimate"] == 12
    assert found.to_arrow()["se"].null_count == 20


def test_separators_are_told_by_the_policy(tmp_path):
    data = people(["a, b", "c", "d"])
    rules = policy("dummies", columns={"disease": {"role": "sensitive", "separator": ";"}})
    sudare.anonymize(data, rules, out=tmp_path / "r.csv", seed=1)
    assert sudare.estimate(tmp_path / "r.csv", of="disease", policy=rules).values == ["a, b", "c", "d"]
    with pytest.raises(DataError, match="also give the policy"):
        sudare.estimate(tmp_path / "r.csv", of="disease")


def test_names_that_are_hard_to_write(tmp_path):
    names = {"sex": "a=b", "age": "age:10", "ward": "city, state", "pay": "x;y"}
    data = people().rename_columns([names.get(name, name) for name in people().column_names])
    rules = policy("dummies")
    rules["columns"] = {names.get(name, name): spec for name, spec in rules["columns"].items()}
    for kind in ("r.csv", "r.tsv", "r.parquet"):
        sudare.anonymize(data, rules, out=tmp_path / kind, seed=1)
        found = sudare.estimate(
            tmp_path / kind, of="disease", by="city, state,age:10:20,a=b", where=["a=b=F", "x;y=10.."]
        )
        assert list(found.cells[0]) == ["city, state", "age:10", "a=b"]
        assert {cell["a=b"] for cell in found.cells} == {"F"}


def test_columns_that_are_called_like_figures():
    data = people().rename_columns(["records", "estimate", "born", "pay", "disease", "value"])
    rules = policy("anatomy")
    rules["columns"] = dict(
        zip(["records", "estimate", "born", "pay", "disease", "value"], rules["columns"].values(), strict=True)
    )
    found = sudare.estimate(sudare.anonymize(data, rules, seed=1), of="disease", by="estimate,records:20,value")
    assert found.to_arrow().column_names == [
        "estimate", "records", "value", "value_", "estimate_", "share", "se", "low", "high", "records_", "few",
    ]  # fmt: skip


def test_cells_with_few_records_are_flagged():
    found = sudare.estimate(released("dummies"), of="disease", by="ward,sex")
    assert found.few == [cell for cell, records in zip(found.cells, found.records, strict=True) if records < FEW]
    assert {None} == {cell["sex"] for cell in found.few}
    about = f"'disease' in {len(found.cells)} cells by em-shrunk, {len(found.few)} of them with few records"
    assert repr(found) == f"<sudare.Answer: {about}>"


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_small_counts_are_flagged_however_large_their_cell_is(method):
    found = sudare.estimate(released(method), of="disease")
    assert found.few == []
    assert [row["few"] for row in found] == [row["estimate"] < FEW and row["low"] < row["high"] for row in found]
    assert found.to_arrow()["few"].to_pylist() == [row["few"] for row in found]
    by_ward = sudare.estimate(released(method), of="disease", by="ward,sex")
    assert all(row["few"] for row in by_ward if row["records"] < FEW)
    assert any(row["few"] and row["records"] >= FEW for row in by_ward)


def test_small_counts_that_are_known_are_not_flagged():
    found = sudare.estimate(released("mondrian"), of="disease")
    assert np.array_equal(found.low, found.high)
    assert not found.uncertain.any()


def test_levels_of_intervals():
    for method in ("dummies", "mondrian"):
        release = released(method)
        narrow, wide = (sudare.estimate(release, of="disease", by="sex,age:30", level=level) for level in (0.5, 0.99))
        assert np.all(wide.high - wide.low >= narrow.high - narrow.low - 1e-9)
        assert (wide.high - wide.low).sum() > (narrow.high - narrow.low).sum()


# -- generalized releases -----------------------------------------------------------------------------------------

TREE = {"indoor": ["cook", "nurse"], "outdoor": ["farmer", "guide"]}


def at_work(rows):
    rng = np.random.default_rng(8)
    jobs = ["cook", "nurse", "farmer", "guide"]
    return people(rows=rows, job=[jobs[place] for place in rng.integers(0, 4, rows)])


def test_hierarchies_of_all_kinds():
    columns = {
        "age": {"role": "quasi", "hierarchy": {"bands": [5, 10, 20]}},
        "pay": {"role": "quasi", "hierarchy": {"bands": [12.5, 25, 50]}},
        "born": {"role": "quasi", "hierarchy": {"dates": ["month", "quarter", "year"]}},
        "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
    }
    data = at_work(3000)
    for method in ("full-domain", "top-down", "mondrian"):
        rules = policy(method, columns=columns)
        release = sudare.anonymize(data, rules, seed=1)
        shown = {name for name in columns if set(release.data[name].to_pylist()) != {"*"}}
        by = [each for each in ("job", "age:20", "pay:50", "born:year") if each.partition(":")[0] in shown]
        assert len(by) > 1
        found = sudare.estimate(release, of="disease", by=by, policy=rules)
        assert found.records.sum() == pytest.approx(3000)
        wanted = {
            "job": {"cook", "nurse", "farmer", "guide"},
            "age": {f"[{low}, {low + 19}]" for low in (0, 20, 40, 60)},
            "pay": {"[0, 50)", "[50, 100)"},
            "born": {str(year) for year in range(1950, 2000)},
        }
        for name in shown:
            assert {cell[name] for cell in found.cells} <= wanted[name]
        if "born" in shown:
            where = sudare.estimate(release, of="disease", where=["job=indoor", "born=..1974"], policy=rules)
            assert 500 < where.records.sum() < 1000


def test_records_that_show_nothing():
    rules = policy("full-domain", columns={"age": {"role": "quasi", "hierarchy": {"bands": [5, 10, 20]}}}) | {
        "suppression": {"limit": 0.5, "records": "masked"}
    }
    release = sudare.anonymize(people(), rules, seed=1)
    found = sudare.estimate(release, of="ward", by="age:20,sex")
    assert found.records.sum() == pytest.approx(ROWS)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"of": "age"}, "of: column 'age' is generalized; counts can be estimated only for unchanged columns."),
        ({"of": "things"}, "of: column 'things' is generalized"),
        ({"of": "disease", "by": "things"}, "by: column 'things' holds sets of items, which cannot be counted."),
        ({"of": "disease", "where": "things=a"}, "where: column 'things' holds sets of items"),
    ],
)
@pytest.mark.parametrize("kind", ["table", "r.csv"])
def test_what_a_generalized_release_cannot_tell(asked, says, kind, tmp_path):
    data = people(things=[["a", "b"], ["a"], ["c"]] * (ROWS // 3))
    columns = {"things": {"role": "quasi", "kind": "items"}}
    with pytest.raises(SudareError) as caught:
        sudare.estimate(released("top-down", kind, tmp_path, data, columns=columns), **asked)
    assert says in str(caught.value)


def test_lists_that_were_carried_along_cannot_be_counted():
    data = people(things=[["a", "b"], ["a"], ["c"]] * (ROWS // 3))
    for method in (*HIDING, "mondrian"):
        release = released(method, data=data, columns={"things": {"role": "insensitive"}})
        for asked in ({"of": "things"}, {"of": "disease", "by": "things"}, {"of": "ward", "where": "things=a"}):
            with pytest.raises(DataError, match="column 'things' holds sets"):
                sudare.estimate(release, **asked)


# -- releases that are not whole ----------------------------------------------------------------------------------


def damaged(method, change, **more):
    release = released(method, **more)
    certificate = json.loads(json.dumps(release.certificate))
    change(certificate)
    return sudare.api.Release(certificate, release.data, second=release.second)


def facts(certificate):
    return certificate["mechanism"]["columns"]["disease"]


@pytest.mark.parametrize(
    "change",
    [
        lambda c: facts(c).pop("l"),
        lambda c: facts(c).pop("values"),
        lambda c: facts(c).update(l=0),
        lambda c: facts(c).update(l=99),
        lambda c: facts(c).update(l=True),
        lambda c: facts(c).update(l="2"),
        lambda c: facts(c).update(l=3, values=["ache", "cold"]),
        lambda c: facts(c).update(values=["ache", "cold"]),
        lambda c: facts(c).update(values=["ache", 1, "cold"]),
        lambda c: facts(c).update(values=[1, 2, 3, 4, 5]),
        lambda c: facts(c).update(values={"a": 1}),
        lambda c: c["mechanism"]["columns"].update(disease=7),
        lambda c: c.update(columns=None),
        lambda c: c.update(columns=[]),
        lambda c: c.update(columns={"quasi": 3}),
        lambda c: c.update(mechanism="none"),
        lambda c: c.update(method=None),
        lambda c: c.update(item_sets=[1]),
    ],
)
@pytest.mark.parametrize("method", HIDING)
def test_certificates_that_are_not_whole(method, change):
    with pytest.raises(DataError) as caught:
        sudare.estimate(damaged(method, change), of="disease", by="ward")
    assert "ache" not in str(caught.value)


@pytest.mark.parametrize("weights", [[1, 2], "x", [1, 2, 3, 4, 0], [1, 2, 3, 4, None], [1, 2, 3, 4, -1.0]])
def test_weights_that_are_none(weights):
    release = damaged("dummies", lambda c: facts(c).update(weights=weights))
    with pytest.raises(DataError, match="does not contain a weight above 0 for each of its values"):
        sudare.estimate(release, of="disease", by="ward")


def test_other_ways_of_hiding_are_not_taken_for_the_truth():
    release = damaged("dummies", lambda c: c["method"].update(name="fog"))
    with pytest.raises(UnsupportedError, match="column 'disease' was hidden by fog"):
        sudare.estimate(release, of="disease", by="ward")


@pytest.mark.parametrize(
    "second",
    [
        None,
        pa.table({"group": [1], "disease": ["ache"]}),
        pa.table({"group": [1], "disease": ["ache"], "count": [1]}),
        pa.table({"group": ["x"], "disease": ["ache"], "count": [1]}),
        pa.table({"group": [-1], "disease": ["ache"], "count": [1]}),
        pa.table({"group": [None], "disease": ["ache"], "count": [1]}, schema=pa.schema(
            [("group", pa.int64()), ("disease", pa.string()), ("count", pa.int64())])),
        pa.table({"group": [1], "illness": ["ache"], "count": [1]}),
        pa.table({"group": [1], "disease": ["other"], "count": [1]}),
    ],
)  # fmt: skip
def test_second_tables_that_do_not_belong(second):
    release = released("anatomy")
    with pytest.raises(DataError, match="release: "):
        sudare.estimate(sudare.api.Release(release.certificate, release.data, second=second), of="disease", by="ward")
    # what does not need it can be asked all the same
    assert len(sudare.estimate(sudare.api.Release(release.certificate, release.data), of="ward")) == 4


@pytest.mark.parametrize("thing", [None, 3, people(), {"data": 1}])
def test_what_is_no_release(thing):
    with pytest.raises(DataError, match=r"a release must be a path, or a result of `sudare\.anonymize`"):
        sudare.estimate(thing, of="disease")


def test_a_release_without_rows():
    release = released("dummies")
    with pytest.raises(DataError, match="has neither rows nor a path"):
        sudare.estimate(sudare.api.Release(release.certificate), of="disease")


# -- whether the intervals hold -----------------------------------------------------------------------------------


def coverage(method, dependent, seed, rows=2000, level=0.95):
    """The share of true counts that are inside the intervals, over cells of all sizes."""
    rng = np.random.default_rng(seed)
    area = rng.choice(12, rows, p=(w := 1 / np.arange(1, 13)) / w.sum())
    shares = np.arange(8, 0, -1) / 36
    value = rng.choice(8, rows, p=shares)
    value = np.where(dependent & (rng.random(rows) < 0.5), area % 8, value)
    data = pa.table({"area": area, "value": [f"v{code}" for code in value]})
    rules = {
        "columns": {"area": {"role": "quasi"}, "value": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 3, "column": "value"}],
        "method": {"name": method},
    }
    found = sudare.estimate(sudare.anonymize(data, rules, seed=seed + 999), of="value", by="area", level=level)
    truth = np.zeros((12, 8))
    np.add.at(truth, (area, value), 1)
    return np.mean((found.low <= truth) & (truth <= found.high)), np.abs(found.counts - truth).mean()


def test_intervals_hold_the_truth_as_often_as_they_say():
    held = [coverage("dummies", False, seed)[0] for seed in range(12)]
    assert 0.93 <= np.mean(held) <= 0.995


@pytest.mark.parametrize("dependent", [False, True])
def test_bounds_of_anatomy_always_hold_and_intervals_of_dummies_do_with_dependence(dependent):
    """Anatomy's groups mix people who differ, and nothing in the release shows it: only what is certain is said."""
    assert [coverage("anatomy", dependent, seed)[0] for seed in range(4)] == [1.0] * 4
    assert np.mean([coverage("dummies", dependent, seed)[0] for seed in range(4)]) >= 0.93


def test_limits_of_anatomy_are_called_bounds():
    found = sudare.estimate(released("anatomy"), of="disease", by="sex", level=0.5)
    assert found.limits == "bounds" and found.level is None
    assert (told(found)["limits"], told(found)["level"]) == ("bounds", None)
    assert "the limits are bounds" in found.notes[0] and np.isnan(found.se).any()
    for method in ("dummies", "mondrian"):
        other = sudare.estimate(released(method), of="disease", by="sex", level=0.5)
        assert (other.limits, told(other)["limits"], told(other)["level"]) == ("intervals", "intervals", 0.5)
    assert "spread evenly" in sudare.estimate(released("mondrian"), of="disease", by="age:10").notes[0]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_anatomy_are_what_some_assignment_of_values_reaches(seed):
    """All ways to give the values of each group to its records: the least and the most of a count are its bounds."""
    rng = np.random.default_rng(seed)
    held = [list(rng.choice(list("abc"), size)) for size in rng.integers(2, 5, 3)]
    group = np.repeat([1, 2, 3], [len(values) for values in held])
    table = pa.table({"sex": rng.choice(["F", "M"], len(group)), "group": group})
    lines = [(number, value, n) for number, own in enumerate(held, 1) for value, n in sorted(Counter(own).items())]
    second = pa.table(dict(zip(("group", "disease", "count"), map(list, zip(*lines, strict=True)), strict=True)))
    certificate = by_anatomy(["a", "b", "c"])
    sexes = table["sex"].to_pylist()
    worlds = [
        Counter(zip(sexes, (value for own in ways for value in own), strict=True))
        for ways in product(*(set(permutations(own)) for own in held))
    ]
    found = answer(table, certificate, ask("disease", "sex", None, ["sex", "disease"]), second=second)
    for row in found:
        reached = [world[row["cell"]["sex"], row["value"]] for world in worlds]
        assert (row["low"], row["high"]) == (min(reached), max(reached))
        assert row["low"] - 1e-9 <= row["estimate"] <= row["high"] + 1e-9
