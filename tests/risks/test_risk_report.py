"""The verb: before and after, properties of any release, and input that does not belong together."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import DataError, ParameterError
from sudare.risks.intervals import success

COLUMNS = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi"},
    "zip": {"role": "quasi", "hierarchy": {"prefix": [5, 3, 2]}},
    "job": {"role": "quasi"},
    "disease": {"role": "sensitive"},
    "visits": {"role": "insensitive"},
}


def policy(k=3, **parts):
    return {"columns": COLUMNS, "require": [{"model": "k-anonymity", "k": k}], **parts}


def people(count=80, seed=0):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"qname{i}" for i in range(count)],
            "age": random.integers(30, 60, count),
            "zip": [f"{90411 + 13 * code}" for code in random.integers(0, 40, count).tolist()],
            "job": random.choice(["qnurse", "qcook", "qjudge", None], count).tolist(),
            "disease": random.choice(["xpox", "xcold", "xulcer"], count, p=[0.6, 0.3, 0.1]),
            "visits": random.integers(7001, 7009, count),
        }
    )


def keys(part, place=""):
    """Every value in a JSON document, with its place."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield f"{place}.{key}", key
            yield from keys(value, f"{place}.{key}")
    elif isinstance(part, list):
        for value in part:
            yield from keys(value, place)
    else:
        yield place, part


def test_no_value_of_a_person_is_in_the_report():
    data = people()
    release = sudare.anonymize(data, policy())
    found = sudare.risk(data, policy(), release=release, population=data, model=True, target="disease")
    also = sudare.risk(data, policy(), release=release, fraction=0.1)
    for each in (found, also):
        text = json.dumps(each.to_dict(), allow_nan=False) + str(each) + repr(each)
        values = {str(cell) for name in ("name", "zip", "job", "disease") for cell in data[name].to_pylist()} - {"None"}
        cells = {str(cell) for name in ("zip", "job", "disease") for cell in release.data[name].to_pylist()}
        assert not [value for value in values | cells - {"None", "*"} if value in text]
        words = {word for _, word in keys(each.to_dict()) if isinstance(word, str)}
        assert not words & {str(cell) for cell in release.data["age"].to_pylist()}


def test_the_same_input_gives_the_same_report():
    data = people(200)
    release = sudare.anonymize(data, policy(), seed=5)
    one, two = (sudare.risk(data, policy(), release=release, model=True, seed=3) for _ in range(2))
    assert one.to_dict() == two.to_dict()
    assert one.scores.tolist() == two.scores.tolist()


def test_the_order_of_the_rows_does_not_matter():
    data = people(120)
    release = sudare.anonymize(data, policy(), seed=5)
    turned = data.take(pa.array(np.arange(119, -1, -1)))
    one, two = (sudare.risk(each, policy(), release=release) for each in (data, turned))
    for (place, left), (other, right) in zip(keys(one.to_dict()), keys(two.to_dict()), strict=True):
        assert place == other
        assert left == (pytest.approx(right) if isinstance(right, float) else right)  # sums in another order
    assert one.scores.tolist() == two.scores.tolist()[::-1]


def test_who_is_attacked_is_drawn_from_large_tables(monkeypatch):
    from sudare.risks import risk_report as risk

    monkeypatch.setattr(risk, "PEOPLE", 50)
    data = people(400)
    release = sudare.anonymize(data, policy())
    one, two, other = (sudare.risk(data, policy(), release=release, seed=seed) for seed in (1, 1, 2))
    assert one.after.linkage.linked.attacked == 50
    assert one.to_dict() == two.to_dict()
    assert one.before.records == other.before.records
    assert one.before.linkage != other.before.linkage


