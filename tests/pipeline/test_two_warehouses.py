"""Two warehouses of one market, of which one knows two months more: what both have loaded of old dates is the
same in every stored column. A value that differs was taken from the state of the load, not of its date.

What cannot be had later is declared, with its reason: `varies` of the column."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from platform_assets.pipeline.whole_day import load_day, steps
from simulated_market.world.loader import load_world
from simulated_market.world.model import World
from tests.pipeline.conftest import Services, opened_services

SEED = 8
"""Two of its stocks give bonus shares between the two days."""
EARLIER, LATER = "2026-10-19", "2026-12-18"
OLD = ("2026-09-18", "2026-09-21", "2026-09-22", "2026-09-23")
BARS_SINCE = "2026-03-02"
FLOWS = {"raw_fund_flow", "stg_fund_flow", "fusion_fund_flow"}
"""Left out of both: no source tells the flows of a market of past dates for long, and whether one still does
is what it remembers, not what a value knows."""
TABLES = tuple(
    table
    for table in builtin_registry().tables
    if table.layer in (Layer.DWD, Layer.CALC, Layer.REF) and (table.moment or table.date_column)
)


@dataclass(frozen=True)
class Both:
    """The warehouses, and what the same market had."""

    earlier: Services
    later: Services
    world: World

    def rows(self, table: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The rows of old dates that both hold, by key."""
        found = []
        for services in (self.earlier, self.later):
            rows = services.warehouse.frame(table.name)
            if table.date_column is not None:
                rows = rows[rows[table.date_column].astype(str).str[:10] <= OLD[-1]]
            found.append(rows.set_index(list(table.key)).sort_index())
        shared = found[0].index.intersection(found[1].index)
        return found[0].loc[shared], found[1].loc[shared]


def loaded(services: Services, today: str) -> Services:
    """Bars since spring, then everything of the old dates, as somebody loads it who installs `today`."""
    services.clock.at = datetime.fromisoformat(f"{today}T22:30")
    services.fresh()
    dates = services.run.calendar.between(BARS_SINCE, today)
    services.master(today)
    for name in ("exright", "kline_daily", "index_daily"):
        services.fuse(name, *dates)
    services.fresh()
    tables = sorted(steps(services.registry)[0].keys() - FLOWS)
    assert load_day(services.run, services.scope(*OLD), tables=tables) == {}
    return services


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    world = load_world("synthetic", "S", SEED)
    folders = [tmp_path_factory.mktemp(name) for name in ("earlier", "later")]

    def opened(folder: Path, today: str):
        return opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, world, today=today)

    with opened(folders[0], EARLIER) as earlier, opened(folders[1], LATER) as later:
        yield Both(loaded(earlier, EARLIER), loaded(later, LATER), world)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_of_an_old_date_is_the_same(both: Both, table: Table) -> None:
    one, other = both.rows(table)
    audit = {spec.name for spec in table.audit} - {"quality", "quality_flags"}
    wrong = {}
    for spec in table.all_columns:
        if spec.name in table.key or spec.name in audit or spec.varies:
            continue
        left, right = one[spec.name], other[spec.name]
        same = (left == right) | (left.isna() & right.isna())
        if not same.all():
            code = same[~same].index[0]
            wrong[spec.name] = (code, left[code], right[code], int((~same).sum()))

    assert wrong == {}


def test_shares_are_those_of_the_date(both: Both) -> None:
    world, changed = both.world, 0
    stocks = {s.code: s for s in world.securities(datetime.fromisoformat(f"{LATER}T22:30"))}
    for row in both.later.warehouse.rows("fusion_stock_wide"):
        day = datetime.fromisoformat(f"{row['trade_date']}T22:30")
        had = world.shares(stocks[row["code"]], day)
        assert (row["total_shares"], row["float_shares"]) == had, row["code"]
        assert row["total_market_cap"] == pytest.approx(row["current_price"] * had[0] / 1e4, rel=1e-4)
        changed += had != world.shares(stocks[row["code"]], both.later.clock.now())

    assert changed == 2 * len(OLD)
