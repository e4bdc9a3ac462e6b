"""Bad input: one clear message, the right exit code, no value of a person, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare import api
from sudare.core.errors import PolicyError

from .people import COLUMNS, POLICY, ROWS, SECRETS, command, policy, read, text, with_cell


def parquet(place, **columns):
    """Write the people as Parquet, with other columns added or replaced."""
    cells = dict(zip(COLUMNS, map(list, zip(*ROWS, strict=True)), strict=True))
    path = place.folder / "people.parquet"
    pq.write_table(pa.table(cells | columns), path)
    return path


class TestFile:
    def test_there_is_none(self, place):
        assert "there is no such file" in place.refused(place.folder / "nobody.csv")

    def test_name_too_long(self, place):
        assert "File name too long" in place.refused(place.folder / f"{'x' * 300}.csv")

    def test_folder(self, place):
        (place.folder / "people.csv").mkdir()
        assert "is a folder" in place.refused(place.folder / "people.csv")

    @pytest.mark.parametrize("name", ["people.doc", "people"])
    def test_unknown_ending(self, place, name):
        assert "not a supported kind of file" in place.refused(name=name)

    def test_empty(self, place):
        assert "people.csv: is empty." in place.refused(b"")

    @pytest.mark.parametrize("content", ["\n\n", "\n" + text(), " \n" + text()])
    def test_first_line_blank(self, place, content):
        assert "its first line is blank" in place.refused(content)

    @pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
    def test_header_only(self, place, end):
        assert "has columns but no records" in place.refused(",".join(COLUMNS) + end)

    def test_no_header(self, place):
        """The first record stands where the names should be; it must not be shown as names."""
        message = place.refused(text().split("\n", 1)[1])
        assert "the policy names none of its 5 columns" in message
        assert "delimiter" in message

    def test_no_header_and_a_cell_twice(self, place):
        message = place.refused("qcook,qcook,1,2,3\n" * 4)
        assert "columns 1 and 2 have the same name" in message

    def test_ragged(self, place):
        message = place.refused(text() + "a,b\n" + "a,1,90411,b,c,d,e\n")
        assert "2 records do not have the header's 5 fields (the first in line 8)" in message

    def test_ragged_once(self, place):
        assert "1 record does not have" in place.refused(text() + "a,1,90411,qcook,xpox,\n")

    def test_quote_not_closed(self, place):
        assert "do" in place.refused(text().replace("qcook,xpox", '"qcook,xpox'))

    def test_names_twice(self, place):
        twice = ("name", "age", "age", "job", "job")
        message = place.refused(text(columns=twice))
        assert "2 problems" in message
        assert "columns 2 and 3 have the same name" in message
        assert "columns 4 and 5 have the same name" in message

    def test_blank_lines_are_no_records(self, place):
        assert len(read(place.released(text().replace("\n", "\n\n")))) == len(ROWS)

    def test_one_record(self, place):
        assert "the table has 1 records" in place.refused(text(ROWS[:1]), code=1)

    def test_damaged_parquet(self, place):
        content = b"PAR1" + b"Qanna Zweighaupt" * 30 + b"PAR1"
        assert "it is damaged" in place.refused(content, name="people.parquet")

    def test_damaged_arrow(self, place):
        assert "it is damaged" in place.refused(b"ARROW1" + b"Zweighaupt" * 30, name="people.arrow")

    def test_text_called_parquet(self, place):
        assert "its format does not match its ending" in place.refused(text(), name="people.parquet")

    def test_gzip(self, place):
        assert len(read(place.released(gzip.compress(text().encode()), name="people.csv.gz"))) == len(ROWS)

    @pytest.mark.parametrize("content", [text().encode(), gzip.compress(text().encode() * 99)[:-30]])
    def test_gzip_that_is_none(self, place, content):
        assert "it is damaged" in place.refused(content, name="people.csv.gz")

    @pytest.mark.parametrize("delimiter", [";", "\t", "|"])
    def test_delimiters_are_told(self, place, delimiter):
        assert len(read(place.released(text(delimiter=delimiter)))) == len(ROWS)

    def test_delimiter_given(self, place):
        assert len(read(place.released(text(delimiter="^"), policy(source={"delimiter": "^"})))) == len(ROWS)

    def test_line_breaks_and_quotes_in_cells(self, place):
        odd = 'a\nb, "c"\r\nd'
        released = read(place.released(text([(*row[:3], odd, row[4]) for row in ROWS])))
        assert {row["job"] for row in released} == {odd}

    @pytest.mark.parametrize("end", ["\r\n", "\r"])
    def test_line_ends(self, place, end):
        assert len(read(place.released(text(end=end)))) == len(ROWS)

    def test_very_wide_header(self, place):
        many = [f"column_number_{number:05}" for number in range(6000)]
        content = text([(*row, *("0" * len(many))) for row in ROWS], [*COLUMNS, *many])
        assert len(read(place.released(content))) == len(ROWS)


class TestEncoding:
    def test_latin_1_read_as_utf_8(self, place):
        place.secrets.append("Qzoë")
        message = place.refused(text(with_cell("name", "Qzoë")).encode("latin-1"))
        assert "is not UTF-8, the default encoding of text files" in message
        assert "source: {encoding: cp1252}" in message
        assert "sudare init --encoding cp1252" in message

    def test_said_wrong(self, place):
        message = place.refused(text().encode("utf-8") + b"\xff", policy(source={"encoding": "ascii"}))
        assert "is not text in ascii" in message

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
    def test_said_right(self, place, encoding):
        rows = [(*row[:3], "Köchin", row[4]) for row in ROWS]
        released = read(place.released(text(rows).encode(encoding), policy(source={"encoding": encoding})))
        assert {row["job"] for row in released} == {"Köchin"}

    def test_utf_16_not_said(self, place):
        assert "is not UTF-8" in place.refused(text().encode("utf-16"))

    @pytest.mark.parametrize("encoding", ["no-such-code", "hex", "rot13", "", "a\0b"])
    def test_unknown(self, place, encoding):
        assert "not a text encoding" in place.refused(rules=policy(source={"encoding": encoding}))

    @pytest.mark.parametrize("content", [text(), text().replace("name,", '"name",')])
    def test_byte_order_mark(self, place, content):
        rules = policy({"name": {"role": "insensitive"}})
        released = read(place.released(b"\xef\xbb\xbf" + content.encode(), rules))
        assert set(released[0]) == set(COLUMNS)

    def test_names_and_values_of_the_world(self, place):
        names = {"name": "名前", "age": "возраст", "zip": "zip", "job": "métier 😀", "disease": "病気"}
        rules = {**POLICY, "columns": {names[name]: spec for name, spec in POLICY["columns"].items()}}
        rows = [(*row[:3], "看護師😀", row[4]) for row in ROWS]
        released = read(place.released(text(rows, list(names.values())), rules))
        assert {row["métier 😀"] for row in released} == {"看護師😀"}


class TestPolicy:
    def test_there_is_none(self, place):
        assert "there is no such file" in place.refused(rules=place.folder / "none.yaml")

    def test_folder(self, place):
        assert "cannot be read" in place.refused(rules=place.folder)

    @pytest.mark.parametrize(("name", "content"), [("p.yaml", "columns: [a\n b: c"), ("p.json", '{"columns": {,}}')])
    def test_malformed(self, place, name, content):
        assert "is not well-formed" in place.refused(rules=content, policy_name=name)

    @pytest.mark.parametrize(("name", "content"), [("p.yaml", ""), ("p.yaml", "- a"), ("p.json", "3")])
    def test_no_mapping(self, place, name, content):
        assert "a policy must be a mapping" in place.refused(rules=content, policy_name=name)

    @pytest.mark.parametrize("name", ["p.yaml", "p.json"])
    def test_key_twice(self, place, name):
        content = '{"columns": {"age": {"role": "quasi"}, "age": {"role": "sensitive"}}}'
        assert "names the key 'age' twice" in place.refused(rules=content, policy_name=name)

    def test_not_utf_8(self, place):
        assert "is not UTF-8 text" in place.refused(rules=json.dumps(POLICY).encode("utf-16"))

    def test_column_that_is_not_there(self, place):
        message = place.refused(rules=policy({"diseas": {"role": "sensitive"}, "wage": {"role": "quasi"}}))
        assert "2 problems" in message
        assert "there is no column 'diseas', which the policy names. Did you mean 'disease'?" in message
        assert "there is no column 'wage'" in message

    @pytest.mark.parametrize(
        ("parts", "said"),
        [
            ({"require": [{"model": "k-anonimity", "k": 2}]}, "Did you mean 'k-anonymity'?"),
            ({"require": [{"model": "k-anonymity", "kk": 2, "k": 2}]}, "require.0.kk: is not a key here"),
            ({"require": [{"model": "k-anonymity"}]}, "require.0.k: is missing"),
            ({"require": []}, "require"),
            ({"method": {"name": "top_down"}}, "Did you mean 'top-down'?"),
            ({"method": {"name": "top-down", "spilt": "widest"}}, "Did you mean 'split'?"),
            ({"method": {"name": "top-down", "split": "widst"}}, "Did you mean 'widest'?"),
            ({"columns": {"age": {"role": "quazi"}}}, "Did you mean 'quasi'?"),
            ({"suppresion": {"limit": 0.1}}, "Did you mean 'suppression'?"),
        ],
    )
    def test_unknown_words(self, place, parts, said):
        assert said in place.refused(rules={**POLICY, **parts})

    def test_unknown_method_asked_for(self, place):
        assert "use one of top-down" in place.refused(None, None, "--method", "mondrain")

    @pytest.mark.parametrize("k", [1, 0, -3, "5", 2.0, 2.5, True, None, [2]])
    def test_k_that_is_none(self, place, k):
        assert "require.0.k" in place.refused(rules=policy(require=[{"model": "k-anonymity", "k": k}]))

    def test_k_above_the_records(self, place):
        message = place.refused(rules=policy(require=[{"model": "k-anonymity", "k": 7}]), code=1)
        assert "the table has 6 records" in message

    def test_l_above_the_values(self, place):
        rules = policy(require=[{"model": "l-diversity", "l": 4, "column": "disease"}])
        assert "column 'disease' has 3 different values" in place.refused(rules=rules, code=1)

    def test_both_cannot_be_met(self, place):
        require = [{"model": "k-anonymity", "k": 7}, {"model": "l-diversity", "l": 4, "column": "disease"}]
        assert "2 problems" in place.refused(rules=policy(require=require), code=1)

    def test_all_at_once(self, place):
        message = place.refused(
            rules={
                "columns": {"age": {"role": "quazi"}, "zip": {"role": "quasi", "hierachy": "z.csv"}},
                "require": [{"model": "k-anonymity", "k": 1}, {"model": "l-diversity", "l": 2, "column": "ilness"}],
                "method": {"name": "top-down", "split": "deepest"},
                "suppression": {"limit": 1.5},
            }
        )
        assert "6 problems in the policy" in message
        for where in ("age.role", "zip.hierachy", "require.0.k", "require.1.column", "method.split", "limit"):
            assert where in message


class TestCells:
    @pytest.mark.parametrize("cell", ["Qsecretcell", "12-13-14", "2024-02-30"])
    def test_no_number(self, place, cell):
        place.secrets.append(cell)
        message = place.refused(text(with_cell("age", cell)))
        assert "column 'age'" in message

    @pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
    def test_infinite(self, place, cell):
        assert "column 'age': 1 cell is infinite" in place.refused(text(with_cell("age", cell)))

    def test_nan_is_missing(self, place):
        rules = policy(require=[{"model": "k-anonymity", "k": 6}])
        released = read(place.released(text(with_cell("age", "NaN")), rules))
        assert {row["age"] for row in released} == {"*"}

    def test_every_column_at_once(self, place):
        job, disease = {"role": "quasi", "hierarchy": "none.csv"}, {"role": "quasi", "order": ["a"]}
        rules = policy({"job": job, "disease": disease}, method={"name": "mondrian"})
        message = place.refused(text(with_cell("age", "Qsecretcell")), rules)
        assert "3 problems in the data" in message

    def test_wrong_length_of_prefix(self, place):
        assert "do not have 5 characters" in place.refused(text(with_cell("zip", "904110")))

    @pytest.mark.parametrize(
        "cells",
        [[{"first": secret} for secret in SECRETS[:6]], [secret.encode() for secret in SECRETS[:6]], [[["a"]]] * 6],
    )
    @pytest.mark.parametrize("role", ["quasi", "sensitive"])
    def test_types_that_have_no_order(self, place, cells, role):
        require = [{"model": "k-anonymity", "k": 2}]
        if role == "sensitive":
            require.append({"model": "l-diversity", "l": 2, "column": "extra"})
        message = place.refused(parquet(place, extra=cells), policy({"extra": {"role": role}}, require=require))
        assert "column 'extra': holds" in message

    def test_struct_in_text(self, place):
        path = parquet(place, extra=[{"first": "Zweighaupt"}] * 6)
        message = place.refused(path, policy({"extra": {"role": "insensitive"}}))
        assert "which text cannot show. Hint: write the release as Parquet." in message

    @pytest.mark.parametrize(
        "cells",
        [
            pa.array([b"\xff\0"] * 6),
            pa.array([["a", None], [], None, ["b"], ["c,d"], ["e"]]),
            pa.array(["x"] * 6, pa.string_view()),
            pa.array([1.5] * 6, pa.float16()),
            pa.array([None] * 6),
            pa.array([True, None] * 3),
        ],
        ids=lambda cells: str(cells.type),
    )
    @pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
    def test_odd_types_that_are_carried(self, place, cells, ending):
        place.released(parquet(place, extra=cells), policy({"extra": {"role": "insensitive"}}), out=f"release.{ending}")

    def test_lists_in_text_keep_what_they_have(self, place):
        path = parquet(place, extra=[["a", None]] * 6)
        released = read(place.released(path, policy({"extra": {"role": "insensitive"}})))
        assert {row["extra"] for row in released} == {"a"}


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ['a"b', "a;b", "a,b", "x'; DROP TABLE release; --", "a b", " a", "a\nb", "a.b", "*", "c0", "AGE", "{}", "\\"],
    )
    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_odd_names_of_columns(self, place, name, ending):
        columns = {**POLICY["columns"], name: {"role": "sensitive"}}
        require = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": name}]
        content = text([(*row, row[4]) for row in ROWS], [*COLUMNS, name])
        released = place.released(content, {"columns": columns, "require": require}, out=f"release.{ending}")
        names = list(read(released)[0]) if ending == "csv" else pq.read_schema(released).names
        assert names == ["age", "zip", "job", "disease", name]

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_no_name(self, place, ending):
        columns = {**POLICY["columns"], "": {"role": "quasi"}}
        content = text([(*row, row[3]) for row in ROWS], [*COLUMNS, ""])
        released = place.released(content, {**POLICY, "columns": columns}, out=f"release.{ending}")
        names = list(read(released)[0]) if ending == "csv" else pq.read_schema(released).names
        assert names == ["age", "zip", "job", "disease", ""]

    def test_a_nameless_column_that_is_left_alone(self, place):
        content = text([(number, *row) for number, row in enumerate(ROWS)], ["", *COLUMNS])
        assert set(read(place.released(content))[0]) == {"age", "zip", "job", "disease"}


class TestHierarchy:
    RULES = policy({"job": {"role": "quasi", "hierarchy": "job.csv"}})

    def write(self, place, content):
        (place.folder / "job.csv").write_text(content, encoding="utf-8")

    def test_no_such_file(self, place):
        assert "there is no such file" in place.refused(rules=self.RULES)

    def test_gaps_are_counted(self, place):
        self.write(place, "qnurse;health;*\n")
        assert "2 of the column's 3 distinct values are not among the leaves" in place.refused(rules=self.RULES)

    def test_two_parents(self, place):
        self.write(place, "leaf;health;*\nleaf;food;*\nqnurse;health;*\nqcook;food;*\nqjudge;law;*\n")
        assert "a leaf has 2 parents: one (line 1) and one (line 2)" in place.refused(rules=self.RULES)

    def test_gaps_are_listed_for_the_owner_alone(self, place):
        self.write(place, "qnurse;health;*\n")
        given = ["hierarchy", "gaps", place.data(), "--policy", place.policy(self.RULES), "--column", "job"]
        listed = place.folder / "gaps.txt"
        result = place.run(*given, "--out", listed)
        assert result.exit_code == 0
        assert listed.read_text().split() == ["qcook", "qjudge"]
        assert listed.stat().st_mode & 0o777 == 0o600
        again = place.run(*given, "--out", listed)
        assert again.exit_code == 2
        assert "exists already" in again.stderr
        told = place.run(*given, "--out", place.folder / "other.txt", "--json")
        assert json.loads(told.stdout) == {"gaps": 2, "path": str(place.folder / "other.txt")}

    @pytest.mark.parametrize("tree", [{"health": ["qnurse"]}, ["qnurse"]])
    def test_gaps_of_a_tree(self, place, tree):
        rules = policy({"job": {"role": "quasi", "hierarchy": {"tree": tree}}})
        assert api.hierarchy_gaps(place.data(), rules, "job") == ["qcook", "qjudge"]

    @pytest.mark.parametrize(
        ("column", "said"),
        [
            ("jobb", "Did you mean 'job'?"),
            ("age", "has no hierarchy from a file or a tree, or of built-in codes"),
            ("zip", "has no hierarchy from a file or a tree, or of built-in codes"),
            ("name", "has no hierarchy from a file or a tree, or of built-in codes"),
        ],
    )
    def test_gaps_of_no_hierarchy(self, place, column, said):
        with pytest.raises(PolicyError, match=said.replace("?", r"\?")):
            api.hierarchy_gaps(place.data(), POLICY, column)

    @pytest.mark.parametrize(("separator", "gaps"), [("|", ["b", "c"]), ("#", ["a|b", "c|a"])])
    def test_gaps_of_items(self, place, separator, gaps):
        content = text([(*row[:3], ("a|b", "c|a", "a")[number % 3], row[4]) for number, row in enumerate(ROWS)])
        column = {"role": "quasi", "kind": "items", "separator": separator, "hierarchy": {"tree": ["a"]}}
        assert api.hierarchy_gaps(place.data(content), policy({"job": column}), "job") == gaps

    def test_show(self, place):
        self.write(place, "nurse;health;*\ncook;food;*\n")
        shown = place.run("hierarchy", "show", place.folder / "job.csv")
        assert shown.exit_code == 0
        assert "health (1)" in shown.stdout
        told = json.loads(place.run("hierarchy", "show", place.folder / "job.csv", "--json").stdout)
        assert told["leaves"] == 2
        assert [level["labels"] for level in told["levels"]] == [2, 2, 1]

    @pytest.mark.parametrize("more", [["--delimiter", "ab"], ["--delimiter", ""], ["--lines", "0"]])
    def test_show_misused(self, place, more):
        self.write(place, "nurse;health;*\n")
        assert place.run("hierarchy", "show", place.folder / "job.csv", *more).exit_code == 2


class TestTarget:
    def test_no_such_folder(self, place):
        assert "there is no such folder" in place.refused(out="none/release.csv")

    def test_folder_that_is_a_file(self, place):
        assert "is not a folder" in place.refused(out="../people.csv/release.csv")

    def test_is_a_folder(self, place):
        (place.out / "release.csv").mkdir()
        assert "is a folder" in place.refused()

    def test_certificate_is_a_folder(self, place):
        """The old release stays: nothing is taken away before it is sure that the new one can come."""
        (place.out / "release.csv").write_text("old")
        (place.out / "release.csv.sudare.json").mkdir()
        assert "is a folder" in place.refused()
        assert (place.out / "release.csv").read_text() == "old"

    @pytest.mark.parametrize("length", [241, 300])
    def test_name_too_long(self, place, length):
        assert "File name too long" in place.refused(out=f"{'x' * length}.csv")

    @pytest.mark.parametrize("name", ["release.docx", "release", "release.parquet.gz", "release.pq"])
    def test_unknown_ending(self, place, name):
        assert "is not a file ending for a release" in place.refused(out=name)

    def test_ending_in_capitals(self, place):
        assert len(read(place.released(out="RELEASE.CSV"))) == len(ROWS)

    def test_is_the_source(self, place):
        assert "is the source itself" in place.refused(out="../people.csv")

    def test_is_the_source_by_another_name(self, place):
        (place.out / "release.csv").symlink_to(place.data())
        assert "is the source itself" in place.refused()

    def test_folder_checked_before_the_data_is_read(self, place):
        assert "there is no such folder" in place.refused(b"\xff\xff", out="none/release.csv")

    def test_may_not_be_written_to(self, place):
        """Nobody can make a folder here, not even root."""
        result = place.run("anonymize", place.data(), "-p", place.policy(), "-o", "/proc/release.csv")
        assert result.exit_code == 2
        assert "/proc" in result.stderr

    def test_read_only_folder(self, place):
        if os.geteuid() == 0:
            mount(place.out, "-o", "ro,size=1m")
        else:
            place.out.chmod(0o500)
        try:
            assert "you have no permission to write to it" in place.refused()
        finally:
            unmount(place.out) if os.geteuid() == 0 else place.out.chmod(0o700)


def mount(folder, *options):
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this root user may not mount a file system, and permissions do not bind root")


def unmount(folder):
    subprocess.run(["umount", str(folder)], check=True)


class TestDiskFull:
    """The table is large enough not to fit, and the kernels are loaded from their cache by a first run."""

    @pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
    def test_file_may_not_grow(self, place, ending):
        data, rules = place.data(text(ROWS * 2000)), place.policy()
        given = ["anonymize", data, "-p", rules, "-o", place.out / f"release.{ending}"]
        assert command(*given).returncode == 0
        for path in place.out.iterdir():
            path.unlink()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        result = command(*given, preexec=limit)
        assert result.returncode == 2
        assert "the disk is full" in result.stderr
        place.check_said(result.stdout + result.stderr)
        assert list(place.out.iterdir()) == []

    def test_no_room_for_the_certificate(self, place):
        """The release itself still fits."""
        data, rules = place.data(), place.policy()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        result = command("anonymize", data, "-p", rules, "-o", place.out / "release.csv", preexec=limit)
        assert result.returncode == 2
        assert "the disk is full" in result.stderr
        assert list(place.out.iterdir()) == []

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
    @pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
    def test_small_disk(self, place, ending):
        distinct = [(f"Q{number}", 20 + number % 50, *ROWS[0][2:4], f"x{number:09}") for number in range(30_000)]
        data, rules = place.data(text(distinct)), place.policy()
        mount(place.out, "-o", "size=64k")
        try:
            assert "the disk is full" in place.refused(data, rules, out=f"release.{ending}")
        finally:
            unmount(place.out)


class TestSpoken:
    def test_json_of_success(self, place):
        result = place.anonymize(place.data(), place.policy(), "--json")
        assert result.exit_code == 0
        assert result.stderr == ""
        told = json.loads(result.stdout)
        beside = json.loads((place.out / "release.csv.sudare.json").read_text())
        assert told == {"release": str(place.out / "release.csv")} | beside

    @pytest.mark.parametrize(
        ("k", "code", "kind"), [(1, 2, "PolicyError"), (7, 1, "PolicyUnmetError"), ("x", 2, "PolicyError")]
    )
    def test_json_of_errors(self, place, k, code, kind):
        rules = place.policy(policy(require=[{"model": "k-anonymity", "k": k}]))
        plain = place.anonymize(place.data(), rules)
        result = place.anonymize(place.data(), rules, "--json")
        assert (plain.exit_code, result.exit_code) == (code, code)
        told = json.loads(result.stdout)["error"]
        assert (told["kind"], told["exit_code"]) == (kind, code)
        assert plain.stderr == f"sudare: {told['message']}\n"
        assert [problem["where"] for problem in told["problems"]]

    def test_json_of_an_audit(self, place):
        released, rules = place.released(), place.policy()
        passed = place.run("audit", released, "-p", rules, "--json")
        assert passed.exit_code == 0
        assert json.loads(passed.stdout)["passed"] is True
        strict = place.policy(policy(require=[{"model": "k-anonymity", "k": 3}]))
        failed = place.run("audit", released, "-p", strict, "--json")
        assert failed.exit_code == 1
        assert json.loads(failed.stdout)["passed"] is False
        assert place.run("audit", released, "-p", strict).exit_code == 1

    def test_audit_of_a_changed_file(self, place):
        released, rules = place.released(), place.policy()
        released.write_text(released.read_text().replace("xulcer", "xpox"))
        result = place.run("audit", released, "-p", rules)
        assert result.exit_code == 1
        assert "is not the digest of this file" in result.stderr

    @pytest.mark.parametrize("certificate", ["{", "[]", "\x80"])
    def test_audit_with_a_broken_certificate(self, place, certificate):
        released, rules = place.released(), place.policy()
        (place.out / "release.csv.sudare.json").write_bytes(certificate.encode("latin-1"))
        assert place.run("audit", released, "-p", rules).exit_code == 1

    def test_audit_of_nothing(self, place):
        result = place.run("audit", place.out / "none.csv", "-p", place.policy())
        assert result.exit_code == 2
        assert "there is no such file" in result.stderr

    def test_quiet(self, place):
        rules = place.policy()
        made = place.anonymize(place.data(), rules, "--quiet")
        assert (made.exit_code, made.output) == (0, "")
        proven = place.run("audit", place.out / "release.csv", "-p", rules, "--quiet")
        assert (proven.exit_code, proven.output) == (0, "")

    def test_quiet_still_tells_errors(self, place):
        assert "is empty" in place.refused(b"", None, "--quiet")

    def test_what_is_printed(self, place):
        result = place.anonymize(place.data(), place.policy())
        assert result.exit_code == 0
        assert "6 of 6 records in" in result.stdout
        assert "proven: k-anonymity (k = 2" in result.stdout


class TestRealCommand:
    def test_whole_way(self, place):
        result = command("anonymize", place.data(), "-p", place.policy(), "-o", place.out / "release.csv")
        assert (result.returncode, result.stderr) == (0, "")
        result = command("audit", place.out / "release.csv", "-p", place.policy())
        assert (result.returncode, result.stderr) == (0, "")
        assert "keeps its policy" in result.stdout

    @pytest.mark.parametrize("arguments", [[], ["hierarchy"], ["anonymize"], ["no-such-verb"], ["anonymize", "--nope"]])
    def test_misused(self, arguments):
        result = command(*arguments)
        assert result.returncode == 2
        assert result.stdout == ""
        assert "Usage: sudare" in result.stderr
        assert "Traceback" not in result.stderr

    def test_version(self):
        result = command("--version")
        assert (result.returncode, result.stdout[:7]) == (0, "sudare ")

    def test_error_in_a_plain_locale(self, place):
        """A terminal that knows ASCII alone still gets its message and its exit code."""
        rules = policy({"größe": {"role": "quasi"}})
        result = command("anonymize", place.data(), "-p", place.policy(rules), "-o", place.out / "r.csv", LC_ALL="C")
        assert result.returncode == 2
        place.check_said(result.stdout + result.stderr)

    def test_unforeseen_error(self, place, monkeypatch):
        """Not even an error nobody thought of shows what it holds."""

        def fail(*_, **__):
            raise RuntimeError("the cell is Zweighaupt")

        monkeypatch.setattr(api, "anonymize", fail)
        monkeypatch.setattr(place, "check_said", lambda said: None)
        result = place.anonymize(place.data(), place.policy())
        assert result.exit_code == 2
        assert "unexpected RuntimeError in test_bad_input.py" in result.stderr
        assert "Zweighaupt" not in result.output
