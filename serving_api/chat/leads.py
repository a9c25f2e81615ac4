"""The first sentences of an answer by rules: what was asked, or what was not understood."""

import re
from collections.abc import Sequence
from datetime import datetime

from core.market.names import plain_industry
from platform_assets.compute.dsl.fields import WIDE, catalogue
from platform_assets.compute.dsl.natural import translated
from platform_assets.compute.evidence.facts import COUNT, Pack
from platform_assets.compute.evidence.wording import change, flow, said
from platform_assets.compute.language import LanguageError
from serving_api.chat.lead import Lead, quoted, shown
from serving_api.chat.questions import (
    ADVICE,
    COMPARING,
    COURTESY,
    FIGURES,
    NEXT_REPORT,
    REASON,
    Figures,
    as_screen,
    figures_of,
    left_over,
    offers,
)
from serving_api.chat.subjects import Topic
from serving_api.db.sessions import Session
from serving_api.evidence import market as of_market
from serving_api.evidence import parts as of_stocks
from serving_api.evidence.packs import fact_of, facts_of, take_row
from serving_api.evidence.queries import of_newest_day
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.macro.queries import VALUES
from serving_api.quant.screener.routes import industries_of
from serving_api.quant.screener.service import Found, Screener, parsed, when
from serving_api.stocks.service import Stocks

MOST_LISTED = 10
MOST_FACTS = 6
_INDUSTRIES = 600
_NO_ADVICE = "这里不给买卖建议，也不预测涨跌，只列数据。"
_QUOTE = next(figures for figures in FIGURES if figures.title == "股价")
_COMPARED = (
    (of_stocks.VALUATION, "pe_ttm"), (of_stocks.VALUATION, "pb"), (of_stocks.FINANCE, "roe"),
    (of_stocks.QUOTE, "change_pct"),
)  # fmt: skip
_SERIES = {
    "cn_cpi": "cpi|通胀|通缩|物价",
    "cn_ppi": "ppi",
    "cn_pmi": "pmi",
    "cn_m2": "m2|广义货币",
    "cn_m1": "m1",
    "cn_gdp": "gdp|经济增长|国内生产总值",
    "cn_rmb_loan": "社融|信贷|贷款",
    "cn_lpr": "lpr",
    "cn_rrr": "降准|准备金",
    "cn_bond": "国债",
    "us_bond": "美债",
    "cn_retail": "社零|零售",
    "cn_export": "出口|进出口",
    "cn_import": "进口",
    "usdcny": "汇率|人民币|美元兑",
    "dxy": "美元指数",
    "us_unemployment": "失业",
}
"""Beginning of a series' name -> words for it."""
_HONG_KONG = re.compile(r"港股|恒生|恒指|纳斯达克|纳指|道琼斯|标普|美股|外围")
_ORDER_OF_INDUSTRIES = re.compile(
    r"(?:哪[些个几]|什么)(?:行业|板块)|(?:行业|板块)[^股]*(?:最|排名|领[涨跌]|热点)|(?:领[涨跌]|最强|热门|热点)的?(?:行业|板块)"
)
_BREADTH = re.compile(
    r"多少[只家个]?(?:股票)?(?:上涨|下跌|涨停|跌停)|(?:涨停|跌停|上涨|下跌|炸板)(?:的)?(?:有)?(?:多少|几)"
)


async def lead_of(state: State, message: str, earlier: Sequence[str], topic: Topic, pack: Pack) -> Lead:
    """Facts that it reads are added to the pack."""
    lead = await _lead(state, message, earlier, topic, pack)
    if lead.has_offers:
        lead.lines[-1] += offers(await state.part(Stocks).directory())
    return lead


async def _lead(state: State, message: str, earlier: Sequence[str], topic: Topic, pack: Pack) -> Lead:
    courtesy = next((reply for pattern, reply in COURTESY if pattern.search(message.strip())), None)
    if courtesy is not None:
        return Lead.asking_back(courtesy)
    figures = figures_of(message) or (_earlier_figures(earlier) if topic.is_followed else ())
    advice = [_NO_ADVICE] if ADVICE.search(message) else []
    if topic.codes:
        return _of_companies(message, figures, topic, pack, advice)
    if topic.unknown:
        return Lead.asking_back(f"证券列表中没有{'、'.join(topic.unknown)}。")
    found = await _of_many(state, message, topic, pack)
    if found is not None:
        return found
    if topic.market:
        return _of_the_market(message, pack, advice)
    name = left_over(message) if figures else ""
    why = f"没有找到名为“{name}”的证券，也可能不在A股上市。" if name else "没有听懂这个问题。"
    return Lead.asking_back(why)