rows = st.lists(
    st.tuples(st.integers(30, 36), st.sampled_from(["90411", "90412", "90499", "80411"]), st.sampled_from("abc"),
              st.sampled_from("xyz")),
    min_size=6, max_size=60,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(rows, st.integers(2, 4), st.sampled_from(["top-down", "mondrian", "l-clustering", "full-domain"]))
def test_a_k_anonymous_release_is_no_riskier_than_its_source(given_rows, k, method):
    names = ("age", "zip", "job", "disease")
    data = pa.table(dict(zip(names, map(list, zip(*given_rows, strict=True)), strict=True)))
    columns = {name: COLUMNS[name] for name in names}
    if method == "full-domain":
        columns = {**columns, "age": {"role": "quasi", "hierarchy": {"bands": [2, 4]}},
                   "job": {"role": "quasi", "hierarchy": {"flat": True}}}  # fmt: skip
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": k}], "method": {"name": method}}
    found = sudare.risk(data, rules, release=sudare.anonymize(data, rules))
    before, after = found.before, found.after
    assert after.records.largest_risk <= 1 / k
    assert after.records.largest_risk <= before.records.largest_risk or after.records.smallest >= k
    assert after.records.unique == after.singling_out.records == 0
    assert after.linkage.unmatched == 0
    assert after.linkage.linked.success <= 1 / k + 1e-12
    assert after.linkage.linked.success <= before.linkage.linked.success + 1e-12
    assert after.linkage.linked.success <= after.records.mean_risk + 1e-12  # classes may overlap
    assert after.linkage.singled_out.success == 0
    guesses = found.inference[0]
    assert guesses.after.by_class.success <= guesses.before.by_class.success + 1e-9 or before.records.smallest > 1


@pytest.mark.parametrize("fraction", [0.05, 0.5, 1.0])
def test_a_fraction_lowers_the_risk(fraction):
    found = sudare.risk(people(), policy(), fraction=fraction)
    assert found.before.journalist.mean_risk <= found.before.records.mean_risk + 1e-12
    assert (found.before.journalist.mean_risk == pytest.approx(found.before.records.mean_risk)) == (fraction == 1.0)
    assert found.before.uniqueness.dankar <= 1


def test_columns_are_what_the_intruder_knows():
    data = people()
    release = sudare.anonymize(data, policy())
    less, more = (sudare.risk(data, policy(), release=release, columns=c) for c in (["age", "job"], None))
    assert less.columns == ("age", "job")
    for side in ("before", "after"):
        linked = [getattr(each, side).linkage.linked.success for each in (less, more)]
        assert linked[0] < linked[1]


def test_a_target_may_be_insensitive():
    found = sudare.risk(people(), policy(), target="visits")
    assert [each.target for each in found.inference] == ["visits"]
    assert sudare.risk(people(), policy()).inference[0].target == "disease"


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_quasi_identifiers_left_as_they_are(method, ending, tmp_path):
    """Nothing is hidden about who a record is of, and what it tells about the disease is limited."""
    data, out = people(150), tmp_path / f"release.{ending}"
    rules = {
        "columns": COLUMNS,
        "require": [{"model": "l-diversity", "l": 2, "column": "disease"}],
        "method": {"name": method},
    }
    plain = {
        name: {"role": spec["role"]} for name, spec in COLUMNS.items()
    }  # what does not generalize has no hierarchy
    rules["columns"] = {**plain, "disease": {"role": "sensitive"}}
    data = data.set_column(4, "disease", [["xpox", "xcold", "xulcer"] * 50])
    sudare.anonymize(data, rules, out=out)
    found = sudare.risk(data, rules, release=out)
    assert found.after.records.to_dict() == found.before.records.to_dict()
    assert found.after.linkage.to_dict() == found.before.linkage.to_dict()
    guesses = found.inference[0]
    assert guesses.before.certain > 0.9
    assert guesses.after.certain == 0
    assert guesses.after.by_class.success < 0.65
    assert guesses.after.held_out is None


def test_drawn_values_leave_inference_alone_to_be_measured():
    data = people(200).select(["age", "job", "disease"])
    rules = {
        "columns": {name: COLUMNS[name] for name in ("age", "job", "disease")},
        "require": [{"model": "pk-anonymity", "k": 2}],
        "method": {"name": "pram"},
    }
    found = sudare.risk(data, rules, release=sudare.anonymize(data, rules))
    assert found.after.records is None
    assert found.criteria["linkability"]["after"] is None
    assert found.inference[0].after.by_class.attacked == 200
    assert any("drawn at random" in note or "draws values at random" in note for note in found.notes)
    assert "not measured" in str(found)
    assert found.beliefs == {}
    assert "the certificate does not bound what can be inferred about 'disease'." in found.notes


def test_beliefs_stand_beside_guesses_that_ignore_how_values_were_drawn():
    """The guesses take shown values as true; somebody who knows the matrices is limited by the certificate alone."""
    data = people(200).select(["age", "job", "disease"])
    limit = {"model": "alpha-gamma", "column": "disease", "alpha": 0.9, "gamma": 0.01}
    rules = {
        "columns": {name: COLUMNS[name] for name in ("age", "job", "disease")},
        "require": [limit],
        "method": {"name": "pram"},
    }
    release = sudare.anonymize(data, rules)
    found = sudare.risk(data, rules, release=release)
    assert found.beliefs == {"disease": release.certificate["guarantees"][0]["achieved"]}
    assert found.to_dict()["beliefs"] == found.beliefs
    assert found.criteria["inference"]["before"] is not None
    assert found.criteria["inference"]["after"] is None
    assert found.to_dict()["wp216"]["inference"]["after"] is None
    assert any("It ignores the published matrices and priors" in note for note in found.notes)
    [line] = [line for line in str(found).splitlines() if line.startswith("belief in a true value of 'disease'")]
    told = [float(word.rstrip("%")) / 100 for word in line.split() if word.endswith("%")]
    for figure, key in zip(told, ("alpha", "one value", "one record"), strict=True):
        assert found.beliefs["disease"][key] <= figure + 1e-9 <= found.beliefs["disease"][key] + 1.1e-4
    rules["require"] = [limit | {"against": "column"}]
    alone = sudare.risk(data, rules, release=sudare.anonymize(data, rules))
    assert set(alone.beliefs["disease"]) == {"alpha", "gamma", "one value"}
    assert "(by this column alone; others may reveal more)" in str(alone)
    rules["method"] = {"name": "top-down"}
    rules["require"] = [{"model": "k-anonymity", "k": 5}]
    other = sudare.risk(data, rules, release=sudare.anonymize(data, rules))
    assert other.beliefs is None
    assert other.criteria["inference"]["after"] is not None


@pytest.mark.parametrize("achieved", [None, 0.5, {"alpha": "much", "one value": 7}, ["alpha"]], ids=str)
def test_a_certificate_without_beliefs_gives_none(tmp_path, achieved):
    data = people(200).select(["age", "job", "disease"])
    rules = {
        "columns": {name: COLUMNS[name] for name in ("age", "job", "disease")},
        "require": [{"model": "alpha-gamma", "column": "disease", "alpha": 0.9, "gamma": 0.01}],
        "method": {"name": "pram"},
    }
    release = tmp_path / "release.csv"
    sudare.anonymize(data, rules, out=release)
    paper = tmp_path / "release.csv.sudare.json"
    told = json.loads(paper.read_text())
    told["guarantees"][0]["achieved"] = achieved
    paper.write_text(json.dumps(told))
    assert sudare.risk(data, rules, release=release).beliefs == {}


def test_values_may_be_drawn_that_nobody_has():
    from sudare.risks import read_released_codes
    from sudare.table import Table, encode_column

    table = Table(3, {"job": encode_column("job", pa.array(["cook", "judge", "cook"]))})
    released = pa.table({"job": ["judge", "pilot", "cook"]})
    with pytest.raises(DataError, match="not in the data"):
        read_released_codes(table, released, generalized=False)
    cells = read_released_codes(table, released, generalized=False, drawn=True).cells["job"]
    allowed = [list(range(cells.low[cell], cells.high[cell] + 1)) for cell in cells.of_row.tolist()]
    assert allowed == [[1], [], [0]]


def test_records_left_out_and_masked_cannot_be_found():
    data = people(120, seed=4)
    columns = {**COLUMNS, "age": {"role": "quasi", "hierarchy": {"bands": [5, 10]}},
               "job": {"role": "quasi", "hierarchy": {"flat": True}}}  # fmt: skip
    for records in ("dropped", "masked"):
        rules = {**policy(4), "columns": columns, "method": {"name": "full-domain"},
                 "suppression": {"limit": 0.3, "records": records}}  # fmt: skip
        release = sudare.anonymize(data, rules)
        found = sudare.risk(data, rules, release=release)
        lost = release.certificate["suppressed"]
        assert lost > 0
        assert found.after.linkage.linked.success <= 1 / 4
        assert found.after.linkage.unmatched <= lost
        assert any(note.startswith(f"{lost} records were suppressed or masked") for note in found.notes)


def test_records_that_a_plan_left_out():
    """Values that the plan's hierarchy lacks are missing here, too, and their records cannot be found."""
    tree = {"tree": {"care": ["qnurse", "qcook"], "law": ["qjudge"]}}
    columns = {"age": {"role": "quasi", "hierarchy": {"bands": [10, 30]}}, "job": {"role": "quasi", "hierarchy": tree},
               "disease": {"role": "sensitive"}}  # fmt: skip
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}], "method": {"name": "full-domain"},
             "suppression": {"limit": 0.5, "unseen": "suppress"}}  # fmt: skip
    data = people(60).select(["age", "job", "disease"])
    plan = sudare.anonymize(data, rules).plan
    later = people(50, seed=9).select(["age", "job", "disease"])
    later = later.set_column(1, "job", [["qmiller", *later["job"].to_pylist()[1:]]])
    release = sudare.apply(plan, later)
    found = sudare.risk(later, rules, release=release)
    assert (found.rows, found.released) == (50, release.certificate["rows_out"])
    assert found.after.linkage.linked.success <= 1 / 2


