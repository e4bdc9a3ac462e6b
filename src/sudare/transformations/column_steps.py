"""The steps of a policy, ready to be applied: with their keys, their lists and the types of their cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256

import pyarrow as pa

from sudare.core.errors import PolicyError, Problem, SudareError
from sudare.core.randomness import Entropy
from sudare.policy import (
    BandSpec,
    BottomSpec,
    KeySpec,
    MaskSpec,
    NoiseSpec,
    Policy,
    PseudonymSpec,
    RedactSpec,
    ReplaceSpec,
    RoundSpec,
    ShiftSpec,
    ShuffleSpec,
    SwapSpec,
    TopSpec,
    Transformation,
    TruncateSpec,
)
from sudare.transformations.band_labels import Bands
from sudare.transformations.item_cells import OfItems
from sudare.transformations.limits import Limit
from sudare.transformations.masks import Mask, Redaction
from sudare.transformations.noise import Noise
from sudare.transformations.periods import Beginning, Period
from sudare.transformations.pseudonym_step import Pseudonyms
from sudare.transformations.rank_swaps import RankSwap
from sudare.transformations.replacements import Replacement
from sudare.transformations.rounded_numbers import Rounding
from sudare.transformations.samples import Sample
from sudare.transformations.secret_keys import SecretKey, load_keys
from sudare.transformations.shifts import Shift, zone_problems
from sudare.transformations.shuffles import Shuffle
from sudare.transformations.step import Place, Step, is_text

LEAST_BEYOND = 3
"""The people beyond a limit that a share finds, where the policy asks for no k."""


@dataclass(frozen=True)
class Keys:
    """The secret keys of a policy. What a policy names no key for has one that is forgotten with the run."""

    given: Mapping[KeySpec, SecretKey]
    forgotten: SecretKey

    @classmethod
    def of(cls, policy: Policy, seed: int | None = None) -> Keys:
        """Load all keys of a policy, or raise everything that is wrong with them."""
        first: dict[KeySpec, str] = {}  # a key that is wrong is told once, where it is named first
        for name, steps in policy.transformed.items():
            for number, step in enumerate(steps):
                if (spec := getattr(step.step, "key", None)) is not None:
                    first.setdefault(spec, f"{Place(name, number, step.name).where}.key")
        loaded = load_keys({where: spec for spec, where in first.items()}, policy.key_folder)
        found = {spec: loaded[where] for spec, where in first.items()}
        own = SecretKey.random() if seed is None else SecretKey(sha256(b"seed %d" % seed).digest())
        return cls(found, own)

    def key(self, spec: KeySpec | None) -> SecretKey:
        """Return the key that a policy names, or the one that is forgotten."""
        return self.forgotten if spec is None else self.given[spec]

    def fingerprint(self, step: Transformation) -> str | None:
        """Return the fingerprint of the key of a step, if it has one that is kept."""
        spec = getattr(step.step, "key", None)
        return None if spec is None else self.given[spec].fingerprint


def columns_beside(policy: Policy, names: Collection[str]) -> list[str]:
    """Return the columns that the steps of some columns also read, and that the sample goes by."""
    found = [each for name in names if name in policy.transformed for each in _beside(policy, name)]
    if policy.sample is not None and (person := sampled_by(policy)) is not None:
        found.append(person)
    return list(dict.fromkeys(found))


def _beside(policy: Policy, name: str) -> list[str]:
    found: list[str] = []
    for step in policy.transformed[name]:
        spec = step.step
        if isinstance(spec, ShiftSpec):
            found.append(spec.per or str(policy.subject))
        elif isinstance(spec, ShuffleSpec):
            found += spec.within or ()
        elif isinstance(spec, NoiseSpec):
            found += spec.correlated_with or ()
        elif isinstance(spec, TopSpec | BottomSpec) and spec.share is not None and policy.subject is not None:
            found.append(policy.subject)
    return found


def sampled_by(policy: Policy) -> str | None:
    """Return the column of people that a sample goes by, if it is one of people."""
    assert policy.sample is not None
    return None if policy.sample.per == "record" else policy.subject


def sample_of(policy: Policy, keys: Keys, seed: int | None) -> Sample | None:
    """Return the sample that a policy asks for."""
    if policy.sample is None:
        return None
    return Sample(policy.sample.share, sampled_by(policy), keys.forgotten.derived("sample"), Entropy(seed))


def prepared(
    policy: Policy, kinds: Mapping[str, pa.DataType], names: Collection[str], keys: Keys, seed: int | None = None
) -> dict[str, list[Step]]:
    """Return the steps of some columns, whose cells have these types; raise everything that is wrong with them."""
    found: dict[str, list[Step]] = {}
    problems: list[Problem] = []
    entropy = Entropy(seed)
    for name in (each for each in policy.transformed if each in names):
        kind, found[name] = kinds[name], []
        for number, step in enumerate(policy.transformed[name]):
            place = Place(name, number, step.name)
            try:
                made = _step(policy, place, step, kind, keys, entropy)
            except SudareError as error:
                problems += error.problems
                break
            found[name].append(made)
            kind = made.kind(kind)
    shifts = {name: (each, kinds[name]) for name, steps in found.items() for each in steps if isinstance(each, Shift)}
    problems += zone_problems(shifts)
    if problems:
        raise PolicyError(problems)
    return found


def _step(policy: Policy, place: Place, step: Transformation, kind: pa.DataType, keys: Keys, entropy: Entropy) -> Step:
    """Return a step that is ready to be applied to cells of a type."""
    about = policy.columns[place.column]
    made = _of_cells(policy, place, step, kind, keys, entropy)
    sets = about.kind == "items" or pa.types.is_nested(kind)
    if not sets or isinstance(made, Redaction):
        return made
    if pa.types.is_struct(kind) or pa.types.is_map(kind) or pa.types.is_union(kind):
        what = f"{step.name} works with single values and lists of them, and the column holds records of several."
        raise PolicyError(Problem(place.where, what, "take the parts out as columns before, or use redact."))
    if about.kind != "items":  # whoever reads the policy alone, as the audit does, could not know
        where = f"columns.{place.column}.kind"
        raise PolicyError(Problem(where, "the column holds lists, whose items are transformed.", "set kind: items."))
    if not isinstance(made, Pseudonyms | Replacement | Beginning):
        what = f"{step.name} works with single values, and the column holds lists."
        raise PolicyError(Problem(place.where, what, "use pseudonym, replace, truncate with keep, or redact."))
    return OfItems(made, about.separator or ",")


def _of_cells(
    policy: Policy, place: Place, step: Transformation, kind: pa.DataType, keys: Keys, entropy: Entropy
) -> Step:
    spec = step.step
    match spec:
        case PseudonymSpec():
            return Pseudonyms.of(place, spec, keys.key(spec.key))
        case ShiftSpec():
            return Shift(place, spec, keys.key(spec.key), spec.per or str(policy.subject))
        case TopSpec() | BottomSpec():
            return Limit(place, spec, _least(policy), policy.subject)
        case RoundSpec():
            return Rounding(place, spec, entropy)
        case TruncateSpec():
            return Period(place, spec) if spec.to is not None else Beginning(place, spec)
        case BandSpec():
            return Bands(place, spec, is_text(kind))
        case MaskSpec():
            return Mask(place, spec)
        case ReplaceSpec():
            return Replacement.of(place, spec, policy.folder)
        case RedactSpec():
            return Redaction(place)
        case NoiseSpec():
            return Noise(place, spec, entropy, is_text(kind))
        case SwapSpec():
            return RankSwap(place, spec, entropy, policy.columns[place.column].order)
        case ShuffleSpec():
            return Shuffle(place, entropy, tuple(spec.within or ()))


def _least(policy: Policy) -> int:
    """Return how many people are beyond a limit that a share finds: the largest k that the policy asks for."""
    asked = [each for spec in policy.require if isinstance(each := spec.parameters().get("k"), int)]
    return max(asked, default=LEAST_BEYOND)
