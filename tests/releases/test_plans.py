"""Plans: what is saved is what was decided and nothing of a person; what is no plan is refused in one message."""

from __future__ import annotations

import copy
import datetime
import json
import random
from collections import Counter
from itertools import pairwise

import pyarrow as pa
import pytest

import sudare
from sudare import api
from sudare.core.errors import PolicyError, SudareError, TargetError
from sudare.methods import METHODS
from sudare.releases.plans import Plan, check_room

ROWS = 240
JOBS = "qnurse;care;*\nqdoctor;care;*\nqcook;food;*\nqbaker;food;*\nqjudge;qjudge;*\n"
PETS = '"*":\n  furry: [qcat, qdog]\n  finny:\n    qcarp:\n    qpike:\n'
ODD = '"a;b";"say ""so""";*\n"c\nd";"say ""so""";*\n" e ";née;*\nf\u2028g;née;*\n'


def table(rows=ROWS, seed=4):
    """A table with values that would be noticed anywhere."""
    pick = random.Random(seed)
    day = datetime.date(2020, 1, 1)
    return pa.table(
        {
            "name": [f"Qname{row}-{seed}" for row in range(rows)],
            "job": [pick.choice(["qnurse", "qdoctor", "qcook", "qbaker", "qjudge"]) for _ in range(rows)],
            "pet": [pick.choice(["qcat", "qdog", "qcarp", "qpike"]) for _ in range(rows)],
            "odd": [pick.choice(["a;b", "c\nd", " e ", "f\u2028g"]) for _ in range(rows)],
            "size": [pick.choice(["1", "2", "3"]) for _ in range(rows)],
            "zip": [str(pick.randrange(90410, 90450)) for _ in range(rows)],
            "pay": [pick.randrange(7300, 7400) for _ in range(rows)],
            "born": [day + datetime.timedelta(pick.randrange(700)) for _ in range(rows)],
            "town": [f"Qtown{pick.randrange(3)}" for _ in range(rows)],
            "club": [f"Qclub{pick.randrange(3)}" for _ in range(rows)],
            "ill": [f"Qill{pick.randrange(4)}" for _ in range(rows)],
        }
    )


COLUMNS = {
    "name": {"role": "identifier"},
    "job": {"role": "quasi", "hierarchy": "jobs.csv"},
    "pet": {"role": "quasi", "hierarchy": "pets.yaml"},
    "odd": {"role": "quasi", "hierarchy": {"file": "odd.csv", "delimiter": ";"}},
    "size": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": {"small": [1, 2], "large": {3: None}}}},
    "zip": {"role": "quasi", "hierarchy": {"prefix": [5, 3]}},
    "pay": {"role": "quasi", "hierarchy": {"bands": [5, 50], "origin": 3}},
    "born": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}},
    "town": {"role": "quasi", "hierarchy": "flat"},
    "club": {"role": "quasi", "weight": 0.5},
    "ill": {"role": "sensitive"},
}
QUASI = [name for name, spec in COLUMNS.items() if spec["role"] == "quasi"]


@pytest.fixture
def rules(tmp_path):
    """A policy with every kind of hierarchy, in a file beside its own."""
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "pets.yaml").write_text(PETS)
    (tmp_path / "odd.csv").write_text(ODD)

    def write(**parts):
        policy = {
            "columns": COLUMNS,
            "require": [{"model": "k-anonymity", "k": 3}],
            "method": {"name": "full-domain", "time_limit": 1},
            "suppression": {"limit": 0.2},
            **parts,
        }
        path = tmp_path / "policy.json"
        path.write_text(json.dumps(policy))
        return path

    return write


@pytest.fixture
def small(tmp_path, rules):
    """A plan over three columns, as a file and as the mapping in it."""
    columns = {name: COLUMNS[name] for name in ("job", "pay", "club")}
    release = sudare.anonymize(table(), rules(columns=columns, method={"name": "full-domain"}))
    path = tmp_path / "plan.json"
    release.plan.save(path)
    return path, json.loads(path.read_text(encoding="utf-8"))


def shown(release, names):
    return Counter(tuple(row[name] for name in names) for row in release.data.to_pylist())


