"""Results of the companies of a world: the facts of the portal's reports and pages.

They go on from the world's quarterly reports (which the terminal's snapshot shows as well): a balance still
is liabilities + equity, amounts are cumulative since 1 January, and what is added to them (cash, stocks,
loans, expenses, investment) are shares of theirs that belong to a company and never change, within the
ranges of its industry. One company in
seven publishes an express report of a year or half year before the statements; one in thirteen corrects its
annual report of odd years some days after the notice, and the correction has a notice date of its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from simulated_market.corporate import stocks
from simulated_market.draws import drawn
from simulated_market.memo import FactMemo
from simulated_market.wire import View
from simulated_market.world.accounts import Accounts, Range, accounts_of, within
from simulated_market.world.model import Report, Security
from simulated_market.world.session import date_number

YEARS = 15
"""Years of reports that a page of one company shows; a report of the market looks back three."""
_MARKET_YEARS = 3
_EXPRESS_OF, _CORRECTED_OF = 7, 13
_EXPRESS_PERIODS = (1231, 630)
_LOWERED = 0.97
_CORRECTIONS_FROM = 506
"""After the last notices of annual reports and first quarters: no company's newest report changes."""
_LOAN_RATE = 0.03
_MOST_NAMED = 0.92
"""Of the current assets: cash, receivables and inventories together."""


@dataclass(frozen=True)
class Result:
    """One report period of one company, CNY; `report` holds the amounts that the world has itself."""

    security: Security
    name: str
    report: Report
    notice: int
    shares: int
    before: Report | None  # the same period a year earlier
    opening: Report | None  # the last annual report

    @property
    def period(self) -> int:
        return self.report.period

    @property
    def year_part(self) -> float:
        return self.report.months / 12

    def share(self, purpose: str) -> float:
        """A number in [0, 1) of the company and a purpose."""
        return share_of(self.security, purpose)

    @property
    def accounts(self) -> Accounts:
        """The usual accounts of its industry."""
        return accounts_of(self.security.sector, self.security.industry)

    def _within(self, span: Range, purpose: str) -> float:
        return within(span, self.share(purpose))

    @property
    def operating_cost(self) -> float:
        """What was spent of the revenue before the operating profit."""
        return round(self.report.revenue - self.report.operating_profit, 2)

    @property
    def cash_added(self) -> float:
        """The sum of the three cash flows."""
        return round(self.report.operating_cash_flow + self.investing + self.financing, 2)

    # --- balance; None is what a company of its kind does not report

    @property
    def current_assets(self) -> float | None:
        return self.report.current_assets if self.accounts.is_classified else None

    @property
    def current_liabilities(self) -> float | None:
        return self.report.current_liabilities if self.accounts.is_classified else None

    def _of_assets(self, span: Range | None, purpose: str) -> float | None:
        """A part of the current assets (of all where they are not divided), never more than there are."""
        usual = self.accounts
        if span is None:
            return None
        spans = {"cash": usual.cash, "receivables": usual.due, "inventory": usual.stock}
        parts = sum(self._within(one, name) for name, one in spans.items() if one is not None)
        whole = self.report.current_assets if usual.is_classified else self.report.total_assets
        return round(whole * self._within(span, purpose) / max(1.0, parts / _MOST_NAMED), 2)

    @property
    def cash(self) -> float:
        return self._of_assets(self.accounts.cash, "cash") or 0.0

    @property
    def receivables(self) -> float | None:
        return self._of_assets(self.accounts.due, "receivables")

    @property
    def inventory(self) -> float | None:
        return self._of_assets(self.accounts.stock, "inventory")

    @property
    def goodwill(self) -> float:
        most = 0.2 if self.accounts.is_classified else 0.002
        return round(self.report.other_assets * most * self.share("goodwill"), 2)

    @property
    def prepaid(self) -> float | None:
        """What customers paid before."""
        owed = self.current_liabilities
        return None if owed is None else round(owed * 0.2 * self.share("prepaid"), 2)

    @property
    def short_loans(self) -> float | None:
        owed = self.current_liabilities
        return None if owed is None else round(owed * (0.1 + 0.3 * self.share("short")), 2)

    @property
    def long_loans(self) -> float | None:
        if not self.accounts.is_classified:
            return None
        return round(self.report.long_liabilities * (0.3 + 0.5 * self.share("long")), 2)

    # --- income

    @property
    def cost(self) -> float | None:
        gross = self.report.gross_profit
        return None if gross is None else round(self.report.revenue - gross, 2)

    @property
    def selling(self) -> float | None:
        return self._spent(0.1 + 0.5 * self.share("selling"))

    @property
    def administration(self) -> float | None:
        """A financial company has this one kind of expenses."""
        if self.report.gross_profit is None:
            return round(self.report.revenue * (0.22 + 0.15 * self.share("administration")), 2)
        return self._spent(0.85 - 0.5 * self.share("selling"))

    def _spent(self, share: float) -> float | None:
        """A share of the costs between gross and operating profit other than research and interest."""
        gross, research, interest = self.report.gross_profit, self.research, self.interest
        if gross is None or research is None or interest is None:
            return None
        left = gross - self.report.operating_profit - research - interest
        return round(max(left, 0.02 * self.report.revenue) * share, 2)

    @property
    def research(self) -> float | None:
        span = self.accounts.research
        return None if span is None else round(self.report.revenue * self._within(span, "research"), 2)

    @property
    def interest(self) -> float | None:
        short, long = self.short_loans, self.long_loans
        if short is None or long is None:
            return None
        return round((short + long) * _LOAN_RATE * self.year_part, 2)

    @property
    def deducted(self) -> float:
        one_off = abs(self.report.net_profit) * 0.1 * self.share("one-off")
        return round(self.report.net_profit - one_off, 2)

    # --- cash

    @property
    def investment(self) -> float:
        return round(self.report.fixed_assets * (0.04 + 0.1 * self.share("investment")) * self.year_part, 2)

    @property
    def investing(self) -> float:
        return round(-self.investment * 1.1, 2)

    @property
    def financing(self) -> float:
        return round(-0.3 * self.report.operating_cash_flow, 2)

    # --- per share, ratios in percent

    @property
    def eps(self) -> float:
        return round(self.report.net_profit / self.shares, 4)

    @property
    def bvps(self) -> float:
        return round(self.report.net_assets / self.shares, 4)

    @property
    def roe(self) -> float | None:
        """Weighted average: on the mean of opening and closing equity."""
        if self.opening is None:
            return None
        return percent(self.report.net_profit, (self.opening.net_assets + self.report.net_assets) / 2)

    @property
    def roa(self) -> float | None:
        if self.opening is None:
            return None
        return percent(self.report.net_profit, (self.opening.total_assets + self.report.total_assets) / 2)

    @property
    def gross_margin(self) -> float | None:
        gross = self.report.gross_profit
        return None if gross is None else percent(gross, self.report.revenue)

    def yoy(self, name: str) -> float | None:
        """Change of one of the report's amounts on the year before."""
        return None if self.before is None else change(getattr(self.report, name), getattr(self.before, name))


