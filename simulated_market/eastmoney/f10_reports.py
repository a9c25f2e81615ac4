"""Reports of holders, share capital and prospects as the data centre has them."""

from collections.abc import Callable
from typing import Any

from simulated_market import capital, forecasts, shareholders
from simulated_market.capital import Buyback, ShareChange
from simulated_market.eastmoney.columns import identity
from simulated_market.eastmoney.conditions import Maker, of_stocks
from simulated_market.forecasts import Outlook
from simulated_market.shareholders import FLOAT, TOP, Holding, Position
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import Security

_CHANGES = {1: "增加", 0: "不变", -1: "减少"}


_CODES = ("SECURITY_CODE", "SECUCODE", "DIM_SCODE")


def reports() -> dict[str, Maker]:
    """Rows by the name of the report."""
    return {
        "RPT_DMSK_HOLDERS": of_stocks(_top_holders(TOP), lambda one, _: top_row(one), "END_DATE", _CODES),
        "RPT_F10_EH_FREEHOLDERS": of_stocks(
            _top_holders(FLOAT), lambda one, _: float_row(one), "END_DATE", _CODES
        ),
        "RPT_MAINDATA_MAIN_POSITIONDETAILS": of_stocks(
            shareholders.positions, lambda one, _: position_row(one), "REPORT_DATE", _CODES
        ),
        "RPT_F10_EH_EQUITY": of_stocks(capital.share_changes, lambda one, _: equity_row(one), codes=_CODES),
        "RPTA_WEB_GETHGLIST_NEW": of_stocks(capital.buybacks, buyback_row, codes=_CODES),
        "RPT_WEB_RESPREDICT": of_stocks(_outlooks, consensus_row, codes=_CODES),
    }


def _top_holders(kind: str) -> Callable[[View, Security, int], list[Holding]]:
    return lambda view, security, since: shareholders.top_holders(view, security, kind, since)


def _outlooks(view: View, security: Security) -> list[Outlook]:
    found = forecasts.outlook(view, security)
    return [] if found is None else [found]


_NO_SHARES = (
    "H_FREE_SHARE", "B_FREE_SHARE", "LIMITED_STATE_LEGAL", "LIMITED_OVERSEAS_NOSTATE",
    "LIMITED_OVERSEAS_NATURAL",
    "NON_FREE_SHARES", "LIMITED_B_SHARES", "OTHER_FREE_SHARES", "LIMITED_STATE_SHARES",
    "LIMITED_DOMESTIC_NOSTATE", "LOCK_SHARES", "LIMITED_FOREIGN_SHARES", "LIMITED_H_SHARES", "SPONSOR_SHARES",
    "STATE_SPONSOR_SHARES", "SPONSOR_SOCIAL_SHARES", "RAISE_SHARES", "RAISE_STATE_SHARES",
    "RAISE_DOMESTIC_SHARES", "RAISE_OVERSEAS_SHARES",
)  # fmt: skip
"""Classes of shares that no company of this market has."""


def top_row(one: Holding) -> Row:
    """RPT_DMSK_HOLDERS: the ratio in percent of all shares."""
    return {"RANK": one.rank, "HOLD_RATIO": round(one.shares / one.of * 100, 6), **_holding(one)}


def float_row(one: Holding) -> Row:
    """RPT_F10_EH_FREEHOLDERS: the ratio in percent of the float."""
    return {
        "HOLDER_RANK": one.rank,
        "FREE_HOLDNUM_RATIO": round(one.shares / one.of * 100, 6),
        **_holding(one),
    }


def _holding(one: Holding) -> Row:
    """The change is a number, or 不变 or 新进 in its place."""
    change: Any = "新进" if one.change is None else one.change or "不变"
    return {
        **identity(one.security, code_first=True),
        "END_DATE": stamp_of(one.period),
        "HOLDER_NAME": one.name,
        "SHARES_TYPE": one.nature,
        "HOLD_NUM": one.shares,
        "HOLD_NUM_CHANGE": change,
        "HOLDNUM_CHANGE_NAME": "新进"
        if one.change is None
        else _CHANGES[(one.change > 0) - (one.change < 0)],
    }


def position_row(one: Position) -> Row:
    """RPT_MAINDATA_MAIN_POSITIONDETAILS: shares, CNY, percent."""
    return {
        **identity(one.security, code_first=True),
        "REPORT_DATE": stamp_of(one.period),
        "ORG_TYPE_CODE": "1",
        "ORG_TYPE": "基金",
        "HOLDER_CODE": one.fund,
        "HOLDER_NAME": one.name,
        "PARENT_ORG_NAME": f"{one.name[:2]}基金管理有限公司",
        "TOTAL_SHARES": one.shares,
        "HOLD_MARKET_CAP": one.value,
        "FREE_SHARES_RATIO": round(one.shares / one.float_shares * 100, 8),
        "NETASSET_RATIO": one.assets_pct,
        "FUND_DERIVECODE": f"{one.fund}.OF",
    }


def equity_row(one: ShareChange) -> Row:
    """RPT_F10_EH_EQUITY: shares."""
    return {
        **identity(one.security, code_first=True),
        "END_DATE": stamp_of(one.date),
        "TOTAL_SHARES": one.total,
        "LIMITED_SHARES": one.total - one.floating,
        "UNLIMITED_SHARES": one.floating,
        "LISTED_A_SHARES": one.floating,
        "FREE_SHARES": one.floating,
        "LIMITED_A_SHARES": one.total - one.floating,
        "CHANGE_REASON": one.reason,
        # All limited shares of this market belong to persons of the mainland.
        "LIMITED_OTHARS": one.total - one.floating,
        "LIMITED_DOMESTIC_NATURAL": one.total - one.floating,
        **dict.fromkeys(_NO_SHARES),
    }


def buyback_row(one: Buyback, view: View) -> Row:
    """RPTA_WEB_GETHGLIST_NEW: CNY and shares."""
    return {
        "DIM_SCODE": one.security.code, "SECURITYSHORTNAME": view.world.name(one.security, view.now),
        "DIM_DATE": f"{one.planned} 00:00:00", "UPD": f"{one.reported} 00:00:00",
        "DIM_TRADEDATE": f"{one.planned} 00:00:00", "REPURENDDATE": f"{one.ends} 00:00:00",
        "REPURPROGRESS": one.progress, "JEXX": one.low, "JESX": one.high,
        "REPURNUMLOWER": round(one.low / one.price_cap), "REPURNUMCAP": round(one.high / one.price_cap),
        "REPURPRICECAP": one.price_cap, "REPURNUM": one.bought or None, "REPURAMOUNT": one.spent or None,
        "UPDATEDATE": f"{one.reported} 00:00:00",
    }  # fmt: skip


def consensus_row(one: Outlook, view: View) -> Row:
    """RPT_WEB_RESPREDICT: last year's result and the forecasts for three years, CNY."""
    first = one.years[0]
    row: Row = {
        **identity(one.security, view.world.name(one.security, view.now), code_first=True),
        "RATING_ORG_NUM": first.brokers,
        "RATING_BUY_NUM": first.brokers // 2,
        "YEAR1": first.year - 1,
        "YEAR_MARK1": "A",
        "EPS1": one.actual,
    }
    for at, year in enumerate(one.years, start=2):
        row |= {f"YEAR{at}": year.year, f"YEAR_MARK{at}": "E", f"EPS{at}": year.mean}
    return row
