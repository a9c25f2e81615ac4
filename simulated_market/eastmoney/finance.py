"""Reports of the data centre about results, and the rows of a company's pages."""

from collections.abc import Callable, Mapping

from simulated_market.eastmoney.columns import SHARE, columns, identity, trade_market
from simulated_market.eastmoney.conditions import Conditions, Maker
from simulated_market.finance import Express, FinanceBook, Result, change, percent
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of

_QUARTERS = {3: "一季报", 6: "中报", 9: "三季报", 12: "年报"}
_ORG_TYPES = {"银行": "银行", "证券": "证券", "保险": "保险"}
_TYPES = {3: "一季报", 6: "半年报", 9: "三季报", 12: "年报"}


class FinanceReports:
    """RPT_LICO_FN_CPD, RPT_DMSK_FN_BALANCE / INCOME / CASHFLOW, RPT_FCI_PERFORMANCEE and
    RPT_PUBLIC_OP_NEWPREDICT."""

    def __init__(self, book: FinanceBook) -> None:
        self._book = book

    @property
    def makers(self) -> Mapping[str, Maker]:
        return {
            "RPT_LICO_FN_CPD": self._results("REPORTDATE", summary_row),
            "RPT_DMSK_FN_BALANCE": self._results("REPORT_DATE", balance_row),
            "RPT_DMSK_FN_INCOME": self._results("REPORT_DATE", income_row),
            "RPT_DMSK_FN_CASHFLOW": self._results("REPORT_DATE", cash_row),
            "RPT_FCI_PERFORMANCEE": self._express,
            "RPT_PUBLIC_OP_NEWPREDICT": self._forecasts,
        }

    def _results(self, dated: str, make: Callable[[Result], Row]) -> Maker:
        def rows(view: View, conditions: Conditions) -> list[Row]:
            period = conditions.day(dated)
            if period is not None:
                return [make(one) for one in self._book.of_period(view, period)]
            asked = conditions.named(view.world.securities(view.now))
            return [make(one) for security in asked for one in self._book.of_security(view, security)]

        return rows

    def _early(self, view: View, conditions: Conditions) -> list[Express]:
        return self._book.express(view, conditions.day("REPORT_DATE"), conditions.codes() or None)

    def _express(self, view: View, conditions: Conditions) -> list[Row]:
        return [express_row(one) for one in self._early(view, conditions)]

    def _forecasts(self, view: View, conditions: Conditions) -> list[Row]:
        """A company with an express report forecasts the same result some days before it."""
        return [row for one in self._early(view, conditions) for row in forecast_rows(one)]


def _head(one: Result, dated: str = "REPORT_DATE", notice: int | None = None) -> Row:
    when = stamp_of(one.notice if notice is None else notice)
    return {
        **identity(one.security, one.name),
        "SECURITY_TYPE_CODE": SHARE,
        "SECURITY_TYPE": "A股",
        "TRADE_MARKET_CODE": trade_market(one.security),
        dated: stamp_of(one.period),
        "NOTICE_DATE": when,
        "UPDATE_DATE": when,
    }


def summary_row(one: Result) -> Row:
    report = one.report
    return _head(one, "REPORTDATE") | {
        "BASIC_EPS": one.eps,
        "DEDUCT_BASIC_EPS": round(one.deducted / one.shares, 4),
        "TOTAL_OPERATE_INCOME": report.revenue,
        "PARENT_NETPROFIT": report.net_profit,
        "WEIGHTAVG_ROE": one.roe,
        "YSTZ": one.yoy("revenue"),
        "SJLTZ": one.yoy("net_profit"),
        "BPS": one.bvps,
        "MGJYXJJE": round(report.operating_cash_flow / one.shares, 6),
        "XSMLL": one.gross_margin,
        "YSHZ": None,
        "SJLHZ": None,
        "ASSIGNDSCRPT": None,
        "ZXGXL": None,
        "DATATYPE": f"{one.period // 10_000}年 {_QUARTERS[report.months]}",
    }


_BALANCE = columns("""
    TOTAL_ASSETS=report.total_assets MONETARYFUNDS=cash ACCOUNTS_RECE=receivables INVENTORY=inventory
    TOTAL_LIABILITIES=report.total_liabilities TOTAL_EQUITY=report.net_assets
""")
_INCOME = columns("""
    PARENT_NETPROFIT=report.net_profit TOTAL_OPERATE_INCOME=report.revenue TOTAL_OPERATE_COST=operating_cost
    OPERATE_COST=cost SALE_EXPENSE=selling MANAGE_EXPENSE=administration FINANCE_EXPENSE=interest
    OPERATE_PROFIT=report.operating_profit TOTAL_PROFIT=report.total_profit DEDUCT_PARENT_NETPROFIT=deducted
""")
_CASH = columns("""
    NETCASH_OPERATE=report.operating_cash_flow NETCASH_INVEST=investing NETCASH_FINANCE=financing
    CCE_ADD=cash_added
""")


