"""A calculated table whose dates are replaced: what a later calculation lacks is gone."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.columns import Code, Date, F, Model, Px, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.registry import Registry
from core.declaration.rules import Partition, close_of
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.errors import DeclarationError, QualityError
from core.market.bars import Bars
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.inputs import NotedReads
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse

DAYS = ("2026-08-20", "2026-08-21")


class Found(Model):
    """A code that a calculation found on a date."""

    code: Code = key("security code")
    date: Date = key("trade date")
    score: F = col("", "score", nullable=False, le=100)


class Series(Model):
    """A bar, for the reading of panels."""

    code: Code = key("security code")
    date: Date = key("trade date")
    close: Px = col("CNY", "closing price")


FOUND: list[tuple[str, str, float]] = []


def found(_ctx: Any, scope: Scope) -> pd.DataFrame:
    rows = [row for row in FOUND if row[1] in scope.dates]
    return pd.DataFrame(rows, columns=["code", "date", "score"])


def dataset(**how: Any) -> Dataset:
    return Dataset(
        name="found",
        model=Found,
        key=("code", "date"),
        date_column="date",
        calculate=found,
        **how,
    )


SERIES = Dataset(
    name="series",
    layer=Layer.CALC,
    model=Series,
    key=("code", "date"),
    date_column="date",
    sources=(Source("derived", found),),
)


@pytest.fixture
def run(warehouse_url: str, tmp_path: Path) -> Iterator[PipelineRun]:
    clock = ManualClock(datetime.fromisoformat(f"{DAYS[-1]}T17:30"))
    tables = (dataset().table, SERIES.table)
    warehouse = Warehouse(warehouse_url, tables, clock=clock, payload_folder=tmp_path / "payloads")
    warehouse.migrate()
    calendar = shipped_calendar()
    ctx = FetchContext(clock=clock, calendar=calendar, makers={})
    yield PipelineRun(Registry((dataset(), SERIES)), warehouse, ctx, calendar, clock)
    warehouse.close()


def calculated(
    run: PipelineRun, *rows: tuple[str, str, float], codes: tuple[str, ...] | None = None
) -> Loaded:
    FOUND[:] = rows
    return load_fused(run, dataset(), Scope(DAYS, codes))


def stored(run: PipelineRun) -> list[tuple[str, str, float]]:
    frame = run.read("calc_found", columns=("code", "date", "score"))
    return sorted(frame.itertuples(index=False, name=None))


def test_a_date_holds_exactly_what_the_last_calculation_found(run: PipelineRun) -> None:
    calculated(run, ("000001", DAYS[0], 1.0), ("000002", DAYS[0], 2.0), ("000001", DAYS[1], 3.0))
    again = calculated(run, ("000002", DAYS[0], 2.5))

    assert stored(run) == [("000002", DAYS[0], 2.5)]
    assert [(one.partition_key, one.rows_written) for one in again.results] == [(DAYS[0], 1), (DAYS[1], 0)]


def test_a_calculation_that_finds_nothing_leaves_nothing(run: PipelineRun) -> None:
    calculated(run, ("000001", DAYS[0], 1.0), ("000001", DAYS[1], 3.0))
    calculated(run)
    assert stored(run) == []


def test_a_date_whose_rows_are_all_rejected_stands_and_says_why(run: PipelineRun) -> None:
    calculated(run, ("000001", DAYS[0], 1.0), ("000001", DAYS[1], 3.0))
    with pytest.raises(QualityError, match="no row is left"):
        calculated(run, ("000001", DAYS[0], 101.0), ("000002", DAYS[0], 102.0))
    assert stored(run) == [("000001", DAYS[0], 1.0), ("000001", DAYS[1], 3.0)]
    refused = run.refused[-1]
    assert {record.check for record in refused.quality} == {"score:less_than_or_equal_to"}

    # With a date that passed: that one is replaced, the other left as it was.
    again = calculated(run, ("000001", DAYS[0], 101.0), ("000001", DAYS[1], 4.0))
    assert stored(run) == [("000001", DAYS[0], 1.0), ("000001", DAYS[1], 4.0)]
    assert [(one.partition_key, one.rows_removed, one.rows_rejected) for one in again.results] == [
        (DAYS[1], 0, 1)
    ]
    # Of a date that keeps one of its rows the rejected one goes: it was found to be something else.
    calculated(run, ("000001", DAYS[0], 101.0), ("000002", DAYS[0], 2.0), ("000001", DAYS[1], 4.0))
    assert stored(run) == [("000001", DAYS[1], 4.0), ("000002", DAYS[0], 2.0)]


def test_the_same_again_writes_nothing(run: PipelineRun) -> None:
    calculated(run, ("000001", DAYS[0], 1.0), ("000001", DAYS[1], 3.0))
    again = calculated(run, ("000001", DAYS[0], 1.0), ("000001", DAYS[1], 3.0))
    assert sum(one.rows_written for one in again.results) == 0
    assert len(stored(run)) == 2


def test_a_run_of_some_codes_leaves_the_others(run: PipelineRun) -> None:
    calculated(run, ("000001", DAYS[0], 1.0), ("000002", DAYS[0], 2.0))
    calculated(run, ("000001", DAYS[0], 1.5), codes=("000001",))
    calculated(run, codes=("000003",))
    assert stored(run) == [("000001", DAYS[0], 1.5), ("000002", DAYS[0], 2.0)]


def test_revisited_dates_are_replaced_only_where_the_load_brings_rows(run: PipelineRun) -> None:
    before = run.calendar.offset(DAYS[0], -1)
    FOUND[:] = [("000001", before, 1.0), ("000002", before, 1.0), ("000001", DAYS[0], 2.0)]
    load_fused(run, dataset(), Scope((before, DAYS[0])))

    FOUND[:] = [("000001", before, 1.5), ("000003", DAYS[1], 3.0)]
    again = load_fused(run, dataset(revisits=2), Scope(DAYS[1:]))

    assert stored(run) == [("000001", before, 1.5), ("000001", DAYS[0], 2.0), ("000003", DAYS[1], 3.0)]
    # The date without a row keeps its own: that it was calculated is known.
    assert [one.partition_key for one in again.results] == [before, *DAYS]
    scope = Scope(DAYS[1:]).with_late(2, run.calendar)
    assert (scope.dates, scope.asked) == ((before, *DAYS), DAYS[1:])


def test_only_calculated_rows_are_revisited() -> None:
    common: dict[str, Any] = {"model": Found, "key": ("code", "date"), "date_column": "date"}
    with pytest.raises(DeclarationError, match="revisits"):
        Dataset(name="asked", layer=Layer.CALC, revisits=3, **common)


@pytest.mark.parametrize(
    "more",
    [
        {"sources": (Source("tencent", found),)},
        {"feeds": {"raw_asked": lambda rows, _context: rows}, "order": ("tencent",)},
        {"public_at": close_of("date")},
        {"partition": Partition.CODE},
    ],
    ids=lambda more: next(iter(more)),
)
def test_only_a_calculated_table_is_replaced_by_date(more: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="calculated"):
        Dataset(
            name="asked", model=Found, key=("code", "date"), date_column="date", calculate=found, **more
        )  # fmt: skip


def test_a_panel_becomes_ragged_bars(run: PipelineRun) -> None:
    FOUND[:] = []
    frame = pd.DataFrame(
        [("000001", DAYS[0], 1.0), ("000001", DAYS[1], 2.0), ("000002", DAYS[1], 3.0)],
        columns=["code", "date", "close"],
    )
    reported = Dataset(
        name="series", layer=Layer.CALC, model=Series, key=("code", "date"), date_column="date",
        sources=(Source("derived", lambda _ctx, _scope: frame),),
    )  # fmt: skip
    load_fused(run, reported, Scope(DAYS))
    dense = run.read.panel("calc_series", columns=("close",), since=DAYS[0], until=DAYS[1])
    bars = Bars.from_dense(dense)
    assert bars.codes == ("000001", "000002")
    assert bars.offsets.tolist() == [0, 2, 3]
    assert bars.close.tolist() == [1.0, 2.0, 3.0]
    assert bars.date.tolist() == [20260820, 20260821, 20260821]
    # The lineage of a result counts the rows that were there, not the cells of the array.
    noted = NotedReads(run.warehouse, run.read)
    noted.panel("calc_series", columns=("close",), since=DAYS[0], until=DAYS[1])
    (read,) = noted.inputs()
    assert (read["table"], read["rows"], read["max_date"]) == ("calc_series", 3, DAYS[1])
