"""Alerts for the owners of a watch list: moves, volume, a price near its stop. Pure."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

UP, DOWN, VOLUME, STOP = "up", "down", "volume", "stop_loss"


@dataclass(frozen=True)
class Thresholds:
    """`price`: percent of a day's change; `volume`: volume ratio, the pace of today's turnover to that of
    the five days before (1 = as usual); `stop`: percent above the stop price."""

    price: float
    volume: float
    stop: float


@dataclass(frozen=True)
class Alert:
    """`direction` and `code` make it one of its kind a day."""

    code: str
    direction: str
    title: str
    content: str

    @property
    def key(self) -> str:
        return f"{self.code} {self.direction}"


def alerts(holding: Mapping[str, Any], quote: Mapping[str, Any], thresholds: Thresholds) -> Iterator[Alert]:
    """`holding`: code, name, stop_loss_price (CNY); `quote`: price and last_close (CNY), volume_ratio. What
    is missing raises no alert."""
    code = str(holding["code"])
    name = str(quote.get("name") or holding.get("name") or code)
    price, before = _number(quote.get("price")), _number(quote.get("last_close"))
    if price is None or price <= 0:
        return
    if before is not None and before > 0:
        change = (price / before - 1) * 100
        if abs(change) >= thresholds.price:
            way, word = (UP, "上涨") if change > 0 else (DOWN, "下跌")
            yield Alert(
                code, way, f"{name} {word} {abs(change):.2f}%", f"现价 {price:.2f} 元，昨收 {before:.2f} 元"
            )
    ratio = _number(quote.get("volume_ratio"))
    if ratio is not None and ratio >= thresholds.volume:
        yield Alert(code, VOLUME, f"{name} 放量，量比 {ratio:.2f}", f"现价 {price:.2f} 元")
    stop = _number(holding.get("stop_loss_price"))
    if stop is not None and stop > 0 and price <= stop * (1 + thresholds.stop / 100):
        word = "已跌破止损价" if price <= stop else "接近止损价"
        yield Alert(code, STOP, f"{name} {word}", f"现价 {price:.2f} 元，止损价 {stop:.2f} 元")


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