async def _of_many(state: State, message: str, topic: Topic, pack: Pack) -> Lead | None:
    """A list of stocks, industries, or series of the economy; None where none of them is asked for."""
    if topic.market and _BREADTH.search(message):
        return None
    if not _ORDER_OF_INDUSTRIES.search(message):
        listed = await _listed(state, message, pack)
        if listed is not None:
            return listed
    industry = await state.reading.scan(_industry, message, state.clock.now(), pack)
    if industry:
        return Lead(industry, frozenset())
    if not topic.macro:
        return None
    economy = _of_the_economy(message, pack)
    if topic.market:
        return Lead([*economy.lines, *_of_the_market(message, pack, []).lines])
    return economy


def _earlier_figures(earlier: Sequence[str]) -> tuple[Figures, ...]:
    return next((figures for text in reversed(earlier) if (figures := figures_of(text))), ())


# -- companies ---------------------------------------------------------------------------------------------


def _of_companies(
    message: str, figures: Sequence[Figures], topic: Topic, pack: Pack, advice: list[str]
) -> Lead:
    name_of = {str(fact.key["code"]): fact.subject for fact in pack.facts if fact.table == of_stocks.MASTER}
    names = [name_of[code] for code in topic.codes if code in name_of]
    if not names:
        return Lead()
    lines = list(advice)
    if len(names) > 1:
        sections = frozenset[str]() if figures or COMPARING.search(message) else None
        lines += _comparison(names, figures, pack) if sections is not None else []
        return _with_guess(Lead(lines, sections), topic)
    name = names[0]
    if NEXT_REPORT.search(message):
        return _with_guess(Lead([*lines, _next_report(name, pack)], frozenset()), topic)
    if REASON.search(message):
        return _with_guess(Lead([*lines, *_reason(name, pack)], frozenset({"news", "money"})), topic)
    if not figures:
        quote = _figures(name, _QUOTE, pack) if topic.is_guessed else ""
        return _with_guess(Lead([*lines, *filter(None, (quote,))]), topic)
    absent = []
    for wanted in figures:
        line = _figures(name, wanted, pack)
        if line:
            lines.append(line)
        else:
            absent.append(wanted.title)
    if absent and not (len(lines) > len(advice)):
        lines.append(f"没有存储{name}的{'、'.join(dict.fromkeys(absent))}。")
    return _with_guess(Lead(lines, frozenset(wanted.section for wanted in figures) if lines else None), topic)


def _with_guess(lead: Lead, topic: Topic) -> Lead:
    """A name that was not written as it is listed is said, behind the answer."""
    if topic.is_guessed:
        lead.lines.append("公司名按最接近的简称理解；不对的话请给出代码。")
    return lead


def _figures(name: str, wanted: Figures, pack: Pack) -> str:
    found = [fact for column in wanted.columns for fact in facts_of(pack, wanted.table, column, name)]
    if wanted.table == "raw_top_holders":
        return _holders(name, pack)
    if wanted.columns == ("title",):
        titles = found[:3]
        return f"{name}最近的{wanted.title}：{'；'.join(map(quoted, titles))}。" if titles else ""
    newest = list({(fact.column): fact for fact in reversed(found)}.values())[::-1][:MOST_FACTS]
    if not newest:
        return ""
    day = newest[0].as_of[:10]
    when_ = f"{day}报告期，" if wanted.table == of_stocks.FINANCE else f"截至{day}，"
    return f"{when_}{name}{'，'.join(map(shown, newest))}。"


def _holders(name: str, pack: Pack) -> str:
    holders = facts_of(pack, "raw_top_holders", "holder_name", name)
    shares = facts_of(pack, "raw_top_holders", "ratio_pct", name)
    by_key = {str(dict(fact.key)): fact for fact in shares}
    clauses = []
    for holder in holders[:5]:
        share = by_key.get(str(dict(holder.key)))
        clauses.append(f"{quoted(holder)}{f'持股{said(share)}[{share.id}]' if share else ''}")
    return f"截至{holders[0].as_of[:10]}，{name}的主要股东：{'；'.join(clauses)}。" if clauses else ""


def _next_report(name: str, pack: Pack) -> str:
    for column in ("actual_date", "change1_date", "first_date"):
        fact = fact_of(pack, "cninfo_periodic_report", column, name)
        if fact is None:
            continue
        period = fact.key.get("report_period")
        if column == "actual_date" and str(fact.value) <= pack.as_of[:10]:
            return f"{name}{period}报告期的财报已在{said(fact)}[{fact.id}]披露，下一期的预约日还没有。"
        return f"{name}{period}报告期的财报预约在{said(fact)}[{fact.id}]披露。"
    return f"没有存储{name}的财报预约披露日。"


