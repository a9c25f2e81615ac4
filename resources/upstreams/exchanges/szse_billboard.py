"""Shenzhen: the billboard (ShowReport 1842_xxpl, tab1): listings with their reasons, without seats.

Turnover in 亿元, volume in 万股, both texts with thousands commas. The reason holds the reached figure
(日价格涨幅达到20.83%); it is translated into the portal's name of the rule, so that one listing has
one key in all sources.
"""

import re
from functools import partial
from typing import Any

from core.errors import PayloadError
from core.market.names import is_st
from core.market.securities import board_of
from resources.transport.request import Request
from resources.upstreams.exchanges.common import in_one_unit, shown_name
from resources.upstreams.exchanges.szse_report import page_of, report_request, tab_of
from resources.upstreams.parsing.paging import Page
from resources.upstreams.parsing.payload import grouped_amount, iso_day, promised, required, string_of
from resources.upstreams.parsing.rows import security_code

MOST_PAGES = 200
YI, WAN = 1e8, 1e4
_TAB = "tab1"
_WIRE = ("dqrq", "zqdm", "zqjc", "cjje", "plyy")
_REACHED = re.compile(r"^(.*?达到)-?[\d.]+%$")
_RULES: dict[str, tuple[str, str]] = {
    "日价格涨幅偏离值达到": ("日涨幅偏离值达到7%的前5只证券",) * 2,
    "日价格跌幅偏离值达到": ("日跌幅偏离值达到7%的前5只证券",) * 2,
    "日价格涨幅达到": ("日涨幅达到15%的前5只证券",) * 2,
    "日价格跌幅达到": ("日跌幅达到15%的前5只证券",) * 2,
    "日价格振幅达到": ("日振幅值达到15%的前5只证券", "日振幅值达到30%的前5只证券"),
    "日换手率达到": ("日换手率达到20%的前5只证券", "日换手率达到30%的前5只证券"),
    "异常期间价格涨幅偏离值累计达到": (
        "连续三个交易日内，涨幅偏离值累计达到20%的证券",
        "连续三个交易日内，涨幅偏离值累计达到30%的证券",
    ),
    "异常期间价格跌幅偏离值累计达到": (
        "连续三个交易日内，跌幅偏离值累计达到20%的证券",
        "连续三个交易日内，跌幅偏离值累计达到30%的证券",
    ),
}
"""The exchange's reason -> the portal's reason for the main board, and for the growth board."""
_SPECIAL = {
    f"异常期间价格{way}幅偏离值累计达到": (
        f"连续三个交易日内，{way}幅偏离值累计达到12%的ST证券、*ST证券和未完成股改证券"
    )
    for way in "涨跌"
}

PORTAL_WORDS = frozenset(word for words in (*_RULES.values(), tuple(_SPECIAL.values())) for word in words)
"""Reasons of rules that are known; any other is the exchange's own text, which names no rule twice alike."""


def rule_of(reason: str, code: str, name: str) -> str:
    """The portal's name of the rule behind the exchange's reason; without a known rule the reason itself."""
    found = _REACHED.match(reason)
    rule = _RULES.get(found[1]) if found else None
    if found is None or rule is None:
        return reason
    wide = board_of(code, "SZ") == "gem"
    if not wide and is_st(name) and found[1] in _SPECIAL:
        return _SPECIAL[found[1]]
    return rule[wide]


def billboard_request(since: str, until: str, page: int = 1) -> Request:
    asked = (("txtStart", since), ("txtEnd", until))
    label = f"{since}..{until} {page}"
    return report_request("szse.billboard", "billboard", "1842_xxpl", _TAB, *asked, page=page, label=label)


def parse_billboard(body: bytes, since: str, until: str) -> Page:
    """One page, listings with the keys of `BILLBOARD_COLUMNS`; empty where nothing is listed or published."""
    what = "SZSE billboard"
    return page_of(*tab_of(body, _TAB, what), what, partial(_row, since=since, until=until))


def _row(row: dict[str, Any], since: str, until: str) -> dict[str, Any]:
    promised(row, _WIRE, "SZSE billboard")
    code = security_code(row["zqdm"], "SZSE billboard zqdm")
    what = f"SZSE billboard {code}"
    day = iso_day(string_of(row["dqrq"], f"{what} dqrq")[:10], f"{what} dqrq")
    if not since <= day <= until:
        raise PayloadError(f"{what} answered for {day}, asked was {since}..{until}")
    name = shown_name(string_of(row["zqjc"], f"{what} zqjc"), f"{what} zqjc")
    reason = string_of(row["plyy"], f"{what} plyy").strip()
    if not reason:
        raise PayloadError(f"{what} is listed for no reason")
    traded = _figure(row["cjje"], f"{what} cjje") * YI
    # No public client reads the volume: where it is missing, only the check of the unit is.
    if traded > 0 and row.get("cjsl") is not None:  # less than half of 0.01 亿元 is shown as nothing
        in_one_unit(traded + YI / 200, _figure(row["cjsl"], f"{what} cjsl") * WAN, what)
    return {
        "code": code,
        "date": day,
        "name": name,
        "reason": rule_of(reason, code, name),
        "amount": round(traded, 2),
    }


def _figure(value: Any, what: str) -> float:
    return required(grouped_amount(value, what), what)
