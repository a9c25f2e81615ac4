"""The numbers, dates and security codes of a Chinese text: their positions, values and precision."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

Kind = Literal["pct", "cny", "foreign", "share", "count", "multiple", "plain", "date", "code", "opaque"]

_WIDE = str.maketrans("０１２３４５６７８９．，％＋－−–：", "0123456789.,%+---:")
"""One character for one, so that positions stay."""
_SCALES = {"万亿": 1e12, "亿": 1e8, "万": 1e4, "千": 1e3, "百": 1e2, "": 1.0}
_COUNTED = (
    "个交易日", "家", "户", "只", "个", "天", "次", "支", "条", "连板", "板", "名", "位", "人", "期", "笔",
)  # fmt: skip
_UNITS: dict[str, tuple[Kind, float]] = {
    "个百分点": ("pct", 1.0), "百分点": ("pct", 1.0), "%": ("pct", 1.0), "‰": ("pct", 0.1),
    "个基点": ("pct", 0.01), "基点": ("pct", 0.01), "成": ("pct", 10.0), "倍": ("multiple", 1.0),
    "元": ("cny", 1.0), **dict.fromkeys(("港元", "美元", "欧元", "日元", "英镑"), ("foreign", 1.0)),
    "个点": ("plain", 1.0), "股": ("share", 1.0), "手": ("share", 100.0),
    **dict.fromkeys(_COUNTED, ("count", 1.0)),
    "点": ("plain", 1.0),
}  # fmt: skip
"""Word behind a number -> what it counts, and how much one of it is."""
_ALL_UNITS = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_DATE = re.compile(
    r"(?<!\d)(?:(?P<y>\d{4})(?:-(?P<m>\d{1,2})-(?P<d>\d{1,2})|年(?:(?P<m2>\d{1,2})月(?:(?P<d2>\d{1,2})日)?)?)"
    r"|(?P<m3>\d{1,2})月(?:(?P<d3>\d{1,2})日)?)"
    r"|(?<![A-Za-z])(?P<m4>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s"
    r"(?P<d4>\d{1,2})(?!\d)(?:,?\s(?P<y4>\d{4}))?"
)
_ENGLISH_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_TIME = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])")
_SUFFIX = r"\.(?:SH|SZ|BJ|sh|sz|bj)(?![A-Za-z])"
_CODE = re.compile(rf"(?<![\d.])\d{{6}}(?:{_SUFFIX}|(?![\d.]|\s*(?:{_ALL_UNITS}|万|亿)))")
_ARABIC = re.compile(
    r"(?P<sign>(?<![0-9A-Za-z])[+\-]|(?<=[A-Za-z])-(?=\d+\.)|负)?(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.(?P<part>\d+))?"
    rf"\s?(?P<scale>万亿|亿|万|千|百)?\s?(?P<unit>{_ALL_UNITS})?"
)
_QUARTER = (
    r"(?:[QqHh][1-4](?![A-Za-z0-9])|第?[一二三四1-4]季(?:度|报)|上半年|下半年|半年报|中报|年报|全年|前三季度)"
    r"(?:\s(?=20\d\d))?"
)
_YEAR = re.compile(
    rf"(?<=[QqHh][1-4]\s)20\d{{2}}|(?:(?<!\d)|(?<=FY))(?:20|19)\d{{2}}(?=\s?{_QUARTER})|(?<=FY)(?:20|19)\d{{2}}"
)
"""The year of a period: 2026Q2, FY2024. It is a date, which the facts must know."""
_LABELS = re.compile(
    r"(?:^|(?<=\n))[ \t#>*_-]*(?:\d{1,2}[.、)）:：](?!\d)|[(（]\d{1,2}[)）])"  # the number of a list's item
    r"|(?<=[。；;])\s*[(（]\d{1,2}[)）]"
    r"|(?<![A-Za-z])(?:MA|EMA|SMA|RSI|KDJ|MACD|BOLL|CCI|WR|ATR|VOL|BIAS|DMI|ROC|PSY)"
    r"[ _-]?(?:[(（]\d{1,3}(?:\s*[,，、]\s*\d{1,3})*[)）]|\d{1,3})(?![\d.%])"
    r"|(?<![A-Za-z])M[0-2](?![\d.])|\d{1,3}-(?:day|week|month|quarter|year)"
    r"|(?:^|(?<=[\n。；，：]))\s*(?:[①-⑳]|\d\ufe0f?\u20e3)|\d{1,2}\s?[-—~至到]\s?\d{1,2}月"
    r"|[二两三四五六七八九]个(?:角度|方面|维度|要点|原因|步骤|部分|层面|阶段|问题|因素|信号|特征|结论|事实|季度)"
    r"|[二两三四五六七八九](?:家公司|只股票|项指标|大指数|个指标)"
    r"|满分\s?\d{2,3}分?|(?:(?<=于)|(?<=the ))50(?=的?(?:荣枯|枯荣|分界)| line)"
    r"|[237]0\s?[至到~和与-]\s?[78]0(?=的?(?:区间|之间|区域))|[79]0%(?=的?(?:成本|筹码))"
    r"|(?<![\d.])\d{1,3}(?:日|天|周|月|季|年)(?:线|均线|移动平均|均价|均量|期国债|期|新高|新低|高点|低点|分位)"
    r"|(?:近|过去|最近|前|未来|过往)\s?(?:\d{1,3}|[一二两三四五六七八九十]+)\s?(?:个)?(?:交易日|日|天|周|月|季度|季|年|期|个报告期)"
    r"|(?<!\d)\d{1,2}周(?=高|低|新|内|以来|最)"
    rf"|{_QUARTER}"
)
"""Numbers that name something and state no figure of the market: the place in a list, the period of an
indicator, a span of time, a tenor, a quarter."""
_FOREIGN_SIGNS = "$€£"
_CHINESE = re.compile(
    rf"(?P<share>百分之)?(?P<body>[零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+)?)"
    rf"(?P<unit>{_ALL_UNITS})?"
)
_WORDS: tuple[tuple[str, Kind, float], ...] = (
    ("翻倍", "pct", 100.0), ("翻番", "pct", 100.0), ("翻一番", "pct", 100.0), ("腰斩", "pct", -50.0),
    ("一半", "pct", 50.0), ("半数", "pct", 50.0),
)  # fmt: skip
_NUMERAL = "零〇一二两三四五六七八九十百千万亿"
_FIRM = "壹贰叁肆伍陆柒捌玖拾佰仟"
_ENGLISH = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    "|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|[mb]illions?|trillions?|half|thirds"
    "|doubled?|tripled?"
)
_OPAQUE = re.compile(
    rf"(?<![A-Za-z])(?i:{_ENGLISH})(?![A-Za-z])|"
    rf"[{_NUMERAL}\d]+分之[{_NUMERAL}\d]+|翻了?[{_NUMERAL}\d]+番|[{_NUMERAL}\d.]+折"
    rf"|(?:十|几|数|好几)(?:几|十|百|千|万|亿)+(?:多|余)?(?:万亿|亿|万)?(?:{_ALL_UNITS})"
    rf"|(?<=[位居排列名])第[{_NUMERAL}]+|[{_FIRM}零]*[{_FIRM}][{_FIRM}零万亿]*(?:{_ALL_UNITS})|[①-⑳]"
)
"""Numbers in forms that are not computed with; a text may hold them only as the user's own words."""


