"""Rows under a day that turned out to be no trade date, and bars of periods whose last trade date is another
one by now: withdrawn when the calendar is corrected.

A withdrawal is a batch like any other: rows of fused tables keep their version in the history, so that a read
`as_of` an earlier moment still has them.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from core.declaration.dataset import Dataset
from core.declaration.frames import empty_frame
from core.declaration.rules import Partition
from core.declaration.tables import Layer, Table
from platform_assets.compute.periods import PERIODS, period_ends
from platform_assets.pipeline.run import PipelineRun
from resources.warehouse.batch_records import Batch, Quality
from resources.warehouse.slices import Slice
from resources.warehouse.writer import Piece

CALENDAR, BARS_OF_PERIODS = "ref_trade_calendar", "fusion_kline_bar"
BY_DATE = ("ref_exright_item",)
"""Tables of codes whose rows are of trade dates."""
_LAYERS = (Layer.RAW, Layer.STG, Layer.DWD, Layer.CALC)


def withdraw(run: PipelineRun) -> dict[str, int]:
    """Table -> rows that were withdrawn from it."""
    closed = _turned_out_closed(run)
    found: dict[str, int] = {}
    for table in _of_trade_dates(run):
        rows = sum(_withdrawn(run, table, day) for day in closed)
        found |= {table.name: rows} if rows else {}
    rows = _withdraw_bars(run)
    return {**found, **({BARS_OF_PERIODS: rows} if rows else {})}


def _turned_out_closed(run: PipelineRun) -> list[str]:
    """The days that were held for trade dates and are none."""
    if CALENDAR not in run.warehouse.tables:
        return []
    rows = run.warehouse.query(
        f"SELECT date FROM {CALENDAR} WHERE market='CN' AND corrected_on IS NOT NULL ORDER BY date"
    )
    return [str(day) for (day,) in rows if not run.calendar.is_trade_date(str(day))]


def _of_trade_dates(run: PipelineRun) -> Iterator[Table]:
    """The tables whose rows are of trade dates. Events and notices have calendar days of their own."""
    declared = run.registry.trade_days
    for table in run.registry.tables:
        dated = table.name in declared and declared[table.name].partition is Partition.TRADE_DATE
        if (table.date_column and table.layer in _LAYERS and dated) or table.name in BY_DATE:
            yield table


def _withdrawn(run: PipelineRun, table: Table, day: str) -> int:
    column = str(table.date_column)
    until = f"{day} 23:59:59" if table.timed else day
    where = Slice(date_column=column, since=day, until=until)
    if not run.warehouse.frame(table.name, columns=[column], where=where).empty:
        return _write(run, table, where, day, f"{day} turned out to be no trade date")
    return 0


def _withdraw_bars(run: PipelineRun) -> int:
    """Bars of periods that end on another trade date by the calendar as it is now: their own were written
    under the end that was expected."""
    table = run.warehouse.table(BARS_OF_PERIODS)
    stored = run.warehouse.query(f"SELECT DISTINCT period, date FROM {table.name}")
    removed = 0
    for period in PERIODS:
        days = sorted(str(day) for name, day in stored if name == period)
        for day in _misplaced(run, days, period):
            where = Slice(date_column="date", since=day, until=day, equal=(("period", period),))
            removed += _write(run, table, where, day, f"the {period} does not end on {day}")
    return removed


def _misplaced(run: PipelineRun, days: Sequence[str], period: str) -> list[str]:
    if not days:
        return []
    grid = run.calendar.between(f"{days[0][:4]}-01-01", f"{int(days[-1][:4]) + 1}-01-31")
    ends = period_ends(days, grid, period)
    return [day for day, end in zip(days, ends, strict=True) if day != end]


def _write(run: PipelineRun, table: Table, where: Slice, day: str, why: str) -> int:
    """A batch that withdraws the rows of a slice; how many they were."""
    owner: Dataset = run.registry.of_table(table.name)
    batch = Batch(partition_key=day, domain=owner.domain, **run.batch_facts())
    note = Quality("misplaced", "contract", "rejected", why)
    nothing: pd.DataFrame = empty_frame(table.columns)
    piece = Piece(nothing, where, batch, quality=[note])
    (result,) = run.warehouse.writer.write_all(table, [piece], lease=run.lease, replace=True)
    run.progress(f"{table.name}: {result.rows_removed} rows withdrawn, {why}")
    return result.rows_removed
