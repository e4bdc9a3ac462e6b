"""All experiments of the five papers, one script after the other.

    python papers/all.py --data FOLDER                   # measures what is not kept yet, and writes all pages
    python papers/all.py --data FOLDER --folder EMPTY    # everything anew, figures and pages in another folder

FOLDER has the public tables that do not come with sudare, each in a folder: ``diabetes130``, ``transactions`` and
``census-income-kdd`` (see the pages for the files). A run that was stopped goes on where it was. At the end a line for
each script says how long it took, and whether it failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "docs" / "papers"


def commands(data: Path, folder: Path) -> dict[str, list[str]]:
    """Return what each script is given; the longest comes last."""
    given = {
        "pram": [],
        "l_clustering": ["--resume"],
        "classification": ["--resume"],
        "keep_qid": ["--resume", "--census", str(data / "census-income-kdd")],
        "complex_topdown": ["--data", str(data)],
    }
    return {
        name: [sys.executable, str(HERE / f"{name}.py"), *options, "--folder", str(folder)]
        for name, options in given.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the scripts, and end with an error if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the public tables are")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and pages are kept")
    given = parser.parse_args(arguments)
    lines, failed = [], False
    for number, (name, command) in enumerate(commands(given.data, given.folder).items(), start=1):
        print(f"== {number} of 5: {name}", flush=True)
        started = time.perf_counter()
        status = subprocess.run(command, check=False).returncode
        lines.append(f"{name:16} {(time.perf_counter() - started) / 60:6.1f} min{'  failed' if status else ''}")
        failed |= bool(status)
    print("\n".join(lines))
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
