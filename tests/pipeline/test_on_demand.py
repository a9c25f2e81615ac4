"""Downloads on demand through the whole miniature platform: counts, gaps, fusions, failures."""

import pytest

from platform_assets.pipeline.on_demand import download
from resources.errors import InputError
from tests.pipeline.conftest import TODAY, House

BANK, STEEL = "600040", "600041"


@pytest.fixture
def known(house: House) -> House:
    """Security list of the day before: what a download finds in a running platform."""
    house.master("2026-08-20")
    house.fresh()
    return house


def test_a_download_counts_per_code_and_fuses_what_it_feeds(known: House) -> None:
    answer = download(known.run, [BANK, STEEL], ["quote"], TODAY)

    part = answer["types"]["quote"]
    assert part["status"] == "success"
    for code in (BANK, STEEL):
        assert part["codes"][code]["total"] >= 1
        assert part["codes"][code]["saved"] == part["codes"][code]["total"]
        assert part["codes"][code]["gap_count"] == 0
    fed = set(known.registry.download_to_fusion["quote"])
    assert {"stock_master", "quote_snapshot"} <= fed
    assert answer["fusion"]["results"].keys() == fed
    assert answer["fusion"]["status"] == "success"
    assert answer["fusion"]["results"]["quote_snapshot"] == {"status": "success", "saved": 2}
    stored = known.run.read("fusion_quote_snapshot", columns=("code", "trade_date"))
    assert sorted(stored["code"]) == [BANK, STEEL]


def test_the_same_download_again_writes_nothing(known: House) -> None:
    download(known.run, [BANK], ["quote"], TODAY)
    known.fresh()

    again = download(known.run, [BANK], ["quote"], TODAY)

    assert again["types"]["quote"]["codes"][BANK]["saved"] == 0
    assert again["types"]["quote"]["codes"][BANK]["total"] >= 1
    assert again["fusion"]["results"]["quote_snapshot"]["saved"] == 0


def test_missing_trade_dates_are_counted(known: House) -> None:
    known.raw("raw_quote", "2026-08-18")
    known.fresh()

    part = download(known.run, [BANK], ["quote"], TODAY)["types"]["quote"]

    assert part["codes"][BANK]["gap_count"] == 1  # 2026-08-19


def test_a_code_without_rows_is_named(known: House) -> None:
    part = download(known.run, [BANK, "999999"], ["quote"], TODAY)["types"]["quote"]

    assert part["status"] == "success"
    assert part["codes"]["999999"]["total"] == 0
    assert "999999" in part["message"]


def test_a_dead_source_fails_its_type_and_leaves_its_words(known: House) -> None:
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


def test_every_type_leaves_a_line_in_the_sync_log(known: House) -> None:
    download(known.run, [BANK, "999999"], ["quote"], TODAY)

    with known.warehouse.connect() as connection:
        lines = connection.exec_driver_sql(
            "SELECT task_type, status, total, success, failed, batch_id FROM sys_sync_log"
        ).all()
    assert [tuple(line)[:5] for line in lines] == [("download:quote", "partial", 2, 1, 1)]
    assert lines[0][5]


def test_an_unknown_type_is_refused_before_anything_is_asked(known: House) -> None:
    with pytest.raises(InputError, match="types"):
        download(known.run, [BANK], ["quote", "nonsense"], TODAY)

    with known.warehouse.connect() as connection:
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM sys_sync_log").scalar() == 0