# -- there and back ------------------------------------------------------------------------------------------------


def test_what_is_loaded_is_what_was_saved(tmp_path, rules):
    plan = sudare.anonymize(table(), rules()).plan
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan
    Plan.load(tmp_path / "plan.json").save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()


def test_every_kind_of_hierarchy_survives_without_its_file(tmp_path, rules):
    release = sudare.anonymize(table(), rules())
    assert list(release.plan.levels) == QUASI
    release.plan.save(tmp_path / "plan.json")
    for gone in ("jobs.csv", "pets.yaml", "odd.csv", "policy.json"):
        (tmp_path / gone).unlink()
    again = api.apply(tmp_path / "plan.json", table())
    assert shown(again, [*QUASI, "ill"]) == shown(release, [*QUASI, "ill"])
    assert again.loss == release.loss
    assert again.certificate["search"]["heights"] == release.certificate["search"]["heights"]
    assert again.certificate["policy_sha256"] == release.certificate["policy_sha256"]


@pytest.mark.parametrize("column", QUASI)
def test_every_level_shows_what_it_showed(tmp_path, rules, column):
    """Each column at each of its levels, with all others hidden, applied from the file and rendered at once."""
    policy = rules(columns={column: COLUMNS[column]}, method={"name": "full-domain"}, suppression={"limit": 1.0})
    plan = sudare.anonymize(table(), policy).plan
    cells = []
    for level in range(plan.heights[column] + 1):
        Plan(**{**vars(plan), "levels": {column: level}}).save(tmp_path / "plan.json")
        cells.append(shown(api.apply(tmp_path / "plan.json", table()), [column]))
    assert len(cells[-1]) == 1
    assert sum(cells[-1].values()) == ROWS
    assert all(len(low) >= len(high) for low, high in pairwise(cells[1:]))
    known = {
        "job": {("care",), ("food",), ("qjudge",)},
        "pet": {("furry",), ("finny",)},
        "odd": {('say "so"',), ("née",)},
        "size": {("small",), ("large",)},
        "zip": {("904**",)},
        "pay": {(f"[{low}, {low + 4}]",) for low in range(7298, 7400, 5)},
        "town": {("*",)},
        "club": {("*",)},
    }
    if column in known:
        assert set(cells[1]) <= known[column]
    else:
        assert all(datetime.date.fromisoformat(f"{month}-01") for (month,) in cells[1])


