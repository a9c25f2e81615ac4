"""A user as the API sees one, never with the password hash, and what permissions ask about users."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

ACTIVE = "active"
ADMIN = "admin"
AI_DAILY_LIMIT = 10


@dataclass(frozen=True)
class User:
    """One row of app_users without its secret."""

    id: int
    username: str
    email: str
    role: str
    status: str
    email_verified: bool
    is_activated: bool
    avatar: str | None
    phone: str | None
    ai_usage_count: int
    ai_usage_date: str | None
    last_login_at: str | None
    token_generation: int
    """increased by every change of the password: tokens of an earlier value are invalid"""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "User":
        return cls(
            id=int(row["id"]),
            username=str(row["username"]),
            email=str(row["email"] or ""),
            role=str(row["role"] or "user"),
            status=str(row["status"] or ""),
            email_verified=bool(row["email_verified"]),
            is_activated=bool(row["is_activated"]),
            avatar=row["avatar"],
            phone=row["phone"],
            ai_usage_count=int(row["ai_usage_count"] or 0),
            ai_usage_date=row["ai_usage_date"],
            last_login_at=row["last_login_at"],
            token_generation=int(row.get("token_generation") or 0),
        )

    @property
    def is_active(self) -> bool:
        return self.status == ACTIVE

    @property
    def is_admin(self) -> bool:
        return self.role == ADMIN


@dataclass(frozen=True)
class AiQuota:
    """AI calls of one natural day."""

    used: int
    limit: int
    exempt: bool

    @property
    def allows_one_more(self) -> bool:
        return self.exempt or self.used < self.limit


def quota_on(user: User, today: str) -> AiQuota:
    """The user's quota on `today` (YYYY-MM-DD): calls of earlier days do not count, and those of admins
    and activated users never do."""
    used = user.ai_usage_count if user.ai_usage_date == today else 0
    return AiQuota(used=used, limit=AI_DAILY_LIMIT, exempt=user.is_admin or user.is_activated)


class Members(Protocol):
    """The users of one deployment, as permissions need them."""

    async def user_of(self, authorization: str | None) -> User | None:
        """The active user of an `Authorization` header; None without a valid token."""
        ...

    def quota_of(self, user: User) -> AiQuota: ...

    async def count_call(self, user: User) -> bool:
        """Counts one AI call; False when the day's quota is used up."""
        ...
