"""app_find: which security or which interface a question is about."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from serving_api.framework.threads import off_loop
from serving_api.interfaces.catalog import builtin_catalog
from serving_api.stocks.directory import Listing
from serving_api.stocks.queries import INDUSTRY, MASTER
from serving_api.stocks.service import Stocks
from serving_api.tools.answers import Draft, ToolAnswer, of_tables
from serving_api.tools.model import Call, Paged, Tool

MOST_INTERFACES = 50


class FindArguments(Paged):
    query: str = Field(
        min_length=1, max_length=100, description="代码、名称、拼音，或要找的数据（如：融资余额、股东户数）"
    )
    kind: Literal["all", "security", "interface"] = Field(
        default="all", description="security 证券；interface 数据接口"
    )
    limit: int = Field(default=10, ge=1, le=50, description="每类至多几项")


class Hit(BaseModel):
    """`key` is a security's code, or the name of an interface for app_info."""

    kind: Literal["security", "interface"]
    key: str
    name: str | None
    detail: dict[str, Any]


class FindAnswer(ToolAnswer):
    items: list[Hit]


async def find(call: Call, asked: FindArguments) -> Draft:
    """Securities first, best first. For both kinds together the best matches of each; further pages need
    one kind."""
    begin, limit = asked.offset, asked.limit
    if asked.kind == "security":
        # The search returns whole pages: two of them cover any offset.
        page = begin // limit
        listed: list[Listing] = []
        for one in (page + 1, page + 2):
            found, total = await call.state.part(Stocks).search(asked.query, one, limit)
            listed += found
        hits = [_security(one) for one in listed[begin - page * limit :][:limit]]
    else:
        together = [_interface(hit) for hit in await off_loop(_meant, asked.query)]
        if asked.kind == "all":
            best, _ = await call.state.part(Stocks).search(asked.query, 1, limit)
            together = [*(_security(one) for one in best), *together[:limit]]
            limit *= 2
        hits, total = together[begin : begin + limit], len(together)
    kinds = {hit["kind"] for hit in hits}
    receipts = await of_tables(call.state, (MASTER, INDUSTRY) if "security" in kinds else ())
    if "interface" in kinds:
        receipts["sources"] = [*receipts["sources"], "declarations"]
    return Draft(hits, begin, total, begin + len(hits) < total, **receipts)


def _meant(query: str) -> list[dict[str, Any]]:
    """Interfaces that match, best first. The first call builds the index, which takes some tenths of a
    second."""
    return builtin_catalog().search(query, MOST_INTERFACES)


def _security(one: Listing) -> dict[str, Any]:
    detail = {"market": one.market, "industry": one.industry}
    return {"kind": "security", "key": one.code, "name": one.name, "detail": detail}


def _interface(hit: dict[str, Any]) -> dict[str, Any]:
    detail = {"dimension": hit["dimension"], "params": hit["params"]}
    return {"kind": "interface", "key": hit["name"], "name": hit["description"], "detail": detail}


TOOL = Tool(
    name="app_find",
    title="查找证券与数据接口",
    description=(
        "找一下股票的代码、是哪家公司：按代码、名称（名字里有的字）或拼音查找证券；"
        "按含义查找接口的名称。kind=all 时两类各给前 limit 项，翻页请指定 kind"
    ),
    arguments=FindArguments,
    answer=FindAnswer,
    work=find,
)
