"""What the files say, with arithmetic of this module's own: rows of the window, events, factors, indices."""

import bisect
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from core.calendar import shipped_calendar
from simulated_market.world.replay_files import BARS, BASIC, CALENDAR, INDICES
from tests.real_day.rules import Band, band_of, state_of
from tests.real_day.window import lines_of

RELISTING_GAP = 200
"""Sessions of suspension after which a first traded one beyond the ordinary limits is a re-listing: a
suspension for another reason ends with them."""
KNOWN_AFTER = 60
"""Sessions before a re-listing that must be stored without a trade of the stock: no source reports it."""
PRICES = ("open", "high", "low", "close")
BIG_CUT = Decimal("0.15")
Key = tuple[str, str]


@dataclass(frozen=True)
class Row:
    """One stock on one date as the file has it. Prices CNY as decimals, exact."""

    symbol: str
    date: str
    prices: dict[str, Decimal]
    preclose: Decimal
    before: Decimal | None
    """Close of the row before it; None on the first row of a code."""
    volume: int
    amount: float
    change_pct: float | None
    """As the file has it, with as many decimals as its column: see `Truth.change_decimals`."""
    traded: bool
    st: bool
    factor: float
    """Product of last close / preclose over all earlier rows and this one."""
    band: Band | None
    known_from: str = ""
    """Of a re-listing: the date from which bars must be stored to know of it."""

    @property
    def code(self) -> str:
        return self.symbol[2:]

    @property
    def is_ex_day(self) -> bool:
        return self.before is not None and self.before != self.preclose

    @property
    def cut(self) -> Decimal:
        """How far the event took the price down, as a fraction."""
        return Decimal(0) if self.before is None else 1 - self.preclose / self.before

    @property
    def state(self) -> str:
        prices = {name: _fen(value) for name, value in self.prices.items()}
        return state_of(
            self.band, close=prices["close"], high=prices["high"], low=prices["low"], traded=self.traded
        )


@dataclass(frozen=True)
class IndexRow:
    """One index on one date; volume in shares, amount in CNY."""

    symbol: str
    date: str
    prices: dict[str, float]
    before: float
    volume: int
    amount: float


@dataclass
class Truth:
    """The window of the files."""

    rows: dict[Key, Row] = field(default_factory=dict)
    indices: dict[Key, IndexRow] = field(default_factory=dict)
    stocks_read: int = 0
    volumes_beyond_float32: int = 0
    amounts_beyond_float32: int = 0
    change_decimals: int = 0
    """Decimals of the file's changes in percent: two or six, by its origin."""

    @property
    def dates(self) -> list[str]:
        return sorted({date for _, date in self.rows})

    @property
    def symbols(self) -> list[str]:
        return sorted({symbol for symbol, _ in self.rows})

    def where(self, name: str) -> list[Row]:
        """Rows with a true property, in order of date and symbol."""
        found = (row for row in self.rows.values() if getattr(row, name))
        return sorted(found, key=lambda row: (row.date, row.symbol))


def read(folder: Path, since: str, until: str) -> Truth:
    """The rows from `since` to `until`; factors count from the first row of each code in the file.

    A code without a date of listing counts as listed with its first row.
    """
    from tests.real_day.wire import float32

    truth = Truth()
    sessions = sorted(line["trade_date"] for line in lines_of(folder, CALENDAR)) or shipped_calendar().dates
    listed = {
        line["ts_code"][7:].lower() + line["ts_code"][:6]: _iso(line["list_date"])
        for line in lines_of(folder, BASIC)
        if line["list_date"]
    }
    closes: dict[str, Decimal] = {}
    factors: dict[str, float] = {}
    resting: dict[str, int] = {}
    for line in sorted(lines_of(folder, BARS), key=lambda one: (one["code"], one["date"])):
        symbol, date = line["code"], line["date"]
        volume, amount = float(line["volume"] or 0), float(line["amount"] or 0)
        truth.stocks_read += 1
        truth.volumes_beyond_float32 += float32(volume) != volume
        truth.amounts_beyond_float32 += float32(amount) != amount
        preclose, before = Decimal(line["preclose"]), closes.get(symbol)
        factor = factors.get(symbol, 1.0)
        if before is not None and before != preclose:
            factor *= float(before) / float(preclose)
        factors[symbol] = factor
        closes[symbol] = Decimal(line["close"])
        traded = line["tradestatus"] == "1" if "tradestatus" in line else volume > 0
        rested = resting.get(symbol, 0)
        resting[symbol] = 0 if traded else rested + 1
        change = line.get("pctChg") or ""
        truth.change_decimals = max(truth.change_decimals, len(change.partition(".")[2]))
        first = listed.setdefault(symbol, date)
        if not since <= date <= until:
            continue
        st = line.get("isST") == "1"
        band = band_of(symbol, _fen(preclose), date=date, st=st, session=_count(sessions, first, date))
        known_from = ""
        if band is not None and traded and rested >= RELISTING_GAP:
            high, low = _fen(Decimal(line["high"])), _fen(Decimal(line["low"]))
            if high > band.up or low < band.down:
                band, known_from = None, sessions[bisect.bisect_left(sessions, date) - KNOWN_AFTER]
        truth.rows[symbol, date] = Row(
            symbol=symbol,
            date=date,
            prices={name: Decimal(line[name]) for name in PRICES},
            preclose=preclose,
            before=before,
            volume=round(volume),
            amount=round(amount, 2),
            change_pct=float(change) if change else None,
            traded=traded,
            st=st,
            factor=factor,
            band=band,
            known_from=known_from,
        )
    _read_indices(folder, since, until, truth)
    return truth


def _read_indices(folder: Path, since: str, until: str, truth: Truth) -> None:
    for line in lines_of(folder, INDICES):
        if not since <= line["date"] <= until:
            continue
        truth.indices[line["code"], line["date"]] = IndexRow(
            symbol=line["code"],
            date=line["date"],
            prices={name: float(line[name]) for name in PRICES},
            before=float(line["pre_close"]),
            volume=round(float(line["volume_lots"]) * 100),
            amount=round(float(line["amount_k"]) * 1000, 2),
        )


def _count(sessions: list[str], first: str, date: str) -> int:
    """Sessions from `first` to `date`, both counted."""
    return bisect.bisect_right(sessions, date) - bisect.bisect_left(sessions, first)


def _iso(day: str) -> str:
    return f"{day[:4]}-{day[4:6]}-{day[6:8]}"


def _fen(price: Decimal) -> int:
    return int((price * 100).to_integral_value())
