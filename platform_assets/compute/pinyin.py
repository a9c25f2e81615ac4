"""The pinyin of a security's name: the reading that is meant most likely, and every other plausible one.

Names are cut from places, surnames and coined words, so phrases of running text decide their polyphones
badly: 步长 is read as if it grew, 朝阳 like the morning sun, 重药 like weight. The table below holds the
polyphones that names have in more than one reading; for every other character the dictionary decides.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.market.names import plain_name

MOST_READINGS = 8
"""Readings of one name; a name has at most three polyphones."""

READINGS = {
    "长": "chang zhang", "重": "zhong chong", "行": "xing hang", "都": "du dou", "厦": "sha xia",
    "朝": "chao zhao", "会": "hui kuai", "藏": "zang cang", "乐": "le yue", "阿": "a e",
    "劲": "jin jing", "模": "mo mu", "晟": "sheng cheng", "柏": "bai bo", "参": "shen can",
    "泊": "bo po", "调": "tiao diao", "埔": "pu bu", "仔": "zai zi", "鹄": "hu gu", "的": "di de",
    "杉": "shan sha", "血": "xue xie", "六": "liu lu", "单": "dan shan", "曾": "zeng ceng",
    "传": "chuan zhuan", "卡": "ka qia", "和": "he", "得": "de", "佛": "fo", "蚌": "bang beng",
    "尉": "wei yu", "朴": "pu piao", "薄": "bo bao", "秘": "mi bi", "番": "fan pan", "圩": "wei xu",
    "降": "jiang xiang", "弹": "tan dan", "绿": "lv lu", "率": "lv shuai", "壳": "ke qiao",
    "剥": "bo bao", "着": "zhuo zhe", "查": "cha zha", "翟": "zhai di", "仇": "qiu chou", "盖": "gai ge",
    "蔚": "wei yu", "校": "xiao jiao", "给": "gei ji", "贾": "jia gu", "区": "qu ou",
}  # fmt: skip
"""Character -> its readings in names, the usual one first."""

PHRASES = {
    "重庆": "chong qing", "重药": "chong/zhong yao", "重啤": "chong pi", "重百": "chong bai",
    "成都": "cheng du", "西藏": "xi zang", "藏格": "zang/cang ge", "收藏": "shou cang", "宝藏": "bao zang",
    "冷藏": "leng cang",
    "厦门": "xia men", "厦工": "xia/sha gong", "厦华": "xia hua", "厦钨": "xia wu", "厦航": "xia hang",
    "华厦": "hua xia/sha", "银行": "yin hang", "商行": "shang hang", "农商行": "nong shang hang",
    "世联行": "shi lian hang/xing", "成长": "cheng zhang", "增长": "zeng zhang", "生长": "sheng zhang",
    "家长": "jia zhang", "校长": "xiao zhang", "会稽": "kuai/hui ji", "朝阳": "chao/zhao yang",
    "朝歌": "zhao ge",
    "东阿": "dong e/a", "阿胶": "e/a jiao", "音乐": "yin yue", "乐器": "yue qi", "海参": "hai shen",
    "参股": "can gu", "六安": "lu an", "蚌埠": "beng bu", "番禺": "pan yu", "传记": "zhuan ji",
    "水浒传": "shui hu zhuan", "弹簧": "tan huang", "子弹": "zi dan", "美的": "mei di/de", "模具": "mu/mo ju",
    "外模": "wai mu", "冲模": "chong mu", "湖泊": "hu po", "仔猪": "zi zhu", "单县": "shan xian",
    "黄埔": "huang pu", "大埔": "da bu", "效率": "xiao lv", "利率": "li lv",
    "首都": "shou du",
}  # fmt: skip
"""Words that decide how a polyphone in them is read, or usually read; the longest that fits counts."""

_POLYPHONES = {letter: tuple(reported.split()) for letter, reported in READINGS.items()}
_SPELLED = {word: [tuple(one.split("/")) for one in reported.split()] for word, reported in PHRASES.items()}
_LONGEST = max(map(len, _SPELLED))
_NEITHER = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True)
class Reading:
    """A name in small letters and digits: the first letters, and in full."""

    initials: str
    spelling: str


def likely_reading(name: str) -> Reading:
    """The reading that is meant most likely."""
    from pypinyin import lazy_pinyin  # noqa: PLC0415  loads large dictionaries

    text = plain_name(name)
    one_by_one: Any = list
    spelled = lazy_pinyin(text, errors=one_by_one)
    known = _choices(text)
    return _reading([some[0] if some else one.lower() for some, one in zip(known, spelled, strict=True)])


def other_readings(name: str, reported: Reading) -> tuple[Reading, ...]:
    """The other plausible readings of a name with a `reported` reading, those first that differ
    from it least. Needs no dictionary: characters with one reading are read as reported."""
    text = plain_name(name)
    known = _choices(text)
    if not any(len(some) > 1 for some in known):
        return ()
    syllables = _aligned(text, known, reported)
    if syllables is None:
        return ()
    choices = [tuple(dict.fromkeys((one, *some))) for one, some in zip(syllables, known, strict=True)]
    made = dict.fromkeys(map(_reading, itertools.islice(_nearest_first(choices), 8 * MOST_READINGS)))
    made.pop(reported, None)
    return tuple(made)[: MOST_READINGS - 1]


def _aligned(text: str, known: Sequence[tuple[str, ...]], reported: Reading) -> tuple[str, ...] | None:
    """The syllable of each character; None where a name is not read as reported (its columns were cut)."""
    spelt = [bool(some) or letter.isalnum() for letter, some in zip(text, known, strict=True)]
    if sum(spelt) != len(reported.initials):
        return None
    initials = iter(reported.initials)
    parts = []
    for letter, some, is_spelt in zip(text, known, spelt, strict=True):
        if not is_spelt:
            parts.append("()")
            continue
        initial = next(initials)
        only = re.escape(initial) if letter.isascii() else f"{re.escape(initial)}[a-z]{{0,5}}"
        parts.append(f"({'|'.join(some) or only})")
    found = re.fullmatch("".join(parts), reported.spelling)
    return None if found is None else found.groups()


def _nearest_first(choices: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """One of each of `choices`, those first that differ from the usual ones least."""
    several = [at for at, some in enumerate(choices) if len(some) > 1]
    usual = tuple(some[0] for some in choices)
    for count in range(len(several) + 1):
        for places in itertools.combinations(several, count):
            for others in itertools.product(*(choices[at][1:] for at in places)):
                changed = dict(zip(places, others, strict=True))
                yield tuple(changed.get(at, one) for at, one in enumerate(usual))


def _reading(syllables: Sequence[str]) -> Reading:
    letters = "".join(one[:1] for one in syllables)
    return Reading(_NEITHER.sub("", letters), _NEITHER.sub("", "".join(syllables)))


def _choices(text: str) -> list[tuple[str, ...]]:
    """Readings of each polyphone in names, the usual one first; none for any other character."""
    reported = [_POLYPHONES.get(letter, ()) for letter in text]
    at = 0
    while at < len(text):
        lengths = range(min(_LONGEST, len(text) - at), 1, -1)
        word = next((text[at : at + size] for size in lengths if text[at : at + size] in _SPELLED), "")
        reported[at : at + len(word)] = _SPELLED.get(word, [])
        at += max(len(word), 1)
    return reported
