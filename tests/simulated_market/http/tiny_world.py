"""A market of a few hand-made instruments: enough for every field, small enough to read.

Prices rise by a hundredth of themselves per day from a base; volumes follow from the code, in whole
lots plus 37 shares, so that lots and shares can be distinguished. No random numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zlib import crc32

import numpy as np

from core.calendar import shipped_calendar
from simulated_market.world.model import (
    Bars,
    Board,
    ExRight,
    Finance,
    Flow,
    Minutes,
    Quote,
    Rename,
    Report,
    Security,
    Ticks,
    Valuation,
)

NOW = datetime(2026, 8, 21, 16, 30)
TODAY = 20260821

_NAMED = (
    Security("600519", "SH", "stock", "main", 2, 20010827, None, "白酒", "贵州", ("白酒概念", "沪股通")),
    Security("688981", "SH", "stock", "star", 2, 20200716, None, "半导体", "上海", ("芯片",)),
    Security("000001", "SH", "index", "", 2, 19901219),
    Security("510300", "SH", "etf", "", 3, 20120528),
    Security("000001", "SZ", "stock", "main", 2, 19910403, None, "银行", "广东", ()),
    Security("000002", "SZ", "stock", "main", 2, 19910129, None, "房地产", "广东", ()),
    Security("300750", "SZ", "stock", "gem", 2, 20180611, None, "电池", "福建", ("锂电池",)),
    Security("399001", "SZ", "index", "", 2, 19910403),
    Security("920047", "BJ", "stock", "bj", 2, 20220101, None, "软件", "北京", ()),
)
_NAMES = {
    "sh600519": "贵州茅台",
    "sh688981": "中芯国际",
    "sh000001": "上证指数",
    "sh510300": "沪深300ETF",
    "sz000001": "平安银行",
    "sz000002": "*ST万 科",
    "sz300750": "宁德时代",
    "sz399001": "深证成指",
    "bj920047": "诺思兰德",
}
SUSPENDED = "sz000002"


@dataclass
class TinyWorld:
    """`fillers` more stocks on the Shenzhen main board, for lists of several pages."""

    fillers: int = 0
    days: int = 80
    label: str = "sample"
    intraday: bool = True
    _all: dict[str, Security] = field(default_factory=dict)
    _dates: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        named = [*_NAMED, *(self._filler(number) for number in range(self.fillers))]
        self._all = {one.symbol: one for one in sorted(named, key=lambda one: (one.market, one.code))}
        days = shipped_calendar().last(self.days + 1, "2026-08-24")
        self._dates = [int(day.replace("-", "")) for day in days]

    @staticmethod
    def _filler(number: int) -> Security:
        return Security(f"001{number:03d}", "SZ", "stock", "main", 2, 20200101, None, "综合", "海南", ())

    # --- World

    def trade_dates(self):
        return np.array(self._dates, dtype=np.int64)

    def securities(self, now: datetime) -> Sequence[Security]:
        return list(self._all.values())

    def find(self, symbol: str) -> Security | None:
        return self._all.get(symbol)

    def name(self, security: Security, now: datetime) -> str:
        return _NAMES.get(security.symbol, f"样本{security.code}")

    def titled(self, title: str) -> str:
        return title

    def bars(self, security: Security, now: datetime) -> Bars:
        today = now.year * 10_000 + now.month * 100 + now.day
        dates = np.array([day for day in self._dates if day <= today], dtype=np.int64)
        count = len(dates)
        tick = 10 if security.decimals == 3 else 100
        step = np.arange(count) % 7
        base = self._base(security)
        close = (base + base * step // 100) // tick * tick
        preclose = np.concatenate(([base // tick * tick], close[:-1]))
        traded = np.ones(count, dtype=np.bool_)
        if security.symbol == SUSPENDED:
            traded[-3:] = False
            close = np.where(traded, close, preclose[-3])
            preclose[-3:] = close[-3:]
        high, low = close + 3 * tick, np.maximum(close - 2 * tick, tick)
        open_ = np.where(traded, close - tick, close)
        high, low = np.where(traded, high, close), np.where(traded, low, close)
        volume = np.where(traded, 100 * (2000 + crc32(security.symbol.encode()) % 5000) + 37 + 100 * step, 0)
        return Bars(
            date=dates,
            open=open_,
            high=high,
            low=low,
            close=close,
            preclose=preclose,
            volume=volume,
            amount=np.round(volume * (close + low) / 2 / 10_000, 2),
            traded=traded,
            turnover_pct=np.where(traded, 1.23, np.nan),
            up_count=np.zeros(count, dtype=np.int64),
            down_count=np.zeros(count, dtype=np.int64),
        )

    @staticmethod
    def _base(security: Security) -> int:
        if security.kind == "index":
            return 38_000_000
        if security.decimals == 3:
            return 47_000
        return 10_000 * (8 + crc32(security.code.encode()) % 90)

    def quote(self, security: Security, now: datetime) -> Quote | None:
        bars = self.bars(security, now)
        if not len(bars):
            return None
        traded = bool(bars.traded[-1])
        price, volume = int(bars.close[-1]), int(bars.volume[-1])
        book = traded and security.kind != "index"
        limited = security.kind == "stock"
        day = int(bars.date[-1])
        preclose = int(bars.preclose[-1])
        return Quote(
            security=security,
            name=self.name(security, now),
            date=day,
            time=datetime(day // 10_000, day // 100 % 100, day % 100, 15, 0, 3),
            price=price,
            preclose=preclose,
            open=int(bars.open[-1]),
            high=int(bars.high[-1]),
            low=int(bars.low[-1]),
            volume=volume,
            amount=float(bars.amount[-1]),
            inner_volume=volume * 2 // 5,
            outer_volume=volume - volume * 2 // 5,
            bids=tuple((price - 100 * level, 1200 + 100 * level) for level in range(5)) if book else (),
            asks=tuple((price + 100 + 100 * level, 900 + 100 * level) for level in range(5)) if book else (),
            suspended=not traded,
            limit_up=round(preclose * 1.1 / 100) * 100 if limited else None,
            limit_down=round(preclose * 0.9 / 100) * 100 if limited else None,
            turnover_pct=1.23 if traded and limited else None,
            volume_ratio=0.87 if traded else None,
            speed_pct=0.05 if traded else None,
            up_count=3 if security.kind == "index" else 0,
            down_count=2 if security.kind == "index" else 0,
        )

    def valuation(self, security: Security, now: datetime) -> Valuation | None:
        if security.kind != "stock":
            return None
        total, tradable = self.shares(security, now)
        price = int(self.bars(security, now).close[-1]) / 10_000
        return Valuation(21.5, 23.0, 19.25, 3.4, 5.5, 1.1, price * total, price * tradable, total, tradable)

    def shares(self, security: Security, now: datetime) -> tuple[int, int]:
        return (1_250_081_601, 900_000_123) if security.kind == "stock" else (0, 0)

    def exrights(self, security: Security, now: datetime) -> Sequence[ExRight]:
        return []

    def minutes(self, security: Security, date: int, now: datetime) -> Minutes | None:
        if not self.intraday or security.symbol == SUSPENDED:
            return None
        bars = self.bars(security, now)
        at = int(np.searchsorted(bars.date, date))
        if at >= len(bars) or bars.date[at] != date:
            return None
        clock = [*range(571, 691), *range(781, 901)]
        upto = now.hour * 60 + now.minute if date == now.year * 10_000 + now.month * 100 + now.day else 900
        clock = [minute for minute in clock if minute <= upto]
        count = len(clock)
        tick = 10 if security.decimals == 3 else 100
        price = np.full(count, int(bars.close[at]), dtype=np.int64) - tick * (np.arange(count) % 2)
        volume = np.full(count, int(bars.volume[at]) // 240 // 100 * 100, dtype=np.int64)
        return Minutes(
            minute=np.array(clock, dtype=np.int64),
            price=price,
            high=price + tick,
            low=price - tick,
            open=price,
            volume=volume,
            amount=np.round(volume * price / 10_000, 2),
        )

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        if not self.intraday or security.symbol == SUSPENDED:
            return None
        count = 150
        minute = np.array([570 + number // 2 for number in range(count)], dtype=np.int64)
        close = int(self.bars(security, now).close[-1])
        return Ticks(
            minute=minute,
            second=np.array([30 * (number % 2) for number in range(count)], dtype=np.int64),
            price=np.full(count, close, dtype=np.int64),
            volume=np.full(count, 400, dtype=np.int64),
            orders=np.full(count, 3, dtype=np.int64),
            side=np.array([number % 3 for number in range(count)], dtype=np.int64),
        )

    def flows(self, security: Security, now: datetime) -> Sequence[Flow]:
        if security.kind != "stock" or security.symbol == SUSPENDED:
            return []
        bars = self.bars(security, now)
        return [
            Flow(
                date=int(day),
                super_large_in=3_000_000.0,
                super_large_out=1_000_000.0 + 1000 * number,
                large_in=2_000_000.0,
                large_out=2_500_000.0,
                medium_in=1_500_000.0,
                medium_out=2_500_000.0,
                small_in=1_000_000.0 + 1000 * number,
                small_out=1_500_000.0,
                close=int(close),
                change_pct=0.5,
            )
            for number, (day, close) in enumerate(zip(bars.date, bars.close, strict=True))
        ]

    def reports(self, security: Security, now: datetime, years: int = 15) -> Sequence[Report]:
        return ()

    def finance(self, security: Security, now: datetime) -> Finance | None:
        return None

    def boards(self, now: datetime) -> Sequence[Board]:
        return [
            Board("BK0477", "酿酒行业", "industry", ("sh600519",)),
            Board("BK0475", "银行", "industry", ("sz000001", "sz000002")),
            Board("BK0707", "沪股通", "concept", ("sh600519", "sh688981")),
            Board("BK0153", "广东板块", "region", ("sz000001", "sz000002")),
        ]

    def index_members(self, index: Security, now: datetime) -> tuple[Security, ...]:
        return ()

    def limits(self, security: Security, date: int) -> tuple[int, int] | None:
        bars = self.bars(security, datetime(date // 10_000, date // 100 % 100, date % 100, 15))
        if security.kind != "stock" or not len(bars) or int(bars.date[-1]) != date:
            return None
        preclose = int(bars.preclose[-1])
        return round(preclose * 1.1 / 100) * 100, round(preclose * 0.9 / 100) * 100

    def renames(self, now: datetime) -> Sequence[Rename]:
        return []

    def company_text(self, security: Security, now: datetime) -> dict[str, str]:
        return {}
