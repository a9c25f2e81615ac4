"""The industry classification of a world, and its indices: levels, ratios, members.

Classes are those of the vocabulary, each level 2 with one class of level 3 below it. An index is chained from
its members' returns against their reference prices, weighted by the shares of their first day times the
reference price; a new listing counts after its free days. So a past level never changes.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from resources.simulated_market.valuations import Lines, Totals
from resources.simulated_market.wire import View
from resources.simulated_market.world.model import Floats, Ints, Security
from resources.simulated_market.world.vocabulary import INDUSTRIES

BASE = 1000.0
_SETTLING_DAYS = 5
# First-level index codes as they are published; the class code is two digits of its own.
_FIRST = (
    "银行:801780:48 非银金融:801790:49 医药生物:801150:37 电子:801080:27 计算机:801750:71 "
    "电力设备:801730:63 机械设备:801890:64 汽车:801880:28 食品饮料:801120:34 基础化工:801030:22 "
    "有色金属:801050:24 公用事业:801160:41 交通运输:801170:42 房地产:801180:43 通信:801770:73 "
    "传媒:801760:72 国防军工:801740:65 家用电器:801110:33 农林牧渔:801010:11 轻工制造:801140:36 "
    "建筑材料:801710:61 建筑装饰:801720:62 钢铁:801040:23 煤炭:801950:74 石油石化:801960:75 "
    "纺织服饰:801130:35 商贸零售:801200:45 社会服务:801210:46 环保:801970:76 美容护理:801980:77 "
    "综合:801230:51"
)


@dataclass(frozen=True)
class Industry:
    """One class with its index. `class_code` has six digits, zeros below its level."""

    level: str
    index: str
    class_code: str
    name: str
    l1_name: str
    l2_name: str


def _industries() -> tuple[Industry, ...]:
    heads = {name: (code, number) for name, code, number in (one.split(":") for one in _FIRST.split())}
    made = []
    for l1, (index, number) in heads.items():
        made.append(Industry("l1", index, f"{number}0000", l1, l1, ""))
        for at, l2 in enumerate(INDUSTRIES[l1], start=1):
            second = str(int(index) + at)
            made.append(Industry("l2", second, f"{number}{at:02d}00", l2, l1, l2))
            third = f"85{second[3:]}1"
            made.append(Industry("l3", third, f"{number}{at:02d}01", f"{l2}Ⅲ", l1, l2))
    return tuple(made)


ALL: tuple[Industry, ...] = _industries()


@dataclass
class Series:
    """One index by trade date, oldest first: points; shares and CNY."""

    date: Ints
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    amount: Floats


def members(view: View) -> dict[str, list[Security]]:
    """Index -> listed members, for every industry that has one."""
    found: dict[str, list[Security]] = defaultdict(list)
    by_name = {(one.level, one.l1_name, one.l2_name): one.index for one in ALL}
    for security in view.world.securities(view.now):
        if security.kind != "stock" or (("l1", security.sector, "") not in by_name):
            continue
        for level, l2 in (("l1", ""), ("l2", security.industry), ("l3", security.industry)):
            found[by_name[level, security.sector, l2]].append(security)
    return dict(found)


def published(view: View, level: str | None = None) -> list[Industry]:
    """Industries with a member, of one level or of all."""
    known = members(view)
    return [one for one in ALL if one.index in known and level in {None, one.level}]


@dataclass
class IndustryBook:
    """Indices and ratios; what is closed is remembered, since it does not change."""

    lines: Lines = field(default_factory=Lines)
    _series: dict[tuple[int, int, int], dict[str, Series]] = field(default_factory=dict)

    def series(self, view: View) -> dict[str, Series]:
        """Index -> its past up to now."""
        minute = view.now.hour * 60 + view.now.minute if view.now.hour < 15 else 24 * 60
        key = (id(view.world), view.now.toordinal(), minute)
        if view.fault is None and key in self._series:
            return self._series[key]
        made = _chained(view)
        if view.fault is None:
            self._series = {key: made}
        return made

    def totals(self, view: View, day: int) -> dict[str, Totals]:
        """Index -> sums over its members on a date."""
        found = {index: self.lines.totals(view, some, day) for index, some in members(view).items()}
        return {index: one for index, one in found.items() if one is not None}


def _chained(view: View) -> dict[str, Series]:
    dates = view.world.trade_dates()
    today = view.now.year * 10_000 + view.now.month * 100 + view.now.day
    dates = dates[dates <= today]
    owners: dict[str, list[str]] = defaultdict(list)
    for index, some in members(view).items():
        for one in some:
            owners[one.symbol].append(index)
    sums = {index: np.zeros((7, len(dates))) for index in members(view)}
    for symbol, indices in owners.items():
        security = view.world.find(symbol)
        bars = None if security is None else view.world.bars(security, view.now)
        if security is None or bars is None or not len(bars):
            continue
        first = datetime.strptime(str(int(bars.date[0])), "%Y%m%d").replace(hour=15)
        total, floating = view.world.shares(security, min(first, view.now))
        places = np.searchsorted(dates, bars.date)
        kept = (places < len(dates)) & (bars.preclose > 0)
        settled = kept & (np.arange(len(bars)) >= (_SETTLING_DAYS if _is_new(security, bars.date) else 0))
        weight = np.where(settled, float(floating or total or 1) * bars.preclose, 0.0)
        base = np.maximum(bars.preclose, 1)
        rows = np.stack(
            [
                weight,
                *(weight * (one / base) for one in (bars.open, bars.high, bars.low, bars.close)),
                bars.volume.astype(float),
                bars.amount,
            ]
        )
        for index in indices:
            # Every date of a stock is another place, so nothing is added twice.
            sums[index][:, places[kept]] += rows[:, kept]
    return {index: _levels(dates, one) for index, one in sums.items()}


def _is_new(security: Security, dates: Ints) -> bool:
    return int(dates[0]) == security.list_date


def _levels(dates: Ints, sums: Floats) -> Series:
    weight = sums[0]
    ratios = np.where(weight > 0, sums[1:5] / np.where(weight > 0, weight, 1.0), 1.0)
    close = BASE * np.cumprod(ratios[3])
    before = np.concatenate([[BASE], close[:-1]])
    return Series(dates, before * ratios[0], before * ratios[1], before * ratios[2], close, sums[5], sums[6])
