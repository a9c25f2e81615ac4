"""The ledger of ex-rights over two days: an event that every source has a day late."""

import json
from typing import Any

import pytest

from resources.warehouse.stored import ANY
from tests.pipeline.conftest import Services

BEFORE, EX, AFTER = "2026-07-27", "2026-07-28", "2026-07-29"
STOCK = "600040"
LATE: dict[str, Any] = {"upstream": "tdx", "call": "xdxr", "kind": "late_record", "args": {"code": STOCK}}
NO_PORTAL: dict[str, Any] = {
    "upstream": "eastmoney",
    "call": "report",
    "kind": "status",
    "args": {"code": 503},
}


def row(services: Services, table: str, day: str, code: str = STOCK) -> dict[str, Any]:
    (found,) = services.warehouse.rows(table, ANY.code == code, ANY.date == day)
    return found


def test_an_event_a_day_late(alone: Services) -> None:
    services = alone
    services.at(BEFORE)
    services.master(BEFORE)
    services.bars(BEFORE)
    assert row(services, "fusion_kline_daily", BEFORE)["adj_factor"] == pytest.approx(1.070478, abs=1e-6)
    services.faults.replace([LATE, NO_PORTAL])
    services.at(EX)
    services.master(EX)
    services.bars(EX)

    item = row(services, "ref_exright_item", EX)
    assert (item["close_before"], item["quoted"], item["status"]) == (8.0, 6.59, "open")
    assert item["factor"] == pytest.approx(1.21396, abs=1e-5)
    assert row(services, "fusion_kline_daily", EX)["adj_factor"] == pytest.approx(1.299518, abs=1e-6)

    services.at(AFTER)
    services.master(AFTER)
    services.bars(AFTER)
    item = row(services, "ref_exright_item", EX)
    assert (item["status"], item["closed_by"], item["closed_on"], item["factor"]) == (
        "closed",
        "event",
        AFTER,
        1.0,
    )
    for day in (EX, AFTER):
        assert row(services, "fusion_kline_daily", day)["adj_factor"] == pytest.approx(1.299518, abs=1e-6)


def test_the_portal_has_what_the_terminal_lacks(alone: Services) -> None:
    """The terminal is one source of three; its own record outdoes the portal's when it comes."""
    services = alone
    services.at(BEFORE)
    services.master(BEFORE)
    services.bars(BEFORE)
    services.faults.replace([LATE])
    services.at(EX)
    services.master(EX)
    services.bars(EX)

    (event,) = services.warehouse.rows("ref_exright", ANY.code == STOCK, ANY.date == EX)
    assert (event["src"], event["cash_per10"], event["bonus_per10"]) == ("eastmoney", 0.87, 2.0)
    assert event["factor"] == pytest.approx(1.21396, abs=1e-5)
    assert row(services, "fusion_kline_daily", EX)["adj_factor"] == pytest.approx(1.299518, abs=1e-6)
    assert services.warehouse.rows("ref_exright_item", ANY.code == STOCK) == []

    services.at(AFTER)
    services.master(AFTER)
    services.bars(AFTER)
    events = services.warehouse.rows("ref_exright", ANY.code == STOCK, ANY.date == EX)
    assert {one["src"]: one["held_back"] for one in events if one["category"] == 1} == {
        "tdx": None,
        "eastmoney": "better_source",
    }
    assert row(services, "fusion_kline_daily", AFTER)["adj_factor"] == pytest.approx(1.299518, abs=1e-6)


def test_turnover_waits_for_the_record_of_the_shares(alone: Services) -> None:
    """The bonus of the ex-date makes more shares of it; until that is known the old number is no one's."""
    services = alone
    services.at(BEFORE)
    services.master(BEFORE)
    services.bars(BEFORE)
    services.faults.replace([LATE, NO_PORTAL])
    services.at(EX)
    services.master(EX)
    services.bars(EX)

    bar = row(services, "fusion_kline_daily", EX)
    assert bar["turnover_pct"] is None
    assert "shares_are_recorded" in bar["quality_flags"]

    services.at(AFTER)
    services.master(AFTER)
    services.bars(AFTER)
    commands = [json.loads(args) for (args,) in services.warehouse.query("SELECT args_json FROM sys_command")]
    assert {one["job"]: one["partition_range"] for one in commands} == {
        "fusion_kline_sync": [EX, EX],
        "recalculations": [EX, EX],
    }
    # What the command's run does.
    services.fresh()
    services.fuse("kline_daily", EX, codes=(STOCK,))
    of = [ANY.code == STOCK, ANY.date == EX, ANY.float_after > 0]
    (change,) = services.warehouse.rows("ref_exright", *of)
    bar = row(services, "fusion_kline_daily", EX)
    assert bar["turnover_pct"] == pytest.approx(bar["volume"] / change["float_after"] * 100, abs=1e-4)
    assert "shares_are_recorded" not in (bar["quality_flags"] or "")


def findings(services: Services) -> set[tuple[str, str | None]]:
    """(check, code) of the records about events."""
    rows = services.warehouse.rows("sys_quality_record", ANY.table_name == "ref_exright")
    return {(str(one["check_name"]), one["code"]) for one in rows}


def test_two_sources_that_agree_are_no_finding(alone: Services) -> None:
    services = alone
    services.at(BEFORE)
    services.master(BEFORE)
    services.bars(BEFORE)
    services.at(EX)
    services.master(EX)
    services.bars(EX)

    events = services.warehouse.rows("ref_exright", ANY.code == STOCK, ANY.date == EX)
    assert {"tdx", "eastmoney"} <= {one["src"] for one in events}
    assert findings(services) == set()


def test_two_sources_that_disagree_are_one(alone: Services) -> None:
    services = alone
    services.at(BEFORE)
    services.master(BEFORE)
    services.bars(BEFORE)
    other = {"match": {"SECURITY_CODE": STOCK}, "fields": {"PRETAX_BONUS_RMB": 1.87}}
    services.faults.replace(
        [{"upstream": "eastmoney", "call": "report", "kind": "set_fields", "args": other}]
    )
    services.at(EX)
    services.master(EX)
    services.bars(EX)

    assert findings(services) == {
        ("source_conflict:cash_per10", STOCK),
        ("source_conflict:cash_per10", None),
    }
    assert row(services, "fusion_kline_daily", EX)["adj_factor"] == pytest.approx(1.299518, abs=1e-6)


def test_a_reason_closes_what_no_event_explains(alone: Services) -> None:
    services = alone
    services.at(BEFORE)
    services.master(BEFORE)
    services.bars(BEFORE)
    for_ever = {**LATE, "args": {"code": STOCK, "days": 9}}
    services.faults.replace([for_ever, NO_PORTAL])
    services.at(EX)
    services.master(EX)
    services.bars(EX)
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO note_exright (code, date, reason, counts, created_at, updated_at) "
            f"VALUES ('{STOCK}', '{EX}', 'a quote of another share', 0, '{EX} 20:00:00', '{EX} 20:00:00')"
        )

    services.at(AFTER)
    services.master(AFTER)
    services.bars(AFTER)

    item = row(services, "ref_exright_item", EX)
    assert (item["status"], item["closed_by"], item["factor"]) == ("closed", "reason", 1.0)
    assert row(services, "fusion_kline_daily", AFTER)["adj_factor"] == pytest.approx(1.070478, abs=1e-6)
