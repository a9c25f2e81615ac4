"""Two hundred answers with correct statements, and the same with every known kind of wrong one."""

import random

import pytest

from platform_assets.compute.evidence.binding import check
from platform_assets.compute.evidence.facts import COUNT, Fact, Pack
from platform_assets.compute.evidence.wording import ABSENT, change, flow, said

NAMES = ["澜源电气", "钧野地产", "英岭特材", "乐汀药业", "瀚棠黄金", "邺源银行", "屹港微电", "沁原食品"]
TODAY, BEFORE, FUTURE = "2026-08-21", "2026-08-20", "2026-09-30"
QUESTIONS = 200


def pack_of(seed: int) -> tuple[Pack, dict[str, Fact]]:
    """A pack about two companies and the market, and its facts by name."""
    rng = random.Random(seed)
    one, two = rng.sample(NAMES, 2)
    pack = Pack(f"{TODAY} 16:05:00")
    found = {}

    def put(name: str, subject: str, label: str, value: float, unit: str, day: str = TODAY) -> None:
        found[name] = pack.add(
            subject, label, value, unit, table="fusion_kline_daily", column=name, as_of=day,
            key={"code": f"60{NAMES.index(subject):04d}", "date": day} if subject else {"trade_date": day},
        )  # fmt: skip

    for prefix, name in (("a", one), ("b", two)):
        put(f"{prefix}_change", name, "涨跌幅", rng.choice([-1, 1]) * round(rng.uniform(0.6, 9.9), 4), "pct")
        put(f"{prefix}_amount", name, "成交额", round(rng.uniform(2e7, 9e9), 2), "CNY")
        put(
            f"{prefix}_flow", name, "主力净流入", rng.choice([-1, 1]) * round(rng.uniform(1e6, 9e8), 2), "CNY"
        )
        put(f"{prefix}_pe", name, "市盈率", round(rng.uniform(6, 80), 4), "")
        put(f"{prefix}_days", name, "连板", rng.randint(2, 7), COUNT)
    put("a_before", one, "涨跌幅", round(rng.uniform(-9.9, 9.9), 4), "pct", BEFORE)
    put("up", "", "上涨家数", rng.randint(1100, 4000), COUNT)
    put("down", "", "下跌家数", rng.randint(500, 1050), COUNT)
    return pack, found


def honest(pack: Pack, f: dict[str, Fact]) -> list[str]:
    """True sentences in the ways that people write them."""
    a, b = f["a_change"].subject, f["b_change"].subject
    gap = abs((f["a_change"].number or 0) - (f["b_change"].number or 0))
    more = "a" if (f["a_change"].number or 0) > (f["b_change"].number or 0) else "b"
    less = "b" if more == "a" else "a"
    assert f["up"].number is not None
    assert f["down"].number is not None
    assert f["a_amount"].number is not None
    yi = f["a_amount"].number / 1e8
    return [
        f"{a}今日{change(f['a_change'])}[{f['a_change'].id}]，成交额{said(f['a_amount'])}[{f['a_amount'].id}]。",
        f"截至8月21日，{a}涨跌幅为{f['a_change'].number:+.2f}%[{f['a_change'].id}]。",
        f"{b}主力资金{flow(f['b_flow'])}[{f['b_flow'].id}]，市盈率{said(f['b_pe'])}倍[{f['b_pe'].id}]。",
        f"{a}的市盈率约为{f['a_pe'].number:.1f}[{f['a_pe'].id}]。",
        f"上涨家数{said(f['up'])}家[{f['up'].id}]，下跌{said(f['down'])}家[{f['down'].id}]。",
        f"上涨与下跌共{f['up'].number + f['down'].number:.0f}家[{f['up'].id}][{f['down'].id}]。",
        f"上涨家数是下跌的{f['up'].number / f['down'].number:.1f}倍[{f['up'].id}][{f['down'].id}]。",
        f"{f[more + '_change'].subject}比{f[less + '_change'].subject}高{gap:.2f}个百分点"
        f"[{f['a_change'].id}][{f['b_change'].id}]。",
        f"{BEFORE}，{a}{change(f['a_before'])}[{f['a_before'].id}]。",
        f"{a}连板{said(f['a_days'])}天[{f['a_days'].id}]，走势强于一般股票。",
        f"{a}成交额{yi:.2f}亿元[{f['a_amount'].id}]。",
        f"{b}（{f['b_pe'].key['code']}）是一家公司，没有更多数据。",
    ]


