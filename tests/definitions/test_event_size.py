"""What a run leaves in Dagster's own history: an event per date and table, so each has to be small."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from dagster import AssetKey, AssetRecordsFilter, DagsterEventType, serialize_value

from resources.orchestrator import RANGE_END, RANGE_START
from schedules.services import Services
from tests.definitions.in_process import InProcessRuns

DATES = ("2026-08-18", "2026-08-19", "2026-08-20")
OF_A_DATE = 600
OURS = 1300
"""Bytes of our own figures in an event, sources and preview with them; of a date of a range OF_A_DATE."""
WHOLE = 4 * 1024
"""Bytes of an event with what Dagster adds: about 1,400, and 200 for each table that was read."""


def test_a_range_tells_what_all_its_dates_share_once(services: Services, runner: InProcessRuns) -> None:
    outcome = runner.run(
        "margin",
        run_id=str(uuid.uuid4()),
        tags={RANGE_START: DATES[0], RANGE_END: DATES[-1]},
    )
    assert outcome.success, outcome.error

    key = AssetKey(["dwd", "fusion_margin"])
    found = runner.instance.fetch_materializations(AssetRecordsFilter(key), limit=10).records
    reported = {record.partition_key: record.asset_materialization for record in found}
    # The figures of the date before came with them.
    assert set(reported) == {"2026-08-17", *DATES}
    for day, event in reported.items():
        assert event is not None
        figures = dict(event.metadata)
        assert figures["dagster/row_count"].value > 0
        assert figures["rows_written"].value > 0
        assert "rows_rejected" not in figures  # none was
        assert ("preview" in figures, "sources" in figures) == (day == DATES[-1],) * 2
        if day != DATES[-1]:
            assert ours(event) <= OF_A_DATE


@pytest.mark.parametrize("job", ["kline_daily", "security_list"])
def test_no_event_of_a_daily_run_is_large(services: Services, runner: InProcessRuns, job: str) -> None:
    outcome = runner.run(job, run_id=str(uuid.uuid4()), partition_key="2026-08-21")
    assert outcome.success, outcome.error

    for kind, size, text in whole_events(runner, outcome.run_id):
        assert size <= WHOLE, (kind, text)
    for kind, said in facts(runner, outcome.run_id):
        assert ours(said) <= OURS, (kind, said.metadata)
        if kind is DagsterEventType.STEP_OUTPUT:
            assert not said.metadata  # the materialization says it


def whole_events(runner: InProcessRuns, run_id: str) -> Iterator[tuple[Any, int, str]]:
    for entry in runner.instance.all_logs(run_id):
        text = serialize_value(entry)
        event = entry.dagster_event
        yield event.event_type if event else None, len(text), text


def facts(runner: InProcessRuns, run_id: str) -> Iterator[tuple[DagsterEventType, Any]]:
    """Kind and content of the events that carry figures of ours."""
    for entry in runner.instance.all_logs(run_id):
        event = entry.dagster_event
        if event is None:
            continue
        if event.is_step_materialization:
            yield event.event_type, event.step_materialization_data.materialization
        elif event.event_type is DagsterEventType.STEP_OUTPUT:
            yield event.event_type, event.step_output_data
        elif event.event_type is DagsterEventType.ASSET_CHECK_EVALUATION:
            yield event.event_type, event.asset_check_evaluation_data


def ours(event: Any) -> int:
    """Bytes of the figures in an event as they are stored."""
    reported = json.loads(serialize_value(event))
    return len(json.dumps(reported.get("metadata_entries") or reported.get("metadata") or []))
