"""Drawing synthetic claims, a chunk at a time, without a loop over claims.

While a chunk is drawn, a set is a run of 32-bit keys: the claim's place in the chunk in the upper bits, the code in the
lower ones. Sorting the keys of all sets at once brings each set together and its repeats side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sudare.datasets.catalogue import CODE_BITS, LAST_YEAR, SEXES, TYPES, World, world

Array = npt.NDArray[Any]

CHUNK = 1 << 18
"""Claims that are drawn together; memory follows from it, and not from the size of the table."""
_CODE = (1 << CODE_BITS) - 1
_TEXT, _TEXTS = pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int16(), pa.string())


def schema(text: pa.DataType = _TEXT, code: pa.DataType = _TEXTS) -> pa.Schema:
    """Return the columns, with the types that texts and the items of sets are kept in."""
    return pa.schema(
        [
            ("claim", pa.int64()),
            ("patient", pa.int64()),
            ("born", pa.int16()),
            ("sex", text),
            ("month", pa.int16()),
            ("beds", pa.int16()),
            ("claim_type", text),
            ("first_day", pa.int8()),
            ("diseases", pa.list_(code)),
            ("drugs", pa.list_(code)),
        ]
    )


def draw_chunk(number: int, rows: int, child: np.random.SeedSequence) -> pa.RecordBatch:
    """Draw one chunk: its patients, their claims, and the two sets of each claim."""
    here, draw = world(), np.random.Generator(np.random.SFC64(child))
    claims_of = np.cumsum(draw.geometric(0.25, rows))
    patients = int(np.searchsorted(claims_of, rows)) + 1
    claims_of[patients - 1] = rows
    who = np.repeat(np.arange(patients, dtype=np.int32), np.diff(claims_of[:patients], prepend=0))
    draw.shuffle(who)

    born = here.born[_bits16(draw, patients)]
    age = LAST_YEAR - born
    band = here.band[age]
    male = (_bits16(draw, patients) >= here.female[age]).astype(np.uint8)
    group = (band * 2 + male).astype(np.int32)

    beds = here.beds[_bits16(draw, rows)]
    month = here.month[_bits16(draw, rows)]
    first_day = 1 + ((_bits16(draw, rows) * here.days[month]) >> 16)
    row_band = band[who]
    kind = here.claim_type[here.size_class[beds], row_band, _bits8(draw, rows)]

    lasting = _lasting(draw, here, who, band, group)
    passing = _passing(draw, here, here.passing_count[kind, row_band, _bits8(draw, rows)], group[who])
    diseases = _distinct(np.concatenate([lasting, passing]))
    drugs = _distinct(_drugs(draw, here, diseases, kind))
    first = number * CHUNK + 1
    return pa.record_batch(
        [
            pa.array(np.arange(first, first + rows)),
            pa.array(who + np.int64(first)),
            pa.array(born[who]),
            _coded(male[who].astype(np.int8), SEXES),
            pa.array(month),
            pa.array(beds),
            _coded(kind.astype(np.int8), TYPES),
            pa.array(first_day.astype(np.int8)),
            _sets(diseases, rows, here.diseases),
            _sets(drugs, rows, here.drugs),
        ],
        schema=schema(),
    )


def _lasting(draw: np.random.Generator, here: World, who: Array, band: Array, group: Array) -> Array:
    """Draw each patient's lasting diseases, and which of them each claim names (three in four)."""
    many = here.lasting_count[band, _bits8(draw, band.size)]
    ends = np.cumsum(many, dtype=np.int32)
    pool = here.lasting.ravel()[(np.repeat(group, many) << 16) | _bits16(draw, int(ends[-1]))]
    named = many[who]
    claim = np.repeat(np.arange(who.size, dtype=np.int32), named)
    before = np.cumsum(named, dtype=np.int32) - named
    place = np.arange(claim.size, dtype=np.int32) + (ends[who] - named - before)[claim]
    kept = _bits8(draw, claim.size) < 192
    return _keys(claim[kept].astype(np.uint32), pool[place[kept]])


def _passing(draw: np.random.Generator, here: World, many: Array, group: Array) -> Array:
    """Draw the diseases that come with a claim only."""
    claim = np.repeat(np.arange(many.size, dtype=np.uint32), many)
    code = here.passing.ravel()[(np.repeat(group, many) << 16) | _bits16(draw, claim.size)]
    return _keys(claim, code)


def _drugs(draw: np.random.Generator, here: World, diseases: Array, kind: Array) -> Array:
    """Draw the drugs for the diseases of each claim, and others."""
    many = here.usual_count[kind[diseases >> CODE_BITS], _bits8(draw, diseases.size)]
    given = np.repeat(diseases, many)
    usual = here.usual.ravel()[((given & _CODE) << 3) | (_bits8(draw, given.size) & 7)]
    other = here.other_count[kind, _bits8(draw, kind.size)]
    claim = np.repeat(np.arange(kind.size, dtype=np.uint32), other)
    any_drug = here.other[_bits16(draw, claim.size)]
    return np.concatenate([(given & ~np.uint32(_CODE)) | usual, _keys(claim, any_drug)])


def _keys(claim: Array, code: Array) -> Array:
    """Return one number for a claim and a code of its set."""
    return np.asarray((claim << CODE_BITS) | code)


def _distinct(keys: Array) -> Array:
    """Sort keys of claim and code, and drop repeats."""
    keys.sort(kind="stable")  # merges the stretches that are in order of claims already: three times as fast
    first = np.empty(keys.size, bool)
    first[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]


def _sets(keys: Array, rows: int, codes: list[str]) -> pa.ListArray:
    starts = np.searchsorted(keys, np.arange(rows + 1, dtype=np.uint32) << CODE_BITS)
    return pa.ListArray.from_arrays(starts.astype(np.int32), _coded((keys & _CODE).astype(np.int16), codes))


def _coded(indices: Array, texts: tuple[str, ...] | list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()))


def _bits16(draw: np.random.Generator, size: int) -> Array:
    whole = draw.integers(0, 1 << 64, (size + 3) // 4, dtype=np.uint64)
    return whole.view(np.uint16)[:size]


def _bits8(draw: np.random.Generator, size: int) -> Array:
    whole = draw.integers(0, 1 << 64, (size + 7) // 8, dtype=np.uint64)
    return whole.view(np.uint8)[:size]
