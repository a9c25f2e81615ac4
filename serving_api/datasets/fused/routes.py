"""/datamgr/fusion: admin, enveloped."""

from collections import Counter
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Body, Depends, Query
from starlette.requests import Request

from core.clock import stamp
from core.errors import InputError
from serving_api.datasets.fused import queries, schemas
from serving_api.datasets.fused.service import Fused, fused_of
from serving_api.datasets.fused.status import status
from serving_api.datasets.fused.sync import request_sync
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, reach, reach_of_codes
from serving_api.framework.openapi import DataAvailability
from serving_api.framework.parameters import Adjust, AsOf, AsOfRead, StockCode, code_list
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.stocks.queries import AVAILABILITY

router = area_router(f"{PREFIX}/datamgr/fusion", "datamgr: fused layer")

BROAD_INDICES = "sh000001,sz399001,sz399006"
MOST_INDICES = 20
_AS_OF = ("as_of", str)
_TOTAL = ("total", int)


class BarPeriod(StrEnum):
    week = "week"
    month = "month"
    quarter = "quarter"
    year = "year"


Ascending = Annotated[bool, Query(description="oldest first; the rows are the newest ones either way")]


def _fused(request: Request) -> Fused:
    return state_of(request).part(fused_of)


def _bound(as_of: AsOf | None) -> str | None:
    return None if as_of is None else as_of.bound


def _echo(as_of: AsOf | None) -> dict[str, Any]:
    return {} if as_of is None else {"as_of": as_of.echo}


async def _reported(
    request: Request, table: str, given: int, asked: int, code: str, what: str, as_of: AsOf | None
) -> dict[str, Any]:
    """Keys next to the newest rows of a code: `as_of`, and how far back the rows reach."""
    history = await reach(state_of(request), table, given, asked=asked, code=code, what=what, as_of=as_of)
    return {**_echo(as_of), **history}


async def _index_codes(
    codes: Annotated[
        str, Query(description=f"comma list like sh000001, at most {MOST_INDICES}")
    ] = BROAD_INDICES,
) -> list[str]:
    requested = list(dict.fromkeys(part.strip() for part in codes.split(",") if part.strip()))
    if not 1 <= len(requested) <= MOST_INDICES:
        raise InputError("codes", f"{len(requested)} codes; 1..{MOST_INDICES} are allowed")
    for code in requested:
        if (
            len(code) != 8
            or code[:2] not in ("sh", "sz", "bj")
            or not code[2:].isdecimal()
            or not code.isascii()
        ):
            raise InputError("codes", f"{code[:20]!r} is no index code; the form sh000001 is allowed")
    return requested


@router.post("/sync", status_code=202)
@serving(schemas.SyncAccepted, cache=NO_STORE, raises=(409,))
async def sync(
    request: Request,
    subject: Admin,
    body: Annotated[schemas.SyncRequest | None, Body()] = None,
) -> Answer:
    """Fuse the whole market (no body) or up to 500 codes, in the background."""
    codes = None
    if body is not None and "codes" in body.model_fields_set:
        if body.codes is None:
            raise InputError("codes", "is null; give 1..500 codes, or leave it out for the whole market")
        codes = list(dict.fromkeys(body.codes))
    accepted = await request_sync(state_of(request), codes, subject.member.username)
    return Answer(accepted, status_code=202)


@router.get("/status")
@serving(schemas.Status)
async def read_status(request: Request, subject: Admin) -> Answer:
    """Rows and quality of every fused table, locks, and recent runs."""
    return Answer({"results": await status(state_of(request))})


@router.get("/stocks")
@serving(schemas.Cores, top=[_AS_OF], tables=(queries.MASTER, queries.INDUSTRY, queries.FINANCE))
async def stocks(
    request: Request, subject: Admin, codes: Annotated[list[str], Depends(code_list(500))], as_of: AsOfRead
) -> Answer:
    """Master core and newest finance figures of up to 500 codes; unknown codes are left out."""
    found = await _fused(request).stocks(codes, _bound(as_of))
    return Answer({"stocks": found, "total": len(found)}, top=_echo(as_of))


