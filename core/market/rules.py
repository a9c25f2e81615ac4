"""Dated trading rules of the mainland exchanges: how far a price may move, ticks, lots, fees.

Everything a caller can ask is answered from `RULES`, the rows that `ref_market_rule` is seeded with.
Prices are CNY as floats, limits are computed in whole ticks and rounded half up: a float `round` gives
1.26 for 1.15 * 1.1, the exchange says 1.27. Days are `YYYY-MM-DD` text, `YYYYMMDD` integers or dates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Bools, Floats, Ints
from core.market.securities import BOARDS, UNSURE_FUND, WIDE_FUND

Day = str | int | date


_OPEN_END = 99_991_231


@dataclass(frozen=True)
class MarketRule:
    """One dated rule. `valid_from` and `valid_to` (inclusive, None = in force) are ISO dates."""

    rule: str
    scope: str
    valid_from: str
    valid_to: str | None
    value: float
    unit: str
    note: str = ""
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def covers(self, day: int) -> bool:
        return (
            day_number(self.valid_from) <= day <= (day_number(self.valid_to) if self.valid_to else _OPEN_END)
        )


def _limits() -> Iterable[MarketRule]:
    def row(scope: str, start: str, end: str | None, value: float, note: str = "") -> MarketRule:
        return MarketRule("price_limit", scope, start, end, value, "pct", note)

    yield row("main", "1996-12-16", None, 10)
    yield row("main_st", "1998-04-22", "2026-07-05", 5)
    yield row("main_st", "2026-07-06", None, 10, "seen in the closing prices of 147 ST codes")
    yield row("main_delisting", "1998-04-22", None, 10, "delisting period; its first day has no limit")
    yield row("gem", "2009-10-30", "2020-08-23", 10)
    yield row("gem", "2020-08-24", None, 20)
    yield row("gem_st", "2009-10-30", "2020-08-23", 5)
    yield row("gem_st", "2020-08-24", None, 20, "ST makes no difference under registration")
    yield row("gem_delisting", "2009-10-30", "2020-08-23", 10)
    yield row("gem_delisting", "2020-08-24", None, 20)
    for scope in ("star", "star_st", "star_delisting"):
        yield row(scope, "2019-07-22", None, 20)
    for scope in ("bj", "bj_st", "bj_delisting"):
        yield row(scope, "2020-07-27", None, 30, "before 2021-11-15 the select layer, same band")
    for scope in ("etf", "lof", "reit", "b"):
        yield row(scope, "1996-12-16", None, 10)
    yield row(WIDE_FUND, "1996-12-16", "2020-08-23", 10)
    yield row(WIDE_FUND, "2020-08-24", None, 20, "funds on the stocks of STAR and ChiNext alone")
    yield row("cb", "2022-08-01", None, 20, "none before; first day apart")


def _first_days() -> Iterable[MarketRule]:
    def free(scope: str, start: str, end: str | None, days: float, note: str = "") -> MarketRule:
        return MarketRule("unlimited_days", scope, start, end, days, "trade days", note)

    def first(scope: str, start: str, end: str | None, up: float, down: float) -> MarketRule:
        params = MappingProxyType({"up_pct": up, "down_pct": down})
        return MarketRule("first_day_limit", scope, start, end, up, "pct", "of the issue price", params)

    yield free("main", "1996-12-16", "2013-12-31", 1)
    yield first("main", "2014-01-01", "2023-04-09", 44, 36)
    yield free("main", "2023-04-10", None, 5, "registration")
    yield free("gem", "2009-10-30", "2013-12-31", 1)
    yield first("gem", "2014-01-01", "2020-08-23", 44, 36)
    yield free("gem", "2020-08-24", None, 5, "registration")
    yield free("star", "2019-07-22", None, 5, "registration")
    yield free("bj", "2020-07-27", None, 1)
    yield first("cb", "2022-08-01", None, 57.3, 43.3)
    yield first("reit", "2021-06-21", None, 30, 30)


def _ticks_and_lots() -> Iterable[MarketRule]:
    for scope in ("main", "gem", "star", "bj"):
        yield MarketRule("tick", scope, "1990-12-19", None, 0.01, "CNY")
    for scope in ("etf", "lof", "reit", "cb", WIDE_FUND, UNSURE_FUND):
        yield MarketRule("tick", scope, "1990-12-19", None, 0.001, "CNY")
    yield MarketRule("tick", "b", "1992-02-21", None, 0.001, "USD", "Shanghai; Shenzhen: HKD 0.01")

    def lot(scope: str, least: float, step: float, note: str = "") -> MarketRule:
        return MarketRule(
            "lot", scope, "1990-12-19", None, least, "shares", note, MappingProxyType({"step": step})
        )

    yield lot("main", 100, 100, "an odd remainder is sold in one order")
    yield lot("gem", 100, 100)
    yield lot("star", 200, 1)
    yield lot("bj", 100, 1)
    for scope in ("etf", "lof", "reit", "b", WIDE_FUND, UNSURE_FUND):
        yield lot(scope, 100, 100)
    yield lot("cb", 10, 10)


def _fees() -> Iterable[MarketRule]:
    def fee(scope: str, start: str, end: str | None, pct: float, **params: Any) -> MarketRule:
        return MarketRule("fee", scope, start, end, pct, "pct of amount", "", MappingProxyType(params))

    yield fee("commission", "1990-12-19", None, 0.025, side="both", minimum=5.0)
    yield fee("stamp", "2008-09-19", "2023-08-27", 0.1, side="sell", minimum=0.0)
    yield fee("stamp", "2023-08-28", None, 0.05, side="sell", minimum=0.0)
    yield fee("transfer", "2015-08-01", "2022-04-28", 0.002, side="both", minimum=0.0)
    yield fee("transfer", "2022-04-29", None, 0.001, side="both", minimum=0.0)


RULES: tuple[MarketRule, ...] = (*_limits(), *_first_days(), *_ticks_and_lots(), *_fees())


@lru_cache(maxsize=65_536)
def day_number(day: Day) -> int:
    """`2024-01-02`, `20240102` or a date as the integer 20240102."""
    if isinstance(day, date):
        return day.year * 10_000 + day.month * 100 + day.day
    return int(day) if isinstance(day, int | np.integer) else int(day.replace("-", ""))


@cache
def _rule_on(rule: str, scope: str, day: int) -> MarketRule | None:
    return next((r for r in RULES if r.rule == rule and r.scope == scope and r.covers(day)), None)


def rule_on(rule: str, scope: str, day: Day) -> MarketRule | None:
    """The row in force on `day`, None when there was no such rule."""
    return _rule_on(rule, scope, day_number(day))


def limit_pct(board: str, is_st: bool, day: Day, *, delisting: bool = False) -> float | None:
    """Percent that a price may move on an ordinary day. `board` may also be a security type (etf, cb).

    None = no limit (indices, convertible bonds before 2022-08-01, days before the rule).
    """
    scope = board
    if board in BOARDS and delisting:
        scope = f"{board}_delisting"
    elif board in BOARDS and is_st:
        scope = f"{board}_st"
    found = rule_on("price_limit", scope, day)
    return found.value if found else None


def band(
    board: str,
    is_st: bool,
    day: Day,
    listed_days: int | None = None,
    *,
    delisting_day: int | None = None,
    relisting: bool = False,
) -> tuple[float, float] | None:
    """(up, down) in percent on this day, None where no limit applies.

    listed_days 1 = listing day, None = long ago. delisting_day 1 = first day of the delisting period
    (no limit), later ones take that period's band instead of ST's. relisting = first day back.
    """
    if relisting or delisting_day == 1:
        return None
    if listed_days is not None and listed_days >= 1:
        number = day_number(day)
        free = _rule_on("unlimited_days", board, number)
        if free is not None and listed_days <= free.value:
            return None
        first = _rule_on("first_day_limit", board, number)
        if first is not None and listed_days == 1:
            return float(first.params["up_pct"]), float(first.params["down_pct"])
    pct = limit_pct(board, is_st, day, delisting=delisting_day is not None)
    return None if pct is None else (pct, pct)


def tick_of(board: str, day: Day = 20240102) -> float:
    """Smallest price step of a board or security type, in its currency; 0.01 where there is no rule."""
    found = rule_on("tick", board, day)
    return found.value if found else 0.01


def lot_of(board: str, day: Day = 20240102) -> tuple[int, int]:
    """(smallest buy order, step above it) in shares."""
    found = rule_on("lot", board, day)
    return (int(found.value), int(found.params["step"])) if found else (100, 100)


def limit_ticks(preclose: Ints, up_pct: Floats, down_pct: Floats) -> tuple[Ints, Ints]:
    """Limits in ticks from a preclose in ticks, half up; at least one tick from the preclose, never under one
    tick.

    Percent values have one decimal at most (57.3), hence the arithmetic in thousandths.
    """
    up_mille = np.rint(np.asarray(up_pct) * 10).astype(np.int64)
    down_mille = np.rint(np.asarray(down_pct) * 10).astype(np.int64)
    up = np.maximum((preclose * (1000 + up_mille) + 500) // 1000, preclose + 1)
    down = np.minimum((preclose * (1000 - down_mille) + 500) // 1000, preclose - 1)
    return up, np.maximum(down, 1)


def price_limits(
    preclose: float,
    board: str,
    is_st: bool,
    day: Day,
    listed_days: int | None = None,
    *,
    delisting_day: int | None = None,
    relisting: bool = False,
) -> tuple[float, float] | tuple[None, None]:
    """(limit-up, limit-down) in CNY for the day's ex-right reference price; (None, None) = no limit."""
    found = band(board, is_st, day, listed_days, delisting_day=delisting_day, relisting=relisting)
    if found is None or not preclose > 0:
        return None, None
    scale = round(1 / tick_of(board, day))
    ticks = np.asarray([round(preclose * scale)], dtype=np.int64)
    up, down = limit_ticks(ticks, np.asarray([found[0]]), np.asarray([found[1]]))
    return int(up[0]) / scale, int(down[0]) / scale


