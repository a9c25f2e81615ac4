"""The interface of a world: the facts that responders render. Implemented by the synthetic and the replay
world.

Units. Prices are int64 in 1e-4 CNY (or index points), `PRICE_UNIT`; volumes int64 shares; amounts
float64 CNY with at most 2 decimals; dates int YYYYMMDD; percentages are percent. Everything that a
method returns is cut at `now` (naive Asia/Shanghai): no later bar, notice or name is visible. A bar
of today exists from 09:25 and grows until 15:00.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.arrays import Bools, Floats, Ints

PRICE_UNIT = 10_000


@dataclass(frozen=True)
class Security:
    """One instrument. `market` SH, SZ or BJ; `kind` stock, index, etf, lof, cb, reit or b;
    `board` main, gem, star, bj or '' (no stock). `decimals` is the wire's price precision."""

    code: str
    market: str
    kind: str
    board: str
    decimals: int
    list_date: int
    # Not part of equality: a security is the same one before and after its delisting.
    delist_date: int | None = field(default=None, compare=False)
    industry: str = ""
    region: str = ""
    concepts: tuple[str, ...] = ()
    sector: str = ""  # first-level industry; `industry` is the second level
    first_code: str = field(default="", compare=False)
    """The code of its listing, where another one followed."""

    @property
    def symbol(self) -> str:
        """`sh600519` form: unique, where the six digits alone are not."""
        return self.market.lower() + self.code


@dataclass(frozen=True)
class Bars:
    """Daily bars of one security, oldest first; all arrays have one length. A suspended day is a row
    with `traded` False, volume 0 and all prices = preclose; each responder shows or drops it as its
    upstream does. `preclose` is the ex-right reference price of the day."""

    date: Ints
    open: Ints
    high: Ints
    low: Ints
    close: Ints
    preclose: Ints
    volume: Ints
    amount: Floats
    traded: Bools
    turnover_pct: Floats  # NaN where the upstream would show nothing
    up_count: Ints  # indices only, else zeros
    down_count: Ints

    def __len__(self) -> int:
        return len(self.date)


@dataclass(frozen=True)
class ExRight:
    """One terminal xdxr record: `category` 1..14 and its four values, units of the protocol
    (CNY or shares per 10 shares; 10k shares for categories 2..10)."""

    date: int
    category: int
    values: tuple[float, float, float, float]
    late: bool = False  # the terminal has it a session after the date


@dataclass(frozen=True)
class Rename:
    """One change of a security's name: `old_name` (without one-day prefixes) was shown up to the day
    before `date`."""

    symbol: str
    old_name: str
    date: int


@dataclass(frozen=True)
class Minutes:
    """One-minute path of one date: `minute` = minutes since midnight at the END of the minute
    (571 = 09:31 .. 690 = 11:30, 781 = 13:01 .. 900 = 15:00; the 09:25 auction is in 09:31).
    Sums equal the daily bar exactly."""

    minute: Ints
    price: Ints  # last price of the minute
    high: Ints
    low: Ints
    open: Ints
    volume: Ints
    amount: Floats


@dataclass(frozen=True)
class Ticks:
    """Transactions of one date, oldest first. side 0 buy, 1 sell, 2 auction."""

    minute: Ints  # minutes since midnight
    second: Ints
    price: Ints
    volume: Ints  # shares
    orders: Ints
    side: Ints


@dataclass(frozen=True)
class Quote:
    """State of one security at `now`. At most five levels a side, best first; an empty side = sealed at
    the limit, both empty = no book. Suspended, and from 09:15 until the 09:25 auction: price = preclose,
    open = high = low = 0, volume 0. Before 09:15 it is the last state of the session before."""

    security: Security
    name: str
    date: int
    time: datetime
    price: int
    preclose: int
    open: int
    high: int
    low: int
    volume: int
    amount: float
    inner_volume: int  # shares sold into the bid
    outer_volume: int  # shares bought from the ask
    bids: tuple[tuple[int, int], ...]  # (price, shares)
    asks: tuple[tuple[int, int], ...]
    suspended: bool
    limit_up: int | None  # None = no limit today
    limit_down: int | None
    turnover_pct: float | None
    volume_ratio: float | None
    speed_pct: float | None  # change over five minutes
    up_count: int = 0  # indices only
    down_count: int = 0
    open_amount: float = 0.0


