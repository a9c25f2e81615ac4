"""Notifications of the data folder, read again only after a change."""

from datetime import datetime
from typing import Any

from resources.notifications import Notification, NotificationStore
from serving_api.admin.shared import off_loop
from serving_api.framework.envelope import local_iso
from serving_api.framework.error_responses import TOO_FAST, TooManyAttempts
from serving_api.framework.state import State

MOST_UNREAD = 100
TEST_EVERY_S = 60.0


class Notifications:
    """State of one app: the rows of the newest read, and the time of the last test mail."""

    def __init__(self, state: State) -> None:
        self.store = NotificationStore(state.settings.data_path / "notifications")
        self._monotonic = state.system.monotonic
        self._rows: list[Notification] = []
        self._version: str | None = None
        self._tested_at: float | None = None

    async def version(self) -> str:
        return await off_loop(self.store.version)

    async def unread(self) -> dict[str, Any]:
        rows = [row for row in await self._all() if not row.read]
        return {"items": [_item(row) for row in rows[:MOST_UNREAD]], "count": len(rows)}

    async def page(self, page: int, page_size: int) -> dict[str, Any]:
        rows = await self._all()
        shown = rows[(page - 1) * page_size : page * page_size]
        return {
            "items": [_item(row) for row in shown],
            "total": len(rows),
            "page": page,
            "page_size": page_size,
        }

    async def mark_read(self, notification_id: str) -> None:
        await off_loop(self.store.mark_read, notification_id)

    async def mark_all_read(self) -> int:
        return await off_loop(self.store.mark_all_read)

    def take_test(self) -> None:
        """Allows one test mail per minute and process. Raises TooManyAttempts."""
        now = self._monotonic()
        if self._tested_at is not None and now - self._tested_at < TEST_EVERY_S:
            raise TooManyAttempts(TOO_FAST, int(TEST_EVERY_S - (now - self._tested_at)) + 1)
        self._tested_at = now

    async def _all(self) -> list[Notification]:
        """Newest first. The version is read first: a change in between is seen at the next read."""
        version = await self.version()
        if version != self._version:
            rows = await off_loop(lambda: list(self.store.newest_first()))
            self._rows, self._version = rows, version
        return self._rows


def _item(row: Notification) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "content": row.content,
        "code": row.code,
        "link": row.link,
        "created_at": local_iso(datetime.fromisoformat(row.created_at)),
        "read": row.read,
    }


def notifications_of(state: State) -> Notifications:
    return state.part(Notifications)
