"""Margin trading of the exchanges: the common parts of the three answers."""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, string_of

MARGIN_COLUMNS: dict[str, str] = {
    **texts("code date exchange name"),
    **numbers("rzye rzmre rzche rqye rqmcl rqchl loan_volume rzrqye"),
}
"""CNY and shares. A row `TOTAL_SH`, `TOTAL_SZ` or `TOTAL_BJ` carries the total of its market."""


def code_of(value: Any, what: str) -> str:
    """Six digits."""
    code = string_of(value, what)
    if len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what} is no code: {code[:20]!r}")
    return code


def name_of(value: Any, what: str) -> str:
    name = string_of(value, what).strip()
    if not name:
        raise PayloadError(f"{what} is empty")
    return name


def same_day(stated: str, asked: str, what: str) -> str:
    """The stated day when it is the requested one; else PayloadError."""
    if stated != asked:
        raise PayloadError(f"{what} answered for {stated}, asked was {asked}")
    return stated


def figure(value: Any, what: str) -> float:
    """Money or shares that may be missing."""
    return amount(value, what)


def joined(total: list[dict[str, Any]], rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """Detail rows below the total of their market, whose financing balance they must not exceed. A code
    that came twice is refused. Nothing at all is an empty frame; half of it is refused."""
    if bool(total) != bool(rows):
        raise PayloadError(f"{what}: {len(total)} totals, {len(rows)} securities")
    made = frame([*total, *rows], MARGIN_COLUMNS)
    if made["code"].duplicated().any():
        raise PayloadError(f"{what}: a security came twice")
    return made
