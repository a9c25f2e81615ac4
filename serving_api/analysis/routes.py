"""/analysis: read by anyone, run within the quota, written by administrators; plain."""

import unicodedata
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BaseModel, Field

from platform_assets.compute.parameters.analysis import MOST_CONCLUSION
from platform_assets.research.factors import ITEMS
from serving_api.analysis import queries, rows
from serving_api.analysis.answer import GivenScores
from serving_api.analysis.service import Analyses
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach
from serving_api.framework.openapi import IsoDate, example
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin, Anyone, Quota
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves


class ShownScores(BaseModel):
    """0..5 each; null where nothing is known."""

    national_will: float | None
    era_trend: float | None
    industry_turning: float | None
    competition: float | None
    stage: float | None


class Analysis(BaseModel):
    code: str
    provenance: str = Field(description="ai, manual, quant_prefill (rules), agent_batch, deep_ai, empty")
    tier: str = Field(description="live, manual, rule, offline-assistant, empty")
    name: str | None = None
    industry: str | None = None
    date: IsoDate | None = Field(None, description="the day of the analysis")
    as_of: str | None = Field(None, description="instant of knowledge: evidence is what was known then")
    scores: ShownScores | None = None
    total_score: float | None = Field(None, description="mean of the five, at most 4.4 where a gate blocks")
    direction: str | None = Field(None, description="bullish, bearish or neutral")
    conclusion: str | None = Field(None, description="at most 2,000 characters; [E1] cites evidence")
    sections: dict[str, Any] | None = Field(None, description="by dimension: label, score, text, evidence")
    gate_blocked: bool | None = None
    gate_reason: str | None = None
    label: str | None = Field(None, description="of rules: 规则预填，非模型生成")
    model: str | None = None
    evidence: list[dict[str, Any]] | None = Field(None, description="the cited facts with their lineage")
    receipt: dict[str, Any] | None = Field(None, description="how the analysis was made")
    llmError: str | None = Field(None, description="why no model answered")
    fallbackOf: str | None = Field(None, description="cached: what was stored; quant_prefill: the rules")


class StoredAnalysis(BaseModel):
    date: IsoDate
    total_score: float | None
    source: str
    provenance: str


class AnalysisHistory(Reach):
    code: str
    items: list[StoredAnalysis]
    total: int


class AnalysisRequest(BaseModel):
    model_config = example(refresh=False)

    refresh: bool = Field(False, description="ask the model again although there is an analysis of today")


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    if any(unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t" for one in text):
        raise ValueError("holds a control character")
    return text.strip()


class WrittenAnalysis(BaseModel):
    model_config = example(
        extra="forbid",
        scores={
            "national_will": 3.5, "era_trend": 3.0, "industry_turning": 2.5, "competition": 4.0, "stage": 3.0,
        },
        conclusion="行业景气回升，公司份额稳定，估值处于历史中位。",
    )  # fmt: skip

    scores: GivenScores
    conclusion: Annotated[str, Field(min_length=1, max_length=MOST_CONCLUSION), AfterValidator(_said)]


router = area_router(f"{PREFIX}/analysis", "analysis")


@router.get("/{code}", response_model=Analysis)
@serves(tables=(queries.TABLE, ITEMS))
async def analysis(call: Anyone, code: StockCode) -> Answer:
    """The current analysis: that of a model or a person, else that of the rules."""
    return Answer(await read_or(rows.empty(code), call.state.part(Analyses).current(code)))


@router.get("/{code}/history", response_model=AnalysisHistory)
@serves(tables=(queries.TABLE,))
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


@router.post("/{code}/run", response_model=Analysis)
async def run(call: Quota, code: StockCode, body: AnalysisRequest | None = None) -> Answer:
    """Analyse now: by the configured model, else by rules. A failure of the model is no error: the answer
    is the stored analysis, else that of the rules, with `llmError` and `fallbackOf`."""
    await call.count()
    refresh = body is not None and body.refresh
    return Answer(await call.state.part(Analyses).run(code, refresh=refresh))


@router.put("/{code}", response_model=Analysis)
@serves(raises=(404,))
async def write(call: Admin, code: StockCode, body: WrittenAnalysis) -> Answer:
    """Store a person's analysis of today; it also becomes a decision card."""
    scores = body.scores.model_dump()
    by = call.member.username
    return Answer(await call.state.part(Analyses).write(code, scores, body.conclusion, by))
