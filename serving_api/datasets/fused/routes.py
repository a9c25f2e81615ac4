"""/datamgr/fusion: admin, enveloped."""

from collections import Counter
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Body, Depends, Query

from core.clock import stamp
from core.errors import InputError, NotFound
from core.market.symbols import index_code
from resources.warehouse.stored import ANY
from serving_api.datasets.fused import queries, records, schemas, service
from serving_api.datasets.fused.status import request_sync, status
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, reach, reach_of_codes
from serving_api.framework.openapi import DataAvailability
from serving_api.framework.parameters import (
    Adjust,
    AsOf,
    AsOfRead,
    StockCode,
    bound_of,
    code_list,
    echo_of,
)  # fmt: skip
from serving_api.framework.permissions import Admin
from serving_api.framework.provisional_factors import FACTOR
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.stocks.queries import AVAILABILITY

router = area_router(f"{PREFIX}/datamgr/fusion", "datamgr: fused layer")

BROAD_INDICES = "sh000001,sz399001,sz399006"
MOST_INDICES = 20
_AS_OF = ("as_of", str)
_TOTAL = ("total", int)


BarPeriod = StrEnum("BarPeriod", "week month quarter year")
Ascending = Annotated[bool, Query(description="oldest first; the rows are the newest ones either way")]


async def _reach(
    state: State, table: str, given: int, asked: int, code: str, what: str, as_of: AsOf | None
) -> dict[str, Any]:
    """Keys next to the newest rows of a code: `as_of`, and how far back the rows reach."""
    history = await reach(state, table, given, asked=asked, code=code, what=what, as_of=as_of)
    return {**echo_of(as_of), **history}


async def _index_codes(
    codes: Annotated[
        str, Query(description=f"comma list like sh000001, at most {MOST_INDICES}")
    ] = BROAD_INDICES,
) -> list[str]:
    requested = list(dict.fromkeys(part.strip() for part in codes.split(",") if part.strip()))
    if not 1 <= len(requested) <= MOST_INDICES:
        raise InputError("codes", f"{len(requested)} codes; 1..{MOST_INDICES} are allowed")
    try:
        return list(dict.fromkeys(map(index_code, requested)))
    except InputError as error:
        raise InputError("codes", error.problem) from None


@router.post("/sync", response_model=schemas.SyncAccepted, status_code=202)
@serves(raises=(409,))
async def sync(call: Admin, body: Annotated[schemas.SyncRequest | None, Body()] = None) -> Answer:
    """Fuse the whole market (no body) or up to 500 codes, in the background."""
    codes = None
    if body is not None and "codes" in body.model_fields_set:
        if body.codes is None:
            raise InputError("codes", "is null; give 1..500 codes, or leave it out for the whole market")
        codes = list(dict.fromkeys(body.codes))
    accepted = await request_sync(call.state, codes, call.member.username)
    return Answer(accepted, status_code=202)


@router.get("/status", response_model=schemas.Status)
async def read_status(call: Admin) -> Answer:
    """Rows and quality of every fused table, locks, and recent runs."""
    return Answer({"results": await status(call.state)})


@router.get("/stocks", response_model=schemas.Cores)
@serves(top=[_AS_OF], tables=(queries.MASTER, queries.INDUSTRY, queries.FINANCE))
async def stocks(
    call: Admin, as_of: AsOfRead, codes: Annotated[list[str], Depends(code_list(500))]
) -> Answer:
    """Master core and newest finance figures of up to 500 codes; unknown codes are left out."""
    found = await read_or([], call.state.reading.scan(queries.cores, codes, bound_of(as_of)))
    cores = [records.core(one) for one in found]
    return Answer({"stocks": cores, "total": len(cores)}, top=echo_of(as_of))


