"""Search over the catalog without a model or a network: words and Chinese character pairs, weighted by
their rarity, with a table of market terms.

Limits: it compares words, not sentences; a text of common words only finds common interfaces.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from core.declaration.dataset import Dataset
from core.declaration.interfaces import Interface

GROUPS: tuple[str, ...] = (
    "kline bar bars ohlc candle candles k线 日线 行情 价格 走势 chart prices",
    "daily day 日线 日k 每日",
    "week weekly 周线 周k", "month monthly 月线 月k", "minute minutes intraday 分钟 分时",
    "quote quotes snapshot 报价 快照 盘口 现价 收盘",
    "realtime live 实时 即时",
    "valuation pe pb ps 估值 市盈率 市净率 市销率 ratio",
    "cap market_cap 市值 总市值 流通市值",
    "fund_flow flow money 资金 资金流 资金流向 主力 净流入 moneyflow",
    "finance indicator report 财务 财报 指标 业绩 营收 净利润 roe eps 每股收益 revenue profit",
    "holder holders shareholder shareholders 股东 股东户数 户数",
    "dividend dividends bonus 分红 派息 股息 送转",
    "dragon_tiger billboard 龙虎榜", "branch branches seat seats lhb 营业部 席位",
    "chip chips cyq 筹码 筹码分布 获利盘 持仓成本",
    "margin financing rzrq 融资 融券 两融 融资融券",
    "block_trade 大宗 大宗交易",
    "announcement announcements notice 公告",
    "news 新闻 资讯", "research 研报 研究报告 券商研究",
    "index indices 指数 大盘 上证 沪深",
    "industry sector sectors board 行业 板块 申万",
    "concept concepts 概念 题材",
    "stock stocks security securities 股票 个股 证券",
    "master 基本信息 主数据 代码 名称 上市日期",
    "profile company 公司 简介 资料",
    "calendar trade_date trading day days 交易日 日历 休市 开市",
    "latest newest last current 最新 最近",
    "history historical series 历史 序列 时间序列",
    "batch many several 批量 多只",
    "by_date market all date cross section 全市场 截面 某日 当日 按日",
    "list 列表 清单", "rank ranking top 排名 排行 涨幅榜 跌幅榜",
    "wide screen 宽表 筛选 选股",
    "limit limitup 涨停 跌停", "ladder 连板 连板梯队", "hot popularity 热门 人气 热股",
    "cloud_map treemap 云图 热力图", "turnover 换手 换手率", "volume 成交量", "amount 成交额",
    "new ipo 新股 次新股", "members member constituent constituents 成分 成分股 成份股",
    "peers peer 同行 同行业 可比公司", "percentile 分位 分位数", "returns return volatility 收益率 波动率",
    "adjust qfq hfq 复权 前复权 后复权", "northbound connect 北向 沪股通 深股通",
    "macro 宏观 经济", "etf fund 基金", "convertible bond cb 可转债 转债", "reit 公募基础设施",
    "futures 期货", "lockup unlock 解禁 限售", "pledge 质押", "goodwill 商誉",
)  # fmt: skip
"""Words of one line have the same meaning; the first one is its name."""


def synonym_table() -> Mapping[str, tuple[str, ...]]:
    """Word -> the names of its meanings."""
    table: dict[str, list[str]] = {}
    for group in GROUPS:
        words = group.split()
        for word in words:
            table.setdefault(word, []).append(words[0])
    return {word: tuple(ideas) for word, ideas in table.items()}


_WORD = re.compile(r"[a-z0-9_]+|[\u4e00-\u9fff]+")
_NAME, _DESCRIPTION, _TITLE, _COLUMN = 6.0, 3.0, 3.0, 0.5
_EXACT = 100.0
_IDEA = "~"
"""Prefix of the name of an idea, so that it is not taken for a word of the text."""


def tokens(text: str, synonyms: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Words, parts of joined words, pairs of Chinese characters, and their ideas."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    for run in _WORD.findall(plain):
        if _is_chinese(run):
            yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
            continue
        parts = [part for part in run.split("_") if part]
        for word in {run, *parts, *("_".join(pair) for pair in pairwise(parts))}:
            yield word
            yield from (_IDEA + idea for idea in synonyms.get(word, ()))
    # Chinese has no blanks: its terms are looked for anywhere in the text.
    for word, ideas in synonyms.items():
        if _is_chinese(word) and word in plain:
            yield from (_IDEA + idea for idea in ideas)


def _is_chinese(word: str) -> bool:
    return any(letter >= "\u4e00" for letter in word)


class Index:
    """Weights of tokens per interface."""

    def __init__(self, interfaces: Mapping[str, tuple[Interface, Dataset]]) -> None:
        self._synonyms = synonym_table()
        self._weights = {
            name: self._document(interface, dataset) for name, (interface, dataset) in interfaces.items()
        }
        spread = Counter(token for weights in self._weights.values() for token in weights)
        size = len(self._weights)
        self._rarity = {token: math.log(1 + size / count) for token, count in spread.items()}

    def _document(self, interface: Interface, dataset: Dataset) -> dict[str, float]:
        weights: dict[str, float] = {}
        texts = [
            (interface.name, _NAME),
            (interface.description, _DESCRIPTION),
            (dataset.title, _TITLE),
            *((f"{spec.name} {spec.title}", _COLUMN) for spec in dataset.table_of(interface).columns),
        ]
        for text, weight in texts:
            for token in set(tokens(text, self._synonyms)):
                weights[token] = max(weights.get(token, 0.0), weight)
        return weights

    def rank(self, text: str) -> list[tuple[str, float]]:
        """(name, score) of every interface that shares a token with the text, best first; with equal
        scores the shorter name first, which is the simpler interface."""
        asked = set(tokens(text, self._synonyms))
        requested = unicodedata.normalize("NFKC", text).casefold().strip()
        scores: dict[str, float] = {}
        for name, weights in self._weights.items():
            score = sum(weights[token] * self._rarity[token] for token in asked if token in weights)
            if name == requested:
                score += _EXACT
            if score > 0:
                scores[name] = round(score, 3)
        return sorted(scores.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
