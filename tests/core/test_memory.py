"""Memory: sizes, what a table needs, and what is said where there is too little."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sudare
from sudare import api
from sudare.cli import app
from sudare.core import memory
from sudare.core.errors import DataError, ParameterError
from sudare.core.memory import Demand, available, check_fits, parse_size, show_size, storage_limit
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import read

GB = 1 << 30
POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "job": {"role": "quasi"},
        "disease": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "disease"}],
}


def people(rows=5000):
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "age": draw.integers(18, 80, rows),
            "job": draw.choice(["cook", "judge", "nurse"], rows).tolist(),
            "disease": draw.choice(["cold", "pox"], rows).tolist(),
            "note": [f"n{number % 50}" for number in range(rows)],
        }
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4GiB", 4 * GB), ("4G", 4 * GB), ("4g", 4 * GB), ("500MB", 500_000_000), ("1.5 GiB", 3 * GB // 2), (12345, 12345),
     ("12345", 12345), ("7B", 7), (" 2 kib ", 2048), ("1TB", 10**12)],
)  # fmt: skip
def test_sizes(text, expected):
    assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "x", "-1", "0", 0, -5, True, "4XB", "4 G B", "1e9", "GiB", 1.5j])
def test_what_is_no_size(text):
    with pytest.raises(ParameterError, match=r"memory: must be a size; got .* Hint: write it as in 4GiB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "shown"), [(1, "1 MiB"), (300 << 20, "300 MiB"), (9 * GB, "9216 MiB"), (40 * GB, "40 GiB")]
)
def test_shown_sizes_are_sizes(size, shown):
    assert show_size(size) == shown
    assert parse_size(shown) >= size


def test_available():
    assert available() > 1 << 20


def test_control_groups(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 90\nactive_file 10\n")
    monkeypatch.setattr(memory, "_groups", lambda: [(tmp_path, "memory.max", "memory.current")])
    assert available() == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert available() > 1 << 20


def test_demand_grows_with_everything():
    plain = Demand(10**8, single=3)
    assert plain.least < plain.needed
    for more in (
        Demand(2 * 10**8, single=3),
        Demand(10**8, single=4),
        Demand(10**8, single=3, tallied=1),
        Demand(10**8, single=3, items=[None]),
        Demand(10**8, single=3, carried=8),
    ):
        assert more.needed > plain.needed
    assert Demand(10**8, items=[10**9]).needed > Demand(10**8, items=[10**8]).needed
    # claims of a hundred million records: three columns and two sets of together thirteen items
    assert 8 * GB < Demand(10**8, single=3, items=[5 * 10**8, 8 * 10**8]).needed < 16 * GB


def test_what_fits_is_not_spoken_of():
    check_fits(Demand(1000, single=5), GB)
    check_fits(Demand(10**12, single=5), None)


def test_too_little_memory():
    demand = Demand(10**8, single=3, items=[7 * 10**8])
    with pytest.raises(
        DataError, match=r"100,000,000 records need about \d+ GiB, and 4096 MiB are free.*--memory 3072MiB"
    ):
        check_fits(demand, 4 * GB)
    assert storage_limit(demand, parse_size("3072MiB")) > 0
    with pytest.raises(DataError, match="use a machine with more memory"):
        check_fits(demand, GB)
    with pytest.raises(DataError, match=r"512 MiB are too little .* use --memory (\d+MiB) or more") as caught:
        storage_limit(demand, GB // 2)
    least = str(caught.value).split("--memory ")[1].split()[0]
    storage_limit(demand, parse_size(least))


def test_refused_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 300 << 20)
    monkeypatch.setattr(memory, "FLOOR", 1 << 30)
    monkeypatch.setattr("sudare.pipeline.local.encode", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(DataError, match="memory: 5,000 records need about"):
        sudare.anonymize(people(), POLICY, out=tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "said"), [("1MiB", "use --memory 257MiB or more"), ("much", "must be a size; got 'much'")]
)
def test_on_the_command_line(tmp_path, given, said):
    pq.write_table(people(), tmp_path / "people.parquet")
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    (tmp_path / "out").mkdir()
    line = [
        "anonymize",
        tmp_path / "people.parquet",
        "-p",
        tmp_path / "policy.json",
        "-o",
        tmp_path / "out/release.csv",
    ]
    done = CliRunner().invoke(app, [*map(str, line), "--memory", given])
    assert done.exit_code == 2
    assert said in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_the_same_release_within_limits(tmp_path, ending):
    """Reading in a stream and keeping columns in files changes nothing."""
    if ending == "csv":
        from pyarrow import csv

        csv.write_csv(people(), tmp_path / "people.csv")
    elif ending == "parquet":
        pq.write_table(people(), tmp_path / "people.parquet", row_group_size=700)
    else:
        with pa.OSFile(str(tmp_path / "people.arrow"), "wb") as file, pa.ipc.new_file(file, people().schema) as writer:
            writer.write_table(people(), max_chunksize=700)
    given = tmp_path / f"people.{ending}"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    sudare.anonymize(given, POLICY, out=tmp_path / "a/release.parquet", seed=1)
    sudare.anonymize(given, POLICY, out=tmp_path / "b/release.parquet", seed=1, memory="400MiB")
    assert pq.read_table(tmp_path / "a/release.parquet").equals(pq.read_table(tmp_path / "b/release.parquet"))
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [
        "release.parquet",
        "release.parquet.sudare.json",
    ]


def test_frames_within_limits():
    found = sudare.anonymize(people().to_pandas(), POLICY, seed=1, memory=400 << 20).data
    assert found.equals(sudare.anonymize(people().to_pandas(), POLICY, seed=1).data)


TREE = {"fruit": ["apple", "pear"], "nuts": ["almond", "walnut"]}


def baskets(tree, table):
    policy = {
        "columns": {"basket": {"role": "quasi", "kind": "items", "hierarchy": {"tree": tree}}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    checked = api.load_policy(policy)
    return encode(read(table, checked)[0], checked).quasi["basket"]


@pytest.mark.parametrize("cells", [[["walnut", "apple"], None, ["pear"], []], ["walnut,apple", None, "pear", ""]])
def test_a_hierarchy_over_items(cells):
    column = baskets(TREE, pa.table({"basket": cells}))
    order = [value for value in ("apple", "pear", "almond", "walnut") if value in column.values.to_pylist()]
    assert column.values.to_pylist() == order
    assert column.taxonomy.labels[0] == "*"
    assert column.items.tolist() == [0, 2, 3, 1]
    assert column.missing
    assert [column.taxonomy.labels[node] for node in column.taxonomy.path[:, 1]] == ["fruit", "fruit", "nuts", ""]


def test_items_that_a_hierarchy_lacks():
    with pytest.raises(DataError, match="2 of the column's 3 distinct values are not among the leaves") as caught:
        baskets(TREE, pa.table({"basket": [["secret", "apple"], ["hidden"]]}))
    assert "secret" not in str(caught.value)
