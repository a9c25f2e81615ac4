"""How well factors foretold: inputs of many dates from stored series, ranked within the codes asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from platform_assets.compute.factors.definitions import FACTORS
from platform_assets.compute.factors.history import (
    REPORT_FIELDS,
    YEAR,
    BarHistory,
    as_published,
    scores_by_date,
)
from platform_assets.compute.factors.ic import factor_ic, lags_of
from platform_assets.compute.factors.scores import has_bar
from platform_assets.compute.parameters.factors import IC_FEWEST_CODES
from platform_assets.datasets._wide_events import REPORTS_SINCE, reports_since
from resources.calendar import TradeCalendar
from serving_api.factors import queries
from serving_api.reading import Session

Floats = npt.NDArray[np.float64]
_BARS = (
    *("close", "volume", "amount", "amplitude_pct", "turnover_pct", "limit_status", "is_suspended"),
    "adj_factor",
)
_RATIOS = ("pe_ttm", "pb", "ps_ttm", "total_market_cap", "float_market_cap")
_FLOWS = ("main_net_pct", "main_net")
_DIGITS = 6


def bench(
    session: Session,
    calendar: TradeCalendar,
    codes: Sequence[str],
    forward_days: int,
    lookback_days: int,
) -> dict[str, Any]:
    """The answer of the comparison."""
    newest = queries.newest_bar(session)
    if newest is None:
        return unknown(forward_days)
    dates = calendar.last(YEAR + lookback_days + forward_days, newest)
    grid = _Grid(dates, sorted(codes))
    bars = grid.spread(queries.series(session, queries.KLINE, _BARS, grid.codes, dates[0], dates[-1]), _BARS)
    status = bars.pop("limit_status")
    close = bars.pop("close") * bars.pop("adj_factor")
    traded = has_bar(close, bars.pop("is_suspended"))
    history = BarHistory(
        dates,
        close,
        bars.pop("volume"),
        np.where(traded, status == "up", np.nan),
        np.where(traded, status == "up_open", np.nan),
    )
    since = dates[-lookback_days - forward_days :][0]
    inputs = history.inputs() | bars
    for table, columns in ((queries.VALUATION, _RATIOS), (queries.FLOW, _FLOWS)):
        inputs |= grid.spread(queries.series(session, table, columns, grid.codes, since, dates[-1]), columns)
    inputs |= _reported(session, grid, since)
    window = slice(-lookback_days - forward_days, -forward_days)
    scores = scores_by_date({name: one[window] for name, one in inputs.items()}, traded[window])
    returns = np.where(traded, history.following(forward_days), np.nan)[window]
    days = int((np.isfinite(returns).sum(axis=1) >= IC_FEWEST_CODES).sum())
    return answer(forward_days, days, scores, returns)


def unknown(forward_days: int) -> dict[str, Any]:
    """The answer where nothing is stored."""
    return answer(forward_days, 0, {}, np.empty((0, 0)))


def answer(forward_days: int, days: int, scores: Mapping[str, Floats], returns: Floats) -> dict[str, Any]:
    """`days` dates that at least twenty codes have a return of."""
    items = []
    for factor in FACTORS:
        told = factor_ic(scores.get(factor.key, np.full(returns.shape, np.nan)), returns, forward_days)
        figures = {
            name: None if (value := getattr(told, name)) is None else round(value, _DIGITS)
            for name in (
                "ic_mean", "ic_std", "ir", "t_stat", "t_stat_simple", "positive_rate", "coverage",
                "quintile_spread_pct",
            )
        }  # fmt: skip
        items.append({"key": factor.key, "label": factor.label, **figures, "days": told.days})
    lags = lags_of(days, forward_days)
    return {
        "forward_days": forward_days,
        "sample_days": days,
        "lags": lags,
        "note": _note(forward_days, lags),
        "items": items,
        "total": len(items),
    }


def _note(window: int, lags: int) -> str:
    told = f"t_stat is Newey and West's with up to {lags} lags; t_stat_simple is ir * sqrt(days)"
    if window == 1:
        return f"{told}, which takes the dates for independent."
    return (
        f"The returns of {window} sessions that follow one date and the next overlap, so the dates are not "
        f"independent: {told}, which takes them for independent and is too large."
    )


class _Grid:
    """Dates and codes of arrays [dates, codes]."""

    def __init__(self, dates: Sequence[str], codes: Sequence[str]) -> None:
        self.dates = dates
        self.codes = codes
        self._line = {day: at for at, day in enumerate(dates)}
        self._place = {code: at for at, code in enumerate(codes)}

    def spread(self, rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> dict[str, Any]:
        """Columns of (code, date, *columns): floats, NaN where there is no row; texts as they are."""
        shape = (len(self.dates), len(self.codes))
        kept = [row for row in rows if str(row[1]) in self._line]
        at = np.array(
            [self._line[str(row[1])] * shape[1] + self._place[row[0]] for row in kept], dtype=np.intp
        )
        found: dict[str, Any] = {}
        for place, name in enumerate(columns, start=2):
            values = [row[place] for row in kept]
            kind: Any = object if name == "limit_status" else np.float64
            grid = np.full(shape[0] * shape[1], None if kind is object else np.nan, dtype=kind)
            grid[at] = np.array(values, dtype=kind)
            found[name] = grid.reshape(shape)
        return found


def _reported(session: Session, grid: _Grid, since: str) -> dict[str, Floats]:
    """Figures of the newest report that was published on each date."""
    rows = queries.reports(session, REPORT_FIELDS, grid.codes, reports_since(since), grid.dates[-1])
    of_code: dict[str, list[tuple[str, str, Sequence[float | None]]]] = {}
    for code, announced, period, *figures in rows:
        of_code.setdefault(code, []).append((str(announced), str(period), figures))
    found = np.full((len(REPORT_FIELDS), len(grid.dates), len(grid.codes)), np.nan)
    for place, code in enumerate(grid.codes):
        if code in of_code:
            found[:, :, place] = as_published(grid.dates, of_code[code], REPORTS_SINCE).T
    return dict(zip(REPORT_FIELDS, found, strict=True))
