"""A day with corrupted responses, call by call: what a correct day stores, and what of a corrupted one is
accepted.

A day and the day before are loaded once without corruption; then, for a call and a kind of corruption, the
tables that the call feeds are loaded again without what they held of the day, while that call is corrupted. A
stored value is correct when the correct day has it, or the same day without that call, where the fallback
answers. Sources that are only a fallback are tested on a day on which one upstream refuses everything.
"""

import math
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.declaration.dataset import Dataset
from core.declaration.tables import Table
from platform_assets.pipeline.whole_day import load_day
from resources.warehouse.stored import ANY, Where
from resources.warehouse.warehouse import Warehouse
from simulated_market.corrupted_responses import CORRUPTIONS, WORKBOOKS, corrupted_body
from simulated_market.faults import Fault
from simulated_market.registry import responders
from simulated_market.world.model import World
from tests.pipeline.conftest import Services, context_of, opened_services

YESTERDAY, TODAY = "2026-08-25", "2026-08-26"
SUSPENDED = "601302"
"""Suspended on both dates."""
DATES_BEFORE = 60
WITH_PAST, REPORTS_BEFORE = ("finance_indicator", "holder"), 320
TELLERS = {"calc_reconcile"}
"""Tables whose very content is that two sources disagree."""
CLOSE_ENOUGH = 0.02
"""A second source rounds more coarsely; a corruption is out by more."""

