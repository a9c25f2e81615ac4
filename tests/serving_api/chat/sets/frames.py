"""Frames of answers, filled from the evidence that a model receives, and what became of them.

A frame is a block of a text file: a line `=== style subject`, then the answer as a model would write it. The
line of a lie is `=== kind | subject`, and its last one `bad: pattern`: what must not reach the reader.
`subject`: `one` (a company), `two`, `market`, `macro`; after `one` the names that it is for, or with `!`
those that it is not for. In 〔…〕 stands what is taken from the evidence table:

    〔名〕 〔码〕 〔交易所〕 〔甲〕 〔乙〕   name, code, SH or SZ; names of the first and the second company
    〔市盈率TTM|#〕 〔市盈率TTM|[]〕      E20 and [E20]
    〔市盈率TTM|=倍〕 〔|=1倍〕 〔|±=%〕  21.53倍[E20], with one decimal, without the sign
    〔成交额|n亿〕 〔涨跌幅|±n〕          the bare number, scaled by 亿, 万 or 万亿 where one is named
    〔市盈率TTM|=*1.37倍〕                the number times 1.37, with the citation
    〔涨跌幅|词上涨/下跌〕                one of two words, by the sign
    〔是否ST|若是:这样/那样〕 〔快讯|文〕 by the text; the text itself
    〔营业收入@1|=亿元〕 〔乙.市净率|=倍〕 of the second row with this label; of another subject
    〔最新价~MA20|高于/低于〕             by comparison; 甲 and 乙 in the words are names
    〔压力价-最新价|=元〕, + and /        the result with both citations, as a magnitude
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from tests.serving_api.chat.sets.companies import NAMES

HERE = Path(__file__).parent
SCALES = {"万亿": Decimal(10) ** 12, "亿": Decimal(10) ** 8, "万": Decimal(10) ** 4}
QUESTIONS = {"one": "{}怎么样", "two": "比较{}和{}", "market": "今天市场怎么样", "macro": "CPI 和 PMI 怎么样"}
TOKEN = re.compile(r"〔([^〕]+)〕")
CODES = {name: code for code, name in NAMES.items()}


@dataclass(frozen=True)
class Row:
    """A line of the evidence table. `value`: None where it is a text."""

    number: str
    text: str
    value: Decimal | None
    scale: Decimal


def rows_of(prompt: str) -> dict[tuple[str, str], list[Row]]:
    """(subject, label) -> rows, of a prompt."""
    found: dict[tuple[str, str], list[Row]] = {}
    for line in prompt.splitlines():
        parts = line.split(" | ")
        if len(parts) < 5 or not re.fullmatch(r"E\d+", parts[0]):
            continue
        text = " | ".join(parts[3:-1])
        figure = re.fullmatch(r"(-?\d+(?:\.\d+)?)(亿|万)?\D*", text)
        scale = SCALES.get(figure[2] or "", Decimal(1)) if figure else Decimal(1)
        value = Decimal(figure[1]) * scale if figure else None
        found.setdefault((parts[1], parts[2]), []).append(Row(parts[0], text, value, scale))
    return found


@dataclass(frozen=True)
class Frame:
    """`kind`: the style of a true answer, what is false in a lie."""

    kind: str
    subject: str
    names: tuple[str, ...]
    text: str
    bad: str


def frames(file: str) -> list[Frame]:
    """The frames of a file beside this module."""
    read = []
    for block in re.split(r"^=== ", (HERE / file).read_text("utf-8"), flags=re.M)[1:]:
        head, body = block.split("\n", 1)
        text, _, bad = body.rstrip("\n").partition("\nbad: ")
        kind, subject = head.split(" | ") if " | " in head else head.split(" ", 1)
        subject, _, only = subject.partition(" ")
        names = tuple(
            name for name in CODES if not only or (name in only.strip("!").split(",")) != only.startswith("!")
        )
        read.append(Frame(kind, subject, names, text, bad))
    return read


@dataclass(frozen=True)
class Case:
    """A frame with its companies."""

    frame: Frame
    names: tuple[str, ...]

    @property
    def question(self) -> str:
        return QUESTIONS[self.frame.subject].format(*self.names)

    def said(self, prompt: str) -> str:
        """What the model says to this prompt."""
        return TOKEN.sub(lambda token: _Filler(rows_of(prompt), self.names).word(token[1]), self.frame.text)

    def pattern(self, prompt: str) -> re.Pattern[str]:
        """What must not reach the reader; for `plain` texts."""
        filler = _Filler(rows_of(prompt), self.names)
        bad = TOKEN.sub(lambda token: filler.pattern(token[1]), self.frame.bad)
        return re.compile(re.sub(r" \??", "", bad))


def cases(file: str, companies: int, pairs: int) -> Iterator[Case]:
    """Every frame with so many companies or pairs, other ones for each frame."""
    for place, frame in enumerate(frames(file)):
        names = frame.names
        if frame.subject == "one":
            for step in range(min(companies, len(names))):
                yield Case(frame, (names[(place + step) % len(names)],))
        elif frame.subject == "two":
            for step in range(pairs):
                first = (place + step) % len(names)
                yield Case(frame, (names[first], names[(first + 1 + step) % len(names)]))
        else:
            yield Case(frame, ())


class _Filler:
    def __init__(self, rows: dict[tuple[str, str], list[Row]], names: tuple[str, ...]) -> None:
        self._rows, self._names = rows, names

    def row(self, what: str) -> Row:
        what, _, nth = what.partition("@")
        subject, dot, label = what.partition(".")
        if not dot:
            subject, label = self._names[0], what
        subject = {"甲": self._names[:1], "乙": self._names[1:]}.get(subject, (subject,))[0]
        return self._rows[subject, label][int(nth or 0)]

    def word(self, token: str) -> str:
        """What stands for a token in an answer."""
        if token in ("名", "甲", "乙"):
            return self._names[token == "乙"]
        if token in ("码", "交易所"):
            code = CODES[self._names[0]]
            return code if token == "码" else "SH" if code[0] == "6" else "SZ"
        what, _, how = token.partition("|")
        if "~" in what:
            one, two = (self._value(part) for part in what.split("~"))
            chosen = _chosen(how, one > two)
            return re.sub("[甲乙]", lambda name: self._names[name[0] == "乙"], chosen)
        if how.startswith("若"):
            wanted, words = how[1:].split(":")
            return _chosen(words, self.row(what).text == wanted)
        if how == "文":
            return self.row(what).text
        if how == "#":
            return self.row(what).number
        if how == "[]":
            return self._cited(what)
        if how.startswith("词"):
            return _chosen(how[1:], self._value(what) >= 0)
        number = self._number(what, how)
        unit = re.sub(r"^[±=n]+\d?(\*[\d.]+)?", "", how)
        return f"{number}{unit}{self._cited(what)}" if "=" in how else number

    def pattern(self, token: str) -> str:
        """A pattern of a token: of a number in every scale, with or without the sign."""
        what, _, how = token.partition("|")
        if not re.match(r"±?n", how):
            return re.escape(plain(self.word(token)))
        value = abs(self._value(what)) * _factor(how)
        digits = 0 if re.search(r"n0", how) else 2
        forms = {_rounded(value / scale, digits) for scale in (Decimal(1), *SCALES.values())}
        forms |= {re.sub(r"\.?0+$", "", one) for one in forms if "." in one}
        useful = sorted((one for one in forms if one.strip("0.")), key=len, reverse=True)
        return rf"-?(?:{'|'.join(map(re.escape, useful))})(?!\d)"

    def _number(self, what: str, how: str) -> str:
        value = self._value(what) * _factor(how)
        value = abs(value) if "±" in how else value
        unit, digits = re.search("万亿|亿|万", how), re.match(r"[±=n]+(\d)", how)
        whole = not unit and re.search(r"[-+/]", what) is None and "." not in self.row(what).text
        places = int(digits[1]) if digits else 0 if whole else 2
        return _rounded(value / SCALES[unit[0]] if unit else value, places)

    def _value(self, what: str) -> Decimal:
        for sign in "+-/":
            parts = re.split(rf"(?<=\D)\{sign}(?=\D)", what)
            if len(parts) == 2:
                one, two = (self._value(part) for part in parts)
                return one + two if sign == "+" else abs(one - two) if sign == "-" else one / two
        value = self.row(what).value
        assert value is not None, what
        return value

    def _cited(self, what: str) -> str:
        parts = re.split(r"(?<=\D)[-+/](?=\D)|(?<=@1)[-+](?=\D)", what)
        return "".join(f"[{self.row(part).number}]" for part in parts)


def _factor(how: str) -> Decimal:
    found = re.search(r"\*(\d+(?:\.\d+)?)", how)
    return Decimal(found[1]) if found else Decimal(1)


def _rounded(value: Decimal, digits: int) -> str:
    return str(value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _chosen(words: str, first: bool) -> str:
    return words.split("/")[0 if first else 1]


def plain(text: str) -> str:
    """Without citations, emphasis and spaces."""
    return re.sub(r"\[E\d+\]|[*\s]", "", text)


def shown_whole(said: str, answer: str) -> bool:
    """Whether a reader gets every word of it, a value for each reference and the citation of each figure.
    The platform may add a day in brackets before a citation."""
    wanted = ""
    for part in re.split(r"(\{\{E\d+\}\}|\[E\d+\])", re.sub(r"\s", "", said)):
        if part.startswith("{{"):
            wanted += rf"[^—\[\]]+?\[{part[2:-2]}\]"
        elif part.startswith("[E"):
            wanted += rf"(?:（[^（）]*）)?{re.escape(part)}"
        else:
            wanted += re.escape(part)
    return re.fullmatch(wanted, re.sub(r"\s", "", answer)) is not None


def clickable(answer: str, evidence: Iterable[str]) -> bool:
    """Whether each citation in the text has its row in the response."""
    return set(re.findall(r"\[(E\d+)\]", answer)) <= set(evidence)
