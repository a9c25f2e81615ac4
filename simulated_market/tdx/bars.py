"""Bodies of 0x052d and 0x0523: daily bars of the world, aggregated or cut into minutes."""

import struct
from dataclasses import dataclass, replace

import numpy as np

from core.arrays import Ints
from simulated_market.series import PERIOD_KEYS
from simulated_market.tdx.encoding import NO_DATA, float32, packed_minute, u16, varints
from simulated_market.tdx.state import RequestView, lots, scaled
from simulated_market.world.model import PRICE_UNIT, Bars, Minutes, Security

PAGE = 800
#: category -> (period, minutes in a bar); 0 minutes = daily or longer
CATEGORIES = {
    0: ("5m", 5),
    1: ("15m", 15),
    2: ("30m", 30),
    3: ("60m", 60),
    4: ("day", 0),
    5: ("week", 0),
    6: ("month", 0),
    7: ("1m", 1),
    8: ("1m", 1),
    9: ("day", 0),
    10: ("quarter", 0),
    11: ("year", 0),
}
_DAY_IN_SHARES = 4
_MORNING = 570
_AFTERNOON = 780
_MORNING_MINUTES = 120
_DAY_MINUTES = 240
_NOON = 690


@dataclass(frozen=True)
class Row:
    """One bar before it is written; prices in the world's 1e-4, volume in shares. `minute` 0 = a date."""

    date: int
    minute: int
    open: int
    high: int
    low: int
    close: int
    volume: int
    amount: float
    up: int = 0
    down: int = 0


def render(
    view: RequestView, security: Security, category: int, start: int, count: int, *, absolute: bool
) -> bytes:
    """`count` (at most 800) bars that end `start` bars before the newest one; `0000` when there are none."""
    count = min(count, PAGE)
    minutes = CATEGORIES[category][1]
    rows = (
        _intraday(view, security, minutes, start, count)
        if minutes
        else _daily(view, security, category, start, count)
    )
    rows = view.series(_corrupt(view, security, rows))[:PAGE]
    if not rows:
        return NO_DATA
    body = bytearray(u16(len(rows)))
    base = 0
    for row in rows:
        body += packed_minute(row.date, row.minute) if minutes else struct.pack("<I", row.date)
        opened, high, low, close = (scaled(price, 3) for price in (row.open, row.high, row.low, row.close))
        if absolute:
            body += varints(opened, close, high, low)
        else:
            body += varints(opened - base, close - opened, high - opened, low - opened)
            base = close
        body += float32(_volume(view, security, category, row.volume, absolute=absolute), row.amount)
        if security.kind == "index":
            body += u16(min(row.up, 0xFFFF), min(row.down, 0xFFFF))
    return bytes(body)


def _volume(view: RequestView, security: Security, category: int, shares: int, *, absolute: bool) -> float:
    """The wire's volume. Lots for day and longer, shares for minutes and 0x0523; an index counts a
    hundred lots where a stock counts lots, and lots where a stock counts shares."""
    in_shares = absolute or CATEGORIES[category][1] > 0 or category == _DAY_IN_SHARES
    if security.kind == "index":
        return shares / 100 if in_shares else float(round(shares / 10_000))
    if security.kind == "cb" and in_shares and not absolute:
        # Minute bars of convertible bonds stay in lots.
        in_shares = False
    if view.other_unit(security):
        in_shares = not in_shares
    return float(shares) if in_shares else float(lots(shares, security))


def _corrupt(view: RequestView, security: Security, rows: list[Row]) -> list[Row]:
    if not rows:
        return rows
    if view.has("negative_price"):
        low = rows[0]
        rows = [replace(low, open=-low.open, high=-low.low, low=-low.high, close=-low.close), *rows[1:]]
    if view.has("swap_open_close"):
        rows = [replace(row, open=row.close, close=row.open) for row in rows]
    if view.has("override_bar") and str(view.arg("code")) in {security.code, security.symbol}:
        day = int(str(view.arg("date")).replace("-", ""))
        rows = [_override(view, row) if row.date == day else row for row in rows]
    return rows


