"""Billboards of the exchanges: recorded layouts, units, names of the rules, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.exchanges import sse_billboard, szse_billboard
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient
from resources.upstreams.exchanges.szse_billboard import rule_of
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-09-28"
RISE = "有价格涨跌幅限制的日收盘价格涨幅偏离值达到7%的前五只证券"
# As published for 2026-09-28, shortened.
TEXT = [
    "            上海证券交易所每日交易信息",
    "",
    "交易日期:2026年09月28日",
    "",
    f"一、{RISE}:",
    " 1、A股",
    "        证券代码      证券简称      偏离值%        成交量        成交金额(万元)",
    "    (1)  600340      *ST华幸       11.92%       185170600           23135.90",
    "    (2)  600032      浙江新能      11.74%        60857691           44155.99",
    "",
    "      证券代码: 600340                                                   证券简称: *ST华幸 ",
    "      ---------------------------------------------------------------------------------",
    "      买入营业部名称:                                                     累计买入金额(元):",
    "  (1) 华泰证券股份有限公司常州东横街证券营业部                              2527981.40",
    "  (2) 东方财富证券股份有限公司拉萨团结路第一证券营业部                      2511430.00",
    "",
    "      卖出营业部名称:                                                     累计卖出金额(元):",
    "  (1) 华泰证券股份有限公司上海武定路证券营业部                              6765345.00",
    "  (2) 中信建投证券股份有限公司北京望京证券营业部                            2785118.00",
    "",
    "      证券代码: 600032                                                   证券简称: 浙江新能",
    "      ---------------------------------------------------------------------------------",
    "      买入营业部名称:                                                     累计买入金额(元):",
    "  (1) 沪股通专用                                                             46403618.81",
    "",
    "      卖出营业部名称:                                                     累计卖出金额(元):",
    "  (1) 沪股通专用                                                             12752379.96",
    "",
    "二、有价格涨跌幅限制的日收盘价格跌幅偏离值达到7%的前五只证券:",
    " 1、A股",
    "        证券代码      证券简称      偏离值%        成交量        成交金额(万元)",
    "    (1)  600743      华远控股      -8.49%       150224904           34810.34",
    "",
    " 2、B股",
    "        证券代码      证券简称      偏离值%        成交量        成交金额(万元)",
    "    (1)  900901      云赛Ｂ股      -8.00%         1000000             400.00",
    "",
    "四、连续三个交易日内的日均换手率与前五个交易日日均换手率的比值到达30倍,并且该股票、封闭",
    "    式基金连续三个交易日内累计换手率达到20%",
    " 1、A股",
    "        证券代码      证券简称      换手率%        成交量        成交金额(万元)",
    "    (1)  600999      招商证券      24.00%        50000000          100000.00",
    "",
    "                                                        上海证券交易所",
    "",
]
SZSE_ROW = {
    "dqrq": DAY, "zqdm": "000504", "zqjc": "南华&nbsp;生物", "cjje": "15.25", "cjsl": "11,519.71",
    "plyy": "日价格涨幅偏离值达到9.83%", "bz": "<a href='javascript:void(0);'>查看详情</a>",
}  # fmt: skip


def sse_body(lines: list[str], **more: Any) -> bytes:
    return json.dumps({"actionErrors": [], "dateTx": DAY, "fileContents": lines, **more}).encode()


def szse_body(*rows: dict[str, Any], count: int | None = None, pages: int = 1) -> bytes:
    head = {"tabkey": "tab1", "pagecount": pages, "recordcount": len(rows) if count is None else count}
    return json.dumps([{"metadata": head, "data": list(rows), "error": ""}]).encode()


def replaced(old: str, new: str) -> list[str]:
    assert any(old in line for line in TEXT)
    return [line.replace(old, new) for line in TEXT]


def test_the_text_of_shanghai() -> None:
    pages = Pages(sse_body(TEXT))
    listings, seats = SseClient(pages).billboard(DAY)

    assert dict(pages.asked[0].params) == {"isPagination": "false", "dateTx": DAY}
    assert listings["code"].tolist() == ["600340", "600032", "600743", "600999"]  # no B share
    first = listings.iloc[0]
    assert (first["reason"], first["name"], first["amount"]) == (RISE, "*ST华幸", 231_359_000)
    assert first["buy_amt"] == pytest.approx((2527981.40 + 2511430.00) / 1e4, abs=0.01)
    assert first["net_buy"] == pytest.approx(503.94 - 955.05, abs=0.011)
    assert first["net_ratio_pct"] == pytest.approx(first["net_buy"] * 1e6 / 231_359_000, abs=1e-4)
    # Without a block there are no seats to add up: the sums are missing, not 0.
    assert listings.set_index("code").loc["600743", "buy_amt":"deal_amt"].isna().all()
    long = listings.iloc[3]["reason"]
    assert long.endswith("封闭式基金连续三个交易日内累计换手率达到20%")
    assert seats[["code", "side", "rank_no"]].values.tolist() == [
        ["600340", "buy", 1], ["600340", "buy", 2], ["600340", "sell", 1], ["600340", "sell", 2],
        ["600032", "buy", 1], ["600032", "sell", 1],
    ]  # fmt: skip
    assert seats["branch_name"].iloc[4] == "沪股通专用"
    assert (seats["buy_amt"].iloc[4], seats["net_amt"].iloc[5]) == (4640.36, -1275.24)
    assert seats.loc[seats["side"] == "buy", "sell_amt"].isna().all()
    assert seats["buy_ratio_pct"].iloc[4] == pytest.approx(46403618.81 / 441_559_900 * 100, abs=1e-3)


def test_a_day_without_a_billboard() -> None:
    listings, seats = SseClient(Pages(sse_body([], isTradeDate="false"))).billboard(DAY)
    assert listings.empty
    assert seats.empty
    assert SzseClient(Pages(szse_body())).billboard(DAY, DAY).empty


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (replaced("09月28日", "09月25日"), "answered for 2026-09-25"),
        (replaced("成交金额(万元)", "成交金额(元)"), "a table of"),
        (replaced("累计买入金额(元)", "累计买入金额(万元)"), "another unit"),
        (replaced("23135.90", "231359000.00"), "another unit"),
        (replaced("  (2) 东方财富", "  (3) 东方财富"), "follows 1 others"),
        (replaced("2511430.00", "viele"), "neither a security nor a seat"),
        (replaced(f"一、{RISE}:", ""), "for no reason"),
        (TEXT[:3], "without date or sections"),
        (TEXT[4:], "without date or sections"),
    ],
)
def test_a_rejected_text(lines: list[str], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        SseClient(Pages(sse_body(lines))).billboard(DAY)


def test_the_rows_of_shenzhen() -> None:
    pages = Pages(szse_body(SZSE_ROW, count=2, pages=2), szse_body({**SZSE_ROW, "zqdm": "300142"}, count=2,
                                                                   pages=2))  # fmt: skip
    rows = SzseClient(pages).billboard(DAY, DAY)

    assert rows["code"].tolist() == ["000504", "300142"]
    assert (rows["name"].iloc[0], rows["amount"].iloc[0]) == ("南华生物", 1_525_000_000)
    assert set(rows["reason"]) == {"日涨幅偏离值达到7%的前5只证券"}
    assert dict(pages.asked[1].params)["PAGENO"] == "2"


@pytest.mark.parametrize(
    ("said", "code", "name", "rule"),
    [
        ("日价格涨幅达到20.83%", "300001", "特锐德", "日涨幅达到15%的前5只证券"),
        ("日价格跌幅偏离值达到-10.33%", "000582", "北部湾港", "日跌幅偏离值达到7%的前5只证券"),
        ("日价格振幅达到19.89%", "000002", "万科Ａ", "日振幅值达到15%的前5只证券"),
        ("日换手率达到32.29%", "300142", "沃森生物", "日换手率达到30%的前5只证券"),
        (
            "异常期间价格涨幅偏离值累计达到12.50%",
            "000005",
            "*ST星源",
            "连续三个交易日内，涨幅偏离值累计达到12%的ST证券、*ST证券和未完成股改证券",
        ),
        ("退市整理期", "000004", "国华退", "退市整理期"),
    ],
)
def test_the_rule_behind_a_reason(said: str, code: str, name: str, rule: str) -> None:
    assert rule_of(said, code, name) == rule


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (szse_body({**SZSE_ROW, "cjje": "1,525,000,000"}), "another unit"),
        (szse_body({**SZSE_ROW, "dqrq": "2026-09-25"}), "answered for"),
        (szse_body({**SZSE_ROW, "plyy": " "}), "for no reason"),
        (szse_body({**SZSE_ROW, "zqdm": "504"}), "no code"),
        (szse_body({name: value for name, value in SZSE_ROW.items() if name != "cjje"}), "no field cjje"),
    ],
)
def test_rejected_rows(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        SzseClient(Pages(body)).billboard(DAY, DAY)


def test_a_list_of_shenzhen_that_ends_early_or_grows_while_it_is_read() -> None:
    first = szse_body(SZSE_ROW, count=3, pages=2)
    with pytest.raises(PayloadError, match="1 of 3 rows"):
        SzseClient(Pages(first, szse_body(count=3, pages=2))).billboard(DAY, DAY)
    with pytest.raises(PayloadError, match="moved from 3 to 4"):
        SzseClient(Pages(first, szse_body(SZSE_ROW, SZSE_ROW, count=4, pages=2))).billboard(DAY, DAY)


@quick
@given(st.one_of(damaged_json(sse_body(TEXT)), damaged_bytes(sse_body(TEXT))))
def test_damaged_texts(body: bytes) -> None:
    try:
        board = sse_billboard.parse_billboard(body, DAY)
    except ACCEPTED:
        return
    assert all(row["date"] == DAY and row["reason"] for row in (*board.listings, *board.seats))


def test_a_listing_without_a_volume_is_a_listing() -> None:
    """No public client reads `cjsl`: it only checks the unit of the amount."""
    bare = {name: value for name, value in SZSE_ROW.items() if name != "cjsl"}

    rows = SzseClient(Pages(szse_body(bare))).billboard(DAY, DAY)

    assert rows["amount"].tolist() == [1_525_000_000]


@quick
@given(st.one_of(damaged_json(szse_body(SZSE_ROW)), damaged_bytes(szse_body(SZSE_ROW))))
def test_damaged_rows(body: bytes) -> None:
    try:
        board = szse_billboard.parse_billboard(body, DAY, DAY)
    except ACCEPTED:
        return
    assert all(row["date"] == DAY and row["amount"] >= 0 for row in board.rows)
