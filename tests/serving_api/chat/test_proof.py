"""Questions through the whole route to a model that lies in twelve ways, and to one that is honest.

The number of questions: `CHAT_QUESTIONS`, 200 in `make soak`. What a lie says is known to the test, so that
nothing here asks the checker whether it was right.
"""

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.models_api.fake import Asked, FakeModels, Says
from tests.models_api.wire import Asks
from tests.serving_api.chat import rows
from tests.serving_api.chat.served import Served, events, texts

FEW, MANY = 3, 200
NUMBERS = pytest.mark.parametrize(
    "questions", [FEW, pytest.param(int(os.environ.get("CHAT_QUESTIONS", MANY)), marks=pytest.mark.soak)]
)
NAMES = rows.NAMES
PAIRS = [(one, two) for one in NAMES for two in NAMES if one != two]
ASKED = ("{a}和{b}比较一下", "{a}与{b}哪个估值低", "帮我看看{a}，再看看{b}", "{a}、{b}的资金情况")


@dataclass
class Known:
    """Facts as the prompt lists them: number of (name, label, day)."""

    lines: dict[tuple[str, str, str], str]

    @classmethod
    def of(cls, asked: Asked) -> "Known":
        found = re.findall(r"^(E\d+) \| (.*?) \| (.*?) \| .* \| (\S+)$", asked.body["messages"][0]["content"]
                           if isinstance(asked.body["messages"][0]["content"], str)
                           else asked.body["messages"][0]["content"][0]["text"], re.MULTILINE)  # fmt: skip
        return cls({(name, label, day): number for number, name, label, day in found})

    def id(self, code: str, label: str, day: str = rows.DAY) -> str:
        return self.lines[NAMES[code], label, day]


@dataclass(frozen=True)
class Case:
    """A question about two companies, and figures that are nobody's."""

    seed: int

    @property
    def pair(self) -> tuple[str, str]:
        return PAIRS[self.seed % len(PAIRS)]

    @property
    def question(self) -> str:
        one, two = self.pair
        return ASKED[self.seed % len(ASKED)].format(a=NAMES[one], b=NAMES[two])

    @property
    def wrong(self) -> float:
        return round(random.Random(self.seed).uniform(301, 999) + 0.37, 2)


Corruption = Callable[[Case, Known], tuple[Says, str]]
"""(what the model says, the words that must not reach the reader)."""


def _text(make: Callable[[Case, Known, str, str], tuple[str, str]]) -> Corruption:
    def corruption(case: Case, known: Known) -> tuple[Says, str]:
        text, words = make(case, known, *case.pair)
        return Says(text), words

    return corruption


def _turned(case: Case, known: Known, a: str, b: str) -> tuple[str, str]:
    moved = rows.FIGURES[a]["pct"]
    words = f"{'下跌' if moved > 0 else '上涨'}{abs(moved):.2f}%"
    return f"{NAMES[a]}今日{words}[{known.id(a, '涨跌幅')}]。", words


def _stale(case: Case, known: Known, a: str, b: str) -> tuple[str, str]:
    period = "归母净利润"
    words = f"今日{period}{rows.FIGURES[a]['profit'] / 1e8:.2f}亿元"
    return f"{NAMES[a]}{words}[{known.id(a, period, '2026-06-30')}]。", words


def _argument(case: Case, known: Known) -> tuple[Says, str]:
    code = str(300000 + case.seed)
    return Says(calls=[Asks("stock", {"code": code})]), code


SPOKEN = ("四十七", "六十三", "八十九")
CORRUPTIONS: dict[str, Corruption] = {
    "invented figure": _text(lambda case, known, a, b: (
        f"{NAMES[a]}市盈率{case.wrong}倍[{known.id(a, '市盈率TTM')}]。", str(case.wrong))),
    "wrong unit": _text(lambda case, known, a, b: (
        f"{NAMES[a]}成交额30.80万元[{known.id(a, '成交额')}]。", "30.80万元")),
    "stale value": _text(_stale),
    "figure of another company": _text(lambda case, known, a, b: (
        f"{NAMES[a]}市盈率{rows.FIGURES[b]['pe']:.2f}倍[{known.id(b, '市盈率TTM')}]。",
        f"{NAMES[a]}市盈率{rows.FIGURES[b]['pe']:.2f}")),
    "wrong sign": _text(_turned),
    "rounding that flips": _text(lambda case, known, a, b: (
        f"{NAMES[a]}涨跌幅0%[{known.id(a, '涨跌幅')}]。", "涨跌幅0%")),
    "invented source": _text(lambda case, known, a, b: (
        f"{NAMES[a]}市盈率{rows.FIGURES[a]['pe']:.2f}倍[E987]。", "E987")),
    "future date": _text(lambda case, known, a, b: (
        f"预计2026-10-{10 + case.seed % 20}，{NAMES[a]}将走强。", f"2026-10-{10 + case.seed % 20}")),
    "number hidden in words": _text(lambda case, known, a, b: (
        f"{NAMES[a]}利润增长百分之{SPOKEN[case.seed % 3]}[{known.id(a, '涨跌幅')}]。",
        f"百分之{SPOKEN[case.seed % 3]}")),
    "number in a table": _text(lambda case, known, a, b: (
        f"| {NAMES[a]} | 市盈率 | {case.wrong} | [{known.id(a, '市盈率TTM')}] |\n", str(case.wrong))),
    "number in an argument": _argument,
    "number in a title": _text(lambda case, known, a, b: (
        f"# {NAMES[a]}目标价{case.wrong}元\n", str(case.wrong))),
}  # fmt: skip


