"""The second quote site: comma-separated records in GBK, behind a Referer; bars and statements in JSON."""

import json
from collections.abc import Sequence
from datetime import time
from urllib.parse import unquote, urlsplit

from simulated_market import after_hours, foreign_markets, series
from simulated_market.finance import Result
from simulated_market.press import Press
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, Row, View, json_reply, route
from simulated_market.world.dates import iso_of
from simulated_market.world.model import PRICE_UNIT, Flow, Quote, Security

_MOST_CODES = 800
_MOST_BARS = 1023
_GBK = "application/javascript; charset=GB18030"
_STAMPED, _INDEX_STAMPED = (time(16, 29), 60), (time(15, 30, 30), 790)
"""When the records of a session get their last stamp, and within how many seconds."""
_EMPTY_LEVELS = ((0, 0),) * 5


class SinaResponder:
    """`hq.sinajs.cn`, `money.finance.sina.com.cn`, `quotes.sina.cn`."""

    upstream = "sina"

    def __init__(self, books: Books) -> None:
        self._finance = books.finance
        self._press = Press(books.notices)
        service = r"/quotes_service/api/json_v2\.php/"
        self.routes: Sequence[Route] = (
            route("quote", r"/(?:rn=\d+&)?list=.*", self.quotes),
            route("bars", service + r"CN_MarketData\.getKLineData", self.bars),
            route(
                "statement",
                r"/cn/api/openapi\.php/CompanyFinanceService\.getFinanceReport2022",
                self.statement,
            ),
            route("fund_flow", service + r"MoneyFlow\.ssl_qsfx_lscjfb", self.flow),
            route("feed", r"/api/zhibo/feed", self.feed),
        )

    def quotes(self, request: HttpRequest, view: View) -> Reply:
        """A line per symbol, an empty record for one that is not known."""
        if not (urlsplit(request.headers.get("referer", "")).hostname or "").endswith(".sina.com.cn"):
            return Reply(b"Forbidden", "text/html", 403)
        names = [name for name in unquote(request.path.partition("list=")[2]).split(",") if name]
        if len(names) > _MOST_CODES:
            return Reply(b"Request-URI Too Large", "text/html", 414)
        lines = [f'var hq_str_{name}="{self._record(view, name)}";\n' for name in names]
        return Reply("".join(lines).encode("gb18030"), _GBK)

    @staticmethod
    def _record(view: View, name: str) -> str:
        abroad = foreign_markets.site_record(name, view.now) if view.world.label == "sample" else None
        if abroad is not None:
            return abroad
        found = view.quoted(name)
        return "" if found is None else record(view, *found)

    def bars(self, request: HttpRequest, view: View) -> Reply:
        """Unadjusted bars, oldest first; `null` for an unknown symbol."""
        params = request.params()
        security, scale = view.world.find(params.get("symbol", "")), params.get("scale", "240")
        most = min(int(params.get("datalen", "0") or 0), _MOST_BARS)
        if security is None or scale not in {"5", "15", "30", "60", "240"}:
            return Reply(b"null")
        if scale == "240":
            found = series.daily(view.world, security, view.now)[-most:]
        else:
            found = series.minute_bars(view.world, security, view.now, int(scale), most)
        return json_reply([_bar(one, view.lot(security.board, 1)) for one in found])

    def flow(self, request: HttpRequest, view: View) -> Reply:
        """Money flow of a stock, newest first; `null` for an unknown one."""
        params = request.params()
        security = view.world.find(params.get("daima", ""))
        if security is None or security.kind != "stock":
            return Reply(b"null")
        size = max(1, int(params.get("num", "0") or 0) or 10_000)
        closes = {bar.date: bar.close for bar in series.daily(view.world, security, view.now)}
        flows = [one for one in view.world.flows(security, view.now) if one.date in closes]
        rows = [_flow(one, closes[one.date]) for one in reversed(flows[-size:])]
        return Reply(json.dumps(rows, separators=(",", ":")).encode("gb18030"), _GBK)

    def feed(self, request: HttpRequest, view: View) -> Reply:
        """A page of the flash news, newest first."""
        params = request.params()
        size = max(1, min(100, int(params.get("page_size", "20"))))
        start = (max(1, int(params.get("page", "1"))) - 1) * size
        rows = [
            {
                "rich_text": f"【{one.title}】{one.title}。",
                "create_time": one.time.strftime("%Y-%m-%d %H:%M:%S"),
                "ext": json.dumps({"stocks": [{"market": "cn", "symbol": one.security.symbol}]}),
            }
            for one in self._press.flashes(view)[start : start + size]
        ]
        feed = {"list": rows, "page_info": {"page": params.get("page", "1"), "pageSize": size}}
        return json_reply({"result": {"status": {"code": 0, "msg": "OK"}, "data": {"feed": feed}}})

    def statement(self, request: HttpRequest, view: View) -> Reply:
        """The newest periods of one statement, by period; none of a company without reports."""
        params = request.params()
        security = view.world.find(params.get("paperCode", ""))
        kind = params.get("source", "")
        size = max(1, min(100, int(params.get("num", "10"))))
        found = [] if security is None else self._finance.of_security(view, security)[:size]
        reports = {str(one.period): _statement(one, kind) for one in found}
        dates = [
            {
                "date_value": str(one.period),
                "date_description": _period_name(one),
                "date_type": one.report.months // 3,
            }
            for one in found
        ]
        data: Row = {"report_count": str(len(found)), "report_date": dates, "report_list": reports or []}
        return json_reply({"result": {"status": {"code": 0, "msg": ""}, "data": data}})


