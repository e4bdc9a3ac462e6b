"""The command line: thin, over the Python verbs.

Exit codes: 0 done; 1 the policy cannot be met, or the audit failed; 2 bad input or usage. Progress goes to the
standard error, and only if that is a terminal; results go to the standard output.
"""

from __future__ import annotations

from sudare.cli.commands import app
from sudare.cli.runner import run

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    # Windows would otherwise expand * and %...% in what users write: patterns of values, and passwords in addresses
    run(lambda: app(windows_expand_args=False))
