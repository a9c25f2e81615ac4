"""The review of decision cards: which are due, how their prices changed, and whether they were right."""

from collections import Counter
from typing import Any

from core.calendar import CalendarHorizon, TradeCalendar
from core.clock import stamp
from platform_assets.compute.parameters.scorecards import CARD_HORIZON, CARDS_AT_ONCE
from platform_assets.compute.scorecards.cards import HIT, MISS, NEUTRAL, cutoff, verdict
from resources.warehouse.engine import transaction
from serving_api.db.sessions import Session
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.quant.decision_cards import queries
from serving_api.quant.decision_cards.queries import Due, Verdicts
from serving_api.quant.outcomes import loaded_days

BATCHES = 10
"""Batches of CARDS_AT_ONCE cards that one review checks."""


def stats(session: Session, since: str) -> dict[str, Any]:
    """{total, reviewed, hit, miss, neutral, win_rate_pct, by_source}; the rate counts hits and misses."""
    counts: dict[str, Counter[str | None]] = {}
    for source, outcome, count in queries.outcomes(session, since):
        counts.setdefault(source, Counter())[outcome] += count
    by_source = [{"source": source, **summed(own)} for source, own in sorted(counts.items())]
    return {**summed(sum(counts.values(), Counter())), "by_source": by_source}


def no_stats() -> dict[str, Any]:
    return {**summed(Counter()), "by_source": []}


def summed(counts: Counter[str | None]) -> dict[str, Any]:
    total, decided = counts.total(), counts[HIT] + counts[MISS]
    return {
        "total": total,
        "reviewed": total - counts[None],
        "hit": counts[HIT],
        "miss": counts[MISS],
        "neutral": counts[NEUTRAL],
        "win_rate_pct": round(counts[HIT] / decided * 100, 4) if decided else None,
    }


async def review(state: State, limit: int) -> dict[str, Any]:
    """{reviewed, skipped, cutoff}. Skipped are due cards without the bars needed for a verdict: of the
    stock, or of the market on the date of the decision and on the tenth date after it."""
    now = state.clock.now()
    last = cutoff(now.date().isoformat())
    due, found = await state.reading.scan(_judged, state.calendar, last, now.date().isoformat(), limit)
    reviewed = await off_loop(_save, state, found) if found else 0
    return {"reviewed": reviewed, "skipped": due - len(found), "cutoff": last}


def _judged(
    session: Session, calendar: TradeCalendar, last: str, today: str, limit: int
) -> tuple[int, Verdicts]:
    """(checked due cards, at most `limit` verdicts, oldest decision first). A card that cannot be judged,
    perhaps never, does not block the ones after it; BATCHES limits how many one review checks."""
    looked, found = 0, Verdicts()
    after: Due | None = None
    for _ in range(BATCHES):
        cards = queries.due(session, last, CARDS_AT_ONCE, after)
        spans = [_span(calendar, card, today) for card in cards]
        known = loaded_days(session, calendar, {day for span in spans if span for day in span})
        for card, span in zip(cards, spans, strict=True):
            looked, after = looked + 1, card
            if span is not None and known.issuperset(span):
                found += _verdict(session, card, span[1])
            if len(found) == limit:
                return looked + queries.without_bars(session, last, after), found
        if len(cards) < CARDS_AT_ONCE:
            after = None
            break
    return looked + queries.without_bars(session, last, after), found


def _span(calendar: TradeCalendar, card: Due, today: str) -> tuple[str, str] | None:
    """(trade date of the close that the decision used, tenth trade date after it); None while that is in
    the future (with a holiday in between, ten trade dates are more than seventeen days) or not published: a
    verdict is final."""
    try:
        start = calendar.on_or_before(card.decision_date)
        end = calendar.offset(start, CARD_HORIZON)
    except CalendarHorizon:
        return None
    return (start, end) if end <= today and calendar.is_confirmed(end) else None


def _verdict(session: Session, card: Due, end_day: str) -> Verdicts:
    """Change from the price of the decision to the close of the tenth trade date after it, adjusted for
    ex-rights: each price with the factor of its own day. None when the stock has no bar."""
    start = queries.last_bar(session, card.code, card.price_date or card.decision_date)
    end = queries.last_bar(session, card.code, end_day, after=card.decision_date)
    if start is None or end is None:
        return []
    price = card.price if card.price is not None and card.price > 0 else start[0]
    found = verdict(card.direction, price * start[1], end[0] * end[1])
    return [(card.trace_id, found.outcome, round(found.profit_pct, 4), found.trend)]


def _save(state: State, found: Verdicts) -> int:
    reviewed_at, now = state.clock.now().strftime("%Y-%m-%d %H:%M:%S"), stamp(state.system.local())
    with transaction(state.writer.engine) as connection:
        return queries.save(connection, state.writer.sql, found, reviewed_at, now)
