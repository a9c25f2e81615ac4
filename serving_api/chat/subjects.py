"""What a question is about: companies by code or name, the market, the economy; companies of a request."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.errors import NotFound
from core.text_keys import plain_form
from platform_assets.compute.evidence.facts import Pack
from platform_assets.compute.evidence.numbers import mentions
from serving_api.chat import questions
from serving_api.db.request_notes import current_code
from serving_api.db.sessions import Session
from serving_api.evidence.market import read_macro, read_market
from serving_api.evidence.packs import fact_of, new_pack, read_companies, stock_pack, stocks_pack
from serving_api.evidence.parts import BARS, BASE, MASTER, OF_ONE
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.stocks import queries
from serving_api.stocks.directory import Directory

MOST_COMPANIES = 10
SHORTEST_NAME = 3
"""Shorter names are also ordinary words; such companies are found by their code."""
_FIRST_DIGITS = "03689"
_CODE = re.compile(r"(?<![0-9A-Za-z.])[0-9]{6}(?![0-9A-Za-z])")
_MACRO = re.compile(
    r"宏观|经济|通胀|通缩|CPI|PPI|PMI|GDP|M1|M2|社融|信贷|贷款|(?<![毛净])利率|LPR|降准|降息|国债|汇率|进出口|社零",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"^(?:那|和|跟|与|同|它|这|换成|再看|还有|比起)|呢[？?]?$")
_BESIDE = re.compile(r"^(?:那)?(?:和|跟|与|同|比起)|比呢|相比|比怎么样")
_MARKET = re.compile(
    r"大盘|市场|指数|行情|涨停|跌停|板块|热点|情绪|两市|沪深|A股|领涨|轮动|外围|快讯|上证|深证|深成|创业板|科创|中证|恒生"
    r"|港股|美股|纳指|纳斯达克|今天(?:涨|跌)|多少[只家个]?(?:股票)?(?:上涨|下跌)|(?:上涨|下跌)的?有?(?:多少|几)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Topic:
    """`codes`: companies in the order in which they are mentioned."""

    codes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Mentioned codes that no listed company has."""
    market: bool = False
    macro: bool = False
    is_guessed: bool = False
    """Whether a company was not named as it is listed."""
    is_followed: bool = False
    """Whether the message takes up what was said before."""

    def read(self, session: Session, now: datetime) -> Pack:
        """The evidence about the subject, in one pack."""
        pack = new_pack(now)
        pack.missing += [f"证券列表中的{code}" for code in self.unknown]
        if self.codes:
            read_companies(session, self.codes, OF_ONE if len(self.codes) == 1 else BASE, now, pack)
        if self.market or not (self.codes or self.unknown or self.macro):
            read_market(session, now, pack)
        if self.macro:
            read_macro(session, now, pack)
        return pack


def topic_of(message: str, earlier: Sequence[str], code: str | None, directory: Directory) -> Topic:
    """`earlier`: earlier messages of the user, oldest first; they decide when the message names nothing."""
    given = [code] if code else []
    named = list(dict.fromkeys((*given, *_companies(message, directory))))
    market, macro = _MARKET.search(message) is not None, _MACRO.search(message) is not None
    is_guessed = False
    if not named or len(message) > len(named) * 8:
        guessed = [listing.code for _, listing in sorted(questions.named(message, directory))]
        is_guessed, named = not named and bool(guessed), named or list(dict.fromkeys(guessed))
    before = next((codes for text in reversed(earlier) if (codes := list(_companies(text, directory)))), [])
    if not named and not market and not macro and not questions.is_courtesy(message):
        is_followed, named = bool(before), before
    else:
        is_followed = bool(before) and _FOLLOWS.search(message) is not None
        if is_followed and named and _BESIDE.search(message):
            named = [*before[:1], *named]
    unknown = tuple(_unknown_codes(message, directory))
    return Topic(
        tuple(dict.fromkeys(named))[:MOST_COMPANIES], unknown[:MOST_COMPANIES], market, macro,
        is_guessed, is_followed,
    )  # fmt: skip


def _unknown_codes(text: str, directory: Directory) -> Iterator[str]:
    """Numbers that look like a stock code but are not listed."""
    known = {listing.code for listing in directory.listings}
    found = dict.fromkeys(one.text for one in mentions(text) if one.kind == "code")
    return (code for code in found if code[0] in _FIRST_DIGITS and _of_today(code) not in known)


def _of_today(code: str) -> str:
    """The code that a mentioned one has become; a number that is none of today stays as it is."""
    with suppress(ValueError):
        return current_code(code)
    return code


def _companies(text: str, directory: Directory) -> Iterator[str]:
    """Codes of the listed companies that a text names, in its order."""
    found: list[tuple[int, int, str]] = []
    text = plain_form(text)
    known = {listing.code for listing in directory.listings}
    for one in _CODE.finditer(text):
        code = _of_today(one.group())
        if code in known:
            found.append((one.start(), one.end(), code))
    names = [(plain_form(one.name), one) for one in directory.listings]
    named = [(name, one) for name, one in names if len(name) >= SHORTEST_NAME and name in text]
    for name, listing in sorted(named, key=lambda pair: -len(pair[0])):
        for hit in re.finditer(re.escape(name), text):
            if not any(start < hit.end() and hit.start() < end for start, end, _ in found):
                found.append((hit.start(), hit.end(), listing.code))
    return (code for *_, code in sorted(found))


async def pack_of(state: State, codes: Sequence[str]) -> tuple[Pack, dict[str, str]]:
    """(pack, code -> name in the order of `codes`). Raises NotFound that names codes outside the list."""
    pack = await (stock_pack(state, codes[0]) if len(codes) == 1 else stocks_pack(state, codes))
    names = {str(fact.key["code"]): fact.subject for fact in pack.facts if fact.table == MASTER}
    unknown = [code for code in codes if code not in names]
    if unknown:
        raise NotFound(f"证券列表中没有 {'、'.join(unknown)}")
    return pack, {code: names[code] for code in codes}


CHART_BARS = 60


async def chart_of(state: State, topic: Topic, pack: Pack) -> dict[str, Any] | None:
    """A line chart of unadjusted closes; None for several companies, for the market, or without bars."""
    name = fact_of(pack, MASTER, "name")
    if len(topic.codes) != 1 or name is None:
        return None
    bars = await read_or([], state.reading.point(queries.bars, topic.codes[0], CHART_BARS, None, "none"))
    if not bars:
        return None
    return {
        "kind": "line", "title": f"{name.subject}收盘价（不复权）", "source": BARS, "unit": "CNY",
        "x": [bar.date for bar in bars], "series": [{"name": "收盘价", "data": [bar.close for bar in bars]}],
    }  # fmt: skip
