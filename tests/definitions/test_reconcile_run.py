"""calc_reconcile in a run of Dagster: stored, and shown as a table and a plot with the materialization."""

import dagster as dg

from schedules.services import Services
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out, rows

DAYS = ["2026-08-20", "2026-08-21"]
KEY = dg.AssetKey(["calc", "calc_reconcile"])


def test_agreement_is_stored_and_shown(services_of_each_engine: Services, runner: InProcessRuns) -> None:
    services = services_of_each_engine
    # What it compares: the list and the quotes of the day, bars and indices.
    for job, how in {
        "security_list": {"partition_key": DAYS[1]},
        "history": {"partition_range": DAYS},
        "quote_snapshot": {"partition_key": DAYS[1]},
    }.items():
        done = carried_out(services, runner, job, **how)
        assert (job, done.status, done.error) == (job, "success", None)

    done = carried_out(services, runner, "reconcile", partition_range=DAYS)

    assert (done.status, done.error) == ("success", None)
    stored = rows(services, "SELECT dataset, field_name, compared, status FROM calc_reconcile ORDER BY 1, 2")
    reported = {(dataset, field) for dataset, field, _, _ in stored}
    assert reported >= {("kline_daily", "close"), ("quote_snapshot", "price"), ("index_daily", "volume")}
    assert any(compared for _, _, compared, _ in stored)
    instance = runner.instance
    event = instance.get_latest_materialization_event(KEY)
    assert event is not None
    # The newest date of a range comes last: it is what the UI shows first.
    assert event.asset_materialization.partition == DAYS[1]
    assert event.run_id == done.run_id
    shown = event.asset_materialization.metadata
    table, plot = str(shown["agreement"].value), str(shown["agreement_plot"].value)
    compared = rows(
        services,
        "SELECT compared FROM calc_reconcile WHERE trade_date='2026-08-21' "
        "AND dataset='quote_snapshot' AND field_name='price'",
    )[0][0]
    assert f"| quote_snapshot.price: tencent / eastmoney | {compared} |" in table
    assert "quote_snapshot.price" in plot
    assert "█" in plot
    assert int(shown["dagster/row_count"].value) > 0

    again = carried_out(services, runner, "reconcile", partition_range=DAYS)
    written = rows(services, f"SELECT SUM(rows_written) FROM sys_batch WHERE run_id='{again.run_id}'")
    assert written == [(0,)]
