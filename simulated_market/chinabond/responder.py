"""historyQuery: a page whose second table holds the yield curves of a span, newest first."""

from collections.abc import Sequence
from datetime import date, timedelta

from simulated_market import economy
from simulated_market.wire import HttpRequest, Reply, Site, View, route

_HEADS = {"3月": 0.25, "6月": 0.5, "1年": 1, "3年": 3, "5年": 5, "7年": 7, "10年": 10, "30年": 30}
_CURVES = {"中债国债收益率曲线": 0.0, "中债商业银行普通债收益率曲线(AAA)": 0.25}
_MOST = timedelta(days=364)


def history(request: HttpRequest, view: View) -> Reply:
    """Two curves of each date; a span of a year or more has no rows."""
    days = economy.china_span(view, request.params(), economy.CURVE_OUT, _MOST) or []
    lines = [_line(name, extra, day) for day in days for name, extra in _CURVES.items()]
    return Reply(_page(view.cut(lines)), "text/html;charset=UTF-8")


def _line(name: str, extra: float, day: date) -> str:
    values = [f"{economy.government_yield('cn', years, day) + extra:.4f}" for years in _HEADS.values()]
    cells = "".join(f'<td align="center">\n {value} </td>' for value in (name, str(day), *values))
    return f"<tr>{cells}</tr>"


def _page(lines: Sequence[str]) -> bytes:
    heads = "".join(f"<th>{head}</th>" for head in ("曲线名称", "日期", *_HEADS))
    return (
        "<!DOCTYPE html><html><head><title>中国国债收益率曲线</title></head><body>"
        '<table class="search"><tr><td>起始日期</td><td><input name="startDate"/></td></tr></table>'
        f'<table id="gjqxData"><tr>{heads}</tr>{"".join(lines)}</table>'
        "</body></html>"
    ).encode()


CHINABOND = Site("chinabond", (route("history", r"/cbweb-pbc-web/pbc/historyQuery", history),))
