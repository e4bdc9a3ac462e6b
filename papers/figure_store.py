"""Figures of the papers' scripts, kept in a file as they are found: a run that ends early loses one setting at most."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any


class Store:
    """What has been found, and a file (if any) that it is written to each time that something is added."""

    def __init__(self, path: Path | None, found: dict[str, Any]) -> None:
        self.path, self.found, self._lock = path, found, Lock()

    def once(self, keys: Sequence[str], make: Callable[[], Any], enough: Callable[[Any], bool] = lambda _: True) -> Any:
        """Return what is kept under some keys, one below the other; it is made if it is not there, or not enough."""
        place = self._place(keys)
        if keys[-1] not in place or not enough(place[keys[-1]]):
            started = time.perf_counter()
            made = make()
            with self._lock:
                place[keys[-1]] = made
                print(f"{' / '.join(keys)}: {time.perf_counter() - started:.1f} s", flush=True)
                self.save()
        return place[keys[-1]]

    def each(self, tasks: Mapping[tuple[str, ...], Callable[[], Any]]) -> None:
        """Make what is not kept of several figures, on all cores; they are kept in the order of the tasks."""
        for keys in tasks:
            self._place(keys)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for made in [pool.submit(partial(self.once, keys, make)) for keys, make in tasks.items()]:
                made.result()
        with self._lock:
            for keys in tasks:
                place = self._place(keys)
                place[keys[-1]] = place.pop(keys[-1])
            self.save()

    def _place(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return where figures with some keys are kept."""
        place = self.found
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        return place

    def save(self) -> None:
        """Write everything to the file."""
        if self.path is not None:
            self.path.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")
