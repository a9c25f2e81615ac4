"""`ashare lake`: publish, compare, tidy up."""

from pathlib import Path

from tests.ashare.conftest import CommandLine

BARS = "fusion_kline_daily"


def test_publish_then_check_then_a_damaged_month(cli: CommandLine) -> None:
    first = cli.result("lake", "publish")
    again = cli.result("lake", "publish", BARS)
    same = cli.result("lake", "check", BARS)

    assert {"table": BARS, "months": 1, "rows": 9} in first["tables"]
    assert again["tables"] == [{"table": BARS, "months": 0, "rows": 0}]
    assert same["months"] == [
        {"table": BARS, "month": "2026-08", "status": "same", "published_rows": 9, "stored_rows": 9}
    ]
    assert cli("lake", "check") == 0

    with cli.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE fusion_kline_daily SET close=1 WHERE date='2026-08-20'")
    assert cli("lake", "check") == 1
    assert "fusion_kline_daily  2026-08  different" in cli.out
    assert cli("lake", "tidy") == 0
    assert "0 files of" in cli.out


def test_a_table_that_is_not_published_is_named(cli: CommandLine) -> None:
    unknown, received = cli.fault("lake", "publish", "raw_quote"), cli.fault("lake", "publish", "aux_equity")
    assert unknown["parameter"] == received["parameter"] == "table"
    assert "'raw_quote' is none of the tables; nearest: " in unknown["error"]
    assert "aux_equity is as received, and never published" in received["error"]


def test_a_table_that_cannot_be_published_ends_with_1(cli: CommandLine) -> None:
    folder = Path(cli.folder / "data" / "lake")
    folder.mkdir(parents=True)
    (folder / BARS).write_text("no folder")
    assert cli("lake", "publish", BARS, "fusion_stock_master") == 1
    assert f"{BARS}: " in cli.out
    assert "1 of 2 tables published" in cli.out or "0 of 2 tables published" in cli.out
