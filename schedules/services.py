"""What a process of the scheduler side opens: settings, market clock, calendar, ledgers.

Nothing is opened at import; each process calls `open_services` once. Importing this module needs neither
Dagster nor the datasets.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.clock import Clock
from resources import logs, tracing
from resources.settings import Settings
from resources.stored_calendar import stored_calendar
from resources.stored_settings import platform_settings
from resources.warehouse.engine import is_sqlite, make_engine
from resources.warehouse.ledger.batches import BatchLedger
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.ledger.heartbeats import Heartbeats
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger
from resources.warehouse.ledger.tasks import Task
from resources.warehouse.ledger.tasks_state import TaskTable
from resources.warehouse.ledger.watch_list import off_on_a_watch_list
from resources.warehouse.locks import DomainLocks


@dataclass
class Services:
    """Settings, clock and calendar of one process, and the ledgers on one engine."""

    settings: Settings
    clock: Clock
    calendar: TradeCalendar
    engine: Engine

    def __post_init__(self) -> None:
        self.tasks = TaskTable(self.engine)
        self.scheduled_runs = ScheduledRunLedger(self.engine)
        self.commands = CommandQueue(self.engine)
        self.batches = BatchLedger(self.engine)
        self.heartbeats = Heartbeats(self.engine)
        self.locks = DomainLocks(self.engine)

    def keeps_off(self, task: Task) -> str | None:
        """Why a task of the schedule does not run, however it is switched; None when it may."""
        return self.settings.keeps_off(task.key) or off_on_a_watch_list(self.engine, task)

    @property
    def migrated(self) -> bool:
        """Whether the warehouse has its tables; looking does not create a database."""
        if is_sqlite(self.engine):
            path = Path(self.engine.url.database or "")
            if not path.is_file():
                return False
        return bool(sa.inspect(self.engine).has_table("sys_task"))


def make_services(settings: Settings) -> Services:
    from resources.composition import market_clock  # noqa: PLC0415  brings the datasets

    return Services(
        settings=settings,
        clock=market_clock(settings),
        calendar=stored_calendar(settings).look(),
        engine=make_engine(settings.warehouse_address),
    )


@cache
def open_services() -> Services:
    """The services of this process, opened at the first call; its log is set up where nobody did."""
    settings = platform_settings()
    logs.ensure(settings, "code_location")
    tracing.configure(settings, "code_location")
    return make_services(settings)
