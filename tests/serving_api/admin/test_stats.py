"""Counts over what the pipeline loaded, and freshness at chosen days, on both engines."""

from datetime import datetime
from typing import Any

import pandas as pd
import pytest

from core.clock import stamp
from core.declaration.registry import Registry, builtin_registry
from core.declaration.rules import period, trading
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.admin.stats import FreshnessDimension
from tests.pipeline.conftest import Services
from tests.serving_api.admin.conftest import DATES, TODAY, FetchContext

REGISTRY = builtin_registry()
RECORDS = {
    "note_morning",
    "note_daily_review",
    "decision_card",
    "sys_sync_log",
    "sys_batch",
    "sys_quality_record",
}


def put_bars(ctx: FetchContext, *dates: str, code: str = "600519", replace: bool = False) -> None:
    """Bars of one code through the platform's writer."""
    row = {
        "code": code, "market": "SH", "sec_type": "stock", "open": 10.0, "high": 11.0, "low": 9.0,
        "close": 10.0, "volume": 100, "src": "tdx",
    }  # fmt: skip
    frame = pd.DataFrame([{**row, "date": day} for day in dates])
    ctx.warehouse.writer.write(
        REGISTRY.dataset("kline_daily").table,
        frame,
        where=Slice.of_codes([code]),
        batch=Batch(partition_key="test"),
        public_at=[f"{day} 15:00:00.000000" for day in dates],
        replace=replace,
    )


# -- counts -----------------------------------------------------------------------------------------


