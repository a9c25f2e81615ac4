"""Which skills an input asks for: sixty sentences as users write them, and the score by hand."""

from dataclasses import dataclass

import pytest

from core.declaration.registry import builtin_registry
from serving_api.skills.definitions import shipped
from serving_api.skills.matching import best, score

SENTENCES = [
    ("帮我全面分析一下600519", "stock_overview"),
    ("贵州茅台怎么看，值得关注吗", "stock_overview"),
    ("这只股票的市盈率在历史上贵不贵", "valuation_range"),
    ("招商银行现在PB多少，估值分位高吗", "valuation_range"),
    ("is the pe too high?", "valuation_range"),
    ("中报的扣非净利润和毛利率怎么变化", "financial_quality"),
    ("看看宁德时代三季报", "financial_quality"),
    ("它和同行比行业地位如何", "industry_position"),
    ("公司的护城河和竞争格局", "industry_position"),
    ("MACD金叉了吗，均线趋势怎样", "trend_structure"),
    ("上方压力位和下方支撑位在哪里", "trend_structure"),
    ("今天主力资金净流入多少", "fund_flow_reading"),
    ("超大单连续净流出说明什么", "fund_flow_reading"),
    ("现在市场情绪是冰点还是退潮", "market_phase_reading"),
    ("大盘赚钱效应怎么样", "market_phase_reading"),
    ("帮我排雷，看有没有退市风险", "risk_screening"),
    ("会不会财务造假暴雷", "risk_screening"),
    ("昨晚的定增公告是利好还是利空", "announcement_reading"),
    ("收到交易所问询函影响多大", "announcement_reading"),
    ("高增长的成长股用PEG怎么算", "growth_valuation"),
    ("科创板未盈利公司如何定价", "growth_valuation"),
    ("用DCF算一下内在价值", "cash_flow_valuation"),
    ("折现率和永续增长怎么取", "cash_flow_valuation"),
    ("哪些公司股息率高、分红稳定", "dividend_return"),
    ("除权除息后为什么跌了", "dividend_return"),
    ("用杜邦拆一下ROE", "roe_breakdown"),
    ("净资产收益率提升来自杠杆还是周转率", "roe_breakdown"),
    ("经营现金流为什么比利润少，应收账款太多？", "cash_flow_quality"),
    ("资金链会不会断，偿债能力如何", "cash_flow_quality"),
    ("业绩预告预增百分之五十算超预期吗", "earnings_preview"),
    ("披露日是哪天，业绩快报出了没", "earnings_preview"),
    ("公司主营构成和海外收入占比", "business_mix"),
    ("它到底靠什么赚钱，产品结构呢", "business_mix"),
    ("煤炭钢铁这种周期股现在是什么位置", "cycle_industry"),
    ("猪周期走到哪一步了", "cycle_industry"),
    ("银行股净息差下行还能拿吗", "bank_insurance"),
    ("券商和保险股谁弹性大", "bank_insurance"),
    ("最近研报评级和目标价有变化吗", "research_consensus"),
    ("机构调研次数突然增加", "research_consensus"),
    ("股东户数连续下降，基金持仓增加", "holder_structure"),
    ("十大股东里谁增持了", "holder_structure"),
    ("筹码分布显示获利盘多少", "chip_distribution"),
    ("套牢盘和平均成本在哪", "chip_distribution"),
    ("下个月有多少限售股解禁", "lockup_reduction"),
    ("大股东减持和大宗交易折价", "lockup_reduction"),
    ("控股股东股权质押比例太高", "pledge_goodwill"),
    ("商誉减值会有多少", "pledge_goodwill"),
    ("今天最高几连板，首板有哪些题材", "limit_up_ladder"),
    ("龙虎榜上游资席位买了多少", "dragon_tiger"),
    ("放量突破还是缩量回调，看量价", "volume_price"),
    ("有没有走出双底或杯柄形态", "chart_patterns"),
    ("融资余额创新高，两融情况", "margin_trading"),
    ("北向资金今天买了什么", "northbound"),
    ("板块轮动到哪里了，主线是什么", "sector_rotation"),
    ("股权风险溢价和国债收益率说明股债怎么配", "macro_premium"),
    ("沪深300ETF适合定投吗", "index_etf"),
    ("这只可转债会不会强赎，转股溢价率多少", "convertible_bond"),
    ("AH溢价为什么这么大", "ah_premium"),
    ("这个策略回测胜率和最大回撤", "backtest_reading"),
    ("用多因子选股筛选低波股票", "factor_screening"),
    ("隔夜美股纳斯达克大跌对今天有影响吗", "overseas_linkage"),
]
NOTHING = ["你好", "谢谢", "what can you do", "今天天气不错", "ropey speed testing", ""]


@dataclass(frozen=True)
class Made:
    key: str
    name: str
    triggers: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@pytest.mark.parametrize(("sentence", "requested"), SENTENCES)
def test_a_sentence_finds_its_skill_first(sentence: str, requested: str) -> None:
    found = best(list(shipped().values()), sentence)
    assert [skill.key for skill, _ in found][:1] == [requested], found
    assert len(found) <= 3


def test_the_sentences_ask_for_every_skill() -> None:
    assert len(SENTENCES) >= 60
    assert {key for _, key in SENTENCES} == set(shipped())


@pytest.mark.parametrize("sentence", NOTHING)
def test_small_talk_asks_for_no_skill(sentence: str) -> None:
    assert best(list(shipped().values()), sentence) == []


def test_the_score_by_hand() -> None:
    one = Made("one", "资金面", ("资金", "资金流向", "PE", "一个非常长的词"), ("贵", "流向"))
    assert score(one, "资金流向") == 4  # 资金 stands within it, and so does the hint
    assert score(one, "资金 资金流向 很贵") == 5
    assert score(one, "资金面") == 3  # its name
    assert score(one, "ＰＥ贵") == 3  # full-width letters
    assert score(one, "speed") == 0
    assert score(one, "一个非常长的词") == 4
    assert score(one, "x" * 2000 + "资金") == 0


def test_three_at_most_half_of_the_best_at_least_and_the_key_decides() -> None:
    made = [
        Made(key, "无", (word,)) for key, word in (("d", "甲乙"), ("b", "甲乙"), ("c", "甲乙"), ("a", "甲乙"))
    ]
    assert [one.key for one, _ in best(made, "甲乙")] == ["a", "b", "c"]
    far = [Made("a", "无", ("甲乙丙丁",)), Made("b", "无", ("戊",), ("己",)), Made("c", "无", ("庚",))]
    assert [(one.key, points) for one, points in best(far, "甲乙丙丁戊己庚")] == [("a", 4), ("b", 2)]
    assert best([Made("a", "无", ("甲乙",), ("丙",))], "丙") == []
    rich = [
        Made("a", "无", ("甲乙丙丁", "戊己庚辛")),
        Made("b", "无", ("壬癸子",)),
        Made("c", "无", ("丑寅卯辰",)),
    ]
    found = best(rich, "甲乙丙丁戊己庚辛壬癸子丑寅卯辰")
    assert [(one.key, points) for one, points in found] == [("a", 8), ("c", 4)]


def test_the_shipped_ones() -> None:
    interfaces = builtin_registry().interfaces
    assert len(shipped()) == 37
    assert sum(one.enabled for one in shipped().values()) == 9
    assert len({one.name for one in shipped().values()}) == 37
    for one in shipped().values():
        assert set(one.reads) <= set(interfaces), one.key
        assert one.reads, one.key
        assert 250 <= len(one.text) <= 600, one.key
