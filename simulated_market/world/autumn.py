"""What the state `autumn-2026` adds to a market: securities with corporate actions of every kind.

They stand behind the other instruments, draw from places of their own and are members of no index, so that
every price, code and event of the market without them stays what it is.

Some security goes ex in every session. Of five sessions three have a stock, paying about six times a year,
and two a fund, paying about eight times. Every seventh record reaches the terminal a session late. Beside
them: funds that are split or consolidated, a company with three events within one suspension, and two
companies whose codes are replaced.
"""

from collections.abc import Iterator

from core.arrays import Ints
from core.errors import DeclarationError
from simulated_market.world import draws
from simulated_market.world.company_plans import (
    Profile,
    concept_names,
    name_of,
    trade_date,
    traits,
    with_concepts,
)
from simulated_market.world.draws import Stream
from simulated_market.world.plan import Event, Feature, Plan, Renumbering
from simulated_market.world.vocabulary import FIRST, INDUSTRIES, SECOND, SECTOR_OF

_FIRST_DRAW = 90_000
"""Index of the draws of the first added company: behind those of the largest profile."""
_FIRST_SESSION = 5
_STOCK_DAYS, _FUND_DAYS = (0, 2, 4), (1, 3)
"""Sessions of five on which a stock goes ex, and a fund."""
_LATE = 7
"""One record in so many reaches the terminal a session after its ex-date."""

# market, first code and number of codes of a board: outside the ranges of the profiles
_STOCKS = (
    ("SH", "main", 605_601, 8), ("SZ", "main", 1_501, 6), ("SZ", "gem", 301_801, 5),
    ("SH", "star", 688_901, 3), ("BJ", "bj", 920_901, 2),
)  # fmt: skip
_FUNDS = (
    ("etf", "SH", 515_901, 6), ("etf", "SZ", 159_981, 3), ("lof", "SZ", 161_901, 2),
    ("reit", "SH", 508_901, 1),
)  # fmt: skip
_START = {"etf": 1_200, "lof": 1_000, "reit": 3_100}
"""Price of a fund before the first session, in thousandths of CNY."""

F = Feature
AUTUMN_FEATURES: tuple[Feature, ...] = (
    F("fund_split", "sh512901", 20260916, "one unit becomes five", values=(5.0,)),
    F("fund_split", "sz159991", 20260727, "one unit becomes two", values=(2.0,)),
    F("fund_consolidation", "sh512902", 20260917, "two units become one", values=(0.5,)),
    F("fund_consolidation", "sz159992", 20260820, "four units become one", values=(0.25,)),
    F("events_in_suspension", "sh605621", 20260907, "three ex-dates, none of them traded", until=20260917),
    F("ex_right_while_suspended", "sh605621", 20260909, "first of three: cash", values=(3.0, 0, 0, 0)),
    F("ex_right_while_suspended", "sh605621", 20260911, "second of three: bonus", values=(0, 0, 4.0, 0)),
    F("ex_right_while_suspended", "sh605621", 20260915, "third of three: rights", values=(0, 0, 0, 3.0)),
    F("late_record", "sh605622", 20260915, "the terminal has it a session late", values=(4.1, 0, 3.0, 0)),
    F("late_record", "sh605622", 20260728, "the terminal has it a session late", values=(2.6, 0, 0, 0)),
    F("renumbered", "bj920921", 20251009, "Beijing replaces 43xxxx by 920xxx", text="430921"),
    F("renumbered", "sz001991", 20260916, "a code of Shenzhen is replaced after a merger", text="003061"),
)  # fmt: skip
_NAMED = {"sh605621": 14.2, "sh605622": 21.5, "bj920921": 11.3, "sz001991": 8.7}
"""Companies of the table with their price before the first session, CNY."""
_RIGHTS_LEVEL = 0.7
"""Price of a rights issue as a share of the last close."""
_SPLIT_START = {"sh512901": 4_100, "sz159991": 1_600, "sh512902": 900, "sz159992": 500}


def additions(profile: Profile, days: Ints, seed: int, present: list[Plan]) -> list[Plan]:
    """The added instruments, in an order that never changes. `present`: the other ones of the market."""
    names = {name for plan in present for _, name in plan.names}
    companies = [*_companies(), *_named_companies()]
    level2 = [name for group in INDUSTRIES.values() for name in group]
    for k, plan in enumerate(companies):
        plan.industry = level2[k * 7 % len(level2)]
        price = _NAMED.get(plan.symbol)
        plan.names = [(0, name_of(_FIRST_DRAW + k, SECTOR_OF[plan.industry], seed, names))]
        traits(plan, _FIRST_DRAW + k, seed, price=price or 20.0 + 9.0 * (k * 5 % 11))
        plan.jumpy = 0.3
    with_concepts(companies, concept_names(profile.concepts), seed + 1)
    paying = [plan for plan in companies if plan.symbol not in _NAMED]
    funds = list(_funds())
    _ex_dates(paying, funds[: -len(_SPLIT_START)], len(days), seed)
    added = [*companies, *funds]
    _features({plan.symbol: plan for plan in added}, days)
    for plan in added:
        plan.indexed = False
        plan.events.sort(key=lambda event: event.day)
    codes = {plan.symbol for plan in present}
    if twice := sorted(plan.symbol for plan in added if plan.symbol in codes):
        raise DeclarationError(f"the market has {', '.join(twice)} already")
    return added


