"""Every industry by its change of the day, the strongest first."""

from collections import defaultdict
from collections.abc import Iterable

from serving_api.db.sessions import Session
from serving_api.live.clients import EASTMONEY, HISTORY
from serving_api.live.data_types import Body, DataType, ReadContext, check_portal, of_scan_sources
from serving_api.live.frame_values import number, records, text
from serving_api.live.queries import map_nodes
from serving_api.live.scan import Traded
from serving_api.live.stored_facts import Board


def weighted_change(rows: Iterable[Traded]) -> float | None:
    """Mean change of some stocks, percent, weighted by their float caps of the session before."""
    sums = [0.0, 0.0]
    for row in rows:
        change, shares = row.change_pct, row.listed.float_shares
        if change is None or not shares or not row.last_close:
            continue
        weight = shares * row.last_close
        sums[0] += weight * change
        sums[1] += weight
    return round(sums[0] / sums[1], 2) if sums[1] > 0 else None


def by_board(rows: Iterable[Traded], context: ReadContext) -> dict[Board, list[Traded]]:
    """Stocks of a scan by their stored industry; one without an industry is left out."""
    found: dict[Board, list[Traded]] = defaultdict(list)
    for row in rows:
        board = context.facts.boards.get(row.listed.code)
        if board is not None:
            found[board].append(row)
    return found


def leader_of(rows: Iterable[Traded]) -> Traded | None:
    """The stock with the largest rise."""
    moving = [row for row in rows if row.change_pct is not None]
    return max(moving, key=lambda row: (row.change_pct or 0.0, row.listed.code), default=None)


def ranked(industries: list[Body]) -> Body:
    """Best change first, rank from 1; an industry without a change is left out."""
    known = [row for row in industries if row["change_percent"] is not None]
    known.sort(key=lambda row: (-row["change_percent"], row["code"]))
    return {"industries": [{**row, "rank": rank} for rank, row in enumerate(known, start=1)]}


def _scanned(upstream: str, context: ReadContext) -> Body:
    rows = []
    for board, members in by_board(context.scan(upstream), context).items():
        leader = leader_of(members)
        rows.append(
            {
                "code": board.code,
                "name": board.name,
                "change_percent": weighted_change(members),
                "leader_name": leader.listed.name if leader else None,
                "leader_change_percent": leader.change_pct if leader else None,
            }
        )
    return ranked(rows)


def _portal(context: ReadContext) -> Body:
    """The portal's own industry boards."""
    check_portal(context)
    boards = records(context.client(EASTMONEY).boards("industry"))
    return ranked(
        [
            {
                "code": row["board_code"], "name": row["board_name"],
                "change_percent": number(row["change_pct"]),
                "leader_change_percent": number(row["leader_pct"]), "leader_name": text(row["leader_name"]),
            }
            for row in boards
        ]
    )  # fmt: skip


def _stored(session: Session, day: str) -> Body:
    return ranked(
        [
            {
                "code": node["node_code"], "name": node["name"], "leader_name": node["leader_name"],
                "leader_change_percent": node["leader_change_pct"],
                "change_percent": number(node["change_pct"], 2),
            }
            for node in map_nodes(session, day, "sector")
        ]
    )  # fmt: skip


DATA_TYPE = DataType(
    name="industry_rank",
    ttl_s=30,
    sources=of_scan_sources(_scanned),
    degrade=_portal,
    is_valid=lambda body: bool(body.get("industries")),
    empty=lambda: {"industries": []},
    stored=((HISTORY, _stored),),
)
