"""The command ``key``: secret keys of pseudonyms and shifted dates, and key pairs that sign certificates."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.runner import reporting, say
from sudare.cli.shared_options import JsonOption

key_app = typer.Typer(
    help="Make secret keys for pseudonyms and shifted dates, and keys that sign certificates.", no_args_is_help=True
)


@key_app.command("new")
def key_new(
    file: Annotated[Path, typer.Argument(help="The file for the key. It may not exist already.")],
    as_json: JsonOption = False,
) -> None:
    """Make a secret key of 256 bits for pseudonyms and shifted dates. It is never printed."""
    with reporting(as_json):
        from sudare import api

        found = api.new_secret_key(file)
        if as_json:
            say(json.dumps({"key": str(file), "fingerprint": found}, ensure_ascii=False))
            return
        say(f"{file}: a new secret key. Fingerprint {found}")
        say("  Keep it secret, and keep a copy in another safe place: without it no new pseudonym fits the old ones.")
        say(f"  In a policy: key: {{file: {file.name}, fingerprint: '{found}'}}, a path that starts at the policy.")
        say(f"  Or in an environment variable: key: {{env: SUDARE_KEY, fingerprint: '{found}'}}, after")
        say(f"    export SUDARE_KEY=\"$(grep -v '^#' {shlex.quote(str(file))})\"")


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