def _reason(name: str, pack: Pack) -> list[str]:
    """What the tables know beside a move; that it is its reason nobody says."""
    moved = fact_of(pack, of_stocks.QUOTE, "change_pct", name) or fact_of(
        pack, of_stocks.BARS, "change_pct", name
    )
    if moved is None:
        return [f"没有存储{name}的行情，说不出涨跌。"]
    beside = [
        shown(fact) for table, column in (
            (of_stocks.FLOW, "main_net"), (of_stocks.QUOTE, "volume_ratio"),
            (of_stocks.QUOTE, "turnover_pct"),
        ) if (fact := fact_of(pack, table, column, name)) is not None
    ]  # fmt: skip
    same_day = f"；同日{'，'.join(beside)}" if beside else ""
    lines = [f"{moved.as_of[:10]}，{name}{change(moved)}[{moved.id}]，原因不能由数据断定{same_day}。"]
    board = fact_of(pack, of_stocks.DRAGON_TIGER, "reason", name)
    if board is not None:
        lines.append(f"{board.as_of[:10]}登上龙虎榜：{quoted(board)}。")
    titles = [*facts_of(pack, of_stocks.NEWS, "title", name)[:2],
              *facts_of(pack, of_stocks.ANNOUNCEMENTS, "title", name)[:2]]  # fmt: skip
    lines.append(f"近期消息：{'；'.join(map(quoted, titles))}。" if titles else f"没有存储{name}的近期消息。")
    return lines


def _comparison(names: Sequence[str], figures: Sequence[Figures], pack: Pack) -> list[str]:
    wanted = [(one.table, column) for one in figures for column in one.columns] or list(_COMPARED)
    lines = []
    for table, column in dict.fromkeys(wanted):
        facts = [fact for name in names if (fact := fact_of(pack, table, column, name)) is not None]
        numbers = [fact.number for fact in facts if fact.number is not None]
        if len(numbers) < 2 or len(numbers) < len(facts):
            continue
        clauses = "，".join(f"{fact.subject}{shown(fact)}" for fact in facts)
        most, least = (pick(facts, key=lambda fact: fact.number or 0.0) for pick in (max, min))
        order = f"，{most.subject}较高" if most.number != least.number else "，相同"
        lines.append(f"{clauses}{order}。")
    return lines or [f"没有同时存储{'与'.join(names)}的可比数据。"]


# -- lists -------------------------------------------------------------------------------------------------


async def _listed(state: State, message: str, pack: Pack) -> Lead | None:
    """The stocks that a sentence asks for. Nothing of it runs when a part of it was not understood."""
    asked = when(state, None, None)
    market = await state.part(Screener).market(asked)
    industries = sorted(industries_of(market))
    sentence = as_screen(message, industries)
    if not sentence:
        return None
    meant = translated(sentence, industries)
    if meant.unmatched or not meant.query:
        words = "、".join(f"“{word}”" for word in meant.unmatched) or "条件"
        return Lead.asking_back(f"没有听懂{words}，所以没有选股：请换个说法。")
    try:
        query = parsed(meant.query)
        found = await read_or(None, state.part(Screener).find(query, asked))
    except LanguageError:
        found = None
    if found is None or market is None:
        return Lead.alone("没有存储可以选股的数据。")
    return Lead.alone(*_rows(found, pack))


def _rows(found: Found, pack: Pack) -> list[str]:
    page = found.page(0, MOST_LISTED)
    if not page["items"]:
        return [f"{page['date']}没有股票符合条件。"]
    fields = [catalogue()[name] for name in found.fields if catalogue()[name].kind == "number"][:3]
    day = str(page["date"])
    total = float(page["total"])
    count = pack.add("", "符合条件的股票", total, COUNT, table=WIDE, column="code", as_of=day)
    clauses: list[str] = []
    for row in page["items"]:
        code, name = str(row["code"]), str(row.get("name") or row["code"])
        facts = [
            pack.add(
                name, one.label, value, one.unit if one.unit in ("pct", "CNY", "wan") else "",
                table=one.table or WIDE, column=one.column or one.name, as_of=day,
                key={"code": code, "trade_date": day},
            )
            for one in fields if (value := page["matched"][code].get(one.name)) is not None
        ]  # fmt: skip
        clauses.append(f"{len(clauses) + 1}. {name}（{code}）{'，'.join(map(shown, facts))}")
    more = "" if page["total"] <= MOST_LISTED else f"，前{len(clauses)}只是"
    return [f"截至{page['date']}，符合条件的股票有{said(count)}只[{count.id}]{more}：", *clauses]


