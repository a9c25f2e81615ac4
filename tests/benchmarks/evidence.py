"""What the checker of numbers costs for 1,000 characters of an answer, in CPU seconds of this process."""

import random
import time
from collections.abc import Iterator

from platform_assets.compute.evidence.binding import check
from platform_assets.compute.evidence.facts import COUNT, Pack
from platform_assets.compute.evidence.wording import change, said
from tests.benchmarks.measure import Figure, at_most, timed

CHARACTERS = 1000
LISTED = 5500
"""Names of securities that a text is searched for."""
BUDGET_S = 0.1
"""A model writes as much in about ten seconds: the checker may take a hundredth of that."""
SAMPLES = 7


def names() -> list[str]:
    rng = random.Random(1)
    signs = [chr(code) for code in range(0x4E00, 0x5200)]
    made: set[str] = set()
    while len(made) < LISTED:
        made.add("".join(rng.sample(signs, 4)))
    return sorted(made)


def pack_of(facts: int, listed: list[str]) -> Pack:
    """Four facts of each company."""
    rng = random.Random(facts)
    pack = Pack("2026-08-21 16:05:00")
    while len(pack.facts) < facts:
        name = listed[len(pack.facts) // 4]
        for label, value, unit in (
            ("涨跌幅", round(rng.uniform(-10, 10), 4), "pct"),
            ("成交额", round(rng.uniform(2e7, 9e9), 2), "CNY"),
            ("市盈率", round(rng.uniform(6, 80), 4), ""),
            ("连板", rng.randint(2, 7), COUNT),
        ):
            pack.add(
                name, label, value, unit, table="fusion_kline_daily", column="x", as_of="2026-08-21",
                key={"code": f"{600000 + len(pack.facts)}"},
            )  # fmt: skip
    return pack


def answer(pack: Pack) -> str:
    """True sentences with their citations, of the length that is measured."""
    rng = random.Random(7)
    text = ""
    while len(text) < CHARACTERS:
        at = rng.randrange(len(pack.facts) // 4) * 4
        moved, amount, multiple, _ = pack.facts[at : at + 4]
        text += (
            f"{moved.subject}今日{change(moved)}[{moved.id}]，成交额{said(amount)}[{amount.id}]，"
            f"市盈率约{multiple.number:.1f}倍[{multiple.id}]，资金面与基本面的表现需要结合起来看。"
        )
    return text[: text.rindex("。", 0, CHARACTERS + 1) + 1]


def run() -> Iterator[Figure]:
    listed = names()
    for facts, known in ((40, []), (400, []), (400, listed)):
        pack = pack_of(facts, listed)
        text = answer(pack)
        checked = check(text, pack, names=known)
        if checked.unbound:
            raise RuntimeError(f"true sentences are damaged: {checked.unbound}")
        taken = min(
            timed(lambda pack=pack, text=text, known=known: check(text, pack, names=known), time.process_time)  # type: ignore[misc]
            for _ in range(SAMPLES)
        )
        yield at_most(
            f"checker, 1,000 characters, {facts} facts, {len(known):,} names, vs a hundredth of the writing",
            taken * CHARACTERS / len(text), BUDGET_S, 1.0, f"{len(checked.bound)} numbers bound",
        )  # fmt: skip
