"""Secret keys: 256 random bits, on which pseudonyms and offsets of dates depend.

A policy says where a key is, in an environment variable or in a file, and never what it is. What depends on a key is
HMAC with SHA-256 under it. A key is used for one purpose; for others there are keys derived from it
(:meth:`SecretKey.derived`). The message that makes a derived key begins with a line end. No value does, because normal
texts are trimmed. So no pseudonym is ever a part of a derived key.
"""

from __future__ import annotations

import hmac
import os
import re
import stat
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import PolicyError, Problem, TargetError
from sudare.core.operating_system import FOR_READING, NEW_FILE, name_problems
from sudare.policy.transformation_spec import KeySpec
from sudare.transformations.text_buffers import TextBuffers, text_buffers

SIZE = 32
"""The bytes of a key."""
DIGEST = 32
"""The bytes of a digest."""
MOST = 1 << 16
"""The bytes of a key file, at the most."""
_FINGERPRINT = b"\nsudare key fingerprint"
_PURPOSE = b"\nsudare derived key: "
_HEX = re.compile(r"[0-9A-Fa-f]+")
_DIGITS = 2 * SIZE
_FEWEST_DIGITS = 6
"""Random keys have at least so many different digits, all but one in 10^25."""
_PIECE = 1 << 15
"""The rows that a thread takes at a time."""
_WANTED = "64 hexadecimal digits (256 bits)"
_MAKE = "`sudare key new FILE` makes a key."


class SecretKey:
    """A secret key. Neither ``repr`` nor ``str`` shows it; only pickling does, by which Spark gives it to executors."""

    __slots__ = ("_bytes", "_states")

    def __init__(self, key: bytes) -> None:
        self._bytes = key
        self._states: NDArray[np.uint32] | None = None

    @classmethod
    def random(cls) -> SecretKey:
        """Return a new key, from the randomness of the operating system."""
        return cls(os.urandom(SIZE))

    @classmethod
    def of_hex(cls, text: str) -> SecretKey:
        """Return the key that 64 hexadecimal digits stand for."""
        return cls(bytes.fromhex(text))

    @property
    def hex(self) -> str:
        """The key itself, as it is written to a key file and nowhere else."""
        return self._bytes.hex()

    @property
    def fingerprint(self) -> str:
        """What the key is known by: 8 hexadecimal digits, from which nobody can find the key."""
        return hmac.digest(self._bytes, _FINGERPRINT, "sha256").hex()[:8]

    def derived(self, purpose: str) -> SecretKey:
        """Return the key for another purpose; one does not tell anything about the other."""
        return SecretKey(hmac.digest(self._bytes, _PURPOSE + purpose.encode(), "sha256"))

    def digests(self, texts: pa.Array) -> NDArray[np.uint8]:
        """Return the digest of each text, a row of 32 bytes; of a null it is zero."""
        buffers = text_buffers(texts)
        found = np.zeros((len(buffers.nulls), DIGEST), np.uint8)

        def digest(first: int, last: int) -> None:
            self.digest_rows(buffers, first, last, found[first:last])

        in_pieces(digest, len(found))
        return found

    def digest_rows(self, buffers: TextBuffers, first: int, last: int, result: NDArray[np.uint8]) -> None:
        """Write the digests of some texts into the rows of ``result``, of which there are as many."""
        from sudare.kernels.transformations.hmac_sha256 import digest_rows, key_states

        if self._states is None:
            self._states = key_states(self._bytes)
        digest_rows(self._states, *buffers, first, last, result)

    def __repr__(self) -> str:
        return f"SecretKey(fingerprint={self.fingerprint!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretKey) and hmac.compare_digest(self._bytes, other._bytes)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[SecretKey], tuple[bytes]]:
        return SecretKey, (self._bytes,)


def in_pieces(work: Callable[[int, int], None], count: int) -> None:
    """Call ``work(first, last)`` for pieces of ``count`` rows, on all cores if there are many."""
    pieces = [(first, min(first + _PIECE, count)) for first in range(0, count, _PIECE)]
    if len(pieces) < 2:
        for first, last in pieces:
            work(first, last)
        return
    with ThreadPoolExecutor(max(os.cpu_count() or 1, 1)) as pool:
        for done in [pool.submit(work, first, last) for first, last in pieces]:
            done.result()


