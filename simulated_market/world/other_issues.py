"""Instruments of the sample market other than A shares: funds, convertible bonds, REITs and B shares.

A bond is numbered for its exchange and for the board of its stock, lives six years from its value date and
is gone a few sessions before it is paid back; so some are listed and some end within the world. REITs exist
since June 2021. A fund on STAR or ChiNext moves by 20 % as its shares do.
"""

import zlib
from datetime import date, timedelta

import numpy as np

from core.arrays import Ints
from core.market.rules import day_number
from core.market.securities import WIDE_FUND
from simulated_market.world import draws
from simulated_market.world.company_plans import Profile, trade_date
from simulated_market.world.dates import date_of
from simulated_market.world.draws import Stream
from simulated_market.world.plan import Move, Plan
from simulated_market.world.vocabulary import FIRST, SECOND

BOND_YEARS = 6
_LAST_DAYS = 3
"""Sessions between the last one of a bond and the day on which it is paid back."""
BOND_BOARDS = {"113": "main", "127": "main", "118": "star", "123": "gem", "110": "main", "128": "main"}
"""First three digits of a bond -> board of its stock. 11xxxx is of Shanghai, 12xxxx of Shenzhen."""
_BOND_NUMBERS = (113_500, 127_300, 118_500, 123_700, 110_500, 128_300)
_SPREAD = 0.618
"""Steps of the golden section fill a span evenly, however many they are."""
_FIRST_REITS, _FIRST_STAR_FUNDS = date(2021, 6, 21), date(2020, 9, 22)
_THEMES = ("宽基", "科创板", "红利", "创业板", "医药", "消费", "军工", "证券", "银行", "黄金", "债券")
_STAR = "科创板"
_WIDE = (_STAR, "创业板")
"""Themes of the boards that move by 20 %."""


def value_date(symbol: str, list_date: int) -> int:
    """The day from which a bond bears interest: three to five weeks before its listing."""
    before = 21 + zlib.crc32(f"value {symbol}".encode()) % 15
    return day_number(date_of(list_date) - timedelta(days=before))


def maturity_date(symbol: str, list_date: int) -> int:
    begun = value_date(symbol, list_date)
    # No bond is paid back on a 29 February that does not exist.
    return begun + BOND_YEARS * 10_000 - (1 if begun % 10_000 == 229 else 0)


class Issues:
    """Makes the plans, in an order that never changes."""

    def __init__(self, days: Ints, seed: int) -> None:
        self.days, self.seed = days, seed
        self.made: list[Plan] = []

    def add(
        self, kind: str, code: int, market: str, name: str, figures: tuple[int, int, float], *, band: str = ""
    ) -> Plan:
        """`figures`: price in ticks, shares, sigma. Older than the world, unless stated otherwise."""
        price, shares, sigma = figures
        u = self.numbers()
        listed = 20050101 + int(u[0] * 17) * 10_000 + int(u[1] * 11) * 100 + int(u[2] * 27)
        plan = Plan(
            code=f"{code:06d}", market=market, kind=kind, board="", names=[(0, name)],
            list_date=min(trade_date(listed), self._before()),
            decimals=2 if market == "SZ" and kind == "b" else 3,
            price=round(price * (0.7 + 0.8 * u[3])), total=shares, floating=shares,
            beta=0.95 if kind in ("etf", "lof") else 0.25, sigma=sigma, turnover=0.02, band=band,
        )  # fmt: skip
        self.made.append(plan)
        return plan

    def numbers(self) -> list[float]:
        raw = draws.raw(self.seed, Stream.TRAITS, 1, 4, start=4 * len(self.made))
        return [float(one) for one in draws.uniform(raw)]

    def lists_between(self, plan: Plan, span: tuple[date, date], share: float, issue: int) -> None:
        """Listed on a date at a share of a span; within the world it begins at its issue price (ticks)."""
        days = int((span[1] - span[0]).days * share)
        plan.list_date = trade_date(day_number(span[0] + timedelta(days=days)))
        if plan.list_date >= int(self.days[0]):
            plan.list_day, plan.price = int(np.searchsorted(self.days, plan.list_date)), issue

    def _before(self) -> int:
        """A year before the world: whatever is older has no first day within it."""
        return trade_date(int(self.days[0]) - 10_000)


