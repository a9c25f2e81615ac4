"""Filling a warehouse: a new one from the start, a known one from where it stopped.

Level, not edge: the plan is made from what has succeeded, so that a load that was interrupted goes on.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.calendar import TradeCalendar
from core.errors import ConflictError, InputError, PlatformError
from core.report_periods import due_on, open_report_periods, previous_period
from platform_assets.task_table import EOD_CORE
from schedules.commands.command_context import Work
from schedules.commands.kernel_compilation import wait_for_kernels
from schedules.runs.outcome import RunOutcome
from schedules.services import Services

DETAIL_DATES = 5
"""Newest trade dates that are loaded in full before the API comes."""
EARLIER_DATES = 10
"""Trade dates before these that follow in full behind it: their leaders have an outcome by now."""
EARLIER_AT_ONCE = 10
"""Trade dates of one such run: the portal is not asked for the ratios of more."""
PICKED_AT_ONCE = 100
"""Trade dates of one run of `earlier_picks`."""
FLOW_DATES = 50
"""Newest trade dates whose money flow a source tells of a whole market."""
RANGE_DAYS = 500
"""A range run emits one event per date and asset, and holds its bars in memory; each run pays the start of a
process. What a new warehouse loads (320 trade dates) is one run."""

_PERIODS_BESIDE = 4
"""Report periods before one that its figures are set beside: the quarters before it, the year end before it,
the same period a year earlier."""
_FEW = 2
"""Missing dates that are loaded one by one."""

SECURITY_LIST = "security_list"
HISTORY = "history"
REPORTS = "reports"
PAST = "history_and_reports"
"""Both of them, of one range."""
RECENT = "recent_days"
"""What `eod_core` loads, of several dates in one run: the same rows in a third of the time."""
CALCULATIONS = "calculations"
BAR_CALCULATIONS = "bar_calculations"
"""What needs bars alone, of every trade date that has them."""
QUANT = "quant_calc"
DAY = EOD_CORE
WHOLE_DAY = "whole_day"
"""Instead of `eod_core` at the first load: what the tasks of the evening load as well."""
EARLIER = "earlier_days"
DISCLOSED = "disclosed"
"""Holders, visits and buybacks since the deadline of the newest reports that are complete."""
FLOWS = "fund_flow"
"""A dataset: its assets are loaded without a job of their own."""
PICKS = "earlier_picks"
"""Wide rows and picks of the dates before these, as far back as there are bars."""
REVIEW = "daily_review"
"""The note of the newest session; it takes no trade date."""
OVERVIEW = "freshness_snapshot"
LAKE = "lake_publish"
"""The published tables of everything before it; it takes no trade date."""
SINGLE = (SECURITY_LIST, WHOLE_DAY, DAY, OVERVIEW)
"""Jobs for one trade date; the others take a range."""
BEHIND = (BAR_CALCULATIONS, DISCLOSED, EARLIER, FLOWS, PICKS, CALCULATIONS, REVIEW, OVERVIEW, LAKE)
"""Jobs that nobody waits for who waits for the data."""


@dataclass(frozen=True)
class Step:
    """One run of the load: a job for one trade date or a range of them."""

    job: str
    start: str
    end: str

    @property
    def name(self) -> str:
        return (
            f"{self.job} {self.start}" if self.start == self.end else f"{self.job} {self.start}..{self.end}"
        )


@dataclass(frozen=True)
class Loaded:
    """What the ledger says has succeeded: trade dates of `eod_core` and of `whole_day`, ends of the ranges of
    `history`, of `reports`, of `disclosed`, of `recent_days`, of `earlier_days`, of `earlier_picks`, of
    `bar_calculations` and of `calculations` (also dates of its scheduled task)."""

    days: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    reports: frozenset[str] = frozenset()
    disclosed: frozenset[str] = frozenset()
    from_bars: frozenset[str] = frozenset()
    calculated: frozenset[str] = frozenset()
    recent: frozenset[str] = frozenset()
    earlier: frozenset[str] = frozenset()
    picked: frozenset[str] = frozenset()

    @property
    def nothing(self) -> bool:
        return not (self.days or self.whole or self.ranges or self.recent)


def plan_load(
    calendar: TradeCalendar,
    newest: str,
    loaded: Loaded,
    *,
    history_dates: int,
    earlier_dates: int = EARLIER_DATES,
    picks: bool = True,
) -> list[Step]:
    """The runs that bring the warehouse up to `newest`: the security list of a new one, bars of
    `history_dates` trade dates where they are missing, the reports of those dates, the newest five dates in
    full (of a new warehouse the newest with all that its tasks load); then what is calculated from these five
    and from bars as far back as they are, what was disclosed since the newest deadline, and what is made of
    the `earlier_dates` before the five; with `picks` also wide rows and picks of all dates before those."""
    window = calendar.last(history_dates, newest)
    newest_dates = window[-DETAIL_DATES:]
    ranged = max(loaded.recent, default="")
    done = {*loaded.days, *loaded.whole, *(day for day in window if day <= ranged)}
    days = [day for day in newest_dates if day not in done]
    known = max(loaded.ranges, default="")
    bars = [day for day in window if day > known and day not in done]
    steps = [Step(SECURITY_LIST, newest, newest)] if loaded.nothing else []
    past = ranges(bars) if len(bars) > len(days) else []
    since = min(window[0], _reports_since(calendar, newest))
    if past == [(since, newest)]:
        steps.append(Step(PAST, since, newest))
    else:
        steps += [Step(HISTORY, start, end) for start, end in past]
        if past or known > max(loaded.reports, default=""):
            steps.append(Step(REPORTS, since, newest))
    last = DAY if loaded.days or loaded.whole else WHOLE_DAY
    if len(days) > _FEW:
        steps += [Step(RECENT, days[0], days[-2]), Step(last, days[-1], days[-1])]
    else:
        steps += [Step(last if day == newest else DAY, day, day) for day in days]
    return steps + _behind(calendar, window, loaded, new_days=bool(days), new_bars=len(bars) > len(days),
                           earlier_dates=earlier_dates, picks=picks)  # fmt: skip


def _reports_since(calendar: TradeCalendar, newest: str) -> str:
    """A trade date on which the reports came out that the newest ones are compared with: of the oldest period
    that is being disclosed perhaps nobody has reported yet, so those are of the period before it."""
    period = previous_period(open_report_periods(newest)[0])
    for _ in range(_PERIODS_BESIDE):
        period = previous_period(period)
    return calendar.on_or_after(due_on(period))


def _all_disclosed(newest: str) -> str:
    """The newest report period whose deadline has passed."""
    period = open_report_periods(newest)[0]
    return period if due_on(period) < newest else previous_period(period)


def _behind(
    calendar: TradeCalendar,
    window: list[str],
    loaded: Loaded,
    *,
    new_days: bool,
    new_bars: bool,
    earlier_dates: int,
    picks: bool,
) -> list[Step]:
    """What follows the data. Of earlier dates the newer ones come first."""
    newest, first = window[-1], window[-DETAIL_DATES:][0]
    steps: list[Step] = []
    # The newest dates first: until then the market's phase, signals and leaders would be those of last year.
    if new_days or newest not in loaded.calculated:
        steps += [Step(CALCULATIONS, first, newest), Step(REVIEW, newest, newest)]
    known = max(loaded.ranges, default="")
    if new_bars or known > max(loaded.from_bars, default=""):
        steps += [Step(BAR_CALCULATIONS, start, end) for start, end in ranges(window)]
    if new_bars or known > max(loaded.disclosed, default=""):
        steps.append(Step(DISCLOSED, calendar.on_or_after(due_on(_all_disclosed(newest))), newest))
    if earlier_dates:
        before = window[:-DETAIL_DATES]
        full, rest = before[-earlier_dates:], before[:-earlier_dates]
        chunks = _chunks(full, EARLIER_AT_ONCE)
        if len(loaded.earlier) < len(chunks):
            steps += [Step(EARLIER, chunk[0], chunk[-1]) for chunk in chunks]
            # A review looks at what came after: the newest dates once more, with those before them.
            steps.append(Step(CALCULATIONS, full[0], newest))
        picked = _chunks(rest, PICKED_AT_ONCE) if picks else []
        if len(loaded.picked) < len(picked):
            flows = [day for day in rest if day >= window[-FLOW_DATES:][0]]
            steps += [Step(FLOWS, flows[0], flows[-1])] if flows else []
            steps += [Step(PICKS, chunk[0], chunk[-1]) for chunk in picked]
    return [*steps, Step(OVERVIEW, newest, newest), Step(LAKE, newest, newest)] if steps else []


def _chunks(days: list[str], size: int) -> list[list[str]]:
    """At most `size` dates each, the newest first."""
    return [days[max(0, end - size) : end] for end in range(len(days), 0, -size)]


def ranges(days: list[str]) -> list[tuple[str, str]]:
    """Ascending trade dates as ranges of less than RANGE_DAYS each."""
    parts: list[tuple[str, str]] = []
    for day in days:
        if parts:
            start = parts[-1][0]
            if (datetime.fromisoformat(day) - datetime.fromisoformat(start)).days < RANGE_DAYS:
                parts[-1] = (start, day)
                continue
        parts.append((day, day))
    return parts


def initial_load(work: Work) -> dict[str, Any]:
    """Command `initial_load`: args `history_dates` (SAMPLE_HISTORY_DATES). Shows in the command's result
    what it does: step, steps, stage, done, partial, failed. A day that fails does not keep the later ones
    out, nor do reports; the command fails at its end, and the next one takes up what is missing. A step that
    brought all tables, but not all of their parts (an exchange), is done and says which: the sensor `gaps`
    asks for them again. The calculations follow as a command of their own: nobody who waits for the data
    waits for them."""
    services = work.services
    newest = services.calendar.newest_complete(services.clock.now())
    count = work.whole("history_dates", services.settings.sample_history_dates)
    sample = services.settings.data_source == "mock"
    earlier = work.whole("earlier_dates", EARLIER_DATES if sample else 0)
    loaded = _loaded(services)
    # Quotes and money flow of the past take a call a code: nothing that real upstreams are asked unbidden.
    planned = plan_load(
        services.calendar, newest, loaded, history_dates=count, earlier_dates=earlier, picks=sample
    )
    steps = [step for step in planned if step.job not in BEHIND]
    trigger = "backfill" if loaded.nothing else "catchup"
    work.progress(newest=newest)
    failed = _carry_out(work, steps, trigger, vital=(SECURITY_LIST, HISTORY, PAST))
    behind = planned[len(steps) :]
    if behind:
        _ask_for_calculations(services, behind)
    return _ended(work, failed)


def _carry_out(work: Work, steps: list[Step], trigger: str, vital: tuple[str, ...] = ()) -> dict[str, str]:
    """Step -> why it failed. One that fails does not keep the later ones out, unless its job is `vital` and
    nothing of it was loaded."""
    done: list[str] = []
    partial: dict[str, str] = {}
    failed: dict[str, str] = {}
    work.progress(steps=len(steps), done=done, partial=partial, failed=failed)
    for number, step in enumerate(steps, start=1):
        work.check()
        work.progress(step=number, stage=step.name)
        outcome = _run(work, step, trigger)
        if step.job in vital and not outcome.partial:
            work.must(outcome, step.name)
        reason = outcome.error or f"see the run {outcome.run_id}"
        if outcome.success or outcome.lacks_parts:
            done.append(step.name)
            partial |= {} if outcome.success else {step.name: reason}
        else:
            failed[step.name] = reason
        work.progress(done=done, partial=partial, failed=failed)
    return failed


def _ended(work: Work, failed: dict[str, str]) -> dict[str, Any]:
    if failed:
        raise PlatformError("; ".join(f"{name} failed: {why}" for name, why in failed.items()))
    return {**work.facts, "stage": "done"}


def _loaded(services: Services) -> Loaded:
    done = services.scheduled_runs.done_dates
    return Loaded(
        days=done(DAY),
        whole=done(WHOLE_DAY),
        ranges=done(HISTORY) | done(PAST),
        reports=done(REPORTS) | done(PAST),
        disclosed=done(DISCLOSED),
        from_bars=done(BAR_CALCULATIONS),
        calculated=done(CALCULATIONS) | done(QUANT),
        recent=done(RECENT),
        earlier=done(EARLIER),
        picked=done(PICKS),
    )


def _run(work: Work, step: Step, trigger: str) -> RunOutcome:
    single, dated = step.job in SINGLE, step.job not in (REVIEW, LAKE)
    return work.run_job(
        step.job,
        partition_key=step.start if single else None,
        partition_range=(step.start, step.end) if dated and not single else None,
        trigger=trigger,
    )


def _ask_for_calculations(services: Services, steps: list[Step]) -> None:
    args = {"steps": [[step.job, step.start, step.end] for step in steps]}
    with suppress(ConflictError):  # one is under way
        services.commands.enqueue_alone(CALCULATIONS, args, requested_by="initial_load")


def _asked_steps(asked: object) -> list[Step]:
    """The argument `steps` of the command `calculations`; InputError where it is no list of runs."""
    shape = "is a list of [job, first trade date, last trade date]"
    if not isinstance(asked, list) or not asked:
        raise InputError("steps", shape)
    for number, one in enumerate(asked):
        if not isinstance(one, list) or len(one) != 3 or not all(isinstance(part, str) for part in one):
            raise InputError(f"steps[{number}]", shape.replace("a list of ", ""))
    return [Step(*one) for one in asked]


def calculations(work: Work) -> dict[str, Any]:
    """Command `calculations`: the runs `steps` ([job, first and last trade date]), as soon as the kernels are
    compiled. Shows the same as `initial_load`. One that fails does not keep the later ones out; the command
    fails at its end."""
    steps = _asked_steps(work.args.get("steps"))
    wait_for_kernels(work.check)
    return _ended(work, _carry_out(work, steps, "catchup"))
