"""Downloads on demand through the whole miniature platform: counts, gaps, fusions, failures."""

from datetime import datetime

import pytest

from core.errors import InputError
from platform_assets.pipeline.on_demand import download
from tests.pipeline.conftest import TODAY, Services

BANK, STEEL = "600040", "600041"


@pytest.fixture
def known(services: Services) -> Services:
    """Security list of two days before, as a running platform has it."""
    services.clock.at = datetime.fromisoformat("2026-08-19T15:45")
    services.master("2026-08-19")
    services.clock.at = datetime.fromisoformat(f"{TODAY}T15:45")
    services.fresh()
    return services


def lines_of(services: Services) -> list[tuple[object, ...]]:
    with services.warehouse.connect() as connection:
        found = connection.exec_driver_sql(
            "SELECT task_type, code, status, total, success, failed FROM sys_sync_log ORDER BY id"
        )
        return [tuple(line) for line in found]


def test_a_download_counts_per_code_fuses_what_it_feeds_and_repeats_without_a_trace(known: Services) -> None:
    answer = download(known.run, [BANK, STEEL, "999999"], ["quote"], TODAY)

    part = answer["types"]["quote"]
    assert part["status"] == "success"
    assert "999999" in part["message"]
    assert part["codes"]["999999"] == {"total": 0, "saved": 0, "gap_count": 0}
    for code in (BANK, STEEL):
        assert part["codes"][code]["saved"] == part["codes"][code]["total"] >= 1
        assert part["codes"][code]["gap_count"] == 1  # 2026-08-20
    fed = set(known.registry.download_to_fusion["quote"])
    assert {"stock_master", "quote_snapshot"} <= fed
    assert answer["fusion"]["results"].keys() == fed
    assert answer["fusion"]["results"]["quote_snapshot"] == {"status": "success", "saved": 2}
    assert answer["fusion"]["batch_id"]
    stored = known.run.read("fusion_quote_snapshot", columns=("code", "trade_date"))
    assert sorted(stored["code"]) == [BANK, STEEL]

    known.fresh()
    again = download(known.run, [BANK], ["quote"], TODAY)

    counts = again["types"]["quote"]["codes"][BANK]
    assert (counts["saved"], counts["total"]) == (0, part["codes"][BANK]["total"])
    assert again["fusion"]["results"]["quote_snapshot"]["saved"] == 0
    assert lines_of(known) == [
        ("download:quote", None, "success", 3, 3, 0),
        ("download:quote", BANK, "success", 1, 1, 0),
    ]


def test_dead_sources_fail_their_type_and_unknown_types_are_refused(known: Services) -> None:
    known.faults.replace(
        [
            {"upstream": name, "call": "*", "kind": "reset", "args": {}, "count": 0}
            for name in ("tdx", "tencent", "eastmoney")
        ]
    )

    answer = download(known.run, [BANK], ["quote"], TODAY)

    assert answer["types"]["quote"]["status"] == "failed"
    assert answer["types"]["quote"]["message"]
    assert answer["fusion"] is None
    assert lines_of(known) == [("download:quote", BANK, "failed", 1, 0, 1)]
    with pytest.raises(InputError, match="types"):
        download(known.run, [BANK], ["quote", "nonsense"], TODAY)
    assert len(lines_of(known)) == 1


HISTORIES = ("block_trade", "dragon_tiger", "fund_flow", "valuation")


def days_of(services: Services, kind: str, code: str) -> list[str]:
    raw = services.registry.download_types[kind]
    rows = services.warehouse.frame(raw.table_name, columns=["code", str(raw.date_column)])
    return sorted(rows.loc[rows["code"] == code, str(raw.date_column)].astype(str).unique())


def test_a_single_code_brings_its_history_and_several_bring_the_day(known: Services) -> None:
    known.clock.at = datetime.fromisoformat(f"{TODAY}T21:30")
    known.fresh()
    together = download(known.run, [BANK, STEEL], ["fund_flow", "valuation"], TODAY)
    assert {name: days_of(known, name, BANK) for name in ("fund_flow", "valuation")} == {
        "fund_flow": [TODAY],
        "valuation": [TODAY],
    }
    assert together["types"]["fund_flow"]["codes"][BANK]["total"] == 1

    known.fresh()
    answer = download(known.run, [BANK], HISTORIES, TODAY)

    assert {part["status"] for part in answer["types"].values()} == {"success"}
    assert len(days_of(known, "fund_flow", BANK)) == 120
    assert len(days_of(known, "valuation", BANK)) >= 120
    fused = known.run.read("fusion_valuation", columns=("code", "date"))
    assert (fused["code"] == BANK).sum() == 120
    for kind in ("block_trade", "dragon_tiger"):
        counts = answer["types"][kind]["codes"][BANK]
        assert counts["total"] == len(known.warehouse.frame(f"raw_{kind}", columns=["code"]))
        assert counts["total"] > len({TODAY} & set(days_of(known, kind, BANK)))


def test_a_source_that_answered_with_nothing_is_no_failure(known: Services) -> None:
    answer = download(known.run, [BANK], ["margin"], TODAY)

    part = answer["types"]["margin"]
    assert (part["status"], part["codes"][BANK]["total"]) == ("success", 0)
    assert BANK in part["message"]
    assert lines_of(known) == [("download:margin", BANK, "success", 1, 1, 0)]