def funds(profile: Profile, days: Ints, seed: int) -> list[Plan]:
    """Everything that is no A share: the loaders have to sort it out."""
    made = Issues(days, seed)
    _etfs(made, profile.etfs)
    for k in range(profile.lofs):
        name = f"{FIRST[-1 - k % len(FIRST)]}{SECOND[k % len(SECOND)]}LOF"
        made.add("lof", 160_001 + 7 * k, "SZ", name, (1_000, 60_000_000, 0.005))
    _bonds(made, profile.bonds)
    _reits(made, profile.reits)
    for k in range(profile.b_shares):
        sh = k % 2 == 0
        name = f"{FIRST[k % len(FIRST)]}{SECOND[k * 5 % len(SECOND)]}Ｂ股"
        figures = (480 if sh else 350, 200_000_000, 0.012)
        made.add("b", (900_961 if sh else 200_061) + k // 2, "SH" if sh else "SZ", name, figures)
    return made.made


def _etfs(made: Issues, count: int) -> None:
    half = (count + 1) // 2
    span = (_FIRST_STAR_FUNDS, date_of(int(made.days[-1])) - timedelta(days=90))
    for k in range(count):
        theme, shanghai = _THEMES[k % len(_THEMES)], k < half
        own_sh, own_sz = (588_001, 159_501) if theme in _WIDE else (510_001, 159_001)
        code = (own_sh if shanghai else own_sz) + (k if shanghai else k - half)
        name = f"{FIRST[k % len(FIRST)]}{SECOND[k // len(FIRST) % len(SECOND)]}{theme}ETF"
        figures = (1_200, 800_000_000 + 1_000_000 * (k * 37 % 900), 0.004)
        band = WIDE_FUND if theme in _WIDE else ""
        plan = made.add("etf", code, "SH" if shanghai else "SZ", name, figures, band=band)
        if theme == _STAR:
            made.lists_between(plan, span, (0.7 + _SPREAD * k) % 1.0, 1_000)


def _bonds(made: Issues, count: int) -> None:
    """Listed from five years before the world to its last autumn, the first one in good time before it."""
    first, last = date_of(int(made.days[0])), date_of(int(made.days[-1]))
    span = (first - timedelta(days=5 * 365), last - timedelta(days=90))
    for k in range(count):
        base = _BOND_NUMBERS[k % len(_BOND_NUMBERS)]
        name = f"{FIRST[k % len(FIRST)]}{SECOND[-1 - k // len(FIRST) % len(SECOND)]}转债"
        gain = 0.08 + 0.3 * made.numbers()[0]
        plan = made.add(
            "cb", base + k // len(_BOND_NUMBERS), "SH" if base < 120_000 else "SZ", name,
            (118_000, 10_000_000, 0.011),
        )  # fmt: skip
        made.lists_between(plan, span, (0.45 + _SPREAD * k) % 1.0, 100_000)
        if plan.list_day >= 0:
            plan.moves[plan.list_day] = Move(ret=gain, gap=gain * 0.7, wick=2.0)
        ends = int(np.searchsorted(made.days, maturity_date(plan.symbol, plan.list_date)))
        if ends < len(made.days):
            plan.last_day = max(ends - _LAST_DAYS, 0)


def end_bonds(plans: list[Plan], days: Ints, first: int) -> None:
    """Convertible bonds that fall due in sessions from `first` on."""
    for plan in plans:
        if plan.kind == "cb" and plan.last_day is None:
            ends = int(np.searchsorted(days, maturity_date(plan.symbol, plan.list_date)))
            if ends < len(days):
                plan.last_day = max(ends - _LAST_DAYS, first - 1)


def _reits(made: Issues, count: int) -> None:
    span = (_FIRST_REITS, date_of(int(made.days[-1])) - timedelta(days=90))
    for k in range(count):
        sh = k % 2 == 0
        name = f"{FIRST[k % len(FIRST)]}{SECOND[k * 3 % len(SECOND)]}REIT"
        figures = (3_100, 500_000_000, 0.006)
        plan = made.add("reit", (508_100 if sh else 180_300) + k // 2, "SH" if sh else "SZ", name, figures)
        made.lists_between(plan, span, (0.3 + _SPREAD * k) % 1.0, 3_100)