@dataclass(frozen=True)
class Express:
    """An express report: the result before the statements, a little off."""

    result: Result
    notice: int

    @property
    def revenue(self) -> float:
        return round(self.result.report.revenue * (0.995 + 0.01 * self.result.share("express")), 2)

    @property
    def net_profit(self) -> float:
        return round(self.result.report.net_profit * (0.98 + 0.04 * self.result.share("express")), 2)


def share_of(security: Security, purpose: str) -> float:
    return drawn(security.symbol, purpose) / 2**32


def percent(part: float, whole: float) -> float | None:
    return round(part / whole * 100, 6) if whole else None


def change(now: float, before: float) -> float | None:
    """Percent, against the absolute value, as the portal computes it."""
    return round((now - before) / abs(before) * 100, 6) if before else None


def is_early(security: Security) -> bool:
    """Whether a company publishes express reports."""
    return drawn(security.symbol) % _EXPRESS_OF == 0


def corrected_on(security: Security, report: Report) -> int | None:
    """The notice date of a correction of an annual report, None where there is none."""
    is_odd = report.period // 10_000 % 2 == 1
    if report.months != 12 or not is_odd or drawn(security.code) % _CORRECTED_OF:
        return None
    later = datetime.strptime(str(report.published), "%Y%m%d") + timedelta(days=9)
    return max(date_number(later), later.year * 10_000 + _CORRECTIONS_FROM)


_FALL = (
    "net_profit", "total_profit", "operating_profit", "net_assets", "total_assets", "other_assets",
    "undistributed",
)  # fmt: skip


