"""Six digits -> the upstream symbol (`sh600519`), with stored data about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.market.securities import sec_type_of
from resources.upstreams.universe import HELD_TYPES
from serving_api.db.sessions import Reading
from serving_api.framework.read_failures import read_or
from serving_api.live.queries import masters

_FACTS = ("name", "board", "is_st", "total_shares", "float_shares", "list_date")


@dataclass(frozen=True)
class Listed:
    """One security from the master table; unknown values are None."""

    symbol: str
    code: str
    name: str | None = None
    board: str | None = None
    is_st: bool | None = None
    total_shares: int | None = None
    float_shares: int | None = None
    list_date: str | None = None


def guessed_symbol(code: str) -> str | None:
    """The security with these six digits by the exchanges' number ranges; None when there is none."""
    for market in ("SH", "SZ", "BJ"):
        if sec_type_of(code, market) in HELD_TYPES:
            return f"{market.lower()}{code}"
    return None


def listed(row: dict[str, Any]) -> Listed | None:
    """A security from a master row; None when none of our upstreams has its market."""
    market = row.get("market")
    symbol = f"{market.lower()}{row['code']}" if market in ("SH", "SZ", "BJ") else None
    symbol = symbol or guessed_symbol(row["code"])
    if symbol is None:
        return None
    facts = {name: row.get(name) for name in _FACTS}
    return Listed(symbol=symbol, code=row["code"], **facts)


async def listed_of(reading: Reading, codes: Sequence[str]) -> dict[str, Listed]:
    """Code -> security, for existing codes. The stored master comes first; the number ranges are used for
    codes that it does not hold, and while the database is unavailable."""
    rows = await read_or([], reading.scan(masters, list(codes)))
    stored = {row["code"]: listed(row) for row in rows}
    found: dict[str, Listed] = {}
    for code in codes:
        symbol = guessed_symbol(code)
        one = stored[code] if code in stored else symbol and Listed(symbol=symbol, code=code)
        if one:
            found[code] = one
    return found
