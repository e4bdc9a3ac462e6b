"""What every method has to keep that keeps quasi-identifiers unchanged and hides sensitive values."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from test_methods import SETTINGS, patients, required, ways_of

import sudare
from sudare.core.errors import PolicyError, PolicyUnmetError, SudareError, TargetError, UnsupportedError
from sudare.methods import METHODS
from sudare.models import MODELS, Requirements

WAYS = ways_of([name for name, method in METHODS.items() if method.leaves_quasi and not method.perturbs])
IDS = ["-".join((name, *(f"{option}-{value}" for option, value in options.items()))) for name, options in WAYS]
every_way = pytest.mark.parametrize(("name", "options"), WAYS, ids=IDS)
every_method = pytest.mark.parametrize("name", [name for name, options in WAYS if not options])
every_ending = pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
ILLNESSES = ["flu", "cold", "asthma", "rash", "burn", "well"]
QUASI = ["age", "height", "zip", "born", "tags"]
LEAST = {"model": "l-diversity", "l": 3, "column": "ill"}


def people(rows=120, ill=None, seed=0) -> pa.Table:
    """A table with quasi-identifiers of several types; ``id`` tells which record a released row was."""
    random = np.random.default_rng(seed)

    def holes(cells):
        return [None if random.random() < 0.1 else cell for cell in cells]

    return pa.table(
        {
            "id": pa.array(range(rows)),
            "age": pa.array(holes(random.integers(18, 90, rows).tolist()), pa.int16()),
            "height": pa.array(holes(random.normal(170, 10, rows).round(1).tolist())),
            "zip": pa.array(holes([f"0{n:03d}" for n in random.integers(0, 300, rows)])).dictionary_encode(),
            "born": pa.array(holes([date.fromordinal(int(n)) for n in random.integers(720_000, 735_000, rows)])),
            "tags": pa.array([[f"t{n}" for n in random.integers(0, 9, size)] for size in random.integers(1, 4, rows)]),
            "ill": random.choice(ILLNESSES, rows).tolist() if ill is None else ill,
        }
    )


def policy(name, options=None, l=3, ill=None, **more) -> dict:  # noqa: E741 - the literature's letter
    columns = {"id": {"role": "insensitive"}, **{quasi: {"role": "quasi"} for quasi in QUASI}}
    return {
        "columns": {**columns, "ill": {"role": "sensitive", **(ill or {})}},
        "require": [{**LEAST, "l": l}],
        "method": {"name": name, **(options or {})},
        **more,
    }


def small(name, options=None, **more) -> dict:
    """A policy with one quasi-identifier alone."""
    made = policy(name, options, **more)
    made["columns"] = {column: made["columns"][column] for column in ("id", "age", "ill")}
    return made


def two_columns(ill) -> pa.Table:
    return pa.table({"id": range(len(ill)), "age": [n % 7 for n in range(len(ill))], "ill": ill})


def second_of(path):
    return path.with_name(f"{path.stem}.sensitive{path.suffix}")


def read(path, like: pa.Schema) -> pa.Table:
    """Read a file of a release; text by the types of the source, where columns leave as they came."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix == ".arrow":
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all()
    types = {field.name: _in_text(field) for field in like} | {"group": pa.int64(), "count": pa.int64()}
    return pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types={name: kind for name, kind in types.items() if name != "ill"} | {"ill": pa.string()},
            strings_can_be_null=True,
            null_values=[""],
        ),
    )


def _in_text(field: pa.Field) -> pa.DataType:
    if pa.types.is_dictionary(field.type):
        return field.type.value_type
    return pa.string() if pa.types.is_list(field.type) else field.type


def plain(value):
    """Make cells comparable: not-a-number equals itself, lists can be counted, and -0.0 is 0.0."""
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    return tuple(value) if isinstance(value, list) else value


