"""Imports go one way; this reads them off the syntax trees."""

import ast
import re
from pathlib import Path

import pytest

import sudare

SOURCE = Path(sudare.__file__).parent
FOUNDATION = {"bounded", "errors", "progress", "randomness"}
TABLE = FOUNDATION | {"kernels", "table"}
ROOMS = {
    "errors": set(),
    "bounded": set(),
    "progress": set(),
    "randomness": set(),
    "memory": {"errors"},
    "kernels": {"kernels"},
    "policy": {"bounded", "errors", "policy"},
    "table": TABLE,
    "hierarchies": TABLE | {"hierarchies"},
    "models": TABLE | {"models"},
    "metrics": TABLE | {"metrics"},
    "pram": TABLE | {"models", "pram"},
    "methods": TABLE | {"hierarchies", "models", "metrics", "pram", "methods"},
    "estimate": TABLE | {"hierarchies", "release", "estimate"},
    "risk": TABLE | {"release", "risk"},
    "risking": TABLE | {"engines", "policy", "reading", "release", "released", "risk"},
    "compare": TABLE | {"models", "metrics", "methods", "policy", "estimate", "release", "risk", "compare"},
    "comparing": TABLE | {"checking", "compare", "making", "methods", "policy", "reading"},
    "engines": TABLE | {"engines"},
    "release": TABLE | {"hierarchies", "models", "metrics", "engines", "release"},
    "reading": TABLE | {"hierarchies", "models", "engines", "release", "policy", "memory"},
    "released": {"bounded", "errors", "engines", "hierarchies", "policy", "release"},
    "checking": {"errors", "methods", "policy", "release"},
    "calibrating": TABLE | {"checking", "hierarchies", "methods", "models", "policy", "pram", "reading"},
    "describing": TABLE
    | {"describing", "engines", "estimate", "hierarchies", "policy", "reading", "release", "released"},
    "reporting": {"describing", "engines", "errors", "policy", "progress", "reading", "release", "report"},
    "making": TABLE
    | {"audit", "checking", "engines", "hierarchies", "making", "memory", "methods", "metrics", "models", "policy"}
    | {"pram", "reading", "release"},
    "auditor": {"audit", "bounded", "engines", "errors", "making", "policy", "reading", "release", "released"},
    "plan": {"bounded", "errors", "hierarchies", "policy"},
    "audit": {"errors", "policy", "audit"},
    "draft": TABLE | {"policy", "draft"},
    "report": {"report"},
    "datasets": {"errors", "datasets"},
}
OUTSIDE = {
    # a library, and the only places that may import it
    "numba": ("kernels/",),
    "pyspark": ("engines/spark",),
    "psycopg": ("engines/postgres",),
    "adbc_driver_postgresql": ("engines/postgres",),
    "adbc_driver_manager": ("engines/postgres",),
    "pandas": ("engines/frames",),
    "polars": ("engines/frames",),
    "pycanon": (),
    "typer": ("cli",),
    "rich": ("cli",),
    "yaml": ("bounded", "policy", "hierarchies/", "audit/bounds", "audit/hierarchy", "draft/"),
    "pydantic": ("policy",),
    "cryptography": ("release/signatures", "audit/signatures"),
    "sklearn": ("compare/", "risk/inference"),
}

STATISTICAL = {
    # the only places that may use a statistical generator, and why
    "randomness.py": "for tests, which give a seed",
    "datasets/": "makes up tables",
    "compare/": "measures methods, and releases nothing",
    "risk/": "draws whom it attacks, and releases nothing",
    "describing/classes.py": "digests of item sets",
    "describing/relations.py": "draws the records that a picture is made from",
    "estimate/averaging.py": "draws from what an estimate says",
}
DRAWING = re.compile(r"\b(random|rand|randn|uuid|gen_random_uuid|setseed|shuffle)\s*\(\s*\)", re.IGNORECASE)
"""How the databases draw by themselves."""


def modules():
    return sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


def imported(path):
    """Every module that a file imports, anywhere in it."""
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
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
    allowed = ROOMS.get(room(path))
    if allowed is None:
        assert room(path) in {"api", "cli", "__init__", "__main__"}, f"{path} is in no room of the design"
        return
    for name in imported(path):
        if name.startswith("sudare."):
            assert name.split(".")[1] in allowed, f"{path} imports {name}"


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
    for node in ast.walk(ast.parse((SOURCE / path).read_text(encoding="utf-8"))):
        used = isinstance(node, ast.Attribute) and node.attr == "random" and ast.unparse(node.value) in ("np", "numpy")
        assert not used, f"{path} uses np.random"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not DRAWING.search(node.value), f"{path} lets a database draw"


@pytest.mark.parametrize("path", modules())
def test_files_have_a_size_and_a_name_that_help(path):
    lines = (SOURCE / path).read_text(encoding="utf-8").count("\n")
    assert lines <= 700, f"{path} has {lines} lines: is there a second room in it?"
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
