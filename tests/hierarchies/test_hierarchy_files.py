"""Hierarchies from files and nested trees, and everything that can be wrong with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import HierarchyError
from sudare.hierarchies import from_csv, from_tree, levels, load, to_csv

# Shaped like files that are in use for the Adult table: no header, two fields or more, here and there no last newline.
ADULT_LIKE = {
    "age": "\n".join(f"{a};{(a - 1) // 5 * 5}-{(a - 1) // 5 * 5 + 4};{(a - 1) // 20 * 20}+;*" for a in range(1, 101)),
    "education": "Bachelors;Undergraduate;Higher education;*\n11th;High School;Secondary education;*\n"
    "Masters;Graduate;Higher education;*\nHS-grad;High School;Secondary education;*\n",
    "marital-status": "Married-civ-spouse;spouse present;*\nDivorced;spouse not present;*\n",
    "native-country": "Outlying-US(Guam-USVI-etc);North America;*\nTrinadad&Tobago;South America;*\nHong;Asia;*",
    "occupation": "Tech-support;Technical;*\nOther-service;Other;*\nSales;Nontechnical;*\n",
    "race": "White;*\nAsian-Pac-Islander;*\nOther;*\n",
    "salary-class": ">50K;*\n<=50K;*\n",
    "sex": "Male;*\nFemale;*\n",
    "workclass": "Private;Non-Government;*\nFederal-gov;Government;*\nWithout-pay;Unemployed;*\n",
}


def rows(hierarchy):
    return list(zip(*(column.to_pylist() for column in hierarchy.columns()), strict=True))


def read(tmp_path, text, **options):
    path = tmp_path / "h.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return from_csv(path, **options)


def problems(tmp_path, text, **options):
    with pytest.raises(HierarchyError) as caught:
        read(tmp_path, text, **options)
    return [str(problem).split("h.csv: ", 1)[1] for problem in caught.value.problems]


@pytest.mark.parametrize("name", ADULT_LIKE)
def test_files_as_they_are_in_use(tmp_path, name):
    hierarchy = read(tmp_path, ADULT_LIKE[name])
    assert rows(hierarchy) == [tuple(line.split(";")) for line in ADULT_LIKE[name].split("\n") if line]
    assert hierarchy.root == "*"
    assert levels(hierarchy)[0] == len(hierarchy.leaves)


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_the_delimiter_is_sniffed(tmp_path, delimiter):
    text = "\r\n".join(delimiter.join(row) for row in [("a", "X", "*"), ("b", "X", "*"), ("c", "Y", "*")])
    assert rows(read(tmp_path, text)) == [("a", "X", "*"), ("b", "X", "*"), ("c", "Y", "*")]


def test_a_delimiter_inside_labels_does_not_mislead(tmp_path):
    assert rows(read(tmp_path, "20;[20, 29];*\n35;[30, 39];*\n")) == [("20", "[20, 29]", "*"), ("35", "[30, 39]", "*")]
    assert rows(read(tmp_path, "20,[20;29],*\n35,[30;39],*\n")) == [("20", "[20;29]", "*"), ("35", "[30;39]", "*")]
    assert rows(read(tmp_path, "a|X|*\n", delimiter="|")) == [("a", "X", "*")]


def test_quotes_a_mark_blank_lines_and_a_line_said_twice(tmp_path):
    text = '\ufeff"a;b";"say ""X""";*\n\nc;"two\nlines";*\n"a;b";"say ""X""";*\n   \n'
    assert rows(read(tmp_path, text)) == [("a;b", 'say "X"', "*"), ("c", "two\nlines", "*")]


def test_a_leaf_with_two_parents(tmp_path):
    (found,) = problems(tmp_path, "a;X;*\nb;Y;*\na;Y;*\nc;X;*\n")
    assert found == "a leaf has 2 parents: one (line 1) and one (line 3)."


def test_a_group_with_two_parents(tmp_path):
    (found,) = problems(tmp_path, "a;X;P;*\nb;X;Q;*\n")
    assert found.startswith("a group has 2 parents: one (line 1) and one (line 2).")
    assert "different names" in found


