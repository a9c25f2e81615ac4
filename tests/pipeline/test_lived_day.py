"""What is loaded in the evening of a day is what a load of that day brings weeks later: bars, quotes, ratios,
money flow and the wide row (`test_two_warehouses` has every table and each task at its time)."""

from pathlib import Path

from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, opened_services
from tests.pipeline.same_values import TABLES, Pair

LATER = "2026-09-30"
"""The money flow of a market is told for fifty trade dates."""


def test_an_evening_is_the_same_weeks_later(tmp_path: Path, sample_world: World) -> None:
    folders = [tmp_path / name for name in ("evening", "later")]
    for folder in folders:
        folder.mkdir()
    urls = [f"sqlite:///{folder / 'warehouse.sqlite3'}" for folder in folders]
    with (
        opened_services(urls[0], folders[0], sample_world) as evening,
        opened_services(urls[1], folders[1], sample_world, today=LATER) as later,
    ):
        for services, today in ((evening, TODAY), (later, LATER)):
            services.master(today)
            services.raw("raw_index_constituent", today)
            services.day(TODAY)
        pair = Pair(evening, later, (TODAY,), lived=True)
        found = {table.name: pair.differing(table) for table in TABLES}
        held = {table.name for table in TABLES if len(pair.rows(table)[0]) >= 50}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert held >= {
        "fusion_kline_daily", "fusion_quote_snapshot", "fusion_valuation", "fusion_fund_flow",
        "fusion_stock_wide",
    }  # fmt: skip