def test_sensitive_columns_that_cannot_be_guessed_are_left_alone():
    data = people(30).append_column("history", pa.array([[{"at": 1}]] * 30))
    rules = {**policy(), "columns": {**COLUMNS, "history": {"role": "sensitive"}}}
    found = sudare.risk(data, rules, release=sudare.anonymize(data, rules))
    assert [each.target for each in found.inference] == ["disease"]


def test_item_sets_count_as_a_whole_and_stay_out_of_combinations():
    data = sudare.datasets.diabetes().slice(0, 1000)
    rules = sudare.datasets.diabetes_policy()
    found = sudare.risk(data, rules, release=sudare.anonymize(data, rules))
    assert found.before.singling_out.columns == ("race", "gender", "age", "admission_type")
    assert "diagnoses" in found.columns
    assert any("item sets as a whole" in note for note in found.notes)
    assert found.after.people.smallest >= 5
    assert found.after.linkage.linked.success <= 1 / 5


# -- what does not belong together ---------------------------------------------------------------------------------


def test_a_release_of_other_records_is_refused():
    release = sudare.anonymize(people(80, seed=1), policy())
    with pytest.raises(DataError, match=r"was made of 80 records, and the data has 79"):
        sudare.risk(people(79, seed=1), policy(), release=release)
    with pytest.raises(DataError, match="not a release of this data"):
        sudare.risk(people(80, seed=2), policy(), release=release)
    with pytest.raises(DataError, match="another policy"):
        sudare.risk(people(80, seed=1), policy(4), release=release)


