"""`ashare user`."""

import click

from ashare.output import Output


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
    from ashare.work.user import run  # noqa: PLC0415  see ashare.main

    run(out, username, email, admin, password_stdin)