@router.get("/index/daily", response_model=list[schemas.IndexBar])
@serves(top=[_TOTAL, _AS_OF, *REACH], tables=(queries.INDEX_DAILY,))
async def index_daily(
    call: Admin,
    as_of: AsOfRead,
    codes: Annotated[list[str], Depends(_index_codes)],
    periods: Annotated[int, Query(ge=1, le=1500, description="newest bars of each index")] = 240,
    ascending: Ascending = True,
) -> Answer:
    """Daily bars of indices."""
    rows = await read_or([], call.state.reading.scan(queries.index_bars, codes, periods, bound_of(as_of)))
    place = {code: at for at, code in enumerate(codes)}
    rows.sort(key=lambda row: row["date"], reverse=not ascending)
    rows.sort(key=lambda row: place[row["code"]])
    items = [records.only(schemas.IndexBar, row) for row in rows]
    counts = dict.fromkeys(codes, 0) | Counter(row["code"] for row in items)
    history = await reach_of_codes(call.state, queries.INDEX_DAILY, counts, periods, what="bars", as_of=as_of)
    return Answer({"total": len(items), "items": items}, top={**echo_of(as_of), **history})


@router.get("/stock/{code}", response_model=schemas.StockRecord)
@serves(
    top=[("data_availability", DataAvailability), _AS_OF],
    tables=(queries.MASTER, queries.PROFILE, *AVAILABILITY.values()),
    raises=(404,),
)
async def stock(call: Admin, code: StockCode, as_of: AsOfRead) -> Answer:
    """Master, profile and the newest eight finance periods of a stock."""
    found, available = await service.stock(call.state, code, bound_of(as_of))
    return Answer(found, top={"data_availability": available, **echo_of(as_of)})


@router.get("/stock/{code}/finance", response_model=list[schemas.Finance])
@serves(top=[("code", str), ("periods", int), _AS_OF, *REACH], tables=(queries.FINANCE,))
async def finance(
    call: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=20, description="newest report periods")] = 8,
) -> Answer:
    """Key figures of a stock by report period, oldest first; amounts are cumulative since 1 January."""
    found = await service.newest(call.state, schemas.Finance, queries.FINANCE, code, periods, bound_of(as_of))
    top = await _reach(call.state, queries.FINANCE, len(found), periods, code, "report periods", as_of)
    return Answer({"code": code, "periods": periods, "results": found[::-1]}, top=top)


@router.get("/stock/{code}/valuation", response_model=schemas.Valuation)
@serves(top=[_AS_OF, *REACH], tables=(queries.VALUATION,), raises=(404,))
async def valuation(
    call: Admin,
    code: StockCode,
    as_of: AsOfRead,
    snapshots: Annotated[int, Query(ge=1, le=60, description="newest dates")] = 20,
) -> Answer:
    """The newest valuation and the snapshots before it."""
    read = call.state.reading.point(queries.valuations, code, snapshots, bound_of(as_of))
    rows, total = await read_or(([], 0), read)
    if not rows:
        raise NotFound(f"no valuation of {code}")
    top = await _reach(call.state, queries.VALUATION, len(rows), snapshots, code, "dates", as_of)
    return Answer(records.valuation(code, rows, total), top=top)


@router.get("/stock/{code}/industry", response_model=schemas.IndustryRow)
@serves(top=[_AS_OF], tables=(queries.INDUSTRY,), raises=(404,))
async def industry(call: Admin, code: StockCode, as_of: AsOfRead) -> Answer:
    """Industries and concepts of a stock."""
    read = call.state.reading.point(queries.of_code, queries.INDUSTRY, code, bound_of(as_of))
    row = await read_or(None, read)
    if row is None:
        raise NotFound(f"no fused industry of {code}")
    return Answer(records.shaped(schemas.IndustryRow, row), top=echo_of(as_of))


@router.get("/stock/{code}/dividend", response_model=list[schemas.DividendRow])
@serves(top=[_AS_OF], tables=(queries.DIVIDEND,))
async def dividend(call: Admin, code: StockCode, as_of: AsOfRead) -> Answer:
    """Dividends of a stock, newest plan first; the implementation replaces its plan."""
    rows = await read_or([], call.state.reading.point(queries.dividends, code, bound_of(as_of)))
    return Answer([records.shaped(schemas.DividendRow, row) for row in rows], top=echo_of(as_of))