def balance_row(one: Result) -> Row:
    report = one.report
    return {
        **_head(one),
        **_BALANCE(one),
        "DEBT_ASSET_RATIO": percent(report.total_liabilities, report.total_assets),
        "CURRENT_RATIO": percent(report.current_assets, report.current_liabilities),
    }


def income_row(one: Result) -> Row:
    growth = {"TOI_RATIO": one.yoy("revenue"), "PARENT_NETPROFIT_RATIO": one.yoy("net_profit")}
    return _head(one) | _INCOME(one) | growth


def cash_row(one: Result) -> Row:
    return _head(one) | _CASH(one)


def express_row(express: Express) -> Row:
    one, before = express.result, express.result.before
    was = (None, None) if before is None else (before.revenue, before.net_profit)
    return _head(one, notice=express.notice) | {
        "BASIC_EPS": round(express.net_profit / one.shares, 4),
        "TOTAL_OPERATE_INCOME": express.revenue,
        "TOTAL_OPERATE_INCOME_SQ": was[0],
        "PARENT_NETPROFIT": express.net_profit,
        "PARENT_NETPROFIT_SQ": was[1],
        "PARENT_BVPS": one.bvps,
        "WEIGHTAVG_ROE": one.roe,
        "YSTZ": None if was[0] is None else change(express.revenue, was[0]),
        "JLRTBZCL": None if was[1] is None else change(express.net_profit, was[1]),
        "DJDYSHZ": None,
        "DJDJLHZ": None,
        "PUBLISHNAME": one.security.sector,
        "QDATE": f"{one.period // 10_000}Q{one.report.months // 3}",
        "DATATYPE": f"{one.period // 10_000}年 {_QUARTERS[one.report.months]}",
        "ISNEW": "1",
    }


def forecast_rows(express: Express) -> list[Row]:
    """One notice, two figures: net profit and net profit without one-off items."""
    one = express.result
    rows = []
    for code, name, value in (
        ("004", "归属于上市公司股东的净利润", one.report.net_profit),
        ("005", "扣除非经常性损益后的净利润", one.deducted),
    ):
        low, high = sorted((round(value * 0.95, -4), round(value * 1.05, -4)))
        base = one.before.net_profit if one.before is not None and code == "004" else None
        rows.append(
            _head(one, notice=express.notice)
            | {
                "PREDICT_FINANCE_CODE": code,
                "PREDICT_FINANCE": name,
                "PREDICT_AMT_LOWER": low,
                "PREDICT_AMT_UPPER": high,
                "ADD_AMP_LOWER": None if base is None else change(low, base),
                "ADD_AMP_UPPER": None if base is None else change(high, base),
                "PREDICT_TYPE": _forecast_type(value, base),
                "PREYEAR_SAME_PERIOD": base,
                "PREDICT_CONTENT": f"预计{name}{low:.0f}元至{high:.0f}元",
                "CHANGE_REASON_EXPLAIN": None,
                "FORECAST_JZ": round((low + high) / 2, 2),
                "INCREASE_JZ": None if base is None else change((low + high) / 2, base),
                "IS_LATEST": "T",
            }
        )
    return rows


def _forecast_type(value: float, before: float | None) -> str:
    if before is None:
        return "不确定"
    if value < 0:
        return "首亏" if before > 0 else "续亏"
    if before < 0:
        return "扭亏"
    grown = value / before - 1 if before else 0.0
    return "预增" if grown > 0.5 else "略增" if grown > 0 else "略减" if grown > -0.5 else "预减"


# -- pages of one company -------------------------------------------------------------------------------


