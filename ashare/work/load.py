"""What `ashare load` does."""

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ashare.output import IN_PART, Output
from ashare.session import BY, need_worker, with_state
from ashare.waiting import finished, part_of
from ashare.work.plan import datasets_named, refuse_unlisted, wished
from core.declaration.registry import builtin_registry
from core.errors import InputError, NotFound
from platform_assets.pipeline.imports.packages import INDEX_BARS
from resources.orchestrator import CODES_TAG, SINCE_TAG, TASK_TAG
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.ledger.loads import CODE_HISTORY
from resources.warehouse.ledger.missing_partitions import has_dates
from schedules.supervisor.progress import request_load
from serving_api.admin.shared import parse_day
from serving_api.datasets.download import service
from serving_api.framework.parameters import parse_codes
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

MOST_CODES = 500
"""As `/datamgr/download-batch` takes."""


def run(
    out: Output,
    name: str | None,
    date: str | None,
    codes: str | None,
    since: str | None,
    datasets: str | None,
    no_wait: bool,
) -> int:
    """Load what was asked for; the exit code."""
    wait = not no_wait
    if datasets is not None and name is not None:
        raise InputError("datasets", "names what is loaded, in place of NAME")
    if codes is None and since is not None:
        raise InputError("since", "is the first day of --codes; `ashare backfill` loads days of the market")
    by_codes = name is None or since is not None or name not in service.built_types()
    if codes is not None and by_codes and date is None:
        return load_codes(out, name or datasets, codes, since, None, wait=wait)
    if datasets is not None:
        named = [one.name for one in datasets_named(datasets)]
        return max(run(out, one, date, None, None, None, no_wait) for one in named)
    if name is None:
        if date or codes:
            raise InputError("name", "--date and --codes need the NAME of what to load")
        return _carried_out(out, with_state(_everything), _facts, wait=wait)
    chosen = name
    day = with_state(lambda state: _trade_date(state, chosen, date))
    if codes is not None:
        if name not in service.built_types():
            raise _unknown(name, service.built_types())
        asked = parse_codes(codes, MOST_CODES)
        args: dict[str, Any] = {"codes": asked, "types": [name], "date": day}
        accepted = with_state(lambda state: _asked(state, service.COMMAND, args))
        return _carried_out(out, accepted, lambda one: service.codes_answer(one, asked, [chosen]), wait=wait)
    known = builtin_registry().datasets
    if name in known and has_dates(known[name]):
        # One run: a backfill of Dagster begins and ends at the beat of its daemon, twice a minute.
        args = {"job": name, "partition_key": day, "trigger": "backfill"}
        return _carried_out(out, with_state(lambda state: _asked(state, "run_job", args)), _facts, wait=wait)
    if name in service.market_names():
        args = {"name": name, "date": day}
        accepted = with_state(lambda state: _asked(state, service.MARKET_COMMAND, args))
        return _carried_out(out, accepted, service.market_answer, wait=wait)
    raise _unknown(name, [*service.market_names(), *(one.name for one in known.values() if has_dates(one))])


def load_codes(
    out: Output, datasets: str | None, codes: str, since: str | None, until: str | None, *, wait: bool
) -> int:
    """Load the history of some codes, a run for each dataset, or (None) one of all that belongs to them; the
    exit code, the worst of the runs."""
    wish = with_state(lambda state: _wished(state, datasets, codes, since, until))
    worst = 0
    with out.progress("runs", len(wish.steps)) as bar:
        for number, (job, own) in enumerate(wish.steps, start=1):
            # Batches of some codes are none of the market, whatever job writes them.
            tags = {CODES_TAG: ",".join(own), SINCE_TAG: wish.since, TASK_TAG: CODE_HISTORY}
            args = {"job": job, "partition_key": wish.until, "trigger": "backfill", "tags": tags}
            accepted = with_state(partial(_asked, name="run_job", args=args))
            worst = max(worst, _carried_out(out, accepted, _facts, wait=wait))
            bar.at(number)
    return worst


@dataclass(frozen=True)
class _Steps:
    """(job or dataset, codes) of each run, first and last trade date."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]
    since: str
    until: str


async def _wished(
    state: State, datasets: str | None, codes: str, since: str | None, until: str | None
) -> _Steps:
    wish = wished(state, datasets, codes, since, until)
    await refuse_unlisted(state, wish.codes or ())
    if datasets is None:
        groups = [(CODE_HISTORY, wish.securities), (INDEX_BARS, wish.indices)]
    else:
        for one in wish.datasets:
            if not has_dates(one):
                raise InputError("datasets", f"{one.name} is loaded with all that belongs to codes: leave "
                                             "--datasets out")  # fmt: skip
        groups = [(one.name, wish.codes_of(one) or ()) for one in wish.datasets]
    steps = tuple((job, own) for job, own in groups if own)
    if not steps:
        raise InputError("codes", "none of them belongs to these datasets")
    return _Steps(steps, wish.dates[0], wish.dates[-1])


async def _trade_date(state: State, name: str, date: str | None) -> str:
    registry = builtin_registry()
    tables = [one.table_name for one in registry.datasets.values() if one.name == name]
    tables += [one.table_name for one in registry.raws.values() if one.name == name]
    days = [registry.trade_days[table] for table in tables if table in registry.trade_days]
    now = state.clock.now()
    if date is None:
        newest = (one.newest(now, state.calendar) for one in days)
        return min(newest, default=state.calendar.newest_complete(now))
    day = parse_day("date", date, state.today)
    if not state.calendar.is_trade_date(day):
        raise InputError("date", f"{day} is no trade date")
    for one in days:
        one.refuse_unfinished((day,), now)
    return day


def _unknown(name: str, known: Collection[str]) -> NotFound:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or sorted(known)
    return NotFound(f"name: {name[:64]!r} is nothing that can be loaded so; nearest: {', '.join(near[:3])}")


async def _everything(state: State) -> Command:
    need_worker(state)
    return await off_loop(request_load, CommandQueue(state.writer.engine))


async def _asked(state: State, name: str, args: dict[str, Any]) -> Command:
    need_worker(state)
    return await off_loop(CommandQueue(state.writer.engine).enqueue, name, args, requested_by=BY)


def _facts(command: Command) -> dict[str, Any]:
    return {"status": command.status, **command.result}


def _carried_out(
    out: Output, asked: Command, answer_of: Callable[[Command], dict[str, Any]], *, wait: bool
) -> int:
    """Show what the API answers for the command; the exit code."""
    if not wait:
        _show(out, asked, {"status": asked.status})
        return 0
    done = finished(asked.id, out.note, in_part=True)
    answer = answer_of(done)
    partial = part_of(done)
    if answer["status"] == "success" and answer.get("details") and answer.get("message"):
        partial = {"codes": str(answer["message"])}
    if partial:
        answer = {**answer, "status": "partial", "partial": partial}
    _show(out, done, answer, [f"loaded in part: {what}: {missing}" for what, missing in partial.items()])
    return IN_PART if partial else int(answer["status"] != "success")


def _show(out: Output, command: Command, answer: dict[str, Any], more: Sequence[str] = ()) -> None:
    shown = {"command_id": command.id, "run_id": command.run_id, **answer}
    lines = [f"{key}: {value}" for key, value in shown.items() if isinstance(value, str | int | float)]
    out.result(shown, [*lines, *more])
