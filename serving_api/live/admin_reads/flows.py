"""Response rows of live money flow. CNY; minute values are cumulative since the open. Pure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serving_api.live.frame_values import Row, number, records

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("super_large_in", "super_large_out", "large_in", "large_out")
SMALLER = ("medium_in", "medium_out", "small_in", "small_out")
NETS = ("main_net", "super_net", "large_net", "medium_net", "small_net")
STORED = ("date", "main_net", "super_large_in", "large_in")
"""Columns of a stored date that its row shows."""
UNDISCLOSED = "交易所自 2024-08-19 起不再盘中披露北向买卖额"


def no_sides() -> dict[str, float | None]:
    return dict.fromkeys((*SIDES, *SMALLER))


def today_sides(rows: Sequence[Row]) -> dict[str, float | None]:
    """Inflows and outflows of the four size classes; null when the source only has net values."""
    row = rows[0] if rows else {}
    return {name: number(row.get(name), 2) for name in no_sides()}


def history(nets: Sequence[Row], stored: Sequence[Mapping[str, Any]], days: int) -> list[dict[str, Any]]:
    """The newest `days` main nets, oldest first. Stored dates only have the inflow; dates that the source
    does not have are taken from the store."""
    main: dict[str, float | None] = {row["date"]: number(row.get("main_net"), 2) for row in stored}
    main |= {row["date"]: number(row["main_net"], 2) for row in nets}
    inflow = {row["date"]: _sum(row.get("super_large_in"), row.get("large_in")) for row in stored}
    return [
        {"date": date, "main_inflow": inflow.get(date), "main_netflow": main[date]}
        for date in sorted(main)[-days:]
    ]


def _sum(*parts: Any) -> float | None:
    known = [number(part) for part in parts]
    return None if None in known else round(sum(part for part in known if part is not None), 2)


def _cents(value: Any) -> float | None:
    return number(value, 2)


def minute_flow(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Minute rows, oldest first; size classes that the source does not split are null."""
    rows = sorted(records(frame), key=lambda row: row["datetime"])
    return [
        {"time": row["datetime"][11:16], **{name: number(row.get(name), 2) for name in NETS}} for row in rows
    ]


def northbound(frame: "pd.DataFrame") -> dict[str, Any]:
    """Minutes of the northbound channels, 10k CNY. `available` False: minutes without values, because
    values are no longer disclosed during the day."""
    rows = [row for row in records(frame) if row["direction"] == "north"]
    items = [
        {
            "time": row["datetime"][11:16], "hgt": _cents(row["sh_net"]), "sgt": _cents(row["sz_net"]),
            "total": _cents(row["total_net"]),
        }
        for row in rows
    ]  # fmt: skip
    available = any(item["total"] is not None for item in items)
    date = rows[0]["datetime"][:10] if rows else None
    note = UNDISCLOSED if items and not available else None
    return {"date": date, "items": items, "available": available, "note": note}
