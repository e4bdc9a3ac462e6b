"""Pseudonyms: forms against plain Python, the same ones from every type of column, and the check of them."""

from __future__ import annotations

import base64
import hmac
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.policy import KeySpec, PseudonymSpec
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.pseudonyms import PseudonymCheck, pseudonyms, write_characters
from sudare.transformations.secret_keys import SecretKey

RAW = bytes(range(7, 39))
KEY = SecretKey(RAW)


def spec(form="hex", length=None, space=None):
    return PseudonymSpec(key=KeySpec(env="X"), form=form, length=length, space=space)


def expected(digest, form, characters):
    if form == "hex":
        return digest.hex()[:characters]
    if form == "base32":
        return base64.b32encode(digest).decode().lower().rstrip("=")[:characters]
    return str(int.from_bytes(digest) % 10**characters).zfill(characters)


FORMS = [
    (form, length)
    for form, lengths in (("hex", (5, 16, 17, 64)), ("base32", (4, 13, 51)), ("digits", (7, 9, 18, 19, 20, 76, 77)))
    for length in (None, *lengths)
]


@pytest.mark.parametrize(("form", "length"), FORMS)
def test_forms_against_plain_python(form, length):
    texts = [None, *map(str, range(300)), "a name", "\u00e9\u4e8c", "x" * 200, None]
    made = pseudonyms(KEY, spec(form, length), pa.array(texts))
    made.validate(full=True)
    assert made.type == pa.large_string()
    for text, found in zip(texts, made.to_pylist(), strict=True):
        if text is None:
            assert found is None
        else:
            digest = hmac.digest(RAW, text.encode(), "sha256")
            assert found == expected(digest, form, spec(form, length).characters)


@given(st.binary(min_size=32, max_size=32), st.integers(1, 77))
def test_digits_of_any_digest(digest, characters):
    found = np.empty((1, characters), np.uint8)
    write_characters("digits", np.frombuffer(digest, np.uint8).reshape(1, 32).copy(), found)
    assert found.tobytes().decode() == expected(digest, "digits", characters)


@pytest.mark.parametrize("digest", [bytes(32), b"\xff" * 32, b"\x80" + bytes(31), bytes(31) + b"\x01"])
@pytest.mark.parametrize(("form", "characters"), [("hex", 64), ("base32", 51), ("digits", 77)])
def test_digests_at_the_ends(digest, form, characters):
    found = np.empty((1, characters), np.uint8)
    write_characters(form, np.frombuffer(digest, np.uint8).reshape(1, 32).copy(), found)
    assert found.tobytes().decode() == expected(digest, form, characters)


def test_a_space_is_a_key_of_its_own():
    texts = pa.array(["1", "2", None])
    found = {space: tuple(pseudonyms(KEY, spec(space=space), texts).to_pylist()) for space in (None, "a", "b", "shift")}
    assert len(set(found.values())) == 4
    derived = pseudonyms(KEY.derived("space:a"), spec(), texts).to_pylist()
    assert list(found["a"]) == derived


def test_columns_of_all_types_have_the_same_pseudonyms():
    columns = [
        pa.array(["1", " 2.0", "03", None, "12.50"]),
        pa.array(["1.00", "2", "03", "", "12.5"]).dictionary_encode(),
        pa.array(["1.", "2.000 ", "03 ", None, "012.5"[1:]], pa.string_view()),
    ]
    found = [pseudonyms(KEY, spec(), normal_texts(cells)).to_pylist() for cells in columns]
    assert found[0] == found[1] == found[2]
    assert found[0][3] is None
    assert len(set(found[0])) == 5
    numbers = [
        pa.array([1, 2], pa.int8()),
        pa.array([1, 2], pa.uint64()),
        pa.array([1.0, 2.0]),
        pa.array([Decimal("1.00"), Decimal("2.00")]),
        pa.array([1.0, 2.0], pa.float32()),
    ]
    for cells in numbers:
        assert pseudonyms(KEY, spec(), normal_texts(cells)).to_pylist() == found[0][:2]


