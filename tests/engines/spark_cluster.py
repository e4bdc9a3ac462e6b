"""A cluster of Spark for the tests: a master and two workers of one core each, started here and stopped on any way out.

A task finds the process of its executor by :func:`executor`, so that a test can kill it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ENVIRONMENT = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""How Java is to run what does not run for long."""
BACKEND = "CoarseGrainedExecutorBackend"
"""What the command of an executor's process holds."""


class Cluster:
    """A master and workers; ``url`` is where the master is."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder, self.url = folder, ""
        self._processes: list[subprocess.Popen[bytes]] = []
        self._count = workers

    def __enter__(self) -> Cluster:
        try:
            master = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = self._told(master, r"Starting Spark master at (spark://\S+)")
            for number in range(self._count):
                name = f"worker{number}"
                words = [
                    "-c",
                    "1",
                    "-m",
                    "1g",
                    "--host",
                    "127.0.0.1",
                    "--webui-port",
                    "0",
                    "-d",
                    str(self.folder / name),
                ]
                self._start(name, "worker.Worker", *words, self.url)
            for number in range(self._count):
                self._told(self.folder / f"worker{number}.log", "Successfully registered with master")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:  # each leads a group of its own, which its executors and their Python are in
            for number in groups_below(process.pid):
                end(number)
        for process in self._processes:
            process.wait()

    def _start(self, name: str, kind: str, *words: str) -> Path:
        import pyspark

        log = self.folder / f"{name}.log"
        program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        given = {**os.environ, **ENVIRONMENT, "SPARK_HOME": str(program.parent.parent), "SPARK_NO_DAEMONIZE": "1"}
        given["SPARK_DAEMON_JAVA_OPTS"] = QUICK
        given["SPARK_LOCAL_DIRS"] = str(self.folder / "scratch")
        with log.open("wb") as file:
            command = [str(program), f"org.apache.spark.deploy.{kind}", *words]
            self._processes.append(
                subprocess.Popen(
                    command, env=given, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                    cwd=self.folder,
                )
            )  # fmt: skip
        return log

    def _told(self, log: Path, pattern: str, seconds: float = 600) -> str:
        """Wait until a log tells something; return it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found.group(found.lastindex or 0)
            if any(process.poll() is not None for process in self._processes):
                break
            time.sleep(0.1)
        raise RuntimeError(f"{log.name} does not tell {pattern!r}:\n{log.read_text(errors='replace')[-2000:]}")


def groups_below(pid: int) -> set[int]:
    """Return the process groups of a process and of all that it started, and these started."""
    parents: dict[int, list[int]] = {}
    for number in running():
        parents.setdefault(parent(number), []).append(number)
    found, waiting = set[int](), [pid]
    while waiting:
        number = waiting.pop()
        waiting += parents.get(number, [])
        try:
            found.add(os.getpgid(number))
        except ProcessLookupError:
            continue
    return found - {os.getpgrp()}


def end(group: int) -> None:
    """End a process group that we started."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def running() -> list[int]:
    """Return the numbers of all processes."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def parent(pid: int) -> int:
    """Return the number of the process that started another, 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def command_of(pid: int) -> str:
    """Return the command that a process runs, nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def executor(pid: int) -> int:
    """Return the number of the executor that a process of Python works for."""
    while pid > 1 and BACKEND not in command_of(pid):
        pid = parent(pid)
    return pid


# -- what a driver of its own runs: python spark_cluster.py URL FOLDER, where FOLDER/cases.json says what


