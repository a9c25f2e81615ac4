"""Ratios of whole markets (RPT_VALUEMARKET) and of the portal's industry boards (RPT_VALUEINDUSTRY_DET)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import EVERY_COLUMN, Dated, Report, among, between
from resources.upstreams.parsing.payload import amount, number, string_of
from resources.upstreams.parsing.rows import Table, day_of, may, must
from resources.upstreams.parsing.texts import plain_text

MARKETS = {"000001": "sh000001", "000688": "sh000688", "399001": "sz399001", "399006": "sz399006"}
"""Key of a market -> the index whose members are that market's stocks: Shanghai main board, STAR, Shenzhen
main board, ChiNext. The key 000300 means both exchanges together, not the index of that number."""
_yi = partial(amount, scale=1e-8)
_MOST_DIGITS = 6


def markets_report(keys: Sequence[str], since: str, until: str) -> Report:
    """Some markets between two days."""
    where = (among("TRADE_MARKET_CODE", keys), *between("TRADE_DATE", since, until))
    sort = ("TRADE_DATE", "TRADE_MARKET_CODE")
    return Report("RPT_VALUEMARKET", EVERY_COLUMN, where, sort=sort, key=("index_code", "date"))


def _market(value: Any, what: str) -> str:
    market = string_of(value, f"{what} TRADE_MARKET_CODE")
    if market not in MARKETS:
        raise PayloadError(f"{what}: {market[:20]!r} was not asked for")
    return MARKETS[market]


MARKET_RATIOS = Table(
    "markets",
    must(_market, TRADE_MARKET_CODE="index_code"),
    must(day_of, TRADE_DATE="date"),
    may(number, PE_TTM_AVG="pe_ttm"),
    may(amount, LISTING_ORG_NUM="member_count"),
    may(_yi, TOTAL_MARKET_CAP="total_market_cap_yi"),
    some=("PE_TTM_AVG", "TOTAL_MARKET_CAP"),
    of="market",
    key="index_code",
)


def _name(value: Any, what: str) -> str | None:
    return plain_text(value or "", what, 64) or None


def _board_code(value: Any, what: str) -> str:
    """A number of this report alone (016165)."""
    board = string_of(value, f"{what} BOARD_CODE")
    if not 0 < len(board) <= 16 or not board.isascii() or not board.isalnum():
        raise PayloadError(f"{what}: {board[:20]!r} is no board")
    return board


def _digits(value: Any, what: str) -> str:
    """The digits of BK1277; '' where there are none."""
    digits = str(value or "").removeprefix("BK")
    if digits and (not digits.isascii() or not digits.isdigit() or len(digits) > _MOST_DIGITS):
        raise PayloadError(f"{what} {digits[:20]!r}")
    return digits


def _known_number(row: dict[str, Any], what: str) -> None:
    if row["_digits"]:
        row["industry_code"] = f"BK{row['_digits']:0>4}"


BOARD_RATIOS = Table(
    "boards",
    must(_board_code, BOARD_CODE="industry_code"),
    must(_digits, ORIGINALCODE="_digits"),
    must(day_of, TRADE_DATE="date"),
    may(_name, BOARD_NAME="industry_name"),
    may(number, PE_TTM="pe_weighted", PB_MRQ="pb"),
    may(amount, NUM="member_count"),
    may(_yi, TOTAL_MARKET_CAP="total_market_cap_yi"),
    check=_known_number,
    of="board",
    key="industry_code",
)
"""Ratios as published, also below zero. `industry_code` is the number under which lists and lines know the
board (BK0475), where the row has it."""
boards_report = Dated(
    "RPT_VALUEINDUSTRY_DET", BOARD_RATIOS, "TRADE_DATE", "BOARD_CODE", "industry_code date", code="BOARD_CODE"
)
