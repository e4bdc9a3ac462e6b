"""The policy: every rule it is checked by, and everything wrong in one message."""

from __future__ import annotations

import hashlib
import json

import pytest
import yaml

from sudare import load_policy
from sudare.core.errors import PolicyError
from sudare.methods import METHODS, Method
from sudare.policy import MODEL_NAMES, Policy

COLUMNS = {
    "name": {"role": "identifier"},
    "patient": {"role": "subject"},
    "age": {"role": "quasi", "kind": "numeric"},
    "codes": {"role": "quasi", "kind": "items", "separator": "|"},
    "disease": {"role": "sensitive"},
    "visits": {"role": "insensitive"},
}
K = {"model": "k-anonymity", "k": 2}


def policy(**parts):
    return {"columns": COLUMNS, "require": [K], **parts}


def problems(data, **checks):
    """Return the places of everything that is wrong, and the whole message."""
    with pytest.raises(PolicyError) as error:
        Policy.parse(data, **checks)
    assert error.value.exit_code == 2
    return [problem.where for problem in error.value.problems], str(error.value)


class TestWhole:
    def test_defaults(self):
        parsed = Policy.parse(policy())
        assert parsed.version == 1
        assert parsed.method.name == "top-down"
        assert parsed.method.options == {}
        assert parsed.suppression.limit == 0
        assert (parsed.release.order, parsed.release.subjects) == ("class", "per-class")
        assert (parsed.source.delimiter, parsed.source.encoding, parsed.source.missing) == (None, "utf-8", [""])

    def test_roles(self):
        parsed = Policy.parse(policy())
        assert parsed.quasi == ["age", "codes"]
        assert parsed.sensitive == ["disease"]
        assert parsed.subject == "patient"
        assert parsed.released == ["patient", "age", "codes", "disease", "visits"]
        assert Policy.parse({"columns": {"age": {"role": "quasi"}}, "require": [K]}).subject is None

    def test_a_policy_is_returned_as_it_is(self):
        parsed = Policy.parse(policy())
        assert Policy.parse(parsed) is parsed

    def test_nothing_can_be_changed(self):
        with pytest.raises(Exception, match="frozen"):
            Policy.parse(policy()).suppression.limit = 1.0

    @pytest.mark.parametrize("data", [None, 3, "text", [], [1]])
    def test_no_mapping(self, data):
        assert "a policy must be a mapping" in problems(data)[1]

    @pytest.mark.parametrize("key", ["columns", "require"])
    def test_part_missing(self, key):
        data = policy()
        del data[key]
        assert problems(data)[0] == [key]

    @pytest.mark.parametrize("version", [2, 0, "1", None])
    def test_version(self, version):
        assert problems(policy(version=version))[0] == ["version"]

    @pytest.mark.parametrize("part", ["columns", "method", "suppression", "release", "source"])
    @pytest.mark.parametrize("given", ["text", 3, None, [1]])
    def test_part_that_is_no_mapping(self, part, given):
        where, message = problems(policy(**{part: given}))
        assert part in where
        assert "needs a mapping" in message
        assert "Spec" not in message

    @pytest.mark.parametrize("part", ["suppression", "release", "source"])
    def test_unknown_key_in_a_part(self, part):
        where, message = problems(policy(**{part: {"limitt": 1}}))
        assert where == [f"{part}.limitt"]
        assert "is not a key here. Allowed:" in message

    def test_empty_parts(self):
        assert sorted(problems({"columns": {}, "require": []})[0]) == ["columns", "require"]

    def test_everything_at_once(self):
        where, message = problems(
            {
                "verson": 1,
                "columns": {"age": {"role": "quazi", "kin": 1}, "sex": "quasi"},
                "require": [{"model": "k-anonymity", "k": 1}, {"model": "no"}, {"model": "t-closeness", "t": 2}],
                "method": {"name": "none"},
                "release": {"order": "random"},
            },
            methods=METHODS,
        )
        assert sorted(where) == [
            "columns.age.kin",
            "columns.age.role",
            "columns.sex",
            "method.name",
            "release.order",
            "require.0.k",
            "require.1",
            "require.2.column",
            "require.2.t",
            "verson",
        ]
        assert message.startswith("10 problems in the policy:\n  1. ")


