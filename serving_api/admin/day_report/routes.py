"""/datamgr/day-report: admin, enveloped."""

from enum import StrEnum
from typing import Annotated

from fastapi import Query

from serving_api.admin.day_report import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router


class ReportStatus(StrEnum):
    complete = "complete"
    held = "held"
    fallback = "fallback"
    failed = "failed"
    not_run = "not_run"


router = area_router(f"{PREFIX}/datamgr/day-report", "datamgr: report of a day")


@router.get(
    "",
    list[schemas.ReportRow],
    top=[
        ("date", str),
        ("total", int),
        ("totals", schemas.ReportTotals),
        ("by_source", dict[str, schemas.SourceTotals]),
    ],
)
async def day_report(
    call: Admin,
    date: Annotated[
        str | None, Query(max_length=32, description="trade date; default the newest complete one")
    ] = None,
    status: Annotated[ReportStatus | None, Query(description="only tables with this status")] = None,
) -> Answer:
    """What was loaded of a trade date and from which source; what was not, and why. Problems come first."""
    requested = None if status is None else status.value
    return Answer(await service.day_report(call.state, date, requested))
