"""Names and special treatment on dates before anybody looked, and the limits that follow from them."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from resources.settings import Settings
from resources.warehouse.stored import ANY
from serving_api.app import create_app
from simulated_market.world.model import PRICE_UNIT, World
from tests.pipeline.conftest import TODAY, Services
from tests.serving_api.client import running

ST_OFF, ST_ON, DELISTING = "000103", "000109", "605400"
"""Under ST until 2026-05-11; under ST since 2026-04-29; in its delisting period since 2025-06-10."""
NOT_TOLD = {("sz003050", "2025-05-22")}
"""An event with treasury shares: no upstream has it."""
NO_PACKAGE = {"upstream": "tdx", "call": "file_*", "kind": "dead"}


def spans(services: Services, code: str) -> list[tuple[Any, ...]]:
    rows = services.warehouse.rows("ref_name_history", ANY.code == code, order=["valid_from"])
    return [(row["valid_from"], row["valid_to"], row["name"], bool(row["is_st"])) for row in rows]


def bar(services: Services, code: str, day: str) -> dict[str, Any]:
    (row,) = services.warehouse.rows("fusion_kline_daily", ANY.code == code, ANY.date == day)
    return row


def iso(day: int) -> str:
    return f"{day // 10_000}-{day // 100 % 100:02d}-{day % 100:02d}"


@pytest.mark.soak
def test_limits_of_a_year_are_those_of_the_world_on_every_date(services: Services) -> None:
    """The names of all these dates were never seen: the platform looks on the last of them only."""
    services.master()
    services.bars(*services.run.calendar.last(320, TODAY))

    now, compared, special = services.clock.now(), 0, 0
    stored = services.warehouse.frame(
        "fusion_kline_daily", columns=("code", "date", "limit_up", "limit_down", "limit_status")
    ).set_index(["code", "date"])
    for security in services.world.securities(now):
        if security.kind != "stock":
            continue
        for number in services.world.bars(security, now).date.tolist():
            day = iso(number)
            if (security.code, day) not in stored.index or (security.symbol, day) in NOT_TOLD:
                continue
            row, limits = stored.loc[(security.code, day)], services.world.limits(security, number)
            got = (row["limit_up"], row["limit_down"])
            if limits is None:
                assert all(map(pd.isna, got)), (security.symbol, day)
            else:
                assert got == (limits[0] / PRICE_UNIT, limits[1] / PRICE_UNIT), (security.symbol, day)
            assert pd.notna(row["limit_status"])
            compared += 1
            special += services.world.is_st(security, number)
    assert compared > 17_000
    assert special > 400


def test_the_spans_are_the_dated_names(services: Services) -> None:
    services.master()

    assert spans(services, ST_OFF) == [
        ("1990-12-19", "2024-04-29", "钧野地产", False),
        ("2024-04-30", "2025-05-26", "*ST钧野", True),
        ("2025-05-27", "2026-05-11", "ST钧野", True),
        ("2026-05-12", None, "钧野地产", False),
    ]
    assert len(spans(services, "600040")) == 1


def test_names_asked_twice_write_nothing(services: Services) -> None:
    services.master()
    first = services.warehouse.rows("ref_name_history", order=["code", "valid_from"])
    services.fresh()

    again = services.fuse("name_history")

    assert sum(result.rows_written for result in again.results) == 0
    assert again.calls["tdx"] > 0
    assert services.warehouse.rows("ref_name_history", order=["code", "valid_from"]) == first


def test_a_name_that_changes_today_sets_todays_limits(services: Services) -> None:
    """The list of former names is a day old, and the quotes of the day are not in yet: the security list
    has the new name. The next day's list says the same."""
    services.at("2026-04-28")
    services.master("2026-04-28")
    before = spans(services, ST_ON)
    services.at("2026-04-29")
    services.bars("2026-04-29")
    row, today = bar(services, ST_ON, "2026-04-29"), spans(services, ST_ON)
    services.at("2026-04-30")
    services.master("2026-04-30")

    limits = services.world.limits(services.world.find("sz" + ST_ON), 20260429)
    assert limits is not None
    assert (row["limit_up"], row["limit_down"]) == (limits[0] / PRICE_UNIT, limits[1] / PRICE_UNIT)
    assert row["limit_up"] < row["last_close"] * 1.06
    assert [one[0] for one in before] == ["1990-12-19"]
    assert [one[:2] for one in today] == [("1990-12-19", "2026-04-28"), ("2026-04-29", None)]
    assert spans(services, ST_ON) == today


def test_a_name_that_changed_while_nobody_looked_begins_on_its_day(services: Services) -> None:
    services.at("2026-04-28")
    services.master("2026-04-28")
    services.at("2026-05-08")
    services.bars(*services.run.calendar.between("2026-04-27", "2026-05-08"))

    assert [one[:2] for one in spans(services, ST_ON)] == [("1990-12-19", "2026-04-28"), ("2026-04-29", None)]
    for day, most in (("2026-04-28", 1.10), ("2026-04-29", 1.05), ("2026-04-30", 1.05)):
        row = bar(services, ST_ON, day)
        assert row["limit_up"] == pytest.approx(row["last_close"] * most, abs=0.0051), day


