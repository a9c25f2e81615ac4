"""What `ashare user` does."""

import sys
from typing import TypeVar

import click
from pydantic import BaseModel, ValidationError

from ashare.output import Output
from ashare.session import with_state
from core.errors import InputError
from serving_api.auth import queries
from serving_api.auth.administration import MOST_USERS, PasswordReset
from serving_api.auth.schemas import Registration
from serving_api.auth.service import Accounts
from serving_api.framework.state import State
from serving_api.framework.user import User

Body = TypeVar("Body", bound=BaseModel)
_COLUMNS = ("id", "username", "email", "role", "status", "last_login_at")


def run(out: Output, username: str, email: str, admin: bool, password_stdin: bool) -> None:
    """Add the account. Raises InputError that names the field."""
    password = _password(password_stdin)
    body = _checked(Registration, username=username, email=email, password=password)
    role = "admin" if admin else "user"
    _shown(out, with_state(lambda state: state.part(Accounts).add(body, role)), "added")


def list_users(out: Output, status: str | None) -> None:
    """Print the accounts, newest first."""

    async def read(state: State) -> list[User]:
        return await state.reading.scan(queries.list_users, "", status, MOST_USERS, 0)

    users = with_state(read)
    rows = [{name: getattr(user, name) for name in _COLUMNS} for user in users]
    out.result(rows, ["  ".join(str(row[name]) for name in _COLUMNS) for row in rows])


def change_status(out: Output, username: str, status: str) -> None:
    """Activate or disable an account. Raises NotFound, and ConflictError for the last administrator."""

    async def change(state: State) -> User:
        accounts = state.part(Accounts)
        return await accounts.change_status((await accounts.of_name(username)).id, status)

    _shown(out, with_state(change), status)


def reset_password(out: Output, username: str, password_stdin: bool) -> None:
    """Set a new password. Raises NotFound, and InputError for a weak one."""
    body = _checked(PasswordReset, password=_password(password_stdin))

    async def change(state: State) -> User:
        accounts = state.part(Accounts)
        return await accounts.reset_password((await accounts.of_name(username)).id, body.password)

    _shown(out, with_state(change), "has a new password")


def _shown(out: Output, user: User, what: str) -> None:
    shown = {"id": user.id, "username": user.username, "role": user.role, "status": user.status}
    out.result(shown, [f"{user.role} {user.username} {what}, id {user.id}"])


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    return str(click.prompt("password", hide_input=True, confirmation_prompt=True, err=True))


def _checked(model: type[Body], **values: str) -> Body:
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "password"
        raise InputError(name, str(first["msg"]).removeprefix("Value error, ")) from None