def _companies() -> Iterator[Plan]:
    for market, board, first, count in _STOCKS:
        for k in range(count):
            listed = trade_date((2_022 if board == "bj" else 2_021) * 10_000 + (3 + k) * 100 + 11)
            yield Plan(f"{first + k:06d}", market, "stock", board, [], listed)


def _named_companies() -> Iterator[Plan]:
    for symbol in _NAMED:
        market = symbol[:2].upper()
        listed = trade_date(20220613 if market == "BJ" else 20190613)
        yield Plan(symbol[2:], market, "stock", "bj" if market == "BJ" else "main", [], listed)


def _funds() -> Iterator[Plan]:
    paying = [(kind, market, f"{first + k:06d}") for kind, market, first, n in _FUNDS for k in range(n)]
    splitting = [("etf", symbol[:2].upper(), symbol[2:]) for symbol in _SPLIT_START]
    for k, (kind, market, code) in enumerate(paying + splitting):
        name = f"{FIRST[-3 - k]}{SECOND[k + 4]}{'红利ETF' if kind == 'etf' else kind.upper()}"
        plan = Plan(code, market, kind, "", [(0, name)], trade_date(20210913 + k), decimals=3)
        plan.price = _SPLIT_START.get(plan.symbol, _START[kind] + 37 * k)
        plan.total = plan.floating = 60_000_000 if kind == "lof" else 700_000_000 + 11_000_000 * k
        plan.beta, plan.sigma, plan.turnover = (0.25, 0.006, 0.01) if kind == "reit" else (0.95, 0.004, 0.02)
        yield plan


def _ex_dates(stocks: list[Plan], funds: list[Plan], sessions: int, seed: int) -> None:
    """One ex-date in every session from the sixth on, the stocks and the funds in turn."""
    turn = {"stock": 0, "fund": 0}
    for day in range(_FIRST_SESSION, sessions):
        kind, able = ("stock", stocks) if day % 5 in _STOCK_DAYS else ("fund", funds)
        number, turn[kind] = turn[kind], turn[kind] + 1
        late = (day * 3) % _LATE == 0
        if kind == "stock":
            event = _stock_event(day, number // len(stocks) + number % len(stocks), late, seed)
        else:
            event = Event(day, cash_yield=(0.004, 0.011, 0.0065)[number % 3], late=late)
        able[number % len(able)].events.append(event)


def _stock_event(day: int, number: int, late: bool, seed: int) -> Event:
    """Mostly cash; each sixth time cash with a bonus, each eleventh a bonus, each seventeenth rights."""
    u = draws.uniform(draws.raw(seed, Stream.EVENTS, 2, 4, start=4 * day))
    cash_yield = 0.004 + 0.011 * float(u[0])
    if number % 17 == 16:
        return Event(day, rights=3.0, rights_level=_RIGHTS_LEVEL, late=late)
    if number % 11 == 10:
        return Event(day, bonus=(1.0, 2.0, 3.0)[int(u[1] * 3)], late=late)
    bonus = (1.0, 2.0, 4.5)[int(u[1] * 3)] if number % 6 == 5 else 0.0
    return Event(day, cash_yield=cash_yield, bonus=bonus, late=late)


def _features(plans: dict[str, Plan], days: Ints) -> None:
    """The dated table as plans; what lies outside the profile's sessions does not happen."""
    place = {int(date): at for at, date in enumerate(days.tolist())}
    for feature in AUTUMN_FEATURES:
        plan, day = plans[feature.symbol], place[feature.date]
        if feature.name.startswith("fund_"):
            # A ratio of units is a bonus, or its opposite.
            plan.events.append(Event(day, bonus=10 * (feature.values[0] - 1)))
        elif feature.name == "events_in_suspension":
            plan.suspensions.append((day, place[feature.until or feature.date]))
        elif feature.name == "renumbered":
            plan.renumbered = Renumbering(feature.text, feature.date)
        else:
            cash, _, bonus, rights = feature.values
            late, level = feature.name == "late_record", _RIGHTS_LEVEL if rights else 0.0
            plan.events.append(
                Event(day, cash=cash, bonus=bonus, rights=rights, rights_level=level, late=late)
            )
