"""What an operator should hear of becomes an in-app notification, each once a day with one link: tasks that
failed for good, dimensions that are stale, breakers that are open, a trade calendar that runs out.

Level, not edge: each look reports what is so now; what was reported today is not repeated. A look that died
is made good by the next one.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from core.errors import PlatformError
from platform_assets.task_table import BY_KEY
from resources.notifications import NotificationStore
from resources.orchestrator import run_url
from resources.settings import Settings
from resources.transport.gates import BreakerState, deployment_gate
from resources.warehouse.ledger.scheduled_run_reads import RETRIED
from resources.warehouse.sql import Sql
from schedules.services import Services

HORIZON_DAYS = 30
"""A calendar with fewer days left is reported."""
LOOK_BACK = timedelta(days=1)
LATE = timedelta(minutes=5)
"""A retry that is due does not come later than this: the table is looked at every half minute."""
_MOST_STALE = 10
"""More stale dimensions on one day are one notification: something larger is wrong."""
API = "/api/v1"
_STALE = (
    "SELECT dimension, latest_date, cutoff FROM calc_freshness_snapshot WHERE snapshot_date=? AND is_stale=1 "
    "ORDER BY dimension"
)
Breakers = Mapping[str, Mapping[str, Any]]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notice:
    """One thing to report; `key` is what it is about."""

    kind: str
    key: str
    title: str
    content: str
    link: str


def shared_breakers(settings: Settings) -> Breakers:
    """Name -> {state, opened_at} of every breaker, as all processes of this deployment share them."""
    gate = deployment_gate(settings)
    try:
        return gate.breakers()
    finally:
        gate.close()


def notices(services: Services, breakers: Breakers) -> Iterator[Notice]:
    """What is so now. Raises StorageError."""
    yield from failed_tasks(services)
    yield from stale_dimensions(services)
    for name, breaker in breakers.items():
        if breaker["state"] == BreakerState.OPEN:
            content = f"{name} 自 {breaker['opened_at']} 起断开，期间改用其他数据源。"
            yield Notice("breaker_open", name, f"熔断：{name}", content, f"{API}/datamgr/probe-all")
    today = services.clock.now().date().isoformat()
    left = services.calendar.days_left(today)
    if left < HORIZON_DAYS:
        until = services.calendar.confirmed_until
        content = (
            f"交易所公布的交易日历到 {until} 为止，还剩 {left} 天；之后按节假日规则推算，公布后自动更正。"
        )
        yield Notice("calendar_horizon", until, "公布的交易日历即将用完", content, "/health")


def failed_tasks(services: Services) -> Iterator[Notice]:
    """Scheduled runs of the table since yesterday that failed, as a whole or in part, and that no retry
    follows: their attempts are used up, or the next one did not come when it was due (the run said that a
    retry is of no use)."""
    now = services.clock.now()
    for row in services.scheduled_runs.since(now - LOOK_BACK).values():
        task = BY_KEY.get(row.task_key)
        if task is None or row.status not in RETRIED or row.finished_at is None:
            continue
        if row.finished_at < now - LOOK_BACK:
            continue
        due = row.finished_at + timedelta(seconds=task.retry_delay_s) + LATE
        if row.attempt <= task.retries(began=row.started_at is not None) and now < due:
            continue
        page = run_url(services.settings, row.run_id)
        what = "任务失败" if row.status == "failed" else "任务部分完成"
        title, why = f"{what}：{task.name}（{row.trade_date or row.slot}）", row.reason or "未说明原因"
        link = page or f"{API}/tasks/runs?key={row.task_key}"
        yield Notice("task_failed", f"{row.task_key} {row.slot}", title, why, link)


def stale_dimensions(services: Services) -> Iterator[Notice]:
    """Of today's freshness snapshot."""
    today = services.clock.now().date().isoformat()
    link = f"{API}/datamgr/stats/freshness"
    rows = Sql(services.engine).rows(_STALE, (today,))
    if len(rows) > _MOST_STALE:
        names = "、".join(str(row[0]) for row in rows[:_MOST_STALE])
        yield Notice("stale", "many", f"{len(rows)} 个数据维度过期", f"{names} 等", link)
        return
    for dimension, latest, cutoff in rows:
        content = f"最新 {latest or '无'}，应不早于 {cutoff or '—'}。"
        yield Notice("stale", str(dimension), f"数据过期：{dimension}", content, link)


def tell(services: Services, breakers: Callable[[Settings], Breakers] = shared_breakers) -> int:
    """Store what was not reported today; how many. Raises StorageError."""
    store = NotificationStore(services.settings.data_path / "notifications")
    now, reported = services.clock.now(), 0
    for one in notices(services, breakers(services.settings)):
        added = store.add(one.kind, one.title, one.content, now=now, key=one.key, link=one.link)
        reported += added is not None
    return reported


def try_tell(services: Services) -> None:
    """`tell` for a thread that must not end."""
    try:
        if services.migrated:
            tell(services)
    except PlatformError as error:
        log.warning("operations: %s", error.message)
