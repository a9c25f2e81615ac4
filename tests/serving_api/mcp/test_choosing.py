"""Fifty requests of users: the descriptions of the tools alone say which one is meant, and it takes the
arguments. The requests were written before the descriptions were read."""

import math
import re
from collections import Counter
from typing import Any

import pytest

from serving_api.mcp.protocol import mounted_tools

WANTED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("贵州茅台的代码是多少", "app_find", {"query": "贵州茅台"}),
    ("帮我找一下名字里有“宁德”的股票", "app_find", {"query": "宁德"}),
    ("拼音 zgpa 是哪家公司", "app_find", {"query": "zgpa"}),
    ("看看 600036 的最新行情", "app_info", {"codes": ["600036"]}),
    (
        "600519 最近 30 个交易日的日线，前复权",
        "app_info",
        {"interface": "get_kline_daily", "params": {"code": "600519", "days": 30}},
    ),
    ("查一下招商银行近三年的财务指标", "app_info", {"codes": ["600036"]}),
    ("000858 的市盈率和市净率现在多少", "app_info", {"codes": ["000858"]}),
    ("宁德时代的十大股东", "app_info", {"codes": ["300750"]}),
    ("300750 主力资金流向", "app_info", {"codes": ["300750"]}),
    ("中国平安的融资融券余额", "app_info", {"codes": ["601318"]}),
    ("比亚迪最近的公告", "app_news", {"code": "002594", "kind": "announcement"}),
    ("300750 最近有什么新闻", "app_news", {"code": "300750"}),
    ("今天的财经快讯", "app_news", {"kind": "flash"}),
    ("今天大盘怎么样", "app_market", {}),
    ("今天上涨和下跌各多少家", "app_market", {"kind": "distribution"}),
    ("现在市场处于什么情绪阶段", "app_market", {"kind": "sentiment"}),
    ("今天涨停了哪些股票", "app_hot", {"kind": "limit_up"}),
    ("连板最高的是谁", "app_hot", {"kind": "limit_up"}),
    ("龙虎榜今天有谁", "app_info", {"interface": "get_dragon_tiger"}),
    ("北向资金今天流入多少", "app_market", {"kind": "fund_flow"}),
    ("哪个行业今天涨得最多", "app_hot", {"kind": "industries"}),
    ("半导体板块的成分股表现", "app_scan", {"dsl": "industry = '半导体'"}),
    ("今天热门股票排行", "app_hot", {"kind": "popular"}),
    ("人气榜前十", "app_hot", {"kind": "popular", "limit": 10}),
    ("市盈率低于 15、ROE 大于 15 的股票", "app_scan", {"dsl": "pe_ttm < 15 and roe > 15"}),
    ("筛选股息率超过 5% 的银行股", "app_scan", {"dsl": "dividend_yield > 5"}),
    ("按条件选股：近 20 日涨幅大于 10%", "app_scan", {"dsl": "chg_20d > 10"}),
    ("突破 20 日均线的股票有哪些", "app_scan", {"dsl": "close > ma20"}),
    ("最新的 CPI 是多少", "app_macro", {}),
    ("PMI 和社融数据", "app_macro", {}),
    ("LPR 利率最近的变化", "app_macro", {}),
    ("美国非农就业数据", "app_macro", {}),
    ("本周有哪些经济数据要公布", "app_macro", {}),
    ("有哪些数据集可以用", "app_schema", {"kind": "datasets"}),
    ("这个平台能查什么", "app_schema", {}),
    ("fusion_kline_daily 这张表有哪些列", "app_schema", {"dataset": "fusion_kline_daily"}),
    ("日线表的字段和单位", "app_schema", {"dataset": "kline_daily"}),
    ("有哪些接口", "app_schema", {"kind": "interfaces"}),
    ("调用股东户数的接口", "app_info", {"interface": "get_holder_num"}),
    ("用接口读取业绩预告", "app_info", {"interface": "get_earnings_forecast"}),
    ("对 600519 做五维分析", "app_ai_chat", {"message": "做五维分析", "code": "600519"}),
    ("用一句话问：茅台为什么涨", "app_ai_chat", {"message": "茅台为什么涨"}),
    ("问问平台：今天适合关注哪些行业", "app_ai_chat", {"message": "今天适合关注哪些行业"}),
    ("数据清洗的情况怎么样", "app_schema", {}),
    ("数据质量有没有问题，哪些表缺数据", "app_schema", {}),
    ("我的持仓怎么样", "app_hold", {}),
    ("模拟持仓盈亏", "app_hold", {}),
    ("现在用的是什么模型", "ping", {}),
    ("比较茅台和五粮液的估值", "app_info", {"codes": ["600519", "000858"]}),
    ("某个数值从哪里来的，数据源是谁", "app_info", {"codes": ["600519"]}),
)
_K, _B = 1.2, 0.75


def _words(text: str) -> list[str]:
    """Pairs of Chinese characters, whole Latin words, and `6位` for a code."""
    text = re.sub(r"(?<!\d)\d{6}(?!\d)", " 6位 ", text.lower())
    pairs = [
        text[at : at + 2]
        for at in range(len(text) - 1)
        if re.fullmatch(r"[\u4e00-\u9fff]{2}", text[at : at + 2])
    ]
    return pairs + re.findall(r"6位|[a-z_]{2,}", text)


def _ranked(request: str) -> list[str]:
    """The tools, best first, by BM25 over what a client is told of them."""
    told = {
        tool.name: _words(f"{tool.title} {tool.description} " + " ".join(_said(tool.input_schema)))
        for tool in mounted_tools().values()
    }
    mean = sum(map(len, told.values())) / len(told)
    held = Counter(word for words in told.values() for word in set(words))

    def score(name: str) -> float:
        counts, size, total = Counter(told[name]), len(told[name]), 0.0
        for word in set(_words(request)):
            rarity = math.log(1 + (len(told) - held[word] + 0.5) / (held[word] + 0.5))
            total += rarity * counts[word] * (_K + 1) / (counts[word] + _K * (1 - _B + _B * size / mean))
        return total

    return sorted(told, key=score, reverse=True)


def _said(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["description"]] if isinstance(schema.get("description"), str) else []
        return own + [text for one in schema.values() for text in _said(one)]
    return [text for one in schema for text in _said(one)] if isinstance(schema, list) else []


def test_the_descriptions_alone_choose_the_tool() -> None:
    missed = [(text, name, _ranked(text)[0]) for text, name, _ in WANTED if _ranked(text)[0] != name]
    assert len(WANTED) == 50
    assert len(missed) <= 5, missed


@pytest.mark.parametrize(("text", "name", "arguments"), WANTED, ids=[text for text, *_ in WANTED])
def test_the_tool_takes_the_arguments(text: str, name: str, arguments: dict[str, Any]) -> None:
    mounted_tools()[name].arguments.model_validate(arguments)