def test_labels_that_csv_has_to_quote_come_back(tmp_path):
    labels = ["a;b", 'c"d', "e\nf", "g\rh", "i\r\nj", " k ", "l,m", "\ufeffn", "#o", "'", "p\tq"]
    tree = {"one": labels[:5], "two": labels[5:]}
    cells = [label for label in labels for _ in range(4)]
    rules = {
        "columns": {"x": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": tree}}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "full-domain"},
    }
    data = pa.table({"x": cells})
    release = sudare.anonymize(data, rules)
    assert release.plan.levels == {"x": 0}
    release.plan.save(tmp_path / "plan.json")
    assert shown(api.apply(tmp_path / "plan.json", data), ["x"]) == shown(release, ["x"])


def test_a_tree_that_yaml_read_as_dates_and_numbers(tmp_path):
    (tmp_path / "policy.yaml").write_text(
        "columns:\n"
        "  day:\n    role: quasi\n    kind: categorical\n"
        "    hierarchy: {tree: {early: [2020-01-01, 2020-01-02], late: {2020-01-03: }}}\n"
        "  size: {role: quasi, kind: categorical, hierarchy: {tree: {small: [1, 1.5], large: {3: }}}}\n"
        "require: [{model: k-anonymity, k: 2}]\n"
        "method: {name: full-domain}\n"
    )
    data = pa.table(
        {"day": ["2020-01-01", "2020-01-02", "2020-01-03"] * 6, "size": ["1"] * 6 + ["1.5"] * 6 + ["3"] * 6}
    )
    release = sudare.anonymize(data, tmp_path / "policy.yaml")
    release.plan.save(tmp_path / "plan.json")
    again = api.apply(tmp_path / "plan.json", data)
    assert shown(again, ["day", "size"]) == shown(release, ["day", "size"])


@pytest.mark.parametrize("role", ["sensitive", "insensitive", "identifier"])
def test_keys_without_an_effect_that_an_earlier_version_stored_are_let_pass(tmp_path, role):
    rules = {
        "columns": {"job": {"role": "quasi"}, "ill": {"role": role}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "full-domain"},
    }
    release = sudare.anonymize(table(), rules, out=tmp_path / "release.csv")
    release.plan.save(tmp_path / "plan.json")
    stored = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    stored["policy"]["columns"]["ill"] |= {"weight": 2.0, "kind": "categorical"}
    stored["policy"]["suppression"]["unseen"] = "suppress"
    (tmp_path / "plan.json").write_text(json.dumps(stored), encoding="utf-8")
    assert api.apply(tmp_path / "plan.json", table()).certificate["rows_out"] == ROWS


def test_a_hierarchy_that_distances_are_measured_by_goes_along(tmp_path):
    (tmp_path / "ills.csv").write_text("Qill0;a;*\nQill1;a;*\nQill2;b;*\nQill3;b;*\n")
    rules = {
        "columns": {"town": {"role": "quasi"}, "ill": {"role": "sensitive", "hierarchy": "ills.csv"}},
        "require": [{"model": "t-closeness", "t": 0.3, "column": "ill", "distance": "hierarchical"}],
        "method": {"name": "full-domain"},
    }
    (tmp_path / "policy.json").write_text(json.dumps(rules))
    release = sudare.anonymize(table(), tmp_path / "policy.json")
    (tmp_path / "ills.csv").unlink()
    again = api.apply(release.plan, table())
    assert again.certificate["guarantees"] == release.certificate["guarantees"]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.recodes_globally])
def test_there_is_no_plan_where_classes_are_recoded_each_for_itself(rules, name):
    columns = {name: COLUMNS[name] for name in ("job", "pay")}
    columns["ill"] = COLUMNS["ill"]
    method = {"name": name, **({"target": "ill"} if "target" in METHODS[name].options else {})}
    diverse = [{"model": "l-diversity", "l": 2, "column": "ill"}]
    more = {"require": diverse} if METHODS[name].needs == "l-diversity" else {}
    if METHODS[name].aggregates:
        columns["pay"] = {"role": "quasi"}
    if METHODS[name].perturbs:
        more = {"require": [{"model": "pk-anonymity", "k": 2}]}
    if METHODS[name].leaves_quasi:
        columns |= {"job": {"role": "quasi"}, "pay": {"role": "quasi"}}
    limit = 0.2 if "suppression" in METHODS[name].heeds else 0.0
    given = rules(columns=columns, method=method, suppression={"limit": limit}, **more)
    assert sudare.anonymize(table(), given).plan is None


def test_another_method_than_the_policy_names(tmp_path, rules):
    columns = {name: COLUMNS[name] for name in ("job", "pay")}
    release = sudare.anonymize(table(), rules(columns=columns, method={"name": "top-down"}), method="incognito")
    release.plan.save(tmp_path / "plan.json")
    again = api.apply(tmp_path / "plan.json", table())
    assert again.certificate["method"] == {"name": "incognito", "applied": True}
    assert shown(again, columns) == shown(release, columns)


