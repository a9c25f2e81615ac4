"""Reference tables that ship with the project."""

from core.market.rules import RULES
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services


def test_the_rule_table_holds_every_dated_rule_once(services: Services) -> None:
    result = services.fuse("market_rule").results[0]

    assert result.rows_written == len(RULES)
    st = services.warehouse.rows(
        "ref_market_rule", ANY.rule == "price_limit", ANY.scope == "main_st", order=["valid_from"]
    )
    assert [row["value"] for row in st][-2:] == [5.0, 10.0]
    assert st[-1]["valid_from"] == "2026-07-06"
    assert services.fuse("market_rule").results[0].rows_written == 0


def test_the_calendar_table_knows_neighbours_across_a_holiday(services: Services) -> None:
    services.fuse("trade_calendar")

    day = services.warehouse.rows("ref_trade_calendar", ANY.date == "2026-10-03")[0]

    assert (day["is_open"], day["prev_trade_date"]) == (False, "2026-09-30")
    assert day["next_trade_date"] > "2026-10-03"
    assert services.warehouse.rows("ref_trade_calendar", ANY.date == TODAY)[0]["is_open"] is True
