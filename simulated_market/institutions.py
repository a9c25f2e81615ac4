"""Holdings of institutions in the companies of a world: a share of the float by kind, company and period,
published with the company's report. A replayed market has no reports, so nothing."""

import itertools
from dataclasses import dataclass

from simulated_market.corporate import close_on, evening, report_pairs
from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.model import Finance, Security

KINDS = ("01", "02", "03", "04", "05", "06")
_WEIGHTS = (600, 150, 80, 60, 120, 40)
"""Of 10,000 float shares, at most."""


@dataclass(frozen=True)
class OrgHolding:
    """One kind of institution at the end of one period. `change` since the period before, None without."""

    security: Security
    period: int
    kind: str
    institutions: int
    shares: int
    change: int | None
    value: float
    total_shares: int
    float_shares: int


def holdings(view: View, security: Security, since: int = 0) -> list[OrgHolding]:
    """Holdings at the ends of published periods on or after `since`, newest period first."""
    wanted = itertools.takewhile(lambda pair: pair[0].report_date >= since, report_pairs(view, security))
    return [one for pair in wanted for one in _of_period(view, security, *pair)]


def _of_period(view: View, security: Security, report: Finance, before: Finance | None) -> list[OrgHolding]:
    total, floating = view.world.shares(security, evening(report.report_date))
    price = close_on(view.world.bars(security, view.now), report.report_date)
    if not floating or price is None:  # before the world begins
        return []
    earlier = view.world.shares(security, evening(before.report_date))[1] if before is not None else 0
    made = []
    for kind, weight in zip(KINDS, _WEIGHTS, strict=True):
        held = _held(security, report.report_date, kind, weight, floating)
        was = None if before is None else _held(security, before.report_date, kind, weight, earlier)
        made.append(
            OrgHolding(
                security=security,
                period=report.report_date,
                kind=kind,
                institutions=1 + drawn(security.symbol, report.report_date, kind) % 40,
                shares=held,
                change=None if was is None else held - was,
                value=round(held * price, 2),
                total_shares=total,
                float_shares=floating,
            )
        )
    return made


def _held(security: Security, period: int, kind: str, weight: int, floating: int) -> int:
    return floating // 10_000 * (drawn(security.symbol, period, kind) // 64 % weight)
