"""cninfo_periodic_report: planned and actual disclosure dates of periodic reports, by quarter end.

Asked on every trade date while reports of a quarter end are due, else on the first trade date of a week, and
on any other as long as nothing of the newest quarter end is stored: a first load may fall on any day.
Title and address of a report come from the notices that are stored: the newest version that is no summary.
"""

import re
from collections.abc import Callable

import pandas as pd

from core.days import monday_of
from core.declaration.columns import S64, S255, S512, Code, Date, Model, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, market, stock
from core.declaration.rules import Partition, calendar_days
from core.declaration.scope import Scope
from core.report_periods import latest_ended, periods_due, possible_notice, previous_period
from core.text_keys import plain_form
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.parsing.texts import stock_codes

_WORDS = {"03-31": "第?一季度报告", "06-30": "半年度报告", "09-30": "第?三季度报告", "12-31": "年度报告"}
_LATE_DAYS = 7
"""Days after a deadline in which late reports are still looked for every day."""
_LONGEST_TITLE = 255
TABLE = "cninfo_periodic_report"
_DAYS = ("first_date", "change1_date", "change2_date", "change3_date", "actual_date")


class PeriodicReport(Model):
    """One report of one company."""

    code: Code = key("security code")
    report_period: Date = key("quarter end")
    name: S64 = col(title="name")
    first_date: Date = col(title="first planned date")
    change1_date: Date = col(title="planned date after the first change")
    change2_date: Date = col(title="planned date after the second change")
    change3_date: Date = col(title="planned date after the third change")
    actual_date: Date = col(title="date of disclosure; null before it")
    report_title: S255 = col(title="title of the report, as it was noticed")
    pdf_url: S512 = col(title="address of its PDF")


def requested(ctx: FetchContext, scope: Scope) -> bool:
    """While reports are due; else once a week, and until those of the newest quarter end are stored."""
    day = scope.until
    begins_a_week = ctx.calendar.offset(day, -1) < monday_of(day)
    return bool(periods_due(day, _LATE_DAYS)) or begins_a_week or not _is_stored(ctx, latest_ended(day))


def platform(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Six calls per quarter end: one of them, or two in April. The one before as well where nothing of
    these is disclosed yet and it is not stored."""
    return _of_periods(ctx, scope, ctx.cninfo.disclosure_schedule)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Eleven calls per quarter end."""
    return _of_periods(ctx, scope, ctx.eastmoney.disclosure_schedule)


def _of_periods(ctx: FetchContext, scope: Scope, ask: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    periods = periods_due(scope.until, _LATE_DAYS) or (latest_ended(scope.until),)
    rows = pd.concat([ask(period) for period in periods], ignore_index=True)
    before = previous_period(periods[0])
    # Plans come days after a quarter's end, the first reports weeks after it.
    if rows["actual_date"].isna().all() and not _is_stored(ctx, before):
        rows = pd.concat([ask(before), rows], ignore_index=True)
    requested = rows["code"].map(lambda code: stock_codes(code) == [code] and scope.covers(code)).astype(bool)
    rows = rows[requested]
    # A day before the end of the period is not that of its report.
    rows = rows.assign(**{name: possible_notice(rows[name], rows["report_period"]) for name in _DAYS})
    return _with_notices(ctx, rows.reset_index(drop=True))


def _is_stored(ctx: FetchContext, period: str) -> bool:
    return bool((ctx.read(TABLE, columns=("report_period",))["report_period"] == period).any())


def _with_notices(ctx: FetchContext, rows: pd.DataFrame) -> pd.DataFrame:
    """Title and address of what was disclosed."""
    days = rows["actual_date"].dropna()
    if days.empty:
        return rows
    notices = ctx.read(
        "raw_announcements", columns=("code", "title", "pub_date", "pdf_url"), since=days.min()
    )
    notices = notices.assign(report_period=[_period_of(title) for title in notices["title"]])
    notices = notices[notices["report_period"].notna()].sort_values("pub_date", kind="stable")
    newest = notices.drop_duplicates(subset=["code", "report_period"], keep="last")
    newest = newest.assign(report_title=newest["title"].str[:_LONGEST_TITLE])
    reported = newest[["code", "report_period", "report_title", "pdf_url"]]
    return rows.merge(reported, on=["code", "report_period"], how="left")


def _period_of(title: str) -> str | None:
    """The quarter end whose whole report a title names; None for summaries, translations, withdrawn ones."""
    plain = plain_form(title)
    for end, words in _WORDS.items():
        found = re.fullmatch(rf"(20\d\d)年?{words}(?:全文)?(?:正文)?(?:\((?:更正|修订|更新)[^()]*\))?", plain)
        if found:
            return f"{found.group(1)}-{end}"
    return None


DATASET = Raw(
    name=TABLE,
    title="Planned and actual disclosure dates of periodic reports",
    model=PeriodicReport,
    partition=Partition.SNAPSHOT,
    date_column="first_date",
    sources=(
        Source("cninfo", platform, only_when=requested),
        Source("eastmoney", portal, only_when=requested),
    ),
    moves=True,
    topical=True,
    reads=("raw_announcements",),
    freshness=calendar_days(90, "first_date"),
).alone(
    name="periodic_report",
    subject="securities",
    title="Disclosure dates of periodic reports",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        market("get_periodic_report_schedule", "schedule", "disclosure schedule", ttl=3600).takes(
            report_period=DAY, start_date=DAY, end_date=DAY, limit=500
        ),
        stock("get_periodic_report", "headlines", "disclosure dates of one code", ttl=3600).takes(
            code=REQUIRED, limit=12
        ),
    ),
)
