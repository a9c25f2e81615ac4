"""Permission is a type in a route's signature: `Anyone`, `Login`, `Quota`, `Admin`.

A route names exactly one (`call: Admin`) or cannot be declared (`routing.PlatformRoute`). It is decided
before the body is read: without permission no upload is received and no parameter of a guarded route is
explained.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from core.errors import Forbidden
from serving_api.framework.error_responses import NOT_ADMIN, NOT_LOGGED_IN, QUOTA_USED_UP, NotAuthenticated
from serving_api.framework.state import State, state_of
from serving_api.framework.user import User


@dataclass(frozen=True)
class Subject:
    """The caller; `user` is None where no login was needed."""

    user: User | None = None

    @property
    def member(self) -> User:
        """The user of a route that needs one."""
        if self.user is None:
            raise NotAuthenticated(NOT_LOGGED_IN)
        return self.user


@dataclass(frozen=True, kw_only=True)
class Call(Subject):
    """An admitted request: its caller, and the parts of the API that answer it."""

    state: State
    request: Request

    async def count(self) -> None:
        """Count one AI call of the day: the first line of a route with `Quota`, so that a call whose
        parameters are refused costs nothing. Raises Forbidden when the quota is used up."""
        # Counted in one conditional UPDATE: of 100 calls at 9 of 10 one passes, whatever `admit` saw.
        if not await self.state.members.count_call(self.member):
            raise Forbidden(QUOTA_USED_UP)


class Permission:
    """What a route asks of its caller."""

    name = "anyone"
    is_personal = False
    """Whether an answer may be that of its caller alone."""

    async def admit(self, request: Request) -> User | None:
        """The caller, or the refusal (401, 403). A bad token of an open route counts as none."""
        return None

    async def __call__(self, request: Request) -> Call:
        """As a dependency: the call that the route admitted before the body was read."""
        return Call(request.state.admitted.user, state=state_of(request), request=request)


class _LoginPermission(Permission):
    name = "login"
    is_personal = True

    async def admit(self, request: Request) -> User | None:
        user = await state_of(request).members.user_of(request.headers.get("authorization"))
        if user is None:
            raise NotAuthenticated(NOT_LOGGED_IN)
        return user


class _AdminPermission(_LoginPermission):
    name = "admin"
    is_personal = False

    async def admit(self, request: Request) -> User | None:
        user = await super().admit(request)
        if user is None or not user.is_admin:
            raise Forbidden(NOT_ADMIN)
        return user


class _QuotaPermission(_LoginPermission):
    name = "quota"

    async def admit(self, request: Request) -> User | None:
        user = await super().admit(request)
        if user is None or not state_of(request).members.quota_of(user).allows_one_more:
            raise Forbidden(QUOTA_USED_UP)
        return user


class _AskerPermission(Permission):
    """Anyone; a valid token identifies the user, for data that belong to one."""

    is_personal = True

    async def admit(self, request: Request) -> User | None:
        authorization = request.headers.get("authorization")
        return await state_of(request).members.user_of(authorization) if authorization else None


class _NotificationPermission(_LoginPermission):
    """Anyone, unless NOTIFICATIONS_REQUIRE_LOGIN asks for a login."""

    name = "anyone"

    async def admit(self, request: Request) -> User | None:
        required = state_of(request).settings.notifications_require_login
        return await super().admit(request) if required else None


Anyone = Annotated[Call, Depends(Permission())]
Asker = Annotated[Call, Depends(_AskerPermission())]
Login = Annotated[Call, Depends(_LoginPermission())]
Quota = Annotated[Call, Depends(_QuotaPermission())]
ADMIN = _AdminPermission()
Admin = Annotated[Call, Depends(ADMIN)]
NotificationReader = Annotated[Call, Depends(_NotificationPermission())]
