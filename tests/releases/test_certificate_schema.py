"""The certificate as a type and as a schema: what every method writes fits both, and what is broken does not."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest

import sudare
from sudare.methods import METHODS
from sudare.releases.certificate import Certificate
from sudare.releases.certificate_schema import schema, text

FILE = Path(__file__).resolve().parents[2] / "docs" / "certificate.schema.json"
CHECK = jsonschema.Draft202012Validator(json.loads(FILE.read_text(encoding="utf-8")))
DIVERSE = {"model": "l-diversity", "l": 2, "column": "ill"}
OPTIONS = {
    "tds": [{"target": "ill"}, {"target": "ill", "search": "beam", "stop": "least"}],
    "dummies": [{}, {"frequencies": "observed"}],
    "pram": [{}, {"kind": "invariant"}, {"strata": ["sex"]}, {"joint": [["age", "ill"]]}],
    "full-domain": [{}, {"loss": "gcp"}],
}
WAYS = [(name, options) for name in METHODS for options in OPTIONS.get(name, [{}])]


def table() -> pa.Table:
    """Sixty people; some are there twice."""
    return pa.table(
        {
            "who": [f"p{row % 50}" for row in range(60)],
            "age": [20 + row % 7 for row in range(60)],
            "sex": ["f" if row % 2 else "m" for row in range(60)],
            "ill": [["flu", "cold", "rash", "burn"][row % 50 * 7 % 4] for row in range(60)],
        }
    )


def made(name: str, options: dict, **more) -> sudare.Release:
    entry = METHODS[name]
    require = [{"model": "k-anonymity", "k": 3}, DIVERSE]
    if entry.leaves_quasi:
        require = [{"model": "pk-anonymity", "k": 2}] if entry.perturbs else [DIVERSE]
    columns = {
        "who": {"role": "subject"},
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    }
    policy = {
        "columns": columns,
        "require": require,
        "method": {"name": name, **options},
        "about": {"purpose": "a test"},
    }
    return sudare.anonymize(table(), policy, **more)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> dict:
    """The certificate of a signed release, from its file."""
    folder = tmp_path_factory.mktemp("signed")
    sudare.new_signing_key(folder / "office.key", name="Data office")
    made("top-down", {}, out=folder / "release.csv", sign=folder / "office.key")
    return json.loads((folder / "release.csv.sudare.json").read_text(encoding="utf-8"))


def test_the_file_is_what_the_code_makes():
    assert FILE.read_text(encoding="utf-8") == text()  # python -m sudare.releases.certificate_schema
    CHECK.check_schema(schema())


@pytest.mark.parametrize(("name", "options"), WAYS, ids=lambda part: part if isinstance(part, str) else "-".join(part))
def test_certificates_of_every_method_fit(name, options, tmp_path):
    release = made(name, options, out=tmp_path / "release.parquet")
    CHECK.validate(json.loads((tmp_path / "release.parquet.sudare.json").read_text(encoding="utf-8")))
    CHECK.validate(release.certificate)
    known = schema()["properties"]
    for part in ("search", "mechanism"):
        assert set(release.certificate[part]) <= set(known[part]["properties"])
    assert Certificate.from_dict(release.certificate).to_dict() == release.certificate
    assert list(Certificate.from_dict(release.certificate).to_dict()) == list(release.certificate)


@pytest.mark.parametrize("name", ["full-domain", "anatomy", "pram"])
def test_certificates_of_tables_in_memory_fit(name):
    CHECK.validate(json.loads(json.dumps(made(name, {}).certificate)))


def test_certificates_of_plans_fit():
    plan = made("full-domain", {}).plan
    CHECK.validate(sudare.apply(plan, table()).certificate)


def test_a_signed_certificate_fits_and_comes_back_whole(certificate):
    CHECK.validate(certificate)
    again = Certificate.from_dict(certificate)
    assert again.signature["who"] == "Data office"
    assert again.to_dict() == certificate


def test_every_key_is_described(certificate):
    def undescribed(part, place):
        for name, own in part.get("properties", {}).items():
            if "description" not in own and (*place, name) != ("method", "name"):
                yield (*place, name)
            yield from undescribed(own, (*place, name))
            yield from undescribed(own.get("items", {}), (*place, name))

    assert list(undescribed(schema(), ())) == []
    page = (FILE.parent / "release.md").read_text(encoding="utf-8")
    assert FILE.name in page
    assert [name for name in schema()["properties"] if f"| `{name}` |" not in page] == []


BROKEN = {
    "a version that is not known": lambda one: one.update(certificate=2),
    "no promises": lambda one: one.pop("guarantees"),
    "a key that nobody knows": lambda one: one.update(more=1),
    "records in words": lambda one: one.update(rows_in="sixty"),
    "less than nothing": lambda one: one.update(suppressed=-1),
    "a loss in words": lambda one: one["loss"].update(gcp="little"),
    "a promise that may hold": lambda one: one["guarantees"][0].update(holds="perhaps"),
    "a promise without a model": lambda one: one["guarantees"][0].pop("model"),
    "a warning without words": lambda one: one["warnings"].append({"kind": "odd"}),
    "no method": lambda one: one["method"].pop("name"),
    "columns without roles": lambda one: one.update(columns=["age"]),
    "notes that are no list": lambda one: one["search"].update(notes="odd"),
    "hidden columns that are none": lambda one: one["mechanism"].update(columns=["ill"]),
    "half a digest": lambda one: one.update(release_sha256="abc"),
    "half a signature": lambda one: one["signature"].pop("value"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_does_not_fit(certificate, change):
    broken = copy.deepcopy(certificate)
    change(broken)
    assert not CHECK.is_valid(broken)


def test_an_older_certificate_is_read_with_defaults():
    found = Certificate.from_dict({"certificate": 1, "method": {"name": "pram"}, "mechanism": None, "warnings": "odd"})
    assert (found.rows_in, found.warnings, found.guarantees, found.recoding) == (0, (), (), "drawn")
    assert not found.mechanism and not found.search and found.mechanism.columns == {}
    assert Certificate.from_dict({"method": {"name": "of another version"}}).recoding == "classes"
