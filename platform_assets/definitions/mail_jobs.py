"""The jobs `daily_report` and `user_recall`: mails on schedule. Without mail settings they end at once, and
say why."""

from datetime import datetime, timedelta
from typing import Any

import dagster as dg
from sqlalchemy.engine import Engine

from core.clock import SystemClock
from core.errors import PayloadError, Unavailable, UpstreamError
from platform_assets.compute.evidence.wording import change, said
from platform_assets.compute.note_days import RULES
from platform_assets.definitions.notes_job import in_words, sources_of
from platform_assets.definitions.one_op_jobs import one_op_job
from platform_assets.definitions.portfolio_job import quotes_of, watched
from platform_assets.notes.notes import LABEL, report
from platform_assets.notes.sources import Section, Sources
from platform_assets.pipeline.run import PipelineRun
from resources.composition import Platform
from resources.fetch_record import FetchLog
from resources.mail import messages
from resources.mail.client import MailError, MailUnknown, send
from resources.mail.sent import SentMails
from resources.mail.settings import MailSettings, stored_mail_settings
from resources.stored_settings import read_stored
from resources.warehouse.sql import Sql

REPORT, RECALL = "daily_report", "user_recall"
INACTIVE_DAYS, COOLDOWN_DAYS, BATCH = 30, 30, 50
_QUOTES = "fusion_quote_snapshot"
_WATCHED = "watched"
_NO_MARKET = "市场数据：尚未入库。"


def watched_section(sources: Sources, run: PipelineRun) -> tuple[Section | None, str]:
    """(the watched stocks at their newest quotes, '') or (None, why there is nothing to say of them)."""
    holdings = watched(run.warehouse)
    if not holdings:
        return None, "自选股：尚未添加。"
    try:
        quotes = quotes_of(run.context_for(FetchLog()), [one["code"] for one in holdings])
    except (UpstreamError, PayloadError, Unavailable):
        return None, "自选股：行情源暂不可用。"
    lines, facts = [], []
    for one in holdings:
        quote = quotes.get(one["code"])
        if quote is None or not quote.get("price") or not quote.get("last_close"):
            continue
        name = str(quote.get("name") or one["name"] or one["code"])
        moved = sources.pack.add(
            name, "涨跌幅", (quote["price"] / quote["last_close"] - 1) * 100, "pct",
            table=_QUOTES, column="change_pct", as_of=sources.today,
        )  # fmt: skip
        price = sources.pack.add(
            name, "最新价", quote["price"], "CNY", table=_QUOTES, column="price", as_of=sources.today
        )
        lines.append(f"{name}（{one['code']}）：{said(price)}，{change(moved)}")
        facts += [price.id, moved.id]
    if not lines:
        return None, "自选股：今日无成交。"
    return Section(_WATCHED, "自选股今日表现", tuple(lines), tuple(facts)), ""


def report_paragraphs(
    context: dg.OpExecutionContext, opened: Platform, run: PipelineRun
) -> tuple[list[str], dict[str, Any]]:
    """(what the report says, a paragraph a line; what the run tells of it): in a model's words where one is
    configured, else by rules, as the last line tells."""
    sources = sources_of(run)
    section, nothing = watched_section(sources, run)
    note = report(sources, section, [one["code"] for one in watched(run.warehouse)])
    lines = [nothing] if nothing else []
    if note is None:
        return [*lines, _NO_MARKET], {"source": RULES}
    note = in_words(context, opened, sources, note)
    lines.append(note.title)
    for part in note.sections:
        lines += [part["title"], *part["lines"]]
    if all(part["key"] == _WATCHED for part in note.sections):
        lines.append(_NO_MARKET)
    lines.append(LABEL if note.source == RULES else f"由模型{note.summary['model']}撰写，数字已逐一核对。")
    return lines, {"source": note.source, "unbound": len(note.summary["unbound"])}


def _skipped(context: dg.OpExecutionContext, reason: str) -> None:
    context.log.info(f"no mail is sent: {reason}")
    context.add_output_metadata({"sent": 0, "skipped": reason})


