"""calc_freshness_snapshot: what the route says of a day is what is kept of it."""

from tests.pipeline.conftest import TODAY, Services


def test_a_day_is_kept_as_it_was_last_taken(alone: Services) -> None:
    with alone.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE table_version SET confirmed_at='{TODAY} 15:00:00.000000' "
            "WHERE row_count=0 OR row_count IS NULL"
        )
    first = alone.fuse("freshness_snapshot")
    alone.fuse("exright")
    alone.fuse("kline_daily")
    with alone.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE raw_news_flash")

    second = alone.fuse("freshness_snapshot")

    rows = {row["dimension"]: row for row in alone.warehouse.rows("calc_freshness_snapshot")}
    assert {row["snapshot_date"] for row in rows.values()} == {TODAY}
    assert len(rows) == 52
    bars = rows["fusion_kline_daily"]
    assert (bars["latest_date"], bars["cutoff"], bars["is_stale"]) == (TODAY, "2026-08-20", False)
    assert (bars["kind"], bars["max_lag"]) == ("trading", 1)
    empty = rows["fusion_dividend"]
    assert (empty["latest_date"], empty["is_stale"], empty["error"]) == (None, True, None)
    # A batch that found nothing is no reason to call an empty table fresh.
    unfilled = [
        name
        for name, row in rows.items()
        if not row["is_stale"]
        and not row["error"]
        and not alone.warehouse.query(f"SELECT 1 FROM {name} LIMIT 1")
    ]
    assert unfilled == []
    assert (rows["fusion_stock_master"]["latest_date"], rows["fusion_stock_master"]["is_stale"]) == (
        None,
        True,
    )
    broken = rows["raw_news_flash"]
    assert (broken["latest_date"], broken["cutoff"], broken["is_stale"]) == (None, None, False)
    assert "raw_news_flash" in broken["error"]
    assert (first.results[0].rows_written, second.results[0].rows_written) == (52, 2)

    # The next day is another snapshot.
    alone.at("2026-08-24")
    alone.fuse("freshness_snapshot")
    kept = alone.warehouse.query(
        "SELECT snapshot_date, COUNT(*) FROM calc_freshness_snapshot GROUP BY snapshot_date ORDER BY 1"
    )
    assert [tuple(row) for row in kept] == [(TODAY, 52), ("2026-08-24", 52)]