def _statement(one: Result, kind: str) -> Row:
    """A statement of one period: its head and its items."""
    return {
        "rType": "合并期末",
        "rCurrency": "CNY",
        "data_source": "定期报告",
        "is_audit": "已审计" if one.report.months == 12 else "未审计",
        "publish_date": str(one.notice),
        "update_time": 0,
        "data": _items(one, kind),
        "is_exist_yoy": True,
    }


def _period_name(one: Result) -> str:
    names = {3: "一季报", 6: "中报", 9: "三季报", 12: "年报"}
    return f"{one.period // 10_000}{names[one.report.months]}"


def record(view: View, security: Security, quote: Quote) -> str:
    """33 fields and a comma; shares, but lots of an index of Shanghai."""
    index = security.kind == "index"
    digits = 4 if index and security.market == "SH" else 3
    lot = 100 if index and security.market == "SH" else view.lot(security.board, 1)
    idle = quote.suspended or not quote.volume
    prices = (0, 0, 0, 0) if idle else (quote.open, quote.price, quote.high, quote.low)
    open_, last, high, low = (f"{value / PRICE_UNIT:.{digits}f}" for value in prices)
    bids, asks = ((*(() if index else side), *_EMPTY_LEVELS)[:5] for side in (quote.bids, quote.asks))

    def px(value: int) -> str:
        return "0" if index and security.market == "SH" else f"{value / PRICE_UNIT:.3f}"

    stamped = after_hours.stamp(quote, view.now, *(_INDEX_STAMPED if index else _STAMPED))
    late, late_money = after_hours.traded(security, quote, view.now)
    levels = [text for level in (*bids, *asks) for text in (str(level[1]), px(level[0]))]
    fields = [
        quote.name,
        open_,
        f"{quote.preclose / PRICE_UNIT:.{digits}f}",
        last,
        high,
        low,
        px(bids[0][0]),
        px(asks[0][0]),
        str(quote.volume // lot),
        f"{quote.amount:.0f}" if digits == 4 else f"{quote.amount:.3f}",
        *levels,
        *stamped.strftime("%Y-%m-%d %H:%M:%S").split(),
        "03" if quote.suspended else "00",
    ]
    if late and security.board in {"gem", "star"}:
        fields.append(f"D|{late}|{late_money:.3f}")
    return ",".join(fields) + ("," if security.market == "SH" and not late else "")


def _flow(one: Flow, close: int) -> Row:
    """Texts in CNY: turnover and net of orders of each size. Small orders are counted as this site does, so
    that the four nets do not cancel."""
    sizes = ("super_large", "large", "medium", "small")
    both = [(getattr(one, f"{size}_in"), getattr(one, f"{size}_out")) for size in sizes]
    nets = [round(bought - sold, 2) for bought, sold in both]
    nets[3] = round(nets[3] / 2, 2)
    return {
        "opendate": iso_of(one.date),
        "trade": f"{close / PRICE_UNIT:.4f}",
        "netamount": f"{sum(nets):.4f}",
        **{f"r{at}": f"{bought + sold:.4f}" for at, (bought, sold) in enumerate(both)},
        **{f"r{at}_net": f"{net:.4f}" for at, net in enumerate(nets)},
    }


def _bar(bar: series.Bar, lot: int) -> Row:
    day = bar.iso if not bar.minute else f"{bar.iso} {bar.clock}:00"
    prices = {name: f"{getattr(bar, name) / PRICE_UNIT:.3f}" for name in ("open", "high", "low", "close")}
    return {"day": day, **prices, "volume": str(bar.volume // lot)}


def _items(one: Result, kind: str) -> list[Row]:
    report = one.report
    titles: dict[str, tuple[tuple[str, float | None], ...]] = {
        "lrb": (
            ("一、营业总收入", report.revenue),
            ("营业收入", report.revenue),
            ("二、营业利润", report.operating_profit),
            ("三、利润总额", report.total_profit),
            ("归属于母公司所有者的净利润", report.net_profit),
        ),
        "fzb": (
            ("流动资产合计", one.current_assets),
            ("资产总计", report.total_assets),
            ("负债合计", report.total_liabilities),
        ),
        "llb": (("经营活动产生的现金流量净额", report.operating_cash_flow),),
    }
    return [
        {
            "item_title": title,
            "item_value": None if value is None else f"{value:.6f}",
            "item_tongbi": _change(one, title, value),
        }
        for title, value in titles.get(kind, ())
    ]


def _change(one: Result, title: str, value: float | None) -> float | str:
    """On the year before, as a fraction; only of revenue here."""
    if one.before is None or not title.endswith("收入") or not value or not one.before.revenue:
        return ""
    return round(value / one.before.revenue - 1, 5)
