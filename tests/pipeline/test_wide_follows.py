"""An input of a wide row that is repaired later: the row is found to be old, and follows."""

from datetime import timedelta
from typing import Any

from resources.warehouse.stored import ANY
from schedules.tasks.outdated_rows import outdated
from tests.pipeline.conftest import TODAY, Services

BANK = "600040"


def old_days(services: Services) -> list[str]:
    def run(statement: str, values: Any) -> Any:
        return services.warehouse.query(statement, tuple(values))

    dataset, calendar = services.registry.dataset("stock_wide"), services.run.calendar
    return list(outdated(dataset, services.registry, run, [TODAY], calendar))


def test_a_wide_row_follows_the_repair_of_its_money_flow(alone: Services) -> None:
    alone.day(TODAY)
    assert old_days(alone) == []
    before = alone.warehouse.rows("fusion_stock_wide", ANY.code == BANK)[0]
    with alone.warehouse.engine.begin() as connection:  # as if a source had reported it wrongly
        connection.exec_driver_sql(f"UPDATE stg_fund_flow SET main_net=main_net+1000000 WHERE code='{BANK}'")
    alone.clock.advance(timedelta(minutes=30))
    alone.fresh()

    alone.fuse("fund_flow", TODAY)

    assert old_days(alone) == [TODAY]
    alone.clock.advance(timedelta(minutes=1))
    alone.fuse("stock_wide", TODAY)
    after = alone.warehouse.rows("fusion_stock_wide", ANY.code == BANK)[0]
    assert after["main_net"] == before["main_net"] + 1_000_000
    assert old_days(alone) == []
