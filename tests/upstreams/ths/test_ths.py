"""The topic portal: the documented rows, units, pages, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError, Refused
from resources.upstreams.ths import limits, worth
from resources.upstreams.ths.client import ThsClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2025-06-13"
LIMIT_UP: dict[str, Any] = {
    "code": "002190", "name": "成飞集成", "latest": 36.72, "change_rate": 10.006,
    "first_limit_up_time": "1749797760", "last_limit_up_time": "1749797760", "open_num": None,
    "limit_up_type": "换手板", "order_volume": 2095399.0, "order_amount": 7.6943051e7,
    "turnover_rate": 25.1498, "currency_value": 1.31725415e10, "reason_type": "成飞概念+军工",
    "high_days": "首板", "high_days_value": 65537, "change_tag": "FIRST_LIMIT", "market_type": "HS",
    "market_id": 33, "is_new": 0, "is_again_limit": 0, "limit_up_suc_rate": 0.7777777777777778,
    "time_preview": [2.3068, 10.006],
}  # fmt: skip
HOT: dict[str, Any] = {
    "market": 17, "code": "600105", "name": "永鼎股份", "rate": "884418.0", "rise_and_fall": 9.9885,
    "hot_rank_chg": 0, "order": 1, "tag": {"concept_tag": ["共封装光学(CPO)"], "popularity_tag": "3天2板"},
}  # fmt: skip
STRONG: dict[str, Any] = {
    "id": "1", "code": "600519", "name": "贵州茅台", "zhangfu": "5.2", "huanshou": "3.1",
    "chengjiaoe": "123456789", "chengjiaoliang": "84000", "ddejingliang": "1.4", "reason": "白酒+消费",
    "date": DAY, "market": "17", "close": "1469.5", "zhangdie": "72.6",
}  # fmt: skip


def page(*rows: dict[str, Any], total: int | None = None, date: str = "20250613") -> bytes:
    paging = {"limit": 200, "total": len(rows) if total is None else total, "count": 1, "page": 1}
    data = {"page": paging, "info": list(rows), "date": date}
    return json.dumps({"status_code": 0, "status_msg": "success", "data": data}).encode()


def strong_list(*rows: dict[str, Any], code: object = 0) -> bytes:
    document = {"errocode": code, "errormsg": "", "data": list(rows) or None}
    return json.dumps(document, ensure_ascii=False).encode("gbk")


def hot_list(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"status_code": 0, "data": {"stock_list": list(rows)}}).encode()


def test_the_documented_limit_up() -> None:
    rows = ThsClient(Pages(page(LIMIT_UP))).limit_pool("up", DAY)

    assert list(rows.columns) == list(limits.LIMIT_COLUMNS)
    row = rows.iloc[0]
    # Unix seconds are of Shanghai: 14:56, not 06:56.
    assert (row["first_seal_time"], row["last_seal_time"]) == ("14:56:00", "14:56:00")
    assert (row["break_times"], row["limit_days"], row["zt_stat"]) == (0, 1, "1天1板")
    assert (row["float_market_cap"], row["seal_fund"]) == (1_317_254.15, 76_943_051)
    assert (row["reason"], row["board_type"], row["high_days"]) == ("成飞概念+军工", "换手板", "首板")
    assert row["seal_rate"] == pytest.approx(0.777778)


def test_boards_with_gaps_have_no_number_in_a_row() -> None:
    gaps = {**LIMIT_UP, "high_days": "6天4板", "high_days_value": 6 << 16 | 4}

    row = ThsClient(Pages(page(gaps))).limit_pool("up", DAY).iloc[0]

    assert row["zt_stat"] == "6天4板"
    assert row["limit_days"] != row["limit_days"]


def test_pages_are_counted() -> None:
    rows = [{**LIMIT_UP, "code": f"{at:06d}"} for at in range(250)]
    pages = Pages(page(*rows[:200], total=250), page(*rows[200:], total=250))

    assert len(ThsClient(pages).limit_pool("up", DAY)) == 250
    assert [dict(one.params)["page"] for one in pages.asked] == ["1", "2"]
    for second in (page(*rows[200:], total=251), page(total=250), page(*rows[:50], total=250)):
        with pytest.raises(PayloadError, match=r"moved|200 of 250|twice"):
            ThsClient(Pages(page(*rows[:200], total=250), second)).limit_pool("up", DAY)


def test_an_empty_pool_is_an_answer() -> None:
    assert len(ThsClient(Pages(page())).limit_pool("down", DAY)) == 0
    assert len(ThsClient(Pages(strong_list())).strong_stocks(DAY)) == 0
    with pytest.raises(InputError, match="pool"):
        ThsClient(Pages()).limit_pool("prev", DAY)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (page(LIMIT_UP, date="20250612"), "answered for 2025-06-12"),
        (page(LIMIT_UP, LIMIT_UP, total=1), "2 rows of 1"),
        (page({**LIMIT_UP, "latest": -1}), "above zero"),
        (page({**LIMIT_UP, "limit_up_suc_rate": 77.8}), "no share"),
        (page({**LIMIT_UP, "first_limit_up_time": "1749711360"}), "is of 2025-06-12"),
        (page({**LIMIT_UP, "high_days_value": 1 << 16 | 4}), "4 boards in 1 days"),
        (page({**LIMIT_UP, "order_amount": -5}), "below zero"),
        (b'{"status_code":-1,"status_msg":"no","data":null}', "status -1"),
    ],
)
def test_invalid_limits_are_refused(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        ThsClient(Pages(body)).limit_pool("up", DAY)


def test_a_block_page_is_a_refusal() -> None:
    with pytest.raises(Refused):
        ThsClient(Pages(b"<h1>Nginx forbidden.</h1>")).hot_list()


def test_the_documented_popularity() -> None:
    row = ThsClient(Pages(hot_list(HOT))).hot_list().iloc[0]

    assert (row["code"], row["rank_no"], row["heat"], row["tags"]) == (
        "600105",
        1,
        884_418,
        '["共封装光学(CPO)"]',
    )
    for wrong in ({**HOT, "order": 3}, {**HOT, "rate": "-1"}, {**HOT, "code": "60010"}):
        with pytest.raises(PayloadError):
            ThsClient(Pages(hot_list(wrong))).hot_list()


def test_strong_stocks_come_as_texts_in_gbk() -> None:
    row = ThsClient(Pages(strong_list(STRONG))).strong_stocks(DAY).iloc[0]

    assert (row["name"], row["reason"], row["tags"]) == ("贵州茅台", "白酒+消费", '["白酒","消费"]')
    assert (row["price"], row["change_pct"], row["amount"]) == (1469.5, 5.2, 123_456_789)
    with pytest.raises(PayloadError, match="of 2025-06-12"):
        ThsClient(Pages(strong_list({**STRONG, "date": "2025-06-12"}))).strong_stocks(DAY)
    with pytest.raises(PayloadError, match="errocode 5"):
        ThsClient(Pages(strong_list(STRONG, code=5))).strong_stocks(DAY)


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    for whole, parse in (
        (page(LIMIT_UP), lambda body: limits.limit_rows(limits.parse_limits(body, "up", DAY).rows, "x")),
        (hot_list(HOT), worth.parse_hot),
    ):
        damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole)))
        try:
            rows = parse(damaged)
        except ACCEPTED:
            continue
        assert not (rows["change_pct"].abs() > 1e17).any()
