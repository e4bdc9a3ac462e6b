"""Names may hold what a terminal obeys; it is shown, and never sent."""

from __future__ import annotations

import json

import pytest

from sudare.cli.terminal import show_release

from .people import POLICY, text

EVIL = "\x1b]0:owned\x07\x1b[31mred\x9b1m\u202edetsurt"
SHOWN = r"\u001b]0:owned\u0007\u001b[31mred\u009b1m\u202edetsurt"
MARKUP = "[red]x[/red]"


def obeyed(said):
    """Return what of a text a terminal would obey."""
    held = set(said) - set("\n\t")
    return [char for char in held if char in "\u202e\x7f" or (ord(char) % 128 < 32 and char < "\xa0")]


def prepared(place, name):
    """Write a table with one more column, and return it with a policy that has two more."""
    header, *lines = text().splitlines()
    data = place.data("\n".join([f"{header},{name}", *(f"{line},1" for line in lines)]) + "\n")
    more = {name: {"role": "insensitive"}, f"{name}y": {"role": "quasi"}}
    return data, {**POLICY, "columns": {**POLICY["columns"], **more}}


@pytest.mark.parametrize(("name", "shown"), [(EVIL, SHOWN), (MARKUP, MARKUP)])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_names_of_columns(place, name, shown, more):
    data, rules = prepared(place, name)
    failed = place.anonymize(data, place.policy(rules), *more, out="release.parquet")
    assert failed.exit_code == 2
    assert not obeyed(failed.output)
    assert shown in failed.stderr
    if more:
        assert name in json.loads(failed.stdout)["error"]["problems"][0]["what"]


def test_names_of_files(place):
    data = place.data(name=f"{EVIL}.csv")
    drafted = place.run("init", data, "--out", place.out / f"{EVIL}.yaml")
    assert drafted.exit_code == 0, drafted.output
    assert not obeyed(drafted.output)
    assert SHOWN in drafted.output
    missing = place.run("audit", place.out / f"{EVIL}.csv", "--policy", place.policy())
    assert missing.exit_code == 2
    assert not obeyed(missing.output)
    assert SHOWN in missing.stderr


def test_labels_of_a_hierarchy(place):
    tree = place.folder / "tree.csv"
    tree.write_text(f"a;{EVIL};*\nb;{EVIL};*\n", encoding="utf-8")
    shown = place.run("hierarchy", "show", tree)
    assert shown.exit_code == 0, shown.output
    assert not obeyed(shown.output)
    assert SHOWN in shown.stdout


def test_tables_line_up_in_japanese(capsys):
    """A letter of Japanese is two columns wide."""
    from sudare.cli.terminal import show_estimates
    from sudare.core.text_tables import text_width

    rows = [
        {"cell": {"性別": sex}, "value": value, "estimate": 10.0, "low": 8.0, "high": 12.5, "share": 0.5,
         "records": 20.0, "few": False}
        for sex in ("女", "male")
        for value in ("糖尿病", "flu")
    ]  # fmt: skip
    found = {"by": ["性別"], "of": "病名", "rows": rows, "few": [], "notes": [], "level": 0.95, "estimator": "counts"}
    show_estimates(found, len(rows))
    table = capsys.readouterr().out.splitlines()[:5]
    assert table[0].split() == ["性別", "病名", "estimate", "low", "high", "share", "records"]
    assert len({text_width(line) for line in table}) == 1


@pytest.mark.parametrize(
    ("method", "facts", "shown"),
    [
        ("l-clustering", {"classes_by": "clusters"}, "  classes: grown clusters\n"),
        (
            "l-clustering",
            {"classes_by": "top-down"},
            "  classes: those of top-down, which lost less than grown clusters\n",
        ),
        ("top-down", {}, None),
    ],
)
def test_the_summary_says_whose_classes_were_taken(place, capsys, method, facts, shown):
    made = place.anonymize(place.data(), place.policy({**POLICY, "method": {"name": method}}), "--json")
    assert made.exit_code == 0, made.output
    certificate = json.loads(made.stdout)
    assert bool(certificate["search"].get("classes_by")) == bool(facts)
    show_release("release.csv", certificate | {"search": facts})
    said = capsys.readouterr().out
    assert "classes: " not in said if shown is None else shown in said
