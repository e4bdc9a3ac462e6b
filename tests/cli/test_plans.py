"""Plans on the command line: saved with a release, applied to other people, and audited there like any release."""

from __future__ import annotations

import json
import random
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .people import COLUMNS, POLICY, Place, command, policy, read, text

JOBS = ("qnurse", "qdoctor", "qcook", "qbaker")
TREE = {"care": ["qnurse", "qdoctor"], "food": ["qcook", "qbaker"]}
LEVELS = {"age": 2, "zip": 1, "job": 1}


def people(count=120, seed=1, odd=0):
    """Make up some people; the first ``odd`` of them have a job that no hierarchy knows."""
    pick = random.Random(seed)
    return [
        (
            f"Qperson{row} Zweighaupt",
            pick.randrange(20, 60),
            str(pick.choice((90411, 90412, 90499, 80411, 80412))),
            f"qodd{row % 2}" if row < odd else pick.choice(JOBS),
            pick.choice(("xpox", "xcold", "xulcer")),
        )
        for row in range(count)
    ]


def rules(limit=0.1, require=None, columns=None, **parts):
    suppression = {"limit": limit, **parts.pop("suppression", {})}
    return policy(
        {
            "age": {"role": "quasi", "hierarchy": {"bands": [5, 20]}},
            "zip": {"role": "quasi", "hierarchy": {"prefix": [5, 2]}},
            "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
            **(columns or {}),
        },
        method={"name": "full-domain"},
        require=require or [{"model": "k-anonymity", "k": 4}],
        suppression=suppression,
        **parts,
    )


class Planned(Place):
    """A place with a plan, made of some people."""

    def __init__(self, folder):
        super().__init__(folder)
        self.secrets += ["Zweighaupt", "qodd", "qdoctor", "qbaker"]
        self.plan = folder / "plan.json"

    def made(self, content=None, said=None, out="first.csv", levels=None):
        """Release some people with a plan; the levels may be written into it."""
        data = self.data(text(people()) if content is None else content)
        result = self.anonymize(data, self.policy(said or rules()), "--plan", self.plan, "--json", out=out)
        assert result.exit_code == 0, result.output
        if levels is not None:
            plan = json.loads(self.plan.read_text())
            assert set(plan["levels"]) == set(levels)
            self.plan.write_text(json.dumps({**plan, "levels": levels}))
        return json.loads(result.stdout)

    def new(self, rows=None, name="new.csv", **more):
        return self.data(text(people(seed=2) if rows is None else rows, **more), name)

    def apply(self, new, *more, out="second.csv"):
        return self.run("apply", self.plan, new, "--out", self.out / out, *more)

    def applied(self, new, out="second.csv"):
        """Apply the plan; return the certificate, as it was printed and as it stands beside the release."""
        result = self.apply(new, "--json", out=out)
        assert result.exit_code == 0, result.output
        certificate = json.loads(result.stdout)
        assert certificate.pop("release") == str(self.out / out)
        assert json.loads((self.out / f"{out}.sudare.json").read_text()) == certificate
        return certificate

    def turned_down(self, new, *more, code=2, out="second.csv"):
        """Apply the plan to what it cannot be applied to; return the one message."""
        before = {path: path.is_file() and path.read_bytes() for path in self.folder.rglob("*")}
        result = self.apply(new, *more, out=out)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("sudare: ")
        assert result.stderr.count("sudare: ") == 1
        assert {path: path.is_file() and path.read_bytes() for path in self.folder.rglob("*")} == before
        return result.stderr


@pytest.fixture
def planned(tmp_path):
    return Planned(tmp_path)


def cells(path):
    return Counter(tuple(row[name] for name in COLUMNS[1:]) for row in read(path))


def keeps_k(path, k=4):
    return min(Counter((row["age"], row["zip"], row["job"]) for row in read(path)).values()) >= k


