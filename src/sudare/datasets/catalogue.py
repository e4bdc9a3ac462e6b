"""The model behind the synthetic claims: codes, their frequencies, and their dependence on age and sex.

Everything here is fixed: it does not depend on the seed of a table, so that tables of different seeds are draws from
the same world. Chances are kept as lookup tables: a random number of 16 (or 8) bits is an index, and the cell is what
was drawn. That costs one memory access per draw, and rounds every chance to a multiple of 1/65536 (or 1/256).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.integer]

DISEASES, DRUGS = 1500, 2000
"""How many codes there are."""
CODE_BITS = 11
"""Codes are below two to this power, so that a row and a code share one 32-bit number."""
LAST_YEAR, OLDEST = 2024, 114
SEXES = ("female", "male")
TYPES = ("inpatient", "outpatient", "dental", "pharmacy")
BANDS = (15, 40, 60, 75, 85)
"""Ages at which the next of the six age bands starts."""
LASTING_MOST, PASSING_MOST = 11, 9
"""The most lasting and passing diseases of a claim; together the largest set."""

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ZIPF = 0.95
_CLINIC_SHARE = 0.78
_HOSPITALS = 4000
_LASTING_MEAN = (0.3, 0.9, 2.4, 4.2, 5.6, 6.2)  # by age band
_PASSING_MEAN = (2.8, 3.0, 3.5, 4.1, 4.7, 5.0)
_PASSING_FACTOR = (1.6, 1.0, 0.6, 0.9)  # by claim type
_DRUGS_PER_DISEASE = (2.0, 1.6, 0.5, 2.1)
_OTHER_DRUGS = (3.7, 2.5, 0.6, 2.8)
_TYPE_SHARES = np.array(  # rows: clinics, then hospitals below 100, below 300, and above
    [[0.00, 0.53, 0.16, 0.31], [0.22, 0.72, 0.02, 0.04], [0.32, 0.63, 0.02, 0.03], [0.42, 0.54, 0.03, 0.01]]
)


@dataclass(frozen=True)
class World:
    """The codes and the lookup tables that claims are drawn with."""

    diseases: list[str]
    drugs: list[str]
    born: Whole
    """Year of birth, by 16 bits."""
    band: Whole
    """Age band, by age."""
    female: Whole
    """How many of 65536 patients are women, by age."""
    beds: Whole
    """Beds of the place of care, by 16 bits; 0 is a clinic."""
    size_class: Whole
    """Which row of chances for the claim type applies, by beds."""
    claim_type: Whole
    """Claim type, by size class, age band and 8 bits."""
    month: Whole
    """Month of care, by 16 bits."""
    days: Whole
    """Days of each month, from 1 (January 2023) to 24 (December 2024)."""
    lasting_count: Whole
    """How many lasting diseases a patient has, by age band and 8 bits."""
    passing_count: Whole
    """How many passing diseases a claim adds, by claim type, age band and 8 bits."""
    lasting: Whole
    """A lasting disease, by age band, sex and 16 bits."""
    passing: Whole
    """A passing disease, by age band, sex and 16 bits."""
    usual_count: Whole
    """How many drugs are given for a disease, by claim type and 8 bits."""
    usual: Whole
    """A usual drug, by disease and 3 bits."""
    other_count: Whole
    """How many drugs are given for no disease of the claim, by claim type and 8 bits."""
    other: Whole
    """Any drug, by 16 bits."""


@cache
def world() -> World:
    """Return the world; it is made once, in some milliseconds."""
    draw = np.random.Generator(np.random.PCG64(1910))
    diseases = _codes(draw, DISEASES, ["ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "0123456789"])
    drugs = _codes(draw, DRUGS, ["ABCDGHJLMNPRSV", "01", "0123456789", "ABCDEFGHX", "ABCDEFGX", "012345", "0123456789"])
    disease_share, drug_share = _zipf(draw, DISEASES), _zipf(draw, DRUGS)
    lasting, passing = _disease_tables(draw, disease_share)
    beds, size_class = _places(draw)
    ages = np.arange(OLDEST + 1)
    band = np.searchsorted(BANDS, ages, side="right")
    season = np.tile([1.2, 1.15, 1.1, 1.0, 0.95, 0.9, 0.9, 0.85, 0.95, 1.0, 1.05, 1.1], 2)
    types = np.stack([_older_stay(_TYPE_SHARES, number) for number in range(len(BANDS) + 1)], axis=1)
    passing_mean = np.outer(_PASSING_FACTOR, _PASSING_MEAN)
    return World(
        diseases=diseases,
        drugs=drugs,
        born=(LAST_YEAR - _lookup(_pyramid(ages))).astype(np.int16),
        band=band.astype(np.uint8),
        female=np.rint(65536 * (0.487 + 0.22 / (1 + np.exp((80 - ages) / 8)))).astype(np.uint32),
        beds=beds,
        size_class=size_class,
        claim_type=_lookup(types, 256).astype(np.uint8),
        month=(1 + _lookup(season)).astype(np.int16),
        days=np.array([0, *_DAYS, *_DAYS[:1], 29, *_DAYS[2:]], np.uint32),
        lasting_count=_counts(np.array(_LASTING_MEAN), 0, LASTING_MOST),
        passing_count=_counts(passing_mean, 1, PASSING_MOST),
        lasting=lasting,
        passing=passing,
        usual_count=_counts(np.array(_DRUGS_PER_DISEASE), 0, 5),
        usual=_usual(draw, drug_share),
        other_count=_counts(np.array(_OTHER_DRUGS), 0, 10),
        other=_lookup(drug_share).astype(np.uint16),
    )


def _lookup(chances: npt.ArrayLike, size: int = 65536) -> Whole:
    """Return, for each row of chances, a table in which an outcome fills a share of the cells equal to its chance."""
    rows = np.atleast_2d(np.asarray(chances, np.float64))
    flat = rows.reshape(-1, rows.shape[-1])
    tables = []
    for row in flat:
        edges = np.rint(np.cumsum(row) / row.sum() * size).astype(np.int64)
        tables.append(np.repeat(np.arange(row.size), np.diff(edges, prepend=0)))
    shape = np.shape(chances)[:-1]
    return np.stack(tables).reshape(*shape, size)


def _counts(means: Numbers, least: int, most: int) -> Whole:
    """Return tables of 256 counts each: Poisson above the least, nothing above the most."""
    numbers = np.arange(most - least + 1)
    logs = np.cumsum(np.log(np.maximum(numbers, 1)))
    rate = np.maximum(means - least, 0.1)[..., None]
    table = _lookup(np.exp(numbers * np.log(rate) - rate - logs), 256)
    return (table + least).astype(np.uint8)


def _zipf(draw: np.random.Generator, size: int) -> Numbers:
    """Return Zipf-like shares in a random order, so that the alphabetical order of codes does not show their rank."""
    rank = np.argsort(draw.random(size)) + 1
    share = rank.astype(np.float64) ** -_ZIPF
    return np.asarray(share / share.sum())


def _codes(draw: np.random.Generator, size: int, alphabets: list[str]) -> list[str]:
    """Return so many different codes in alphabetical order, with one letter of each alphabet."""
    found: set[str] = set()
    while len(found) < size:
        places = draw.random(len(alphabets))
        found.add("".join(letters[int(at * len(letters))] for letters, at in zip(alphabets, places, strict=True)))
    return sorted(found)


def _pyramid(ages: Whole) -> Numbers:
    """Return the share of each age among patients: fewer young than middle-aged, and few above ninety."""
    grown = 0.75 + 0.5 * np.exp(-(((ages - 58) / 24) ** 2)) + 0.35 * np.exp(-ages / 3)
    return np.asarray(grown / (1 + np.exp((ages - 84) / 5.5)))


def _disease_tables(draw: np.random.Generator, share: Numbers) -> tuple[Whole, Whole]:
    """Return the tables of lasting and of passing diseases, for each age band and sex."""
    lasts = draw.random(DISEASES) < 0.4
    kind, only = draw.random(DISEASES), draw.random(DISEASES)
    middle = np.array([7, 28, 50, 67, 80, 90])[:, None]
    risen = np.where(lasts, 0.05 + (middle / 70) ** 2, np.where(kind < 0.6, 1.0, 0.3 + middle / 60))
    by_age = np.where(~lasts & (kind > 0.85), 3 * np.exp(-middle / 12) + 0.02, risen)  # a childhood disease
    by_sex = np.stack([np.where(only < 0.06, 0.0, 1.0), np.where(only > 0.9, 0.0, 1.0)])  # men's 6 %, women's 10 %
    chances = share * by_age[:, None, :] * by_sex[None, :, :]
    return _lookup(chances * lasts).astype(np.uint16), _lookup(chances * ~lasts).astype(np.uint16)


def _places(draw: np.random.Generator) -> tuple[Whole, Whole]:
    """Return the table of beds, and the size class of each number of beds."""
    sizes = np.concatenate([np.arange(20, 200, 2), np.arange(200, 600, 10), np.arange(600, 1201, 30)])
    radius, turn = np.sqrt(-2 * np.log(1 - draw.random(_HOSPITALS))), np.cos(2 * np.pi * draw.random(_HOSPITALS))
    wanted = np.clip(140 * np.exp(0.85 * radius * turn), 20, 1200)
    nearest = np.searchsorted((sizes[1:] + sizes[:-1]) / 2, wanted)
    care = np.bincount(nearest, weights=sizes[nearest] ** 1.1, minlength=sizes.size)
    shares = np.concatenate([[_CLINIC_SHARE], (1 - _CLINIC_SHARE) * care / care.sum()])
    beds = np.concatenate([[0], sizes]).astype(np.int16)
    size_class = np.searchsorted([1, 100, 300], np.arange(1201), side="right").astype(np.uint8)
    return beds[_lookup(shares)], size_class


def _older_stay(shares: Numbers, band: int) -> Numbers:
    """Return the chances of claim types in an age band: the older, the more often a hospital keeps a patient."""
    return np.asarray(shares * np.array([0.5 + 0.3 * band, 1.0, 1.0 - 0.1 * band, 0.7 + 0.1 * band]))


def _usual(draw: np.random.Generator, share: Numbers) -> Whole:
    """Return the usual drugs of each disease: two to five, the first in most of the eight places."""
    found = np.searchsorted(np.cumsum(share), draw.random((DISEASES, 5)) * share.sum() * (1 - 1e-9))
    many = (2 + 4 * draw.random(DISEASES)).astype(np.int64)[:, None]
    place = np.array([0, 0, 0, 1, 1, 2, 3, 4])[None, :]
    return np.take_along_axis(found, place % many, axis=1).astype(np.uint16)
