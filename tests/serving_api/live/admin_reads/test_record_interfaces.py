"""Interfaces over records: notes of a day, the persisted freshness, samples of a session."""

import pandas as pd

from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.admin_reads.test_interfaces import call, value

TODAY = "2026-08-21"


def put(ctx: FetchContext, name: str, *rows: dict[str, object]) -> None:
    table = ctx.warehouse.table(name)
    ctx.warehouse.writer.write(table, pd.DataFrame(rows), where=Slice(), batch=Batch(partition_key="test"))


def test_notes_are_listed_by_their_day(ctx: FetchContext) -> None:
    assert value(ctx, "get_morning_note") is None
    for day in ("2026-08-20", TODAY):
        with ctx.warehouse.engine.begin() as connection:
            connection.exec_driver_sql(
                "INSERT INTO note_morning (date, title, content, sections_json, source) "
                "VALUES (?, ?, ?, ?, ?)",
                (day, f"晨报 {day}", "text", '[{"key":"macro"}]', "local_rule"),
            )

    newest = value(ctx, "get_morning_note")
    assert (newest["date"], newest["title"], newest["source"]) == (TODAY, f"晨报 {TODAY}", "local_rule")
    assert newest["sections_json"] == [{"key": "macro"}]
    assert value(ctx, "get_morning_note", date="2026-08-20")["date"] == "2026-08-20"
    assert value(ctx, "get_daily_review") is None
    assert call(ctx, "get_morning_note", date="2026-09-20").status_code == 422


def test_the_newest_snapshot_of_freshness(ctx: FetchContext) -> None:
    nothing = {"snapshot_date": None, "is_fresh": None, "stale": [], "dimensions": {}}
    assert value(ctx, "get_data_freshness") == nothing
    fresh = {"kind": "trading", "max_lag": 1, "latest_date": TODAY, "cutoff": "2026-08-20"}
    for day in ("2026-08-20", TODAY):
        rows = [
            {"snapshot_date": day, "dimension": "fusion_kline_daily", "is_stale": False, **fresh},
            {"snapshot_date": day, "dimension": "fusion_news", "is_stale": day == TODAY, **fresh},
        ]
        put(ctx, "calc_freshness_snapshot", *rows)

    reported = value(ctx, "get_data_freshness")

    assert (reported["snapshot_date"], reported["is_fresh"], reported["stale"]) == (
        TODAY,
        False,
        ["fusion_news"],
    )
    assert reported["dimensions"]["fusion_kline_daily"] == {**fresh, "is_stale": False, "error": None}


def test_samples_of_the_newest_sessions_oldest_first(ctx: FetchContext) -> None:
    counts = {"up_count": 30, "down_count": 20, "flat_count": 2, "limit_up_count": 1, "limit_down_count": 0}
    moments = ("2026-08-13 10:00:00", "2026-08-20 14:00:00", "2026-08-21 09:35:00", "2026-08-21 10:00:00")
    put(
        ctx,
        "calc_breadth_sample",
        *({"sample_time": at, "trade_date": at[:10], "amount": 1e9, **counts} for at in moments),
    )

    found = value(ctx, "get_breadth_intraday")
    assert [row["sample_time"][:16] for row in found] == [at[:16] for at in moments[1:]]
    assert found[0]["up_count"] == 30
    assert len(value(ctx, "get_breadth_intraday", days=1)) == 2
