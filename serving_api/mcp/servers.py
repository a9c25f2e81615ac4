"""External tool servers of users: stored per user, headers sealed, addresses checked.

Nothing connects to them here: an address is checked when it is stored, and again before a connection.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from core.clock import stamp
from core.errors import InputError
from resources.secret_files import settings_box
from resources.warehouse.engine import transaction
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.framework.user import User
from serving_api.mcp import queries
from serving_api.mcp.addresses import Resolve, look_up, parsed_url, public_addresses
from serving_api.mcp.schemas import MASK, ServerEntered


class Servers:
    """The stored servers of all users. `resolve` resolves names."""

    def __init__(self, state: State, resolve: Resolve = look_up) -> None:
        self._state = state
        self._resolve = resolve
        self._box = settings_box(state.settings.data_path)

    async def shown(self, user: User) -> list[dict[str, Any]]:
        """As their owner sees them: header values masked. Raises StorageError."""
        rows = await self._state.reading.scan(queries.servers, user.id)
        return await off_loop(self._masked, rows)

    async def save(self, user: User, entered: Sequence[ServerEntered]) -> int:
        """Replace the user's servers; returns their number. Raises InputError for an address that is
        refused or a name that is given twice, StorageError."""
        names = [one.name for one in entered]
        twice = next((at for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise InputError(f"servers.{twice}.name", "is given twice")
        for at, one in enumerate(entered):
            parameter = f"servers.{at}.url"
            if user.is_admin:
                parsed_url(one.url, parameter)
            else:
                await public_addresses(one.url, parameter, self._resolve)
        await off_loop(self._replace, user.id, entered)
        return len(entered)

    def _replace(self, user_id: int, entered: Sequence[ServerEntered]) -> None:
        writer = self._state.writer
        now = stamp(self._state.system.local())
        with transaction(writer.engine) as connection:
            rows = self._rows(connection, user_id, entered)
            queries.replace(connection, writer.sql, user_id, rows, now)

    def _rows(
        self, connection: Connection, user_id: int, entered: Sequence[ServerEntered]
    ) -> list[dict[str, Any]]:
        sealed = queries.sealed_headers(connection, self._state.writer.sql, user_id)
        return [
            {
                "name": one.name, "url": one.url, "transport": one.transport, "enabled": int(one.enabled),
                "headers_sealed": self._sealed(self._unmasked(one, sealed.get(one.name), at)), "sort_no": at,
            }
            for at, one in enumerate(entered)
        ]  # fmt: skip

    def _unmasked(self, one: ServerEntered, sealed: str | None, at: int) -> Mapping[str, str]:
        """The headers to store: a masked value keeps the stored one."""
        given = one.headers or {}
        masked = [name for name, value in given.items() if value == MASK]
        if not masked:
            return given
        stored = self._opened(sealed)
        lost = next((name for name in masked if name not in stored), None)
        if lost is not None:
            raise InputError(f"servers.{at}.headers.{lost}", "no value of it is stored; enter one")
        return {name: stored[name] if value == MASK else value for name, value in given.items()}

    def _sealed(self, headers: Mapping[str, str]) -> str | None:
        return self._box.seal(json.dumps(dict(headers))) if headers else None

    def _opened(self, sealed: str | None) -> dict[str, str]:
        """Raises PlatformError when they were sealed with another key."""
        return dict(json.loads(self._box.unseal(sealed))) if sealed else {}

    def _masked(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                **{name: row[name] for name in ("name", "url", "transport")},
                "enabled": bool(row["enabled"]),
                "headers": dict.fromkeys(self._opened(row["headers_sealed"]), MASK),
            }
            for row in rows
        ]
