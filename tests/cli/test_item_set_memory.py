"""Item sets that do not fit into the memory there is: files hold them, and nothing is left of these."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time

import pyarrow.parquet as pq

from .people import command, line, run


def made(given):
    done = command(*given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def claims(folder, rows):
    source = folder / "claims.parquet"
    assert run("generate", "claims", "--rows", rows, "--out", source).exit_code == 0
    policy = {
        "columns": {
            "born": {"role": "quasi"},
            "diseases": {"role": "quasi", "kind": "items"},
            "drugs": {"role": "quasi", "kind": "items"},
            "month": {"role": "sensitive"},
            "patient": {"role": "subject"},
        },
        "require": [{"model": "k-anonymity", "k": 10, "count": "subjects"}],
    }
    (folder / "policy.json").write_text(json.dumps(policy))
    return ["anonymize", source, "--policy", folder / "policy.json", "--json", "--out"]


def test_more_memory_than_is_allowed(tmp_path):
    given, out = claims(tmp_path, 20_000), tmp_path / "release.parquet"
    done = run(*given, out, "--memory", "1MiB")
    assert done.exit_code == 2
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("claims.parquet", "policy.json")] == []
    message = json.loads(done.stdout)["error"]["message"]
    assert "--memory" in message
    assert "20,000 records" in message


def test_with_little_memory_the_release_is_the_same(tmp_path):
    """The same rows, class by class; and the process may not have the memory that the arrays would need."""
    given, rows = claims(tmp_path, 400_000), []
    for name, more in (("a", []), ("b", ["--memory", "300MiB"])):
        certificate = made([*given, tmp_path / f"{name}.parquet", *more])
        rows.append({**certificate, "seconds": 0, "date": 0, "release": 0, "release_sha256": 0})
        table = pq.read_table(tmp_path / f"{name}.parquet", columns=["born", "diseases", "drugs"])
        rows.append(table.to_pylist())
    assert rows[0] == rows[2]
    assert rows[1] == rows[3]


def test_killed_half_way_with_files_beside(tmp_path):
    """The files that hold what does not fit have no names: when the process is gone, so are they."""
    given = claims(tmp_path, 150_000)
    (target := tmp_path / "out").mkdir()
    out = target / "release.parquet"
    whole = [*given, out, "--memory", "280MiB"]
    started = time.perf_counter()
    made(whole)
    duration = time.perf_counter() - started
    out.unlink()
    (target / "release.parquet.sudare.json").unlink()
    for share in (0.4, 0.75):
        with subprocess.Popen(line(*whole), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(share * duration)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=600)
        if not out.exists():
            assert list(target.iterdir()) == []
        else:  # it was done already
            out.unlink()
            (target / "release.parquet.sudare.json").unlink()
        with subprocess.Popen(line(*whole), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(share * duration)
            process.kill()
        for path in target.rglob("*"):  # the private folder of the killed run, which the next run removes
            assert path.is_dir() or path.name in ("lock", "release.parquet", "release.parquet.sudare.json")
        out.unlink(missing_ok=True)  # it may have been done
    made(whole)
    assert sorted(path.name for path in target.iterdir()) == ["release.parquet", "release.parquet.sudare.json"]


def test_a_limit_on_memory_that_is_real(tmp_path):
    """With --memory the process stays below what it may allocate; the limit is set from outside."""
    given, out = claims(tmp_path, 300_000), tmp_path / "release.parquet"
    limit = 1 << 30

    def less():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(
        line(*given, out, "--memory", "300MiB"), preexec_fn=less, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
