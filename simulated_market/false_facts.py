"""Worlds with false facts: faults that change what a world says, applied once for all responders.

stale_day, negative_price, swap_open_close and override_bar change what a world says; wrong_instrument answers
with the facts of another security. The faults of the wire (status, reset, truncate ...) belong to the
servers, `lots_for_shares` and `cut_list` to the responders. `FIGURE_CORRUPTIONS` are applied here for the
terminal protocol alone, whose answers have no rows to find (see `corrupted_responses`).
"""

from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, cast

import numpy as np

from simulated_market.days import at
from simulated_market.faults import Fault
from simulated_market.world.dates import number_of
from simulated_market.world.model import PRICE_UNIT, Bars, Minutes, Quote, Security, Ticks, World

FACT_FAULTS = frozenset(
    {"stale_day", "negative_price", "swap_open_close", "override_bar", "wrong_instrument"}
)
FIGURE_CORRUPTIONS = frozenset({"prices_x100", "shift_columns", "zero_row"})


def with_figures(world: World, fault: Fault) -> World:
    """The world with bars and quotes corrupted by `fault`, one of `FIGURE_CORRUPTIONS`."""
    return cast(World, _Misquoted(world, fault))


def distorted(world: World, now: datetime, fault: Fault | None) -> tuple[World, datetime]:
    """The world and the time that a responder uses under `fault`."""
    if fault is None or fault.kind not in FACT_FAULTS:
        return world, now
    if fault.kind == "stale_day":
        return world, _day_before(world, now)
    return cast(World, _Distorted(world, fault)), now


def _day_before(world: World, now: datetime) -> datetime:
    """The close of the trade date before the newest one at `now`."""
    today = number_of(now)
    past = [int(day) for day in world.trade_dates() if int(day) <= today]
    if len(past) < 2:
        return now - timedelta(days=1)
    return at(past[-2], "16:00")


class _Distorted:
    """The true world in all but names, limits, bars, quotes, minutes and transactions."""

    def __init__(self, world: World, fault: Fault) -> None:
        self._world = world
        self._kind = fault.kind
        self._args = fault.args

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def name(self, security: Security, now: datetime) -> str:
        return self._world.name(self._served(security), now)

    def limits(self, security: Security, date: int) -> tuple[int, int] | None:
        return self._world.limits(self._served(security), date)

    def bars(self, security: Security, now: datetime) -> Bars:
        return self._falsified(security, self._world.bars(self._served(security), now))

    def quote(self, security: Security, now: datetime) -> Quote | None:
        served = self._served(security)
        quote = self._world.quote(served, now)
        if quote is None or not self._concerns(security):
            return quote
        if self._kind == "negative_price":
            return replace(quote, price=-quote.price, low=-quote.price)
        if self._kind == "swap_open_close" and quote.open:
            return replace(quote, open=quote.price, price=quote.open)
        if self._kind == "override_bar" and self._args.get("date") in {None, quote.date}:
            close = self._price("close", quote.price)
            return replace(quote, price=close, high=max(quote.high, close), low=min(quote.low, close))
        return quote

    def minutes(self, security: Security, date: int, now: datetime) -> Minutes | None:
        return self._world.minutes(self._served(security), date, now)

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        return self._world.ticks(self._served(security), date, now)

    # --- falsification

    def _concerns(self, security: Security) -> bool:
        return self._args.get("code") in {None, security.code, security.symbol}

    def _served(self, security: Security) -> Security:
        """The security whose facts are served under the name of `security`."""
        if self._kind != "wrong_instrument":
            return security
        if self._args.get("under") not in {None, security.code, security.symbol}:
            return security
        other = self._world.find(str(self._args.get("serve", "sh000001")))
        return security if other is None else other

    def _falsified(self, security: Security, bars: Bars) -> Bars:
        if not self._concerns(security) or not len(bars):
            return bars
        if self._kind == "swap_open_close":
            return replace(bars, open=bars.close, close=bars.open)
        if self._kind == "negative_price":
            low = bars.low.copy()
            low[-1] = -abs(low[-1])
            return replace(bars, low=low)
        if self._kind == "override_bar":
            return self._overridden(bars)
        return bars

    def _overridden(self, bars: Bars) -> Bars:
        requested = int(self._args.get("date", bars.date[-1]))
        at = np.flatnonzero(bars.date == requested)
        if not len(at):
            return bars
        close, high, low = bars.close.copy(), bars.high.copy(), bars.low.copy()
        close[at] = self._price("close", int(close[at[0]]))
        high[at] = np.maximum(high[at], close[at])
        low[at] = np.minimum(low[at], close[at])
        return replace(bars, close=close, high=high, low=low)

    def _price(self, key: str, default: int) -> int:
        value = self._args.get(key)
        return default if value is None else round(float(value) * PRICE_UNIT)


class _Misquoted(_Distorted):
    """Prices a hundredfold or in each other's columns, or zeros for one security."""

    def quote(self, security: Security, now: datetime) -> Quote | None:
        quote = self._world.quote(security, now)
        if quote is None or not self._concerns(security):
            return quote
        prices = {"price": quote.preclose, "preclose": quote.open, "open": quote.high, "high": quote.low}
        if self._kind == "zero_row":
            prices = dict.fromkeys(("price", "open", "high", "low"), 0)
        elif self._kind == "prices_x100":
            prices = {
                name: 100 * getattr(quote, name) for name in ("price", "preclose", "open", "high", "low")
            }
        return replace(quote, **prices)  # type: ignore[arg-type]  # prices by their names

    def bars(self, security: Security, now: datetime) -> Bars:
        bars = self._world.bars(security, now)
        if not self._concerns(security) or not len(bars):
            return bars
        if self._kind == "zero_row":
            return _with_zeros(bars, now)
        names = ("open", "high", "low", "close")
        if self._kind == "prices_x100":
            return replace(bars, **{name: 100 * getattr(bars, name) for name in names})
        turned = zip(names, names[1:] + names[:1], strict=True)
        return replace(bars, **{name: getattr(bars, other) for name, other in turned})


def _with_zeros(bars: Bars, now: datetime) -> Bars:
    """The bars with one of zeros for the date of `now`, as some sources send of a suspended security."""
    today = number_of(now)
    kept = bars.date != today
    row = {"date": today, "traded": 1}
    made = {}
    for name in (one.name for one in fields(bars)):
        values = getattr(bars, name)
        made[name] = np.append(values[kept], np.asarray([row.get(name, 0)], dtype=values.dtype))
    return Bars(**made)
