"""What the administration routes share: days and limits as parameters, stored JSON."""

import re
from datetime import date
from typing import Annotated, Any

import orjson
from fastapi import Query
from pydantic import AfterValidator

from core.errors import InputError
from serving_api.db.request_notes import written_code
from serving_api.framework.parameters import CODE_PATTERN

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")

CodeFilter = Annotated[
    str | None,
    Query(
        pattern=f"{CODE_PATTERN}|^([0-9]{{5}}|[A-Z][A-Z0-9.]{{0,15}})$",
        description="only this code: 6 digits or 600519.SH (HK 5, US ticker, index like sh000001)",
    ),
    AfterValidator(written_code),
]
Limit50 = Annotated[int, Query(ge=1, le=500, description="rows at most")]


def only(what: str) -> Any:
    """A filter by an exact text."""
    return Query(max_length=128, description=f"only this {what}")


MAX_ID = 2**53
"""Largest id: a larger number is none, and neither engine nor client would represent it exactly."""


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