@pytest.mark.soak
def test_without_former_names_the_days_before_are_not_known(services: Services) -> None:
    """Nothing is taken back in time: limits that hang on special treatment are null and marked, the others
    are given. When the list can be had again, they come in."""
    services.faults.replace([NO_PACKAGE])
    days = ("2026-05-08", "2026-06-30", "2026-07-06", TODAY)
    dates = services.run.calendar.between(days[0], TODAY)

    services.bars(*dates)

    assert [one[0] for one in spans(services, ST_ON)] == [TODAY]
    (batch,) = services.warehouse.query(
        "SELECT sources_json FROM sys_batch WHERE table_name='ref_name_history' AND status='success'"
    )
    refused, used = json.loads(batch[0])
    assert (refused["src"], refused["error"]) == ("tdx", "PayloadError")
    assert used["fallback_reason"].startswith("tdx: ")
    for day in days[:2]:
        row = bar(services, ST_ON, day)
        assert (row["limit_up"], row["limit_down"], row["limit_status"]) == (None, None, None)
        assert (row["quality"], "limits_are_known" in row["quality_flags"]) == ("warning", True)
        assert row["change_pct"] is not None
        star = bar(services, "688000", day)
        assert star["limit_up"] == pytest.approx(star["last_close"] * 1.2, abs=0.0051)
        assert star["quality"] == "ok"
    for day in days[2:]:  # from 2026-07-06 the band of the main board is one
        row = bar(services, ST_ON, day)
        assert row["limit_up"] == pytest.approx(row["last_close"] * 1.1, abs=0.0051)

    services.faults.clear()
    services.fresh()
    services.bars(*dates)

    assert [one[0] for one in spans(services, ST_ON)] == ["1990-12-19", "2026-04-29"]
    row = bar(services, ST_ON, days[0])
    assert row["limit_up"] == pytest.approx(row["last_close"] * 1.05, abs=0.0051)
    assert (row["limit_status"], row["quality"]) == ("none", "ok")


