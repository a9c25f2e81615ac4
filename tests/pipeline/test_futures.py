"""Futures: the contracts of all exchanges, the main one of each product, and an exchange that is away."""

from collections.abc import Iterator
from datetime import datetime

import pandas as pd
import pytest

from platform_assets.compute.futures_terms import annualised, last_day, main_of_day
from platform_assets.pipeline.download import AllSourcesFailed
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import Services, opened_services

BEFORE, TODAY = "2026-08-20", "2026-08-21"


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def services(request, tmp_path_factory, sample_world) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("futures")
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as opened:
            opened.clock.at = datetime.fromisoformat(f"{TODAY}T15:45")
            yield opened


def rows(services: Services) -> pd.DataFrame:
    return services.warehouse.frame("raw_futures", columns=services.warehouse.table("raw_futures").names)


def test_a_load_at_the_close_brings_the_day_before(services: Services) -> None:
    loaded = services.raw("raw_futures")

    found = rows(services)
    assert set(found[found["date"] == BEFORE]["exchange"]) == {"SHFE", "INE", "CFFEX", "DCE", "CZCE", "GFEX"}
    assert set(found["date"]) == {BEFORE}
    assert sum(loaded.calls.values()) == 6  # what is not out yet is not asked for
    assert "eastmoney" not in loaded.calls
    assert (found["src"] == found["exchange"].str.lower()).all()


def test_each_product_has_one_main_contract_a_day_the_one_that_is_held_most(services: Services) -> None:
    found = rows(services)
    mains = found[found["is_main"].astype(bool)]

    assert (mains.groupby(["date", "product"]).size() == 1).all()
    most = found.groupby(["date", "product"])["open_interest"].transform("max")
    assert (mains["open_interest"] == most[mains.index]).all()


def test_the_portal_is_the_fallback_of_an_exchange_for_its_main_contracts(services: Services) -> None:
    services.clock.at = datetime.fromisoformat(f"{TODAY}T18:00")
    services.faults.replace([{"upstream": "shfe", "call": "*", "kind": "status", "args": {"code": 400}}])
    services.fresh()
    services.raw("raw_futures")

    found = rows(services)
    shanghai = found[(found["date"] == TODAY) & (found["exchange"] == "SHFE")]
    assert set(shanghai["product"]) == {"au", "rb"}
    assert set(shanghai["src"]) == {"eastmoney"}
    assert shanghai[["close", "open_interest", "prev_settle", "oi_change"]].notna().all().all()
    assert shanghai["settle"].isna().all()  # the portal has none
    assert set(found[(found["date"] == BEFORE) & (found["exchange"] == "SHFE")]["src"]) == {"shfe"}

    services.faults.clear()
    services.fresh()
    services.raw("raw_futures")
    found = rows(services)
    shanghai = found[(found["date"] == TODAY) & (found["exchange"] == "SHFE")]
    assert set(shanghai["src"]) == {"shfe"}
    assert len(shanghai) == 8


def test_contracts_of_several_exchanges_are_too_many_for_the_portal(services: Services) -> None:
    services.clock.at = datetime.fromisoformat(f"{TODAY}T15:45")
    services.fresh()
    services.raw("raw_futures")
    services.clock.at = datetime.fromisoformat(f"{TODAY}T18:00")
    away = [
        {"upstream": exchange, "call": "*", "kind": "status", "args": {"code": 400}}
        for exchange in ("shfe", "ine", "cffex", "dce", "czce", "gfex")
    ]
    services.faults.replace(away)
    services.fresh()
    try:
        with pytest.raises(
            AllSourcesFailed, match="push2his cuts off after 10 calls: not asked for 12 codes"
        ):
            services.raw("raw_futures")
    finally:
        services.faults.clear()


def test_the_settlement_of_a_day_is_reported_again_on_the_next(services: Services) -> None:
    found = rows(services).set_index(["symbol", "date"])
    reported = found.loc[(slice(None), TODAY), "prev_settle"].droplevel("date")
    before = found.loc[(slice(None), BEFORE), "settle"].droplevel("date")
    both = reported.to_frame().join(before, how="inner").dropna()
    assert len(both) > 30
    assert (both["prev_settle"] == both["settle"]).all()


def test_a_hostile_file_reaches_no_table(services: Services) -> None:
    stored = len(rows(services))
    for kind in ("garbage", "html", "double_rows"):
        services.faults.replace([{"upstream": "dce", "call": "daily", "kind": kind, "args": {}, "count": 4}])
        services.fresh()
        loaded = services.raw("raw_futures")
        assert "error" in next(item for item in loaded.sources if item["src"] == "dce"), kind
    services.faults.clear()
    assert len(rows(services)) == stored


def test_terms_of_contracts() -> None:
    assert last_day("IF2610") == "2026-10-16"
    assert last_day("IF2613") is None
    assert annualised(10.0, 4000.0, "2026-09-16", "IF2610") == pytest.approx(0.25 * 365 / 30, abs=1e-3)
    assert annualised(10.0, 4000.0, "2026-10-16", "IF2610") is None
    held = pd.DataFrame(
        {"date": "d", "product": "au", "symbol": ["au2612", "au2610"], "open_interest": [5, 5],
         "volume_contracts": [1, 1]}
    )  # fmt: skip
    assert main_of_day(held).tolist() == [False, True]
