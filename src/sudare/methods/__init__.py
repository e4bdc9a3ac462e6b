"""The methods, each in a file of its own, and the registry of them.

A method is a function ``(table, requirements, *, its options, seed=None, progress=None) -> Recoding``. It only
decides: it knows nothing of files, rendering or reports. ``METHODS`` names them all; the modules load when used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sudare.errors import Problem, did_you_mean
from sudare.table import Recoding


@dataclass(frozen=True)
class Method:
    """An entry of the registry: where the function is, and what its options may be."""

    name: str
    summary: str
    module: str
    function: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def load(self) -> Callable[..., Recoding]:
        """Return the function itself."""
        found: Callable[..., Recoding] = getattr(import_module(f"sudare.methods.{self.module}"), self.function)
        return found

    def problems(self, options: Mapping[str, Any]) -> list[Problem]:
        """Return what is wrong with the values of given options (their names were checked with the policy)."""
        return [
            Problem(
                f"method.{key}",
                f"got {value!r}. Allowed: {', '.join(self.options[key])}.",
                did_you_mean(str(value), self.options[key]),
            )
            for key, value in options.items()
            if key in self.options and value not in self.options[key]
        ]


METHODS: dict[str, Method] = {
    "top-down": Method(
        "top-down",
        "each cluster makes the split that leaves the least loss",
        "top_down",
        "top_down",
        {"split": ("least-loss", "widest")},
    ),
    "mondrian": Method("mondrian", "each cluster is cut at the median of its widest attribute", "mondrian", "mondrian"),
}