def test_a_list_cut_short_takes_no_name_back(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    services.master()
    before = services.warehouse.rows("ref_name_history", order=["code", "valid_from"])
    known = list(services.world.renames(services.clock.now()))
    assert len(before) - len({row["code"] for row in before}) > 6
    monkeypatch.setattr(services.world, "renames", lambda now: known[:1])
    services.at("2026-08-24")

    loaded = services.fuse("name_history", "2026-08-24")

    assert loaded.sources[0]["error"] == "PayloadError"
    assert "are known" in loaded.sources[0]["reason"]
    assert services.warehouse.rows("ref_name_history", order=["code", "valid_from"]) == before


def test_the_first_day_of_a_delisting_period_has_no_limits(services: Services) -> None:
    services.at("2025-06-12")
    services.bars("2025-06-09", "2025-06-10", "2025-06-11")

    rows = [bar(services, DELISTING, day) for day in ("2025-06-09", "2025-06-10", "2025-06-11")]

    assert [row["limit_up"] is None for row in rows] == [False, True, False]
    assert rows[1]["limit_status"] == "no_limit"
    assert rows[0]["limit_up"] == pytest.approx(rows[0]["last_close"] * 1.05, abs=0.0051)
    assert rows[2]["limit_up"] == pytest.approx(rows[2]["last_close"] * 1.10, abs=0.0051)


def test_wide_rows_of_a_past_date_carry_the_name_and_state_of_that_date(services: Services) -> None:
    """The master knows today's name alone; on 2026-05-08 another one was under special treatment."""
    past = "2026-05-08"
    services.master()
    services.bars(*services.run.calendar.last(3, past))
    services.day(past, money_flow=False)

    wide = {row["code"]: row for row in services.warehouse.rows("fusion_stock_wide")}

    for code, name, special in ((ST_OFF, "ST钧野", True), (ST_ON, "ST朔域", True), ("600040", None, False)):
        assert wide[code]["is_st"] is special
        assert name is None or wide[code]["name"] == name
    master = {row["code"]: row for row in services.warehouse.rows("fusion_stock_master")}
    assert (master[ST_OFF]["name"], master[ST_OFF]["is_st"]) == ("钧野地产", False)
    assert {row["trade_date"] for row in wide.values()} == {past}


@pytest.mark.soak
def test_wide_rows_of_a_past_date_have_the_change_and_status_of_its_bar(services: Services) -> None:
    past = "2026-08-19"
    services.master()
    services.bars(*services.run.calendar.last(3, past))
    services.day(past)

    wide = {row["code"]: row for row in services.warehouse.rows("fusion_stock_wide")}
    quotes = {row["code"]: row for row in services.warehouse.rows("fusion_quote_snapshot")}
    boards = world_limits(services.world, past)

    assert wide["300114"]["limit_status"] == "up"
    # The quote of a past day is made of a bar, which has no limits: it does not say that none was hit.
    assert quotes["300114"]["limit_status"] is None
    for code, row in wide.items():
        stored = bar(services, code, past)
        assert (row["last_close"], row["change_pct"]) == (stored["last_close"], stored["change_pct"])
        assert row["limit_up"] == boards[code]


def world_limits(world: World, day: str) -> dict[str, float | None]:
    number = int(day.replace("-", ""))
    found: dict[str, float | None] = {}
    for security in world.securities(datetime.fromisoformat(f"{day}T15:45")):
        if security.kind == "stock":
            limits = world.limits(security, number)
            found[security.code] = None if limits is None else float(np.divide(limits[0], PRICE_UNIT))
    return found


def test_what_a_reader_sees_of_a_past_date(services: Services, warehouse_url: str, tmp_path: Path) -> None:
    """The name, state and change of that date; of what was not known then, nothing."""
    past = "2026-05-08"
    services.master()
    services.bars(*services.run.calendar.last(3, past))
    services.day(past, money_flow=False)
    services.fresh()
    services.day()
    settings = Settings(
        data_dir=str(tmp_path),
        warehouse_url=warehouse_url,
        rate_limit_per_min=0,
        admin_seed_password="a" * 12,
    )

    with running(create_app(settings, clock=services.clock)) as api:
        token = api.post("/auth/login", json={"username": "admin", "password": "a" * 12}).json()
        headers = {"Authorization": f"Bearer {token['access_token']}"}

        def stock(query: str = "") -> dict[str, Any]:
            found: dict[str, Any] = api.get(f"/stocks/{ST_OFF}{query}").json()["results"]
            return found

        def names(query: str = "") -> list[str]:
            answer = api.get(f"/datamgr/fusion/stocks?codes={ST_OFF}{query}", headers=headers).json()
            return [one["name"] for one in answer["results"]["stocks"]]

        now, then = stock(), stock(f"?as_of={past}")
        assert (now["name"], then["name"]) == ("钧野地产", "ST钧野")
        assert then["changePercent"] == bar(services, ST_OFF, past)["change_pct"]
        # The master was made later: as of that date nobody had it.
        assert (names(), names(f"&as_of={past}")) == (["钧野地产"], [])


@pytest.mark.parametrize("hour", ["00:30", "10:30"])
def test_the_first_list_of_securities_can_be_had_at_any_hour(alone: Services, hour: str) -> None:
    """Before the open quotes are those of the session before; within a session its bars and the list are."""
    alone.clock.at = datetime.fromisoformat(f"2026-08-24T{hour}")
    alone.fresh()

    alone.master(TODAY)

    rows = alone.warehouse.rows("fusion_stock_master")
    assert len(rows) > 50
    assert all(row["name"] for row in rows)


def test_names_of_the_list_are_of_the_newest_finished_date_alone(alone: Services) -> None:
    """A range within a session: what the list shows now says nothing about the dates before its last."""
    alone.clock.at = datetime.fromisoformat("2026-08-24T10:30")
    alone.fresh()

    alone.raw("raw_quote", "2026-08-20", TODAY)

    rows = alone.warehouse.rows("raw_quote")
    named = {row["trade_date"] for row in rows if row["name"]}
    unnamed = {row["trade_date"] for row in rows if not row["name"]}
    assert (named, unnamed) == ({TODAY}, {"2026-08-20"})


@pytest.mark.parametrize("now", ["2026-08-24T10:30", "2026-08-24T15:10"])
def test_a_first_start_in_a_session_knows_since_when_stocks_are_listed(alone: Services, now: str) -> None:
    """Current quotes are of another date than the newest complete one; the listed codes are of no date."""
    alone.clock.at = datetime.fromisoformat(now)
    alone.fresh()

    alone.master(TODAY)
    alone.stage("quote_snapshot", TODAY)

    stocks = [row for row in alone.warehouse.rows("fusion_stock_master") if row["sec_type"] == "stock"]
    assert len(stocks) > 50
    assert all(row["list_date"] and row["name"] and str(row["list_date"]) <= TODAY for row in stocks)
    # Neither prices nor names of the running session are those of the date.
    assert {row["src"] for row in alone.warehouse.rows("stg_quote_snapshot")} == {"tdx"}


def test_quotes_of_an_evening_stand_when_their_date_is_loaded_in_the_next_session(alone: Services) -> None:
    alone.master(TODAY)
    before = [row for row in alone.warehouse.rows("raw_quote") if row["src"] == "eastmoney"]
    alone.clock.at = datetime.fromisoformat("2026-08-24T10:30")
    alone.fresh()

    alone.master(TODAY)

    assert [row for row in alone.warehouse.rows("raw_quote") if row["src"] == "eastmoney"] == before
    assert all(row["price"] is not None for row in before)
