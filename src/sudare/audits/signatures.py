"""Verification of signatures, written separately for the audit from RFC 8032 and docs/release.md.

The signature covers the text ``sudare certificate``, a line end, and the certificate as JSON with sorted keys, without
blanks, in ASCII, in which the block ``signature`` lacks its ``value``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.core.errors import MissingExtraError, ParameterError, Problem

BLOCK = {"algorithm", "key", "who", "time", "value"}
TIME = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ")
LARGEST = 1 << 16
"""The bytes of a key file, at the most."""


@dataclass(frozen=True)
class PublicKey:
    """A key that an auditor trusts: whose it is by its file, and the key itself."""

    who: str
    key: Any = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """What the key is known by."""
        digest = hashlib.sha256(self.key.public_bytes_raw()).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True)
class Signature:
    """What a certificate says of who signed it; ``verified_by`` is whose key proves it, None if none was given."""

    who: str
    time: str
    key: str
    verified_by: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain JSON types."""
        return {
            "who": self.who,
            "time": self.time,
            "key": self.key,
            "verified": self.verified_by is not None,
            "verified_by": self.verified_by,
        }


def load_public(path: str | Path) -> PublicKey:
    """Read a public key, or raise what is wrong with it."""
    where = str(path)
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        what = "signatures need the library cryptography, which is not installed."
        raise MissingExtraError(what, hint="pip install cryptography") from None
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise ParameterError(Problem(where, f"cannot be read: {error.strerror}.")) from None
    text = raw.decode("utf-8", "replace") if len(raw) <= LARGEST else ""
    if "PRIVATE KEY" in text:
        raise ParameterError(Problem(where, "is a private key.", "audit with the public key, whose name ends in .pub."))
    body = re.search(r"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----\n?", text, re.DOTALL)
    owner = re.match(r"Key of: ([^\n]{1,200})\n", text)
    try:
        key = serialization.load_pem_public_key((body.group() if body else "").encode())
    except Exception:  # the library has many
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise ParameterError(
            Problem(where, "is not an Ed25519 public key.", "a public key is a PEM file whose name ends in .pub.")
        )
    return PublicKey(owner.group(1) if owner and owner.group(1).isprintable() else Path(path).name, key)


def look_at(paper: Mapping[str, Any] | None, keys: Sequence[PublicKey]) -> tuple[Signature | None, list[Problem]]:
    """Return who signed a certificate, and what is wrong with that; with ``keys`` one of them has to have."""
    where, hint = "certificate.signature", "ask the maker of the release for a signed certificate."
    if paper is None or "signature" not in paper:
        if not keys:
            return None, []
        what = "there is no certificate" if paper is None else "is missing: the certificate is not signed"
        return None, [Problem(where, f"{what}.", hint)]
    block = paper["signature"]
    if not _is_block(block):
        return None, [Problem(where, "does not have the expected form.")]
    signature = Signature(block["who"], block["time"], block["key"])
    if not keys:
        return signature, []
    trusted = [key for key in keys if key.fingerprint == block["key"]]
    if not trusted:
        return signature, [Problem(where, "was not made with any of the given keys.")]
    for key in trusted:
        if _is_by(key, paper, block):
            return Signature(block["who"], block["time"], block["key"], key.who), []
    return signature, [Problem(where, "is not valid: the certificate was changed after it was signed, or forged.")]


def _is_block(block: Any) -> bool:
    return (
        isinstance(block, Mapping)
        and set(block) == BLOCK
        and all(isinstance(part, str) and len(part) <= 400 and part.isprintable() for part in block.values())
        and block["algorithm"] == "Ed25519"
        and TIME.fullmatch(block["time"]) is not None
    )


def _is_by(key: PublicKey, paper: Mapping[str, Any], block: Mapping[str, str]) -> bool:
    """Whether the signature of a certificate is by a key."""
    from cryptography.exceptions import InvalidSignature

    unsigned = dict(paper) | {"signature": {name: part for name, part in block.items() if name != "value"}}
    try:
        text = json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        key.key.verify(base64.b64decode(block["value"], validate=True), b"sudare certificate\n" + text.encode("ascii"))
    except (InvalidSignature, binascii.Error, ValueError, TypeError):
        return False
    return True
