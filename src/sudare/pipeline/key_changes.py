"""Whether the secret keys of a policy are those of the last release.

With another key all pseudonyms and offsets are others, and nobody can connect the new release with the older ones. That
may be wanted, but mostly somebody has lost a key. So it is refused unless the request asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sudare import engines
from sudare.core.errors import AuditFailedError, PolicyError, Problem
from sudare.engines import Place, Remote
from sudare.pipeline.request import Request
from sudare.releases import PAPER
from sudare.releases.placement import certificate_beside
from sudare.releases.warnings import ReleaseWarning
from sudare.transformations.column_steps import Keys

MOST_PAPERS = 200
"""As many certificates in a folder are looked at, the newest ones."""


def check_keys(request: Request, previous: Mapping[str, Any] | None = None) -> None:
    """Raise if a key is another one than in the last release, unless that is asked for; then there is a warning.

    The last release is the one that this one replaces, or the newest of the same columns in its folder. ``previous`` is
    its certificate, where only an engine can read it.
    """
    given = fingerprints(request)
    if not given:
        return
    last = previous or max(_before(request, given), key=lambda paper: str(paper.get("date", "")), default={})
    noted = _noted(last)
    changed = [place for place, key in noted.items() if given.get(place) not in (None, key)]
    if not changed:
        return
    columns = tuple(dict.fromkeys(column for column, _ in changed))
    named = " and ".join(f"'{name}'" for name in columns)
    if not request.new_key:
        problems = [
            Problem(
                f"columns.{column}.transform.{name}.key",
                f"is another key than that of the last release (its fingerprint is {given[column, name]}, not "
                f"{noted[column, name]}): new pseudonyms and offsets would not go with the old ones.",
                "use the same key; to change it for good: --new-key, in Python new_key=True.",
            )
            for column, name in changed
        ]
        raise PolicyError(problems)
    text = f"The key of {named} is a new one. Pseudonyms and shifted dates do not go with those of older releases."
    request.warnings.append(ReleaseWarning("new-key", text, columns))


def fingerprints(request: Request) -> dict[tuple[str, str], str]:
    """Return the fingerprint of each key that the policy names, by column and transformation."""
    policy = request.policy
    steps = [(name, step) for name, found in policy.transformed.items() for step in found]
    if not any(getattr(step.step, "key", None) is not None for _, step in steps):
        return {}
    keys = Keys.of(policy)
    found = {(name, step.name): keys.fingerprint(step) for name, step in steps}
    return {place: key for place, key in found.items() if key is not None}


def _noted(paper: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return the fingerprints in a certificate, by column and transformation."""
    entries = paper.get("transformations")
    return {
        (str(entry.get("column")), str(entry.get("transformation"))): str(entry["key"])
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and entry.get("key") is not None
    }


def _before(request: Request, given: Collection[tuple[str, str]]) -> Iterator[Mapping[str, Any]]:
    """Yield the certificates of earlier releases that have keys for the same columns and transformations."""
    target = request.target
    if target is None or isinstance(target, Remote):
        return
    if isinstance(target, Place):
        with engines.open_database(target, create=False, dry_run=True) as database:
            paper = database.certificate(target)
        if paper is not None:
            yield paper
        return
    for path in _papers(target.parent):
        try:
            found = certificate_beside(path)
        except AuditFailedError:
            continue  # it is no certificate; what replaces it is checked elsewhere
        if found is not None and set(_noted(found)) & set(given):
            yield found


def _papers(folder: Path) -> list[Path]:
    """Return the releases in a folder that have a certificate, the newest ones."""
    found = [path for path in folder.glob(f"*{PAPER}") if path.is_file()]
    found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [path.with_name(path.name.removesuffix(PAPER)) for path in found[:MOST_PAPERS]]
