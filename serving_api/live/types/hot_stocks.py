"""The most traded stocks of the session, with their changes and turnover."""

from collections.abc import Iterable

from serving_api.db.sessions import Session
from serving_api.live.clients import EASTMONEY
from serving_api.live.data_types import Body, DataType, ReadContext, check_dates, of_scan_sources
from serving_api.live.frame_values import number, records, text
from serving_api.live.queries import WIDE, wide_rows
from serving_api.live.scan import Traded

KEPT_PER_MARKET = 100


def hottest(rows: Iterable[Body]) -> Body:
    """The 100 with the largest turnover of each exchange, together in that order. Rows: market, code, name,
    price, change_percent, amount (CNY), turnover (percent), heat (place in the portal's list of popularity),
    reason."""
    ordered = sorted((row for row in rows if row["amount"]), key=lambda row: (-row["amount"], row["code"]))
    room = dict.fromkeys(("SH", "SZ", "BJ"), KEPT_PER_MARKET)
    kept = []
    for row in ordered:
        if room.get(row["market"], 0) > 0:
            room[row["market"]] -= 1
            kept.append(row)
    return {"items": kept}


def _live(row: Traded) -> Body:
    floating = row.listed.float_shares
    return {
        "market": row.listed.symbol[:2].upper(), "code": row.listed.code, "name": row.listed.name,
        "price": row.price, "change_percent": row.change_pct, "amount": round(row.amount, 2),
        "turnover": round(row.volume / floating * 100, 2) if floating else None, "heat": None, "reason": None,
    }  # fmt: skip


def _scanned(upstream: str, context: ReadContext) -> Body:
    return hottest(_live(row) for row in context.scan(upstream) if not row.suspended)


def _portal(context: ReadContext) -> Body:
    """The portal's hundred most viewed stocks, with their quotes: two calls."""
    client = context.client(EASTMONEY)
    popular = {row["symbol"]: row for row in records(client.popularity())}
    quotes = records(client.ulist(list(popular)))
    check_dates(quotes, context.session)
    return hottest(
        {
            "market": row["symbol"][:2].upper(), "code": row["code"], "name": text(row["name"]),
            "price": number(row["price"]), "change_percent": number(row["change_pct"]),
            "amount": number(row["amount"]), "turnover": number(row["turnover_pct"]),
            "heat": number(popular[row["symbol"]]["rank_no"]), "reason": None,
        }
        for row in quotes
        if row["symbol"] in popular
    )  # fmt: skip


def _stored(session: Session, day: str) -> Body:
    return hottest(
        {
            "market": row["market"], "code": row["code"], "name": row["name"], "price": row["current_price"],
            "change_percent": row["change_pct"], "amount": row["amount"], "turnover": row["turnover_pct"],
            "heat": None, "reason": None,
        }
        for row in wide_rows(session, day)
        if not row["is_suspended"]
    )  # fmt: skip


DATA_TYPE = DataType(
    name="hot_stocks",
    ttl_s=10,
    sources=of_scan_sources(_scanned),
    degrade=_portal,
    is_valid=lambda body: bool(body.get("items")),
    empty=lambda: {"items": []},
    stored=((WIDE, _stored),),
    stored_first=True,
)
