"""SQL of the market in context: trend, margin, foreign markets, names of boards."""

from typing import Any

import sqlalchemy as sa

from platform_assets.datasets.margin import Margin
from platform_assets.datasets.outside_market import OutsideMarket
from resources.warehouse.stored import select, stored
from serving_api.db.sessions import Session
from serving_api.live.queries import BLOCKS
from serving_api.live.stored_facts import INDEX_BARS, MAIN_INDEX

MARGIN = stored("fusion_margin", Margin)
OUTSIDE = stored("ref_outside_market", OutsideMarket)


def index_closes(session: Session, until: str, count: int) -> list[tuple[str, float]]:
    """(date, close) of the main index up to a date, oldest first."""
    which = [INDEX_BARS.c.code == MAIN_INDEX, INDEX_BARS.c.date <= until]
    rows = session.rows(
        INDEX_BARS, *which, columns=("date", "close"), order=[INDEX_BARS.c.date.desc()], limit=count
    )
    return [(str(day), float(close)) for day, close in rows if close][::-1]


def financed(session: Session, day: str) -> dict[str, float]:
    """Code -> balance bought on credit (CNY) of a date."""
    rows = session.rows(MARGIN, MARGIN.c.date == day, columns=("code", "rzye"))
    return {str(code): float(balance) for code, balance in rows if balance}


def newest_outside(session: Session, until: str) -> list[dict[str, Any]]:
    """The newest stored quote of each foreign market up to a day."""
    c = OUTSIDE.c
    newest = session.run(
        select(OUTSIDE, c.series, sa.func.max(c.date)).where(c.date <= until).group_by(c.series)
    )
    columns = ("series", "date", "price", "last_close")
    return [
        row
        for series, day in newest
        for row in session.dicts(OUTSIDE, c.series == series, c.date == day, columns=columns)
    ]


def board_names(session: Session) -> list[tuple[str, str, str]]:
    """(name, code, kind) of every industry and concept board; the portal's code takes precedence."""
    c = BLOCKS.c
    boards = select(BLOCKS, c.block_name, c.block_code, c.block_type, c.src).distinct()
    rows = session.run(boards.where(c.block_type.in_(("industry", "concept"))))
    found = {(str(name), str(kind)): str(code) for name, code, kind, src in
             sorted(rows, key=lambda row: row[3] == "eastmoney")}  # fmt: skip
    return [(name, code, kind) for (name, kind), code in found.items()]
