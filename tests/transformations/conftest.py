"""Transforming single columns, as a policy says, without anything else of a release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sudare.engines import open_table
from sudare.policy import Policy
from sudare.sources.opened_source import read

KEY = "00112233445566778899aabbccddeeff" * 2


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where the key of these tests is."""
    monkeypatch.setenv("SUDARE_TEST_KEY", KEY)
    return {"env": "SUDARE_TEST_KEY"}


def policy_of(columns: dict[str, Any], **more: Any) -> Policy:
    """A policy with these columns beside one quasi-identifier."""
    named = {name: {"role": "insensitive", "transform": found} for name, found in columns.items()}
    given = {"columns": {**named, **more.pop("others", {})}, "require": [{"model": "k-anonymity", "k": 2}], **more}
    given["columns"].setdefault("q", {"role": "quasi"})
    return Policy.parse(given)


@pytest.fixture
def transformed() -> Callable[..., pa.Table]:
    """Transforms columns of a table: ``transformed(table, {"age": {"top": 89}})``."""

    def work(table: pa.Table, columns: dict[str, Any], seed: int | None = 1, **more: Any) -> pa.Table:
        policy = policy_of(columns, **more)
        there = [name for name in policy.columns if name not in table.column_names]
        for name in there:
            table = table.append_column(name, pa.array(["same"] * len(table)))
        source, _ = read(open_table(table).table(), policy, seed=seed)
        return source.table()

    return work
