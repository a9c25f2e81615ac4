"""The limit-ups of a date from stored bars, for dates without a stored pool."""

from typing import Any

from platform_assets.compute.parameters.market_phase import STREAK_DAYS
from serving_api.db.sessions import Session
from serving_api.live.frame_values import Row

BARS = "fusion_kline_daily"
NAMES = "ref_name_history"
INDUSTRIES = "fusion_stock_industry"
SEALED = "up"
_FIGURES = ("code", "close", "change_pct", "amount", "turnover_pct")
_UNKNOWN = dict.fromkeys(
    ("float_market_cap", "first_seal_time", "last_seal_time", "seal_fund", "break_times", "zt_stat")
)
"""Columns that only a pool has."""


def limit_ups_of_bars(session: Session, day: str, dates: list[str]) -> list[Row]:
    """Stocks that closed at their limit-up price on `day`, the longest streak first. `dates` are the trade
    dates that a streak is counted over, `day` the last of them."""
    where, values = "date=? AND sec_type='stock' AND limit_status=?", (day, SEALED)
    found = session.dicts(BARS, columns=_FIGURES, where=where, values=values, order="code")
    rows = [{**row, **_reported(session, row["code"], day, dates), **_UNKNOWN} for row in found]
    for row in rows:
        row["price"] = row.pop("close")
    return sorted(rows, key=lambda row: (-row["limit_days"], row["code"]))


def _reported(session: Session, code: str, day: str, dates: list[str]) -> dict[str, Any]:
    """Name on the date, industry if it is known now, consecutive limit-ups."""
    names = session.rows(
        NAMES, columns=("name",), where="code=? AND valid_from<=? AND (valid_to IS NULL OR valid_to>=?)",
        values=(code, day, day), order="valid_from DESC", limit=1,
    )  # fmt: skip
    industry = session.rows(INDUSTRIES, columns=("em_industry",), where="code=?", values=(code,), limit=1)
    return {
        "name": str(names[0][0]) if names else code,
        "industry": industry[0][0] if industry else None,
        "limit_days": _streak(session, code, dates),
    }


def _streak(session: Session, code: str, dates: list[str]) -> int:
    """Consecutive limit-ups up to the last of `dates`; a date without trading is skipped."""
    bars = session.rows(
        BARS, columns=("limit_status", "is_suspended"), where="code=? AND date>=? AND date<=?",
        values=(code, dates[0], dates[-1]), order="date DESC",
    )  # fmt: skip
    count = 0
    for status, is_suspended in bars:
        if is_suspended:
            continue
        if status != SEALED:
            break
        count += 1
    return count


def streak_dates(calendar: Any, day: str) -> list[str]:
    """The trade dates over which a streak up to `day` is counted."""
    dates: list[str] = calendar.last(STREAK_DAYS, day)
    return dates