def test_every_monitored_table_has_an_entry_and_nothing_else(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/stats")

    monitored = {table.name for table in REGISTRY.monitored()}
    assert set(found) == {"_totalRows", *monitored, *RECORDS}


def test_every_count_equals_count_star(ctx: FetchContext, loaded: Services) -> None:
    found = ctx.results("/datamgr/stats")

    counts = {name: entry["count"] for name, entry in found.items() if name != "_totalRows"}
    assert counts == {name: ctx.scalar(f"SELECT COUNT(*) FROM {name}") for name in counts}
    assert found["_totalRows"] == sum(counts.values())
    assert counts["fusion_kline_daily"] > 250
    assert counts["sys_batch"] > 5


def test_the_newest_change_is_the_newest_row(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/stats")

    for name in ("fusion_kline_daily", "fusion_stock_master", "sys_batch"):
        newest = ctx.scalar(f"SELECT MAX(updated_at) FROM {name}")
        assert found[name]["latestUpdate"] == f"{newest[:10]}T{newest[11:19]}+08:00"
    staged = ctx.scalar("SELECT MAX(imported_at) FROM stg_quote_snapshot")
    assert found["stg_quote_snapshot"]["latestUpdate"][:19] == staged[:19].replace(" ", "T")
    assert {entry.get("error") for entry in found.values() if isinstance(entry, dict)} == {None}


def test_counts_follow_writes_and_removals(bare: FetchContext) -> None:
    put_bars(bare, *DATES)
    first = bare.results("/datamgr/stats")["fusion_kline_daily"]["count"]
    put_bars(bare, *DATES[:2], replace=True)

    second = bare.results("/datamgr/stats")["fusion_kline_daily"]["count"]

    assert (first, second) == (5, 2)
    assert second == bare.scalar("SELECT COUNT(*) FROM fusion_kline_daily")


def test_a_broken_table_carries_its_error_and_hurts_no_other(bare: FetchContext) -> None:
    put_bars(bare, *DATES)
    bare.execute("DROP TABLE fusion_quote_snapshot")

    found = bare.results("/datamgr/stats")

    broken = found["fusion_quote_snapshot"]
    assert (broken["count"], broken["latestUpdate"]) == (0, None)
    assert "fusion_quote_snapshot" in broken["error"]
    assert found["fusion_kline_daily"]["count"] == 5
    assert [name for name, entry in found.items() if isinstance(entry, dict) and "error" in entry] == [
        "fusion_quote_snapshot"
    ]
    assert str(bare.folder) not in str(found)


def test_a_table_without_a_counter_is_counted(bare: FetchContext) -> None:
    put_bars(bare, *DATES)
    bare.execute("DELETE FROM table_version WHERE table_name='fusion_kline_daily'")

    entry = bare.results("/datamgr/stats")["fusion_kline_daily"]

    assert entry == {"count": 5, "latestUpdate": f"{TODAY}T15:45:00+08:00"}


def test_counters_that_cannot_be_read_are_replaced_by_counting(bare: FetchContext) -> None:
    put_bars(bare, *DATES)
    bare.execute("ALTER TABLE table_version RENAME TO table_version_away")

    found = bare.results("/datamgr/stats")

    bare.execute("ALTER TABLE table_version_away RENAME TO table_version")
    assert found["fusion_kline_daily"]["count"] == 5


# -- one code ---------------------------------------------------------------------------------------


def test_a_code_has_every_per_code_table_and_f10(ctx: FetchContext, loaded: Services) -> None:
    code = loaded.warehouse.rows("fusion_kline_daily", columns=("code",), limit=1)[0]["code"]

    found = ctx.results(f"/datamgr/stats/{code}")

    assert found["code"] == code
    status = found["dataStatus"]
    assert set(status) == {*(table.name for table in REGISTRY.per_code()), "f10"}
    for table in REGISTRY.per_code():
        count = ctx.scalar(f"SELECT COUNT(*) FROM {table.name} WHERE code=?", code)
        assert status[table.name]["count"] == count, table.name
    assert status["fusion_kline_daily"] == {"count": 5, "latestDate": DATES[-1]}
    assert status["fusion_stock_master"] == {"count": 1, "latestDate": TODAY}
    assert status["f10"].keys() == {"count", "latestDate", "sections"}


def test_a_bar_of_the_open_month_counts_by_the_newest_date_inside(bare: FetchContext) -> None:
    bars = [
        {"date": "2026-07-31", "last_date": "2026-07-31"},
        {"date": "2026-08-31", "last_date": DATES[-1]},
    ]
    for bar in bars:
        prices = {"open": 10, "close": 10, "high": 10, "low": 10, "bar_count": 1}
        values = {"code": "600519", "period": "month", **bar, **prices, "src": "derived", "batch_id": "b"}
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        bare.execute(f"INSERT INTO fusion_kline_bar ({names}) VALUES ({marks})", *values.values())

    reported = bare.results("/datamgr/stats/600519")["dataStatus"]["fusion_kline_bar"]

    assert reported == {"count": 2, "latestDate": DATES[-1]}
    assert detail(bare, "fusion_kline_bar")["latestDate"] == DATES[-1]


def test_full_is_the_same(ctx: FetchContext) -> None:
    assert ctx.results("/datamgr/stats/000001/full") == ctx.results("/datamgr/stats/000001")


def test_an_unknown_code_has_zero_counts(ctx: FetchContext) -> None:
    status = ctx.results("/datamgr/stats/999999")["dataStatus"]

    assert {(entry["count"], entry["latestDate"]) for entry in status.values()} == {(0, None)}


def test_a_broken_table_does_not_hurt_the_others_of_a_code(bare: FetchContext) -> None:
    put_bars(bare, *DATES)
    bare.execute("DROP TABLE fusion_quote_snapshot")

    status = bare.results("/datamgr/stats/600519")["dataStatus"]

    assert status["fusion_kline_daily"] == {"count": 5, "latestDate": DATES[-1]}
    assert "error" in status["fusion_quote_snapshot"]


@pytest.mark.parametrize("code", ["60051", "abcdef", "6005199"])
def test_a_malformed_code_is_422(ctx: FetchContext, code: str) -> None:
    assert ctx.get(f"/datamgr/stats/{code}").status_code == 422


# -- freshness --------------------------------------------------------------------------------------


def detail(ctx: FetchContext, dimension: str) -> Any:
    return ctx.results("/datamgr/stats/freshness")["details"][dimension]


def test_freshness_is_no_code_and_has_every_dimension(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/stats/freshness")

    rules = {dimension.table: dimension.rule for dimension in REGISTRY.freshness()}
    assert set(found["details"]) == set(rules)
    for name, entry in found["details"].items():
        assert (entry["kind"], entry["maxLag"]) == (rules[name].kind, rules[name].max_lag)
    stale = [name for name, entry in found["details"].items() if entry["isStale"]]
    assert found["staleDimensions"] == stale
    assert found["isFresh"] is (not stale)


def test_what_was_loaded_today_is_fresh_and_what_was_never_loaded_is_stale(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/stats/freshness")["details"]

    assert found["fusion_kline_daily"] == {
        "latestDate": DATES[-1], "cutoff": DATES[-2], "isStale": False, "kind": "trading", "maxLag": 1,
    }  # fmt: skip
    assert (found["fusion_index_daily"]["latestDate"], found["fusion_index_daily"]["isStale"]) == (None, True)
    assert found["fusion_stock_master"]["latestDate"] == TODAY
    assert not found["fusion_stock_master"]["isStale"]


@pytest.mark.parametrize(
    ("newest", "now", "cutoff", "stale"),
    [
        ("2026-08-20", "2026-08-21T00:01", "2026-08-20", False),  # today counts from midnight on
        ("2026-08-19", "2026-08-21T00:01", "2026-08-20", True),
        ("2026-08-20", "2026-08-23T12:00", "2026-08-20", False),  # a weekend ages nothing
        ("2024-02-08", "2024-02-18T12:00", "2024-02-07", False),  # nor do ten days of holidays
        ("2024-02-07", "2024-02-19T12:00", "2024-02-08", True),
    ],
)
def test_bars_age_by_trade_dates(bare: FetchContext, newest: str, now: str, cutoff: str, stale: bool) -> None:
    put_bars(bare, newest)
    bare.clock.at = datetime.fromisoformat(now)

    found = detail(bare, "fusion_kline_daily")

    assert (found["latestDate"], found["cutoff"], found["isStale"]) == (newest, cutoff, stale)


def test_dates_after_today_say_nothing(bare: FetchContext) -> None:
    put_bars(bare, "2026-08-19", "2026-08-31")

    assert detail(bare, "fusion_kline_daily")["latestDate"] == "2026-08-19"


def put_master(ctx: FetchContext) -> None:
    table = REGISTRY.dataset("stock_master").table
    row = {"code": "600519", "market": "SH", "name": "贵州茅台", "sec_type": "stock", "src": "tdx"}
    batch = Batch(partition_key="test")
    ctx.warehouse.writer.write(table, pd.DataFrame([row]), where=Slice.of_codes(["600519"]), batch=batch)


def test_an_empty_table_is_never_fresh_whatever_batch_confirmed_it(bare: FetchContext) -> None:
    bare.execute(
        "UPDATE table_version SET confirmed_at=? WHERE table_name='fusion_stock_master'",
        stamp(datetime(2026, 8, 21, 15)),
    )

    found = bare.results("/datamgr/stats/freshness")

    entry = found["details"]["fusion_stock_master"]
    assert (entry["latestDate"], entry["isStale"]) == (None, True)
    assert "fusion_stock_master" in found["staleDimensions"]


def test_a_batch_that_changed_nothing_still_confirms(bare: FetchContext) -> None:
    put_master(bare)
    bare.execute(
        "UPDATE table_version SET updated_at=?, confirmed_at=? WHERE table_name='fusion_stock_master'",
        stamp(datetime(2026, 1, 5, 16)),
        stamp(datetime(2026, 8, 14, 16)),
    )

    found = detail(bare, "fusion_stock_master")

    assert (found["latestDate"], found["cutoff"], found["isStale"]) == ("2026-08-14", "2026-08-14", False)


def test_one_day_later_the_confirmation_is_too_old(bare: FetchContext) -> None:
    put_master(bare)
    bare.execute(
        "UPDATE table_version SET confirmed_at=? WHERE table_name='fusion_stock_master'",
        stamp(datetime(2026, 8, 13, 23, 59)),
    )

    assert detail(bare, "fusion_stock_master")["isStale"]


@pytest.mark.parametrize(
    ("now", "cutoff", "stale"),
    [("2026-04-10T12:00", "2025-12-31", True), ("2026-03-20T12:00", "2025-09-30", False)],
)
def test_reports_are_due_90_days_after_their_quarter(
    bare: FetchContext, monkeypatch: pytest.MonkeyPatch, now: str, cutoff: str, stale: bool
) -> None:
    one = FreshnessDimension("fusion_kline_daily", period(90, "date"))
    monkeypatch.setattr(Registry, "freshness", lambda _registry: (one,))
    put_bars(bare, "2025-09-30")
    bare.clock.at = datetime.fromisoformat(now)

    found = bare.results("/datamgr/stats/freshness")

    assert found["details"]["fusion_kline_daily"]["cutoff"] == cutoff
    assert found["isFresh"] is not stale
    assert found["staleDimensions"] == (["fusion_kline_daily"] if stale else [])


def test_a_failing_dimension_is_neither_fresh_nor_stale(bare: FetchContext) -> None:
    put_bars(bare, "2026-08-20")
    bare.execute("DROP TABLE fusion_quote_snapshot")

    found = bare.results("/datamgr/stats/freshness")

    broken = found["details"]["fusion_quote_snapshot"]
    assert (broken["latestDate"], broken["cutoff"], broken["isStale"]) == (None, None, False)
    assert broken["error"]
    assert "fusion_quote_snapshot" not in found["staleDimensions"]
    assert found["details"]["fusion_kline_daily"]["isStale"] is False


def test_a_dimension_with_an_undeclared_table_fails_alone(
    bare: FetchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    dimensions = (
        FreshnessDimension("fusion_nothing", trading(1)),
        FreshnessDimension("fusion_kline_daily", trading(1)),
    )
    monkeypatch.setattr(Registry, "freshness", lambda _registry: dimensions)
    put_bars(bare, "2026-08-21")

    found = bare.results("/datamgr/stats/freshness")

    assert "fusion_nothing" in found["details"]["fusion_nothing"]["error"]
    assert found["isFresh"] is True


def test_beyond_the_calendar_trading_dimensions_fail_and_the_others_do_not(bare: FetchContext) -> None:
    put_bars(bare, "2026-08-21")
    bare.clock.at = datetime(2100, 1, 4, 12)

    details = bare.results("/datamgr/stats/freshness")["details"]

    assert "2099-12-31" in details["fusion_kline_daily"]["error"]
    assert details["fusion_kline_daily"]["isStale"] is False
    assert details["fusion_stock_master"]["cutoff"] == "2099-12-28"