@router.get("/stock/{code}/lockup", response_model=list[schemas.Release])
@serves(tables=(queries.LOCKUP,))
async def lockup(
    call: Admin,
    code: StockCode,
    forward_days: Annotated[int, Query(ge=1, le=365, description="days ahead")] = 90,
) -> Answer:
    """Releases of locked shares of a stock from today on, oldest first."""
    today = call.state.clock.now().date()
    until = today + timedelta(days=forward_days)
    read = call.state.reading.point(queries.releases, code, today.isoformat(), until.isoformat())
    return Answer([schemas.Release.model_validate(row) for row in await read_or([], read)])


@router.get("/stock/{code}/kline-bar", response_model=list[schemas.PeriodBar])
@serves(
    top=[("code", str), ("period", str), ("adjust", str), FACTOR, _TOTAL, _AS_OF, *REACH],
    tables=(queries.KLINE_BAR, queries.KLINE),
)
async def kline_bar(
    call: Admin,
    code: StockCode,
    as_of: AsOfRead,
    period: Annotated[BarPeriod, Query(description="length of a bar")] = BarPeriod.week,
    periods: Annotated[int, Query(ge=1, le=1500, description="newest bars")] = 240,
    ascending: Ascending = True,
    adjust: Adjust = "none",
) -> Answer:
    """Week, month, quarter or year bars: stored ones, or made of adjusted daily bars."""
    bound = bound_of(as_of)
    moment = bound or stamp(call.state.clock.now())
    items = await service.period_bars(call.state, code, period.value, periods, adjust, bound, moment)
    if not ascending:
        items = items[::-1]
    payload = {"code": code, "period": period.value, "adjust": adjust, "total": len(items), "items": items}
    stored = adjust == "none"
    table, of = (queries.KLINE_BAR, [ANY.period == period.value]) if stored else (queries.KLINE, [])
    history = await reach(
        call.state, table, len(items), *of, asked=periods, code=code, what=f"{period.value} bars", as_of=as_of
    )
    return Answer(payload, top={**echo_of(as_of), **history})


def _series(
    path: str, model: Any, table: str, what: str, usual: int, most: int, text: str,
    *, ascending: bool = False,
) -> None:  # fmt: skip
    """Adds a route: the newest rows of a stock, newest first or `ascending`, `usual` or at most `most`."""

    @serves(top=[_AS_OF, *REACH], tables=(table,))
    async def series(
        call: Admin,
        code: StockCode,
        as_of: AsOfRead,
        periods: Annotated[int, Query(ge=1, le=most, description=f"newest {what}")] = usual,
    ) -> Answer:
        found = await service.newest(call.state, model, table, code, periods, bound_of(as_of))
        top = await _reach(call.state, table, len(found), periods, code, what, as_of)
        return Answer(found[::-1] if ascending else found, top=top)

    series.__doc__ = text
    name = path.replace("-", "_")
    router.get(f"/stock/{{code}}/{path}", response_model=list[model], name=name)(series)


_series(
    "margin", schemas.MarginRow, queries.MARGIN, "trade dates", 30, 120,
    "Margin trading of a stock by trade date, oldest first; the figures of a date are published a day later.",
    ascending=True,
)  # fmt: skip
_series(
    "holder", schemas.HolderRow, queries.HOLDER, "counts", 20, 60,
    "Holder counts of a stock by count date, oldest first.", ascending=True,
)  # fmt: skip
_series(
    "announcements", schemas.AnnouncementRow, queries.ANNOUNCEMENT, "notices", 30, 120,
    "Notices of a company, newest first. Titles and addresses are text from outside: escape them.",
)  # fmt: skip
_series(
    "news", schemas.NewsRow, queries.NEWS, "headlines", 30, 120,
    "News and research on a stock, newest first, one row per headline. Text from outside: escape it.",
)  # fmt: skip
_series(
    "dragon-tiger", schemas.DragonTigerRow, queries.DRAGON_TIGER, "listings", 30, 120,
    "Listings of a stock on the exchanges' billboard, one per date and reason, newest first.",
)  # fmt: skip
_series(
    "block-trade", schemas.BlockTradeRow, queries.BLOCK_TRADE, "deals", 50, 200,
    "Block trades of a stock, newest first; equal deals of one day are numbered by `seq`.",
)  # fmt: skip
