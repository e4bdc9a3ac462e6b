"""What the audit says of records that are unique in a release, against pandas."""

from __future__ import annotations

import itertools

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits import Alone, Elsewhere, audit_release
from sudare.audits import uniqueness as counting
from sudare.audits.class_tables import build_classes
from sudare.audits.opened_release import open_release
from sudare.audits.release_columns import Release
from sudare.core.errors import DataError
from sudare.policy import Policy

from .tables import paper


def policy(require=(), **columns):
    """A policy with two quasi-identifiers, two insensitive columns and a sensitive one."""
    roles = {"age": "quasi", "sex": "quasi", "stay": "insensitive", "labs": "insensitive", "diag": "sensitive"}
    return Policy.parse(
        {
            "columns": {name: {"role": role} for name, role in (roles | columns).items()},
            "require": [{"model": "k-anonymity", "k": 2}, *require],
        }
    )


def people(rows=600, seed=0):
    """A release: four classes, a column of few values, one of many, and one that depends on the class."""
    draw = np.random.default_rng(seed)
    age = draw.choice(["[20, 39]", "[40, 59]"], rows)
    return pd.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["F", "M"], rows),
            "stay": draw.integers(1, 15, rows),
            "labs": draw.integers(1, rows // 2, rows),
            "diag": np.where(age == "[20, 39]", "A", draw.choice(["A", "B"], rows)),
        }
    )


def unique(frame, names):
    return float((~frame.duplicated(list(names), keep=False)).mean())


def told(report):
    return {(one.kind, one.columns): one.figures["share"] for one in report.warnings if "share" in one.figures}