def test_a_release_without_a_certificate_is_refused(tmp_path):
    out = tmp_path / "release.csv"
    sudare.anonymize(people(), policy(), out=out)
    (tmp_path / "release.csv.sudare.json").unlink()
    with pytest.raises(DataError, match="certificate of this release is missing"):
        sudare.risk(people(), policy(), release=out)
    with pytest.raises(DataError, match="a release must be a path"):
        sudare.risk(people(), policy(), release=people())


def test_everything_wrong_with_what_is_asked_is_said_at_once():
    with pytest.raises(ParameterError) as caught:
        sudare.risk(
            people(), policy(), columns=["age", "agee"], target="name", fraction=0, most_columns=9, seed=-1,
            population=people(),
        )  # fmt: skip
    text = str(caught.value)
    parts = ["'agee' is not a column", "Did you mean 'age'?", "together with a population", "above 0, up to"]
    for part in (*parts, "'name' is not a sensitive", "from 1 to 8", "must be a whole number from 0"):
        assert part in text


@pytest.mark.parametrize("columns", [["age"], ["age", "age"], []])
def test_one_column_only(columns):
    with pytest.raises(ParameterError, match="cannot combine columns"):
        sudare.risk(people(), policy(), columns=columns)


def test_a_policy_of_one_quasi_identifier():
    rules = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "require": policy()["require"]}
    with pytest.raises(ParameterError, match="knows one column cannot combine columns; got 'age'"):
        sudare.risk(people(), rules)


def test_a_population_that_does_not_fit():
    with pytest.raises(DataError, match=r"nowhere\.csv: there is no such file"):
        sudare.risk(people(), policy(), population="nowhere.csv")
    with pytest.raises(sudare.SudareError, match="job"):
        sudare.risk(people(), policy(), population=people().select(["age", "zip"]))
    strange = people().set_column(1, "age", pa.array([[1]] * 80))
    with pytest.raises(DataError, match=r"column 'age' holds .* in the population"):
        sudare.risk(people(), policy(), population=strange)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_with_other_sensitive_values_is_refused(tmp_path, ending):
    data = people()
    release = sudare.anonymize(data, policy(), out=tmp_path / f"release.{ending}")
    assert sudare.risk(data, policy(), release=release).after is not None
    place, cells = data.column_names.index("disease"), data["disease"].to_pylist()
    renamed = data.set_column(place, "disease", pa.array(["xgout" if each == "xpox" else each for each in cells]))
    moved = data.set_column(place, "disease", pa.array(["xcold" if each == "xpox" else each for each in cells[:40]]
                                                       + cells[40:]))  # fmt: skip
    for other in (renamed, moved):
        with pytest.raises(DataError, match="column 'disease' shows values that are not those of the data") as caught:
            sudare.risk(other, policy(), release=release)
        assert "xpox" not in str(caught.value)


@pytest.mark.parametrize(
    ("population", "message"),
    [
        (people().drop_columns("zip"), "population: there is no column 'zip'"),
        (people().slice(0, 0), "population: has no"),
    ],
)
def test_what_is_wrong_with_a_population_is_said_of_it(population, message):
    with pytest.raises(DataError, match=message):
        sudare.risk(people(), policy(), population=population)


def test_equal_shares_differ_by_nothing():
    assert success(0.1 + 0.2, 0.3, 100).above == 0.0
