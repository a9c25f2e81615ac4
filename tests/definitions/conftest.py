"""A whole platform on the simulated market, and Dagster runs inside the test's process."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import dagster as dg
import pytest

from core.clock import Clock, FrozenClock
from resources.composition import open_platform
from resources.settings import load_settings
from schedules.services import Services, make_services
from simulated_market.faults import FaultPlan
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.definitions.in_process import InProcessRuns

NOW = "2026-08-21T15:45"
BANK = "600040"


@pytest.fixture
def faults() -> FaultPlan:
    """What the simulated market does wrong; nothing, unless the test says so."""
    return FaultPlan()


@contextmanager
def opened(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    faults: FaultPlan,
    url: str = "",
    now: str = NOW,
    clock: Clock | None = None,
    *,
    state: str = "calm",
) -> Iterator[Services]:
    """A platform whose settings come from the environment, as those of a run do. `clock`: of the market,
    which a test moves together with the setting."""
    clock = clock or FrozenClock(datetime.fromisoformat(now))
    with SimulatedMarket(load_world("synthetic", "S", state=state), clock, faults) as market:
        for name, value in {
            "DATA_DIR": str(folder),
            "DATA_SOURCE": "mock",
            "SIMULATOR_URL": market.http_url,
            "SIMULATOR_TDX": market.terminals,
            "SAMPLE_STATE": state,
            "SAMPLE_NOW": now,
            **({"WAREHOUSE_URL": url} if url else {}),
        }.items():
            monkeypatch.setenv(name, value)
        settings = load_settings(dotenv=folder / "none")
        open_platform(settings).close()  # the tables
        made = make_services(settings)
        yield made
        made.engine.dispose()


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan) -> Iterator[Services]:
    with opened(tmp_path, monkeypatch, faults) as made:
        yield made


@pytest.fixture(params=SQLITE_OFTEN)
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield from engine_url(request.param, tmp_path)


@pytest.fixture
def services_of_each_engine(
    warehouse_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan
) -> Iterator[Services]:
    """The same on each engine."""
    with opened(tmp_path, monkeypatch, faults, warehouse_url) as made:
        yield made


@pytest.fixture
def runner() -> Iterator[InProcessRuns]:
    from schedules.code_location import defs

    with dg.DagsterInstance.ephemeral() as instance:
        yield InProcessRuns(defs, instance)
