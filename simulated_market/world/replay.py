"""The replay world: real daily bars from files behind the same responders. Prices are exact to the file.

What the files do not hold is absent in the answers as well: no intraday path, no book, no flows, no
reports. A session therefore becomes visible as a whole at its 15:00. Decisions:

- Ex-rights are derived: wherever preclose differs from the last close there was an event, and one
  category-1 record with cash per 10 = 10 x (last close - preclose) gives exactly that reference price.
  A preclose above the last close (none in the set, 1,552 below) would give negative cash, which stays: the
  formula still holds, and hiding the row would break the series.
- Float shares = volume / turnover of the newest traded day; total shares are those of the 2024 list, at
  least the float.
- Names are the former ones of the file of name changes up to its last change of a security, then those
  of 2026. On days with bars `isST` decides: ST is put before a name that lacks it, and taken off one that
  should not have it. A change of the name so found is a rename.
- Of a set the daily bars alone are needed. Without a file of indices the mean of the set's stocks is used
instead; without lists there are no industries, regions, names or shares beyond what follows from the bars.
- The first traded day after 200 or more suspended sessions counts as a re-listing, without limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.arrays import Bools, Ints
from core.errors import NotFound
from core.market import rules, securities
from simulated_market.world import replay_files
from simulated_market.world.model import (
    PRICE_UNIT,
    Bars,
    Board,
    ExRight,
    Quote,
    Rename,
    Security,
    Valuation,
    World,
)
from simulated_market.world.plan import is_st_name
from simulated_market.world.replay_files import Columns, Master
from simulated_market.world.session import date_number

CLOSE_HOUR = 15
_RELISTING_GAP = 200
_INDEX_NAMES = {
    "sh000001": "上证指数", "sz399001": "深证成指", "sz399006": "创业板指", "sh000016": "上证50",
    "sh000300": "沪深300", "sh000905": "中证500", "sh000852": "中证1000",
}  # fmt: skip
_MEAN_INDICES = tuple(symbol for symbol in _INDEX_NAMES if symbol != "sz399006")


@dataclass(frozen=True)
class _Series:
    security: Security
    bars: Bars
    st: Bools
    columns: Columns


class ReplayWorld(World):
    """Real bars of `real_data_dir` (the set's file names and columns, or a slice of them)."""

    label = "replay"

    def __init__(self, real_data_dir: Path | str) -> None:
        folder = Path(real_data_dir)
        self._dates = replay_files.trade_dates(folder)
        self._master = replay_files.masters(folder)
        self._former = replay_files.former_names(folder)
        stocks = replay_files.stock_bars(folder)
        self._series = {
            symbol: _series(symbol, columns, self._master.get(symbol))
            for symbol, columns in {
                **stocks,
                **(replay_files.index_bars(folder) or replay_files.mean_indices(stocks, _MEAN_INDICES)),
            }.items()
        }
        self._order = sorted(self._series.values(), key=lambda s: (s.security.market, s.security.code))
        self._listed = lru_cache(maxsize=8)(self._listed_on)
        self._boards = lru_cache(maxsize=4)(self._boards_on)
        self._renames = lru_cache(maxsize=1)(self._all_renames)
        self._last_row = max(int(s.bars.date[-1]) for s in self._order if s.security.kind == "stock")

    @property
    def first_date(self) -> int:
        return min(int(s.bars.date[0]) for s in self._order if s.security.kind == "stock")

    @property
    def last_date(self) -> int:
        """The newest date with stock bars; a frozen clock must not be later."""
        return self._last_row

    def manifest(self) -> dict[str, str]:
        return {"world": "replay", "exrights": "derived from preclose", "shares": "derived from turnover"}

    def trade_dates(self) -> Ints:
        return self._dates

    def _get(self, security: Security) -> _Series:
        try:
            return self._series[security.symbol]
        except KeyError:
            raise NotFound(f"{security.symbol} is not in this world") from None

    def securities(self, now: datetime) -> Sequence[Security]:
        return self._listed(date_number(now))

    def _listed_on(self, today: int) -> tuple[Security, ...]:
        return tuple(s.security for s in self._order if int(s.bars.date[0]) <= today)

    def find(self, symbol: str) -> Security | None:
        found = self._series.get(symbol)
        return found.security if found else None

    def _rows(self, series: _Series, now: datetime) -> int:
        """Rows visible at `now`: a session counts from its 15:00."""
        today = date_number(now)
        if now.hour < CLOSE_HOUR:
            return int(np.searchsorted(series.bars.date, today, side="left"))
        return int(np.searchsorted(series.bars.date, today, side="right"))

    def name(self, security: Security, now: datetime) -> str:
        if security.kind == "index":
            return _INDEX_NAMES.get(security.symbol, security.code)
        return self._name_on(self._get(security), date_number(now))

    def _name_on(self, series: _Series, date: int) -> str:
        symbol = series.security.symbol
        former = next((old for until, old in self._former.get(symbol, ()) if date < until), "")
        name = former or _plain(self._master[symbol].name if symbol in self._master else symbol[2:])
        row = int(np.searchsorted(series.bars.date, date, side="right")) - 1
        if former and row < 0:
            return former  # the file goes further back than the bars
        row = max(row, 0)
        if bool(series.st[row]) == is_st_name(name):
            return name
        return "ST" + name if series.st[row] else _plain(name)

    def renames(self, now: datetime) -> Sequence[Rename]:
        today = date_number(now)
        return [one for one in self._renames() if one.date <= today]

    def _all_renames(self) -> tuple[Rename, ...]:
        """The file's for securities without bars; for the others what their shown name does."""
        made: list[Rename] = []
        for symbol in sorted({*self._former, *self._master, *self._series}):
            series = self._series.get(symbol)
            if series is None:
                made += [Rename(symbol, name, until) for until, name in self._former.get(symbol, ())]
            elif series.security.kind == "stock":
                made += self._renames_of(series)
        return tuple(made)

    def _renames_of(self, series: _Series) -> list[Rename]:
        turns = np.flatnonzero(series.st[1:] != series.st[:-1]) + 1
        days = {until for until, _ in self._former.get(series.security.symbol, ())}
        days |= set(series.bars.date[turns].tolist())
        made = []
        for day in sorted(days):
            old, new = self._name_on(series, day - 1), self._name_on(series, day)
            if old != new:
                made.append(Rename(series.security.symbol, old, day))
        return made

    def is_st(self, security: Security, date: int) -> bool:
        series = self._get(security)
        row = int(np.searchsorted(series.bars.date, date, side="right")) - 1
        return bool(row >= 0 and series.st[row])

    def bars(self, security: Security, now: datetime) -> Bars:
        series = self._get(security)
        stop = self._rows(series, now)
        return Bars(**{name: column[:stop] for name, column in vars(series.bars).items()})

    def shares(self, security: Security, now: datetime) -> tuple[int, int]:
        series = self._get(security)
        if security.kind == "index":
            return 0, 0
        floating = _newest(series.columns.float_shares[: self._rows(series, now)])
        known = self._master.get(security.symbol)
        total = known.total_shares if known else 0
        return max(total, floating), floating

    def exrights(self, security: Security, now: datetime) -> Sequence[ExRight]:
        series = self._get(security)
        if security.kind == "index":
            return ()
        today, bars = date_number(now), series.bars
        drop = bars.close[:-1] - bars.preclose[1:]
        return tuple(
            ExRight(int(bars.date[k + 1]), 1, (int(drop[k]) * 10 / PRICE_UNIT, 0.0, 0.0, 0.0))
            for k in np.flatnonzero(drop).tolist()
            if int(bars.date[k + 1]) <= today
        )

    def limits(self, security: Security, date: int) -> tuple[int, int] | None:
        """(up, down) in PRICE_UNIT of a session, None where there was none."""
        series = self._get(security)
        row = int(np.searchsorted(series.bars.date, date))
        if security.kind != "stock" or row == len(series.bars) or int(series.bars.date[row]) != date:
            return None
        gap = series.bars.traded[max(row - _RELISTING_GAP, 0) : row]
        up, down = rules.price_limits(
            int(series.bars.preclose[row]) / PRICE_UNIT,
            security.board,
            bool(series.st[row]),
            date,
            self._listed_days(security, date),
            relisting=len(gap) == _RELISTING_GAP and not gap.any() and bool(series.bars.traded[row]),
        )
        return None if up is None or down is None else (round(up * PRICE_UNIT), round(down * PRICE_UNIT))

    def _listed_days(self, security: Security, date: int) -> int:
        dates = self._dates
        return int(np.searchsorted(dates, date, "right") - np.searchsorted(dates, security.list_date))

    def quote(self, security: Security, now: datetime) -> Quote | None:
        series = self._get(security)
        row = self._rows(series, now) - 1
        if row < 0:
            return None
        bars, date = series.bars, int(series.bars.date[row])
        limits = self.limits(security, date)
        traded = bool(bars.traded[row])
        turnover = float(bars.turnover_pct[row])
        week = bars.volume[max(row - 5, 0) : row]
        usual = float(week[week > 0].mean()) if (week > 0).any() else 0.0
        return Quote(
            security=security,
            name=self.name(security, now),
            date=date,
            time=datetime(date // 10_000, date // 100 % 100, date % 100, CLOSE_HOUR),
            price=int(bars.close[row]),
            preclose=int(bars.preclose[row]),
            open=int(bars.open[row]) if traded else 0,
            high=int(bars.high[row]) if traded else 0,
            low=int(bars.low[row]) if traded else 0,
            volume=int(bars.volume[row]),
            amount=float(bars.amount[row]),
            inner_volume=0,
            outer_volume=0,
            bids=(),
            asks=(),
            suspended=not traded,
            limit_up=limits[0] if limits else None,
            limit_down=limits[1] if limits else None,
            turnover_pct=None if np.isnan(turnover) else turnover,
            volume_ratio=round(int(bars.volume[row]) / usual, 2) if traded and usual else None,
            speed_pct=None,
        )

    def valuation(self, security: Security, now: datetime) -> Valuation | None:
        series = self._get(security)
        row = self._rows(series, now) - 1
        if row < 0 or security.kind == "index":
            return None
        total, floating = self.shares(security, now)
        price = int(series.bars.close[row]) / PRICE_UNIT
        return Valuation(
            pe_ttm=_known(series.columns.pe[row]),
            pe_static=None,
            pe_dynamic=None,
            pb=_known(series.columns.pb[row]),
            ps_ttm=_known(series.columns.ps[row]),
            dividend_yield=None,
            total_market_cap=round(price * total, 2) if total else None,
            float_market_cap=round(price * floating, 2) if floating else None,
            total_shares=total,
            float_shares=floating,
        )

    def boards(self, now: datetime) -> Sequence[Board]:
        return self._boards(date_number(now))

    def _boards_on(self, today: int) -> tuple[Board, ...]:
        """Industry and region boards of the lists; codes are in order of name."""
        made: list[Board] = []
        listed = [s for s in self._listed(today) if s.kind == "stock"]
        everyone = [s.security for s in self._order if s.security.kind == "stock"]
        for kind, base in (("industry", 420), ("region", 145)):
            names = sorted({str(getattr(s, kind)) for s in everyone} - {""})
            for at, name in enumerate(names):
                members = tuple(s.symbol for s in listed if getattr(s, kind) == name)
                if members:
                    made.append(Board(f"BK{base + at:04d}", name, kind, members))
        return tuple(made)


def _series(symbol: str, columns: Columns, master: Master | None) -> _Series:
    market, code = symbol[:2].upper(), symbol[2:]
    kind = securities.sec_type_of(code, market)
    security = Security(
        code=code,
        market=market,
        kind=kind,
        board=securities.board_of(code, market),
        decimals=2,
        list_date=master.list_date if master and master.list_date else int(columns.date[0]),
        industry=master.industry if master else "",
        region=master.region if master else "",
    )
    bars = Bars(**{one.name: getattr(columns, one.name) for one in fields(Bars)})
    return _Series(security, bars, columns.st, columns)


def _plain(name: str) -> str:
    for prefix in ("*ST", "ST"):
        name = name.removeprefix(prefix)
    return name


def _newest(values: Ints) -> int:
    found = np.flatnonzero(values)
    return int(values[found[-1]]) if len(found) else 0


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
