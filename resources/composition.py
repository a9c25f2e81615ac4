"""Composition: settings -> warehouse, fetch context, calendar and clock of one process."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.calendar import TradeCalendar
from core.clock import Clock, FrozenClock, SystemClock
from core.declaration.registry import Registry, builtin_registry
from core.errors import InputError
from core.simulated_clock import SimulatedClock
from resources.fetch_record import FetchLog
from resources.settings import Settings
from resources.simulated_market_process import needs_market
from resources.stored_calendar import stored_calendar
from resources.stored_settings import platform_settings
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse


@dataclass
class Platform:
    """Everything that a pipeline process needs, opened once."""

    settings: Settings
    registry: Registry
    warehouse: Warehouse
    ctx: FetchContext
    calendar: TradeCalendar
    clock: Clock

    def close(self) -> None:
        self.ctx.close()
        self.warehouse.close()


def market_clock(settings: Settings) -> Clock:
    """Real exchange time; that of the file SAMPLE_CLOCK; or frozen by SAMPLE_NOW."""
    if settings.sample_clock:
        return SimulatedClock(Path(settings.sample_clock))
    if settings.frozen_now is not None:
        return FrozenClock(settings.frozen_now)
    return SystemClock()


def open_warehouse(
    settings: Settings,
    registry: Registry,
    clock: Clock,
    *,
    read_only: bool = False,
    wait_s: float | None = None,
) -> Warehouse:
    """The warehouse that the settings name; `wait_s` is how long a write waits for another one."""
    pool: dict[str, Any] = {
        "pool_size": settings.db_pool_size,
        "max_overflow": settings.db_max_overflow,
        "pool_timeout": settings.db_pool_timeout,
    }
    if wait_s is not None:
        pool["wait_s"] = wait_s
    return Warehouse(
        settings.warehouse_address,
        registry.tables,
        clock=clock,
        payload_folder=settings.data_path / "payloads",
        payload_url=settings.payload_url,
        lake_url=settings.lake_address,
        read_only=read_only,
        pool=pool,
    )


def refuse_other_world(settings: Settings, warehouse: Warehouse) -> None:
    """InputError when the warehouse was filled from another market (the real one, or a simulated one): one
    history would be made of two."""
    newest = warehouse.query(
        "SELECT world FROM sys_batch WHERE rows_written>0 AND (world IS NULL OR world<>'import') "
        "ORDER BY started_at DESC LIMIT 1"
    )
    for (held,) in newest:
        if held != settings.world:
            raise InputError(
                "DATA_SOURCE",
                f"{settings.data_source} loads from {_market(settings.world)}, and the warehouse "
                f"({settings.warehouse_variables}) was filled from {_market(held)}; choose another DATA_DIR "
                "or WAREHOUSE_URL",
            )


def _market(world: str | None) -> str:
    return "the real market" if world is None else f"the simulated market ({world})"


def open_context(
    settings: Settings, clock: Clock, calendar: TradeCalendar, *, before_use: Callable[[], None] | None = None
) -> FetchContext:
    """Upstream clients for DATA_SOURCE: `real` and `direct` at the upstreams' own addresses, `mock` at the
    simulated market. `before_use` is called whenever a client is made for a log. NotImplementedError for
    `vendor`, which the specification reserves."""
    # Loads httpx, lxml and every client: 0.3 s that processes which ask no upstream do not need.
    from resources.upstreams.factory import make_clients  # noqa: PLC0415

    makers, closers = make_clients(settings, clock, calendar)
    if before_use is not None:
        makers = {name: partial(_prepared, before_use, make) for name, make in makers.items()}
    return FetchContext(
        clock=clock,
        calendar=calendar,
        makers=makers,
        closers=closers,
        direct=settings.data_source == "direct",
        ths_eps=settings.valuation_ths_eps_enabled,
        throttle=(
            (0.0, 0.0)
            if settings.data_source == "mock"
            else (settings.eod_stock_throttle_min, settings.eod_stock_throttle_max)
        ),
    )


def _prepared(before: Callable[[], None], make: Callable[[FetchLog], Any], log: FetchLog) -> Any:
    before()
    return make(log)


def open_platform(settings: Settings | None = None, *, registry: Registry | None = None) -> Platform:
    """Open everything for this process. The warehouse is brought up to the declarations first."""
    settings = settings or platform_settings()
    registry = registry or builtin_registry()
    calendar = stored_calendar(settings).look_now().fixed()
    clock = market_clock(settings)
    if needs_market(settings):
        raise InputError(
            "DATA_SOURCE", "mock needs SIMULATOR_URL and SIMULATOR_TDX (the supervisor sets them)"
        )
    warehouse = open_warehouse(settings, registry, clock)
    warehouse.migrate()
    return Platform(settings, registry, warehouse, open_context(settings, clock, calendar), calendar, clock)
