"""Cross-market risk and event chain: over the simulated upstreams, without them, kept for a minute."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from simulated_market.foreign_markets import TALES, quote_of
from tests.serving_api import market as stored
from tests.serving_api.live.admin_reads.conftest import FetchContext

EXTERNAL = ("spx", "hsi", "dxy", "usdcnh", "oil", "gold")


def get(bench: FetchContext, path: str) -> dict[str, Any]:
    answer = bench.api.get(path)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def risk(bench: FetchContext) -> dict[str, Any]:
    return get(bench, "/market/cross-market-risk")


def rules(bench: FetchContext) -> dict[str, dict[str, Any]]:
    return {rule["key"]: rule for rule in risk(bench)["rules"]}


def put_past(bench: FetchContext) -> None:
    """What the platform stores: closes of the main index, margin balances of two dates."""
    put = bench.warehouse
    days = bench.app.state.platform.calendar.last(8, "2026-08-20")
    bars = [{"code": "sh000001", "date": day, "close": 3000.0 + at} for at, day in enumerate(days)]
    stored.put(put, put.table("fusion_index_daily"), bars)
    rows = [
        {"code": code, "date": day, "rzye": balance}
        for day, balance in ((days[-1], 97.0), (days[-6], 100.0))
        for code in ("600519", "000001")
    ]
    rows.append({"code": "300750", "date": days[-1], "rzye": 900.0})
    stored.put(put, put.table("fusion_margin"), rows)


def test_nine_rules_and_their_mean(bench: FetchContext) -> None:
    put_past(bench)
    found = risk(bench)
    by_key = {rule["key"]: rule for rule in found["rules"]}
    assert {key: rule["status"] for key, rule in by_key.items()} == dict.fromkeys(by_key, "ok")
    for key, tale in zip(EXTERNAL, TALES, strict=True):
        quote = quote_of(tale, bench.clock.now())
        assert by_key[key]["value"] == pytest.approx((quote.price / quote.before - 1) * 100, abs=0.011), key
    main = bench.world.quote(bench.world.find("sh000001"), bench.clock.now())  # type: ignore[arg-type]
    assert main is not None
    assert by_key["index_trend"]["value"] == pytest.approx((main.price / 10_000 / 3003.0 - 1) * 100, abs=0.01)
    assert by_key["margin"]["value"] == -3.0, "only of stocks that both dates have"
    scores = [rule["score"] for rule in found["rules"]]
    assert found["temperature"] == pytest.approx(sum(scores) / 9, abs=0.06)
    assert (found["coverage"], found["confidence"], found["reason"]) == ({"used": 9, "total": 9}, 1.0, None)


def test_the_second_site_answers_for_the_portal_and_the_store_for_both(bench: FetchContext) -> None:
    first = rules(bench)
    bench.ticks.advance(61)
    bench.silence("eastmoney")
    second = rules(bench)
    assert {key: second[key]["value"] for key in EXTERNAL} == {key: first[key]["value"] for key in EXTERNAL}
    bench.silence("eastmoney", "sina")
    bench.ticks.advance(61)
    assert {rules(bench)[key]["status"] for key in EXTERNAL} == {"missing"}
    with bench.warehouse.engine.begin() as connection:
        for series, day in (("spx", "2026-08-21"), ("hsi", "2026-08-14")):
            connection.exec_driver_sql(
                "INSERT INTO ref_outside_market (series, date, name, price, last_close, quote_time, src) "
                f"VALUES ('{series}', '{day}', 'x', 90, 100, '{day} 04:20:00', 'sina')"
            )
    bench.ticks.advance(61)
    third = rules(bench)
    assert (third["spx"]["status"], third["spx"]["score"]) == ("ok", 100.0)
    assert (third["hsi"]["status"], third["hsi"]["score"], third["hsi"]["as_of"]) == (
        "stale", None, "2026-08-14",
    )  # fmt: skip


def test_never_a_temperature_from_fewer_than_three(bench: FetchContext) -> None:
    bench.silence("eastmoney", "sina", "tencent", "tdx")
    found = risk(bench)
    assert (found["temperature"], found["level"], found["coverage"]["used"]) == (None, None, 0)
    assert found["reason"]


def test_a_weekend_passes_and_beyond_the_calendar_the_other_rules_count(bench: FetchContext) -> None:
    bench.clock.at = datetime(2026, 8, 23, 11, 0)
    found = rules(bench)
    assert {found[key]["status"] for key in EXTERNAL} == {"ok"}
    bench.clock.at = datetime(2100, 3, 1, 11, 0)
    bench.ticks.advance(61)
    beyond = rules(bench)
    assert {beyond[key]["status"] for key in ("index_trend", "breadth", "margin")} == {"missing"}
    assert beyond["spx"]["status"] == "ok"


def test_both_are_made_together_and_cached_for_a_minute(bench: FetchContext) -> None:
    before = bench.calls("eastmoney")
    risk(bench)
    once = bench.calls("eastmoney")
    assert once > before
    first = get(bench, "/market/event-chain")
    assert bench.calls("eastmoney") == once
    bench.ticks.advance(59)
    bench.clock.at += timedelta(seconds=59)
    assert get(bench, "/market/event-chain") == first
    assert bench.calls("eastmoney") == once
    bench.ticks.advance(2)
    get(bench, "/market/event-chain")
    assert bench.calls("eastmoney") > once


def test_the_chain_of_the_day(bench: FetchContext) -> None:
    boards = [
        {"code": one["code"], "block_code": f"BK{at:04d}", "src": "eastmoney", "block_name": one["industry"],
         "block_type": "industry"}
        for at, one in enumerate(industries(bench))
    ]  # fmt: skip
    with bench.warehouse.engine.begin() as connection:
        for row in boards:
            connection.exec_driver_sql(
                "INSERT INTO raw_concept_blocks (code, block_code, src, block_name, block_type) "
                "VALUES (?, ?, ?, ?, ?)",
                tuple(row.values()),
            )
    found = get(bench, "/market/event-chain")
    kinds = {node["type"] for node in found["nodes"]}
    assert {"event", "stock", "sector"} <= kinds
    ids = {node["id"] for node in found["nodes"]}
    assert all({edge["source"], edge["target"]} <= ids for edge in found["edges"])
    assert all(item["time"].startswith("2026-08-21") for item in found["items"])
    flashes = bench.results("/datamgr/market/global-news", page_size=200)
    for node in found["nodes"]:
        if node["type"] == "stock":
            reported = sum(
                node["name"] in f"{row['title']}{row['content'] or ''}" or node["id"][-6:] in row["codes"]
                for row in flashes
                if row["time"] >= "2026-08-21"
            )
            assert node["weight"] == reported, node


def industries(bench: FetchContext) -> list[dict[str, str]]:
    names: dict[str, str] = {}
    for one in bench.world.securities(bench.clock.now()):
        if one.kind == "stock" and one.industry:
            names.setdefault(one.industry, one.code)
    return [{"code": code, "industry": name} for name, code in names.items()]
