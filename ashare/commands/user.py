"""`ashare user`."""

import click

from ashare.output import Output


@click.group("user")
def command() -> None:
    """Add, list and change accounts."""


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


@command.command("list")
@click.option("--status", help="pending_email, pending_approval, active or disabled; default: every one.")
@click.pass_obj
def list_(out: Output, status: str | None) -> None:
    """List the accounts, newest first."""
    from ashare.work.user import list_users  # noqa: PLC0415

    list_users(out, status)


@command.command("activate")
@click.argument("username")
@click.pass_obj
def activate(out: Output, username: str) -> None:
    """Let an account log in."""
    from ashare.work.user import change_status  # noqa: PLC0415

    change_status(out, username, "active")


@command.command("disable")
@click.argument("username")
@click.pass_obj
def disable(out: Output, username: str) -> None:
    """Log an account out and refuse its logins; the last administrator stays."""
    from ashare.work.user import change_status  # noqa: PLC0415

    change_status(out, username, "disabled")


@command.command("password")
@click.argument("username")
@click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, without a prompt."
)
@click.pass_obj
def password(out: Output, username: str, password_stdin: bool) -> None:
    """Set a new password; it is asked for, never an argument."""
    from ashare.work.user import reset_password  # noqa: PLC0415

    reset_password(out, username, password_stdin)
