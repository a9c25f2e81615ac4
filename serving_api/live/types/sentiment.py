"""The main indices, how many stocks rise and fall, and the score calculated from both."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Unavailable
from platform_assets.compute.breadth import sentiment_label, sentiment_score
from serving_api.db.sessions import Session
from serving_api.live.clients import TENCENT
from serving_api.live.data_types import Body, DataType, ReadContext, of_scan_sources
from serving_api.live.frame_values import Row, change_pct, number, positive, records
from serving_api.live.movers import Mover, count, of_scan, of_wide
from serving_api.live.queries import WIDE, index_rows, wide_rows
from serving_api.live.scan import check_session, from_quote
from serving_api.live.stored_facts import MAIN_INDEX

INDICES = {"sh000001": "上证指数", "sz399001": "深证成指", "sz399006": "创业板指"}
SAMPLE = 50


def sentiment(
    movers: Sequence[Mover], indices: Sequence[Row], month_base: float | None, *, estimate: bool = False
) -> Body:
    """`indices` as `_index` gives them; `month_base`: close of the main index 22 sessions before."""
    counts = count(movers)
    changes = [row["change_percent"] for row in indices if row["change_percent"] is not None]
    score = sentiment_score(counts.up, counts.down, counts.limit_up, counts.limit_down, changes)
    main = next((row["price"] for row in indices if row["code"] == MAIN_INDEX), None)
    return {
        "indices": list(indices),
        "breadth": {
            "up": counts.up, "down": counts.down, "flat": counts.flat,
            "total": counts.up + counts.down + counts.flat,
        },
        "sentiment_score": score,
        "sentiment_label": sentiment_label(score),
        "monthly_change_percent": change_pct(main, month_base),
        "sample_based": estimate,
    }  # fmt: skip


def _index(symbol: str, price: Any, last_close: Any, amount: Any) -> Row:
    """One index: points, percent, CNY."""
    now, before = positive(price), positive(last_close)
    return {
        "code": symbol,
        "name": INDICES[symbol],
        "price": now,
        "change_percent": change_pct(now, before),
        "change": round(now - before, 2) if now and before else None,
        "amount": number(amount, 2),
    }


def _listed(rows: Mapping[str, Row]) -> list[Row]:
    """The main indices that a source has."""
    return [
        _index(symbol, rows[symbol]["price"], rows[symbol]["last_close"], rows[symbol]["amount"])
        for symbol in INDICES
        if symbol in rows
    ]


def _known(frame: Any) -> dict[str, Row]:
    return {row["symbol"]: row for row in records(frame) if not row.get("unknown")}


def _scanned(upstream: str, context: ReadContext) -> Body:
    movers = of_scan(context.scan(upstream), context.session, context.calendar)
    indices = _listed(_known(context.client(upstream).quotes(list(INDICES))))
    return sentiment(movers, indices, context.facts.month_base)


def _sample(context: ReadContext) -> Body:
    """About 50 stocks, evenly spread over the sorted codes: one call of the quote site."""
    stocks = context.facts.stocks
    symbols = sorted(stocks)[:: max(1, len(stocks) // SAMPLE)][:SAMPLE]
    if not symbols:
        raise Unavailable("no list of securities is stored to take a sample of")
    rows = _known(context.client(TENCENT).quotes([*symbols, *INDICES]))
    quotes = [from_quote(rows[symbol], stocks[symbol]) for symbol in symbols if symbol in rows]
    check_session(quotes, context.facts)
    movers = of_scan(quotes, context.session, context.calendar)
    return sentiment(movers, _listed(rows), context.facts.month_base, estimate=True)


def _stored(session: Session, day: str) -> Body:
    indices = [
        _index(row["code"], row["close"], row["last_close"], row["amount"])
        for row in index_rows(session, day, tuple(INDICES))
    ]
    return sentiment(of_wide(wide_rows(session, day)), indices, None)


DATA_TYPE = DataType(
    name="sentiment",
    ttl_s=10,
    sources=of_scan_sources(_scanned),
    estimate=_sample,
    is_valid=lambda body: bool(body["breadth"]["total"]),
    empty=lambda: {
        "indices": [],
        "breadth": dict.fromkeys(("up", "down", "flat", "total")),
        **dict.fromkeys(("sentiment_score", "sentiment_label", "monthly_change_percent")),
        "sample_based": False,
    },
    stored=((WIDE, _stored),),
)
