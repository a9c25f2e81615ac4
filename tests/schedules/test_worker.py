"""The worker carries out commands, keeps what it works on alive, and sets right what a dead one left."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from core.errors import ConflictError, NotFound, PlatformError, Unavailable
from core.report_periods import open_on_any
from platform_assets.definitions.run_lease import LEASE_TAG
from resources.orchestrator import RANGE_END, RANGE_START
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.commands import OPEN, Command, CommandQueue
from resources.warehouse.ledger.heartbeats import Node, this_node
from resources.warehouse.locks import DOMAINS
from schedules import run_tags as tags
from schedules.commands import command_context
from schedules.commands.command_context import Handler, Work
from schedules.commands.handlers import HANDLERS
from schedules.commands.initial_load import RANGE_DAYS, Loaded, Step, plan_load, ranges
from schedules.commands.reaper import dead_nodes, reap
from schedules.commands.worker import Worker
from schedules.runs.left_runs import fail_runs, left_runs
from schedules.runs.outcome import RunFate
from schedules.runs.records import DagsterRuns
from schedules.services import Services
from tests.schedules.runs import EndedRuns

JOBS = (
    "fusion_kline_sync",
    "fusion_daily_sync",
    "fusion_wide_sync",
    "fusion_codes",
    "history",
    "reports",
    "history_and_reports",
    "disclosed",
    "security_list",
    "eod_core",
    "whole_day",
    "recent_days",
    "earlier_days",
    "bar_calculations",
    "calculations",
    "daily_review",
    "freshness_snapshot",
    "lake_publish",
)


class FakeRunner(EndedRuns):
    """Runs that end as the test says, and what they were given."""

    def __init__(self, *, failing: tuple[str, ...] = (), jobs: tuple[str, ...] = JOBS) -> None:
        super().__init__()
        self.calls: list[tuple[str, str | None, dict[str, str]]] = []
        self.failing = failing
        self.ends: dict[str, RunFate] = {}
        self.known = jobs
        self.during: Callable[[str], None] = lambda _job: None

    def run(self, job: str, run_id: str, partition_key: str | None, tags: Mapping[str, str]) -> RunFate:
        if job not in self.known:
            raise NotFound(f"no job {job!r}")
        self.calls.append((job, partition_key, dict(tags)))
        self.during(job)
        if job in self.ends:
            return self.ends[job]
        failed = job in self.failing or f"{job} {partition_key}" in self.failing
        return RunFate("failed", "upstream is silent") if failed else RunFate("success")

    @property
    def jobs(self) -> list[tuple[str, str | None]]:
        return [(job, key) for job, key, _ in self.calls]


def do(services: Services, name: str, args: dict[str, Any], runner: FakeRunner, **more: Any) -> Command:
    """One command from the queue to its end."""
    asked = services.commands.enqueue(name, args, requested_by="t", **more)
    worker = Worker(services, runner)
    assert worker.work_once() is not None
    return services.commands.get(asked.id)


def drain(services: Services, runner: FakeRunner) -> list[str]:
    """Carry out what is queued; the jobs that ran."""
    runner.calls = []
    worker = Worker(services, runner)
    while worker.work_once() is not None:
        pass
    return [job for job, _ in runner.jobs]


def test_run_job_is_a_run_with_tags_and_a_row_in_the_ledger(services: Services) -> None:
    runner = FakeRunner()
    done = do(services, "run_job", {"job": "eod_core", "partition_key": "2026-08-21"}, runner)

    assert (done.status, done.run_id) == ("success", done.result["run_id"])
    ((job, key, carried),) = runner.calls
    assert (job, key) == ("eod_core", "2026-08-21")
    assert carried[tags.TRIGGER] == "manual"
    assert carried[tags.TRADE_DATE] == "2026-08-21"
    assert carried[tags.COMMAND] == str(done.id)
    row = services.scheduled_runs.latest()["eod_core"]
    assert (row.status, row.trigger, row.command_id, row.run_id) == (
        "success",
        "manual",
        done.id,
        done.run_id,
    )
    assert services.scheduled_runs.done("eod_core", "2026-08-21")


def test_a_failing_run_fails_the_command_with_its_reason(services: Services) -> None:
    done = do(services, "run_job", {"job": "eod_core"}, FakeRunner(failing=("eod_core",)))

    assert (done.status, done.error) == ("failed", "eod_core failed: upstream is silent")
    assert services.scheduled_runs.latest()["eod_core"].reason == "upstream is silent"


@pytest.mark.parametrize(
    ("name", "args", "kind", "error"),
    [
        ("run_job", {}, "InputError", "job: names the job"),
        ("run_job", {"job": "eod_core", "partition_range": "2026"}, "InputError", "partition_range"),
        ("run_job", {"job": "nothing"}, "NotFound", "no job 'nothing'"),
        ("bake", {}, "InputError", "'bake' is unknown"),
        ("fusion_sync", {"codes": ["600519"] * 501}, "InputError", "501 given"),
        ("calculations", {}, "InputError", "steps: is a list of [job, first trade date"),
        ("calculations", {"steps": [["calculations", "2026-08-21"]]}, "InputError", "steps[0]: is [job"),
        ("initial_load", {"history_dates": "many"}, "InputError", "history_dates: is a whole number"),
    ],
)
def test_wrong_commands_fail_by_name(
    services: Services, name: str, args: dict[str, Any], kind: str, error: str
) -> None:
    done = do(services, name, args, FakeRunner())

    assert (done.status, done.result["error_kind"]) == ("failed", kind)
    assert error in str(done.error)
    assert services.scheduled_runs.runs()[1] == 0


def test_a_handler_that_breaks_does_not_end_the_worker(services: Services) -> None:
    def broken(_work: Work) -> dict[str, Any]:
        return {"x": 1 / 0}

    worker = Worker(services, FakeRunner(), handlers={"broken": Handler(broken)})
    asked = services.commands.enqueue("broken", requested_by="t")
    worker.work_once()

    assert services.commands.get(asked.id).error == "ZeroDivisionError: division by zero"
    assert worker.work_once() is None


def test_a_range_goes_as_tags(services: Services) -> None:
    runner = FakeRunner()
    do(services, "run_job", {"job": "history", "partition_range": ["2026-08-19", "2026-08-21"]}, runner)

    ((_, key, carried),) = runner.calls
    assert key is None
    assert (carried[RANGE_START], carried[RANGE_END]) == ("2026-08-19", "2026-08-21")


def test_a_full_fusion_holds_all_locks_while_its_jobs_run(services: Services) -> None:
    runner = FakeRunner()
    held: list[bool] = []

    def during(_job: str) -> None:
        held.append(all(state.held for state in services.locks.states()))
        with pytest.raises(ConflictError):
            services.locks.take(("daily",), "another")

    runner.during = during
    done = do(services, "fusion_sync", {"date": "2026-08-21"}, runner)

    assert done.status == "success"
    assert done.result["locked"] is True
    assert held == [True] * 3
    assert [job for job, _ in runner.jobs] == ["fusion_kline_sync", "fusion_daily_sync", "fusion_wide_sync"]
    assert all('"owner": "command:' in carried[LEASE_TAG] for _, _, carried in runner.calls)
    assert not any(state.held for state in services.locks.states())


def test_a_full_fusion_conflicts_before_anything_runs(services: Services) -> None:
    lease = services.locks.take(("wide",), "somebody")
    runner = FakeRunner()
    done = do(services, "fusion_sync", {}, runner)
    services.locks.release(lease)

    assert (done.status, done.result["error_kind"]) == ("failed", "ConflictError")
    assert "wide is held by somebody" in str(done.error)
    assert runner.calls == []


@pytest.mark.parametrize(
    ("parts", "jobs"),
    [
        ([], ["quant_calc"]),
        (["patterns"], ["pattern_daily", "signal_hit"]),
        (
            ["patterns", "cyq", "indicators"],
            [
                "pattern_daily",
                "chip_daily",
                "indicator_daily",
                "signal_hit",
            ],
        ),
        (["cyq"], ["chip_daily"]),
    ],
)
def test_a_recalculation_makes_the_signals_anew_with_what_they_follow_from(
    services: Services, parts: list[str], jobs: list[str]
) -> None:
    runner = FakeRunner(jobs=tuple(jobs))
    done = do(services, "quant_recalc", {"date": "2026-08-21", "parts": parts, "codes": ["600519"]}, runner)

    assert done.status == "success"
    assert [(job, key) for job, key, _ in runner.calls] == [(job, "2026-08-21") for job in jobs]
    assert all(carried[tags.CODES] == "600519" for _, _, carried in runner.calls)


def test_a_fusion_by_codes_takes_no_lock_and_is_no_task_of_the_day(services: Services) -> None:
    lease = services.locks.take(DOMAINS, "somebody")
    runner = FakeRunner()
    done = do(services, "fusion_sync", {"codes": ["600519", "000001"], "date": "2026-08-21"}, runner)
    services.locks.release(lease)

    assert (done.status, done.result["jobs"]) == ("success", {"fusion_codes": "success"})
    ((job, key, carried),) = runner.calls
    assert (job, key, carried[tags.CODES]) == ("fusion_codes", "2026-08-21", "600519,000001")
    assert carried[tags.TASK] == "fusion_codes"
    # The tasks have not run: their last run is what it was, and who waits for them goes on waiting.
    assert set(services.scheduled_runs.latest()) == {"fusion_codes"}
    assert not services.scheduled_runs.done("fusion_kline_sync", "2026-08-21")


def test_one_failing_job_does_not_keep_the_others_of_a_full_fusion_out(services: Services) -> None:
    done = do(services, "fusion_sync", {"date": "2026-08-21"}, FakeRunner(failing=("fusion_kline_sync",)))

    assert (done.status, done.result["jobs"]) == (
        "failed",
        {"fusion_kline_sync": "failed", "fusion_daily_sync": "success", "fusion_wide_sync": "success"},
    )


# -- the load ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "newest"),
    [
        ("2026-08-21 15:29", "2026-08-20"),
        ("2026-08-21 15:30", "2026-08-21"),
        ("2026-08-22 09:00", "2026-08-21"),
        ("2026-08-24 09:00", "2026-08-21"),
    ],
)
def test_a_date_is_complete_half_an_hour_after_the_close(services: Services, now: str, newest: str) -> None:
    assert services.calendar.newest_complete(datetime.fromisoformat(now)) == newest


def test_a_new_warehouse_is_planned_in_full_and_a_known_one_from_where_it_stands(services: Services) -> None:
    def plan(loaded: Loaded, dates: int = 320) -> list[str]:
        return [step.name for step in plan_load(services.calendar, "2026-08-25", loaded, history_dates=dates)]

    days = services.calendar.dates
    from_bars = f"bar_calculations {days[0]}..2026-08-25"
    of_days, overview = f"calculations {days[-5]}..2026-08-25", "freshness_snapshot 2026-08-25"
    review = "daily_review 2026-08-25"
    lake = "lake_publish 2026-08-25"
    calculated = [of_days, review, overview, lake]
    recent, newest = f"recent_days {days[0]}..{days[-2]}", f"whole_day {days[-1]}"
    assert plan(Loaded()) == ["security_list 2026-08-25", recent, newest, *calculated]
    assert plan(Loaded(), 2)[1:3] == ["eod_core 2026-08-24", "whole_day 2026-08-25"]
    some = Loaded(days=frozenset(days[:2] + days[3:4]), ranges=frozenset({"2026-08-25"}))
    assert plan(some)[0] == f"reports {days[0]}..2026-08-25"
    some = replace(some, reports=frozenset({"2026-08-25"}))
    missing = ["eod_core 2026-08-21", "eod_core 2026-08-25", of_days, review]
    disclosed = f"disclosed {days[0]}..2026-08-25"
    assert plan(some) == [*missing, from_bars, disclosed, overview, lake]
    some = replace(some, disclosed=frozenset({"2026-08-25"}))
    assert plan(some) == [*missing, from_bars, overview, lake]
    some = replace(some, from_bars=frozenset({"2026-08-25"}))
    assert plan(some) == ["eod_core 2026-08-21", "eod_core 2026-08-25", *calculated]
    assert plan(Loaded(days=frozenset(days))) == calculated
    cut_off = Loaded(ranges=frozenset({"2026-08-25"}), reports=frozenset({"2026-08-25"}))
    assert plan(cut_off) == [recent, newest, of_days, review, from_bars, disclosed, overview, lake]
    cut_off = replace(cut_off, recent=frozenset({days[-2]}))
    assert plan(cut_off) == [newest, of_days, review, from_bars, disclosed, overview, lake]
    assert plan(Loaded(days=frozenset(days), calculated=frozenset({"2026-08-25"}))) == []
    assert plan(Loaded(whole=frozenset(days), calculated=frozenset({"2026-08-25"}))) == []


def test_dates_before_the_newest_five_follow_once_in_full() -> None:
    calendar = shipped_calendar()
    days = calendar.last(320, "2026-08-21")

    def behind(earlier: set[str], dates: int = 10) -> list[str]:
        loaded = Loaded(frozenset(days), calculated=frozenset({days[-1]}), earlier=frozenset(earlier))
        planned = plan_load(calendar, days[-1], loaded, history_dates=320, earlier_dates=dates, picks=False)
        return [step.name for step in planned]

    nearer, farther = f"earlier_days {days[-15]}..{days[-6]}", f"earlier_days {days[-20]}..{days[-16]}"
    last = [f"freshness_snapshot {days[-1]}", f"lake_publish {days[-1]}"]
    assert behind(set()) == [nearer, f"calculations {days[-15]}..{days[-1]}", *last]
    assert behind({days[-6]}) == []
    reported = [nearer, farther, f"calculations {days[-20]}..{days[-1]}", *last]
    assert behind(set(), 15) == reported
    assert behind({days[-6]}, 15) == reported
    assert behind({days[-6], days[-16]}, 15) == []


def test_picks_follow_as_far_back_as_the_bars() -> None:
    calendar = shipped_calendar()
    days = calendar.last(320, "2026-08-21")

    def behind(picked: set[str]) -> list[Step]:
        loaded = Loaded(
            frozenset(days), calculated=frozenset({days[-1]}), earlier=frozenset({days[-6]}),
            picked=frozenset(picked),
        )  # fmt: skip
        return plan_load(calendar, days[-1], loaded, history_dates=320)

    flows, *picks, overview, lake = behind(set())
    assert (flows.name, overview.job, lake.job) == (
        f"fund_flow {days[-50]}..{days[-16]}",
        "freshness_snapshot",
        "lake_publish",
    )
    covered = [day for one in picks[::-1] for day in calendar.between(one.start, one.end)]
    assert covered == days[:-15]
    assert all(step.job == "earlier_picks" for step in picks)
    assert behind({step.end for step in picks}) == []


def test_the_past_of_a_new_warehouse_is_one_run_and_a_long_one_is_split() -> None:
    calendar = shipped_calendar()
    steps = plan_load(calendar, "2026-08-21", Loaded(), history_dates=320)
    assert [step.job for step in steps] == [
        "security_list", "history_and_reports", "recent_days", "whole_day", "calculations", "daily_review",
        "bar_calculations", "disclosed",
        "earlier_days", "calculations", "fund_flow", *["earlier_picks"] * 4,
        "freshness_snapshot", "lake_publish",
    ]  # fmt: skip
    assert steps[1].name == f"history_and_reports {calendar.last(320, '2026-08-21')[0]}..2026-08-21"
    long = plan_load(calendar, "2026-08-21", Loaded(), history_dates=640)
    history = [step for step in long if step.job == "history"]
    assert [step.job for step in long[:4]] == ["security_list", "history", "history", "reports"]
    assert history[0].start == calendar.last(640, "2026-08-21")[0]
    assert history[-1].end == "2026-08-21"
    assert calendar.offset(history[0].end, 1) == history[1].start
    for start, end in ranges(calendar.last(1000, "2026-08-21")):
        assert (datetime.fromisoformat(end) - datetime.fromisoformat(start)).days < RANGE_DAYS


@pytest.mark.parametrize(
    ("newest", "told", "since"),
    [
        # Day -> the newest period that many have told; the oldest that its figures are set beside.
        ("2026-01-15", "2025-09-30", "2024-09-30"),
        ("2026-04-01", "2025-09-30", "2024-09-30"),
        ("2026-06-10", "2026-03-31", "2025-03-31"),
        ("2026-08-21", "2026-03-31", "2025-03-31"),
        ("2026-11-20", "2026-06-30", "2025-06-30"),
    ],
)
def test_reports_reach_back_to_those_that_the_newest_are_set_beside(
    newest: str, told: str, since: str
) -> None:
    calendar = shipped_calendar()

    def periods(dates: int) -> list[str]:
        steps = plan_load(calendar, newest, Loaded(), history_dates=dates)
        (reports,) = [step for step in steps if step.job in ("reports", "history_and_reports")]
        assert reports.end == newest
        return list(open_on_any(calendar.between(reports.start, reports.end)))

    few = periods(20)
    assert few[0] <= since
    assert few.index(told) - few.index(since) == 4
    assert set(few) <= set(periods(320))


@pytest.mark.parametrize(
    ("newest", "since"),
    [
        ("2026-01-15", "2025-10-31"),
        ("2026-03-31", "2025-10-31"),
        ("2026-04-30", "2025-10-31"),
        ("2026-05-08", "2026-04-30"),
        ("2026-08-21", "2026-04-30"),
        ("2026-11-20", "2026-11-02"),  # 31 October is a Saturday
        ("2026-12-16", "2026-11-02"),
    ],
)
def test_holders_and_visits_are_loaded_since_the_deadline_that_has_passed(newest: str, since: str) -> None:
    steps = plan_load(shipped_calendar(), newest, Loaded(), history_dates=80)

    assert [(one.start, one.end) for one in steps if one.job == "disclosed"] == [(since, newest)]


def test_a_long_pause_is_made_up_for_with_history_and_days() -> None:
    calendar = shipped_calendar()
    loaded = Loaded(days=frozenset(calendar.last(3, "2026-07-03")), ranges=frozenset({"2026-07-01"}))

    steps = plan_load(calendar, "2026-08-21", loaded, history_dates=320)

    newest = calendar.last(5, "2026-08-21")
    after = calendar.offset("2026-07-03", 1)
    behind = ("bar_calculations", "earlier_days", "fund_flow", "earlier_picks")
    assert [step.name for step in steps if step.job not in behind] == [
        f"history {after}..2026-08-21",
        f"reports {calendar.last(320, '2026-08-21')[0]}..2026-08-21",
        f"recent_days {newest[0]}..{newest[-2]}",
        "eod_core 2026-08-21",
        f"calculations {newest[0]}..2026-08-21",
        "daily_review 2026-08-21",
        "disclosed 2026-04-30..2026-08-21",
        f"calculations {calendar.last(15, '2026-08-21')[0]}..2026-08-21",
        "freshness_snapshot 2026-08-21",
        "lake_publish 2026-08-21",
    ]
    recalculated = [step for step in steps if step.job == "bar_calculations"]
    assert (recalculated[0].start, recalculated[-1].end) == (
        calendar.last(320, "2026-08-21")[0],
        "2026-08-21",
    )


def test_a_day_that_fails_keeps_no_other_out_and_is_taken_up_again(services: Services) -> None:
    services.clock.at = datetime(2026, 8, 25, 16, 0)  # type: ignore[attr-defined]
    runner = FakeRunner(failing=("whole_day 2026-08-25",))
    first = do(services, "initial_load", {}, runner)
    assert (first.status, first.result["steps"], first.result["newest"]) == ("failed", 3, "2026-08-25")
    assert first.error == "whole_day 2026-08-25 failed: upstream is silent"
    assert len(runner.calls) == 3
    assert drain(services, runner) == ["calculations", "daily_review", "freshness_snapshot", "lake_publish"]
    runner.failing, runner.calls = (), []

    second = do(services, "initial_load", {}, runner)

    assert second.status == "success"
    assert runner.jobs == [("whole_day", "2026-08-25")]
    assert drain(services, runner) == ["calculations", "daily_review", "freshness_snapshot", "lake_publish"]
    runner.calls = []
    assert do(services, "initial_load", {}, runner).status == "success"
    assert runner.calls == []


def test_a_load_that_lacks_a_part_is_done_and_one_that_lacks_a_table_is_not(services: Services) -> None:
    services.clock.at = datetime(2026, 8, 25, 16, 0)  # type: ignore[attr-defined]
    runner = FakeRunner()
    runner.ends["recent_days"] = RunFate("partial", "raw_futures: CZCE is missing", lacks_parts=True)

    lacking = do(services, "initial_load", {}, runner)
    (step,) = lacking.result["partial"]
    assert (lacking.status, step.partition(" ")[0]) == ("success", "recent_days")
    assert lacking.result["partial"][step] == "raw_futures: CZCE is missing"
    assert step in lacking.result["done"]

    drain(services, runner)
    runner.ends["recent_days"] = RunFate("partial", "raw_futures: no source answered")
    failed = do(services, "initial_load", {}, runner)
    assert failed.status == "failed"
    assert str(failed.error).startswith("recent_days ")
    assert str(failed.error).endswith(" failed: raw_futures: no source answered")


def test_the_calculations_follow_a_load_as_one_command(services: Services) -> None:
    services.clock.at = datetime(2026, 8, 25, 16, 0)  # type: ignore[attr-defined]
    runner = FakeRunner()
    do(services, "initial_load", {}, runner)

    (asked,) = services.commands.of_name("calculations", statuses=("queued",))
    assert asked.args["steps"] == [
        ["calculations", services.calendar.dates[0], "2026-08-25"],
        ["daily_review", "2026-08-25", "2026-08-25"],
        ["freshness_snapshot", "2026-08-25", "2026-08-25"],
        ["lake_publish", "2026-08-25", "2026-08-25"],
    ]
    assert drain(services, runner) == ["calculations", "daily_review", "freshness_snapshot", "lake_publish"]
    do(services, "initial_load", {}, runner)
    assert services.commands.of_name("calculations", statuses=("queued",)) == []


def test_two_loads_that_end_at_once_ask_for_one_calculation(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.clock.at = datetime(2026, 8, 25, 16, 0)  # type: ignore[attr-defined]
    look = CommandQueue.of_name

    def overtaken(self: CommandQueue, command: str, **how: Any) -> list[Command]:
        found = look(self, command, **how)
        if command == "calculations" and how["statuses"] == OPEN:
            monkeypatch.undo()  # the other load looked as well, and is the first to ask
            services.commands.enqueue_alone(command, requested_by="another")
        return found

    monkeypatch.setattr(CommandQueue, "of_name", overtaken)
    assert do(services, "initial_load", {}, FakeRunner()).status == "success"

    (asked,) = services.commands.of_name("calculations", statuses=OPEN)
    assert asked.requested_by == "another"


def test_a_load_whose_worker_died_goes_on_with_what_is_missing(services: Services) -> None:
    services.clock.at = datetime(2026, 8, 25, 16, 0)  # type: ignore[attr-defined]
    asked = services.commands.enqueue("initial_load", requested_by="t")
    runner = FakeRunner()

    class Killed(BaseException):
        pass

    def during(_job: str) -> None:
        if len(runner.calls) == 3:
            raise Killed

    runner.during = during
    dying = Worker(services, runner)
    with pytest.raises(Killed):
        dying.work_once()
    services.commands.reap(owner=dying.node.node_id)
    assert services.commands.get(asked.id).status == "queued"
    assert [job for job, _ in runner.jobs] == ["security_list", "recent_days", "whole_day"]
    runner.calls, runner.during = [], lambda _job: None

    Worker(services, runner).work_once()

    assert services.commands.get(asked.id).status == "success"
    assert [job for job, _ in runner.jobs] == ["whole_day"]


def test_a_canceled_load_stops_between_two_runs(services: Services) -> None:
    services.clock.at = datetime(2026, 8, 25, 16, 0)  # type: ignore[attr-defined]
    runner = FakeRunner()
    asked = services.commands.enqueue("initial_load", requested_by="t")
    runner.during = lambda _job: void(services.commands.cancel(asked.id))
    Worker(services, runner).work_once()

    done = services.commands.get(asked.id)
    assert (done.status, len(runner.calls)) == ("canceled", 1)


def void(_value: object) -> None:
    """For lambdas whose result nobody wants."""


# -- processes --------------------------------------------------------------------------------------


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def test_the_worker_keeps_its_command_alive_and_hands_it_back_when_it_stops(services: Services) -> None:
    started, release = threading.Event(), threading.Event()

    def slow(work: Work) -> dict[str, Any]:
        started.set()
        release.wait(5)
        work.check()
        return {}

    services.__dict__["commands"] = CommandQueue(services.engine, lease_s=0.3)
    worker = Worker(services, FakeRunner(), handlers={"slow": Handler(slow)}, beat_s=0.05)
    asked = services.commands.enqueue("slow", requested_by="t")
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        assert started.wait(5)
        time.sleep(0.5)
        # Longer than its lease, and still nobody may take it.
        assert services.commands.reap() == []
        (node,) = services.heartbeats.all("worker")
        assert node.fresh()
        assert node.state["commands"] == [{"id": asked.id, "command": "slow"}]
        worker.stop()
        release.set()
    finally:
        release.set()
        worker.stop()
        thread.join(10)

    back = services.commands.get(asked.id)
    assert (back.status, back.attempts) == ("queued", 0)
    assert services.heartbeats.all("worker") == []


def test_a_long_command_does_not_hold_up_a_short_one(services: Services) -> None:
    started, release, short_done = threading.Event(), threading.Event(), threading.Event()

    def long(_work: Work) -> dict[str, Any]:
        started.set()
        release.wait(20)
        return {}

    def short(_work: Work) -> dict[str, Any]:
        short_done.set()
        return {}

    handlers = {"long": Handler(long, long=True), "short": Handler(short)}
    worker = Worker(services, FakeRunner(), handlers=handlers)
    waiting = services.commands.enqueue("long", requested_by="t")
    services.commands.enqueue("short", requested_by="t")
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        assert started.wait(10)
        assert short_done.wait(10)
        assert services.commands.get(waiting.id).status == "running"
    finally:
        release.set()
        until(lambda: services.commands.get(waiting.id).finished)
        worker.stop()
        thread.join(10)


def dead(services: Services, node_id: str = "host:0:1") -> Node:
    """The traces of a worker of this machine whose process is gone."""
    me = this_node("worker")
    gone = Node(node_id, "worker", me.host, 2**22 + 1, me.started_at, me.beat_at)
    services.heartbeats.beat(gone)
    return gone


def test_a_dead_node_is_known_by_its_process_or_its_silence(services: Services) -> None:
    me = this_node("worker")
    services.heartbeats.beat(me)
    dead(services)
    services.heartbeats.beat(Node("far:1:1", "worker", "far away", 1, me.started_at, me.beat_at))
    silent = Node("still:1:1", "worker", "far away", 1, me.started_at, me.beat_at)
    services.heartbeats.beat(silent)
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(
            "UPDATE sys_heartbeat SET beat_at='2020-01-01 00:00:00' WHERE node_id='still:1:1'"
        )
    predecessor = Node("same pid", "worker", me.host, os.getpid(), me.started_at, me.beat_at)
    services.heartbeats.beat(predecessor)

    assert {node.node_id for node in dead_nodes(services, me)} == {"host:0:1", "still:1:1", "same pid"}


def test_what_a_dead_worker_left_is_set_right(services: Services, tmp_path: Path) -> None:
    import dagster as dg

    @dg.op
    def nothing() -> None:
        """An op that does nothing."""

    @dg.job
    def work() -> None:
        nothing()

    gone = dead(services)
    asked = services.commands.enqueue("run_job", requested_by="t")
    command = services.commands.claim(gone.node_id)
    assert command is not None
    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        run = instance.create_run_for_job(
            work, status=dg.DagsterRunStatus.STARTED, tags={tags.OWNER: gone.node_id}
        )
        services.scheduled_runs.by_hand(
            "eod_core",
            at=services.clock.now(),
            trade_date="2026-08-21",
            command_id=asked.id,
            run_id=run.run_id,
        )
        services.locks.take(("wide",), f"command:{asked.id}")

        notes = reap(services, this_node("worker"), instance)

        # Its run goes on, until somebody takes the command up again.
        assert instance.get_run_by_id(run.run_id).status is dg.DagsterRunStatus.STARTED  # type: ignore[union-attr]
    assert len(notes) == 1
    assert services.commands.get(asked.id).status == "queued"
    assert services.scheduled_runs.latest()["eod_core"].status == "running"
    assert not any(state.held for state in services.locks.states())
    assert services.heartbeats.all() == []
    assert reap(services, this_node("worker")) == []


def test_a_code_server_that_starts_ends_the_runs_of_the_one_before_it(
    services: Services, tmp_path: Path
) -> None:
    """Their processes were its children: Dagster itself would call them started for ever."""
    import dagster as dg

    @dg.op
    def nothing() -> None:
        """An op that does nothing."""

    @dg.job
    def work() -> None:
        nothing()

    (tmp_path / "dagster").mkdir()
    states = dg.DagsterRunStatus
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        orphan, ended = (
            instance.create_run_for_job(work, status=status).run_id
            for status in (states.STARTED, states.SUCCESS)
        )
        services.locks.take(("kline",), "run:1", run_id=orphan)

        left = left_runs(instance, services.engine)
        assert [run.run_id for run in left] == [orphan]
        fail_runs(instance, left)

        runs = [instance.get_run_by_id(run_id) for run_id in (orphan, ended)]
        assert [run.status for run in runs if run] == [states.FAILURE, states.SUCCESS]
        fate = DagsterRuns(instance).fate(orphan)
        assert fate is not None
        assert (fate.status, fate.reason) == ("failed", "its process died")
    assert not any(state.held for state in services.locks.states())


def test_what_a_dead_worker_left_at_work_is_ended_before_its_command_begins_again(services: Services) -> None:
    runner = FakeRunner()
    runner.left = ["left"]

    done = do(services, "run_job", {"job": "eod_core"}, runner)

    assert done.status == "success"
    assert runner.terminated == ["left"]


def test_an_error_without_a_run_leaves_no_row(services: Services) -> None:
    runner = FakeRunner()

    def during(_job: str) -> None:
        raise PlatformError("the instance is away")

    runner.during = during
    done = do(services, "run_job", {"job": "eod_core"}, runner)

    assert done.error == "the instance is away"
    assert services.scheduled_runs.runs()[1] == 0


def test_a_run_is_asked_for_again_until_dagster_is_there(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_context, "LOOK_S", 0.01)
    runner, away = FakeRunner(), iter([True, True, False])

    def during(_job: str) -> None:
        if next(away):
            raise Unavailable("Dagster's webserver does not answer")

    runner.during = during
    assert do(services, "run_job", {"job": "eod_core"}, runner).status == "success"
    assert len(runner.calls) == 3


def test_every_handler_of_the_table_is_callable() -> None:
    assert set(HANDLERS) >= {"run_job", "fusion_sync", "initial_load"}
    assert all(callable(handler.run) for handler in HANDLERS.values())
