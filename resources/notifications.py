"""In-app notifications: one JSON file per day, written by the platform, read and marked by the API.

Two processes at once lose nothing, and a reader never sees half a file (`shared_json`).
"""

import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from core.errors import InputError, NotFound, PayloadError
from resources.shared_json import locked, replace_json

KEEP_DAYS = 90
"""Older days are removed when a new notification is stored."""
MOST_A_DAY = 2000
"""More on one day are not stored: something repeats itself, and the log has it."""
_FILE = re.compile(r"(\d{4}-\d{2}-\d{2})\.json")
_ID = re.compile(r"(\d{4})(\d{2})(\d{2})-\d{1,6}")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notification:
    """`kind`: portfolio_alert, task_failed, ...; `key` identifies its subject: one notification per key, kind
    and day."""

    id: str
    kind: str
    title: str
    content: str
    created_at: str
    read: bool = False
    code: str | None = None
    link: str | None = None
    key: str | None = None


class NotificationStore:
    """The notifications below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    # -- writing ----------------------------------------------------------------------------------

    def add(
        self,
        kind: str,
        title: str,
        content: str,
        *,
        now: datetime,
        key: str | None = None,
        code: str | None = None,
        link: str | None = None,
    ) -> Notification | None:
        """Store one of today; None when `kind` and `key` were stored today already, or the day is full.
        Raises StorageError."""
        day = now.date()
        with locked(self._folder):
            rows = self._rows(day)
            known = key is not None and any(row.kind == kind and row.key == key for row in rows)
            if known or len(rows) >= MOST_A_DAY:
                return None
            number = 1 + max((int(row.id.rpartition("-")[2]) for row in rows), default=0)
            made = Notification(
                id=f"{day:%Y%m%d}-{number}",
                kind=kind,
                title=title,
                content=content,
                created_at=now.strftime("%Y-%m-%d %H:%M:%S"),
                code=code,
                link=link,
                key=key,
            )
            self._replace(day, [*rows, made])
            self._forget_before(day - timedelta(days=KEEP_DAYS))
        return made

    def mark_read(self, notification_id: str) -> None:
        """Raises NotFound, StorageError."""
        day = _day_of(notification_id)
        with locked(self._folder):
            rows = self._rows(day)
            if not any(row.id == notification_id for row in rows):
                raise NotFound(f"there is no notification {notification_id}")
            self._replace(day, [replace(row, read=row.read or row.id == notification_id) for row in rows])

    def mark_all_read(self) -> int:
        """How many were unread. Raises StorageError."""
        changed = 0
        with locked(self._folder):
            for day in self._days():
                rows = self._rows(day)
                unread = sum(not row.read for row in rows)
                if unread:
                    self._replace(day, [replace(row, read=True) for row in rows])
                    changed += unread
        return changed

    # -- reading ----------------------------------------------------------------------------------

    def newest_first(self) -> Iterator[Notification]:
        """All that are stored. A file that cannot be read is left out, and logged."""
        for day in self._days():
            try:
                rows = self._rows(day)
            except PayloadError as error:
                log.warning("notifications: %s", error.message)
                continue
            yield from reversed(rows)

    def version(self) -> str:
        """Changes with every write; costs one look at the folder."""
        try:
            with os.scandir(self._folder) as found:
                marks = sorted(
                    f"{one.name}:{one.stat().st_mtime_ns}:{one.stat().st_ino}"
                    for one in found
                    if _FILE.fullmatch(one.name)
                )
        except FileNotFoundError:
            return ""
        return ",".join(marks)

    # -- files ------------------------------------------------------------------------------------

    def _days(self) -> list[date]:
        """Newest first."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        found = (_FILE.fullmatch(name) for name in names)
        return sorted((date.fromisoformat(match[1]) for match in found if match), reverse=True)

    def _path(self, day: date) -> Path:
        return self._folder / f"{day.isoformat()}.json"

    def _rows(self, day: date) -> list[Notification]:
        """Raises PayloadError for a file that is none of ours: it must not be overwritten."""
        path = self._path(day)
        try:
            loaded = json.loads(path.read_bytes())
            return [_parsed(row) for row in loaded]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError, KeyError) as error:
            raise PayloadError(f"{path.name} holds no notifications") from error

    def _replace(self, day: date, rows: list[Notification]) -> None:
        replace_json(self._path(day), [asdict(row) for row in rows])

    def _forget_before(self, first: date) -> None:
        for day in self._days():
            if day < first:
                self._path(day).unlink(missing_ok=True)


def _parsed(row: Mapping[str, Any]) -> Notification:
    return Notification(**{name: row.get(name) for name in Notification.__dataclass_fields__})  # type: ignore[arg-type]


def _day_of(notification_id: str) -> date:
    found = _ID.fullmatch(notification_id)
    if found is None:
        raise InputError("id", f"{notification_id[:40]!r} is no notification")
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        raise NotFound(f"there is no notification {notification_id}") from None
