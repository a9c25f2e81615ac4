"""Interfaces over lists of securities, classifications and windows of dates, on both engines."""

from typing import Any

import pytest

from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, put
from tests.serving_api.datasets.fused.test_interfaces import DAYS, call, value

OLD = "2026-07-01 09:00:00.000000"
WULIANGYE, YOUNG, GONE = "000858", "301999", "600001"


@pytest.fixture(scope="module")
def stocked(fused: Bench) -> Bench:
    """The filled market with more securities, their industries, blocks, flows and wide rows."""
    warehouse = fused.extra["warehouse"]
    put(
        warehouse,
        "fusion_stock_master",
        [
            {"code": WULIANGYE, "name": "五粮液", "market": "SZ", "sec_type": "stock", "list_status": "L",
             "is_st": True, "list_date": "1998-04-27", "pinyin_initials": "wly"},
            {"code": YOUNG, "name": "新股", "market": "SZ", "sec_type": "stock", "list_status": "L",
             "list_date": "2026-08-03"},
            {"code": GONE, "name": "退市", "market": "SH", "sec_type": "stock", "list_status": "D",
             "is_st": True},
        ],
        public_at=OLD,
    )  # fmt: skip
    put(
        warehouse,
        "fusion_stock_industry",
        [
            {"code": code, "name": name, "industry": "白酒", "em_industry": "酿酒行业", "sw_l1": "801120",
             "sw_l1_name": "食品饮料", "sw_l2": "801125", "sw_l2_name": "白酒Ⅱ"}
            for code, name in ((MAOTAI, "贵州茅台"), (WULIANGYE, "五粮液"))
        ]
        + [{"code": PINGAN, "name": "平安银行", "sw_l1": "801780", "sw_l1_name": "银行"}],
        public_at=OLD,
    )  # fmt: skip
    put(
        warehouse,
        "fusion_stock_wide",
        [
            {"code": code, "trade_date": TODAY, "name": name, "market": market_, "current_price": 10.0,
             "change_pct": change, "pe_ttm": pe, "pb": -1.0 if code == MAOTAI else 1.0,
             "total_market_cap": cap, "sw_l1": level,
             "sw_l1_name": level_name, "industry": industry}
            for code, name, market_, change, pe, cap, level, level_name, industry in (
                (MAOTAI, "贵州茅台", "SH", 1.5, 21.0, 1.7e8, "801120", "食品饮料", "白酒"),
                (WULIANGYE, "五粮液", "SZ", -2.0, 15.0, 5e7, "801120", "食品饮料", "白酒"),
                (PINGAN, "平安银行", "SZ", 3.0, 5.0, 2e7, "801780", "银行", "银行"),
            )
        ],
        public_at=OLD,
    )  # fmt: skip
    put(
        warehouse,
        "raw_concept_blocks",
        [
            {"code": code, "block_code": "BK0896", "block_name": "白酒", "block_type": "concept",
             "src": "eastmoney"}
            for code in (MAOTAI, WULIANGYE)
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_block_member",
        [
            {"block_type": kind, "block_code": block, "block_name": name, "code": code, "member_count": count,
             "src": "tdx"}
            for kind, block, name, code, count in (
                ("gn", "白酒概念", "白酒概念", MAOTAI, 2),
                ("gn", "白酒概念", "白酒概念", WULIANGYE, 2),
                ("zs", "沪深300", "沪深300", MAOTAI, 300),
            )
        ],
    )  # fmt: skip
    put(
        warehouse,
        "fusion_fund_flow",
        [
            {"code": code, "date": day, "close": 10.0, "main_net": net, "super_net": net, "src": "eastmoney"}
            for code, net in ((MAOTAI, 100.0), (PINGAN, -50.0), (WULIANGYE, 10.0))
            for day in DAYS[-5:]
        ],
        public_at=OLD,
    )  # fmt: skip
    put(
        warehouse,
        "fusion_index_daily",
        [{"code": "hkHSI", "date": TODAY, "name": "恒生指数", "scope": "hk", "close": 25_000.0}],
        public_at=OLD,
    )
    return fused


def codes(rows: Any) -> list[str]:
    return [row["code"] for row in rows]


def test_securities_by_market_status_and_keyword(stocked: Bench) -> None:
    assert codes(value(stocked, "get_stock_list")) == [PINGAN, WULIANGYE, YOUNG, MAOTAI]
    assert codes(value(stocked, "get_stock_list", market="SZ", keyword="五")) == [WULIANGYE]
    assert codes(value(stocked, "get_stock_list", list_status="D")) == [GONE]
    assert codes(value(stocked, "get_stock_list", page=2, page_size=3)) == [MAOTAI]
    assert codes(value(stocked, "get_stock_search", keyword="wly")) == [WULIANGYE]
    assert codes(value(stocked, "get_stock_search", keyword="00", page=2, page_size=1)) == [WULIANGYE]
    # However it is typed: blanks and full width count for nothing.
    for typed in ("五 粮液", "００08", " 五粮"):
        assert codes(value(stocked, "get_stock_list", keyword=typed)) == [WULIANGYE], typed
    for typed in ("五 粮液", "ＷＬＹ", "w ly", "　wly"):
        assert codes(value(stocked, "get_stock_search", keyword=typed)) == [WULIANGYE], typed
    assert codes(value(stocked, "get_stock_list", keyword="0", page=2, page_size=2)) == [YOUNG, MAOTAI]
    # The delisted one is not under special treatment any more.
    assert codes(value(stocked, "get_st_stocks")) == [WULIANGYE]
    assert codes(value(stocked, "get_new_stocks")) == [YOUNG]
    assert value(stocked, "get_new_stocks", days=5) == []


def test_industries_their_members_and_peers(stocked: Bench) -> None:
    listed = value(stocked, "get_industry_list")
    assert listed[0] == {"industry_code": "801120", "industry_name": "食品饮料", "member_count": 2}
    assert codes(value(stocked, "get_industry_members", industry_code="801120")) == [WULIANGYE, MAOTAI]
    assert codes(value(stocked, "get_industry_members", industry_code="白酒Ⅱ", level="sw_l2")) == [
        WULIANGYE,
        MAOTAI,
    ]
    peers = value(stocked, "get_industry_peers", code=WULIANGYE)
    assert [(row["code"], row["pe_ttm"]) for row in peers] == [(MAOTAI, 21.0)]
    assert value(stocked, "get_industry_peers", code=PINGAN) == []
    bad = call(stocked, "get_industry_list", level="sector")
    assert bad.status_code == 422
    assert "level" in bad.text


def test_blocks_of_a_code_and_codes_of_a_block(stocked: Bench) -> None:
    assert [row["block_code"] for row in value(stocked, "get_concept_blocks", code=MAOTAI)] == ["BK0896"]
    assert codes(value(stocked, "get_concept_members", block_code="白酒")) == [WULIANGYE, MAOTAI]
    assert codes(value(stocked, "get_concept_members", block_code="BK0896")) == [WULIANGYE, MAOTAI]
    assert value(stocked, "get_block_list") == [
        {"block_type": "gn", "block_code": "白酒概念", "block_name": "白酒概念", "member_count": 2}
    ]
    assert value(stocked, "get_block_list", block_type="zs", keyword="500") == []
    assert value(stocked, "get_block_list", block_type="zs", keyword="沪深 ３００") != []
    assert codes(value(stocked, "get_block_members", block_code="白酒概念")) == [WULIANGYE, MAOTAI]
    assert value(stocked, "get_block_members", block_code="白酒概念", block_type="zs") == []
    assert {row["block_type"] for row in value(stocked, "get_stock_blocks", code=MAOTAI)} == {"gn", "zs"}


def test_wide_rows_ranked_and_screened(stocked: Bench) -> None:
    assert codes(value(stocked, "get_stock_rank")) == [PINGAN, MAOTAI, WULIANGYE]
    assert codes(value(stocked, "get_stock_rank", sort="pe_ttm", market="SZ")) == [PINGAN, WULIANGYE]
    for industry in ("801120", "食品饮料", "白酒"):
        assert codes(value(stocked, "get_stock_rank", industry_code=industry)) == [MAOTAI, WULIANGYE]
    rows = value(stocked, "get_stock_wide_by_date", fields="pe_ttm", sort="pe_ttm", limit=1)
    assert rows == [{"code": PINGAN, "trade_date": TODAY, "pe_ttm": 5.0}]
    assert codes(value(stocked, "get_stock_screen", keyword="pe_ttm<20, change_pct>=-2")) == [
        PINGAN,
        WULIANGYE,
    ]
    assert codes(value(stocked, "get_stock_screen", keyword="白酒，pe_ttm < 20")) == [WULIANGYE]
    # A multiple of a loss is none.
    assert codes(value(stocked, "get_stock_screen", keyword="pb<2")) == [PINGAN, WULIANGYE]
    assert codes(value(stocked, "get_stock_screen", keyword="白 酒，ｐｅ_ttm＜２０")) == [WULIANGYE]
    for wrong in ("beauty>3", "name=3"):
        bad = call(stocked, "get_stock_screen", keyword=wrong)
        assert bad.status_code == 422
        assert "keyword" in bad.text


def test_bars_of_many_codes_and_returns(stocked: Bench) -> None:
    bars = value(stocked, "get_kline_daily_batch", codes=f"{MAOTAI},{PINGAN},999999", days=3)
    assert [len(bars[code]) for code in (MAOTAI, PINGAN, "999999")] == [3, 1, 0]
    assert bars[MAOTAI][-1]["date"] == TODAY
    rows = value(stocked, "get_returns", code=MAOTAI, window=5, limit=10)
    closes = [row["close"] for row in value(stocked, "get_kline_daily", code=MAOTAI, limit=60)]
    assert len(rows) == 10
    assert rows[-1]["return_pct"] == pytest.approx((closes[-1] / closes[-6] - 1) * 100, abs=1e-3)
    assert rows[-1]["volatility_pct"] > 0
    # A window that is not full has no figure.
    first = value(stocked, "get_returns", code=MAOTAI, window=50, limit=250)[0]
    assert first["return_pct"] is None


def test_a_call_about_the_past_says_how_far_back_it_reaches(stocked: Bench) -> None:
    def asked(name: str, **params: Any) -> tuple[Any, Any]:
        answer = call(stocked, name, **params).json()
        return answer.get("first_date"), answer.get("note")

    first = value(stocked, "get_kline_daily", code=MAOTAI, limit=250)[0]["date"]
    given = len(value(stocked, "get_kline_daily", code=MAOTAI, limit=250))
    reported = f"the first stored date is {first}"
    assert asked("get_kline_daily", code=MAOTAI, limit=3) == (first, None)
    assert asked("get_kline_daily", code=MAOTAI, limit=250) == (
        first,
        f"{given} of at most 250 are stored; {reported}",
    )
    assert asked("get_kline_daily", code=MAOTAI, start_date="2020-01-02") == (
        first,
        f"asked from 2020-01-02; {reported}",
    )
    assert asked("get_kline_daily", code=MAOTAI, start_date=TODAY, limit=9) == (first, None)
    assert asked("get_kline_daily", code="999999") == (None, "nothing is stored of 999999")
    assert asked("get_fund_flow_by_date", trade_date="2020-01-02")[1].startswith(
        "nothing is stored of 2020-01-02"
    )
    assert asked("get_stock_list") == (None, None)


def test_the_percentile_of_a_valuation_in_its_window(stocked: Bench) -> None:
    reported = value(stocked, "get_valuation_percentile", code=MAOTAI, days=10)
    assert (reported["count"], reported["date"], reported["pe_pct"], reported["pb_pct"]) == (
        10,
        TODAY,
        100.0,
        100.0,
    )
    assert value(stocked, "get_valuation_percentile", code="999999") is None


def test_flows_are_summed_over_trade_dates(stocked: Bench) -> None:
    rows = value(stocked, "get_fund_flow_rank", days=3)
    assert [(row["code"], row["main_net"]) for row in rows] == [
        (MAOTAI, 300.0),
        (WULIANGYE, 30.0),
        (PINGAN, -150.0),
    ]
    assert (rows[0]["since"], rows[0]["date"], rows[0]["name"]) == (DAYS[-3], TODAY, "贵州茅台")
    assert codes(value(stocked, "get_fund_flow_rank", sort="super_net", limit=1)) == [PINGAN]
    for wrong in ({"days": 4}, {"sort": "-close"}):
        assert call(stocked, "get_fund_flow_rank", **wrong).status_code == 422


def test_indices_of_a_scope(stocked: Bench) -> None:
    assert value(stocked, "get_index_list", scope="hk") == [
        {"code": "hkHSI", "name": "恒生指数", "scope": "hk", "first_date": TODAY, "latest_date": TODAY}
    ]
    assert codes(value(stocked, "get_index_latest", codes="sh000001,hkHSI")) == ["sh000001", "hkHSI"]
    assert codes(value(stocked, "get_index_latest", scope="hk")) == ["hkHSI"]


def test_lists_of_the_past_show_what_was_known(stocked: Bench) -> None:
    assert value(stocked, "get_stock_list", as_of="2026-06-30") == []
    assert call(stocked, "get_stock_search", as_of="2026-08-02", keyword="五").status_code == 422
