"""ping: whether the service answers, and which world it serves."""

from typing import Any

from pydantic import Field

from core.clock import local_iso
from serving_api.health.service import package_version
from serving_api.tools.answers import Draft, ToolAnswer
from serving_api.tools.model import Arguments, Call, Tool


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


TOOL = Tool(
    name="ping",
    title="连通检查",
    description="服务是否可用，版本，市场时间，真实市场还是样例",
    arguments=Arguments,
    answer=Pong,
    work=ping,
)
