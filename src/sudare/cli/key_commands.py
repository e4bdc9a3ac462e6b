"""The command ``key``: key pairs that sign certificates."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.runner import reporting, say
from sudare.cli.shared_options import JsonOption

key_app = typer.Typer(help="Make keys that sign certificates.", no_args_is_help=True)


@key_app.command("sign-new")
def key_sign_new(
    file: Annotated[Path, typer.Argument(help="The file for the private key; the public key goes to FILE.pub.")],
    name: Annotated[str, typer.Option("--name", help="The owner of the key: a person or an office.")],
    as_json: JsonOption = False,
) -> None:
    """Make a key pair that signs certificates. SUDARE_KEY_PASSPHRASE, if set, encrypts the private key."""
    with reporting(as_json):
        from sudare import api
        from sudare.releases.signatures import PASSPHRASE

        found = api.new_signing_key(file, name=name, passphrase=os.environ.get(PASSPHRASE))
        public = file.with_name(file.name + ".pub")
        if as_json:
            say(json.dumps({"key": str(file), "public": str(public), "fingerprint": found}, ensure_ascii=False))
        else:
            say(f"{file}: the private key. Keep it secret: anyone who has this file can sign in your name.")
            say(f"{public}: the public key. Give it to the people who audit your releases. Fingerprint {found}")