class TestColumns:
    def column(self, **spec):
        return problems(policy(columns={**COLUMNS, "extra": {"role": "quasi", **spec}}))

    @pytest.mark.parametrize("name", [2020, False, 1.5])
    def test_name_that_is_no_text(self, name):
        where, message = problems(policy(columns={**COLUMNS, name: {"role": "quasi"}}))
        assert where == ["columns"]
        assert f"the name {name!r} is not text. Hint: put it in quotation marks." in message

    def test_role_missing(self):
        assert problems(policy(columns={**COLUMNS, "extra": {}}))[0] == ["columns.extra.role"]

    def test_kind(self):
        where, message = self.column(kind="number")
        assert where == ["columns.extra.kind"]
        assert "Allowed: numeric, categorical, items. Did you mean 'numeric'?" in message

    def test_separator_without_items(self):
        assert "a separator belongs to kind: items" in self.column(separator=",")[1]

    def test_order_twice(self):
        assert "order names a value twice" in self.column(order=["a", "b", "a"])[1]

    @pytest.mark.parametrize("order", [[], "a", [1, 2]])
    def test_order_that_is_none(self, order):
        assert self.column(order=order)[0][0].startswith("columns.extra.order")

    @pytest.mark.parametrize("weight", [-1, "1", True, float("inf"), float("nan"), None])
    def test_weight(self, weight):
        assert self.column(weight=weight)[0] == ["columns.extra.weight"]

    @pytest.mark.parametrize(
        ("hierarchy", "said"),
        [
            ({}, "needs exactly one of"),
            ({"file": "a.csv", "prefix": [3]}, "got file and prefix"),
            ({"prefix": [2, 3]}, "prefix lengths must fall"),
            ({"prefix": [3, 3]}, "prefix lengths must fall"),
            ({"prefix": [0]}, "prefix.0"),
            ({"prefix": ["5"]}, "prefix.0"),
            ({"prefix": []}, "prefix"),
            ({"bands": [10, 5]}, "band widths must grow"),
            ({"bands": [5, 12]}, "must be a multiple"),
            ({"bands": [0]}, "bands.0"),
            ({"bands": ["5"]}, "bands.0"),
            ({"bands": [5], "origin": "0"}, "origin"),
            ({"dates": ["year", "day"]}, "date levels must go from day to year"),
            ({"dates": ["week"]}, "Allowed: day, month, quarter, year"),
            ({"flat": False}, "flat"),
            ({"fil": "a.csv"}, "Did you mean 'file'?"),
            ({"file": "a.csv", "delimiter": "ab"}, "a delimiter must be one ASCII character"),
            (3, "needs a mapping"),
        ],
    )
    def test_hierarchy(self, hierarchy, said):
        where, message = self.column(hierarchy=hierarchy)
        assert said in message
        assert all(place.startswith("columns.extra.hierarchy") for place in where)

    @pytest.mark.parametrize(
        ("short", "long"), [("flat", {"flat": True}), ("job.csv", {"file": "job.csv"}), ({"bands": [2.5, 5]}, None)]
    )
    def test_hierarchy_in_short(self, short, long):
        columns = {"age": {"role": "quasi", "hierarchy": short}}
        parsed = Policy.parse({"columns": columns, "require": [K]})
        assert parsed.columns["age"].hierarchy.model_dump(exclude_none=True) == {**(long or short), "origin": 0.0}


