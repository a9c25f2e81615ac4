"""A warehouse of one market is not continued from another one: the start and every run refuse it by name."""

from pathlib import Path

import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.definitions.resources import ClockResource, WarehouseResource
from resources import logs
from resources.composition import open_warehouse
from resources.settings import Settings
from schedules.supervisor.migrate import main, migrate
from tests.serving_api.market import NOW

SAMPLE, REAL, IMPORTED = "sample", None, "import"


def fill(folder: Path, *worlds: str | None) -> None:
    """A warehouse whose batches came from these markets, oldest first."""
    warehouse = open_warehouse(Settings(data_dir=str(folder)), builtin_registry(), FrozenClock(NOW))
    warehouse.migrate()
    with warehouse.engine.begin() as connection:
        for number, world in enumerate(worlds):
            connection.exec_driver_sql(
                "INSERT INTO sys_batch (batch_id, table_name, world, status, rows_written, started_at) "
                "VALUES (?, 'fusion_kline_daily', ?, 'success', 60, ?)",
                (f"b{number}", world, f"2026-08-2{number} 16:00:00"),
            )
    warehouse.close()


def start(folder: Path, source: str) -> None:
    """The step of a start that brings the warehouse up to date."""
    migrate(Settings(data_dir=str(folder), data_source=source))


@pytest.mark.parametrize(
    ("worlds", "source"), [((SAMPLE,), "real"), ((SAMPLE, IMPORTED), "direct"), ((REAL,), "mock")]
)
def test_a_start_on_a_folder_of_another_market_is_refused(
    tmp_path: Path, worlds: tuple[str | None, ...], source: str
) -> None:
    fill(tmp_path, *worlds)

    with pytest.raises(InputError, match=f"DATA_SOURCE: {source} .* another DATA_DIR"):
        start(tmp_path, source)


@pytest.mark.parametrize(
    ("worlds", "source"), [((), "real"), ((SAMPLE,), "mock"), ((IMPORTED,), "mock"), ((REAL,), "real")]
)
def test_a_folder_of_the_same_market_goes_on(
    tmp_path: Path, worlds: tuple[str | None, ...], source: str
) -> None:
    fill(tmp_path, *worlds)

    start(tmp_path, source)


def test_a_run_without_a_start_refuses_it_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, SAMPLE)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATA_SOURCE", "real")
    warehouse = WarehouseResource(clock=ClockResource())

    for _ in range(2):
        with pytest.raises(InputError, match="simulated market"):
            warehouse.open()


def test_the_command_that_starts_says_it_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, SAMPLE)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATA_SOURCE", "real")
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setattr(logs, "configure", lambda *_: None)

    assert main() == 1

    line = capsys.readouterr().err
    assert line.startswith("DATA_SOURCE: real ")
    assert line.count("\n") == 1
