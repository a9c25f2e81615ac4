"""Dates of long ago on real bars: names that changed then, and listing days asked for afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.warehouse.stored import ANY, within
from simulated_market.world.replay import ReplayWorld
from tests.pipeline.conftest import Services, opened_services
from tests.real_day.rules import band_of
from tests.real_day.truth import read

TODAY = "2022-07-29"
UNDER_ST = ("600515", "000408", "000792")
CHANGES = (
    ("2020-04-28", "2020-05-08"),  # 000408 enters *ST on 2020-05-06
    ("2021-02-10", "2021-02-24"),  # 600515 enters ST on 2021-02-19
    ("2021-05-07", "2021-05-14"),  # 000408 leaves *ST on 2021-05-12
    ("2021-08-06", "2021-08-09"),  # 000792 leaves *ST with its re-listing on 2021-08-10
)


@pytest.fixture
def services(warehouse_url: str, tmp_path: Path, world: ReplayWorld) -> Iterator[Services]:
    """The slice on the last of its days; nothing is loaded."""
    with opened_services(warehouse_url, tmp_path, world, TODAY) as opened:
        yield opened


def test_a_listing_day_asked_for_by_code_comes_from_bars_and_has_its_issue_price(services: Services) -> None:
    """The file says that 301269 was issued at 32.69, opened at 69.05 and closed 129.428 % higher."""
    services.master(TODAY)
    services.fuse("kline_daily", TODAY, codes=("301269",))

    (row,) = services.warehouse.rows("fusion_kline_daily")

    assert (row["open"], row["close"], row["last_close"]) == (69.05, 75.0, 32.69)
    assert row["change_pct"] == pytest.approx(129.428, abs=5e-4)
    assert (row["src"], row["limit_up"], row["limit_status"]) == ("tdx", None, "no_limit")
    assert row["provenance"] is not None


def test_a_listing_day_under_the_old_rule_has_limits_of_its_issue_price(services: Services) -> None:
    """600938 on 2022-04-21: 44 % and 36 % of 10.80; it touched the one, and closed below it."""
    services.master(TODAY)
    services.fuse("kline_daily", "2022-04-21", "2022-04-22", codes=("600938",))

    first, second = services.warehouse.rows("fusion_kline_daily", order=["date"])

    assert (first["last_close"], first["limit_up"], first["limit_down"]) == (10.8, 15.55, 6.91)
    assert first["limit_status"] == "up_open"
    assert (second["last_close"], second["limit_up"]) == (first["close"], 15.17)


@pytest.mark.real_data
@pytest.mark.soak
def test_limits_on_both_sides_of_every_change_of_special_treatment(
    real_data_dir: Path, warehouse_url: str, tmp_path: Path
) -> None:
    """Looked at on 2021-08-09 only; limits from the file's preclose and isST with the dated rules."""
    seen = set()
    with opened_services(warehouse_url, tmp_path, ReplayWorld(real_data_dir), "2021-08-09") as services:
        for since, until in CHANGES:
            dates = services.run.calendar.between(since, until)
            for name in ("name_history", "exright", "kline_daily"):
                services.fuse(name, *dates, codes=UNDER_ST)
            truth = read(real_data_dir, since, until)
            for row in services.warehouse.rows("fusion_kline_daily", *within(ANY.date, since, until)):
                true = truth.rows[str(row["market"]).lower() + row["code"], row["date"]]
                fen = int(true.preclose * 100)
                band = band_of(true.symbol, fen, date=true.date, st=true.st, session=10_000)
                assert band is not None
                assert (row["limit_up"], row["limit_down"]) == (band.up / 100, band.down / 100), true
                seen.add((row["code"], true.st))

    assert seen == {(code, st) for code in UNDER_ST for st in (False, True)} - {("000792", False)}


@pytest.mark.real_data
@pytest.mark.soak
@pytest.mark.parametrize("parts", [1, 2], ids=["a range", "what is stored, then the days"])
def test_the_first_day_of_a_stock_that_is_listed_again_has_no_limits(
    parts: int, real_data_dir: Path, warehouse_url: str, tmp_path: Path
) -> None:
    """000792 was suspended from 2020-05-22 on and came back on 2021-08-10 at four times its last close."""
    with opened_services(warehouse_url, tmp_path, ReplayWorld(real_data_dir), "2021-08-13") as services:
        services.master("2021-08-13")
        before = services.run.calendar.between("2021-04-20", "2021-08-09")
        after = services.run.calendar.between("2021-08-10", "2021-08-13")
        for dates in [[*before, *after]] if parts == 1 else [before, after]:
            for dataset in ("name_history", "exright", "kline_daily"):
                services.fuse(dataset, *dates, codes=("000792", "600519", "000408"))
        found = services.warehouse.rows("fusion_kline_daily", ANY.code == "000792", order=["date"])

    first, second, *_ = [row for row in found if row["volume"]]
    assert (first["date"], first["last_close"], first["high"]) == ("2021-08-10", 8.84, 43.9)
    assert (first["limit_up"], first["limit_down"], first["limit_status"]) == (None, None, "no_limit")
    assert first["quality"] == "ok"
    assert (second["limit_up"], second["limit_down"]) == (39.49, 32.31)
