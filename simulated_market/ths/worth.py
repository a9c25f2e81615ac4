"""worth.html: broker forecasts for a company, the topic portal's page (GBK, tables)."""

from collections.abc import Sequence

from simulated_market.forecasts import Outlook, outlook
from simulated_market.wire import HttpRequest, Reply, View
from simulated_market.world.dates import iso_of

NOBODY = "本年度暂无机构做出业绩预测"
_HEAD = ("年度", "预测机构数", "最小值", "均值", "最大值", "行业平均数")
_YI = 1e8


def worth(request: HttpRequest, view: View) -> Reply:
    """The page of one company; 404 for an unknown code."""
    code = request.path.split("/")[2]
    found = [one for one in view.world.securities(view.now) if one.code == code and one.kind == "stock"]
    if not found:
        return Reply(b"<html><body>404</body></html>", "text/html", 404)
    forecast = outlook(view, found[0])
    name = view.world.name(found[0], view.now)
    title = f"{name}({code}) 盈利预测_F10_同花顺金融服务网"
    body = f"<p>{NOBODY}</p>" if forecast is None else _tables(forecast)
    page = (
        f'<!DOCTYPE html>\n<html><head><meta charset="gbk"><title>{title}</title></head><body>'
        f"<h1>{name} {code}</h1>{body}{_table((('指标',), ('每股净资产',)))}</body></html>"
    )
    return Reply(page.encode("gb18030"), "text/html; charset=gbk")


def _tables(forecast: Outlook) -> str:
    years = forecast.years
    eps, profit = [], []
    for one in years:
        whole, spread = one.profit, 0.05 if one.brokers > 1 else 0.0
        shares = (one.low, one.mean, one.high, one.mean * 0.6)
        sums = (whole * (1 - spread) / _YI, whole / _YI, whole * (1 + spread) / _YI, whole / _YI / 2)
        eps.append((one.year, one.brokers, *map("{:.2f}".format, shares)))
        profit.append((one.year, one.brokers, *map("{:.2f}".format, sums)))
    means = [*(f"{one.mean:.2f}" for one in years), *(f"{one.profit / _YI:.2f}亿" for one in years)]
    brokers = [(house, person, *means, iso_of(forecast.reported)) for house, person in forecast.brokers]
    head = ("机构名称", "研究员", "预测每股收益(元)", "预测净利润(元)", "报告日期")
    below = [f"{one.year}预测" for one in (*years, *years)]
    return _table([_HEAD, *eps]) + _table([_HEAD, *profit]) + _table([head, below, *brokers])


def _table(rows: Sequence[Sequence[object]]) -> str:
    head, *body = rows
    cells = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body)
    return f'<table class="m_table"><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>'
