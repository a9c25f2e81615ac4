"""/industry/*: open to anyone, plain."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel

from platform_assets.datasets.industry_valuation import IndustryValuation
from platform_assets.datasets.stock_industry import StockIndustry
from platform_assets.datasets.valuation import Valuation
from resources.warehouse.stored import matching, stored
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach, reach_of_day
from serving_api.framework.openapi import IsoDate
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, columns, with_columns
from serving_api.table_lists import PastDay

router = area_router(f"{PREFIX}/industry", "industry")

RATIOS = stored("raw_industry_valuation", IndustryValuation)
CLASSES = stored("fusion_stock_industry", StockIndustry)
VALUATION = stored("fusion_valuation", Valuation)
_ALL = 20_000

Standard = Annotated[
    Literal["csrc", "cni", "sw"], Query(description="classification: of the regulator, of CNI, of SW")
]


@with_columns(*columns(IndustryValuation))
class RatedIndustry(BaseModel):
    """Ratios of an industry on one date."""


class IndustryRatios(Reach, Rows[RatedIndustry]):
    """`date` of the rows is null where nothing is stored."""

    standard: str
    date: IsoDate | None


@with_columns(
    IndustryValuation.date, IndustryValuation.pe_weighted, IndustryValuation.pe_median, IndustryValuation.pb,
    IndustryValuation.dividend_yield,
)  # fmt: skip
class IndustryRatio(BaseModel):
    """Ratios of the industry on one date."""


@with_columns(Valuation.code, Valuation.name, Valuation.pe_ttm, Valuation.pb)
class IndustryMember(BaseModel):
    """A stock with its newest ratios."""


class IndustryDetail(Reach):
    """`items` oldest first; `members` by our own classification, [] for cni."""

    industry_code: str
    industry_name: str | None
    items: list[IndustryRatio]
    members: list[IndustryMember]


@router.get("/valuation", response_model=IndustryRatios)
@serves(tables=(RATIOS,))
async def valuation(
    call: Anyone,
    date: PastDay,
    standard: Standard = "csrc",
    level: Annotated[
        Literal["1", "2", "3", "l1", "l2", "l3"] | None,
        Query(description="1, 2 of csrc and cni; l1..l3 of sw"),
    ] = None,
) -> Answer:
    """PE and PB of the industries of one classification on a date, or on its newest."""
    items, day = await read_or(([], date), call.state.reading.scan(ratios, standard, level, date))
    history = await reach_of_day(call.state, RATIOS, date, RATIOS.c.standard == standard)
    return Answer({"standard": standard, "date": day, "items": items, "total": len(items), **history})


@router.get("/valuation/detail", response_model=IndustryDetail)
@serves(tables=(RATIOS, CLASSES, VALUATION))
async def detail(
    call: Anyone,
    industry_code: Annotated[
        str, Query(min_length=1, max_length=16, description="code in its classification")
    ],
    standard: Standard = "csrc",
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates")] = 250,
) -> Answer:
    """One industry by date, and its stocks with their newest ratios."""
    rows, stocks = await read_or(([], []), call.state.reading.scan(by_date, standard, industry_code, days))
    own = (RATIOS.c.standard == standard, RATIOS.c.industry_code == industry_code)
    answer = {
        "industry_code": industry_code,
        "industry_name": rows[-1]["industry_name"] if rows else None,
        "items": [IndustryRatio.model_validate(row) for row in rows],
        "members": stocks,
        **await reach(call.state, RATIOS, len(rows), *own, asked=days),
    }
    return Answer(answer)


def ratios(
    session: Session, standard: str, level: str | None, day: str | None
) -> tuple[list[Row], str | None]:
    """Industries of a classification on a date, or on its newest, by level and code; and that date."""
    day = day or session.first(RATIOS, "date", RATIOS.c.standard == standard, order=[RATIOS.c.date.desc()])
    if day is None:
        return [], None
    which = [RATIOS.c.standard == standard, RATIOS.c.date == day, *matching(RATIOS.c.level, level)]
    return public_rows(
        session, RATIOS, *which, order=[RATIOS.c.level, RATIOS.c.industry_code], limit=_ALL
    ), day


def by_date(
    session: Session, standard: str, industry_code: str, days: int
) -> tuple[list[Row], list[dict[str, Any]]]:
    """(newest dates of an industry, oldest first; its stocks with their newest ratios, by code)."""
    of = [RATIOS.c.standard == standard, RATIOS.c.industry_code == industry_code]
    rows = public_rows(session, RATIOS, *of, order=[RATIOS.c.date.desc()], limit=days)[::-1]
    return rows, members(session, standard, industry_code, str(rows[-1]["industry_name"])) if rows else []


def members(session: Session, standard: str, code: str, name: str) -> list[dict[str, Any]]:
    """Stocks by our own classification: SW's by code, the regulator's by name. No stock is assigned to
    CNI's."""
    columns = ["code", "name", "sw_l1", "sw_l2", "sw_l3", "csrc_industry"]
    classed = public_rows(session, CLASSES, columns=columns, order=[CLASSES.c.code], limit=_ALL)
    if standard == "sw":
        own = [row for row in classed if code in (row["sw_l1"], row["sw_l2"], row["sw_l3"])]
    elif standard == "csrc":
        own = [row for row in classed if name in str(row["csrc_industry"] or "").split("-")]
    else:
        return []
    day = session.first(VALUATION, "date", order=[VALUATION.c.date.desc()])
    codes, shown = [row["code"] for row in own], ("code", "pe_ttm", "pb")
    rows = session.of_codes(VALUATION, codes, VALUATION.c.date == day, columns=shown)
    found = {code: {"pe_ttm": pe, "pb": pb} for code, pe, pb in rows}
    nothing = {"pe_ttm": None, "pb": None}
    return [{"code": row["code"], "name": row["name"], **found.get(row["code"], nothing)} for row in own]
