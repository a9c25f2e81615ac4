"""What the whole market needs: rows, bytes and backfill hours of 5,500 codes and ten years, from two loaded
installations.

    python -m tests.benchmarks.sizing SMALL TENTH [--codes 5500] [--years 10] [--out docs/sizing.md]

SMALL and TENTH are data folders (SQLite) that the same trade dates were loaded into, with few codes (profile
S) and about a tenth of the market (profile M). A table's rows grow with what its key names: with codes by
the line through both installations, with trade dates, reporting periods or days of the calendar from one to
ten years. The curve of each is shown, so that the line can be doubted. Calls grow with codes by the line
through both as well; their hours are those of the real pacing. Reads only.
"""

import argparse
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from core.calendar import TradeCalendar, shipped_calendar
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from core.declaration.tables import Layer, Table
from resources.settings import load_settings
from resources.transport.settings import transport_settings
from resources.warehouse.ledger.loads import recent_loads
from resources.warehouse.retention import SCHEDULED_DAYS

YEAR_DATES, YEAR_DAYS, YEAR_PERIODS, YEAR_MONTHS = 243, 365.25, 4, 12
STEPS = 4
"""Points of a curve: a quarter of the dates, a half, three quarters, all."""
CODES = ("code", "symbol", "ts_code")
LEAST_ROWS = 200
RANGE = 60
"""Trade dates that a backfill loads at once."""
"""Tables with fewer rows are counted and not drawn: a page of the file is most of their bytes."""
GIB = 2**30


@dataclass(frozen=True)
class Measured:
    """One table of one installation. `clock` says what its rows are counted by: dates, periods, months, days
    or nothing; `span` is how many of them are loaded."""

    table: str
    layer: Layer
    rows: int
    bytes: int
    codes: int
    clock: str
    span: float
    curve: tuple[float, ...]
    shorter: float = 0.0
    """Bytes of a row without the columns that only the newest `short_dates` dates have; 0: none."""
    short_dates: int = 0


