"""What holds for all tests: none may fail because the machine was busy, and several processes share them evenly."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("sudare", deadline=None)
settings.load_profile("sudare")


FEW = 20
"""Examples of a property that are never made fewer."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try half of the examples that properties ask for; ``SUDARE_EXAMPLES=all``, as in ``make soak``, tries all."""
    if os.environ.get("SUDARE_EXAMPLES") == "all":
        return
    for function in {function for item in items if (function := getattr(item, "function", None)) is not None}:
        asked = getattr(function, "_hypothesis_internal_use_settings", None)
        if asked is not None and asked.max_examples > FEW:
            fewer = settings(asked, max_examples=max(asked.max_examples // 2, FEW))
            function._hypothesis_internal_use_settings = fewer


def pytest_collection_finish() -> None:
    """Keep thousands of collected tests out of every search for unused objects, of which there are many."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let what was collected go."""
    gc.unfreeze()


SPARK = "tests/engines/test_spark_"
"""Files that begin like this go to one process, one after the other: a session of Spark takes long to start, and longer
until Java has compiled what it runs."""

FIRST = (
    "tests/conformance/test_methods.py",  # compiles nearly everything, which others then find compiled
    "tests/docs/test_running.py",
    SPARK,
    "tests/cli/test_killed.py",
    "tests/properties/test_releases.py",
    "tests/properties/test_losses.py",
    "tests/engines/test_injection.py",
    "tests/engines/test_audit.py",
    "tests/engines/test_release.py",
    "tests/engines/test_faults.py",
    "tests/cli/test_item_set_memory.py",
    "tests/policy/test_effects.py",
    "tests/estimates/test_run.py",
)
"""What takes longest begins first, so that no process works on it when the others have nothing left to do."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, as ``--dist loadfile`` does, in the order of ``FIRST``; then those with most tests."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return SPARK if file.startswith(SPARK) else file

        def _assign_work_unit(self, node: Any) -> None:
            heavy = next((scope for scope in FIRST if scope in self.workqueue), None)
            if heavy is not None:
                self.workqueue.move_to_end(heavy, last=False)
            super()._assign_work_unit(node)

    return Scheduling(config, log)
