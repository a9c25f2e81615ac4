"""Events have calendar days: which trade date writes them, what a scope covers, days without any."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.columns import Amt, Code, Date, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.registry import Registry
from core.declaration.rules import Partition, at_hour, on_date
from core.declaration.scope import Context, Scope
from core.errors import QualityError
from platform_assets.pipeline.fused_rows import fused_parts
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import partition_parts
from platform_assets.pipeline.windows import Window
from resources.fetch_record import Fetch, Outcome
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.slices import Slice
from resources.warehouse.stored import ANY
from resources.warehouse.warehouse import Warehouse
from tests.pipeline.conftest import Services

FRIDAY, MONDAY, TUESDAY, WEDNESDAY = "2026-08-21", "2026-08-24", "2026-08-25", "2026-08-26"


class Notice(Model):
    """One notice."""

    code: Code = key("security code")
    ann_date: Date = key("notice date")
    value: Amt = col("CNY", "value", ge=0)


NOTICES = Dataset(
    name="notice",
    model=Notice,
    key=("code", "ann_date"),
    partition=Partition.EVENT_DATE,
    date_column="ann_date",
    sources=(Source("portal", lambda ctx, scope: pd.DataFrame()),),
    public_at=on_date("ann_date"),
    may_be_empty=True,
)


def rows(*days: str | None, src: str = "portal") -> pd.DataFrame:
    return pd.DataFrame({"code": "600000", "ann_date": days, "value": 1.0, "src": src})


def window(*dates: str, codes: tuple[str, ...] | None = None) -> Window:
    return Window(Partition.EVENT_DATE, "ann_date", Scope(dates, codes), shipped_calendar())


def context(scope: Scope) -> Context:
    return Context(
        scope=scope, now=f"{scope.until}T18:00:00", calendar=shipped_calendar(), read=lambda *a, **k: rows()
    )


@pytest.mark.parametrize(
    ("dates", "today", "until"),
    [
        ((FRIDAY,), FRIDAY, FRIDAY),
        ((FRIDAY,), "2026-08-22", "2026-08-22"),
        ((FRIDAY,), "2026-08-23", "2026-08-23"),
        ((FRIDAY,), MONDAY, FRIDAY),
        (("2026-08-20",), "2026-08-22", "2026-08-20"),
        ((FRIDAY,), "2031-01-04", FRIDAY),
    ],
)
def test_days_without_trading_belong_to_the_newest_date_until_the_next_one_has_come(
    dates: tuple[str, ...], today: str, until: str
) -> None:
    calendar = shipped_calendar()
    scope = Scope(dates).with_closed_days(today, calendar)

    found = Window(Partition.EVENT_DATE, "ann_date", scope, calendar)
    assert scope.event_days(calendar)[1] == until
    parts = list(partition_parts(found, rows(*dates, *([until] if until not in dates else []))))
    assert [part.key for part in parts] == list(scope.dates)
    assert parts[-1].frame["ann_date"].tolist() == sorted({*dates, until})


def test_a_weekend_belongs_to_the_monday_after_it() -> None:
    assert window(MONDAY).slice() == Slice(date_column="ann_date", since="2026-08-22", until=MONDAY)
    found = partition_parts(window(FRIDAY, MONDAY), rows(FRIDAY, "2026-08-22", "2026-08-23", MONDAY))

    assert [(part.key, part.frame["ann_date"].tolist(), part.where) for part in found] == [
        (FRIDAY, [FRIDAY], Slice.of_date("ann_date", FRIDAY)),
        (MONDAY, ["2026-08-22", "2026-08-23", MONDAY], window(MONDAY).slice()),
    ]


def test_events_outside_the_window_are_left_to_their_own_partition() -> None:
    (part,) = partition_parts(window(MONDAY), rows(FRIDAY, MONDAY, TUESDAY, None))

    assert part.frame["ann_date"].tolist() == [MONDAY]


def test_a_load_by_codes_brings_all_that_is_known_of_them() -> None:
    asked = window(MONDAY, codes=("600000",))

    (part,) = partition_parts(asked, rows("2019-03-29", "2026-08-22"))

    assert (asked.dated, asked.slice()) == (False, Slice(codes=("600000",)))
    assert (part.key, len(part.frame), part.where) == (MONDAY, 2, Slice(codes=("600000",)))


def test_a_range_says_of_each_day_without_events_that_there_was_none() -> None:
    scope = Scope((MONDAY, TUESDAY, WEDNESDAY))

    parts = fused_parts(NOTICES, rows("2026-08-22", WEDNESDAY), context(scope), scope)

    assert [(part.key, len(part.frame)) for part in parts] == [(MONDAY, 1), (TUESDAY, 0), (WEDNESDAY, 1)]
    assert parts[0].public_at == ["2026-08-22 00:00:00.000000"]


def test_a_rejected_event_is_counted_where_it_belongs() -> None:
    scope = Scope((MONDAY, TUESDAY))
    found = rows("2026-08-22", "2026-08-23", TUESDAY)
    found.loc[1, "value"] = -5.0

    monday, tuesday = fused_parts(NOTICES, found, context(scope), scope)

    assert (len(monday.frame), monday.rejected) == (1, 1)
    assert (len(tuesday.frame), tuesday.rejected) == (1, 0)


def test_a_row_without_a_date_is_public_when_its_batch_is() -> None:
    scope = Scope((MONDAY,))

    assert at_hour("ann_date", "18:00")(rows(FRIDAY, None), context(scope)).tolist() == [
        f"{FRIDAY} 18:00:00.000000",
        None,
    ]


def test_a_range_that_was_not_staged_is_refused_date_by_date(alone: Services) -> None:
    """Nobody answered that these dates are quiet."""
    dates = ("2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")

    with pytest.raises(QualityError, match="nothing is stored of 2026-08-18: load stg_block_trade"):
        alone.fuse("block_trade", *dates)

    batches = alone.warehouse.rows("sys_batch", ANY.table_name == "fusion_block_trade")
    # Those of the newest date are published in the evening.
    failed = {(day, "failed") for day in dates[:-1]}
    assert {(row["partition_key"], row["status"]) for row in batches} == failed


def test_a_snapshot_is_compared_as_a_whole_unless_its_key_holds_a_moment() -> None:
    asked = Window(Partition.SNAPSHOT, "ann_date", Scope((MONDAY,)), shipped_calendar())
    found = rows(FRIDAY, MONDAY)
    (whole,) = partition_parts(asked, found)
    (days,) = partition_parts(asked, found, "ann_date")
    assert (whole.where, days.where) == (
        Slice(),
        Slice(date_column="ann_date", since=FRIDAY, until=f"{MONDAY} 23:59:59"),
    )
    assert len(whole.frame) == len(days.frame) == 2


def days_of(first: str, last: str) -> list[str]:
    return [str(day)[:10] for day in pd.date_range(first, last)]


@pytest.mark.parametrize(
    ("first", "last"),
    [("2026-08-17", "2026-09-01"), ("2026-09-25", "2026-10-09"), ("2027-02-01", "2027-02-22")],
    ids=["weekends", "national day", "spring festival by the rules"],
)
def test_every_day_is_written_by_one_trade_date_the_first_that_is_not_before_it(
    first: str, last: str
) -> None:
    """Date by date, in a range, and as the slices that are compared with the stored rows."""
    calendar, days = shipped_calendar(), pd.Series(days_of(first, last))
    dates = calendar.between(first, last)
    wanted = {day: calendar.on_or_after(day) for day in days if day <= dates[-1]}

    one_by_one = {day: date for date in dates for day in days[window(date).contains(days)]}
    keys = window(*dates).keys(days)
    assert one_by_one == {day: key for day, key in zip(days, keys, strict=True) if pd.notna(key)} == wanted
    for date in dates:
        own = window(*dates).slice_of(date, ())
        assert [day for day in days if str(own.since) <= day <= str(own.until)] == [
            day for day, key in wanted.items() if key == date
        ]


EVENTS: list[str] = []
"""Days of the notices that are out."""


@pytest.fixture
def notices(tmp_path: Path) -> Iterator[PipelineRun]:
    """A warehouse of the notices alone, whose source has those of EVENTS."""

    def source(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
        ctx.log.add(Fetch("portal", "notices", "{}", Outcome.OK, b"[]", ctx.clock.now()))
        since, until = scope.event_days(ctx.calendar)
        return rows(*[day for day in EVENTS if since <= day <= until])

    registry = Registry([replace(NOTICES, sources=(Source("portal", source),))])
    clock = ManualClock(datetime.fromisoformat(f"{FRIDAY}T20:00"))
    warehouse = Warehouse(
        f"sqlite:///{tmp_path / 'notices.sqlite3'}", registry.tables, clock=clock,
        payload_folder=tmp_path / "payloads",
    )  # fmt: skip
    warehouse.migrate()
    calendar = shipped_calendar()
    ctx = FetchContext(clock=clock, calendar=calendar, makers={})
    EVENTS.clear()
    yield PipelineRun(registry=registry, warehouse=warehouse, ctx=ctx, calendar=calendar, clock=clock)
    warehouse.close()


def load(run: PipelineRun, now: str, *dates: str) -> dict[str, int]:
    """Load trade dates at a time; trade date -> rows of its batch."""
    assert isinstance(run.clock, ManualClock)
    run.clock.at = datetime.fromisoformat(now)
    loaded = load_fused(run, run.registry.dataset("notice"), Scope(dates))
    return {result.partition_key: result.rows_in for result in loaded.results}


def held(run: PipelineRun) -> list[str]:
    return sorted(run.warehouse.frame("fusion_notice")["ann_date"])


def test_a_weekend_is_under_friday_until_monday_has_come_and_stored_once(notices: PipelineRun) -> None:
    EVENTS[:] = [FRIDAY, "2026-08-22"]
    assert load(notices, "2026-08-22T12:00", FRIDAY) == {FRIDAY: 2}
    EVENTS.append("2026-08-23")
    assert load(notices, "2026-08-23T12:00", FRIDAY) == {FRIDAY: 3}

    EVENTS.append(MONDAY)
    assert load(notices, f"{MONDAY}T20:00", MONDAY) == {MONDAY: 3}
    assert load(notices, f"{MONDAY}T20:30", FRIDAY) == {FRIDAY: 1}, "the weekend is Monday's by now"

    assert held(notices) == EVENTS


def test_a_date_without_events_is_loaded_with_no_row_and_touches_no_other(notices: PipelineRun) -> None:
    EVENTS[:] = [FRIDAY, "2026-08-23", WEDNESDAY]

    found = load(notices, f"{WEDNESDAY}T20:00", FRIDAY, MONDAY, TUESDAY, WEDNESDAY)

    assert found == {FRIDAY: 1, MONDAY: 1, TUESDAY: 0, WEDNESDAY: 1}
    statuses = notices.warehouse.query(
        "SELECT partition_key, status FROM sys_batch WHERE partition_key=?", (TUESDAY,)
    )
    assert statuses == [(TUESDAY, "success")]
    assert load(notices, f"{WEDNESDAY}T20:30", TUESDAY) == {TUESDAY: 0}
    assert held(notices) == EVENTS


def test_a_range_and_its_dates_one_by_one_leave_the_same(notices: PipelineRun) -> None:
    EVENTS[:] = [FRIDAY, "2026-08-22", "2026-08-23", MONDAY, WEDNESDAY]
    dates = (FRIDAY, MONDAY, TUESDAY, WEDNESDAY)

    one_by_one = {}
    for day in dates:
        one_by_one |= load(notices, f"{WEDNESDAY}T20:00", day)
    rows_before = held(notices)

    assert load(notices, f"{WEDNESDAY}T20:30", *dates) == one_by_one
    assert held(notices) == rows_before == EVENTS
