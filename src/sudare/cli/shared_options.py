"""Words that several commands share, and the policy that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sudare.policy import Policy

DataArgument = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, Parquet or Arrow file, or a table: postgresql://...#t, f.duckdb#t.")
]
PolicyOption = Annotated[Path, typer.Option("--policy", "-p", help="The policy (YAML or JSON).")]
OutsideOption = Annotated[
    bool, typer.Option("--allow-outside", help="Hierarchies may lie outside of the folder of the policy.")
]
OutOption = Annotated[
    str, typer.Option("--out", "-o", help="The release: CSV, Parquet or Arrow, by its ending; or a table, as for DATA.")
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Use about this much, such as 4GiB; files hold the rest.")
]
EngineOption = Annotated[
    str | None, typer.Option("--engine", help="spark: work there; DATA is then Parquet or a table of Spark.")
]
MasterOption = Annotated[
    str | None, typer.Option("--master", help="Where Spark is, such as spark://host:7077; else as it is configured.")
]
SignOption = Annotated[
    Path | None, typer.Option("--sign", help="Sign the certificate with this private key (`sudare key sign-new`).")
]
SignedByOption = Annotated[
    list[Path] | None, typer.Option("--signed-by", help="A public key that has to have signed it; may be repeated.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def given(policy: Path, outside: bool) -> Policy:
    """Return the policy that a command names, checked."""
    from sudare import api

    return api.load_policy(policy, allow_outside=outside)