def limit_prices(
    preclose: Floats,
    board: npt.NDArray[Any],
    is_st: Bools,
    day: npt.NDArray[Any],
    *,
    listed_days: Ints | None = None,
    unlimited: Bools | None = None,
) -> tuple[Floats, Floats]:
    """`price_limits` for the columns of a frame; NaN = no limit or no preclose.

    `unlimited` marks re-listing days and first days of a delisting period. One rule look-up per
    distinct (board, ST, day, first days) combination, the prices in one pass.
    """
    size = len(preclose)
    day_at, known_days = pd.factorize(np.asarray(day))
    days = np.asarray([day_number(d) for d in known_days], dtype=np.int64)
    board_at, boards = pd.factorize(np.asarray(board))
    early = np.zeros(size, dtype=np.int64) if listed_days is None else np.clip(np.asarray(listed_days), 0, 6)
    flags = np.asarray(is_st).astype(np.int64)
    key = ((day_at * len(boards) + board_at) * 2 + flags) * 7 + early
    combos, combo_at = np.unique(key, return_inverse=True)
    up_pct, down_pct, scale = (
        np.full(len(combos), np.nan),
        np.full(len(combos), np.nan),
        np.ones(len(combos)),
    )
    for at, combo in enumerate(combos.tolist()):
        rest, listed = divmod(combo, 7)
        rest, st = divmod(rest, 2)
        day_index, board_index = divmod(rest, len(boards))
        name, number = str(boards[board_index]), int(days[day_index])
        scale[at] = round(1 / tick_of(name, number))
        found = band(name, bool(st), number, listed or None)
        if found is not None:
            up_pct[at], down_pct[at] = found
    up_row, down_row, scale_row = up_pct[combo_at], down_pct[combo_at], scale[combo_at]
    prices = np.asarray(preclose, dtype=np.float64)
    known = np.isfinite(prices) & (prices > 0) & np.isfinite(up_row)
    if unlimited is not None:
        known &= ~np.asarray(unlimited, dtype=bool)
    ticks = np.rint(np.where(known, prices, 1.0) * scale_row).astype(np.int64)
    up, down = limit_ticks(ticks, np.where(known, up_row, 0.0), np.where(known, down_row, 0.0))
    return np.where(known, up / scale_row, np.nan), np.where(known, down / scale_row, np.nan)
