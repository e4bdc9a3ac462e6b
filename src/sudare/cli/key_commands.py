"""The commands that make keys."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.runner import reporting, say
from sudare.cli.shared_options import JsonOption

key_app = typer.Typer(help="Keys that sign certificates.", no_args_is_help=True)


@key_app.command("sign-new")
def key_sign_new(
    file: Annotated[Path, typer.Argument(help="Where to write the private key; the public one is FILE.pub.")],
    name: Annotated[str, typer.Option("--name", help="Whose key it is: a person, or an office.")],
    as_json: JsonOption = False,
) -> None:
    """Make a key pair to sign certificates with; SUDARE_KEY_PASSPHRASE, if set, encrypts the private key."""
    with reporting(as_json):
        from sudare import api
        from sudare.releases.signatures import PASSPHRASE

        found = api.new_signing_key(file, name=name, passphrase=os.environ.get(PASSPHRASE))
        public = file.with_name(file.name + ".pub")
        if as_json:
            say(json.dumps({"key": str(file), "public": str(public), "fingerprint": found}, ensure_ascii=False))
        else:
            say(f"{file}: a private key. Keep it to yourself: whoever has it signs in your name.")
            say(f"{public}: the public key, for those who audit. Fingerprint {found}")
