"""Which batches the report of a trade date takes for the load of a table on that date, on both engines."""

from datetime import datetime
from itertools import count
from typing import Any

from tests.pipeline.conftest import TODAY
from tests.serving_api.admin.conftest import FetchContext

BEFORE = "2026-08-20"
FUSED, STAGED, RAW = "fusion_kline_daily", "stg_quote_snapshot", "raw_margin"
PERIODS = "raw_fin_indicator"
OPEN = "2026-06-30"
_numbers = count(1)


def ended(
    ctx: FetchContext,
    table: str,
    key: str,
    *,
    status: str = "success",
    at: str = f"{TODAY} 15:40:00",
    rows: int = 0,
) -> str:
    """A batch as the writer leaves it; its id."""
    batch = f"{next(_numbers):032x}"
    ctx.execute(
        "INSERT INTO sys_batch (batch_id, table_name, partition_key, status, rows_ok, sources_json, error, "
        "started_at, finished_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        batch, table, key, status, rows, "[]", "no rows" if status == "failed" else None, at, at, at, at,
    )  # fmt: skip
    return batch


def row(ctx: FetchContext, table: str, day: str = TODAY) -> Any:
    return next(one for one in ctx.results("/datamgr/day-report", date=day) if one["table"] == table)


def test_a_backfill_of_other_dates_is_no_load_of_the_day(bare: FetchContext) -> None:
    failed = ended(bare, FUSED, TODAY, status="failed")
    ended(bare, FUSED, "2017-03-01", at=f"{TODAY} 16:00:00", rows=3000)
    ended(bare, RAW, "2017-03-01..2017-03-31", at=f"{TODAY} 16:00:00", rows=3000)

    reported = row(bare, FUSED)
    assert (reported["status"], reported["batch_id"], reported["reason"]) == ("failed", failed, "no rows")
    told = row(bare, RAW)
    assert (told["status"], told["reason"]) == ("not_due", "published from 2026-08-24 09:00")


def test_a_clean_up_is_no_load_of_the_day(bare: FetchContext) -> None:
    ended(bare, STAGED, "2026-01-05..2026-05-29", at=f"{TODAY} 04:30:00")
    assert row(bare, STAGED)["status"] == "not_run"

    failed = ended(bare, STAGED, TODAY, status="failed")
    assert (row(bare, STAGED)["status"], row(bare, STAGED)["batch_id"]) == ("failed", failed)


def test_a_value_that_fades_later_leaves_the_load_of_its_date(bare: FetchContext) -> None:
    load = ended(bare, "calc_chip_daily", BEFORE, at=f"{BEFORE} 17:00:00", rows=5000)
    ended(bare, "calc_chip_daily", f"{BEFORE}..{BEFORE}", at=f"{TODAY} 17:00:00")

    reported = row(bare, "calc_chip_daily", BEFORE)
    assert (reported["batch_id"], reported["rows"]) == (load, 5000)


def test_of_two_partitions_of_one_run_the_day_has_its_own(bare: FetchContext) -> None:
    ended(bare, RAW, f"{BEFORE}..{TODAY}", rows=30)
    own = ended(bare, RAW, TODAY, rows=20)
    before = ended(bare, RAW, BEFORE, rows=10)

    assert (row(bare, RAW)["batch_id"], row(bare, RAW)["rows"]) == (own, 20)
    assert (row(bare, RAW, BEFORE)["batch_id"], row(bare, RAW, BEFORE)["rows"]) == (before, 10)


def test_a_span_of_loaded_dates_says_nothing_of_a_date_without_a_batch_of_its_own(bare: FetchContext) -> None:
    ended(bare, FUSED, "2026-08-18..2026-08-20", rows=20)
    for day in ("2026-08-18", "2026-08-20"):
        ended(bare, FUSED, day, rows=10)
    hole = ended(bare, FUSED, "2026-08-19", status="failed")

    assert (row(bare, FUSED, "2026-08-19")["status"], row(bare, FUSED, "2026-08-19")["batch_id"]) == (
        "failed",
        hole,
    )


def test_a_date_of_which_there_is_nothing_says_so(bare: FetchContext) -> None:
    ended(bare, "fusion_block_trade", BEFORE, rows=0)

    told = row(bare, "fusion_block_trade", BEFORE)
    assert (told["status"], told["reason"]) == ("empty", "loaded, and there is nothing of this date")


def test_a_span_with_the_day_in_is_a_load_of_it(bare: FetchContext) -> None:
    span = ended(bare, RAW, "2026-08-17..2026-08-21", status="failed", at="2026-08-22 09:00:00")

    assert (row(bare, RAW, "2026-08-18")["status"], row(bare, RAW, "2026-08-18")["batch_id"]) == (
        "failed",
        span,
    )
    assert row(bare, RAW, "2026-08-14")["status"] == "not_run"


def test_report_periods_belong_to_the_day_on_which_they_were_loaded(bare: FetchContext) -> None:
    ended(bare, PERIODS, OPEN, at=f"{BEFORE} 16:00:00", rows=1)
    ended(bare, PERIODS, "2016-12-31", at=f"{TODAY} 18:00:00", rows=2)
    assert row(bare, PERIODS)["status"] == "not_run"

    load = ended(bare, PERIODS, OPEN, rows=3)
    assert (row(bare, PERIODS)["batch_id"], row(bare, PERIODS)["rows"]) == (load, 3)
    # A quarter end that is a trade date is not the day on which its reports were told.
    assert row(bare, PERIODS, OPEN)["status"] == "not_run"


def test_a_table_with_rows_that_are_held_back_says_so(bare: FetchContext) -> None:
    batch = ended(bare, FUSED, TODAY, rows=358)
    for action, check, failed in (("held_back", "close_is_next_reference", 342), ("warning", "other", 5)):
        bare.execute(
            "INSERT INTO sys_quality_record (batch_id, table_name, check_name, severity, action, "
            "failed_count, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            batch, FUSED, check, "soft", action, failed, f"{TODAY} 15:40:00", f"{TODAY} 15:40:00",
        )  # fmt: skip

    reported = row(bare, FUSED)
    assert (reported["status"], reported["reason"]) == (
        "held",
        "rows held back: close_is_next_reference: 342",
    )
    answer = bare.get("/datamgr/day-report", date=TODAY, status="held").json()
    assert [one["table"] for one in answer["results"]] == [FUSED]
    assert answer["totals"]["held"] == 1


def test_a_date_that_is_given_is_reported_when_the_calendar_has_ended(bare: FetchContext) -> None:
    load = ended(bare, FUSED, TODAY, rows=3000)
    bare.clock.at = datetime(2027, 1, 4, 12)

    assert row(bare, FUSED)["batch_id"] == load