def new_key(path: Path) -> str:
    """Make a key, write it to a new file that only its owner can read, and return its fingerprint."""
    if problems := name_problems(path):
        raise TargetError(problems)
    key = SecretKey.random()
    text = f"# a secret key of sudare; fingerprint {key.fingerprint}\n{key.hex}\n"
    try:
        with os.fdopen(os.open(path, NEW_FILE, 0o600), "wb") as file:
            file.write(text.encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        hint = "choose another name: a key is never replaced."
        raise TargetError(Problem(str(path), "exists already.", hint)) from None
    except OSError as error:
        raise TargetError(Problem(str(path), f"cannot be written: {error.strerror}.")) from None
    return key.fingerprint


def load_key(spec: KeySpec, folder: Path, where: str) -> SecretKey:
    """Return the key that a policy names, or raise what is wrong with it; ``folder`` is where the policy is.

    No message shows anything of what was found.
    """
    found = _loaded(spec, folder, where)
    if isinstance(found, Problem):
        raise PolicyError(found)
    return found


def load_keys(specs: Mapping[str, KeySpec], folder: Path) -> dict[str, SecretKey]:
    """Return the keys that a policy names at several places, or raise all that is wrong with them."""
    found = {where: _loaded(spec, folder, where) for where, spec in specs.items()}
    problems = [each for each in found.values() if isinstance(each, Problem)]
    if problems:
        raise PolicyError(problems)
    return {where: each for where, each in found.items() if isinstance(each, SecretKey)}


def _loaded(spec: KeySpec, folder: Path, where: str) -> SecretKey | Problem:
    found = _found(spec, folder, where)
    if isinstance(found, Problem) or spec.fingerprint in (None, found.fingerprint):
        return found
    what = f"is another key than the policy names: its fingerprint is {found.fingerprint}, not {spec.fingerprint}."
    return Problem(where, what, "use the right key; to change it for good, write its fingerprint into the policy.")


def _found(spec: KeySpec, folder: Path, where: str) -> SecretKey | Problem:
    if spec.env is not None:
        given = os.environ.get(spec.env)
        if given is None or not given.strip():
            what = f"the environment variable {spec.env} is {'not set' if given is None else 'empty'}."
            return Problem(where, what, f"export {spec.env}=... with the 64 digits of the key. {_MAKE}")
        return _key_of_text(given, where, f"the environment variable {spec.env}")
    path = folder / str(spec.file)
    text = _text_of_file(path, where)
    return text if isinstance(text, Problem) else _key_of_text(text, where, f"the key file {path}")


def _text_of_file(path: Path, where: str) -> str | Problem:
    """Return the content of a key file that only its owner can read."""
    shown = f"the key file {path}"
    if path.is_dir():
        return Problem(where, f"{shown} is a folder.", "name the file in it.")
    try:
        descriptor = os.open(path, FOR_READING)
    except FileNotFoundError:
        return Problem(where, f"{shown} does not exist.", f"correct the path; it starts at the policy. {_MAKE}")
    except OSError as error:
        return Problem(where, f"{shown} cannot be read: {error.strerror}.", "run sudare as the owner of the key.")
    with os.fdopen(descriptor, "rb", closefd=True) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Problem(where, f"{shown} is not a regular file.", "copy the key to a file of your own.")
        if os.name == "posix" and status.st_mode & 0o077:
            hint = f"chmod 600 {path.name}, and make a new key if others may have seen it."
            return Problem(where, f"{shown} can be read or changed by others.", hint)
        try:
            raw = file.read(MOST + 1)
        except OSError as error:
            return Problem(where, f"{shown} cannot be read: {error.strerror}.", "copy the key to a file of your own.")
    return raw.decode("utf-8-sig", "replace")


def _key_of_text(text: str, where: str, shown: str) -> SecretKey | Problem:
    """Return the key that a text holds: one line of 64 hexadecimal digits, beside comments that begin with #."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if "-----BEGIN" in text:
        return Problem(where, f"{shown} holds a key of another kind, such as one that signs certificates.", _MAKE)
    if len(lines) != 1:
        what = f"{shown} holds {'no key' if not lines else 'more than one line'}; a key is one line of {_WANTED}."
        return Problem(where, what, _MAKE)
    [digits] = lines
    if not _HEX.fullmatch(digits):
        what = f"{shown} holds a text that is no key; a key is one line of {_WANTED}."
        return Problem(where, what, f"passwords are too easy to guess. {_MAKE}")
    if len(digits) != _DIGITS:
        what = f"{shown} holds a key that is too {'short' if len(digits) < _DIGITS else 'long'}; it needs {_WANTED}."
        return Problem(where, what, _MAKE)
    if len(set(digits.lower())) < _FEWEST_DIGITS:
        return Problem(where, f"{shown} holds a key that is not random: it repeats a few digits.", _MAKE)
    return SecretKey.of_hex(digits)