@dataclass(frozen=True)
class Valuation:
    """Ratios of one stock at `now`; None where the upstream shows '-'. Caps in CNY."""

    pe_ttm: float | None
    pe_static: float | None
    pe_dynamic: float | None
    pb: float | None
    ps_ttm: float | None
    dividend_yield: float | None
    total_market_cap: float | None
    float_market_cap: float | None
    total_shares: int
    float_shares: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Money flow of one stock on one date, CNY. in - out = net; the four nets sum to 0."""

    date: int
    super_large_in: float
    super_large_out: float
    large_in: float
    large_out: float
    medium_in: float
    medium_out: float
    small_in: float
    small_out: float
    close: int
    change_pct: float


@dataclass(frozen=True)
class Finance:
    """Newest published snapshot as the terminal protocol carries it. Shares in shares, money in CNY."""

    report_date: int
    published: int
    total_shares: int
    float_shares: int
    holders: int
    total_assets: float
    current_assets: float
    fixed_assets: float
    current_liabilities: float
    long_liabilities: float
    capital_reserve: float
    net_assets: float
    revenue: float
    operating_profit: float
    total_profit: float
    net_profit: float
    undistributed: float
    operating_cash_flow: float
    eps: float
    bvps: float
    months: int


@dataclass(frozen=True, slots=True)
class Report:
    """One quarterly report as published. Flows (revenue, profits, cash) are cumulative since 1 January, CNY.

    total_assets = current_assets + fixed_assets + other_assets
                 = current_liabilities + long_liabilities + net_assets, to the cent.
    `gross_profit` is None for banks and other financials. Their balance is not divided either: current
    assets and current liabilities are 0, and all liabilities are in `long_liabilities`.
    """

    period: int
    published: int
    revenue: float
    gross_profit: float | None
    operating_profit: float
    total_profit: float
    net_profit: float
    operating_cash_flow: float
    total_assets: float
    current_assets: float
    fixed_assets: float
    other_assets: float
    current_liabilities: float
    long_liabilities: float
    net_assets: float
    capital_reserve: float
    undistributed: float
    holders: int

    @property
    def months(self) -> int:
        return self.period // 100 % 100

    @property
    def total_liabilities(self) -> float:
        return round(self.current_liabilities + self.long_liabilities, 2)


@dataclass(frozen=True)
class Board:
    """An industry, concept or region board. `code` is the portal's BKxxxx."""

    code: str
    name: str
    kind: str  # industry | concept | region
    members: tuple[str, ...]  # symbols


class World(Protocol):
    """A market that can be asked for anything an upstream may know at `now`. A world of its own class need
    not have what answers nothing here."""

    @property
    def label(self) -> str:
        """'sample' or 'replay'."""
        ...

    def trade_dates(self) -> Ints: ...

    def securities(self, now: datetime) -> Sequence[Security]:
        """Everything listed at `now`, in stable order (market, code)."""
        ...

    def find(self, symbol: str) -> Security | None:
        """By `sh600519` form; also delisted ones, and those not listed yet: compare `list_date` and
        `delist_date` (first date it is gone) with `now`, or look into `securities(now)`."""
        ...

    def name(self, security: Security, now: datetime) -> str:
        """The name as shown at `now`, ST and prefixes included."""
        ...

    def titled(self, title: str) -> str:
        """A title as it is published: with a text of SAMPLE_TEXTS behind it where there are any."""
        return title

    def limits(self, security: Security, date: int) -> tuple[int, int] | None:
        """(up, down) limit prices of a session; None where no limit applied. Ask of no date after `now`."""
        ...

    def renames(self, now: datetime) -> Sequence[Rename]:
        """Every change of a name up to `now`, of delisted securities too, by market, code and date."""
        ...

    def bars(self, security: Security, now: datetime) -> Bars: ...

    def quote(self, security: Security, now: datetime) -> Quote | None: ...

    def valuation(self, security: Security, now: datetime) -> Valuation | None: ...

    def shares(self, security: Security, now: datetime) -> tuple[int, int]:
        """(total, float) shares; (0, 0) when unknown."""
        ...

    def exrights(self, security: Security, now: datetime) -> Sequence[ExRight]: ...

    def minutes(self, security: Security, date: int, now: datetime) -> Minutes | None:
        """None when the world has no intraday path (replay): the responder says 'no data'."""
        return None

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        return None

    def flows(self, security: Security, now: datetime) -> Sequence[Flow]:
        """Daily money flow, oldest first, at most 120 dates."""
        return ()

    def finance(self, security: Security, now: datetime) -> Finance | None:
        return None

    def reports(self, security: Security, now: datetime, years: int = 15) -> Sequence[Report]:
        """Quarterly reports of the last `years` that are published at `now`, oldest first; () when the world
        has none."""
        return ()

    def boards(self, now: datetime) -> Sequence[Board]: ...

    def index_members(self, index: Security, now: datetime) -> Sequence[Security]:
        """The listed members of an index, by market and code; () when the world does not know them."""
        return ()

    def company_text(self, security: Security, now: datetime) -> dict[str, str]:
        """F10 sections: title -> text; {} when there is none."""
        return {}
