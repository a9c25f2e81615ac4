"""Data of the picture, from the unified reads."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from serving_api.framework.state import State
from serving_api.live.chain import UnifiedReads, of_one_session
from serving_api.live.data_types import Found
from serving_api.market.share_brief.canvas import Canvas

WIDTH, HEIGHT = 1200, 630
DASH = "—"
PAPER, CARD, INK, GREY, LINE = "#f6f4ef", "#ffffff", "#1d1f24", "#70747d", "#d9d6cd"
RISE, FALL, FLAT = "#c8322b", "#1f8a4c", "#9a9ca3"
"""As usual in this market: red means rising."""
_LEFT, _GAP = 60, 24
_FOOT = "数据仅供研究参考，不构成投资建议"


@dataclass(frozen=True)
class Index:
    """Points and percent; None where they are missing."""

    name: str
    price: float | None
    change: float | None


@dataclass(frozen=True)
class Facts:
    """The data of the picture. Money in CNY, changes in percent; None is drawn as a dash."""

    date: str
    indices: Sequence[Index]
    score: float | None = None
    label: str | None = None
    up: int | None = None
    down: int | None = None
    flat: int | None = None
    limit_up: int | None = None
    limit_down: int | None = None
    amount: float | None = None
    main_net: float | None = None
    seal_rate: float | None = None
    best: tuple[str, float] | None = None
    worst: tuple[str, float] | None = None
    sample: bool = False

    @property
    def empty(self) -> bool:
        reported = (self.score, self.up, self.limit_up, self.amount, self.main_net, self.best)
        return all(value is None for value in (*reported, *(one.price for one in self.indices)))


def percent(value: float | None) -> str:
    """With its sign; without one when it rounds to zero."""
    if value is None:
        return DASH
    return f"{value:+.2f}%" if round(value, 2) else "0.00%"


def yi(value: float | None, *, signed: bool = False) -> str:
    """CNY as 100 millions."""
    if value is None:
        return DASH
    return f"{value / 1e8:{'+' if signed else ''},.0f}亿"


def count(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def industry(reported: tuple[str, float] | None) -> str:
    return DASH if reported is None else f"{reported[0]} {percent(reported[1])}"


def colour(value: float | None) -> str:
    return GREY if not round(value or 0.0, 2) else RISE if (value or 0.0) > 0 else FALL


def ink(value: object, fill: str = INK) -> str:
    """Missing values are grey everywhere."""
    return GREY if value is None else fill


def listed(facts: Facts) -> list[tuple[str, str | None]]:
    """(label, value) of everything as text; None when missing."""
    rows: list[tuple[str, str]] = []
    for one in facts.indices:
        price = DASH if one.price is None else f"{one.price:,.2f}（{percent(one.change)}）"
        rows.append((one.name, price))
    mood = DASH if facts.score is None else f"{facts.label or ''} {facts.score:.0f}".strip()
    rows += [
        ("市场情绪", mood),
        ("上涨家数", count(facts.up)),
        ("下跌家数", count(facts.down)),
        ("平盘家数", count(facts.flat)),
        ("涨停", count(facts.limit_up)),
        ("跌停", count(facts.limit_down)),
        ("成交额", yi(facts.amount)),
        ("主力净流入", yi(facts.main_net, signed=True)),
        ("封板率", DASH if facts.seal_rate is None else f"{facts.seal_rate:.0f}%"),
        ("领涨行业", industry(facts.best)),
        ("领跌行业", industry(facts.worst)),
    ]
    return [(label, None if value == DASH else value) for label, value in rows]


def title_of(facts: Facts) -> str:
    return "A股市场速览（样本市场）" if facts.sample else "A股市场速览"


def draw(facts: Facts) -> Canvas:
    canvas = Canvas(WIDTH, HEIGHT)
    canvas.rect(0, 0, WIDTH, HEIGHT, PAPER)
    canvas.rect(0, 0, WIDTH, 10, RISE)
    canvas.text(_LEFT, 88, title_of(facts), 50, INK, 740)
    canvas.text(WIDTH - _LEFT, 84, facts.date, 28, GREY, 300, right=True)
    _indices(canvas, facts.indices)
    _mood(canvas, facts)
    _money(canvas, facts)
    canvas.text(_LEFT, 606, _FOOT, 20, GREY, 700)
    return canvas


def svg_of(facts: Facts) -> str:
    words = "；".join(f"{label} {value or DASH}" for label, value in listed(facts))
    return draw(facts).svg(f"{title_of(facts)} {facts.date}", words)


def _indices(canvas: Canvas, indices: Sequence[Index]) -> None:
    shown = [*indices, *[Index("", None, None)] * 3][:3]
    wide = (WIDTH - 2 * _LEFT - 2 * _GAP) / 3
    for place, one in enumerate(shown):
        x = _LEFT + place * (wide + _GAP)
        canvas.rect(x, 120, wide, 148, CARD, 14)
        room = wide - 48
        if one.name:
            canvas.text(x + 24, 160, one.name, 26, GREY, room)
        price = DASH if one.price is None else f"{one.price:,.2f}"
        canvas.text(x + 24, 214, price, 46, ink(one.price), room)
        if one.price is not None or one.change is not None:
            canvas.text(x + 24, 252, percent(one.change), 28, colour(one.change), room)


def _mood(canvas: Canvas, facts: Facts) -> None:
    canvas.rect(_LEFT, 290, WIDTH - 2 * _LEFT, 148, CARD, 14)
    canvas.text(84, 330, "市场情绪", 24, GREY, 200)
    canvas.text(84, 396, DASH if facts.score is None else f"{facts.score:.0f}", 56, ink(facts.score), 110)
    if facts.label:
        canvas.text(canvas.boxes[-1].right + 18, 396, facts.label, 32, INK, 110)
    _bar(canvas, facts)
    for x, label, value, fill in (
        (900, "涨停", facts.limit_up, RISE),
        (1024, "跌停", facts.limit_down, FALL),
    ):
        canvas.text(x, 330, label, 24, GREY, 100)
        canvas.text(x, 396, count(value), 46, ink(value, fill), 100)


def _bar(canvas: Canvas, facts: Facts) -> None:
    left, wide, high = 360, 500, 22
    reported = [facts.up or 0, facts.flat or 0, facts.down or 0]
    total = sum(reported)
    canvas.rect(left, 354, wide, high, LINE, high / 2)
    parts = [
        (wide * value / total, fill)
        for value, fill in zip(reported, (RISE, FLAT, FALL), strict=True)
        if value
    ]
    x = float(left)
    for place, (share, fill) in enumerate(parts):
        # Round where the bar begins and ends, and a thin line of the card between two parts.
        round_off = min(high, share) / 2
        first, last = place == 0, place == len(parts) - 1
        canvas.rect(x, 354, share, high, fill, round_off if first or last else 0)
        if first and not last:
            canvas.rect(x + round_off, 354, share - round_off, high, fill)
        if last and not first:
            canvas.rect(x, 354, share - round_off, high, fill)
        if min(share, x - left) > 2:
            canvas.rect(x - 1, 354, 2, high, CARD)
        x += share
    canvas.text(left, 330, f"上涨 {count(facts.up)}", 24, ink(facts.up, RISE), 160)
    canvas.text(left + wide, 330, f"下跌 {count(facts.down)}", 24, ink(facts.down, FALL), 160, right=True)
    canvas.text(left, 414, f"平盘 {count(facts.flat)}", 22, GREY, 240)


def _money(canvas: Canvas, facts: Facts) -> None:
    seal = DASH if facts.seal_rate is None else f"{facts.seal_rate:.0f}%"
    cells = (
        (60, 176, "成交额", yi(facts.amount), ink(facts.amount)),
        (260, 176, "主力净流入", yi(facts.main_net, signed=True), colour(facts.main_net)),
        (460, 112, "封板率", seal, ink(facts.seal_rate)),
    )
    for x, wide, label, value, fill in cells:
        canvas.rect(x, 460, wide, 106, CARD, 14)
        canvas.text(x + 18, 496, label, 22, GREY, wide - 36)
        canvas.text(x + 18, 542, value, 30, fill, wide - 36)
    for x, label, reported in ((596, "领涨行业", facts.best), (880, "领跌行业", facts.worst)):
        canvas.rect(x, 460, 260, 106, CARD, 14)
        canvas.text(x + 18, 496, label, 22, GREY, 120)
        # Beside the label, so that a long name does not push the figure out.
        if reported is not None:
            canvas.text(x + 242, 496, percent(reported[1]), 24, colour(reported[1]), 110, right=True)
        canvas.text(x + 18, 542, DASH if reported is None else reported[0], 28, ink(reported), 224)


NOTE = "当前没有可用的市场数据，暂不生成分享图"
_KINDS = ("sentiment", "distribution", "fund_flow", "industry_rank")


async def share_brief(state: State) -> dict[str, Any]:
    """The picture, and its content as text."""
    found = await asyncio.gather(*map(state.part(UnifiedReads).read, _KINDS))
    reads = of_one_session(dict(zip(_KINDS, found, strict=True)))
    facts = facts_of(reads, sample=state.settings.world == "sample")
    brief = {
        "date": facts.date,
        "trade_date": max((one.trade_date for one in reads.values() if one.trade_date), default=None),
        "title": title_of(facts),
        "facts": [{"label": label, "value": value} for label, value in listed(facts)],
        "note": NOTE if facts.empty else None,
    }
    svg = None if facts.empty else await asyncio.to_thread(svg_of, facts)
    return {"svg": svg, "width": WIDTH, "height": HEIGHT, "brief": brief}


def facts_of(found: dict[str, Found], *, sample: bool) -> Facts:
    """Facts of one session; the time of the older answer is shown."""
    sentiment, distribution = found["sentiment"].body, found["distribution"].body
    flow, industries = found["fund_flow"].body, found["industry_rank"].body["industries"]
    times = [one.at for one in found.values() if one.at is not None]
    date = f"{min(times):%Y-%m-%d %H:%M}" if times else found["sentiment"].session
    ends = [(row["name"], row["change_percent"]) for row in (*industries[:1], *industries[-1:])]
    return Facts(
        date=date,
        indices=[Index(row["name"], row["price"], row["change_percent"]) for row in sentiment["indices"]],
        score=sentiment["sentiment_score"], label=sentiment["sentiment_label"], up=distribution["up"],
        down=distribution["down"], flat=distribution["flat"], limit_up=distribution["limit_up"],
        limit_down=distribution["limit_down"], amount=flow["total_amount"], main_net=flow["main_net_inflow"],
        seal_rate=flow["seal_success_rate"], best=ends[0] if ends else None, worst=ends[-1] if ends else None,
        sample=sample,
    )  # fmt: skip
