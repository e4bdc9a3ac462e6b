"""Everything a user can write or meet is described: keys, models, methods, options, certificate, rooms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
import yaml
from pydantic import BaseModel

import sudare.policy as policy
from docs.pages import DOCS, ROOT, blocks, prose
from sudare import datasets
from sudare.api import anonymize, load_policy
from sudare.audits.model_proofs import PROOFS
from sudare.cli import app
from sudare.methods import METHODS, ColumnName
from sudare.metrics import PUBLISHED
from sudare.models import MODELS

TRANSFORMATIONS = (DOCS / "transformations.md").read_text(encoding="utf-8")
POLICY, RELEASE, CLI, CONCEPTS, INSIDE = (
    (DOCS / name).read_text(encoding="utf-8")
    for name in ("policy.md", "release.md", "cli.md", "concepts.md", "inside.md")
)
SPECS = {
    name: spec
    for name, spec in vars(policy).items()
    if isinstance(spec, type) and issubclass(spec, BaseModel) and not name.startswith("_") and spec is not BaseModel
}
KEYS = sorted({(name, key) for name, spec in SPECS.items() for key in spec.model_fields} - {("Policy", "model")})


def section(text: str, heading: str) -> str:
    """Return the part of a page below a heading, up to the next of its level or above."""
    rest = text.partition(f"\n{heading}\n")[2]
    marks = len(heading.split()[0])
    return re.split(rf"^#{{1,{marks}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


HEADINGS = {
    "Policy": "## Top level",
    "ColumnSpec": "## Columns",
    "HierarchySpec": "## Hierarchies",
    "MethodSpec": "## Method",
    "SuppressionSpec": "## Suppression",
    "ReleaseSpec": "## Release",
    "SourceSpec": "## Source",
    "AboutSpec": "## About",
} | {
    spec.__name__: f"### {get_args(spec.model_fields['model'].annotation)[0]}"
    for spec in get_args(policy.RequirementSpec)
}
OF_TRANSFORMATIONS = {
    "TopSpec": "## top and bottom",
    "BottomSpec": "## top and bottom",
    "SwapSpec": "## swap and shuffle",
    "ShuffleSpec": "## swap and shuffle",
    "KeySpec": "## pseudonym",
    "SampleSpec": "## A sample of people",
} | {
    get_args(field.annotation)[0].__name__: f"## {name}"
    for name, field in policy.Transformation.model_fields.items()
    if name not in ("top", "bottom", "swap", "shuffle")
}


def section_of(spec: str) -> str:
    """Return the section of a page that describes a part of a policy."""
    if spec == "Transformation":
        return section(TRANSFORMATIONS, "## How to write them")
    if spec in OF_TRANSFORMATIONS:
        return section(TRANSFORMATIONS, OF_TRANSFORMATIONS[spec])
    return section(POLICY, HEADINGS[spec])


@pytest.mark.parametrize(("spec", "key"), KEYS, ids=lambda part: str(part))
def test_every_key_of_the_policy_has_a_line_in_its_section(spec, key):
    part, key = section_of(spec), SPECS[spec].model_fields[key].alias or key
    assert part, f"no page has a section for {spec}"
    if spec in ("Transformation", "SwapSpec", "ShuffleSpec"):
        assert re.search(rf"^\| [^|]*`{key}`", part, re.MULTILINE)
        return
    needle = f"\n| `{key}` |"
    assert needle in part or (key == "model" and "`model`" in section(POLICY, "## Models"))


def words_of(annotation: Any) -> list[str]:
    """Return the words that a literal type allows, however deep it stands."""
    if isinstance(annotation, str):
        return [annotation]
    return [word for part in get_args(annotation) for word in words_of(part)]


def test_every_allowed_word_of_the_policy_is_named():
    for spec in SPECS.values():
        for field in spec.model_fields.values():
            for word in words_of(field.annotation):
                assert f"`{word}`" in POLICY + TRANSFORMATIONS or f"### {word}\n" in POLICY, word


def test_every_default_of_the_policy_is_stated():
    for name, spec in SPECS.items():
        for key, field in spec.model_fields.items():
            if isinstance(field.default, str | int | float) and not isinstance(field.default, bool):
                line = re.search(rf"^\| `{field.alias or key}` \|.*$", section_of(name), re.MULTILINE)
                assert line
                assert (
                    f"| `{field.default:g}` |" in line[0]
                    if isinstance(field.default, float)
                    else (f"| `{field.default}` |" in line[0])
                ), (name, key)


BASE = """
columns:
  age: {role: quasi}
  zip: {role: quasi}
  severity: {role: sensitive}
  disease: {role: sensitive}
  patient: {role: subject}
  allergies: {role: quasi, kind: items}
require:
  - {model: k-anonymity, k: 2}
