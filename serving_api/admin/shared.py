"""What the administration routes share: times in responses, days and limits as parameters, blocking calls in
threads."""

import functools
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, TypeVar

import anyio.to_thread
import orjson
from fastapi import Query

from core.errors import InputError
from serving_api.framework.envelope import local_iso

T = TypeVar("T")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")

CodeFilter = Annotated[
    str | None,
    Query(
        pattern=r"^([0-9]{5,6}|(sh|sz|bj)[0-9]{6}|[A-Z][A-Z0-9.]{0,15})$",
        description="only this code: 6 digits (HK 5, US ticker, index like sh000001)",
    ),
]
Limit50 = Annotated[int, Query(ge=1, le=500, description="rows at most")]


def only(what: str) -> Any:
    """A filter by an exact text."""
    return Query(max_length=128, description=f"only this {what}")


MAX_ID = 2**53
"""Largest id: a larger number is none, and neither engine nor client would represent it exactly."""


async def off_loop(work: Callable[..., T], *args: Any, **how: Any) -> T:
    """Run a blocking call of the ledgers in a thread."""
    return await anyio.to_thread.run_sync(functools.partial(work, *args, **how))


def instant(stored: str | datetime | None) -> str | None:
    """A stored local time as ISO 8601 with its offset."""
    if stored is None:
        return None
    return local_iso(stored if isinstance(stored, datetime) else datetime.fromisoformat(stored))


def parse_day(name: str, text: str, today: str) -> str:
    """YYYY-MM-DD of a date given as YYYY-MM-DD or YYYYMMDD, not in the future. Raises InputError."""
    try:
        day = date.fromisoformat(text).isoformat() if _DAY.fullmatch(text) else ""
    except ValueError:
        day = ""
    if not day:
        raise InputError(name, f"{text[:40]!r} is no date; give YYYY-MM-DD or YYYYMMDD")
    if day > today:
        raise InputError(name, f"{day} lies in the future; the newest allowed day is {today}")
    return day


def parse_json(text: str | None, otherwise: Any) -> Any:
    """Stored JSON as a value; `otherwise` for none or for invalid text."""
    try:
        return orjson.loads(text) if text else otherwise
    except orjson.JSONDecodeError:
        return otherwise
