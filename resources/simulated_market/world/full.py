"""`SyntheticWorld`: everything a responder may ask for, and the fingerprint of it."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

import numpy as np

from resources.simulated_market.world import fundamentals, store
from resources.simulated_market.world.company_texts import company_sections
from resources.simulated_market.world.flows import daily_flows
from resources.simulated_market.world.model import Finance, Flow, Report, Security, Ticks, Valuation
from resources.simulated_market.world.session import date_number
from resources.simulated_market.world.synthetic import DEFAULT_SEED, SyntheticBars
from resources.simulated_market.world.ticks import transactions


class SyntheticWorld(SyntheticBars):
    """The deterministic sample market of a profile (S, M, L) and a seed.

    `cache_dir` stores the built bars as a file; profile S is built in less than a second without it.
    """

    def __init__(self, profile: str = "S", seed: int = DEFAULT_SEED, cache_dir: Path | None = None) -> None:
        super().__init__(profile, seed, cache_dir)
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