@router.get("/index/daily")
@serving(list[schemas.IndexBar], top=[_TOTAL, _AS_OF, *REACH], tables=(queries.INDEX_DAILY,))
async def index_daily(
    request: Request,
    subject: Admin,
    codes: Annotated[list[str], Depends(_index_codes)],
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=1500, description="newest bars of each index")] = 240,
    ascending: Ascending = True,
) -> Answer:
    """Daily bars of indices."""
    items = await _fused(request).index_daily(codes, periods, ascending, _bound(as_of))
    counts = dict.fromkeys(codes, 0) | Counter(row["code"] for row in items)
    history = await reach_of_codes(
        state_of(request), queries.INDEX_DAILY, counts, periods, what="bars", as_of=as_of
    )
    return Answer({"total": len(items), "items": items}, top={**_echo(as_of), **history})


@router.get("/stock/{code}")
@serving(
    schemas.StockRecord,
    top=[("data_availability", DataAvailability), _AS_OF],
    tables=(queries.MASTER, queries.PROFILE, *AVAILABILITY.values()),
    raises=(404,),
)
async def stock(request: Request, subject: Admin, code: StockCode, as_of: AsOfRead) -> Answer:
    """Master, profile and the newest eight finance periods of a stock."""
    found, available = await _fused(request).stock(code, _bound(as_of))
    return Answer(found, top={"data_availability": available, **_echo(as_of)})


@router.get("/stock/{code}/finance")
@serving(
    list[schemas.Finance], top=[("code", str), ("periods", int), _AS_OF, *REACH], tables=(queries.FINANCE,)
)
async def finance(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=20, description="newest report periods")] = 8,
) -> Answer:
    """Key figures of a stock by report period, oldest first; amounts are cumulative since 1 January."""
    found = await _fused(request).finance(code, periods, _bound(as_of))
    reported = await _reported(request, queries.FINANCE, len(found), periods, code, "report periods", as_of)
    return Answer({"code": code, "periods": periods, "results": found}, top=reported)


