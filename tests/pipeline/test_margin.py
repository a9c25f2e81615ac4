"""Margin trading: three sources of one figure, a date that comes out a day later, what is filled and what
is recorded when they disagree."""

from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest

from core.calendar import shipped_calendar
from platform_assets.definitions.materialization import partition_metadata
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.download import AllSourcesFailed
from platform_assets.pipeline.on_demand import download
from simulated_market.exchanges.sse import SseResponder as SseMargin
from tests.pipeline.conftest import TODAY, Services

BEFORE = "2026-08-20"
TWO_BEFORE = "2026-08-19"
PORTAL_DOWN = {"upstream": "eastmoney", "call": "report", "kind": "status", "args": {"code": 503}}
RAWS = ("raw_margin", "aux_rzrq", "exchange_margin")


def load(services: Services, *dates: str) -> Loaded:
    for name in RAWS:
        services.raw(name, *dates)
    services.stage("margin", *dates)
    return services.fuse("margin", *dates)


def bars(services: Services) -> None:
    services.master()
    services.fuse("exright")
    services.fuse("kline_daily", BEFORE, TODAY)


def test_the_load_of_a_day_brings_the_figures_of_the_day_before(services: Services) -> None:
    loaded = load(services)

    rows = services.warehouse.frame("fusion_margin")
    assert len(rows) > 20
    assert set(rows["date"]) == {BEFORE}
    assert set(rows["src"]) <= {"sse", "szse", "bse"}
    assert {"sse", "szse", "bse"} == set(rows["src"])
    assert set(rows["valid_from"].str[:16]) == {f"{TODAY} 09:00"}
    assert (rows["quality"] == "ok").all()
    assert loaded.of(TODAY) is None
    assert loaded.not_out == {TODAY: "published from 2026-08-24 09:00"}
    assert rows[["rzche", "rqye", "rzrqye", "rqchl", "fin_ratio_pct"]].notna().all().all()


def test_nothing_is_asked_of_a_date_that_is_not_out(services: Services) -> None:
    services.clock.at = datetime.fromisoformat(f"{TODAY}T08:59")

    loaded = services.raw("exchange_margin", BEFORE)

    assert loaded.calls == {"bse": 2, "sse": 2, "szse": 2}
    assert set(services.warehouse.frame("exchange_margin")["date"]) == {"2026-08-19"}
    assert load(services, BEFORE).of(BEFORE) is None


def test_calls_of_a_day_do_not_grow_with_the_codes(services: Services) -> None:
    raw, aux, exchanges = (services.raw(name) for name in RAWS)

    assert raw.calls == {"eastmoney": 1}
    assert aux.calls == {}
    assert exchanges.calls["sse"] == 2
    assert exchanges.calls["szse"] == 2
    rows = services.warehouse.frame("aux_rzrq")
    assert set(rows["src"]) == {"em_f10"}
    assert len(rows) == len(services.warehouse.frame("raw_margin"))


def test_the_sums_of_the_markets_stay_in_the_raw_table(services: Services) -> None:
    load(services)

    raw = services.warehouse.frame("exchange_margin").set_index("code")
    assert {"TOTAL_SH", "TOTAL_SZ", "TOTAL_BJ"} <= set(raw.index)
    shanghai = raw[(raw["exchange"] == "SSE") & (raw.index != "TOTAL_SH")]
    assert raw.loc["TOTAL_SH", "rzye"] == pytest.approx(shanghai["rzye"].sum())
    shenzhen = raw[(raw["exchange"] == "SZSE") & (raw.index != "TOTAL_SZ")]
    assert raw.loc["TOTAL_SZ", "rzye"] == pytest.approx(shenzhen["rzye"].sum(), abs=0.0051e8)
    assert not services.warehouse.frame("fusion_margin")["code"].str.startswith("TOTAL").any()


def test_exchanges_and_portal_agree_to_the_yuan(services: Services) -> None:
    for name in RAWS:
        services.raw(name)

    portal = services.warehouse.frame("raw_margin").set_index("code")
    official = services.warehouse.frame("exchange_margin").set_index("code").reindex(portal.index)
    for column in ("rzye", "rzmre", "loan_volume", "rqmcl"):
        assert official[column].astype(float).tolist() == portal[column].astype(float).tolist(), column
    assert official[official["exchange"] == "SSE"]["rqye"].isna().all()
    assert official[official["exchange"] == "SZSE"][["rzche", "rqchl"]].isna().all().all()


