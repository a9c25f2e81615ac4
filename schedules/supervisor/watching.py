"""A start that loads the securities of a watch list instead of the whole market."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import PlatformError
from resources.run_lock import StartRefused
from resources.warehouse.ledger.commands import OPEN, Command, CommandQueue
from resources.warehouse.ledger.watch_list import LOAD_WATCHED, Watched, WatchList
from schedules.supervisor.child_processes import Interrupted, Say

Wait = Callable[[CommandQueue, int, Say], Command | None]
"""Says how far a command is until it ends; None when the start is to stop first."""


@dataclass(frozen=True)
class WatchRequest:
    """Securities to load, as the datasets write their codes, and the first day of their history."""

    codes: tuple[str, ...]
    since: str


def load(queue: CommandQueue, watch: WatchList, asked: WatchRequest | None, say: Say, wait: Wait) -> None:
    """Has the worker load what the watch list lacks, with what was asked for on it; waited for where a
    security was never loaded. PlatformError when that failed, Interrupted when the start ended before."""
    if asked is not None:
        new = watch.new(asked.codes, asked.since)
        asked = replace(asked, codes=tuple(new)) if new else None
    command = _request(queue, asked)
    if asked is None and all(one.loaded_until for one in watch.all()):
        say("loading the days since the last one behind the API")
        return
    ended = wait(queue, command.id, say)
    if ended is None:
        raise Interrupted("stopped during the load; the next start goes on with it")
    for name, why in (ended.result.get("partial") or {}).items():
        say(f"{name}: loaded in part: {why}")
    if ended.status != "success":
        raise PlatformError(f"the load {ended.status}: {ended.error}")


def _request(queue: CommandQueue, asked: WatchRequest | None) -> Command:
    """A new command, or the one under way that does all of that."""
    args = {} if asked is None else {"codes": list(asked.codes), "since": asked.since}
    for one in queue.of_name(LOAD_WATCHED, statuses=OPEN):
        if not args or one.args == args:
            return one
    return queue.enqueue(LOAD_WATCHED, args, requested_by="supervisor", max_attempts=3)


def refuse_market(
    watched: Sequence[Watched], asked: WatchRequest | None, data: Path, *, loaded_before: bool
) -> None:
    """StartRefused where a watch list is empty, or would follow a whole market (`loaded_before`: a trade date
    was loaded)."""
    if watched or asked is None:
        return
    if not asked.codes:
        raise StartRefused("codes: nothing is on the watch list yet; --codes names what to load")
    if loaded_before:
        raise StartRefused(f"DATA_DIR: {data} holds the whole market; --codes needs a new one")


def how_to_read(watched: Sequence[Watched], base: str, data: Path) -> list[str]:
    """Where to look at a watch list, and the two lines of a notebook that read it; nothing without one.
    `base`: the address of the API, empty where it does not run."""
    if not watched:
        return []
    stocks = [one for one in watched if not one.is_index]
    first, table = (stocks[0], "kline_daily") if stocks else (watched[0], "index_daily")
    adjust = ', adjust="qfq"' if stocks else ""
    page = [f"{'console':10} {base}/console/stock/{first.code}"] if base and stocks else []
    return [
        *page,
        f"{'watched':10} {', '.join(one.code for one in watched)}",
        "in a notebook:",
        "  import ashare",
        f'  ashare.open("{data}").read("{table}", codes=["{first.code}"], since="{first.since}"{adjust})',
    ]
