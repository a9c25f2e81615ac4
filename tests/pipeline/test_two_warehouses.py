"""Two warehouses of one market hold the same of every old date, in every stored column.

Of the first two, one was loaded a month and a half later: a value that differs was taken from the state of
the load, not of its date. The third lived its evenings, task by task at their times; what it holds is what a
load of the same date brings much later, but for what the evening alone knows.

What cannot be had later is declared: `varies` of the column (EVENING: only against a date that was lived).
A later load asks other sources, whose rows lack columns and round others: `src`, `owners` and
`unchanged_within` say which."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

import pytest

from core.declaration.tables import Table
from platform_assets.definitions.assets import asset_plans
from platform_assets.pipeline.whole_day import load_day, steps
from platform_assets.task_table import TASKS
from simulated_market.world.loader import load_world
from simulated_market.world.model import World
from tests.pipeline.conftest import Services, opened_services
from tests.pipeline.same_values import REGISTRY, TABLES, Pair

SEED = 8
"""Two of its stocks give bonus shares after the old dates."""
EARLIER, LATER = "2026-10-19", "2026-11-30"
"""No source tells the money flow of a market of more than fifty trade dates ago."""
OLD = ("2026-09-22", "2026-09-23")
DAY = "2026-09-23"
"""Of the dates that are lived, the one that has an evening before and behind it."""
EVENINGS = ("2026-09-22", DAY, "2026-09-24")
BARS_SINCE = "2026-03-02"
MARGIN = REGISTRY.dataset("margin")
Opened = Callable[[str, str], AbstractContextManager[Services]]


def installed(services: Services, today: str) -> None:
    """Bars since spring, as somebody loads them who installs the platform `today`."""
    services.clock.at = datetime.fromisoformat(f"{today}T22:30")
    services.fresh()
    services.master(today)
    bars(services, BARS_SINCE, today)


def bars(services: Services, since: str, until: str) -> None:
    dates = services.run.calendar.between(since, until)
    for name in ("exright", "kline_daily", "index_daily"):
        services.fuse(name, *dates)
    services.fresh()


def loaded(services: Services, today: str) -> Services:
    """Everything of the old dates, loaded at once `today`."""
    installed(services, today)
    before = services.run.calendar.last(7, OLD[0])[:-1]  # that a balance is compared with
    load_day(services.run, services.scope(*before), tables=[one.name for one in MARGIN.tables()])
    assert load_day(services.run, services.scope(*OLD), tables=sorted(steps(REGISTRY)[0])) == {}
    return services


def lived(services: Services) -> Services:
    """The evenings, each task at its time; much later what became of the picks is known."""
    installed(services, "2026-09-21")
    by_task: dict[str, list[str]] = {}
    for plan in asset_plans(REGISTRY):
        for task in plan.tasks:
            by_task.setdefault(task, []).append(plan.table.name)
    timed = sorted(
        (one.timing.hm, one.key, one.dates) for one in TASKS if one.key in by_task and one.timing.hm
    )
    for day in EVENINGS:
        for at, task, dates in timed:
            services.clock.at = datetime.fromisoformat(f"{day}T{at // 100:02d}:{at % 100:02d}")
            services.fresh()
            scope = services.scope(*(services.run.calendar.last(dates, day) if dates else (day,)))
            load_day(services.run, scope, tables=sorted(by_task[task]))
    services.clock.at = datetime.fromisoformat(f"{LATER}T22:30")
    services.fresh()
    services.master(LATER)
    bars(services, services.run.calendar.offset(EVENINGS[-1], 1), LATER)
    later = [one.table_name for one in REGISTRY.datasets.values() if one.revisits or one.later]
    load_day(services.run, services.scope(DAY), tables=later)
    return services


@pytest.fixture(scope="module")
def world() -> World:
    return load_world("synthetic", "S", SEED)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, world: World) -> Opened:
    def open_one(name: str, today: str) -> AbstractContextManager[Services]:
        folder: Path = tmp_path_factory.mktemp(name)
        return opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, world, today=today)

    return open_one


@pytest.fixture(scope="module")
def late(opened: Opened) -> Iterator[Services]:
    with opened("late", LATER) as services:
        yield loaded(services, LATER)


@pytest.fixture(scope="module")
def both(opened: Opened, late: Services) -> Iterator[Pair]:
    with opened("early", EARLIER) as services:
        yield Pair(loaded(services, EARLIER), late, OLD)


@pytest.fixture(scope="module")
def evening(opened: Opened, late: Services) -> Iterator[Pair]:
    with opened("lived", EVENINGS[0]) as services:
        yield Pair(lived(services), late, (DAY,), lived=True)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_of_an_old_date_is_the_same(both: Pair, table: Table) -> None:
    assert both.differing(table) == {}


def test_money_flow_of_old_dates_is_compared(both: Pair) -> None:
    one, other = both.rows(REGISTRY.dataset("fund_flow").table)

    assert len(one) >= 50 * len(OLD)
    assert one["main_net"].notna().all()
    assert other["main_net"].notna().all()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_day_that_was_lived_is_the_day_that_is_loaded_later(evening: Pair, table: Table) -> None:
    assert evening.differing(table) == {}


def test_a_lived_day_has_rows_to_compare(evening: Pair) -> None:
    compared = {table.name: len(evening.rows(table)[0]) for table in TABLES}

    for name in ("fusion_kline_daily", "fusion_fund_flow", "fusion_stock_wide", "calc_indicator_daily"):
        assert compared[name] >= 50, name


def test_shares_are_those_of_the_date(late: Services, world: World) -> None:
    changed = 0
    stocks = {s.code: s for s in world.securities(datetime.fromisoformat(f"{LATER}T22:30"))}
    for row in late.warehouse.rows("fusion_stock_wide"):
        day = datetime.fromisoformat(f"{row['trade_date']}T22:30")
        had = world.shares(stocks[row["code"]], day)
        assert (row["total_shares"], row["float_shares"]) == had, row["code"]
        assert row["total_market_cap"] == pytest.approx(row["current_price"] * had[0] / 1e4, rel=1e-4)
        changed += had != world.shares(stocks[row["code"]], late.clock.now())

    assert changed == 2 * len(OLD)
