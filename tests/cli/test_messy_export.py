"""A messy export of a German hospital: from the file to the report, with the two edits that messages ask for."""

from __future__ import annotations

import csv
import datetime
import random
import subprocess
import sys

import pytest
import yaml

ROWS = 2000
NAMES = ["Müller", "Schäfer", "Weiß", "Jäger", "Köhler", "Schmidt"]
FIRST = ["Jürgen", "Änne", "Björn", "Käthe", "Uwe"]
HEADER = [
    "Fallnr", "Name", "Vorname", "Telefon", "Geburtsdatum", "Geschlecht", "PLZ", "Größe", "Gewicht", "Kosten",
    "Aufnahme", "Diagnose", "Raucher", "Bemerkung", "Bemerkung",
]  # fmt: skip
NOT_NUMBERS = {17: "nicht messbar", 400: "unklar", 1201: "unklar"}


def export() -> bytes:
    """Return the file: semicolons, decimal commas, German dates, latin-1, trailing blanks, a title, empty lines."""
    draw = random.Random(7)
    lines = ["Export Klinikum; Stand 01.02.2025", ";".join(HEADER) + ";"]
    for number in range(1, ROWS + 1):
        born = datetime.date(1930, 1, 1) + datetime.timedelta(days=draw.randrange(30_000))
        came = datetime.date(2024, 1, 1) + datetime.timedelta(days=draw.randrange(366))
        weight = NOT_NUMBERS.get(number) or f"{draw.uniform(45, 120):.1f}".replace(".", ",")
        costs = f"{draw.uniform(200, 90_000):,.2f}".translate(str.maketrans(",.", ".,"))
        long = draw.random() < 0.05
        cells = [
            f"{100_000 + number}",
            draw.choice(NAMES),
            draw.choice(FIRST),
            f"0{draw.randrange(151, 180)} {draw.randrange(1_000_000, 9_999_999)}",
            f"{born:%d.%m.%Y}",
            draw.choice(["m", "w", "m ", "M", "W"]),
            f"{draw.choice([10115, 80331, 50667, 20095]) + draw.randrange(60)}",
            f"{draw.randrange(150, 200)}",
            weight,
            costs,
            f"{came:%d.%m.%Y}",
            draw.choice(["I21.0", "E11.9", "J44.1", "C50.9", "I21.4", "E11.2"]) + draw.choice(["", " "]),
            draw.choice(["ja", "nein", "Ja", "k.A."]),
            '"klagt über Schmerzen;\nund schläft schlecht"' if long else "Verlauf bei Aufnahme und Entlassung gut",
            "",
        ]
        lines.append(";".join(cells) + ";")
        if number % 500 == 0:
            lines += [";" * len(HEADER), ""]
    return ("\r\n".join(lines) + "\r\n").encode("latin-1")


def sudare(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", "sudare", *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    told = done.stdout + done.stderr
    assert "Traceback" not in told
    assert not any(secret in told for secret in (*NAMES, *FIRST, "nicht messbar", "unklar", "Schmerzen"))
    return done.returncode, told


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("Klinikum Süd")


def test_the_whole_way(folder):
    source = folder / "export.csv"
    source.write_bytes(export())

    code, told = sudare(folder, "init", "export.csv", "--out", "policy.yaml")
    assert code == 2
    assert "columns 14 and 15 have the same name, 'Bemerkung'. Hint: give each column a different name" in told
    source.write_bytes(source.read_bytes().replace(b"Bemerkung;Bemerkung;", b"Bemerkung;Notiz;"))  # the first edit

    assert sudare(folder, "init", "export.csv", "--out", "policy.yaml")[0] == 0
    text = (folder / "policy.yaml").read_text(encoding="utf-8")
    draft = yaml.safe_load(text)
    assert draft["source"] == {
        "encoding": "cp1252",
        "skip_rows": 1,
        "decimal": ",",
        "thousands": ".",
        "dates": {"Geburtsdatum": "dd.mm.yyyy", "Aufnahme": "dd.mm.yyyy"},
        "trim": True,
        "case": {"Geschlecht": "upper", "Raucher": "lower"},
        "missing": ["", "k.a."],
    }
    roles = {name: spec["role"] for name, spec in draft["columns"].items()}
    for name in ("Fallnr", "Name", "Vorname", "Telefon", "Bemerkung", "Notiz"):
        assert roles[name] == "identifier", name
    assert roles["Diagnose"] == "sensitive"
    assert {roles[name] for name in ("Geburtsdatum", "Geschlecht", "PLZ", "Größe", "Gewicht", "Aufnahme")} == {"quasi"}

    run = ("anonymize", "export.csv", "--policy", "policy.yaml", "--out", "release.csv")
    code, told = sudare(folder, *run)
    assert code == 2
    assert "column 'Gewicht': 3 of 2000 cells are not numbers or dates (records 17, 400 and 1201)." in told
    assert "source: {missing: {'Gewicht': [...]}}" in told
    listed = 'missing: {"*": ["", "k.a."], Gewicht: ["nicht messbar", "unklar"]}'
    (folder / "policy.yaml").write_text(text.replace('missing: ["", "k.a."]', listed), encoding="utf-8")  # the second

    assert sudare(folder, *run)[0] == 0
    assert sudare(folder, "audit", "release.csv", "--policy", "policy.yaml")[0] == 0
    code, told = sudare(
        folder, "report", "release.csv", "--data", "export.csv", "--policy", "policy.yaml", "--out", "report.html"
    )
    assert code == 0
    released = (folder / "release.csv").read_text(encoding="utf-8")
    for secret in (*NAMES, *FIRST, "Schmerzen", "nicht messbar", "100017"):
        assert secret not in released
        assert secret not in (folder / "report.html").read_text(encoding="utf-8")
    rows = list(csv.DictReader(released.splitlines()))
    assert len(rows) == ROWS
    assert {row["Geschlecht"] for row in rows} <= {"M", "W", "{M, W}", "*"}
    assert {row["Diagnose"] for row in rows} == {"I21.0", "E11.9", "J44.1", "C50.9", "I21.4", "E11.2"}


def test_dates_that_can_be_read_in_two_ways_are_a_question(folder):
    """All days are below 13, so nobody can tell days from months; the draft runs, and says what to write."""
    path = folder / "visits.csv"
    path.write_text(
        "age;visit\n" + "".join(f"{30 + row % 5};0{row % 9 + 1}.0{row % 7 + 1}.2024\n" for row in range(90))
    )
    assert sudare(folder, "init", "visits.csv", "--out", "visits.yaml")[0] == 0
    text = (folder / "visits.yaml").read_text()
    assert "# Question: Dates in column 'visit' can be read in 2 ways." in text
    assert "{visit: dd.mm.yyyy} or {visit: mm.dd.yyyy}" in text.replace("\n# ", " ")
    assert "dates:" not in [line.strip() for line in text.splitlines() if not line.startswith("#")]
    run = ("anonymize", "visits.csv", "--policy", "visits.yaml", "--out", "visits-release.csv")
    assert sudare(folder, *run)[0] == 0
