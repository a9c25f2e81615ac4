"""Reports of the data centre about risks: pledged shares, goodwill, the portal's marks of every stock."""

from collections.abc import Mapping

from simulated_market import pledges
from simulated_market.corporate import stocks
from simulated_market.draws import drawn
from simulated_market.eastmoney.columns import identity
from simulated_market.eastmoney.conditions import Conditions, Maker
from simulated_market.finance import FinanceBook, Result
from simulated_market.pledges import Pledge, Pledged
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import PRICE_UNIT, Flow, Quote, Report, Security

_WAN = 1e4
_MEAN_OF = 20
_CONTROL = ((0.3, "1", "轻度控盘"), (0.5, "2", "中度控盘"), (1.1, "3", "高度控盘"))
_FULL_HOUR = 15


class RiskReports:
    """Rows of the reports, by the name of each."""

    def __init__(self, finance: FinanceBook) -> None:
        self._finance = finance

    def reports(self) -> Mapping[str, Maker]:
        return {
            "RPT_CSDC_LIST": _pledged,
            "RPTA_APP_ACCUMDETAILS": _pledges,
            "RPT_GOODWILL_STOCKDETAILS": self._goodwill,
            "RPT_DMSK_TS_STOCKNEW": _comments,
        }

    def _goodwill(self, view: View, conditions: Conditions) -> list[Row]:
        period = conditions.day("REPORT_DATE")
        if period is not None:
            found = self._finance.of_period(view, period)
        else:
            asked = conditions.named(stocks(view))
            found = [one for security in asked for one in self._finance.of_security(view, security)]
        return [goodwill_row(one) for one in found if one.goodwill > 0]


def _pledged(view: View, conditions: Conditions) -> list[Row]:
    found = pledges.lists(view, *conditions.between("TRADE_DATE"), conditions.codes())
    return [pledged_row(one) for one in found]


def _pledges(view: View, conditions: Conditions) -> list[Row]:
    asked = conditions.named(stocks(view))
    return [pledge_row(one, view) for security in asked for one in pledges.pledges(view, security)]


def _comments(view: View, conditions: Conditions) -> list[Row]:
    """The newest session alone. Ranks are those among all stocks, whichever are requested."""
    quoted = [(one, view.world.quote(one, view.now)) for one in stocks(view)]
    quotes = [(one, quote) for one, quote in quoted if quote is not None]
    if not quotes:
        return []
    day = max(quote.date for _, quote in quotes)
    ranks, before = _ranks(view, day), _ranks(view, day - 1)
    asked = conditions.codes()
    return [
        comment_row(view, one, quote, ranks[one.symbol], before[one.symbol])
        for one, quote in quotes
        if quote.date == day and (not asked or one.code in asked)
    ]


def _ranks(view: View, day: int) -> dict[str, int]:
    order = sorted(stocks(view), key=lambda one: (-_score(one, day), one.code))
    return {one.symbol: place for place, one in enumerate(order, start=1)}


def _score(security: Security, day: int) -> float:
    own = drawn(security.symbol, "comment") % 3000
    today = drawn(security.symbol, day, "comment") % 1500
    return round(45 + (own + today) / 100, 8)


def pledged_row(one: Pledged) -> Row:
    """RPT_CSDC_LIST: 10k shares and 10k CNY, percent."""
    shares, sellable = round(one.shares / _WAN, 2), round(one.sellable / _WAN, 2)
    return {
        **identity(one.security, one.name, code_first=True),
        "TRADE_DATE": stamp_of(one.date),
        "INDUSTRY": one.security.industry,
        "PLEDGE_RATIO": one.ratio_pct,
        "REPURCHASE_BALANCE": shares,
        "REPURCHASE_UNLIMITED_BALANCE": sellable,
        "REPURCHASE_LIMITED_BALANCE": round(shares - sellable, 2),
        "PLEDGE_MARKET_CAP": round(one.shares * one.price / _WAN, 4),
        "PLEDGE_DEAL_NUM": one.count,
        "Y1_CLOSE_ADJCHRATE": one.change_1y_pct,
    }


