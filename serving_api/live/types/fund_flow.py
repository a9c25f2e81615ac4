"""Turnover and money flow of the whole market, and the share of limit-ups that hold."""

from collections.abc import Sequence
from typing import Any

from core.errors import PayloadError
from serving_api.db.sessions import Session
from serving_api.live.clients import EASTMONEY, SOURCE_ERRORS, TENCENT
from serving_api.live.data_types import MARKETS, Body, DataType, ReadContext
from serving_api.live.frame_values import number, records, total
from serving_api.live.movers import count, of_scan, of_wide
from serving_api.live.queries import WIDE, wide_rows

_NETS = ("super_net", "large_net", "medium_net", "small_net")
_EMPTY = (
    *("total_amount", "prev_total_amount", "main_net_inflow", *_NETS),
    *("seal_success_rate", "limit_up", "broken"),
)


def seal_rate(limit_up: int | None, broken: int | None) -> float | None:
    """Limit-ups that hold, percent of those that were touched."""
    if limit_up is None or broken is None or limit_up + broken == 0:
        return None
    return round(limit_up / (limit_up + broken) * 100, 2)


def _pools(context: ReadContext) -> tuple[int | None, int | None]:
    """(limit-ups that hold, that broke) of the portal's pools; None while it does not answer."""
    client = context.client(EASTMONEY)
    try:
        return len(client.limit_pool("up", context.session)), len(
            client.limit_pool("broken", context.session)
        )
    except SOURCE_ERRORS:
        return None, None


def _body(
    context: ReadContext, amount: float | None, main: float | None, nets: Sequence[Any], limit_up: int | None
) -> Body:
    held, broken = _pools(context)
    held = limit_up if held is None else held
    return {
        "total_amount": amount,
        "prev_total_amount": context.facts.amount_before,
        "main_net_inflow": main,
        **dict(zip(_NETS, nets, strict=True)),
        "seal_success_rate": seal_rate(held, broken),
        "limit_up": held,
        "broken": broken,
    }


def _quote_site(context: ReadContext) -> Body:
    """Sums over the ranking of all A shares, which only has the main net."""
    rows = context.scan(TENCENT)
    counts = count(of_scan(rows, context.session, context.calendar))
    traded = [row for row in rows if not row.suspended]
    return _body(
        context,
        total(row.amount for row in traded),
        total(row.main_net for row in traded),
        (None,) * len(_NETS),
        counts.limit_up,
    )


def _portal(context: ReadContext) -> Body:
    """The flow of the two exchanges by size of order, and the turnover of their indices."""
    client = context.client(EASTMONEY)
    flow = client.fund_flow_minutes(*MARKETS)
    amounts = [number(row["amount"]) for row in records(client.ulist(list(MARKETS)))]
    if not len(flow) or str(flow["datetime"].iloc[-1])[:10] != context.session:
        raise PayloadError(f"no money flow of {context.session}")
    if None in amounts or len(amounts) < len(MARKETS):
        raise PayloadError("the turnover of the exchanges is missing")
    newest = flow.iloc[-1]
    nets = [number(newest[name]) for name in _NETS]
    return _body(context, total(amounts), number(newest["main_net"]), nets, None)


def _stored(session: Session, day: str) -> Body:
    rows = wide_rows(session, day)
    counts = count(of_wide(rows))
    return {
        **dict.fromkeys(_EMPTY), "total_amount": total(row["amount"] for row in rows),
        "main_net_inflow": total(row["main_net"] for row in rows),
        **{name: total(row[name] for row in rows) for name in ("super_net", "large_net")},
        "seal_success_rate": seal_rate(counts.limit_up, counts.broken), "limit_up": counts.limit_up,
        "broken": counts.broken,
    }  # fmt: skip


DATA_TYPE = DataType(
    name="fund_flow",
    ttl_s=15,
    # The terminal has no money flow: the quote site is first in every session, the portal is the fallback.
    sources={TENCENT: _quote_site, EASTMONEY: _portal},
    is_valid=lambda body: body.get("main_net_inflow") is not None and bool(body.get("total_amount")),
    empty=lambda: dict.fromkeys(_EMPTY),
    stored=((WIDE, _stored),),
)