def test_without_the_portal_the_gaps_of_the_exchanges_follow_from_balances(services: Services) -> None:
    bars(services)
    load(services, TWO_BEFORE)
    services.faults.replace([PORTAL_DOWN])
    services.fresh()
    services.raw("exchange_margin", TODAY)
    services.stage("margin", TODAY)
    services.fuse("margin", TODAY)

    rows = services.warehouse.frame("fusion_margin")
    rows = rows[rows["date"] == BEFORE]
    shanghai, shenzhen = rows[rows["src"] == "sse"], rows[rows["src"] == "szse"]
    assert len(shanghai) > 0
    assert len(shenzhen) > 0
    assert (shanghai["rqye"] - shanghai["loan_volume"].astype(float) * shanghai["close"]).abs().max() < 0.01
    assert shenzhen["rzche"].notna().all()
    assert shenzhen["rqchl"].isna().all()  # no source has it
    assert ((rows["rzye"] + rows["rqye"] - rows["rzrqye"]).abs() < 0.02).all()
    assert (rows["quality"] == "ok").all()


def test_one_exchange_away_leaves_its_names_to_the_portal_and_says_so(services: Services) -> None:
    services.faults.replace([{"upstream": "szse", "kind": "status", "args": {"code": 503}}])

    official = services.raw("exchange_margin")
    load(services)

    assert [item["src"] for item in official.sources if item.get("error")] == ["szse"]
    rows = services.warehouse.frame("fusion_margin")
    assert {"sse", "bse", "eastmoney"} <= set(rows["src"])
    assert rows["rzye"].notna().all()


def test_a_portal_that_differs_beyond_the_tolerance_marks_the_row(services: Services) -> None:
    for name in RAWS:
        services.raw(name)
    victim = services.warehouse.frame("raw_margin")["code"].iloc[0]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE raw_margin SET rzye = rzye * 1.002, rzrqye = rzrqye + rzye * 0.002 WHERE code='{victim}'"
        )
    services.stage("margin")
    services.fuse("margin")

    rows = services.warehouse.frame("fusion_margin").set_index("code")
    assert rows.loc[victim, "quality"] == "warning"
    assert "source_conflict:rzye" in str(rows.loc[victim, "quality_flags"])
    assert (rows.drop(index=victim)["quality"] == "ok").all()
    official = services.warehouse.frame("exchange_margin").set_index("code")
    assert rows.loc[victim, "rzye"] == official.loc[victim, "rzye"]


def test_figures_of_another_row_beside_its_own_balance_mark_the_row(services: Services) -> None:
    for name in RAWS:
        services.raw(name)
    official = services.warehouse.frame("exchange_margin")
    victim, other = official[official["exchange"] == "SSE"]["code"].iloc[:2]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE exchange_margin SET rzmre = rzmre + 700, loan_volume = loan_volume + 5000 "
            f"WHERE code='{victim}'"
        )
    services.stage("margin")
    services.fuse("margin")

    rows = services.warehouse.frame("fusion_margin").set_index("code")
    flags = str(rows.loc[victim, "quality_flags"])
    assert "source_conflict:rzmre" in flags
    assert "source_conflict:loan_volume" in flags
    assert rows.loc[other, "quality"] == "ok"


def test_a_balance_rolls_forward_and_a_second_load_writes_nothing(services: Services) -> None:
    bars(services)
    load(services, BEFORE)
    services.fresh()
    load(services, TODAY)
    services.fresh()

    again = load(services, TODAY)

    rows = services.warehouse.frame("fusion_margin")
    assert len(set(rows["date"])) == 2
    assert (rows["quality"] == "ok").all()
    assert sum(result.rows_written for result in again.results) == 0


