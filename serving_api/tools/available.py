"""available_data and ping: the stored datasets with their newest dates, and whether the service answers."""

from typing import Any

from pydantic import BaseModel, Field

from core.clock import local_iso
from serving_api.health.service import package_version
from serving_api.tools import queries
from serving_api.tools.answers import Draft, ToolAnswer
from serving_api.tools.model import Arguments, Call, Paged, Tool
from serving_api.tools.schema import available


class AvailableArguments(Paged):
    only_filled: bool = Field(default=True, description="只列有数据的数据集")
    limit: int = Field(default=100, ge=1, le=200, description="至多几项")


class Filled(BaseModel):
    table: str
    rows: int
    latest_date: str | None


class Held(BaseModel):
    dataset: str
    title: str
    tables: list[Filled]
    interfaces: list[str] = Field(description="interfaces for app_info")


class AvailableAnswer(ToolAnswer):
    items: list[Held]


async def available_data(call: Call, asked: AvailableArguments) -> Draft:
    """Every dataset with the rows and the newest date of its tables."""
    rows = await available(call.state)
    if asked.only_filled:
        rows = [row for row in rows if any(table["rows"] for table in row["tables"])]
    return Draft.part_of(
        rows, asked.offset, asked.limit, sources=[queries.VERSIONS], as_of=call.state.clock.now()
    )


class Pong(ToolAnswer):
    items: list[dict[str, Any]]
    version: str
    time: str = Field(description="now, by the clock of the market")
    world: str | None = Field(description="sample or replay; null: the real market")


async def ping(call: Call, asked: Arguments) -> Draft:
    """Whether the service answers, and which data world it serves."""
    state = call.state
    now = local_iso(state.clock.now())
    return Draft(
        [], body={"version": package_version(), "time": now, "world": state.settings.world}, as_of=now
    )


AVAILABLE = Tool(
    name="available_data",
    title="可用数据",
    description="本平台此刻有哪些数据：数据集、行数、最新日期、可用接口",
    arguments=AvailableArguments,
    answer=AvailableAnswer,
    work=available_data,
)
PING = Tool(
    name="ping",
    title="连通检查",
    description="服务是否可用，版本，市场时间，真实市场还是样例",
    arguments=Arguments,
    answer=Pong,
    work=ping,
)
