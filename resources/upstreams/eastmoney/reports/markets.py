"""Ratios of whole markets (RPT_VALUEMARKET) and of the portal's industry boards (RPT_VALUEINDUSTRY_DET)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, among, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number, promised, some_of, string_of
from resources.upstreams.parsing.texts import plain_text

MARKETS = {"000001": "sh000001", "000688": "sh000688", "399001": "sz399001", "399006": "sz399006"}
"""Key of a market -> the index whose members are that market's stocks: Shanghai main board, STAR, Shenzhen
main board, ChiNext. The key 000300 means both exchanges together, not the index of that number."""
MARKET_COLUMNS: dict[str, str] = {
    **texts("index_code date"),
    **numbers("pe_ttm member_count total_market_cap_yi"),
}
BOARD_COLUMNS: dict[str, str] = {
    **texts("industry_code date industry_name"),
    **numbers("pe_weighted pb member_count total_market_cap_yi"),
}
_BOARD = ("BOARD_CODE", "TRADE_DATE")
_YI = 1e-8
_MOST_DIGITS = 6


def markets_report(keys: Sequence[str], since: str, until: str) -> Report:
    """Some markets between two days."""
    where = (
        among("TRADE_MARKET_CODE", keys),
        on_day("TRADE_DATE", since, ">="),
        on_day("TRADE_DATE", until, "<="),
    )
    sort = ("TRADE_DATE", "TRADE_MARKET_CODE")
    return Report("RPT_VALUEMARKET", EVERY_COLUMN, where, sort=sort, key=("index_code", "date"))


def market_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `MARKET_COLUMNS`."""
    made = []
    for row in rows:
        promised(row, ("TRADE_MARKET_CODE", "TRADE_DATE"), "markets")
        some_of(row, ("PE_TTM_AVG", "TOTAL_MARKET_CAP"), "markets")
        market = string_of(row["TRADE_MARKET_CODE"], "markets TRADE_MARKET_CODE")
        if market not in MARKETS:
            raise PayloadError(f"markets: {market[:20]!r} was not asked for")
        made.append(
            {
                "index_code": MARKETS[market],
                "date": day_of(row["TRADE_DATE"], f"market {market} TRADE_DATE"),
                "pe_ttm": number(row.get("PE_TTM_AVG"), f"market {market} PE_TTM_AVG"),
                "member_count": amount(row.get("LISTING_ORG_NUM"), f"market {market} LISTING_ORG_NUM"),
                "total_market_cap_yi": amount(
                    row.get("TOTAL_MARKET_CAP"), f"market {market} TOTAL_MARKET_CAP", scale=_YI
                ),
            }
        )
    return frame(made, MARKET_COLUMNS)


def boards_report(day: str) -> Report:
    """The industry boards on one trade date."""
    where = (on_day("TRADE_DATE", day),)
    return Report("RPT_VALUEINDUSTRY_DET", EVERY_COLUMN, where, ("BOARD_CODE",), ("industry_code", "date"))


def board_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `BOARD_COLUMNS`; ratios as published, also below zero. `industry_code` is the number under
    which lists and lines know the board (BK0475), where the row has it."""
    made = []
    for row in rows:
        promised(row, _BOARD, "boards")
        code = _board_code(row)
        what = f"board {code}"
        made.append(
            {
                "industry_code": code,
                "date": day_of(row["TRADE_DATE"], f"{what} TRADE_DATE"),
                "industry_name": plain_text(row.get("BOARD_NAME") or "", f"{what} BOARD_NAME", 64) or None,
                "pe_weighted": number(row.get("PE_TTM"), f"{what} PE_TTM"),
                "pb": number(row.get("PB_MRQ"), f"{what} PB_MRQ"),
                "member_count": amount(row.get("NUM"), f"{what} NUM"),
                "total_market_cap_yi": amount(
                    row.get("TOTAL_MARKET_CAP"), f"{what} TOTAL_MARKET_CAP", scale=_YI
                ),
            }
        )
    return frame(made, BOARD_COLUMNS)


def _board_code(row: Mapping[str, Any]) -> str:
    """BOARD_CODE is a number of this report alone (016165); ORIGINALCODE has the digits of BK1277."""
    board = string_of(row["BOARD_CODE"], "boards BOARD_CODE")
    if not 0 < len(board) <= 16 or not board.isascii() or not board.isalnum():
        raise PayloadError(f"boards: {board[:20]!r} is no board")
    promised(row, ("ORIGINALCODE",), "boards")
    digits = str(row["ORIGINALCODE"] or "").removeprefix("BK")
    if not digits:
        return board
    if not digits.isascii() or not digits.isdigit() or len(digits) > _MOST_DIGITS:
        raise PayloadError(f"board {board}: ORIGINALCODE {digits[:20]!r}")
    return f"BK{digits:0>4}"