def test_it_holds_no_value_of_a_person(tmp_path, rules):
    columns = COLUMNS | {"job": {"role": "quasi"}, "pet": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    release = sudare.anonymize(table(), rules(columns=columns, require=[{"model": "k-anonymity", "k": 17}]))
    release.plan.save(tmp_path / "plan.json")
    text = (tmp_path / "plan.json").read_text(encoding="utf-8")
    digest = release.plan.policy_sha256
    labels = {"1", "2", "3", "a;b", "c\nd", " e ", "f\u2028g"}
    values = {str(value) for column in table().columns for value in column.to_pylist()} - labels
    assert len(values) > 500
    assert not [value for value in values if value in text.replace(digest, "")]


# -- whole or not there --------------------------------------------------------------------------------------------


def test_an_older_plan_is_replaced(small):
    path, data = small
    path.write_text("an older one, which was much longer" * 1000)
    Plan(**data).save(path)
    assert json.loads(path.read_text(encoding="utf-8")) == data


def test_what_stops_the_writing_leaves_the_older_plan(small, monkeypatch):
    path, data = small
    before = {file: file.read_bytes() for file in path.parent.iterdir()}

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(TargetError, match=r"plan\.json: cannot be written: No space left on device\."):
        Plan(**{**data, "method": {"name": "incognito"}}).save(path)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.mark.parametrize("name", ["there is none/plan.json", "file/plan.json", "folder", "x" * 300])
def test_where_nothing_can_be_written(small, name):
    path, data = small
    (path.parent / "file").write_text("a file")
    (path.parent / "folder").mkdir()
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(TargetError, match="cannot be written"):
        Plan(**data).save(path.parent / name)
    assert sorted(path.parent.rglob("*")) == before


def test_a_folder_that_nobody_can_write_to(small):
    with pytest.raises(TargetError, match=r"^/proc/plan\.json: cannot be written: .+\.$"):
        Plan(**small[1]).save("/proc/plan.json")


def test_whether_there_is_room_is_told_before(small):
    path, _ = small
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    taken = {"is taken.": [path.with_name("jobs.csv"), path.with_name("not there yet")]}
    check_room(path, taken)
    check_room(path.with_name("another.json"), taken)
    with pytest.raises(TargetError, match="cannot be written: File name too long"):
        check_room(path.with_name("x" * 250), taken)
    for name in ("jobs.csv", "not there yet", f"../{path.parent.name}/jobs.csv"):
        with pytest.raises(TargetError, match=r"is taken\. Hint: choose another name for the plan"):
            check_room(path.parent / name, taken)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


# -- what is no plan -----------------------------------------------------------------------------------------------


def refusal(path, content):
    """Apply a plan that is none; return the one message."""
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(SudareError) as raised:
        api.apply(path, table(), out=path.parent / "release.csv")
    assert isinstance(raised.value, PolicyError)
    assert raised.value.exit_code == 2
    assert sorted(path.parent.rglob("*")) == before
    return str(raised.value)


def test_a_plan_that_is_one_is_applied(small):
    """What the tests below change one thing of."""
    path, data = small
    path.write_text(json.dumps(data))
    assert api.apply(path, table()).certificate["search"]["levels"] == data["levels"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"plan: 1", b"\xff\xfe\x00", b"PAR1", b'{"plan": ' + b"9" * 5000 + b"}"],
    ids=lambda content: repr(content[:9]),
)
def test_not_json(small, content):
    assert "is not a plan: it is not JSON." in refusal(small[0], content)


def test_json_that_nests_too_deep(small):
    assert "is not a plan: it is nested too deeply." in refusal(small[0], b"[" * 100_000)


@pytest.mark.parametrize("content", [{}, [], 1, None, "plan", {"plan": 1}, [{"plan": 1}]])
def test_json_of_something_else(small, content):
    assert "is not a plan of this version (1)" in refusal(small[0], content)


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None, [1]])
def test_another_version(small, version):
    path, data = small
    assert "is not a plan of this version (1)" in refusal(path, {**data, "plan": version})


PARTS = ("plan", "method", "levels", "heights", "policy", "policy_sha256", "hierarchies")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_missing(small, part):
    path, data = small
    assert set(data) == set(PARTS)
    assert "is not a plan of this version" in refusal(path, {key: data[key] for key in data if key != part})


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("value", [None, 7, [], [["job", 1]]])
def test_a_part_of_another_kind(small, part, value):
    path, data = small
    assert "is not a plan of this version" in refusal(path, {**data, part: value})


def test_a_part_too_many(small):
    path, data = small
    assert "is not a plan of this version" in refusal(path, {**data, "seed": 1})


@pytest.mark.parametrize("part", ["levels", "heights"])
@pytest.mark.parametrize("number", [1.0, 0.5, "1", None, True, [1], {"level": 1}])
def test_numbers_that_are_not_whole(small, part, number):
    path, data = small
    assert "is not a plan of this version" in refusal(path, {**data, part: {**data[part], "pay": number}})