def check_truth(data, released, second, l, separator=None):  # noqa: E741
    """All records leave once, with all columns but the sensitive one as they were, and the truth can be true."""
    names = [name for name in data.column_names if name != "ill"]
    before, after = data.select(names).to_pylist(), released.select(names).to_pylist()
    joined = separator is not None
    for row in before if joined else ():
        for name, cell in row.items():
            row[name] = ",".join(cell) if isinstance(cell, list) else cell
    assert Counter(tuple(map(plain, row.values())) for row in before) == Counter(
        tuple(map(plain, row.values())) for row in after
    )
    truth = {row["id"]: plain(row["ill"]) for row in data.to_pylist()}
    if second is None:
        for row in released.to_pylist():
            shown = [item or None for item in row["ill"].split(separator)] if joined else list(map(plain, row["ill"]))
            assert len(shown) == len(set(shown)) == l
            assert (as_text(truth[row["id"]]) if joined else truth[row["id"]]) in shown
        return
    assert "ill" not in released.column_names
    assert second.column_names == ["group", "ill", "count"]
    told = defaultdict(Counter)
    for row in second.to_pylist():
        told[row["group"]][plain(row["ill"])] += row["count"]
    groups = defaultdict(Counter)
    for row in released.to_pylist():
        value = truth[row["id"]]
        groups[row["group"]][as_text(value) if joined else value] += 1
    assert groups == told
    assert set(groups) == set(range(1, len(groups) + 1))
    for counts in groups.values():
        assert len(counts) >= l
        assert set(counts.values()) == {1}


def as_text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    return None if value is None else str(value)


# ---- what is refused

ELSEWHERE = {
    "km-anonymity": [{"k": 2, "m": 2, "column": "tags"}],
    "pk-anonymity": [{"k": 2}],
    "alpha-gamma": [{"column": "illness", "alpha": 0.9, "gamma": 0.0}],
}
OTHERS = [
    (model, setting)
    for model, given in (SETTINGS | ELSEWHERE).items()
    for setting in given
    if (model, setting.get("variant", "distinct")) != ("l-diversity", "distinct") and setting.get("column") != "cost"
]


def test_every_other_model_is_tried():
    assert {model for model, _ in OTHERS} == set(MODELS) - {"uniqueness"}  # which every release can be asked for


def clinic(name, *more) -> dict:
    """A policy for ``patients``, of which one column is sensitive."""
    quasi = {column: {"role": "quasi"} for column in ("age", "height", "job", "zip")}
    models, distances = ({spec.get(key) for spec in more} for key in ("model", "distance"))
    tree = {"tree": {"lungs": ["flu", "cold", "asthma"], "skin": ["rash", "burn"], "none": ["well"]}}
    return {
        "columns": {
            **quasi,
            "tags": {"role": "quasi"} | ({"kind": "items"} if "km-anonymity" in models else {}),
            "illness": {"role": "sensitive"} | ({"hierarchy": tree} if "hierarchical" in distances else {}),
            "who": {"role": "subject"},
        },
        "require": [{"model": "l-diversity", "l": 2, "column": "illness"}, *more],
        "method": {"name": name},
    }


@every_method
@pytest.mark.parametrize(("model", "setting"), OTHERS, ids=[f"{m}-{list(s.values())}" for m, s in OTHERS])
def test_other_promises_are_refused_before_anything_is_read(name, model, setting):
    given = clinic(name, {"model": model, **setting})
    if model == "l-diversity":  # a policy names the model; the variant is the method's to refuse
        column = {"age": [1, 2], "height": [1, 2], "job": ["a", "b"], "zip": ["1", "2"], "tags": [["a"], ["a"]]}
        data = pa.table({**column, "illness": ["flu", "cold"], "who": ["p", "q"]})
        with pytest.raises((PolicyError, PolicyUnmetError), match=f"{name} keeps quasi-identifiers unchanged"):
            sudare.anonymize(data, given)
        return
    with pytest.raises(PolicyError) as caught:
        sudare.load_policy(given)
    [problem] = [problem for problem in caught.value.problems if problem.where == "method.name"]
    assert f"{name} keeps quasi-identifiers unchanged, and cannot keep {model}" in problem.what
    assert "top-down" in problem.hint
    with pytest.raises(PolicyError, match=model):
        sudare.anonymize(pa.table({"age": [1]}), {**given, "method": {"name": "top-down"}}, method=name)


@every_way
@pytest.mark.parametrize(("model", "setting"), OTHERS, ids=[f"{m}-{list(s.values())}" for m, s in OTHERS])
def test_other_promises_are_refused_by_the_method_itself(name, options, model, setting):
    table = patients(60)
    table = replace(table, sensitive={"illness": table.sensitive["illness"]})
    asked = Requirements((MODELS["l-diversity"](2, "illness"), MODELS[model](**setting)))
    with pytest.raises(PolicyUnmetError, match="keeps quasi-identifiers unchanged") as caught:
        METHODS[name].load()(table, asked, **options)
    [problem] = caught.value.problems
    assert model in problem.where
    assert "top-down" in problem.hint