def test_uneven_depth_and_the_documented_way_to_fill_it(tmp_path):
    (found,) = problems(tmp_path, "a;X;*\nb;X;*\nOther;*\n")
    assert found.startswith("the depth is uneven: 1 leaf (line 3) with 2 levels where most have 3.")
    assert "Other;Other;*" in found
    assert rows(read(tmp_path, "a;X;*\nb;X;*\nOther;Other;*\n"))[-1] == ("Other", "Other", "*")


def test_empty_fields(tmp_path):
    (found,) = problems(tmp_path, "a;X;*\nb; ;*\nc;X;\n")
    assert found.startswith("a label is empty (lines 2 and 3).")


def test_one_name_on_two_levels_of_different_branches(tmp_path):
    (found,) = problems(tmp_path, "a;X;P;*\nb;Q;X;*\n")
    assert found.startswith("a group has 2 parents: one (line 1) and one (line 2).")


def test_a_label_that_is_leaf_and_group(tmp_path):
    (found,) = problems(tmp_path, "a;X;*\nX;Y;*\n")[1:]
    assert found.startswith("a label is a leaf (line 2) and a group over others (line 1).")
    (found,) = problems(tmp_path, "Other;Other;*\nMisc;Other;*\n")
    assert found.startswith("a label is a leaf (line 1) and a group over others (line 2).")


def test_a_group_that_repeats_beside_others(tmp_path):
    (found,) = problems(tmp_path, "a;X;X;*\nb;c;X;*\n")
    assert found.startswith("a group is its own parent (line 1), but also has other children.")
    (found,) = problems(tmp_path, "a;X;X;*\nb;X;*;*\n")
    assert "a group is its own parent (line 2)" in found


def test_several_roots_and_a_root_below_others(tmp_path):
    (found,) = problems(tmp_path, "a;*\nb;*\nc;all\n")
    assert found.startswith("there are 2 roots, but a tree has one: one (lines 1 and 2) and one (line 3).")
    (found,) = problems(tmp_path, "a;*;X;*\n")[:1]
    assert found == "the root is below another label (line 1)."


def test_no_level_above_the_leaves(tmp_path):
    assert any("no level above the leaves" in found for found in problems(tmp_path, "a\nb\n"))


def test_files_that_cannot_be_read(tmp_path):
    assert problems(tmp_path, " \n\n")[0].startswith("the file is empty.")
    assert problems(tmp_path, b"a;X;*\nb;\xff;*\n")[0].startswith("is not UTF-8 (line 2).")
    assert problems(tmp_path, 'a;X;*\n"b;X;*\n')[0].startswith("line 2 cannot be parsed")
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(HierarchyError) as caught:
            from_csv(path)
        assert caught.value.exit_code == 2
        assert str(path) in str(caught.value)