def checked(form, length, texts, batches=3, space=None):
    about, check = spec(form, length, space), None
    check = PseudonymCheck(about)
    cells = pa.array(texts, pa.large_string())
    made = pseudonyms(KEY, about, cells)
    step = max(len(texts) // batches, 1)
    for first in range(0, len(texts), step):
        check.add(cells.slice(first, step), made.slice(first, step))
    return made.to_pylist(), check.problems("id")


@pytest.mark.parametrize(("form", "length"), [("hex", None), ("hex", 64), ("base32", None), ("digits", None)])
def test_good_pseudonyms_have_no_problems(form, length):
    texts = [*map(str, range(20_000)), None, *map(str, range(100)), "a" * 16, "0" * 20]
    assert checked(form, length, texts)[1] == []
    assert checked(form, length, [None])[1] == []
    assert checked(form, length, [])[1] == []


@pytest.mark.parametrize(("form", "length"), [("hex", 5), ("base32", 4), ("digits", 7)])
def test_values_with_the_same_pseudonym_are_counted(form, length):
    texts = [f"N{number}" for number in range(20_000)] * 2
    made, problems = checked(form, length, texts)
    same = _shared(dict(zip(texts, made, strict=True)))
    assert same > 0
    [problem] = problems
    assert problem.what.startswith(f"{same:,} pseudonym")
    assert "longer length" in problem.hint
    assert not any(text in str(problem) for text in made)


@pytest.mark.parametrize(("form", "length"), [("hex", 5), ("hex", 16), ("hex", 17), ("hex", 64), ("base32", 12),
                                              ("base32", 13), ("base32", 51), ("digits", 19), ("digits", 20),
                                              ("digits", 77)])  # fmt: skip
def test_a_pseudonym_that_is_a_value_is_found(form, length):
    """The column holds the pseudonym of one of its values, in a later batch or an earlier one."""
    [pseudonym] = pseudonyms(KEY, spec(form, length), pa.array(["a value"])).to_pylist()
    near = pseudonym[:-1] + ("3" if pseudonym[-1] != "3" else "4")
    assert checked(form, length, ["a value", "another", near, pseudonym.upper() + "A"])[1] == []
    for texts in (["a value", None, pseudonym, near], [pseudonym, pseudonym, "x", "a value"]):
        _, [problem] = checked(form, length, texts)
        assert "1 pseudonym is also a value" in problem.what
        assert pseudonym not in str(problem)


def test_wide_pseudonyms_that_differ_in_any_character_differ_for_the_check():
    """The check keeps numbers and no texts; here they have to tell two pseudonyms apart, wherever these differ."""
    for form, length in (("hex", 17), ("hex", 24), ("base32", 13), ("base32", 20), ("digits", 20), ("digits", 30)):
        check = PseudonymCheck(spec(form, length))
        plain = "2" * length
        varied = [plain[:place] + "3" + plain[place + 1 :] for place in range(length)]
        made = pa.array([plain, *varied])
        check.add(pa.array([f"v{number}" for number in range(length + 1)]), made)
        assert check.problems("id") == []
        check.add(pa.array(["one more"]), pa.array([varied[3]]))
        assert len(check.problems("id")) == 1


def test_many_batches_are_checked_together():
    check, about = PseudonymCheck(spec("digits", 8)), spec("digits", 8)
    seen: dict[str, str] = {}
    for batch in range(4):
        texts = pa.array([f"N{number}" for number in range(250_000 * batch, 250_000 * batch + 300_000)])
        made = pseudonyms(KEY, about, texts)
        check.add(texts, made)
        seen.update(zip(texts.to_pylist(), made.to_pylist(), strict=True))
    assert len(seen) == 1_050_000
    found = check.problems("id")
    assert f"{_shared(seen):,} pseudonyms stand for different values." == found[0].what


def _shared(seen):
    """How many pseudonyms stand for several values."""
    counts = np.unique(list(seen.values()), return_counts=True)[1]
    return int((counts > 1).sum())
