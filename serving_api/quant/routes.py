"""/quant/recalc: recalculation of a date; admin."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query
from pydantic import BaseModel, Field

from core.calendar import FIRST_PARTITION
from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE
from platform_assets.compute.parameters.patterns import DIRECTIONS
from platform_assets.compute.signals import BY_KEY
from platform_assets.compute.studies import obv
from platform_assets.datasets.chip_daily import ChipDaily
from platform_assets.datasets.pattern_daily import PatternDaily
from platform_assets.datasets.signal_hit import SignalHit
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.db.rows import Row
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach
from serving_api.framework.openapi import IsoDate, example
from serving_api.framework.parameters import Code, StockCode
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import columns, with_columns
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.quant import queries
from serving_api.table_lists import PastDay, refuse_unfinished, trade_date


class IndicatorSeries(Reach):
    code: str
    price_basis: str = Field(description="adjustment of the prices behind the indicators")
    items: list[dict[str, Any]] = Field(description="rows of calc_indicator_daily, oldest first")


class PatternHit(BaseModel):
    pattern: str
    direction: Literal[100, -100]


@with_columns(*columns(PatternDaily))
class PatternRow(BaseModel):
    hits: list[PatternHit] = Field(description="the directions that fired on the day")


class Patterns(Reach):
    code: str
    items: list[PatternRow] = Field(description="days on which a structure was present, oldest first")


class Bucket(BaseModel):
    price: float = Field(description="CNY, adjusted as of the date")
    ratio: float = Field(description="share of the float, percent")


CHIP_FIGURES = (
    ChipDaily.close.or_missing(), ChipDaily.profit_ratio_pct.or_missing(), ChipDaily.avg_cost.or_missing(),
    ChipDaily.concentration_90_pct.or_missing(), ChipDaily.concentration_70_pct.or_missing(),
)  # fmt: skip


@with_columns(*columns(ChipDaily))
class CalcChipDailyRow(BaseModel):
    pass


@with_columns(*CHIP_FIGURES)
class Chips(Reach):
    code: str
    date: IsoDate | None = Field(description="null where nothing is stored")
    cost_90: list[float | None] = Field(description="[low, high], CNY")
    cost_70: list[float | None] = Field(description="[low, high], CNY")
    distribution: list[Bucket] = Field(description="buckets above 0.01 %; only of the newest 60 trade dates")
    items: list[CalcChipDailyRow] = Field(description="oldest first")


@with_columns(SignalHit.code, SignalHit.signal_key, SignalHit.direction, SignalHit.strength, SignalHit.price)
class SignalItem(BaseModel):
    name: str | None
    label: str | None = Field(description="name of the signal or pattern")
    measure: str | None = Field(description="measure of the strength; null for patterns")
    change_pct: float | None


class SignalPool(Reach):
    date: IsoDate | None
    items: list[SignalItem]
    total: int = Field(description="matching signals, including those beyond the limit")
    by_signal: dict[str, int] = Field(description="signals of the date by kind, before any filter")


class RecalculationRequest(BaseModel):
    model_config = example(date="2026-08-21", parts=["indicators"])
    date: str | None = Field(default=None, description="trade date; default the newest complete one")
    codes: list[Code] = Field(default_factory=list, max_length=500, description="6-digit codes; default all")
    parts: list[Literal["indicators", "patterns", "cyq"]] = Field(
        default_factory=list, description="default: everything, with signals and strategies"
    )


class RecalcAccepted(BaseModel):
    status: Literal["accepted"]
    command_id: int
    message: str


def _indicators(
    session: Session, code: str, days: int, until: str | None, fields: Sequence[str]
) -> list[Row]:
    """Stored indicators of a code. `obv` continues from that of the oldest row, bar by bar: stored values
    each start at a first bar of their own."""
    items = queries.of_code(session, queries.INDICATORS, code, days, until, fields)
    known = [item for item in items if item.get("obv") is not None]
    if len(known) < 2:
        return items
    bars = queries.traded(session, code, str(known[0]["date"]), str(known[-1]["date"]))
    dates = [day for day, _, _ in bars]
    gained = obv(np.array([close for _, close, _ in bars]), np.array([volume for *_, volume in bars]))
    since = {day: known[0]["obv"] + gain for day, gain in zip(dates, gained.tolist(), strict=True)}
    return [
        item if item.get("obv") is None else {**item, "obv": since.get(str(item["date"]))} for item in items
    ]


router = area_router(f"{PREFIX}/quant", "quant: calculations of a day")

PRICE_BASIS = "qfq as of each date"
_NOTHING: list[dict[str, Any]] = []
KINDS: dict[str, dict[str, str | None]] = {
    **{key: {"label": one.label, "measure": one.measure} for key, one in BY_KEY.items()},
    **{one.key: {"label": one.label, "measure": None} for one in DIRECTION_CATALOGUE},
}
"""Key of a signal -> its name, and the measure of its strength."""
_UNKNOWN: dict[str, str | None] = {"label": None, "measure": None}


@router.get("/signal-pool", response_model=SignalPool)
@serves(tables=(queries.SIGNALS,))
async def signal_pool(
    call: Anyone,
    date: PastDay,
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
    found = await read_or(queries.empty_pool(date), read)
    items = [{**item, **KINDS.get(item["signal_key"], _UNKNOWN)} for item in found["items"]]
    history = await reach(call.state, queries.SIGNALS, len(items), day=date)
    return Answer({**found, "items": items, **history})


@router.get("/indicators/{code}", response_model=IndicatorSeries)
@serves(tables=(queries.INDICATORS, queries.BARS))
async def indicators(
    call: Anyone,
    code: StockCode,
    date: PastDay,
    days: Annotated[int, Query(ge=1, le=2000, description="trade dates")] = 120,
    fields: Annotated[
        str | None, Query(max_length=2000, description="only these columns, separated by commas")
    ] = None,
) -> Answer:
    """Stored indicators of a code up to a date, oldest first; none when nothing is calculated. `obv`
    continues from that of the oldest row, bar by bar."""
    names = tuple(part.strip() for part in (fields or "").split(",") if part.strip())
    items = await read_or(_NOTHING, call.state.reading.scan(_indicators, code, days, date, names))
    history = await reach(call.state, queries.INDICATORS, len(items), asked=days, code=code)
    return Answer({"code": code, "price_basis": PRICE_BASIS, "items": items, **history})


@router.get("/patterns/{code}", response_model=Patterns)
@serves(tables=(queries.PATTERNS,))
async def patterns(
    call: Anyone,
    code: StockCode,
    date: PastDay,
    days: Annotated[int, Query(ge=1, le=750, description="days with a pattern, at most")] = 60,
) -> Answer:
    """Days on which a pattern direction fired or a structure was present, oldest first."""
    read = call.state.reading.scan(queries.of_code, queries.PATTERNS, code, days, date)
    items = [{**row, "hits": _hits(row)} for row in await read_or(_NOTHING, read)]
    history = await reach(call.state, queries.PATTERNS, len(items), code=code)
    return Answer({"code": code, "items": items, **history})


def _hits(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"pattern": name, "direction": row[name]} for name in DIRECTIONS if row[name]]


@router.get("/cyq/{code}", response_model=Chips)
@serves(tables=(queries.CHIPS,))
async def chips(
    call: Anyone,
    code: StockCode,
    date: PastDay,
    days: Annotated[int, Query(ge=1, le=60, description="trade dates")] = 1,
) -> Answer:
    """Cost distribution of the float of a code by the turnover model, newest row first."""
    read = call.state.reading.scan(queries.of_code, queries.CHIPS, code, days, date)
    items = await read_or(_NOTHING, read)
    row = items[-1] if items else {}
    return Answer(
        {
            "code": code,
            "date": row.get("date"),
            **{column.key: row.get(column) for column in CHIP_FIGURES},
            **{key: [row.get(f"{key}_low"), row.get(f"{key}_high")] for key in ("cost_90", "cost_70")},
            "distribution": [
                {"price": price, "ratio": share} for price, share in row.get("distribution") or []
            ],
            "items": items,
            **await reach(call.state, queries.CHIPS, len(items), asked=days, code=code),
        }
    )


recalc_router = area_router(f"{PREFIX}/quant", "quant: recalculation")

COMMAND = "quant_recalc"
TASK = "quant_calc"


@recalc_router.post("/recalc", response_model=RecalcAccepted, status_code=202)
@serves(raises=(409,))
async def recalc(call: Admin, body: RecalculationRequest) -> Answer:
    """Recalculate a date in the background: 202, or 409 while a recalculation is running."""
    day = None if body.date is None else trade_date(call.state, "date", body.date)
    if day is not None and day < FIRST_PARTITION:
        raise InputError(
            "date", f"{day} is before {FIRST_PARTITION}, the first trade date that is calculated"
        )
    if day is not None:
        refuse_unfinished(call.state, "date", (day,), builtin_registry().tables_of_task(TASK))
    command = await off_loop(_ask, call.state, body, day, call.member.username)
    message = "重新计算已开始，请用 command_id 查询"
    return Answer({"status": "accepted", "command_id": command.id, "message": message}, status_code=202)


def _ask(state: State, body: RecalculationRequest, day: str | None, by: str) -> Command:
    args = {"date": day, "codes": body.codes, "parts": list(body.parts)}
    queue = CommandQueue(state.writer.engine)
    return queue.enqueue_alone(COMMAND, {k: v for k, v in args.items() if v}, requested_by=by)
