"""Single quarters out of figures that are cumulative since 1 January. Pure; None where one is missing."""

from collections.abc import Callable

from core.report_periods import previous_period

Figures = Callable[[str], float | None]
"""The cumulative figure of a report period, None where it is not known."""


def single_quarter(figures: Figures, period: str) -> float | None:
    """The figure of a period's last quarter alone."""
    whole = figures(period)
    if whole is None or period.endswith("-03-31"):
        return whole
    before = figures(previous_period(period))
    return None if before is None else whole - before


def growth_pct(now: float | None, past: float | None) -> float | None:
    """Percent against the absolute value, so that a smaller loss is growth."""
    return None if now is None or not past else (now - past) / abs(past) * 100


def on_quarter_before(figures: Figures, period: str) -> float | None:
    """Growth of a period's quarter on the quarter before, percent."""
    return growth_pct(single_quarter(figures, period), single_quarter(figures, previous_period(period)))


def on_year_before(figures: Figures, period: str) -> float | None:
    """Growth of a period's quarter on the same quarter a year earlier, percent."""
    return growth_pct(single_quarter(figures, period), single_quarter(figures, year_before(period)))


def year_before(period: str) -> str:
    """The same period a year earlier."""
    return f"{int(period[:4]) - 1}{period[4:]}"