def honest(case: Case, known: Known) -> list[str]:
    """True sentences in the ways that people write them."""
    a, b = case.pair
    one, two = rows.FIGURES[a], rows.FIGURES[b]
    up = "上涨" if one["pct"] > 0 else "下跌"
    flow = "净流入" if one["net"] > 0 else "净流出"
    price, pe, pe_b = known.id(a, "最新价"), known.id(a, "市盈率TTM"), known.id(b, "市盈率TTM")
    cap, roe, debt = (
        known.id(a, "总市值"),
        known.id(a, "净资产收益率", "2026-06-30"),
        known.id(b, "资产负债率", "2026-06-30"),
    )
    sales = known.id(a, "营业收入", "2026-06-30")
    low, high = sorted((one["pe"], two["pe"]))
    return [
        f"截至{rows.DAY}，{NAMES[a]}最新价{one['price']:.2f}元[{price}]，"
        f"{up}{abs(one['pct']):.2f}%[{known.id(a, '涨跌幅')}]。",
        f"{NAMES[a]}的市盈率约为{one['pe']:.1f}倍[{pe}]，{NAMES[b]}为{two['pe']:.1f}倍[{pe_b}]。",
        f"两者市盈率相差{high - low:.2f}[{pe}][{pe_b}]。",
        f"{NAMES[a]}总市值约{one['cap'] / 1e4:.0f}亿元[{cap}]。",
        f"{NAMES[a]}净资产收益率{one['roe']:.2f}%。[{roe}]",
        f"{NAMES[b]}（{b}）的资产负债率为{two['debt']:.1f}%[{debt}]，需要留意。",
        f"{NAMES[a]}主力资金{flow}{abs(one['net']) / 1e8:.2f}亿元[{known.id(a, '主力净额')}]。",
        f"- **{NAMES[a]}**：市净率{one['pb']:.2f}倍[{known.id(a, '市净率')}]\n",
        f"按2026年中报，{NAMES[a]}营业收入{one['revenue'] / 1e8:.2f}亿元[{sales}]。",
        f"{NAMES[b]}没有融资融券数据，无法判断。",
    ]


def visible(reported: list[dict[str, Any]]) -> str:
    """All that a reader of a stream sees, but for the stored values themselves."""
    return "\n".join(str(one) for one in reported if one["type"] not in ("evidence", "chart")) + texts(
        reported
    )


@NUMBERS
@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_no_corruption_reaches_the_reader(
    modelled: Served, fake: FakeModels, corruption: str, questions: int
) -> None:
    who = modelled.admin()
    reached: list[str] = []
    for seed in range(questions):
        case, words = Case(seed), [""]

        def script(asked: Asked, case: Case = case, words: list[str] = words) -> Says:
            if asked.results:
                return Says("没有更多数据。")
            said, words[0] = CORRUPTIONS[corruption](case, Known.of(asked))
            return said

        fake.then(script)
        # Odd questions as a stream, even ones whole.
        if seed % 2:
            reported = visible(events(modelled.stream(case.question, who)))
        else:
            answer = modelled.ask(case.question, who)
            reported = str({name: value for name, value in answer.items() if name != "evidence"})
        if not words[0] or words[0] in reported:
            reached.append(f"{case.question} {words[0]}")
    print(f"{corruption}: {questions} questions, {len(reached)} lies reached the reader")
    assert reached == []


@NUMBERS
def test_an_honest_answer_stays_as_it_is(modelled: Served, fake: FakeModels, questions: int) -> None:
    who = modelled.admin()
    sentences, damaged = 0, []
    for seed in range(questions):
        case, said = Case(seed), [""]

        def script(asked: Asked, case: Case = case, said: list[str] = said) -> Says:
            said[:] = honest(case, Known.of(asked))
            return Says("".join(said))

        fake.then(script)
        reported = texts(events(modelled.stream(case.question, who)))
        sentences += len(said)
        damaged += [one for one in said if one not in reported]
        if seed % 10 == 0:
            assert modelled.ask(case.question, who)["provenance"] == "ai"
    print(f"honest: {sentences} sentences, {len(damaged)} damaged ({len(damaged) / sentences:.2%})")
    assert len(damaged) <= sentences * 0.01, damaged[:5]
