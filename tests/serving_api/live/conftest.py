"""The app in front of the simulated market, with the facts of the session before stored."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.declaration.registry import builtin_registry
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from serving_api.live import chain, claims
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.clients import LiveClients
from simulated_market.world.model import PRICE_UNIT
from tests.serving_api import market as stored
from tests.serving_api.client import running
from tests.serving_api.conftest import FAST
from tests.serving_api.live.admin_reads.conftest import FetchContext, ctx, filled, world  # noqa: F401  fixtures

TODAY, BEFORE = "2026-08-21", "2026-08-20"


def closes_of(bench: FetchContext, day: str) -> list[dict[str, Any]]:
    """Stored daily bars of one date, from the world's own."""
    rows = []
    number = int(day.replace("-", ""))
    for one in bench.world.securities(bench.clock.now()):
        if one.kind != "stock":
            continue
        bars = bench.world.bars(one, bench.clock.now())
        at = [place for place, date in enumerate(bars.date) if int(date) == number]
        if at:
            rows.append(
                {
                    "code": one.code,
                    "date": day,
                    "market": one.market,
                    "sec_type": "stock",
                    "close": bars.close[at[0]] / PRICE_UNIT,
                    "amount": float(bars.amount[at[0]]),
                }
            )
    return rows


def industries_of(bench: FetchContext) -> list[dict[str, Any]]:
    return [
        {"code": one.code, "name": bench.world.name(one, bench.clock.now()), "em_industry": one.industry}
        for one in bench.world.securities(bench.clock.now())
        if one.kind == "stock" and one.industry
    ]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is no slow source: only where patience is tried is it short."""
    monkeypatch.setattr(chain, "PATIENCE_S", 30.0)
    monkeypatch.setattr(chain, "LIVE_WAIT_S", 60.0)
    monkeypatch.setattr(claims, "CLAIM_WAIT_S", 30.0)


@pytest.fixture
def bench(ctx: FetchContext) -> FetchContext:  # noqa: F811
    put = ctx.warehouse
    stored.put(put, put.table("fusion_kline_daily"), closes_of(ctx, BEFORE))
    stored.put(put, put.table("fusion_stock_industry"), industries_of(ctx))
    return ctx


@contextmanager
def second_process(bench: FetchContext, tmp_path: Any, **settings: Any) -> Iterator[Any]:
    """Another API over the same warehouse and the same market, as another process has it."""
    state = bench.app.state.platform
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    tables = builtin_registry().tables
    app = create_app(
        replace(state.settings, **settings),
        clock=bench.clock,
        system=SystemTime(wall=bench.ticks.wall, monotonic=bench.ticks.wall),
        warehouse_reader=stored.open_warehouse(url, tmp_path, tables=tables, read_only=True),
        warehouse_writer=stored.open_warehouse(url, tmp_path, tables=tables),
        passwords=FAST,
    )
    own = app.state.platform
    own.parts[live_of] = Live(
        own, LiveClients(own.settings, own.clock, own.calendar, state.part(live_of).clients._opener)
    )
    with running(app) as api:
        yield api


def asked(bench: FetchContext) -> Counter[str]:
    """Calls of all upstreams so far."""
    found = Counter(
        {
            f"{name} {call}": count
            for name, calls in bench.market.calls().items()
            for call, count in calls.items()
        }
    )
    found.update({f"terminal {call}": count for call, count in bench.market.terminal_calls().items()})
    return found
