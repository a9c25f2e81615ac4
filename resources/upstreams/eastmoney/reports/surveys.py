"""Visits of institutions at companies, a report of the data centre (RPT_ORG_SURVEYNEW): one row for each
visitor. What was said is the same text in every row of a visit, so it is requested for the first one
alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from resources.upstreams.eastmoney.reports.by_notice import (
    day_or_none,
    notice_clauses,
    security_code,
    text_or_none,
)
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, equals
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.payload import iso_day, promised, string_of

VISIT_COLUMNS: dict[str, str] = texts(
    "code survey_date ann_date org_name org_type method place persons receiver"
)
TEXT_COLUMNS: dict[str, str] = texts("code survey_date ann_date content")
NOTICE = "NOTICE_DATE"
_NAME = "RPT_ORG_SURVEYNEW"
_SOURCED = equals("IS_SOURCE", "1")
_FIRST = equals("NUMBERNEW", "1")
_DAYS = ("SECURITY_CODE", NOTICE, "RECEIVE_START_DATE")
_FIELDS = (*_DAYS, "NUMBERNEW", "RECEIVE_OBJECT", "ORG_TYPE", "RECEIVE_WAY_EXPLAIN", "RECEIVE_PLACE",
           "INVESTIGATORS", "RECEPTIONIST")  # fmt: skip


def visitors_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """Every visitor of the visits that were announced in [since, until] (None: ever)."""
    where = (_SOURCED, *notice_clauses(NOTICE, since, until, codes))
    return Report(_NAME, _FIELDS, where, ("SECURITY_CODE", "RECEIVE_START_DATE", "NUMBERNEW"), key=())


def texts_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """What was said in those visits, one row each."""
    where = (_SOURCED, _FIRST, *notice_clauses(NOTICE, since, until, codes))
    return Report(_NAME, EVERY_COLUMN, where, ("SECURITY_CODE", "RECEIVE_START_DATE", NOTICE), key=())


def visitor_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `VISIT_COLUMNS`."""
    return frame([_visitor(row) for row in rows], VISIT_COLUMNS)


def text_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `TEXT_COLUMNS`."""
    return frame([{**_visit(row), "content": text_or_none(row.get("CONTENT"), "survey CONTENT")}
                  for row in rows], TEXT_COLUMNS)  # fmt: skip


def _visit(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _DAYS, "survey")
    code = security_code(row["SECURITY_CODE"], "survey")
    day = string_of(row["RECEIVE_START_DATE"], f"survey {code} RECEIVE_START_DATE")[:10]
    return {
        "code": code,
        "survey_date": iso_day(day, f"survey {code} RECEIVE_START_DATE"),
        "ann_date": day_or_none(row[NOTICE], f"survey {code} {NOTICE}"),
    }


def _visitor(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("RECEIVE_OBJECT",), "survey")
    visit = _visit(row)
    what = f"survey {visit['code']}"
    return {
        **visit,
        "org_name": text_or_none(row["RECEIVE_OBJECT"], f"{what} RECEIVE_OBJECT"),
        "org_type": text_or_none(row.get("ORG_TYPE"), f"{what} ORG_TYPE"),
        "method": text_or_none(row.get("RECEIVE_WAY_EXPLAIN"), f"{what} RECEIVE_WAY_EXPLAIN"),
        "place": text_or_none(row.get("RECEIVE_PLACE"), f"{what} RECEIVE_PLACE"),
        "persons": text_or_none(row.get("INVESTIGATORS"), f"{what} INVESTIGATORS"),
        "receiver": text_or_none(row.get("RECEPTIONIST"), f"{what} RECEPTIONIST"),
    }
