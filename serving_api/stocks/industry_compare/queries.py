"""SQL of the comparison with peers. Every function takes a Session first."""

from typing import Any

from serving_api.db.sessions import Session

WIDE = "fusion_stock_wide"
_COLUMNS = (
    "code", "name", "industry", "current_price", "change_pct", "pe_ttm", "pb", "total_market_cap", "roe",
    "revenue_yoy", "net_profit_yoy",
)  # fmt: skip


def peers(session: Session, code: str, as_of: str | None) -> list[dict[str, Any]]:
    """Wide rows of the stock's industry on its newest date; [] when the industry is not known."""
    if not session.has(WIDE):
        return []
    columns = session.columns(WIDE, _COLUMNS)
    own = session.rows(
        WIDE,
        columns=("trade_date", "industry"),
        where="code=?",
        values=(code,),
        as_of=as_of,
        order="trade_date DESC",
        limit=1,
    )
    if not own or not own[0][1]:
        return []
    return session.dicts(
        WIDE, columns=columns, where="trade_date=? AND industry=?", values=own[0], as_of=as_of
    )
