"""A table whose inputs could not be loaded is not made of their old rows."""

import pytest

from core.errors import PlatformError, QualityError
from tests.pipeline.conftest import TODAY, Services, context_of

SILENT = [
    {"upstream": "*", "call": "*", "kind": "truncate"},
    {"upstream": "tdx", "call": "*", "kind": "reset"},
]


@pytest.mark.parametrize(("feed", "dataset"), [("raw_holder_num", "holder"), ("raw_quote", "stock_master")])
def test_old_rows_are_not_staged_as_those_of_today(feed: str, dataset: str, alone: Services) -> None:
    before = alone.run.calendar.offset(TODAY, -1)
    alone.at(before)
    alone.master(before)
    alone.raw(feed, before)
    alone.stage(dataset, before)
    alone.at(TODAY)
    alone.faults.replace(SILENT)
    with pytest.raises(PlatformError) as silence:
        alone.raw(feed, TODAY)

    staged, fused = f"stg_{dataset}", alone.registry.dataset(dataset).table_name
    with pytest.raises(QualityError) as refused:
        alone.stage(dataset, TODAY)
    assert refused.value.message == f"{staged}: {feed}: {silence.value.message}"
    with pytest.raises(QualityError, match=f"^{fused}: {staged}: {feed}: "):
        alone.fuse(dataset, TODAY)
    query = "SELECT table_name, status FROM sys_batch WHERE started_at>=? ORDER BY started_at, table_name"
    assert set(alone.warehouse.query(query, (TODAY,))) == {
        (feed, "failed"), (staged, "failed"), (fused, "failed")
    }  # fmt: skip

    # Once it is loaded on the day a later failure takes nothing away.
    for rules in ([], SILENT):
        alone.faults.replace(rules)
        alone.run.ctx = context_of(alone.settings, alone.clock)
        try:
            alone.raw(feed, TODAY)
        except PlatformError:
            assert rules
    assert alone.stage(dataset, TODAY).results
    assert alone.fuse(dataset, TODAY).results
