"""Five trade dates of the simulated market of autumn 2026, played through the Dagster jobs: afterwards
every stored bar, factor and ex-right event is what the market knows it to be.

The truth is the world's own model (`world/model.py`): whole bars and events as they took place, with no
client, no parser and no line of the platform between.
"""

import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from resources.simulated_market.faults import FaultPlan
from resources.simulated_market.world.full import SyntheticWorld
from resources.simulated_market.world.model import Bars, Security
from schedules.commands.worker import Worker
from schedules.runs.execution import DagsterRunner
from schedules.services import Services
from tests.definitions.conftest import opened
from tests.soak.installation import PAUSES

STATE = "autumn-2026"
BEFORE = ("2026-09-03", "2026-09-11")
"""The range that an installation has loaded: the suspension of 605621 has begun in it."""
DAYS = ("2026-09-14", "2026-09-15", "2026-09-16", "2026-09-17", "2026-09-18")
"""In these 605622 goes ex with a record that comes late, 003061 becomes 001991, two funds are split and put
together, and 605621 trades again after three ex-dates."""
EVENING = datetime(2026, 9, 18, 16, 0)


@pytest.fixture(scope="module")
def world() -> SyntheticWorld:
    return SyntheticWorld("S", state=STATE)


def carried_out(services: Services, runner: DagsterRunner, job: str, **how: Any) -> tuple[str, str | None]:
    asked = services.commands.enqueue("run_job", {"job": job, **how}, requested_by="admin")
    Worker(services, runner).work_once()
    command = services.commands.get(asked.id)
    return command.status, command.error


@pytest.fixture
def played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan, runner: DagsterRunner
) -> Iterator[Services]:
    """The platform on the evening of the last date."""
    success = ("success", None)
    for name in PAUSES:
        monkeypatch.setenv(name, "0")
    for day in DAYS:
        with opened(tmp_path, monkeypatch, faults, now=f"{day}T15:45", state=STATE) as services:
            assert carried_out(services, runner, "security_list", partition_key=day) == success
            if day == DAYS[0]:
                assert carried_out(services, runner, "history", partition_range=list(BEFORE)) == success
            assert carried_out(services, runner, "fusion_kline_sync", partition_key=day) == success
            if day == DAYS[-1]:
                yield services


def stored(services: Services, statement: str) -> list[dict[str, Any]]:
    with services.engine.connect() as connection:
        return [dict(row) for row in connection.exec_driver_sql(statement).mappings()]


def iso(day: int) -> str:
    return f"{day // 10_000}-{day // 100 % 100:02d}-{day % 100:02d}"


def held(world: SyntheticWorld) -> list[Security]:
    kinds = {"stock", "etf", "lof", "cb", "reit"}
    return [one for one in world.securities(EVENING) if one.kind in kinds]


def factors(bars: Bars) -> list[float]:
    """Close before / reference price, multiplied over all sessions since the first one."""
    found, factor = [], 1.0
    for row in range(len(bars)):
        if row and int(bars.preclose[row]) != int(bars.close[row - 1]):
            factor *= int(bars.close[row - 1]) / int(bars.preclose[row])
        found.append(factor)
    return found


def test_bars_factors_and_events_are_those_of_the_market(played: Services, world: SyntheticWorld) -> None:
    rows = {
        (row["code"], str(row["date"])): row
        for row in stored(played, "SELECT * FROM fusion_kline_daily WHERE sec_type <> 'index'")
    }
    wrong: list[tuple[Any, ...]] = []
    expected = set()
    for security in held(world):
        bars = world.bars(security, EVENING)
        for row, factor in enumerate(factors(bars)):
            day = iso(int(bars.date[row]))
            if not BEFORE[0] <= day <= DAYS[-1] or not bars.traded[row]:
                continue
            expected.add((security.code, day))
            found = rows.get((security.code, day))
            if found is None:
                wrong.append((security.code, day, "no bar"))
                continue
            prices = {name: getattr(bars, name)[row] / 1e4 for name in ("open", "high", "low", "close")}
            prices["last_close"] = bars.preclose[row] / 1e4
            lot = 10 if security.kind == "cb" else 100
            wrong += [
                (security.code, day, name, found[name], value)
                for name, value in prices.items()
                if not math.isclose(found[name] or 0.0, value, abs_tol=1e-6)
            ]
            if abs(found["volume"] - int(bars.volume[row])) > max(lot, bars.volume[row] / 2**23):
                wrong.append((security.code, day, "volume", found["volume"], int(bars.volume[row])))
            if not math.isclose(found["adj_factor"] or 0.0, factor, rel_tol=1e-6):
                wrong.append((security.code, day, "adj_factor", found["adj_factor"], factor))
    assert wrong == [], "\n".join(map(str, wrong))
    traded = {key for key, row in rows.items() if not row["is_suspended"]}
    assert traded == expected

    # Events: every one that took place in the dates that were loaded, and no other one.
    took_place = {
        (security.code, iso(event.date), event.category)
        for security in held(world)
        for event in world.exrights(security, EVENING)
        if event.category in (1, 11) and BEFORE[0] <= iso(event.date) <= DAYS[-1]
    }
    assert len({day for _, day, _ in took_place}) == len(
        [day for day in world.trade_dates() if BEFORE[0] <= iso(int(day)) <= DAYS[-1]]
    )
    known = {
        (row["code"], str(row["date"]), row["category"])
        for row in stored(played, "SELECT * FROM ref_exright WHERE category IN (1, 11)")
        if BEFORE[0] <= str(row["date"]) <= DAYS[-1]
    }
    assert known == took_place
