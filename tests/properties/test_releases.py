"""From a table to a proven release, for any table: what has to be true of every release, checked on its rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sudare
from sudare.audits.value_spellings import same_text
from sudare.core.errors import DataError, PolicyUnmetError, TargetError

from .tables import TEXT_ENDINGS, Drawn, drawn_tables, unwritable

many = partial(
    settings, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


def released(drawn: Drawn, **more):
    """Release the table; None, if the whole table as one class falls short, or a release could not show an order."""
    try:
        return sudare.anonymize(drawn.arrow, drawn.policy, **more)
    except PolicyUnmetError:
        event("unmet")
        assert not _whole_is_enough(drawn)
        return None
    except TargetError as error:
        event("not for text files")
        assert "control characters or a byte order mark" in str(error)
        assert more["out"].suffix in TEXT_ENDINGS
        assert any(unwritable(cells) for cells in drawn.columns.values())
        return None
    except DataError as error:
        if "is the class" in str(error):
            event("a class that is missing, or always the same")
            target = drawn.policy["method"]["target"]
            classes = {spelled(drawn.value(target, row)) for row in range(drawn.rows)}
            assert None in classes or len(classes) == 1
            return None
        event("unclear order")
        assert "holds durations" in str(error) or "its order is unclear" in str(error)
        assert any(spec.get("distance") == "ordered" for spec in drawn.policy["require"])
        return None


PROVEN_ELSEWHERE = ("t-closeness", "beta-likeness", "delta-disclosure", "km-anonymity")
"""Models that these tests leave to the audit, which tests/audits compares with naive versions of their definitions."""


def _whole_is_enough(drawn: Drawn) -> bool:
    """Whether one class of all records would do, for the requirements that are counts; others are not judged."""
    for spec in drawn.policy["require"]:
        if spec["model"] == "k-anonymity":
            who = drawn.named("subject")[0] if spec.get("count") == "subjects" else None
            people = {drawn.value(who, row) for row in range(drawn.rows)} if who else range(drawn.rows)
            if len(people) < spec["k"]:
                return False
        elif spec["model"] == "l-diversity":
            values = Counter(spelled(drawn.value(spec["column"], row)) for row in range(drawn.rows)).values()
            if len(values) < spec["l"] or spec.get("variant", "distinct") != "distinct":
                return False
            if drawn.policy["method"]["name"] == "three-phase" and max(values) * spec["l"] > drawn.rows:
                return False  # it lets no value have more than 1/l of a class
        elif spec["model"] == "alpha-k-anonymity":
            return False
        else:
            assert spec["model"] in PROVEN_ELSEWHERE
    return True


def classes_of(drawn: Drawn, data: pa.Table) -> dict[tuple, list[dict]]:
    found = defaultdict(list)
    for row in data.to_pylist():
        found[tuple(row[name] for name in drawn.named("quasi"))].append(row)
    return found


def plain(value):
    """Make values comparable: not-a-number equals itself, and no truth value is a number."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    return ("truth", value) if isinstance(value, bool) else value


def spelled(value):
    """Return what a sensitive value counts as: spellings of one text are one value, and blanks are missing."""
    return same_text(value) if isinstance(value, str) else plain(value)


def required_columns(drawn: Drawn) -> set[str]:
    return {spec["column"] for spec in drawn.policy["require"] if "column" in spec}


def carried(drawn: Drawn, name: str, row: int):
    if name not in required_columns(drawn):
        return plain(drawn.columns[name][row])
    value = drawn.value(name, row)
    return None if spelled(value) is None else plain(value)


@many(max_examples=160)
@given(drawn_tables())
def test_a_release_keeps_its_policy(drawn):
    release = released(drawn)
    if release is None:
        return
    facts, data = release.certificate, release.data
    assert facts["rows_in"] == drawn.rows
    assert facts["rows_out"] == data.num_rows
    assert data.num_rows + facts["suppressed"] == drawn.rows
    assert facts["suppressed"] <= drawn.policy["suppression"]["limit"] * drawn.rows
    assert not set(drawn.named("identifier")) & set(data.column_names)
    assert sudare.audit(data, drawn.policy).passed
    for loss in facts["loss"].values():
        assert math.isfinite(loss)
    for name in ("gcp", "arx", "precision", "entropy"):
        assert -1e-9 <= facts["loss"][name] <= 1 + 1e-9, name

    classes = classes_of(drawn, data)
    assert len(classes) == facts["classes"]
    for spec in drawn.policy["require"]:
        for rows in classes.values():
            if spec["model"] == "k-anonymity":
                who = drawn.named("subject")[0] if spec.get("count") == "subjects" else None
                counted = {row[who] for row in rows} if who else rows
                assert len(counted) >= spec["k"]
            elif spec["model"] == "l-diversity":
                counts = sorted(Counter(spelled(row[spec["column"]]) for row in rows).values(), reverse=True)
                variant = spec.get("variant", "distinct")
                if variant == "distinct":
                    assert len(counts) >= spec["l"]
                elif variant == "entropy":
                    entropy = -sum(n / len(rows) * math.log(n / len(rows)) for n in counts)
                    assert entropy >= math.log(spec["l"]) - 1e-9
                else:
                    assert counts[0] < spec["c"] * sum(counts[spec["l"] - 1 :])
            elif spec["model"] == "alpha-k-anonymity":
                top = max(Counter(spelled(row[spec["column"]]) for row in rows).values())
                assert top <= spec["alpha"] * len(rows) + 1e-9
                assert len(rows) >= spec["k"]
            else:
                assert spec["model"] in PROVEN_ELSEWHERE