def pledge_row(one: Pledge, view: View) -> Row:
    """RPTA_APP_ACCUMDETAILS: shares, percent of the holder's and of all shares."""
    warning, sold = pledges.lines(one)
    start = one.start.isoformat()
    return {
        "SECURITY_CODE": one.security.code,
        "SECURITY_NAME_ABBR": view.world.name(one.security, view.now),
        "HOLDER_NAME": one.holder,
        "NOTICE_DATE": f"{start} 00:00:00",
        "PF_ORG": one.lender,
        "PF_NUM": one.shares,
        "PF_HOLD_RATIO": round(one.shares / one.held * 100, 2),
        "PF_TSR": round(one.shares / one.total * 100, 2),
        "PF_START_DATE": f"{start} 00:00:00",
        "UNFREEZE_STATE": "未解押" if one.runs_on(view.now.date()) else "已解押",
        "WARNING_LINE": warning,
        "OPENLINE": sold,
    }


def goodwill_row(one: Result) -> Row:
    """RPT_GOODWILL_STOCKDETAILS: CNY; ratio to equity as a fraction. A year's decrease is its impairment."""
    before = None if one.opening is None else _goodwill_of(one, one.opening)
    lost = (
        max(0.0, round(before - one.goodwill, 2)) if before is not None and one.report.months == 12 else None
    )
    equity = one.report.net_assets
    return {
        **identity(one.security, one.name, code_first=True),
        "REPORT_DATE": stamp_of(one.period),
        "NOTICE_DATE": stamp_of(one.notice),
        "GOODWILL": one.goodwill,
        "GOODWILL_PRE": before,
        "GOODWILL_CHANGE": lost,
        "SUMSHEQUITY": equity,
        "SUMSHEQUITY_RATIO": round(one.goodwill / equity, 12) if equity else None,
        "PARENTNETPROFIT": one.report.net_profit,
        "PNP_YOY_RATIO": one.yoy("net_profit"),
        "SE_CHANGE_RATIO": round(lost / equity, 12) if lost is not None and equity else None,
        "PNP_CHANGE_RATIO": None,
        "TRADE_BOARD": one.security.board,
    }


def _goodwill_of(one: Result, report: Report) -> float:
    return round(report.other_assets * 0.2 * one.share("goodwill"), 2)


def comment_row(view: View, security: Security, quote: Quote, rank: int, before: int) -> Row:
    """RPT_DMSK_TS_STOCKNEW: CNY, percent, ORG_PARTICIPATE a fraction. FOCUS is null until the close."""
    flow = _flow(view, security, quote.date)
    bars = view.world.bars(security, view.now)
    mean = round(float(bars.close[-_MEAN_OF:].mean()) / PRICE_UNIT, 12) if len(bars) else None
    traded = not quote.suspended and quote.volume > 0
    held = drawn(security.symbol, "held") % 70 / 100
    control = next((number, text) for most, number, text in _CONTROL if held < most)
    valuation = view.world.valuation(security, view.now)
    done = view.now.date().isoformat() > stamp_of(quote.date)[:10] or view.now.hour >= _FULL_HOUR
    return {
        **identity(security, code_first=True),
        "TRADE_DATE": stamp_of(quote.date),
        "SECURITY_NAME_ABBR": quote.name,
        "SUPERDEAL_INFLOW": _whole(flow, "super_large_in"),
        "SUPERDEAL_OUTFLOW": _whole(flow, "super_large_out"),
        "PRIME_INFLOW": None if flow is None else _net(flow),
        "CLOSE_PRICE": quote.price / PRICE_UNIT if traded else None,
        "CHANGE_RATE": round((quote.price / quote.preclose - 1) * 100, 4) if traded else None,
        "TURNOVERRATE": quote.turnover_pct if traded else None,
        "PRIME_COST": mean,
        "PE_DYNAMIC": None if valuation is None else valuation.pe_dynamic,
        "ORG_PARTICIPATE": held,
        "PARTICIPATE_TYPE": control[0],
        "PARTICIPATE_TYPE_CN": control[1],
        "BIGDEAL_INFLOW": _whole(flow, "large_in"),
        "BIGDEAL_OUTFLOW": _whole(flow, "large_out"),
        "TOTALSCORE": _score(security, quote.date),
        "RANK": rank,
        "RANK_UP": before - rank,
        "FOCUS": round(40 + drawn(security.symbol, quote.date, "focus") % 600 / 10, 1) if done else None,
    }


def _flow(view: View, security: Security, day: int) -> Flow | None:
    flows = view.world.flows(security, view.now)
    return flows[-1] if flows and flows[-1].date == day else None


def _whole(flow: Flow | None, name: str) -> int | None:
    return None if flow is None else round(float(getattr(flow, name)))


def _net(flow: Flow) -> int:
    parts = [
        round(float(value))
        for value in (flow.super_large_in, flow.super_large_out, flow.large_in, flow.large_out)
    ]
    return parts[0] - parts[1] + parts[2] - parts[3]
