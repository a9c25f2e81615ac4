"""Trades of executives and visits of institutions in a world.

One person of every company trades in about each fourth month, at the close of a session; the trade is
published two sessions later. After a report three to eight institutions visit the company, which is published
on the next session. Both follow from names, dates and prices alone; a replayed market has neither.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulated_market.corporate import reports
from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.dates import number_of
from simulated_market.world.model import PRICE_UNIT, Security

_SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨"
_GIVEN = ("建国", "志强", "晓明", "文静", "立新", "海燕", "振华", "思远")
_TITLES = ("董事", "董事长", "监事", "高级管理人员", "财务总监")
_RELATIONS = ("本人", "本人", "本人", "配偶", "父母")
_HELD = 2_000_000
_LOT = 100
_TOLD_AFTER = 2
_SESSIONS = 12
"""Sessions of a month among which its trade is; every month has so many."""
_HOUSES = (
    "国泰", "中信", "华夏", "易方达", "嘉实", "广发", "招商", "平安", "太平洋", "高毅", "景林", "淡水泉",
)  # fmt: skip
_KINDS = (("证券", "证券公司"), ("基金", "基金管理公司"), ("资产", "资产管理公司"), ("保险", "保险公司"))
_VISITED_AFTER = 3


@dataclass(frozen=True)
class Trade:
    """`shares` below zero are sold; `held` after the trade; `price` CNY."""

    security: Security
    date: int
    person: str
    title: str
    relation: str
    shares: int
    price: float
    held: int


@dataclass(frozen=True)
class Visit:
    """One visitor of one visit; `number` counts the visitors from 1."""

    security: Security
    name: str
    date: int
    announced: int
    number: int
    visitors: int
    visitor: str
    kind: str
    receiver: str
    content: str


def person_of(security: Security) -> str:
    draw = drawn("person", security.symbol)
    return _SURNAMES[draw % len(_SURNAMES)] + _GIVEN[draw // 16 % len(_GIVEN)]


def trades(view: View, security: Security) -> list[Trade]:
    """Trades that are published by now, oldest first."""
    if view.world.label != "sample":
        return []
    bars = view.world.bars(security, view.now)
    draw = drawn("executive", security.symbol)
    held, found = _HELD, []
    newest = len(bars) - 1 - _TOLD_AFTER
    months = bars.date // 100
    begins = np.flatnonzero(np.diff(months, prepend=0)).tolist()
    for begin, end in itertools.pairwise([*begins, len(bars)]):
        own = drawn(security.symbol, int(months[begin]))
        at = begin + own // 4 % _SESSIONS
        if own % 4 or at >= end or at > newest or not bars.traded[at]:
            continue
        lots = (1 + own // 100 % 60) * _LOT
        shares = -lots if own // 8 % 3 == 0 else lots
        held += shares
        found.append(
            Trade(
                security=security,
                date=int(bars.date[at]),
                person=person_of(security),
                title=_TITLES[draw % len(_TITLES)],
                relation=_RELATIONS[draw // 8 % len(_RELATIONS)],
                shares=shares,
                price=int(bars.close[at]) / PRICE_UNIT,
                held=held,
            )
        )
    return found


def visits(view: View, security: Security, since: int = 0) -> list[Visit]:
    """Visitors of the visits that were published on or after `since` and by now, newest visit first."""
    if view.world.label != "sample":
        return []
    return list(_visits(view, security, since))


def _visits(view: View, security: Security, since: int) -> Iterator[Visit]:
    sessions = view.world.trade_dates()
    today = number_of(view.now)
    for report in reports(view, security, view.now):
        at = int(np.searchsorted(sessions, report.published, side="right")) + _VISITED_AFTER
        if at + 1 >= len(sessions) or int(sessions[at + 1]) > today:
            continue
        if int(sessions[at + 1]) < since or at <= _VISITED_AFTER:
            return
        count = 3 + drawn("visit", security.symbol, report.report_date) % 6
        name = view.world.name(security, view.now)
        for number in range(1, count + 1):
            own = drawn(security.symbol, report.report_date, number)
            ending, kind = _KINDS[own % len(_KINDS)]
            # An institution may send two, as real ones do.
            services = _HOUSES[(own // 4 + number) % len(_HOUSES)]
            yield Visit(
                security=security,
                name=name,
                date=int(sessions[at]),
                announced=int(sessions[at + 1]),
                number=number,
                visitors=count,
                visitor=f"{services}{ending}",
                kind=kind,
                receiver=f"董事会秘书 {person_of(security)}",
                content=f"问:如何看待{security.industry}的景气度?\n答:详见{report.report_date}期报告。",
            )
