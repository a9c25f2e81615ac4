"""The market as a tree map: industries by cap, each with its stocks, the largest first."""

from collections import defaultdict
from typing import Any

from serving_api.db.sessions import Session
from serving_api.live.clients import EASTMONEY, HISTORY
from serving_api.live.data_types import Body, DataType, ReadContext, check_portal, of_scan_sources
from serving_api.live.frame_values import number, records, total
from serving_api.live.queries import map_nodes
from serving_api.live.scan import Traded
from serving_api.live.types.industry_rank import by_board, weighted_change

WAN_PER_YI, CNY_PER_YI = 1e4, 1e8


def _yi(cap_wan: float | None) -> float | None:
    return None if cap_wan is None else round(cap_wan / WAN_PER_YI, 2)


def _largest(rows: list[Body]) -> list[Body]:
    return sorted(rows, key=lambda row: (-(row["value"] or 0.0), row["code"]))


def _tree(sectors: list[Body]) -> Body:
    return {"items": _largest(sectors)}


def _child(row: Traded) -> Body:
    return {
        "code": row.listed.code,
        "name": row.listed.name,
        "value": _yi(row.market_cap),
        "change_percent": row.change_pct,
    }


def _scanned(upstream: str, context: ReadContext) -> Body:
    return _tree(
        [
            {
                "code": board.code,
                "name": board.name,
                "value": _yi(total(row.market_cap for row in members)),
                "change_percent": weighted_change(members),
                "amount": total(row.amount for row in members),
                "main_net": total(row.main_net for row in members),
                "children": _largest([_child(row) for row in members]),
            }
            for board, members in by_board(context.scan(upstream), context).items()
        ]
    )


def _portal(context: ReadContext) -> Body:
    """The portal's boards without stocks, which it does not serve in one call."""
    check_portal(context)
    return _tree(
        [
            {
                "code": row["board_code"], "name": row["board_name"],
                "change_percent": number(row["change_pct"]), "amount": number(row["amount"]),
                "main_net": number(row["main_net"]), "value": _yi(number(row["total_market_cap"])),
                "children": [],
            }
            for row in records(context.client(EASTMONEY).boards("industry"))
        ]
    )  # fmt: skip


def _stored(session: Session, day: str) -> Body:
    children: dict[str, list[Body]] = defaultdict(list)
    for node in map_nodes(session, day, "stock"):
        children[str(node["parent_code"])].append(_node(node))
    return _tree(
        [
            {
                **_node(node),
                "amount": None if node["amount_yi"] is None else round(node["amount_yi"] * CNY_PER_YI, 2),
                "main_net": node["main_net"],
                "children": _largest(children[str(node["node_code"])]),
            }
            for node in map_nodes(session, day, "sector")
        ]
    )


def _node(node: dict[str, Any]) -> Body:
    return {
        "code": node["node_code"], "name": node["name"], "value": number(node["market_cap_yi"], 2),
        "change_percent": number(node["change_pct"], 2),
    }  # fmt: skip


DATA_TYPE = DataType(
    name="sector_treemap",
    ttl_s=15,
    sources=of_scan_sources(_scanned),
    degrade=_portal,
    is_valid=lambda body: bool(body.get("items")),
    empty=lambda: {"items": []},
    stored=((HISTORY, _stored),),
)