class TestApplied:
    def test_to_the_same_people_the_cells_are_the_same(self, planned):
        made = planned.made()
        certificate = planned.applied(planned.folder / "people.csv")
        assert cells(planned.out / "second.csv") == cells(planned.out / "first.csv")
        assert len(cells(planned.out / "first.csv")) > 10
        for same in ("rows_in", "rows_out", "suppressed", "classes", "loss", "guarantees", "policy_sha256", "columns"):
            assert certificate[same] == made[same], same
        assert certificate["search"]["levels"] == made["search"]["levels"]
        assert certificate["search"]["unseen"] == {}
        assert certificate["method"] == {"name": "full-domain", "applied": True}

    def test_to_other_people_the_levels_are_the_same(self, planned):
        planned.made(levels=LEVELS)
        certificate = planned.applied(planned.new())
        assert certificate["search"]["levels"] == LEVELS
        released = read(planned.out / "second.csv")
        assert len(released) == certificate["rows_out"] == 120 - certificate["suppressed"]
        assert {row["age"] for row in released} <= {"[20, 39]", "[40, 59]"}
        assert {row["zip"] for row in released} == {"90***", "80***"}
        assert {row["job"] for row in released} == {"care", "food"}
        assert keeps_k(planned.out / "second.csv")

    def test_by_the_real_command(self, planned):
        data, given = planned.data(text(people())), planned.policy(rules())
        first, second = planned.out / "first.csv", planned.out / "second.csv"
        made = command("anonymize", data, "-p", given, "-o", first, "--plan", planned.plan)
        assert (made.returncode, made.stderr) == (0, "")
        for file in (data, given, first):
            file.unlink()
        done = command("apply", planned.plan, planned.new(), "-o", second)
        assert (done.returncode, done.stderr) == (0, "")
        levels = json.loads(planned.plan.read_text())["levels"]
        assert f"  levels: age {levels['age']}, zip {levels['zip']}, job {levels['job']}\n" in done.stdout
        assert "proven: k-anonymity (k = 4" in done.stdout
        planned.check_said(made.stdout + done.stdout)
        audited = command("audit", second, "-p", planned.policy(rules()))
        assert audited.returncode == 0, audited.stderr

    def test_quietly(self, planned):
        planned.made(levels=LEVELS)
        result = planned.apply(planned.new(), "--quiet")
        assert (result.exit_code, result.output) == (0, "")
        assert keeps_k(planned.out / "second.csv")

    def test_with_bounded_memory(self, planned):
        planned.made(levels=LEVELS)
        new = planned.new()
        planned.applied(new)
        result = planned.apply(new, "--memory", "1GiB", out="third.csv")
        assert result.exit_code == 0, result.output
        assert cells(planned.out / "third.csv") == cells(planned.out / "second.csv")
        assert "memory" in planned.turned_down(new, "--memory", "some")

    @pytest.mark.parametrize(("kind", "ending"), [("csv", "parquet"), ("parquet", "csv"), ("parquet", "parquet")])
    def test_from_and_to_parquet(self, planned, kind, ending):
        planned.made(levels=LEVELS)
        new = planned.new()
        if kind == "parquet":
            rows = people(seed=2)
            new = planned.folder / "new.parquet"
            pq.write_table(pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))), new)
        certificate = planned.applied(new, f"second.{ending}")
        path = planned.out / f"second.{ending}"
        released = read(path) if ending == "csv" else pq.read_table(path).to_pylist()
        assert len(released) == certificate["rows_out"]
        assert {row["job"] for row in released} == {"care", "food"}
        assert {row["zip"] for row in released} == {"90***", "80***"}

    def test_masked_records_stay(self, planned):
        planned.made(said=rules(suppression={"records": "masked"}), levels={"age": 1, "zip": 1, "job": 0})
        lonely = [(f"Qb{age}", age, "80411", "qnurse", "xpox") for age in range(20, 50, 5)]
        certificate = planned.applied(planned.new([("Qa", 30, "90411", "qcook", "xcold")] * 94 + lonely))
        released = read(planned.out / "second.csv")
        assert certificate["rows_out"] == certificate["rows_in"] == len(released) == 100
        assert certificate["suppressed"] == 6
        shown = Counter((row["age"], row["zip"], row["job"], row["disease"]) for row in released)
        assert shown == {("*", "*", "*", "xpox"): 6, ("[30, 34]", "90***", "qcook", "xcold"): 94}

    def test_more_columns_and_another_order(self, planned):
        planned.made(levels=LEVELS)
        rows = [(*row[::-1], "Qextra") for row in people(seed=2)]
        planned.secrets.append("Qextra")
        planned.applied(planned.new(rows, columns=[*COLUMNS[::-1], "extra"]))
        assert "extra" not in read(planned.out / "second.csv")[0]


