"""What `ashare user` does."""

import sys

import click
from pydantic import ValidationError

from ashare.output import Output
from ashare.session import with_state
from core.errors import InputError
from serving_api.auth.schemas import Registration
from serving_api.auth.service import Accounts


def run(out: Output, username: str, email: str, admin: bool, password_stdin: bool) -> None:
    """Add the account. Raises InputError that names the field."""
    if password_stdin:
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = click.prompt("password", hide_input=True, confirmation_prompt=True, err=True)
    try:
        body = Registration(username=username, email=email, password=password)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "password"
        raise InputError(name, str(first["msg"]).removeprefix("Value error, ")) from None
    role = "admin" if admin else "user"
    user = with_state(lambda state: state.part(Accounts).add(body, role))
    shown = {"id": user.id, "username": user.username, "role": user.role}
    out.result(shown, [f"{user.role} {user.username} added, id {user.id}"])
