"""A platform whose commands end in real Dagster runs of this process."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from dagster import DagsterInstance

from resources.clock import FrozenClock
from resources.simulated_market.service import SimulatedMarket
from resources.simulated_market.world.loader import load_world
from schedules.house import House, make_house
from schedules.runner import DagsterRunner

NOW = "2026-08-21T15:45"
BANK = "600040"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A platform whose settings come from the environment, as those of a run do."""
    from resources.settings import load_settings

    clock = FrozenClock(datetime.fromisoformat(NOW))
    with SimulatedMarket(load_world("synthetic", "S"), clock) as market:
        host, port = market.tcp_address or ("", 0)
        for name, value in {
            "DATA_DIR": str(tmp_path),
            "DATA_SOURCE": "mock",
            "SIMULATOR_URL": market.http_url,
            "SIMULATOR_TDX": f"{host}:{port}",
            "SAMPLE_NOW": NOW,
        }.items():
            monkeypatch.setenv(name, value)
        from resources.platform import open_platform

        settings = load_settings(dotenv=tmp_path / "none")
        open_platform(settings).close()  # the tables
        house = make_house(settings)
        yield house
        house.engine.dispose()


@pytest.fixture
def runner() -> Iterator[DagsterRunner]:
    from platform_assets.definitions import defs

    with DagsterInstance.ephemeral() as instance:
        made = DagsterRunner()
        made._opened = (defs, instance)
        yield made
