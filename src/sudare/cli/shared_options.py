"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sudare.policy import Policy

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, Excel, Parquet, SPSS and others), or a table: postgresql://...#t, f.duckdb#t.",
    ),
]
PolicyOption = Annotated[Path, typer.Option("--policy", "-p", help="The policy (YAML or JSON).")]
OutsideOption = Annotated[
    bool, typer.Option("--allow-outside", help="Allow hierarchy files outside the folder of the policy.")
]
OutOption = Annotated[
    str,
    typer.Option(
        "--out", "-o", help="The release: a file, its format by its ending (CSV, Parquet, Arrow); or a table."
    ),
]
PlaceOption = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", help="The release, as a file (CSV, Parquet, Arrow) or a table; not needed in a dry run."
    ),
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Use about this much memory, such as 4GiB; files hold the rest.")
]
EngineOption = Annotated[
    str | None, typer.Option("--engine", help="spark: run on Spark; DATA is then Parquet or a Spark table.")
]
MasterOption = Annotated[
    str | None, typer.Option("--master", help="The Spark master, such as spark://host:7077; by default, as configured.")
]
SignOption = Annotated[
    Path | None, typer.Option("--sign", help="Sign the certificate with this private key (`sudare key sign-new`).")
]
SignedByOption = Annotated[
    list[Path] | None,
    typer.Option("--signed-by", help="The public key that must have signed the certificate; may be repeated."),
]
NewKeyOption = Annotated[
    bool, typer.Option("--new-key", help="Allow secret keys that differ from those of the last release.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def given(policy: Path, outside: bool) -> Policy:
    """Return the policy that a command names, checked."""
    from sudare import api

    return api.load_policy(policy, allow_outside=outside)
