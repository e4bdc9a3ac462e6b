"""The signature of a certificate: who is responsible for it, and when it was signed (Ed25519, RFC 8032).

A key pair is two files: the private key (PKCS #8 in PEM), which only its owner may read, and beside it the public key,
for auditors. Both begin with a line that names the owner.

The signed text is the certificate as canonical JSON (keys sorted, no blanks, ASCII), with the block ``signature``
without its ``value``. So the name and the time cannot be changed either. The audit has its own version of this code
(:mod:`sudare.audits.signatures`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sudare.core.errors import MissingExtraError, ParameterError, Problem, TargetError
from sudare.core.operating_system import NEW_FILE, name_problems

ALGORITHM = "Ed25519"
PASSPHRASE = "SUDARE_KEY_PASSPHRASE"
"""The environment variable with the passphrase of a private key."""
PURPOSE = b"sudare certificate\n"
"""The prefix of the signed text, so that a signature of something else is never one of a certificate."""
_OWNER = re.compile(r"\AKey of: ([^\n]{1,200})\n")
MOST = 1 << 16
"""The bytes of a key file, at the most."""


@dataclass(frozen=True)
class Signer:
    """A private key, and whose it is."""

    who: str
    key: Any = field(repr=False)

    def sign(self, certificate: Mapping[str, Any], *, now: datetime | None = None) -> dict[str, Any]:
        """Return a certificate with a signature."""
        block = {
            "algorithm": ALGORITHM,
            "key": fingerprint(self.key.public_key().public_bytes_raw()),
            "who": self.who,
            "time": utc(now),
        }
        unsigned = {key: value for key, value in certificate.items() if key != "signature"}
        value = self.key.sign(PURPOSE + canonical(unsigned | {"signature": block}))
        return unsigned | {"signature": block | {"value": base64.b64encode(value).decode()}}


def utc(now: datetime | None = None) -> str:
    """Return a time, or the present one, in UTC as certificates write it."""
    return (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def canonical(certificate: Mapping[str, Any]) -> bytes:
    """Return a certificate as the one text that stands for it, however its file is laid out."""
    written = json.dumps(certificate, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return written.encode("ascii")


def fingerprint(public: bytes) -> str:
    """Return what a public key is known by."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


def new_key(path: Path, who: str, passphrase: str | None = None) -> str:
    """Make a key pair, the private key at ``path`` and the public one at ``path.pub``; return its fingerprint.

    With a passphrase the private key is encrypted by it.
    """
    keys, forms = _library()
    who = _name(who)
    public = path.with_name(path.name + ".pub")
    for each in (path, public):
        if problems := name_problems(each):
            raise TargetError(problems)
        if each.exists() or each.is_symlink():
            raise TargetError(Problem(str(each), "exists already.", "choose another name: a key is never replaced."))
    if passphrase is not None and not passphrase:
        raise ParameterError(Problem(PASSPHRASE, "is empty.", "unset it for a key without a passphrase."))
    key = keys.Ed25519PrivateKey.generate()
    lock = forms.BestAvailableEncryption(passphrase.encode()) if passphrase else forms.NoEncryption()
    private = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, lock)
    shown = key.public_key().public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    head = f"Key of: {who}\n".encode()
    _write(path, head + private, 0o600)
    try:
        _write(public, head + shown, 0o644)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return fingerprint(key.public_key().public_bytes_raw())


def load_signer(path: Path) -> Signer:
    """Read a private key, or raise what is wrong with it; nothing of it stands in a message."""
    keys, forms = _library()
    where = str(path)
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ParameterError(Problem(where, "is not a file."))
            raw = file.read(MOST + 1)
            if b"-----BEGIN PUBLIC KEY-----" in raw:
                hint = "sign with the private key; the public key is for `audit --signed-by`."
                raise ParameterError(Problem(where, "is a public key.", hint))
            if os.name == "posix" and status.st_mode & 0o077:
                what = "can be read or written by others, who could then sign as its owner."
                raise ParameterError(Problem(where, what, f"chmod 600 {path.name}, and make a new key if in doubt."))
    except OSError as error:
        raise ParameterError(Problem(where, f"cannot be read: {error.strerror}.")) from None
    text = raw.decode("utf-8", "replace") if len(raw) <= MOST else ""
    owner = _OWNER.match(text)
    body = re.search(r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----.*?-----END \1PRIVATE KEY-----\n?", text, re.DOTALL)
    if owner is None or body is None:
        hint = "`sudare key sign-new` makes a key."
        raise ParameterError(Problem(where, "is not a private key made by sudare.", hint))
    given = os.environ.get(PASSPHRASE)
    locked = "ENCRYPTED" in body.group(1)
    if locked and not given:
        raise ParameterError(Problem(where, "is encrypted.", f"give its passphrase in {PASSPHRASE}."))
    try:
        key = forms.load_pem_private_key(body.group().encode(), (given or "").encode() if locked else None)
    except Exception:  # the library has many, and none may quote the key
        what = "cannot be opened: the passphrase is wrong, or the file is damaged." if locked else "is damaged."
        raise ParameterError(Problem(where, what)) from None
    if not isinstance(key, keys.Ed25519PrivateKey):
        raise ParameterError(Problem(where, f"is not a key of {ALGORITHM}."))
    return Signer(owner.group(1), key)


def _name(who: str) -> str:
    """Return whose key it is, or raise if that cannot stand in one line."""
    name = " ".join(who.split())
    if not name or len(name) > 200 or not name.isprintable():
        raise ParameterError(Problem("name", "must be one line of up to 200 characters with the owner of the key."))
    return name


def _write(path: Path, content: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, NEW_FILE, mode), "wb") as file:
            file.write(content)
    except OSError as error:
        raise TargetError(Problem(str(path), f"cannot be written: {error.strerror}.")) from None


def _library() -> tuple[Any, Any]:
    """Return what PyCA cryptography has for keys and for their forms, or raise."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        what = "signatures need the library cryptography, which is not installed."
        raise MissingExtraError(what, hint="pip install cryptography") from None
    return ed25519, serialization
