"""`SyntheticWorld`: everything a responder may ask for, and the fingerprint of it."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

import numpy as np

from simulated_market.world import draws, fundamentals, store
from simulated_market.world.built import CALM
from simulated_market.world.company_texts import company_sections
from simulated_market.world.draws import Stream
from simulated_market.world.intraday import COUNT, MINUTES, Paths
from simulated_market.world.model import Bars, Finance, Flow, Report, Security, Ticks, Valuation
from simulated_market.world.session import date_number
from simulated_market.world.synthetic import DEFAULT_SEED, SyntheticBars

# -- Daily money flow by order size: the four nets sum to 0, in and out to half of the bar's amount each.

LIMIT = 120
_SHARES = np.asarray([0.16, 0.24, 0.31, 0.29])  # super, large, medium, small


def daily_flows(bars: Bars, place: int, first: int, seed: int) -> list[Flow]:
    """Flows of the traded rows among the newest 120 bars; `first` = session index of the first bar."""
    start = max(len(bars) - LIMIT, 0)
    count = len(bars) - start
    if count == 0:
        return []
    raw = draws.raw(seed, Stream.FLOW, place, count * 8, start=(first + start) * 8).reshape(count, 8)
    kept = np.flatnonzero(bars.traded[start:])
    u, z = draws.uniform(raw)[kept], draws.normal(raw)[kept]
    close = bars.close[start:][kept]
    change = (close / bars.preclose[start:][kept] - 1) * 100
    fen = np.rint(bars.amount[start:][kept] * 100).astype(np.int64)
    weights = _SHARES * (0.5 + u[:, :4])
    weights = weights / weights.sum(axis=1, keepdims=True)
    pull = np.clip(0.012 * change + 0.05 * z[:, 4], -0.3, 0.3)
    split = 0.55 + 0.1 * z[:, 5]
    net, gross = (np.zeros((len(kept), 4), dtype=np.int64) for _ in range(2))
    net[:, 0] = (fen * pull * split).astype(np.int64)
    net[:, 1] = (fen * pull * (1 - split)).astype(np.int64)
    net[:, 2] = (-fen * pull * (0.35 + 0.15 * z[:, 6])).astype(np.int64)
    net[:, 3] = -net[:, :3].sum(axis=1)
    gross[:, :3] = (fen[:, None] * weights[:, :3]).astype(np.int64)
    gross[:, 3] = fen - gross[:, :3].sum(axis=1)
    inflow = (np.maximum(gross, np.abs(net)) + net) // 2
    sides = np.stack([inflow, inflow - net], axis=2).reshape(len(kept), 8) / 100
    return [
        Flow(date, a, b, c, d, e, f, g, h, at, round(percent, 2))
        for date, (a, b, c, d, e, f, g, h), at, percent in zip(
            bars.date[start:][kept].tolist(), sides.tolist(), close.tolist(), change.tolist(), strict=True
        )
    ]


# -- Transactions of a day from its minute path: volumes sum up, prices stay in their minute's range.


_SLOTS = 20  # snapshots come every three seconds
_SIDE_BUY, _SIDE_SELL, _SIDE_AUCTION = 0, 1, 2


def transactions(seed: int, day: int, place: int, path: Paths, *, count: int, unit: int, step: int) -> Ticks:
    """Ticks of the first `count` minutes (0 = the opening auction only). `path` has one row."""
    raw = draws.raw(seed, Stream.TICK, day, COUNT * 24, start=place * COUNT * 24).reshape(COUNT, 24)
    rows: list[tuple[int, int, int, int, int, int]] = []
    auction = int(path.auction[0])
    if auction:
        rows.append((565, 0, int(path.open[0, 0]), auction, 1 + auction // (step * 40), _SIDE_AUCTION))
    for k in range(count):
        volume = int(path.volume[0, k]) - (auction if k == 0 else 0)
        if volume <= 0:
            continue
        if k == COUNT - 1:
            orders = 1 + volume // (step * 40)
            rows.append((900, 0, int(path.price[0, k]), volume, orders, _SIDE_AUCTION))
        else:
            rows.extend(_minute(raw[k], path, k, volume, step))
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 6)
    return Ticks(table[:, 0], table[:, 1], table[:, 2] * unit, table[:, 3], table[:, 4], table[:, 5])


def _minute(
    raw: draws.Raw, path: Paths, k: int, volume: int, step: int
) -> list[tuple[int, int, int, int, int, int]]:
    """Trades of one minute: it begins at its open, touches high and low and ends at its last price."""
    u = draws.uniform(raw)
    lots = max(volume // step, 1)
    count = min(_SLOTS, lots, 4 + int(u[20] * 17))
    edges = np.floor(np.cumsum(0.2 + u[:count]) / float((0.2 + u[:count]).sum()) * lots + 0.5).astype(
        np.int64
    )
    sizes = np.diff(edges, prepend=0) * step
    sizes[-1] += volume - int(sizes.sum())
    first, last = int(path.open[0, k]), int(path.price[0, k])
    high, low = int(path.high[0, k]), int(path.low[0, k])
    prices = np.clip(
        np.rint(np.linspace(first, last, count) + (u[:count] - 0.5) * (high - low) * 0.5), low, high
    )
    if count >= 4:
        prices[0], prices[1 + int(u[21] * (count - 3))] = first, high
        prices[count - 2] = low
    prices[-1] = last
    start = int(MINUTES[k]) - 1
    made, before = [], first
    for at in range(count):
        price, size = int(prices[at]), int(sizes[at])
        if size > 0:
            side = _SIDE_BUY if price > before or (price == before and u[at] < 0.5) else _SIDE_SELL
            made.append((start, at * 3 * _SLOTS // count % 60, price, size, 1 + size // (step * 30), side))
        before = price
    return made


class SyntheticWorld(SyntheticBars):
    """The deterministic sample market of a profile (S, M, L) and a seed.

    `cache_dir` stores the built bars as a file; profile S is built in less than a second without it. With
    `texts` the stocks have them as names, in turn, and one stands behind each title of a notice or report.
    `state` is one of `STATES`.
    """

    def __init__(
        self,
        profile: str = "S",
        seed: int = DEFAULT_SEED,
        cache_dir: Path | None = None,
        texts: Sequence[str] = (),
        state: str = CALM,
        until: int | None = None,
    ) -> None:
        super().__init__(profile, seed, cache_dir, texts, state, until)
        self._reports = lru_cache(maxsize=8192)(self._all_reports)

    def _all_reports(self, place: int) -> list[Report]:
        """Every report that a company ever has: answers of all lengths and moments are cut from it."""
        last_year = int(self._dates[-1]) // 10_000
        return fundamentals.reports(self._plans[place], place, self.seed, last_year)

    def reports(self, security: Security, now: datetime, years: int = 15) -> list[Report]:
        """Reports of the last `years` published on or before `now`, oldest first; stocks only."""
        if security.kind != "stock":
            return []
        span = (now.year - years, now.year)
        return fundamentals.visible(self._reports(self.place(security)), span, date_number(now))

    def valuation(self, security: Security, now: datetime) -> Valuation | None:
        total, floating = self.shares(security, now)
        quote = self.quote(security, now)
        if quote is None or not total:
            return None
        price = quote.price / 10_000
        cap, float_cap = round(price * total, 2), round(price * floating, 2)
        known = self.reports(security, now, years=3)
        if not known:
            return Valuation(None, None, None, None, None, None, cap, float_cap, total, floating)
        newest = known[-1]
        full = next((r for r in reversed(known) if r.months == 12), None)
        return Valuation(
            pe_ttm=_ratio(cap, fundamentals.ttm(known, "net_profit")),
            pe_static=_ratio(cap, full.net_profit if full else None),
            pe_dynamic=_ratio(cap, newest.net_profit * 12 / newest.months),
            pb=_ratio(cap, newest.net_assets),
            ps_ttm=_ratio(cap, fundamentals.ttm(known, "revenue")),
            dividend_yield=self._dividend_yield(security, now, price),
            total_market_cap=cap,
            float_market_cap=float_cap,
            total_shares=total,
            float_shares=floating,
        )

    def _dividend_yield(self, security: Security, now: datetime, price: float) -> float:
        """Cash of the ex-days of the last 365 days, percent of the price."""
        day = self._session_on(date_number(now))
        since = self._session_on(date_number(now - timedelta(days=365)))
        paid = sum(
            a.cash / 10 for a in self._world_bars.applied[self.place(security)] if since < a.day <= day
        )
        return round(paid / price * 100, 2)

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        found = self._visible_path(security, date, now)
        if found is None or security.kind == "index":
            return None
        path, count, unit = found
        place, day = self.place(security), self._session_on(date)
        step = int(self._live.steps[place])
        return transactions(self.seed, day, place, path, count=count, unit=unit, step=step)

    def flows(self, security: Security, now: datetime) -> Sequence[Flow]:
        if security.kind != "stock":
            return ()
        place = self.place(security)
        return daily_flows(self.bars(security, now), place, self._days_of(place)[0], self.seed)

    def finance(self, security: Security, now: datetime) -> Finance | None:
        known = self.reports(security, now, years=3)
        total, floating = self.shares(security, now)
        return fundamentals.snapshot(known[-1], total, floating) if known and total else None

    def company_text(self, security: Security, now: datetime) -> dict[str, str]:
        if security.kind != "stock":
            return {}
        return company_sections(
            security,
            self.name(security, now),
            self.shares(security, now),
            self.reports(security, now),
            self.exrights(security, now),
            date_number(now),
        )

    def manifest(self) -> dict[str, str]:
        """SHA-256 of each table of the world, little-endian columns; equal on every platform."""
        world_bars = self._world_bars
        applied, shares = store.tables(world_bars)
        tables = {
            name: np.ascontiguousarray(getattr(world_bars, name)).astype("<i8").tobytes()
            for name in ("dates", "open", "high", "low", "close", "preclose", "volume", "amount", "limit_up")
        }
        tables["applied"] = np.rint(applied * 10_000).astype("<i8").tobytes()
        tables["shares"] = shares.astype("<i8").tobytes()
        tables["members"] = world_bars.members.tobytes()
        tables["securities"] = "\n".join(
            f"{s.symbol},{s.kind},{s.board},{s.list_date},{s.delist_date},{s.industry},{s.region},{s.concepts}"
            for s in self._gone
        ).encode()
        tables["names"] = "\n".join(f"{p.symbol},{p.names}" for p in self._plans).encode()
        return {name: hashlib.sha256(body).hexdigest() for name, body in tables.items()}


def _ratio(cap: float, base: float | None) -> float | None:
    return round(cap / base, 4) if base else None
