"""Bars are of the instrument that was asked for, also while the terminal's list cannot say so: the job stores
none of another one, and its batch says which answer was refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.orchestrator import CODES_TAG
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK, opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out, rows

FUND = "510001"
RANGE, YESTERDAY, TODAY = ["2026-08-18", "2026-08-19"], "2026-08-20", "2026-08-21"


def corrupted(code: str, *, list_away: bool) -> list[dict[str, Any]]:
    """The second site, whose lines bear no code, is the only one with bars, and answers for `code` with the
    index of Shanghai."""
    args = {"serve": "sh000001", "under": code}
    away = [("eastmoney", "kline"), ("tencent", "bars"), *([("eastmoney", "clist")] if list_away else [])]
    return [
        {"upstream": "tdx", "call": "*", "kind": "reset"},
        {"upstream": "sina", "call": "bars", "kind": "wrong_instrument", "args": args},
        *({"upstream": upstream, "call": call, "kind": "truncate"} for upstream, call in away),
    ]


@pytest.fixture
def stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan, runner: InProcessRuns
) -> Iterator[Services]:
    """The platform with the security list and the bars of the day before."""
    with opened(tmp_path, monkeypatch, faults, now=f"{YESTERDAY}T15:45") as services:
        for job in ("security_list", "fusion_kline_sync"):
            done = carried_out(services, runner, job, partition_key=YESTERDAY)
            assert (done.status, done.error) == ("success", None)
    with opened(tmp_path, monkeypatch, faults, now=f"{TODAY}T15:45") as services:
        yield services


@pytest.mark.parametrize(
    ("code", "list_away", "says"),
    [
        (BANK, False, "the list says"),  # the portal's list has the close before
        (FUND, False, "stored is"),  # which holds no funds
        (BANK, True, "stored is"),
    ],
)
def test_bars_of_another_instrument_are_refused(
    stored: Services, faults: FaultPlan, runner: InProcessRuns, code: str, list_away: bool, says: str
) -> None:
    faults.replace(corrupted(code, list_away=list_away))

    tags = {CODES_TAG: f"{BANK},{FUND}"}
    command = carried_out(stored, runner, "kline_daily", partition_range=RANGE, tags=tags)

    assert (command.status, command.error) == ("success", None)
    of_range = f"date IN ('{RANGE[0]}', '{RANGE[1]}')"
    held = rows(stored, f"SELECT DISTINCT code, src FROM fusion_kline_daily WHERE {of_range}")
    assert held == [({BANK: FUND, FUND: BANK}[code], "sina")]
    refused = rows(
        stored,
        f"SELECT message FROM sys_quality_record WHERE code='{code}' AND table_name='fusion_kline_daily' "
        "AND message LIKE '%another instrument%'",
    )
    assert refused
    assert all(says in message for (message,) in refused)
