"""Answers without a model: sentences by rules from a pack, each number with its citation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.compute.evidence.wording import change, flow, said
from serving_api.chat.subjects import Topic
from serving_api.evidence import market as of_market
from serving_api.evidence import parts as of_stocks
from serving_api.evidence.guard import fenced
from serving_api.evidence.packs import NO, fact_of, facts_of
from serving_api.macro.queries import RELEASES, VALUES

PREFILL = "quant_prefill"
LABEL = "规则预填，非模型生成"
_TIMES = frozenset(
    {"pe_ttm", "pe_static", "pe_forward", "pb", "ps_ttm", "pcf_ttm", "pe_weighted", "pe_ratio"}
)
_MOST_MISSING = 8
_GATES = {
    "st": "被实施风险警示", "roe_negative": "净资产收益率为负", "debt_high": "资产负债率过高",
    "financials_missing": "财务数据缺失",
}  # fmt: skip
_QUARTERLY = "cn_gdp"


@dataclass(frozen=True)
class Section:
    """Lines under one title; each line cites its facts."""

    key: str
    title: str
    lines: tuple[str, ...]


def sections(pack: Pack, topic: Topic) -> list[Section]:
    """Everything that a pack contains about its topic."""
    found: list[Section] = []
    companies = dict.fromkeys(fact.subject for fact in pack.facts if fact.table == of_stocks.MASTER)
    for name in companies:
        found += of_company(pack, name, is_alone=len(topic.codes) == 1)
    if topic.market:
        found += of_the_market(pack)
    if topic.macro:
        found += of_the_economy(pack)
    if pack.missing:
        some = pack.missing[:_MOST_MISSING]
        rest = "等" if len(pack.missing) > len(some) else ""
        found.append(Section("missing", "没有找到的数据", (f"{'、'.join(some)}{rest}。",)))
    return found


def text_of(found: Sequence[Section]) -> str:
    """Sections as one text."""
    return "\n\n".join("\n".join((f"【{one.title}】", *one.lines)) for one in found)


# -- one company -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Company:
    """The newest facts of one company; of the market without a name."""

    pack: Pack
    name: str

    def get(self, table: str, column: str) -> Fact | None:
        return fact_of(self.pack, table, column, self.name)

    def figures(self, table: str, *columns: str) -> list[str]:
        found = (self.get(table, column) for column in columns)
        return [_figure(fact) for fact in found if fact is not None]

    def sentence(self, table: str, *columns: str) -> str:
        """The figures of a company as one sentence; '' when none is stored."""
        clauses = self.figures(table, *columns)
        return f"{self.name}{_listed(clauses)}。" if clauses else ""


def of_company(pack: Pack, name: str, *, is_alone: bool = True) -> list[Section]:
    """Sections of one company; what is not stored is left out."""
    made = (
        ("quote", "行情", _quote),
        ("valuation", "估值", _valuation),
        ("finance", "财务", _finance),
        ("money", "资金", _money),
        ("technique", "技术", _technique),
        ("score", "评分", _scores),
        ("risk", "风险", _risks),
        ("holders", "股东与预期", _holders),
        ("news", "消息", _news),
    )
    one, before = _Company(pack, name), "" if is_alone else f"{name}："
    found = [Section(key, f"{before}{title}", tuple(filter(None, make(one)))) for key, title, make in made]
    return [section for section in found if section.lines]


def _quote(one: _Company) -> list[str]:
    price, moved = one.get(of_stocks.QUOTE, "price"), one.get(of_stocks.QUOTE, "change_pct")
    if price is None:
        price = one.get(of_stocks.BARS, "close")
        moved = one.get(of_stocks.BARS, "change_pct")
    if price is None:
        return []
    clauses = [_figure(price), _cited(change, moved)]
    clauses += one.figures(of_stocks.QUOTE, "amount", "turnover_pct", "volume_ratio")
    return [
        f"截至{price.as_of[:10]}，{one.name}{_listed(clauses)}。",
        one.sentence(of_stocks.WIDE, "chg_20d", "chg_60d", "chg_1y"),
    ]


def _valuation(one: _Company) -> list[str]:
    industry = one.get(of_stocks.INDUSTRY, "sw_l1_name")
    ratios = one.figures("raw_industry_valuation", "pe_weighted", "pb")
    place = f"（{said(industry)}）[{industry.id}]" if industry is not None and ratios else ""
    return [
        one.sentence(
            of_stocks.VALUATION, "pe_ttm", "pb", "ps_ttm", "peg", "dividend_yield", "total_market_cap"
        ),
        one.sentence(of_stocks.VALUATION, "pe_pct_3y", "pb_pct_3y"),
        f"{one.name}所在行业{place}：{_listed(ratios)}。" if ratios else "",
    ]


def _finance(one: _Company) -> list[str]:
    newest = one.get(of_stocks.FINANCE, "revenue") or one.get(of_stocks.FINANCE, "roe")
    if newest is None:
        return []
    columns = (
        "revenue", "revenue_yoy", "net_profit", "net_profit_yoy", "gross_margin", "net_margin", "roe",
        "debt_ratio", "operating_cash_flow",
    )  # fmt: skip
    clauses = [
        _figure(fact) for column in columns
        if (fact := one.get(of_stocks.FINANCE, column)) is not None and fact.as_of == newest.as_of
    ]  # fmt: skip
    return [
        f"{newest.as_of[:10]}报告期，{one.name}{_listed(clauses)}。",
        one.sentence(of_stocks.VALUATION, "eps_fy1", "eps_fy2", "forecast_orgs"),
    ]


def _money(one: _Company) -> list[str]:
    main = one.get(of_stocks.FLOW, "main_net")
    lines = []
    if main is not None:
        share = one.figures(of_stocks.FLOW, "main_net_pct")
        lines.append(f"{main.as_of[:10]}，{one.name}主力资金{_listed([_cited(flow, main), *share])}。")
    lines.append(one.sentence(of_stocks.WIDE, "main_net_5d"))
    lines.append(one.sentence(of_stocks.MARGIN, "rzye", "rzjme"))
    board = one.get(of_stocks.DRAGON_TIGER, "reason")
    if board is not None:
        bought = one.figures(of_stocks.DRAGON_TIGER, "net_buy")
        lines.append(f"{board.as_of[:10]}，{one.name}登上龙虎榜，{_listed(bought)}。原因：{_quoted(board)}。")
    return lines


def _technique(one: _Company) -> list[str]:
    signals = [
        fact for fact in one.pack.facts if fact.table == of_stocks.PATTERNS and fact.subject == one.name
    ]
    named = "、".join(
        f"{fact.label}（{'向上' if (fact.number or 0) > 0 else '向下'}）[{fact.id}]" for fact in signals
    )
    return [
        one.sentence(of_stocks.INDICATORS, "ma5", "ma20", "ma60"),
        one.sentence(of_stocks.INDICATORS, "rsi6", "rsi14", "kdj_k", "kdj_d"),
        f"{one.name}形态信号：{named}。" if named else "",
    ]


def _scores(one: _Company) -> list[str]:
    scores = ("composite", "momentum", "quality_score", "value", "growth", "capital")
    return [one.sentence(of_stocks.SCORES, *scores)]


def _risks(one: _Company) -> list[str]:
    lines = []
    special = one.get(of_stocks.MASTER, "is_st")
    if special is not None and special.value != NO:
        lines.append(f"{one.name}是ST股票[{special.id}]，有退市风险警示。")
    gate = one.get(of_stocks.SCORES, "gate_code")
    if gate is not None:
        lines.append(f"{one.name}未通过风险门：{_GATES.get(str(gate.value), said(gate))}[{gate.id}]。")
    debts = one.figures(of_stocks.PLEDGE, "pledge_ratio")
    debts += one.figures(of_stocks.GOODWILL, "goodwill_equity_ratio_pct")
    lines.append(f"{one.name}{_listed(debts)}。" if debts else "")
    day = one.get(of_stocks.LOCKUP, "free_date")
    if day is not None:
        released = one.figures(of_stocks.LOCKUP, "ratio_total_pct", "market_value")
        lines.append(f"{said(day)}，{one.name}有限售股解禁[{day.id}]，{_listed(released)}。")
    return lines


def _holders(one: _Company) -> list[str]:
    plan = one.get("fusion_dividend", "plan_text")
    return [
        one.sentence(of_stocks.HOLDERS, "holder_num", "change_ratio"),
        f"{one.name}分红方案：{_quoted(plan)}。" if plan is not None else "",
    ]


def _news(one: _Company) -> list[str]:
    titles = [
        fact for table in (of_stocks.ANNOUNCEMENTS, of_stocks.NEWS, of_stocks.REPORTS)
        for fact in facts_of(one.pack, table, "title", one.name)[:3]
    ]  # fmt: skip
    return [f"{fact.label}：{_quoted(fact)}。" for fact in titles]


# -- market and economy ----------------------------------------------------------------------------


def of_the_market(pack: Pack) -> list[Section]:
    """Sections of the market."""
    made: tuple[tuple[str, str, Callable[[Pack], list[str]]], ...] = (
        ("indices", "主要指数", lambda one: _moves(one, of_market.INDEX, "close", "点")),
        ("breadth", "涨跌与情绪", _breadth),
        ("industries", "行业", _industries),
        ("money", "资金流向", _flows),
        ("leaders", "龙头股", _leaders),
        ("outside", "外围市场", lambda one: _moves(one, of_market.OUTSIDE, "price", "")),
        ("flashes", "快讯", _flashes),
    )
    found = [Section(key, title, tuple(make(pack))) for key, title, make in made]
    return [one for one in found if one.lines]


def _moves(pack: Pack, table: str, column: str, unit: str) -> list[str]:
    lines = []
    for level in facts_of(pack, table, column):
        moved = fact_of(pack, table, "change_pct", level.subject)
        clauses = [f"{said(level)}{unit}[{level.id}]", *([_cited(change, moved)] if moved else [])]
        lines.append(f"{level.as_of[:10]}，{level.subject}报{_listed(clauses)}。")
    return lines


def _breadth(pack: Pack) -> list[str]:
    one = _Company(pack, "")
    words = {"up_count": "上涨", "down_count": "下跌", "limit_up_count": "涨停", "limit_down_count": "跌停",
             "broken_count": "炸板"}  # fmt: skip
    clauses = [
        f"{word}{said(fact)}家[{fact.id}]"
        for column, word in words.items()
        if (fact := one.get(of_market.PHASE, column)) is not None
    ]
    clauses += one.figures(of_market.PHASE, "amount")
    stage = one.get(of_market.PHASE, "phase_label")
    return [
        f"{_listed(clauses)}。" if clauses else "",
        f"市场情绪阶段：{said(stage)}[{stage.id}]。" if stage is not None else "",
    ]


def _industries(pack: Pack) -> list[str]:
    ranked = facts_of(pack, of_market.RANKS, "change_pct")
    seen = list({fact.subject: fact for fact in ranked}.values())
    ends = {"行业涨幅居前": [one for one in seen if (one.number or 0) > 0][: of_market.SHOWN],
            "行业跌幅居前": [one for one in seen if (one.number or 0) < 0][-of_market.SHOWN :]}  # fmt: skip
    return _ends(ends, change)


def _flows(pack: Pack) -> list[str]:
    found = facts_of(pack, of_market.FLOWS, "main_net")
    ends = {"主力净流入居前": [one for one in found if (one.number or 0) > 0],
            "主力净流出居前": [one for one in found if (one.number or 0) < 0]}  # fmt: skip
    return _ends(ends, flow)


def _ends(ends: Mapping[str, Sequence[Fact]], words: Callable[[Fact], str]) -> list[str]:
    """A line for each end of a ranking that has facts."""
    return [
        f"{title}：{'；'.join(f'{one.subject}{_cited(words, one)}' for one in some)}。"
        for title, some in ends.items() if some
    ]  # fmt: skip


def _leaders(pack: Pack) -> list[str]:
    lines = []
    for score in facts_of(pack, of_market.LEADERS, "total_score"):
        days = fact_of(pack, of_market.LEADERS, "limit_days", score.subject)
        clauses = [_figure(score), *([f"连板{said(days)}天[{days.id}]"] if days else [])]
        lines.append(f"{score.subject}{_listed(clauses)}。")
    return lines


def _flashes(pack: Pack) -> list[str]:
    return [f"{_quoted(fact)}。" for fact in facts_of(pack, of_market.FLASHES, "title")]


def of_the_economy(pack: Pack) -> list[Section]:
    """Newest values of the main series, and upcoming releases."""
    lines = []
    released = {
        (fact.table, str(fact.key.get("indicator"))): fact
        for fact in pack.facts if fact.column == "publish_date"
    }  # fmt: skip
    for fact in facts_of(pack, VALUES, "value"):
        release = released.get((fact.table, str(fact.key.get("indicator"))))
        # One sentence names one date: that of the value, or that of its release.
        when = f"{said(release)}公布[{release.id}]。" if release is not None else ""
        lines.append(f"{_period(fact)}，{fact.label} {said(fact)}[{fact.id}]。{when}")
    due = [f"即将公布：{_quoted(fact)}。" for fact in facts_of(pack, RELEASES, "title")]
    found = [Section("macro", "宏观数据", tuple(lines)), Section("due", "数据日程", tuple(due))]
    return [one for one in found if one.lines]


def _period(fact: Fact) -> str:
    """The month of a value; the quarter where the series has quarters."""
    month = int(fact.as_of[5:7])
    if str(fact.key.get("indicator")).startswith(_QUARTERLY):
        return f"{fact.as_of[:4]}年第{'一二三四'[(month - 1) // 3]}季度"
    return f"{fact.as_of[:4]}年{month}月"


# -- words -----------------------------------------------------------------------------------------


def _figure(fact: Fact) -> str:
    """`市盈率TTM 21.53倍[E9]`."""
    times = "倍" if fact.column in _TIMES else ""
    space = " " if fact.label[-1:].isascii() else ""
    return f"{fact.label}{space}{said(fact)}{times}[{fact.id}]"


def _cited(words: Callable[[Fact], str], fact: Fact | None) -> str:
    return "" if fact is None else f"{words(fact)}[{fact.id}]"


def _quoted(fact: Fact) -> str:
    return f"“{fenced(said(fact))}”[{fact.id}]"


def _listed(parts: Sequence[str]) -> str:
    return "，".join(part for part in parts if part)