def _override(view: RequestView, row: Row) -> Row:
    """The corrected bar: values of the fault in CNY and shares."""
    for name in ("open", "high", "low", "close"):
        if view.arg(name) is not None:
            row = replace(row, **{name: round(float(view.arg(name)) * PRICE_UNIT)})
    if view.arg("volume") is not None:
        row = replace(row, volume=int(view.arg("volume")))
    if view.arg("amount") is not None:
        row = replace(row, amount=float(view.arg("amount")))
    return replace(row, high=max(row.high, row.close, row.open), low=min(row.low, row.close, row.open))


def _daily(view: RequestView, security: Security, category: int, start: int, count: int) -> list[Row]:
    bars = view.world.bars(security, view.now)
    if CATEGORIES[category][0] == "day":
        stop = max(0, len(bars.date) - start)
        return _single(bars, max(0, stop - count), stop)
    edges = _edges(bars.date, CATEGORIES[category][0])
    stop = len(edges) - 1 - start
    return [_merge(bars, edges[at], edges[at + 1]) for at in range(max(0, stop - count), max(0, stop))]


def _edges(dates: Ints, period: str) -> list[int]:
    """Where each bar of `period` begins in `dates`, and the end."""
    keys = [PERIOD_KEYS[period](day) for day in dates.tolist()]
    return [*(at for at, key in enumerate(keys) if not at or key != keys[at - 1]), len(keys)]


def _single(bars: Bars, first: int, stop: int) -> list[Row]:
    """Bars first..stop-1, each as it is."""
    prices = (bars.open, bars.high, bars.low, bars.close)
    columns = (bars.date, *prices, bars.volume, bars.amount, bars.up_count, bars.down_count)
    rows = zip(*(column[first:stop].tolist() for column in columns), strict=True)
    return [
        Row(date, 0, open_, high, low, close, int(volume), float(amount), int(up), int(down))
        for date, open_, high, low, close, volume, amount, up, down in rows
    ]


def _merge(bars: Bars, first: int, end: int) -> Row:
    """Bars first..end-1 as one, dated by the last; suspended days take no part unless all are."""
    traded = first + np.flatnonzero(bars.traded[first:end])
    at = traded if len(traded) else np.arange(end - 1, end)
    counts = (int(bars.up_count[end - 1]), int(bars.down_count[end - 1]))
    return Row(int(bars.date[end - 1]), 0, *_summed(bars, bars.close, at), *counts)


def _summed(bars: Bars | Minutes, close: Ints, at: Ints | list[int]) -> tuple[int, int, int, int, int, float]:
    """(open, high, low, close, volume, amount) of some bars as one."""
    prices = (int(bars.open[at[0]]), int(bars.high[at].max()), int(bars.low[at].min()), int(close[at[-1]]))
    return *prices, int(bars.volume[at].sum()), float(bars.amount[at].sum())


def _intraday(view: RequestView, security: Security, minutes: int, start: int, count: int) -> list[Row]:
    """Minute bars, oldest first. A world without an intraday path has none."""
    bars = view.world.bars(security, view.now)
    days = reversed(bars.date[bars.traded].tolist())
    newest_first: list[Row] = []
    skip = start
    for date in days:
        finished = date != view.today
        if finished and skip >= _DAY_MINUTES // minutes:
            # A finished day has all its minutes: no need to draw those that were not requested.
            skip -= _DAY_MINUTES // minutes
            continue
        day = _cut(view, security, date, minutes)
        if day is None:
            break
        fresh = list(reversed(day))
        newest_first += fresh[skip:]
        skip = max(0, skip - len(fresh))
        if len(newest_first) >= count:
            break
    return list(reversed(newest_first[:count]))


def _cut(view: RequestView, security: Security, date: int, size: int) -> list[Row] | None:
    path = view.world.minutes(security, date, view.now)
    if path is None:
        return None
    groups: dict[int, list[int]] = {}
    for place, minute in enumerate(path.minute.tolist()):
        groups.setdefault(_bar_end(minute, size), []).append(place)
    # The server labels the last bar of the morning 13:00 until the close.
    labels = {_NOON: _AFTERNOON} if date == view.today and 13 <= view.now.hour < 15 else {}
    return [Row(date, labels.get(end, end), *_summed(path, path.price, at)) for end, at in groups.items()]


def _bar_end(minute: int, size: int) -> int:
    """End of the bar of `size` minutes that holds the minute ending at `minute`."""
    session = _MORNING if minute <= _MORNING + _MORNING_MINUTES else _AFTERNOON
    return session + -(-(minute - session) // size) * size
