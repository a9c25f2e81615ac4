"""Sentences: what the rules make of them, and what they do not pretend to understand."""

import pytest

from platform_assets.compute.dsl.natural import EVERYTHING, translated
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.spoken import PHRASES
from platform_assets.compute.dsl.tree import And, Or
from platform_assets.compute.dsl.written import written

INDUSTRIES = ("银行", "白酒")


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("市盈率小于20且净资产收益率大于15%的银行股", "pe_ttm < 20 and roe > 15% and industry = '银行'"),
        ("低估值小盘非ST", "pe_ttm between 0 and 20 and float_market_cap < 50亿 and not st"),
        (
            "换手率３％到１０％，放量，前20名",
            "turnover_pct between 3% and 10% and volume_ratio >= 1.5 limit 20",
        ),
        ("市值100亿以上 按市盈率从低到高", "total_market_cap >= 100亿 order by pe_ttm asc"),
        ("超跌或白酒", "rsi6 < 20 or industry = '白酒'"),
        ("总市值前10", f"{EVERYTHING} order by total_market_cap desc limit 10"),
        ("近5日涨幅不低于10%的股票", "chg_5d >= 10%"),
        ("市净率<1, ROE>=8", "pb < 1 and roe >= 8"),
        ("市盈率小于20", "pe_ttm < 20"),
        ("市盈率小于等于20", "pe_ttm <= 20"),
        ("市盈率小于或等于20", "pe_ttm <= 20"),
        ("市盈率不大于20", "pe_ttm <= 20"),
        ("市盈率20以下", "pe_ttm <= 20"),
        ("市盈率不到20，市净率不足2", "pe_ttm < 20 and pb < 2"),
        ("换手率高于5%，ROE超过10%，负债率低于60%", "turnover_pct > 5% and roe > 10% and debt_ratio < 60%"),
        ("换手率不低于5%", "turnover_pct >= 5%"),
        ("市盈率>0 且市净率≤2", "pe_ttm > 0 and pb <= 2"),
        ("涨停基因大于80", "limitGene > 80"),
        ("连板不低于3", "limit_days_today >= 3"),
        ("连板", "limit_days_today >= 2"),
        ("双底", "double_bottom = 100"),
        ("多头排列", "ma5 > ma10 and ma10 > ma20 and ma20 > ma60"),
        ("市盈率介于10至20之间", "pe_ttm between 10 and 20"),
    ],
)
def test_a_sentence_becomes_a_query(sentence: str, query: str) -> None:
    reported = translated(sentence, INDUSTRIES)
    assert (reported.query, reported.unmatched) == (query, ())


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("不是银行股", "not industry = '银行'"),
        ("非银行股，市盈率小于20", "not industry = '银行' and pe_ttm < 20"),
        ("没有涨停", "not limit_days_today >= 1"),
        ("最近没有出现涨停的银行股", "not limit_days_today >= 1 and industry = '银行'"),
        ("不是银行或白酒", "not (industry = '银行' or industry = '白酒')"),
        ("剔除银行、白酒，放量", "not (industry = '银行' or industry = '白酒') and volume_ratio >= 1.5"),
        ("不是银行且市盈率>10", "not industry = '银行' and pe_ttm > 10"),
        ("没有连板大于3", "not limit_days_today > 3"),
        ("除了银行以外的股票", "not industry = '银行'"),
        ("银行股除外", "not industry = '银行'"),
        ("银行股不要", "not industry = '银行'"),
        ("不是ST", "not st"),
        *((f"{word}ST", "not st") for word in ("不含", "剔除", "排除", "去除", "不要")),
        ("排除ST和银行，放量", "not (st or industry = '银行') and volume_ratio >= 1.5"),
        ("ST股", "st"),
        ("市盈率不超过20", "pe_ttm <= 20"),
        ("市盈率没有超过20", "not pe_ttm > 20"),
        ("市盈率不在10到20之间", "not pe_ttm between 10 and 20"),
        ("市盈率不等于20", "pe_ttm != 20"),
        ("没有金叉", f"not ({written(parse(PHRASES['金叉']))})"),
    ],
)
def test_what_is_denied_is_not_asked_for(sentence: str, query: str) -> None:
    reported = translated(sentence, INDUSTRIES)
    assert (reported.query, reported.unmatched) == (query, ())


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("银行或白酒，市盈率小于20", "industry in ('银行', '白酒') and pe_ttm < 20"),
        ("市盈率小于20的银行股和白酒股", "pe_ttm < 20 and industry in ('银行', '白酒')"),
        ("银行、白酒或银行且放量", "industry in ('银行', '白酒') and volume_ratio >= 1.5"),
        ("银行和白酒除外", "not industry in ('银行', '白酒')"),
        ("银行和放量", "industry = '银行' and volume_ratio >= 1.5"),
        ("超跌或银行，市盈率小于20", "(rsi6 < 20 or industry = '银行') and pe_ttm < 20"),
        ("市盈率小于20，超跌或放量", "pe_ttm < 20 and (rsi6 < 20 or volume_ratio >= 1.5)"),
        ("市盈率小于20，且超跌，或放量", "pe_ttm < 20 and (rsi6 < 20 or volume_ratio >= 1.5)"),
        (
            "银行且市盈率小于10或白酒且市盈率小于20",
            "industry = '银行' and pe_ttm < 10 or industry = '白酒' and pe_ttm < 20",
        ),
        ("(超跌或放量)且市盈率小于20", "(rsi6 < 20 or volume_ratio >= 1.5) and pe_ttm < 20"),
        ("市盈率小于20且(超跌或放量)", "pe_ttm < 20 and (rsi6 < 20 or volume_ratio >= 1.5)"),
    ],
)
def test_an_or_holds_for_what_stands_beside_it_alone(sentence: str, query: str) -> None:
    reported = translated(sentence, INDUSTRIES)
    assert (reported.query, reported.unmatched) == (query, ())


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("白酒股", "industry = '白酒'"),
        ("白酒Ⅱ股", "industry = '白酒'"),
        ("it服务", "industry = 'IT服务'"),
        ("IT服务Ⅱ或IT设备", "industry in ('IT服务', 'IT设备')"),
        ("不是IT设备", "not industry = 'IT设备'"),
    ],
)
def test_an_industry_goes_by_its_plain_name(sentence: str, query: str) -> None:
    reported = translated(sentence, ("白酒Ⅱ", "IT服务Ⅱ", "IT设备"))
    assert (reported.query, reported.unmatched) == (query, ())


