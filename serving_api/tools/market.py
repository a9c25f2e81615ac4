"""app_market: current market data, and live quotes."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from core.clock import local_iso
from serving_api.framework.parameters import Code
from serving_api.live.admin_reads.service import live_of
from serving_api.live.chain import UnifiedReads
from serving_api.live.clients import Answered
from serving_api.live.data_types import Found
from serving_api.tools.answers import Draft, ToolAnswer, of_live
from serving_api.tools.model import Arguments, Call, Tool

REST = "其余部分：分别以 kind 或较少的 codes 再次调用"
_PARTS = ("sentiment", "distribution", "fund_flow")


class MarketArguments(Arguments):
    codes: list[Code] | None = Field(
        default=None, min_length=1, max_length=60, description="给出代码则返回这些证券的实时报价"
    )
    kind: Literal["all", "sentiment", "distribution", "fund_flow"] = Field(
        default="all", description="sentiment 指数与情绪；distribution 涨跌分布；fund_flow 资金流"
    )


class MarketPart(BaseModel):
    """One read of the market, or one live quote. Changes are percent, money CNY. `source` null: no source
    had an answer, `data` is the empty structure."""

    key: str
    as_of: str | None
    source: str | None
    stale: bool
    data: dict[str, Any]


class MarketAnswer(ToolAnswer):
    items: list[MarketPart]


async def market(call: Call, asked: MarketArguments) -> Draft:
    """Quotes of codes, else the requested reads."""
    if asked.codes is not None:
        return await _quotes(call, asked.codes)
    names = _PARTS if asked.kind == "all" else (asked.kind,)
    unified = call.state.part(UnifiedReads)
    answers = {}
    for at, name in enumerate(names, start=1):
        answers[name] = await unified.read(name)
        await call.progress(at, len(names), name)
    parts = [_part(name, found, found.body, stale=found.stale) for name, found in answers.items()]
    return Draft(parts, total=len(parts), rest=REST, **await of_live(call.state, *answers.values()))


async def _quotes(call: Call, codes: list[str]) -> Draft:
    answer = await call.state.part(live_of).quotes(list(dict.fromkeys(codes)))
    quotes = [_part(code, answer, quote) for code, quote in answer.value.items()]
    receipts = await of_live(call.state, *([answer] if quotes else []))
    return Draft(quotes, total=len(quotes), rest=REST, **receipts)


def _part(key: str, answer: Answered | Found, data: dict[str, Any], *, stale: bool = False) -> dict[str, Any]:
    as_of = None if answer.at is None else local_iso(answer.at)
    return {"key": key, "as_of": as_of, "source": answer.origin, "stale": stale, "data": data}


TOOL = Tool(
    name="app_market",
    title="大盘",
    description=(
        "今天大盘怎么样：主要指数、上涨和下跌各多少家、市场处于什么情绪阶段、成交与北向资金流入；"
        "给出 codes 则返回实时报价（至多 60 只）"
    ),
    arguments=MarketArguments,
    answer=MarketAnswer,
    work=market,
    open_world=True,
)