WRONG_STATEMENTS = {
    "invented figure": "{a}市盈率{wrong:.2f}倍[{pe_id}]。",
    "wrong unit": "{a}成交额{yi:.2f}万元[{amount_id}]。",
    "stale value": "{a}今日涨跌幅{before:+.2f}%[{before_id}]。",
    "figure of another company": "{a}市盈率{their_pe:.2f}倍[{their_pe_id}]。",
    "wrong sign": "{a}{turned}{size:.2f}%[{change_id}]。",
    "rounding that flips": "{a}涨跌幅0%[{change_id}]。",
    "invented source": "{a}市盈率{pe:.2f}倍[E99]。",
    "future date": "预计{future}见分晓，{a}将走强。",
    "number hidden in words": "{a}利润增长百分之{spoken}[{change_id}]。",
    "number in a table": "| {a} | 市盈率 | {wrong:.2f} | [{pe_id}] |\n",
    "number in an argument": '{{"code": "{code}", "name": "{a}"}}',
    "number in a title": "# {a}目标价{wrong:.2f}元\n",
}


def wrong_statement(kind: str, seed: int, f: dict[str, Fact]) -> str:
    rng = random.Random(seed)
    change_pct, pe = f["a_change"].number or 0.0, f["a_pe"].number or 0.0
    return WRONG_STATEMENTS[kind].format(
        a=f["a_pe"].subject, pe=pe, wrong=pe * 1.37 + 0.61, their_pe=f["b_pe"].number,
        yi=(f["a_amount"].number or 0.0) / 1e8, before=f["a_before"].number, size=abs(change_pct),
        turned="下跌" if change_pct > 0 else "上涨", future=FUTURE, spoken=rng.choice(["四十七", "六十三"]),
        code=rng.randint(300000, 300999), pe_id=f["a_pe"].id, their_pe_id=f["b_pe"].id,
        amount_id=f["a_amount"].id, before_id=f["a_before"].id, change_id=f["a_change"].id,
    )  # fmt: skip


@pytest.mark.parametrize("kind", WRONG_STATEMENTS)
def test_no_wrong_statement_reaches_the_reader(kind: str) -> None:
    shown = []
    for seed in range(QUESTIONS):
        pack, facts = pack_of(seed)
        text = wrong_statement(kind, seed, facts)
        checked = check(text, pack)
        if not checked.unbound or ABSENT not in checked.text:
            shown.append(text)
    assert shown == []


def test_an_honest_text_stays_as_it_is() -> None:
    sentences = [(seed, text) for seed in range(QUESTIONS) for text in honest(*pack_of(seed))]
    damaged = [text for seed, text in sentences if check(text, pack_of(seed)[0]).text != text]
    assert len(sentences) == QUESTIONS * 12
    assert len(damaged) <= len(sentences) * 0.01, damaged[:10]


def test_what_is_bound_says_by_what() -> None:
    pack, f = pack_of(1)
    text = f"{f['a_pe'].subject}市盈率{said(f['a_pe'])}倍[{f['a_pe'].id}]。"
    (bound,) = check(text, pack).bound
    assert (bound.facts, bound.how, text[bound.start : bound.end]) == (
        (f["a_pe"].id,), "fact", f"{said(f['a_pe'])}倍",
    )  # fmt: skip


def test_a_value_under_the_label_of_another_is_not_shown() -> None:
    pack, f = pack_of(1)
    name, pe = f["a_pe"].subject, f["a_pe"]
    pack.add(name, "市净率", 3.21, "", table="fusion_valuation", column="pb", as_of=TODAY)
    for wrong in (f"{name}市净率{said(pe)}倍[{pe.id}]。", f"{name}的市净率约为{said(pe)}倍[{pe.id}]。"):
        assert check(wrong, pack).text.count(ABSENT) == 1
    for true in (
        f"{name}市盈率{said(pe)}倍[{pe.id}]。",
        f"{name}市净率3.21倍、市盈率{said(pe)}倍[E{len(pack.facts)}][{pe.id}]。",
        f"{name}估值{said(pe)}倍[{pe.id}]。",
    ):
        assert check(true, pack).text == true


def two_companies() -> Pack:
    """Two companies and the market; E4 and E5 are of the second company."""
    pack = Pack(f"{TODAY} 16:05:00")
    reported: tuple[tuple[str, str, float, str, str], ...] = (
        ("瀚棠黄金", "收盘价", 1450.5, "CNY", TODAY), ("瀚棠黄金", "涨跌幅", -1.23, "pct", TODAY),
        ("瀚棠黄金", "市盈率TTM", 21.5, "", TODAY), ("邺源银行", "收盘价", 120.3, "CNY", TODAY),
        ("邺源银行", "市盈率TTM", 15.2, "", TODAY), ("瀚棠黄金", "市净率", 7.8, "", TODAY),
        ("", "上涨家数", 3120, COUNT, TODAY), ("", "下跌家数", 1890, COUNT, TODAY),
        ("瀚棠黄金", "净资产收益率", 33.33, "pct", "2026-06-30"),
    )  # fmt: skip
    for subject, label, value, unit, day in reported:
        pack.add(subject, label, value, unit, table="t", column="c", as_of=day)
    return pack