def test_all_problems_come_together(tmp_path):
    text = "a;X;*\na;Y;*\nb;X;P;*\nc;;*\nd;X;*\nX;Y;*\ne;Y;all\n"
    with pytest.raises(HierarchyError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    for part in (
        "label is empty (line 4)",
        "depth is uneven: 1 leaf (line 3)",
        "there are 2 roots",
        "a leaf has 2 parents",
        "a label is a leaf (line 6)",
    ):
        assert part in message
    assert message.startswith(f"{len(caught.value.problems)} problems in the hierarchies:")


def test_long_lists_of_offenders_are_counted(tmp_path):
    text = "".join(f"v{i};X;*\nv{i};Y;*\n" for i in range(20)) + "".join(f"w{i};*\n" for i in range(12))
    found = problems(tmp_path, text)
    assert any("15 more labels" in one for one in found)
    assert any("lines 41, 42, 43, 44, 45 and 7 more" in one for one in found)


def test_a_tree_with_its_own_root():
    hierarchy = from_tree({"Any job": {"Desk": ["clerk", {"lawyer": None}], "Hands": {"smith": None, "cook": None}}})
    assert rows(hierarchy) == [
        ("clerk", "Desk", "Any job"),
        ("lawyer", "Desk", "Any job"),
        ("smith", "Hands", "Any job"),
        ("cook", "Hands", "Any job"),
    ]


def test_a_tree_without_a_root_gets_one():
    assert rows(from_tree({"A": ["x", 1], "B": [2.5, "y"], "Other": "Other"})) == [
        ("x", "A", "*"),
        ("1", "A", "*"),
        ("2.5", "B", "*"),
        ("y", "B", "*"),
        ("Other", "Other", "*"),
    ]
    assert rows(from_tree(["x", "y"])) == [("x", "*"), ("y", "*")]
    assert rows(from_tree({"x": None})) == [("x", "*")]


@pytest.mark.parametrize(
    ("tree", "part"),
    [
        ({}, "must not be empty"),
        ("text", "a mapping or a list"),
        ({"A": [], "B": ["x"]}, "'* > A' has nothing below it"),
        ({"A": [["x"]], "B": ["y"]}, "group without a name"),
        ({"A": [False], "B": ["SE"]}, "read as a truth value (no, false or off)"),
        ({"A": [None], "B": ["y"]}, "a label is empty"),
        ({"A": ["x", "y"], "B": None, "C": ["z"]}, "uneven: 1 leaf ('B') with 2 levels where most have 3"),
        ({"A": ["x"], "B": ["x"]}, "the leaf 'x' has 2 parents: 'A' and 'B'"),
        ({"A": {"X": ["p"]}, "B": {"X": ["q"]}}, "the group 'X' has 2 parents: 'A' and 'B'"),
    ],
)
def test_trees_that_are_wrong(tree, part):
    with pytest.raises(HierarchyError) as caught:
        from_tree(tree)
    assert part in str(caught.value)


def test_a_tree_that_holds_itself_ends():
    tree: dict = {"A": ["x"]}
    tree["B"] = tree
    with pytest.raises(HierarchyError, match="nests deeper"):
        from_tree(tree)


def test_a_nested_file_keeps_its_text(tmp_path):
    path = tmp_path / "codes.yaml"
    path.write_text("North: [NO, SE, 007]\nSouth:\n  IT:\n  'null': ~\n", encoding="utf-8")
    assert rows(load(path)) == [
        ("NO", "North", "*"),
        ("SE", "North", "*"),
        ("007", "North", "*"),
        ("IT", "South", "*"),
        ("null", "South", "*"),
    ]
    path = tmp_path / "codes.json"
    path.write_text('{"All": {"A": ["x", "1"], "B": {"y": null}}}', encoding="utf-8")
    assert rows(load(path)) == [("x", "A", "All"), ("1", "A", "All"), ("y", "B", "All")]


@pytest.mark.parametrize(
    ("text", "part"),
    [("A: [x]\nA: [y]\n", "names a label twice near line 2"), ("A: [x\n", "not well-formed YAML near line")],
)
def test_nested_files_that_are_wrong(tmp_path, text, part):
    path = tmp_path / "codes.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HierarchyError) as caught:
        load(path)
    assert part in str(caught.value)


def test_load_reads_csv_by_any_other_name(tmp_path):
    path = tmp_path / "codes.txt"
    path.write_text("a;*\nb;*\n", encoding="utf-8")
    assert levels(load(path)) == (2, 1)


@given(
    labels=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(lambda t: t.strip()),
        min_size=3,
        max_size=12,
        unique=True,
    ),
    delimiter=st.sampled_from([";", ",", "\t"]),
)
def test_what_is_written_is_read_back(tmp_path_factory, labels, delimiter):
    root, first, *leaves = labels
    hierarchy = from_tree({root: {first: leaves}})
    path = tmp_path_factory.mktemp("csv") / "h.csv"
    to_csv(hierarchy, path, delimiter)
    assert rows(from_csv(path, delimiter)) == rows(hierarchy)