@router.get("/stock/{code}/valuation")
@serving(schemas.Valuation, top=[_AS_OF, *REACH], tables=(queries.VALUATION,), raises=(404,))
async def valuation(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    snapshots: Annotated[int, Query(ge=1, le=60, description="newest dates")] = 20,
) -> Answer:
    """The newest valuation and the snapshots before it."""
    found = await _fused(request).valuation(code, snapshots, _bound(as_of))
    given = len(found["snapshots"])
    reported = await _reported(request, queries.VALUATION, given, snapshots, code, "dates", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/industry")
@serving(schemas.IndustryRow, top=[_AS_OF], tables=(queries.INDUSTRY,), raises=(404,))
async def industry(request: Request, subject: Admin, code: StockCode, as_of: AsOfRead) -> Answer:
    """Industries and concepts of a stock."""
    return Answer(await _fused(request).industry(code, _bound(as_of)), top=_echo(as_of))


@router.get("/stock/{code}/margin")
@serving(list[schemas.MarginRow], top=[_AS_OF, *REACH], tables=(queries.MARGIN,))
async def margin(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=120, description="newest trade dates")] = 30,
) -> Answer:
    """Margin trading of a stock by trade date, oldest first; the figures of a date are published a day
    later."""
    found = await _fused(request).margin(code, periods, _bound(as_of))
    reported = await _reported(request, queries.MARGIN, len(found), periods, code, "trade dates", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/holder")
@serving(list[schemas.HolderRow], top=[_AS_OF, *REACH], tables=(queries.HOLDER,))
async def holder(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=60, description="newest counts")] = 20,
) -> Answer:
    """Holder counts of a stock by count date, oldest first."""
    found = await _fused(request).holder(code, periods, _bound(as_of))
    reported = await _reported(request, queries.HOLDER, len(found), periods, code, "counts", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/dividend")
@serving(list[schemas.DividendRow], top=[_AS_OF], tables=(queries.DIVIDEND,))
async def dividend(request: Request, subject: Admin, code: StockCode, as_of: AsOfRead) -> Answer:
    """Dividends of a stock, newest plan first; the implementation replaces its plan."""
    return Answer(await _fused(request).dividend(code, _bound(as_of)), top=_echo(as_of))


@router.get("/stock/{code}/announcements")
@serving(list[schemas.AnnouncementRow], top=[_AS_OF, *REACH], tables=(queries.ANNOUNCEMENT,))
async def announcements(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=120, description="newest notices")] = 30,
) -> Answer:
    """Notices of a company, newest first. Titles and addresses are text from outside: escape them."""
    found = await _fused(request).announcements(code, periods, _bound(as_of))
    reported = await _reported(request, queries.ANNOUNCEMENT, len(found), periods, code, "notices", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/news")
@serving(list[schemas.NewsRow], top=[_AS_OF, *REACH], tables=(queries.NEWS,))
async def news(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=120, description="newest headlines")] = 30,
) -> Answer:
    """News and research on a stock, newest first, one row per headline. Text from outside: escape it."""
    found = await _fused(request).news(code, periods, _bound(as_of))
    reported = await _reported(request, queries.NEWS, len(found), periods, code, "headlines", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/dragon-tiger")
@serving(list[schemas.DragonTigerRow], top=[_AS_OF, *REACH], tables=(queries.DRAGON_TIGER,))
async def dragon_tiger(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=120, description="newest listings")] = 30,
) -> Answer:
    """Listings of a stock on the exchanges' billboard, one per date and reason, newest first."""
    found = await _fused(request).events("dragon_tiger", queries.DRAGON_TIGER, code, periods, _bound(as_of))
    reported = await _reported(request, queries.DRAGON_TIGER, len(found), periods, code, "listings", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/block-trade")
@serving(list[schemas.BlockTradeRow], top=[_AS_OF, *REACH], tables=(queries.BLOCK_TRADE,))
async def block_trade(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    periods: Annotated[int, Query(ge=1, le=200, description="newest deals")] = 50,
) -> Answer:
    """Block trades of a stock, newest first; equal deals of one day are numbered by `seq`."""
    found = await _fused(request).events("block_trade", queries.BLOCK_TRADE, code, periods, _bound(as_of))
    reported = await _reported(request, queries.BLOCK_TRADE, len(found), periods, code, "deals", as_of)
    return Answer(found, top=reported)


@router.get("/stock/{code}/lockup")
@serving(list[schemas.Release], tables=(queries.LOCKUP,))
async def lockup(
    request: Request,
    subject: Admin,
    code: StockCode,
    forward_days: Annotated[int, Query(ge=1, le=365, description="days ahead")] = 90,
) -> Answer:
    """Releases of locked shares of a stock from today on, oldest first."""
    today = state_of(request).clock.now().date()
    return Answer(await _fused(request).lockup(code, today, forward_days))


@router.get("/stock/{code}/kline-bar")
@serving(
    list[schemas.PeriodBar],
    top=[("code", str), ("period", str), ("adjust", str), _TOTAL, _AS_OF, *REACH],
    tables=(queries.KLINE_BAR, queries.KLINE),
)
async def kline_bar(
    request: Request,
    subject: Admin,
    code: StockCode,
    as_of: AsOfRead,
    period: Annotated[BarPeriod, Query(description="length of a bar")] = BarPeriod.week,
    periods: Annotated[int, Query(ge=1, le=1500, description="newest bars")] = 240,
    ascending: Ascending = True,
    adjust: Adjust = "none",
) -> Answer:
    """Week, month, quarter or year bars: stored ones, or made of adjusted daily bars."""
    bound = _bound(as_of)
    moment = bound or stamp(state_of(request).clock.now())
    items = await _fused(request).period_bars(code, period.value, periods, adjust, bound, moment)
    if not ascending:
        items = items[::-1]
    payload = {"code": code, "period": period.value, "adjust": adjust, "total": len(items), "items": items}
    of = {"code": code, "period": period.value} if adjust == "none" else {"code": code}
    history = await reach(
        state_of(request), queries.KLINE_BAR if adjust == "none" else queries.KLINE, len(items),
        asked=periods, of=of, what=f"{period.value} bars", as_of=as_of,
    )  # fmt: skip
    return Answer(payload, top={**_echo(as_of), **history})
