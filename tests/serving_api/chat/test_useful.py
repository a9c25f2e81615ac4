"""Questions of ordinary people to the rules: the first sentence answers, or says what was not understood."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from serving_api.chat.questions import offers
from serving_api.stocks.directory import Directory, Listing
from tests.serving_api.chat import rows
from tests.serving_api.chat.asked_by_people import FIRST, FRESH, UNSEEN, Wanted
from tests.serving_api.chat.served import Served, served

LEAST = 26
DAY = rows.DAY
MORE: dict[str, tuple[str, str, dict[str, float]]] = {
    "300750": (
        "宁德时代",
        "ndsd ningdeshidai 电力设备",
        {"price": 262.3, "pct": 3.18, "pe": 24.1, "pb": 4.6},
    ),
    "600036": ("招商银行", "zsyh zhaoshangyinhang 银行", {"price": 42.1, "pct": 0.21, "pe": 6.9, "pb": 0.91}),
    "000001": ("平安银行", "payh pinganyinhang 银行", {"price": 11.6, "pct": -0.43, "pe": 5.1, "pb": 0.52}),
    "300059": ("东方财富", "dfcf dongfangcaifu 证券", {"price": 24.5, "pct": 1.9, "pe": 36.2, "pb": 4.9}),
    "603259": ("药明康德", "ymkd yaomingkangde 医药生物", {"price": 88.2, "pct": 2.4, "pe": 21.9, "pb": 4.1}),
}
YIELDS = {"600036": 4.85, "000001": 5.6}
OLD = {
    "600519": "gzmt guizhoumaotai 食品饮料",
    "601398": "gsyh gongshangyinhang 银行",
    "000858": "wly wuliangye 食品饮料",
}


def more() -> dict[str, list[dict[str, Any]]]:
    listed = {
        **{code: (name, words) for code, (name, words, _) in MORE.items()},
        **{code: (rows.NAMES[code], words) for code, words in OLD.items()},
    }
    figures = {
        **{
            code: {"price": one["price"], "pct": one["pct"], "pe": one["pe"], "pb": one["pb"]}
            for code, one in rows.FIGURES.items()
        },
        **{code: numbers for code, (_, _, numbers) in MORE.items()},
    }
    market = {code: "SH" if code[0] in "65" else "SZ" for code in listed}
    return {
        "fusion_stock_master": [
            *(
                {
                    "code": code,
                    "name": name,
                    "market": market[code],
                    "sec_type": "stock",
                    "list_status": "L",
                    "exchange": "SSE" if market[code] == "SH" else "SZSE",
                    "list_date": "2010-01-04",
                    "is_st": False,
                    "pinyin_initials": words.split()[0],
                    "pinyin_full": words.split()[1],
                }
                for code, (name, words) in listed.items()
            ),
            {
                "code": "510300",
                "name": "沪深300ETF",
                "market": "SH",
                "sec_type": "etf",
                "list_status": "L",
                "exchange": "SSE",
                "list_date": "2012-05-28",
                "is_st": False,
                "pinyin_initials": "hsetf",
                "pinyin_full": "hushenetf",
            },
        ],
        "fusion_stock_industry": [
            {
                "code": code,
                "name": name,
                "industry": words.split()[2],
                "sw_l1_name": words.split()[2],
                "sw_l1": "x",
            }
            for code, (name, words) in listed.items()
        ],
        "fusion_quote_snapshot": [
            *(
                {
                    "code": code,
                    "trade_date": DAY,
                    "name": name,
                    "price": one["price"],
                    "change_pct": one["pct"],
                    "amount": 1e9,
                    "turnover_pct": 2.35,
                    "volume_ratio": 1.1,
                    "pe_ttm": one["pe"],
                    "pb": one["pb"],
                }
                for code, (name, _, one) in MORE.items()
            ),
            {"code": "510300", "trade_date": DAY, "name": "沪深300ETF", "price": 4.12, "change_pct": 0.4},
        ],
        "fusion_valuation": [
            {
                "code": code,
                "date": DAY,
                "name": name,
                "price": one["price"],
                "pe_ttm": one["pe"],
                "pb": one["pb"],
                "dividend_yield": YIELDS.get(code, 1.1),
                "total_market_cap": 1e7,
            }
            for code, (name, _, one) in MORE.items()
        ],
        "fusion_finance_indicator": [
            {
                "code": code,
                "report_period": "2026-06-30",
                "ann_date": "2026-08-10",
                "name": name,
                "revenue": 1e10,
                "net_profit": 1e9,
                "gross_margin": 41.2,
                "roe": 8.8,
                "debt_ratio": 40.0,
            }
            for code, (name, _, _) in MORE.items()
        ],
        "fusion_fund_flow": [
            {
                "code": code,
                "date": DAY,
                "main_net": 1.2e8,
                "main_net_pct": 3.0,
                "close": 1.0,
                "change_pct": 1.0,
            }
            for code in MORE
        ],
        "fusion_stock_wide": [
            {
                "code": code,
                "trade_date": DAY,
                "name": listed[code][0],
                "market": market[code],
                "industry": listed[code][1].split()[2],
                "is_st": False,
                "current_price": one["price"],
                "change_pct": one["pct"],
                "pe_ttm": one["pe"],
                "pb": one["pb"],
                "roe": 9.5,
                "dividend_yield": YIELDS.get(code, 1.1),
                "total_market_cap": 1e7 * one["price"],
                "chg_20d": 12.0 if code == "603259" else 3.0,
                "amount": 1e9,
                "list_date": "2010-01-04",
            }
            for code, one in figures.items()
        ],
        "raw_top_holders": [
            {
                "code": "600519",
                "report_period": "2026-06-30",
                "holder_type": "top10",
                "rank_no": 1,
                "holder_key": "a" * 16,
                "holder_name": "茅台集团",
                "ratio_pct": 54.07,
            },
            {
                "code": "600519",
                "report_period": "2026-06-30",
                "holder_type": "top10",
                "rank_no": 2,
                "holder_key": "b" * 16,
                "holder_name": "香港中央结算",
                "ratio_pct": 5.9,
            },
        ],
        "cninfo_periodic_report": [
            {"code": "600519", "report_period": "2026-09-30", "name": "贵州茅台", "first_date": "2026-10-28"},
        ],
        "fusion_index_daily": [
            {
                "code": "sz399006",
                "date": DAY,
                "name": "创业板指",
                "scope": "cn",
                "close": 3102.4,
                "change_pct": 1.52,
                "open": 3102.4,
                "high": 3102.4,
                "low": 3102.4,
                "amount": 5.1e11,
            },
        ],
        "ref_outside_market": [
            {
                "series": "hsi",
                "date": DAY,
                "name": "恒生指数",
                "price": 25012.3,
                "change_pct": 0.66,
                "quote_time": f"{DAY} 16:00:00",
            },
        ],
    }


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("useful")
    with served(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder) as one:
        for table, some in more().items():
            one.put(table, some)
        one.ticks.advance(2.0)
        yield one


@pytest.mark.parametrize("questions", [FIRST, UNSEEN, FRESH], ids=["one", "two", "three"])
def test_the_first_sentence_answers(market: Served, questions: tuple[Wanted, ...]) -> None:
    who, failed = market.admin(), []
    for wanted in questions:
        history = [{"role": "user", "content": text} for text in wanted.before]
        answer = market.ask(wanted.question, who, history=history)
        text = answer["answer"].split("\n\n", 1)[1]
        first = next(line for line in text.strip().split("\n") if not line.startswith("【"))
        first = re.sub(r"\[E\d+\]", "", first)
        is_useful = re.search(wanted.first, first) and not re.search(wanted.never, text)
        assert "—" not in text, wanted.question
        if not is_useful:
            failed.append(f"{wanted.question} -> {first[:150]}")
    print(f"{len(questions) - len(failed)} of {len(questions)} useful\n" + "\n".join(failed))
    assert len(questions) - len(failed) >= LEAST, failed


def test_what_is_offered_is_answered(market: Served) -> None:
    who = market.admin()
    offered = re.findall(r"“(.+?)”", market.ask("谢谢", who)["answer"])
    assert len(offered) == 3
    for question in offered:
        assert "可以这样问" not in market.ask(question, who)["answer"], question


def test_a_company_that_is_not_listed_here_is_not_offered() -> None:
    listing = Listing("600040", "岚河科技", "SH", "stock", "lhkj", "lanhekeji", None)
    assert "“岚河科技的市盈率是多少”" in offers(Directory.of([listing]))
