"""A first start on an empty folder, as `make run` does it: what it shows when the first load is over."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.declaration.registry import builtin_registry
from core.errors import StorageError
from resources.settings import Settings, load_settings
from resources.warehouse.engine import make_engine, reading
from schedules.supervisor.checks import free_port
from schedules.supervisor.process_plan import answers
from serving_api.framework.envelope import PREFIX
from serving_api.inspection.__main__ import Caller
from serving_api.inspection.walk import Walk

ROOT = Path(__file__).resolve().parents[2]
EVENING = "2026-08-21T20:00"
"""A Friday after the last task that the day's tables wait for."""
DATES = 80
"""Trade dates of bars, as the longest answer below asks for. `make run` loads 320 by the same steps."""
WARM_UP = {"calc_pattern_daily": 60}
"""Trade dates at the beginning with too little before them: a bar, or those of the longest pattern."""
SAYS_WHY = {
    "fusion_finance_indicator": ("by code",),
    "fusion_macro_release": (),
    "fusion_stock_wide": ("of the current session alone", "unknown until all of them are loaded"),
}
"""Words of a column that a load of the day does not fill, by table."""
LONGER = {"chg_120d", "chg_1y", "chg_ytd"}
"""Columns of the wide table that look back farther than DATES."""
PATIENCE_S = 900.0
"""A hung start fails by this; how fast one is, is measured by the benchmarks."""
OVER = ("success", "failed", "canceled", "partial")


@dataclass
class FirstDay:
    """A running installation of which the first load is over."""

    settings: Settings
    engine: Engine
    ask: Caller
    folder: Path

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        with reading(self.engine) as connection:
            return [tuple(row) for row in connection.exec_driver_sql(statement).all()]

    def get(self, path: str, **query: object) -> Any:
        status, answer = self.ask(
            "GET", PREFIX + path, {key: str(value) for key, value in query.items()}, None
        )
        assert status == 200, (path, status, answer)
        return answer


def environment(folder: Path) -> dict[str, str]:
    """Settings of a start on ports of its own, with nothing of those of this machine."""
    own = {
        "DATA_DIR": str(folder),
        "API_PORT": str(free_port()),
        "DAGSTER_PORT": str(free_port()),
        "RATE_LIMIT_PER_MIN": "0",
        "ENV_FILE": "none",
        "SAMPLE_NOW": EVENING,
        "SAMPLE_HISTORY_DATES": str(DATES),
    }
    names = ("PATH", "HOME", "LANG", "NUMBA_CACHE_DIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, **own, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def commands(engine: Engine) -> dict[str, tuple[str, str | None]]:
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


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstDay]:
    folder = tmp_path_factory.mktemp("first_day")
    env = environment(folder / "data")
    log = folder / "start.log"
    with log.open("wb") as output:
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


def test_the_first_load_fails_in_nothing(day: FirstDay) -> None:
    ended = commands(day.engine)

    assert {kind: ended[kind] for kind in ("initial_load", "calculations")} == {
        "initial_load": ("success", None),
        "calculations": ("success", None),
    }


def test_nothing_is_empty_but_by_nature(day: FirstDay) -> None:
    found = Walk(builtin_registry(), day.ask, day.query).all()
    for one in found:
        sys.stdout.writelines(f"{line}\n" for line in one.lines())

    assert [one.looked_at > 40 for one in found] == [True] * 4
    unexplained: Mapping[str, list[str]] = {one.kind: one.unexplained for one in found}
    assert unexplained == {one.kind: [] for one in found}


@pytest.mark.parametrize(
    "table",
    [
        "calc_indicator_daily", "calc_pattern_daily", "calc_chip_daily", "calc_signal_hit",
        "calc_limit_count", "calc_market_phase", "calc_factor_score", "track_builtin", "track_preset",
    ],
)  # fmt: skip
def test_what_is_calculated_is_there_for_every_loaded_date(day: FirstDay, table: str) -> None:
    column = next(one.date_column for one in builtin_registry().tables if one.name == table)
    (bars,) = day.query("SELECT COUNT(DISTINCT date) FROM fusion_kline_daily")
    (reported,) = day.query(f"SELECT COUNT(DISTINCT {column}) FROM {table}")

    assert bars[0] == DATES
    assert reported[0] >= DATES - WARM_UP.get(table, 1)


@pytest.mark.parametrize("table", list(SAYS_WHY))
def test_a_column_is_filled_or_its_description_says_why_not(day: FirstDay, table: str) -> None:
    specs = next(one.columns for one in builtin_registry().tables if one.name == table)
    (counts,) = day.query(f"SELECT {','.join(f'COUNT({one.name})' for one in specs)} FROM {table}")
    empty = {one.name for one, count in zip(specs, counts, strict=True) if count == 0}
    excused = {one.name for one in specs if one.no_source or any(w in one.title for w in SAYS_WHY[table])}

    assert empty - LONGER <= excused
    # What the words are about is empty indeed: no load of a day has it.
    assert {one.name for one in specs if one.no_source or "by code" in one.title} <= empty


@pytest.mark.parametrize("table", ["track_builtin", "track_preset"])
def test_picks_are_reviewed_where_their_window_has_passed(day: FirstDay, table: str) -> None:
    """Five trade dates after the pick; what rests then is waited for, twenty at most."""
    dates = [date for (date,) in day.query("SELECT DISTINCT date FROM fusion_kline_daily ORDER BY date")]
    open_picks = f"SELECT COUNT(*) FROM {table} WHERE status='pending' AND trade_date<"
    (resting,) = day.query(f"{open_picks}'{dates[-6]}'")
    (waited,) = day.query(f"{open_picks}'{dates[-21]}'")
    (reviewed,) = day.query(f"SELECT COUNT(*) FROM {table} WHERE status='reviewed'")

    assert waited[0] == 0
    assert resting[0] * 20 < reviewed[0]


def test_picks_of_the_dates_before_have_an_outcome(day: FirstDay) -> None:
    overview = day.get("/scorecard/overview", days=30)["items"]

    by_source = {source: sum(row["reviewed"] for row in overview if row["source"] == source) for source in
                 ("builtin", "preset")}  # fmt: skip
    assert all(by_source.values()), by_source


def test_patterns_have_records_and_phases_a_past(day: FirstDay) -> None:
    patterns = [row["key"] for row in day.get("/quant/pattern-catalog")["directions"]]
    records = [day.get("/quant/pattern-performance", pattern=name, days=60) for name in patterns]
    assert any(one["samples"] for one in records)
    assert all((one["win_rate_pct"] is None) == (one["samples"] == 0) for one in records)
    history = day.get("/market/phase-history", days=60)
    assert len(history["rows"]) >= 59
    for phase, following in history["transitions"].items():
        assert following.keys() == history["transition_counts"][phase].keys()
