"""Shared fixtures: databases of the test's own, and skips that name what is missing."""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from hypothesis import settings

from tests.databases import MARIADB_URL, copied_from_the_first, lent_mariadb

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".numba"))
"""Kernels are compiled once for all test workers; numba reads this when it is imported."""
settings.register_profile("suite", settings(), deadline=None)
settings.load_profile("suite")
"""No example is held against the clock: one that waits for a kernel or for another process is no failure."""
SQLITE_OFTEN = ["sqlite", pytest.param("mariadb", marks=pytest.mark.soak)]
"""Engines of tests that take long and ask little of an engine: both of them only in `make soak`."""
TESTS = Path(__file__).parent
WHOLE_ROOMS = frozenset(
    (
        "cluster",
        "console",
        "definitions",
        "docker",
        "docs",
        "kill",
        "real_day",
        "soak",
        "tracing",
        "upgrade",
        "witness",
    )
)
WHOLE_FILES = frozenset(
    (
        "ashare/test_notebooks.py",
        "ashare/test_start.py",
        "ashare/test_wheel.py",
        "contract/test_imports.py",
        "contract/test_leaks.py",
        "lake/test_killed.py",
        "pipeline/test_every_table.py",
        "pipeline/test_listing_day.py",
        "pipeline/test_missing_codes.py",
        "pipeline/test_names.py",
        "pipeline/test_reconcile.py",
        "pipeline/test_replay.py",
        "pipeline/test_silent_corruptions.py",
        "pipeline/test_spoilt_day.py",
        "pipeline/test_spoilt_rows.py",
        "pipeline/test_two_warehouses.py",
        "pipeline/test_whole_day.py",
        "resources/backup/test_backup.py",
        "resources/test_logs.py",
        "schedules/test_supervisor.py",
        "schedules/test_two_daemons.py",
        "schedules/test_week.py",
        "serving_api/framework/test_application.py",
        "serving_api/quant/test_daily.py",
        "serving_api/test_first_day.py",
        "serving_api/test_fuzz.py",
        "simulated_market/http/test_fault_matrix.py",
        "simulated_market/tdx/test_faults.py",
        "upstreams/test_every_call.py",
    )
)
"""Folders and files of tests that start processes, a browser or a server, or load whole days. They, and what
runs on MariaDB, are marked `full`: `make test-all` runs them, `make test` does not."""
POSTGRES_URL = os.environ.get("TEST_POSTGRES_URL", "postgresql+psycopg2://root@127.0.0.1:5432/test")
REQUIRE_SERVICES = os.environ.get("REQUIRE_SERVICES") == "1"
_missing: set[str] = set()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks `full` (see `WHOLE_FILES`)."""
    for item in items:
        path = item.path.relative_to(TESTS)
        engines = (
            item.callspec.params.values()
            if isinstance(item, pytest.Function) and hasattr(item, "callspec")
            else ()
        )
        if (
            path.parts[0] in WHOLE_ROOMS
            or str(path) in WHOLE_FILES
            or any(isinstance(name, str) and name == "mariadb" for name in engines)
        ):
            item.add_marker("full")


def listens(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=1):
            return True
    except OSError:
        return False


def require(service: str, available: bool, where: str) -> None:
    """Skip by name, or fail when REQUIRE_SERVICES=1."""
    if available:
        return
    message = f"service not there: {service} at {where}"
    if REQUIRE_SERVICES:
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session", autouse=True)
def _tables_are_made_once() -> Iterator[None]:
    """Half of the time of a small test was the making of tables that the test before had made as well."""
    from resources.warehouse import warehouse

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warehouse, "create_missing", copied_from_the_first(warehouse.create_missing))
        yield


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the developer's shell reaches a test."""
    from dataclasses import fields

    from resources.settings import Settings

    for row in fields(Settings):
        monkeypatch.delenv(row.name.upper(), raising=False)
    monkeypatch.setenv("ENV_FILE", str(tmp_path / "absent.env"))


@pytest.fixture(params=["sqlite", "mariadb"])
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without rows on each engine."""
    yield from engine_url(request.param, tmp_path, request.module.__package__)


def engine_url(engine: str, folder: Path, kind: str = "builtin") -> Iterator[str]:
    """URL of a database without rows: a file in `folder`, or one of MariaDB."""
    if engine == "sqlite":
        yield f"sqlite:///{folder / 'warehouse.sqlite3'}"
        return
    yield from mariadb_database(kind)


def mariadb_database(kind: str) -> Iterator[str]:
    """URL of a MariaDB database without rows that nobody else uses (`lent_mariadb`)."""
    require("MariaDB", listens(MARIADB_URL), MARIADB_URL)
    with lent_mariadb(kind) as url:
        yield url


@contextmanager
def own_postgres(prefix: str) -> Iterator[str]:
    """URL of a new PostgreSQL database without tables that nobody else uses, dropped at the end."""
    require("PostgreSQL", listens(POSTGRES_URL), POSTGRES_URL)
    name = f"{prefix}_{uuid.uuid4().hex[:12]}"
    server = sa.create_engine(POSTGRES_URL, isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool)
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        try:
            yield server.url.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def real_data_dir() -> Path:
    """The full real data set; its absence is a named skip."""
    folder = Path(os.environ.get("TEST_REAL_DATA_DIR", "../shared/data"))
    if not (folder / "bars_daily_raw_hs300_2020_2025.csv.gz").exists():
        pytest.skip("data not there: the full real set (REAL_DATA_DIR)")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report lines of the tests that have one; the last line counts what was skipped because a service or
    a file set is not there."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        text = str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr)
        if "not there: " in text:
            name = text.split("not there: ", 1)[1]
            reasons[name] = reasons.get(name, 0) + 1
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, text in getattr(report, "user_properties", ()):
                if name == "report":
                    terminalreporter.write_line(str(text))
    named = "; ".join(f"{name}: {count}" for name, count in sorted(reasons.items())) or "none"
    terminalreporter.write_line(f"skipped for something that is not there: {sum(reasons.values())} ({named})")
