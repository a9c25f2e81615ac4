"""When companies mean to disclose a periodic report, and when they did (RPT_PUBLIC_BS_APPOIN)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.gateway import Report, on_day
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.payload import iso_day, string_of
from resources.upstreams.parsing.texts import plain_text

SCHEDULE_COLUMNS = texts(
    "code report_period name first_date change1_date change2_date change3_date actual_date"
)
_DATES = {
    "first_date": "FIRST_APPOINT_DATE",
    "change1_date": "FIRST_CHANGE_DATE",
    "change2_date": "SECOND_CHANGE_DATE",
    "change3_date": "THIRD_CHANGE_DATE",
    "actual_date": "ACTUAL_PUBLISH_DATE",
}
_PROMISED = ("SECURITY_CODE", "REPORT_DATE", *_DATES.values())
_FIELDS = ("SECURITY_NAME_ABBR", *_PROMISED)


def schedule_report(period: str) -> Report:
    """All companies for one quarter end."""
    key = ("code", "report_period")
    where = (on_day("REPORT_DATE", period),)
    return Report("RPT_PUBLIC_BS_APPOIN", _FIELDS, where, sort=("SECURITY_CODE",), key=key)


def schedule_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `SCHEDULE_COLUMNS`."""
    return frame([_row(row) for row in rows], SCHEDULE_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    # A date that is null says something: no change, not published. The name is read if it is there.
    gone = [name for name in _PROMISED if name not in row]
    if gone:
        raise PayloadError(f"schedule: the report has no column {', '.join(gone)}")
    code = string_of(row["SECURITY_CODE"], "schedule code")
    if len(code) != 6 or not code.isascii() or not code.isalnum():
        raise PayloadError(f"schedule code {code[:20]!r}")
    what = f"schedule {code}"
    return {
        "code": code,
        "report_period": _day(row["REPORT_DATE"], f"{what} REPORT_DATE"),
        "name": plain_text(row.get("SECURITY_NAME_ABBR") or "", f"{what} SECURITY_NAME_ABBR", 64) or None,
        **{name: _day(row[wire], f"{what} {wire}") for name, wire in _DATES.items()},
    }


def _day(value: Any, what: str) -> str | None:
    return None if value is None else iso_day(string_of(value, what)[:10], what)
