"""What `ashare start` and `ashare add` do."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from ashare.output import Output
from ashare.session import BY, need_worker, with_state
from ashare.waiting import finished
from core.errors import InputError
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.ledger.watch_list import LOAD_WATCHED
from schedules.supervisor import app
from schedules.supervisor.watching import WatchRequest
from serving_api.admin.watch_list import MOST_CODES, plan_of, refuse_whole_market, wish_of
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop


def start(codes: str | None, since: str | None) -> int:
    """Run the platform on a watch list, of the real upstreams unless DATA_SOURCE says otherwise; the exit
    code."""
    settings = app.read_settings()
    if "data_source" not in settings.explicit:
        os.environ["DATA_SOURCE"] = "real"
        settings = app.read_settings()
    asked = WatchRequest((), "")
    if codes is not None:
        plan = with_state(lambda state: _planned(state, codes.split(","), since), settings)
        asked = WatchRequest(tuple(plan["codes"]), plan["since"])
        sys.stdout.write("".join(f"{line}\n" for line in _plan_lines(plan)))
    elif since is not None:
        raise InputError("since", "is the first day of what --codes names")
    return app.run(start_of=partial(app.Start, watch=asked))


def add(out: Output, codes: Sequence[str], since: str | None, plan: bool, no_wait: bool) -> int:
    """Put codes on the watch list and load them, or show the plan; the exit code."""
    named = [one for text in codes for one in text.split(",")]
    wish = with_state(lambda state: _planned(state, named, since))
    if plan:
        out.result(wish, _plan_lines(wish))
        return 0
    accepted = with_state(lambda state: _asked(state, wish))
    done = accepted if no_wait else finished(accepted.id, out.note)
    shown = {"command_id": done.id, "status": done.status, **done.result}
    lines = [f"{name}: {value}" for name, value in shown.items() if isinstance(value, str | int)]
    partial_ = dict(done.result.get("partial") or {})
    out.result(shown, [*lines, *(f"{name}: loaded in part: {why}" for name, why in partial_.items())])
    return int(not no_wait and done.status != "success")


async def _planned(state: State, codes: Sequence[str], since: str | None) -> dict[str, Any]:
    named = [code.strip() for code in codes if code.strip()]
    if not 1 <= len(named) <= MOST_CODES:
        raise InputError("codes", f"{len(named)} codes; give 1..{MOST_CODES}")
    return plan_of(state, *wish_of(state, named, since))


async def _asked(state: State, wish: dict[str, Any]) -> Command:
    need_worker(state)
    refuse_whole_market(state)
    args = {"codes": wish["codes"], "since": wish["since"]}
    return await off_loop(CommandQueue(state.writer.engine).enqueue, LOAD_WATCHED, args, requested_by=BY)


def _plan_lines(plan: dict[str, Any]) -> list[str]:
    calls = ", ".join(f"{name} {number}" for name, number in sorted(plan["calls"].items()))
    return [
        f"{', '.join(plan['codes'])} since {plan['since']}",
        f"upstream calls, about: {calls}",
        f"time: about {plan['minutes']} minutes under the pacing in force",
    ]