def main_row(one: Result) -> Row:
    """RPT_F10_FINANCE_MAINFINADATA; what banks and brokers add is left out."""
    report = one.report
    current, owed, stock, due = one.current_assets, one.current_liabilities, one.inventory, one.receivables
    quick = None if current is None or stock is None else current - stock
    opening = one.opening
    mean = None if opening is None else (opening.total_assets + report.total_assets) / 2
    days = report.months * 30
    turnover = None if mean is None else round(report.revenue / mean, 6)
    return {
        **identity(one.security, one.name),
        "ORG_TYPE": _ORG_TYPES.get(one.security.industry) or _ORG_TYPES.get(one.security.sector, "通用"),
        "REPORT_DATE": stamp_of(one.period),
        "REPORT_TYPE": _QUARTERS[report.months],
        "REPORT_DATE_NAME": f"{one.period // 10_000}{_QUARTERS[report.months]}",
        "NOTICE_DATE": stamp_of(one.notice),
        "UPDATE_DATE": stamp_of(one.notice),
        "CURRENCY": "CNY",
        "EPSJB": one.eps,
        "EPSKCJB": round(one.deducted / one.shares, 4),
        "EPSXS": one.eps,
        "BPS": one.bvps,
        "MGZBGJ": round(report.capital_reserve / one.shares, 12),
        "MGWFPLR": round(report.undistributed / one.shares, 12),
        "MGJYXJJE": round(report.operating_cash_flow / one.shares, 12),
        "TOTALOPERATEREVE": report.revenue,
        "MLR": report.gross_profit,
        "PARENTNETPROFIT": report.net_profit,
        "KCFJCXSYJLR": one.deducted,
        "TOTALOPERATEREVETZ": one.yoy("revenue"),
        "PARENTNETPROFITTZ": one.yoy("net_profit"),
        "KCFJCXSYJLRTZ": one.yoy("net_profit"),
        "ROEJQ": one.roe,
        "ROEKCJQ": None if one.roe is None else round(one.roe * one.deducted / report.net_profit, 6),
        "ZZCJLL": one.roa,
        "XSJLL": percent(report.net_profit, report.revenue),
        "XSMLL": one.gross_margin,
        "ZCFZL": percent(report.total_liabilities, report.total_assets),
        "LD": _ratio(current, owed),
        "SD": _ratio(quick, owed),
        "QYCS": round(report.total_assets / report.net_assets, 12),
        "TAXRATE": percent(report.total_profit - report.net_profit, report.total_profit),
        "TOAZZL": turnover,
        "ZZCZZTS": round(days / turnover, 6) if turnover else None,
        "CHZZL": _ratio(one.cost, stock, 6),
        "CHZZTS": None if not one.cost or not stock else round(days * stock / one.cost, 6),
        "YSZKZZL": _ratio(report.revenue, due, 6),
        "YSZKZZTS": None if not due else round(days * due / report.revenue, 6),
        "YSZKYYSR": _ratio(one.prepaid, report.revenue),
        "XSJXLYYSR": round(1 + report.operating_cash_flow / report.revenue / 10, 12),
        "JYXJLYYSR": round(report.operating_cash_flow / report.revenue, 12),
        "XJLLB": _ratio(report.operating_cash_flow, owed),
        "CQBL": round(report.total_liabilities / report.net_assets, 12),
        "YYZSRGDHBZC": _rolling(one, "revenue"),
        "NETPROFITRPHBZC": _rolling(one, "net_profit"),
        "KFJLRGDHBZC": _rolling(one, "net_profit"),
    }


def _ratio(part: float | None, whole: float | None, digits: int = 12) -> float | None:
    return None if part is None or not whole else round(part / whole, digits)


def _rolling(one: Result, name: str) -> float | None:
    """By how many percent the sum of four quarters is above that of a quarter before: what the cumulative
    amount gained on the year before, over the last year's, a part of it for each quarter."""
    if one.before is None or one.opening is None:
        return None
    quarters = max(one.report.months // 3, 1)
    gained = (getattr(one.report, name) - getattr(one.before, name)) / quarters
    whole = abs(getattr(one.opening, name))
    return round(gained / whole * 100, 6) if whole else None


_STATEMENTS: Mapping[str, Callable[[Result], Row]] = {
    "zcfzb": columns("""
        TOTAL_ASSETS=report.total_assets TOTAL_LIABILITIES=report.total_liabilities
        TOTAL_EQUITY=report.net_assets TOTAL_PARENT_EQUITY=report.net_assets MONETARYFUNDS=cash
        ACCOUNTS_RECE=receivables INVENTORY=inventory TOTAL_CURRENT_ASSETS=current_assets
        TOTAL_CURRENT_LIAB=current_liabilities FIXED_ASSET=report.fixed_assets GOODWILL=goodwill
        CONTRACT_LIAB=prepaid SHORT_LOAN=short_loans LONG_LOAN=long_loans
    """),
    "lrb": columns("""
        TOTAL_OPERATE_INCOME=report.revenue OPERATE_INCOME=report.revenue OPERATE_COST=cost
        SALE_EXPENSE=selling MANAGE_EXPENSE=administration RESEARCH_EXPENSE=research FINANCE_EXPENSE=interest
        OPERATE_PROFIT=report.operating_profit TOTAL_PROFIT=report.total_profit NETPROFIT=report.net_profit
        PARENT_NETPROFIT=report.net_profit DEDUCT_PARENT_NETPROFIT=deducted BASIC_EPS=eps
    """),
    "xjllb": lambda one: {**_CASH(one), "CONSTRUCT_LONG_ASSET": one.investment},
}
"""The amounts of a statement, by its name in the address of its page."""


def statement_row(one: Result, before: Result | None, statement: str) -> Row:
    """A row of zcfzb, lrb or xjllb: every amount with its change."""
    amounts = _STATEMENTS[statement](one)
    earlier = {} if before is None else _STATEMENTS[statement](before)
    changes = {}
    for name, value in amounts.items():
        past = earlier.get(name)
        changes[f"{name}_YOY"] = None if value is None or not past else change(value, past)
    return {
        **identity(one.security, one.name),
        "REPORT_DATE": stamp_of(one.period),
        "REPORT_TYPE": _TYPES[one.report.months],
        "NOTICE_DATE": stamp_of(one.notice),
        "UPDATE_DATE": stamp_of(one.notice),
        "CURRENCY": "CNY",
        "OPINION_TYPE": "标准无保留意见" if one.report.months == 12 else None,
        **amounts,
        **changes,
    }