@every_way
def test_a_sensitive_column_that_nothing_is_promised_about(name, options):
    given = policy(name, options)
    given["columns"]["pay"] = {"role": "sensitive"}
    data = people().append_column("pay", pa.array(range(120)))
    with pytest.raises(PolicyError, match=r"columns\.pay: is sensitive, but no promise is about it") as caught:
        sudare.anonymize(data, given)
    assert name in str(caught.value)
    with pytest.raises(PolicyUnmetError, match=r"columns\.cost: is sensitive, but no promise is about it"):
        METHODS[name].load()(patients(60), required(("l-diversity", {"l": 2, "column": "illness"})), **options)


@every_way
def test_a_promise_about_nothing(name, options):
    table = replace(patients(60), sensitive={})
    with pytest.raises(UnsupportedError, match=f"{name} needs a requirement of l-diversity"):
        METHODS[name].load()(table, Requirements(()), **options)


@every_way
@pytest.mark.parametrize("values", [1, 2, 4])
def test_fewer_values_than_asked_for(name, options, values, tmp_path):
    data = two_columns(ILLNESSES[:values] * 8)
    with pytest.raises(PolicyUnmetError) as caught:
        sudare.anonymize(data, small(name, options, l=5), out=tmp_path / "r.csv")
    text = str(caught.value)
    assert f"requires 5 different values, but column 'ill' has {values}" in text
    assert (f"require at most l = {values}." in text) == (values > 1)
    assert not any(illness in text for illness in ILLNESSES)
    assert list(tmp_path.iterdir()) == []


@every_way
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tables_smaller_than_l(name, options, rows, tmp_path):
    data = two_columns(pa.array(ILLNESSES[:rows], pa.string()))
    with pytest.raises(SudareError) as caught:
        sudare.anonymize(data, small(name, options, l=3), out=tmp_path / "r.parquet")
    assert rows == 0 or isinstance(caught.value, PolicyUnmetError)
    assert list(tmp_path.iterdir()) == []


@every_way
def test_as_many_records_as_values_as_l(name, options):
    data = two_columns(ILLNESSES[:3])
    release = sudare.anonymize(data, small(name, options, l=3))
    check_truth(data, release.data, release.second, 3)


# ---- from end to end


@every_way
@every_ending
@pytest.mark.parametrize("order", ["class", "keep"])
def test_all_records_leave_once_with_everything_but_the_truth_as_it_was(name, options, ending, order, tmp_path):
    data, given = people(), policy(name, options, release={"order": order})
    path = tmp_path / f"r{ending}"
    release = sudare.anonymize(data, given, out=path)
    apart = name == "anatomy"
    assert release.second == (second_of(path) if apart else None)
    there = {path, path.with_name(f"{path.name}.sudare.json"), *([second_of(path)] if apart else [])}
    assert set(tmp_path.iterdir()) == there
    released = read(path, data.schema)
    second = read(second_of(path), data.schema) if apart else None
    check_truth(data, released, second, 3, separator="," if ending == ".csv" else None)
    assert (released.column("id").to_pylist() == list(range(120))) == (order == "keep")
    facts = release.certificate
    assert (facts["rows_in"], facts["rows_out"], facts["suppressed"], facts["classes"]) == (120, 120, 0, None)
    assert facts["loss"]["gcp"] == 0.0
    assert facts["mechanism"]["columns"]["ill"]["l"] == 3
    assert facts["mechanism"]["columns"]["ill"]["values"] == sorted(ILLNESSES)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    report = sudare.audit(path, given)
    assert report.passed
    assert (report.rows, report.classes, report.problems, report.notes) == (120, None, (), ())
    assert report.guarantees[0].achieved >= 3


@every_way
def test_in_memory(name, options):
    data = people()
    before = data.to_pylist()
    release = sudare.anonymize(data, policy(name, options))
    check_truth(data, release.data, release.second, 3)
    kinds = {field.name: field.type for field in release.data.schema}
    for column in QUASI:
        kind = data.schema.field(column).type
        assert kinds[column] == (kind.value_type if pa.types.is_dictionary(kind) else kind)
    assert data.to_pylist() == before
    assert "classes" not in repr(release)


