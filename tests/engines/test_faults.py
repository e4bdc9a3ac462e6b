"""What goes wrong with databases: one clear message, no password in it, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sudare
from sudare.cli import app
from sudare.core.errors import DataError, SudareError, TargetError
from sudare.engines import find_place, open_database
from sudare.pipeline import Request

from .homes import Server, rows, wait_until

PASSWORD, SHORT = Server.PASSWORD, "Geheim"
TABLE = pa.table(
    {"age": [30, 31, 32, 33] * 25, "job": ["cook", "judge"] * 50, "ill": ["flu", "pox", "cold", "flu"] * 25}
)
COLUMNS = {"age": {"role": "quasi"}, "job": {"role": "quasi"}, "ill": {"role": "sensitive"}}
POLICY = {"columns": COLUMNS, "require": [{"model": "k-anonymity", "k": 4}]}
SETS = {**POLICY, "columns": {**COLUMNS, "job": {"role": "quasi", "kind": "items", "separator": " "}}}
every_way = pytest.mark.parametrize("rules", [POLICY, SETS], ids=["in place", "by rows"])
STAGES = ("read", "method", "render", "write", "audit")


@pytest.fixture
def refused(tmp_path):
    """Run the command line, which has to refuse; return what it says."""
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))

    def run(data, out, code=2):
        words = ["anonymize", str(data), "--policy", str(tmp_path / "policy.json"), "--out", str(out)]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("sudare: ")
        assert len(result.stderr.splitlines()) == 1, result.stderr
        for word in ("Traceback", "unexpected", SHORT, PASSWORD):
            assert word not in result.output
        return result.stderr

    return run


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "said"),
        [
            (
                "postgresql://u:Geheim@localhost:1/db#t",
                "postgresql://localhost:1/db: no server answers at this address.",
            ),
            ("postgresql://u:Geheim@nowhere.invalid/db#t", "postgresql://nowhere.invalid/db: there is no such host."),
            (
                "postgresql://u:Geheim@/db?host=/no/such/folder#t",
                "postgresql:///db: no server answers at this address.",
            ),
            ("postgresql://u:Geheim@localhost:port/db#t", "postgresql://...: cannot be connected to."),
            ("postgresql://u:Geheim@localhost:99999/db#t", "postgresql://...: cannot be connected to."),
            ("postgresql://u:Geheim@localhost/db?nonsense=1#t", "postgresql://localhost/db: cannot be connected to."),
            ("postgresql://u:Geheim@localhost/db", "the address does not name a table."),
            ("postgresql://u:Geheim@localhost/db#", "the address does not name a table."),
            ("postgresql://u:Geheim@localhost/db#a.b.c", "the address does not name a table."),
            ("POSTGRESQL://u:Geheim@localhost:1/db#t", "no server answers at this address."),
            ("postgres://u:Geheim@localhost:1/db#t", "no server answers at this address."),
            ("postgresql+psycopg://u:Geheim@localhost/db#t", "is not a supported kind of database."),
            ("jdbc:postgresql://localhost/db?password=Geheim#t", "is not a supported kind of database."),
            ("mysql://u:Geheim@localhost/db#t", "mysql://...: is not a supported kind of database."),
        ],
    )
    def test_wrong_ones_are_told_without_what_is_secret(self, refused, tmp_path, address, said):
        (tmp_path / "people.csv").write_text("age,job,ill\n" + "1,a,b\n" * 4)
        assert said in refused(address, tmp_path / "release.csv")
        assert said in refused(tmp_path / "people.csv", address)
        assert said in refused(address, address.replace("#t", "#r"))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "policy.json"]

    @pytest.mark.parametrize(
        "address",
        [
            "postgresql://anna:123#4@h/db#t",
            "postgresql://anna:123/4@h/db#t",
            "postgresql://anna:123?4@h/db#t",
            "postgresql://anna:123@4@h:1/db#t",
            "postgresql://anna:12:3@h:1/db#t",
        ],
    )
    def test_passwords_that_are_not_written_as_an_address_has_them(self, refused, tmp_path, address):
        """Where a password ends cannot be told then; no part of it is shown, nor the user."""
        said = refused(address, tmp_path / "release.csv")
        assert "123" not in said
        assert "anna" not in said

    def test_names_with_an_at_are_told_in_quotes(self):
        assert find_place('postgresql://host/db#"a@b"."c@d"').shown == "postgresql://host/db#a@b.c@d"
        assert find_place("postgresql://anna@host/db#a@b").table == "a@b"

    def test_what_is_shown_of_a_place(self):
        address = "postgresql://anna:Geheim@host:7/db?sslmode=require&password=Geheim#s.t"
        place = find_place(address)
        assert place.shown == sudare.api.shown_place(address) == "postgresql://host:7/db#s.t"
        for text in (repr(place), str(place), place.shown, repr(place.beside("_x"))):
            assert SHORT not in text
            assert "anna" not in text


class TestPasswords:
    def url(self, home, password):
        return home.server.url(home.plain, Server.LOCKED, password)

    @pytest.mark.parametrize("password", ["Geheim-wrong", None], ids=["wrong", "none"])
    def test_wrong(self, postgres_home, refused, tmp_path, password, monkeypatch):
        monkeypatch.delenv("PGPASSWORD", raising=False)
        postgres_home.load("people", TABLE)
        said = refused(f"{self.url(postgres_home, password)}#people", tmp_path / "release.csv")
        assert "the server needs a password, or refuses this user with this password." in said
        assert Server.LOCKED not in said

    def test_right_and_told_nowhere(self, postgres_home):
        postgres_home.load("people", TABLE)
        address = f"{self.url(postgres_home, PASSWORD)}#people"
        seen = []
        release = sudare.anonymize(
            address, POLICY, out=address.replace("#people", "#release"), progress=lambda *told: seen.append(repr(told))
        )
        with open_database(find_place(address)) as database:
            shown = [repr(database), str(database.session.shown), repr(vars(database.session))]
        texts = [repr(release), repr(release.place), json.dumps(release.certificate), *seen, *shown]
        texts += [str(postgres_home.read(name).to_pylist()) for name in postgres_home.tables()]
        assert "release_sudare" in postgres_home.tables()
        assert not [text for text in texts if SHORT in text or Server.LOCKED in text]

    def test_what_is_asked_for_does_not_show_it(self):
        address = "postgresql://anna:Geheim@host/db#t"
        place = find_place(address)
        request = Request(data=address, policy=None, decider=None, target=place, origin=place)
        assert SHORT not in repr(request)

    def test_it_comes_from_the_environment(self, postgres_home, monkeypatch, tmp_path):
        postgres_home.load("people", TABLE)
        monkeypatch.setenv("PGPASSWORD", "Geheim-7t/x")
        sudare.anonymize(f"{self.url(postgres_home, None)}#people", POLICY, out=tmp_path / "release.csv")


class TestServer:
    def test_there_is_no_such_database(self, server, refused, tmp_path):
        assert "/nobody: there is no such database." in refused(f"{server.url('nobody')}#people", tmp_path / "r.csv")

    def test_there_is_no_such_user(self, server, refused, tmp_path):
        assert "there is no such user." in refused(f"{server.url('postgres', 'ghost')}#people", tmp_path / "r.csv")

    def test_something_else_answers(self, refused, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]

            import threading

            def hang_up():
                for _ in range(2):
                    listening.accept()[0].close()

            thread = threading.Thread(target=hang_up, daemon=True)
            thread.start()
            assert f"127.0.0.1:{port}/db: " in refused(
                f"postgresql://u@127.0.0.1:{port}/db?sslmode=disable#t", tmp_path / "r.csv"
            )

    def test_there_is_no_such_table(self, home, refused, tmp_path):
        said = refused(home.address("nobody"), home.address("release"))
        assert "#nobody: there is no such table." in said
        assert "#nobody: there is no such table." in refused(home.address("nobody"), tmp_path / "release.csv")

    def test_a_database_that_may_only_be_read(self, postgres_home, refused, tmp_path):
        people = postgres_home.load("people", TABLE)
        postgres_home.run(f"ALTER DATABASE {postgres_home.plain} SET default_transaction_read_only = on")
        assert "#release: the database is read-only." in refused(people, postgres_home.address("release"))
        sudare.anonymize(people, POLICY, out=tmp_path / "release.csv")

    @every_way
    @pytest.mark.parametrize("stage", STAGES)
    def test_a_session_that_is_ended_by_the_server(self, postgres_home, rules, stage):
        people = postgres_home.load("people", TABLE)
        sudare.anonymize(people, rules, out=postgres_home.address("old"))
        before = rows(postgres_home.read("old"))
        done = []

        def end(now, *_):
            if now == stage and not done:
                for process in postgres_home.sessions():
                    done.append(process)
                    postgres_home.run(f"SELECT pg_terminate_backend({process})")

        for target in ("release", "old"):
            done.clear()
            with pytest.raises(DataError, match="the connection was lost; nothing was left behind"):
                sudare.anonymize(people, rules, out=postgres_home.address(target), progress=end)
            assert done
        assert postgres_home.tables() == ["old", "old_sudare", "people"]
        assert rows(postgres_home.read("old")) == before
        assert left(postgres_home) == []

    @every_way
    def test_changes_of_others_meanwhile_are_not_seen(self, postgres_home, rules):
        """The release is of one moment, and so are its counts."""
        people = postgres_home.load("people", TABLE)
        local = sudare.anonymize(TABLE, rules, seed=1)
        changes = {
            "method": "UPDATE people SET age = 99 WHERE job = 'cook'",
            "render": "DELETE FROM people WHERE age = 31",
            "write": "INSERT INTO people VALUES (1, 'thief', 'pox')",
        }

        def others(stage, *_):
            if stage in changes:
                postgres_home.run(changes.pop(stage))

        sudare.anonymize(people, rules, out=postgres_home.address("release"), progress=others, seed=1)
        assert not changes
        assert rows(postgres_home.read("release")) == rows(local.data)
        assert rows(postgres_home.read("people")) != rows(TABLE)

    def test_a_source_that_is_dropped_meanwhile_waits(self, postgres_home):
        """Whoever reads a table keeps others from dropping it."""
        people = postgres_home.load("people", TABLE)
        tried = []

        def others(stage, *_):
            if stage == "method" and not tried:
                tried.append(stage)
                with pytest.raises(Exception, match="lock timeout"):
                    postgres_home.run("SET lock_timeout = '100ms'", "DROP TABLE people")

        sudare.anonymize(people, POLICY, out=postgres_home.address("release"), progress=others)
        assert tried


def left(home):
    """Return what is of ours in a database, and in no table that has a name of its own."""
    found = home.query(
        "SELECT n.nspname || '.' || c.relname AS t FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relname LIKE 'sudare\\_%' OR n.nspname LIKE 'pg\\_temp%'"
    )
    return found["t"].to_pylist()


class TestKilled:
    """The process itself is gone, with no time to tidy up."""

    ROWS = 60_000
    CODE = """
