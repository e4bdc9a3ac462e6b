"""What goes wrong on Spark: one clear message, no cell in it, and nothing left behind."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines import spark_cluster
from typer.testing import CliRunner

import sudare
from sudare.cli.commands import app
from sudare.core.errors import DataError, SudareError, TargetError

SECRET = "secret-word"
POLICY = {
    "version": 1, "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
    "require": [{"model": "k-anonymity", "k": 3}], "method": {"name": "top-down"},
}  # fmt: skip


def table(rows=600):
    random = np.random.default_rng(0)
    return pa.table({"age": random.integers(20, 60, rows), "sex": random.choice(["m", "f"], rows)})


@pytest.fixture
def folder(spark, tmp_path):
    """A folder with people and a policy; it has to be as it was after the test, and Spark has to have no new table."""
    pq.write_table(table(), tmp_path / "people.parquet")
    (tmp_path / "p.json").write_text(json.dumps(POLICY))
    before = {row.name for row in spark.catalog.listTables()}
    spark.catalog.clearCache()
    yield tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.json", "people.parquet"]
    assert not [row.name for row in spark.catalog.listTables() if row.name not in before and "sudare" in row.name]
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


def refused(folder, given, out=None, *more, command="anonymize"):
    """Run the command line, which has to refuse with one message; return it."""
    words = [command, str(given), "--policy", str(folder / "p.json"), "--engine", "spark", *more]
    words += ["--out", str(out or folder / "r.parquet")] if command == "anonymize" else []
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("sudare: ")
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for word in ("Traceback", "unexpected", SECRET):
        assert word not in result.stderr
    return result.stderr


def test_tables_and_files_that_are_not_there(folder):
    assert "Spark has no such table" in refused(folder, "no_such_table")
    assert "Spark has no such table" in refused(folder, "no_such_database.people")
    assert "there is no such file" in refused(folder, folder / "nothing.parquet")
    assert "there is no such file" in refused(folder, folder / "nothing.parquet", command="audit")


@pytest.mark.parametrize("what", ["text", "empty", "cut off"])
def test_a_folder_that_is_no_parquet(folder, what, tmp_path_factory):
    given = tmp_path_factory.mktemp("odd") / "data.parquet"
    given.mkdir()
    if what == "text":
        (given / "a.txt").write_text(f"{SECRET}\n" * 100)
    if what == "cut off":
        whole = (folder / "people.parquet").read_bytes()
        (given / "a.parquet").write_bytes(whole[: len(whole) // 2])
    for command in ("anonymize", "audit"):
        assert "is not a Parquet file that Spark can read" in refused(folder, given, command=command)


@pytest.mark.parametrize("master", [
    "spark://127.0.0.1:1", "sc://127.0.0.1:1/;token=secret-word", "spark://127.0.0.1:1,127.0.0.1:2", "spark://nowhere.invalid",
    "spark://127.0.0.1:port", "spark://", "nonsense", "sparc://127.0.0.1:7077",
])  # fmt: skip
def test_a_cluster_that_does_not_answer(folder, master):
    said = refused(folder, folder / "people.parquet", None, "--master", master)
    assert "nothing answers at this address" in said or "is not an address of Spark" in said


def test_a_task_that_fails(spark, folder):
    def stumble(batches):
        for _ in batches:
            raise ValueError(SECRET)
        yield from ()

    frame = spark.createDataFrame(table())
    frame.mapInArrow(stumble, frame.schema).createOrReplaceTempView("stumbling")
    words = spark.createDataFrame(pa.table({"word": ["17", SECRET] * 50}))
    words.createOrReplaceTempView("words")
    spark.sql("SELECT CAST(word AS INT) AS age, word AS sex FROM words").createOrReplaceTempView("casting")
    try:
        for name in ("stumbling", "casting"):
            assert "Spark failed" in refused(folder, name)
            assert "Spark failed" in refused(folder, name, "some_release")
            assert "Spark failed" in refused(folder, name, command="audit")
    finally:
        for name in ("stumbling", "words", "casting"):
            spark.catalog.dropTempView(name)


@pytest.mark.parametrize(
    ("kind", "out"),
    [
        *((kind, "r.parquet") for kind in ("Cutting", "_Sending", "_Making", "_Counting", "_Proving")),
        ("_Making", None),
        ("_Proving", "sudare_broken"),
    ],
)
def test_any_of_our_tasks_that_fails(spark, folder, in_pieces, monkeypatch, kind, out):
    module = spark_cluster.module_of(kind)

    class Broken(getattr(module, kind)):
        def __call__(self, given):
            yield from super().__call__(given)
            raise ValueError(SECRET)

    monkeypatch.setattr(module, kind, Broken)
    frame = spark.createDataFrame(table()).repartition(2)
    path = folder / out if out == "r.parquet" else out
    with pytest.raises(DataError, match=r"a task of Spark failed \(ValueError\)") as caught:
        sudare.anonymize(frame, POLICY, out=path)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not spark.catalog.tableExists("sudare_broken")
    assert not spark.catalog.tableExists("sudare_broken_sudare")


def test_no_room_for_a_file(spark, folder, in_pieces, monkeypatch):
    from sudare.pipeline.spark import spark_release as spread

    class Cramped(spread._Writing):
        """Files may not grow while it writes, on the executor and there alone."""

        def __call__(self, parcels):
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
            try:
                yield from super().__call__(parcels)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)

    monkeypatch.setattr(spread, "_Writing", Cramped)
    said = refused(folder, folder / "people.parquet")
    assert "the disk is full, or the file is too large" in said


def test_a_folder_that_cannot_be_written_to(folder):
    with pytest.raises(TargetError, match="cannot be written to"):
        sudare.anonymize(folder / "people.parquet", POLICY, out="/proc/r.parquet", engine="spark")


def test_a_session_that_was_stopped(folder):
    class Gone:
        """What a session is once its gateway is gone."""

        def __getattr__(self, name):
            raise ConnectionRefusedError(SECRET)

    from sudare.engines.spark.spark import Spark

    with pytest.raises(DataError, match="session of Spark was stopped") as caught, Spark(Gone()) as spark:
        spark.open(folder / "people.parquet")
    assert SECRET not in str(caught.value)


STOPPED = """
import faulthandler, sys, time
from pathlib import Path
from sudare.cli import main
from sudare.pipeline.spark import spark_release

