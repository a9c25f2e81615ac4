"""Block trades of the exchanges: the documented samples, their units, pages, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.exchanges import sse, szse_report
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-09-24"
SSE_ROW = {
    "stockid": "603279", "abbrname": "景津装备", "tradedate": DAY, "tradeprice": "28", "tradeqty": "50",
    "tradeamount": "1400", "branchbuy": "机构专用",
    "branchsell": "中信证券（山东）有限责任公司龙口南山路证券营业部", "ifZc": "否",
}  # fmt: skip
SZSE_ROW = {
    "zqdh": "002607", "zqjc": "中公教育", "cjrq": DAY, "cjjg": "4.57", "cjgsnew": "3,060.00",
    "cjjenew": "13,984.20", "bxwmc": "长城证券股份有限公司广东分公司", "sxwmc": "机构专用",
}  # fmt: skip


def sse_body(*rows: dict[str, Any], total: int | None = None) -> bytes:
    paging = {"data": list(rows), "total": len(rows) if total is None else total}
    return json.dumps({"actionErrors": [], "pageHelp": paging, "result": list(rows)}).encode()


def szse_body(*rows: dict[str, Any], count: int | None = None, pages: int = 1) -> bytes:
    head = {"tabkey": "tab2", "pagecount": pages, "recordcount": len(rows) if count is None else count}
    return json.dumps([{"metadata": head, "data": list(rows), "error": None}]).encode()


def test_both_samples_become_shares_and_yuan() -> None:
    (shanghai,) = sse.parse_deals(sse_body(SSE_ROW), DAY, DAY).rows
    (shenzhen,) = szse_report.parse_deals(szse_body(SZSE_ROW), DAY, DAY).rows

    assert (shanghai["code"], shanghai["volume"], shanghai["amount"]) == ("603279", 500_000, 14_000_000)
    assert (shenzhen["code"], shenzhen["volume"], shenzhen["amount"]) == ("002607", 30_600_000, 139_842_000)
    assert (shanghai["exchange"], shanghai["buyer"], shenzhen["seller"]) == ("SSE", "机构专用", "机构专用")


# Deals of 2017-01-10 as the exchange answered them, from a public repository: no zero ends a figure.
RECORDED_DAY = "2017-01-10"
RECORDED = [
    dict(zip(("stockid", "abbrname", "tradeprice", "tradeqty", "tradeamount"), one.split(), strict=True),
         tradedate=RECORDED_DAY, branchbuy="瑞银证券有限责任公司上海花园石桥路证券营业部",
         branchsell="瑞银证券有限责任公司上海花园石桥路证券营业部", NUM=str(at), ifZc="否")
    for at, one in enumerate((
        "601558 华锐风电 2.18 10153 22133.54", "601939 建设银行 5.47 1361.08 7445.08",
        "601818 光大银行 3.91 2393.43 9358.3", "601558 华锐风电 2.03 101.68 206.42",
        "603299 井神股份 14.63 28.2 412.57", "600196 复星医药 21.1 30 633",
        "601169 北京银行 9.86 1857.47 18314.7", "600519 贵州茅台 332 1.61 534.52",
        "603018 中设集团 31.94 10.55 336.97", "600870 厦华电子 8.5 160 1360",
    ), 76)
]  # fmt: skip


def test_recorded_deals_of_shanghai() -> None:
    page = {"beginPage": 4, "cacheSize": 1, "data": RECORDED, "endDate": None, "endPage": 41,
            "pageCount": 49, "pageNo": 4, "pageSize": 25, "total": 1205}  # fmt: skip
    document = {"actionErrors": [], "isPagination": "true", "pageHelp": page, "result": RECORDED}
    body = f"jsonpCallback123({json.dumps(document, ensure_ascii=False)})".encode()

    found = sse.parse_deals(body, RECORDED_DAY, RECORDED_DAY)

    assert (len(found.rows), found.total) == (10, 1205)
    assert {row["code"]: (row["volume"], row["amount"]) for row in found.rows if row["code"] == "600519"} == {
        "600519": (16_100, 5_345_200)
    }


def test_rounded_figures_agree_within_their_rounding() -> None:
    rounded = {**SSE_ROW, "tradeprice": "2.03", "tradeqty": "305.36", "tradeamount": "619.87"}

    assert sse.parse_deals(sse_body(rounded), DAY, DAY).rows[0]["volume"] == 3_053_600


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"tradeqty": "500000"}, "another unit"),
        ({"tradeamount": "14000000"}, "another unit"),
        ({"tradedate": "2026-09-23"}, "answered for"),
        ({"tradeprice": "-"}, "missing"),
        ({"stockid": "60327"}, "no code"),
        ({"abbrname": ""}, "empty"),
    ],
)
def test_shanghai_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        sse.parse_deals(sse_body({**SSE_ROW, **changed}), DAY, DAY)


def test_pages_are_read_to_their_count_and_funds_left_out() -> None:
    fund = {**SZSE_ROW, "zqdh": "159915"}
    first, second = szse_body(SZSE_ROW, fund, count=3, pages=2), szse_body(SZSE_ROW, count=3, pages=2)

    rows = SzseClient(Pages(first, second)).block_trades(DAY, DAY)

    assert rows["code"].tolist() == ["002607", "002607"]  # equal lines are different deals
    with pytest.raises(PayloadError, match="2 of 3"):
        SzseClient(Pages(first, szse_body(count=3, pages=2))).block_trades(DAY, DAY)
    with pytest.raises(PayloadError, match="1 of 2"):
        SseClient(Pages(sse_body(SSE_ROW, total=2), sse_body(total=2))).block_trades(DAY, DAY)
    assert SseClient(Pages(sse_body())).block_trades(DAY, DAY).empty


def test_another_tab_or_a_renamed_field_is_named() -> None:
    tabs = json.loads(szse_body(SZSE_ROW))
    tabs[0]["metadata"]["tabkey"] = "tab1"
    with pytest.raises(PayloadError, match="tab2"):
        szse_report.parse_deals(json.dumps(tabs).encode(), DAY, DAY)
    shorter = {name: value for name, value in SZSE_ROW.items() if name != "bxwmc"}
    with pytest.raises(PayloadError, match="bxwmc"):
        szse_report.parse_deals(szse_body(shorter), DAY, DAY)


PARSERS = {sse_body(SSE_ROW): sse.parse_deals, szse_body(SZSE_ROW): szse_report.parse_deals}


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(sorted(PARSERS)))
    damaged = data.draw(st.one_of(damaged_json(body), damaged_bytes(body)))
    try:
        rows = PARSERS[body](damaged, DAY, DAY).rows
    except ACCEPTED:
        return
    assert all(row["date"] == DAY and row["price"] >= 0 and row["volume"] >= 0 for row in rows)
