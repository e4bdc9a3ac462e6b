"""Figures of the papers' scripts, kept in a file as they are found: a run that ends early loses one setting at most."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


class Store:
    """What has been found, and a file (if any) that it is written to each time that something is added."""

    def __init__(self, path: Path | None, found: dict[str, Any]) -> None:
        self.path, self.found = path, found

    def once(self, keys: Sequence[str], make: Callable[[], Any], enough: Callable[[Any], bool] = lambda _: True) -> Any:
        """Return what is kept under some keys, one below the other; it is made if it is not there, or not enough."""
        place = self.found
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        if keys[-1] not in place or not enough(place[keys[-1]]):
            started = time.perf_counter()
            place[keys[-1]] = make()
            print(f"{' / '.join(keys)}: {time.perf_counter() - started:.1f} s", flush=True)
            self.save()
        return place[keys[-1]]

    def save(self) -> None:
        """Write everything to the file."""
        if self.path is not None:
            self.path.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")
