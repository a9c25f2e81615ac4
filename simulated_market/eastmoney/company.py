"""Pages of one company: main indicators in the gateway's old dialect, statements as emweb serves them."""

import re

from simulated_market.eastmoney import envelope
from simulated_market.eastmoney.finance import statement_row
from simulated_market.eastmoney.main_figures import main_rows
from simulated_market.finance import FinanceBook, Result
from simulated_market.wire import HttpRequest, Reply, View, json_reply
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import Security

_MAIN = "RPT_F10_FINANCE_MAINFINADATA"
_KINDS = {"银行": "3", "非银金融": "1"}
_GENERAL = "4"
_MOST_DATES = 5
_PAGE = 200
_COMPANY = re.compile(r"\(SECUCODE=\"(\d{6})\.(SH|SZ|BJ)\"\)")


class CompanyPages:
    def __init__(self, book: FinanceBook) -> None:
        self._book = book

    def main(self, request: HttpRequest, view: View) -> Reply:
        """`type` names the report, `filter` the company; newest period first."""
        params = request.params()
        asked = _COMPANY.fullmatch(params.get("filter", ""))
        if params.get("type") != _MAIN or asked is None:
            return json_reply(envelope.no_report(9501, f"报表配置不存在,{params.get('type', '')}"))
        code, market = asked.groups()
        security = _found(view, f"{market.lower()}{code}")
        rows = [] if security is None else main_rows(self._book.whole_past(view, security))
        if not rows:
            return json_reply(envelope.no_report(9201, "返回数据为空"))
        size, page = min(_PAGE, int(params.get("ps", "50"))), int(params.get("p", "1"))
        pages = -(-len(rows) // size)
        return json_reply(envelope.report("1", view.page(rows, size, page), pages=pages, count=len(rows)))

    def kind(self, request: HttpRequest, view: View) -> Reply:
        """The page with the hidden field that holds the form of the statements."""
        symbol = request.params().get("code", "").lower()
        security = view.world.find(symbol)
        kind = _GENERAL if security is None else _kind(security)
        page = (
            '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>财务分析</title></head><body>'
            f'<input id="hidctype" type="hidden" value="{kind}" />'
            f'<input id="hidcode" type="hidden" value="{symbol.upper()}" /></body></html>'
        )
        return Reply(page.encode(), "text/html; charset=utf-8")

    def dates(self, request: HttpRequest, view: View) -> Reply:
        """Periods of a company, newest first; none for another form of statements."""
        rows = [{"REPORT_DATE": stamp_of(one.period)} for one in self._of(request, view)]
        return json_reply({"data": rows})

    def statement(self, request: HttpRequest, view: View) -> Reply:
        """At most five periods of one statement; further requested ones are cut off."""
        asked = [one.strip() for one in request.params().get("dates", "").split(",")][:_MOST_DATES]
        name = request.path.rsplit("/", 1)[-1].removesuffix("AjaxNew")
        found = {stamp_of(one.period)[:10]: one for one in self._of(request, view)}
        rows = view.cut(
            [
                statement_row(found[period], found.get(f"{int(period[:4]) - 1}{period[4:]}"), name)
                for period in asked
                if period in found
            ]
        )
        return json_reply({"pages": 1, "data": rows, "count": len(rows)})

    def _of(self, request: HttpRequest, view: View) -> list[Result]:
        params = request.params()
        security = _found(view, params.get("code", "").lower())
        if security is None or params.get("companyType") != _kind(security):
            return []
        return self._book.of_security(view, security)


def _kind(security: Security) -> str:
    return _KINDS.get(security.sector, _GENERAL)


def _found(view: View, symbol: str) -> Security | None:
    security = view.world.find(symbol)
    return security if security is not None and security.kind == "stock" else None