def test_a_download_of_codes_counts_the_date_that_came_out(services: Services) -> None:
    load(services)
    code = services.warehouse.frame("raw_margin")["code"].iloc[0]

    reported = download(services.run, [code], ["margin", "aux_rzrq"], TODAY)

    assert reported["types"]["margin"]["status"] == "success"
    newest = services.warehouse.frame("raw_margin", columns=["code", "date"])
    published = newest.loc[newest["code"] == code, "date"].max()
    # The history of a single code: all of the 120 trade dates that are out.
    assert reported["types"]["margin"]["codes"][code]["total"] >= 119
    assert reported["types"]["aux_rzrq"]["codes"][code]["total"] >= 119
    assert published <= TODAY
    assert reported["fusion"]["results"]["margin"]["status"] == "success"


@pytest.mark.parametrize("upstream", ["eastmoney", "szse", "sse", "bse"])
@pytest.mark.parametrize("kind", ["double_rows", "cut_list", "html", "empty", "garbage"])
def test_no_lie_of_one_source_reaches_the_fused_table(services: Services, upstream: str, kind: str) -> None:
    args = {"rows": 1} if kind == "cut_list" else {}
    load(services)
    truth = services.warehouse.frame("fusion_margin").set_index("code")["rzye"]
    services.faults.replace([{"upstream": upstream, "call": "*", "kind": kind, "args": args}])
    services.fresh()

    for name in RAWS:
        with suppress(AllSourcesFailed):  # a table with one source fails as a whole
            services.raw(name)
    services.stage("margin")
    services.fuse("margin")

    after = services.warehouse.frame("fusion_margin").set_index("code")["rzye"]
    assert after.to_dict() == truth.to_dict()


def test_the_wide_table_shows_the_balance_that_was_known(services: Services) -> None:
    load(services)
    services.day()

    known = services.warehouse.frame("fusion_margin").set_index("code")["rzye"].to_dict()
    shown = [row for row in services.warehouse.rows("fusion_stock_wide") if row["rzye"] is not None]
    assert shown
    assert all(row["rzye"] == known[row["code"]] for row in shown)


def test_a_row_that_is_left_out_reaches_the_record_of_its_batch(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = SseMargin._detail

    def with_an_odd_row(self: SseMargin, view: Any, date: str) -> list[dict[str, Any]]:
        rows = honest(self, view, date)
        return [{**rows[0], "rqylje": 5e9, "rzrqjyzl": 1.0}, *rows[1:]]

    whole = services.raw("exchange_margin").of(BEFORE)
    services.fresh()
    monkeypatch.setattr(SseMargin, "_detail", with_an_odd_row)
    loaded = services.raw("exchange_margin")

    result = loaded.results[-1]
    loaded_of_the_date = loaded.of(BEFORE)
    assert whole is not None
    assert loaded_of_the_date is not None
    assert (result.rows_rejected, loaded_of_the_date.rows_in) == (1, whole.rows_in)
    assert partition_metadata(loaded, result)["rows_rejected"] == 1
    (stored,) = services.warehouse.query(
        "SELECT rows_rejected FROM sys_batch WHERE batch_id=?", (result.batch_id,)
    )
    assert stored == (1,)
    reported = services.warehouse.query(
        "SELECT action, message, code FROM sys_quality_record "
        "WHERE check_name='source_answer' AND batch_id=? AND natural_key IS NOT NULL",
        (result.batch_id,),
    )
    ((action, message, code),) = reported
    assert action == "rejected"
    assert "rzye + rqylje is not rzrqjyzl" in message
    assert str(code) in message


def test_a_load_before_the_hour_of_publication_says_from_when(services: Services) -> None:
    loaded = services.raw("raw_margin", TODAY)

    assert loaded.of(TODAY) is None
    assert loaded.not_out == {TODAY: "published from 2026-08-24 09:00"}
    filled = loaded.of(BEFORE)
    assert filled is not None
    assert filled.rows_in > 0

    declared = services.registry.trade_days["raw_margin"]
    calendar = shipped_calendar()
    assert declared.not_out(TODAY, datetime(2026, 8, 24, 9), calendar) is None
    # Beyond the calendar the date of publication is unknown, and a run goes on.
    assert declared.not_out(calendar.horizon, datetime(2026, 8, 21, 20), calendar) == (
        f"published after {calendar.horizon}, the last date of the calendar"
    )
