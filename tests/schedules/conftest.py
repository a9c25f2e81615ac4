"""Both engines with the tables of the scheduler side, and a house around them."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from core.calendar import TradeCalendar
from core.clock import ManualClock
from resources.settings import load_settings
from resources.warehouse.ddl import build_metadata, create_missing
from resources.warehouse.engine import make_engine, transaction
from resources.warehouse.locks import DomainLocks
from resources.warehouse.system_tables import INFRA_TABLES, SYSTEM_TABLES
from schedules.services import Services
from tests.conftest import mariadb_database

TABLES = {
    "sys_slot",
    "sys_task",
    "sys_command",
    "sys_heartbeat",
    "sys_sync_log",
    "sys_batch",
    "sys_quality_record",
    "sys_backfill",
    "sys_gap",
    "sys_fetch",
    "sys_domain_lock",
    "sys_watched_security",
}
# Friday 2026-08-21 and the days around it; Saturday and Sunday are no trade dates.
DATES = ("2026-08-19", "2026-08-20", "2026-08-21", "2026-08-24", "2026-08-25")


def prepare(engine: Engine) -> None:
    tables = [table for table in (*SYSTEM_TABLES, *INFRA_TABLES) if table.name in TABLES]
    create_missing(engine, build_metadata(tuple(tables)))
    with transaction(engine) as connection:
        DomainLocks(engine).seed(connection)


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    for url in mariadb_database("schedules"):
        engine = make_engine(url)
        prepare(engine)
        engine.dispose()
        yield url


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A warehouse with empty tables on either engine."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
        engine = make_engine(address)
        prepare(engine)
        engine.dispose()
        return address
    address = str(request.getfixturevalue("mariadb_url"))
    engine = make_engine(address)
    with transaction(engine) as connection:
        for table in TABLES - {"sys_domain_lock"}:
            connection.exec_driver_sql(f"DELETE FROM {table}")
        connection.exec_driver_sql("UPDATE sys_domain_lock SET owner=NULL, expires_at=0")
    engine.dispose()
    return address


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    made = make_engine(url)
    yield made
    made.dispose()


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[Engine]:
    """The embedded engine alone, where the engine makes no difference."""
    made = make_engine(f"sqlite:///{tmp_path / 'lite.sqlite3'}")
    prepare(made)
    yield made
    made.dispose()


@pytest.fixture
def services(lite: Engine, tmp_path: Path) -> Services:
    """A house on a clock that the test moves; it starts on Friday 2026-08-21 at 15:00."""
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    clock = ManualClock(datetime(2026, 8, 21, 15, 0), frozen=False)
    return Services(settings=settings, clock=clock, calendar=TradeCalendar(DATES), engine=lite)