def corrected(report: Report) -> Report:
    """The report with a lower profit: equity and assets fall by as much."""
    lost = round(abs(report.net_profit) * (1 - _LOWERED), 2)
    return replace(
        report,
        revenue=round(report.revenue * 0.99, 2),
        gross_profit=None if report.gross_profit is None else round(report.gross_profit * 0.99, 2),
        **{name: round(getattr(report, name) - lost, 2) for name in _FALL},
    )


class FinanceBook:
    """Results of a world that are out at a view's time; those of a day are remembered."""

    def __init__(self) -> None:
        self._held: FactMemo[dict[tuple[str, int], list[Result]]] = FactMemo(1)

    def of_period(self, view: View, period: int) -> list[Result]:
        """Every company that has reported a period, by code."""
        return [
            one
            for security in stocks(view)
            for one in self._results(view, security, _MARKET_YEARS)
            if one.period == period
        ]

    def of_security(self, view: View, security: Security) -> list[Result]:
        """All periods of one company, newest first."""
        return self._results(view, security, YEARS)[::-1]

    def whole_past(self, view: View, security: Security) -> list[Result]:
        """The same with the periods from before the world begins, which the company's own page shows."""
        reports = view.world.reports(security, view.now, YEARS)
        return self._made(view, security, reports, before_world=True)[::-1]

    def express(self, view: View, period: int | None, codes: Collection[str] | None = None) -> list[Express]:
        """Express reports that are out, of a period or of some codes."""
        today, years = date_number(view.now), YEARS if period is None else _MARKET_YEARS
        made = [
            Express(one, notice)
            for security in stocks(view)
            if is_early(security) and (codes is None or security.code in codes)
            for one in self._announced(view, security, years)
            if period in {None, one.period} and one.period % 10_000 in _EXPRESS_PERIODS
            if (notice := _express_notice(one)) <= min(today, one.report.published - 1)
        ]
        return sorted(made, key=lambda one: (one.result.security.code, one.result.period))

    def _announced(self, view: View, security: Security, years: int) -> list[Result]:
        """As `_results`, with the reports to come of ended periods: express reports contain those."""
        later = view.now + timedelta(days=125)
        ended = [
            one for one in view.world.reports(security, later, years) if one.period < date_number(view.now)
        ]
        return self._made(view, security, ended)

    def _results(self, view: View, security: Security, years: int) -> list[Result]:
        """Oldest first."""
        held, key = self._held.of(view, date_number(view.now), dict), (security.symbol, years)
        if key not in held:
            held[key] = self._made(view, security, view.world.reports(security, view.now, years))
        return held[key]

    def _made(
        self, view: View, security: Security, reports: Sequence[Report], *, before_world: bool = False
    ) -> list[Result]:
        today = date_number(view.now)
        known: dict[int, Report] = {}
        made = []
        shares_of = self._shares(view, security, reports, before=before_world)
        for one in reports:
            later = corrected_on(security, one)
            report, notice = one, one.published
            if later is not None and later <= today:
                report, notice = corrected(one), later
            known[report.period] = report
            if not shares_of[one.period]:
                continue
            made.append(
                Result(
                    security=security,
                    name=view.world.name(security, view.now),
                    report=report,
                    notice=notice,
                    shares=shares_of[one.period],
                    before=known.get(report.period - 10_000),
                    opening=known.get((report.period // 10_000 - 1) * 10_000 + 1231),
                )
            )
        return made

    @staticmethod
    def _shares(view: View, security: Security, reports: Sequence[Report], *, before: bool) -> dict[int, int]:
        """Period -> shares when the report came out; 0 for one that is not published. With `before` reports
        from before the world begins have the shares of its first one."""
        found: dict[int, int] = {}
        for one in reports:
            out = datetime.strptime(f"{one.published} 16", "%Y%m%d %H")
            if one.published < security.list_date:
                out = view.now  # reports of the year before the listing, by the shares of today
            is_old = one.period < security.list_date - 10_000
            found[one.period] = 0 if is_old else view.world.shares(security, min(out, view.now))[0]
        first = next((shares for shares in found.values() if shares), 0) if before else 0
        since = security.list_date - 10_000
        return {period: shares or (first if period >= since else 0) for period, shares in found.items()}


def _express_notice(one: Result) -> int:
    """Between 20 January and 28 February, or in the second half of July."""
    year, half = one.period // 10_000, one.period % 10_000 == 630
    first = datetime(year, 7, 15) if half else datetime(year + 1, 1, 20)
    return date_number(first + timedelta(days=int((15 if half else 38) * one.share("express day"))))
