"""Digests under a key: the vectors of RFC 4231, and random messages against the library of Python."""

from __future__ import annotations

import copy
import hashlib
import hmac
import pickle
import random

import numpy as np
import pyarrow as pa
import pytest

from sudare.kernels.transformations.hmac_sha256 import _ROUNDS, _START
from sudare.policy import KeySpec, PseudonymSpec
from sudare.transformations.pseudonyms import pseudonyms
from sudare.transformations.secret_keys import SecretKey

RFC_4231 = [
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (b"\xaa" * 20, b"\xdd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    (bytes(range(1, 26)), b"\xcd" * 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    (b"\x0c" * 20, b"Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        b"\xaa" * 131,
        b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
        b"hashed before being used by the HMAC algorithm.",
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ),
]
"""The test cases of the RFC in their order: the key, the data, and the digest, of which case 5 has 128 bits."""


def texts(messages: list[bytes | None]) -> pa.Array:
    """Messages as an array of texts, whether or not they are any."""
    return pa.array(messages, pa.large_binary()).view(pa.large_string())


@pytest.mark.parametrize(("key", "data", "digest"), RFC_4231)
def test_rfc_4231(key, data, digest):
    assert SecretKey(key).digests(texts([data]))[0].tobytes().hex()[: len(digest)] == digest
    spec = PseudonymSpec(key=KeySpec(env="X"), length=len(digest))
    assert pseudonyms(SecretKey(key), spec, texts([b"another", data, None])).to_pylist()[1:] == [digest, None]


def test_the_constants_are_those_of_the_standard():
    """FIPS 180-4 prints them; here are the first and the last."""
    assert [hex(_ROUNDS[0]), hex(_ROUNDS[63])] == ["0x428a2f98", "0xc67178f2"]
    assert [hex(_START[0]), hex(_START[7])] == ["0x6a09e667", "0x5be0cd19"]


def test_messages_of_all_lengths_with_keys_of_all_lengths():
    drawn = random.Random(5)
    messages = [drawn.randbytes(length) for length in (*range(200), 1000, 4095, 4096)]
    for length in (1, 20, 32, 63, 64, 65, 128, 200):
        key = drawn.randbytes(length)
        found = SecretKey(key).digests(texts(messages))
        assert [row.tobytes() for row in found] == [hmac.digest(key, each, "sha256") for each in messages]


def test_parts_of_arrays_and_missing_texts():
    key = bytes(range(32))
    drawn = random.Random(7)
    messages = [None if drawn.random() < 0.2 else drawn.randbytes(drawn.randrange(80)) for _ in range(1000)]
    for first, count in ((0, 1000), (1, 500), (999, 1), (400, 0)):
        found = SecretKey(key).digests(texts(messages).slice(first, count))
        for message, row in zip(messages[first : first + count], found, strict=True):
            assert row.tobytes() == (bytes(32) if message is None else hmac.digest(key, message, "sha256"))


def test_all_types_of_texts_have_the_same_digests():
    words = ["a", None, "\u00e9", "x" * 70]
    found = [
        SecretKey(b"k").digests(pa.array(words, kind)) for kind in (pa.string(), pa.large_string(), pa.string_view())
    ]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    assert SecretKey(b"k").digests(pa.array([], pa.string())).shape == (0, 32)
    assert not SecretKey(b"k").digests(pa.nulls(3, pa.string())).any()


def test_many_texts_are_shared_among_threads():
    """More than one piece, so that several threads write into one array."""
    key = bytes(range(32))
    found = SecretKey(key).digests(pa.array(np.arange(200_000)).cast(pa.large_string()))
    for number in (0, 32_767, 32_768, 65_535, 65_536, 199_999):
        assert found[number].tobytes() == hmac.digest(key, str(number).encode(), "sha256")
    assert len(np.unique(found, axis=0)) == 200_000


def test_a_derived_key_is_another_one_for_each_purpose():
    key = SecretKey(bytes(range(32)))
    derived = [key, key.derived("shift"), key.derived("space:shift"), key.derived("space:a"), key.derived("space:b")]
    assert len({each.hex for each in derived}) == len(derived)
    assert key.derived("shift") == SecretKey(bytes(range(32))).derived("shift")


def test_the_fingerprint_is_a_digest_of_a_constant():
    key = SecretKey(bytes(range(32)))
    assert key.fingerprint == hmac.new(bytes(range(32)), b"\nsudare key fingerprint", hashlib.sha256).hexdigest()[:8]
    assert SecretKey.random().fingerprint != SecretKey.random().fingerprint


def test_nothing_but_a_pickle_shows_a_key():
    key = SecretKey.random()
    key.digests(pa.array(["a"]))
    for shown in (repr(key), str(key), f"{key}", f"{key!r:>5}", repr([key]), repr({"key": key})):
        assert key.hex not in shown
        assert repr(bytes.fromhex(key.hex)) not in shown
        assert key.fingerprint in shown
    assert not hasattr(key, "__dict__")
    assert pickle.loads(pickle.dumps(key)) == copy.deepcopy(key) == key
    assert key != SecretKey.random()
    assert len(bytes.fromhex(key.hex)) == 32
