"""The simulated market is really stopped and started again in the middle of a real backfill."""

import os
import signal
import time
from pathlib import Path

import pytest

from resources.transport.gates import SqliteGate
from resources.warehouse.ledger.backfills import Backfills
from tests.soak.installation import Installation, without_schedules

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc"),
]
DATES = 57
CALLS_BEFORE = 12
PATIENCE_S = 400.0


def requests(gate: SqliteGate) -> int:
    return sum(int(counts["requests"]) for counts in gate.counters().values())


def stop_the_market(place: Installation) -> None:
    """Its supervisor starts it again, as any process that dies."""
    (pid,) = place.processes("simulated_market")
    os.kill(pid, signal.SIGKILL)


def test_a_market_that_is_away_for_seconds_costs_a_backfill_nothing(tmp_path: Path) -> None:
    with without_schedules(tmp_path) as place:
        services, ledger = place.services, Backfills(place.services.engine)
        gate = SqliteGate(tmp_path / "transport.sqlite3")
        days = services.calendar.last(DATES, "2026-08-21")
        made = ledger.create("margin", days[0], days[-1], days, by="admin", now=services.clock.now())
        args = {"backfill_id": made.id, "table": "fusion_margin"}
        command = services.commands.enqueue("backfill", args, requested_by="admin")

        end = time.monotonic() + PATIENCE_S
        while requests(gate) < CALLS_BEFORE:
            assert time.monotonic() < end
            time.sleep(0.01)
        stop_the_market(place)
        while not ledger.get(made.id).ended:
            assert time.monotonic() < end, (services.commands.get(command.id), ledger.get(made.id))
            time.sleep(0.1)

        found = ledger.get(made.id)
        failures = sum(int(counts["failures"]) for counts in gate.counters().values())
        gate.close()
        assert failures > 0, "the market was never missed"
        assert (found.status, found.done, found.failures) == ("success", DATES, {})
