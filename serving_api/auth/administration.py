"""/datamgr/users: the accounts of this deployment. Admin, enveloped."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel

from serving_api.auth import queries
from serving_api.auth.schemas import Contact, NewPassword, UserSummary
from serving_api.auth.service import Accounts
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.user import User

MOST_USERS = 200
Status = Literal["pending_email", "pending_approval", "active", "disabled"]
UserId = Annotated[int, Path(ge=1, le=2**53, description="`id` of a user")]


class ListedUser(UserSummary, Contact):
    """An account as administrators see it."""


class StatusChange(BaseModel):
    model_config = example(extra="forbid", status="disabled")
    status: Literal["active", "disabled"]


class PasswordReset(BaseModel):
    model_config = example(extra="forbid", password="battery staple")  # noqa: S106
    password: NewPassword


def _listed(user: User) -> dict[str, Any]:
    shown = {**vars(user), "last_login_at": instant(user.last_login_at)}
    return ListedUser.model_validate(shown).model_dump()


router = area_router(f"{PREFIX}/datamgr/users", "datamgr: users")


@router.get("", response_model=list[ListedUser])
@serves(top=[("total", int), ("page", int), ("page_size", int)], cache=NO_STORE)
async def list_users(
    call: Admin,
    keyword: Annotated[str, Query(max_length=128, description="part of the name or the address")] = "",
    status: Annotated[Status | None, Query(description="default: every status")] = None,
    page: Annotated[int, Query(ge=1, le=100_000, description="from 1")] = 1,
    page_size: Annotated[int, Query(ge=1, le=MOST_USERS, description="users on a page")] = 50,
) -> Answer:
    """The accounts, newest first."""
    reading, matching = call.state.reading, (keyword, status)
    users = await reading.scan(queries.list_users, *matching, page_size, (page - 1) * page_size)
    total = await reading.scan(queries.count_users, *matching)
    items = [_listed(user) for user in users]
    return Answer({"items": items, "total": total, "page": page, "page_size": page_size})


@router.post("/{user_id}/status", response_model=ListedUser)
@serves(raises=(404, 409))
async def change_status(call: Admin, user_id: UserId, body: StatusChange) -> Answer:
    """Activate or disable an account; a disabled one is logged out with its next request. The last active
    administrator cannot be disabled (409)."""
    return Answer(_listed(await call.state.part(Accounts).change_status(user_id, body.status)))


@router.post("/{user_id}/password", response_model=ListedUser)
@serves(raises=(404,))
async def reset_password(call: Admin, user_id: UserId, body: PasswordReset) -> Answer:
    """Set a new password for an account; its tokens become invalid."""
    return Answer(_listed(await call.state.part(Accounts).reset_password(user_id, body.password)))
