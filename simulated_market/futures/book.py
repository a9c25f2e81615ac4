"""Futures of a world: contracts of some products on every exchange, by trade date.

Futures on an index follow its close, the later they expire the lower; commodities follow a line of their own.
The contract after the nearest one is held most. The figures of a date are out at `PUBLISHED`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from simulated_market.days import day_bar, is_out
from simulated_market.economy import Line, draw
from simulated_market.wire import View
from simulated_market.world.dates import date_of

T = TypeVar("T")
PUBLISHED = {
    "cffex": "15:30",
    "shfe": "16:00",
    "ine": "16:00",
    "dce": "16:30",
    "czce": "16:30",
    "gfex": "16:30",
}


@dataclass(frozen=True)
class Product:
    """`size`: units of the price in one contract; `tick` digits behind the point."""

    code: str
    exchange: str
    name: str
    size: int
    digits: int
    step: int = 1
    index: str = ""
    line: Line | None = None


PRODUCTS = (
    Product("IF", "cffex", "沪深300股指期货", 300, 1, index="sh000300"),
    Product("IC", "cffex", "中证500股指期货", 200, 1, index="sh000905"),
    Product("IM", "cffex", "中证1000股指期货", 200, 1, index="sh000852"),
    Product("T", "cffex", "10年期国债期货", 10_000, 3, 3, line=Line("tbond", 105.0, 2.0, 900, 0.05)),
    Product("au", "shfe", "黄金", 1000, 2, 2, line=Line("gold", 620.0, 60.0, 1100, 3.0)),
    Product("rb", "shfe", "螺纹钢", 10, 0, 1, line=Line("rebar", 3300.0, 300.0, 700, 15.0)),
    Product("sc", "ine", "原油", 1000, 1, 1, line=Line("crude", 520.0, 60.0, 500, 4.0)),
    Product("m", "dce", "豆粕", 10, 0, 2, line=Line("meal", 3000.0, 200.0, 600, 12.0)),
    Product("i", "dce", "铁矿石", 100, 1, 4, line=Line("ore", 780.0, 80.0, 650, 5.0)),
    Product("AP", "czce", "苹果", 10, 0, 2, line=Line("apple", 8200.0, 500.0, 400, 40.0)),
    Product("TA", "czce", "PTA", 5, 0, 1, line=Line("pta", 4800.0, 400.0, 800, 20.0)),
    Product("si", "gfex", "工业硅", 5, 0, 1, line=Line("silicon", 9200.0, 900.0, 750, 40.0)),
)


@dataclass(frozen=True)
class Contract:
    """One contract on one date; contracts counted once, turnover 10k CNY."""

    product: Product
    month: str  # YYMM
    open: float
    high: float
    low: float
    close: float
    settle: float
    before: float
    volume: int
    held: int
    held_before: int

    @property
    def code(self) -> str:
        return f"{self.product.code}{self.month}"

    @property
    def turnover(self) -> float:
        return round(self.volume * self.settle * self.product.size / 1e4, 2)

    @property
    def change(self) -> float:
        """Of the close against the settlement before."""
        return round(self.close - self.before, 3)

    @property
    def settle_change(self) -> float:
        return round(self.settle - self.before, 3)

    @property
    def held_change(self) -> int:
        return self.held - self.held_before

    def traded(self, nothing: T) -> dict[str, float | T]:
        """Open, high and low; `nothing` of a contract without a trade."""
        prices = {"open": self.open, "high": self.high, "low": self.low}
        return {name: price if self.volume else nothing for name, price in prices.items()}


def of_date(view: View, exchange: str, day: int) -> list[Contract]:
    """Every contract of an exchange, products in their order; none before they are published."""
    if not is_out(view, day, PUBLISHED[exchange]):
        return []
    dates = [int(one) for one in view.world.trade_dates() if int(one) <= day]
    if len(dates) < 2:
        return []
    today, before = date_of(dates[-1]), date_of(dates[-2])
    found = []
    for product in PRODUCTS:
        if product.exchange != exchange:
            continue
        levels = _level(view, product, dates[-1]), _level(view, product, dates[-2])
        for place, month in enumerate(_months(product, today)):
            if levels[0] is not None and levels[1] is not None:
                found.append(_contract(product, place, month, (levels[0], levels[1]), (today, before)))
    return found


def _contract(
    product: Product, place: int, month: date, levels: tuple[float, float], days: tuple[date, date]
) -> Contract:
    name = f"{product.code}{month:%y%m}"
    away = 1 - 0.004 * place
    close, before = (round(level * away, product.digits) for level in levels)
    at = days[0].toordinal()
    span = abs(draw(name, at)) * 0.004 + 0.001
    opened = round(before * (1 + 0.3 * span * draw(f"{name}o", at)), product.digits)
    high = round(max(opened, close) * (1 + span), product.digits)
    low = round(min(opened, close) * (1 - span), product.digits)
    settle, settled_before = (
        round(level * away * (1 + 0.0005 * draw(f"{name}s", day.toordinal())), product.digits)
        for level, day in zip(levels, days, strict=True)
    )
    # The furthest contract waits for its first trade.
    volume = 0 if place == 3 else round(200_000 * _weight(place) * (1 + 0.3 * draw(f"{name}v", at)))
    held, held_before = (_held(name, place, day) for day in days)
    return Contract(
        product, f"{month:%y%m}", opened, high, low, close, settle, settled_before, volume, held, held_before
    )


def _held(name: str, place: int, day: date) -> int:
    return round(300_000 * _weight(place) * (1 + 0.05 * draw(f"{name}h", day.toordinal())))


def _weight(place: int) -> float:
    return (0.4, 1.0, 0.3, 0.01)[place]


def _months(product: Product, today: date) -> Iterator[date]:
    """The four nearest months; that of the date itself until its third Friday."""
    month = today.replace(day=1)
    if today > third_friday(month):
        month = _next(month)
    for _ in range(4):
        while month.month % product.step:
            month = _next(month)
        yield month
        month = _next(month)


def third_friday(month: date) -> date:
    first = month.replace(day=1)
    return first + timedelta(days=(4 - first.weekday()) % 7 + 14)


def _next(month: date) -> date:
    return (month.replace(day=28) + timedelta(days=7)).replace(day=1)


def _level(view: View, product: Product, day: int) -> float | None:
    if product.line is not None:
        return product.line.at(date_of(day).toordinal())
    index = view.world.find(product.index)
    bar = None if index is None else day_bar(view, index, day)
    if bar is None or not math.isfinite(bar.close):
        return None
    return bar.close * (1 + 0.002 * draw(product.code, day))
