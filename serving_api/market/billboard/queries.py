"""SQL of the branches on the billboard."""

from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.events import deals_of_branches, totals_of_branches

SEATS = "raw_lhb_branch"
LISTINGS = "fusion_dragon_tiger"


def branches(session: Session, since: str, name: str | None, limit: int) -> tuple[list[dict[str, Any]], int]:
    """(branches since a date, largest sums first, each with the outcome of its purchases; their number
    without the limit)."""
    if not session.has(SEATS):
        return [], 0
    table = session.table(SEATS)
    rows = totals_of_branches(session, table, since, name, limit)
    after = _after_purchases(session, since, name)
    for row in rows:
        row["win_rate_5d"], row["avg_d5_change_pct"] = after.get(row["branch_name"], (None, None))
    if len(rows) < limit:
        return rows, len(rows)
    deal, values = deals_of_branches(table, since, name)
    total = session.run(f"SELECT COUNT(DISTINCT branch_name) FROM ({deal}) AS deal", tuple(values))
    return rows, int(total[0][0])


def _after_purchases(session: Session, since: str, name: str | None) -> dict[str, tuple[float, float]]:
    """Branch -> (share of its net purchases with a higher price five trade dates later, mean change),
    percent; only of purchases whose five dates have passed."""
    if not session.has(LISTINGS):
        return {}
    deal, values = deals_of_branches(session.table(SEATS), since, name)
    moves = (
        f"SELECT code, date, MAX(d5_change_pct) AS d5 FROM {LISTINGS} "
        "WHERE date>=? AND d5_change_pct IS NOT NULL GROUP BY code, date"
    )
    rows = session.run(
        "SELECT branch_name, AVG(CASE WHEN d5 > 0 THEN 100.0 ELSE 0.0 END), AVG(d5) "
        f"FROM ({deal}) AS deal JOIN ({moves}) AS moves ON moves.code=deal.code AND "
        "moves.date=deal.trade_date WHERE bought > sold GROUP BY branch_name",
        (*values, since),
    )
    return {str(branch): (round(float(won), 2), round(float(mean), 4)) for branch, won, mean in rows}
