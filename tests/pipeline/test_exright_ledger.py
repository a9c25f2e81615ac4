"""The ledger of ex-rights over two days: an event that every source has a day late."""

from typing import Any

import pytest

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
    (found,) = services.warehouse.rows(table, where="code=? AND date=?", values=(code, day))
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