class Slow(spark_release._Making):
    def __call__(self, parcels):
        for parcel in super().__call__(parcels):
            Path(MARKER).touch()
            time.sleep(600)
            yield parcel

MARKER = sys.argv.pop(1)
faulthandler.dump_traceback_later(100)  # where it hangs, if it does
spark_release._Making = Slow
main()
"""


def of_session(number):
    """The processes of a session."""
    found = []
    for pid in spark_cluster.running():
        try:
            told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(told[3]) == number and told[0] != "Z":
            found.append(pid)
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_leaves_nothing(folder, number, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "stopped.py").write_text(STOPPED)
    (elsewhere / "work").mkdir()
    marker = elsewhere / "began"
    words = [str(folder / "people.parquet"), "--policy", str(folder / "p.json"), "--out", str(folder / "r.parquet")]
    command = [sys.executable, str(elsewhere / "stopped.py"), str(marker), "anonymize", *words, "--engine", "spark"]
    given = {**os.environ, **spark_cluster.ENVIRONMENT, "SPARK_LOCAL_DIRS": str(elsewhere / "scratch")}
    process = subprocess.Popen(
        command, env=given, cwd=elsewhere / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + 600
        while not marker.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        assert marker.exists()
        assert [path for path in folder.iterdir() if path.name not in ("people.parquet", "p.json")]  # in the midst
        process.send_signal(number)
        told, said = process.communicate(timeout=600)
        assert process.returncode == 128 + number, said.decode()[-2000:]
        assert told == b""
        lines = [line for line in said.decode().splitlines() if line.startswith("sudare: ")]
        assert lines == ["sudare: stopped; no unfinished files were left behind."]
        assert "Traceback" not in said.decode()
        until = time.monotonic() + 600
        while of_session(process.pid) and time.monotonic() < until:
            time.sleep(0.1)
        assert of_session(process.pid) == []
        assert list((elsewhere / "work").iterdir()) == []
    finally:
        for pid in of_session(process.pid):
            os.kill(pid, signal.SIGKILL)


def test_an_interrupt_ends_what_spark_does(spark, folder, in_pieces, monkeypatch):
    """A task that still runs must not write into a folder that is being removed, nor go on for nobody."""
    from sudare.pipeline.spark import spark_release as spread

    marker = folder.with_name(folder.name + ".began")

    class Slow(spread._Making):
        def __call__(self, parcels):
            for parcel in super().__call__(parcels):
                marker.touch()
                time.sleep(600)
                yield parcel

    def interrupt(*_):
        raise KeyboardInterrupt

    def watch():
        until = time.monotonic() + 600
        while not marker.exists() and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGALRM)

    monkeypatch.setattr(spread, "_Making", Slow)
    before = signal.signal(signal.SIGALRM, interrupt)
    frame = spark.createDataFrame(table()).repartition(2)
    watching = threading.Thread(target=watch)
    try:
        watching.start()
        with pytest.raises((KeyboardInterrupt, SudareError)):
            sudare.anonymize(frame, POLICY, out=folder / "r.parquet")
    finally:
        watching.join()
        signal.signal(signal.SIGALRM, before)
    assert marker.exists()
    until = time.monotonic() + 600
    tracker = spark.sparkContext.statusTracker()
    while tracker.getActiveStageIds() and time.monotonic() < until:
        time.sleep(0.1)
    assert not tracker.getActiveStageIds()
    marker.unlink()


def test_what_java_logs_shows_no_cell(folder, tmp_path_factory):
    """A session that we start ourselves: what goes wrong inside is not told by Spark, which would quote cells."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    code = f"""
import sys, warnings
from pyspark.sql import SparkSession
from sudare.engines.spark.sessions import find_session
session = find_session("local[2]")
frame = session.createDataFrame([("17",), ("{SECRET}",)], "word string")
frame.selectExpr("CAST(word AS INT) AS age", "word AS sex").createOrReplaceTempView("casting")
from sudare.cli import main
main()
"""
    words = ["anonymize", "casting", "--policy", str(folder / "p.json"), "--out", str(folder / "r.parquet")]
    given = {**os.environ, **spark_cluster.ENVIRONMENT, "SPARK_LOCAL_DIRS": str(elsewhere / "scratch")}
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--engine", "spark"], env=given, cwd=elsewhere, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert SECRET not in done.stdout + done.stderr
    # where Spark ends while it still tidies up, the Java machine itself prints that it refused a task
    told = re.sub(r"^java\S*RejectedExecutionException: .*\n(\s+at .*\n)*", "", done.stderr, flags=re.MULTILINE)
    assert not re.search(r"Traceback|^\s+at ", told, re.MULTILINE), done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("sudare: ")]) == 1
