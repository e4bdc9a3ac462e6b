"""Spellings of one sensitive value are one value on every engine, and leave as they came."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import sudare

SPELLINGS = ("HIV", "HIV ", "hiv", "H\u200bIV", "HIV\u00a0", "flu", "Flu", "cold", "1", "1.0", None, "")
VALUES = ("HIV", "flu", "cold", "1", None)
ROWS = 240
AGES = [20 + number % 24 for number in range(ROWS)]
# by age, so that classes of ages close together are full of spellings of one value
ILLNESS = [SPELLINGS[(number % 24) // 2] for number in range(ROWS)]
DATA = pa.table({"age": AGES, "sex": ["fm"[number % 2] for number in range(ROWS)], "illness": pa.array(ILLNESS)})
MERGED = len(SPELLINGS) - len(VALUES)
RELEASED = Counter(cell or None for cell in ILLNESS)
LEVELS = {"age": {"role": "quasi", "hierarchy": {"bands": [6, 12, 24]}}, "sex": {"role": "quasi", "hierarchy": "flat"}}


def policy(method, l=2, **options):  # noqa: E741
    plain = method not in ("full-domain", "tds", "incognito")
    return {
        "columns": {
            **({name: {"role": "quasi"} for name in LEVELS} if plain else LEVELS),
            "illness": {"role": "sensitive"},
        },
        "require": [{"model": "l-diversity", "l": l, "column": "illness"}],
        "method": {"name": method, **options},
    }


def by_class(table):
    found = {}
    for age, sex, illness in zip(*(table.column(name).to_pylist() for name in ("age", "sex", "illness")), strict=True):
        found.setdefault((age, sex), set()).add(clean(illness))
    return found


def clean(cell):
    bare = (cell or "").replace("\u200b", "").strip().lower()
    return {"1.0": "1", "": None}.get(bare, bare)


def assert_merged(certificate, table):
    assert certificate["spellings"] == {"illness": MERGED}
    least = min(map(len, by_class(table).values()))
    assert certificate["guarantees"][0]["achieved"] == least >= 2
    assert Counter(table.column("illness").to_pylist()) == RELEASED


METHODS = ("top-down", "mondrian", "l-clustering", "three-phase", "full-domain")


@pytest.mark.parametrize("method", METHODS)
def test_a_frame(method):
    release = sudare.anonymize(DATA, policy(method), seed=1)
    assert_merged(release.certificate, release.data)


@pytest.mark.parametrize("memory", [None, "300MB"])
def test_files(memory, tmp_path):
    pq.write_table(DATA, tmp_path / "data.parquet")
    release = sudare.anonymize(tmp_path / "data.parquet", policy("top-down"), out=tmp_path / "r.parquet", memory=memory)
    assert_merged(release.certificate, pq.read_table(tmp_path / "r.parquet"))
    assert sudare.audit(tmp_path / "r.parquet", policy("top-down")).passed
    pc.write_csv(DATA, tmp_path / "data.csv")
    release = sudare.anonymize(tmp_path / "data.csv", policy("top-down"), out=tmp_path / "r.csv", memory=memory)
    assert release.certificate["spellings"] == {"illness": MERGED - 1}  # in a file an empty text is a missing one
    text = pc.read_csv(
        tmp_path / "r.csv",
        convert_options=pc.ConvertOptions(
            column_types=dict.fromkeys(DATA.column_names, pa.string()), strings_can_be_null=True
        ),
    )
    assert min(map(len, by_class(text).values())) == release.certificate["guarantees"][0]["achieved"] >= 2
    assert sudare.audit(tmp_path / "r.csv", policy("top-down")).passed


@pytest.mark.parametrize("method", ["top-down", "full-domain", "l-clustering"])
def test_a_table_that_stays_in_its_database(home, method):
    address, out = home.load("source", DATA), home.address("release")
    release = sudare.anonymize(address, policy(method), out=out, seed=1)
    assert_merged(release.certificate, home.read("release"))
    local = sudare.anonymize(DATA, policy(method), seed=1)
    for key in ("classes", "guarantees", "spellings", "rows_out"):
        assert release.certificate[key] == local.certificate[key]
    assert sudare.audit(out, policy(method)).passed


@pytest.mark.parametrize("method", ["top-down", "mondrian", "full-domain"])
def test_spark(spark, in_pieces, method, tmp_path):
    pq.write_table(DATA, tmp_path / "data.parquet")
    out = tmp_path / "release.parquet"
    release = sudare.anonymize(str(tmp_path / "data.parquet"), policy(method), out=out, engine="spark")
    assert_merged(release.certificate, pq.read_table(out))
    local = sudare.anonymize(DATA, policy(method))
    for key in ("classes", "guarantees", "spellings", "rows_out"):
        assert release.certificate[key] == local.certificate[key]
    assert sudare.audit(str(out), policy(method), engine="spark").passed


def test_spark_proves_what_is_about_the_whole_release(spark, in_pieces, tmp_path):
    pq.write_table(DATA, tmp_path / "data.parquet")
    wanted = policy("top-down") | {"require": [{"model": "t-closeness", "t": 0.4, "column": "illness"}]}
    release = sudare.anonymize(str(tmp_path / "data.parquet"), wanted, out=tmp_path / "r.parquet", engine="spark")
    local = sudare.anonymize(DATA, wanted)
    assert release.certificate["guarantees"][0]["achieved"] == pytest.approx(
        local.certificate["guarantees"][0]["achieved"]
    )


@pytest.mark.parametrize("where", ["here", "spark"])
def test_hidden_values_are_shown_in_one_spelling(where, request, tmp_path):
    pq.write_table(DATA, tmp_path / "data.parquet")
    out = tmp_path / "release.parquet"
    if where == "spark":
        request.getfixturevalue("spark")
    source = str(tmp_path / "data.parquet")
    release = sudare.anonymize(source, policy("dummies", l=3), out=out, engine="spark" if where == "spark" else None)
    # each of these is as frequent as others of its value, and the first of them by its text
    told = release.certificate["mechanism"]["columns"]["illness"]["values"]
    assert Counter(told) == Counter(["1", "HIV", "cold", "Flu", None])
    for cell in pq.read_table(out).column("illness").to_pylist():
        assert len({clean(value) for value in cell}) == 3
    assert release.certificate["spellings"] == {"illness": MERGED}


def test_groups_of_anatomy_show_one_spelling(tmp_path):
    pq.write_table(DATA, tmp_path / "data.parquet")
    release = sudare.anonymize(tmp_path / "data.parquet", policy("anatomy", l=2), out=tmp_path / "r.parquet")
    second = pq.read_table(tmp_path / "r.sensitive.parquet")
    assert len(set(second.column("illness").to_pylist())) == len(VALUES)
    assert release.certificate["spellings"] == {"illness": MERGED}
    assert sudare.audit(tmp_path / "r.parquet", policy("anatomy", l=2)).passed


def test_drawn_values_are_shown_in_one_spelling_and_priors_are_met_in_any():
    wanted = policy("pram")
    shares = Counter(map(clean, ILLNESS))
    prior = {{"hiv": "Hiv", None: ""}.get(value, value): n / ROWS for value, n in shares.items()}
    wanted["require"] = [
        {"model": "alpha-gamma", "column": "illness", "alpha": 0.8, "gamma": 0.01, "prior": prior},
        {"model": "pk-anonymity", "k": 2},
    ]
    release = sudare.anonymize(DATA, wanted)
    assert len(release.certificate["mechanism"]["columns"]["illness"]["values"]) == len(VALUES)
    assert set(map(clean, release.data.column("illness").to_pylist())) <= set(map(clean, VALUES))
    assert len(set(release.data.column("illness").to_pylist())) <= len(VALUES)
    assert release.certificate["spellings"] == {"illness": MERGED}
