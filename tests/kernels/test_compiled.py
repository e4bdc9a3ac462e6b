"""A compiled kernel is kept until any file that it was made from changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.kernels import class_rows, common_items
from sudare.kernels.compiled import FOLDER, HOME, source_stamp

FILES = {
    "first.py": f"from {HOME}.deep.second import something\nimport numpy\n",
    "deep/second.py": f"from {HOME}.deep import (\n    third,  # which has a comment\n    nothing,\n)\n",
    "deep/third.py": f"from {HOME}.first import everything\n",
    "deep/__init__.py": "",
    "other.py": "",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "matters"), [("first.py", True), ("deep/second.py", True), ("deep/third.py", True), ("other.py", False)]
)
def test_a_change_anywhere_below_counts(folder, changed, matters):
    before = source_stamp(folder / "first.py", folder)
    (folder / changed).write_text(FILES[changed] + "x = 1\n")
    source_stamp.cache_clear()
    assert (source_stamp(folder / "first.py", folder) != before) is matters


def test_kernels_are_kept_under_that_stamp():
    for module in (class_rows, common_items):
        stamp = source_stamp(Path(module.__file__), FOLDER)
        kernels = [one for one in vars(module).values() if getattr(one, "py_func", None)]
        own = [one for one in kernels if one.py_func.__module__ == module.__name__]
        assert {one._cache._cache_file._source_stamp for one in own} == {stamp}
    assert source_stamp(Path(class_rows.__file__), FOLDER) != source_stamp(Path(common_items.__file__), FOLDER)


def test_what_was_compiled_is_found_again():
    kernel = class_rows.count_classes
    kernel(np.zeros(3, np.int32), 1)
    again = type(kernel._cache)(kernel.py_func)
    key = kernel._cache._index_key(kernel.signatures[0], kernel.targetctx.codegen())
    assert again._cache_file.load(key) is not None