@many(max_examples=80)
@given(drawn_tables(limits=(0.0,)))
def test_nothing_is_lost_and_every_record_is_covered(drawn):
    release = released(drawn)
    if release is None:
        return
    data = release.data
    for name in (*drawn.named("sensitive"), *drawn.named("insensitive")):
        before = Counter(carried(drawn, name, row) for row in range(drawn.rows))
        assert Counter(map(plain, data.column(name).to_pylist())) == before
    shown = set(classes_of(drawn, data))
    for row in range(drawn.rows):
        assert any(
            all(drawn.covered(name, row, cell) for name, cell in zip(drawn.named("quasi"), cells, strict=True))
            for cells in shown
        )


@many(max_examples=80)
@given(drawn_tables(limits=(0.0,), orders=("keep",)))
def test_rows_that_keep_their_place_cover_the_record_there(drawn):
    release = released(drawn)
    if release is None:
        return
    for row, line in enumerate(release.data.to_pylist()):
        for name in drawn.named("quasi"):
            assert drawn.covered(name, row, line[name])
        for name in (*drawn.named("sensitive"), *drawn.named("insensitive")):
            assert plain(line[name]) == carried(drawn, name, row)


@many(max_examples=40)
@given(drawn_tables(limits=(0.1, 0.3), orders=("keep",)))
def test_what_is_left_of_a_table_keeps_its_order(drawn):
    release = released(drawn)
    if release is None:
        return
    # the released rows cover a subsequence of the records: match each to the first that is left
    at = 0
    for line in release.data.to_pylist():
        while at < drawn.rows and not (
            all(drawn.covered(name, at, line[name]) for name in drawn.named("quasi"))
            and all(plain(line[name]) == carried(drawn, name, at) for name in drawn.named("insensitive"))
        ):
            at += 1
        assert at < drawn.rows
        at += 1


@many(max_examples=40)
@given(drawn_tables())
def test_the_same_table_gives_the_same_release(drawn):
    # the published steps of l-clustering begin at records that are drawn
    seed = 1 if drawn.policy["method"].get("variant") == "reference" else None
    once, again = released(drawn, seed=seed), released(drawn, seed=seed)
    if once is None:
        return
    shown = [name for name in once.data.column_names if name not in drawn.named("subject")]

    def rows(release):
        lines = release.data.select(shown).to_pylist()
        return Counter(tuple(plain(line[name]) for name in shown) for line in lines)

    assert rows(once) == rows(again)
    assert once.loss == again.loss


@many(max_examples=40)
@given(drawn_tables())
def test_pseudonyms_tell_people_apart_and_nothing_else(drawn):
    if not any(spec.get("count") == "subjects" for spec in drawn.policy["require"]):
        drawn.policy["require"].append({"model": "k-anonymity", "k": 2, "count": "subjects"})
    if not drawn.named("subject"):
        drawn.columns["person"] = [row // 2 for row in range(drawn.rows)]
        drawn.types["person"] = "integer"
        drawn.policy["columns"]["person"] = {"role": "subject"}
    drawn.policy["release"] = {"order": "keep", "subjects": drawn.policy["release"]["subjects"]}
    drawn.policy["suppression"] = {"limit": 0.0}
    release = released(drawn)
    if release is None:
        return
    [who] = drawn.named("subject")
    numbers = release.data.column(who).to_pylist()
    assert min(numbers) >= 1
    pairs = {(drawn.value(who, row), number) for row, number in enumerate(numbers)}
    if drawn.policy["release"]["subjects"] == "linked":
        assert len(pairs) == len({person for person, _ in pairs}) == len({number for _, number in pairs})
    else:
        people = len({person for person, _ in pairs})
        assert max(numbers) <= people
        assert 1 in numbers


@many(max_examples=150)
@given(drawn=drawn_tables(), ending=st.sampled_from([".csv", ".csv", ".tsv", ".parquet", ".arrow"]))
def test_a_release_in_a_file_can_be_proven_again(drawn, ending, tmp_path):
    path = tmp_path / f"release{ending}"
    for old in tmp_path.iterdir():
        old.unlink()
    release = released(drawn, out=path)
    if release is None:
        assert not path.exists()
        return
    assert release.path == path
    report = sudare.audit(path, drawn.policy)
    assert report.passed
    assert report.rows == release.certificate["rows_out"]
    assert report.classes == release.certificate["classes"]
    if ending == ".parquet":
        memory = sudare.anonymize(drawn.arrow, drawn.policy).data
        assert pq.read_table(path).schema.equals(memory.schema)