@pytest.fixture(params=["csv", "parquet", "arrow", "keeper"])
def given(request, tmp_path):
    """Return a frame as a release in one of the forms that there are."""

    def make(frame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        if request.param == "arrow":
            return table
        if request.param == "csv":
            frame.to_csv(tmp_path / "release.csv", index=False)
            return tmp_path / "release.csv"
        if request.param == "parquet":
            pq.write_table(table, tmp_path / "release.parquet")
            return tmp_path / "release.parquet"
        return kept(frame)

    return make


def kept(frame):
    """A release that is counted by others: by pandas."""
    table = pa.Table.from_pandas(frame, preserve_index=False)

    def count(names):
        return table.select(list(names)).append_column("n", pa.array(np.ones(len(frame), np.int64)))

    def single(sets, of, within):
        return [Alone(frame.groupby(list(names)).ngroups, alone(frame, list(names), of, within)) for names in sets]

    def few(name, least, of, within):
        return rare(frame, name, least, of, within)

    return Elsewhere("kept", tuple(table.column_names), tuple(table.schema.types), count, single=single, rare=few)


def alone(frame, names, of, within):
    if of is None:
        return round(unique(frame, names) * len(frame))
    parts = frame.groupby(list(dict.fromkeys([*names, *within])))[of].transform("nunique")
    worst = parts.groupby([frame[name] for name in names]).transform("max")
    return int((worst == 1).sum())


def rare(frame, name, least, of=None, within=()):
    """Count the values that fewer than so many hold: records, or people as they are numbered within classes."""
    held = frame if of is None else frame[[name, of, *within]].drop_duplicates()
    return int((held[name].value_counts() < least).sum())


def odd(rows, values):
    """A release with a diagnosis of many values, of which some are missing; a few more are of one record each."""
    frame = people(rows)
    frame["diag"] = np.random.default_rng(1).choice(["A", "B", "C", None], rows)
    frame.loc[frame.index[:values], "diag"] = [f"Zz{number}" for number in range(values)]
    return frame


def test_shares_are_those_that_pandas_counts(given):
    frame = people()
    report = audit_release(given(frame), policy())
    assert report.passed
    shares = told(report)
    known = ("age", "sex", "stay", "labs")
    assert shares["unique-released", known] == round(unique(frame, known), 3) > 0.5
    assert shares["unique-insensitive", ("stay", "labs")] == round(unique(frame, ["stay", "labs"]), 3)
    assert shares["unique-column", ("labs",)] == round(unique(frame, ["labs"]), 3) > 0
    assert ("unique-column", ("stay",)) not in shares
    assert not any("sex" in columns and len(columns) == 1 for _, columns in shares)


def test_combinations_are_told_if_they_single_out_more_than_their_parts(given):
    frame = people()
    report = audit_release(given(frame), policy())
    found = [one for one in report.warnings if one.kind == "unique-combination"]
    assert found
    for one in found:
        share = unique(frame, one.columns)
        assert one.figures["share"] == round(share, 3)
        for size in range(1, len(one.columns)):
            assert all(unique(frame, part) < share for part in itertools.combinations(one.columns, size))


def test_a_sensitive_column_of_one_value_in_whole_classes_is_warned_of_where_no_requirement_is_about_it(given):
    frame = people()
    share = float((frame.groupby(["age", "sex"]).diag.transform("nunique") == 1).mean())
    assert told(audit_release(given(frame), policy()))["homogeneous", ("diag",)] == round(share, 3) > 0.3
    held = policy([{"model": "t-closeness", "t": 1.0, "column": "diag"}])
    assert not any(one.kind == "homogeneous" for one in audit_release(given(frame), held).warnings)


def test_an_insensitive_column_that_is_nearly_unique_is_said_to_be_one(given):
    frame = people().assign(labs=np.arange(600))
    report = audit_release(given(frame), policy())
    assert told(report)["nearly-unique-column", ("labs",)] == 1.0
    assert any("nearly unique" in one.text for one in report.warnings)


def test_there_is_nothing_to_warn_of_where_nobody_is_unique(given):
    frame = pd.concat([people(40).assign(diag=list("AB") * 20)] * 2, ignore_index=True)
    frame["diag"] = ["A"] * 40 + ["B"] * 40
    assert audit_release(given(frame), policy()).warnings == ()


def test_a_limit_is_kept_or_not_by_what_is_counted(given):
    frame = people()
    share = unique(frame, frame.columns)
    kept_limit = policy([{"model": "uniqueness", "most": round(share + 0.001, 4)}])
    assert audit_release(given(frame), kept_limit).passed
    broken = policy([{"model": "uniqueness", "columns": "released", "most": round(share - 0.01, 4)}])
    report = audit_release(given(frame), broken)
    assert not report.passed
    [one] = [one for one in report.guarantees if one.model == "uniqueness"]
    assert one.achieved == pytest.approx(share)
    assert one.offending_classes == round(share * len(frame))
    assert "without 'labs'" in one.note


@pytest.mark.parametrize("names", [["stay"], ["labs"], ["age", "stay"], ["stay", "diag"]])
def test_a_limit_may_name_columns(given, names):
    frame = people()
    share = unique(frame, names)
    report = audit_release(given(frame), policy([{"model": "uniqueness", "columns": names, "most": 0.0}]))
    [one] = [one for one in report.guarantees if one.model == "uniqueness"]
    assert (one.achieved, one.holds) == (pytest.approx(share), share == 0)


def test_people_are_alone_if_all_records_that_look_alike_may_be_theirs(given):
    frame = people()
    frame["who"] = frame.groupby(["age", "sex"]).cumcount() // 3 + 1  # numbered within their class
    asked = policy([{"model": "k-anonymity", "k": 2, "count": "subjects"}], who="subject")
    shares = told(audit_release(given(frame), asked))
    quasi = ["age", "sex"]
    for kind, names in (("unique-released", [*quasi, "stay", "labs"]), ("unique-insensitive", ["stay", "labs"])):
        expected = alone(frame, names, "who", quasi) / len(frame)
        assert shares[kind, tuple(names)] == round(expected, 3) >= unique(frame, names)


def few_hold(report):
    return [one for one in report.warnings if one.kind == "rare-values"]


@pytest.mark.parametrize("k", [2, 5, 20])
def test_sensitive_values_that_few_hold_are_counted_and_not_named(given, k):
    frame = odd(600, 30)
    asked = policy([{"model": "k-anonymity", "k": k}])
    [one] = few_hold(audit_release(given(frame), asked))
    assert one.columns == ("diag",)
    assert one.figures == {"fewer_than": k, "values": rare(frame, "diag", k)} == {"fewer_than": k, "values": 30}
    assert f"30 of its values are held by fewer than {k} records" in one.text
    assert "Zz" not in str(one.to_dict())


def test_fewer_rare_values_than_k_are_not_told_by_their_number(given):
    [one] = few_hold(audit_release(given(odd(600, 3)), policy([{"model": "k-anonymity", "k": 5}])))
    assert one.figures == {"fewer_than": 5}
    assert "some (fewer than 5) of its values" in one.text
    assert "3" not in str(one.to_dict())


def test_values_that_many_hold_or_that_are_missing_are_not_rare(given):
    frame = odd(600, 0)
    frame.loc[frame.diag.isna(), "diag"] = "A"
    frame.loc[frame.index[:2], "diag"] = None
    assert few_hold(audit_release(given(frame), policy([{"model": "k-anonymity", "k": 5}]))) == []


@pytest.mark.parametrize("subjects", ["per-class", "linked"])
def test_where_people_are_counted_a_value_is_rare_if_few_people_hold_it(given, subjects):
    frame = odd(600, 0)
    frame.loc[frame.index[:300], "diag"] = [f"Zz{number // 10}" for number in range(300)]  # each of ten records
    frame["who"] = frame.groupby(["age", "sex"]).cumcount() // 5 + 1  # of about two people in each class
    if subjects == "linked":
        frame["who"] = np.arange(600) // 5 + 1
    asked = policy([{"model": "k-anonymity", "k": 5, "count": "subjects"}], who="subject")
    asked = asked.model_copy(update={"release": asked.release.model_copy(update={"subjects": subjects})})
    within = ["age", "sex"] if subjects == "per-class" else []
    expected = rare(frame, "diag", 5, "who", within)
    [one] = few_hold(audit_release(given(frame), asked))
    assert one.figures == {"fewer_than": 5, "values": expected}
    assert expected > 4
    assert "fewer than 5 people" in one.text
    assert ("at least" in one.text) == (subjects == "per-class")


def test_without_a_k_the_largest_l_says_what_is_rare():
    roles = {"age": "quasi", "sex": "quasi", "stay": "insensitive", "labs": "insensitive", "diag": "sensitive"}
    columns = {name: {"role": role} for name, role in roles.items()}
    asked = Policy.parse({"columns": columns, "require": [{"model": "l-diversity", "l": 3, "column": "diag"}]})
    [one] = few_hold(audit_release(pa.Table.from_pandas(odd(600, 30)), asked))
    assert one.figures["fewer_than"] == 3


def test_a_certificate_has_to_tell_of_rare_values(tmp_path):
    frame = odd(600, 30)
    frame.to_csv(tmp_path / "release.csv", index=False)
    found = [one.to_dict() for one in audit_release(tmp_path / "release.csv", policy()).warnings]
    whole = paper(tmp_path / "release.csv", policy())

    def wrong(warnings):
        report = audit_release(tmp_path / "release.csv", policy(), certificate=whole | {"warnings": warnings})
        return [problem.where for problem in report.problems if "warnings" in problem.where]

    assert wrong(found) == []
    assert wrong([one for one in found if one["kind"] != "rare-values"]) == ["certificate.warnings"]
    fewer = [
        one if one["kind"] != "rare-values" else one | {"figures": {"fewer_than": 2, "values": 2}} for one in found
    ]
    assert wrong(fewer)[0] == "certificate.warnings"


def test_a_missing_cell_is_like_a_missing_cell_and_like_no_other():
    frame = pd.DataFrame({"age": ["x"] * 4, "sex": ["F"] * 4, "stay": [None, None, "1", "2"], "labs": ["a"] * 4,
                          "diag": ["A", "B", "A", "B"]})  # fmt: skip
    shares = told(audit_release(pa.Table.from_pandas(frame), policy()))
    assert shares["unique-insensitive", ("stay", "labs")] == 0.5


def test_a_certificate_that_keeps_silent_about_a_warning_is_not_that_of_the_release(tmp_path):
    frame = people()
    frame.to_csv(tmp_path / "release.csv", index=False)
    found = audit_release(tmp_path / "release.csv", policy())
    whole = paper(tmp_path / "release.csv", policy())
    told_all = [one.to_dict() for one in found.warnings]
    silent = audit_release(tmp_path / "release.csv", policy(), certificate=whole | {"warnings": []})
    assert [problem.where for problem in silent.problems if "warnings" in problem.where] == ["certificate.warnings"]
    lower = [one | {"figures": {"share": 0.001}} for one in told_all]
    forged = audit_release(tmp_path / "release.csv", policy(), certificate=whole | {"warnings": lower})
    assert "certificate.warnings" in [problem.where for problem in forged.problems]
    honest = audit_release(tmp_path / "release.csv", policy(), certificate=whole | {"warnings": told_all})
    assert "certificate.warnings" not in [problem.where for problem in honest.problems]


def test_combinations_of_a_large_release_are_estimated_from_a_part_of_them(monkeypatch):
    frame = people(60_000)
    monkeypatch.setattr(counting, "ENOUGH", 5_000)
    found = [one for one in audit_release(pa.Table.from_pandas(frame), policy()).warnings if "comb" in one.kind]
    assert found
    assert any(one.figures["share"] != round(unique(frame, one.columns), 3) for one in found)
    assert all(abs(one.figures["share"] - unique(frame, one.columns)) < 0.1 for one in found)


def test_a_limit_cannot_be_proven_where_nobody_counts():
    frame = people()
    held = kept(frame)
    mute = Elsewhere(held.where, held.names, held.types, held.count)
    with pytest.raises(DataError, match="cannot be counted"):
        audit_release(mute, policy([{"model": "uniqueness", "most": 0.5}]))


def test_warnings_hold_no_value(given):
    frame = people().assign(stay="Zzyzx")
    report = audit_release(given(frame), policy())
    assert report.warnings
    assert "Zzyzx" not in str(report.to_dict()["warnings"])


@pytest.mark.parametrize(
    ("columns", "times"),
    [({}, 1), ({"stay": "identifier", "labs": "identifier"}, 1), ({"diag": "insensitive"}, 1)],
)
def test_text_is_read_once_for_classes_and_for_what_is_unique(tmp_path, monkeypatch, columns, times):
    frame = people().drop(columns=[name for name, role in columns.items() if role == "identifier"])
    frame.to_csv(tmp_path / "release.csv", index=False)
    asked, read = policy(**columns), []
    sources = Release._csv_source
    monkeypatch.setattr(Release, "_csv_source", lambda self, mark: read.append(1) or sources(self, mark))
    found = audit_release(tmp_path / "release.csv", asked)
    assert len(read) == times
    assert found.warnings == audit_release(pa.Table.from_pandas(frame.astype(str)), asked).warnings


def test_sets_that_are_written_otherwise_are_one_set_also_where_text_is_read_once(tmp_path):
    frame = pd.DataFrame(
        {"drugs": ["a,b", "a,b", "b,a", "b,a", "c", "c"], "stay": list("112233"), "diag": list("ABABAB")}
    )
    frame.to_csv(tmp_path / "release.csv", index=False)
    asked = Policy.parse(
        {
            "columns": {
                "drugs": {"role": "quasi", "kind": "items"},
                "stay": {"role": "insensitive"},
                "diag": {"role": "sensitive"},
            },
            "require": [{"model": "k-anonymity", "k": 2}, {"model": "uniqueness", "columns": ["drugs"], "most": 0.0}],
        }
    )
    report = audit_release(tmp_path / "release.csv", asked)
    assert report.passed
    assert report.warnings == ()
    with duckdb.connect() as connection:
        opened = open_release(tmp_path / "release.csv", asked)
        loaded = counting.read_along(opened, asked, "top-down")
        classes = build_classes(connection, opened, asked, beside=loaded)
        counts = counting._Read(connection, opened, asked, 6, classes, loaded)
        assert counts.single([["drugs"]]) == [Alone(2, 0)]
        assert counts.single([["drugs", "stay"], ["stay"]]) == [Alone(3, 0), Alone(3, 0)]
        opened.close()