import os, signal, sys
import sudare
def stop(stage, *_):
    if stage == sys.argv[4]:
        print("now", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
sudare.anonymize(sys.argv[1], sys.argv[3], out=sys.argv[2], progress=stop)
"""

    @pytest.fixture
    def given(self, home, tmp_path):
        draw = np.random.default_rng(1)
        cells = {"age": draw.integers(0, 90, self.ROWS), "job": draw.choice(["a", "b", "c"], self.ROWS).tolist()}
        cells["ill"] = draw.choice(["flu", "pox"], self.ROWS).tolist()
        home.load("people", pa.table(cells))
        (tmp_path / "policy.json").write_text(json.dumps(POLICY))
        return tmp_path / "policy.json"

    def check(self, home):
        if home.name == "postgres":
            wait_until(lambda: not home.sessions())
            assert left(home) == []
        assert home.tables() == ["people"]
        assert home.read("people").num_rows == self.ROWS
        if home.name == "duckdb":
            assert sorted(path.name for path in home.path.parent.iterdir()) == [home.path.name]

    @pytest.mark.parametrize("stage", ["method", "write", "audit"])
    def test_at_a_stage(self, home, given, stage):
        words = [sys.executable, "-c", self.CODE, home.address("people"), home.address("release"), str(given), stage]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        assert (done.returncode, done.stdout) == (-signal.SIGKILL, "now\n"), done.stderr
        self.check(home)

    def test_the_command_at_any_time(self, home, given):
        words = [sys.executable, "-m", "sudare", "anonymize", home.address("people"), "--policy", str(given), "--quiet"]
        started = time.perf_counter()
        subprocess.run([*words, "--out", home.address("whole")], check=True, timeout=600)
        duration = time.perf_counter() - started
        home.run("DROP TABLE whole", "DROP TABLE whole_sudare")
        ended, shares = 0, [0.4, 0.6, 0.75, 0.9]
        for share in shares:
            with subprocess.Popen([*words, "--out", home.address("release")]) as process:
                time.sleep(duration * share)
                process.kill()
            if home.name == "postgres":
                wait_until(lambda: not home.sessions())
            if "release" in home.tables():
                assert sudare.audit(home.address("release"), given).passed
                home.run("DROP TABLE release", "DROP TABLE release_sudare")
            else:
                ended += 1
            self.check(home)
            if not ended and share == shares[-1] and len(shares) < 20:
                shares.append(min(shares) / 2)  # the machine is no longer as busy as it was in the first run
        assert ended

    def test_asked_to_stop(self, home, given):
        words = [sys.executable, "-m", "sudare", "anonymize", home.address("people"), "--policy", str(given)]
        with subprocess.Popen([*words, "--out", home.address("release")], stderr=subprocess.PIPE, text=True) as process:
            time.sleep(1.0)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=600)
        assert "Traceback" not in said
        if process.returncode:
            self.check(home)

    def test_a_new_duckdb_file_holds_nothing(self, given, home, tmp_path):
        new = tmp_path / "new.duckdb"
        words = [sys.executable, "-c", self.CODE, home.address("people"), f"{new}#release", str(given), "audit"]
        assert subprocess.run(words, capture_output=True, timeout=600, check=False).returncode == -signal.SIGKILL
        if new.exists():
            with duckdb.connect(str(new)) as connection:
                assert connection.execute("SELECT * FROM information_schema.tables").fetchall() == []
        sudare.anonymize(home.address("people"), POLICY, out=f"{new}#release")
        assert sudare.audit(f"{new}#release", POLICY).passed


class TestDuckdbFiles:
    HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
print("open", flush=True)
sys.stdin.read()
"""

    @pytest.fixture
    def held(self, duck_home):
        """Let another process open the file, for reading or for writing."""
        others = []

        def hold(how):
            words = [sys.executable, "-c", self.HOLD, duck_home.database, how]
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            others.append(process)
            assert process.stdout.readline() == "open\n"

        yield hold
        for process in others:
            process.communicate(timeout=600)

    def test_in_use_by_another_process(self, duck_home, held, refused, tmp_path):
        people = duck_home.load("people", TABLE)
        held("writing")
        said = f"{duck_home.database}: is in use by another process. Hint: close it first."
        assert said in refused(people, tmp_path / "release.csv")
        assert said in refused(people, duck_home.address("release"))
        (tmp_path / "people.csv").write_text("age,job,ill\n" + "1,a,b\n" * 4)
        assert said in refused(tmp_path / "people.csv", duck_home.address("release"))

    def test_read_by_another_process(self, duck_home, held, refused, tmp_path):
        """Then it may be read here as well, but not written to."""
        people = duck_home.load("people", TABLE)
        held("reading")
        sudare.anonymize(people, POLICY, out=tmp_path / "release.csv")
        assert "#release: the database is read-only." in refused(people, duck_home.address("release"))

    def test_that_is_none(self, refused, tmp_path):
        for content in (b"", b"this is a text, and no database at all" * 99):
            path = tmp_path / "people.duckdb"
            path.write_bytes(content)
            said = refused(f"{path}#people", tmp_path / "release.csv")
            assert "people.duckdb" in said
            assert "is not a DuckDB database" in said or "there is no such table" in said
            assert path.read_bytes() == content or not content

    def test_there_is_none(self, refused, tmp_path):
        assert "there is no such file." in refused(f"{tmp_path}/nobody.duckdb#people", tmp_path / "release.csv")
        assert "there is no such file." in refused(f"{tmp_path}/nobody.duckdb#people", f"{tmp_path}/nobody.duckdb#r")
        assert [path.name for path in tmp_path.iterdir()] == ["policy.json"]

    def test_a_folder(self, refused, tmp_path):
        (tmp_path / "people.duckdb").mkdir()
        assert "is a folder" in refused(f"{tmp_path}/people.duckdb#people", tmp_path / "release.csv")

    def test_a_folder_that_is_not_there(self, refused, tmp_path):
        (tmp_path / "people.csv").write_text("age,job,ill\n" + "1,a,b\n" * 4)
        assert "its folder does not exist" in refused(tmp_path / "people.csv", tmp_path / "none" / "new.duckdb#release")

    @pytest.mark.parametrize("content", ["age,job,ill\n", "age,job\n1,2\n", "age,job,ill\n1,a,b\n"])
    def test_a_new_one_does_not_stay_behind(self, refused, tmp_path, content):
        (tmp_path / "people.csv").write_text(content)
        refused(tmp_path / "people.csv", tmp_path / "new.duckdb#release", code=1 if "1,a,b" in content else 2)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "policy.json"]

    @pytest.mark.parametrize("stage", STAGES)
    def test_a_new_one_does_not_stay_behind_if_it_is_stopped(self, tmp_path, stage):
        def stop(now, *_):
            if now == stage:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            sudare.anonymize(TABLE, POLICY, out=f"{tmp_path}/new.duckdb#release", progress=stop)
        assert list(tmp_path.iterdir()) == []

    def test_one_that_may_not_be_written_to(self, duck_home, tmp_path):
        """By somebody who is not root, whom nothing is forbidden."""
        people = duck_home.load("people", TABLE)
        duck_home.path.chmod(0o444)
        if os.geteuid() == 0:
            pytest.skip("root may write to everything")
        sudare.anonymize(people, POLICY, out=tmp_path / "release.csv")
        with pytest.raises(TargetError, match="the database is read-only"):
            sudare.anonymize(people, POLICY, out=duck_home.address("release"))

    def test_open_in_this_process_with_other_settings(self, duck_home):
        people = duck_home.load("people", TABLE)
        with duckdb.connect(duck_home.database, read_only=True), pytest.raises(SudareError) as caught:
            sudare.anonymize(people, POLICY, out=duck_home.address("release"))
        assert "is open in this process" in str(caught.value) or "read-only" in str(caught.value)


def test_errors_hold_no_cell(home, refused):
    """Whatever a database says of its cells is not told."""
    home.load("people", TABLE.set_column(0, "age", pa.array(["Zweighaupt"] * 99 + ["30"])))
    with pytest.raises(SudareError) as caught:
        sudare.anonymize(
            home.address("people"),
            {**POLICY, "columns": {**COLUMNS, "age": {"role": "quasi", "kind": "numeric"}}},
            out=home.address("release"),
        )
    assert "Zweighaupt" not in str(caught.value)
    assert home.tables() == ["people"]
