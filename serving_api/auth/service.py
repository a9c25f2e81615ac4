"""Accounts: who may log in, which tokens are valid, what is stored.

Reads go through the API's reads; writes through a writable engine of their own in worker threads, which
wait at most 5 s for another writer and then answer 503.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from core.clock import stamp
from core.errors import ConflictError, Forbidden, NotFound, StorageError
from resources.secret_files import load_secret
from serving_api.auth import queries
from serving_api.auth.avatars import AvatarStore
from serving_api.auth.credentials import Lockout, Passwords, Tokens
from serving_api.auth.schemas import PasswordChange, ProfileChange, Registration
from serving_api.db.sessions import write
from serving_api.framework import error_responses
from serving_api.framework.state import State
from serving_api.framework.user import ACTIVE, AiQuota, User, quota_on

T = TypeVar("T")
logger = logging.getLogger(__name__)

WRITE_THREADS = 4
NOTE_WAIT_S = 1.0
"""Seconds that a login waits for its time to be stored."""
HASH_THREADS = 2
"""Hashing is slow on purpose; two at a time leave CPU time to other requests."""


class Accounts:
    """Users, tokens, lockout and the daily AI quota of one deployment."""

    def __init__(
        self,
        state: State,
        *,
        passwords: Passwords | None = None,
        on_registered: Callable[[User], Awaitable[None] | None] | None = None,
    ) -> None:
        """`on_registered` runs in the background after a registration (welcome mail)."""
        self._settings = state.settings
        self._reading = state.reading
        self._writer = state.writer
        self._system = state.system
        self._passwords = passwords or Passwords()
        self.on_registered = on_registered
        self.avatars = AvatarStore(state.settings.data_path / "avatars")
        self._lockout = Lockout(state.system.wall)
        self._tokens: Tokens | None = None
        self._is_prepared = False
        self._preparing = asyncio.Lock()
        self._write_limiter = anyio.CapacityLimiter(WRITE_THREADS)
        self._hash_limiter = anyio.CapacityLimiter(HASH_THREADS)

    # -- start ------------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Creates the tables, and the seed admin when a password is configured. Raises StorageError while
        the database is unavailable; the next write tries again."""
        async with self._preparing:
            if not self._is_prepared:
                await anyio.to_thread.run_sync(self._writer.migrate, limiter=self._write_limiter)
                await self._seed_admin()
                self._is_prepared = True

    async def _seed_admin(self) -> None:
        settings = self._settings
        if not settings.admin_seed_password:
            return
        name = settings.admin_seed_username
        if await self._reading.scan(queries.credentials, name) is not None:
            return
        values = await self._new_user(name, settings.admin_seed_email, settings.admin_seed_password, "admin")
        try:
            await self._write(queries.insert_user, values)
        except ConflictError:
            logger.warning("the seed admin was not created: its name or address belongs to another user")

    def close(self) -> None:
        """Close the connections; a later write opens new ones."""
        self._writer.close()

    # -- tokens -----------------------------------------------------------------------------------

    @property
    def tokens(self) -> Tokens:
        if self._tokens is None:
            settings = self._settings
            self._tokens = Tokens(
                load_secret(settings.data_path / "secrets" / "jwt_secret"),
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                ttl_s=int(settings.jwt_ttl_hours * 3600),
                wall=self._system.wall,
            )
        return self._tokens

    async def user_of(self, authorization: str | None) -> User | None:
        """The active user of an Authorization header, else None. The row is read now: a changed status or
        role is in force with the next request."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return None
        holder = self.tokens.holder(token.strip())
        if holder is None:
            return None
        user_id, generation = holder
        user = await self._reading.point(queries.user_by_id, user_id)
        if user is None or not user.is_active or user.token_generation != generation:
            return None
        return user

    # -- login -------------------------------------------------------------------------------------

    async def add(self, requested: Registration, role: str) -> User:
        """A new active account of a role ("user", "admin"). Raises ConflictError when the name or address is
        taken."""
        await self.prepare()
        values = await self._new_user(requested.username, requested.email, requested.password, role)
        user_id = await self._write(queries.insert_user, values)
        user = await self._reading.point(queries.user_by_id, user_id)
        if user is None:
            raise StorageError("the new user cannot be read back")
        return user

    async def login(self, username: str, password: str, address: str) -> tuple[str, User]:
        """(token, user). Checks in this order: lockout (429), name and password (401, same text for an
        unknown user), the account's status (403)."""
        async with self._lockout.attempt(address, username) as attempt:
            await self._prepare_if_possible()
            found = await self._reading.point(queries.credentials, username)
            stored = found[1] if found else None
            attempt.succeeded = await self._off_loop(self._passwords.verify, password, stored)
        if found is None or not attempt.succeeded:
            raise error_responses.NotAuthenticated(error_responses.WRONG_PAIR)
        user = found[0]
        if not user.is_active:
            raise Forbidden(error_responses.NOT_ACTIVE)
        await self._note_login(user)
        return self._token_of(user), user

    async def _prepare_if_possible(self) -> None:
        """Prepare the tables if possible: known users may log in while nothing can be written."""
        try:
            await self.prepare()
        except StorageError as error:
            logger.warning("accounts are not prepared: %s", error.message)

    async def _note_login(self, user: User) -> None:
        """Store the time of a login; a database that cannot be written neither fails nor delays it."""
        values = {"last_login_at": self._system.local().strftime("%Y-%m-%d %H:%M:%S")}
        try:
            with anyio.move_on_after(NOTE_WAIT_S) as wait:
                await self._write(queries.update_user, user.id, values, abandon=True)
            if wait.cancelled_caught:
                logger.warning("the time of a login is not stored yet: the database is busy")
        except StorageError as error:
            logger.warning("the time of a login is not stored: %s", error.message)

    # -- own account ------------------------------------------------------------------------------

    async def change_profile(self, user: User, change: ProfileChange) -> User:
        """Set the given fields. Raises ConflictError when the name or address is taken."""
        values: dict[str, Any] = change.model_dump(exclude_none=True)
        if values.get("phone") == "":
            values["phone"] = None  # removed
        if "email" in values:
            values["email"] = values["email"].lower()
        if values:
            await self._write(queries.update_user, user.id, {**values, "updated_at": self._now()})
        changed = await self._reading.point(queries.user_by_id, user.id)
        if changed is None:
            raise error_responses.NotAuthenticated(error_responses.NOT_LOGGED_IN)
        return changed

    async def change_password(self, user: User, change: PasswordChange) -> str:
        """A token of the new password; all older ones become invalid. Raises BadRequest when the old
        password is wrong."""
        found = await self._reading.point(queries.credentials_by_id, user.id)
        stored = found[1] if found else None
        if not await self._off_loop(self._passwords.verify, change.old_password, stored):
            raise error_responses.BadRequest("原密码错误")
        return self._token_of(await self.reset_password(user.id, change.new_password))

    async def change_avatar(self, user: User, content: bytes, address: str) -> str:
        """Store the image; returns the URL under which its owner reads it. Raises BadRequest."""
        mark = await anyio.to_thread.run_sync(self.avatars.put, user.id, content)
        avatar = f"{address}?v={mark}"
        values = {"avatar": avatar, "updated_at": self._now()}
        await self._write(queries.update_user, user.id, values)
        return avatar

    # -- administration ---------------------------------------------------------------------------

    async def change_status(self, user_id: int, status: str) -> User:
        """The user with a new status. Raises NotFound, and ConflictError for the last administrator."""
        await self._write(queries.change_status, user_id, status, self._now())
        return await self._known(user_id)

    async def reset_password(self, user_id: int, password: str) -> User:
        """The user with a new password; all tokens of it become invalid. Raises NotFound."""
        await self._known(user_id)
        made = await self._off_loop(self._passwords.hash, password)
        await self._write(queries.change_password, user_id, made, self._now())
        return await self._known(user_id)

    async def of_name(self, username: str) -> User:
        """The user of a name. Raises NotFound."""
        found = await self._reading.scan(queries.credentials, username)
        if found is None:
            raise NotFound("没有这个用户")
        return found[0]

    async def _known(self, user_id: int) -> User:
        user = await self._reading.point(queries.user_by_id, user_id)
        if user is None:
            raise NotFound("没有这个用户")
        return user

    # -- AI quota ---------------------------------------------------------------------------------

    def quota_of(self, user: User) -> AiQuota:
        return quota_on(user, self._today())

    async def count_call(self, user: User) -> bool:
        """Count one AI call; False when today's calls are used up. Exempt users are not counted."""
        quota = self.quota_of(user)
        if quota.exempt:
            return True
        return await self._write(queries.count_call, user.id, self._today(), quota.limit)

    # -- helpers ----------------------------------------------------------------------------------

    def _token_of(self, user: User) -> str:
        return self.tokens.issue(user.id, user.role, user.token_generation)

    async def _new_user(self, username: str, email: str, password: str, role: str) -> dict[str, Any]:
        now = self._now()
        return {
            "username": username,
            "email": email.lower(),
            "password_hash": await self._off_loop(self._passwords.hash, password),
            "role": role,
            "status": ACTIVE,
            "email_verified": 1,
            "is_activated": 0,
            "ai_usage_count": 0,
            "created_at": now,
            "updated_at": now,
        }

    async def _off_loop(self, work: Callable[..., T], *args: Any) -> T:
        return await anyio.to_thread.run_sync(work, *args, limiter=self._hash_limiter)

    async def _write(self, work: Callable[..., T], *args: Any, abandon: bool = False) -> T:
        """Run `work(connection, sql, *args)` in one write transaction, off the event loop. `abandon`: when
        the caller is cancelled, the thread continues."""
        return await anyio.to_thread.run_sync(
            write, self._writer, work, *args, limiter=self._write_limiter, abandon_on_cancel=abandon
        )

    def _now(self) -> str:
        return stamp(self._system.local())

    def _today(self) -> str:
        return self._system.local().date().isoformat()
