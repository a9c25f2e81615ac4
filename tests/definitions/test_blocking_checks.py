"""Wrong rows of a table that most others follow from stop them; a source that is away does not."""

import dagster as dg
import pytest

from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out

DAY, BEFORE = "2026-08-21", "2026-08-20"
BARS, AFTER = "dwd__fusion_kline_daily", "dwd__fusion_kline_bar"


def steps_begun(runner: InProcessRuns, run_id: str) -> set[str]:
    kinds = {dg.DagsterEventType.STEP_START}
    records = runner.instance.get_records_for_run(run_id, of_type=kinds).records
    return {str(record.event_log_entry.step_key) for record in records}


def verdicts(runner: InProcessRuns, run_id: str) -> set[tuple[bool, str, bool]]:
    """(passed, severity, blocking) of the checks of the bars."""
    kinds = {dg.DagsterEventType.ASSET_CHECK_EVALUATION}
    found = set()
    for record in runner.instance.get_records_for_run(run_id, of_type=kinds).records:
        event = record.event_log_entry.dagster_event
        if event is not None and event.step_key == BARS:
            one = event.asset_check_evaluation_data
            found.add((one.passed, one.severity.value, one.blocking))
    return found


ZEROS = [{"upstream": "*", "call": call, "kind": "zero_row", "args": {}} for call in ("quotes", "quote")]
SILENCE = [{"upstream": "*", "call": "*", "kind": "status", "args": {"code": 503}}]


@pytest.mark.parametrize(("wrong", "severity", "goes_on"), [(ZEROS, "ERROR", False), (SILENCE, "WARN", True)])
def test_what_follows_wrong_bars_is_not_loaded_and_what_follows_absent_ones_is(
    services: Services,
    runner: InProcessRuns,
    faults: FaultPlan,
    wrong: list[dict[str, object]],
    severity: str,
    goes_on: bool,
) -> None:
    carried_out(services, runner, "security_list", partition_key=DAY)
    carried_out(services, runner, "history", partition_range=["2026-08-03", BEFORE])
    faults.replace(wrong)

    done = carried_out(services, runner, "fusion_kline_sync", partition_key=DAY)

    assert done.status == "failed"
    begun = steps_begun(runner, str(done.run_id))
    assert BARS in begun
    assert verdicts(runner, str(done.run_id)) == {(False, severity, True)}
    assert (AFTER in begun) is goes_on
