"""What a run leaves in Dagster's own history: an event per date and table, so each has to be small."""

import json
import uuid

from dagster import AssetKey, AssetRecordsFilter, serialize_value

from schedules.house import House
from schedules.runner import RANGE_END, RANGE_START, DagsterRunner

DATES = ("2026-08-18", "2026-08-19", "2026-08-20")
OURS = 1000
"""Bytes of our own figures in an event; the rest of it is Dagster's envelope."""


def test_a_range_tells_what_all_its_dates_share_once(house: House, runner: DagsterRunner) -> None:
    outcome = runner.run(
        "backfill_margin",
        run_id=str(uuid.uuid4()),
        tags={RANGE_START: DATES[0], RANGE_END: DATES[-1]},
    )
    assert outcome.success, outcome.error

    key = AssetKey(["dwd", "fusion_margin"])
    found = runner.instance.fetch_materializations(AssetRecordsFilter(key), limit=10).records
    told = {record.partition_key: record.asset_materialization for record in found}
    assert set(told) == set(DATES)
    for day, event in told.items():
        assert event is not None
        figures = dict(event.metadata)
        assert figures["dagster/row_count"].value > 0
        assert figures["rows_written"].value > 0
        assert "rows_rejected" not in figures  # none was
        assert ("preview" in figures, "sources" in figures) == (day == DATES[-1],) * 2
        if day != DATES[-1]:
            entries = json.loads(serialize_value(event))["metadata_entries"]
            assert len(json.dumps(entries, separators=(",", ":"))) <= OURS