class TestUnmet:
    def test_too_many_would_be_left_out(self, planned):
        planned.made(levels={"age": 0, "zip": 0, "job": 0})
        said = planned.turned_down(planned.new(), code=1)
        assert "plan: its levels would suppress 120 of 120 records; the policy allows 12." in said

    def test_few_too_many(self, planned):
        """Three people alone in their class; two may be left out."""
        rows = [("Qa", 30, "90411", "qcook", "xpox")] * 97 + [("Qb", 30, "80411", "qnurse", "xpox")] * 3
        planned.made(text(people() * 2), levels=LEVELS)
        plan = json.loads(planned.plan.read_text())
        plan["policy"]["suppression"]["limit"] = 0.02
        planned.plan.write_text(json.dumps(plan))
        said = planned.turned_down(planned.new(rows), code=1)
        assert "would suppress 3 of 100 records; the policy allows 2" in said
        plan["policy"]["suppression"]["limit"] = 0.03
        planned.plan.write_text(json.dumps(plan))
        assert planned.applied(planned.new(rows))["suppressed"] == 3

    def test_other_models(self, planned):
        require = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "disease"}]
        planned.made(said=rules(0.0, require), levels={"age": 3, "zip": 1, "job": 2})
        rows = [(*row[:4], "xpox" if row[2].startswith("8") else row[4]) for row in people(seed=2)]
        count = sum(row[2].startswith("8") for row in rows)
        said = planned.turned_down(planned.new(rows), code=1)
        assert f"would suppress {count} of 120 records; the policy allows 0" in said

    def test_masked_records_that_are_too_few_say_so(self, planned):
        """One record more may be left out, but alone it is no class of four."""
        rows = [("Qa", 30, "90411", "qcook", "xpox")] * 99 + [("Qb", 30, "80411", "qnurse", "xpox")]
        planned.made(said=rules(suppression={"records": "masked"}), levels=LEVELS)
        said = planned.turned_down(planned.new(rows), code=1)
        assert "1 of 100 records; the policy allows 10" not in said
        assert "masked" in said

    def test_as_json(self, planned):
        planned.made(levels={"age": 0, "zip": 0, "job": 0})
        result = planned.apply(planned.new(), "--json")
        error = json.loads(result.stdout)["error"]
        assert (result.exit_code, error["exit_code"], error["kind"]) == (1, 1, "PolicyUnmetError")
        assert error["problems"][0]["where"] == "plan"

    def test_an_older_release_stays(self, planned):
        planned.made(levels={"age": 0, "zip": 0, "job": 0})
        (planned.out / "second.csv").write_text("an older release")
        planned.turned_down(planned.new(), code=1)


