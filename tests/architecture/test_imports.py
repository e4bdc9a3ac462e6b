"""Imports go one way; this reads them off the syntax trees."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import sudare

from .rooms import PAGE, ROOMS, page

SOURCE = Path(sudare.__file__).parent
SAME = {
    # what stands in two places since it is the same concept
    "__init__": "a package",
    "run": "how a room's own work is wired",
    "registry": "what a policy can name: models, methods",
}.keys()
THINGS = {"l_clustering", "pairing", "recoding"}
"""Names that end in -ing and are those of things, in the literature or in English."""
OUTSIDE = {
    # a library, and the only places that may import it
    "numba": ("kernels/",),
    "pyspark": ("engines/spark/",),
    "psycopg": ("engines/database/postgres",),
    "adbc_driver_postgresql": ("engines/database/postgres",),
    "adbc_driver_manager": ("engines/database/postgres",),
    "pandas": ("engines/dataframes", "accessors"),
    "polars": ("engines/dataframes", "accessors"),
    "pycanon": (),
    "typer": ("cli",),
    "rich": ("cli", "core/text_tables"),  # which asks it how wide letters are
    "jinja2": ("reports/markup",),
    "markupsafe": ("reports/",),
    "yaml": ("core/input_limits", "policy", "hierarchies/", "audits/bounds", "audits/hierarchy", "drafts/"),
    "pydantic": ("policy", "methods/options.py"),
    "cryptography": ("releases/signatures", "audits/signatures"),
    "sklearn": ("comparisons/", "risks/inference", "sklearn.py"),
}

STATISTICAL = {
    # the only places that may use a statistical generator, and why
    "core/randomness.py": "for tests, which give a seed",
    "datasets/": "makes up tables",
    "comparisons/": "measures methods, and releases nothing",
    "risks/": "draws whom it attacks, and releases nothing",
    "reports/describe/class_sizes.py": "digests of item sets",
    "reports/describe/relations.py": "draws the records that a picture is made from",
    "releases/numeric/": "draws numbers within what a release shows, and releases nothing",
    "estimates/shrinkage.py": "draws from what an estimate says",
}
DRAWING = re.compile(r"\b(random|rand|randn|uuid|gen_random_uuid|setseed|shuffle)\s*\(\s*\)", re.IGNORECASE)
"""How the databases draw by themselves."""


def modules():
    return sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


@cache
def nodes(path):
    """Everything in the syntax tree of a file."""
    return tuple(ast.walk(ast.parse((SOURCE / path).read_text(encoding="utf-8"))))


def imported(path):
    """Every module that a file imports, anywhere in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            yield node.module
            if node.module == "sudare":
                yield from (f"sudare.{alias.name}" for alias in node.names)


def room(path):
    return path.split("/")[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules())
def test_a_room_imports_only_what_it_may(path):
    if path in ("__init__.py", "__main__.py"):
        return
    assert room(path) in ROOMS, f"{path} is in no room of the design"
    for name in imported(path):
        if name.startswith("sudare."):
            allowed = {*ROOMS[room(path)].allowed, room(path), "__version__"}
            assert name.split(".")[1] in allowed, f"{path} imports {name}"


def test_the_rooms_can_be_put_in_an_order():
    """No two rooms import each other, not even by way of others."""
    left = {name: set(found.allowed) for name, found in ROOMS.items()}
    while free := [name for name, needed in left.items() if not needed & set(left)]:
        for name in free:
            del left[name]
    assert not left, f"these import each other: {sorted(left)}"


def test_a_room_may_import_no_more_than_it_does():
    """What nobody needs is not allowed."""
    found = {name: set() for name in ROOMS}
    for path in modules():
        if room(path) in found:
            found[room(path)] |= {name.split(".")[1] for name in imported(path) if name.startswith("sudare.")}
    assert {name: room.allowed for name, room in ROOMS.items()} == {
        name: frozenset(names & set(ROOMS)) - {name} for name, names in found.items()
    }


def test_the_page_shows_the_rooms():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "write it anew: python tests/architecture/rooms.py"


def test_no_room_is_called_like_a_verb():
    assert not set(ROOMS) & set(sudare.__all__) - {"datasets"}


def test_file_names_are_nouns_and_occur_once():
    """Only what is the same thing in two rooms has the same name, and the audit has its own of what it proves."""
    twice = Counter(Path(path).stem for path in modules() if not path.startswith("audits/"))
    again = {name for name, count in twice.items() if count > 1} - SAME
    assert not again, f"these names occur several times: {sorted(again)}"
    verbs = [path for path in modules() if Path(path).stem.endswith("ing") and Path(path).stem not in THINGS]
    assert not verbs, f"these are not called like things: {verbs}"


@pytest.mark.parametrize("path", modules())
def test_libraries_are_imported_only_where_they_belong(path):
    for name in imported(path):
        places = OUTSIDE.get(name.split(".")[0])
        assert places is None or path.startswith(places), f"{path} imports {name}"


@pytest.mark.parametrize("path", modules())
def test_what_a_release_shows_is_drawn_by_the_operating_system(path):
    """The state of a statistical generator can be recovered from its output, and a release is such output."""
    if path.startswith(tuple(STATISTICAL)):
        return
    assert not {"random", "numpy.random"} & set(imported(path)), f"{path} imports a statistical generator"
    for node in nodes(path):
        used = isinstance(node, ast.Attribute) and node.attr == "random" and ast.unparse(node.value) in ("np", "numpy")
        assert not used, f"{path} uses np.random"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not DRAWING.search(node.value), f"{path} lets a database draw"


@pytest.mark.parametrize("path", modules())
def test_files_have_a_name_that_helps(path):
    assert Path(path).stem not in {"utils", "util", "misc", "helpers", "common", "manager", "base"}


@pytest.mark.parametrize("path", modules())
def test_everything_public_says_what_it_is(path):
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    assert path == "datasets/__main__.py" or ast.get_docstring(tree), f"{path} has no docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path}: {node.name} has no docstring"


def test_the_audit_reads_no_numbers_from_elsewhere():
    for path in modules():
        if path.startswith("audit/") and path != "audit/canonical_text.py":  # which looks at bytes, not at numbers
            assert not {"numpy", "numba"} & {name.split(".")[0] for name in imported(path)}, path