class TestRequirements:
    def require(self, **spec):
        return problems(policy(require=[spec]))

    def test_names(self):
        assert len(set(MODEL_NAMES)) == len(MODEL_NAMES)
        assert all(name in self.require(model="none")[1] for name in MODEL_NAMES)

    @pytest.mark.parametrize("spec", ["k-anonymity", 3, None])
    def test_no_mapping(self, spec):
        assert problems(policy(require=[spec]))[0] == ["require.0"]

    def test_one_that_is_no_list(self):
        assert problems(policy(require=K))[0] == ["require"]

    def test_no_model(self):
        assert "names no model" in self.require(k=3)[1]

    @pytest.mark.parametrize("k", [1, 0, -1, "2", 2.0, True, None])
    @pytest.mark.parametrize(
        "rest",
        [
            {"model": "k-anonymity"},
            {"model": "alpha-k-anonymity", "alpha": 0.5, "column": "disease"},
            {"model": "km-anonymity", "m": 1, "column": "codes"},
        ],
        ids=lambda rest: rest["model"],
    )
    def test_k(self, rest, k):
        assert self.require(**rest, k=k)[0] == ["require.0.k"]

    @pytest.mark.parametrize("value", [1, True, "3", None, float("inf"), float("nan"), 0, 2.5])
    def test_l(self, value):
        [where] = self.require(model="l-diversity", l=value, column="disease")[0]
        assert where.startswith("require.0")

    @pytest.mark.parametrize(
        ("name", "good", "bad"),
        [
            ({"model": "t-closeness"}, ("t", 0, 0.5, 1), (-0.1, 1.1, "0.5", True, None, float("nan"))),
            ({"model": "alpha-k-anonymity", "k": 2}, ("alpha", 0.1, 1), (0, 1.1, "0.5", True, None)),
            ({"model": "beta-likeness"}, ("beta", 0.1, 3), (0, -1, "1", True, float("inf"))),
            ({"model": "delta-disclosure"}, ("delta", 0.1, 3), (0, -1, "1", True, float("inf"))),
            ({"model": "l-diversity", "l": 2, "variant": "recursive"}, ("c", 0.1, 3), (0, -1, "1", True)),
        ],
        ids=lambda part: part.get("model", "") if isinstance(part, dict) else "",
    )
    def test_numbers(self, name, good, bad):
        key, *values = good
        for value in values:
            parsed = Policy.parse(policy(require=[{**name, key: value, "column": "disease"}]))
            assert parsed.require[0].parameters()[key] == value
        for value in bad:
            assert self.require(**name, **{key: value}, column="disease")[0] == [f"require.0.{key}"]

    @pytest.mark.parametrize("m", [0, "1", 1.0, True])
    def test_m(self, m):
        assert self.require(model="km-anonymity", k=2, m=m, column="codes")[0] == ["require.0.m"]

    @pytest.mark.parametrize(
        ("spec", "said"),
        [
            ({"variant": "recursive"}, "c is required for variant: recursive"),
            ({"c": 2}, "c is required for variant: recursive"),
            ({"variant": "distict"}, "Did you mean 'distinct'?"),
        ],
    )
    def test_variants(self, spec, said):
        assert said in self.require(model="l-diversity", l=2, column="disease", **spec)[1]

    def test_entropy_takes_fractions(self):
        require = [{"model": "l-diversity", "l": 1.5, "column": "disease", "variant": "entropy"}]
        assert Policy.parse(policy(require=require)).require[0].parameters()["l"] == 1.5

    @pytest.mark.parametrize("given", [3, 3.0])
    def test_whole_l_stays_whole(self, given):
        spec = Policy.parse(policy(require=[{"model": "l-diversity", "l": given, "column": "disease"}])).require[0]
        assert spec.describe() == "l-diversity (l = 3, column = disease, variant = distinct)"

    @pytest.mark.parametrize(
        ("column", "said"),
        [
            ("diseas", "'diseas' is not a column of this policy. Did you mean 'disease'?"),
            ("age", "'age' has role: quasi; this needs role: sensitive"),
        ],
    )
    @pytest.mark.parametrize(
        "spec",
        [
            {"model": "l-diversity", "l": 2},
            {"model": "t-closeness", "t": 0.5},
            {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2},
            {"model": "beta-likeness", "beta": 1},
            {"model": "delta-disclosure", "delta": 1},
        ],
        ids=lambda spec: spec["model"],
    )
    def test_column(self, spec, column, said):
        where, message = self.require(**spec, column=column)
        assert where == ["require.0.column"]
        assert said in message

    def test_column_of_items(self):
        assert "is not of kind: items" in self.require(model="km-anonymity", k=2, m=1, column="age")[1]
        assert "needs role: quasi" in self.require(model="km-anonymity", k=2, m=1, column="disease")[1]

    def test_columns_of_k(self):
        where, message = self.require(**K, columns=["age", "agee", "disease"])
        assert where == ["require.0.columns", "require.0.columns"]
        assert "Did you mean 'age'?" in message
        assert "needs role: quasi" in message

    def test_subjects_without_a_subject(self):
        columns = {"age": {"role": "quasi"}}
        where, _ = problems({"columns": columns, "require": [{**K, "count": "subjects"}]})
        assert where == ["require.0.count"]

    def test_hierarchical_distance_without_hierarchy(self):
        where, _ = self.require(model="t-closeness", t=0.3, column="disease", distance="hierarchical")
        assert where == ["require.0.distance"]

    def test_roles_of_the_whole(self):
        columns = {"a": {"role": "subject"}, "b": {"role": "subject"}}
        message = problems({"columns": columns, "require": [K]})[1]
        assert "no column has role: quasi" in message
        assert "more than one column has role: subject" in message