@pytest.mark.parametrize("level", [-1, -(10**30), 4, 99, 10**30])
def test_levels_that_are_not_there(small, level):
    path, data = small
    said = refusal(path, {**data, "levels": {**data["levels"], "pay": level}})
    assert said == f"plan: column 'pay': a level must be from 0 to 3; got {level}."


@pytest.mark.parametrize(("column", "height"), [("pay", 4), ("pay", 0), ("pay", -3), ("job", 3), ("club", 2)])
def test_heights_that_the_hierarchies_do_not_have(small, column, height):
    path, data = small
    levels = {**data["levels"], column: min(data["levels"][column], max(height, 0))}
    said = refusal(path, {**data, "levels": levels, "heights": {**data["heights"], column: height}})
    assert said.startswith(f"plan: column '{column}': its hierarchy has {data['heights'][column]} levels")


@pytest.mark.parametrize("part", ["levels", "heights"])
def test_levels_of_other_columns(small, part):
    path, data = small
    renamed = {("shoe" if name == "pay" else name): number for name, number in data[part].items()}
    assert refusal(path, {**data, part: renamed}).endswith("do not match its policy in 'pay', 'shoe'.")
    fewer = {name: number for name, number in data[part].items() if name != "pay"}
    assert refusal(path, {**data, part: fewer}).endswith("do not match its policy in 'pay'.")
    assert refusal(path, {**data, part: {**data[part], "ill": 0}}).endswith("do not match its policy in 'ill'.")


@pytest.mark.parametrize(
    "name",
    [
        "../x.csv", "..", "../0.csv", "/0.csv", "a/0.csv", "0.csv/../../x.csv", "0.csv\n", "0", "x.csv", ".csv",
        "0.yaml", "0..csv", "-0.csv", "~.csv", "\0.csv", "²٣.csv", "1" * 300 + ".csv", "",
    ],
)  # fmt: skip
def test_hierarchies_that_leave_their_folder(small, name):
    """Under such a name in both places, or only where the texts are."""
    path, data = small
    outside = path.parent.parent / "x.csv"
    [text] = data["hierarchies"].values()
    moved = copy.deepcopy(data) | {"hierarchies": {name: text}}
    moved["policy"]["columns"]["job"]["hierarchy"]["file"] = name
    assert "is not a plan of this version" in refusal(path, moved)
    assert "is not a plan of this version" in refusal(path, {**data, "hierarchies": {**data["hierarchies"], name: ""}})
    assert not outside.exists()


@pytest.mark.parametrize("file", ["jobs.csv", "{folder}/jobs.csv", "../jobs.csv", "9.csv"])
def test_a_policy_that_reads_other_files(small, file):
    """A plan from elsewhere must not make anyone read, and quote, a file of theirs."""
    path, data = small
    changed = copy.deepcopy(data)
    changed["policy"]["columns"]["job"]["hierarchy"] = {"file": file.format(folder=path.parent)}
    assert refusal(path, changed) == "plan: its policy names hierarchies that it does not contain."
    assert "names hierarchies that it does not contain" in refusal(path, {**changed, "hierarchies": {}})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("qnurse;care;*\nqcook;food;+\n", "there are 2 roots"),
        ("qnurse;care;*\nqnurse;food;*\n", "column 'job'"),
        ("qnurse;care;*\nqcook;*\n", "the depth is uneven"),
        ('qnurse;"care;*\n', "cannot be parsed"),
        ("care;qnurse;*\nqnurse;care;*\n", "column 'job'"),
        (JOBS.replace(";*", ";all;*"), "its hierarchy has 3 levels above the values, not 2"),
    ],
)
@pytest.mark.parametrize("unseen", ["reject", "suppress"])
def test_hierarchies_that_are_no_trees(small, text, said, unseen):
    path, data = small
    changed = copy.deepcopy(data) | {"hierarchies": dict.fromkeys(data["hierarchies"], text)}
    changed["policy"]["suppression"]["unseen"] = unseen
    message = refusal(path, changed)
    assert said in message
    assert "plan: column 'job'" in message
    assert ".sudare-tmp" not in message