class Installation:
    """A data folder, opened to be read."""

    def __init__(self, folder: Path, calendar: TradeCalendar) -> None:
        self.folder, self.calendar = folder, calendar
        self.file = folder / "warehouse.sqlite3"
        if not self.file.is_file():
            raise SystemExit(f"{self.file} is not there: load an installation into {folder}")
        self.connection = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)
        self.stocks = self.one("SELECT COUNT(DISTINCT code) FROM fusion_kline_daily")
        self.bytes = self._bytes()
        self.fading = {one.table_name for one in builtin_registry().datasets.values() if one.short_lived}

    def one(self, sql: str, *values: object) -> int:
        return int(self.connection.execute(sql, values).fetchone()[0] or 0)

    def run(self, sql: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        return list(self.connection.execute(sql, tuple(values)))

    def _bytes(self) -> dict[str, int]:
        """Bytes of each table with its indexes."""
        owner = dict(self.connection.execute("SELECT name, tbl_name FROM sqlite_master"))
        found: dict[str, int] = defaultdict(int)
        for name, size in self.connection.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name"):
            found[owner.get(name, name)] += int(size)
        return found

    def measured(self) -> dict[str, Measured]:
        there = {str(name) for (name,) in self.run("SELECT name FROM sqlite_master WHERE type='table'")}
        found = {}
        for table in builtin_registry().tables:
            names = [table.name, table.history_name] if table.has_history else [table.name]
            for name in names:
                if name in there:
                    found[name] = self._measured(table, name)
        return found

    def _measured(self, table: Table, name: str) -> Measured:
        rows = self.one(f"SELECT COUNT(*) FROM {name}")
        code = next((one for one in table.key if one in CODES), None)
        codes = self.one(f"SELECT COUNT(DISTINCT {code}) FROM {name}") if code and rows else 0
        clock, span, curve = self._growth(table, name, rows)
        brief = builtin_registry().of_table(table.name).short_lived if name in self.fading else {}
        return Measured(
            name, table.layer, rows, self.bytes.get(name, 0), codes, clock, span, curve,
            self._bytes_without(table, set(brief)) if brief and rows else 0.0, max(brief.values(), default=0),
        )  # fmt: skip

    def _bytes_without(self, table: Table, left_out: set[str]) -> float:
        """Bytes of a row in a copy without some columns, its index on the date included."""
        columns = ", ".join(name for name in table.names if name not in left_out)
        with closing(sqlite3.connect(":memory:", isolation_level=None, uri=True)) as copy:
            copy.execute("ATTACH ? AS stored", (f"file:{self.file}?mode=ro",))
            key = ", ".join(table.key)
            copy.execute(f"CREATE TABLE copy ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
            copy.execute(f"INSERT INTO copy SELECT {columns} FROM stored.{table.name} ORDER BY {key}")
            copy.execute(f"CREATE INDEX ix_copy ON copy ({table.date_column})")
            pages, size = (
                copy.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
            )
            (rows,) = copy.execute("SELECT COUNT(*) FROM copy").fetchone()
        return float(pages * size / rows)

    def _growth(self, table: Table, name: str, rows: int) -> tuple[str, float, tuple[float, ...]]:
        column = table.date_column or table.moment
        if column is None or not rows:
            return "nothing", 1.0, ()
        found = self.run(f"SELECT {column}, COUNT(*) FROM {name} WHERE {column} > '' GROUP BY 1 ORDER BY 1")
        counted = [(str(day)[:10], int(str(number))) for day, number in found]
        clock, span = self._clock([day for day, _ in counted])
        total, curve = 0, []
        marks = [round(len(counted) * step / STEPS) for step in range(1, STEPS + 1)]
        for at, (_, number) in enumerate(counted, 1):
            total += number
            curve += [total / rows] * marks.count(at)
        return clock, span, tuple(curve)

    def _clock(self, days: list[str]) -> tuple[str, float]:
        """What a column of days counts, and how many of it are there."""
        numbers = [date.fromisoformat(day) for day in days if len(day) == 10]
        if not numbers:
            return "nothing", 1.0
        within = (numbers[-1] - numbers[0]).days + 1
        if all(day[5:] in {"03-31", "06-30", "09-30", "12-31"} for day in days):
            return "periods", max(1.0, within / YEAR_DAYS * YEAR_PERIODS)
        dates = set(self.calendar.between(days[0], days[-1]))
        if len(days) >= 0.6 * len(dates) and sum(day in dates for day in days) >= 0.8 * len(days):
            return "dates", float(max(1, len(dates)))
        return "days", float(max(within, 30))


def at_full_size(small: Measured | None, tenth: Measured, stocks: tuple[int, int], codes: int) -> float:
    """Rows of `codes` stocks for what the installations have loaded: the line through both, from nothing
    where the small one has no such table."""
    per_clock = tenth.rows / tenth.span
    if small is None or stocks[0] == stocks[1]:
        return tenth.rows * (codes / stocks[1] if tenth.codes else 1.0)
    slope = max(0.0, (per_clock - small.rows / small.span) / (stocks[1] - stocks[0]))
    return (per_clock + slope * (codes - stocks[1])) * tenth.span


def spans_of(clock: str, years: float, layer: Layer) -> float:
    """How many dates, periods or days a table holds after `years`; staged rows go after SCHEDULED_DAYS."""
    if layer is Layer.STG:
        years = min(years, SCHEDULED_DAYS / YEAR_DAYS)
    return {"dates": YEAR_DATES, "periods": YEAR_PERIODS, "days": YEAR_DAYS}.get(clock, 1 / years) * years


@dataclass(frozen=True)
class Sized:
    """A table at full size."""

    measured: Measured
    rows: float
    bytes: float


def sized(small: Installation, tenth: Installation, codes: int, years: float) -> list[Sized]:
    few, many = small.measured(), tenth.measured()
    made = []
    for name, one in many.items():
        if not one.rows:
            continue
        rows = at_full_size(few.get(name), one, (small.stocks, tenth.stocks), codes)
        rows *= spans_of(one.clock, years, one.layer) / one.span
        made.append(Sized(one, rows, _bytes_of(one, rows, years)))
    return sorted(made, key=lambda each: -each.bytes)


def _bytes_of(one: Measured, rows: float, years: float) -> float:
    whole = one.bytes / one.rows
    if not one.short_dates:
        return rows * whole
    newest = rows * min(1.0, one.short_dates / (YEAR_DATES * years))
    return newest * whole + (rows - newest) * one.shorter


def calls_of_backfill(one: Installation, years: float) -> dict[tuple[str, str], float]:
    """Calls by (table, upstream) of a first load of `years`: a table without dates is loaded once, one that
    was loaded in ranges again for each RANGE of dates, another for each date."""
    found: dict[tuple[str, str], float] = {}
    registry = builtin_registry()
    for table in registry.tables:
        recent = recent_loads(one.run, table.name) if one.bytes.get(table.name) else []
        ranged = [load for load in recent if ".." in load.partition_key]
        chosen = ranged or recent
        if not chosen:
            continue
        times = years * YEAR_DATES / (RANGE if ranged else 1)
        raw = next((raw for raw in registry.raws.values() if raw.table_name == table.name), None)
        owner = registry.of_table(table.name) if raw is None else raw
        dated = owner.partition in (Partition.TRADE_DATE, Partition.EVENT_DATE)
        for load in chosen:
            for upstream, count in load.calls.items():
                key = (table.name, upstream)
                found[key] = found.get(key, 0.0) + count / len(chosen) * (times if dated else 1)
    return found


def backfill_calls(
    small: Installation, tenth: Installation, codes: int, years: float
) -> dict[tuple[str, str], float]:
    """The same for `codes` stocks, by the line through both installations."""
    few, many = (calls_of_backfill(one, years) for one in (small, tenth))
    full = {}
    for key, calls in many.items():
        slope = max(0.0, calls - few.get(key, 0.0)) / max(1, tenth.stocks - small.stocks)
        full[key] = calls + slope * (codes - tenth.stocks)
    return full


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def page(small: Installation, tenth: Installation, codes: int, years: int) -> str:
    """The figures as Markdown."""
    tables = sized(small, tenth, codes, years)
    lines = [
        f"Measured on {small.stocks} and {tenth.stocks} stocks; extrapolated to {codes:,} stocks and {years} "
        "years. A row's bytes are those of SQLite with its indexes.",
        "",
        "| Layer | Rows measured | Rows | GB |",
        "|---|---|---|---|",
    ]
    for layer in Layer:
        own = [one for one in tables if one.measured.layer is layer]
        if own:
            lines.append(_row(layer.value, sum(one.measured.rows for one in own), own))
    lines.append(_row("all", sum(one.measured.rows for one in tables), tables))
    lines += [
        "",
        "| Table | Grows with | Rows measured | Bytes a row | Share of rows after 1/4, 1/2, 3/4 of the dates "
        f"| Rows at {codes:,} codes, {years} years | GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in tables:
        if one.measured.rows >= LEAST_ROWS:
            lines.append(_table_row(one))
    received = folder_bytes(tenth.folder / "payloads")
    paces = transport_settings(load_settings({"DATA_SOURCE": "real"}))
    calls = backfill_calls(small, tenth, codes, years)
    by_upstream: dict[str, float] = defaultdict(float)
    for (_, upstream), number in calls.items():
        by_upstream[upstream] += number
    hours = {name: paces.seconds(name, round(number)) / 3600 for name, number in by_upstream.items()}
    lines += ["", "| Upstream | Calls | Hours with real pacing | Most calls are for |", "|---|---|---|---|"]
    for name in sorted(hours, key=lambda one: -hours[one]):
        most = sorted(((n, table) for (table, up), n in calls.items() if up == name), reverse=True)[:3]
        which = ", ".join(f"`{table}` {number:,.0f}" for number, table in most)
        lines.append(f"| `{name}` | {by_upstream[name]:,.0f} | {hours[name]:,.1f} | {which} |")
    lines += [
        "",
        f"Upstreams are asked side by side; the longest takes {max(hours.values()):,.0f} hours.",
        f"Answers as received: {received / GIB:.2f} GB for what {tenth.stocks} stocks loaded.",
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, rows: int, own: list[Sized]) -> str:
    full, size = sum(one.rows for one in own), sum(one.bytes for one in own)
    return f"| {name} | {rows:,} | {full:,.0f} | {size / GIB:,.1f} |"


def _table_row(one: Sized) -> str:
    found = one.measured
    grows = " and ".join(
        part for part in ("codes" * bool(found.codes), found.clock * (found.clock != "nothing")) if part
    )
    curve = ", ".join(f"{share:.2f}" for share in found.curve[:-1]) or "-"
    return (
        f"| `{found.table}` | {grows or 'neither'} | {found.rows:,} | {found.bytes / found.rows:,.0f} "
        f"| {curve} | {one.rows:,.0f} | {one.bytes / GIB:,.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.sizing", description=__doc__)
    parser.add_argument("small", type=Path)
    parser.add_argument("tenth", type=Path)
    parser.add_argument("--codes", type=int, default=5500)
    parser.add_argument("--years", type=int, default=10)
    asked = parser.parse_args()
    calendar = shipped_calendar()
    small, tenth = (Installation(folder, calendar) for folder in (asked.small, asked.tenth))
    with closing(small.connection), closing(tenth.connection):
        print(page(small, tenth, asked.codes, asked.years), end="")


if __name__ == "__main__":
    main()
