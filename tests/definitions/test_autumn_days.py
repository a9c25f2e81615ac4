"""Five trade dates of the simulated market of autumn 2026, played through the Dagster jobs: afterwards
every stored bar, factor and ex-right event is what the market knows it to be.

The truth is the world's own model (`world/model.py`): whole bars and events as they took place, with no
client, no parser and no line of the platform between.
"""

import itertools
import operator
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from schedules.commands.worker import Worker
from schedules.services import Services
from simulated_market.faults import FaultPlan
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.model import Bars, Security
from tests.definitions.conftest import opened
from tests.definitions.in_process import InProcessRuns
from tests.soak.installation import PAUSES

STATE = "autumn-2026"
BEFORE = ("2026-09-03", "2026-09-11")
"""The range that an installation has loaded: the suspension of 605621 has begun in it."""
DAYS = ("2026-09-14", "2026-09-15", "2026-09-16", "2026-09-17", "2026-09-18")
"""In these 605622 goes ex with a record that comes late, 003061 becomes 001991, two funds are split and put
together, and 605621 trades again after three ex-dates."""
TREASURY = "003050"
"""Its treasury shares took no dividend in 2025. No record says so, only a reference price of that date."""
EVENING = datetime(2026, 9, 18, 16, 0)


@pytest.fixture(scope="module")
def world() -> SyntheticWorld:
    return SyntheticWorld("S", state=STATE)


def carried_out(services: Services, runner: InProcessRuns, job: str, **how: Any) -> tuple[str, str | None]:
    """How the job ended, and with it all that it has asked for: repairs of bars among it."""
    asked = services.commands.enqueue("run_job", {"job": job, **how}, requested_by="admin")
    worker = Worker(services, runner)
    while worker.work_once():
        pass
    command = services.commands.get(asked.id)
    return command.status, command.error


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """The platform on the evening of the last date."""
    from schedules.code_location import defs

    with pytest.MonkeyPatch.context() as monkeypatch, dg.DagsterInstance.ephemeral() as instance:
        for name in PAUSES:
            monkeypatch.setenv(name, "0")
        yield from played_days(tmp_path_factory.mktemp("autumn"), monkeypatch, InProcessRuns(defs, instance))


def played_days(folder: Path, monkeypatch: pytest.MonkeyPatch, runner: InProcessRuns) -> Iterator[Services]:
    success = ("success", None)
    for day in DAYS:
        with opened(folder, monkeypatch, FaultPlan(), now=f"{day}T15:45", state=STATE) as services:
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
    steps = [1.0, *(int(a) / int(b) for a, b in zip(bars.close[:-1], bars.preclose[1:], strict=True))]
    return list(itertools.accumulate(steps, operator.mul))


def codes_of(world: SyntheticWorld, security: Security, day: int) -> set[str]:
    """Its code now, and that of a date: the history of a replaced code is stored under either or both."""
    known = world.securities(datetime.strptime(f"{day} 16", "%Y%m%d %H"))
    return {security.code, *(one.code for one in known if world.place(one) == world.place(security))}


def test_bars_and_factors_are_those_of_the_market(played: Services, world: SyntheticWorld) -> None:
    rows = {
        (row["code"], str(row["date"])): row for row in stored(played, "SELECT * FROM fusion_kline_daily")
    }
    left = {key for key, row in rows.items() if not row["is_suspended"]}
    wrong: list[tuple[Any, ...]] = []
    for security in held(world):
        bars = world.bars(security, EVENING)
        for at, factor in enumerate(factors(bars)):
            day = iso(int(bars.date[at]))
            if not BEFORE[0] <= day <= DAYS[-1] or not bars.traded[at]:
                continue
            codes = codes_of(world, security, int(bars.date[at]))
            keys = [(code, day) for code in codes if (code, day) in rows]
            left -= set(keys)
            if not keys:
                wrong.append((security.code, day, "no bar"))
            for key in keys:
                wrong += [(*key, *one) for one in differences(rows[key], bars, at, factor, security)]
    assert wrong == [], "\n".join(map(str, wrong))
    assert left == set()


def differences(
    row: dict[str, Any], bars: Bars, at: int, factor: float, security: Security
) -> list[tuple[str, Any, float]]:
    """(column, stored, true) of what a bar has otherwise. The terminal's volume is a float32 of lots."""
    true = {name: getattr(bars, name)[at] / 1e4 for name in ("open", "high", "low", "close")}
    true |= {"last_close": bars.preclose[at] / 1e4, "adj_factor": factor, "volume": int(bars.volume[at])}
    lot = 10 if security.kind == "cb" else 100
    exact = 1e-6 if security.code != TREASURY else 3e-4
    allowed = dict.fromkeys(true, 1e-6) | {"adj_factor": exact * factor}
    allowed["volume"] = max(lot, bars.volume[at] / 2**23)
    found = {name: row[name] or 0 for name in true}
    return [(name, found[name], true[name]) for name in true if abs(found[name] - true[name]) > allowed[name]]


def test_events_are_those_that_took_place(played: Services, world: SyntheticWorld) -> None:
    took_place, late = set(), set()
    for security in held(world):
        for event in world.exrights(security, EVENING):
            if event.category in (1, 11) and BEFORE[0] <= iso(event.date) <= DAYS[-1]:
                took_place.add((security.code, iso(event.date), event.category))
                if event.late and iso(event.date) == DAYS[-1]:
                    late.add((security.code, iso(event.date)))
    sessions = {iso(int(day)) for day in world.trade_dates() if BEFORE[0] <= iso(int(day)) <= DAYS[-1]}
    assert {day for _, day, _ in took_place} == sessions

    known = {
        (row["code"], str(row["date"]), row["category"])
        for row in stored(played, "SELECT * FROM ref_exright WHERE category IN (1, 11)")
        if BEFORE[0] <= str(row["date"]) <= DAYS[-1]
    }
    assert {key for key in took_place if key[:2] not in late} <= known <= took_place
    # What no source has yet is an open item, and no other difference is left.
    items = stored(played, "SELECT code, date FROM ref_exright_item WHERE status='open'")
    assert {(row["code"], str(row["date"])) for row in items} == {key[:2] for key in took_place - known}
