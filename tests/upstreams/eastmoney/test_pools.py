"""Limit pools and popularity of the portal: the recorded answer, its traps, and rejected answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError
from resources.rejections import noting
from resources.upstreams.eastmoney.quotes import pools, popularity
from resources.upstreams.parsing.payload import json_of
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2024-09-23"
RECORDED = (Path(__file__).parent / "payloads" / "em_ztpool_20240923.jsonp").read_bytes()

# As they are documented, one of each.
PREV = {
    "c": "000560", "m": 0, "n": "我爱我家", "p": 3660, "ztp": 4250, "zdp": -5.18, "amount": 2936520448,
    "ltsz": 8574238515.54, "tshare": 8621133103.68, "hs": 33.08, "zf": 13.21, "zs": 0.0, "yfbt": 103139,
    "ylbc": 3, "hybk": "房地产服", "zttj": {"days": 4, "ct": 3},
}  # fmt: skip
DOWN = {
    "c": "000607", "m": 0, "n": "华媒控股", "p": 4030, "zdp": -10.04, "amount": 488481952,
    "ltsz": 3566800537.04, "tshare": 4101324616.48, "pe": -127.9, "hs": 13.42, "fund": 1981083,
    "lbt": 150000, "fba": 411448345, "days": 2, "oc": 4, "hybk": "广告营销",
}  # fmt: skip


def envelope(rows: list[dict[str, Any]], tc: int | None = None, qdate: object = 20240923) -> bytes:
    data = {"tc": len(rows) if tc is None else tc, "qdate": qdate, "pool": rows}
    return json.dumps({"rc": 0, "rt": 110, "data": data}).encode()


def recorded_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json_of(RECORDED)["data"]["pool"]
    return rows


def test_the_recorded_pool_is_shorter_than_its_count_and_refused_for_it() -> None:
    with pytest.raises(PayloadError, match="11 of 54"):
        pools.parse_pool(RECORDED, "up", DAY)


def test_a_streak_that_is_not_counted_yet_is_one_board() -> None:
    rows = pools.parse_pool(envelope([{**recorded_rows()[0], "lbc": 0}]), "up", DAY)

    assert rows["limit_days"].tolist() == [1]


def test_an_odd_row_of_a_pool_costs_that_row() -> None:
    first, second, *others = recorded_rows()

    with noting() as rejected:
        rows = pools.parse_pool(envelope([first, {**second, "p": -1}, *others]), "up", DAY)

    assert len(rows) == len(others) + 1
    assert [item for item, _ in rejected] == [second["c"]]
    half = [{**row, "p": -1} if at % 2 else row for at, row in enumerate([first, second, *others])]
    with pytest.raises(PayloadError, match="5 of 11 rows"):
        pools.parse_pool(envelope(half), "up", DAY)


def test_the_recorded_rows() -> None:
    rows = pools.parse_pool(RECORDED.replace(b'"tc":54', b'"tc":11'), "up", DAY)

    assert list(rows.columns) == list(pools.POOL_COLUMNS)
    assert len(rows) == 11
    first, twice = rows.iloc[0], rows.set_index("code").loc["600225"]
    assert (first["symbol"], first["name"], first["price"]) == ("sz000004", "国华网安", 16.06)
    assert (first["float_market_cap"], first["total_market_cap"]) == (202_818.68, 212_602.73)
    assert (first["first_seal_time"], first["limit_days"], first["zt_stat"]) == ("09:25:00", 4, "4天4板")
    assert (first["seal_fund"], first["break_times"], first["industry"]) == (192_332_954, 0, "软件开发")
    assert (twice["first_seal_time"], twice["last_seal_time"], twice["break_times"]) == (
        "09:25:01",
        "09:31:55",
        2,
    )
    # One board today, two in four days.
    assert tuple(rows.set_index("code").loc["605086", ["limit_days", "zt_stat"]]) == (1, "4天2板")


def test_the_other_pools_have_fields_of_their_own() -> None:
    prev = pools.parse_pool(envelope([PREV]), "prev", DAY).iloc[0]
    down = pools.parse_pool(envelope([DOWN]), "down", DAY).iloc[0]

    assert (prev["limit_price"], prev["first_seal_time"], prev["limit_days"]) == (4.25, "10:31:39", 3)
    assert (prev["amplitude_pct"], prev["zt_stat"], prev["last_seal_time"]) == (13.21, "4天3板", None)
    assert (down["last_seal_time"], down["limit_days"], down["break_times"]) == ("15:00:00", 2, 4)
    assert (down["zt_stat"], down["seal_fund"]) == (None, 1_981_083)


def test_a_limit_of_a_million_is_no_limit() -> None:
    row = pools.parse_pool(envelope([{**PREV, "ztp": 1_000_000_000}]), "prev", DAY).iloc[0]

    assert row["limit_price"] != row["limit_price"]


@pytest.mark.parametrize(
    "body", [b'{"rc":102,"rt":110,"data":null}', envelope([]), envelope([], qdate=20240920)]
)
def test_an_empty_pool_is_an_answer(body: bytes) -> None:
    rows = pools.parse_pool(body, "up", DAY)

    assert (len(rows), list(rows.columns)) == (0, list(pools.POOL_COLUMNS))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (lambda rows: envelope(rows, qdate=20240920), "answered for 2024-09-20"),
        (lambda rows: envelope(rows, tc=12), "11 of 12"),
        (lambda rows: envelope([{**rows[0], "p": -16060}]), "p is not above zero"),
        (lambda rows: envelope([{**rows[0], "fbt": 256000}]), "fbt is no time"),
        (lambda rows: envelope([{**rows[0], "fbt": "92500x"}]), "fbt is no number"),
        (lambda rows: envelope([{**rows[0], "lbc": None}]), "lbc is missing"),
        (lambda rows: envelope([{**rows[0], "zbc": 1.5}]), "zbc is not whole"),
        (lambda rows: envelope([{**rows[0], "ltsz": 9e12}]), "above total"),
        (lambda rows: envelope([{**rows[0], "zttj": {"days": 1, "ct": 3}}]), "3 boards in 1 days"),
        (lambda rows: envelope([{**rows[0], "m": 2}]), "market 2"),
        (lambda rows: envelope([{**rows[0], "c": "00004"}]), "no code"),
        (lambda rows: envelope([{**rows[0], "n": " "}]), "n is empty"),
    ],
)
def test_invalid_answers_are_refused(body: Callable[[list[dict[str, Any]]], bytes], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        pools.parse_pool(body(recorded_rows()), "up", DAY)


def test_a_broken_limit_above_its_price_is_refused() -> None:
    broken = {**PREV, "fbt": 93000, "zbc": 1}
    assert len(pools.parse_pool(envelope([broken]), "broken", DAY)) == 1
    with pytest.raises(PayloadError, match="above its limit"):
        pools.parse_pool(envelope([{**broken, "p": 4260}]), "broken", DAY)


def test_the_request_is_that_of_the_page() -> None:
    request = pools.pool_request("prev", DAY)

    params = dict(request.params)
    assert request.path == "/getYesterdayZTPool"
    assert (params["date"], params["Pageindex"], params["sort"]) == ("20240923", "0", "zs:desc")
    with pytest.raises(InputError, match="nonsense"):
        pools.pool_request("nonsense", DAY)


@quick
@given(st.data())
def test_damaged_pools(data: st.DataObject) -> None:
    whole = envelope(recorded_rows()[:3])
    damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole)))
    try:
        rows = pools.parse_pool(damaged, "up", DAY)
    except ACCEPTED:
        return
    assert list(rows.columns) == list(pools.POOL_COLUMNS)
    assert (rows["price"] > 0).all()
    assert (rows["limit_days"] >= 1).all()
    assert not (rows["seal_fund"] < 0).any()


def ranking(*rows: dict[str, Any], status: object = 0) -> bytes:
    return json.dumps({"status": status, "data": list(rows)}).encode()


def test_the_ranking_drops_stocks_without_a_rank() -> None:
    body = ranking(
        {"sc": "SH600519", "rk": 2, "hisRc": -3},
        {"sc": "SZ000725", "rk": 1, "hisRc": 4},
        {"sc": "BJ920047", "rk": 0, "hisRc": 0},
    )

    rows = popularity.parse_ranking(body)

    assert rows["symbol"].tolist() == ["sz000725", "sh600519"]
    assert rows["rank_change"].tolist() == [4, -3]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (ranking(status=-1), "status -1"),
        (b'{"status":0,"data":null}', "no list"),
        (ranking({"sc": "000725", "rk": 1, "hisRc": 4}), "no code"),
        (ranking({"sc": "SZ000725", "rk": "x", "hisRc": 4}), "rk"),
    ],
)
def test_an_invalid_ranking_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        popularity.parse_ranking(body)