class TestUnseen:
    def suppressing(self, limit=0.1, **more):
        return rules(limit, suppression={"unseen": "suppress", **more})

    def test_rejected(self, planned):
        planned.made(levels=LEVELS)
        said = planned.turned_down(planned.new(people(seed=2, odd=3)))
        assert "job" in said
        assert "2 of the column's 6 distinct values" in said

    def test_in_two_columns_rejected_at_once(self, planned):
        towns = {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": {"*": [*"123"]}}}
        rows = [(*row, "123"[n % 3]) for n, row in enumerate(people())]
        names = [*COLUMNS, "town"]
        planned.made(text(rows, names), rules(columns={"town": towns}))
        odd = [(*row, "Qgotham") for row in people(seed=2, odd=2)]
        planned.secrets.append("Qgotham")
        said = planned.turned_down(planned.new(odd, columns=names))
        assert "2 problems" in said
        assert "job" in said
        assert "town" in said

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_left_out_and_counted(self, planned, ending):
        planned.made(said=self.suppressing(), levels=LEVELS)
        rows = people(400, 2, odd=7)
        certificate = planned.applied(planned.new(rows), f"second.{ending}")
        assert certificate["search"]["unseen"] == {"job": {"values": 2, "records": 7}}
        assert (certificate["rows_in"], certificate["rows_out"], certificate["suppressed"]) == (400, 393, 7)
        path = planned.out / f"second.{ending}"
        assert b"qodd" not in path.read_bytes()
        released = read(path) if ending == "csv" else pq.read_table(path).to_pylist()
        assert Counter(row["disease"] for row in released) == Counter(row[4] for row in rows[7:])
        assert {row["job"] for row in released} == {"care", "food"}

    def test_the_loss_counts_them(self, planned):
        """A record that is left out loses all that it had."""
        planned.made(said=self.suppressing(), levels=LEVELS)
        rows = people(400, 2, odd=7)
        without = planned.applied(planned.new(rows[7:]), "without.csv")["loss"]["arx"]
        assert planned.applied(planned.new(rows))["loss"]["arx"] == pytest.approx((393 * without + 7) / 400, abs=2e-4)

    def test_said_in_words(self, planned):
        planned.made(said=self.suppressing(), levels=LEVELS)
        said = planned.apply(planned.new(people(400, 2, odd=7))).stdout
        assert "column 'job' has 2 values that the plan does not know, in 7 records: suppressed" in said
        assert "393 of 400 records" in said

    def test_up_to_the_limit_and_not_one_more(self, planned):
        planned.made(said=self.suppressing(), levels=LEVELS)
        certificate = planned.applied(planned.new(people(400, 2, odd=40)))
        assert certificate["suppressed"] == 40
        for file in planned.out.glob("second*"):
            file.unlink()
        said = planned.turned_down(planned.new(people(400, 2, odd=41)), code=1)
        assert "41 of 400 records; the policy allows 40" in said

    def test_together_with_classes_that_are_too_small(self, planned):
        planned.made(said=self.suppressing(0.05), levels=LEVELS)
        lonely = ("Qb", 30, "80411", "qnurse", "xpox")
        rows = [("Qa", 30, "90411", "qcook", "xpox")] * 94 + [lonely] * 3
        odd = ("Qc", 30, "90411", "qodd", "xpox")
        certificate = planned.applied(planned.new([*rows, *[odd] * 2, rows[0]]))
        assert certificate["suppressed"] == 5
        assert certificate["search"]["unseen"] == {"job": {"values": 1, "records": 2}}
        for file in planned.out.glob("second*"):
            file.unlink()
        said = planned.turned_down(planned.new([*rows, *[odd] * 3]), code=1)
        assert "6 of 100 records; the policy allows 5" in said

    def test_a_class_does_not_count_those_that_are_left_out(self, planned):
        """Four of a kind are one class only if none of them is left out."""
        planned.made(said=self.suppressing(), levels={"age": 3, "zip": 2, "job": 2})
        rows = [("Qa", 30, "90411", "qcook", "xpox")] * 3 + [("Qb", 30, "90411", "qodd", "xpox")]
        said = planned.turned_down(planned.new(rows), code=1)
        assert "4 of 4 records; the policy allows 0" in said

    def test_nobody_is_known(self, planned):
        planned.made(said=self.suppressing(1.0), levels=LEVELS)
        planned.turned_down(planned.new(people(50, 2, odd=50)), code=1)

    def test_at_the_level_that_shows_nothing(self, planned):
        """A value that the hierarchy lacks is not covered by its root either."""
        planned.made(said=self.suppressing(), levels={"age": 2, "zip": 1, "job": 2})
        assert planned.applied(planned.new(people(400, 2, odd=7)))["suppressed"] == 7

    def test_missing_values_are_not_unseen(self, planned):
        planned.made(said=self.suppressing(), levels=LEVELS)
        rows = [(*row[:3], "" if n < 200 else row[3], row[4]) for n, row in enumerate(people(400, 2))]
        certificate = planned.applied(planned.new(rows))
        assert certificate["search"]["unseen"] == {}
        assert sum(row["job"] == "" for row in read(planned.out / "second.csv")) == 200

    def test_masked_and_unseen(self, planned):
        """Records that cannot be shown count among the suppressed, however these leave."""
        planned.made(said=self.suppressing(records="masked"), levels=LEVELS)
        certificate = planned.applied(planned.new(people(400, 2, odd=7)))
        released = read(planned.out / "second.csv")
        masked = sum((row["age"], row["zip"], row["job"]) == ("*", "*", "*") for row in released)
        assert certificate["suppressed"] == 7
        assert certificate["rows_out"] == len(released) == 393 + masked


class TestNew:
    @pytest.mark.parametrize("end", ["", "\n"])
    def test_without_records(self, planned, end):
        planned.made(levels=LEVELS)
        said = planned.turned_down(planned.data(",".join(COLUMNS) + end, "new.csv"))
        assert "has columns but no records" in said

    def test_empty_file(self, planned):
        planned.made(levels=LEVELS)
        assert "new.csv: is empty." in planned.turned_down(planned.data("", "new.csv"))

    def test_empty_parquet(self, planned):
        planned.made(levels=LEVELS)
        path = planned.folder / "new.parquet"
        pq.write_table(pa.table({name: pa.array([], pa.string()) for name in COLUMNS}), path)
        assert "records" in planned.turned_down(path)

    @pytest.mark.parametrize("column", COLUMNS)
    def test_without_a_column(self, planned, column):
        planned.made(levels=LEVELS)
        place = COLUMNS.index(column)
        rows = [(*row[:place], *row[place + 1 :]) for row in people(seed=2)]
        said = planned.turned_down(planned.new(rows, columns=[name for name in COLUMNS if name != column]))
        assert f"there is no column '{column}'" in said

    def test_there_is_none(self, planned):
        planned.made(levels=LEVELS)
        assert "there is no such file" in planned.turned_down(planned.folder / "nobody.csv")

    def test_codes_of_another_length(self, planned):
        planned.made(levels=LEVELS)
        rows = [(*row[:2], f"{row[2]}7", *row[3:]) for row in people(seed=2)]
        assert "do not have 5 characters" in planned.turned_down(planned.new(rows))

    def test_text_for_numbers(self, planned):
        planned.made(levels=LEVELS)
        rows = [(row[0], "Qold", *row[2:]) for row in people(seed=2)]
        planned.secrets.append("Qold")
        assert "age" in planned.turned_down(planned.new(rows))

    def test_one_value_everywhere(self, planned):
        planned.made(levels={"age": 0, "zip": 0, "job": 0})
        planned.applied(planned.new([people()[0]] * 5))
        assert len(cells(planned.out / "second.csv")) == 1

    def test_nothing_but_missing_values(self, planned):
        planned.made(levels=LEVELS)
        planned.applied(planned.new([(row[0], "", "", "", row[4]) for row in people(20)]))
        assert {(row["age"], row["zip"], row["job"]) for row in read(planned.out / "second.csv")} == {("", "", "")}


class TestWhere:
    """Where plans and releases may go: over nothing that anyone needs."""

    def unmade(self, planned, plan, *more, said=None, code=2):
        return planned.refused(text(people()), said or rules(), "--plan", plan, *more, code=code)

    @pytest.mark.parametrize("name", ["top-down", "mondrian"])
    def test_methods_without_a_plan(self, planned, name, monkeypatch):
        monkeypatch.setattr("sudare.pipeline.local.read", None)  # which would be used first of all
        said = self.unmade(planned, planned.plan, said=rules(limit=0) | {"method": {"name": name}})
        assert f"{name} decides for each class separately" in said
        assert "full-domain" in said
        said = self.unmade(planned, planned.plan, "--method", name)
        assert "there is no plan to save" in said

    def test_folder(self, planned):
        assert "is a folder" in self.unmade(planned, planned.out)
        assert "is a folder" in self.unmade(planned, "")

    def test_no_such_folder(self, planned):
        assert "there is no such folder" in self.unmade(planned, planned.folder / "none" / "plan.json")

    def test_file_for_a_folder(self, planned):
        assert "is not a folder" in self.unmade(planned, planned.policy() / "plan.json")

    @pytest.mark.parametrize("path", ["/proc/plan.json", f"{'x' * 300}.json"])
    def test_nobody_can_write_there(self, planned, path, monkeypatch):
        """Which is found out before there is a release that would lack its plan."""
        monkeypatch.setattr("sudare.pipeline.local.read", None)
        monkeypatch.chdir(planned.folder)
        said = self.unmade(planned, path)
        assert "cannot be written" in said or "you have no permission to write to it" in said

    @pytest.mark.parametrize("name", ["people.csv", "./people.csv", "policy.json", "out/release.csv", "jobs.csv"])
    def test_over_what_it_is_made_of(self, planned, name):
        tree = planned.folder / "jobs.csv"
        tree.write_text("".join(f"{job};{group};*\n" for group, jobs in TREE.items() for job in jobs))
        before = tree.read_bytes()
        said = rules(columns={"job": {"role": "quasi", "hierarchy": "jobs.csv"}})
        assert "choose another name for the plan" in self.unmade(planned, planned.folder / name, said=said)
        assert planned.data(text(people())).read_bytes() == text(people()).encode()
        assert tree.read_bytes() == before

    def test_over_the_source_by_another_name(self, planned):
        data = planned.data(text(people()))
        (planned.folder / "linked").symlink_to(data)
        (planned.folder / "same").hardlink_to(data)
        for name in ("linked", "same"):
            assert "is the source itself" in self.unmade(planned, planned.folder / name)
        assert data.read_text() == text(people())

    def test_over_the_certificate(self, planned):
        said = self.unmade(planned, planned.out / "release.csv.sudare.json")
        assert "is the path of the certificate" in said

    def test_over_an_older_plan(self, planned):
        planned.made()
        first = planned.plan.read_bytes()
        planned.plan.write_text("another")
        planned.made()
        assert planned.plan.read_bytes() == first

    def test_no_plan_where_there_is_no_release(self, planned):
        said = self.unmade(planned, planned.plan, said=rules(require=[{"model": "k-anonymity", "k": 999}]), code=1)
        assert "the table has 120 records" in said
        assert not planned.plan.exists()

    def test_no_sets_that_take_no_part_in_classes(self, planned):
        said = rules(
            columns={"job": {"role": "quasi", "kind": "items"}},
            require=[{"model": "km-anonymity", "k": 2, "m": 2, "column": "job"}],
        )
        assert "only km-anonymity limits; got 'job'" in self.unmade(planned, planned.plan, said=said)

    def test_the_release_over_the_plan(self, planned):
        planned.made(levels=LEVELS)
        plan = planned.folder / "plan.csv"
        planned.plan = planned.plan.rename(plan)
        said = planned.turned_down(planned.new(), out="../plan.csv")
        assert "plan.csv: is part of the policy" in said

    def test_the_certificate_over_the_plan(self, planned):
        planned.made(levels=LEVELS)
        planned.plan = planned.plan.rename(planned.out / "second.csv.sudare.json")
        assert "is part of the policy" in planned.turned_down(planned.new())

    def test_the_release_over_the_new_records(self, planned):
        planned.made(levels=LEVELS)
        assert "is the source itself" in planned.turned_down(planned.new(), out="../new.csv")

    def test_a_release_of_no_kind(self, planned):
        planned.made(levels=LEVELS)
        assert "second.docx" in planned.turned_down(planned.new(), out="second.docx")

    @pytest.mark.parametrize("content", ["", "{}", json.dumps(POLICY), "a,b\n1,2\n"])
    def test_something_else_for_a_plan(self, planned, content):
        planned.plan.write_text(content)
        assert "is not a plan" in planned.turned_down(planned.new())

    def test_no_plan(self, planned):
        assert "plan.json: there is no such file" in planned.turned_down(planned.new())

    def test_bad_plans_as_json(self, planned):
        planned.plan.write_text("{")
        result = planned.apply(planned.new(), "--json")
        assert result.exit_code == json.loads(result.stdout)["error"]["exit_code"] == 2
