"""The synthetic world: the `World` Protocol over built bars."""

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from core.errors import InputError, NotFound
from simulated_market.world import company_plans, snapshot, store
from simulated_market.world.autumn import AUTUMN_FEATURES
from simulated_market.world.bars import Applied, WorldBars
from simulated_market.world.boards import board_list
from simulated_market.world.built import CALM, STATES, built, identities
from simulated_market.world.companies import FEATURES
from simulated_market.world.indices import INDICES
from simulated_market.world.intraday import MINUTES, Paths
from simulated_market.world.live import Live, shares_on
from simulated_market.world.model import Bars, Board, ExRight, Minutes, Quote, Rename, Security
from simulated_market.world.naming import base_name, shown_name
from simulated_market.world.plan import Feature, Plan, is_st_name
from simulated_market.world.session import Progress, date_number, moment, progress

# A change of anything that moves a row bumps this and the pinned hashes in one commit.
SAMPLE_VERSION = 3
DEFAULT_SEED = 20240102
_BARS_KEPT = 8192
"""Instruments: those of the largest profile."""


class SyntheticBars:
    """Facts about instruments and prices; `SyntheticWorld` adds what is derived from them."""

    label = "sample"

    def __init__(
        self,
        profile: str = "S",
        seed: int = DEFAULT_SEED,
        cache_dir: Path | None = None,
        texts: Sequence[str] = (),
        state: str = CALM,
        until: int | None = None,
    ) -> None:
        """`until`: the world goes on to the end of this year, if that is later than its profile's."""
        for name, value, known in (("profile", profile, company_plans.PROFILES), ("state", state, STATES)):
            if value not in known:
                raise InputError(name, f"{value!r} is none of {', '.join(known)}")
        self.state = state
        self.profile = company_plans.PROFILES[profile]
        self.seed = seed
        self._texts = tuple(texts)
        own = len(company_plans.sessions(self.profile))
        self._dates = company_plans.sessions(self.profile, until)
        self._numbers: list[int] = self._dates.tolist()
        kind = profile if state == CALM else f"{profile}-{state}"
        kind += f"-{until}" if len(self._dates) > own else ""
        path = store.path_of(cache_dir, SAMPLE_VERSION, kind, seed) if cache_dir else None
        self._plans, self._world_bars = built(profile, seed, state, until, path)
        self._secs, self._gone, self._former = identities(self._plans, self._dates)
        self._place = {s.symbol: i for i, s in enumerate(self._secs)}
        self._place |= {old.symbol: i for i, old in self._former.items()}
        self._order = sorted(range(len(self._secs)), key=lambda i: (self._secs[i].market, self._secs[i].code))
        self._live = Live(self._world_bars, self._plans, seed)
        self._listed = lru_cache(maxsize=8)(self._listed_on)
        self._boards = lru_cache(maxsize=4)(self._boards_on)
        self._bars = lru_cache(maxsize=_BARS_KEPT)(self._all_bars)
        self._zeros = np.zeros(len(self._dates), dtype=np.int64)

    def _answers(self, place: int, security: Security, today: int) -> bool:
        """Whether the market knows a security under this code on a day: a new code has the whole history."""
        former = self._former.get(place)
        if former is None or former.delist_date is None:
            return True
        return (security.code == former.code) == (today < former.delist_date)

    @property
    def world_bars(self) -> WorldBars:
        return self._world_bars

    @property
    def plans(self) -> Sequence[Plan]:
        return self._plans

    @property
    def features(self) -> tuple[Feature, ...]:
        """The dated table of what happens: in profile S, and in every profile what a state adds."""
        added = AUTUMN_FEATURES if self.state != CALM else ()
        return FEATURES + added if self.profile.name == "S" else added

    def trade_dates(self) -> Ints:
        return self._dates

    def place(self, security: Security) -> int:
        """Row of the bars; NotFound for a security of another world."""
        try:
            return self._place[security.symbol]
        except KeyError:
            raise NotFound(f"{security.symbol} is not in this world") from None

    def securities(self, now: datetime) -> Sequence[Security]:
        return self._listed(date_number(now))

    def _listed_on(self, today: int) -> tuple[Security, ...]:
        return tuple(
            self._known_as(i, today)
            for i in self._order
            if self._secs[i].list_date <= today and not self._is_gone(i, today)
        )

    def _known_as(self, place: int, today: int) -> Security:
        former, now = self._former.get(place), self._secs[place]
        return now if former is None or self._answers(place, now, today) else former

    def _is_gone(self, place: int, today: int) -> bool:
        ended = self._gone[place].delist_date
        return ended is not None and ended <= today

    def find(self, symbol: str) -> Security | None:
        place = self._place.get(symbol)
        if place is None:
            return None
        former = self._former.get(place)
        return former if former is not None and former.symbol == symbol else self._gone[place]

    def _days_of(self, place: int) -> tuple[int, int]:
        """First and last session index of an instrument's existence."""
        if place >= len(self._plans):
            return 0, len(self._dates) - 1
        plan = self._plans[place]
        return max(plan.list_day, 0), len(self._dates) - 1 if plan.last_day is None else plan.last_day

    def _session_on(self, today: int) -> int:
        """The newest session index not after a calendar date, -1 before the world."""
        return bisect_right(self._numbers, today) - 1

    def name(self, security: Security, now: datetime) -> str:
        place = self.place(security)
        if place >= len(self._plans):
            return INDICES[place - len(self._plans)].name
        plan, today = self._plans[place], date_number(now)
        if self._texts and plan.kind == "stock":
            return self._texts[place % len(self._texts)]
        day = self._session_on(today)
        listed = day - plan.list_day + 1 if plan.list_day >= 0 else None
        base = base_name(plan.names, today)
        return shown_name(plan, base, listed, self._event(place, day), gone=self._is_gone(place, today))

    def titled(self, title: str) -> str:
        return title + self._texts[crc32(title.encode()) % len(self._texts)] if self._texts else title

    def renames(self, now: datetime) -> Sequence[Rename]:
        today = date_number(now)
        return [
            Rename(self._known_as(i, today).symbol, before, since)
            for i in self._order
            if i < len(self._plans)
            for (_, before), (since, _) in itertools.pairwise(self._plans[i].names)
            if since <= today
        ]

    def _event(self, place: int, day: int) -> Applied | None:
        return next((a for a in self._world_bars.applied[place] if a.day == day), None)

    def is_st(self, security: Security, date: int) -> bool:
        """Special treatment on a date, from the dated names."""
        place = self.place(security)
        return place < len(self._plans) and is_st_name(base_name(self._plans[place].names, date))

    def limits(self, security: Security, date: int) -> tuple[int, int] | None:
        """(up, down) in PRICE_UNIT of a session, None where no limit applied or nothing was listed."""
        place = self.place(security)
        day = self._session_on(date)
        up = int(self._world_bars.limit_up[place, day]) if day >= 0 and int(self._dates[day]) == date else 0
        unit = self._unit(place)
        return (up * unit, int(self._world_bars.limit_down[place, day]) * unit) if up else None

    def _unit(self, place: int) -> int:
        return int(self._live.units[place])

    def shares(self, security: Security, now: datetime) -> tuple[int, int]:
        return self._shares_on(self.place(security), self._session_on(date_number(now)))

    def _shares_on(self, place: int, day: int) -> tuple[int, int]:
        if place >= len(self._plans):
            return 0, 0
        return shares_on(self._world_bars, place, day)

    def exrights(self, security: Security, now: datetime) -> Sequence[ExRight]:
        place, today = self.place(security), date_number(now)
        if place >= len(self._plans) or not self._answers(place, security, today):
            return ()
        day = self._session_on(today)
        records: list[ExRight] = []
        before = (0, 0)
        late = {event.day for event in self._plans[place].events if event.late}
        stock = bool(self._plans[place].board)
        for change in self._world_bars.shares[place] if stock else ():
            after = (change.total, change.floating)
            if change.day <= day:
                date = (
                    self._plans[place].list_date
                    if change.cause == "listing"
                    else int(self._dates[change.day])
                )
                wan = (before[1] / 1e4, before[0] / 1e4, after[1] / 1e4, after[0] / 1e4)
                records.append(ExRight(date, 2 if change.cause == "bonus" else 5, wan))
            before = after
        for event in self._world_bars.applied[place]:
            if event.day <= day:
                values = (event.cash, event.rights_price, event.bonus, event.rights)
                category = 1
                if event.bonus and not stock:  # units of a fund are split, or put together
                    category, values = 11, (0.0, 0.0, 1 + event.bonus / 10, 0.0)
                date = int(self._dates[event.day])
                records.append(ExRight(date, category, values, late=event.day in late))
        return sorted(records, key=lambda r: (r.date, r.category))

    # bars

    def bars(self, security: Security, now: datetime) -> Bars:
        place = self.place(security)
        at = progress(now, self._dates)
        first, last = self._days_of(place)
        stop = min(at.bars, last + 1) if self._answers(place, security, date_number(now)) else 0
        live = not at.complete and stop == at.day + 1 > first
        whole = self._bars(place)
        count = max(stop - first, 0)
        known = Bars(**{name: column[:count] for name, column in vars(whole).items()})
        return self._running(known, place, first, at) if live else known

    def _all_bars(self, place: int) -> Bars:
        """Complete bars of an instrument's whole existence, not to be written to: answers of all moments are
        cut from them, as views."""
        world_bars, unit = self._world_bars, self._unit(place)
        first, last = self._days_of(place)
        cut = slice(first, last + 1)
        price = {
            name: getattr(world_bars, name)[place, cut].astype(np.int64) * unit
            for name in ("open", "high", "low", "close", "preclose")
        }
        volume = world_bars.volume[place, cut]
        index = place - len(self._plans)
        up, down = self._zeros[cut], self._zeros[cut]
        if index >= 0:
            up, down = (
                side[index, cut].astype(np.int64) for side in (world_bars.up_count, world_bars.down_count)
            )
        made = Bars(
            date=self._dates[cut], **price, volume=volume, amount=world_bars.amount[place, cut] / 100,
            traded=world_bars.traded[place, cut], turnover_pct=self._turnover(place, first, last + 1, volume),
            up_count=up, down_count=down,
        )  # fmt: skip
        for column in vars(made).values():
            column.flags.writeable = False
        return made

    def _running(self, bars: Bars, place: int, first: int, at: Progress) -> Bars:
        """The bars with the last one as it is at a moment."""
        changed = {name: column.copy() for name, column in vars(bars).items()}
        if bars.traded[-1]:
            unit = self._unit(place)
            row, path = self._live.day_path(place, at.day)
            state = snapshot.running(row, path, at.minutes)
            for name in ("open", "high", "low", "close"):
                changed[name][-1] = int(getattr(state, name)[0]) * unit
            changed["volume"][-1], changed["amount"][-1] = state.volume[0], state.amount[0] / 100
            changed["turnover_pct"] = self._turnover(place, first, first + len(bars), changed["volume"])
        index = place - len(self._plans)
        if index >= 0:
            changed["up_count"][-1], changed["down_count"][-1] = self._live.breadth(index, at)
        return Bars(**changed)

    def _turnover(self, place: int, first: int, stop: int, volume: Ints) -> npt.NDArray[np.float64]:
        floating = np.full(stop - first, np.nan)
        if place < len(self._plans):
            for change in self._world_bars.shares[place]:
                floating[max(change.day - first, 0) :] = change.floating
        pct: npt.NDArray[np.float64] = np.round(volume / floating * 100, 4)
        pct[volume == 0] = np.nan
        return pct

    def quote(self, security: Security, now: datetime) -> Quote | None:
        place = self.place(security)
        at = progress(now, self._dates)
        first, last = self._days_of(place)
        if not first <= at.day <= last or not self._answers(place, security, date_number(now)):
            return None
        shot, unit, day = self._live.shot(at), self._unit(place), at.day
        traded = bool(self._world_bars.traded[place, day])
        date = int(self._dates[day])
        pre = int(shot.rows.preclose[place]) * unit
        up, down = int(shot.rows.limit_up[place]) * unit, int(shot.rows.limit_down[place]) * unit
        common = {
            "security": security, "name": self.name(security, now), "date": date,
            "time": moment(at, date, now), "preclose": pre, "limit_up": up or None,
            "limit_down": down or None,
        }  # fmt: skip
        if not traded or not at.opened:
            return Quote(
                **common, price=pre, open=0, high=0, low=0, volume=0, amount=0.0, inner_volume=0,  # type: ignore[arg-type]
                outer_volume=0, bids=(), asks=(), suspended=not traded, turnover_pct=None, volume_ratio=None,
                speed_pct=None,
            )  # fmt: skip
        state, index = shot.running, place - len(self._plans)
        price, volume = int(state.close[place]) * unit, int(state.volume[place])
        floating = int(shot.floating[place])
        counts = (0, 0)
        if index >= 0:
            complete = (
                int(self._world_bars.up_count[index, day]),
                int(self._world_bars.down_count[index, day]),
            )
            counts = complete if at.complete else self._live.breadth(index, at)
        usual = float(shot.usual[place]) * max(at.minutes, 1)
        return Quote(
            **common,  # type: ignore[arg-type]
            price=price,
            open=int(state.open[place]) * unit,
            high=int(state.high[place]) * unit,
            low=int(state.low[place]) * unit,
            volume=volume,
            amount=int(state.amount[place]) / 100,
            inner_volume=int(state.inner[place]),
            outer_volume=volume - int(state.inner[place]),
            bids=_levels(shot.book.bid[place], shot.book.bid_volume[place], unit) if index < 0 else (),
            asks=_levels(shot.book.ask[place], shot.book.ask_volume[place], unit) if index < 0 else (),
            suspended=False,
            turnover_pct=round(volume / floating * 100, 4) if floating else None,
            volume_ratio=round(volume / usual, 2) if usual else None,
            speed_pct=round((int(state.close[place]) / int(state.before[place]) - 1) * 100, 2),
            up_count=counts[0],
            down_count=counts[1],
            open_amount=int(state.auction_amount[place]) / 100,
        )

    def minutes(self, security: Security, date: int, now: datetime) -> Minutes | None:
        found = self._visible_path(security, date, now)
        if found is None:
            return None
        path, count, unit = found
        cut = slice(0, count)
        return Minutes(
            minute=MINUTES[cut], price=path.price[0, cut] * unit, high=path.high[0, cut] * unit,
            low=path.low[0, cut] * unit, open=path.open[0, cut] * unit, volume=path.volume[0, cut],
            amount=path.amount[0, cut] / 100,
        )  # fmt: skip

    def _visible_path(self, security: Security, date: int, now: datetime) -> tuple[Paths, int, int] | None:
        """(path of one row, completed minutes, unit); None where nothing traded or nothing is visible."""
        place, at = self.place(security), progress(now, self._dates)
        day = self._session_on(date)
        first, last = self._days_of(place)
        known = 0 <= day < at.bars and int(self._dates[day]) == date and first <= day <= last
        known = known and self._answers(place, security, date_number(now))
        if not known or not self._world_bars.traded[place, day]:
            return None
        _, path = self._live.day_path(place, day)
        return path, at.minutes if day == at.day else len(MINUTES), self._unit(place)

    def boards(self, now: datetime) -> Sequence[Board]:
        return self._boards(date_number(now))

    def index_members(self, index: Security, now: datetime) -> Sequence[Security]:
        bit = self.place(index) - len(self._plans)
        day = self._session_on(date_number(now))
        if bit < 0 or day < 0:
            return ()
        chosen = self._world_bars.members[int(self._world_bars.period[day])]
        listed = self.securities(now)
        return [one for one in listed if one.board and int(chosen[self.place(one)]) >> bit & 1]

    def _boards_on(self, today: int) -> tuple[Board, ...]:
        return tuple(board_list(self._listed(today), company_plans.concept_names(self.profile.concepts)))


def _levels(price: Ints, volume: Ints, unit: int) -> tuple[tuple[int, int], ...]:
    return tuple((p * unit, v) for p, v in zip(price.tolist(), volume.tolist(), strict=True) if v > 0)