@pytest.mark.parametrize("text", [None, 5, ["qnurse;care;*"]])
def test_hierarchies_that_are_no_text(small, text):
    path, data = small
    assert "is not a plan" in refusal(path, {**data, "hierarchies": dict.fromkeys(data["hierarchies"], text)})


def test_half_a_character(small):
    path, data = small
    changed = {
        **data,
        "hierarchies": {name: text.replace("care", "\ud800") for name, text in data["hierarchies"].items()},
    }
    assert "is not a plan" in refusal(path, changed)
    changed = copy.deepcopy(data)
    changed["policy"]["columns"]["\udfff"] = {"role": "insensitive"}
    assert "is not a plan" in refusal(path, changed)


@pytest.mark.parametrize("method", [{}, {"name": 5}, {"name": None}, {"loss": "arx"}])
def test_no_name_of_a_method(small, method):
    path, data = small
    assert "is not a plan of this version" in refusal(path, {**data, "method": method})


def test_mistakes_in_the_policy_are_told_at_once(small):
    path, data = small
    changed = copy.deepcopy(data)
    changed["policy"]["require"] = [{"model": "k-anonymity", "k": 1}, {"model": "l-diversity", "l": 2, "column": "il"}]
    changed["policy"]["columns"]["pay"]["role"] = "quazi"
    said = refusal(path, changed)
    assert "problems in the policy" in said
    assert "plan: require.0.k" in said
    assert "plan: columns.pay.role" in said
    assert "Did you mean 'quasi'?" in said


@pytest.mark.parametrize("policy", [{}, {"columns": {}}, {"columns": 3, "require": []}])
def test_no_policy(small, policy):
    path, data = small
    assert "plan: " in refusal(path, {**data, "policy": policy})


def test_there_is_none(tmp_path):
    with pytest.raises(PolicyError, match="there is no such file"):
        api.apply(tmp_path / "none.json", table())
    with pytest.raises(PolicyError, match="cannot be read: Is a directory"):
        api.apply(tmp_path, table())


# -- the same levels -----------------------------------------------------------------------------------------------


def dated(cells):
    return pa.table({"when": pa.array(cells, pa.timestamp("s"))})


@pytest.mark.parametrize("timed_first", [True, False])
def test_dates_and_times_do_not_share_a_plan(tmp_path, timed_first):
    """The level of days is there only above times of day: the same number would show months for years, or more."""
    midnights = dated([datetime.datetime(2020, 1 + row % 2, 1 + row % 3) for row in range(36)])
    times = dated([datetime.datetime(2020, 1 + row % 2, 1 + row % 3, 1 + row % 5) for row in range(60)])
    rules = {
        "columns": {"when": {"role": "quasi", "hierarchy": {"dates": ["day", "month", "year"]}}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "full-domain"},
    }
    first, second = (times, midnights) if timed_first else (midnights, times)
    plan = sudare.anonymize(first, rules).plan
    for level in range(plan.heights["when"] + 1):
        with pytest.raises(SudareError) as raised:
            api.apply(Plan(**{**vars(plan), "levels": {"when": level}}), second)
        assert raised.value.exit_code == 2
        assert "when" in str(raised.value)


@pytest.mark.parametrize("folds", [True, False])
def test_a_plan_is_not_the_release_in_other_letters(tmp_path, monkeypatch, folds):
    """Neither is there yet; where the names of files fold case, the plan would replace the release."""
    from sudare.releases.plans import check_room

    monkeypatch.setattr("secrets.token_hex", lambda _: "abcd")
    if folds:  # the folder answers to other letters, as on macOS
        (tmp_path / ".rELEASE.CSV.ABCD").touch()
    if folds:
        with pytest.raises(TargetError, match="is the path of the release"):
            check_room(tmp_path / "Release.csv", {"is the path of the release.": [tmp_path / "release.csv"]})
    else:
        check_room(tmp_path / "Release.csv", {"is the path of the release.": [tmp_path / "release.csv"]})
    assert not (tmp_path / "Release.csv").exists()