def _industry(session: Session, message: str, now: datetime, pack: Pack) -> list[str] | None:
    """The day of an industry that is named; of a question which industry did best or worst, the order."""
    columns = ("change_pct", "main_net", "leader_name", "industry_name", "rank_no", "level")
    rows = of_newest_day(session, of_market.RANKS, columns, now, limit=_INDUSTRIES)
    rows.sort(key=lambda row: (row.get("level") != "sw_l1", -(row.get("change_pct") or 0.0)))
    table, looks = (
        session.table(of_market.RANKS),
        (("change_pct", "行业涨跌幅"), ("main_net", "行业主力净额"), ("leader_name", "领涨股")),
    )
    if _ORDER_OF_INDUSTRIES.search(message):
        main = [row for row in rows if row.get("level") == "sw_l1"] or rows
        chosen = main[::-1][:5] if re.search(r"跌|弱|差", message) else main[:5]
    else:
        named = [
            row for row in rows if (name := str(row.get("industry_name") or "")) and _names(message, name)
        ]
        chosen = (
            named[:1]
            if re.search(r"行业|板块|怎么样|如何|行情|走势|表现|涨|跌|资金|股", message) or named
            else []
        )
    lines = []
    for row in chosen:
        before = len(pack.facts)
        name = plain_industry(str(row["industry_name"]))
        take_row(pack, table, row, looks, subject=name)
        facts = {fact.column: fact for fact in pack.facts[before:]}
        clauses: list[str] = [
            *([f"{change(facts['change_pct'])}[{facts['change_pct'].id}]"] if "change_pct" in facts else []),
            *([f"主力资金{flow(facts['main_net'])}[{facts['main_net'].id}]"] if "main_net" in facts else []),
            *([f"领涨股{quoted(facts['leader_name'])}"] if "leader_name" in facts else []),
        ]  # fmt: skip
        if clauses:
            lines.append(f"{pack.facts[before].as_of[:10]}，{name}行业{'，'.join(clauses)}。")
    return lines or None


def _names(message: str, industry: str) -> bool:
    plain = plain_industry(industry)
    return plain in message or (len(plain) > 2 and any(
        f"{plain[:2]}{word}" in message for word in ("股", "板块", "行业")
    ))  # fmt: skip


# -- market and economy --------------------------------------------------------------------------------------


def _of_the_market(message: str, pack: Pack, advice: list[str]) -> Lead:
    if _HONG_KONG.search(message):
        outside = facts_of(pack, of_market.OUTSIDE, "change_pct")
        chosen = [fact for fact in outside if fact.subject[:2] in message] or outside[:4]
        if not chosen:
            return Lead.asking_back("没有存储外围市场的报价。")
        return Lead.alone(
            f"截至{chosen[0].as_of[:10]}，{'，'.join(f'{one.subject}{shown(one)}' for one in chosen)}。"
        )
    if _BREADTH.search(message) or re.search(r"涨停|跌停", message):
        return Lead([*advice, *_breadth(pack)], frozenset({"breadth"}))
    indices = facts_of(pack, of_market.INDEX, "change_pct")
    named = [
        fact for fact in indices if fact.subject in message or fact.subject.removesuffix("指数") in message
    ]
    chosen = named or indices[:3]
    clauses = []
    for fact in chosen:
        close = fact_of(pack, of_market.INDEX, "close", fact.subject)
        clauses.append(f"{fact.subject}{f'报{said(close)}点[{close.id}]，' if close else ''}{shown(fact)}")
    lines = [f"{chosen[0].as_of[:10]}，{'；'.join(clauses)}。"] if clauses else ["没有存储指数的行情。"]
    if named:
        return Lead([*advice, *lines], frozenset())
    return Lead([*advice, *lines])


def _breadth(pack: Pack) -> list[str]:
    words = {"up_count": "上涨", "down_count": "下跌", "limit_up_count": "涨停", "limit_down_count": "跌停"}
    found = [
        (word, fact) for column, word in words.items() if (fact := fact_of(pack, of_market.PHASE, column))
    ]
    if not found:
        return ["没有存储当日涨跌家数。"]
    return [
        f"{found[0][1].as_of[:10]}，{'，'.join(f'{word}{said(fact)}家[{fact.id}]' for word, fact in found)}。"
    ]


def _of_the_economy(message: str, pack: Pack) -> Lead:
    wanted = [series for series, words in _SERIES.items() if re.search(words, message, re.IGNORECASE)]
    facts = [
        fact for fact in facts_of(pack, VALUES, "value")
        if any(str(fact.key.get("indicator", "")).startswith(series) for series in wanted)
    ]  # fmt: skip
    if not wanted:
        return Lead()
    if not facts:
        return Lead(["没有存储这一项宏观数据。"])
    return Lead.alone(*(f"{fact.as_of[:7]}，{fact.label} {said(fact)}[{fact.id}]。" for fact in facts[:4]))