def turn(marker: Path) -> int:
    """Say how many have come here, this one included, of all tasks anywhere."""
    for number in range(1, 1000):
        try:
            marker.with_name(f"{marker.name}.{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return number
    return 1000


def kill(marker: Path, after: int, victims: str) -> None:
    """Kill an executor that has cut shards, if it is this task's turn: what it holds will have to be made again."""
    if turn(marker) == after:
        own = executor(os.getpid())
        cut = [int(path.suffix[1:]) for path in marker.parent.glob(f"{victims}.*")]
        found = next((pid for pid in [own, *cut] if pid in cut and BACKEND in command_of(pid)), own)
        assert BACKEND in command_of(found)
        marker.write_text(str(found))
        for scratch in scratches(found):  # a machine that is lost is lost with its disk
            shutil.rmtree(scratch, ignore_errors=True)
        os.kill(found, signal.SIGKILL)
        if found == own:
            time.sleep(600)  # until it is gone, and this with it


def scratches(pid: int) -> list[str]:
    """Return the folders in which an executor keeps what others will fetch."""
    given = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    told = next(line for line in given if line.startswith("SPARK_EXECUTOR_DIRS="))
    return told.partition("=")[2].split(os.pathsep)


def deadly(kind: type, marker: Path, after: int, victims: str) -> type:
    """Return a class of what executors run that kills one of them when all have given so much."""

    class Deadly(kind):
        def __call__(self, given):
            for told in super().__call__(given):
                kill(marker, after, victims)
                yield told

    return Deadly


def noting(kind: type, folder: Path, victims: str) -> type:
    """Return a class of what executors run that notes down which of them ran it."""

    class Noting(kind):
        def __call__(self, given):
            (folder / f"{victims}.{executor(os.getpid())}").touch()
            yield from super().__call__(given)

    return Noting


def restless(batches):
    """Give rows in another order each time."""
    import numpy as np

    for batch in batches:
        yield batch.take(np.random.default_rng().permutation(batch.num_rows))


def module_of(kind: str):
    """Return the module that has a class of what executors run."""
    from sudare.pipeline.spark import spark_audit as proving
    from sudare.pipeline.spark import spark_release as spread

    return proving if hasattr(proving, kind) else spread


def run(url: str, folder: Path) -> None:
    """Make a release for each case, while executors are killed, and write down what comes of it."""
    import json
    import warnings

    import pyarrow.parquet as pq

    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import sudare
    from sudare.pipeline.spark import spark_audit as proving
    from sudare.pipeline.spark import spark_release as spread

    spread.SHARD, spread.BUNDLE, proving.BUCKET = 600, 700, 1000
    builder = SparkSession.builder.master(url).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.driver.extraJavaOptions", QUICK).config("spark.executor.extraJavaOptions", QUICK)
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    for name, case in json.loads((folder / "cases.json").read_text()).items():
        whole(session)
        before = {kind: getattr(module_of(kind), kind) for kind in {"Cutting": 0, **case["kill"]}}
        spread.Cutting = noting(spread.Cutting, folder, f"{name}.cut")
        for kind, after in case["kill"].items():
            marker = folder / f"{name}{kind}.killed"
            setattr(module_of(kind), kind, deadly(getattr(module_of(kind), kind), marker, after, f"{name}.cut"))
        source, out = str(folder / "people.parquet"), folder / name / "release.parquet"
        out.parent.mkdir()
        given = session.read.parquet(source)
        if case.get("restless"):
            given = given.mapInArrow(restless, given.schema)
        try:
            release = sudare.anonymize(given, case["policy"], out=out if case["out"] else None)
            if release.path is None:
                pq.write_table(release.data.toArrow(), out)
                (folder / name / "release.parquet.sudare.json").write_text(json.dumps(release.certificate))
        except sudare.core.errors.SudareError as error:
            (folder / f"{name}.error").write_text(f"{type(error).__name__}: {error}")
        finally:
            for kind, was in before.items():
                setattr(module_of(kind), kind, was)
    session.stop()


def whole(session, executors: int = 2, seconds: float = 600) -> None:
    """Wait until all executors are there, those included that come in place of killed ones."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 1 + executors:  # the driver is one, too
            return
        time.sleep(0.1)
    raise RuntimeError("not all executors came back")


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))
