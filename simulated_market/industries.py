"""The industry classification of a world, and its indices: levels, ratios, members.

Classes are those of the vocabulary under the published index codes of levels 1 and 2, each level 2 with one
class of level 3 below it, whose code is the sample's own. An index is chained from
its members' returns against their reference prices, weighted by the shares of their first day times the
reference price; a new listing counts after its free days. So a past level never changes.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from core.arrays import Floats, Ints
from simulated_market.memo import FactMemo
from simulated_market.valuations import Lines, Totals
from simulated_market.wire import View
from simulated_market.world.dates import number_of
from simulated_market.world.model import Security
from simulated_market.world.vocabulary import INDUSTRIES

BASE = 1000.0
_SETTLING_DAYS = 5
_WIDEST = 0.305  # the widest price limit, with its rounding
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
# Second-level index codes as they are published (classification of 2021).
_SECOND = dict(
    one.split(":")
    for one in (
        "种植业:801016 养殖业:801017 饲料:801014 农产品加工:801012 渔业:801015 "
        "化学原料:801033 化学制品:801034 农化制品:801038 化学纤维:801032 塑料:801036 橡胶:801037 "
        "普钢:801044 特钢:801045 冶钢原料:801043 "
        "工业金属:801055 贵金属:801053 小金属:801054 能源金属:801056 金属新材料:801051 "
        "半导体:801081 元件:801083 光学光电子:801084 消费电子:801085 电子化学品:801086 "
        "乘用车:801095 商用车:801096 汽车零部件:801093 汽车服务:801092 "
        "白色家电:801111 黑色家电:801112 小家电:801113 照明设备:801115 厨卫电器:801114 "
        "白酒:801125 饮料乳品:801127 调味发酵品:801129 休闲食品:801128 食品加工:801124 "
        "纺织制造:801131 服装家纺:801132 饰品:801133 "
        "造纸:801143 包装印刷:801141 家居用品:801142 文娱用品:801145 "
        "化学制药:801151 中药:801155 生物制品:801152 医疗器械:801153 医疗服务:801156 医药商业:801154 "
        "电力:801161 燃气:801163 "
        "物流:801178 航运港口:801992 铁路公路:801179 航空机场:801991 "
        "房地产开发:801181 房地产服务:801183 "
        "一般零售:801203 专业连锁:801204 互联网电商:801206 贸易:801202 "
        "酒店餐饮:801219 旅游及景区:801993 教育:801994 专业服务:801218 "
        "国有大型银行:801782 股份制银行:801783 城商行:801784 农商行:801785 "
        "证券:801193 保险:801194 多元金融:801191 综合:801231 "
        "水泥:801711 玻璃玻纤:801712 装修建材:801713 "
        "房屋建设:801721 基础建设:801723 专业工程:801724 装修装饰:801722 工程咨询服务:801726 "
        "电池:801737 光伏设备:801735 风电设备:801736 电网设备:801738 电机:801731 "
        "通用设备:801072 专用设备:801074 工程机械:801077 自动化设备:801078 轨交设备:801076 "
        "航天装备:801741 航空装备:801742 地面兵装:801743 航海装备:801744 军工电子:801745 "
        "软件开发:801104 IT服务:801103 计算机设备:801101 "
        "游戏:801764 影视院线:801766 广告营销:801765 出版:801769 数字媒体:801767 "
        "通信设备:801102 通信服务:801223 "
        "煤炭开采:801951 焦炭:801952 炼化及贸易:801963 油服工程:801962 油气开采:801961 "
        "环境治理:801971 环保设备:801972 化妆品:801982 个护用品:801981 医疗美容:801983"
    ).split()
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
            second = _SECOND[l2]
            made.append(Industry("l2", second, f"{number}{at:02d}00", l2, l1, l2))
            third = f"85{number}{at:02d}"
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
    """Indices and ratios; closed days are cached, since they do not change."""

    lines: Lines = field(default_factory=Lines)
    _series: FactMemo[dict[str, Series]] = field(default_factory=lambda: FactMemo(1))

    def series(self, view: View) -> dict[str, Series]:
        """Index -> its past up to now."""
        minute = view.now.hour * 60 + view.now.minute if view.now.hour < 15 else 24 * 60
        return self._series.of(view, (view.now.toordinal(), minute), lambda: _chained(view))

    def totals(self, view: View, day: int) -> dict[str, Totals]:
        """Index -> sums over its members on a date."""
        found = {index: self.lines.totals(view, some, day) for index, some in members(view).items()}
        return {index: one for index, one in found.items() if one is not None}


def _chained(view: View) -> dict[str, Series]:
    dates = view.world.trade_dates()
    dates = dates[dates <= number_of(view.now)]
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
        # A day that no price limit allows, a re-listing's for one, is no part of a level.
        kept &= np.abs(bars.close - bars.preclose) <= _WIDEST * bars.preclose
        is_new = int(bars.date[0]) == security.list_date
        settled = kept & (np.arange(len(bars)) >= (_SETTLING_DAYS if is_new else 0))
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


def _levels(dates: Ints, sums: Floats) -> Series:
    weight = sums[0]
    ratios = np.where(weight > 0, sums[1:5] / np.where(weight > 0, weight, 1.0), 1.0)
    close = BASE * np.cumprod(ratios[3])
    before = np.concatenate([[BASE], close[:-1]])
    return Series(dates, before * ratios[0], before * ratios[1], before * ratios[2], close, sums[5], sums[6])
