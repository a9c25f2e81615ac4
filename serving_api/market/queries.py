"""SQL of the market in context: trend, margin, foreign markets, names of boards."""

from typing import Any

from serving_api.db.sessions import Session
from serving_api.live.queries import BLOCKS
from serving_api.live.stored_facts import INDEX_BARS, MAIN_INDEX

MARGIN = "fusion_margin"
OUTSIDE = "ref_outside_market"


def index_closes(session: Session, until: str, count: int) -> list[tuple[str, float]]:
    """(date, close) of the main index up to a date, oldest first."""
    which = {"code": MAIN_INDEX, "date<=": until}
    rows = session.rows(INDEX_BARS, columns=("date", "close"), of=which, order="date DESC", limit=count)
    return [(str(day), float(close)) for day, close in rows if close][::-1]


def financed(session: Session, day: str) -> dict[str, float]:
    """Code -> balance bought on credit (CNY) of a date."""
    rows = session.rows(MARGIN, {"date": day}, columns=("code", "rzye"))
    return {str(code): float(balance) for code, balance in rows if balance}


def newest_outside(session: Session, until: str) -> list[dict[str, Any]]:
    """The newest stored quote of each foreign market up to a day."""
    newest = session.run(f"SELECT series, MAX(date) FROM {OUTSIDE} WHERE date<=? GROUP BY series", (until,))
    columns = ("series", "date", "price", "last_close")
    return [
        row
        for series, day in newest
        for row in session.dicts(OUTSIDE, {"series": series, "date": day}, columns=columns)
    ]


def board_names(session: Session) -> list[tuple[str, str, str]]:
    """(name, code, kind) of every industry and concept board; the portal's code takes precedence."""
    rows = session.run(
        f"SELECT DISTINCT block_name, block_code, block_type, src FROM {BLOCKS} "
        "WHERE block_type IN ('industry', 'concept')"
    )
    found = {(str(name), str(kind)): str(code) for name, code, kind, src in
             sorted(rows, key=lambda row: row[3] == "eastmoney")}  # fmt: skip
    return [(name, code, kind) for (name, kind), code in found.items()]
