"""What `ashare backfill` does."""

from functools import partial
from typing import Any

from pydantic import ValidationError

from ashare.output import IN_PART, Output
from ashare.session import BY, need_worker, with_state
from ashare.waiting import finished, loaded
from ashare.work.load import load_codes
from ashare.work.plan import datasets_named
from ashare.work.plan import run as show_plan
from core.errors import InputError
from resources.warehouse.ledger.backfills import Backfill
from resources.warehouse.ledger.commands import Command
from resources.warehouse.ledger.missing_partitions import dated
from serving_api.admin.backfill import Turn, backfill_detail, start_backfill
from serving_api.admin.gaps import PlanRequest, plan_of, requested_days
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop


def run(
    out: Output,
    dataset: str | None,
    datasets: str | None,
    codes: str | None,
    since: str,
    until: str | None,
    *,
    every: bool,
    plan: bool,
    wait: bool,
) -> int:
    """Load dates of some datasets or show the plan; the exit code, the worst of them."""
    if dataset is not None and datasets is not None:
        raise InputError("datasets", "names what is loaded, in place of DATASET")
    if dataset is None and datasets is None:
        raise InputError("dataset", "name one, or several as --datasets")
    if codes is not None:
        if plan:
            show_plan(out, dataset or datasets, codes, since, until, None)
            return 0
        return load_codes(out, dataset or datasets, codes, since, until, wait=wait)
    # All of them are looked at before the first is loaded.
    names = [dataset or ""] if datasets is None else [dated(one).name for one in datasets_named(datasets)]
    bodies = [_requested(name, since, until, only_missing=not every) for name in names]
    worst = 0
    for body in bodies:
        if plan:
            shown = with_state(partial(plan_of, body=body))
            out.result(shown, _plan_lines(shown))
            continue
        try:
            worst = max(worst, _load(out, body, wait=wait))
        except InputError as error:
            if error.parameter != "all" or len(bodies) == 1:
                raise
            out.note(f"{body.dataset}: {error.problem}")
    return worst


def _requested(dataset: str, since: str, until: str | None, *, only_missing: bool) -> PlanRequest:
    """InputError that names the option for a value that cannot be a dataset or date."""
    try:
        last = until or with_state(_newest)
        given = {"dataset": dataset, "from": since, "to": last, "only_missing": only_missing}
        return PlanRequest.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(str(first["loc"][0]), str(first["msg"])) from None


async def _newest(state: State) -> str:
    return state.calendar.newest_complete(state.clock.now())


def _load(out: Output, body: PlanRequest, *, wait: bool) -> int:
    """Start a backfill, wait for it and show it as the API does; the exit code."""
    made, asked = with_state(lambda state: _started(state, body))
    if wait:
        with out.progress(f"{made.dataset}, command {asked.id}", len(made.days)) as bar:
            finished(asked.id, lambda _line: None)
            loaded(made.id, bar.at)
    shown = with_state(lambda state: off_loop(backfill_detail, state, made.id))
    parts = shown["partitions"]
    lines = [
        f"backfill {made.id} of {made.dataset}: {shown['status']}, "
        f"{parts['done']} of {parts['total']} trade dates, {shown['rows_written']} rows"
    ]
    failures = [f"  {one['partition']}: {one['error']}" for one in shown["failures"]]
    out.result({"command_id": asked.id, **shown}, lines + failures)
    if not wait or shown["status"] == "success":
        return 0
    return IN_PART if shown["status"] == "partial" else 1


async def _started(state: State, body: PlanRequest) -> tuple[Backfill, Command]:
    need_worker(state)
    chosen = await requested_days(state, body)
    if not chosen.chosen:
        raise InputError("all", f"every trade date from {chosen.since} to {chosen.until} is loaded already")
    return start_backfill(state, state.part(Turn), chosen, BY)


def _plan_lines(plan: dict[str, Any]) -> list[str]:
    calls = ", ".join(f"{name} {number}" for name, number in plan["calls"].items()) or "none known"
    rows = "unknown" if plan["rows"] is None else f"about {plan['rows']}"
    return [
        f"{plan['dataset']}, {plan['from']} to {plan['to']}: {plan['partitions']} trade dates to load, "
        f"{plan['complete']} complete",
        f"upstream calls: {calls}",
        f"time: at least {plan['minutes']} minutes",
        f"rows: {rows}",
        f"tables: {', '.join(plan['tables'])}",
        *(f"note: {text}" for text in plan["warnings"]),
    ]
