"""A first start on an empty folder, as `make run` does it, and what is looked at after its first load."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Engine

from core.declaration.registry import builtin_registry
from core.errors import StorageError
from resources.settings import Settings, load_settings
from resources.warehouse.engine import make_engine, reading
from schedules.supervisor.checks import free_port
from schedules.supervisor.process_plan import answers
from serving_api.framework.envelope import PREFIX
from serving_api.inspection.__main__ import Caller
from serving_api.inspection.walk import Found, Walk
from tests.serving_api.documented import Documented

ROOT = Path(__file__).resolve().parents[2]
DATES = 80
"""Trade dates of bars, as the longest answer that is asked for. `make run` loads 320 by the same steps."""
CALCULATED = (
    "calc_indicator_daily", "calc_pattern_daily", "calc_chip_daily", "calc_signal_hit", "calc_limit_count",
    "calc_market_phase", "calc_factor_score", "track_builtin", "track_preset",
)  # fmt: skip
"""Tables with rows of every date that has bars."""
WARM_UP = {"calc_pattern_daily": 60}
"""Trade dates at the beginning with too little before them: a bar, or those of the longest pattern."""
SAYS_WHY = {
    "fusion_finance_indicator": ("by code",),
    "fusion_macro_release": (),
    "fusion_stock_wide": ("of the current session alone", "unknown until all of them are loaded"),
}
"""Words of a column that a load of the day does not fill, by table."""
LONGER = {"chg_120d", "chg_1y", "chg_ytd", "high_52w", "low_52w"}
"""Columns of the wide table that look back farther than DATES."""
STATE = "autumn-2026"
"""What the simulated upstreams are like: a first start has to pass in the default state."""
PATIENCE_S = 900.0
"""A hung start fails by this; how fast one is, is measured by the benchmarks."""
OVER = ("success", "failed", "canceled", "partial")
Commands = Mapping[str, tuple[str, str | None]]


@dataclass
class FirstDay:
    """A running installation of which the first load is over."""

    settings: Settings
    engine: Engine
    ask: Caller
    folder: Path
    documented: Documented = field(init=False)
    """What the walk was answered, against the OpenAPI document."""

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        with reading(self.engine) as connection:
            return [tuple(row) for row in connection.exec_driver_sql(statement).all()]

    def get(self, path: str, **query: object) -> Any:
        status, answer = self.ask(
            "GET", PREFIX + path, {key: str(value) for key, value in query.items()}, None
        )
        assert status == 200, (path, status, answer)
        return answer

    def loads(self) -> Commands:
        """Kind -> (status, error) of the load and of what is calculated behind it."""
        ended = commands(self.engine)
        return {kind: ended[kind] for kind in ("initial_load", "calculations")}

    def walk(self) -> list[Found]:
        """What is empty, which is printed as well."""
        self.documented = Documented(self.ask)
        found = Walk(builtin_registry(), self.documented, self.query).all()
        for one in found:
            sys.stdout.writelines(f"{line}\n" for line in one.lines())
        return found

    def calculated_dates(self, table: str) -> tuple[int, int]:
        """(trade dates with bars, dates that a calculated table has rows of)."""
        column = next(one.date_column for one in builtin_registry().tables if one.name == table)
        (bars,) = self.query("SELECT COUNT(DISTINCT date) FROM fusion_kline_daily")
        (reported,) = self.query(f"SELECT COUNT(DISTINCT {column}) FROM {table}")
        return bars[0], reported[0]

    def empty_columns(self, table: str) -> tuple[set[str], set[str]]:
        """(columns without any value, columns whose description says why a load of a day has none)."""
        specs = next(one.columns for one in builtin_registry().tables if one.name == table)
        (counts,) = self.query(f"SELECT {','.join(f'COUNT({one.name})' for one in specs)} FROM {table}")
        empty = {one.name for one, count in zip(specs, counts, strict=True) if count == 0}
        words = SAYS_WHY[table]
        return empty, {one.name for one in specs if one.no_source or any(w in one.title for w in words)}


def environment(folder: Path, now: str) -> dict[str, str]:
    """Settings of a start on ports of its own, with nothing of those of this machine."""
    own = {
        "DATA_DIR": str(folder),
        "API_PORT": str(free_port()),
        "DAGSTER_PORT": str(free_port()),
        "RATE_LIMIT_PER_MIN": "0",
        "ENV_FILE": "none",
        "SAMPLE_NOW": now,
        "SAMPLE_STATE": STATE,
        "SAMPLE_HISTORY_DATES": str(DATES),
    }
    names = ("PATH", "HOME", "LANG", "NUMBA_CACHE_DIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, **own, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def commands(engine: Engine) -> Commands:
    """Kind -> (status, error) of what the first start asks for."""
    try:
        with reading(engine) as connection:
            rows = connection.exec_driver_sql("SELECT command, status, error FROM sys_command").all()
    except StorageError:  # the tables are being made
        return {}
    return {str(kind): (str(status), error) for kind, status, error in rows}


def until(process: subprocess.Popen[bytes], condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert process.poll() is None, f"the platform ended before {what}"
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.5)


@contextmanager
def first_day(folder: Path, now: str) -> Iterator[FirstDay]:
    """An installation that is started for the first time at market time `now`, once all is loaded."""
    env = environment(folder / "data", now)
    with (folder / "start.log").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "schedules.supervisor"],
            cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    settings = load_settings(env, dotenv=folder / "none")
    begun = time.monotonic()
    try:
        until(process, (folder / "data" / "warehouse.sqlite3").exists, "the warehouse")
        engine = make_engine(settings.warehouse_address)

        def over(kind: str) -> bool:
            return commands(engine).get(kind, ("", None))[0] in OVER

        until(process, lambda: over("initial_load"), "the first load")
        full = time.monotonic() - begun
        until(process, lambda: answers(settings.api_port, "/health"), "the API")
        until(process, lambda: over("calculations"), "the calculations")
        whole = time.monotonic() - begun
        sys.stdout.write(f"first day: newest date after {full:.0f} s, everything after {whole:.0f} s\n")
        yield FirstDay(settings, engine, Caller(settings), folder)
        engine.dispose()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