@dataclass(frozen=True)
class Mention:
    """One number of a text. `value` in percent, CNY, shares or as written; `step` is the weight of its last
    printed digit. Of a date the value is 0 and `text` says it."""

    start: int
    end: int
    text: str
    kind: Kind
    value: float
    step: float
    signed: bool = False


def mentions(text: str) -> list[Mention]:
    """All figures, dates and codes in the order of the text; no two overlap. A number that only names
    something (the place in a list, the period of an indicator) is none."""
    found: list[Mention] = []
    taken = [False] * len(text)
    plain = text.translate(_WIDE)
    for label in _LABELS.finditer(plain):
        taken[label.start() : label.end()] = [True] * (label.end() - label.start())
    for one in chain(
        _without_value(plain, "date", _YEAR, _DATE, _TIME),
        _without_value(plain, "code", _CODE),
        _words(plain),
        _without_value(plain, "opaque", _OPAQUE),
        _arabic(plain),
        _chinese(plain),
    ):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = [True] * (one.end - one.start)
            found.append(replace(one, text=text[one.start : one.end]))
    return sorted(found, key=lambda one: one.start)


def day_of(text: str) -> tuple[int | None, int | None, int | None]:
    """(year, month, day) of a date as it is written; what it does not say is None."""
    found = _DATE.fullmatch(text.translate(_WIDE))
    if found is None:
        return None, None, None
    parts = found.groupdict()
    month_name = str(_ENGLISH_MONTHS.index(parts["m4"]) // 3 + 1) if parts["m4"] else None
    written = (
        parts["y"] or parts["y4"],
        parts["m"] or parts["m2"] or parts["m3"] or month_name,
        parts["d"] or parts["d2"] or parts["d3"] or parts["d4"],
    )
    year, month, day = (None if part is None else int(part) for part in written)
    return year, month, day


def _without_value(text: str, kind: Kind, *patterns: re.Pattern[str]) -> Iterator[Mention]:
    for pattern in patterns:
        for found in pattern.finditer(text):
            if not found.group().startswith("百分之"):
                yield Mention(found.start(), found.end(), found.group(), kind, 0.0, 0.0)


def _words(text: str) -> Iterator[Mention]:
    for word, kind, value in _WORDS:
        for found in re.finditer(word, text):
            yield Mention(found.start(), found.end(), word, kind, value, abs(value) * 0.02)


def _arabic(text: str) -> Iterator[Mention]:
    for found in _ARABIC.finditer(text):
        part = found["part"] or ""
        kind, weight = _UNITS.get(found["unit"] or "", ("plain", 1.0))
        scale = _SCALES[found["scale"] or ""] * weight
        size = float(f"{found['whole'].replace(',', '')}.{part or '0'}") * scale
        if found.start() and text[found.start() - 1] in _FOREIGN_SIGNS:
            kind = "foreign"
        value = -size if found["sign"] in ("-", "负") else size
        step = 10.0 ** -len(part) * scale
        end = found.end() if found["unit"] or found["scale"] else found.end("part" if part else "whole")
        yield Mention(
            found.start(), end, text[found.start() : end], kind, value, step, signed=found["sign"] is not None
        )


def _chinese(text: str) -> Iterator[Mention]:
    for found in _CHINESE.finditer(text):
        body, unit = found["body"], found["unit"] or ""
        is_number = found["share"] or unit or (len(body) > 1 and any(c in "十百千万亿" for c in body))
        # 一家, 一个, 一次: an article, and 万一, 千万 are words.
        is_article = (
            body == "一" and not found["share"] and _UNITS.get(unit, ("count",))[0] in ("count", "plain")
        )
        if is_number and not is_article and body not in _PHRASES:
            yield Mention(found.start(), found.end(), found.group(), "opaque", 0.0, 0.0)


_PHRASES = frozenset({"万一", "千万", "百万", "一一", "三三两两", "千百", "十百"})
