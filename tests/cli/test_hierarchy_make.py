"""``sudare hierarchy make``: a file with the levels of a column; and short names in a policy."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from sudare import api
from sudare.core.errors import ParameterError, PolicyError, SudareError
from sudare.hierarchies import from_csv
from sudare.policy import Policy

CODES = "code,zip,amount,day,drugs,age\n" + "".join(
    f"{code},{zip_code},{amount},{day},{drugs},{age}\n"
    for code, zip_code, amount, day, drugs, age in [
        ("I21.0", "90210", "1200", "2024-03-05", "A10BA02;N02BE01", "23"),
        ("I22.1", "90211", "300", "2024-04-01", "A10BA02", "24"),
        ("E11.9", "10115", "50", "2023-12-31", "C09AA05;A10BA02", "57"),
        ("?", "10117", "7", "2023-01-02", "N02BE01", "58"),
    ]
)


def made(place, *options, column="code"):
    return place.run(
        "hierarchy", "make", place.data(CODES), "--column", column, "--out", place.folder / "h.csv", *options
    )


def lines(place):
    return (place.folder / "h.csv").read_text(encoding="utf-8").splitlines()


def test_a_built_in_one(place):
    done = made(place, "--builtin", "icd-10", "--missing", "?")
    assert done.exit_code == 0, done.stderr
    assert "3 values of 'code', levels: value, category, block, chapter, all." in done.stdout
    assert sorted(lines(place))[0] == "E11.9;E11.*;E08-E14;E00-E90;*"
    assert (place.folder / "h.csv").stat().st_mode & 0o777 == 0o600
    assert from_csv(place.folder / "h.csv").depth == 4


@pytest.mark.parametrize(
    ("column", "options", "first"),
    [
        ("zip", ["--prefix", "5,3,1"], "10115;101**;1****;*"),
        ("age", ["--bands", "10, 20"], "23;[20, 29];[20, 39];*"),
        ("age", ["--bands", "2.5"], "23;[22.5, 25);*"),
        ("age", ["--auto"], "23;*"),
        ("day", ["--dates", "month,year"], "2023-01-02;2023-01;2023;*"),
        ("drugs", ["--builtin", "atc", "--separator", ";"], "A10BA02;A10BA**;A10B***;A10****;A******;*"),
        ("amount", ["--builtin", "money"], "1200;[1200, 1204];[1200, 1209];"),
    ],
)
def test_every_source(place, column, options, first):
    done = made(place, *options, column=column)
    assert done.exit_code == 0, done.stderr
    assert sorted(lines(place))[0].startswith(first)


def test_an_existing_file_stays(place):
    (place.folder / "h.csv").write_text("mine", encoding="utf-8")
    done = made(place, "--builtin", "icd-10", "--missing", "?")
    assert done.exit_code == 2
    assert "exists already" in done.stderr
    assert lines(place) == ["mine"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "needs exactly one of --builtin, --prefix, --bands, --dates, --auto; got none"),
        (["--auto", "--prefix", "5"], "got --prefix and --auto"),
        (["--builtin", "icd10"], "Did you mean 'icd-10'?"),
        (
            ["--builtin", "icd-10", "--missing", "!"],
            "1 of the column's 4 distinct values is not among the ICD-10 codes",
        ),
        (["--prefix", "five"], "must be numbers with commas between them, as in 5,3,2"),
        (["--prefix", "3,5"], "prefix lengths must fall"),
        (["--bands", "5,7"], "each band width must be a multiple"),
        (["--dates", "decade"], "Allowed: day, month, quarter, year"),
        (["--auto"], "auto makes levels of numbers; this column holds text"),
        (["--builtin", "icd-10", "--column", "cod"], "Did you mean 'code'?"),
        (["--builtin", "icd-10", "--encoding", "utf-99"], "encoding"),
    ],
)
def test_what_is_wrong(place, options, said):
    done = made(place, *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (place.folder / "h.csv").exists()


GERMAN = "alter;gewicht;geburt;fach\n" + "".join(
    f"{'k.A.' if number % 9 == 4 else 20 + number};{'k.A.' if number % 7 == 3 else f'{number + 50},25'};"
    f"{'unbekannt' if number % 5 == 2 else f'{number % 28 + 1:02}.03.19{40 + number}'};{'HNO' if number % 2 else '-'}\n"
    for number in range(60)
)


@pytest.mark.parametrize(
    ("column", "options", "leaves", "first"),
    [
        ("alter", ["--bands", "5,10,20"], 53, "20;[20, 24];[20, 29];[20, 39];*"),
        ("alter", ["--auto"], 53, "20;"),
        ("gewicht", ["--auto"], 51, "100.25;"),
        ("gewicht", ["--bands", "10"], 51, "100.25;[100, 110);*"),
        ("fach", ["--prefix", "3"], 1, "HNO;*"),
    ],
)
def test_texts_for_missing_are_found_as_in_a_draft(place, column, options, leaves, first):
    out = place.folder / "h.csv"
    done = place.run("hierarchy", "make", place.data(GERMAN), "--column", column, "--out", out, *options)
    assert done.exit_code == 0, done.stderr
    assert len(lines(place)) == leaves
    assert sorted(lines(place))[0].startswith(first)
    assert "1 text that usually means a missing value is no leaf: the policy must list it" in done.stderr
    assert "k.A." not in done.output


def test_several_texts_for_missing_are_counted_beside_json(place):
    data, out = place.data("job\nnurse\nn/a\nunknown\n"), place.folder / "h.csv"
    done = place.run("hierarchy", "make", data, "--column", "job", "--prefix", "5", "--out", out, "--json")
    assert json.loads(done.stdout)["leaves"] == 1
    assert "2 texts that usually mean a missing value are no leaves: the policy must list them" in done.stderr


def test_words_among_dates_are_no_leaves(place):
    """What is no date in the format of a column is missing already where the format is found."""
    out = place.folder / "h.csv"
    made_of = [place.data(GERMAN), "--column", "geburt", "--out", out]
    done = place.run("hierarchy", "make", *made_of, "--dates", "month,year")
    assert done.exit_code == 0, done.stderr
    assert len(lines(place)) == 48
    assert sorted(lines(place))[0] == "1940-03-01;1940-03;1940;*"


def test_given_texts_for_missing_are_the_only_ones(place):
    out = place.folder / "h.csv"
    given = [place.data(GERMAN), "--column", "fach", "--prefix", "3", "--out", out]
    done = place.run("hierarchy", "make", *given, "--missing", "HNO", "--json")
    assert done.exit_code == 0, done.stderr
    assert lines(place) == ["-;*"]


def test_texts_for_missing_in_python(tmp_path):
    frame = pa.table({"n": ["1", "2", "n/a", None] * 5})
    assert api.make_hierarchy(frame, "n", {"bands": [10]}).leaves.to_pylist() == ["1", "2"]
    assert api.make_hierarchy(frame, "n", {"bands": [10]}, missing=["n/a"]).leaves.to_pylist() == ["1", "2"]
    with pytest.raises(SudareError):
        api.make_hierarchy(frame, "n", {"bands": [10]}, missing=[])
    path = tmp_path / "a.csv"
    path.write_text("n;m\n1;x\n ? ;y\n2;z\n", encoding="utf-8")
    tree, missing = api.make_hierarchy_with_missing(path, "n", {"bands": [10]})
    assert (tree.leaves.to_pylist(), missing) == (["1", "2"], ["?"])


@pytest.mark.parametrize("options", [["--bands", "5"], ["--auto"]])
def test_words_among_numbers_are_counted_and_never_shown(place, options):
    data = place.data("age,job\n" + "".join(f"{age},cook\n" for age in [*range(20, 60), "xold", "xyoung"]))
    out = place.folder / "h.csv"
    done = place.run("hierarchy", "make", data, "--column", "age", "--out", out, *options)
    assert done.exit_code == 2
    assert "holds text (2 of its 42 distinct values are no numbers)" in done.stderr
    assert "--missing" in done.stderr
    assert "xold" not in done.stderr
    assert "string" not in done.stderr
    done = place.run("hierarchy", "make", data, "--column", "job", "--out", out, *options)
    assert "holds text. Hint: for codes and names use a built-in hierarchy" in done.stderr


def test_kinds_of_values_are_said_in_words(place):
    done = made(place, "--bands", "5", column="day")
    assert done.exit_code == 2
    assert "this one holds dates. Hint: for codes" in done.stderr
    done = made(place, "--dates", "year")
    assert "date levels need dates or times; this column holds text." in done.stderr


def test_json(place):
    told = json.loads(made(place, "--builtin", "icd-10", "--missing", "?", "--json").stdout)
    assert told == {
        "path": str(place.folder / "h.csv"),
        "leaves": 3,
        "levels": ["value", "category", "block", "chapter", "all"],
    }


def test_gaps_of_codes(place):
    rules = {
        "columns": {"code": {"role": "quasi", "hierarchy": "icd-10"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    assert api.hierarchy_gaps(place.data(CODES), rules, "code") == ["?"]
    items = {"code": {"role": "quasi", "kind": "items", "separator": ".", "hierarchy": "icd-10"}}
    assert sorted(api.hierarchy_gaps(place.data(CODES), rules | {"columns": items}, "code")) == ["0", "1", "9", "?"]


def test_frames_have_hierarchies_too():
    frame = pa.table({"code": ["I21", "I22"], "n": [1, 2]})
    assert api.make_hierarchy(frame, "code", "icd-10").depth == 4
    with pytest.raises(SudareError):
        api.make_hierarchy(frame, "cod", "icd-10")
    with pytest.raises(ParameterError):
        api.make_hierarchy(frame, "code", "icd-10", encoding="utf-99")


class TestNames:
    """What a single word in a policy means."""

    RULES = "columns: {x: {role: quasi, hierarchy: %s}}\nrequire: [{model: k-anonymity, k: 2}]\n"

    def spec(self, folder, word):
        (folder / "policy.yaml").write_text(self.RULES % word, encoding="utf-8")
        return Policy.load(folder / "policy.yaml").columns["x"].hierarchy

    @pytest.mark.parametrize(
        ("word", "key", "value"),
        [
            ("icd-10", "builtin", "icd-10"),
            ("auto", "auto", True),
            ("flat", "flat", True),
            ("icd-10.csv", "file", "icd-10.csv"),
            ("{builtin: nuts}", "builtin", "nuts"),
            ("{file: nuts}", "file", "nuts"),
        ],
    )
    def test_words(self, tmp_path, word, key, value):
        assert self.spec(tmp_path, word).model_dump(exclude_none=True, exclude_defaults=True) == {key: value}

    @pytest.mark.parametrize("word", ["icd-10", "auto"])
    def test_a_file_of_this_name_comes_first(self, tmp_path, word):
        (tmp_path / word).write_text("a;*\n", encoding="utf-8")
        assert self.spec(tmp_path, word).file == word
        if word != "auto":
            assert self.spec(tmp_path, f"{{builtin: {word}}}").builtin == word

    @pytest.mark.parametrize(
        ("spec", "said"),
        [
            ("{builtin: icd10}", "Did you mean 'icd-10'"),
            ("{builtin: icd-10, auto: true}", "got builtin and auto"),
            ("{auto: false}", "Allowed: True"),
            ("{builtin: icd-10, origin: 5}", "only bands have an origin"),
        ],
    )
    def test_what_is_wrong(self, tmp_path, spec, said):
        with pytest.raises(PolicyError) as caught:
            self.spec(tmp_path, spec)
        assert said in str(caught.value)

    def test_codes_are_text(self):
        column = {"role": "quasi", "kind": "numeric", "hierarchy": "us-zip"}
        with pytest.raises(PolicyError, match="codes are text, so the column is categorical"):
            Policy.parse({"columns": {"x": column}, "require": [{"model": "k-anonymity", "k": 2}]})
