"""What a question asks for beside its subject: figures, a reason, a comparison, a list, or none of these."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from core.text_keys import search_key
from serving_api.evidence import parts
from serving_api.stocks.directory import Directory, Listing


@dataclass(frozen=True)
class Figures:
    """Columns of one table that a word asks for, and the section of an answer that they are in."""

    words: re.Pattern[str]
    table: str
    columns: tuple[str, ...]
    section: str
    title: str


def _asks(words: str, table: str, columns: str, section: str, title: str) -> Figures:
    return Figures(re.compile(words, re.IGNORECASE), table, tuple(columns.split()), section, title)


FIGURES = (
    _asks("市盈率|(?<![a-z])pe(?![a-z])", parts.VALUATION, "pe_ttm", "valuation", "市盈率"),
    _asks("市净率|(?<![a-z])pb(?![a-z])", parts.VALUATION, "pb", "valuation", "市净率"),
    _asks("估值|贵不贵|便宜|高估|低估", parts.VALUATION, "pe_ttm pb pe_pct_3y", "valuation", "估值"),
    _asks("市值", parts.VALUATION, "total_market_cap float_market_cap", "valuation", "市值"),
    _asks("股息|分红|派息|送转", parts.VALUATION, "dividend_yield", "holders", "股息率"),
    _asks("分红|派息|送转|分多少", "fusion_dividend", "plan_text ex_date", "holders", "分红方案"),
    _asks(
        "股价|价格|(?<!赚)(?<!赚了)多少钱|现价|收盘价|报价|什么价|几块",
        parts.QUOTE,
        "price change_pct",
        "quote",
        "股价",
    ),
    _asks("涨了?多少|跌了?多少|涨跌|涨幅|跌幅|走势|行情", parts.QUOTE, "change_pct", "quote", "涨跌幅"),
    _asks("走势|一个月|近期|最近表现", parts.WIDE, "chg_20d chg_60d", "quote", "区间涨跌幅"),
    _asks("换手", parts.QUOTE, "turnover_pct", "quote", "换手率"),
    _asks("成交(?:额|金额)", parts.QUOTE, "amount", "quote", "成交额"),
    _asks("roe|净资产收益率", parts.FINANCE, "roe", "finance", "净资产收益率"),
    _asks("毛利", parts.FINANCE, "gross_margin", "finance", "毛利率"),
    _asks("净利率", parts.FINANCE, "net_margin", "finance", "净利率"),
    _asks("营收|营业收入|收入", parts.FINANCE, "revenue revenue_yoy", "finance", "营业收入"),
    _asks(
        "净利润|利润|赚了?(?:多少)?钱|盈利", parts.FINANCE, "net_profit net_profit_yoy", "finance", "净利润"
    ),
    _asks("负债", parts.FINANCE, "debt_ratio", "finance", "资产负债率"),
    _asks("现金流", parts.FINANCE, "operating_cash_flow", "finance", "经营现金流"),
    _asks("每股收益|(?<![a-z])eps", parts.FINANCE, "eps", "finance", "每股收益"),
    _asks(
        "业绩|财报|年报|季报|中报|基本面",
        parts.FINANCE,
        "revenue revenue_yoy net_profit net_profit_yoy roe",
        "finance",
        "业绩",
    ),
    _asks(
        "主力|资金(?:流|面|情况|进出)|净流[入出]", parts.FLOW, "main_net main_net_pct", "money", "主力资金"
    ),
    _asks("融资|融券|两融", parts.MARGIN, "rzye rzjme", "money", "融资余额"),
    _asks("龙虎榜", parts.DRAGON_TIGER, "reason net_buy", "money", "龙虎榜记录"),
    _asks("股东户数|股东人数|多少股东|筹码", parts.HOLDERS, "holder_num change_ratio", "holders", "股东户数"),
    _asks(
        "谁(?:在)?持有|大股东|十大股东|前十|持股",
        "raw_top_holders",
        "holder_name ratio_pct",
        "holders",
        "股东名单",
    ),
    _asks("控制人|老板是谁|谁的公司", "fusion_stock_profile", "controller", "holders", "实际控制人"),
    _asks("做什么|主营|干什么|什么公司", "fusion_stock_profile", "main_business", "holders", "主营业务"),
    _asks("解禁|限售", parts.LOCKUP, "free_date ratio_total_pct market_value", "risk", "未来半年的解禁"),
    _asks("质押", parts.PLEDGE, "pledge_ratio", "risk", "股权质押"),
    _asks("商誉", parts.GOODWILL, "goodwill goodwill_equity_ratio_pct", "risk", "商誉"),
    _asks("(?<![a-z])st(?![a-z])|退市|风险警示|戴帽|摘帽", parts.MASTER, "is_st", "risk", "风险警示"),
    _asks("均线|rsi|kdj|技术", parts.INDICATORS, "ma5 ma20 ma60 rsi14", "technique", "技术指标"),
    _asks("评分|得分|打分", parts.SCORES, "composite quality_score value growth", "score", "因子评分"),
    _asks("研报|评级|机构怎么看", parts.REPORTS, "title rating", "news", "研报"),
    _asks("公告", parts.ANNOUNCEMENTS, "title", "news", "公告"),
    _asks("消息|新闻|利好|利空|发生了?什么", parts.NEWS, "title", "news", "新闻"),
    _asks("消息|利好|利空|发生了?什么", parts.ANNOUNCEMENTS, "title", "news", "公告"),
    _asks(
        "业绩预告|预增|预减", "raw_earnings_forecast", "predict_type change_lower_pct", "finance", "业绩预告"
    ),
    _asks("行业|板块", parts.INDUSTRY, "sw_l1_name", "valuation", "所属行业"),
    _asks("上市(?:时间|日期)|什么时候上市|哪年上市", parts.MASTER, "list_date", "quote", "上市日期"),
)
NEXT_REPORT = re.compile(
    r"(?:下次|下一[次期份]|什么时候|何时|哪天|几号|多久)[^，。]{0,6}(?:财报|年报|季报|中报|业绩|披露|报告)"
    r"|(?:财报|年报|季报|中报|业绩)[^，。]{0,4}(?:什么时候|何时|哪天|几号|预约)"
)
REASON = re.compile(r"为(?:什么|啥|何)|怎么(?:突然)?(?:大)?(?:涨|跌)|咋(?:涨|跌)|原因|怎么回事|跌停了吗")
ADVICE = re.compile(
    r"(?:能|可以|该|要不要|值得|适合)[^，。]{0,4}(?:买|卖|入手|加仓|抄底|持有|上车)|目标价|会涨|会跌|还能涨|走到哪"
)
COMPARING = re.compile(r"比较|对比|相比|比呢|哪个|哪家|谁更|谁的|差多少|还是|vs", re.IGNORECASE)
_POLITE = r"[\s你您的了呀啊哦嘛帮助忙解答回复，,。.！!~]{0,8}$"
COURTESY: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            rf"^(?:谢谢|多谢|感谢|thanks?|thank you|3q|辛苦了?|好的?|明白了?|ok|收到|知道了){_POLITE}", re.I
        ),
        "不客气。",
    ),
    (re.compile(rf"^(?:你好|您好|hi|hello|嗨|早上?好|晚上好|下午好|在吗){_POLITE}", re.I), "你好。"),
    (re.compile(rf"^(?:再见|拜拜|bye){_POLITE}", re.I), "再见。"),
    (
        re.compile(r"你(?:是谁|能做什么|会什么|有什么功能|能干什么)|怎么用|^(?:帮助|help)$", re.IGNORECASE),
        "这里按存储的数据回答A股公司、市场、行业和宏观的问题，每个数字都引用它的记录。",
    ),
)
_OFFERED = "600519"
_OFFERS = ("今天大盘怎么样", "市盈率低于20且净资产收益率大于15%的股票")


def is_courtesy(message: str) -> bool:
    return any(pattern.search(message.strip()) for pattern, _ in COURTESY)


def offers(directory: Directory) -> str:
    """Three things that can be asked here: the company is one that is listed."""
    stocks = [listing for listing in directory.listings if listing.sec_type == "stock"]
    usual = (listing for listing in stocks if listing.code == _OFFERED)
    company = next(usual, stocks[0] if stocks else None)
    examples = (f"{company.name}的市盈率是多少", *_OFFERS) if company is not None else _OFFERS
    return f"可以这样问：{'；'.join(f'“{example}”' for example in examples)}。"


def figures_of(message: str) -> tuple[Figures, ...]:
    """What a message asks for, each table and column once; a longer word takes the place of a word in it."""
    return tuple(figures for figures in FIGURES if figures.words.search(message))


# -- names as people write them --------------------------------------------------------------------------

_LATIN = re.compile(r"[a-z]{3,}")
_WORDS_OF_OURS = frozenset(
    {
        "roe",
        "roa",
        "eps",
        "peg",
        "etf",
        "cpi",
        "ppi",
        "pmi",
        "gdp",
        "lpr",
        "macd",
        "kdj",
        "rsi",
        "ttm",
        "lof",
        "reit",
        "top",
        "the",
        "what",
        "how",
        "hello",
        "thanks",
    }
)
_LEAST_OF_A_TYPO = 4
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_COMMON = re.compile(
    r"股|市|行业|板块|银行|证券|保险|医药|科技|中国|集团|大盘|今天|最近|什么|多少|怎么|比较|涨|跌|公司|国际|电子|资金"
    r"|发展|实业|控股|能源|电力|汽车|地产|基金|指数|主力|谢|你|我|它|的|了|吗|呢|估值|分红|业绩|财报|消息|公告|和|与|跟"
)


def named(text: str, directory: Directory) -> Iterator[tuple[int, Listing]]:
    """(place, company) of names as people write them where the exact name is not there: in parts, in pinyin,
    with one wrong character, of banks in two characters (招行)."""
    plain = search_key(text)
    yield from _in_pinyin(plain, directory)
    taken: set[str] = set()
    for listing in directory.listings:
        name = search_key(listing.name)
        place = _nearly(plain, name) if len(name) >= _LEAST_OF_A_TYPO else -1
        if place < 0 and name.endswith("银行") and len(name) == len("工商银行"):
            place = plain.find(f"{name[0]}行")
        if place >= 0:
            taken.add(listing.code)
            yield place, listing
    if taken:
        return
    for size in (4, 3, 2):
        for place in range(len(plain) - size + 1):
            part = plain[place : place + size]
            if not all(map(_CHINESE.match, part)) or _COMMON.search(part):
                continue
            hits = [one for one in directory.listings if part in search_key(one.name)]
            if len(hits) == 1 and hits[0].code not in taken:
                taken.add(hits[0].code)
                yield place, hits[0]
        if taken:
            return


def _in_pinyin(plain: str, directory: Directory) -> Iterator[tuple[int, Listing]]:
    for word in _LATIN.finditer(plain):
        if word.group() in _WORDS_OF_OURS:
            continue
        found = directory.find(word.group())
        exact = [one for one in found if word.group() in (one.initials.lower(), one.spelling.lower())]
        if exact or len(found) == 1:
            yield word.start(), (exact or found)[0]


def _nearly(text: str, name: str) -> int:
    """The place of a part of the text that is the name but for one character, wrong or left out; -1: none."""
    size = len(name)
    for place in range(len(text) - size + 1):
        if sum(one != other for one, other in zip(text[place : place + size], name, strict=True)) == 1:
            return place
    shorter = {name[:at] + name[at + 1 :] for at in range(size)} if size > _LEAST_OF_A_TYPO else set[str]()
    return next((place for one in shorter if (place := text.find(one)) >= 0), -1)


_ASKING = re.compile(
    r"请问|帮我|查一?下|看看?|一下|告诉我|我想知道|今天|现在|目前|最近|这[家只个]|是多少|多少|怎么样|如何|怎样|什么|吗|呢|啊|吧"
    r"|的|了|是|有|在|[？?。！!，,、\s]|股票|公司|几|钱"
)


def left_over(message: str) -> str:
    """What remains of a message without words for asking and for figures: a name that we do not have."""
    rest = _ASKING.sub("", message)
    for figures in FIGURES:
        rest = figures.words.sub("", rest)
    return rest if 2 <= len(rest) <= 8 and _CHINESE.search(rest) else ""


# -- lists ---------------------------------------------------------------------------------------------

_SAID = (
    (r"(?<=的)(\d+)(?=[只个家])", r"前\1"),
    (r"(?:近|最近|过去)?(?:一个?月|1个月)(?:涨幅|涨得?|的涨幅)", "20日涨幅"),
    (r"(?:近|最近)?(?:一周|5天|五天)涨幅", "5日涨幅"),
    (r"(?:近|最近)?(?:三个月|3个月|一季度)涨幅", "60日涨幅"),
    (r"涨(?:得|的)?最(?:多|好|猛|快|厉害)", "涨幅最大"),
    (r"领涨", "涨幅最大"),
    (r"跌(?:得|的)?最(?:多|惨|狠|快|厉害)|领跌|跌幅最[大多]|跌幅(?:榜|前)", "涨幅最小"),
    (r"涨幅榜", "涨幅最大"),
    (r"最便宜|估值最低", "市盈率最低"),
    (r"估值最高|最贵", "市盈率最高"),
    (r"分红最[高多]", "股息率最高"),
    (r"最赚钱", "净资产收益率最高"),
    (r"最大的?市值|市值排名", "市值最大"),
    (r"roe", "净资产收益率"),
    (r"主力(?:资金)?(?:净)?(?:流入|买入?)最多", "主力净流入最多"),
    (r"(?:有)?(?:哪些|哪几[只家]|哪[只家个]|什么)", ""),
    (r"(?:是|有)?谁", ""),
    (r"(?:排|排名)?(?:前|top)(?:十|10)|(?:十|10)(?=[只个家])", "前10"),
    (r"(?:前|top)(?:五|5)|五(?=[只个家])", "前5"),
    (r"(?:前|top)三|三(?=[只个家])", "前3"),
    (r"(?:前|top)?二十(?=[只个家])", "前20"),
    (r"(?:的)?(?:一?[只支个])?(?:股票|公司|个股|票)", ""),
    (r"推荐|来几只|有没有|看看|查一?下|(?:现在|昨天|全)?(?:市场|A股)|里面?|中(?=市|股)", ""),
    (r"[吗呢吧啊？?。！!了是有]|两市|沪深", ""),
    (r"(?<=[股值率幅额最])里", ""),
)
_LISTS = re.compile(
    r"最[高低大小多少]|前\d+|大于|小于|高于|低于|超过|不[高低]于|不超过|以上|以下|[<>≥≤]|至少|至多|不到|新高|金叉|死叉|多头排列"
    r"|破净|高股息|低估值|涨停|连板|超跌|放量|次新"
)


def as_screen(message: str, industries: Sequence[str]) -> str:
    """The sentence in the words of the screener; '' where it asks for no list."""
    text = message
    for pattern, word in _said():
        text = pattern.sub(word, text)
    for short in sorted(_short_names(industries).items(), key=lambda one: -len(one[0])):
        if short[0] in text and short[1] not in text:
            text = text.replace(short[0], short[1])
    return text if _LISTS.search(text) else ""


@cache
def _said() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), word) for pattern, word in _SAID)


def _short_names(industries: Sequence[str]) -> dict[str, str]:
    """医药 for 医药生物: the beginning of a name, where only one has it and no field of the screener does."""
    heads: dict[str, list[str]] = {}
    for name in industries:
        for size in range(2, len(name)):
            heads.setdefault(name[:size], []).append(name)
    return {head: names[0] for head, names in heads.items() if len(names) == 1}
