"""`python -m resources.secret_variables COMMAND …`: runs a command with secrets that lie in files.

For each secret setting NAME, NAME_FILE may name a file that holds its value, as the secrets of Docker and
Kubernetes do (and PGPASSWORD_FILE for Dagster's storage). The entry point of the container image.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from core.errors import InputError
from resources.settings import Settings

SUFFIX = "_FILE"
NAMES = (*(row.name.upper() for row in fields(Settings) if row.metadata.get("secret")), "PGPASSWORD")


def with_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the values of the files in the place of their names. Raises InputError that names
    the variable, never a value."""
    found = dict(environ)
    for name in NAMES:
        path = found.pop(name + SUFFIX, "")
        if not path:
            continue
        if found.get(name):
            raise InputError(name + SUFFIX, f"{name} is set, too; give one of them")
        try:
            value = Path(path).read_text(encoding="utf-8").strip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise InputError(name + SUFFIX, f"{path} cannot be read ({reason})") from None
        if not value:
            raise InputError(name + SUFFIX, f"{path} is empty")
        found[name] = value
    return found


def main(arguments: Sequence[str]) -> int:
    """Becomes the command; returns 1 when a secret or the command cannot be had, 2 without a command."""
    if not arguments:
        sys.stderr.write("usage: python -m resources.secret_variables COMMAND ...\n")
        return 2
    try:
        environ = with_secrets(os.environ)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    try:
        os.execvpe(arguments[0], list(arguments), environ)  # noqa: S606  the container's own command
    except OSError as error:
        sys.stderr.write(f"{arguments[0]}: {error.strerror}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
