"""A small world held in memory: nine securities, 900 trade dates, everything derived from a seed."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import cache

import numpy as np

from core.arrays import Ints
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

DAYS = 900
LAST_DAY = date(2026, 3, 6)
#: Friday after the close.
NOW = datetime(2026, 3, 6, 16, 0)

INDEX = Security("000001", "SH", "index", "", 2, 19910715)
SZ_INDEX = Security("399001", "SZ", "index", "", 2, 19950123)
BANK = Security("600000", "SH", "stock", "main", 2, 19991110, industry="银行", region="上海")
PINGAN = Security("000001", "SZ", "stock", "main", 2, 19910403, industry="银行", region="深圳")
STAR = Security("688001", "SH", "stock", "star", 2, 20190722, industry="半导体", region="江苏")
GEM = Security("300001", "SZ", "stock", "gem", 2, 20091030, industry="电气设备", region="山东")
ETF = Security("510300", "SH", "etf", "", 3, 20120528)
BOND = Security("113001", "SH", "cb", "", 3, 20200102)
BEIJING = Security("920001", "BJ", "stock", "bj", 2, 20211115, industry="半导体", region="北京")
GONE = Security("000003", "SZ", "stock", "main", 2, 19910114, delist_date=20020614)

ALL = (INDEX, SZ_INDEX, BANK, PINGAN, STAR, GEM, ETF, BOND, BEIJING, GONE)
_NAMES = {
    INDEX: "上证指数", SZ_INDEX: "深证成指", BANK: "浦发银行", PINGAN: "平安银行", STAR: "ST兴源A份",
    GEM: "特锐德", ETF: "300ETF", BOND: "平银转债", BEIJING: "北证一号", GONE: "PT金田Ａ",
}  # fmt: skip
#: The last one happens on the day of NOW.
RENAMES = (
    Rename("sz000001", "S深发展A", 20070620),
    Rename("sz000001", "深发展A", 20120802),
    Rename("sh600000", "浦发行", 20260306),
)
_LEVELS = {INDEX: 40_000_000, SZ_INDEX: 130_000_000, ETF: 47_510, BOND: 1_102_350}
#: Day (from the end) on which this stock is suspended.
SUSPENDED = {PINGAN: 3}


def _int(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day


@cache
def _dates() -> Ints:
    days: list[int] = []
    day = LAST_DAY
    while len(days) < DAYS:
        if day.weekday() < 5:
            days.append(_int(day))
        day -= timedelta(days=1)
    return np.array(days[::-1], dtype=np.int64)


@cache
def _bars(security: Security) -> Bars:
    random = np.random.default_rng(ALL.index(security))
    tick = 10 if security.decimals == 3 else 100
    level = _LEVELS.get(security, 100_000 + 37_000 * ALL.index(security))
    close = np.maximum(level * np.exp(np.cumsum(random.normal(0, 0.01, DAYS))), 20_000).astype(np.int64)
    close = close // tick * tick
    preclose = np.concatenate([[level // tick * tick], close[:-1]])
    opened = (preclose * (1 + random.normal(0, 0.003, DAYS))).astype(np.int64) // tick * tick
    high = np.maximum(opened, close) + tick * random.integers(0, 20, DAYS)
    low = np.minimum(opened, close) - tick * random.integers(0, 20, DAYS)
    volume = random.integers(2_000, 900_000, DAYS) * 100
    if security.kind == "index":
        volume = volume * 1000
        amount = np.round(volume * 14.5, 2)
    else:
        amount = np.round(volume * (high + low + 2 * close) / 4 / 10_000, 2)
    traded = np.ones(DAYS, dtype=bool)
    if security in SUSPENDED:
        at = DAYS - SUSPENDED[security]
        traded[at] = False
        close[at] = preclose[at]
        preclose[at + 1] = close[at]
        for prices in (opened, high, low):
            prices[at] = close[at]
        volume[at], amount[at] = 0, 0.0
    counts = random.integers(300, 2000, (2, DAYS)) * (security.kind == "index")
    turnover = np.where(traded, 1.0, np.nan)
    return Bars(
        _dates(), opened, high, low, close, preclose, volume, amount, traded, turnover, counts[0], counts[1]
    )


def _cut(bars: Bars, count: int) -> Bars:
    return Bars(**{name: getattr(bars, name)[:count] for name in Bars.__dataclass_fields__})


class TinyWorld:
    """`intraday` False: no minute path, as in a world replayed from day bars."""

    label = "sample"

    def __init__(self, *, intraday: bool = True, extra: Sequence[Security] = ()) -> None:
        self.intraday = intraday
        self.extra = tuple(extra)

    def trade_dates(self) -> Ints:
        return _dates()

    def securities(self, now: datetime) -> Sequence[Security]:
        live = [each for each in (*ALL, *self.extra) if each.delist_date is None]
        return sorted(live, key=lambda each: (each.market, each.code))

    def find(self, symbol: str) -> Security | None:
        return next((each for each in (*ALL, *self.extra) if each.symbol == symbol), None)

    def name(self, security: Security, now: datetime) -> str:
        return _NAMES.get(security, f"股票{security.code[-3:]}")

    def bars(self, security: Security, now: datetime) -> Bars:
        if security not in ALL:
            return _cut(_bars(BANK), 0)
        return _cut(_bars(security), int(np.searchsorted(_dates(), _int(now.date()), side="right")))

    def quote(self, security: Security, now: datetime) -> Quote | None:
        if security.delist_date is not None or security not in ALL:
            return None
        bars = self.bars(security, now)
        price, volume = int(bars.close[-1]), int(bars.volume[-1])
        tick = 10 if security.decimals == 3 else 100
        traded = bool(bars.traded[-1])
        book = security.kind != "index" and traded
        return Quote(
            security=security,
            name=self.name(security, now),
            date=int(bars.date[-1]),
            time=now.replace(hour=15, minute=0, second=3) if now.hour >= 15 else now,
            price=price,
            preclose=int(bars.preclose[-1]),
            open=int(bars.open[-1]),
            high=int(bars.high[-1]),
            low=int(bars.low[-1]),
            volume=volume,
            amount=float(bars.amount[-1]),
            inner_volume=volume * 2 // 5,
            outer_volume=volume - volume * 2 // 5,
            bids=tuple((price - tick * at, 1000 * (at + 1)) for at in range(5)) if book else (),
            asks=tuple((price + tick * (at + 1), 1700 * (at + 1)) for at in range(4)) if book else (),
            suspended=not traded,
            limit_up=None,
            limit_down=None,
            turnover_pct=None,
            volume_ratio=None,
            speed_pct=-0.24,
            up_count=int(bars.up_count[-1]),
            down_count=int(bars.down_count[-1]),
            open_amount=2_886_700.0,
        )

    def valuation(self, security: Security, now: datetime) -> Valuation | None:
        return None

    def shares(self, security: Security, now: datetime) -> tuple[int, int]:
        return (0, 0)

    def exrights(self, security: Security, now: datetime) -> Sequence[ExRight]:
        if security != PINGAN:
            return ()
        return (
            ExRight(19900301, 1, (0.0, 3.56, 0.0, 1.0)),
            ExRight(19910403, 5, (0.0, 0.0, 2650.0, 4850.0)),
            ExRight(20020815, 6, (0.0, 11.25, 12_000.0, 0.0)),
            ExRight(20060410, 12, (0.0, 0.0, 0.65, 0.0)),
            ExRight(20060419, 13, (5.5, 0.0, 1.5, 0.0)),
            ExRight(20250612, 1, (3.62, 0.0, 4.0, 0.0)),
        )

    def minutes(self, security: Security, date: int, now: datetime) -> Minutes | None:
        bars = self.bars(security, now)
        at = int(np.searchsorted(bars.date, date))
        if not self.intraday or at >= len(bars) or bars.date[at] != date or not bars.traded[at]:
            return None
        minute = np.concatenate([np.arange(571, 691), np.arange(781, 901)])
        opened, high, low, close = (int(x[at]) for x in (bars.open, bars.high, bars.low, bars.close))
        tick = 10 if security.decimals == 3 else 100
        price = np.linspace(opened, close, 240).astype(np.int64) // tick * tick
        price[-1] = close
        starts = np.concatenate([[opened], price[:-1]])
        tops, bottoms = np.maximum(starts, price), np.minimum(starts, price)
        tops[100], bottoms[150] = high, low
        volume = np.full(240, int(bars.volume[at]) // 240, dtype=np.int64)
        volume[-1] += int(bars.volume[at]) - int(volume.sum())
        amount = np.round(float(bars.amount[at]) * volume / volume.sum(), 2)
        path = Minutes(minute, price, tops, bottoms, starts, volume, amount)
        if date < _int(now.date()):
            return path
        keep = minute <= now.hour * 60 + now.minute
        return Minutes(**{name: getattr(path, name)[keep] for name in Minutes.__dataclass_fields__})

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        path = self.minutes(security, date, now)
        if path is None:
            return None
        # Ten transactions a minute, the first of the day and the last from the auctions.
        repeat = 10
        size = len(path.minute) * repeat
        minute = np.repeat(path.minute - 1, repeat)
        minute[0], minute[-1] = 565, 900
        volume = np.repeat(path.volume // repeat, repeat)
        volume[-1] += int(path.volume.sum()) - int(volume.sum())
        side = np.arange(size) % 2
        side[0] = side[-1] = 2
        return Ticks(
            minute,
            np.zeros(size, dtype=np.int64),
            np.repeat(path.price, repeat),
            volume,
            np.arange(size, dtype=np.int64) % 30 + 1,
            side,
        )

    def flows(self, security: Security, now: datetime) -> Sequence[Flow]:
        return ()

    def reports(self, security: Security, now: datetime, years: int = 15) -> Sequence[Report]:
        return ()

    def finance(self, security: Security, now: datetime) -> Finance | None:
        if security.kind != "stock" or security.delist_date is not None:
            return None
        return Finance(
            report_date=20250930,
            published=20251030,
            total_shares=1_250_000_000,
            float_shares=1_200_000_000,
            holders=243_159,
            total_assets=3.2e11,
            current_assets=2.7e11,
            fixed_assets=2.2e10,
            current_liabilities=3.8e10,
            long_liabilities=1.0e10,
            capital_reserve=1.5e6,
            net_assets=2.7e11,
            revenue=5.4e10,
            operating_profit=3.75e10,
            total_profit=3.7e10,
            net_profit=2.7e10,
            undistributed=2.19e11,
            operating_cash_flow=-2.6e10,
            eps=21.76,
            bvps=216.0,
            months=9,
        )

    def boards(self, now: datetime) -> Sequence[Board]:
        return (
            Board("BK0475", "银行", "industry", (BANK.symbol, PINGAN.symbol)),
            Board("BK1036", "半导体", "industry", (STAR.symbol, BEIJING.symbol)),
            Board("BK0800", "人工智能", "concept", (STAR.symbol, GEM.symbol)),
            Board("BK0801", "大金融", "concept", tuple(f"sh60{at:04d}" for at in range(450))),
        )

    def index_members(self, index: Security, now: datetime) -> tuple[Security, ...]:
        return ()

    def limits(self, security: Security, date: int) -> tuple[int, int] | None:
        return None

    def renames(self, now: datetime) -> Sequence[Rename]:
        return [each for each in RENAMES if each.date <= _int(now.date())]

    def company_text(self, security: Security, now: datetime) -> dict[str, str]:
        if security != BANK:
            return {}
        return {
            "最新提示": "最新提示☆ ◇600000\r\n【1.提示】",
            "公司概况": "公司概况☆ " + "浦东发展银行。" * 6000,
        }
