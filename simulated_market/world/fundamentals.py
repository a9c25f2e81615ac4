"""Quarterly reports of a company as a function of (seed, company): never stored, always the same."""

from dataclasses import fields
from datetime import date, timedelta

import numpy as np

from core.arrays import Floats
from core.market.rules import day_number
from simulated_market.world import draws
from simulated_market.world.accounts import Accounts, accounts_of, within
from simulated_market.world.draws import Stream
from simulated_market.world.model import Finance, Report
from simulated_market.world.plan import Plan

_FIRST_YEAR = 2012
_PERIODS = ((1, 331, 430), (2, 630, 831), (3, 930, 1031), (4, 1231, 430))
_SEASON = np.asarray([0.21, 0.25, 0.25, 0.29])


def reports(plan: Plan, place: int, seed: int, last_year: int) -> list[Report]:
    """Periods of a company from 2012 to `last_year`, oldest first."""
    base = draws.raw(seed, Stream.REPORTS, place, 12)
    z, u = draws.normal(base), draws.uniform(base)
    quarters = (last_year - _FIRST_YEAR + 1) * 4
    noise = draws.raw(seed, Stream.REPORTS, place, quarters * 4, start=12).reshape(quarters, 4)
    zq, uq = draws.normal(noise[:, :3].reshape(-1)).reshape(quarters, 3), draws.uniform(noise[:, 3])
    cap = plan.total * plan.price * plan.tick_unit / 10_000
    usual = accounts_of(plan.sector, plan.industry)
    pb = usual.pb * float(np.exp(usual.spread * z[0]))
    margin = float(np.clip(usual.net_margin * np.exp(usual.spread * z[1]), 0.004, 0.55))
    yearly = cap / (usual.pe * float(np.exp(usual.spread * z[2])))
    if plan.loss_maker:
        yearly = -cap * (0.01 + 0.05 * u[3])
    revenue_year = abs(yearly) / margin if not plan.loss_maker else cap * (0.15 + 0.5 * u[4])
    age = np.repeat(np.arange(_FIRST_YEAR, last_year + 1), 4) - 2024
    growth = np.exp((0.05 + 0.06 * float(z[5])) * age)
    season = np.tile(_SEASON, quarters // 4)
    revenue = revenue_year * growth * season * np.exp(0.08 * zq[:, 0])
    profit = yearly * growth * season * (1 + 0.25 * zq[:, 1])
    equity_now = cap / pb
    kept = np.cumsum(profit * 0.6)
    equity = np.maximum(equity_now + kept - kept[min(48, quarters - 1)], 0.15 * equity_now)
    debt = within(usual.debt, float(u[6]))
    made = []
    for k in range(quarters):
        year, q = _FIRST_YEAR + k // 4, k % 4
        cut = slice(k - q, k + 1)
        flows = (float(revenue[cut].sum()), float(profit[cut].sum()))
        made.append(_report(plan, (year, q), flows, (float(equity[k]), debt), (float(uq[k]), u, zq[k])))
    return made


def _report(
    plan: Plan,
    when: tuple[int, int],
    flows: tuple[float, float],
    stocks: tuple[float, float],
    numbers: tuple[float, Floats, Floats],
) -> Report:
    (year, q), (revenue, profit), (equity, debt) = when, flows, stocks
    late, uniform, z = numbers
    u: list[float] = uniform.tolist()
    _, period, deadline = _PERIODS[q]
    net_assets = round(equity, 2)
    assets = round(net_assets / (1 - debt), 2)
    liabilities = round(assets - net_assets, 2)
    usual = accounts_of(plan.sector, plan.industry)
    current, fixed = 0.0, round(assets * within(usual.fixed, u[9]), 2)
    current_liabilities = 0.0
    if usual.current is not None:
        current = round(assets * within(usual.current, u[8]), 2)
        current_liabilities = round(liabilities * (0.6 + 0.3 * u[7]), 2)
    reserve = round(net_assets * (0.2 + 0.2 * u[10]), 2)
    tax = 0.15 * max(profit, 0.0)
    return Report(
        period=year * 10_000 + period,
        published=_published(year + (q == 3), deadline, late, q),
        revenue=round(revenue, 2),
        gross_profit=_gross(usual, (revenue, profit), u[11]),
        operating_profit=round(profit * 1.02 + tax, 2),
        total_profit=round(profit + tax, 2),
        net_profit=round(profit, 2),
        operating_cash_flow=round(profit * (1.1 + 0.5 * float(z[2])), 2),
        total_assets=assets,
        current_assets=current,
        fixed_assets=fixed,
        other_assets=round(assets - current - fixed, 2),
        current_liabilities=current_liabilities,
        long_liabilities=round(liabilities - current_liabilities, 2),
        net_assets=net_assets,
        capital_reserve=reserve,
        undistributed=round(net_assets * 0.35 if profit > 0 else -net_assets * 0.1, 2),
        holders=int(4_000 + plan.floating**0.52 * (0.6 + 0.8 * u[2]) * (1 + 0.06 * float(z[1]))),
    )


def _gross(usual: Accounts, flows: tuple[float, float], share: float) -> float | None:
    """Gross profit: more than the result before tax; None for a financial company."""
    revenue, profit = flows
    if usual.gross is None:
        return None
    return round(min(max(revenue * within(usual.gross, share), profit * 1.3), revenue * 0.95), 2)


def _published(year: int, deadline: int, late: float, q: int) -> int:
    """Notice date: two thirds fall into the last ten days before the deadline."""
    earlier = (
        int(late / 0.66 * 10) if late < 0.66 else 10 + int((late - 0.66) / 0.34 * (18 if q != 3 else 60))
    )
    return day_number(date(year, deadline // 100, deadline % 100) - timedelta(days=earlier))


def visible(all_reports: list[Report], years: tuple[int, int], today: int) -> list[Report]:
    """Reports of the years (first, last) whose notice is out, ordered by period."""
    first, last = (max(year - _FIRST_YEAR, 0) * 4 for year in (years[0], years[1] + 1))
    return [r for r in all_reports[first:last] if r.published <= today]


def ttm(known: list[Report], field: str) -> float | None:
    """Trailing twelve months of a cumulative field; None without the year before."""
    if not known:
        return None
    newest = known[-1]
    by_period = {r.period: r for r in known}
    if newest.months == 12:
        return float(getattr(newest, field))
    year = newest.period // 10_000 - 1
    full, same = by_period.get(year * 10_000 + 1231), by_period.get(newest.period - 10_000)
    if full is None or same is None:
        return None
    return float(getattr(newest, field)) + float(getattr(full, field)) - float(getattr(same, field))


def snapshot(report: Report, total: int, floating: int) -> Finance:
    """The newest report as the terminal protocol carries it."""
    same = {one.name: getattr(report, one.name) for one in fields(Finance) if hasattr(report, one.name)}
    return Finance(
        **same,
        report_date=report.period,
        total_shares=total,
        float_shares=floating,
        eps=round(report.net_profit / total, 4),
        bvps=round(report.net_assets / total, 4),
    )
