"""The command `load_watched`: what belongs to the securities of the watch list, and the newest trade date.

Level, not edge: what is loaded of each security is on the list itself, so that a load that was interrupted
goes on, and one after some days brings the days between.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.errors import ConflictError, InputError, PlatformError
from platform_assets.research.known_codes import near_codes
from resources.warehouse.ledger.loads import CODE_HISTORY
from resources.warehouse.ledger.watch_list import LOAD_WATCHED, Watched, WatchList
from resources.warehouse.sql import Sql
from schedules import run_tags
from schedules.commands.command_context import Work
from schedules.commands.initial_load import (
    CALCULATIONS,
    DAY,
    LAKE,
    SECURITY_LIST,
    ranges,
)
from schedules.runs.outcome import RunOutcome

INDICES = "index_daily_sync"
OF_A_STOCK = ("indicator_daily", "pattern_daily", "chip_daily")
"""What is calculated of each stock by itself, and not of the market that it is in."""
CALCULATED_DATES = 250
BARS = "fusion_kline_daily"


@dataclass(frozen=True)
class Step:
    """One run: a job of some codes from a first day on, or (no codes) of the newest trade date."""

    job: str
    codes: tuple[str, ...] = ()
    since: str = ""

    @property
    def name(self) -> str:
        if not self.codes:
            return self.job
        named = ", ".join(self.codes[:3]) + (
            f" and {len(self.codes) - 3} more" if len(self.codes) > 3 else ""
        )
        return f"{self.job} of {named} since {self.since}"

    @property
    def tags(self) -> dict[str, str]:
        if not self.codes:
            return {}
        # Batches of some codes are none of the market, whatever job writes them.
        return {
            run_tags.CODES: ",".join(self.codes),
            run_tags.SINCE: self.since,
            run_tags.TASK: CODE_HISTORY,
        }


def load_watched(work: Work) -> dict[str, Any]:
    """Args codes?, since?: put on the list before. Shows the same as `initial_load`, and `codes` with what is
    loaded of each. A code that is not listed is taken from the list again and fails the command. What follows
    from bars is calculated by a command of its own."""
    services = work.services
    watch, now = WatchList(services.engine), services.clock.now()
    codes = work.codes
    if codes:
        watch.add(codes, _since(work), by=work.command.requested_by or LOAD_WATCHED, now=now)
    newest = services.calendar.newest_complete(now)
    due = [one for one in watch.all() if (one.loaded_until or "") < newest]
    steps = [*_steps(due), *_newest(work, newest)]
    work.progress(newest=newest, steps=len(steps), done=[], partial={}, failed={})
    for number, step in enumerate(steps, start=1):
        work.check()
        work.progress(step=number, stage=step.name)
        since = str(services.calendar.on_or_after(step.since)) if step.since else ""
        outcome = work.run_job(
            step.job,
            partition_key=newest,
            trigger="backfill" if step.codes else "catchup",
            tags={**step.tags, **({run_tags.SINCE: since} if since else {})},
        )
        _note(work, step, outcome)
        if step.job == SECURITY_LIST:
            _refuse_unlisted(work, watch, due)
    failed = work.facts["failed"]
    if due:
        _ask_for_calculations(work, newest)
    if failed:
        raise PlatformError("; ".join(f"{name} failed: {why}" for name, why in failed.items()))
    return {**work.facts, "stage": "done"}


def _since(work: Work) -> str:
    since = work.args.get("since")
    if not isinstance(since, str):
        raise InputError("since", "is a day, YYYY-MM-DD")
    return since


def _steps(due: list[Watched]) -> Iterator[Step]:
    """The security list where one is new, then the codes that begin on the same day together."""
    if any(one.loaded_until is None for one in due):
        yield Step(SECURITY_LIST)
    groups: dict[tuple[str, bool], list[str]] = {}
    for one in due:
        groups.setdefault((one.loaded_until or one.since, one.is_index), []).append(one.code)
    for (since, indices), codes in sorted(groups.items()):
        yield Step(INDICES if indices else CODE_HISTORY, tuple(codes), since)


def _newest(work: Work, newest: str) -> Iterator[Step]:
    """The newest trade date in full, as a scheduled evening loads it."""
    if newest not in work.services.scheduled_runs.done_dates(DAY):
        yield Step(DAY)


def _note(work: Work, step: Step, outcome: RunOutcome) -> None:
    """Write down what came of a step. Codes whose bars are there are loaded, also where a table beside them
    is not: the scheduled evenings ask for that again."""
    services = work.services
    why = outcome.error or f"see the run {outcome.run_id}"
    loaded = outcome.success or (outcome.partial and _has_bars(work, step, outcome.run_id))
    facts = work.facts
    if outcome.success:
        work.progress(done=[*facts["done"], step.name])
    elif loaded:
        work.progress(partial={**facts["partial"], step.name: why})
    else:
        work.progress(failed={**facts["failed"], step.name: why})
    if loaded and step.job in (CODE_HISTORY, INDICES):
        WatchList(services.engine).loaded(step.codes, work.facts["newest"], now=services.clock.now())


def _has_bars(work: Work, step: Step, run_id: str) -> bool:
    if step.job != CODE_HISTORY:
        return True
    rows = Sql(work.services.engine).rows(
        "SELECT 1 FROM sys_batch WHERE run_id=? AND table_name=? AND status IN ('success', 'partial')",
        (run_id, BARS),
    )
    return bool(rows)


def _refuse_unlisted(work: Work, watch: WatchList, due: list[Watched]) -> None:
    """InputError for new codes that the security list does not have; they are taken from the watch list."""
    new = [one.code for one in due if one.loaded_until is None and not one.is_index]
    if not new:
        return
    rows = Sql(work.services.engine).rows("SELECT code, name FROM fusion_stock_master")
    names = {str(code): str(name) for code, name in rows}
    unlisted = sorted(set(new) - names.keys())
    if unlisted:
        watch.remove(unlisted)
        near = (f"{code}{near_codes(code, names)}" for code in unlisted)
        raise InputError("codes", f"no listed stock, fund or bond: {', '.join(near)}")


def _ask_for_calculations(work: Work, newest: str) -> None:
    days = work.services.calendar.last(CALCULATED_DATES, newest)
    steps = [[name, first, last] for name in OF_A_STOCK for first, last in ranges(days)]
    args = {"steps": [*steps, [LAKE, newest, newest]]}
    with suppress(ConflictError):  # one is under way
        work.services.commands.enqueue_alone(CALCULATIONS, args, requested_by=LOAD_WATCHED)