def _account(context: dg.OpExecutionContext, run: PipelineRun, platform: Platform) -> MailSettings | None:
    """None when mails are off, which the run then says."""
    account = stored_mail_settings(platform.settings, read_stored(run.warehouse.engine))
    if account.off is None:
        return account
    _skipped(context, account.off)
    return None


@one_op_job(
    REPORT,
    "send_daily_report",
    "mail to the configured sender: watched stocks today and the newest stored session",
)
def daily_report_job(context: dg.OpExecutionContext, opened: Platform, run: PipelineRun) -> None:
    settings = _account(context, run, opened)
    if settings is None:
        return
    now = run.clock.now()
    day = now.date().isoformat()
    mails, key = SentMails(opened.settings.data_path), f"{REPORT} {day}"
    sent = not mails.has(key)
    reported: dict[str, Any] = {}
    if sent:
        paragraphs, reported = report_paragraphs(context, opened, run)
        mail = messages.daily_report(settings.from_addr, day, paragraphs, now)
        sent = mails.send_once(key, settings, mail, today=now.date())
    if not sent:
        _skipped(context, f"the report of {day} was sent before")
        return
    context.add_output_metadata({"sent": 1, "date": day, **reported})


# -- recall ------------------------------------------------------------------------------------------


def inactive(engine: Engine, now: datetime) -> list[dict[str, Any]]:
    """At most a batch of active users who have not been here for 30 days and were not recalled as long; the
    longest away first. {id, username, email, seen, recalled}. `now`: naive exchange time of the system's
    clock, which accounts live by."""
    seen = "COALESCE(last_login_at, created_at)"
    statement = (
        f"SELECT id, username, email, {seen}, last_recall_sent_at FROM app_users WHERE status='active' "
        f"AND email<>'' AND {seen}<? AND (last_recall_sent_at IS NULL OR last_recall_sent_at<?) "
        f"ORDER BY {seen}, id LIMIT {BATCH}"
    )
    limits = tuple(_second(now - timedelta(days=days)) for days in (INACTIVE_DAYS, COOLDOWN_DAYS))
    names = ("id", "username", "email", "seen", "recalled")
    return [dict(zip(names, row, strict=True)) for row in Sql(engine).rows(statement, limits)]


def _second(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def move_recall(engine: Engine, user_id: int, was: Any, now: Any) -> bool:
    """`last_recall_sent_at` from `was` to `now`; False when somebody else moved it in between."""
    known, values = ("IS NULL", (now, user_id)) if was is None else ("=?", (now, user_id, was))
    statement = f"UPDATE app_users SET last_recall_sent_at=? WHERE id=? AND last_recall_sent_at {known}"
    return Sql(engine).change(statement, values) == 1


def recall_batch(engine: Engine, settings: MailSettings, now: datetime) -> tuple[int, list[str]]:
    """(mails that were accepted, why others were not). A user is marked before the mail leaves and given
    back when the server has surely refused it: one mail less is better than one twice."""
    sent, refused = 0, []
    for user in inactive(engine, now):
        if not move_recall(engine, user["id"], user["recalled"], _second(now)):
            continue
        away = (now - datetime.fromisoformat(str(user["seen"]))).days
        try:
            send(settings, messages.recall(settings.from_addr, user["email"], user["username"], away, now))
        except MailUnknown as error:
            refused.append(error.message)
        except MailError as error:
            move_recall(engine, user["id"], _second(now), user["recalled"])
            refused.append(error.message)
        else:
            sent += 1
    return sent, refused


@one_op_job(RECALL, "recall_users", "mail to active users who have been away for 30 days, at most 50 a day")
def user_recall_job(context: dg.OpExecutionContext, opened: Platform, run: PipelineRun) -> None:
    settings = _account(context, run, opened)
    if settings is None:
        return
    sent, refused = recall_batch(run.warehouse.engine, settings, SystemClock().now())
    context.add_output_metadata({"sent": sent, "refused": len(refused)})
    if refused and not sent:
        raise dg.Failure(f"no mail was accepted: {refused[0]}", allow_retries=False)