class TestRest:
    @pytest.mark.parametrize("limit", [-0.1, 1.01, 1.5, "0.1", True, None, float("nan")])
    def test_suppression(self, limit):
        assert problems(policy(suppression={"limit": limit}))[0] == ["suppression.limit"]

    @pytest.mark.parametrize(("key", "word"), [("records", "hidden"), ("unseen", "ignore")])
    def test_what_becomes_of_records(self, key, word):
        assert problems(policy(suppression={key: word}))[0] == [f"suppression.{key}"]

    @pytest.mark.parametrize(("key", "word"), [("order", "random"), ("subjects", "all")])
    def test_release(self, key, word):
        assert problems(policy(release={key: word}))[0] == [f"release.{key}"]

    @pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n", "\r", "\0", "§", 3])
    def test_delimiter(self, delimiter):
        assert problems(policy(source={"delimiter": delimiter}))[0] == ["source.delimiter"]

    @pytest.mark.parametrize("encoding", ["", "none", "hex", "a\0b", 8])
    def test_encoding(self, encoding):
        assert problems(policy(source={"encoding": encoding}))[0] == ["source.encoding"]

    @pytest.mark.parametrize("missing", ["NA", [0], [None]])
    def test_missing(self, missing):
        assert problems(policy(source={"missing": missing}))[0][0].startswith("source.missing")

    def test_method(self):
        known = {
            "top-down": Method("top-down", "", "", "", {"split": ("a", "b")}),
            "other": Method("other", "", "", ""),
        }
        where, message = problems(policy(method={"name": "top-down", "spilt": 1, "split": "c"}), methods=known)
        assert where == ["method.spilt", "method.split"]
        assert "Did you mean 'split'?" in message
        assert "Allowed: a, b." in message
        _, message = problems(policy(method={"name": "other", "split": "a"}), methods=known)
        assert "is not an option of other. Allowed: none" in message
        assert problems(policy(method={"name": "third"}), methods=known)[0] == ["method.name"]
        parsed = Policy.parse(policy(method={"name": "top-down", "split": "b"}), methods=known)
        assert parsed.method.options == {"split": "b"}

    def test_method_is_not_checked_by_who_does_not_know_them(self):
        assert Policy.parse(policy(method={"name": "third", "x": 1})).method.options == {"x": 1}

    @pytest.mark.parametrize("name", METHODS)
    def test_every_method_is_known_to_the_verbs(self, name):
        needed = {"model": "l-diversity", "l": 2, "column": "disease"}
        chosen = {"name": name} | ({"target": "disease"} if "target" in METHODS[name].options else {})
        given = policy(method=chosen)
        given["require"] = [needed] if METHODS[name].leaves_quasi else [*given["require"], needed]
        if METHODS[name].perturbs:
            given["require"] = [{"model": "pk-anonymity", "k": 2}]
        if METHODS[name].leaves_quasi:
            given["columns"] = {**COLUMNS, "age": {"role": "quasi"}, "codes": {"role": "quasi"}}
        assert load_policy(given).method.name == name

    def test_a_method_says_which_model_it_needs(self):
        given = policy(method={"name": "l-incognito"})
        given["require"] = [spec for spec in given["require"] if spec["model"] != "l-diversity"]
        with pytest.raises(PolicyError, match="l-incognito needs a requirement of the model l-diversity"):
            load_policy(given)


