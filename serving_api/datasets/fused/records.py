"""Models of fused records: the specification's names first, then the other columns of the row. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from serving_api.datasets.fused import schemas

Row = dict[str, Any]

_FINANCE_KEYS = ("report_period", "revenue", "net_profit", "eps", "bvps", "roe")


def shaped(model: type[BaseModel], row: Row) -> Row:
    """`row` with the names of its model first; names that the row lacks are null."""
    return only(model, row) | row


def only(model: type[BaseModel], row: Row) -> Row:
    """Only the names of a model."""
    return {name: row.get(name) for name in model.model_fields}


def stock(code: str, found: Mapping[str, Any]) -> Row:
    """master, profile, finance (newest first), latest_finance and the quality of each existing row."""
    master, profile = found["master"], found["profile"]
    finance = [shaped(schemas.Finance, row) for row in found["finance"]]
    parts = {"master": master, "profile": profile, "finance": finance[0] if finance else None}
    return {
        "code": code,
        "master": shaped(schemas.Master, master) if master else None,
        "profile": shaped(schemas.Profile, profile) if profile else None,
        "finance": finance,
        "latest_finance": finance[0] if finance else None,
        "quality": {name: part.get("quality") for name, part in parts.items() if part},
    }


def valuation(code: str, rows: Sequence[Row], total: int) -> Row:
    """The newest row, and the newest snapshots oldest first."""
    newest = shaped(schemas.ValuationRow, {**rows[0], "as_of_date": rows[0]["date"]})
    snapshots = [only(schemas.Snapshot, row) for row in reversed(rows)]
    return {"code": code, "valuation": newest, "snapshots": snapshots, "total_snapshots": total}


def core(found: Mapping[str, Row | None]) -> Row:
    """One stock of `/fusion/stocks`."""
    master, industry, finance = found["master"] or {}, found["industry"] or {}, found["finance"] or {}
    return {
        **{name: master.get(name) for name in ("code", "name", "market", "total_shares", "float_shares")},
        "industry": industry.get("industry"),
        **{name: finance.get(name) for name in _FINANCE_KEYS},
        "quality": master.get("quality"),
    }
