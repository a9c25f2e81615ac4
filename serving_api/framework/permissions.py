"""Permission is a type in a route's signature: `Anyone`, `Login`, `Quota`, `Admin`.

A route names exactly one of them or cannot be declared (`routing.PlatformRoute`). It is decided before
the body is read: without permission no upload is received and no parameter of a guarded route is explained.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from core.errors import Forbidden
from serving_api.auth.model import User
from serving_api.framework.error_responses import NOT_ADMIN, NOT_LOGGED_IN, QUOTA_USED_UP, NotAuthenticated
from serving_api.framework.state import state_of


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


class Permission:
    """What a route asks of its caller."""

    name = "anyone"

    async def admit(self, request: Request) -> Subject:
        """The subject, or the refusal (401, 403). A bad token of an open route counts as none."""
        return Subject()

    async def accept(self, request: Request, subject: Subject) -> None:
        """Runs once a valid request was accepted, before its work begins."""

    async def __call__(self, request: Request) -> Subject:
        """As a dependency: the subject that was admitted before the body was read."""
        subject: Subject = request.state.subject
        return subject


class _LoginPermission(Permission):
    name = "login"

    async def admit(self, request: Request) -> Subject:
        user = await state_of(request).accounts.user_of(request.headers.get("authorization"))
        if user is None:
            raise NotAuthenticated(NOT_LOGGED_IN)
        return Subject(user)


class _AdminPermission(_LoginPermission):
    name = "admin"

    async def admit(self, request: Request) -> Subject:
        subject = await super().admit(request)
        if not subject.member.is_admin:
            raise Forbidden(NOT_ADMIN)
        return subject


class _QuotaPermission(_LoginPermission):
    name = "quota"

    async def admit(self, request: Request) -> Subject:
        subject = await super().admit(request)
        if not state_of(request).accounts.quota_of(subject.member).allows_one_more:
            raise Forbidden(QUOTA_USED_UP)
        return subject

    async def accept(self, request: Request, subject: Subject) -> None:
        # Counted in one conditional UPDATE: of 100 calls at 9 of 10 one passes, whatever `admit` saw.
        if not await state_of(request).accounts.count_call(subject.member):
            raise Forbidden(QUOTA_USED_UP)


class _AskerPermission(Permission):
    """Anyone; a valid token identifies the user, for data that belong to one."""

    async def admit(self, request: Request) -> Subject:
        authorization = request.headers.get("authorization")
        return Subject(await state_of(request).accounts.user_of(authorization) if authorization else None)


class _NotificationPermission(_LoginPermission):
    """Anyone, unless NOTIFICATIONS_REQUIRE_LOGIN asks for a login."""

    name = "anyone"

    async def admit(self, request: Request) -> Subject:
        if state_of(request).settings.notifications_require_login:
            return await super().admit(request)
        return Subject()


Anyone = Annotated[Subject, Depends(Permission())]
Asker = Annotated[Subject, Depends(_AskerPermission())]
Login = Annotated[Subject, Depends(_LoginPermission())]
Quota = Annotated[Subject, Depends(_QuotaPermission())]
Admin = Annotated[Subject, Depends(_AdminPermission())]
NotificationReader = Annotated[Subject, Depends(_NotificationPermission())]
