"""Procedural plans: the companies of the market with industry, price and events."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from core.calendar import shipped_calendar
from core.errors import DeclarationError
from simulated_market.world import draws
from simulated_market.world.draws import Stream
from simulated_market.world.parameters import parameters
from simulated_market.world.plan import Event, Move, Plan
from simulated_market.world.vocabulary import (
    CONCEPT_SUFFIXES,
    CONCEPTS,
    FIRST,
    INDUSTRIES,
    REAL_NAMES,
    REGIONS,
    SECOND,
    SECTOR_LOADS,
    SECTOR_OF,
    TRADES,
    TRADES_ELSE,
)

# Famous real codes stay free, so that sample data is not mistaken for real data.
WELL_KNOWN = frozenset({
    "600000", "600009", "600016", "600028", "600030", "600036", "600050", "600104", "600276", "600309",
    "600519", "600887", "600900", "601012", "601088", "601166", "601288", "601318", "601328", "601398",
    "601601", "601628", "601668", "601688", "601857", "601888", "601899", "601919", "601939", "601988",
    "603259", "603288", "603501", "605499", "688008", "688012", "688041", "688111", "688256", "688981",
    "689009", "000001", "000002", "000063", "000333", "000568", "000651", "000725", "000776", "000858",
    "001979", "002230", "002304", "002352", "002415", "002475", "002594", "002714", "003816", "300014",
    "300015", "300059", "300122", "300124", "300274", "300308", "300408", "300433", "300498", "300750",
    "300760", "301269", "920002", "920799",
})  # fmt: skip
_RANGES: dict[str, tuple[tuple[str, int, int], ...]] = {
    # market, first and last code of a board; 605400.. and the like are taken in order of mention
    "sh_main": (("SH", 600_001, 601_999), ("SH", 603_000, 603_999), ("SH", 605_000, 605_599)),
    "sz_main": (("SZ", 1, 999), ("SZ", 1_201, 1_399), ("SZ", 2_001, 2_999), ("SZ", 3_001, 3_049)),
    "gem": (("SZ", 300_001, 300_999), ("SZ", 301_001, 301_699)),
    "star": (("SH", 688_001, 688_899),),
    "bj": (("BJ", 920_001, 920_999),),
}
_SHARES = (("sh_main", 0.30), ("sz_main", 0.28), ("gem", 0.26), ("star", 0.11), ("bj", 0.05))


@dataclass(frozen=True)
class Profile:
    name: str
    stocks: int
    start: int
    end: int
    etfs: int
    lofs: int
    bonds: int
    reits: int
    b_shares: int
    concepts: int


PROFILES: dict[str, Profile] = {
    "S": Profile("S", 60, 20240102, 20261231, 4, 2, 6, 3, 2, 20),
    "M": Profile("M", 600, 20220104, 20261231, 40, 10, 20, 5, 4, 60),
    "L": Profile("L", 5_500, 20170103, 20261231, 900, 60, 500, 60, 40, 300),
}


def sessions(profile: Profile, until: int | None = None) -> Ints:
    """Trade dates of the profile as YYYYMMDD; to the end of the year `until` where that is later."""
    dates = np.asarray([int(d.replace("-", "")) for d in shipped_calendar().dates], dtype=np.int64)
    last = max(profile.end, (until or 0) * 10_000 + 1231)
    return dates[(dates >= profile.start) & (dates <= last)]


def concept_names(count: int) -> list[str]:
    grown = [c.removesuffix("概念") + s for s in CONCEPT_SUFFIXES for c in CONCEPTS]
    return list(dict.fromkeys([*CONCEPTS, *grown]))[:count]


def traits(plan: Plan, index: int, seed: int, *, price: float | None = None) -> Plan:
    """Give a stock its numbers: price, shares, beta, sigma, turnover. Depends on index and seed alone."""
    get = parameters().get
    numbers = draws.raw(seed, Stream.TRAITS, 0, 12, start=12 * index)
    z, u = draws.normal(numbers), draws.uniform(numbers)
    plan.sector = SECTOR_OF[plan.industry]
    log_cap = get("cap_log_mean") + get("cap_log_sd") * z[0] + (1.1 if plan.sector == "银行" else 0.0)
    if plan.board in ("bj", "star"):
        log_cap -= 0.4
    drawn = max(float(np.exp(get("price_log_median") + get("price_log_sd") * z[1])), 2.5)
    plan.price = round((price or drawn) * 100)
    plan.total = max(round(float(np.exp(log_cap)) / (plan.price / 100)), 20_000_000)
    plan.floating = int(plan.total * (0.35 + 0.65 * u[2]))
    plan.beta = 1 + get("beta_sd") * float(z[3])
    plan.load = SECTOR_LOADS.get(plan.sector, 1.2)
    base = get(f"idio_{plan.board}") * (0.7 if plan.sector == "银行" else 1.0)
    plan.sigma = base * float(np.exp(get("idio_log_spread") * z[4]))
    median = get({"gem": "turnover_gem", "star": "turnover_star"}.get(plan.board, "turnover_main"))
    small = 0.18 * (get("cap_log_mean") - log_cap)
    between = (get("turnover_between_sd") ** 2 - 0.21**2) ** 0.5
    plan.turnover = 1.1 * median * float(np.exp(between * z[5] + small))
    plan.region = REGIONS[int(u[6] * len(REGIONS))]
    plan.loss_maker = bool(u[7] < get("loss_makers")) and plan.sector != "银行"
    return plan


def name_of(index: int, sector: str, seed: int, used: set[str]) -> str:
    """A company that never was: four syllables, not in `used`, which is added to."""
    trades = TRADES.get(sector, TRADES_ELSE)
    pairs = len(FIRST) * len(SECOND)
    number = int(draws.raw(seed, Stream.NAMES, 0, 4, start=4 * index)[0] >> np.uint64(32))
    for attempt in range(pairs * len(trades)):
        pair = (number + attempt * 607) % pairs  # 607 is a prime that divides no count of pairs
        trade = trades[(number // pairs + attempt // pairs) % len(trades)]
        name = FIRST[pair % len(FIRST)] + SECOND[pair // len(FIRST)] + trade
        if name not in used:
            used.add(name)
            return name
    raise DeclarationError(f"the vocabulary has no name left for {sector}")


def stocks(profile: Profile, days: Ints, seed: int) -> list[Plan]:
    """The procedural A shares of profiles M and L."""
    codes = _codes(profile.stocks)
    level2 = [name for group in INDUSTRIES.values() for name in group]
    used = set(REAL_NAMES)
    made = []
    for index, (code, market, board) in enumerate(codes):
        number = int(draws.raw(seed, Stream.NAMES, 1, 4, start=4 * index)[0] >> np.uint64(40))
        industry = level2[number % len(level2)]
        name = name_of(index, SECTOR_OF[industry], seed, used)
        plan = Plan(code, market, "stock", board, [(0, name)], 0, industry=industry)
        made.append(_listing(traits(plan, index, seed), index, days, seed))
    for index, plan in enumerate(made):
        dividends(plan, index, days, seed)
        _misfortunes(plan, index, days, seed)
    return made


def continue_stocks(plans: list[Plan], days: Ints, first: int, seed: int) -> None:
    """Dividends of the procedural shares in sessions from `first` on."""
    for index, plan in enumerate(plans):
        dividends(plan, index, days, seed, int(days[first]) // 10_000)


def with_concepts(plans: list[Plan], names: list[str], seed: int) -> None:
    """One to five overlapping concepts a stock."""
    for index, plan in enumerate(plans):
        if plan.board:
            u = draws.uniform(draws.raw(seed, Stream.CONCEPTS, 0, 8, start=8 * index))
            chosen = {names[int(x * x * len(names))] for x in u[: 1 + int(u[7] * 5)]}
            plan.concepts = tuple(sorted(chosen, key=names.index))


def dividends(plan: Plan, index: int, days: Ints, seed: int, first_year: int = 0) -> None:
    """Yearly ex-right days: 72 % from May to July, 9 % of them with a big bonus; rare rights issues."""
    get = parameters().get
    years = sorted({int(d) // 10_000 for d in days if int(d) // 10_000 >= first_year})
    for year in years:
        u = draws.uniform(draws.raw(seed, Stream.EVENTS, year, 12, start=12 * index))
        if plan.loss_maker or u[0] > get("dividend_chance"):
            continue
        summer = u[1] < get("dividend_summer_share")
        month = 5 + int(u[2] * 3) if summer else (9, 10, 4, 8)[int(u[2] * 4)]
        day = int(np.searchsorted(days, year * 10_000 + month * 100 + 1 + int(u[3] * 28)))
        if day == 0 or day >= len(days) or day <= plan.list_day + 5:
            continue
        cash_yield = get("dividend_yield") * float(np.exp(1.6 * (u[4] - 0.5)))
        bonus = (
            (2.0, 3.0, 4.0, 4.5, 4.9, 8.0, 10.0)[int(u[6] * 7)] if u[5] < get("bonus_share") * 1.2 else 0.0
        )
        rights = 3.0 if u[7] > 0.995 else 0.0
        plan.events.append(
            Event(
                day,
                cash_yield=0.0 if rights else cash_yield,
                bonus=0.0 if rights else bonus,
                rights=rights,
                rights_level=0.6 if rights else 0.0,
            )
        )


def _listing(plan: Plan, index: int, days: Ints, seed: int) -> Plan:
    """Listing date, inside the world for some; lock-up releases 12 and 36 months later."""
    get = parameters().get
    u = draws.uniform(draws.raw(seed, Stream.LISTINGS, 0, 12, start=12 * index))
    years = len(days) / 243
    if u[0] < get("listings_per_year") * years:
        earliest = {"star": 20190722, "bj": 20211115}.get(plan.board, 0)
        low = int(np.searchsorted(days, earliest))
        plan.list_day = low + int(u[1] * (len(days) - low))
        plan.list_date = int(days[plan.list_day])
        plan.floating = plan.total // 4
        for months, share in ((12, 0.45), (36, 1.0)):
            year, month = divmod(plan.list_date // 100 % 100 - 1 + months, 12)
            target = (plan.list_date // 10_000 + year) * 10_000 + (month + 1) * 100 + plan.list_date % 100
            day = int(np.searchsorted(days, target))
            if day < len(days):
                plan.releases.append((day, share))
        _first_days(plan, u)
        return plan
    first_year = {"gem": 2009, "star": 2019, "bj": 2021}.get(plan.board, 1992)
    last_year = max(int(days[0]) // 10_000 - 1, first_year)
    date = (first_year + int(u[2] * (last_year - first_year + 1))) * 10_000 + 1128
    date = date - 100 * int(u[3] * (1 if plan.board in ("gem", "bj") else 4)) + int(u[4] * 20) - 20
    plan.list_date = trade_date(date)
    return plan


def _first_days(plan: Plan, u: npt.NDArray[np.float64]) -> None:
    registered = plan.board in ("star", "bj") or (
        plan.list_date >= (20200824 if plan.board == "gem" else 20230410)
    )
    if registered:
        plan.moves[plan.list_day] = Move(
            ret=0.2 + 2.2 * float(u[5] ** 2), gap=0.3 + 0.8 * float(u[6]), wick=3.0
        )
        for k in range(1, 5):
            plan.moves[plan.list_day + k] = Move(ret=0.24 * (float(u[6 + k]) - 0.55), gap=0.02, wick=2.0)
    else:
        plan.moves[plan.list_day] = Move(mode="one_word_up")
        for k in range(1, 2 + int(u[5] * 9)):
            plan.moves[plan.list_day + k] = Move(mode="one_word_up")


def _misfortunes(plan: Plan, index: int, days: Ints, seed: int) -> None:
    """Suspensions, special treatment, renames and delistings of procedural stocks."""
    get = parameters().get
    last = len(days) - 1
    u = draws.uniform(draws.raw(seed, Stream.EVENTS, 1, 32, start=32 * index))
    years = len(days) / 243
    begin = max(plan.list_day + 10, 5)
    room = last - begin
    if room < 60:
        return
    for k in range(int(get("suspensions_per_year") * years + u[0])):
        start = begin + int(u[1 + k % 8] * room)
        length = max(1, round(get("suspension_median") * float(np.exp(1.1 * (u[9 + k % 8] * 3.4 - 1.7)))))
        plan.suspensions.append((start, min(start + min(length, 240), last)))
    base = plan.names[0][1]
    if u[21] < get("st_share"):
        enter = begin + int(u[22] * room * 0.8)
        plan.names.append((int(days[enter]), ("*ST" if u[23] < 0.5 else "ST") + base[:2]))
        leave = enter + 243 + int(u[24] * 120)
        if leave < last:
            plan.names.append((int(days[leave]), base))
        plan.loss_maker = True
    elif u[25] < get("delistings_per_year") * years and room > 300:
        period = begin + 250 + int(u[26] * (room - 280))
        plan.names.append((int(days[period - 240]), "*ST" + base[:2]))
        plan.names.append((int(days[period]), "退市" + base[:2]))
        plan.delisting_day, plan.last_day = period, min(period + 14, last)
        plan.suspensions = [(a, b) for a, b in plan.suspensions if b < period - 1]
        plan.loss_maker = True
    elif u[17] < get("renames_per_year") * years:
        day = begin + int(u[18] * room)
        base = FIRST[int(u[19] * len(FIRST))] + SECOND[int(u[20] * len(SECOND))] + base[-2:]
        plan.names.append((int(days[day]), base))


def _codes(count: int) -> list[tuple[str, str, str]]:
    made: list[tuple[str, str, str]] = []
    for group, share in _SHARES:
        requested = round(count * share)
        pool = [
            (f"{number:06d}", market)
            for market, low, high in _RANGES[group]
            for number in range(low, high + 1)
            if f"{number:06d}" not in WELL_KNOWN
        ]
        step = max(len(pool) // max(requested, 1), 1)
        board = group.removeprefix("sh_").removeprefix("sz_")
        made.extend((code, market, board) for code, market in pool[::step][:requested])
    return made


def trade_date(date: int) -> int:
    calendar = shipped_calendar()
    text = f"{date // 10_000:04d}-{date // 100 % 100:02d}-{max(date % 100, 1):02d}"
    return int(calendar.on_or_after(text).replace("-", ""))
