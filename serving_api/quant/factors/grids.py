"""Inputs of the factors from stored series: bars, ratios, flows, and the newest report of each date."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.arrays import Bools, Floats
from platform_assets.compute.factors.history import REPORT_FIELDS, BarHistory, as_published
from platform_assets.compute.factors.scores import has_bar
from platform_assets.datasets._wide_events import REPORTS_SINCE, reports_since
from serving_api.db.sessions import Session
from serving_api.quant.factors import queries

_BARS = (
    *("close", "volume", "amount", "amplitude_pct", "turnover_pct", "limit_status", "is_suspended"),
    "adj_factor",
)
_RATIOS = ("pe_ttm", "pb", "ps_ttm", "total_market_cap", "float_market_cap")
_FLOWS = ("main_net_pct", "main_net")
_TEXTS = frozenset({"limit_status"})


class Grid:
    """Dates and codes of arrays [dates, codes]."""

    def __init__(self, dates: Sequence[str], codes: Sequence[str]) -> None:
        self.dates = dates
        self.codes = codes
        self._line = {day: at for at, day in enumerate(dates)}
        self._place = {code: at for at, code in enumerate(codes)}

    def spread(self, rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> dict[str, Any]:
        """Columns of (code, date, *columns): floats, NaN where there is no row; texts unchanged."""
        shape = (len(self.dates), len(self.codes))
        kept = [row for row in rows if str(row[1]) in self._line]
        at = np.array(
            [self._line[str(row[1])] * shape[1] + self._place[row[0]] for row in kept], dtype=np.intp
        )
        found: dict[str, Any] = {}
        for place, name in enumerate(columns, start=2):
            values = [row[place] for row in kept]
            kind: Any = object if name in _TEXTS else np.float64
            grid = np.full(shape[0] * shape[1], None if kind is object else np.nan, dtype=kind)
            grid[at] = np.array(values, dtype=kind)
            found[name] = grid.reshape(shape)
        return found


def reported(
    session: Session, grid: Grid, since: str, fields: Sequence[str] = REPORT_FIELDS
) -> dict[str, Floats]:
    """Figures of the newest report that was published on each date."""
    rows = queries.reports(session, fields, grid.codes, reports_since(since), grid.dates[-1])
    of_code: dict[str, list[tuple[str, str, Sequence[float | None]]]] = {}
    for code, announced, period, *figures in rows:
        of_code.setdefault(code, []).append((str(announced), str(period), figures))
    found = np.full((len(fields), len(grid.dates), len(grid.codes)), np.nan)
    for place, code in enumerate(grid.codes):
        if code in of_code:
            found[:, :, place] = as_published(grid.dates, of_code[code], REPORTS_SINCE).T
    return dict(zip(fields, found, strict=True))


def inputs_of(
    session: Session, grid: Grid, since: str, report_fields: Sequence[str] = REPORT_FIELDS
) -> tuple[dict[str, Floats], Bools, BarHistory]:
    """([dates, codes] of every stored input, which codes traded, the bars). Ratios, flows and reports from
    `since` on."""
    dates = grid.dates
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
    inputs = history.inputs() | bars
    for table, columns in ((queries.VALUATION, _RATIOS), (queries.FLOW, _FLOWS)):
        inputs |= grid.spread(queries.series(session, table, columns, grid.codes, since, dates[-1]), columns)
    inputs |= reported(session, grid, since, report_fields)
    return inputs, traded, history