@pytest.mark.parametrize(
    ("text", "unbound"),
    [
        ("瀚棠黄金三分之二的利润来自海外[E2]。", "三分之二"),
        ("瀚棠黄金净利润将翻两番[E2]。", "翻两番"),
        ("瀚棠黄金打八折[E1]。", "八折"),
        ("瀚棠黄金半数股东减持[E1]。", "半数"),
        ("瀚棠黄金上涨十几个百分点[E2]。", "十几个百分点"),
        ("瀚棠黄金壹仟肆佰元[E1]。", "壹仟肆佰元"),
        ("瀚棠黄金业内排名第三[E1]。", "排名第三"),
        ("瀚棠黄金 may have Doubled[E1]。", "Doubled"),
        ("昨日瀚棠黄金收于1450.50元[E1]。", "1450.50元"),
        ("上周五瀚棠黄金收于1450.50元[E1]。", "1450.50元"),
        ("下周一瀚棠黄金将收于1450.50元[E1]。", "1450.50元"),
        ("瀚棠黄金收于1450.50美元[E1]。", "1450.50美元"),
        ("瀚棠黄金目标价$1450.50[E1]。", "1450.50"),
        ("瀚棠黄金市盈率为负21.5倍[E3]。", "负21.5倍"),
        ("全天上涨1890家[E7][E8]。", "1890家"),
        ("全天下跌3120家[E7][E8]。", "3120家"),
        ("瀚棠黄金PE仅7.8倍[E6]。", "7.8倍"),
        ("瀚棠黄金毛利率33.33%[E9]。", "33.33%"),
        # Cited twice, a fact is still one: neither its double nor its mean with itself.
        ("瀚棠黄金估值43倍[E3][E3]。", "43倍"),
        ("瀚棠黄金市净率21.5倍[E3][E3]。", "21.5倍"),
        # The label is near the beginning of a sentence that goes on for long.
        ("瀚棠黄金市净率21.5倍[E3]，估值处于历史上较高的位置，需要留意风险，也要看它的成长性。", "21.5倍"),
        ("| 名称 | 市盈率TTM | 市净率 |\n|---|---|---|\n| 瀚棠黄金 | 21.5[E3] | 21.5[E3] |\n", "21.5"),
        ("| 指标 | 瀚棠黄金 | 邺源银行 |\n|---|---|---|\n| 市盈率TTM | 15.2[E5] | 15.2[E5] |\n", "15.2"),
    ],
)
def test_a_true_figure_in_a_false_place_is_not_shown(text: str, unbound: str) -> None:
    checked = check(text, two_companies())
    assert checked.unbound == [unbound]
    assert (
        checked.text == text[: text.index(unbound)] + ABSENT + text[text.index(unbound) + len(unbound) :]
        or "|" in text
    )


@pytest.mark.parametrize(
    "text",
    [
        "瀚棠黄金收于1450.50元，较昨日下跌1.23%[E1][E2]。",
        "瀚棠黄金市净率不低，下跌1.23%[E2]。",
        "瀚棠黄金PE为21.5倍，PB为7.8倍，ROE为33.33%[E3][E6][E9]。",
        "上涨的有3120家，下跌的有1890家[E7][E8]。",
        "瀚棠黄金是第一大权重股，十分稳健，数十年如一日，二级市场百分百认可，often heightened。",
        "| 指标 | 瀚棠黄金 | 邺源银行 |\n|---|---|---|\n| 市盈率TTM | 21.5[E3] | 15.2[E5] |\n",
        "| 名称 | 市盈率TTM | 收盘价 |\n|---|---|---|\n| 邺源银行 | 15.2倍[E5] | 120.30元[E4] |\n",
    ],
)
def test_a_true_sentence_in_the_same_form_is_shown(text: str) -> None:
    assert check(text, two_companies()).text == text


