"""BusinessAnalysis: revenue and cost of a company, half-yearly, by industry, product and region.

Revenue and cost of a report are split in shares that belong to the company, so that each dimension adds up
to the report. Financials have no cost. A replayed market has no rows.
"""

from collections.abc import Iterator

from simulated_market.draws import drawn
from simulated_market.eastmoney.columns import identity
from simulated_market.wire import HttpRequest, Reply, Row, View, json_reply
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import Report, Security

_HALF_YEARS = (6, 12)
_OTHER = "其他(补充)"


def business(request: HttpRequest, view: View) -> Reply:
    """The page of one company; an unknown one has no rows."""
    security = view.world.find(request.params().get("code", "").lower())
    known = security is not None and security.kind == "stock"
    rows = [] if security is None or not known else list(_rows(view, security))
    scope = [] if security is None else [_scope(security)]
    return json_reply({"zyfw": scope, "zygcfx": view.cut(rows)})


def _scope(security: Security) -> Row:
    return {**identity(security), "BUSINESS_SCOPE": f"{security.industry}产品的研发、生产和销售。"}


def _rows(view: View, security: Security) -> Iterator[Row]:
    """Newest period first."""
    for report in reversed(view.world.reports(security, view.now)):
        if report.months in _HALF_YEARS and report.revenue > 0:
            for kind, items in _items(security).items():
                yield from _split(security, report, kind, items)


def _items(security: Security) -> dict[str, list[str]]:
    name = security.industry or security.sector or "主营"
    products = [f"{name}{word}" for word in ("产品", "服务", "配件")]
    return {"1": [name, _OTHER], "2": [*products, _OTHER], "3": ["国内", "国外"]}


def _split(security: Security, report: Report, kind: str, items: list[str]) -> Iterator[Row]:
    left, cost_left = report.revenue, None
    if report.gross_profit is not None:
        cost_left = round(report.revenue - report.gross_profit, 2)
    for place, item in enumerate(items):
        last = place == len(items) - 1
        share = 0.6 + 0.3 * drawn(security.symbol, item) / 2**32
        revenue = left if last else round(left * share, 2)
        cost = None if cost_left is None else cost_left if last else round(cost_left * share, 2)
        left = round(left - revenue, 2)
        cost_left = None if cost_left is None or cost is None else round(cost_left - cost, 2)
        profit = None if cost is None else round(revenue - cost, 2)
        yield {
            **identity(security),
            "REPORT_DATE": stamp_of(report.period),
            "MAINOP_TYPE": kind,
            "ITEM_NAME": item,
            "MAIN_BUSINESS_INCOME": revenue,
            "MBI_RATIO": round(revenue / report.revenue, 6),
            "MAIN_BUSINESS_COST": cost,
            "MBC_RATIO": _part(cost, report.revenue, report.gross_profit),
            "MAIN_BUSINESS_RPOFIT": profit,
            "MBR_RATIO": None
            if not report.gross_profit or profit is None
            else round(profit / report.gross_profit, 6),
            "GROSS_RPOFIT_RATIO": None if profit is None or not revenue else round(profit / revenue, 6),
            "RANK": place + 1,
        }


def _part(cost: float | None, revenue: float, gross: float | None) -> float | None:
    """A cost as a fraction of all costs."""
    if cost is None or gross is None or revenue == gross:
        return None
    return round(cost / (revenue - gross), 6)
