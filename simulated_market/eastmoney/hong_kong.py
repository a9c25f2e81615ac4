"""Hong Kong at the portal: the list of companies that are listed twice, and their reports (RPT_HKF10_*)."""

from collections.abc import Callable, Iterable, Mapping

from simulated_market import corporate
from simulated_market.dual_listings import Pair, pairs
from simulated_market.eastmoney.columns import columns
from simulated_market.eastmoney.conditions import Conditions, Maker
from simulated_market.finance import FinanceBook, Result
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of

PAIRS = "b:DLMK0101"
_TYPES = {12: "001", 6: "002", 3: "003", 9: "004"}


def pair_rows(view: View) -> list[Row]:
    """clist b:DLMK0101 in natural units."""
    return [
        {
            "f1": 3,
            "f2": one.h_price,
            "f3": round((one.a_price / (one.quote.preclose / 10_000) - 1) * 100, 2),
            "f12": one.h_code,
            "f13": 116,
            "f14": one.name,
            "f186": one.a_price,
            "f187": round((one.a_price / (one.quote.preclose / 10_000) - 1) * 100, 2),
            "f188": one.premium_pct,
            "f189": round(one.a_price / (one.h_price * one.rate), 4) if one.h_price else "-",
            "f191": one.security.code,
            "f193": one.name,
        }
        for one in pairs(view)
    ]


class HongKong:
    """Rows of the reports, by the name of each."""

    def __init__(self, finance: FinanceBook) -> None:
        self._finance = finance

    def reports(self) -> Mapping[str, Maker]:
        return {
            "RPT_HKF10_FN_MAININDICATOR": self._by_period(lambda one, result: [indicator_row(one, result)]),
            "RPT_HKF10_FN_BALANCE_PC": self._items(_BALANCE),
            "RPT_HKF10_FN_INCOME_PC": self._items(_INCOME),
            "RPT_HKF10_FN_CASHFLOW_PC": self._items(_CASH),
            "RPT_HKF10_MAIN_DIVBASIC": _dividends,
            "RPT_HKF10_INFO_SECURITYINFO": _of_pair(listing_row),
            "RPT_HKF10_INFO_ORGPROFILE": _of_pair(profile_row),
        }

    def _by_period(self, make: Callable[[Pair, Result], Iterable[Row]]) -> Maker:
        def rows(view: View, conditions: Conditions) -> list[Row]:
            return [
                row
                for one in _asked(view, conditions)
                for result in self._finance.of_security(view, one.security)
                for row in make(one, result)
            ]

        return rows

    def _items(self, items: Callable[[Result], Row]) -> Maker:
        return self._by_period(
            lambda one, result: (
                _head(one, result)
                | {"STD_ITEM_CODE": f"00400{at:04d}", "STD_ITEM_NAME": item, "AMOUNT": value}
                for at, (item, value) in enumerate(items(result).items(), start=1)
            )
        )


def _asked(view: View, conditions: Conditions) -> list[Pair]:
    codes = conditions.codes("SECUCODE")
    return [one for one in pairs(view) if one.h_code in codes]


def _of_pair(make: Callable[[Pair], Row]) -> Maker:
    return lambda view, conditions: [make(one) for one in _asked(view, conditions)]


def _identity(one: Pair) -> Row:
    return {"SECUCODE": f"{one.h_code}.HK", "SECURITY_CODE": one.h_code, "SECURITY_NAME_ABBR": one.name}


def _head(one: Pair, result: Result) -> Row:
    return {
        **_identity(one),
        "REPORT_DATE": stamp_of(result.period),
        "DATE_TYPE_CODE": _TYPES[result.report.months],
        "CURRENCY": "CNY",
    }


def indicator_row(one: Pair, result: Result) -> Row:
    """RPT_HKF10_FN_MAININDICATOR: reporting currency, percent."""
    report = result.report
    margin = report.net_profit / report.revenue * 100 if report.revenue else None
    return {
        **_head(one, result),
        "PER_NETCASH_OPERATE": round(report.operating_cash_flow / result.shares, 6),
        "PER_OI": round(report.revenue / result.shares, 6),
        "BPS": result.bvps,
        "BASIC_EPS": result.eps,
        "DILUTED_EPS": result.eps,
        "OPERATE_INCOME": report.revenue,
        "OPERATE_INCOME_YOY": result.yoy("revenue"),
        "GROSS_PROFIT": report.gross_profit,
        "HOLDER_PROFIT": report.net_profit,
        "HOLDER_PROFIT_YOY": result.yoy("net_profit"),
        "GROSS_PROFIT_RATIO": result.gross_margin,
        "NET_PROFIT_RATIO": None if margin is None else round(margin, 6),
        "ROE_AVG": result.roe,
        "ROA": result.roa,
        "DEBT_ASSET_RATIO": round(report.total_liabilities / report.total_assets * 100, 6),
        "CURRENT_RATIO": None,
    }


_BALANCE = columns("""
    流动资产合计=current_assets 总资产=report.total_assets 流动负债合计=current_liabilities
    总负债=report.total_liabilities 股东权益=report.net_assets
""")
_INCOME = columns("""
    营业额=report.revenue 毛利=report.gross_profit 经营溢利=report.operating_profit
    除税前溢利=report.total_profit 股东应占溢利=report.net_profit
""")
_CASH = columns("""
    经营业务现金净额=report.operating_cash_flow 投资业务现金净额=investing 融资业务现金净额=financing
""")


def _dividends(view: View, conditions: Conditions) -> list[Row]:
    """Cash dividends as of mainland companies, in HKD per share."""
    return [
        {
            **_identity(one),
            "NOTICE_DATE": stamp_of(payout.planned),
            "PLAN_EXPLAIN": f"每股派港币{payout.cash / 10 / one.rate:.4f}元",
            "EX_DIVIDEND_DATE": stamp_of(payout.ex_day) if payout.stage == "implemented" else None,
        }
        for one in _asked(view, conditions)
        for payout in corporate.payouts(view, one.security)
        if payout.cash
    ]


def listing_row(one: Pair) -> Row:
    """RPT_HKF10_INFO_SECURITYINFO."""
    return {
        **_identity(one),
        "SECURITY_TYPE": "非港股通普通股",
        "LISTING_DATE": stamp_of(one.security.list_date),
        "BOARD": "主板",
        "TRADE_UNIT": 500,
    }


def profile_row(one: Pair) -> Row:
    """RPT_HKF10_INFO_ORGPROFILE."""
    return {
        **_identity(one),
        "ORG_NAME": f"{one.name}股份有限公司",
        "BELONG_INDUSTRY": one.security.industry,
        "ORG_WEB": f"www.{one.security.code}.example",
        "ORG_PROFILE": f"{one.name}从事{one.security.industry}业务。",
    }
