"""Holder counts and dividends of a world: published between the reports and the ex-days of companies.

Both follow from facts that the world has already: holders from the published reports, dividends from the
ex-right events. A dividend is planned 45 to 89 days before its ex-day, decided half-way to the notice of
its implementation, and that one comes four to seven sessions before the ex-day. The replayed market has
neither: its ex-right events are derived from reference prices and may be of any kind.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.dates import date_of, number_of
from simulated_market.world.model import PRICE_UNIT, Bars, ExRight, Finance, Security

_MOST_COUNTS = 60
_LATEST_PLAN = 100
"""Days after its plan within which every dividend has its ex-day."""
_PERIOD_ENDS = ((12, 31), (9, 30), (6, 30))
_REPORT_DAYS = 20


@dataclass(frozen=True)
class HolderCount:
    """Holders of one company at the end of a report period; `before` is the count published before it.
    `close` CNY at that end, `interval_pct` its change since the end before."""

    security: Security
    date: int
    announced: int
    holders: int
    before: int | None
    before_date: int | None
    a_shares: int
    close: float | None
    interval_pct: float | None


@dataclass(frozen=True)
class _Days:
    """When a dividend became known, and how far it has come."""

    planned: int
    decided: int
    implemented: int
    record: int
    stage: str  # plan | decided | implemented

    @property
    def noticed(self) -> int:
        """The day of the newest notice."""
        return {"plan": self.planned, "decided": self.decided}.get(self.stage, self.implemented)


@dataclass(frozen=True)
class Payout(_Days):
    """One dividend with the days on which its stages became known. CNY and shares per 10 shares; `bonus`
    from profit, `transfer` from reserves. `price` is the newest close before the notice in force."""

    security: Security
    name: str
    period: int
    ex_day: int
    cash: float
    bonus: float
    transfer: float
    total_shares: int
    eps: float | None
    price: float | None


def stocks(view: View) -> list[Security]:
    """The listed stocks, by code."""
    listed = [one for one in view.world.securities(view.now) if one.kind == "stock"]
    return sorted(listed, key=lambda one: one.code)


def holder_counts(view: View, security: Security, since: int = 0) -> list[HolderCount]:
    """Published counts with a notice on or after `since`, newest first."""
    found: list[HolderCount] = []
    bars = None
    for newer, older in report_pairs(view, security):
        if newer.published < since or len(found) == _MOST_COUNTS:
            break
        total, _ = view.world.shares(security, evening(newer.report_date))
        if not total:  # before the world begins
            break
        bars = view.world.bars(security, view.now) if bars is None else bars
        close = close_on(bars, newer.report_date)
        close_before = close_on(bars, older.report_date) if older else None
        found.append(
            HolderCount(
                security=security,
                date=newer.report_date,
                announced=newer.published,
                holders=newer.holders,
                before=older.holders if older else None,
                before_date=older.report_date if older else None,
                a_shares=total,
                close=close,
                interval_pct=(close / close_before - 1) * 100 if close and close_before else None,
            )
        )
    return found


def reports(view: View, security: Security, at: datetime) -> Iterator[Finance]:
    """Reports since the listing that were out at an instant, newest first. Of two that came out on one day
    only the newer one."""
    while True:
        report = view.world.finance(security, at)
        if report is None or report.report_date < security.list_date:
            return
        yield report
        at = evening(report.published) - timedelta(days=1)


def report_pairs(view: View, security: Security) -> Iterator[tuple[Finance, Finance | None]]:
    """Published reports, newest first, each with the one before it."""
    newer: Finance | None = None
    for older in itertools.chain(reports(view, security, view.now), (None,)):
        if newer is not None:
            yield newer, older
        newer = older


def payouts(view: View, security: Security, since: int = 0) -> list[Payout]:
    """Dividends planned, decided or implemented by now with a notice on or after `since`, by ex-day."""
    if view.world.label != "sample":
        return []
    horizon = view.now + timedelta(days=_LATEST_PLAN)
    taken: set[int] = set()
    found = []
    for event in view.world.exrights(security, horizon):
        cash, _, shares, rights = event.values
        if event.category != 1 or rights or not (cash or shares):
            continue
        days = _days(view, security, event, taken)
        if days is not None:
            taken.add(days.planned)
            if since <= days.noticed <= number_of(view.now.date()):
                found.append(_payout(view, security, event, days))
    return found


def _days(view: View, security: Security, event: ExRight, taken: set[int]) -> _Days | None:
    """None for an event at the very begin of the world, before which there is no session for a notice."""
    sessions = view.world.trade_dates()
    at = int(np.searchsorted(sessions, event.date))
    draw = drawn(security.symbol, event.date)
    before = at - 4 - draw % 4
    if before < 0:
        return None
    implemented = int(sessions[before])
    planned = _moved(event.date, -45 - draw // 4 % 45)
    while planned in taken:  # two dividends of one week have two plans
        planned = _moved(planned, -1)
    decided = _moved(planned, (date_of(implemented) - date_of(planned)).days // 2)
    today = number_of(view.now.date())
    stage = "implemented" if implemented <= today else "decided" if decided <= today else "plan"
    return _Days(planned, decided, implemented, int(sessions[at - 1]), stage)


def _payout(view: View, security: Security, event: ExRight, days: _Days) -> Payout:
    cash, _, shares, _ = event.values
    period = _period(days.planned)
    # The newest report of that period or before; only that of the period itself holds its earnings.
    older = (one for one in reports(view, security, evening(days.planned)) if one.report_date <= period)
    report = next(older, None)
    from_profit = drawn(security.symbol, event.date) % 5 == 0
    return Payout(
        **vars(days),
        security=security,
        name=view.world.name(security, view.now),
        period=period,
        ex_day=event.date,
        cash=cash,
        bonus=shares if from_profit else 0.0,
        transfer=0.0 if from_profit else shares,
        total_shares=view.world.shares(security, evening(days.noticed))[0],
        eps=report.eps if report is not None and report.report_date == period else None,
        price=close_on(view.world.bars(security, view.now), _moved(days.noticed, -1)),
    )


def _period(planned: int) -> int:
    """The newest half-year, third quarter or year whose figures can be known when a plan is published."""
    known = date_of(planned) - timedelta(days=_REPORT_DAYS)
    ends = [date(year, *end) for year in (known.year, known.year - 1) for end in _PERIOD_ENDS]
    return number_of(max(end for end in ends if end <= known))


def close_on(bars: Bars, day: int) -> float | None:
    """The newest close on or before a day, CNY."""
    at = int(np.searchsorted(bars.date, day, side="right")) - 1
    return int(bars.close[at]) / PRICE_UNIT if at >= 0 else None


def _moved(number: int, days: int) -> int:
    return number_of(date_of(number) + timedelta(days=days))


def evening(number: int) -> datetime:
    day = date_of(number)
    return datetime(day.year, day.month, day.day, 20, 0)
