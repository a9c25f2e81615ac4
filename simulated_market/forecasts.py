"""Broker forecasts for the companies of a world: from the trailing result, with a growth per company that is
revised every month. They begin with the first year whose result is not published. One company of four has no
forecasts; a replayed market has none at all."""

from dataclasses import dataclass

from simulated_market.corporate import evening
from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.dates import number_of
from simulated_market.world.fundamentals import ttm
from simulated_market.world.model import Security

YEARS = 3
_MOST_BROKERS = 24
_HOUSES = ("东岳证券", "云麓证券", "江屿证券", "北辰证券", "华澜证券", "南屏证券")
_PEOPLE = ("郑一鸣", "冯子安", "韩若水", "沈见川")


@dataclass(frozen=True)
class Expected:
    """The forecast for one year: EPS in CNY, profit in CNY."""

    year: int
    brokers: int
    low: float
    mean: float
    high: float
    profit: float


@dataclass(frozen=True)
class Outlook:
    """Consensus of one company; `reported`: day of the newest forecast, `actual`: EPS of the year before the
    first that is expected."""

    security: Security
    reported: int
    actual: float
    years: tuple[Expected, ...]
    brokers: tuple[tuple[str, str], ...]


def outlook(view: View, security: Security) -> Outlook | None:
    """None for a company without forecasts, or whose result of a year is not known."""
    name = (security.symbol, "outlook")
    if drawn(*name) % 4 == 0:
        return None
    reports = list(view.world.reports(security, view.now, 3))
    earned = ttm(reports, "net_profit")
    total, _ = view.world.shares(security, view.now)
    if earned is None or not total:
        return None
    month = view.now.year * 100 + view.now.month
    reported = _first_session(view, month)
    full = [one for one in reports if one.months == 12]
    year = full[-1].period // 10_000 + 1 if full else view.now.year
    followers = 1 + drawn(*name, "brokers") % _MOST_BROKERS
    growth = 1 + (drawn(*name, "growth") % 31 - 5 + drawn(*name, month) % 5) / 100
    years = []
    for at in range(YEARS):
        profit = earned * growth ** (at + 1)
        mean = profit / total
        spread = abs(mean) * (0.02 + 0.03 * at) if followers > 1 else 0.0
        years.append(
            Expected(
                year=year + at,
                brokers=max(followers - at, 1),
                low=round(mean - spread, 2),
                mean=round(mean, 2),
                high=round(mean + spread, 2),
                profit=profit,
            )
        )
    actual = full[-1].net_profit / total if full else earned / total
    people = tuple(
        (_HOUSES[(drawn(*name) + at) % len(_HOUSES)], _PEOPLE[at % len(_PEOPLE)])
        for at in range(min(followers, len(_HOUSES)))
    )
    return Outlook(security, reported, round(actual, 2), tuple(years), people)


def _first_session(view: View, month: int) -> int:
    """The first session of the month that is over by now, else the last one of the month before."""
    dates = view.world.trade_dates()
    newest = dates[dates <= number_of(view.now.date())][-400:]
    sessions = [int(day) for day in newest if evening(int(day)) <= view.now]
    inside = [day for day in sessions if day // 100 == month]
    return inside[0] if inside else sessions[-1]
