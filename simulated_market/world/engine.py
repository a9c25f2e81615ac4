"""The day loop: from plans to bars. Vector over instruments, exact over days.

Everything path-dependent (limits, rounding, streaks, ex-right prices, share counts) is integer; model
numbers come from `parameters.json`. Scripted moves overrule the model for named instruments and days.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from core.arrays import Bools, Floats, Ints
from core.market import rules, securities
from simulated_market.world import draws
from simulated_market.world.bars import Applied, ShareChange, WorldBars
from simulated_market.world.draws import Stream
from simulated_market.world.indices import INDICES, IndexBook
from simulated_market.world.parameters import parameters
from simulated_market.world.plan import Event, Move, Plan, is_st_name
from simulated_market.world.vocabulary import SECTORS

_KINDS = (*securities.BOARDS, "etf", securities.WIDE_FUND, "lof", "reit", "cb", "b")
_PRICES = ("open", "high", "low", "close", "preclose", "limit_up", "limit_down")
_PLAIN, _ST, _DELISTING = 0, 1, 2
_LEAPS = {"seal_up": 0.1, "broken_up": 0.0}  # gain of a scripted mode; 0 = as its day says


@dataclass(frozen=True)
class Regime:
    """Scripted market days: session index -> mean market return added to every beta."""

    crash: frozenset[int]
    rebound: frozenset[int]
    rally: dict[int, float]


def build(
    plans: list[Plan], dates: Ints, seed: int, regime: Regime, scripted_days: int | None = None
) -> WorldBars:
    """Run all sessions. The result's last rows are the six indices. `scripted_days`: sessions over which the
    scripted leaps are given back; all by default."""
    return _Loop(plans, dates, seed, regime, scripted_days or len(dates)).run()


class _Loop:
    def __init__(self, plans: list[Plan], dates: Ints, seed: int, regime: Regime, scripted_days: int) -> None:
        self.plans, self.dates, self.seed, self.regime = plans, dates, seed, regime
        self.p = parameters()
        n, days = len(plans), len(dates)
        self.n = n
        self.kind = np.asarray([_KINDS.index(x.board or x.band or x.kind) for x in plans])
        self.beta = np.asarray([x.beta for x in plans])
        self.load = np.asarray([x.load for x in plans])
        self.sigma = np.asarray([x.sigma for x in plans])
        self.base_turn = np.log(np.asarray([x.turnover for x in plans]))
        self.sector = np.asarray([SECTORS.index(x.sector) if x.sector else -1 for x in plans])
        self.stock = np.asarray([bool(x.board) for x in plans])
        self.jumpy = np.asarray([x.jumpy if x.board else 0.0 for x in plans])
        self.unit = np.asarray([x.tick_unit for x in plans], dtype=np.int64)
        self.lot = np.asarray([volume_step(x) for x in plans], dtype=np.int64)
        self.first = np.asarray([max(x.list_day, 0) for x in plans])
        self.last = np.asarray([days - 1 if x.last_day is None else x.last_day for x in plans])
        self.price = np.asarray([x.price for x in plans], dtype=np.int64)
        self.total = np.asarray([x.total for x in plans], dtype=np.int64)
        self.floating = np.asarray([x.floating for x in plans], dtype=np.int64)
        self.level = np.zeros(n)  # log total-return level, pulled back to 0
        self.owed = self._owed(scripted_days)  # log gain of leaps that is given back over weeks
        self.log_vol = np.zeros(n)
        self.turn = np.zeros(n)
        self.was_up = np.zeros(n, dtype=bool)
        self.in_row = np.zeros(n, dtype=np.int64)  # limit-ups in a row
        self.was_down = np.zeros(n, dtype=bool)
        self.status = np.zeros(n, dtype=np.int64)
        self.market_vol = self.mood = self.market_level = 0.0
        self.heat = np.zeros(len(SECTORS))
        self._schedule()
        shape = (days, n + len(INDICES))
        self.out = {name: np.zeros(shape, dtype=np.int32) for name in _PRICES}
        self.volume = np.zeros(shape, dtype=np.int64)
        self.amount = np.zeros(shape, dtype=np.int64)
        self.traded = np.zeros(shape, dtype=bool)
        self.applied: list[list[Applied]] = [[] for _ in plans]
        self.shares = [[ShareChange(max(x.list_day, 0), x.total, x.floating, "listing")] for x in plans]
        self.indices = IndexBook(plans, dates, seed)

    def _owed(self, days: int) -> Floats:
        """What leaps leave to be given back in the long run, so that no year begins with a rise of all."""
        get = self.p.get
        scripted = np.zeros(self.n)
        for i, plan in enumerate(self.plans):
            own = list(plan.moves.values())[: plan.own_moves]
            leaps = [move for move in own if move.mode in _LEAPS]
            scripted[i] = sum(_LEAPS[move.mode] or move.ret for move in leaps) / days
        drawn: Floats = self.jumpy * get("jump_chance") * get("jump_size")
        return (drawn + scripted) / get("leap_return")

    def _schedule(self) -> None:
        """Turn the plans' dated lists into look-ups by session."""
        self.events: dict[int, list[tuple[int, Event]]] = defaultdict(list)
        self.releases: dict[int, list[tuple[int, float]]] = defaultdict(list)
        self.moves: dict[int, list[tuple[int, Move]]] = defaultdict(list)
        self.status_on: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.bands: dict[int, list[tuple[int, tuple[float, float] | None]]] = defaultdict(list)
        self.off = np.zeros((len(self.dates), self.n), dtype=bool)
        for i, plan in enumerate(self.plans):
            for event in plan.events:
                self.events[event.day].append((i, event))
            for day, share in plan.releases:
                self.releases[day].append((i, share))
            for day, move in plan.moves.items():
                self.moves[day].append((i, move))
            for start, end in plan.suspensions:
                self.off[start : end + 1, i] = True
            self._schedule_status(i, plan)
            self._schedule_first_days(i, plan)

    def _schedule_status(self, i: int, plan: Plan) -> None:
        if not plan.board:
            return
        for since, name in plan.names:
            day = int(np.searchsorted(self.dates, since))
            self.status_on[day].append((i, _ST if is_st_name(name) else _PLAIN))
        if plan.delisting_day is not None:
            self.status_on[plan.delisting_day].append((i, _DELISTING))
        for ended in (plan.delisting_day, plan.relisting_day):
            if ended is not None:
                self.bands[ended].append((i, None))

    def _schedule_first_days(self, i: int, plan: Plan) -> None:
        if plan.list_day < 0 or not (plan.board or plan.kind in ("cb", "reit")):
            return
        for listed in range(1, 6):
            day = plan.list_day + listed - 1
            if day < len(self.dates):
                date = int(self.dates[day])
                found = rules.band(plan.board or plan.kind, False, date, listed)
                if found != rules.band(plan.board or plan.kind, False, date):
                    self.bands[day].append((i, found))

    def run(self) -> WorldBars:
        for day in range(len(self.dates)):
            self._session(day)
        out = {name: np.ascontiguousarray(self.out.pop(name).T) for name in tuple(self.out)}
        return WorldBars(
            dates=self.dates,
            **out,
            volume=np.ascontiguousarray(self.volume.T),
            amount=np.ascontiguousarray(self.amount.T),
            traded=np.ascontiguousarray(self.traded.T),
            up_count=self.indices.up_count,
            down_count=self.indices.down_count,
            members=self.indices.members,
            period=self.indices.period,
            applied=self.applied,
            shares=self.shares,
        )

    def _draw(self, stream: Stream, day: int) -> draws.Raw:
        return draws.raw(self.seed, stream, day, self.n)

    def _session(self, day: int) -> None:
        listed = (self.first <= day) & (day <= self.last)
        traded = listed & ~self.off[day]
        for i, status in self.status_on.get(day, ()):
            self.status[i] = status
        preclose = self._ex_rights(day, listed)
        up, down = self._limits(day, preclose)
        target, gap = self._returns(day, preclose)
        opened, high, low, close = self._prices(day, preclose, (up, down), target, gap)
        for column in (opened, high, low, close):
            np.copyto(column, preclose, where=~traded)
        volume, amount = self._volumes(day, (opened, high, low, close), preclose, up)
        volume *= traded
        amount *= traded
        self._close_session(traded, high, close, preclose, (up, down))
        self._write(day, listed, traded, (opened, high, low, close, preclose, up, down), (volume, amount))

    def _ex_rights(self, day: int, listed: Bools) -> Ints:
        """Reference prices of the day; books share changes."""
        preclose = self.price.copy()
        for i, event in self.events.get(day, ()):
            if listed[i] and day > self.first[i]:
                preclose[i] = self._apply(day, i, event)
        for i, share in self.releases.get(day, ()):
            if listed[i]:
                self.floating[i] = max(int(self.total[i] * share), int(self.floating[i]))
                self.shares[i].append(ShareChange(day, int(self.total[i]), int(self.floating[i]), "release"))
        return preclose

    def _apply(self, day: int, i: int, event: Event) -> int:
        price = int(self.price[i]) * int(self.unit[i]) / 10_000
        cash = event.cash or round(price * event.cash_yield * 10, 2)
        rights_price = event.rights_price or round(price * event.rights_level, 2)
        before = (int(self.total[i]), int(self.floating[i]))
        growth = 1 + (event.bonus + event.rights) / 10
        after = (round(before[0] * growth), round(before[1] * growth))
        if after != before:
            self.total[i], self.floating[i] = after
            self.shares[i].append(ShareChange(day, *after, "bonus"))
        applied = Applied(day, cash, rights_price, event.bonus, event.rights, event.held_back, before, after)
        self.applied[i].append(applied)
        return reference_price(int(self.price[i]), int(self.unit[i]), applied)

    def _limits(self, day: int, preclose: Ints) -> tuple[Ints, Ints]:
        date = int(self.dates[day])
        table = np.zeros((len(_KINDS), 3))
        for at, kind in enumerate(_KINDS):
            for status in (_PLAIN, _ST, _DELISTING):
                pct = rules.limit_pct(kind, status == _ST, date, delisting=status == _DELISTING)
                table[at, status] = 0.0 if pct is None else pct
        up_pct = table[self.kind, self.status]
        down_pct = up_pct.copy()
        for i, band in self.bands.get(day, ()):
            up_pct[i], down_pct[i] = band or (0.0, 0.0)
        up, down = rules.limit_ticks(preclose, up_pct, down_pct)
        return np.where(up_pct > 0, up, 0), np.where(up_pct > 0, down, 0)

    def _market(self, day: int) -> tuple[float, Floats]:
        """The day's market return and sector returns."""
        numbers = draws.raw(self.seed, Stream.MARKET, day, 8)
        z, u = draws.normal(numbers), draws.uniform(numbers)
        get = self.p.get
        ar = get("market_log_vol_ar")
        self.market_vol = min(max(ar * self.market_vol + get("market_log_vol_sd") * z[0], -0.8), 1.0)
        self.mood = 0.9 * self.mood + 0.2 * z[1]
        market = get("market_sd") * float(np.exp(self.market_vol)) * z[2]
        if day in self.regime.crash or day in self.regime.rebound:
            market = -0.096 if day in self.regime.crash else 0.028
        elif day in self.regime.rally:
            market = self.regime.rally[day]
        elif u[3] < get("crash_chance") * 0.5:  # the other half of the crash days is scripted
            market = get("crash_mean") * (1 + 0.2 * z[4])
        market -= get("market_reversion") * (self.market_level - get("drift_per_year") / 243 * day)
        sector_numbers = draws.raw(self.seed, Stream.SECTOR, day, len(SECTORS))
        heat_numbers = draws.raw(self.seed, Stream.HEAT, day, len(SECTORS))
        self.heat = 0.88 * self.heat + 0.25 * draws.normal(heat_numbers)
        return market, get("sector_sd") * draws.normal(sector_numbers)

    def _returns(self, day: int, preclose: Ints) -> tuple[Floats, Floats]:
        """(close, open) of the model as fractions of preclose, before limits."""
        get = self.p.get
        market, sectors = self._market(day)
        self.log_vol *= get("idio_vol_ar")
        self.log_vol += get("idio_vol_sd") * draws.normal(self._draw(Stream.VOL, day))
        vol = self.sigma * np.exp(self.log_vol - 0.06)
        sector = np.where(self.sector >= 0, sectors[self.sector], 0.0)
        heat = np.where(self.sector >= 0, self.heat[self.sector], 0.0)
        chance = get("jump_chance") * self.jumpy * np.exp(np.clip(self.mood + heat, -1.2, 1.2))
        u = draws.uniform(self._draw(Stream.JUMP, day))
        size = draws.exponential(self._draw(Stream.JUMP_SIZE, day))
        drop = get("drop_chance") * self.jumpy
        jump = np.where(u < chance, get("jump_size") * size, 0.0)
        jump -= np.where(u > 1 - drop, 0.08 * size, 0.0)
        path = get("drift_per_year") / 243 * np.maximum(day - self.first, 0)
        drift = get("leap_return") * self.owed + get("reversion") * (self.level - path)
        drift -= 0.5 * self.sigma**2 + 0.08 * drop
        follow = get("follow_mean") + get("follow_sd") * draws.normal(self._draw(Stream.FOLLOW, day))
        idio = vol * draws.normal(self._draw(Stream.IDIO, day))
        target = self.beta * market + self.load * sector + idio + jump - drift
        tired = get("follow_tires") * np.maximum(self.in_row - 3, 0)
        target += np.where(self.was_up, follow - tired, 0.0) - np.where(self.was_down, 0.012, 0.0)
        noise = get("gap_noise") * vol * draws.normal(self._draw(Stream.GAP, day))
        share = np.where(self.was_up, 0.55, get("gap_share"))
        return target, share * target + noise

    def _prices(
        self, day: int, preclose: Ints, limits: tuple[Ints, Ints], target: Floats, gap: Floats
    ) -> tuple[Ints, Ints, Ints, Ints]:
        up, down = limits
        limited = up > 0
        broken = draws.uniform(self._draw(Stream.BREAK, day))
        top = np.where(limited, up, np.iinfo(np.int32).max)
        wide = np.where(limited, up / np.maximum(preclose, 1) - 1, 1.0)
        hit = limited & (target >= wide)
        # A broken board gives back up to half of the band.
        fails = hit & (broken < self.p.get("break_chance"))
        target = np.where(fails, wide * (0.95 - 3.0 * broken), target)
        one_word = hit & ~fails & (target > 1.9 * wide)
        gap = np.where(one_word, target, gap)
        scale = self.p.get("wick") * self.sigma * 1.5
        upper = scale * draws.exponential(self._draw(Stream.WICK_UP, day))
        lower = scale * draws.exponential(self._draw(Stream.WICK_DOWN, day))
        for i, move in self.moves.get(day, ()):
            target[i], gap[i], fails[i], one_word[i] = _scripted(move, wide[i])
            upper[i] *= move.wick
            lower[i] *= move.wick
        upper = np.where(fails, 1.0, np.where(one_word, 0.0, upper))
        lower = np.where(one_word, 0.0, lower)
        close = np.clip(_ticks(preclose, target), down, top)
        opened = np.clip(_ticks(preclose, gap), down, top)
        high = np.clip(
            np.floor(np.maximum(opened, close) * (1 + np.minimum(upper, 9.0))).astype(np.int64), 1, top
        )
        low = np.maximum(
            np.ceil(np.minimum(opened, close) * np.maximum(1 - lower, 0.01)).astype(np.int64), down
        )
        return (
            opened,
            np.maximum(high, np.maximum(opened, close)),
            np.maximum(np.minimum(low, np.minimum(opened, close)), 1),
            close,
        )

    def _volumes(
        self, day: int, prices: tuple[Ints, Ints, Ints, Ints], preclose: Ints, up: Ints
    ) -> tuple[Ints, Ints]:
        """Shares and fen; amount / volume is in [low, high] by construction."""
        opened, high, low, close = prices
        size = np.abs(close / np.maximum(preclose, 1) - 1) / self.sigma
        get = self.p.get
        ar, within = get("turnover_ar"), get("turnover_within_sd")
        z = draws.normal(self._draw(Stream.TURNOVER, day))
        push = get("turnover_abs_return") * (np.minimum(size, 5.0) - 1.0)
        self.turn = ar * self.turn + within * (1 - ar**2) ** 0.5 * (0.8 * z) + 0.35 * push
        factor = np.exp(np.clip(self.turn, -3.0, 3.0) + 0.5 * push)
        one_word = (high == low) & (up > 0)
        factor = np.where(one_word, 0.12 * factor, factor)
        for i, move in self.moves.get(day, ()):
            factor[i] = factor[i] * move.turn
        turnover = np.exp(self.base_turn) * factor
        for i, _ in self.bands.get(day, ()):  # the first free days: a good half of the float, then less
            turnover[i] = (1.1 if day == self.first[i] else 0.45) * float(np.exp(0.25 * z[i]))
        most = get("turnover_most")
        turnover = most * -np.expm1(-turnover / most)  # the rarer, the higher: never one and the same figure
        volume = np.maximum((self.floating * turnover).astype(np.int64) // self.lot, 1) * self.lot
        mean = (opened + high + low + 2 * close) / 5
        spread = (high - low) * 0.06 * draws.normal(self._draw(Stream.VWAP, day))
        vwap = np.clip(mean + spread, low, high)
        fen = np.rint(vwap * volume * self.unit / 100).astype(np.int64)
        return volume, np.clip(fen, -(-low * volume * self.unit // 100), high * volume * self.unit // 100)

    def _close_session(
        self, traded: Bools, high: Ints, close: Ints, preclose: Ints, limits: tuple[Ints, Ints]
    ) -> None:
        up, down = limits
        change = np.log(np.maximum(close, 1) / np.maximum(preclose, 1))
        moved = np.where(traded, np.clip(change, -0.5, 0.5), 0.0)
        self.level += moved
        leap = (up > 0) & ((change > self.p.get("leap_least")) | (high == up))
        self.owed += np.where(leap, moved, 0.0) - self.p.get("leap_return") * self.owed * traded
        self.was_up = np.where(traded, (up > 0) & (close == up), self.was_up)
        self.in_row = np.where(traded, np.where(self.was_up, self.in_row + 1, 0), self.in_row)
        self.was_down = np.where(traded, (up > 0) & (close == down), self.was_down)
        self.price = close

    def _write(
        self, day: int, listed: Bools, traded: Bools, prices: tuple[Ints, ...], turnover: tuple[Ints, Ints]
    ) -> None:
        n = self.n
        for name, column in zip(_PRICES, prices, strict=True):
            self.out[name][day, :n] = column * listed
        self.volume[day, :n], self.amount[day, :n] = turnover
        self.traded[day, :n] = traded
        rows = self.indices.session(day, listed, traded, prices, turnover, self.total * self.stock)
        self.market_level += float(np.log(rows["close"] / rows["preclose"]).mean())
        for name in _PRICES[:5]:
            self.out[name][day, n:] = rows[name]
        self.volume[day, n:], self.amount[day, n:] = rows["volume"], rows["amount"]
        self.traded[day, n:] = True


def reference_price(price: int, unit: int, event: Applied) -> int:
    """Ex-right reference in ticks, half up: (10 p - cash + rights x price) / (10 + bonus + rights).

    `held_back` is treasury stock: cash is spread over all shares, which moves the reference by a fen.
    """

    def exact(value: float) -> int:  # 1e-4
        return round(value * 10_000)

    cash = exact(event.cash * (1 - event.held_back))
    numerator = 10 * price * unit * 10_000 - cash * 10_000 + exact(event.rights_price) * exact(event.rights)
    denominator = (100_000 + exact(event.bonus) + exact(event.rights)) * unit
    return max((2 * numerator + denominator) // (2 * denominator), 1)


def _ticks(preclose: Ints, change: Floats) -> Ints:
    ticks: Ints = np.floor(preclose * (1 + np.maximum(change, -0.95)) + 0.5).astype(np.int64)
    return ticks


def volume_step(plan: Plan) -> int:
    """Shares by which a traded volume moves: odd lots are common on STAR and Beijing."""
    if plan.board in ("star", "bj"):
        return 1
    return 10 if plan.kind == "cb" else 100


def _scripted(move: Move, wide: float) -> tuple[float, float, bool, bool]:
    """(target, gap, broken, one-word) of a scripted day; `wide` is the band as a fraction."""
    beyond = 1.5 * wide
    modes = {
        "seal_up": (beyond, min(move.gap, 0.8 * wide), False, False),
        "one_word_up": (beyond, beyond, False, True),
        "seal_down": (-beyond, max(move.gap, -0.8 * wide), False, False),
        "one_word_down": (-beyond, -beyond, False, True),
    }
    return modes.get(move.mode, (move.ret, move.gap, move.mode == "broken_up", False))