class TestFile:
    def test_yaml_and_json_agree(self, tmp_path):
        data = policy(suppression={"limit": 0.05})
        (tmp_path / "p.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        (tmp_path / "p.json").write_text(json.dumps(data))
        first, second = load_policy(tmp_path / "p.yaml"), load_policy(str(tmp_path / "p.json"))
        assert first.model_dump() == second.model_dump() == Policy.parse(data).model_dump()
        assert list(first.columns) == list(COLUMNS)
        assert first.folder == tmp_path

    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
    @pytest.mark.parametrize("name", ["p.yaml", "p.yml", "p.json", "p.JSON"])
    def test_digest_is_of_the_bytes(self, tmp_path, name, mark):
        raw = mark + json.dumps(policy()).encode() + b"\n\n"
        (tmp_path / name).write_bytes(raw)
        assert load_policy(tmp_path / name).sha256 == hashlib.sha256(raw).hexdigest()

    def test_digest_of_a_mapping(self):
        turned = {"require": [K], "columns": COLUMNS}
        assert Policy.parse(policy()).sha256 == Policy.parse(turned).sha256
        assert Policy.parse(policy()).sha256 != Policy.parse(policy(suppression={"limit": 0.1})).sha256

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("p.yaml", b"columns:\n  a: [1\n", "is not well-formed YAML near line 3, column 1"),
            ("p.yaml", b"a: 2024-13-45\n", "is not well-formed YAML"),
            ("p.yaml", b"a: \x01\n", "is not well-formed YAML"),
            ("p.yaml", b"{[a]: 1}\n", "is not well-formed YAML"),
            ("p.yaml", b"!!python/object:os.system {}\n", "is not well-formed YAML"),
            ("p.json", b'{"columns":\n  {,}}', "is not well-formed JSON near line 2, column 4"),
            ("p.json", b"[" * 100_000, "is not well-formed JSON"),
            ("p.yaml", b"a: {b: 1, b: 2}\n", "names the key 'b' twice"),
            ("p.yaml", b"a: 1\na: 2\n", "names the key 'a' twice"),
            ("p.json", b'{"a": {"b": 1, "b": 2}}', "names the key 'b' twice"),
            ("p.yaml", b"a: \xff\n", "is not UTF-8 text"),
        ],
        ids=range(11),
    )
    def test_malformed(self, tmp_path, name, content, said):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PolicyError) as error:
            load_policy(tmp_path / name)
        assert said in str(error.value)

    def test_absent(self, tmp_path):
        with pytest.raises(PolicyError, match="there is no such file"):
            load_policy(tmp_path / "none.yaml")
        with pytest.raises(PolicyError, match="cannot be read: Is a directory"):
            load_policy(tmp_path)


SETS = {"diseases": {"role": "sensitive", "kind": "items", "separator": "|"}, "age": {"role": "quasi"}}
BY_ITEM = {"model": "l-diversity", "l": 3, "column": "diseases", "variant": "frequency"}


