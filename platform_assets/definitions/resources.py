"""Dagster resources of a run: warehouse, upstreams, calendar and clock.

Addresses and secrets come from the settings of the process (environment, `.env`), never from a run's
configuration, so that none of them reaches the Dagster UI. What a resource holds open is closed with its run.
"""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import dagster as dg
from pydantic import Field, PrivateAttr

from core.calendar import TradeCalendar
from core.clock import Clock
from core.declaration.registry import builtin_registry
from core.errors import InputError
from resources import logs, tracing
from resources.composition import Platform, market_clock, open_context, open_warehouse, refuse_other_world
from resources.settings import Settings, process_settings
from resources.simulated_market_process import ChildMarket, needs_market
from resources.stored_calendar import stored_calendar
from resources.stored_settings import platform_settings
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse

_up_to_date: set[str] = set()
"""Warehouses that runs of this process need not bring up to the declarations."""


def is_up_to_date(address: str) -> None:
    """Says of a warehouse, by its URL, that this process need not look at its tables: a step worker opens it
    for each step, and on a server the look takes a second under a lock."""
    _up_to_date.add(address)


def simulated_by_default(settings: Settings) -> Settings:
    """The settings with DATA_SOURCE=mock where nobody chose a source: a checkout asks no real site."""
    return settings if "data_source" in settings.explicit else replace(settings, data_source="mock")


class CalendarResource(dg.ConfigurableResource[TradeCalendar]):
    """The trade dates as the warehouse knows them. It has nothing to configure."""

    def open(self) -> TradeCalendar:
        """The calendar as it is now; it does not change under a run that holds it."""
        return stored_calendar(process_settings()).look_now().fixed()


class ClockResource(dg.ConfigurableResource[Clock]):
    """The market clock: exchange time, or one moment at which it stands."""

    frozen_at: str | None = Field(
        default=None,
        description="ISO date-time without a zone at which the clock stands; none: as SAMPLE_NOW says",
    )

    def settings(self) -> Settings:
        """The settings of this process, with the moment that this clock is frozen at. InputError for one
        that is no ISO date-time without a zone."""
        settings = simulated_by_default(process_settings())
        if self.frozen_at is None:
            return settings
        try:
            zone = datetime.fromisoformat(self.frozen_at).tzinfo
        except ValueError:
            raise InputError("frozen_at", f"{self.frozen_at!r} is no ISO date-time") from None
        if zone is not None:
            raise InputError("frozen_at", f"{self.frozen_at!r} has a time zone; exchange time has none")
        return replace(settings, sample_now=self.frozen_at)

    def open(self) -> Clock:
        """The clock of this run. Raises InputError as `settings` does."""
        return market_clock(self.settings())


class WarehouseResource(dg.ConfigurableResource[Warehouse]):
    """The warehouse at WAREHOUSE_URL, else DB_*, else in a file of DATA_DIR; opened at its first use, once a
    run, and brought up to the declarations."""

    clock: ClockResource
    wait_s: float | None = Field(
        default=None, description="seconds that a write waits for another one; none: as the engine does"
    )

    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _warehouse: Warehouse | None = PrivateAttr(default=None)
    _settings: Settings | None = PrivateAttr(default=None)

    def settings(self) -> Settings:
        """The settings of this process with the values that are stored in the warehouse, read once a run."""
        if self._settings is None:
            self._settings = simulated_by_default(platform_settings())
        return self._settings

    def open(self) -> Warehouse:
        """The warehouse of this run. Raises StorageError while the database is away, InputError where it was
        filled from another market."""
        with self._lock:
            if self._warehouse is None:
                settings = self.settings()
                # A process of a run has no log of its own yet.
                logs.ensure(settings, "code_location")
                tracing.configure(settings, "code_location")
                warehouse = open_warehouse(
                    settings, builtin_registry(), self.clock.open(), wait_s=self.wait_s
                )
                if settings.warehouse_address not in _up_to_date:
                    warehouse.migrate()
                    refuse_other_world(settings, warehouse)
                self._warehouse = warehouse
            return self._warehouse

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Called by Dagster when the run has ended, however it did."""
        with self._lock:
            warehouse, self._warehouse = self._warehouse, None
            self._settings = None
        if warehouse is not None:
            warehouse.close()


class UpstreamsResource(dg.ConfigurableResource[FetchContext]):
    """The upstream clients for DATA_SOURCE, `mock` where it is not set. Without the address of a simulated
    market one starts as a child of the run's process when the first client is used, and ends with the run."""

    clock: ClockResource
    calendar: CalendarResource
    first_source_only: bool = Field(
        default=False, description="ask only a table's first source, as DATA_SOURCE=direct does"
    )

    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _context: FetchContext | None = PrivateAttr(default=None)
    _market: ChildMarket | None = PrivateAttr(default=None)

    def open(self) -> FetchContext:
        """The fetch context of this run: what its assets share is asked once, and again by the next run."""
        with self._lock:
            if self._context is None:
                settings = self.clock.settings()
                if needs_market(settings):
                    self._market = ChildMarket(settings)
                    settings = self._market.settings
                self._context = open_context(
                    settings,
                    self.clock.open(),
                    self.calendar.open(),
                    before_use=None if self._market is None else self._market.start,
                )
                self._context.direct = self._context.direct or self.first_source_only
            return self._context

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Called by Dagster when the run has ended, however it did."""
        with self._lock:
            opened, self._context = self._context, None
            market, self._market = self._market, None
        if opened is not None:
            opened.close()
        if market is not None:
            market.stop()


RUN_RESOURCES = frozenset({"warehouse", "upstreams", "calendar", "clock"})
"""Keys of what assets and ops of ours work with, for `required_resource_keys`."""


def run_resources() -> Mapping[str, Any]:
    """Resource key -> resource, as the code location and its jobs use them.

    A job that a sensor starts is given them itself: attached later, Dagster would copy sensor and schedule.
    """
    calendar, clock = CalendarResource(), ClockResource()
    return {
        "calendar": calendar,
        "clock": clock,
        "warehouse": WarehouseResource(clock=clock),
        "upstreams": UpstreamsResource(clock=clock, calendar=calendar),
    }


def platform_of(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> Platform:
    """The opened `RUN_RESOURCES` of a run as one object for the pipeline."""
    warehouse: WarehouseResource = context.resources.warehouse
    upstreams: UpstreamsResource = context.resources.upstreams
    calendar: CalendarResource = context.resources.calendar
    clock: ClockResource = context.resources.clock
    return Platform(
        settings=warehouse.settings(),
        registry=builtin_registry(),
        warehouse=warehouse.open(),
        ctx=upstreams.open(),
        calendar=calendar.open(),
        clock=clock.open(),
    )
