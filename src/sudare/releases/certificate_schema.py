"""The JSON Schema of a certificate, generated from the types and descriptions in the code.

``python -m sudare.releases.certificate_schema`` prints it. ``docs/certificate.schema.json`` holds it, and a test
compares the two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from sudare.releases.certificate import FORMAT, Certificate
from sudare.releases.certificate_parts import Facts

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ADDRESS = f"urn:sudare:certificate:{FORMAT}"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_DIGEST = {"pattern": "^[0-9a-f]{64}$"}
_MORE: dict[str, dict[str, Any]] = {
    "certificate": {"const": FORMAT},
    "rows_in": {"minimum": 0},
    "rows_out": {"minimum": 0},
    "suppressed": {"minimum": 0},
    "classes": {"minimum": 0},
    "method": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
    "columns": {"required": ["quasi"]},
    "source": {"required": ["kind"]},
    "policy_sha256": _DIGEST,
    "release_sha256": _DIGEST,
    "layout": {"required": ["delimiter", "decimal", "encoding", "bom", "numbers"]},
    "signature": {"required": ["algorithm", "key", "who", "time", "value"]},
}
"""What types do not say, by key of a certificate."""
_OPTIONAL = ("layout", "transformations", "signature")


def schema() -> dict[str, Any]:
    """Return the schema of a certificate of this version."""
    head = {"$schema": DIALECT, "$id": ADDRESS, "title": f"Certificate of a release by sudare, version {FORMAT}"}
    return head | _object(Certificate)


def text() -> str:
    """Return the schema as its file has it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _object(kind: Any) -> dict[str, Any]:
    """Return the schema of a class: its fields, or, where keys depend on the method, those that it documents."""
    hints = get_type_hints(kind, include_extras=True)
    if issubclass(kind, Facts):
        keys = {name: _key(name, *get_args(hint)) for name, hint in hints.items() if name != "facts"}
        return {"type": "object", "properties": keys}
    names = [each.name for each in fields(kind)]
    more = _MORE if kind is Certificate else {}
    return {
        "type": "object",
        "properties": {name: _schema(hints[name]) | more.get(name, {}) for name in names},
        "required": [name for name in names if name not in _OPTIONAL],
        "additionalProperties": False,
    }


def _key(name: str, kind: Any, about: str) -> dict[str, Any]:
    """Return the schema of a key that some methods have: it is never null."""
    there = [part for part in get_args(kind) if part is not NoneType] if isinstance(kind, UnionType) else [kind]
    return {"description": about} | _schema(there[0]) | (_DIGEST if name == "second_sha256" else {})


def _schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a type."""
    if get_origin(kind) is Annotated:
        own, about = get_args(kind)
        return {"description": about} | _schema(own)
    if is_dataclass(kind):
        return _object(kind)
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    parts = get_args(kind)
    if isinstance(kind, UnionType):
        [own] = [_schema(part) for part in parts if part is not NoneType]
        return own | {"type": [own["type"], "null"]}
    if get_origin(kind) is Mapping:
        return {"type": "object"} if parts[1] is Any else {"type": "object", "additionalProperties": _schema(parts[1])}
    return {"type": "array", "items": _schema(parts[0])}


if __name__ == "__main__":
    sys.stdout.write(text())
