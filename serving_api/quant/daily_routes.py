"""/quant/indicators, /patterns, /cyq, /signal-pool: stored calculations of a day; open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Depends, Query

from core.errors import InputError
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE
from platform_assets.compute.parameters.patterns import DIRECTIONS
from platform_assets.compute.signals import BY_KEY
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.quant import queries, schemas, service
from serving_api.table_lists import past_day

router = area_router(f"{PREFIX}/quant", "quant: calculations of a day")

Until = Annotated[str | None, Depends(past_day)]
PRICE_BASIS = "qfq as of each date"
_NOTHING: list[dict[str, Any]] = []
KINDS: dict[str, dict[str, str | None]] = {
    **{key: {"label": one.label, "measure": one.measure} for key, one in BY_KEY.items()},
    **{one.key: {"label": one.label, "measure": None} for one in DIRECTION_CATALOGUE},
}
"""Key of a signal -> its name, and the measure of its strength."""
_UNKNOWN: dict[str, str | None] = {"label": None, "measure": None}


@router.get("/signal-pool", schemas.SignalPool, tables=(queries.SIGNALS,))
async def signal_pool(
    call: Anyone,
    date: Until,
    signal: Annotated[
        str | None,
        Query(max_length=32, description="only signals of this kind", examples=["macd_golden_cross"]),
    ] = None,
    direction: Annotated[
        int | None, Query(ge=-1, le=1, description="only signals of this direction: 1 up, -1 down, 0 neither")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="signals at most")] = 100,
) -> Answer:
    """The signals of a date; none for a date that was not calculated. A pattern that fired is a signal
    under its direction column."""
    if signal is not None and signal not in KINDS:
        raise InputError("signal", f"{signal!r} is no kind of signal; one of {', '.join(KINDS)}")
    read = call.state.reading.scan(queries.pool, date, signal, direction, limit)
    found = await read_or({"date": date, "items": [], "total": 0, "by_signal": {}}, read)
    items = [{**item, **KINDS.get(item["signal_key"], _UNKNOWN)} for item in found["items"]]
    history = await reach(call.state, queries.SIGNALS, len(items), day=date)
    return Answer({**found, "items": items, **history})


@router.get("/indicators/{code}", schemas.IndicatorSeries, tables=(queries.INDICATORS, queries.BARS))
async def indicators(
    call: Anyone,
    code: StockCode,
    date: Until,
    days: Annotated[int, Query(ge=1, le=2000, description="trade dates")] = 120,
    fields: Annotated[
        str | None, Query(max_length=2000, description="only these columns, separated by commas")
    ] = None,
) -> Answer:
    """Stored indicators of a code up to a date, oldest first; none when nothing is calculated. `obv`
    continues from that of the oldest row, bar by bar."""
    names = tuple(part.strip() for part in (fields or "").split(",") if part.strip())
    read = call.state.reading.scan(service.indicators, code, days, date, names)
    items = await read_or(_NOTHING, read)
    history = await reach(call.state, queries.INDICATORS, len(items), asked=days, code=code)
    return Answer({"code": code, "price_basis": PRICE_BASIS, "items": items, **history})


@router.get("/patterns/{code}", schemas.Patterns, tables=(queries.PATTERNS,))
async def patterns(
    call: Anyone,
    code: StockCode,
    date: Until,
    days: Annotated[int, Query(ge=1, le=750, description="days with a pattern, at most")] = 60,
) -> Answer:
    """Days on which a pattern direction fired or a structure was present, oldest first."""
    read = call.state.reading.scan(queries.of_code, queries.PATTERNS, code, days, date)
    items = [{**row, "hits": _hits(row)} for row in await read_or(_NOTHING, read)]
    history = await reach(call.state, queries.PATTERNS, len(items), code=code)
    return Answer({"code": code, "items": items, **history})


def _hits(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"pattern": name, "direction": row[name]} for name in DIRECTIONS if row[name]]


@router.get("/cyq/{code}", schemas.Chips, tables=(queries.CHIPS,))
async def chips(
    call: Anyone,
    code: StockCode,
    date: Until,
    days: Annotated[int, Query(ge=1, le=60, description="trade dates")] = 1,
) -> Answer:
    """Cost distribution of the float of a code by the turnover model, newest row first."""
    read = call.state.reading.scan(queries.of_code, queries.CHIPS, code, days, date)
    items = await read_or(_NOTHING, read)
    row = items[-1] if items else {}
    shown = ("close", "profit_ratio_pct", "avg_cost", "concentration_90_pct", "concentration_70_pct")
    return Answer(
        {
            "code": code,
            "date": row.get("date"),
            **{name: row.get(name) for name in shown},
            "cost_90": [row.get("cost_90_low"), row.get("cost_90_high")],
            "cost_70": [row.get("cost_70_low"), row.get("cost_70_high")],
            "distribution": [
                {"price": price, "ratio": share} for price, share in row.get("distribution") or []
            ],
            "items": items,
            **await reach(call.state, queries.CHIPS, len(items), asked=days, code=code),
        }
    )
