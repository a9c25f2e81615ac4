"""Headlines about a price that agree with the state of a stock or an index at a moment of its session.

The state of a moment is that of the running bar, so a headline of the past is the same for all who ask later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from simulated_market.world.model import PRICE_UNIT, Security, World
from simulated_market.world.session import date_number

_FAST = 5.0
_CLOSED, _NOON, _RUNNING = "收盘", "午间", "盘中"
_INDICES = {"sh000001": "沪指", "sz399001": "深成指", "sz399006": "创业板指"}
_LOOKED_AT = 240
"""Stocks that are searched for one at its limit."""


@dataclass(frozen=True)
class State:
    """A stock or an index at a moment: price in CNY or points, change on the reference price in percent, the
    limit that it is at (1 up, -1 down, 0 none), the name of the part of the session."""

    price: float
    change: float
    limit: int
    amount: float
    part: str

    @property
    def closed(self) -> bool:
        return self.part == _CLOSED


def state_of(world: World, security: Security, moment: datetime) -> State | None:
    """None outside a session of that day, before its first price, and of a suspended security."""
    bars = world.bars(security, moment)
    today = date_number(moment)
    if not len(bars) or int(bars.date[-1]) != today or not bars.traded[-1] or not bars.volume[-1]:
        return None
    close, before = int(bars.close[-1]), int(bars.preclose[-1])
    limits = None if security.kind == "index" else world.limits(security, today)
    at = 0 if limits is None else 1 if close == limits[0] else -1 if close == limits[1] else 0
    change = (close / before - 1) * 100 if before else 0.0
    part = _CLOSED if moment.hour >= 15 else _NOON if "11:30" <= f"{moment:%H:%M}" < "13:00" else _RUNNING
    return State(close / PRICE_UNIT, change, at, float(bars.amount[-1]), part)


def of_stock(name: str, state: State, draw: int) -> str:
    """A headline that is true of a stock in a state."""
    change = round(abs(state.change), 2)
    if state.limit:
        word = "涨停" if state.limit > 0 else "跌停"
        if state.closed:
            return f"{name}收盘{word} 报{state.price:.2f}元 成交额{state.amount / 1e8:.2f}亿元"
        return (f"{name}封{word}板 现报{state.price:.2f}元", f"{name}{word}")[draw % 2]
    if abs(state.change) >= _FAST:
        word = "涨超" if state.change > 0 else "跌超"
        return f"{name}{state.part}{word}{int(change)}%"
    if not change:
        return f"{name}{state.part}报{state.price:.2f}元 与前收盘价持平"
    word = "涨" if state.change > 0 else "跌"
    return f"{name}{state.part}{word}{change:.2f}% 报{state.price:.2f}元"


def of_index(name: str, state: State) -> str:
    change = round(abs(state.change), 2)
    word = "平" if not change else "涨" if state.change > 0 else "跌"
    tail = "" if not change else f"{change:.2f}%"
    return f"{name}{state.part}{word}{tail} 报{state.price:.2f}点"


def index_line(world: World, moment: datetime, draw: int) -> tuple[str, Security] | None:
    """A headline about one of the indices that everybody follows, None outside a session."""
    symbol = tuple(_INDICES)[draw % len(_INDICES)]
    security = world.find(symbol)
    state = None if security is None else state_of(world, security, moment)
    if security is None or state is None:
        return None
    return of_index(_INDICES[symbol], state), security


def at_limit(
    world: World, listed: Sequence[Security], moment: datetime, draw: int
) -> tuple[Security, State] | None:
    """A stock that is at its upper limit at a moment, the first from a drawn place on."""
    today, evening = date_number(moment), moment.replace(hour=15, minute=30)
    first = draw % len(listed)
    for step in range(min(_LOOKED_AT, len(listed))):
        security = listed[(first + step) % len(listed)]
        limits = world.limits(security, today)
        bars = world.bars(security, evening)
        # A stock that never touches the limit on this day is not at it now.
        if limits is None or not len(bars) or int(bars.high[-1]) < limits[0]:
            continue
        state = state_of(world, security, moment)
        if state is not None and state.limit > 0:
            return security, state
    return None