@every_method
def test_in_frames(name):
    pandas = pytest.importorskip("pandas")
    data = two_columns(ILLNESSES * 5)
    release = sudare.anonymize(data.to_pandas(), small(name))
    assert isinstance(release.data, pandas.DataFrame)
    second = None
    if release.second is not None:
        assert isinstance(release.second, pandas.DataFrame)
        second = pa.Table.from_pandas(release.second)
    check_truth(data, pa.Table.from_pandas(release.data), second, 3)


@every_way
def test_with_bounded_memory(name, options, tmp_path):
    data = people(500)
    path = tmp_path / "r.parquet"
    sudare.anonymize(data, policy(name, options), out=path, memory="1GiB")
    check_truth(data, pq.read_table(path), pq.read_table(second_of(path)) if name == "anatomy" else None, 3)


@every_way
def test_from_text(name, options, tmp_path):
    data = people().drop_columns(["tags"])
    source, path = tmp_path / "source.csv", tmp_path / "r.parquet"
    pa.csv.write_csv(data.cast(pa.schema([(f.name, _in_text(f)) for f in data.schema])), source)
    given = policy(name, options)
    del given["columns"]["tags"]
    sudare.anonymize(source, given, out=path)
    released = pq.read_table(path)
    check_truth(data, released, pq.read_table(second_of(path)) if name == "anatomy" else None, 3)
    assert released.schema.field("zip").type == pa.string()  # codes with leading zeros are no numbers
    assert sudare.audit(path, given).passed


@every_way
def test_a_seed_is_for_tests_and_without_one_releases_differ(name, options):
    def rows(seed):
        release = sudare.anonymize(people(), policy(name, options), seed=seed)
        return release.data.to_pylist(), release.second and release.second.to_pylist()

    assert rows(5) == rows(5)
    assert rows(5) != rows(6)
    assert rows(None) != rows(None)


@every_way
def test_what_is_released_does_not_tell_the_order_of_the_source(name, options):
    ill = sorted(ILLNESSES * 400)
    data, given = two_columns(ill), small(name, options)
    release = sudare.anonymize(data, given)
    ids = np.array(release.data.column("id").to_pylist())
    assert abs(np.corrcoef(ids, np.arange(len(ids)))[0, 1]) < 0.1
    if name == "anatomy":
        groups = np.array(release.data.column("group").to_pylist())
        assert abs(np.corrcoef(ids, groups)[0, 1]) < 0.1
        assert abs(np.corrcoef(groups, np.arange(len(ids)))[0, 1]) < 0.1
        # nor does the place of a record among those of its value tell its group
        for first in range(0, len(ids), 400):
            mine = (ids >= first) & (ids < first + 400)
            assert abs(np.corrcoef(ids[mine], groups[mine])[0, 1]) < 0.25
    kept = sudare.anonymize(data, {**given, "release": {"order": "keep"}})
    assert kept.data.column("id").to_pylist() == list(range(len(ill)))
    check_truth(data, kept.data, kept.second, 3)


@every_method
def test_identifiers_subjects_and_unnamed_columns_stay_behind(name, tmp_path):
    data = people().append_column("name", pa.array([f"n{n}" for n in range(120)]))
    data = data.append_column("who", pa.array([f"p{n // 2}" for n in range(120)])).append_column("x", data["age"])
    given = policy(name)
    given["columns"] |= {"name": {"role": "identifier"}, "who": {"role": "subject"}}
    path = tmp_path / "r.parquet"
    release = sudare.anonymize(data, given, out=path)
    assert not {"name", "who", "x"} & set(pq.read_schema(path).names)
    assert sudare.audit(path, given).passed
    assert release.certificate["search"]["notes"]  # that people have several records


@every_method
def test_progress_only_goes_up_and_reaches_the_end(name):
    heard = defaultdict(list)
    table = patients(200)
    table = replace(table, sensitive={"illness": table.sensitive["illness"]})
    asked = required(("l-diversity", {"l": 3, "column": "illness"}))
    METHODS[name].load()(table, asked, progress=lambda stage, done, total: heard[stage].append((done, total)))
    assert heard["decide"][-1] == (1.0, 1.0)
    for told in heard.values():
        assert told == sorted(told)