def of_a_company() -> Pack:
    """What a question about one company finds; E10 and E11 are of the report, E12 of another company."""
    pack = Pack(f"{TODAY} 16:05:00")
    reported: tuple[tuple[str, str, float, str, str], ...] = (
        ("瀚棠黄金", "收盘价", 1450.5, "CNY", TODAY), ("瀚棠黄金", "涨跌幅", -1.2345, "pct", TODAY),
        ("瀚棠黄金", "市盈率TTM", 21.5321, "", TODAY), ("瀚棠黄金", "市净率", 7.8, "", TODAY),
        ("瀚棠黄金", "成交额", 5_239_992_522.0, "CNY", TODAY), ("瀚棠黄金", "换手率", 0.0312, "pct", TODAY),
        ("瀚棠黄金", "主力净流入", -123_456_789.0, "CNY", TODAY), ("瀚棠黄金", "RSI14", 43.27, "", TODAY),
        ("瀚棠黄金", "MA20", 1466.12, "CNY", TODAY), ("瀚棠黄金", "股东户数", 103456, COUNT, "2026-06-30"),
        ("瀚棠黄金", "净利润同比", 9.1, "pct", "2026-06-30"), ("邺源银行", "市盈率TTM", 5.21, "", TODAY),
        ("", "上涨家数", 3120, COUNT, TODAY),
    )  # fmt: skip
    for subject, label, value, unit, day in reported:
        pack.add(
            subject, label, value, unit, table="t", column="c", as_of=day,
            key={"code": "600547"} if subject == "瀚棠黄金" else {},
        )  # fmt: skip
    return pack


NATURAL = [
    "**瀚棠黄金（600547.SH）**\n\n1. 今日收于1450.50元[E1]，下跌1.23%[E2]；\n2. 成交额52.40亿元[E5]，"
    "换手率0.03%[E6]；\n3. 主力资金净流出1.23亿元[E7]。",
    "从估值看，目前市盈率（TTM）约21.5倍[E3]，市净率7.8倍[E4]。横向比较，邺源银行的市盈率只有5.21倍[E12]。",
    "## 技术面\n- RSI(14) 为 43.27[E8]，处于中性偏弱区间\n"
    "- 股价低于20日均线（1466.12元[E9]）\n- 近5个交易日走势偏弱",
    "截至2026年6月30日，股东户数为103456户[E10]，二季度净利润同比增长9.1%[E11]。",
    "股东户数103456[E10]。",
    "2026年二季度净利润同比增长9.1%[E11]，2026Q2和H1的全貌见中报；FY2026尚未结束。",
    "| 指标 | 数值 |\n|:--|--:|\n| 收盘价 | 1,450.50元[E1] |\n"
    "| 涨跌幅 | -1.23%[E2] |\n| 市盈率TTM | 21.53[E3] |",
    "(1) 行情：收盘1450.5元[E1]。\n(2) 情绪：全市场上涨3120家[E13]。\n"
    "注：52周新高、10年期国债等指标未提供，2026Q3财报尚未披露。",
    "Hanhuang closed at 1450.50[E1] today, down 1.23%[E2]; its PE (TTM) is 21.53[E3].",
    "瀚棠黄金今日跌1.23%[E2]，跌幅不大。"
    "它的估值不低：PE 21.5倍[E3]、PB 7.8倍[E4]，资金面上主力净流出约1.2亿元[E7]。",
]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("收于{{E1}}，下跌{{E2}}，跌幅{{ E2 }}。", "收于1450.50元[E1]，下跌1.23%[E2]，跌幅1.23%[E2]。"),
        ("涨跌幅{{E2}}，市盈率{{E3}}倍。", "涨跌幅-1.23%[E2]，市盈率21.53[E3]倍。"),
        ("主力资金净流出{{E7}}。", "主力资金净流出1.23亿元[E7]。"),
        ("股东户数{{E10}}户。", "股东户数103456（2026-06-30）[E10]户。"),
        ("截至6月30日，股东户数{{E10}}。", "截至6月30日，股东户数103456[E10]。"),
        ("换手率{{E6}}[E6]，成交{{E5}}。", "换手率0.03%[E6]，成交52.40亿元[E5]。"),
    ],
)
def test_a_figure_that_is_pointed_at_is_written_by_the_platform(written: str, shown: str) -> None:
    pack = of_a_company()
    assert check(written, pack).text == shown
    assert check(shown, pack).unbound == []


def test_the_words_around_a_pointer_may_contradict_it() -> None:
    pack = of_a_company()
    assert check("今日上涨{{E2}}。", pack).text == f"今日上涨{ABSENT}。"
    assert check("邺源银行的市盈率是{{E3}}。", pack).text == f"邺源银行的市盈率是{ABSENT}。"


@pytest.mark.parametrize("text", NATURAL)
def test_a_natural_answer_is_shown_whole(text: str) -> None:
    checked = check(text, of_a_company())
    assert checked.unbound == []
    assert checked.text == text


