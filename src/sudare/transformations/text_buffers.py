"""Texts of Arrow as plain arrays, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class TextBuffers(NamedTuple):
    """Texts as arrays: text ``i`` is ``data[offsets[i]:offsets[i + 1]]``, in UTF-8. The data are read-only."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    nulls: NDArray[np.bool_]


def text_buffers(texts: pa.Array) -> TextBuffers:
    """Return texts as arrays; nothing is copied but which of them are null."""
    texts = texts if pa.types.is_large_string(texts.type) else texts.cast(pa.large_string())
    count = len(texts)
    _, ends, content = texts.buffers()
    offsets = np.zeros(1, np.int64) if not count else np.frombuffer(ends, np.int64)[texts.offset :][: count + 1]
    # always over immutable bytes: for an array that can be written to, kernels would be compiled a second time
    data = np.frombuffer(b"" if content is None or not content.size else content, np.uint8)
    offsets, data = offsets.view(), data.view()
    offsets.flags.writeable = data.flags.writeable = False
    nulls = texts.is_null().to_numpy(zero_copy_only=False) if texts.null_count else np.zeros(count, np.bool_)
    return TextBuffers(offsets, data, np.ascontiguousarray(nulls, np.bool_))


def texts_of_characters(characters: NDArray[np.uint8], nulls: NDArray[np.bool_]) -> pa.Array:
    """Return the rows of characters as texts, all of one length; of ASCII alone."""
    count, length = characters.shape
    if nulls.any():
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(~nulls, dtype=np.int64) * length])
        content, valid = characters[~nulls], pa.array(~nulls).buffers()[1]
    else:
        ends, content, valid = np.arange(count + 1, dtype=np.int64) * length, characters, None
    content = np.ascontiguousarray(content).reshape(-1)
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers, null_count=int(nulls.sum()))
