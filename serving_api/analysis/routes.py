"""/analysis: read by anyone, run within the quota, written by administrators; plain."""

from typing import Annotated

from fastapi import Query

from serving_api.analysis import queries, rows, schemas
from serving_api.analysis.service import Analyses
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin, Anyone, Quota
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/analysis", "analysis")


@router.get("/{code}", schemas.Analysis, tables=(queries.TABLE,))
async def analysis(call: Anyone, code: StockCode) -> Answer:
    """The current analysis: that of a model or a person, else that of the rules."""
    return Answer(await read_or(rows.empty(code), call.state.part(Analyses).current(code)))


@router.get("/{code}/history", schemas.AnalysisHistory, tables=(queries.TABLE,))
async def history(
    call: Anyone,
    code: StockCode,
    limit: Annotated[int, Query(ge=1, le=100, description="analyses at most")] = 20,
) -> Answer:
    """Stored analyses, newest first."""
    found = await read_or(
        {"code": code, "items": [], "total": 0}, call.state.part(Analyses).history(code, limit)
    )
    given = len(found["items"])
    reported = await reach(call.state, queries.TABLE, given, asked=limit, code=code, what="analyses")
    return Answer({**found, **reported})


@router.post("/{code}/run", schemas.Analysis)
async def run(call: Quota, code: StockCode, body: schemas.AnalysisRequest | None = None) -> Answer:
    """Analyse now: by the configured model, else by rules. A failure of the model is no error: the answer
    is the stored analysis, else that of the rules, with `llmError` and `fallbackOf`."""
    refresh = body is not None and body.refresh
    return Answer(await call.state.part(Analyses).run(code, refresh=refresh))


@router.put("/{code}", schemas.Analysis, raises=(404,))
async def write(call: Admin, code: StockCode, body: schemas.WrittenAnalysis) -> Answer:
    """Store a person's analysis of today; it also becomes a decision card."""
    scores = body.scores.model_dump()
    by = call.member.username
    return Answer(await call.state.part(Analyses).write(code, scores, body.conclusion, by))
