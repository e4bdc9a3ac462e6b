"""A cluster of Spark that loses executors: the release is the one that is made here, or there is none."""

import json
import os
import re
import shutil
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines import spark_cluster
from tests.engines.comparing import assert_same

import sudare

ROWS = 3000


def people():
    random = np.random.default_rng(8)
    return pa.table({
        "age": random.integers(20, 60, ROWS), "sex": random.choice(["m", "f"], ROWS),
        "town": random.choice([*"abcdef", None], ROWS).tolist(), "ill": random.choice(list("uvwxyz"), ROWS),
        "note": np.arange(ROWS),
    })  # fmt: skip


def policy(method, *require):
    roles = {"age": "quasi", "sex": "quasi", "town": "quasi", "ill": "sensitive", "note": "insensitive"}
    columns = {name: {"role": role} for name, role in roles.items()}
    return {"version": 1, "columns": columns, "require": list(require), "method": {"name": method}}


CLASSES = policy(
    "top-down", {"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "ill"}
)  # fmt: skip
GLOBAL = policy("full-domain", {"model": "k-anonymity", "k": 3})
SETS = policy("dummies", {"model": "l-diversity", "l": 3, "column": "ill"})
CASES = {
    "twice": {"kill": {"Cutting": 2, "_Making": 3}, "policy": CLASSES, "out": True},
    "frame": {"kill": {"_Proving": 1}, "policy": GLOBAL, "out": False},
    "drawn": {"kill": {"_Making": 3}, "policy": SETS, "out": True},
    "drawn anew": {"kill": {"_Making": 3}, "policy": SETS, "out": True, "restless": True},
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """The folder in which a driver made releases, an executor of each of which was killed."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        reason = "Spark needs Java, which is not installed (apt-get install default-jre-headless)"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    pytest.importorskip("pyspark")
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "people.parquet").mkdir()
    for part in range(6):
        piece = people().slice(part * ROWS // 6, ROWS // 6)
        pq.write_table(piece, folder / "people.parquet" / f"part-{part}.parquet")
    (folder / "cases.json").write_text(json.dumps(CASES))
    logs = tmp_path_factory.mktemp("workers")
    with spark_cluster.Cluster(logs) as cluster:
        command = [sys.executable, spark_cluster.__file__, cluster.url, str(folder)]
        given = {**os.environ, **spark_cluster.ENVIRONMENT}
        with subprocess.Popen(
            command, env=given, cwd=logs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        ) as driver:
            try:
                told, _ = driver.communicate(timeout=600)
            finally:
                for group in spark_cluster.groups_below(driver.pid):
                    spark_cluster.end(group)
    assert driver.returncode == 0, told.decode()[-3000:]
    killed = {int((folder / f"{name}{kind}.killed").read_text()) for name in CASES for kind in CASES[name]["kill"]}
    assert len(killed) == sum(len(case["kill"]) for case in CASES.values())  # each an executor of its own
    started = [path for path in logs.glob("worker?/app-*/*") if path.name.isdigit()]
    assert len(started) >= 2 + len(killed)  # and for each of them there came another
    assert not [pid for pid in spark_cluster.running() if str(logs) in spark_cluster.command_of(pid)]
    yield folder
    shutil.rmtree(logs)


def release_of(folder, name):
    error = folder / f"{name}.error"
    assert not error.exists(), error.read_text()
    path: Path = folder / name / "release.parquet"
    paper = json.loads((folder / name / "release.parquet.sudare.json").read_text())
    assert sorted(found.name for found in path.parent.iterdir()) == ["release.parquet", "release.parquet.sudare.json"]
    if path.is_dir():  # nor is there anything of what a lost executor had begun
        assert all(re.fullmatch(r"part-\d{5}\.parquet", found.name) for found in path.iterdir())
    return types.SimpleNamespace(path=path, data=None, certificate=paper)


@pytest.mark.parametrize("name", ["twice", "frame"])
def test_a_lost_executor_does_not_change_the_release(ended, name):
    local = sudare.anonymize(people(), CASES[name]["policy"])
    assert_same(local, release_of(ended, name))


def test_nor_does_it_lose_or_double_a_row_whose_values_are_drawn(ended):
    local, release = sudare.anonymize(people(), SETS), release_of(ended, "drawn")
    assert_same(local, release, rows=False)
    found, given = pq.read_table(release.path), people()
    assert sorted(found.column("note").to_pylist()) == list(range(ROWS))
    told = dict(zip(found.column("note").to_pylist(), found.column("ill").to_pylist(), strict=True))
    assert all(ill in told[note] for note, ill in enumerate(given.column("ill").to_pylist()))
    ages = Counter(found.column("age").to_pylist())
    assert ages == Counter(given.column("age").to_pylist())


def test_rows_that_come_in_another_order_are_not_drawn_from_twice(ended):
    said = (ended / "drawn anew.error").read_text()
    assert said.startswith("DataError: the table: returned different rows, or another order")
    assert list((ended / "drawn anew").iterdir()) == []