def test_an_industry_of_another_level_is_not_guessed() -> None:
    assert translated("银行", ("股份制银行Ⅱ",)).unmatched == ("银行",)


@pytest.mark.parametrize(
    "sentence", ["不太可能涨停", "走势不明朗银行股", "没有任何涨停", "不含银行以外的", "除了那些银行股"]
)
def test_a_denial_of_what_is_not_understood_leaves_the_phrase(sentence: str) -> None:
    reported = translated(sentence, INDUSTRIES)
    assert reported.query == ""
    assert len(reported.unmatched) == 1


@pytest.mark.parametrize(
    ("sentence", "query", "unmatched"),
    [
        ("今天天气不错 pe<20", "pe_ttm < 20", ("天气不错",)),
        ("量价齐升的妖股", "", ("量价齐升", "妖")),
        ("净资产收益率大于15亿", "", ("净资产收益率大于15亿",)),
        ("市盈率很低", "", ("市盈率很低",)),
        ("前900名", "", ("前900名",)),
        ("医药股", "", ("医药",)),
        ("", "", ()),
    ],
)
def test_what_is_not_understood_is_listed(sentence: str, query: str, unmatched: tuple[str, ...]) -> None:
    reported = translated(sentence, INDUSTRIES)
    assert (reported.query, reported.unmatched) == (query, unmatched)


def test_a_cross_is_of_the_day() -> None:
    reported = translated("MACD金叉或均线金叉")
    either = parse(reported.query).where
    assert reported.unmatched == ()
    assert isinstance(either, Or)
    assert [len(one.items) for one in either.items if isinstance(one, And)] == [2, 2]
    assert "ref(ma(close, 5), 1) <= ref(ma(close, 20), 1)" in reported.query


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_is_a_query(phrase: str) -> None:
    assert translated(phrase).query == written(parse(PHRASES[phrase]))