@pytest.mark.parametrize(
    ("text", "unbound"),
    [
        ("邺源银行今天怎么样？它的市盈率21.5倍[E3]。", "21.5倍"),
        ("- 市净率 21.53倍[E3]", "21.53倍"),
        ("1. 收于1466.12元[E1]", "1466.12元"),
        ("股东户数103457户[E10]。", "103457户"),
        ("股东户数103457[E10]。", "103457"),
        ("换手率0.04%[E6]。", "0.04%"),
        ("今日上涨1.23%[E2]。", "1.23%"),
        ("目标价 1600 元", "1600 元"),
        ("RSI(14) 为 63.27[E8]", "63.27"),
        ("龙头是600519.SH", "600519.SH"),
        ("估值(21)倍", "21"),
        ("涨幅（12）%[E2]", "12"),
        ("连续5日上涨[E2]", "连续5日"),
        ("2019年年报净利润同比增长9.1%[E11]", "2019年"),
        ("2019Q2净利润同比增长9.1%[E11]", "2019"),
        ("FY2019净利润同比增长9.1%[E11]", "2019"),
    ],
)
def test_a_lie_in_a_natural_form_is_not_shown(text: str, unbound: str) -> None:
    assert check(text, of_a_company()).unbound == [unbound]


def test_the_users_own_number_may_be_repeated() -> None:
    pack, _ = pack_of(2)
    assert check("您问的是12.5%的回撤。", pack, words="如果回撤12.5%怎么办").unbound == []
    assert check("您问的是12.5%的回撤。", pack).unbound == ["12.5%"]


def test_a_company_that_is_not_mentioned_is_not_shown() -> None:
    pack, f = pack_of(3)
    stranger = next(name for name in NAMES if name not in pack.subjects)
    text = f"{f['a_pe'].subject}好于{stranger}。"
    checked = check(text, pack, names=NAMES)
    assert (checked.unbound, stranger in checked.text) == ([stranger], False)
    assert check(text, pack, names=NAMES, words=f"和{stranger}相比").unbound == []


def test_numbers_bind_to_the_whole_pack_where_nothing_is_cited() -> None:
    pack, f = pack_of(4)
    text = f"{f['a_pe'].subject}市盈率{said(f['a_pe'])}倍。"
    assert check(text, pack).unbound != []
    assert check(text, pack, cited=False).unbound == []


def test_a_stored_headline_may_be_quoted_and_nothing_beside_it() -> None:
    pack, _ = pack_of(5)
    title = "某公司：上半年净利增长35.2%！拟10派3元。"
    pack.add(
        "", "快讯", title, "", table="raw_news_flash", column="title", as_of=TODAY, key={"flash_id": "1"}
    )
    assert check(f"快讯：{title}", pack, cited=False).text == f"快讯：{title}"
    assert check(f"快讯：{title}另有5家。", pack, cited=False).unbound == ["5家"]


def test_a_headline_stated_as_ones_own_words_is_no_evidence() -> None:
    pack, f = pack_of(5)
    name, title = f["a_pe"].subject, "市盈率高达888倍"
    news = pack.add("", "新闻标题", title, "", table="fusion_news", column="title", as_of=TODAY)
    assert check(f"{name}{title}[{news.id}]。", pack).unbound == ["888倍"]
    for quoted in (f"新闻称“{title}”[{news.id}]。", f"新闻标题：{title}[{news.id}]。"):
        assert check(quoted, pack).text == quoted


def test_no_mention_of_a_stranger_is_overlooked() -> None:
    pack, f = pack_of(3)
    known = f["a_pe"].subject
    stranger = next(name for name in NAMES if name not in pack.subjects)
    pack.add(f"{stranger}股份", "市盈率", 9.5, "", table="fusion_valuation", column="pe_ttm", as_of=TODAY)
    text = f"{known}好于{stranger}，{stranger}不如{stranger}股份。"
    checked = check(text, pack, names=[*NAMES, f"{stranger}股份"])
    assert checked.unbound == [stranger, stranger]
    assert checked.text == f"{known}好于{ABSENT}，{ABSENT}不如{stranger}股份。"


def test_a_stored_text_hides_no_part_of_a_number() -> None:
    pack, _ = pack_of(6)
    for value in ("35", "2天2板"):
        pack.add(
            "", "连板", value, "", table="raw_limit_pool", column="zt_stat", as_of=TODAY, key={"code": "x"}
        )
    assert check("共35家，135家，2天2板，12天2板。", pack, cited=False).unbound == [
        "35家",
        "135家",
        "12天",
        "2板",
    ]
