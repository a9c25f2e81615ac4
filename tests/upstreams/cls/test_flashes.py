"""Flash news of the telegraph and of the second quote site: documented fields, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.cls import client
from resources.upstreams.sina import live
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

ITEM: dict[str, Any] = {
    "id": 1934567, "ctime": 1787295600, "title": "", "brief": "短讯", "level": "B", "subjects": [],
    "content": "【贵州茅台涨超5%】财联社8月21日电，贵州茅台涨超5%。",
    "stock_list": [{"name": "贵州茅台", "StockID": "sh600519"}, {"name": "腾讯", "StockID": "hk00700"}],
}  # fmt: skip
LIVE: dict[str, Any] = {
    "rich_text": "【央行公告】<script>开展逆回购</script>", "create_time": "2026-08-21 09:20:00",
    "ext": json.dumps({"stocks": [{"market": "cn", "symbol": "sz300059"}, {"symbol": "gb_aapl"}]}),
}  # fmt: skip


def rolled(*rows: dict[str, Any], errno: int = 0) -> bytes:
    document = {"errno": errno, "msg": "", "data": {"roll_data": list(rows)}}
    return json.dumps(document, ensure_ascii=False).encode()


def fed(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"result": {"data": {"feed": {"list": list(rows)}}}}, ensure_ascii=False).encode()


def test_the_signature_is_of_the_sorted_query() -> None:
    # md5(sha1("a=1&b=2") in hex), whatever the order of the parameters.
    assert client.sign([("b", "2"), ("a", "1")]) == client.sign([("a", "1"), ("b", "2")])
    assert len(client.sign([])) == 32
    sent = dict(client.roll_request("1787295600").params)
    assert sent["sign"] == client.sign([pair for pair in sent.items() if pair[0] != "sign"])


def test_the_telegraph_is_asked_as_its_own_page_asks() -> None:
    # What akfamily/akshare:akshare/stock_feature/stock_info.py sends.
    sent = dict(client.roll_request("1787295600").params)

    assert {name: value for name, value in sent.items() if name != "sign"} == {
        "app": "CailianpressWeb",
        "category": "",
        "last_time": "1787295600",
        "os": "web",
        "refresh_type": "1",
        "rn": "20",
        "sv": "8.4.6",
    }


def test_an_item_of_the_telegraph() -> None:
    row = client.parse_roll(rolled(ITEM)).iloc[0]

    assert (row["flash_id"], row["pub_time"]) == ("cls1934567", "2026-08-21 15:00:00")
    assert (row["importance"], row["codes"], row["media"]) == (1, '["600519"]', "财联社")
    assert row["title"].startswith("【贵州茅台涨超5%】")
    index = {
        **ITEM,
        "stock_list": [{"StockID": "sh000001"}, {"StockID": "sz000001"}, {"StockID": "sz399006"}],
    }
    assert client.parse_roll(rolled(index)).iloc[0]["codes"] == '["000001"]'
    index["stock_list"] = [{"StockID": "sh000001"}]
    assert client.parse_roll(rolled(index)).iloc[0]["codes"] == "[]"  # the index, not the bank in Shenzhen
    with pytest.raises(PayloadError, match="errno 10012"):
        client.parse_roll(rolled(errno=10012))
    with pytest.raises(PayloadError, match="time"):
        client.parse_roll(rolled({**ITEM, "ctime": 17}))


def test_an_item_of_the_second_quote_site() -> None:
    rows = live.parse_feed(fed(LIVE, {**LIVE, "ext": "", "rich_text": "无标题"}))

    assert list(rows["title"]) == ["央行公告", "无标题"]
    assert list(rows["codes"]) == ['["300059"]', "[]"]
    assert rows["flash_id"].str.fullmatch(r"sina[0-9a-f]{28}").all()
    # The same item has the same id whenever it is asked for.
    assert live.parse_feed(fed(LIVE))["flash_id"].iloc[0] == rows["flash_id"].iloc[0]
    with pytest.raises(PayloadError, match="no text"):
        live.parse_feed(fed({**LIVE, "rich_text": " "}))


@quick
@given(
    st.one_of(damaged_bytes(rolled(ITEM)), damaged_json(rolled(ITEM))),
    st.one_of(damaged_bytes(fed(LIVE)), damaged_json(fed(LIVE))),
)
def test_damaged_flashes(telegraph: bytes, feed: bytes) -> None:
    for parse, body in ((client.parse_roll, telegraph), (live.parse_feed, feed)):
        try:
            rows = parse(body)
        except ACCEPTED:
            continue
        assert rows["flash_id"].is_unique
        assert (rows["title"].str.len() > 0).all()
        assert set(rows["importance"]) <= {0, 1, 2}