PAGES = {(one.upstream, route.call) for one in responders() for route in one.routes}
_TODAYS = "(SELECT batch_id FROM sys_batch WHERE started_at>=?)"
Rows = dict[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Call:
    """A call that some datasets make."""

    upstream: str
    name: str
    datasets: tuple[Dataset, ...]
    bodies: tuple[bytes, ...]
    """Some of its answers of an honest day."""

    def __str__(self) -> str:
        return f"{self.upstream} {self.name}"

    @property
    def fused(self) -> list[Dataset]:
        return [one for one in self.datasets if one.model]

    @property
    def tables(self) -> list[Table]:
        return [table for one in self.datasets for table in one.tables()]


@dataclass
class CorrectDay:
    """Services with two correct days, and their stored rows after them."""

    services: Services
    file: Path
    calls: list[Call]
    """Every call that today was asked for."""
    rows: Mapping[str, Rows]
    """Fused table -> its rows."""
    refusals: tuple[Mapping[str, Any], ...] = ()
    """Faults of the whole day."""


@dataclass(frozen=True)
class Reported:
    """A day loaded again: its services, and what could not be loaded, by table."""

    services: Services
    failures: Mapping[str, str]


@contextmanager
def correct_day(folder: Path, world: World, only: Sequence[str] | None = None) -> Iterator[CorrectDay]:
    """Yesterday and today of the tables of some datasets (None: of all)."""
    file = folder / "warehouse.sqlite3"
    with opened_services(f"sqlite:///{file}", folder, world, YESTERDAY) as services:
        services.clock.at = datetime.fromisoformat(f"{YESTERDAY}T22:30")
        services.master(YESTERDAY)
        for name in ("exright", "kline_daily", "index_daily"):
            services.fuse(name, *services.run.calendar.last(DATES_BEFORE, YESTERDAY))
        services.fresh()
        # As a first load has it: growth is held against the year before, counts against the quarter before.
        with_past = [name for name in WITH_PAST if only is None or name in only]
        past = [table.name for name in with_past for table in services.registry.dataset(name).tables()]
        if past:
            year = services.run.calendar.last(REPORTS_BEFORE, YESTERDAY)
            assert load_day(services.run, services.scope(*year), tables=past) == {}
            services.fresh()
        chosen = [one for one in services.registry.datasets.values() if only is None or one.name in only]
        tables = [table.name for one in chosen for table in one.tables()]
        assert load_day(services.run, services.scope(YESTERDAY), tables=tables) == {}
        services.clock.at = datetime.fromisoformat(f"{TODAY}T22:30")
        assert _load_today(services, tables) == {}
        rows = {one.table_name: content(services.warehouse, one.table) for one in chosen if one.model}
        yield CorrectDay(services, file, _calls(services), rows)


def _load_today(services: Services, tables: Sequence[str]) -> Mapping[str, str]:
    """Each table with answers of its own, so that every table that asks a call is seen."""

    def alone(ready: Sequence[str]) -> str:
        services.fresh()
        return min(ready)

    return load_day(services.run, services.scope(TODAY), tables=tables, choose=alone)


def _calls(services: Services) -> list[Call]:
    """Who asked what today, and was answered."""
    owners = {table.name: one for one in services.registry.datasets.values() for table in one.tables()}
    asked = services.warehouse.query(
        "SELECT f.upstream, f.call_name, b.table_name, MIN(f.body_path), MAX(f.body_path) FROM sys_fetch f "
        "JOIN sys_batch b ON b.batch_id=f.batch_id WHERE f.received_at>=? AND f.outcome='ok' "
        "GROUP BY 1, 2, 3",
        (TODAY,),
    )
    fed: dict[tuple[str, str], dict[str, Dataset]] = defaultdict(dict)
    bodies: dict[tuple[str, str], set[str]] = defaultdict(set)
    for upstream, call, table, *paths in asked:
        fed[upstream, call][owners[table].name] = owners[table]
        bodies[upstream, call] |= {path for path in paths if path}
    kept = services.warehouse.payloads.get
    return [
        Call(*key, tuple(of.values()), tuple(kept(path) or b"" for path in sorted(bodies[key])))
        for key, of in sorted(fed.items())
    ]


def content(warehouse: Warehouse, table: Table, *where: Where) -> Rows:
    """Every row by its key."""
    rows = warehouse.rows(table.name, *where)
    return {tuple(row[name] for name in table.key): row for row in rows}


def written(warehouse: Warehouse, table: Table) -> Rows:
    """The rows that the batches of today wrote."""
    batches = [row["batch_id"] for row in warehouse.rows("sys_batch", ANY.started_at >= TODAY)]
    return content(warehouse, table, ANY.batch_id.in_(batches))


def reported(day: CorrectDay, call: Call, fault: Mapping[str, Any]) -> AbstractContextManager[Reported]:
    """The tables that `call` feeds, loaded again while `fault` is in its answers."""
    # Some clients name a call after what they ask for, the market after the page: then all its pages are
    # corrupted.
    name = call.name if call.upstream == "tdx" or (call.upstream, call.name) in PAGES else "*"
    rules = [{"upstream": call.upstream, "call": name, **fault}]
    return _again(day, [table.name for table in call.tables], rules)


@contextmanager
def day_without(day: CorrectDay, upstream: str) -> Iterator[CorrectDay]:
    """The tables that `upstream` feeds on the correct day, loaded while it refuses everything; the calls are
    those that are not made otherwise."""
    refusal = {"upstream": upstream, "call": "*", "kind": "status", "args": {"code": 403}}
    if upstream == "tdx":
        refusal = {"upstream": "tdx", "call": "*", "kind": "dead"}
    fed = {one.name: one for call in day.calls if call.upstream == upstream for one in call.datasets}
    tables = [table.name for one in fed.values() for table in one.tables()]
    with _again(day, tables, [refusal], alone=True) as now:
        known = set(map(str, day.calls))
        calls = [one for one in _calls(now.services) if str(one) not in known]
        services = now.services
        rows = {one.table_name: content(services.warehouse, one.table) for one in fed.values() if one.model}
        file = Path(str(services.warehouse.engine.url.database))
        yield CorrectDay(services, file, calls, rows, (refusal,))


@contextmanager
def _again(
    day: CorrectDay, tables: Sequence[str], rules: list[dict[str, Any]], *, alone: bool = False
) -> Iterator[Reported]:
    """A copy of the correct services in which today's rows of `tables` are loaded again under `rules`;
    `alone`: each with answers of its own."""
    file = day.file.with_name(f"{day.file.stem}_again.sqlite3")
    day.services.warehouse.query("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copyfile(day.file, file)
    warehouse = Warehouse(
        f"sqlite:///{file}",
        day.services.registry.tables,
        clock=day.services.clock,
        payload_folder=day.file.parent / "payloads",
    )
    ctx = context_of(day.services.settings, day.services.clock)
    services = replace(day.services, run=replace(day.services.run, warehouse=warehouse, ctx=ctx))
    try:
        _forget(warehouse, tables)
        day.services.faults.replace([*rules, *map(dict, day.refusals)])
        scope = services.scope(TODAY)
        yield Reported(
            services, _load_today(services, tables) if alone else load_day(services.run, scope, tables=tables)
        )
    finally:
        day.services.faults.replace(list(map(dict, day.refusals)))
        ctx.close()
        warehouse.close()
        for rest in file.parent.glob(f"{file.name}*"):
            rest.unlink()


def _forget(warehouse: Warehouse, tables: Sequence[str]) -> None:
    """Deletes what today's batches wrote, and their records."""
    with warehouse.engine.begin() as connection:
        for table in tables:
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE batch_id IN {_TODAYS}", (TODAY,))
        connection.exec_driver_sql("DELETE FROM sys_fetch WHERE received_at>=?", (TODAY,))
        connection.exec_driver_sql("DELETE FROM sys_batch WHERE started_at>=?", (TODAY,))


def corruption_accepted(day: CorrectDay, call: Call, fault: Mapping[str, Any]) -> tuple[list[str], bool]:
    """(accepted wrong values, whether the corruption changed any answer)."""
    with reported(day, call, fault) as now:
        heard = answered_otherwise(day, now)
        if not accepted(day, call, now):
            return [], heard
        saved = {one.table_name: written(now.services.warehouse, one.table) for one in call.fused}
    other = without(day, call)
    return judged(day, call, saved, other), heard


def without(day: CorrectDay, call: Call) -> dict[str, Rows]:
    """Rows of the tables that `call` feeds when it refuses and the fallback answers."""
    with reported(day, call, {"kind": "status", "args": {"code": 403}}) as other:
        return {one.table_name: written(other.services.warehouse, one.table) for one in call.fused}


def accepted(day: CorrectDay, call: Call, now: Reported) -> list[str]:
    """Values in the fused tables that are `ok` and differ from the correct day."""
    rows = {one.table_name: written(now.services.warehouse, one.table) for one in call.fused}
    return judged(day, call, rows, {})


def judged(
    day: CorrectDay, call: Call, rows_again: Mapping[str, Rows], other: Mapping[str, Rows]
) -> list[str]:
    """Values of rows that are `ok` and are neither those of the correct day nor among the `other` ones. An
    event that is held back adjusts nothing: the table of ex-rights has this mark instead of a quality."""
    wrong = []
    for dataset in (one for one in call.fused if one.table_name not in TELLERS):
        table = dataset.table
        figures = [one.name for one in dataset.columns]
        for key, row in rows_again[table.name].items():
            if row.get("quality", "ok") != "ok" or row.get("held_back"):
                continue
            known = (day.rows[table.name], other.get(table.name, {}))
            truths = [rows[key] for rows in known if key in rows]
            if not truths:
                wrong.append(f"{table.name} {key}: no source has it")
            wrong += [
                f"{table.name} {key} {name}: {row[name]} for {truths[0][name]}"
                for name in (figures if truths else ())
                if not any(_same(row[name], true[name]) for true in truths)
            ]
    return wrong


def has_something(day: CorrectDay, call: Call, fault: Mapping[str, Any]) -> bool:
    """Whether the corruption changes any of the call's answers that were seen; true where they are not
    text."""
    if fault["kind"] not in CORRUPTIONS or call.upstream == "tdx":
        return True
    return any(_falsified(body, Fault(fault["kind"], fault["args"])) for body in call.bodies)


def _falsified(body: bytes, corruption: Fault) -> bool:
    # A corruption of no row: the same document, written in the same way.
    unchanged = corrupted_body(body, "", Fault("zero_row", {"code": "nobody"}))
    return body[:2] in WORKBOOKS or corrupted_body(body, "", corruption) != unchanged


def answered_otherwise(day: CorrectDay, now: Reported) -> bool:
    """Whether any answer differed from that of the correct day: whether the corruption changed one."""

    def answers(warehouse: Warehouse) -> set[tuple[Any, ...]]:
        rows = warehouse.query("SELECT request_key, sha256 FROM sys_fetch WHERE received_at>=?", (TODAY,))
        return set(map(tuple, rows))

    return bool(answers(now.services.warehouse) - answers(day.services.warehouse))


def _same(value: Any, true: Any) -> bool:
    """Equal, as near as another source's rounding, or null."""
    if value is None or value == true:
        return True
    if isinstance(value, str) or true is None:
        return not isinstance(value, int | float)
    return math.isclose(float(value), float(true), rel_tol=CLOSE_ENOUGH, abs_tol=0.02)
