"""Notices, research, articles and flash news as the portal's four hosts answer them."""

import json
from typing import Any

from simulated_market.eastmoney.envelope import market_of
from simulated_market.notices import Notice, NoticeBook, page_of
from simulated_market.press import Article, Flash, Press, Report
from simulated_market.wire import HttpRequest, Reply, View, json_reply
from simulated_market.world.model import Security

_NOTICES, _RESEARCH, _FLASHES = 100, 100, 50
_KINDS = {"main": "A,SHA", "star": "A,SHA,KCB", "gem": "A,SZA,CYB", "bj": "A,BJA"}


class PressContext:
    """np-anotice-stock, reportapi, search-api-web and np-weblist."""

    def __init__(self, notices: NoticeBook) -> None:
        self._book = notices
        self._press = Press(self._book)

    def notices(self, request: HttpRequest, view: View) -> Reply:
        """Notices by disclosure date; one of several companies is one row."""
        params = request.params()
        since, until = params.get("begin_time", "1990-01-01"), params.get("end_time", "2100-01-01")
        found = self._book.between(view, since, until, params.get("stock_list", ""))
        size = min(_NOTICES, page_of(params.get("page_size", "50")))
        rows = view.page(found, size, page_of(params.get("page_index", "1")))
        listed = [_notice(one) for one in rows]
        data = {"list": listed, "page_index": 1, "page_size": size, "total_hits": len(found)}
        return _reply(request, {"data": data, "error": "", "success": 1})

    def research(self, request: HttpRequest, view: View) -> Reply:
        """Research reports on stocks by date of publication."""
        params = request.params()
        since, until = params.get("beginTime", ""), params.get("endTime", "")
        found = self._press.reports(view, since, until, params.get("code", "")) if since else []
        size = min(_RESEARCH, page_of(params.get("pageSize", "50")))
        page = page_of(params.get("pageNo", "1"))
        listed = [_report(one) for one in view.page(found, size, page)]
        document = {
            "hits": len(found),
            "size": len(listed),
            "data": listed or None,
            "TotalPage": -(-len(found) // size),
            "pageNo": page,
            "currentYear": view.now.year,
        }
        return _reply(request, document)

    def articles(self, request: HttpRequest, view: View) -> Reply:
        """Articles that mention the keyword, as JSONP; no keyword, no list."""
        try:
            asked = json.loads(request.params().get("param", ""))
            how = asked["param"]["cmsArticleWebOld"]
            keyword, page, size = str(asked["keyword"]), int(how["pageIndex"]), int(how["pageSize"])
        except (ValueError, KeyError, TypeError):
            return _reply(request, {"code": 1, "msg": "param error", "hitsTotal": 0, "result": {}})
        found = self._press.articles(view, keyword)
        shown = [_article(one, keyword) for one in found[(page - 1) * size : page * size]]
        result = {"cmsArticleWebOld": shown}
        return _reply(request, {"code": 0, "msg": "OK", "hitsTotal": len(found), "result": result})

    def flashes(self, request: HttpRequest, view: View) -> Reply:
        """The newest flash news, or those before the mark `sortEnd`."""
        params = request.params()
        if not params.get("req_trace"):
            return _reply(request, {"code": "0", "message": "req_trace is missing", "data": None})
        found = self._press.flashes(view)
        mark = params.get("sortEnd", "")
        after = [one for one in found if not mark or _sort_key(one) < mark]
        shown = after[: min(_FLASHES, page_of(params.get("pageSize", "20")))]
        data = {
            "fastNewsList": [_flash(one) for one in shown],
            "index": 0,
            "sortEnd": _sort_key(shown[-1]) if shown else "",
            "total": len(found),
        }
        return _reply(request, {"code": "1", "message": "success", "data": data, "req_trace": "1"})


def _notice(one: Notice) -> dict[str, Any]:
    code = f"AN{one.day:%Y%m%d}{one.number:010d}"
    companies = [
        {
            "ann_type": _KINDS[security.board],
            "inner_code": f"{one.number}{security.code}",
            "market_code": str(market_of(security)),
            "short_name": name,
            "stock_code": security.code,
        }
        for security, name in zip(one.securities, one.names, strict=True)
    ]
    return {
        "art_code": code,
        "codes": companies,
        "columns": [{"column_code": "001002004001001", "column_name": one.kind}],
        "display_time": f"{one.shown:%Y-%m-%d %H:%M:%S}:123",
        "eiTime": f"{one.shown:%Y-%m-%d %H:%M:%S}:000",
        "language": "0",
        "notice_date": f"{one.day} 00:00:00",
        "sort_date": f"{one.shown:%Y-%m-%d %H:%M:%S}",
        "title": f"{one.names[0]}:{one.title}",
        "title_ch": f"{one.names[0]}:{one.title}",
        "title_en": "",
    }


def _report(one: Report) -> dict[str, Any]:
    value, code, number = one.rating
    return {
        "title": one.title, "stockName": one.name, "stockCode": one.security.code, "orgCode": "80045894",
        "orgName": f"{one.org}股份有限公司", "orgSName": one.org, "publishDate": f"{one.day} 00:00:00.000",
        "infoCode": one.number, "column": "002001001", "predictNextTwoYearEps": one.eps[2],
        "predictNextTwoYearPe": "", "predictNextYearEps": one.eps[1], "predictNextYearPe": "",
        "predictThisYearEps": one.eps[0], "predictThisYearPe": one.pe, "indvInduCode": "1277",
        "indvInduName": one.security.industry, "emRatingCode": code, "emRatingValue": number,
        "emRatingName": value, "lastEmRatingName": value, "indvIsNew": "001", "reportType": 2,
        "author": [f"11000390531.{one.org[:2]}"], "indvAimPriceT": one.target, "indvAimPriceL": one.target,
        "ratingChange": one.change, "researcher": f"{one.org[:2]}研究员", "count": 1, "encodeUrl": "",
        "attachPages": 12, "attachSize": 640,
        "market": {"SH": "SHANGHAI", "SZ": "SHENZHEN"}.get(one.security.market, "BEIJING"),
    }  # fmt: skip


def _article(one: Article, keyword: str) -> dict[str, Any]:
    return {
        "date": f"{one.time:%Y-%m-%d %H:%M:%S}",
        "image": "",
        "code": one.number,
        "title": one.title,
        "content": one.content.replace(keyword, f"<em>{keyword}</em>"),
        "mediaName": one.media,
        "url": f"http://finance.eastmoney.com/a/{one.number}.html",
    }


def _sort_key(one: Flash) -> str:
    return f"{one.time:%Y%m%d%H%M%S}{one.number[-4:]}"


def _flash(one: Flash) -> dict[str, Any]:
    return {
        "summary": f"【{one.title}】{one.title}。",
        "code": one.number,
        "titleColor": one.colour,
        "realSort": _sort_key(one),
        "showTime": f"{one.time:%Y-%m-%d %H:%M:%S}",
        "title": one.title,
        "stockList": [_secid(one.security), "90.BK0477"] if one.colour else [_secid(one.security)],
        "image": [],
        "pinglun_Num": 0,
        "share": 0,
    }


def _secid(security: Security) -> str:
    return f"{market_of(security)}.{security.code}"


def _reply(request: HttpRequest, document: Any) -> Reply:
    return json_reply(document, request.params().get("cb"), "text/javascript; charset=UTF-8")
