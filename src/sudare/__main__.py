"""Run the command line as ``python -m sudare``."""

from sudare.cli import main

main()