@pytest.mark.parametrize(
    ("require", "columns", "method", "where", "told"),
    [
        ({**BY_ITEM, "variant": "distinct"}, {}, "top-down", "require.0.variant", "distinct is for single values"),
        ({**BY_ITEM, "variant": "entropy"}, {}, "top-down", "require.0.variant", "entropy is for single values"),
        ({"model": "t-closeness", "t": 0.2, "column": "diseases"}, {}, "top-down", "require.0.column", "single values"),
        (
            {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "column": "diseases"},
            {},
            "top-down",
            "require.0.column",
            "single values",
        ),
        (BY_ITEM, {"diseases": {"role": "sensitive"}}, "top-down", "require.0.variant", "not of kind: items"),
        (BY_ITEM | {"l": 2.5}, {}, "top-down", "require.0", "whole number"),
        (BY_ITEM, {}, "three-phase", "method.name", "works with single sensitive values"),
        (BY_ITEM, {}, "dummies", "method.name", "works with single sensitive values"),
        (BY_ITEM, {}, "anatomy", "method.name", "works with single sensitive values"),
    ],
)
def test_promises_about_sets_and_single_values_do_not_mix(require, columns, method, where, told):
    given = {"columns": SETS | columns, "require": [require], "method": {"name": method}}
    with pytest.raises(PolicyError) as error:
        Policy.parse(given, methods=METHODS)
    assert any(problem.where == where and told in problem.what for problem in error.value.problems)
    assert all(problem.hint or problem.where == "require.0" for problem in error.value.problems)


def test_sensitive_sets_are_not_decided_on_blindly_nor_predicted_nor_counted_by_people():
    blind = {"columns": SETS, "require": [BY_ITEM], "method": {"name": "top-down", "sensitive": "blind"}}
    predicted = {"columns": SETS, "require": [BY_ITEM], "method": {"name": "tds", "target": "diseases"}}
    people = {
        "columns": SETS | {"who": {"role": "subject"}},
        "require": [BY_ITEM, {"model": "k-anonymity", "k": 2, "count": "subjects"}],
    }
    for given, where in ((blind, "method.sensitive"), (predicted, "method.target"), (people, "require.0.variant")):
        with pytest.raises(PolicyError) as error:
            Policy.parse(given, methods=METHODS)
        assert [problem.where for problem in error.value.problems] == [where]


def test_a_sensitive_set_that_no_promise_is_about_needs_no_kind():
    given = {"columns": SETS, "require": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(PolicyError) as error:
        Policy.parse(given, methods=METHODS)
    assert {problem.where for problem in error.value.problems} == {
        "columns.diseases.kind",
        "columns.diseases.separator",
    }


def test_promises_about_sensitive_sets_name_items_once_and_say_which_model_fits():
    columns = {"age": {"role": "quasi"}, "told": {"role": "sensitive", "kind": "items"}}
    promise = {"model": "l-diversity", "l": 2, "column": "told", "variant": "frequency", "harmless": ["flu", "flu"]}
    with pytest.raises(PolicyError, match="harmless names an item twice"):
        Policy.parse({"columns": columns, "require": [promise]})
    promise = {"model": "km-anonymity", "k": 2, "m": 2, "column": "told"}
    with pytest.raises(PolicyError, match="require l-diversity with variant: frequency") as caught:
        Policy.parse({"columns": columns, "require": [promise]})
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("l", [10**9 + 1, 2**60, 2**63, 10**30])
@pytest.mark.parametrize("variant", ["distinct", "entropy", "frequency"])
def test_l_has_a_largest_value_that_can_be_counted_with(l, variant):  # noqa: E741
    columns = {
        "age": {"role": "quasi"},
        "told": {"role": "sensitive"} | ({"kind": "items"} if variant[0] == "f" else {}),
    }
    promise = {"model": "l-diversity", "l": l, "column": "told", "variant": variant}
    with pytest.raises(PolicyError, match="less than or equal to 1000000000"):
        Policy.parse({"columns": columns, "require": [promise]})


def test_codes_that_look_like_numbers_are_to_be_put_in_quotation_marks():
    columns = {"age": {"role": "quasi", "order": [1, 2]}, "told": {"role": "sensitive", "kind": "items"}}
    promise = {"model": "l-diversity", "l": 2, "column": "told", "variant": "frequency", "harmless": [250]}
    with pytest.raises(PolicyError) as caught:
        Policy.parse({"columns": columns, "require": [promise]})
    assert [problem.hint for problem in caught.value.problems] == ["put it in quotation marks."] * 3
