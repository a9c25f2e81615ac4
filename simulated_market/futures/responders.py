"""Daily files: JSON of Shanghai, its energy exchange, Dalian and Guangzhou, text of the two others."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from simulated_market.futures.book import Contract, of_date
from simulated_market.wire import Handler, HttpRequest, Reply, Site, View, json_reply, route
from simulated_market.world.dates import iso_of

_NOT_FOUND = Reply(b"<html><body>404 Not Found</body></html>", "text/html", 404)
_DIGITS = re.compile(r"\d{8}")
_TEXT = "text/plain; charset=UTF-8"


def _day_in(path: str) -> int:
    found = _DIGITS.findall(path)
    return int(found[-1]) if found else 0


def _shanghai_day(upstream: str, request: HttpRequest, view: View) -> Reply:
    """`kx<date>.dat` of the futures exchange or of the energy exchange."""
    day = _day_in(request.path)
    contracts = of_date(view, upstream, day)
    if not contracts:
        return _NOT_FOUND
    rows = [_shanghai(one, one.month) for one in contracts]
    for code in dict.fromkeys(one.product.code for one in contracts):
        some = next(one for one in contracts if one.product.code == code)
        rows.append({**_shanghai(some, "小计"), **dict.fromkeys(("OPENPRICE", "CLOSEPRICE"), "")})
    rows.append({**_shanghai(contracts[0], ""), "PRODUCTID": "总计    "})
    document = {
        "o_curinstrument": rows,
        "o_curproduct": [],
        "o_curmetalindex": [],
        "report_date": str(day),
        "o_code": 0,
    }
    return json_reply(document, spaced=True)


def _shanghai(one: Contract, month: str) -> dict[str, Any]:
    traded = one.traded("")
    return {
        "PRODUCTID": f"{one.product.code}_f    ", "PRODUCTGROUPID": f"{one.product.code}      ",
        "PRODUCTSORTNO": 10, "PRODUCTNAME": f"{one.product.name}              ", "DELIVERYMONTH": month,
        "PRESETTLEMENTPRICE": one.before, "OPENPRICE": traded["open"], "HIGHESTPRICE": traded["high"],
        "LOWESTPRICE": traded["low"], "CLOSEPRICE": one.close, "SETTLEMENTPRICE": one.settle,
        "ZD1_CHG": one.change, "ZD2_CHG": one.settle_change, "VOLUME": one.volume, "OPENINTEREST": one.held,
        "OPENINTERESTCHG": one.held_change, "TURNOVER": one.turnover, "TASVOLUME": "", "ORDERNO": 0,
        "ORDERNO2": 0,
    }  # fmt: skip


def _financial_day(request: HttpRequest, view: View) -> Reply:
    """CSV in GB 2312 with sums, and an option among the futures."""
    contracts = of_date(view, "cffex", _day_in(request.path))
    if not contracts:
        return _NOT_FOUND
    heads = "合约代码,今开盘,最高价,最低价,成交量,成交金额,持仓量,持仓变化,今收盘,今结算,前结算,涨跌1,涨跌2"
    lines = [f"{heads},隐含波动率(%),Delta"]
    for one in contracts:
        values = (
            f"{one.code}  ", *one.traded("").values(), one.volume, one.turnover, one.held, one.held_change,
            one.close, one.settle, one.before, one.change, one.settle_change, "--", "--",
        )  # fmt: skip
        lines.append(",".join(map(str, values)))
    lines.append("IO2609-C-4000,1.0,2.0,1.0,10,0.3,20,1,1.5,1.5,1.4,0.1,0.1,15.2,0.5")
    lines += ["小计,,,,100,1.0,100,1,,,,,,,", "合计,,,,100,1.0,100,1,,,,,,,"]
    return Reply("\r\n".join(lines).encode("gb18030"), "text/csv")


def _dalian_day(request: HttpRequest, view: View) -> Reply:
    """Texts; no rows on a day without trading."""
    asked = str(request.document().get("tradeDate", ""))
    contracts = of_date(view, "dce", int(asked) if _DIGITS.fullmatch(asked) else 0)
    rows = [{**_day_quotes(one), "variety": one.product.name, "contractId": one.code} for one in contracts]
    rows += [{**row, "variety": f"{row['variety']}小计", "contractId": ""} for row in rows[:1]]
    return json_reply({"success": True, "msg": "操作成功", "data": rows}, spaced=True)


def _guangzhou_day(request: HttpRequest, view: View) -> Reply:
    asked = request.form().get("trade_date", "")
    contracts = of_date(view, "gfex", int(asked) if _DIGITS.fullmatch(asked) else 0)
    rows = [
        {**_day_quotes(one), "variety": one.product.name, "varietyOrder": one.product.code,
         "delivMonth": one.month}
        for one in contracts
    ]  # fmt: skip
    rows += [{**row, "variety": "小计", "delivMonth": ""} for row in rows[:1]]
    return json_reply({"code": "0", "msg": "success", "data": rows}, spaced=True)


def _day_quotes(one: Contract) -> dict[str, Any]:
    figures = {
        **one.traded("-"), "close": one.close, "lastClear": one.before, "clearPrice": one.settle,
        "diff": one.change, "diff1": one.settle_change, "volumn": one.volume, "openInterest": one.held,
        "diffI": one.held_change, "turnover": one.turnover,
    }  # fmt: skip
    return {name: str(figure) for name, figure in figures.items()}


def _zhengzhou_day(request: HttpRequest, view: View) -> Reply:
    """Pipes, thousands commas, one digit for the year."""
    contracts = of_date(view, "czce", day := _day_in(request.path))
    if not contracts:
        return _NOT_FOUND
    heads = (
        "合约代码", "昨结算", "今开盘", "最高价", "最低价", "今收盘", "今结算", "涨跌1", "涨跌2",
        "成交量(手)", "持仓量", "增减量", "成交额(万元)", "交割结算价",
    )  # fmt: skip
    lines = [f"郑州商品交易所期货每日行情表({iso_of(day)})", "|".join(f"{head:<10}" for head in heads)]
    for one in contracts:
        changes = (one.close - one.before, one.settle - one.before)
        prices = (one.before, *one.traded(0.0).values(), one.close, one.settle, *changes)
        counts = (one.volume, one.held, one.held_change)
        values = (*map("{:,.2f}".format, prices), *map("{:,}".format, counts), f"{one.turnover:,.2f}", "")
        lines.append("|".join((f"{one.product.code}{one.month[1:]}  ", *values)))
    sums = "|".join(["小计", *[""] * 8, "100", "100", "1", "1.00", ""])
    return Reply("\r\n".join([*lines, sums, sums.replace("小计", "总计")]).encode(), _TEXT)


def futures_responders() -> list[Site]:
    """One for each exchange, which answers every date at one address."""
    shanghai = r"/data/tradedata/future/dailydata/kx\d{8}\.dat"
    addresses: Sequence[tuple[str, str, Handler]] = (
        ("shfe", shanghai, partial(_shanghai_day, "shfe")),
        ("ine", shanghai, partial(_shanghai_day, "ine")),
        ("cffex", r"/sj/hqsj/rtj/\d{6}/\d{2}/\d{8}_1\.csv", _financial_day),
        ("dce", r"/dcereport/publicweb/dailystat/dayQuotes", _dalian_day),
        ("czce", r"/cn/DFSStaticFiles/Future/\d{4}/\d{8}/FutureDataDaily\.txt", _zhengzhou_day),
        ("gfex", r"/u/interfacesWebTiDayQuotes/loadList", _guangzhou_day),
    )
    return [Site(upstream, (route("daily", path, daily),)) for upstream, path, daily in addresses]
