"""`ashare user`."""

import sys

import click
from pydantic import ValidationError

from ashare.output import Output
from ashare.session import with_state
from core.errors import InputError
from serving_api.auth.schemas import Registration


@click.group("user")
def command() -> None:
    """Add accounts."""


@command.command("add")
@click.argument("username")
@click.option("--email", required=True, help="Address of the account.")
@click.option("--admin", is_flag=True, help="May administer the platform.")
@click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, without a prompt."
)
@click.pass_obj
def add(out: Output, username: str, email: str, admin: bool, password_stdin: bool) -> None:
    """Add an active account; the password is asked for, never an argument."""
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
    user = with_state(lambda state: state.accounts.add(body, role))
    shown = {"id": user.id, "username": user.username, "role": user.role}
    out.result(shown, [f"{user.role} {user.username} added, id {user.id}"])