"""
FRAGMENTS = [block for block in blocks(DOCS / "policy.md") if block.language == "yaml" and block.title != "broken.yaml"]


@pytest.mark.parametrize("block", FRAGMENTS, ids=lambda block: f"line {block.line}")
def test_every_piece_of_a_policy_on_its_page_is_accepted(block):
    base, piece = yaml.safe_load(BASE), yaml.safe_load(block.text)
    if METHODS[piece.get("method", {}).get("name", "top-down")].leaves_quasi:
        base["columns"]["allergies"] = {"role": "identifier"}  # whose kind would have no effect
    assert load_policy(base | piece | {"columns": base["columns"] | piece.get("columns", {})})


def test_every_model_is_described():
    assert set(MODELS) == set(PROOFS) == set(policy.MODEL_NAMES)
    for model in MODELS:
        part = section(POLICY, f"### {model}")
        assert f"model: {model}" in part, f"{model} has no example"
        name = {"km-anonymity": "k^m-anonymity", "alpha-k-anonymity": "(alpha, k)-anonymity"}.get(model, model)
        assert f"**{name}**" in CONCEPTS, f"{model} is not in the concepts"


def about(method) -> str:
    """What the page says of a method, or of the one that it is another name for."""
    names = [
        name for name, other in METHODS.items() if (other.module, other.function) == (method.module, method.function)
    ]
    part = section(POLICY, "## Method")
    begin = part.index(f"**`{names[0]}`**")
    others = [part.find(f"\n**`{name}`**", begin + 1) for name in METHODS]
    return part[begin : min([end for end in others if end > 0], default=len(part))]


def test_every_method_and_option_is_described():
    for method in METHODS.values():
        assert f"**`{method.name}`**" in section(POLICY, "## Method")
        part = about(method)
        for option, allowed in method.options.items():
            line = re.search(rf"^\| `{option}` \|.*$", part, re.MULTILINE)
            assert line, f"{method.name} has no line for its option '{option}'"
            words = [f"`{word}`" for word in allowed] if isinstance(allowed, tuple) else [str(allowed)]
            assert all(word in line[0] for word in words), option


def test_every_default_of_a_method_is_stated():
    import inspect

    for method in METHODS.values():
        part = about(method)
        given = inspect.signature(method.load()).parameters
        for option in method.options:
            line = re.search(rf"^\| `{option}` \|.*$", part, re.MULTILINE)
            default = given[option].default
            if isinstance(method.options[option], ColumnName):
                assert "| required |" in line[0]
                continue
            assert f"| `{default:g}` |" in line[0] if isinstance(default, float) else f"| `{default}` |" in line[0]


def test_every_loss_measure_is_named():
    assert all(f"`{name}`" in RELEASE for name in PUBLISHED)


def walk(command: Any, path: str = "sudare") -> list[tuple[str, Any]]:
    """Return every command with the words that call it."""
    below = getattr(command, "commands", {})
    return [(path, command), *(pair for name, sub in below.items() for pair in walk(sub, f"{path} {name}"))]


def test_every_command_and_option_is_described():
    commands = walk(typer.main.get_command(app))
    assert len(commands) > 4
    for path, command in commands:
        if getattr(command, "commands", None):
            part = CLI
        else:
            part = section(CLI, f"## {path}")
            assert part, f"docs/cli.md has no section '{path}'"
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    assert f"`{option}`" in part, f"{path} {option}"


def test_every_key_of_a_certificate_is_described():
    certificate = anonymize(datasets.adult("test"), datasets.adult_policy()).certificate
    names = {*certificate, *certificate["guarantees"][0], *certificate["seconds"]}
    sets = anonymize(datasets.diabetes(), datasets.diabetes_policy()).certificate["item_sets"]
    names |= set(sets["drugs"])
    assert [name for name in names if f"`{name}`" not in RELEASE] == []


def test_every_room_is_on_the_map():
    rooms = section(INSIDE, "## Rooms")
    source = ROOT / "src" / "sudare"
    there = [path.name + "/" * path.is_dir() for path in source.iterdir() if not path.name.startswith("__")]
    there = [name for name in there if name.endswith((".py", "/"))]
    assert [name for name in there if f"`{name}`" not in rooms] == []
    mapped = re.findall(r"^\| `([a-z_]+(?:/|\.py))`", rooms, re.MULTILINE)
    assert [name for name in mapped if not (source / name).exists()] == []


def test_every_dependency_has_a_reason():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8")
    wanted = [*project["project"]["dependencies"]]
    for name, extra in project["project"]["optional-dependencies"].items():
        assert f"`sudare[{name}]`" in page
        wanted += [] if name == "all" else extra
    for name in ("test", "check", "docs"):
        wanted += project["dependency-groups"][name]
    assert [line for line in wanted if re.split(r"[<>=\[ ]", line)[0] not in page] == []


def test_public_names_are_mentioned():
    everything = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *DOCS.glob("*.md")])
    for name in ("anonymize", "audit", "load_policy", "parse_cell", "datasets", "SudareError"):
        assert f"sudare.{name}" in everything


def test_no_page_names_a_path_of_a_machine():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]:
        text = prose(page) + "".join(block.text for block in blocks(page))
        assert not re.search(r"(?<![\w.])/(home|work|tmp|root|Users)/", text), page.name
        assert Path(page).read_text(encoding="utf-8").endswith("\n")
