"""Billboards as the exchanges show them: a text of fixed layout at Shanghai, rows at Shenzhen."""

from collections.abc import Sequence
from itertools import groupby

from simulated_market.billboard import PUBLISHED, Billboard, Listing, Seat
from simulated_market.days import dates_between
from simulated_market.wire import View
from simulated_market.world.dates import iso_of

YI, WAN = 1e8, 1e4
_NUMBERS = "一二三四五六七八九十"
_LINE = "      " + "-" * 102
_SHENZHEN = {
    "137001001001001": "日价格涨幅偏离值达到{:.2f}%",
    "137001001002001": "日价格跌幅偏离值达到-{:.2f}%",
    "137001001003001": "日价格振幅达到{:.2f}%",
    "137001001004001": "日换手率达到{:.2f}%",
    "137001002001001": "异常期间价格涨幅偏离值累计达到{:.2f}%",
    "137001003001001": "异常期间价格涨幅偏离值累计达到{:.2f}%",
    "137002001001001": "日价格涨幅达到{:.2f}%",
    "137002001002001": "日价格跌幅达到-{:.2f}%",
    "137002001003001": "日价格振幅达到{:.2f}%",
    "137002001004001": "日换手率达到{:.2f}%",
    "137002002001001": "异常期间价格涨幅偏离值累计达到{:.2f}%",
}


def listings_of(book: Billboard, view: View, since: int, until: int, market: str) -> list[Listing]:
    """Listings of a market, newest date first."""
    days = reversed(dates_between(view, since, until, PUBLISHED))
    return [one for day in days for one in book.of_date(view, day) if one.security.market == market]


def shanghai_text(listings: Sequence[Listing], day: int) -> list[str]:
    """The lines of a date: a section for each reason, its table, then a block for each security; foreign
    shares are in a table of their own, without a block."""
    if not listings:
        return []
    digits = str(day)
    lines = ["            上海证券交易所每日交易信息", "",
             f"交易日期:{digits[:4]}年{digits[4:6]}月{digits[6:]}日", ""]  # fmt: skip
    ordered = sorted(listings, key=lambda one: (one.kind, -one.reached, one.security.code))
    for number, (_, group) in enumerate(groupby(ordered, key=lambda one: one.kind)):
        lines += _section(_chinese(number + 1), list(group))
    return [*lines, "                                                        上海证券交易所", ""]


def _chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ("" if tens == 0 else "十" if tens == 1 else _NUMBERS[tens - 1] + "十") + (
        _NUMBERS[ones - 1] if ones else ""
    )


def _section(number: str, group: Sequence[Listing]) -> list[str]:
    reason = group[0].reason
    # A long heading goes on in a second line and then has no colon.
    head = (
        [f"{number}、{reason}:"] if len(reason) < 36 else [f"{number}、{reason[:34]}", f"    {reason[34:]}"]
    )
    shares = [one for one in group if one.security.kind == "stock"]
    others = [one for one in group if one.security.kind != "stock"]
    lines = [*head, " 1、A股", *_table(shares), ""]
    for one in shares:
        lines += _block(one)
    return [*lines, " 2、B股", *_table([one for one in others if one.security.kind == "b"]), "",
            " 3、债券", *_table([one for one in others if one.security.kind == "cb"]), ""]  # fmt: skip


def _table(group: Sequence[Listing]) -> list[str]:
    if not group:
        return []
    figure = "换手率%" if "换手率" in group[0].reason else "振幅%" if "振幅" in group[0].reason else "偏离值%"
    lines = [f"        证券代码      证券简称      {figure}        成交量        成交金额(万元)"]
    for place, one in enumerate(group, start=1):
        volume = round(one.accumulated / one.bar.close)
        name = one.name + " " * max(1, 14 - 2 * len(one.name))
        figures = f"{one.reached:6.2f}%  {volume:>14}  {one.accumulated / WAN:>18.2f}"
        lines.append(f"    ({place})  {one.security.code}      {name}{figures}")
    return lines


def _block(one: Listing) -> list[str]:
    blank = " " * 68
    lines = [f"      证券代码: {one.security.code}{blank}证券简称: {one.name} ", _LINE]
    for side, seats in (("买入", one.buyers), ("卖出", one.sellers)):
        lines.append(f"      {side}营业部名称:{blank}  累计{side}金额(元):")
        for rank, seat in enumerate(seats, start=1):
            lines.append(
                f"  ({rank}) {seat.name}{' ' * max(2, 80 - 2 * len(seat.name))}{_dealt(seat, side):.2f}"
            )
        lines.append("")
    return lines


def _dealt(seat: Seat, side: str) -> float:
    return (seat.bought if side == "买入" else seat.sold) or 0.0


def shenzhen_row(one: Listing) -> dict[str, str]:
    """A row of 1842_xxpl: 亿元 and 万股; `bz` leads to the seats."""
    words = _SHENZHEN.get(one.kind)
    day, code = iso_of(one.date), one.security.code
    return {
        "dqrq": day,
        "zqdm": code,
        "zqjc": one.name,
        "cjsl": f"{one.accumulated / one.bar.close / WAN:,.2f}",
        "cjje": f"{one.accumulated / YI:,.2f}",
        "plyy": words.format(one.reached) if words else one.reason,
        "bz": (
            "<a href='javascript:void(0);' a-back=1 a-param='/ShowReport/data?SHOWTYPE=JSON"
            f"&CATALOGID=1842_detal&TABKEY=tab1,tab2&DQRQ={day}&ZQDM={code}&ZBDM=0901'>查看详情</a>"
        ),
    }
