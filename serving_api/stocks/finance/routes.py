"""/stocks/{code}/finance*: open to anyone, enveloped."""

from typing import Annotated, Any

from fastapi import Query

from core.errors import InputError
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import AsOf, AsOfRead, StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.stocks.finance import queries, schemas, shapes
from serving_api.stocks.finance.service import PERIODS, Finance, finance_of

router = area_router(f"{PREFIX}/stocks", "stocks")

_AS_OF = ("as_of", str)


def _finance(state: State) -> Finance:
    return finance_of(state, state.part(live_of))


def _bound(as_of: AsOf | None) -> str | None:
    return None if as_of is None else as_of.bound


def _echo(as_of: AsOf | None) -> dict[str, Any]:
    return {} if as_of is None else {"as_of": as_of.echo}


@router.get("/{code}/finance", list[schemas.FinanceRow], top=[("source", schemas.Origin), _AS_OF])
async def finance(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """Key figures by report period, newest first, at most 20: fused ones when there are at least two, else
    those of the indicator table, else the portal's (never with `as_of`)."""
    answer = await _finance(call.state).rows(code, _bound(as_of))
    items = [shapes.finance_row(row) for row in answer.rows]
    return Answer({"items": items, "source": answer.source}, top=_echo(as_of), headers=answer.headers)


@router.get("/{code}/finance-indicators", schemas.Indicators, top=[_AS_OF])
async def finance_indicators(
    call: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    refresh: Annotated[bool, Query(description="ask the portal again instead of the store")] = False,
) -> Answer:
    """Every indicator of the newest twelve report periods, by group."""
    if refresh and as_of is not None:
        raise InputError("refresh", "the portal knows the present alone; leave out as_of, or refresh")
    answer = await _finance(call.state).indicators(code, _bound(as_of), refresh=refresh)
    rows = answer.rows[:PERIODS]
    payload = {
        "code": code,
        "periods": [row["report_period"] for row in rows],
        "groups": shapes.groups(rows),
        "updatedAt": answer.updated_at,
    }
    return Answer(payload, top=_echo(as_of), headers=answer.headers)


@router.get(
    "/{code}/finance-detail",
    schemas.Detail,
    top=[_AS_OF],
    tables=(queries.FINANCE, queries.CHANGES, queries.INDICATORS),
)
async def finance_detail(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """Core series with their changes, items with large changes, and the indicators of the newest report."""
    return Answer(await _finance(call.state).detail(code, _bound(as_of)), top=_echo(as_of))