@every_way
def test_the_input_stays_as_it_was(name, options):
    table = replace(patients(200), sensitive={"illness": patients(200).sensitive["illness"]})
    if options.get("missing") == "error":
        table = replace(table, sensitive={"illness": _present(table.sensitive["illness"])})
    if options.get("frequencies") == "observed":
        table = replace(table, subject=None)  # nobody may have several values then
    codes = table.sensitive["illness"].codes
    before = codes.copy()
    codes.flags.writeable = False
    METHODS[name].load()(table, required(("l-diversity", {"l": 3, "column": "illness"})), **options)
    np.testing.assert_array_equal(codes, before)


def _present(column):
    return replace(column, codes=np.where(column.codes == column.missing_code, 0, column.codes), missing=False)


@every_method
def test_the_strictest_of_several_promises_about_a_column(name, tmp_path):
    given = policy(name)
    given["require"] = [{**LEAST, "l": 2}, {**LEAST, "l": 4}, LEAST]
    path = tmp_path / "r.parquet"
    release = sudare.anonymize(people(), given, out=path)
    assert release.certificate["mechanism"]["columns"]["ill"]["l"] == 4
    report = sudare.audit(path, given)
    assert report.passed
    assert [guarantee.required for guarantee in report.guarantees[:3]] == [2, 4, 3]


@every_method
@pytest.mark.parametrize("taken", ["group", "count"])
def test_names_that_a_release_may_need_for_itself(name, taken):
    """A column may have any name, as long as it can be told from what a separated release adds."""
    data = two_columns(ILLNESSES * 5).rename_columns(["id", taken, "ill"])
    given = small(name)
    given["columns"] = {"id": {"role": "insensitive"}, taken: {"role": "quasi"}, "ill": {"role": "sensitive"}}
    if name == "anatomy":
        with pytest.raises(PolicyError, match="the name of a column that anatomy adds"):
            sudare.anonymize(data, given)
        given["columns"][taken] = {"role": "subject"}
        given["columns"]["id"] = {"role": "quasi"}
        with pytest.raises(PolicyError, match="the name of a column that anatomy adds"):
            sudare.anonymize(data, given)
    else:
        check_truth(data, sudare.anonymize(data, given).data, None, 3)


# ---- what stays behind


@every_way
@every_ending
def test_a_release_that_fails_leaves_the_older_one_alone(name, options, ending, tmp_path):
    path = tmp_path / f"r{ending}"
    sudare.anonymize(people(), policy("anatomy"), out=path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(PolicyUnmetError):
        sudare.anonymize(people(), policy(name, options, l=7), out=path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["dummies", "top-down", "anatomy"])
@every_ending
def test_the_second_table_of_an_older_release_goes_with_it(name, ending, tmp_path):
    path = tmp_path / f"r{ending}"
    sudare.anonymize(people(), small("anatomy"), out=path)
    old = second_of(path).read_bytes()
    sudare.anonymize(people(seed=1), small(name), out=path)
    assert second_of(path).exists() == (name == "anatomy")
    assert name != "anatomy" or second_of(path).read_bytes() != old
    assert sudare.audit(path, small(name)).passed
    assert len(list(tmp_path.iterdir())) == 2 + (name == "anatomy")


@pytest.mark.parametrize("certificate", [None, "no json", "[]", '{"mechanism": null}', '{"mechanism": {}}'])
def test_a_file_that_only_has_such_a_name_is_not_touched(certificate, tmp_path):
    path = tmp_path / "r.csv"
    second_of(path).write_text("somebody's notes")
    if certificate is not None:
        (tmp_path / "r.csv.sudare.json").write_text(certificate)
    sudare.anonymize(people(), policy("dummies", ill={"separator": ";"}), out=path)
    assert second_of(path).read_text() == "somebody's notes"


def test_a_folder_in_the_way_of_the_second_table(tmp_path):
    path = tmp_path / "r.csv"
    sudare.anonymize(people(), policy("dummies"), out=path)
    before = path.read_bytes()
    second_of(path).mkdir()
    with pytest.raises(TargetError, match=r"r\.sensitive\.csv: is a folder"):
        sudare.anonymize(people(), policy("anatomy"), out=path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3


def test_the_source_is_never_overwritten_by_the_second_table(tmp_path):
    source = tmp_path / "r.sensitive.parquet"
    pq.write_table(people(), source)
    with pytest.raises(TargetError, match="is the source itself"):
        sudare.anonymize(source, policy("anatomy"), out=tmp_path / "r.parquet")
