"""Downloads of a whole market table: one command, one response."""

import difflib
from functools import cache
from typing import Any

from core.declaration.registry import builtin_registry
from core.errors import NotFound, StorageError
from serving_api.admin.waiting import carried_out, failure
from serving_api.framework.state import State

COMMAND = "download_market"
AWAY = "数据库不可用，下载未执行"
ACCEPTED = "下载仍在后台执行，请稍后用 command_id 查询结果"
DONE = "下载完成"
_NEAREST = 3


@cache
def names() -> tuple[str, ...]:
    """Downloaders that this platform has."""
    return tuple(sorted(builtin_registry().topical))


def known(name: str) -> str:
    """The name of a downloader. Raises NotFound with the most similar names."""
    if name in names():
        return name
    near = difflib.get_close_matches(name, names(), n=_NEAREST, cutoff=0.3) or list(names())
    raise NotFound(f"unknown market download: {name[:64]}; nearest: {', '.join(near[:_NEAREST])}")


async def download(state: State, name: str, date: str | None, asked_by: str) -> dict[str, Any]:
    """{status, total, saved, gap_count, latestDate, channels, message}. Raises Accepted."""
    args = {"name": name} if date is None else {"name": name, "date": date}
    try:
        command = await carried_out(state, COMMAND, args, asked_by, meanwhile=ACCEPTED)
    except StorageError:
        return _answer({"status": "failed", "message": AWAY})
    reason = failure(command)
    return _answer(command.result if reason is None else {"status": "failed", "message": reason})


def _answer(reported: dict[str, Any]) -> dict[str, Any]:
    answer = {
        "status": reported["status"],
        "total": reported.get("total", 0),
        "saved": reported.get("saved", 0),
        "gap_count": 0,
        "latestDate": reported.get("latest_date"),
        "channels": reported.get("channels", []),
        "message": reported.get("message") or DONE,
    }
    return {**answer, "fusion": reported["fusion"]} if reported.get("fusion") else answer
